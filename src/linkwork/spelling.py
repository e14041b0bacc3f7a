"""Words that are not known: which known one was meant, for keywords, attributes and public names.

Python answers a misspelt keyword with a bare TypeError, and takes any attribute that is assigned. Here both
are answered with the word that is meant, in one place: classes say `metaclass=Spelled`, or are `Closed`, or
`Computed`, functions are `@checked_keywords`, and methods those of classes with `@spelled_methods`. Where a
call takes a microsecond and must not pay for this, a function takes `**unknown: Never` and hands it to
`refuse`.
"""

import functools
import inspect
import re
import sys
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from dataclasses import FrozenInstanceError
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Never,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    is_typeddict,
)

from linkwork.errors import absent, hint
from linkwork.foreign_words import attribute_meant, no_attribute, no_keyword, public_names
from linkwork.real_numbers import shown

P = ParamSpec("P")
R = TypeVar("R")
Made = TypeVar("Made")


class Spelled(type):
    """A class whose constructor answers a misspelt keyword with the one that is meant."""

    if not TYPE_CHECKING:  # which know the constructor itself

        def __call__(cls, *args: Any, **options: Any) -> Any:
            if options:
                check_keywords(cls, options)
            try:
                return super().__call__(*args, **options)
            except TypeError as error:
                check_arguments(cls, args, options)
                check_handed_on(cls, options, error)
                raise

        def __getattr__(cls, word: str) -> Any:
            if word.startswith("_"):
                raise AttributeError(f"{cls.__name__} has no {word!r}")
            raise absent(f"{cls.__name__} has no {word!r}; {hint(word, public_names(cls))}", word)

        @property
        def __signature__(cls) -> inspect.Signature:
            """What `help` and editors show: the arguments of the constructor."""
            whole = inspect.signature(cls.__init__)
            return whole.replace(parameters=list(whole.parameters.values())[1:])


class Constructed(Spelled):
    """A class whose objects get new attributes only while they are constructed."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **options: Any) -> Any:
            made = super().__call__(*args, **options)
            object.__setattr__(made, "_complete", True)
            return made


class Answering:
    """Something that answers a misspelt attribute with the one that is meant."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, word: str) -> Any:
            raise no_attribute(self, word)


class Closed(Answering, metaclass=Constructed):
    """Something whose attributes are those of its class and constructor: others cannot be assigned."""

    __slots__ = ("_complete",)
    _complete: bool  # constructed: attributes that are not there yet are refused
    also_set: ClassVar[frozenset[str]] = frozenset()  # what can be set beside what constructors take
    set_once: ClassVar[frozenset[str]] = frozenset()  # what constructors take, and is not set again
    to_set: ClassVar[Mapping[str, str]] = MappingProxyType({})  # what to do instead of setting attributes

    def __new__(cls, *args: Any, **options: Any) -> Any:
        made = super().__new__(cls)
        object.__setattr__(made, "_complete", False)
        return made

    def __setattr__(self, word: str, value: Any) -> None:
        self._check_assignable(word, value)
        object.__setattr__(self, word, value)

    def _check_assignable(self, word: str, value: Any) -> None:
        """Raise AttributeError if nothing would follow from the assignment of an attribute."""
        if not self._complete or word.startswith("_"):
            return
        kind = type(self)
        if word in self.__dict__:
            if word not in _given(kind) and word not in _read_by_own_code(kind) and not _by_the_package():
                remedy = f"; {kind.to_set[word]}" if word in kind.to_set else ""
                raise AttributeError(
                    f"{self!r}: {word} is computed and cannot be set to {shown(value)}{remedy}"
                )
            return
        there = getattr(kind, word, None)
        if there is None and not hasattr(kind, word):
            if word in _read_by_own_code(kind):
                return
            known = [name for name in public_names(self) if name in self.__dict__ or _settable(kind, name)]
            answer = attribute_meant(self, word)
            meant = f"use {answer}" if answer else _hint_to_set(word, known, public_names(self))
            meant = kind.to_set.get(word, meant)
            raise AttributeError(f"{self!r} has no {word} to set to {value!r}; {meant}")
        own = word in _given(kind) or word in _read_by_own_code(kind) or isinstance(there, property)
        settable = _settable(kind, word) and (own or _by_the_package())
        if not settable and not (inspect.isfunction(there) and callable(value)):
            what = "is a method" if callable(there) else "is fixed, or follows from the rest,"
            what = "belongs to the class" if word in _class_words(kind) else what
            remedy = f"; {kind.to_set[word]}" if word in kind.to_set else ""
            raise AttributeError(f"{self!r}: {word} {what} and cannot be set to {shown(value)}{remedy}")


