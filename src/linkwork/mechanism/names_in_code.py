"""What code reads by name: of its module, of anything, and modules that it imports itself."""

import dis
import functools
import sys
import types
from typing import NamedTuple

_BY_NAME = frozenset(
    {"getattr", "attrgetter", "globals", "vars", "__dict__", "modules"}
)  # take names as texts
_ELSEWHERE = frozenset(  # what reads files, the environment, or code that is no code of the function
    {"open", "read_text", "read_bytes", "loadtxt", "genfromtxt", "fromfile", "load", "read_csv", "environ"}
    | {"getenv", "eval", "exec", "__import__", "import_module"}
)


class NamesInCode(NamedTuple):
    """What code reads by name."""

    read: tuple[str, ...]  # of its module
    attributes: frozenset[str]  # of anything
    imported: tuple[str, ...]  # modules
    elsewhere: bool  # whether it may read what has no name here


@functools.lru_cache(1 << 16)
def names_in(code: types.CodeType) -> NamesInCode:
    """Return what code, and the functions inside of it, read by name."""
    read: dict[str, None] = {}
    attributes: set[str] = set()
    imported: dict[str, None] = {}
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read[str(instruction.argval)] = None
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
            attributes.add(str(instruction.argval))
        elif instruction.opname == "IMPORT_NAME":
            imported[str(instruction.argval)] = None
    words = read.keys() | attributes
    elsewhere = not words.isdisjoint(_ELSEWHERE)
    if not words.isdisjoint(_BY_NAME):
        texts = [text for text in code.co_consts if isinstance(text, str)]
        elsewhere = elsewhere or not texts
        read |= dict.fromkeys(texts)
        attributes |= set(texts)
        imported |= dict.fromkeys(text for text in texts if text in sys.modules and "modules" in words)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names = names_in(inner)
            read |= dict.fromkeys(names.read)
            attributes |= names.attributes
            imported |= dict.fromkeys(names.imported)
            elsewhere = elsewhere or names.elsewhere
    return NamesInCode(tuple(read), frozenset(attributes), tuple(imported), elsewhere)
