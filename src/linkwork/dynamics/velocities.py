"""Velocities, and accelerations, of the bodies' origins in world axes <- q, qd (and qdd)."""

from linkwork.dynamics import poses
from linkwork.dynamics.algorithm import QD, QDD, Algorithm, LinkView, Pass, Port, Q, WorldView
from linkwork.dynamics.forward_dynamics import combination

VELOCITIES = Port("velocity", "link", lambda n: (n.links, n.algebra.freedoms), kind="Motion")
ACCELERATIONS = Port("acceleration", "link", lambda n: (n.links, n.algebra.freedoms))


def base(world: WorldView) -> None:
    poses.base(world)
    world.v = world.algebra.Motion.zero()


def velocities(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how each link moves."""
    poses.poses(link, parent)
    link.v = link.X.local(parent.v) + link.vJ


def body_velocities(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how each body's origin moves, seen along the axes of the world."""
    velocities(link, parent)
    link.velocity = link.X_W.axes @ link.body.offset.local(link.v)


def placed_velocities(link: LinkView, parent: LinkView) -> None:
    """Base to tips: where each body is, and how its origin moves."""
    body_velocities(link, parent)
    link.pose = link.X_W @ link.body


def base_at_rest(world: WorldView) -> None:
    base(world)
    world.a = world.algebra.Motion.zero()


def body_accelerations(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how each body's origin accelerates; the spatial acceleration becomes that of a point."""
    velocities(link, parent)
    a = link.X.local(parent.a) + link.v.cross(link.vJ) + link.cJ
    link.a = combination(link.qdd, link.S, a)
    to_body = link.body.offset
    link.acceleration = link.X_W.axes @ to_body.local(link.a).classical(to_body.local(link.v))


ALGORITHM = Algorithm(
    "velocities",
    inputs=(Q, QD),
    outputs=(VELOCITIES,),
    passes=(Pass(body_velocities, "outward"),),
    shared={"X_W": "Frame", "v": "Motion"},
    start=base,
    tree="bodies",
)

PLACED = Algorithm(
    "poses and velocities",
    inputs=(Q, QD),
    outputs=(poses.POSES, VELOCITIES),
    passes=(Pass(placed_velocities, "outward"),),
    shared={"X_W": "Frame", "v": "Motion"},
    start=base,
    tree="bodies",
)

ACCELERATION_ALGORITHM = Algorithm(
    "accelerations",
    inputs=(Q, QD, QDD),
    outputs=(ACCELERATIONS,),
    passes=(Pass(body_accelerations, "outward"),),
    shared={"X_W": "Frame", "v": "Motion", "a": "Motion"},
    start=base_at_rest,
    tree="bodies",
)
