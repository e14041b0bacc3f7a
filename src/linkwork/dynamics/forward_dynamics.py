"""qdd <- q, qd, tau: the articulated-body algorithm.

Brandl, Johanni, Otter, IFAC 1986; Featherstone, RBDA 2008, table 7.1,
with joints of any number of freedoms and the armature of the drives.
"""

from collections.abc import Sequence
from typing import Any

from linkwork.algebra.dense import inverse_positive
from linkwork.algebra.vector import Vector, dot, minus, plus
from linkwork.dynamics.algorithm import EXTERNAL, QD, QDD, TAU, Algorithm, LinkView, Pass, Q, WorldView


def base(world: WorldView) -> None:
    """Ground stands still, and accelerates upwards: this is gravity."""
    world.v = world.algebra.Motion.zero()
    world.a = -world.algebra.uniform_acceleration(world.gravity)


def velocities(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how each link moves, and the force this motion alone would take."""
    link.v = link.X.local(parent.v) + link.vJ
    link.c = link.v.cross(link.vJ) + link.cJ
    link.IA = link.inertia.articulated()
    link.pA = link.v.cross_force(link.inertia @ link.v)


def inertias(link: LinkView, parent: LinkView) -> None:
    """Tips to base: what the rest of the tree feels like from here, and pushes."""
    hand_down(link, parent, link.tau)


def hand_down(link: LinkView, parent: LinkView, tau: Sequence[Any]) -> None:
    """Let the joint move under the forces tau, and hand what is still felt to the parent."""
    pA = link.pA - link.external
    Ia = past_joint(link)
    u = Vector(minus(drive, s.dot(pA)) for drive, s in zip(tau, link.S, strict=True))
    pa = pA + Ia @ link.c + combination(u, link.UD, link.algebra.Force.zero())
    link.uD = [dot(row, u) for row in link.Dinv]
    parent.IA += link.X @ Ia
    parent.pA += link.X @ pa


def past_joint(link: LinkView) -> Any:
    """Return the inertia that is felt through the joint, and keep the factors of what the joint feels."""
    S, IA = link.S, link.IA
    U = [IA @ s for s in S]
    D = [[s.dot(u) for u in U] for s in S]
    for k, rotor in enumerate(link.armature):
        D[k][k] = plus(D[k][k], rotor)
    link.Dinv = inverse_positive(D)
    link.UD = [combination(row, U, link.algebra.Force.zero()) for row in link.Dinv]
    return IA.without(S, U, link.UD, link.armature)


def accelerations(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how everything accelerates."""
    a = link.X.local(parent.a) + link.c
    qdd = [minus(uD, a.dot(UD)) for uD, UD in zip(link.uD, link.UD, strict=True)]
    link.a = combination(qdd, link.S, a)
    link.qdd = qdd


def combination(factors: Any, things: Any, start: Any) -> Any:
    """Return start + the sum of factor times thing."""
    for factor, thing in zip(factors, things, strict=True):
        start = start + thing * factor
    return start


def _algorithm(*zero: str) -> Algorithm:
    return Algorithm(
        "forward_dynamics",
        inputs=(Q, QD, TAU, EXTERNAL),
        outputs=(QDD,),
        passes=(
            Pass(velocities, "outward"),
            Pass(inertias, "inward"),
            Pass(accelerations, "outward"),
        ),
        shared={"v": "Motion", "IA": "ArticulatedInertia", "pA": "Force", "a": "Motion"},
        start=base,
        zero=frozenset(zero),
    )


ALGORITHM = _algorithm("external")
WITH_FORCES = _algorithm()
