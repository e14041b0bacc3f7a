"""Robot arms: open chains with a drive in every joint."""

from collections.abc import Callable
from math import pi

from linkwork.algebra.number import Number, sin
from linkwork.examples.building_blocks import ALUMINIUM, STEEL, strut
from linkwork.geometry import Box, Cylinder
from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Fixed, Revolute
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.mechanism import Mechanism


def robot_arm(*, stiffness: float = 4000.0, damping: float = 400.0, sweep: float = 0.5) -> Mechanism:
    """Return an arm of six hinges, turn, shoulder, elbow and a wrist of three, that swings to and fro.

    Every joint has a motor that holds it near a place with this stiffness [N m/rad] and damping
    [N m s/rad] (at the wrist a hundredth of it); the places of `turn`, `shoulder` and `elbow` go to and fro
    by `sweep` [rad]. (The arrangement is the usual one of industrial arms; lengths are ours, some 1.3 m.)
    """
    m = Mechanism("robot arm")
    base = m.add(Body("base", Cylinder(0.15, 0.1, position=(0, 0, 0.05)), density=STEEL))
    m.add(Fixed("bolts", m.ground, base))
    shapes = {
        "column": ((0, 0, 0.1), [strut((0, 0, 0), (0, 0, 0.25), 0.09)]),
        "upper arm": (
            (0, 0, 0.4),
            [strut((0, -0.1, 0), (0, 0.1, 0), 0.07), strut((0, 0, 0), (0, 0, 0.5), 0.05)],
        ),
        "forearm": (
            (0, 0, 0.9),
            [strut((0, -0.08, 0), (0, 0.08, 0), 0.05), strut((0, 0, 0), (0.4, 0, 0), 0.035)],
        ),
        "wrist": ((0.4, 0, 0.9), [strut((0, 0, 0), (0.08, 0, 0), 0.03)]),
        "palm": ((0.48, 0, 0.9), [strut((0, -0.04, 0), (0, 0.04, 0), 0.025)]),
        "tool": ((0.52, 0, 0.9), [Box(0.1, 0.06, 0.02, position=(0.05, 0, 0))]),
    }
    bodies = [m.add(Body(name, *made, density=ALUMINIUM, position=at)) for name, (at, made) in shapes.items()]
    names = ("turn", "shoulder", "elbow", "roll", "bend", "flange")
    axes = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
    for k, (name, axis, body) in enumerate(zip(names, axes, bodies, strict=True)):
        parent = bodies[k - 1] if k else base
        joint = m.add(
            Revolute(name, parent, body, at=body.position, axis=axis, limits=(-0.95 * pi, 0.95 * pi))
        )
        weak, swing = (1.0, sweep) if k < 3 else (0.01, 0.0)
        m.add(Motor(f"{name} motor", joint, _hold(weak * stiffness, weak * damping, swing, 0.5 + 0.2 * k)))
    return m


def _hold(stiffness: float, damping: float, swing: float, frequency: float) -> Callable[..., Number]:
    def law(t: Number, q: Number, v: Number) -> Number:
        return stiffness * (swing * sin(2.0 * pi * frequency * t) - q) - damping * v

    return law
