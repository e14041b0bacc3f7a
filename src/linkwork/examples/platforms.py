"""Parallel robots: platforms carried by several arms or legs."""

from math import cos, pi, sin, sqrt

import numpy as np

from linkwork.examples.building_blocks import ALUMINIUM, STEEL, rod, strut
from linkwork.geometry import Cylinder
from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Prismatic, Revolute, Spherical, Universal
from linkwork.mechanism.mechanism import Mechanism

CARBON = 1600.0  # kg/m^3


def delta_robot(*, stiffness: float = 400.0, damping: float = 10.0) -> Mechanism:
    """Return a delta robot, which holds its platform level: three motors, six forearms, five loops.

    `arm 1` to `arm 3`, drawn level, turn on the hinges `motor 1` to `motor 3`, whose drives hold them like
    springs of this stiffness [N m/rad] and damping [N m s/rad]; with 0 the robot is free to fall. Each
    carries a parallelogram of two forearms, `forearm 1 left` and so on, on universal joints above and balls
    below, so that none can spin idly: three freedoms, no equation too many. (R. Clavel, US patent 4976582,
    1990. The lengths are ours: those of a picker that reaches half a metre.)
    """
    base, arm, forearm, platform, half_width = 0.15, 0.25, 0.6, 0.05, 0.04
    drop = sqrt(forearm**2 - (base + arm - platform) ** 2)
    m = Mechanism("delta robot")
    shape = Cylinder(platform + 0.02, 0.015)
    plate = m.add(Body("platform", shape, density=ALUMINIUM, position=(0, 0, -drop)))
    for k in range(3):
        heading = pi / 2 + 2 * pi * k / 3
        out = np.array([cos(heading), sin(heading), 0.0])
        across = np.array([-sin(heading), cos(heading), 0.0])
        shoulder, elbow = base * out, (base + arm) * out
        wide = half_width * across
        shapes = strut((0, 0, 0), arm * out, 0.015), strut(arm * out - wide, arm * out + wide, 0.008)
        upper = m.add(Body(f"arm {k + 1}", *shapes, density=ALUMINIUM, position=shoulder))
        motor = m.add(Revolute(f"motor {k + 1}", m.ground, upper, at=shoulder, axis=across.tolist()))
        motor.stiffness, motor.damping = stiffness, damping
        for side, offset in (("left", wide), ("right", -wide)):
            top, ball = elbow + offset, platform * out + offset + (0, 0, -drop)
            fore = m.add(rod(f"forearm {k + 1} {side}", top, ball, 0.006, CARBON))
            pins = across.tolist(), np.cross(ball - top, across).tolist()
            m.add(Universal(f"elbow {k + 1} {side}", upper, fore, at=top, axis=pins[0], axis2=pins[1]))
            m.add(Spherical(f"wrist {k + 1} {side}", fore, plate, at=ball))
    return m


def stewart_platform(*, stiffness: float = 1e5, damping: float = 2e3) -> Mechanism:
    """Return a platform on six legs that push and pull: 13 bodies, five loops, six freedoms.

    `cylinder 1` to `cylinder 6` stand on universal joints, `foot 1` and so on; in each slides a `piston`,
    which carries the platform on a ball, `ball 1`. The slides, `leg 1` to `leg 6`, hold their length as
    drawn like springs of this stiffness [N/m] and damping [N s/m]; with 0 they give way. (The 6-6 arrangement
    of Gough and Stewart; D. Stewart, A platform with six degrees of freedom, Proc. IMechE 180, 1965. The
    lengths are ours: those of a simulator for one.)
    """
    base, top, height, apart = 1.0, 0.7, 1.0, pi / 12  # apart: half the angle between the legs of a pair
    m = Mechanism("Stewart platform")
    shape = Cylinder(top + 0.1, 0.04)
    plate = m.add(Body("platform", shape, density=ALUMINIUM, position=(0, 0, height + 0.02)))
    for k in range(6):
        pair, side = divmod(k, 2)
        # a pair of feet is 60 degrees from the nearest pairs of balls, to which its legs lean apart
        foot = _on_circle(base, 2 * pi * pair / 3 + (apart if side else -apart), 0.0)
        nearest = 2 * pi * pair / 3 + (pi / 3 if side else -pi / 3)
        ball = _on_circle(top, nearest - (apart if side else -apart), height)
        way = ball - foot
        middle = foot + 0.55 * way
        cylinder = m.add(rod(f"cylinder {k + 1}", foot, middle, 0.04, STEEL))
        piston = m.add(rod(f"piston {k + 1}", ball, foot + 0.3 * way, 0.02, STEEL))
        level = np.cross((0, 0, 1), way)
        pins = level.tolist(), np.cross(way, level).tolist()
        m.add(Universal(f"foot {k + 1}", m.ground, cylinder, at=foot, axis=pins[0], axis2=pins[1]))
        leg = m.add(Prismatic(f"leg {k + 1}", cylinder, piston, at=middle, axis=way.tolist()))
        leg.stiffness, leg.damping = stiffness, damping
        m.add(Spherical(f"ball {k + 1}", piston, plate, at=ball))
    return m


def _on_circle(radius: float, heading: float, height: float) -> np.ndarray:
    return np.array([radius * cos(heading), radius * sin(heading), height])
