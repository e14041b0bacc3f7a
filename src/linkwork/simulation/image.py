"""Memory that is laid out once, and that every run gets a copy of: arrays, and addresses inside of it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.trace.lines import LINE

Part = NDArray[Any] | int  # an array with what is in it, or a number of words that are 0 at first


class Image:
    """Parts by name, each at the beginning of a cache line, as vector instructions want it.

    `pointers` are (part, word, other): that word of a part, which is an array, is the address of the other.
    """

    def __init__(self, parts: Mapping[str, Part], pointers: Iterable[tuple[str, int, str]] = ()):
        # Those with a content come first: the rest need not be copied.
        filled = {name: _words(part) for name, part in parts.items() if not isinstance(part, int)}
        sizes = {name: words.size for name, words in filled.items()}
        sizes |= {name: part for name, part in parts.items() if isinstance(part, int)}
        ends = np.cumsum([0, *(-(-size // LINE) * LINE for size in sizes.values())]).tolist()
        self.starts = dict(zip(sizes, ends))
        self._size = ends[-1] + LINE
        self._words = np.zeros(ends[len(filled)], np.int64)
        for name, words in filled.items():
            self._words[self.starts[name] : self.starts[name] + words.size] = words
        places = {self.starts[part] + word: self.starts[other] for part, word, other in pointers}
        self._addresses = np.array(list(places), np.int64)
        self._words[self._addresses] = 8 * np.array(list(places.values()), np.int64)

    def copy(self) -> tuple[NDArray[np.int64], int]:
        """Return memory of one's own, and where it is."""
        room = np.zeros(self._size, np.int64)
        begin = address(room)
        skip = -(begin // 8) % LINE
        room, begin = room[skip:], begin + 8 * skip
        room[: self._words.size] = self._words
        room[self._addresses] += begin
        return room, begin


def _words(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the content of an array of doubles, of integers, or of records of them."""
    return np.frombuffer(array.tobytes(), np.int64)


def address(array: NDArray[Any]) -> int:
    """Return where an array is; the quicker way for plain numbers is the slower one for records."""
    return array.ctypes.data if array.dtype.names else array.__array_interface__["data"][0]
