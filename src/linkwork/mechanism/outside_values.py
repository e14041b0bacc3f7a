"""What functions read beside their arguments, and whether it has changed.

A law may read names of its module, variables of the function that it was made in, default values, attributes
of objects, lists, arrays, classes, modules that it imports, and what functions that it calls read. `Outside`
follows all of these once and keeps what it finds, place by place: comparing them takes less than a
microsecond per place. Functions and classes of Python itself and of numerical libraries are taken as they
are; objects of theirs are looked into. What cannot be looked into (an object of somebody's C code, a file,
the environment, a name that is computed, a graph of very many objects) makes it incomplete: nothing is then
known to be the same.
"""

import functools
import logging
import random
import re
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any

import numpy as np

from linkwork.mechanism import outside_place as place
from linkwork.mechanism.input import Input
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.names_in_code import names_in
from linkwork.mechanism.outside_place import ABSENT, ATOMIC, ATOMS, Place, Values
from linkwork.mechanism.trusted_code import is_frozen, is_opaque, is_trusted_module, slots, trusted
from linkwork.trace.expression import Expr

_MOST = 5_000  # things that are looked at
_UNSEEN = (  # what changes in them is nothing that a law computes with
    logging.Logger,
    re.Pattern,
    type(threading.Lock()),
    type(threading.RLock()),
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)


