"""Linkages in the plane x, y; they also exist in space, where their loops are redundant."""

from math import cos, pi, sin

import numpy as np

from linkwork.examples.building_blocks import ALUMINIUM, Point, bar, link, meeting, upright
from linkwork.geometry import Box, Visual
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joints import Revolute
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import Space

# Theo Jansen's "holy numbers", from his book The Great Pretender, 2007: the lengths of the bars a to m
JANSEN = (38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0)


def four_bar(
    crank: float = 0.1,
    coupler: float = 0.3,
    rocker: float = 0.22,
    ground: float = 0.2,
    *,
    angle: float = pi / 3,
    left: bool = True,
    mass: float | None = None,
    space: Space = "plane",
) -> Mechanism:
    """Return a four-bar A B C D: crank AB, coupler BC, rocker DC, and the ground from A (0, 0) to D on x.

    As drawn the crank is at `angle` from x, and C on the left of the way from B to D, or on its right. The
    links are of aluminium unless the `mass` of each is given. The lengths unless said are those of a
    crank-rocker; they are ours.
    """
    A, D = (0.0, 0.0), (ground, 0.0)
    B = (crank * cos(angle), crank * sin(angle))
    C = meeting(B, coupler, D, rocker) if left else meeting(D, rocker, B, coupler)
    m = upright("four-bar", space)
    width = 0.1 * min(crank, coupler, rocker)
    crank_body = m.add(link("crank", A, B, width, mass))
    coupler_body = m.add(link("coupler", B, C, width, mass))
    rocker_body = m.add(link("rocker", D, C, width, mass))
    m.add(Revolute("A", m.ground, crank_body, at=(*A, 0.0)))
    m.add(Revolute("B", crank_body, coupler_body, at=(*B, 0.0)))
    m.add(Revolute("C", coupler_body, rocker_body, at=(*C, 0.0)))
    m.add(Revolute("D", m.ground, rocker_body, at=(*D, 0.0)))
    return m


def four_bars(n: int, *, space: Space = "space") -> Mechanism:
    """Return n four-bars in a row that share their cranks, n loops: problem A02 of the IFToMM library.

    2 n + 1 uniform thin rods of 1 kg and 1 m: `crank 0` to `crank n`, straight up from their ground pins at
    (0, 0), (1, 0) .. (n, 0), and `coupler 1` to `coupler n` on top of them. Each has its origin at its lower
    or left pin and x along it. The benchmark starts with velocity -1 rad/s in `ground pin 0`. (IFToMM
    Technical Committee for Multibody Dynamics, Library of Computational Benchmark Problems, A02.)
    """
    m = upright(f"{n} four-bars", space)
    thin = Inertia(1.0, (0.5, 0, 0), np.diag([0, 1 / 12, 1 / 12]))
    drawn = Visual(shape=Box(1.0, 0.05, 0.05, position=(0.5, 0, 0)))

    def thin_rod(name: str, x: float, y: float, turned: float) -> Body:
        return m.add(Body(name, thin, position=(x, y, 0), rotation=turned, visuals=[drawn]))

    before: Body | None = None
    for k in range(n + 1):
        crank = thin_rod(f"crank {k}", k, 0, pi / 2)
        m.add(Revolute(f"ground pin {k}", m.ground, crank, at=(k, 0, 0)))
        if before is not None:
            coupler = thin_rod(f"coupler {k}", k - 1, 1, 0)
            m.add(Revolute(f"left pin {k}", before, coupler, at=(k - 1, 1, 0)))
            m.add(Revolute(f"right pin {k}", coupler, crank, at=(k, 1, 0)))
        before = crank
    return m


def jansen_leg(angle: float = 0.0, *, scale: float = 0.01, space: Space = "plane") -> Mechanism:
    """Return one leg of Theo Jansen's walking beasts: seven bodies, three loops, one freedom.

    The crank turns about (0, 0), as drawn at `angle` from x; the other fixed pivot is `hip`. Jansen's
    lengths, `JANSEN`, are in units of `scale` metres. The body `foot` has its origin at the toe. Bars that
    share a pin with two others have a joint each: `crank pin j` and `crank pin k`, `hip` and `hip c`, `ankle`
    and `ankle k`. (T. Jansen, The Great Pretender, 2007.)
    """
    a, b, c, d, e, f, g, h, i, j, k, l, crank = (scale * length for length in JANSEN)
    centre, hip = (0.0, 0.0), (-a, -l)
    pin = (crank * cos(angle), crank * sin(angle))
    top = meeting(hip, b, pin, j)  # where b, e and j meet
    back = meeting(hip, d, top, e)  # d, e, f
    ankle = meeting(pin, k, hip, c)  # c, g, i, k
    heel = meeting(ankle, g, back, f)  # f, g, h
    toe = meeting(ankle, i, heel, h)  # h, i

    m = upright("Jansen leg", space)

    def triangle(name: str, origin: Point, *others: Point) -> Body:
        corners = [(x - origin[0], y - origin[1]) for x, y in (origin, *others)]
        sides = [bar(corners[s - 1], corners[s], scale) for s in range(3)]
        return m.add(Body(name, *sides, density=ALUMINIUM, position=(*origin, 0.0)))

    def pinned(name: str, parent: Body, child: Body, at: Point) -> None:
        m.add(Revolute(name, parent, child, at=(*at, 0.0)))

    crank_body = m.add(link("crank", centre, pin, scale))
    bar_j, bar_k = m.add(link("bar j", pin, top, scale)), m.add(link("bar k", pin, ankle, scale))
    bar_c, bar_f = m.add(link("bar c", hip, ankle, scale)), m.add(link("bar f", back, heel, scale))
    shoulder, foot = triangle("shoulder", hip, top, back), triangle("foot", toe, heel, ankle)
    pinned("crank shaft", m.ground, crank_body, centre)
    pinned("crank pin j", crank_body, bar_j, pin)
    pinned("crank pin k", crank_body, bar_k, pin)
    pinned("top", bar_j, shoulder, top)
    pinned("hip", m.ground, shoulder, hip)
    pinned("hip c", m.ground, bar_c, hip)
    pinned("back", shoulder, bar_f, back)
    pinned("heel", bar_f, foot, heel)
    pinned("ankle", bar_c, foot, ankle)
    pinned("ankle k", bar_k, foot, ankle)
    return m
