"""Programs of loops and kernels that follow one another without Python between them.

A program is a list of stages: loops with their arguments bound, by address, and kernels of traced formulas.
Arrays have room for more than there is: how many of their rows count, and other numbers that change from run
to run, are in one array of words, `values`, from which each stage takes its own before it begins.

A stage whose result is 0, or nothing, is followed by the next one; SKIP goes on at a later stage that it
names; ASK returns to Python, which does what the stage is for, and goes on from there. Stages that are Python
functions ask at once.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linkwork.native.entry_text import PLACES
from linkwork.native.loop_entry import Entry
from linkwork.native.numba_functions import call, entry, integers

Array = np.ndarray

GO, ASK, SKIP = 0, 1, 2
_DATA = PLACES["data"] // 8  # where an array says where its numbers are, in words


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
    first: int  # address of the words of a loop, or of the plan of a kernel
    second: int  # of the ports of a kernel
    patches: list[tuple[int, int]]  # places among the words, and the values that are written there
    result: int = -1  # the value that the result becomes; -1: it decides where to go on; -2: there is none
    skip: str = ""  # where SKIP goes
    ask: Callable[[], Any] | None = None  # what ASK does; it may return where to go on


class Program:
    """Stages, and values that they share; for one thread at a time."""

    def __init__(self, size: int) -> None:
        self.values = np.zeros(size, np.int64)
        self.numbers = self.values.view(float)  # the same words, as doubles
        self._stages: list[Stage] = []
        self._labels: dict[str, int] = {}
        self._keep: list[Any] = []
        self._tables: tuple[Array, ...] = ()

    def clear(self) -> None:
        """Forget all stages; values stay."""
        self._stages.clear()
        self._labels.clear()
        self._keep.clear()
        self._tables = ()

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
        words, arrays, patches = [0], list[int](), list[tuple[int, int]]()
        for one in _flat(arguments):
            kind = type(one)
            if kind is Value:
                patches.append((len(words), one.place))
                words.append(0)
                continue
            if kind is Some:
                patches.append((len(words) + 1, one.rows))
                one = one.array
            if isinstance(one, np.ndarray):
                arrays.append(len(words))
                words += [id(one), *one.shape]
            else:
                words.append(one if isinstance(one, int) else int(np.float64(one).view(np.int64)))
        bound = np.array(words, np.int64)
        put_addresses(np.array(arrays, np.int64), bound)
        self._keep += [bound, arguments]
        how = -1 if skip or ask else result
        self._stages.append(Stage(_address(loop), bound.ctypes.data, 0, patches, how, skip, ask))

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

    def run(self) -> None:
        """Go through the stages."""
        if not self._tables:
            self._bind()
        k = run_stages(0, *self._tables)
        while k < len(self._stages):
            ask = self._stages[k].ask
            assert ask
            to = ask()
            if not self._tables:  # it has bound the stages anew
                self._bind()
            k = run_stages(self._labels[to] if to else k + 1, *self._tables)

    def _bind(self) -> None:
        stages = self._stages
        words = [
            (one.address, one.first, one.second, one.result, self._labels.get(one.skip, -1)) for one in stages
        ]
        patches: Sequence[tuple[int, int]] = [patch for one in stages for patch in one.patches]
        firsts = np.cumsum([0, *(len(one.patches) for one in stages)]).astype(np.int64)
        table = np.array(words, np.int64).reshape(-1, 5)
        self._tables = table, firsts, np.array(patches, np.int64).reshape(-1, 2), self.values


@cache
def _address(loop: Entry) -> int:
    return loop.address


def _flat(arguments: Sequence[Any]) -> Iterator[Any]:
    """Iterate over arguments and over what is in tuples among them."""
    for each in arguments:
        if isinstance(each, tuple) and type(each) is not Some and type(each) is not Value:
            yield from each
        else:
            yield each


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