class Outside:
    """What things (functions, objects that have some) can read beside their arguments."""

    def __init__(self, things: Iterable[tuple[str, Any]]) -> None:
        self.places: list[Place] = []
        self.complete = True
        self.leaked: list[tuple[str, Any, Any]] = []  # where symbols are: name, holder, key
        self.reads_inputs = False  # whether there is an lw.Input
        self._seen: dict[int, Any] = {}
        for name, thing in things:
            self._look(thing, name)
        del self._seen

    def __bool__(self) -> bool:
        """Whether there is anything that may change."""
        return bool(self.places) or not self.complete

    @property
    def same(self) -> bool:
        """Whether nothing is known to have changed."""
        for read, where, before, _ in self.places:
            now = read(where)
            alike = len(now) == len(before) and all(map(is_, now, before))
            if not alike and not place.equal(now, before):
                return False
        return self.complete

    def change(self) -> str:
        """Return what has changed, in words: "'u' was [0.0] and is [-5.0]"; nothing if it cannot be said."""
        for read, where, before, name in self.places:
            now = read(where)
            if not place.equal(now, before):
                return place.difference(name, before, now)
        return ""

    def drew(self) -> str:
        """Return the name of a source of random numbers that has been drawn from; nothing if none has."""
        for read, where, before, name in self.places:
            if read is place.random_state and not place.equal(read(where), before):
                return name
        return ""

    # the walk

    def _look(self, thing: Any, name: str) -> None:
        kind = type(thing)
        if kind in ATOMS or isinstance(thing, ATOMIC) or id(thing) in self._seen:
            self.reads_inputs = self.reads_inputs or kind is Input
            return
        if len(self._seen) >= _MOST:
            self.complete = False
            return
        self._seen[id(thing)] = thing
        next(look for kinds, look in _LOOKS if isinstance(thing, kinds))(self, thing, name)
        if isinstance(thing, _CONTAINERS) and not trusted(kind):
            self._members(thing, name)

    def _kept(self, read: Callable[[Any], Values], where: Any, name: str) -> None:
        self.places.append(Place(read, where, read(where), name))

    def _symbol(self, symbol: Expr, name: str) -> None:
        self.leaked.append((name, None, None))

    def _method(self, method: types.MethodType, name: str) -> None:
        self._look(method.__func__, name)
        self._look(method.__self__, _owner(name))

    def _partial(self, partial: functools.partial, name: str) -> None:
        self._look(partial.func, name)
        self._contents(place.items, partial.args, name)
        self._contents(place.entries, partial.keywords, name)

    def _wrapper(self, wrapper: Any, name: str) -> None:
        for word in ("fget", "func", "__func__"):
            self._look(getattr(wrapper, word, None), name)

    def _function(self, function: types.FunctionType, name: str) -> None:
        cells = function.__closure__ or ()
        names = names_in(function.__code__)
        if cells:
            words = function.__code__.co_freevars
            self._kept(place.cells, cells, ", ".join(words))
            for word, cell in zip(words, cells, strict=True):
                if isinstance(content := place.content(cell), types.ModuleType):
                    self._module(content, names.attributes)
                else:
                    self._found(word, cell, "cell_contents", content)
        if function.__defaults__ or function.__kwdefaults__:
            self._kept(place.defaults, function, f"a default value of {name}")
            for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
                self._look(value, f"a default value of {name}")
        if trusted(function):
            return
        if vars(function):
            self._contents(place.entries, vars(function), name, attributes=True)
        self.complete = self.complete and not names.elsewhere
        self._names(function.__globals__, names.read, names.attributes)
        for word in names.imported:
            self._imported(word, function.__globals__.get("__package__") or "", names.attributes)

    def _imported(self, name: str, package: str, attributes: frozenset[str]) -> None:
        """Look at what code asks of a module that it imports itself."""
        module = sys.modules.get(f"{package}.{name}" if package else name) or sys.modules.get(name)
        if module is None:  # not yet
            self.complete = False
        else:
            self._module(module, attributes)

    def _module(
        self, module: types.ModuleType, attributes: frozenset[str], within: tuple[types.ModuleType, ...] = ()
    ) -> None:
        """Look at the attributes of a module that are asked for, and at those of modules among them."""
        if not is_trusted_module(module) and module not in within:
            asked = sorted(attributes & vars(module).keys())
            self._names(vars(module), asked, attributes, (*within, module))

    def _names(
        self,
        space: dict[str, Any],
        names: Iterable[str],
        attributes: frozenset[str],
        within: tuple[types.ModuleType, ...] = (),
    ) -> None:
        """Look at names of a module; of modules among them at the attributes that are asked for."""
        there = {word: space[word] for word in names if word in space}
        words = tuple(word for word, value in there.items() if not is_trusted_module(value))
        if words:
            where = space, words
            self._kept(place.named, where, ", ".join(words))
        for value in there.values():
            if value is random or value is np.random or (value is np and "random" in attributes):
                self._look(random._inst if value is random else np.random.mtrand._rand, "random")
        for word in words:
            value = there[word]
            if isinstance(value, types.ModuleType):
                self._module(value, attributes, within)
            else:
                self._found(word, space, word, value)

    def _class(self, kind: type) -> None:
        for each in kind.__mro__:
            if trusted(each):
                continue
            self._seen[id(each)] = each
            self._kept(place.attributes, each, each.__name__)
            for word, value in vars(each).items():
                if word not in _DULL:
                    self._look(value, f"{each.__name__}.{word}")
        self._look(type(kind), type(kind).__name__)

    def _object(self, thing: Any, name: str) -> None:
        own = place.own_attributes(thing) or {}
        wrapped = [own[word] for word in ("__wrapped__", "py_func") if word in own]
        if not wrapped and is_opaque(type(thing)):
            self.complete = False
        for function in wrapped:
            self._look(function, name)
        self._members(thing, name)

    def _members(self, thing: Any, name: str) -> None:
        """Look at the attributes of an object, and at its class."""
        if (attributes := place.own_attributes(thing)) is not None:
            self._contents(place.entries, attributes, name, attributes=True)
        if found := tuple(slot for each in type(thing).__mro__ for slot in slots(each)):
            self._kept(place.slotted, (thing, found), name)
            for slot in found:
                self._look(place.slot(thing, slot), f"{name}.{slot.__name__}")
        self._look(type(thing), type(thing).__name__)

    def _contents(
        self, read: Callable[[Any], Values], thing: Any, name: str, attributes: bool = False
    ) -> None:
        self._kept(read, thing, name)
        if isinstance(thing, dict | types.MappingProxyType):
            for key, value in list(thing.items()):
                if type(value) not in ATOMS:
                    self._found(f"{name}.{key}" if attributes else f"{name}[{key!r}]", thing, key, value)
        else:
            for k, value in enumerate(list(thing)):
                if type(value) not in ATOMS:
                    self._found(f"{name}[{k}]", thing, k, value)

    def _found(self, name: str, holder: Any, key: Any, value: Any) -> None:
        """Look at what a place holds; a symbol there is one that has got out."""
        if isinstance(value, Expr):
            self.leaked.append((name, holder, key))
        else:
            self._look(value, name)

    def _array(self, array: np.ndarray, name: str) -> None:
        if array.dtype.hasobject:
            self._contents(place.array_items, array, name)
        elif not is_frozen(array):
            self._kept(place.array_bytes, array, name)


