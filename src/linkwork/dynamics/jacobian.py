"""J <- q, point: how a point of one link moves per unit of each velocity, in world axes, angular first."""

from linkwork.algebra.vector import Vector
from linkwork.dynamics import poses
from linkwork.dynamics.algorithm import Algorithm, LinkView, Pass, Port, Q, WorldView

POINT = Port("point", "world", lambda n: (n.algebra.dimension,))  # in the frame of the last link of the path
JACOBIAN = Port("J", "v", lambda n: (n.nv, n.algebra.freedoms))  # row per velocity


def base(world: WorldView) -> None:
    poses.base(world)
    world.p = Vector([0.0] * world.algebra.dimension)


def place(link: LinkView, world: WorldView) -> None:
    """At the tip: where the point is."""
    world.p = link.X_W @ link.point


def columns(link: LinkView, world: WorldView) -> None:
    """Along the path: the motion of the point when one joint moves."""
    from_point = link.X_W.moved(-world.p)
    link.J = [from_point @ s for s in link.S]


ALGORITHM = Algorithm(
    "jacobian",
    inputs=(Q, POINT),
    outputs=(JACOBIAN,),
    passes=(
        Pass(poses.poses, "outward"),
        Pass(place, "outward", partner="world", tip_only=True),
        Pass(columns, "outward", partner="world"),
    ),
    shared={"X_W": "Frame", "p": "Point"},
    start=base,
    clear=frozenset({"J"}),
)
