"""Constraint forces in the joints <- q, qd, qdd: what each joint transmits beyond the work of its drive.

The whole force through a joint follows from Newton and Euler. Its drive's part acts along Psi, the basis dual
to the motion subspace Phi = S (Roberson, Schwertassek 1988): Psi^T S = 1, here with the drive of a turning
freedom a pure torque, and of a sliding one a pure force.
"""

from linkwork.dynamics import poses
from linkwork.dynamics.algorithm import EXTERNAL, QD, QDD, Algorithm, LinkView, Pass, Port, Q, WorldView
from linkwork.dynamics.forward_dynamics import base as accelerated_base
from linkwork.dynamics.inverse_dynamics import forces
from linkwork.tree.subspace import drive_directions

REACTIONS = Port("reaction", "link", lambda n: (n.links, n.algebra.freedoms))


def base(world: WorldView) -> None:
    accelerated_base(world)
    poses.base(world)


def link_forces(link: LinkView, parent: LinkView) -> None:
    """Base to tips: pose, and the force each body's motion takes."""
    poses.poses(link, parent)
    forces(link, parent)


def reactions(link: LinkView, parent: LinkView) -> None:
    """Tips to base: take the drive's part from the whole force, and hand the whole on."""
    drive = zip(drive_directions(link.S, link.algebra), link.S, strict=True)
    constraint = link.f
    for direction, s in drive:
        constraint = constraint - direction * s.dot(link.f)
    if link.reverse:  # the joint's child is the parent here: the opposite force, about its own joint frame
        link.reaction = parent.X_W.axes @ (link.placement.axes @ (link.XJ @ -constraint))
    else:
        link.reaction = link.X_W.axes @ constraint
    parent.f += link.X @ link.f


ALGORITHM = Algorithm(
    "reactions",
    inputs=(Q, QD, QDD, EXTERNAL),
    outputs=(REACTIONS,),
    passes=(Pass(link_forces, "outward"), Pass(reactions, "inward")),
    shared={"X_W": "Frame", "v": "Motion", "a": "Motion", "f": "Force"},
    start=base,
    tree="bodies",
)
