"""Where the rows of a loop end: at its root, the link nearest to its ends that does not feel them.

The root of a joint's loop is the last link that the ways from ground to its two ends have in common. It feels
the loop as a whole, as inertia, and bodies nearer to ground are not involved. Loops that share links are
solved together, at the root of theirs that is nearest to ground.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.mechanism.joint import Joint
from linkwork.trace.graph_walks import evaluate
from linkwork.tree.tree import Tree
from linkwork.varied import of_variants, real

Array = np.ndarray


def felt_by(tree: Tree, loop: Any) -> list[int]:
    """Return the links that feel the rows of a loop: those from its ends to its root, tips first."""
    found = {link for end in loop.ends for link in _way(tree, end, loop.root)}
    return sorted(found, reverse=True)


def _way(tree: Tree, link: int, root: int = 0) -> list[int]:
    """Return the links from one to a root, which is not among them."""
    found = []
    while link != root:
        found.append(link)
        link = tree.links[link - 1].parent
    return found


def with_own_root(tree: Tree, loop: Any) -> Any:
    """Return a loop with the root that it has alone."""
    if not _internal(tree, loop):
        return loop
    starts = [
        tree.links[end - 1].parent if direct else end  # a force on a joint is one on both its links
        for end, direct in zip(loop.ends, loop.formula.direct, strict=True)
    ]
    root = 0
    for links in zip(*(reversed(_way(tree, start)) for start in starts), strict=False):
        if len(set(links)) > 1:
            break
        root = links[0]
    return replace(loop, root=root)


def _internal(tree: Tree, loop: Any) -> bool:
    """Return whether the forces of a loop on its links cancel, wherever these are."""
    if isinstance(loop.joint, Joint):
        return all(tree.body_links[body.name] for body in loop.joint.bodies)
    chance = np.random.default_rng(1)
    for _ in range(2):
        poses = [tree.algebra.pose(chance.normal(size=tree.algebra.coordinates).tolist()) for _ in loop.ends]
        others = chance.normal(size=1000)
        known: dict[str, Sequence[float]] = {f"X{n}": pose.scalars() for n, pose in enumerate(poses)}
        known |= {"data": loop.data, "parameter": loop.data[loop.formula.n_data :], "u": loop.drawn}

        def put(symbol: Any, known: Any = known, others: Any = others) -> float:
            name, k = symbol.args[0]
            return real(known.get(name, others)[k])

        for row in zip(*loop.formula.forces, strict=True):
            pushes = [
                (pose @ type(force).from_scalars(evaluate(force.scalars(), put))).scalars()
                for pose, force in zip(poses, row, strict=True)
            ]
            if not of_variants(_cancel, pushes):
                return False
    return True


def _cancel(pushes: Array) -> bool:
    """Return whether forces, one per row, cancel."""
    total, size = np.zeros(pushes.shape[1:]), 0.0
    for push in pushes:
        total, size = total + push, max(size, float(np.abs(push).max()))
    return not np.abs(total).max(initial=0.0) > 1e-9 * size


def with_common_roots(tree: Tree, loops: Sequence[Any]) -> list[Any]:
    """Return loops, each with a root: the same for those that share links."""
    found = [with_own_root(tree, loop) for loop in loops]
    changed = True
    while changed:
        changed = False
        nearest: dict[int, int] = {}  # link -> the root nearest to ground of those who feel it
        for loop in found:
            for link in felt_by(tree, loop):
                nearest[link] = min(nearest.get(link, loop.root), loop.root)
        for k, loop in enumerate(found):
            root = min((nearest[link] for link in felt_by(tree, loop)), default=loop.root)
            if root < loop.root:
                found[k], changed = replace(loop, root=root), True
    return found
