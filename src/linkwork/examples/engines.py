"""Cranks and pistons: a slider-crank, an engine of three cylinders, and a toy steam engine."""

from collections.abc import Sequence
from math import cos, hypot, pi, sin, sqrt

import numpy as np

from linkwork.algebra.number import Number, tanh
from linkwork.examples.building_blocks import (
    ALUMINIUM,
    BRASS,
    STEEL,
    Point,
    link,
    meeting,
    rod,
    strut,
    upright,
)
from linkwork.geometry import Box
from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Fixed, Prismatic, Revolute
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import Space

IRON = 7200.0  # kg/m^3


def slider_crank(
    crank: float = 0.1,
    rod: float = 0.3,
    *,
    offset: float = 0.0,
    angle: float = pi / 3,
    space: Space = "plane",
) -> Mechanism:
    """Return a crank about (0, 0), a connecting rod and a piston that slides along x at the height `offset`.

    As drawn the crank is at `angle` from x. The lengths unless said are those of the three-cylinder engine.
    """
    pin = (crank * cos(angle), crank * sin(angle))
    reach = rod**2 - (pin[1] - offset) ** 2
    if reach < 0.0:
        raise ValueError(
            f"slider-crank: a rod of {rod:.6g} m does not reach from the crank pin at height {pin[1]:.6g} m "
            f"to the piston at {offset:.6g} m; give a longer rod"
        )
    wrist = (pin[0] + sqrt(reach), offset)
    m = upright("slider-crank", space)
    width = 0.1 * crank
    arm, connecting = m.add(link("crank", (0.0, 0.0), pin, width)), m.add(link("rod", pin, wrist, width))
    shape = Box(0.6 * crank, 0.4 * crank, 0.4 * crank)
    piston = m.add(Body("piston", shape, density=ALUMINIUM, position=(*wrist, 0.0)))
    m.add(Revolute("bearing", m.ground, arm, at=(0, 0, 0)))
    m.add(Revolute("crank pin", arm, connecting, at=(*pin, 0.0)))
    m.add(Revolute("wrist pin", connecting, piston, at=(*wrist, 0.0)))
    along = (1, 0, 0) if space == "space" else (1, 0)
    m.add(Prismatic("cylinder", m.ground, piston, at=(*wrist, 0.0), axis=along))
    return m


def three_cylinder_engine(*, angle: float = pi / 6) -> Mechanism:
    """Return three slider-cranks on one shaft along y, the pistons upright and 120 degrees apart.

    Crank 0.1 m and rods 0.3 m, cylinders side by side along y; as drawn the first crank is at `angle` from
    straight up, towards x. All joints are real hinges and slides: three loops with 15 equations, of which 6
    are independent. To turn it with 30 rad/s is to give `bearing` that velocity. (The engine that this
    project is measured with; lengths are given there, masses are ours: steel, and pistons of aluminium.)
    """
    crank, rod_length, pitch, web, neck = 0.1, 0.3, 0.12, 0.035, 0.02
    m = Mechanism("three-cylinder engine")
    pins: list[tuple[float, float, float]] = []
    for k in range(3):
        turned = angle + 2 * pi * k / 3
        pins.append((crank * sin(turned), pitch * (k - 1), crank * cos(turned)))
    journals = [strut((0, y - web, 0), (0, y - pitch + web, 0), neck) for y in (-pitch, 0, pitch, 2 * pitch)]
    wheel = strut((0, 2 * pitch, 0), (0, 2 * pitch + 0.03, 0), 0.15)
    shapes = [*journals, wheel]
    for x, y, z in pins:
        shapes.append(strut((x, y - web, z), (x, y + web, z), neck))
        shapes.extend(strut((0, y + side, 0), (x, y + side, z), neck) for side in (-web, web))
    shaft = m.add(Body("crankshaft", *shapes, density=STEEL))
    m.add(Revolute("bearing", m.ground, shaft, axis=(0, 1, 0)))
    for k, pin in enumerate(pins, start=1):
        x, y, z = pin
        wrist = (0.0, y, z + sqrt(rod_length**2 - x**2))
        connecting = m.add(rod(f"rod {k}", pin, wrist, 0.012, STEEL))
        crown = strut((0, 0, -0.03), (0, 0, 0.05), 0.045)
        piston = m.add(Body(f"piston {k}", crown, density=ALUMINIUM, position=wrist))
        m.add(Revolute(f"crank pin {k}", shaft, connecting, at=pin, axis=(0, 1, 0)))
        m.add(Revolute(f"wrist pin {k}", connecting, piston, at=wrist, axis=(0, 1, 0)))
        m.add(Prismatic(f"cylinder {k}", m.ground, piston, at=wrist, axis=(0, 0, 1)))
    return m