_Look = Callable[[Outside, Any, str], None]


def _keep(read: Callable[[Any], Values]) -> _Look:
    return lambda outside, thing, name: outside._kept(read, thing, name)


def _contents(read: Callable[[Any], Values]) -> _Look:
    return lambda outside, thing, name: outside._contents(read, thing, name)


def _module(outside: Outside, module: types.ModuleType, name: str) -> None:
    """A module in a list, or as an attribute: what is asked of it is not known."""
    outside.complete = outside.complete and is_trusted_module(module)


# What is looked at in a thing: the first that it is counts.
_LOOKS: tuple[tuple[Any, _Look], ...] = (
    (Expr, Outside._symbol),
    (types.FunctionType, Outside._function),
    (type, lambda outside, kind, _: outside._class(kind)),
    (types.MethodType, Outside._method),
    (functools.partial, Outside._partial),
    (
        types.BuiltinFunctionType | types.MethodWrapperType,
        lambda outside, function, name: outside._look(function.__self__, _owner(name)),
    ),
    (property | functools.cached_property | staticmethod | classmethod, Outside._wrapper),
    (Mechanism, _keep(place.revisions)),
    (Recorded, _keep(place.revision)),
    (np.ndarray, Outside._array),
    (random.Random | np.random.Generator | np.random.RandomState, _keep(place.random_state)),
    (weakref.ref, lambda outside, reference, name: outside._look(reference(), name)),
    (types.ModuleType, _module),
    (list | tuple | deque, _contents(place.items)),
    (set | frozenset, _contents(place.members)),
    (dict | types.MappingProxyType, _contents(place.entries)),
    (bytearray, _keep(place.content_of_bytes)),
    (_UNSEEN, lambda outside, thing, name: None),
    (object, Outside._object),
)


def outside_of(element: Recorded) -> Outside:
    """Return what an element of a mechanism reads beside what it is given: by functions, or by its class."""
    kind = type(element)
    apart = _OWN | getattr(kind, "called", frozenset())
    things = [(word, value) for word, value in vars(element).items() if word not in apart and _looks(value)]
    return Outside([*things, *([] if trusted(kind) else [(kind.__name__, kind)])])


_CONTAINERS = (list, tuple, deque, set, frozenset, dict, np.ndarray, bytearray)
_OWN = frozenset({"on", "_joints", "_name", "space"})
_DULL = frozenset(
    {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__slots__"}
    | {"__orig_bases__", "__parameters__"}
)


def _looks(value: Any) -> bool:
    return type(value) not in ATOMS and not isinstance(value, Recorded)


def restore(before: Outside, after: Outside) -> None:
    """Put back what was in places where new symbols are now; where nothing was, nothing is then."""
    known = {(id(holder), key) for _, holder, key in before.leaked}
    for _, holder, key in reversed(after.leaked):
        if (id(holder), key) in known:
            continue
        for read, where, values, _ in before.places:
            old = ABSENT
            if read is place.named and where[0] is holder and key in where[1]:
                old = values[where[1].index(key)]
            elif read is place.cells and any(cell is holder for cell in where):
                old = values[[cell is holder for cell in where].index(True)]
            elif where is holder and read is place.entries:
                count = len(values) // 2
                old = dict(zip(values[:count], values[count:], strict=True)).get(key, ABSENT)
            elif where is holder and read is place.items and key < len(values):
                old = values[key]
            if old is not ABSENT and not isinstance(old, Expr):
                break
        else:
            if isinstance(holder, dict | list | deque):
                del holder[key]
            continue
        if isinstance(holder, types.CellType):
            holder.cell_contents = old
        else:
            holder[key] = old


def _owner(name: str) -> str:
    return name.rpartition(".")[0] or name