def _hint_to_set(word: str, known: list[str], there: list[str]) -> str:
    """Say which attribute was meant: one of those that can be set, or else one of those that are there."""
    guesses = [guess for words in (known, there) if "did you mean" in (guess := hint(word, words))]
    return guesses[0] if guesses else hint(word, known or there)


class Computed(Answering):
    """Something that was computed: only its constructor sets attributes, those that its class declares."""

    def __setattr__(self, word: str, value: Any) -> None:
        first = word not in self.__dict__
        if word.startswith("_") or (first and word in _declared(type(self))):
            object.__setattr__(self, word, value)
        elif first and not hasattr(type(self), word):
            raise AttributeError(f"{word} cannot be set to {shown(value)}: {no_attribute(self, word)}")
        else:
            raise AttributeError(
                f"{self!r}: {word} was computed and cannot be set to {shown(value)}; change a copy of it"
            )


def fixed(remedy: str) -> Callable[[type[Made]], type[Made]]:
    """Let a frozen dataclass say what to do instead when an attribute is set."""

    def decorated(kind: type[Made]) -> type[Made]:
        frozen = kind.__setattr__

        def __setattr__(self: Made, word: str, value: Any) -> None:
            try:
                frozen(self, word, value)
            except FrozenInstanceError:
                known = hasattr(kind, word) or word in _declared(kind)
                meant = "" if known else f" ({no_attribute(self, word)})"
                text = f"{kind.__name__}: {word} cannot be set to {shown(value)}{meant}; {remedy}"
                raise FrozenInstanceError(text) from None

        kind.__setattr__ = __setattr__
        if not any("__getattr__" in vars(each) for each in kind.__mro__):
            kind.__getattr__ = vars(Answering)["__getattr__"]  # type: ignore[attr-defined]
        return kind

    return decorated


def returned_by(remedy: str) -> Callable[[type[Made]], type[Made]]:
    """Let a class of answers say what returns one, to whoever calls its constructor as if it made things."""

    def decorated(kind: type[Made]) -> type[Made]:
        init = kind.__init__

        @functools.wraps(init)
        def __init__(self: Made, *args: Any, **options: Any) -> None:
            try:
                init(self, *args, **options)
            except TypeError:
                try:
                    inspect.signature(init).bind(self, *args, **options)
                except TypeError:
                    raise TypeError(f"{kind.__name__} is not made by hand; {remedy}") from None
                raise

        kind.__init__ = __init__  # type: ignore[misc]
        return kind

    return decorated


@functools.lru_cache(maxsize=1024)
def _declared(kind: type) -> frozenset[str]:
    """Return the attributes that a class declares."""
    return frozenset(word for each in kind.__mro__ for word in vars(each).get("__annotations__", {}))


