"""Mesh files made of words: what native loops leave, a line at a time, is read or explained here."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.markup import LARGEST, NUMBER, shorten
from linkwork.formats.number_loops import HIGH, LOW

_WHOLE = re.compile(r"[+-]?\d{1,11}", re.ASCII)
UTF8_MARK = b"\xef\xbb\xbf"  # which editors of Windows put in front
MOST_BY_HAND = 50_000  # lines of a file that no usual program writes
LONGEST = 1_000_000  # bytes of a line that has words
SCALE = (LARGEST, HIGH, LOW)  # what loops need for numbers


class Text:
    """The bytes of a file, in which a place is known by its line."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data = path, data
        self.bytes = np.frombuffer(data, np.uint8)
        self._by_hand = 0

    def line(self, at: int) -> tuple[bytes, int]:
        """Return the line that begins at a byte, if it is not too long, and where the next one begins."""
        ends = [end for mark in (b"\n", b"\r") if (end := self.data.find(mark, at, at + 4096)) >= 0]
        if not ends:
            ends = [end for mark in (b"\n", b"\r") if (end := self.data.find(mark, at)) >= 0]
        end = min(ends, default=len(self.data))
        return self.data[at : min(end, at + LONGEST + 1)], end + 1

    def lines(self, at: int, comment: bytes = b"#") -> Iterator[tuple[int, int, list[str]]]:
        """Yield where lines that have words begin and end, and the words; there must not be too many."""
        while at < len(self.data):
            content, following = self.line(at)
            said = content.partition(comment)[0] if comment else content
            if len(said) > LONGEST:
                raise self.error(at, f"a line of over {LONGEST} bytes; cut it into several")
            words = said.split()
            if words:
                self._by_hand += 1
                if self._by_hand > MOST_BY_HAND:
                    raise self.error(
                        at, f"more than {MOST_BY_HAND} lines that meshes rarely have; simplify it"
                    )
                yield at, following, [word.decode("utf-8", errors="replace") for word in words]
            at = following

    def number(self, at: int) -> int:
        """Return the number of the line that a byte is in."""
        mark = b"\n" if b"\n" in self.data else b"\r"
        return self.data.count(mark, 0, at) + 1

    def error(self, at: int, problem: str) -> FormatError:
        """Return the error that says what is wrong in the line of a byte."""
        return FormatError(f"{self.path}:{self.number(at)}: {problem}")

    # what stands in a line

    def value(self, at: int, word: str) -> float:
        """Return one finite number of ordinary size."""
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        # Python reads 1_0 and digits that are not ASCII, too; a file must not have them.
        if not -LARGEST <= value <= LARGEST or not (word.isascii() and "_" not in word):
            remedy = (
                f"allowed is -{LARGEST:g} to {LARGEST:g}"
                if NUMBER.fullmatch(word)
                else "write it like 0.5 or -1e-3"
            )
            raise self.error(at, f"{shorten(word)} is not a number that a mesh can have; {remedy}")
        return value

    def point(self, at: int, words: Sequence[str]) -> tuple[float, float, float]:
        """Return the three numbers of a point."""
        if len(words) < 3:
            raise self.error(at, f"{len(words)} numbers; a point has 3")
        return self.value(at, words[0]), self.value(at, words[1]), self.value(at, words[2])

    def whole(self, at: int, word: str, low: int, high: int, what: str) -> int:
        """Return a whole number within bounds."""
        if not _WHOLE.fullmatch(word):
            raise self.error(at, f"{what} {shorten(word)}; give a whole number")
        value = int(word)
        if not low <= value <= high:
            raise self.error(at, f"{what} {value}; allowed is {low} to {high}")
        return value


def word_table(*words: str) -> np.ndarray:
    """Return words for native loops: a row each, with its length in front."""
    table = np.zeros((len(words), 1 + max(map(len, words))), np.uint8)
    for row, word in zip(table, words, strict=True):
        row[0], row[1 : 1 + len(word)] = len(word), list(word.encode())
    return table
