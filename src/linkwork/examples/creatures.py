"""Creatures on uneven ground: ragdolls that fall, quadrupeds that walk, crowds of them, and hills.

A ragdoll has the masses of Winter, Biomechanics and Motor Control of Human Movement (4th ed. 2009), table 4.1,
and the lengths of Drillis and Contini (1966; Winter, figure 4.1), as parts of its mass and height. How far its
joints go are the usual ranges of adults, rounded (American Academy of Orthopaedic Surgeons, Joint Motion, 1965).
"""

from collections.abc import Callable, Sequence
from math import pi, radians
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, abs, acos, atan2, cos, max, min, sin, sqrt
from linkwork.geometry import Box, Capsule, HeightField, Plane, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.input import Input
from linkwork.mechanism.joints import Free, Revolute, Universal
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.sampled import Sampled

Vector = tuple[float, float, float]

_FLESH, _SKIN = Material(friction=0.7), Material(friction=0.8)

# Parts of the mass of a human.
_PARTS = {
    "pelvis": 0.142,
    "trunk": 0.355,
    "head": 0.081,
    "upper arm": 0.028,
    "forearm": 0.016,
    "hand": 0.006,
    "thigh": 0.100,
    "shin": 0.0465,
    "foot": 0.0145,
}
_STIFF = 40.0  # of joints at their limits: frequency at which what they carry swings there [rad/s]
_SLACK = 6.0  # by which muscles that do nothing slow joints down [1/s]


