"""Humans without any strength that fall down, crowds of them, and hills to fall on.

A ragdoll has the masses of Winter, Biomechanics and Motor Control of Human Movement (4th ed. 2009), table
4.1, and the lengths of Drillis and Contini (1966; Winter, figure 4.1), as parts of its mass and height. How
far its joints go are the usual ranges of adults, rounded (American Academy of Orthopaedic Surgeons, Joint
Motion, 1965).
"""

from collections.abc import Callable, Sequence
from math import pi, radians
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, abs, max, min
from linkwork.geometry import Capsule, HeightField, Plane
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.joints import Free, Revolute, Universal
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism

Vector = tuple[float, float, float]

_FLESH, SKIN = Material(friction=0.7), Material(friction=0.8)

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
    size: float = 20.0, height: float = 0.3, *, length: float = 4.0, cell: float = 0.4, seed: int = 0
) -> HeightField:
    """Return uneven ground of a size [m], some `length` from hill to hill, `height` from top to bottom [m].

    Waves in some directions, drawn by `seed`, are added up. The middle, where things are put, is at z = 0.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    count = 2 * round(0.5 * size / cell) + 1
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
    """Return a human without any strength, upright, its soles at `position`: 15 bodies, 14 joints."""
    m = Mechanism("ragdoll")
    add_ragdoll(m, "", height, mass, position)
    put_on(m, None)
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
        shape = Capsule(radius * H, length, rotation=pointing(way))
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
    _join(m, name, bodies, joints)
    return bodies


def _join(m: Mechanism, name: str, bodies: dict[str, Body], joints: Sequence[Any]) -> None:
    """Add the joints of a ragdoll, with what ends their motion: name, two bodies, place and ends of each."""
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


def pointing(way: np.ndarray) -> Any:
    """Return the rotation from the axis of a capsule, z, to a direction."""
    z = way / np.linalg.norm(way)
    x = np.array((1.0, 0.0, 0.0)) if abs(z[0]) < 0.5 else np.array((0.0, 0.0, -1.0))
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def put_on(m: Mechanism, ground: HeightField | None) -> None:
    """Let a mechanism stand on terrain, or on a plane."""
    m.ground.add(Plane() if ground is None else ground, material=SKIN)
    m.add(Contact("contact"))


def crowd(
    count: int = 9, *, ground: HeightField | None = None, apart: float = 1.2, above: float = 0.5
) -> Mechanism:
    """Return ragdolls in rows, so far apart and `above` the ground [m]: they fall down."""
    m = Mechanism("crowd")
    side = int(np.ceil(np.sqrt(count)))
    for k in range(count):
        x, y = (apart * (n - 0.5 * (side - 1)) for n in divmod(k, side))
        z = above + (0.0 if ground is None else highest_near(ground, x, y))
        add_ragdoll(m, f"{k + 1} ", position=(x, y, z))
    put_on(m, ground)
    return m


def highest_near(ground: HeightField, x: float, y: float, reach: float = 0.3) -> float:
    """Return the largest height of terrain near a point [m]."""
    steps = (-reach, 0.0, reach)
    return float(np.max([ground.height(x + i, y + j) for i in steps for j in steps]))
