"""What functions read beside their arguments, and whether it has changed.

A law may read names of its module, variables of the function that it was made in, default values, attributes
of objects, lists, arrays, classes, modules that it imports, and what functions that it calls read. `Outside`
follows all of these once and keeps what it finds, place by place: comparing them takes less than a
microsecond per place. Functions and classes of Python itself and of numerical libraries are taken as they
are; objects of theirs are looked into. What cannot be looked into (an object of somebody's C code, a file,
the environment, a name that is computed, a graph of very many objects) makes it incomplete: nothing is then
known to be the same.
"""

import decimal
import dis
import enum
import fractions
import functools
import hashlib
import logging
import pathlib
import random
import re
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from linkwork.mechanism.input import Input
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.recorded import Recorded
from linkwork.trace.expression import Expr

_MOST = 5_000  # things that are looked at
_LARGE = 1_000_000  # bytes of an array that are kept; of more, a digest
_LIBRARIES = frozenset(
    {"numpy", "scipy", "linkwork", "numba", "llvmlite", "mpmath", "matplotlib", "pandas", "sympy", "xarray"}
)
_TRUSTED = (_LIBRARIES | frozenset(sys.stdlib_module_names)) - {"__main__", "test"}  # names of users, too
_BY_NAME = frozenset(
    {"getattr", "attrgetter", "globals", "vars", "__dict__", "modules"}
)  # take names as texts
_ELSEWHERE = frozenset(  # what reads files, the environment, or code that is no code of the function
    {"open", "read_text", "read_bytes", "loadtxt", "genfromtxt", "fromfile", "load", "read_csv", "environ"}
    | {"getenv", "eval", "exec", "__import__", "import_module"}
)
_ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, range, type(Ellipsis), types.CodeType})
_ATOMIC = (
    np.generic,
    np.dtype,
    np.ufunc,
    decimal.Decimal,
    fractions.Fraction,
    pathlib.PurePath,
    enum.Enum,
    Input,
)
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
_ABSENT = object()

