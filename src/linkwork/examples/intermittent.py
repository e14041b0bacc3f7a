"""Mechanisms that move by contact: a Geneva drive, a ratchet, a gripper."""

from math import atan2, cos, hypot, pi, sin

import numpy as np

from linkwork.algebra.number import Number, max, min
from linkwork.examples.building_blocks import ALUMINIUM, STEEL, Point, bar, link
from linkwork.examples.building_blocks import meeting as crossing
from linkwork.geometry import Box, Plane, Polygon
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joints import Prismatic, Revolute
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.springs import TorsionSpring

_SLICK = Material(friction=0.1)


def geneva_drive(slots: int = 4, *, distance: float = 0.1, speed: float = 2.0 * pi) -> Mechanism:
    """Return a Geneva drive in the plane: the pin of a crank turns a wheel by one slot a turn [m, rad/s].

    The pin enters a slot along it: crank radius c sin(pi/n), wheel radius c cos(pi/n), for a distance c of
    the axles. In between a disc of the crank holds the wheel by the hollow between two slots.
    """
    m = Mechanism("Geneva drive", gravity=(0.0, 0.0), space="plane")
    crank, wheel = distance * sin(pi / slots), distance * cos(pi / slots)
    pin, play = 0.04 * distance, 0.002 * distance
    disc = crank - 3.0 * pin  # radius of what holds the wheel
    parts = (
        Polygon(_locking_disc(disc, distance, wheel + 5.0 * play)),
        Polygon(_arc((crank, 0.0), pin, 0.0, 2.0 * pi, 24)[:-1]),
    )
    arm = Polygon([(0.0, -pin / 2.0), (crank, -pin / 2.0), (crank, pin / 2.0), (0.0, pin / 2.0)])
    # the arm passes below the wheel: it is seen, but meets nothing
    crank_body = m.add(Body("crank", *parts, density=STEEL * 0.01, visuals=[*parts, arm]))
    outline = _slotted_wheel(
        slots, distance, wheel, disc + play, pin + play, distance - crank - pin - 2.0 * play
    )
    # the pin begins opposite to the wheel, which is held half-way between two slots
    wheel_body = m.add(Body("wheel", Polygon(outline), density=STEEL * 0.01, position=(-distance, 0.0)))
    m.add(Revolute("crankshaft", m.ground, crank_body, at=(0.0, 0.0)))
    m.add(Revolute("axle", m.ground, wheel_body, at=(-distance, 0.0)))
    m.add(Driver("motor", "crankshaft", lambda t: speed * t))
    m.add(Contact("contact", ("crank", "wheel"), material=_SLICK))
    return m


def _arc(centre: Point, radius: float, start: float, end: float, pieces: int) -> list[Point]:
    """Return points of an arc."""
    angles = np.linspace(start, end, pieces + 1).tolist()
    return [(centre[0] + radius * cos(x), centre[1] + radius * sin(x)) for x in angles]


def _locking_disc(radius: float, distance: float, reach: float) -> list[Point]:
    """Return a disc without what the wheel, this large and this far along x, needs to turn past the pin."""
    half = np.arccos((radius**2 + distance**2 - reach**2) / (2.0 * radius * distance))  # of what is cut out
    across = np.arcsin(radius * sin(half) / reach)
    rim = _arc((0.0, 0.0), radius, half, 2.0 * pi - half, 36)
    cut = _arc((distance, 0.0), reach, pi + across, pi - across, 12)
    return [*rim, *cut[1:-1]]


def _slotted_wheel(
    slots: int, distance: float, radius: float, hollow: float, half_width: float, bottom: float
) -> list[Point]:
    """Return the outline of the wheel, held towards +x, with hollows of this radius between its slots."""
    outline: list[Point] = []
    # where hollow and rim meet, seen from the middle of the wheel and from that of the hollow
    half = np.arccos((radius**2 + distance**2 - hollow**2) / (2.0 * radius * distance))
    seen = np.arcsin(radius * sin(half) / hollow)
    side = np.arcsin(half_width / radius)
    for k in range(slots):
        turn = 2.0 * pi * k / slots
        hollow_points = _arc((distance, 0.0), hollow, pi + seen, pi - seen, 12)
        slot = pi / slots  # the one that follows
        rim = _arc((0.0, 0.0), radius, half, slot - side, 4)
        ends = [
            (radius * cos(side), -half_width),
            (bottom, -half_width),
            (bottom, half_width),
            (radius * cos(side), half_width),
        ]
        walls = [_turned(point, slot) for point in ends]
        next_rim = _arc((0.0, 0.0), radius, slot + side, 2.0 * slot - half, 4)
        each = [*hollow_points, *rim[1:-1], *walls, *next_rim[1:-1]]
        outline += [_turned(point, turn) for point in each]
    return outline


def _turned(point: Point, angle: float) -> Point:
    return point[0] * cos(angle) - point[1] * sin(angle), point[0] * sin(angle) + point[1] * cos(angle)


