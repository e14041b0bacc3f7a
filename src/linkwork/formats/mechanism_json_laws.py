"""Functions in a mechanism's file: what elements share that are saved by their formulas."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from linkwork.errors import FormatError, unknown
from linkwork.formats.formula_arguments import Argument
from linkwork.formats.formula_law import Law, law_of_function, law_of_text
from linkwork.formats.formula_parser import RESERVED
from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_values import Unsaved, built

_REMEDY = "write it in plain arithmetic with lw.where, lw.sin, ...; or add it in Python after loading"


# writing


def saved_law(
    function: Callable[..., Any], word: str, arguments: Sequence[Argument], remedy: str = _REMEDY
) -> Law:
    """Return a function as a law; Unsaved says why it is none, and what to do."""
    try:
        return law_of_function(function, arguments)
    except FormatError as error:
        raise Unsaved(f"its {word} cannot be saved: {error}; {remedy}") from error


def side_names(
    function: Callable[..., Any], count: int, *, skipped: int = 0, taken: Iterable[str] = ()
) -> list[str]:
    """Return names for arguments of a function after the first few: its own, where they serve."""
    parameters = inspect.signature(function).parameters.values()
    said = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL][skipped:]
    used = {*RESERVED, *taken}
    names = []
    for k in range(count):
        name = said[k] if k < len(said) and said[k].isascii() and said[k] not in used else f"side{k + 1}"
        names.append(name)
        used.add(name)
    return names


# reading


def read_law(entry: JsonValue, arguments: Sequence[Argument]) -> Law:
    """Return a function from its formula: a text, or lines of it."""
    text = [line.text() for line in entry.items()] if isinstance(entry.value, list) else entry.text()
    return built(entry, lambda: law_of_text(text, arguments))


def read_function(entry: JsonValue, arguments: Sequence[Argument], rows: int | None = None) -> Law:
    """Return a function that pushes nothing: of one number, or of a list of n."""
    law = read_law(entry, arguments)
    result = law.formula.result
    if law.formula.actions or result is None:
        entry.refuse("a formula here returns its numbers, and pushes nothing; end with 'return ...'")
    if rows is None and isinstance(result, list):
        entry.refuse(f"a list of {len(result)}; return one number")
    if rows is not None and not of_shape(rows)(result):
        entry.refuse(f"return a list of {rows} numbers")
    return law


def of_shape(rows: int, columns: int | None = None) -> Callable[[Any], bool]:
    """Return a test whether a result is a list of n, or a matrix."""

    def fits(result: Any) -> bool:
        if not isinstance(result, list) or len(result) != rows:
            return False
        return all(not isinstance(x, list) if columns is None else of_shape(columns)(x) for x in result)

    return fits


def is_formula(entry: JsonValue) -> bool:
    """Return whether a value is a formula, and no numbers: a text, or lines."""
    lines = isinstance(entry.value, list) and any(isinstance(x, str) for x in entry.value)
    return lines or isinstance(entry.value, str)


def read_sides(entry: JsonValue, things: Mapping[str, Any], taken: Iterable[str] = ()) -> dict[str, Any]:
    """Return bodies and joints by the names that a formula has for them."""
    named = {}
    for name, member in entry.members().items():
        check_name(name, member, taken)
        named[name] = read_end(member, things)
    return named


def check_name(name: str, entry: JsonValue, taken: Iterable[str]) -> None:
    """Refuse what cannot be the name of an argument."""
    if not name.isidentifier() or not name.isascii() or name in {*RESERVED, *taken}:
        entry.refuse(f"{name!r} cannot be the name of a side; give another")


def read_end(entry: JsonValue, things: Mapping[str, Any]) -> Any:
    name = entry.text()
    if name not in things:
        entry.refuse(unknown("body or joint", name, things))
    return things[name]
