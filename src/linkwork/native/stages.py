"""Programs of loops and kernels that follow one another without Python between them.

A program is a list of stages: loops with their arguments bound, by address, and kernels of traced formulas.
Arrays have room for more than there is: how many of their rows count, and other numbers that change from run
to run, are in one array of words, `values`, from which each stage takes its own before it begins.

A stage whose result is 0, or nothing, is followed by the next one; SKIP goes on at a later stage that it
names; ASK returns to Python, which does what the stage is for, and goes on from there. Stages that are Python
functions ask at once. Who has a program and is asked by it gives methods as `unowned`: objects that hold each
other, and megabytes of arrays, would be freed only when Python collects garbage.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakMethod

import numpy as np

from linkwork.native.entry_text import PLACES
from linkwork.native.loop_entry import Entry
from linkwork.native.numba_functions import call, entry, integers

Array = np.ndarray

GO, ASK, SKIP = 0, 1, 2
_DATA = PLACES["data"] // 8  # where an array says where its numbers are, in words


def unowned(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method as a function that does not keep its object alive."""
    reference = WeakMethod(method)

    def called(*given: Any) -> Any:
        there = reference()
        assert there  # who runs the program is there
        return there(*given)

    return called


class Some(NamedTuple):
    """The first rows of an array; one of the values is their number."""

    array: Array
    rows: int


class Value(NamedTuple):
    """One of the values: a number as the stage finds it."""

    place: int


class Stage(NamedTuple):
    """Code and what it is called with."""

    address: int
    first: int  # of a loop, where its words begin among all; of a kernel, the address of its plan
    second: int  # of the ports of a kernel
    patches: list[tuple[int, int]]  # places among the words, and the values that are written there
    result: int = -1  # the value that the result becomes; -1: it decides where to go on; -2: there is none
    skip: str = ""  # where SKIP goes
    ask: Callable[[], Any] | None = None  # what ASK does; it may return where to go on
    is_loop: bool = False


class Program:
    """Stages, and values that they share; for one thread at a time."""

    def __init__(self, size: int) -> None:
        self.values = np.zeros(size, np.int64)
        self.numbers = self.values.view(float)  # the same words, as doubles
        self._stages: list[Stage] = []
        self._labels: dict[str, int] = {}
        self._keep: list[Any] = []
        self._words = _Words()  # of all loops
        self._known: dict[int, _Words] = {}  # of tuples of arguments, which many loops take
        self._tables: tuple[Array, ...] = ()

    def clear(self) -> None:
        """Forget all stages; values stay."""
        self._stages.clear()
        self._labels.clear()
        self._keep.clear()
        self._known.clear()
        self._words, self._tables = _Words(), ()

    def label(self, name: str) -> None:
        """Name the stage that comes next."""
        self._labels[name] = len(self._stages)

    def loop(
        self,
        loop: Entry,
        *arguments: Any,
        result: int = -2,
        skip: str = "",
        ask: Callable[[], Any] | None = None,
    ) -> None:
        """Add a loop; its result becomes a value, or decides, if it may `skip` or `ask`."""
        words, first = self._words, len(self._words.words)
        words.words.append(0)
        words.patches = []
        for one in arguments:
            if isinstance(one, tuple) and type(one) is not Some and type(one) is not Value:
                words.add_all(self._known.get(id(one)) or self._words_of(one))
            else:
                words.add(one)
        self._keep.append(arguments)
        patches = [(place - first, value) for place, value in words.patches]
        how = -1 if skip or ask else result
        self._stages.append(Stage(_address(loop), first, 0, patches, how, skip, ask, True))

    def _words_of(self, arguments: tuple[Any, ...]) -> "_Words":
        """Return the words of a tuple of arguments; they are known from now on."""
        found = self._known[id(arguments)] = _Words()
        for one in arguments:
            found.add(one)
        return found

    def keep(self, thing: Any) -> None:
        """Keep what stages know by address."""
        self._keep.append(thing)

    def kernel(self, address: int, plan: int, ports: Array) -> None:
        """Add a kernel with its plan and ports."""
        self._keep.append(ports)
        self._stages.append(Stage(address, plan, ports.ctypes.data, [], -2))

    def python(self, function: Callable[[], Any]) -> None:
        """Add a function of Python; it may return the label where to go on."""
        self._stages.append(Stage(0, 0, 0, [], ask=function))

    def run(self, start: str = "") -> None:
        """Go through the stages, from the one of this name; where one asks, do that, and go on."""
        if not self._tables:
            self._bind()
        k = run_stages(self._labels[start] if start else 0, *self._tables)
        while k < len(self._stages):
            ask = self._stages[k].ask
            assert ask
            to = ask()
            if not self._tables:  # it has bound the stages anew
                self._bind()
            k = run_stages(self._labels[to] if to else k + 1, *self._tables)

    def _bind(self) -> None:
        stages, words = self._stages, np.array(self._words.words or [0], np.int64)
        put_addresses(np.array(self._words.arrays, np.int64), words)
        begin = words.ctypes.data
        table = [
            (
                one.address,
                begin + 8 * one.first if one.is_loop else one.first,
                one.second,
                one.result,
                self._labels.get(one.skip, -1),
            )
            for one in stages
        ]
        patches: Sequence[tuple[int, int]] = [patch for one in stages for patch in one.patches]
        firsts = np.cumsum([0, *(len(one.patches) for one in stages)]).astype(np.int64)
        self._keep.append(words)
        rows = np.array(table, np.int64).reshape(-1, 5)
        self._tables = rows, firsts, np.array(patches, np.int64).reshape(-1, 2), self.values


