"""Every error Linkwork raises on purpose: what, where by name, the value, the remedy."""

import difflib
from collections.abc import Iterable
from typing import Any


class LinkworkError(Exception):
    """The root of all errors raised by Linkwork."""


class ModelError(LinkworkError):
    """A mechanism that cannot be compiled; the message lists every mistake found."""


class AssemblyError(LinkworkError):
    """Loops that cannot be closed; the message names the joints and the gap left."""

    motion: Any = None  # of `kinematics`: what was reached before
    final: Any = None  # its last valid pose


class SimulationError(LinkworkError):
    """A run that could not go on."""


class NumericalError(LinkworkError, ArithmeticError):
    """Finite numbers went in, and the result is not finite."""


class FormatError(LinkworkError):
    """A file that cannot be read: file, line, element, value, what is allowed."""


class MeshError(LinkworkError, ValueError):
    """A mesh that encloses no solid: what is wrong, and where."""


class TraceError(LinkworkError, TypeError):
    """Python control flow or a conversion met a traced value, whose number is not known yet."""


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is unknown, and list the close known ones."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5) or names[:8]
    hint = f"did you mean {', '.join(map(repr, close))}?" if close else "there are none"
    return f"unknown {kind} {name!r}; {hint}"
