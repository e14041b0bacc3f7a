"""What is in a mechanism: things whose attributes are changed through the mechanism's journal.

A revision stands for the content of an element: it is another after every change, and the old one again when
the change is undone. Copies keep it. So what was made of an element serves as long as its revision is the
same. For this the values of `constants` are kept such that they cannot be changed in place: lists as tuples,
arrays read-only.

What an element has is said by its class and its constructor. An attribute that is assigned later is one of
these, and takes effect; any other word is refused, with the one that is meant.
"""

from typing import Any, ClassVar, Protocol

import numpy as np

from linkwork.spelling import Closed

_FIXED = frozenset((float, int, str, bool, type(None), tuple))  # kept as they are
_OWN = frozenset(("_complete", "_journal", "_revision"))
_set = object.__setattr__


class Recorder(Protocol):
    """What an element asks to assign its attributes."""

    def assign(self, element: "Recorded", word: str, value: Any) -> None: ...


class Revision:
    """What an element contains; equal only to itself, also in copies, but not in another process."""

    __slots__ = ("lasting", "touched_by")
    lasting: bool  # what `snapshot.is_lasting` says of it, once that was asked,
    touched_by: tuple[Any, ...]  # and what `Body.touched_by` says

    def __copy__(self) -> "Revision":
        return self

    def __deepcopy__(self, memo: Any) -> "Revision":
        return self


class Recorded(Closed):
    """Something whose attributes are changed through the journal of the mechanism it is in."""

    __slots__ = ("_journal", "_revision")
    _journal: "Recorder | None"
    _revision: Revision
    constants: ClassVar[frozenset[str]] = frozenset()  # attributes that hold numbers, alone or in lists

    def __new__(cls, *args: Any, **options: Any) -> Any:
        made = object.__new__(cls)
        _set(made, "_complete", False)
        _set(made, "_journal", None)
        _set(made, "_revision", Revision())
        return made

    def __setattr__(self, word: str, value: Any) -> None:
        if self._journal is None and not self._complete:
            _set(self, word, value if word[0] == "_" or type(value) in _FIXED else self._lasting(word, value))
        elif word in _OWN:
            _set(self, word, value)
        elif self._journal is not None:
            self._journal.assign(self, word, value)
        else:
            self._check_assignable(word, value)
            _set(self, word, self._lasting(word, value))
            _set(self, "_revision", Revision())

    def _lasting(self, word: str, value: Any) -> Any:
        """Return a value as an attribute keeps it."""
        if hasattr(type(value), "__next__"):
            raise TypeError(f"{word} {value!r} can be read only once; give a list")
        return unchanging(value) if word in self.constants else plain(value)

    def __delattr__(self, word: str) -> None:
        if self._journal is not None:
            raise AttributeError(f"{self!r} is in a mechanism; attributes can be assigned, not deleted")
        object.__delattr__(self, word)
        object.__setattr__(self, "_revision", Revision())

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is copied: all but the journal."""
        return vars(self), {"_revision": self._revision, "_complete": True}


class Locked:
    """In place of a journal: what is in a compiled model cannot be changed."""

    def assign(self, element: Recorded, word: str, value: Any) -> None:
        raise AttributeError(
            f"{element!r} belongs to a compiled model and cannot be changed ({word} = {value!r}); change the "
            "mechanism, then compile it or use lw.carry"
        )


LOCKED = Locked()


def plain(value: Any) -> Any:
    """Return the number that an array without axes holds; all else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def unchanging(value: Any) -> Any:
    """Return lists as tuples, arrays read-only and without axes as numbers; all else as it is."""
    value = plain(value)
    if isinstance(value, list):
        return tuple(unchanging(x) for x in value)
    if isinstance(value, np.ndarray) and value.flags.writeable:
        return frozen(value.copy())
    return value


def frozen(array: np.ndarray) -> np.ndarray:
    """Return an array without other owners, made read-only."""
    array.flags.writeable = False
    return array
