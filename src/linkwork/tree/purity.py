"""Whether a law is a function of its arguments: traced again it is the same formula, and keeps nothing.

Steps are tried, rejected and made again, and each asks for forces several times: a law that draws random
numbers, looks at a clock or keeps an integral from one call to the next has no meaning there.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from linkwork.errors import ModelError
from linkwork.mechanism.called_equations import REMEDY
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.mechanism import Element
from linkwork.mechanism.outside_values import Outside, outside_of, restore
from linkwork.mechanism.snapshot import is_lasting

Traced = TypeVar("Traced")

TWO_FORMULAS = "traced twice, it is two formulas"


class NotAFunction(ModelError):
    """A law that gives different answers to the same arguments, or keeps what it was given."""


def traced_purely(
    who: str,
    element: Element,
    trace: Callable[[], Traced],
    formula: Callable[[Traced], Any],
    again: Callable[[Traced], int] = lambda _: 1,
) -> Traced:
    """Return what tracing gives if it is always the same; NotAFunction says what is wrong with the law.

    `formula` is what must be equal, `again` how often it is asked for. `who` is the element in words. Where
    no code of the user's is asked, tracing once is enough.
    """
    if is_lasting(element):
        return trace()
    before = outside_of(element)
    try:
        first = trace()  # raises if it cannot be traced at all
        kept = _kept(element, before)
        try:
            same = all(_alike(formula(trace()), formula(first)) for _ in range(again(first)))
        except Exception:
            same = False
    finally:
        _put_back(element, before)
    why = f"it keeps what it computes, in {kept!r}, for the next call" if kept else TWO_FORMULAS
    if name := before.drew():
        why, same = f"it draws random numbers, from {name!r}", False
    if not same:
        raise NotAFunction(f"{who}: its law is not a function of its arguments: {why}; {REMEDY}") from None
    return first


def _alike(one: Any, other: Any) -> bool:
    """Whether formulas are the same; NaN is the same as NaN, and whoever runs the law says who gave it."""
    return bool(one == other) or repr(one) == repr(other)


def _kept(element: Recorded, before: Outside) -> str:
    """Return where a law has put a symbol; nothing if nowhere."""
    if not before or before.same:
        return ""
    there = {name for name, *_ in before.leaked}
    return next((name for name, *_ in outside_of(element).leaked if name not in there), "")


def _put_back(element: Recorded, before: Outside) -> None:
    """Put back what was where symbols are now."""
    if before and not before.same:
        restore(before, outside_of(element))


def two_answers(who: str, t: float, one: Any, other: Any) -> NotAFunction:
    """Return the error for a law that was called twice with the same arguments."""
    pair = next(((a, b) for a, b in zip(one, other, strict=False) if a != b), (len(one), len(other)))
    return NotAFunction(
        f"{who}: its law is not a function of its arguments: called twice at t = {t:.9g} s it gave "
        f"{pair[0]:.9g} and {pair[1]:.9g}; {REMEDY}"
    )


def differ(one: Any, other: Any) -> bool:
    """Whether numbers are not the same; NaN is the same as NaN."""
    return len(one) != len(other) or any(
        a != b and (a == a or b == b) for a, b in zip(one, other, strict=True)
    )
