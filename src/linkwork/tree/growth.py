"""From a spanning tree to links: where bodies sit in them, and what is taken over from a tree before."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.mechanism import Mechanism
from linkwork.tree.topology import Topology
from linkwork.tree.tree import Block, Grown, Seat, Tree, block_of
from linkwork.varied import real_table

Array = np.ndarray

_is_welded, _alone = map(attrgetter, ("welded", "alone"))  # of a seat


def grow(mechanism: Mechanism, graph: Topology, weld: bool, grown: Grown | None = None) -> Tree:
    """Turn the spanning tree into arrays; `weld` makes one link of bodies joined by Fixed joints.

    What hangs on the same branches is taken over from a tree that it is `grown` from.
    """
    algebra, like = ALGEBRA[mechanism.space], grown[0] if grown else None
    ground = like.ground_frame if like else algebra.Frame()
    seats = _seated(graph, weld, ground, grown)
    if any(map(_is_welded, seats)):
        seat_links, parents, blocks = _welded(graph, seats, like)
    else:
        seat_links, parents = np.arange(1, len(seats) + 1), graph.parents + 1
        blocks = tuple(map(_alone, seats))
    gravity = real_table(mechanism.gravity)
    return Tree(algebra, blocks, parents, gravity, tuple(seats), seat_links, ground, grown=grown)


def _seated(graph: Topology, weld: bool, ground: Any, grown: Grown | None) -> list[Seat]:
    """Return the seats of all bodies in their links, in the order of the branches.

    Where branches are neighbours as they were, so are their seats, but for those on a body outside of that
    piece, or on one that has moved in its link.
    """
    before = grown[0].seats if grown else ()
    seats: list[Seat] = []

    def seated(k: int) -> Seat:
        branch, above = graph.branches[k], int(graph.parents[k])
        return Seat(branch, seats[above].frame if above >= 0 else ground, weld and branch.fixed)

    for begin, end, first in grown[1] if grown else [(0, len(graph.branches), -1)]:
        if first < 0:
            for k in range(begin, end):
                seats.append(seated(k))
            continue
        known = before[first : first + end - begin]
        seats += known
        parents = graph.parents[begin:end]
        doubtful = (parents < begin).nonzero()[0].tolist()
        if not weld:
            doubtful = sorted({*doubtful, *(k for k, seat in enumerate(known) if seat.welded)})
        for k in doubtful:  # grows while it is walked
            seat = seated(begin + k)
            if seat.base is not known[k].base or seat.welded is not known[k].welded:
                seats[begin + k] = seat
                if seat.frame is not known[k].frame:
                    doubtful += (parents == begin + k).nonzero()[0].tolist()
    return seats


def _welded(
    graph: Topology, seats: Sequence[Seat], like: Tree | None
) -> tuple[Array, Array, tuple[Block, ...]]:
    """Return the links of bodies some of which are welded: number by body, parents, and constants."""
    welded = np.fromiter(map(_is_welded, seats), bool, len(seats))
    numbers = np.cumsum(~welded)  # of the link that each body belongs to
    joined: dict[int, list[Seat]] = {}  # what is welded to each link
    for k in welded.nonzero()[0].tolist():  # parents come first
        above = graph.parents[k]
        number = numbers[k] = numbers[above] if above >= 0 else 0
        joined.setdefault(int(number), []).append(seats[k])
    bases = (~welded).nonzero()[0]
    above = graph.parents[bases]
    parents = np.where(above >= 0, numbers[above], 0)
    known = (
        {block.seats: block for block in like.blocks} if like and like.welded and joined.keys() - {0} else {}
    )
    blocks: list[Block] = []
    for number, k in enumerate(bases.tolist(), 1):
        link = (seats[k], *joined[number]) if number in joined else ()
        blocks.append(known.get(link) or block_of(link) if link else seats[k].alone)
    return numbers.astype(np.int64), parents.astype(np.int64), tuple(blocks)
