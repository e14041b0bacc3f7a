"""What two lists have in common: an edit changes few places of a long one."""

from collections.abc import Sequence
from itertools import compress, count
from operator import is_not
from typing import Any


def same_ends(one: Sequence[Any], other: Sequence[Any]) -> tuple[int, int]:
    """Return how many of the first, and of the other last, items of two lists are the same objects.

    >>> same_ends("abcde", "abde")
    (2, 2)
    """
    shorter = min(len(one), len(other))
    head = next(compress(count(), map(is_not, one, other)), shorter)
    tail = next(compress(count(), map(is_not, reversed(one), reversed(other))), shorter)
    return head, min(tail, shorter - head)
