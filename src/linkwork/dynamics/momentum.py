"""Total momentum, angular about the centre of mass, <- q, qd, and centre of mass <- q, in world axes."""

import math

from linkwork.algebra.number import is_zero
from linkwork.algebra.vector import Vector
from linkwork.dynamics import energy, poses, velocities
from linkwork.dynamics.algorithm import QD, Algorithm, LinkView, Pass, Port, Q, WorldView

MOMENTUM = Port("momentum", "world", lambda n: (n.algebra.freedoms,))
CENTER = Port("center", "world", lambda n: (n.algebra.dimension,))


def center_base(world: WorldView) -> None:
    poses.base(world)
    world.m = 0.0
    world.h = Vector([0.0] * world.algebra.dimension)


def masses(link: LinkView, world: WorldView) -> None:
    world.m += link.inertia.m
    world.h += energy.moment(link)


def center(world: WorldView) -> Vector:
    """Return the centre of mass; there is none where nothing has mass."""
    return world.h * (math.nan if is_zero(world.m) else 1.0 / world.m)


def write_center(world: WorldView) -> None:
    world.center = center(world)


def momentum_base(world: WorldView) -> None:
    center_base(world)
    world.v = world.algebra.Motion.zero()
    world.p = world.algebra.Force.zero()


def momenta(link: LinkView, world: WorldView) -> None:
    masses(link, world)
    world.p += link.X_W @ (link.inertia @ link.v)


def write_momentum(world: WorldView) -> None:
    world.momentum = world.p.about(center(world))


CENTER_ALGORITHM = Algorithm(
    "center_of_mass",
    inputs=(Q,),
    outputs=(CENTER,),
    passes=(Pass(poses.poses, "outward"), Pass(masses, "outward", partner="world")),
    shared={"X_W": "Frame", "m": None, "h": "Point"},
    start=center_base,
    finish=write_center,
)

MOMENTUM_ALGORITHM = Algorithm(
    "momentum",
    inputs=(Q, QD),
    outputs=(MOMENTUM,),
    passes=(Pass(velocities.velocities, "outward"), Pass(momenta, "outward", partner="world")),
    shared={"X_W": "Frame", "v": "Motion", "m": None, "h": "Point", "p": "Force"},
    start=momentum_base,
    finish=write_momentum,
)
