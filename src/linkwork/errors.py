"""Every error Linkwork raises on purpose: what, where by name, the value, the remedy."""

import difflib
import sys
import warnings
from collections.abc import Iterable
from typing import Any

_FEW = 12  # known words that are listed when none is close
_SHOWN = 60  # characters of each


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


def warn(text: str) -> None:
    """Warn at the line of the user: the first one outside of this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "linkwork":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def absent(text: str, name: str) -> AttributeError:
    """Return the error for an attribute that is not there; the interpreter adds no guess of its own to it."""
    return AttributeError(text, name=name, obj=None)


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is unknown, and list the close known ones."""
    return f"unknown {kind} {_listed([name]) if isinstance(name, str) else repr(name)}; {hint(name, known)}"


def hint(word: object, known: Iterable[str]) -> str:
    """Return "did you mean 'x'?", or the known words if they are few and none is close."""
    words = list(known)
    text, plain = str(word).lower(), {w.lower(): w for w in reversed(words)}
    close = [plain[w] for w in difflib.get_close_matches(text, plain, n=3, cutoff=0.6)]
    if not close:  # "pos" for "position"
        close = [w for w in words if len(text) > 2 and w.lower().startswith(text)][:3]
    if close:
        return f"did you mean {_listed(close)}?"
    if len(words) <= _FEW:
        return f"known are {_listed(words)}" if words else "there are none"
    return f"there are {len(words)}, such as {_listed(words[:3])}"


def _listed(words: list[str]) -> str:
    return ", ".join(repr(word if len(word) <= _SHOWN else word[:_SHOWN] + "...") for word in words)
