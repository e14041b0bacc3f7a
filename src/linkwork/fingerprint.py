"""Fingerprints of values and of functions: equal for what computes the same, in any process.

A function is spelled out by its code, constants, defaults and closure, and what it uses of its own package.
"""

import functools
import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import PurePath
from types import CodeType, ModuleType
from typing import Any

import numpy as np


def digest(spelled_out: Any) -> str:
    """Return the digest of something spelled out."""
    return hashlib.sha256(json.dumps(spelled_out).encode()).hexdigest()


def spelled(value: Any) -> Any:
    """Spell a value so that different values, and numbers of different type, never read the same."""
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, Mapping):
        return [[str(key), spelled(value[key])] for key in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return ["list", *map(spelled, value)]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(json.dumps(spelled(item)) for item in value)]
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
        return ["array", value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    if value is None or isinstance(value, bool | int | str | bytes | complex | PurePath):
        return [type(value).__name__, repr(value)]
    return [type(value).__module__, type(value).__qualname__]


def spelled_code(function: Any) -> Any:
    """Spell what a function computes: its code, constants, defaults and closure, and what it uses nearby."""
    return _Speller(getattr(function, "__module__", None)).spell(function)


class _Speller:
    """Spells what belongs to the package of a function by its code, everything else by its name."""

    def __init__(self, module: str | None) -> None:
        self._package = (module or "").split(".")[0]
        self._seen: set[int] = set()

    def spell(self, thing: Any) -> Any:
        if isinstance(thing, functools.partial):
            return [self.spell(thing.func), self.spell(thing.args), self.spell(thing.keywords)]
        if inspect.ismethod(thing):
            return [self.spell(thing.__func__), self.spell(thing.__self__)]
        if isinstance(thing, property | staticmethod | classmethod):
            return self.spell([getattr(thing, part, None) for part in ("fget", "fset", "__func__")])
        if isinstance(thing, ModuleType):
            return thing.__name__
        if isinstance(thing, list | tuple):
            return [self.spell(item) for item in thing]
        if isinstance(thing, dict):
            return [[str(key), self.spell(item)] for key, item in thing.items()]
        if not self._is_near(thing):
            return getattr(thing, "__qualname__", None) or spelled(thing)
        if id(thing) in self._seen:
            return "again"
        self._seen.add(id(thing))
        if inspect.isfunction(thing):
            return self._function(thing)
        return self._class(thing) if inspect.isclass(thing) else self.spell([type(thing), vars(thing)])

    def _is_near(self, thing: Any) -> bool:
        """Return whether a function, a class or an object of a class was written in the package."""
        module = getattr(thing, "__module__", None)
        return (
            isinstance(module, str) and module.split(".")[0] == self._package and hasattr(thing, "__dict__")
        )

    def _function(self, function: Any) -> Any:
        used = {name: function.__globals__.get(name) for name in sorted(_names(function.__code__))}
        cells = [_contents(cell) for cell in function.__closure__ or ()]
        surroundings = self.spell([function.__defaults__, function.__kwdefaults__, cells, used])
        return [function.__qualname__, _bytecode(function.__code__), surroundings]

    def _class(self, kind: type) -> Any:
        members = {name: x for name, x in vars(kind).items() if inspect.isfunction(x) or name[:2] != "__"}
        return [kind.__qualname__, self.spell([kind.__bases__, members])]


def _bytecode(code: CodeType) -> Any:
    constants = [_bytecode(x) if isinstance(x, CodeType) else spelled(x) for x in code.co_consts]
    return [code.co_code.hex(), constants, code.co_names, code.co_varnames]


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _names(code: CodeType) -> set[str]:
    inner = (_names(x) for x in code.co_consts if isinstance(x, CodeType))
    return set(code.co_names).union(*inner)