def hills(
    size: float = 20.0, height: float = 0.3, *, length: float = 4.0, cell: float = 0.25, seed: int = 0
) -> HeightField:
    """Return uneven ground of a size [m], some `length` from hill to hill, `height` from top to bottom [m].

    Waves in some directions, drawn by `seed`, are added up. The middle, where things are put, is at z = 0.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    count = round(size / cell) + 1
    x = np.linspace(-0.5 * size, 0.5 * size, count)
    X, Y = np.meshgrid(x, x, indexing="ij")
    total = np.zeros_like(X)
    for way, phase, scale in random.random((6, 3)):
        wave = length * (0.7 + 0.8 * scale)
        total += wave * np.sin(
            2.0 * pi * (X * np.cos(2 * pi * way) + Y * np.sin(2 * pi * way)) / wave + 6.28 * phase
        )
    total -= total[count // 2, count // 2]
    return HeightField(total * (height / np.ptp(total)), (size, size))


def ragdoll(height: float = 1.75, mass: float = 75.0, *, position: Vector = (0.0, 0.0, 0.0)) -> Mechanism:
    """Return a human without any strength: 15 bodies and 14 joints with limits, upright, soles at `position`."""
    m = Mechanism("ragdoll")
    add_ragdoll(m, "", height, mass, position)
    _stand_on(m, None)
    return m


def add_ragdoll(
    m: Mechanism, name: str, height: float = 1.75, mass: float = 75.0, position: Sequence[float] = (0, 0, 0)
) -> dict[str, Body]:
    """Add a ragdoll to a mechanism, bodies and joints named after it; return its bodies."""
    H, bodies, joints = height, dict[str, Body](), list[Any]()

    def body(word: str, part: str, low: Vector, high: Vector, radius: float) -> Body:
        """Add a part of the body: a capsule between two points of the upright human [m of height]."""
        a, b = (np.array(point) * H for point in (low, high))
        way = b - a
        length = float(np.linalg.norm(way))
        shape = Capsule(radius * H, length, rotation=_upright(way))
        middle = 0.5 * (a + b) + position
        made = Body(f"{name}{word}", shape, mass=_PARTS[part] * mass, position=middle, material=_FLESH)
        bodies[word] = m.add(made)
        return made

    def hinge(word: str, parent: str, child: str, at: Vector, degrees: Sequence[float]) -> None:
        """Join two parts by an axis to the left; or by two, that and one ahead."""
        place = np.array(at) * H + position
        ends = [(radians(low), radians(high)) for low, high in zip(degrees[::2], degrees[1::2])]
        joints.append((word, parent, child, place, ends))

    body("pelvis", "pelvis", (0.0, -0.04, 0.55), (0.0, 0.04, 0.55), 0.055)
    body("trunk", "trunk", (0.0, 0.0, 0.67), (0.0, 0.0, 0.75), 0.068)
    body("head", "head", (0.0, 0.0, 0.915), (0.0, 0.0, 0.945), 0.055)
    hinge("waist", "pelvis", "trunk", (0.0, 0.0, 0.60), (-20, 60, -25, 25))
    hinge("neck", "trunk", "head", (0.0, 0.0, 0.84), (-40, 40, -35, 35))
    for side, s in (("left", 1.0), ("right", -1.0)):
        y = s * 0.12
        body(f"{side} upper arm", "upper arm", (0.0, y, 0.66), (0.0, y, 0.79), 0.025)
        body(f"{side} forearm", "forearm", (0.0, y, 0.51), (0.0, y, 0.61), 0.021)
        body(f"{side} hand", "hand", (0.0, y, 0.42), (0.0, y, 0.465), 0.018)
        hinge(
            f"{side} shoulder", "trunk", f"{side} upper arm", (0.0, y, 0.80), (-170, 50, *_sided(s, 5, 150))
        )
        hinge(f"{side} elbow", f"{side} upper arm", f"{side} forearm", (0.0, y, 0.635), (-145, 0))
        hinge(f"{side} wrist", f"{side} forearm", f"{side} hand", (0.0, y, 0.487), (-70, 75))
        y = s * 0.055
        body(f"{side} thigh", "thigh", (0.0, y, 0.325), (0.0, y, 0.475), 0.045)
        body(f"{side} shin", "shin", (0.0, y, 0.09), (0.0, y, 0.25), 0.032)
        body(f"{side} foot", "foot", (-0.02, y, 0.02), (0.085, y, 0.02), 0.02)
        hinge(f"{side} hip", "pelvis", f"{side} thigh", (0.0, y, 0.53), (-115, 15, *_sided(s, 20, 45)))
        hinge(f"{side} knee", f"{side} thigh", f"{side} shin", (0.0, y, 0.285), (0, 140))
        hinge(f"{side} ankle", f"{side} shin", f"{side} foot", (0.0, y, 0.039), (-20, 45))
    m.add(Free(f"{name}base", m.ground, bodies["pelvis"]))
    for word, parent, child, place, ends in joints:
        inertia = _moved(bodies, joints, child, place)
        options: dict[str, Any] = {
            "at": tuple(place),
            "axis": (0, 1, 0),
            "damping": inertia * _SLACK,
        }
        if len(ends) > 1:
            made: Any = Universal(f"{name}{word}", bodies[parent], bodies[child], axis2=(1, 0, 0), **options)
        else:
            made = Revolute(f"{name}{word}", bodies[parent], bodies[child], **options)
        m.add(made)
        m.add(Motor(f"{name}{word} ends", made, _tendons(ends, inertia)))
    return bodies


def _tendons(ends: Sequence[tuple[float, float]], inertia: float) -> Callable[..., Any]:
    """Return the torque of what ends the motion of a joint.

    It is a law, so that steps take it implicitly, however stiff it is.
    """
    stiff, damp = inertia * _STIFF**2, inertia * _STIFF

    def torque(x: Number, v: Number, low: float, high: float) -> Number:
        beyond = max(low - x, 0.0) - max(x - high, 0.0)
        return stiff * beyond - damp * v * min(abs(beyond) / 0.02, 1.0)

    if len(ends) == 1:
        return lambda t, q, v: torque(q, v, *ends[0])
    return lambda t, q, v: [torque(x, rate, *end) for x, rate, end in zip(q, v, ends)]


def _moved(bodies: dict[str, Body], joints: Sequence[Any], part: str, about: Any) -> float:
    """Return the moment of inertia of a part, and all that hangs on it, about a point [kg m^2]."""
    own = bodies[part]
    total = own.mass * float(np.sum((own.position - about) ** 2)) + float(np.min(np.diag(own.inertia.tensor)))
    return total + sum(
        _moved(bodies, joints, child, about) for _, parent, child, *_ in joints if parent == part
    )


def _sided(side: float, inward: float, outward: float) -> tuple[float, float]:
    """Return the limits about an axis ahead of a limb on the left (1) or right (-1)."""
    return (-inward, outward) if side > 0.0 else (-outward, inward)


def _upright(way: np.ndarray) -> Any:
    """Return the rotation from the axis of a capsule, z, to a direction."""
    z = way / np.linalg.norm(way)
    x = np.array((1.0, 0.0, 0.0)) if abs(z[0]) < 0.5 else np.array((0.0, 0.0, -1.0))
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _stand_on(m: Mechanism, ground: HeightField | None) -> None:
    m.ground.add(Plane() if ground is None else ground, material=_SKIN)
    m.add(Contact("contact"))


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
    _stand_on(m, ground)
    return m


def pack(
    count: int = 5, stride: float = 0.2, *, ground: HeightField | None = None, apart: float = 0.8
) -> Mechanism:
    """Return some quadrupeds side by side, each out of step with the others; see `quadruped`."""
    m = Mechanism("pack")
    terrain = hills(height=0.2) if ground is None else ground
    for k in range(count):
        x, y = -0.5 * (k % 2), apart * (k - 0.5 * (count - 1))
        height = max_under(terrain, x, y)
        add_quadruped(m, f"{k + 1} ", stride, (x, y, height), begins=0.37 * k)
    _stand_on(m, terrain)
    return m


def crowd(
    count: int = 9, *, ground: HeightField | None = None, apart: float = 1.2, above: float = 0.5
) -> Mechanism:
    """Return ragdolls in rows, so far apart and `above` the ground [m]: they fall down."""
    m = Mechanism("crowd")
    side = int(np.ceil(np.sqrt(count)))
    for k in range(count):
        x, y = (apart * (n - 0.5 * (side - 1)) for n in divmod(k, side))
        z = above + (0.0 if ground is None else max_under(ground, x, y))
        add_ragdoll(m, f"{k + 1} ", position=(x, y, z))
    _stand_on(m, ground)
    return m


def max_under(ground: HeightField, x: float, y: float, reach: float = 0.3) -> float:
    """Return the largest height of terrain near a point [m]."""
    steps = (-reach, 0.0, reach)
    return float(np.max([ground.height(x + i, y + j) for i in steps for j in steps]))


def add_quadruped(
    m: Mechanism, name: str, stride: float, position: Sequence[float], *, begins: float = 0.0
) -> Body:
    """Add a creature on four legs to a mechanism, named after it; return its trunk."""
    up = np.array((0.0, 0.0, _STANDS + _FOOT)) + position
    head = Box(0.14, 0.1, 0.1, position=(0.3, 0.0, 0.08), mass=1.0)
    trunk = m.add(Body(f"{name}trunk", Box(0.5, 0.2, 0.12, mass=10.0), head, position=up, material=_SKIN))
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
    return Body(name, shape, *more, position=middle, rotation=_upright(way), material=_SKIN)


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
