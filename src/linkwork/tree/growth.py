"""From a spanning tree to links: where bodies sit in them, and what is taken over from a tree before."""

from collections.abc import Sequence
from operator import attrgetter, is_
from typing import Any

import numpy as np

from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.mechanism import Mechanism
from linkwork.tree.topology import Topology
from linkwork.tree.tree import Block, Grown, Seat, Tree, block_of
from linkwork.varied import real_table

Array = np.ndarray

_base, _frame, _is_welded, _alone = map(attrgetter, ("base", "frame", "welded", "alone"))  # of a seat


def grow(mechanism: Mechanism, graph: Topology, weld: bool, grown: Grown | None = None) -> Tree:
    """Turn the spanning tree into arrays; `weld` makes one link of bodies joined by Fixed joints.

    What hangs on the same branches is taken over from a tree that it is `grown` from.
    """
    algebra, ground, like = ALGEBRA[mechanism.space], mechanism.ground.name, grown[0] if grown else None
    names = graph.tables.body_names
    frames = {ground: like.body_frames[ground] if like else algebra.Frame()}
    seats = _seated(graph, weld, frames, grown)
    if any(map(_is_welded, seats)):
        body_links, parents, blocks = _welded(graph, seats, ground, like)
    else:
        body_links = {ground: 0} | dict(zip(names, range(1, len(names) + 1), strict=True))
        parents, blocks = graph.parents + 1, tuple(map(_alone, seats))
    by_body = dict(zip(names, seats, strict=True))
    gravity = real_table(mechanism.gravity)
    return Tree(algebra, blocks, parents, gravity, body_links, frames, by_body, grown=grown)


def _seated(graph: Topology, weld: bool, frames: dict[str, Any], grown: Grown | None) -> list[Seat]:
    """Return the seats of all bodies in their links, in order; `frames` takes their poses by name.

    Where branches are neighbours as they were, the first seats may be new, as those on a body that has moved
    in its link; from one that serves again on, mostly all do.
    """
    names, parent_names = graph.tables.body_names, graph.tables.parent_names
    before = list(grown[0].seats.values()) if grown else []
    seats: list[Seat] = []
    for begin, end, first in grown[1] if grown else [(0, len(names), -1)]:
        known = before[first : first + end - begin] if first >= 0 else []
        tried = not known
        for k in range(begin, end):
            branch, base = graph.branches[k], frames[parent_names[k]]
            seat, welded = known[k - begin] if known else None, weld and branch.fixed
            if seat is None or seat.base is not base or seat.welded is not welded:
                seat = Seat(branch, base, welded)
            elif not tried:
                tried, rest = True, known[k - begin :]
                frames.update(zip(names[k:end], map(_frame, rest), strict=True))
                bases = map(frames.__getitem__, parent_names[k:end])
                if all(map(is_, map(_base, rest), bases)) and (weld or not any(map(_is_welded, rest))):
                    seats += rest
                    break
            seats.append(seat)
            frames[names[k]] = seat.frame
    return seats


def _welded(
    graph: Topology, seats: Sequence[Seat], ground: str, like: Tree | None
) -> tuple[dict[str, int], Array, tuple[Block, ...]]:
    """Return the links of bodies some of which are welded: number by body, parents, and constants."""
    body_links = {ground: 0}
    parents: list[int] = []
    members: list[list[Seat]] = [[]]
    for seat, name, parent in zip(seats, graph.tables.body_names, graph.tables.parent_names, strict=True):
        number = body_links[parent]
        if seat.welded:
            members[number].append(seat)
        else:
            parents.append(number)
            number = len(members)
            members.append([seat])
        body_links[name] = number
    known = {block.seats: block for block in like.blocks} if like and like.welded else {}
    blocks = [
        link[0].alone if len(link) == 1 else known.get(tuple(link)) or block_of(tuple(link))
        for link in members[1:]
    ]
    return body_links, np.array(parents, np.int64), tuple(blocks)
