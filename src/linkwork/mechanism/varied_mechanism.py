"""N mechanisms of one structure as one, whose numbers are N in place of one (`Varied`)."""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from types import CellType, FunctionType
from typing import Any

import numpy as np

from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.journaled import Recorded, frozen
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.varied import Varied, any_varied, real_table

_NOT_MOVED_BY = frozenset({"_parts", "_visuals", "_collisions", "_given", "_joints"})  # attributes


class Unlike(Exception):
    """Mechanisms differ in more than numbers."""


def together(mechanisms: Sequence[Mechanism]) -> Mechanism:
    """Return N mechanisms as one; Unlike if they differ in more than numbers."""
    return _Combined(mechanisms, _stacked).mechanism


def assigned(
    mechanism: Mechanism, names: Sequence[str], assign: Callable[[Mechanism, int], None], count: int
) -> Mechanism:
    """Return N mechanisms as one: `assign` gives named elements ("": the mechanism) the numbers of each."""
    made = copied(mechanism)
    things: list[Recorded] = [made[name] if name else made for name in names]
    states: list[list[dict[str, Any]]] = [[] for _ in things]
    for k in range(count):
        assign(made, k)
        for thing, kept in zip(things, states, strict=True):
            kept.append(dict(vars(thing)))
    stacked = _Combined([made], _stacked)
    for thing, kept in zip(things, states, strict=True):
        for word, first in kept[0].items():
            values = [state[word] for state in kept]
            if any(value is not first for value in values):
                vars(thing)[word] = stacked.value(values)
    return made


def in_place_of_one(values: np.ndarray) -> Any:
    """Return N numbers, vectors or matrices (N, ...) as one, in the way in which one is written down."""
    if values.ndim == 1:
        return _stacked(values)
    if values.ndim == 2:
        return tuple(map(_stacked, values.T))
    items = np.empty(values[0].size, object)
    items[:] = [_stacked(column) for column in values.reshape(len(values), -1).T]
    return items.reshape(values.shape[1:])


def check_lanes(whole: Mechanism, values: Iterable[np.ndarray], one: Callable[[int], Mechanism]) -> None:
    """Raise Unlike if a whole is not made of its mechanisms, where one of these values is least or largest.

    What is done with N numbers in place of one may go a way of its own where code looks at what kind of
    thing they are; and where it goes several ways, it mostly does so at one end of a range.
    """
    columns = np.hstack([each.reshape(len(each), -1) for each in values])
    own = {id(whole), *map(id, whole.elements)}
    for k in {0, *columns.argmin(axis=0).tolist(), *columns.argmax(axis=0).tolist()}:
        single = one(k)
        if not own.isdisjoint((id(single), *map(id, single.elements))):
            raise Unlike("what is built is not new each time")
        check_same(one_of(whole, operator.itemgetter(k)), single)


