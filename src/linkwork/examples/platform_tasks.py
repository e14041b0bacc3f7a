"""What parallel robots do: their drives follow where a task wants the platform, by inverse kinematics.

A drive that holds its joint like a spring rests at q where it is pushed with stiffness q. Where a leg or an
arm has to be for a place of the platform has a closed form in parallel robots; it is written over any number,
and traced like any law.
"""

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np

from linkwork.algebra.frames import rotation_euler
from linkwork.algebra.number import Number, acos, atan2, sqrt
from linkwork.algebra.table import interp
from linkwork.examples.platforms import delta_robot, stewart_platform
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.mechanism import Mechanism


def flight_simulator() -> Mechanism:
    """Return a Stewart platform that flies a course of 6 s: it takes off, banks to either side, and lands.

    Leg k is as long as it is from its foot f to its ball b: |p + R b - f|, p and R place and turn wanted.
    """
    m = stewart_platform()
    times = (0.0, 0.8, 1.8, 2.8, 3.8, 4.8, 6.0)
    place = [
        _through(times, (0.0, 0.0, 0.1, 0.1, -0.1, 0.0, 0.0)),
        _through(times, (0.0, 0.0, -0.15, 0.15, 0.0, 0.0, 0.0)),
        _through(times, (0.0, 0.2, 0.15, 0.15, 0.2, 0.1, 0.0)),
    ]
    turn = [
        _through(times, (0.0, 0.0, 0.3, -0.3, 0.0, 0.0, 0.0)),  # bank
        _through(times, (0.0, -0.25, 0.0, 0.0, 0.25, -0.15, 0.0)),  # pitch
        _through(times, (0.0, 0.0, 0.15, -0.15, 0.0, 0.0, 0.0)),  # heading
    ]
    centre = np.array([0.0, 0.0, 1.0])  # of the balls, as drawn
    for k in range(1, 7):
        foot, ball = (np.array(m.joints[f"{end} {k}"].at, float) for end in ("foot", "ball"))

        def longer(t: Number, foot: Any = foot, ball: Any = ball) -> Number:
            R = rotation_euler("xyz", [each(t) for each in turn])
            way = [each(t) + c + x - f for each, c, x, f in zip(place, centre, R @ (ball - centre), foot)]
            return sqrt(sum(x * x for x in way)) - float(np.linalg.norm(ball - foot))

        _follow(m, f"drive {k}", m.joints[f"leg {k}"], longer)
    return m


def picker() -> Mechanism:
    """Return a delta robot that fetches, carries and sets down, there and back, in 6 s.

    With u outwards from the shoulder of an arm l to its ball, w across and z up, the forearm L reaches where
    (l cos q - u)^2 + w^2 + (l sin q + z)^2 = L^2: u cos q - z sin q = (l^2 + u^2 + w^2 + z^2 - L^2) / 2 l.
    """
    m = delta_robot()
    times = (0.0, 0.6, 1.2, 1.6, 2.4, 2.8, 3.2, 3.6, 4.4, 4.8, 6.0)
    x = _through(times, (0.0, -0.2, -0.2, -0.2, 0.2, 0.2, 0.2, 0.2, -0.2, -0.2, 0.0))
    y = _through(times, (0.0, 0.1, 0.1, 0.1, -0.1, -0.1, -0.1, -0.1, 0.1, 0.1, 0.0))
    z = _through(times, (0.0, 0.0, -0.12, 0.02, 0.02, -0.12, -0.12, 0.02, 0.02, -0.12, 0.0))
    base, arm, forearm, platform = 0.15, 0.25, 0.6, 0.05
    down = -sqrt(forearm**2 - (base + arm - platform) ** 2)
    for k in range(3):
        heading = pi / 2 + 2 * pi * k / 3

        def turned(t: Number, c: float = float(np.cos(heading)), s: float = float(np.sin(heading))) -> Number:
            u, w, up = c * x(t) + s * y(t) + platform - base, c * y(t) - s * x(t), z(t) + down
            reach = (arm**2 + u * u + w * w + up * up - forearm**2) / (2.0 * arm)
            return -atan2(up, u) - acos(reach / sqrt(u * u + up * up))

        _follow(m, f"drive {k + 1}", m.joints[f"motor {k + 1}"], turned)
    return m


def _through(times: Sequence[float], values: Sequence[float]) -> Callable[[Number], Number]:
    """Return a smooth way through values, which does not overshoot."""
    return lambda t: interp(t, times, values, "pchip")


def _follow(m: Mechanism, name: str, joint: Joint, wanted: Callable[[Number], Number]) -> None:
    """Let a drive, which holds its joint like a spring, hold it where it is wanted."""
    stiffness: Any = joint.stiffness
    m.add(Motor(name, joint, lambda t, q, v: stiffness * wanted(t)))
