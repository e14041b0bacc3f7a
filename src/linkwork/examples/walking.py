"""Robots and figures on legs: a humanoid that stands and walks on servos, a walker without any drive."""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from pathlib import Path
from typing import Any

from linkwork.algebra.number import Number, acos, atan2, cos, max, min, sin, sqrt
from linkwork.formats.urdf import load_urdf
from linkwork.geometry import Box, Plane, Polygon
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joints import Fixed, Free, Revolute
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism

_HUMANOID = Path(__file__).with_name("humanoid.urdf")
_THIGH, _SHIN = 0.36, 0.34  # [m]
_HIP, _ANKLE = 0.08, 0.08  # below the pelvis, above the sole [m]
_BENDS = 0.04  # by which the hips come down, so that knees are bent [m]

_CYCLE = 1.6  # two steps [s]
_SWING = 0.3  # part of it that a foot is in the air
_SWAY = 0.045  # of the pelvis, to each side [m]
_LIFT = 0.04  # of a foot [m]
_STARTS = 2.0 * _CYCLE  # while steps grow [s]


def humanoid(*, stiffness: float = 3000.0, damping: float = 100.0) -> Mechanism:
    """Return a humanoid of 21 hinges that stands on the ground, read from a URDF file.

    Every hinge has a servo that holds it with this stiffness [N m/rad] and damping [N m s/rad].
    """
    return _robot("humanoid", _Gait(0.0, 0.0), stiffness, damping)


def walking_robot(step: float = 0.1, *, stiffness: float = 3000.0, damping: float = 100.0) -> Mechanism:
    """Return the same humanoid, which walks: servos follow a gait of this step [m], 1.25 of them a second.

    The pelvis sways from foot to foot: by A sin(w t) it moves the point on which it stands by
    (1 + w^2 z / g) A, z its height (Vukobratovic and Borovac 2004: the zero-moment point), which is above
    the one foot while the other swings. Angles of a leg follow from where its foot is.
    """
    return _robot("walking robot", _Gait(step, 1.0), stiffness, damping)


def _robot(name: str, gait: "_Gait", stiffness: float, damping: float) -> Mechanism:
    m = load_urdf(_HUMANOID, "free")
    m.name = name
    for body in m.bodies.values():
        body.position = body.position + (0.0, 0.0, _HIP + _THIGH + _SHIN + _ANKLE)
    for joint in m.joints:
        if joint != "base":
            m.add(Motor(f"{joint} servo", joint, _servo(gait.angle(joint), stiffness, damping)))
    m.ground.add(Plane())
    m.add(Contact("contact", material=Material(friction=0.8)))
    return m


def _servo(angle: Callable[[Number], Number], stiffness: float, damping: float) -> Callable[..., Number]:
    def law(t: Number, q: Number, v: Number) -> Number:
        return stiffness * (angle(t) - q) - damping * v

    return law


@dataclass(frozen=True)
class _Gait:
    """Angles of the hinges in time."""

    step: float  # [m]
    sways: float  # 0: it stands

    def angle(self, joint: str) -> Callable[[Number], Number]:
        """Return the angle of a joint, as a function of time."""
        side, _, word = joint.partition("_")
        if side in ("left", "right") and word in _LEG:
            return lambda t: _LEG[word](*self._ankle(t, side))
        return lambda t: _POSTURE.get(word, 0.0)

    def _ankle(self, t: Number, side: str) -> tuple[Number, Number, Number]:
        """Return where an ankle is, seen from its hip: ahead, to the left, below."""
        grown = _smooth(t / _STARTS)
        middle = 0.75 if side == "left" else 0.25  # of the swing, when the pelvis is over the other foot
        turn = 2.0 * pi * (t / _CYCLE - middle)
        phase = atan2(sin(turn), cos(turn)) / (2.0 * pi)  # -1/2 to 1/2, 0 in the middle of the swing
        swing = _smooth(phase / _SWING + 0.5)
        ahead = 2.0 * self.step * grown * (swing - 0.5 - phase)
        sway = _SWAY * self.sways * grown * sin(2.0 * pi * t / _CYCLE)
        lift = _LIFT * self.sways * grown * 4.0 * swing * (1.0 - swing)
        return ahead, -sway, _THIGH + _SHIN - _BENDS * _smooth(t) - lift