Values = tuple[Any, ...]
Place = tuple[Callable[[Any], Values], Any, Values, str]  # how to read it, where, what was there, its name


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
            if not alike and not _equal(now, before):
                return False
        return self.complete

    def change(self) -> str:
        """Return what has changed, in words: "'u' was [0.0] and is [-5.0]"; nothing if it cannot be said."""
        for read, where, before, name in self.places:
            now = read(where)
            if not _equal(now, before):
                return _difference(name, before, now)
        return ""

    def drew(self) -> str:
        """Return the name of a source of random numbers that has been drawn from; nothing if none has."""
        for read, where, before, name in self.places:
            if read is _random_state and not _equal(read(where), before):
                return name
        return ""

    # the walk

    def _look(self, thing: Any, name: str) -> None:
        kind = type(thing)
        if kind in _ATOMS or isinstance(thing, _ATOMIC) or id(thing) in self._seen:
            self.reads_inputs = self.reads_inputs or kind is Input
            return
        if len(self._seen) >= _MOST:
            self.complete = False
            return
        self._seen[id(thing)] = thing
        if isinstance(thing, Expr):
            self.leaked.append((name, None, None))
        elif isinstance(thing, types.FunctionType):
            self._function(thing, name)
        elif isinstance(thing, type):
            self._class(thing)
        elif isinstance(thing, types.MethodType):
            self._look(thing.__func__, name)
            self._look(thing.__self__, _owner(name))
        elif isinstance(thing, functools.partial):
            self._look(thing.func, name)
            self._contents(_items, thing.args, name)
            self._contents(_entries, thing.keywords, name)
        elif isinstance(thing, types.BuiltinFunctionType | types.MethodWrapperType):
            self._look(thing.__self__, _owner(name))
        elif isinstance(thing, property | functools.cached_property | staticmethod | classmethod):
            for word in ("fget", "func", "__func__"):
                self._look(getattr(thing, word, None), name)
        elif isinstance(thing, Mechanism):
            self.places.append((_revisions, thing, _revisions(thing), name))
        elif isinstance(thing, Recorded):
            self.places.append((_revision, thing, _revision(thing), name))
        elif isinstance(thing, np.ndarray):
            self._array(thing, name)
        elif isinstance(thing, random.Random | np.random.Generator | np.random.RandomState):
            self.places.append((_random_state, thing, _random_state(thing), name))
        elif isinstance(thing, weakref.ref):
            self._look(thing(), name)
        elif isinstance(thing, types.ModuleType):  # in a list, an attribute: who knows what is asked of it
            self.complete = self.complete and _is_trusted_module(thing)
        elif isinstance(thing, list | tuple | deque):
            self._contents(_items, thing, name)
        elif isinstance(thing, set | frozenset):
            self._contents(_members, thing, name)
        elif isinstance(thing, dict | types.MappingProxyType):
            self._contents(_entries, thing, name)
        elif isinstance(thing, bytearray):
            self.places.append((_bytes, thing, _bytes(thing), name))
        elif not isinstance(thing, _UNSEEN):
            self._object(thing, name)
        if isinstance(thing, _CONTAINERS) and not _trusted(kind):
            self._members(thing, name)

    def _function(self, function: types.FunctionType, name: str) -> None:
        cells = function.__closure__ or ()
        names = _names_in(function.__code__)
        if cells:
            words = function.__code__.co_freevars
            self.places.append((_cells, cells, _cells(cells), ", ".join(words)))
            for word, cell in zip(words, cells, strict=True):
                if isinstance(content := _content(cell), types.ModuleType):
                    self._module(content, names.attributes)
                else:
                    self._found(word, cell, "cell_contents", content)
        if function.__defaults__ or function.__kwdefaults__:
            self.places.append((_defaults, function, _defaults(function), f"a default value of {name}"))
            for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
                self._look(value, f"a default value of {name}")
        if _trusted(function):
            return
        if vars(function):
            self._contents(_entries, vars(function), name, attributes=True)
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
        if not _is_trusted_module(module) and module not in within:
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
        words = tuple(word for word, value in there.items() if not _is_trusted_module(value))
        if words:
            where = space, words
            self.places.append((_named, where, _named(where), ", ".join(words)))
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
            if _trusted(each):
                continue
            self._seen[id(each)] = each
            self.places.append((_attributes, each, _attributes(each), each.__name__))
            for word, value in vars(each).items():
                if word not in _DULL:
                    self._look(value, f"{each.__name__}.{word}")
        self._look(type(kind), type(kind).__name__)

    def _object(self, thing: Any, name: str) -> None:
        wrapped = [getattr(thing, word, None) for word in ("__wrapped__", "py_func")]
        if not any(wrapped) and _is_opaque(type(thing)):
            self.complete = False
        for function in wrapped:
            self._look(function, name)
        self._members(thing, name)

    def _members(self, thing: Any, name: str) -> None:
        """Look at the attributes of an object, and at its class."""
        if hasattr(thing, "__dict__"):
            self._contents(_entries, vars(thing), name, attributes=True)
        if slots := tuple(word for each in type(thing).__mro__ for word in _slots(each)):
            where = thing, slots
            self.places.append((_slotted, where, _slotted(where), name))
            for word in slots:
                self._look(getattr(thing, word, None), f"{name}.{word}")
        self._look(type(thing), type(thing).__name__)

    def _contents(
        self, read: Callable[[Any], Values], thing: Any, name: str, attributes: bool = False
    ) -> None:
        self.places.append((read, thing, read(thing), name))
        if isinstance(thing, dict | types.MappingProxyType):
            for key, value in list(thing.items()):
                if type(value) not in _ATOMS:
                    self._found(f"{name}.{key}" if attributes else f"{name}[{key!r}]", thing, key, value)
        else:
            for k, value in enumerate(list(thing)):
                if type(value) not in _ATOMS:
                    self._found(f"{name}[{k}]", thing, k, value)

    def _found(self, name: str, holder: Any, key: Any, value: Any) -> None:
        """Look at what a place holds; a symbol there is one that has got out."""
        if isinstance(value, Expr):
            self.leaked.append((name, holder, key))
        else:
            self._look(value, name)

    def _array(self, array: np.ndarray, name: str) -> None:
        if array.dtype.hasobject:
            self._contents(_array_items, array, name)
        elif not _is_frozen(array):
            self.places.append((_array_bytes, array, _array_bytes(array), name))


def outside_of(element: Recorded) -> Outside:
    """Return what an element of a mechanism reads beside what it is given: by functions, or by its class."""
    kind = type(element)
    apart = _OWN | getattr(kind, "called", frozenset())
    things = [(word, value) for word, value in vars(element).items() if word not in apart and _looks(value)]
    return Outside([*things, *([] if _trusted(kind) else [(kind.__name__, kind)])])


