"""Numbers and names of all branches of a spanning tree, one after the other.

Most branches of an edited mechanism are those of before, and neighbours as before. So the tables of its tree
are put together of pieces of the tables that there were, and of the rows of new branches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linkwork.tree.topology import TreeBody

Array = np.ndarray
Piece = tuple[int, int, int]  # where branches begin and end, and where they began before, -1 if they are new

COORDINATE_WORDS = ("lower", "upper", "damping", "friction", "stiffness", "rest", "armature")


@dataclass(frozen=True, eq=False)
class BranchTables:
    """What branches say of themselves, in their order."""

    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    parent_names: tuple[str, ...]
    counts: Array  # (branches, 3) positions, velocities, and which position begins a quaternion, or -1
    drawn: Array  # (nq,) positions as drawn
    of_bodies: Array  # (branches, 13 or 4) mass, centre and tensor
    of_coordinates: Array  # (nv, 7) what `COORDINATE_WORDS` say
    starts: Array  # (branches + 1, 2) the first position and velocity of each


def pieces(places: Array) -> list[Piece]:
    """Return branches that are neighbours as before, and new ones, given where each was, or -1."""
    moved = np.where(places < 0, len(places), np.arange(len(places)) - places)  # the same for neighbours
    breaks = ((moved[1:] != moved[:-1]).nonzero()[0] + 1).tolist()
    begins = [0, *breaks] if len(places) else []
    return list(zip(begins, [*breaks, len(places)], places[begins].tolist(), strict=False))


def same_pieces(found: Sequence[Piece], ours: Sequence[Any], theirs: Sequence[Any]) -> list[Piece]:
    """Return the pieces whose items are the same objects as before; all others are new.

    The first items of a piece may be new ones: what hangs on a new branch.
    """
    same: list[Piece] = []
    for begin, end, first in found:
        head = begin if first >= 0 else end
        while head < end and ours[head] is not theirs[first + head - begin]:
            head += 1
        if ours[head:end] != theirs[first + head - begin : first + end - begin]:
            head = end
        same += [(begin, head, -1)] if head > begin else []
        same += [(head, end, first + head - begin)] if end > head else []
    return same


def branch_tables(
    branches: Sequence["TreeBody"], found: Sequence[Piece], like: BranchTables | None, dimension: int
) -> BranchTables:
    """Return the tables of branches; pieces that were in the tables `like` these are taken over."""
    fresh = [branches[begin:end] if first < 0 else () for begin, end, first in found]
    rows = [slice(first, first + end - begin) for begin, end, first in found]
    bounds = [like.starts[[part.start, part.stop]].T if like and part.start >= 0 else () for part in rows]
    in_q, in_v = ([slice(*ends[k]) if len(ends) else slice(0) for ends in bounds] for k in (0, 1))

    def parts(word: str, table: str, taken: list[slice]) -> Iterator[Any]:
        known, said = getattr(like, table, None), attrgetter(word)
        for new, part in zip(fresh, taken, strict=True):
            yield known[part] if known is not None and not new else list(map(said, new))

    def texts(word: str, table: str) -> tuple[str, ...]:
        return tuple(chain.from_iterable(parts(word, table, rows)))

    def numbers(word: str, table: str, taken: list[slice], *width: int) -> Array:
        stacked = [
            x if isinstance(x, np.ndarray) else np.concatenate(x).reshape(-1, *width)
            for x in parts(word, table, taken)
        ]
        return np.concatenate(stacked) if stacked else np.empty((0, *width))

    counts = numbers("counts", "counts", rows, 3).astype(np.int64, copy=False)
    starts = np.zeros((len(branches) + 1, 2), np.int64)
    np.cumsum(counts[:, :2], axis=0, out=starts[1:])
    return BranchTables(
        texts("name", "joint_names"),
        texts("body_name", "body_names"),
        texts("parent_name", "parent_names"),
        counts,
        numbers("drawn", "drawn", in_q),
        numbers("of_body", "of_bodies", rows, 1 + dimension + (9 if dimension == 3 else 1)),
        numbers("of_coordinates", "of_coordinates", in_v, len(COORDINATE_WORDS)),
        starts,
    )
