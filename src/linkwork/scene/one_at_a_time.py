"""A scene is stepped, or edited, by one thread at a time; others wait."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def alone(method: Callable[..., Any]) -> Any:
    """Let other threads wait while a method of a scene runs."""

    @wraps(method)
    def wrapped(self: Any, *given: Any, **words: Any) -> Any:
        with self.lock:
            return method(self, *given, **words)

    return wrapped


def as_edit(method: Callable[..., Any]) -> Any:
    """Let a change be one edit, whatever it is made of: what was before it is kept, for `undo`."""

    @wraps(method)
    def wrapped(self: Any, *given: Any, **words: Any) -> Any:
        with self.lock, self.history.edit():
            return method(self, *given, **words)

    return wrapped
