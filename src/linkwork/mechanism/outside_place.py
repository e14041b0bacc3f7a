"""A place outside of a function that it can read: how that is read, and whether it is what it was."""

import decimal
import enum
import fractions
import hashlib
import pathlib
import random
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwork.mechanism.input import Input
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.mechanism import Mechanism

_LARGE = 1_000_000  # bytes of an array that are kept; of more, a digest
ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, range, type(Ellipsis), types.CodeType})
ATOMIC = (
    np.generic,
    np.dtype,
    np.ufunc,
    decimal.Decimal,
    fractions.Fraction,
    pathlib.PurePath,
    enum.Enum,
    Input,
)
ABSENT = object()

Values = tuple[Any, ...]


class Place(NamedTuple):
    """A place and what was there."""

    read: Callable[[Any], Values]
    where: Any  # that is read
    before: Values
    name: str


def items(where: Any) -> Values:
    return tuple(where)


def members(where: Any) -> Values:
    return tuple(sorted(where, key=id))


def entries(where: Any) -> Values:
    return (*where.keys(), *where.values())


def attributes(where: type) -> Values:
    return tuple(vars(where).values())


def slot(thing: Any, descriptor: types.MemberDescriptorType) -> Any:
    try:
        return descriptor.__get__(thing)
    except AttributeError:  # not filled yet
        return ABSENT


def slotted(where: tuple[Any, tuple[types.MemberDescriptorType, ...]]) -> Values:
    return tuple(slot(where[0], each) for each in where[1])


def own_attributes(thing: Any) -> dict[str, Any] | None:
    """Return what an object keeps. Its `__getattr__`, which may raise or answer anything, is not asked."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, dict) else None


def named(where: tuple[dict[str, Any], Values]) -> Values:
    space = where[0]
    return tuple([space.get(word, ABSENT) for word in where[1]])


def content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def cells(where: tuple[types.CellType, ...]) -> Values:
    return tuple([content(cell) for cell in where])


def defaults(where: types.FunctionType) -> Values:
    return (*(where.__defaults__ or ()), *(where.__kwdefaults__ or {}).values())


def revision(where: Recorded) -> Values:
    return (where._revision,)


def revisions(where: Mechanism) -> Values:
    return tuple([each._revision for each in (where, where.ground, *where.elements)])


def random_state(where: Any) -> Values:
    if isinstance(where, random.Random):
        return (where.getstate(),)
    state = where.bit_generator.state if isinstance(where, np.random.Generator) else where.get_state()
    return (repr(state),)


def content_of_bytes(where: Any) -> Values:
    return (bytes(where),)


def array_items(where: np.ndarray) -> Values:
    return tuple(where.ravel().tolist())


def array_bytes(where: np.ndarray) -> Values:
    content = where.tobytes()
    return where.shape, content if len(content) <= _LARGE else hashlib.blake2b(content).digest()


def equal(one: Values, other: Values) -> bool:
    """Whether values are the same: the same things, or equal numbers and texts of the same type."""
    return len(one) == len(other) and all(map(_same, one, other))


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float | complex | np.generic):
        return repr(a) == repr(b)
    if type(a) is tuple:
        return equal(a, b)
    return (type(a) in ATOMS or isinstance(a, ATOMIC)) and a == b


def difference(name: str, before: Values, now: Values) -> str:
    words, single = name.split(", "), len(before) == len(now)
    changed = [k for k in range(len(before)) if single and not _same(before[k], now[k])]
    if len(words) == len(before) and changed:
        name, before, now = words[changed[0]], (before[changed[0]],), (now[changed[0]],)
    elif changed and len(before) > 1:
        before, now = (before[changed[0]],), (now[changed[0]],)
    short = [value for values in (before, now) for value in values if isinstance(value, bool | int | float)]
    if len(before) == len(now) == 1 and len(short) == 2:
        return f"{name!r} had {short[0]!r} and has {short[1]!r} now"
    return f"{name!r} has changed"
