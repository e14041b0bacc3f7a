"""Loops as objects of the store: their name, their code, what else they call; and how Python calls them."""

import ctypes
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.lazy import LOCK, computed_once, lazy
from linkwork.native import loop_call_text, passes, sources, store
from linkwork.native.built_in_functions import BuiltIn, provide
from linkwork.native.entry_text import LAYOUT
from linkwork.native.index_checks import CHECKED
from linkwork.native.loop_types import ARRAY, INTEGER, POINTER, TUPLE, Kind, Named
from linkwork.native.target import Target, host

LOOPS: dict[str, "Loop"] = {}  # all that were imported so far, by name
_RESULTS = {None: 0, "int64": 1, "float64": 2}
_CALLED = re.compile(r"^declare i32 @(loop_\w+)\(", re.MULTILINE)


class Loop:
    """A function of fixed types that is an object by itself: found, or compiled, when it is needed."""

    def __init__(self, function: Callable[..., Any], result: str | None, arguments: Sequence[str | Named]):
        self.function, self.result, self.arguments = function, result, tuple(arguments)
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        if result not in _RESULTS:
            raise ValueError(f"{self.name}: a result {result!r} is not among {_RESULTS}")
        LOOPS[self.name] = self

    def prepare(self) -> None:
        """Load the object, or compile it, and the loops that it calls, before it is needed."""
        store.load_here(self.object_name(host()), self.build, passes.loops, _versions, _load_called)

    @property
    def address(self) -> int:
        """Where its code is: `i32 code(words)`, see `words`."""
        self.prepare()
        return store.address(self.symbol)

    def words(self, *arguments: Any) -> np.ndarray:
        """Return the words by which native code calls it: room for the result, then the arguments.

        Arrays are there by address: whoever keeps the words keeps the arrays.
        """
        found: list[int] = [0]
        given = [
            value if isinstance(kind, Named) else (value,) for value, kind in zip(arguments, self.arguments)
        ]
        values = [value for values in given for value in values]
        for value, kind in zip(values, _flat(self.arguments), strict=True):
            if kind.how == ARRAY:
                found += [value.ctypes.data, *value.shape]
            else:
                found.append(int(value) if kind.how == INTEGER else int(np.float64(value).view(np.int64)))
        return np.array(found, np.int64)

    @lazy
    def symbol(self) -> str:
        """The name of the function in its object: a digest of all sources that shape it and its signature."""
        files = {*sources.closure(Path(self.function.__code__.co_filename)), *_front_end()}
        digest = sources.digest(files)
        kind = ("checked",) if CHECKED else ()
        return f"loop_{store.name_of(digest, self.name, self.result, self.arguments, *kind)}"

    def object_name(self, target: Target) -> str:
        """Return the name of the object for a target."""
        return store.name_of(self.symbol, target)

    def build(self) -> tuple[str, dict[str, Any]]:
        """Return the LLVM text, for any target, and what is noted beside the object."""
        from linkwork.native import numba_front_end

        text = numba_front_end.text(self.function, self.result, self.arguments, self.symbol)
        names = {loop.symbol: loop.name for loop in LOOPS.values()}
        return text, {"loop": self.name, "calls": [names[each] for each in _CALLED.findall(text)]}


def _load_called(meta: Mapping[str, Any]) -> None:
    """Load the loops that an object calls."""
    for name in meta["calls"]:
        importlib.import_module(name.rpartition(".")[0])
        loop = LOOPS[name]
        loop.prepare()
        store.provide({loop.symbol: store.address(loop.symbol)})


class Linked(Loop):
    """A loop that native code calls. It is linked to what calls it, not compiled into it."""

    @lazy
    def _numba_type_(self) -> Any:
        from linkwork.native import numba_front_end

        return numba_front_end.linked_type(self.symbol, self.result, self.arguments)


