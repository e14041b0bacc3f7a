"""What may be wrong with options that are numbers, in words."""

from collections.abc import Callable

from linkwork.real_numbers import is_finite, shown

Test = Callable[[float], bool]

POSITIVE: tuple[Test, str] = (lambda x: x > 0.0, " above 0")
NOT_NEGATIVE: tuple[Test, str] = (lambda x: x >= 0.0, ", 0 or more")
NOT_ZERO: tuple[Test, str] = (lambda x: x != 0.0, " that is not 0")
ANY: tuple[Test, str] = (lambda x: True, "")


def number_mistakes(
    element: object, *words: str, wanted: tuple[Test, str] = ANY, optional: bool = False
) -> list[str]:
    """List the options of an element that are no finite numbers, or not such as are wanted."""
    fits, bound = wanted
    found = []
    for word in words:
        value = getattr(element, word)
        if value is None and optional:
            continue
        if not (is_finite(value) and fits(float(value))):
            found.append(f"{word} {shown(value)}; give a finite number{bound}")
    return found
