"""Creatures on four legs that trot, alone and in packs, steered by sampled controllers."""

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, acos, atan2, cos, max, min, sin
from linkwork.examples.creatures import SKIN, Vector, highest_near, hills, pointing, put_on
from linkwork.geometry import Box, Capsule, HeightField, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input
from linkwork.mechanism.joints import Free, Revolute
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.sampled_controller import Sampled

_LEG = 0.2  # of thigh and of shin [m]
_STANDS, _SHORTEST, _LONGEST = 0.32, 0.2, 0.385  # hips above feet: as drawn, and at most [m]
_ENDS, _WIDE = 0.2, 0.15  # of hips from the middle: ahead, and to a side [m]
_FOOT = 0.03  # radius [m]
_CYCLE = 0.7  # of the gait [s]
_SWING = 0.4  # part of it that a foot is in the air
_LIFT = 0.06  # of a foot [m]
_STEERS = 1.0  # stride of one side against the other, per radian off the way
_LEVELS = 1.2  # how much longer legs on the low side get, per how much lower it is
_RETURNS = 0.8  # towards a lane: slope of the way back, per distance from it [1/m]
_LEGS = {
    "left fore": (1, 1, 0.0),
    "right hind": (-1, -1, 0.0),
    "right fore": (1, -1, 0.5),
    "left hind": (-1, 1, 0.5),
}


def quadruped(
    stride: float = 0.2, *, position: Vector = (0.0, 0.0, 0.0), ground: HeightField | None = None
) -> Mechanism:
    """Return a creature on four legs that trots along x, so far in a cycle of 0.7 s [m].

    Its 8 hinges have servos, which follow the angles at which feet are where the gait wants them. A sampled
    controller looks 30 times a second where the creature heads for, and lengthens the strides of one side.
    It stands at `position`, on a plane or on terrain: `hills()`.
    """
    m = Mechanism("quadruped")
    add_quadruped(m, "", stride, position)
    put_on(m, ground)
    return m


def pack(
    count: int = 5, stride: float = 0.2, *, ground: HeightField | None = None, apart: float = 0.8
) -> Mechanism:
    """Return some quadrupeds side by side, each out of step with the others; see `quadruped`."""
    m = Mechanism("pack")
    terrain = hills(12.0, 0.15) if ground is None else ground
    for k in range(count):
        x, y = -0.5 * (k % 2), apart * (k - 0.5 * (count - 1))
        height = highest_near(terrain, x, y)
        add_quadruped(m, f"{k + 1} ", stride, (x, y, height), begins=0.37 * k)
    put_on(m, terrain)
    return m


def add_quadruped(
    m: Mechanism, name: str, stride: float, position: Sequence[float], *, begins: float = 0.0
) -> Body:
    """Add a creature on four legs to a mechanism, named after it; return its trunk."""
    up = np.array((0.0, 0.0, _STANDS + _FOOT)) + position
    head = Box(0.14, 0.1, 0.1, position=(0.3, 0.0, 0.08), mass=1.0)
    trunk = m.add(Body(f"{name}trunk", Box(0.5, 0.2, 0.12, mass=10.0), head, position=up, material=SKIN))
    orders = [Input(f"{name}{word}", 0.0) for word in ("turn", "roll", "pitch")]
    m.add(Free(f"{name}base", m.ground, trunk))
    for leg, (end, side, phase) in _LEGS.items():
        hip = up + (_ENDS * end, _WIDE * side, 0.0)
        hip_angle, knee_angle = _bent(0.0, _STANDS)
        knee = hip + (-_LEG * np.sin(hip_angle), 0.0, -_LEG * np.cos(hip_angle))
        foot = hip + (0.0, 0.0, -_STANDS)
        thigh = m.add(_limb(f"{name}{leg} thigh", hip, knee, 0.025, 1.0))
        sole = Sphere(_FOOT, position=(0.0, 0.0, -0.5 * _LEG), mass=0.1)
        shin = m.add(_limb(f"{name}{leg} shin", knee, foot, 0.015, 0.3, sole))
        hinges = [
            m.add(Revolute(f"{name}{leg} hip", trunk, thigh, at=tuple(hip), axis=(0, 1, 0))),
            m.add(Revolute(f"{name}{leg} knee", thigh, shin, at=tuple(knee), axis=(0, 1, 0))),
        ]
        for k, (hinge, drawn) in enumerate(zip(hinges, (hip_angle, knee_angle), strict=True)):
            law = _servo(k, drawn, stride, (end, side), orders, phase + begins)
            m.add(Motor(f"{hinge.name} servo", hinge, law))
    law = _steering(f"{name}base", float(position[1]))
    m.add(Sampled(f"{name}steering", orders, every=1 / 30, law=law, limits=(-0.4, 0.4)))
    return trunk