class Steam(Load):
    """Steam on either side of a piston that slides along x of the base, let in as the eccentric says.

    `eccentric` is a point of the flywheel, a quarter of a turn ahead of the crank pin; how far it is from the
    shaft along x, per `throw`, is how far the valve is open, forward or back. The force [N] is that of full
    steam but for a valve that is less than `lap` open, and pushes the base the other way. It is what a
    recording shows.
    """

    takes = Body
    puffs = True  # it lets steam go at the end of each stroke, and is heard

    def __init__(
        self,
        name: str,
        base: Body,
        flywheel: Body,
        piston: Body,
        *,
        eccentric: Sequence[float],
        throw: float,
        force: float,
        lap: float = 0.2,
    ) -> None:
        super().__init__(name, base, flywheel, piston)
        self.eccentric, self.throw, self.force, self.lap = tuple(eccentric), throw, force, lap

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return ("N",)

    def act(self, t: Number, base: BodySide, flywheel: BodySide, piston: BodySide) -> Number:
        shaft = base.to_local(flywheel.position)
        opening = (base.to_local(flywheel.to_world(self.eccentric))[0] - shaft[0]) / self.throw
        force = self.force * tanh(opening / self.lap)
        push = [force * row[0] for row in base.rotation]
        piston.push(push)
        base.push([-f for f in push], at=base.to_local(piston.position))
        return force


