"""Linkages that move although a count of their equations says they cannot."""

from math import atan, pi, sin, tan

import numpy as np

from linkwork.algebra.spatial import Frame, rotation_x, rotation_z, translation
from linkwork.examples.building_blocks import ALUMINIUM, strut
from linkwork.geometry import Box, Cylinder
from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Revolute
from linkwork.mechanism.mechanism import Mechanism

BRICARD = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))  # P0 .. P5 [m]


def bricard() -> Mechanism:
    """Return Bricard's six hinges along the edges of a cube, problem A04 of the IFToMM library.

    Five rods of 1 kg and 1 m, with a square section of 0.1 m, between the points `BRICARD`; `rod k` goes from
    hinge `P(k-1)` to `Pk`, and the ground from P5 to P0. Gravity is along -y. One freedom, where a count of
    equations gives none. (IFToMM Technical Committee for Multibody Dynamics, Library of Computational
    Benchmark Problems, A04.)
    """
    m = Mechanism("Bricard", gravity=(0, -9.81, 0))
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]].tolist()
    before = m.ground
    for k in range(5):
        along = np.subtract(BRICARD[k + 1], BRICARD[k])
        shape = Box(*np.where(along, 1.0, 0.1), position=along / 2.0)
        rod = m.add(Body(f"rod {k + 1}", shape, mass=1.0, position=BRICARD[k]))
        m.add(Revolute(f"P{k}", before, rod, at=BRICARD[k], axis=axes[k]))
        before = rod
    m.add(Revolute("P5", before, m.ground, at=BRICARD[5], axis=axes[5]))
    return m


def bennett(
    a: float = 0.3, alpha: float = pi / 4, beta: float = 5 * pi / 12, *, angle: float = pi / 2
) -> Mechanism:
    """Return Bennett's four hinges, the only spatial loop of four that moves.

    Opposite links are alike: a metres long with their hinges `alpha` radians askew, and b = a sin(beta) /
    sin(alpha) metres with `beta`. Hinge `A` is at the origin, along z; `link AB` has a, `link BC` b, `link
    CD` a, and the ground, from D to A, b. As drawn hinge A is turned by `angle` from where AB continues DA.
    Every link has its origin at its first hinge, z along that, and x towards the next. (G. T. Bennett, A new
    mechanism, Engineering 76, 1903. The lengths unless said are ours.)
    """
    if sin(alpha) * sin(beta) <= 0.0 or sin((beta - alpha) / 2) == 0.0 or sin(angle) == 0.0:
        raise ValueError(
            f"Bennett linkage: alpha {alpha:.6g}, beta {beta:.6g}, angle {angle:.6g}; give two different "
            "twists between 0 and pi, and an angle at which the links are not in line"
        )
    b = a * sin(beta) / sin(alpha)
    other = 2.0 * atan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(angle / 2))
    m = Mechanism("Bennett")
    before, X = m.ground, Frame()
    steps = (("AB", a, alpha, angle), ("BC", b, beta, other), ("CD", a, alpha, -angle))
    for name, length, twist, turned in steps:
        hinge = X
        X = X @ rotation_z(turned)
        body = m.add(_skew_link(f"link {name}", length, twist, 0.04 * a, X))
        m.add(Revolute(name[0], before, body, at=hinge.position, axis=hinge.rotation[:, 2].tolist()))
        before, X = body, X @ translation(length, 0.0, 0.0) @ rotation_x(twist)
    m.add(Revolute("D", before, m.ground, at=X.position, axis=X.rotation[:, 2].tolist()))
    return m


def _skew_link(name: str, length: float, twist: float, radius: float, X: Frame) -> Body:
    """Return a rod along x with a bush along the hinge at each end."""
    far = rotation_x(twist).rotation
    shapes = (
        strut((0, 0, 0), (length, 0, 0), radius),
        Cylinder(1.5 * radius, 4.0 * radius),
        Cylinder(1.5 * radius, 4.0 * radius, position=(length, 0, 0), rotation=far),
    )
    return Body(name, *shapes, density=ALUMINIUM, position=X.position, rotation=X.rotation)
