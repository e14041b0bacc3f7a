"""The words and signs of a formula."""

import re
from typing import NamedTuple


class BadFormula(ValueError):
    """What is wrong with a text."""


class Token(NamedTuple):
    """A word, number, text or sign, and where it stands."""

    kind: str  # "number", "name", "text", "sign" or "end"
    text: str
    place: int


_LONGEST = 1000
_PATTERN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<text>'(?:[^'\\]|\\.)*')"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/<>&|~()\[\],.=]))",
    re.ASCII | re.DOTALL,
)


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, and its end."""
    found, place = [], 0
    end = len(text.rstrip())
    while place < end:
        match = _PATTERN.match(text, place)
        if match is None:
            raise BadFormula(
                f"{text[place : place + 20]!r} at {place} is not a part of a formula; leave it out"
            )
        kind = match.lastgroup or ""
        if kind in ("number", "name") and len(match[kind]) > _LONGEST:
            raise BadFormula(f"a {kind} of {len(match[kind])} characters at {place}; allowed are {_LONGEST}")
        found.append(Token(kind, match[kind], match.start(kind)))
        place = match.end()
    return [*found, Token("end", "the end", len(text))]