def steam_engine(*, angle: float = pi / 3) -> Mechanism:
    """Return a steam engine that starts by itself and keeps turning: seven moving bodies on a base, 3 loops.

    A toy steam engine (Levy). The `flywheel` turns the `connecting rod`, which the `piston rod` drives
    along x in its `cylinder`, fixed to the base. On the flywheel's far side an eccentric, a quarter of a
    turn ahead, moves the `rocker arm` by the `eccentric rod`, and that moves the `valve rod` in the
    `valve cylinder`, which swings on the base. All joints are hinges along y or slides: piston, rocker
    arm and valve cylinder close three loops with 15 equations, and one freedom is left.

    The load `steam` pushes the piston forward or back as the eccentric says. From rest as drawn, with the
    crank at `angle` from x towards z, the flywheel reaches nearly 300 turns a minute in a few seconds, where
    the drag of its bearing takes what the steam gives. (The figures show no sizes: these are ours, those of a
    model on a desk, 60 N being half a bar on a bore of 40 mm.)
    """
    crank, rod_length, piston_length, throw = 0.04, 0.16, 0.12, 0.015
    front, far = 0.03, -0.03  # the planes, y, of piston and of valve
    arm, pivot, trunnion = 0.05, (0.2, 0.05), (0.38, 0.1)  # in x, z
    eccentric_rod = hypot(pivot[0], throw)  # so that the rocker arm is upright at both dead centres

    pin = (crank * cos(angle), crank * sin(angle))
    lobe = (-throw * sin(angle), throw * cos(angle))
    wrist = (pin[0] + sqrt(rod_length**2 - pin[1] ** 2), 0.0)
    low = meeting(pivot, arm, lobe, eccentric_rod)  # below the pivot
    high = (2 * pivot[0] - low[0], 2 * pivot[1] - low[1])
    swing = np.subtract(trunnion, high) / np.linalg.norm(np.subtract(trunnion, high))

    def place(point: Point, y: float) -> tuple[float, float, float]:
        return point[0], y, point[1]

    m = Mechanism("steam engine")
    base = m.add(Body("base", *_base_shapes(front, far, pivot, trunnion), density=IRON))
    rim = strut((0, -0.012, 0), (0, 0.012, 0), 0.12)
    shaft = strut((0, -0.03, 0), (0, 0.02, 0), 0.012)
    pegs = (
        strut(place(pin, 0.012), place(pin, front + 0.01), 0.006),
        strut((0, far, 0), (0, far + 0.01, 0), 0.02),
    )
    flywheel = m.add(Body("flywheel", rim, shaft, *pegs, density=IRON))
    connecting = m.add(rod("connecting rod", place(pin, front), place(wrist, front), 0.006, STEEL))
    head = strut((piston_length - 0.01, 0, 0), (piston_length + 0.01, 0, 0), 0.02)
    stem = strut((0, 0, 0), (piston_length - 0.01, 0, 0), 0.005)
    piston = m.add(Body("piston rod", stem, head, density=STEEL, position=place(wrist, front)))
    eccentric = m.add(rod("eccentric rod", place(lobe, far), place(low, far), 0.004, STEEL))
    rocker = m.add(rod("rocker arm", place(low, far), place(high, far), 0.006, STEEL))
    valve_end = tuple(np.add(high, 0.13 * swing))
    valve = m.add(rod("valve rod", place(high, far), place(valve_end, far), 0.003, BRASS))
    mouth = tuple(np.add(trunnion, -0.09 * swing))
    chest = m.add(rod("valve cylinder", place(trunnion, far), place(mouth, far), 0.012, BRASS))

    hinge = (0, -1, 0)  # from x to z is forward
    m.add(Fixed("bolts", m.ground, base))
    m.add(Revolute("bearing", base, flywheel, at=(0, 0, 0), axis=hinge, damping=0.05))
    m.add(Revolute("crank pin", flywheel, connecting, at=place(pin, front), axis=hinge))
    m.add(Revolute("wrist pin", connecting, piston, at=place(wrist, front), axis=hinge))
    m.add(Prismatic("cylinder", base, piston, at=place(wrist, front), axis=(1, 0, 0)))
    m.add(Revolute("eccentric", flywheel, eccentric, at=place(lobe, far), axis=hinge))
    m.add(Revolute("rocker pin", eccentric, rocker, at=place(low, far), axis=hinge))
    m.add(Revolute("rocker pivot", base, rocker, at=place(pivot, far), axis=hinge))
    m.add(Revolute("valve pin", rocker, valve, at=place(high, far), axis=hinge))
    m.add(Prismatic("valve slide", chest, valve, at=place(high, far), axis=place(tuple(swing), 0.0)))
    m.add(Revolute("trunnion", base, chest, at=place(trunnion, far), axis=hinge))
    m.add(Steam("steam", base, flywheel, piston, eccentric=place(lobe, far), throw=throw, force=60.0))
    return m


def _base_shapes(front: float, far: float, pivot: Point, trunnion: Point) -> list[Box]:
    """Return a plate, a bearing block, a cylinder cut open, and two posts that carry the valve gear."""
    floor = -0.15
    bore, wall = 0.02, 0.006

    def post(x: float, y: float, top: float) -> Box:
        return Box(0.02, 0.012, top - floor, position=(x, y, (top + floor) / 2.0))

    walls = [Box(0.12, 0.05, wall, position=(0.28, front, side * (bore + wall / 2.0))) for side in (-1, 1)]
    saddle = Box(0.08, 0.03, -bore - wall - floor, position=(0.28, front, (floor - bore - wall) / 2.0))
    return [
        Box(0.66, 0.16, 0.02, position=(0.16, 0, floor - 0.01)),
        post(0.0, 0.02, 0.02),
        *walls,
        saddle,
        post(pivot[0], far - 0.015, pivot[1]),
        post(trunnion[0], far - 0.02, trunnion[1]),
    ]