_CONTAINERS = (list, tuple, deque, set, frozenset, dict, np.ndarray, bytearray)
_OWN = frozenset({"on", "_joints", "_name", "space"})
_DULL = frozenset(
    {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__slots__"}
    | {"__orig_bases__", "__parameters__"}
)


def _looks(value: Any) -> bool:
    return type(value) not in _ATOMS and not isinstance(value, Recorded)


def restore(before: Outside, after: Outside) -> None:
    """Put back what was in places where new symbols are now; where nothing was, nothing is then."""
    known = {(id(holder), key) for _, holder, key in before.leaked}
    for _, holder, key in reversed(after.leaked):
        if (id(holder), key) in known:
            continue
        for read, where, values, _ in before.places:
            old = _ABSENT
            if read is _named and where[0] is holder and key in where[1]:
                old = values[where[1].index(key)]
            elif read is _cells and any(cell is holder for cell in where):
                old = values[[cell is holder for cell in where].index(True)]
            elif where is holder and read is _entries:
                count = len(values) // 2
                old = dict(zip(values[:count], values[count:], strict=True)).get(key, _ABSENT)
            elif where is holder and read is _items and key < len(values):
                old = values[key]
            if old is not _ABSENT and not isinstance(old, Expr):
                break
        else:
            if isinstance(holder, dict | list | deque):
                del holder[key]
            continue
        if isinstance(holder, types.CellType):
            holder.cell_contents = old
        else:
            holder[key] = old


# how places are read


def _items(where: Any) -> Values:
    return tuple(where)


def _members(where: Any) -> Values:
    return tuple(sorted(where, key=id))


def _entries(where: Any) -> Values:
    return (*where.keys(), *where.values())


def _attributes(where: type) -> Values:
    return tuple(vars(where).values())


def _slotted(where: tuple[Any, Values]) -> Values:
    return tuple(getattr(where[0], word, _ABSENT) for word in where[1])


def _named(where: tuple[dict[str, Any], Values]) -> Values:
    space = where[0]
    return tuple([space.get(word, _ABSENT) for word in where[1]])


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _cells(where: tuple[types.CellType, ...]) -> Values:
    return tuple([_content(cell) for cell in where])


def _defaults(where: types.FunctionType) -> Values:
    return (*(where.__defaults__ or ()), *(where.__kwdefaults__ or {}).values())


def _revision(where: Recorded) -> Values:
    return (where._revision,)


def _revisions(where: Mechanism) -> Values:
    return tuple([each._revision for each in (where, where.ground, *where.elements)])


def _random_state(where: Any) -> Values:
    if isinstance(where, random.Random):
        return (where.getstate(),)
    state = where.bit_generator.state if isinstance(where, np.random.Generator) else where.get_state()
    return (repr(state),)


def _bytes(where: Any) -> Values:
    return (bytes(where),)


def _array_items(where: np.ndarray) -> Values:
    return tuple(where.ravel().tolist())


def _array_bytes(where: np.ndarray) -> Values:
    content = where.tobytes()
    return where.shape, content if len(content) <= _LARGE else hashlib.blake2b(content).digest()


def _equal(one: Values, other: Values) -> bool:
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
        return _equal(a, b)
    return (type(a) in _ATOMS or isinstance(a, _ATOMIC)) and a == b


def _difference(name: str, before: Values, now: Values) -> str:
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


# what is looked into


def _trusted(thing: Any) -> bool:
    module = getattr(thing, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in _TRUSTED


def _is_trusted_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] in _TRUSTED


def _is_frozen(array: np.ndarray) -> bool:
    """Whether nothing can write to an array: it is read-only, and so is what it is a view of."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes)


def _slots(kind: type) -> tuple[str, ...]:
    words = vars(kind).get("__slots__", ())
    words = (words,) if isinstance(words, str) else tuple(words)
    return tuple(word for word in words if word not in ("__dict__", "__weakref__"))


def _owner(name: str) -> str:
    return name.rpartition(".")[0] or name


def _is_opaque(kind: type) -> bool:
    """Whether objects of a class hold more than Python can see: C code has added fields to a base of it.

    A class of Python adds to the size of its objects what its slots take, and up to two more fields.
    """
    if not kind.__dictoffset__ and not any(map(_slots, kind.__mro__)):
        return kind is not object
    grown = (
        (each, each.__basicsize__ - each.__base__.__basicsize__) for each in kind.__mro__ if each.__base__
    )
    return any(more > _FIELD * (len(_slots(each)) + 2) for each, more in grown)


_FIELD = object.__basicsize__ // 2  # bytes of a pointer


class _Names(NamedTuple):
    """What code reads by name."""

    read: tuple[str, ...]  # of its module
    attributes: frozenset[str]  # of anything
    imported: tuple[str, ...]  # modules
    elsewhere: bool  # whether it may read what has no name here


@functools.lru_cache(1 << 16)
def _names_in(code: types.CodeType) -> _Names:
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
            names = _names_in(inner)
            read |= dict.fromkeys(names.read)
            attributes |= names.attributes
            imported |= dict.fromkeys(names.imported)
            elsewhere = elsewhere or names.elsewhere
    return _Names(tuple(read), frozenset(attributes), tuple(imported), elsewhere)
