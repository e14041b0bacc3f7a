"""Poses of links, J and F <- q: what contact needs of trees that stand on their own, the *nodes*.

Per velocity, J is the motion of all that it carries, and F the momentum of that per unit of it, both in the
frame of the node's first link: the composite-rigid-body algorithm (`mass_matrix`) before its last step. An
entry of the joint-space inertia is F_i . J_j, and the row of a contact is a force along J.
"""

from linkwork.dynamics import mass_matrix, poses
from linkwork.dynamics.algorithm import Algorithm, LinkView, Pass, Port, Q, WorldView
from linkwork.dynamics.jacobian import JACOBIAN

MOMENTA = Port("F", "v", lambda n: (n.nv, n.algebra.freedoms))


def base(world: WorldView) -> None:
    poses.base(world)
    mass_matrix.base(world)


def columns(link: LinkView, parent: LinkView) -> None:
    """Base to tips: pose of each link, and its motion subspace in the frame of the first."""
    poses.poses(link, parent)
    link.pose = link.X_W
    mass_matrix.columns(link, parent)


ALGORITHM = Algorithm(
    "node columns",
    inputs=(Q,),
    outputs=(poses.POSES, JACOBIAN, MOMENTA),
    passes=(Pass(columns, "outward"), Pass(mass_matrix.composites, "inward")),
    shared={"X_W": "Frame", "X0": "Frame", "moving": None, "Ic": "RigidInertia"},
    start=base,
)
