"""tau <- q, qd, qdd: the recursive Newton-Euler algorithm (Featherstone, RBDA 2008, table 5.1).

With qdd left out it gives the bias forces, with qd left out too the forces that hold the mechanism against
gravity.
"""

from linkwork.algebra.vector import plus, product
from linkwork.dynamics.algorithm import EXTERNAL, QD, QDD, TAU, Algorithm, LinkView, Pass, Q
from linkwork.dynamics.forward_dynamics import base, combination


def forces(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how each link moves and accelerates, and the force that takes."""
    link.v = link.X.local(parent.v) + link.vJ
    a = link.X.local(parent.a) + link.v.cross(link.vJ) + link.cJ
    link.a = combination(link.qdd, link.S, a)
    link.f = link.inertia @ link.a + link.v.cross_force(link.inertia @ link.v) - link.external


def balance(link: LinkView, parent: LinkView) -> None:
    """Tips to base: each joint gives its part along its freedoms, and hands the whole force on."""
    link.tau = [
        plus(s.dot(link.f), product(rotor, qdd))
        for s, rotor, qdd in zip(link.S, link.armature, link.qdd, strict=True)
    ]
    parent.f += link.X @ link.f


def _algorithm(name: str, *zero: str) -> Algorithm:
    return Algorithm(
        name,
        inputs=(Q, QD, QDD, EXTERNAL),
        outputs=(TAU,),
        passes=(Pass(forces, "outward"), Pass(balance, "inward")),
        shared={"v": "Motion", "a": "Motion", "f": "Force"},
        start=base,
        zero=frozenset(zero),
    )


ALGORITHM = _algorithm("inverse_dynamics", "external")
WITH_FORCES = _algorithm("inverse_dynamics")
BIAS = _algorithm("bias_forces", "qdd", "external")
GRAVITY = _algorithm("gravity_forces", "qd", "qdd", "external")