@cache
def _address(loop: Entry) -> int:
    return loop.address


class _Words:
    """The words of arguments, which other words may come before."""

    def __init__(self) -> None:
        self.words: list[int] = []  # of an array: its id, in place of the address of its numbers; its lengths
        self.arrays: list[int] = []  # where the ids of arrays are
        self.patches: list[tuple[int, int]] = []  # where values are written to, and which

    def add(self, one: Any) -> None:
        """Add an array, a number, or what stands for a value."""
        words, kind = self.words, type(one)
        if kind is Value:
            self.patches.append((len(words), one.place))
            words.append(0)
            return
        if kind is Some:
            self.patches.append((len(words) + 1, one.rows))
            one = one.array
        if isinstance(one, np.ndarray):
            self.arrays.append(len(words))
            words.append(id(one))
            words += one.shape
        else:
            words.append(one if isinstance(one, int) else int(np.float64(one).view(np.int64)))

    def add_all(self, others: "_Words") -> None:
        """Add the words of other arguments."""
        at = len(self.words)
        self.words += others.words
        self.arrays += [at + k for k in others.arrays]
        self.patches += [(at + k, value) for k, value in others.patches]


# Asking NumPy for the address of an array takes microseconds, and a program has hundreds of them.
@entry(None, "int64[::1]", "int64[::1]")
def put_addresses(places, words):
    """Put the addresses of their numbers in place of the addresses of arrays, at some places of words."""
    for k in places:
        words[k] = integers(words[k])[_DATA]


@entry("int64", "int64", "int64[:, ::1]", "int64[::1]", "int64[:, ::1]", "int64[::1]")
def run_stages(start, stages, first, patch, values):
    """Run stages from one on; return the number of the first that asks, or how many there are."""
    k = start
    while k < len(stages):
        address, result = stages[k, 0], stages[k, 3]
        if address == 0:
            return k
        words = integers(stages[k, 1])
        for j in range(first[k], first[k + 1]):
            words[patch[j, 0]] = values[patch[j, 1]]
        call(address, stages[k, 1], stages[k, 2])
        if result >= 0:
            values[result] = words[0]
        elif result == -1 and words[0] == 1:
            return k
        elif result == -1 and words[0] == 2:
            k = stages[k, 4]
            continue
        k += 1
    return k