def _limb(name: str, top: np.ndarray, low: np.ndarray, radius: float, mass: float, *more: Any) -> Body:
    """Return a capsule between two points, its origin in the middle, with other shapes."""
    way, middle = top - low, 0.5 * (top + low)
    shape = Capsule(radius, float(np.linalg.norm(way)) - 0.04, mass=mass)
    return Body(name, shape, *more, position=middle, rotation=pointing(way), material=SKIN)


def _bent(ahead: Number, below: Number) -> tuple[Number, Number]:
    """Return the angles of hip and knee at which a foot is ahead of its hip, and below it."""
    cosine = (ahead * ahead + below * below - 2.0 * _LEG**2) / (2.0 * _LEG**2)
    knee = acos(min(max(cosine, -1.0), 1.0))
    return atan2(-ahead, below) - 0.5 * knee, knee


def _servo(
    which: int, drawn: float, stride: float, where: tuple[int, int], orders: Sequence[Input], phase: float
) -> Callable[..., Number]:
    """Return the law of the servo of a hip (0) or a knee (1), whose coordinate is 0 as drawn."""
    stiffness, damping = 250.0, 8.0  # N m/rad, N m s/rad
    end, side = where

    def law(t: Number, q: Number, v: Number) -> Number:
        turn, roll, pitch = (one.as_number() for one in orders)
        ahead, below = _foot(t, stride * (1.0 + side * turn), phase)
        below = min(max(below + pitch * end * _ENDS - roll * side * _WIDE, _SHORTEST), _LONGEST)
        return stiffness * (_bent(ahead, below)[which] - drawn - q) - damping * v

    return law


def _foot(t: Number, stride: Number, phase: float) -> tuple[Number, Number]:
    """Return where a foot is to be: ahead of its hip, and below it."""
    grown = _smooth(t / (2.0 * _CYCLE))
    turn = 2.0 * pi * (t / _CYCLE - phase)
    place = atan2(sin(turn), cos(turn)) / (2.0 * pi)  # -1/2 to 1/2, 0 in the middle of the swing
    swing = _smooth(place / _SWING + 0.5)
    ahead = stride * grown * (swing - 0.5 - place)
    return ahead, _STANDS - _LIFT * grown * 4.0 * swing * (1.0 - swing)


def _smooth(s: Number) -> Number:
    """Return 0 before 0, 1 after 1, and in between what leads there without a jump of speed."""
    s = min(max(s, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def _steering(base: str, lane: float) -> Callable[..., Any]:
    """Return the law of a controller by what the base knows of itself.

    It keeps to a lane along x, and the trunk level: legs on the low side get longer.
    """

    def law(t: float, q: Any, v: Any) -> tuple[float, float, float]:
        w, x, y, z = q[base][3:7]
        heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        wanted = np.arctan(_RETURNS * (lane - q[base][1]))
        roll, pitch = 2.0 * (w * x + y * z), 2.0 * (w * y - z * x)
        return _STEERS * float(heading - wanted), _LEVELS * float(roll), _LEVELS * float(pitch)

    return law
