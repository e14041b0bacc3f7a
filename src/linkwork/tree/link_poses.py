"""Links at some positions, by their formulas on plain numbers: poses, and the inertia that joints move."""

from collections.abc import Callable, Sequence
from typing import Any

from linkwork.tree.tree import DataLayout, Link, Tree, asked


def link_poses(tree: Tree, q: Sequence[float]) -> list[Any]:
    """Return the pose in the world of ground and of every link."""
    poses = [tree.algebra.Frame()]
    for link in tree.links:
        poses.append(poses[link.parent] @ _placed(tree, link, q))
    return poses


def _placed(tree: Tree, link: Link, q: Sequence[float]) -> Any:
    """Return the pose of a link in its parent."""
    Frame = tree.algebra.Frame
    placement = Frame.from_scalars(tree.data[link.data : link.data + Frame.size].tolist())
    return placement @ _of_link(link, link.kind.motion, q)


def _of_link(link: Link, formula: Callable[..., Any], q: Sequence[float]) -> Any:
    """Return what a formula of a link's joint gives at the mechanism's positions."""
    return asked(link.name, formula, list(q[link.q : link.q + link.kind.nq]), link.parameters)


def moved_inertias(tree: Tree, q: Sequence[float]) -> list[list[float]]:
    """Return, per link, the inertia each of its velocities moves alone: of the link and all it carries."""
    algebra = tree.algebra
    size = algebra.RigidInertia.size
    composite = [algebra.RigidInertia.zero() for _ in range(len(tree.links) + 1)]
    found: list[list[float]] = [[] for _ in tree.links]
    for number in range(len(tree.links), 0, -1):
        link = tree.links[number - 1]
        at = DataLayout.of(algebra, link.kind.nv)
        data = tree.data[link.data : link.data + at.parameters].tolist()
        own = algebra.RigidInertia.from_scalars(data[at.inertia : at.inertia + size])
        composite[number] = composite[number] + own
        S = _of_link(link, link.kind.subspace, q)
        rotors = data[at.armature : at.parameters]
        found[number - 1] = [
            float(s.dot(composite[number] @ s)) + rotor for s, rotor in zip(S, rotors, strict=True)
        ]
        composite[link.parent] = composite[link.parent] + _placed(tree, link, q) @ composite[number]
    return found