class Entry(Loop):
    """A loop that Python calls. Its object is found, or compiled, at the first call."""

    def __init__(self, function: Callable[..., Any], result: str | None, arguments: Sequence[str | Named]):
        super().__init__(function, result, arguments)
        kinds = _flat(arguments)
        if 1 + sum(kind.words for kind in kinds) > loop_call_text.MOST_WORDS:
            raise ValueError(f"{self.name}: too many arguments")
        if any(kind.how == POINTER for kind in kinds):
            raise ValueError(f"{self.name}: Python has no pointers; take arrays")
        self._run = self._load

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self._run(*arguments)
        except TypeError:
            return self._run(*self._fitted(arguments))

    def prepare(self) -> None:
        """Load the object, or compile it, before it is needed."""
        with LOCK:
            if self._run == self._load:
                super().prepare()
                self._run = _built_in(self, store.address(self.symbol))

    def _load(self, *arguments: Any) -> Any:
        self.prepare()
        return self._run(*arguments)

    def _fitted(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the arguments with arrays as they have to be, where that takes no copy."""
        if len(arguments) != len(self.arguments):
            raise TypeError(f"{self.name} takes {len(self.arguments)} arguments, not {len(arguments)}")
        return [self._fit(value, kind) for value, kind in zip(arguments, self.arguments)]

    def _fit(self, value: Any, described: str | Named) -> Any:
        if isinstance(described, Named):
            return tuple(self._fit(item, kind) for item, kind in zip(value, described.kinds, strict=True))
        kind = Kind.of(described)
        if kind.how != ARRAY:
            return value
        fits = (
            isinstance(value, np.ndarray)
            and value.dtype == kind.dtype
            and value.ndim == kind.ndim
            and value.flags.c_contiguous
            and value.flags.aligned
        )
        if not fits:
            shown = (
                f"{value.dtype} array {value.shape}"
                if isinstance(value, np.ndarray)
                else type(value).__name__
            )
            raise TypeError(f"{self.name} takes a contiguous {described}, not a {shown}")
        return value.view(kind.dtype)  # an equal type of numbers becomes the same


def _flat(arguments: Sequence[str | Named]) -> list[Kind]:
    """Return the kinds of all values, those of tuples too."""
    described = [each.kinds if isinstance(each, Named) else (each,) for each in arguments]
    return [Kind.of(kind) for kinds in described for kind in kinds]


@computed_once
def _front_end() -> list[Path]:
    """Return the sources that make text of any loop."""
    here = Path(__file__).parent
    return [here / f"{name}.py" for name in ("array_memory", "loop_types", "passes")] + sorted(
        here.glob("numba_*.py")
    )


def _versions() -> str:
    return f"{store.llvm_versions()}, Numba {version('numba')}"


@computed_once
def _enter() -> BuiltIn:
    """Return the built-in function that takes arguments to any loop."""
    provide(loop_call_text.CALLED)
    name = store.digest("enter", LAYOUT)
    store.load(name, lambda: (loop_call_text.text(name), {}), optimize=True)
    return BuiltIn("enter", store.address(f"enter_{name}"), "Run a loop.")


def _built_in(entry: Entry, address: int) -> Any:
    """Return the built-in function of one loop."""
    wrong = f"{entry.name}: the arguments are not ({', '.join(map(str, entry.arguments))})"
    failed = f"{entry.name} failed: out of memory, or arrays whose lengths do not match"
    messages = [ctypes.create_string_buffer(text.encode()) for text in (wrong, failed)]
    spec = [address, len(entry.arguments), _RESULTS[entry.result], id(np.ndarray)]
    spec += [id(TypeError), ctypes.addressof(messages[0]), id(LinkworkError), ctypes.addressof(messages[1])]
    spec += [id(None)]
    keep: list[Any] = [*messages]
    for each in entry.arguments:
        if isinstance(each, Named):
            spec += [TUPLE, len(each.kinds), 0]
        for kind in _flat([each]):
            dtype = np.dtype(kind.dtype) if kind.how == ARRAY else None
            keep.append(dtype)
            spec += [kind.how, kind.ndim, id(dtype)]
    return _enter().of(spec, keep=tuple(keep))