@functools.lru_cache(maxsize=1024)
def _given(kind: type) -> frozenset[str]:
    """Return what the constructors of a class take, and what it says that can be set beside."""
    makers = [
        vars(each)["__init__"] for each in kind.__mro__ if "__init__" in vars(each) and each is not object
    ]
    every = (parameter for make in makers for parameter in inspect.signature(make).parameters.values())
    words = {one.name for one in every if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
    return frozenset(words | kind.also_set) - kind.set_once


_ON_THE_WAY = {"_check_assignable", "__setattr__", "assign", "assignment", "_by_the_package"}


def _by_the_package() -> bool:
    """Whether an attribute is being set by a line of this package."""
    frame = sys._getframe(1)
    while frame.f_code.co_name in _ON_THE_WAY and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "linkwork"


@functools.lru_cache(maxsize=1024)
def _read_by_own_code(kind: type) -> frozenset[str]:
    """Return what a class outside of the package has, and the names in its methods: `self.pin` in `phi`."""
    own = [each for each in kind.__mro__ if each.__module__.partition(".")[0] not in ("linkwork", "builtins")]
    methods = [inspect.unwrap(value) for each in own for value in vars(each).values() if callable(value)]
    read = (word for method in methods if inspect.isfunction(method) for word in method.__code__.co_names)
    return frozenset({*read, *(word for each in own for word in vars(each))})


def _settable(kind: type, word: str) -> bool:
    """Return whether an object may have another value of an attribute that its class has."""
    there = getattr(kind, word, None)
    if isinstance(there, property):
        return there.fset is not None
    return not callable(there) and word not in _class_words(kind)


@functools.lru_cache(maxsize=1024)
def _class_words(kind: type) -> frozenset[str]:
    """Return the attributes that are the same for all objects of a class: those declared as ClassVar."""
    return frozenset(
        word
        for each in kind.__mro__
        for word, declared in vars(each).get("__annotations__", {}).items()
        if declared is ClassVar or get_origin(declared) is ClassVar
    )


class SpelledABC(Spelled, ABCMeta):
    """The same, of a class with abstract methods."""


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function answer a misspelt keyword with the one that is meant."""

    @functools.wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        if options:
            check_keywords(function, options)
        try:
            return function(*args, **options)
        except TypeError:
            check_arguments(function, args, options)
            raise

    checked.checks_keywords = True  # type: ignore[attr-defined]
    return checked


def spelled_methods(kind: type[Made]) -> type[Made]:
    """Let the public methods of a class, inherited ones too, answer a misspelt keyword with the one meant."""
    for word in {word for each in kind.__mro__ for word in vars(each) if not word.startswith("_")}:
        there = inspect.getattr_static(kind, word)
        of_class = isinstance(there, classmethod | staticmethod)
        function = there.__func__ if of_class else there
        if not inspect.isfunction(function) or hasattr(function, "checks_keywords"):
            continue
        parameters = inspect.signature(function).parameters
        if any(p.annotation is Never for p in parameters.values()):  # it answers by itself
            continue
        if len(parameters) > (not isinstance(there, staticmethod)):
            checked = checked_keywords(function)
            setattr(kind, word, type(there)(checked) if of_class else checked)
    return kind


def refuse(function: Callable[..., Any], unknown: Mapping[str, Any]) -> Never:
    """Raise TypeError for keywords that a function, which takes them as `**unknown: Never`, has not."""
    check_keywords(function, unknown, _GIVEN)
    raise AssertionError(f"{function.__name__} has all of {', '.join(unknown)}")


def require(what: str, value: Any, kinds: Any, wanted: str) -> None:
    """Raise TypeError if an argument is not of one of these kinds; `wanted` says what to give."""
    if not isinstance(value, kinds):
        raise TypeError(f"{what} is {shown(value)}, of type {type(value).__name__}; give {wanted}")


def check_keywords(callee: Any, given: Mapping[str, Any], hidden: Sequence[str] = ()) -> None:
    """Raise TypeError if a keyword is not among those of a function or a constructor.

    Not named are `hidden` ones: those that are given by the object whose method it is.
    """
    known = keywords(callee)
    if known is None or given.keys() <= known.keys():
        return
    known = {word: None for word in known if word not in hidden}
    wrong = next(word for word in given if word not in known)
    raise TypeError(
        f"{callee.__name__} has no option {wrong}= ({shown(given[wrong])}); {no_keyword(wrong, known)}"
    )


class _Open:
    """The default of an option that is handed on, as it is shown: where it goes says what it is."""

    def __repr__(self) -> str:
        return "..."


_OPEN = _Open()


def check_arguments(callee: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Raise TypeError if arguments are missing, or too many, with those that there are."""
    signature = inspect.signature(callee)
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        plain = [
            p.replace(annotation=p.empty)
            for p in signature.parameters.values()
            if p.name not in _GIVEN and p.kind is not p.VAR_KEYWORD
        ]
        listed = {p.name for p in plain} | {*_GIVEN}
        handed_on = [name for name in keywords(callee) or () if name not in listed]
        plain += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_OPEN) for name in handed_on
        ]
        takes = signature.replace(parameters=plain, return_annotation=signature.empty)
        raise TypeError(f"{callee.__name__}: {error}; it takes {takes}") from None


def check_handed_on(cls: type, options: Mapping[str, Any], error: TypeError) -> None:
    """Raise TypeError if what a constructor handed on as `**options` no base has: `error` names it."""
    wrong = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    if wrong and wrong[1] in options:
        of_bases = [keywords(base) or {} for base in cls.__mro__ if isinstance(base, Spelled)]
        known = dict.fromkeys(word for words in of_bases for word in words)
        if wrong[1] not in known:
            text = f"{cls.__name__} has no option {wrong[1]}= ({shown(options[wrong[1]])})"
            raise TypeError(f"{text}; {no_keyword(wrong[1], known)}") from None


_GIVEN = ("self", "cls", "model")  # by the object whose method it is


@functools.lru_cache(maxsize=1024)
def keywords(callee: Any) -> dict[str, None] | None:
    """Return the keywords of a function or constructor, in order; None if it takes any.

    Those that it hands on it declares: `**options: Unpack[JointOptions]`.
    """
    found: dict[str, None] = {}
    for parameter in inspect.signature(callee).parameters.values():
        if parameter.name in _GIVEN[:2] or parameter.annotation is Never:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            (declared,) = get_args(parameter.annotation) or (None,)
            if not is_typeddict(declared):
                return None
            found |= dict.fromkeys(declared.__annotations__)
        elif parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            found[parameter.name] = None
    return found