def copied(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism of its own, to which numbers can be assigned; values are shared."""
    return _Combined([mechanism], operator.itemgetter(0)).mechanism


def check_same(one: Mechanism, other: Mechanism) -> None:
    """Raise Unlike if mechanisms differ in more than how their bodies are drawn."""
    if one.name != other.name:
        raise Unlike(one.name)
    _Combined([one, other], _same_bits)


def some_of(mechanism: Mechanism, which: np.ndarray) -> Mechanism:
    """Return some of N mechanisms that are one, as one."""

    def number(values: Sequence[Any]) -> Any:
        (x,) = values
        return _stacked(x.values[which].tolist()) if isinstance(x, Varied) else x

    return _Combined([mechanism], number).mechanism


def one_of(mechanism: Mechanism, choose: Callable[[np.ndarray], float]) -> Mechanism:
    """Return a mechanism with one of N numbers in each place."""

    def number(values: Sequence[Any]) -> Any:
        (x,) = values
        return float(choose(x.values)) if isinstance(x, Varied) else x

    return _Combined([mechanism], number).mechanism


def shape_of(mechanism: Mechanism) -> tuple[Any, ...]:
    """Return what mechanisms that can be put together have in common."""
    return mechanism.space, *((type(thing), thing.name) for thing in mechanism.elements)


class _Combined:
    """A mechanism made of several of one shape, place by place; `number` says what becomes of numbers."""

    def __init__(self, mechanisms: Sequence[Mechanism], number: Callable[[Sequence[Any]], Any]):
        first = mechanisms[0]
        if any(shape_of(other) != shape_of(first) for other in mechanisms[1:]):
            raise Unlike("other elements")
        self._combined, self._changes = number, 0
        made = self.mechanism = Mechanism(first.name, None, first.space)
        object.__setattr__(made, "_journal", None)
        object.__setattr__(made, "_gravity", self.value([m.gravity for m in mechanisms]))
        self._made: dict[int, Any] = {}
        object.__setattr__(made, "_ground", self._element([m.ground for m in mechanisms]))
        self._made |= {id(m.ground): made.ground for m in mechanisms}
        for things in zip(*(m.elements for m in mechanisms), strict=True):
            element = self._element(things)
            self._made |= {id(thing): element for thing in things}
            made._elements.append(element)
            made._names_of(element)[element.name] = element

    def _element(self, things: Sequence[Element]) -> Any:
        first, made = things[0], Recorded.__new__(type(things[0]))
        for word in vars(first):
            if any(word not in vars(thing) for thing in things):
                raise Unlike(word)
            values = [vars(thing)[word] for thing in things]
            vars(made)[word] = values[0] if word in _NOT_MOVED_BY else self.value(values)
        if isinstance(made, Constraint):
            vars(made)["_joints"] = self.mechanism._joints
        return made

    def value(self, values: Sequence[Any]) -> Any:
        """Return several values as one: the first, if no number in them is another."""
        before = self._changes
        made = self._made_of(values)
        return values[0] if self._changes == before else made

    def _made_of(self, values: Sequence[Any]) -> Any:
        first = values[0]
        kinds = set(map(type, values))
        if kinds <= _NUMBERS:
            return self._number(values)
        if len(kinds) > 1 or isinstance(first, Mechanism):
            raise Unlike(kinds)
        if isinstance(first, Recorded):
            return self._reference(values)
        if isinstance(first, list | tuple):
            return self._sequence(values)
        if isinstance(first, np.ndarray):
            return self._array(values)
        if isinstance(first, FunctionType):
            return self._function(values)
        if is_dataclass(first) and not isinstance(first, type):
            made = object.__new__(type(first))
            for field in fields(first):
                object.__setattr__(made, field.name, self.value([getattr(x, field.name) for x in values]))
            return made
        if hasattr(first, "scalars") and hasattr(type(first), "from_scalars"):
            kind: Any = type(first)
            return kind.from_scalars(self._sequence([x.scalars() for x in values]))
        if all(x is first or _equal(x, first) for x in values):
            return first
        raise Unlike(first)

    def _number(self, values: Sequence[Any]) -> Any:
        made = self._combined(values)
        if isinstance(made, Varied) or isinstance(values[0], Varied):
            self._changes += 1
        return made

    def _reference(self, values: Sequence[Recorded]) -> Any:
        """Return what stands for an element that others refer to, or one that belongs to another."""
        self._changes += 1
        targets = {id(self._made.get(id(x))) for x in values}
        if len(targets) > 1:
            raise Unlike(values[0])
        return self._made.get(id(values[0])) or self._element(values)  # type: ignore[arg-type]

    def _sequence(self, values: Sequence[Any]) -> Any:
        if len({len(x) for x in values}) > 1:
            raise Unlike(values[0])
        return type(values[0])(self.value(items) for items in zip(*values, strict=True))

    def _array(self, values: Sequence[np.ndarray]) -> np.ndarray:
        first = values[0]
        if any(x.shape != first.shape for x in values):
            raise Unlike(first)
        if len(values) > 1 and all(x.dtype == float for x in values):
            table = np.array(values)
            if (table.view(np.int64) == table[:1].view(np.int64)).all():
                return first
        items = [self.value(items) for items in zip(*(x.ravel().tolist() for x in values), strict=True)]
        made = real_table(items) if any_varied(*items) else np.array(items)
        made = made.reshape(first.shape)
        return made if any(x.flags.writeable for x in values) else frozen(made)

    def _function(self, values: Sequence[FunctionType]) -> FunctionType:
        """Return functions of the same code as one; what they hold may differ in numbers."""
        first = values[0]
        if any(f.__code__ != first.__code__ or f.__globals__ is not first.__globals__ for f in values):
            raise Unlike(first)
        held = [[cell.cell_contents for cell in f.__closure__ or ()] for f in values]
        parts = [
            (f.__defaults__ or (), tuple((f.__kwdefaults__ or {}).items()), held[k])
            for k, f in enumerate(values)
        ]
        defaults, keywords, inside = (self._sequence(column) for column in zip(*parts, strict=True))
        cells = tuple(CellType(x) for x in inside)
        made = FunctionType(first.__code__, first.__globals__, first.__name__, defaults or None, cells)
        made.__kwdefaults__ = dict(keywords) or None
        return made


_NUMBERS = frozenset({int, float, np.float64, np.int64, Varied})


def _stacked(values: Any) -> Any:
    table = np.array(values, float)
    return float(table[0]) if (table.view(np.int64) == table[:1].view(np.int64)).all() else Varied(table)


def _same_bits(values: Sequence[Any]) -> Any:
    made = _stacked(values)
    if isinstance(made, Varied):
        raise Unlike(made)
    return made


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False
