"""Mesh files made of words: lines, numbers, and where they are."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats.markup import LARGEST, NUMBER, shorten

INTEGERS = frozenset("+-0123456789")


def lines(path: Path, data: bytes, comment: str = "#") -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of every line that has some; a comment ends a line."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")  # names and comments may be anything; numbers may not
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition(comment)[0].split() if comment else line.split()
        if words:
            yield number, words


def number(path: Path, line: int, word: str) -> float:
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
        raise FormatError(f"{path}:{line}: {shorten(word)} is not a number that a mesh can have; {remedy}")
    return value


def numbers(path: Path, line: int, words: Sequence[str]) -> tuple[float, float, float]:
    """Return the three numbers of a point."""
    if len(words) < 3:
        raise FormatError(f"{path}:{line}: {len(words)} numbers; a point has 3")
    return number(path, line, words[0]), number(path, line, words[1]), number(path, line, words[2])


def whole(path: Path, line: int, word: str, low: int, high: int, what: str) -> int:
    """Return a whole number within bounds."""
    if len(word) > 12 or not INTEGERS.issuperset(word) or not word.lstrip("+-").isdigit():
        raise FormatError(f"{path}:{line}: {what} {shorten(word)}; give a whole number")
    value = int(word)
    if not low <= value <= high:
        raise FormatError(f"{path}:{line}: {what} {value}; allowed is {low} to {high}")
    return value
