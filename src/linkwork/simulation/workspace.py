"""Memory that is laid out once, and that every run gets a copy of: arrays, and addresses inside of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.native.cache_lines import LINE

Part = NDArray[Any] | int  # an array with what is in it, or a number of words that are 0 at first

Pointer = tuple[str, int, str] | tuple[str, int, str, int]


class WorkspaceLayout:
    """Parts by name, each at the beginning of a cache line, as vector instructions want it.

    `pointers` are (part, word, other): that word of a part, which is an array, is the address of the other;
    or (part, word, other, k): the address of word k of it.
    """

    def __init__(self, parts: Mapping[str, Part], pointers: Iterable[Pointer] = ()):
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
        places = {self.starts[part] + word: self.starts[other] + sum(k) for part, word, other, *k in pointers}
        self._addresses = np.array(list(places), np.int64)
        self._words[self._addresses] = 8 * np.array(list(places.values()), np.int64)

    def room(self) -> "Workspace":
        """Return memory of one's own, filled."""
        return Workspace(self._size, self._words, self._addresses)


class Workspace:
    """A copy of an image, whose addresses are those of its own parts."""

    def __init__(self, size: int, words: NDArray[np.int64], addresses: NDArray[np.int64]):
        room = np.zeros(size, np.int64)
        begin = address(room)
        skip = -(begin // 8) % LINE
        self.words, self.address = room[skip:], begin + 8 * skip
        self._filled = words.copy()
        self._filled[addresses] += self.address
        self.words[: words.size] = self._filled

    def fill(self, places: Sequence[int], values: Sequence[int]) -> None:
        """Set words for as long as there is this room."""
        self._filled[places] = self.words[places] = values

    def clear(self) -> None:
        """Make it as it was at first."""
        size = self._filled.size
        self.words[:size] = self._filled
        self.words[size:] = 0


def _words(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the content of an array of doubles, of integers, or of records of them."""
    return np.frombuffer(array.tobytes(), np.int64)


def address(array: NDArray[Any]) -> int:
    """Return where an array is; the quicker way for plain numbers is the slower one for records."""
    return array.ctypes.data if array.dtype.names else array.__array_interface__["data"][0]
