"""What is made at first use, by one thread, under one lock: code, tables and the engine that holds them."""

import functools
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Made = TypeVar("Made")

LOCK = threading.RLock()


class lazy(Generic[Made]):
    """A property computed at first use and kept; two threads never compute it twice (cached_property may)."""

    def __init__(self, make: Callable[[Any], Made]):
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy[Made]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Made: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        with LOCK:
            kept = instance.__dict__  # found there directly from now on
            if self._name not in kept:
                kept[self._name] = self._make(instance)
            return kept[self._name]


class kept(Generic[Made]):
    """A property computed at first use and kept, without a lock: two threads may compute it, to the same end.

    (Until Python 3.12 functools.cached_property computes under a lock of its own. What needs LOCK on the way
    would wait for ever for a thread that holds LOCK and waits for that one.)
    """

    def __init__(self, make: Callable[[Any], Made]):
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "kept[Made]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Made: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._make(instance))


def computed_once(make: Callable[[], Made]) -> Callable[[], Made]:
    """Return a function without arguments that is run once in this process."""
    cached = functools.cache(make)

    @functools.wraps(make)
    def locked() -> Made:
        with LOCK:
            return cached()

    return locked