def ratchet(teeth: int = 16, *, speed: float = 2.0 * pi) -> Mechanism:
    """Return a ratchet wheel that a crank-rocker, a closed loop, pushes on by a pawl; a detent holds it.

    The rocker swings about the axle of the wheel by one and a half teeth: so the wheel advances by one tooth
    a turn of the crank [rad/s], clockwise.
    """
    m = Mechanism("ratchet", gravity=(0.0, 0.0), space="plane")
    inner, outer, arm, plate = 0.045, 0.05, 0.08, STEEL * 0.01  # [m], [kg/m^2]
    wheel = m.add(Body("wheel", Polygon(_saw(teeth, inner, outer)), density=plate))
    m.add(Revolute("axle", m.ground, wheel, at=(0.0, 0.0), damping=0.02))

    swing = arm * sin(0.75 * 2.0 * pi / teeth)  # of the rocker's end, each way: the crank's radius
    crank_at, crank_end = (0.15, arm), (0.15, arm + swing)
    rocker_end = crossing((0.0, 0.0), arm, crank_end, 0.15)
    crank, coupler = link("crank", crank_at, crank_end, 0.006), link("coupler", crank_end, rocker_end, 0.006)
    pitch = 2.0 * pi / teeth
    # The pawl pushes by 1.5 teeth less what it falls behind a tooth; these places of the tips make that 0.1,
    # so that the wheel goes 0.4 of a tooth too far, and back to the detent.
    pawl, pawl_pin = _pawl("pawl", (teeth // 4 + 0.65) * pitch, outer + 0.001)
    detent, detent_pin = _pawl("detent", (teeth // 2 + 0.3) * pitch, outer + 0.001)
    shape = bar((0.0, 0.0), rocker_end, 0.006), bar((0.0, 0.0), pawl_pin, 0.006)
    rocker = Body("rocker", *shape, density=ALUMINIUM)
    for body in (crank, coupler, rocker):
        m.add(body)
    m.add(Revolute("crankshaft", m.ground, crank, at=crank_at))
    m.add(Revolute("crankpin", crank, coupler, at=crank_end))
    m.add(Revolute("wristpin", coupler, rocker, at=rocker_end))
    m.add(Revolute("pivot", m.ground, rocker, at=(0.0, 0.0)))
    m.add(Driver("motor", "crankshaft", lambda t: speed * t))

    for one, pin, carrier in ((pawl, pawl_pin, rocker), (detent, detent_pin, m.ground)):
        m.add(one)
        m.add(Revolute(f"{one.name} pin", carrier, one, at=pin, damping=1e-4))
        m.add(TorsionSpring(f"{one.name} spring", f"{one.name} pin", stiffness=0.1, rest=-0.5))
        m.add(Contact(f"{one.name} contact", (one, wheel), material=_SLICK))
    return m


def _saw(teeth: int, inner: float, outer: float) -> list[Point]:
    """Return a wheel with teeth that rise slowly, counter-clockwise, and fall steeply."""
    points: list[Point] = []
    for k in range(teeth):
        start, end = 2.0 * pi * k / teeth, 2.0 * pi * (k + 1) / teeth
        points += [(inner * cos(start), inner * sin(start)), (outer * cos(end), outer * sin(end))]
    return points


def _pawl(name: str, angle: float, radius: float) -> tuple[Body, Point]:
    """Return a pawl with its tip at this angle and radius of the wheel, and where its pin is.

    It is pressed against a steep face along the wheel's rim. The pin lies behind it, and farther out than the
    tangent at the tip, so that the force draws the tip in.
    """
    back, out, thick = 0.03, 0.012, 0.006
    tip = (radius * cos(angle), radius * sin(angle))
    pin = (
        tip[0] - back * sin(angle) + out * cos(angle),
        tip[1] + back * cos(angle) + out * sin(angle),
    )
    length, heading = hypot(back, out), atan2(tip[1] - pin[1], tip[0] - pin[0])
    outline = [(-thick, -0.5 * thick), (length, -0.1 * thick), (length, 0.1 * thick), (-thick, 0.5 * thick)]
    return Body(name, Polygon(outline), density=STEEL * 0.01, position=pin, rotation=heading), pin


def gripper(force: float = 20.0, *, lift: float = 0.1) -> Mechanism:
    """Return a gripper with two fingers that hold a box by friction, and lift it after a second [N, m].

    The fingers follow each other by a coupling; one motor closes them.
    """
    m = Mechanism("gripper")
    pads = Material(friction=0.8)
    palm = m.add(Body("palm", Box(0.16, 0.05, 0.02), mass=0.5, position=(0.0, 0.0, 0.13)))
    m.add(Prismatic("arm", m.ground, palm, axis=(0.0, 0.0, 1.0)))
    for name, side in (("left", -1.0), ("right", 1.0)):
        place = (0.045 * side, 0.0, 0.07)
        finger = m.add(Body(f"{name} finger", Box(0.01, 0.03, 0.1), mass=0.1, position=place, material=pads))
        m.add(Prismatic(name, palm, finger, axis=(-side, 0.0, 0.0), damping=20.0))
    m.add(Coupling("mirror", "right", "left"))
    m.add(Motor("squeeze", "left", 2.0 * force))
    m.add(Driver("hoist", "arm", lambda t: lift * _smooth_step(t - 1.0)))
    box = Box(0.06, 0.06, 0.06, position=(0.0, 0.0, 0.03))
    m.add(Body("box", box, mass=0.5, material=Material(friction=0.5)))
    m.ground.add(Plane())
    m.add(Contact("contact"))
    return m


def _smooth_step(t: Number) -> Number:
    """Return 0 before 0, 1 after 1, and in between what leads there without a jump of speed."""
    s = min(max(t, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)
