"""Inputs: numbers in laws that may change while a mechanism moves.

A law that is traced reads an input from an array beside the state, so that nothing is compiled when it
changes; a law that is called is given the value of the run that calls it. Which of the two, whoever runs the
law says (`reading`); elsewhere an input is its default value. What is computed from that outside of a law
is a number that no run can change, and is marked as such (`Default`): it is refused as a law or an option.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from linkwork.algebra import number
from linkwork.algebra.number import Number
from linkwork.mechanism.names import name_text
from linkwork.real_numbers import is_finite
from linkwork.spelling import Answering, Spelled

Read = Callable[["Input"], Number]

_read: ContextVar[Read | None] = ContextVar("linkwork input", default=None)


class Input(Answering, metaclass=Spelled):
    """A number by name that may be another in every run, and change while it goes on.

    It stands wherever a law has a number: as the law itself, as an option, or inside of a function. Inputs of
    one name are one input; `value` is what it is unless a run says otherwise.

    >>> throttle = Input("throttle", 2.0)
    >>> 3 * throttle + 1
    7.0
    """

    name: str
    value: float

    def __init__(self, name: str, value: float = 0.0) -> None:
        object.__setattr__(self, "name", name_text(name, "Input"))
        if not name:
            raise ValueError("Input: the name is empty; give one")
        if not is_finite(value):
            raise ValueError(f"input {name!r}: value {value!r}; give a finite number")
        object.__setattr__(self, "value", float(value))

    def __setattr__(self, word: str, value: Any) -> None:
        name = repr(self.name)
        raise AttributeError(
            f"input {name} stays what it is ({word} = {value!r}); give a run inputs={{{name}: ...}}, or "
            f"write sim.inputs[{name}] of a Simulation"
        )

    def as_number(self) -> Number:
        """Return what it is now: a number of the run, or a symbol where a law is traced."""
        read = _read.get()
        return self.value if read is None else read(self)

    @staticmethod
    def apply_function(name: str, *args: Any) -> Number:
        """Take part in elementary functions: lw.sin(u), lw.atan2(x, u)."""
        return _marked(number.apply(name, *map(as_number, args)))

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        """Take part in NumPy's functions and in arithmetic with its arrays: np.sin(u), np.ones(3) * u."""
        return getattr(ufunc, method)(*map(as_number, operands), **options)

    def __float__(self) -> float:
        return float(self.as_number())

    def __bool__(self) -> bool:
        return bool(self.as_number())

    def __eq__(self, other: object) -> Any:
        if _read.get() is None:
            return isinstance(other, Input) and (self.name, self.value) == (other.name, other.value)
        return self.as_number() == as_number(other)

    def __ne__(self, other: object) -> Any:  # Python's own asks a traced condition whether it holds
        if _read.get() is None:
            return not self == other
        return self.as_number() != as_number(other)

    def __hash__(self) -> int:
        return hash((self.name, self.value))

    def __copy__(self) -> "Input":
        return self

    def __deepcopy__(self, memo: Any) -> "Input":
        return self

    def __repr__(self) -> str:
        return f"Input({self.name!r}, {self.value:g})"


class Default(float):
    """What inputs give by their default values, computed outside of a law: `2 * Input("u", 3.0)`.

    It counts as the number it is, for a look or a law that is called by hand; as a law or an option it would
    never change, which nobody means.
    """

    @staticmethod
    def apply_function(name: str, *args: Any) -> Number:
        """Be marked in elementary functions as well."""
        return _marked(number.apply(name, *(float(x) if isinstance(x, Default) else x for x in args)))


def _marked(x: Any) -> Any:
    """Return a number computed from inputs, marked if that was outside of a law."""
    return Default(x) if type(x) is float and _read.get() is None else x


def _forward(operation: Callable[..., Any], value: Callable[[Any], Any], mark: Callable[[Any], Any]) -> Any:
    """Return an operation on the values of operands, and the one with the two exchanged."""
    return (
        lambda *operands: mark(operation(*map(value, operands))),
        lambda self, other: mark(operation(value(other), value(self))),
    )


def as_number(x: Any) -> Any:
    """Return the number that an input is now; anything else as it is."""
    return x.as_number() if isinstance(x, Input) else x


def _value(x: Any) -> Any:
    return float(x) if isinstance(x, Default) else as_number(x)


for _word in ("neg", "pos", "abs", "add", "sub", "mul", "truediv", "pow", "mod", "floordiv"):
    for _kind in (Input, Default):
        _left, _right = _forward(getattr(operator, _word), _value, _marked)
        setattr(_kind, f"__{_word}__", _left)
        if _word not in ("neg", "pos", "abs"):
            setattr(_kind, f"__r{_word}__", _right)
for _word in ("lt", "le", "gt", "ge"):
    setattr(Input, f"__{_word}__", _forward(getattr(operator, _word), _value, lambda x: x)[0])


def default_among(x: Any) -> bool:
    """Whether an option is, or has among its numbers, what was computed from inputs outside of a law."""
    return type(x) is Default or (type(x) in (tuple, list) and any(map(default_among, x)))


def enter(inputs: dict[str, Input], given: Input) -> int:
    """Add an input to those known, if it is new, and return its number; one name has one value."""
    known = inputs.setdefault(given.name, given)
    if known.value != given.value:
        raise ValueError(
            f"input {given.name!r} has the values {known.value:g} and {given.value:g}; "
            "give one Input to all that read it, or another name"
        )
    return list(inputs).index(given.name)


class DefaultInputs(Mapping[str, float]):
    """The inputs of a model, by name, with their default values."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def __setitem__(self, name: str, value: Any) -> None:
        raise TypeError(
            f"a model has the default values of inputs: {name!r} cannot be set to {value!r}; give a run "
            f"inputs={{{name!r}: {value!r}}}, or write sim.inputs[{name!r}] of a Simulation"
        )


@contextmanager
def reading(read: Read) -> Iterator[None]:
    """Say, for laws that are run meanwhile in this thread, what inputs are."""
    token = _read.set(read)
    try:
        yield
    finally:
        _read.reset(token)


@contextmanager
def renaming(prefix: str) -> Iterator[None]:
    """Let laws that are run meanwhile in this thread read inputs with a prefix before their names."""
    read = _read.get()
    if read is None:
        yield
        return
    with reading(lambda given: read(Input(prefix + given.name, given.value))):
        yield
