"""Poses of links, and the inertia that each velocity moves alone <- q: composite inertias, tips to base."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from linkwork.algebra.vector import plus
from linkwork.dynamics import poses
from linkwork.dynamics.algorithm import Algorithm, LinkView, Pass, Port, Q
from linkwork.dynamics.kernel import Kernel
from linkwork.errors import NumericalError
from linkwork.tree.link_poses import link_poses, moved_inertias
from linkwork.tree.loop_as_drawn import Drawn
from linkwork.tree.tree import Tree

LINK_POSES = Port("link_pose", "link", poses.POSES.shape)
MOVED = Port("moved", "v", lambda n: (n.nv,))


def placed(link: LinkView, parent: LinkView) -> None:
    """Base to tips: where each link is."""
    poses.poses(link, parent)
    link.link_pose = link.X_W
    link.Ic = link.inertia


def composites(link: LinkView, parent: LinkView) -> None:
    """Tips to base: the inertia of all that a joint carries, along its freedoms."""
    link.moved = [plus(s.dot(link.Ic @ s), rotor) for s, rotor in zip(link.S, link.armature, strict=True)]
    parent.Ic += link.X @ link.Ic


ALGORITHM = Algorithm(
    "as drawn",
    inputs=(Q,),
    outputs=(LINK_POSES, MOVED),
    passes=(Pass(placed, "outward"), Pass(composites, "inward")),
    shared={"X_W": "Frame", "Ic": "RigidInertia"},
    start=poses.base,
)


def as_drawn(tree: Tree, q: Sequence[float]) -> Drawn:
    """Return where links are at positions q, and what each of their velocities moves.

    Where native code gives no number, ModelError names the joint that has no pose.
    """
    try:
        found, moved = Kernel(ALGORITHM, tree, "rolled")(np.array(q, float))
    except NumericalError:
        return Drawn(q, link_poses(tree, q), moved_inertias(tree, q))
    frame = tree.algebra.Frame
    at = tree.starts[:, 2].tolist()
    rows = found.reshape(len(tree.blocks), frame.size).tolist()
    return Drawn(
        q,
        [frame(), *map(frame.from_scalars, rows)],
        [moved[a:b].tolist() for a, b in pairwise(at)],
    )
