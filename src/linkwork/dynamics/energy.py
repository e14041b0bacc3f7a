"""Kinetic and potential energy <- q, qd; the latter is zero at the height of the world's origin."""

from linkwork.algebra.vector import Vector, dot, product
from linkwork.dynamics import velocities
from linkwork.dynamics.algorithm import QD, Algorithm, LinkView, Pass, Port, Q, WorldView

KINETIC = Port("kinetic", "world", lambda n: ())
POTENTIAL = Port("potential", "world", lambda n: ())


def base(world: WorldView) -> None:
    velocities.base(world)
    world.T = 0.0
    world.h = Vector([0.0] * world.algebra.dimension)


def sums(link: LinkView, world: WorldView) -> None:
    """T = sum of v.Iv / 2, the drives' armature included, and mass times position."""
    world.T += 0.5 * link.v.dot(link.inertia @ link.v)
    for rotor, speed in zip(link.armature, link.qd, strict=True):
        world.T += product(0.5, product(rotor, product(speed, speed)))
    world.h += moment(link)


def moment(link: LinkView) -> Vector:
    """Return mass times position of the centre of mass of a link, in the world."""
    return (link.X_W @ link.inertia).h


def totals(world: WorldView) -> None:
    world.kinetic = world.T
    world.potential = -dot(world.gravity, world.h)


ALGORITHM = Algorithm(
    "energy",
    inputs=(Q, QD),
    outputs=(KINETIC, POTENTIAL),
    passes=(Pass(velocities.velocities, "outward"), Pass(sums, "outward", partner="world")),
    shared={"X_W": "Frame", "v": "Motion", "T": None, "h": "Point"},
    start=base,
    finish=totals,
)