def _smooth(s: Number) -> Number:
    """Return 0 before 0, 1 after 1, and in between what leads there without a jump of speed."""
    s = min(max(s, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def _roll(x: Number, y: Number, z: Number) -> Number:
    return atan2(y, z)


def _knee(x: Number, y: Number, z: Number) -> Number:
    """Return the angle by the law of cosines."""
    cosine = (x * x + y * y + z * z - _THIGH**2 - _SHIN**2) / (2.0 * _THIGH * _SHIN)
    return acos(min(cosine, 1.0))


def _hip_pitch(x: Number, y: Number, z: Number) -> Number:
    knee = _knee(x, y, z)
    inner = atan2(_SHIN * sin(knee), _THIGH + _SHIN * cos(knee))
    return atan2(-x, sqrt(y * y + z * z)) - inner


# By the place of the ankle: the foot stays level, the pelvis upright.
_LEG: dict[str, Callable[[Number, Number, Number], Number]] = {
    "hip_roll": _roll,
    "hip_pitch": _hip_pitch,
    "knee": _knee,
    "ankle_pitch": lambda x, y, z: -_hip_pitch(x, y, z) - _knee(x, y, z),
    "ankle_roll": lambda x, y, z: -_roll(x, y, z),
}
_POSTURE = {"elbow": -0.4}


# The gait on a slope of 0.009 rad of Garcia, Chatterjee, Ruina and Coleman, "The simplest walking model",
# J. Biomech. Eng. 120 (1998): angle of the standing leg just after a step [rad], and its rate [sqrt(g/l)].
_SLOPE, _ANGLE, _RATE = 0.009, 0.200310900544287, -0.199832473004977


def passive_walker(steps: int = 8) -> Mechanism:
    """Return two straight legs that walk down a slope of 0.009 rad by gravity alone, in the plane.

    A mass of 10 kg is at the hip, one of 1 g in each foot, on legs of 1 m; x points down the slope, which
    gravity makes. Feet step on stones, each on its own: while a leg swings past the other it is too
    long by millimetres, and passes between its stones. They are drawn in mid-gait; `walking_velocities` of
    this module are those with which they go on.
    """
    m = Mechanism("passive walker", gravity=(9.81 * sin(_SLOPE), -9.81 * cos(_SLOPE)), space="plane")
    hip, foot, length, pace = 5.0, 1e-3, 1.0, 2.0 * sin(_ANGLE)
    mass = hip + foot  # of a leg: half the hip, and its foot, where its origin is
    inertia = Inertia(mass, (0.0, hip / mass * length), hip * foot / mass * length**2)
    outline = Polygon([(0.0, 0.0), (0.01, 0.1), (0.01, length), (-0.01, length), (-0.01, 0.1)])
    legs: list[Body] = []
    for k, (name, x, turn) in enumerate((("left", 0.0, _ANGLE), ("right", -pace, -_ANGLE))):
        own, other = 1 << (2 * k + 1), 1 << (2 * k + 2)
        where: dict[str, Any] = {"position": (x, 0.0), "rotation": turn}
        legs.append(m.add(Body(f"{name} leg", inertia, collisions=[outline], group=own, mask=other, **where)))
        places = [pace * step for step in range(steps + 1) if step % 2 == k]
        stones = [Box(0.1, 0.1, 0.1, position=(place, -0.05, 0.0)) for place in places]
        body = m.add(Body(f"{name} stones", *stones, mass=1.0, group=other, mask=own))
        m.add(Fixed(f"{name} row", m.ground, body))
    m.add(Free("walk", m.ground, legs[0]))
    m.add(Revolute("hip", *legs, at=(-0.5 * pace, cos(_ANGLE))))
    m.add(Contact("contact", material=Material(friction=0.8)))
    return m


def walking_velocities() -> dict[str, Any]:
    """Return the velocities of a passive walker as it is drawn: its right foot has just left the slope."""
    turn = _RATE * sqrt(9.81)
    swing = (1.0 - cos(2.0 * _ANGLE)) * turn  # of the angle between the legs, after the step
    return {"walk": (turn, 0.0, 0.0), "hip": -swing}
