"""What stops a joint at its limits: something rigid, a spring and damper, or McKenna's exponential spring.

What is not said of springs follows from the inertia that the joint moves as drawn, so that a stop yields
about as much for a finger as for a crane: 5 millirad (or mm) when met with 1 rad/s (1 m/s).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from linkwork.algebra.number import Number, exp, max, min, where
from linkwork.spelling import Spelled, fixed
from linkwork.varied import real

FREQUENCY = 200.0  # of the joint on its stop, if not said [rad/s]
DAMPING_RATIO = 0.5  # of a linear stop, if not said
CUSHION = 1e-4  # depth of a linear stop in which its damping sets in, so that no force jumps [rad, m]
YIELD = 0.02  # over which an exponential stop grows e-fold, if not said [rad, m]


class JointStop(Protocol):
    """Force of a stop on one coordinate x with limits, from its numbers."""

    absent: ClassVar[tuple[float, ...]]  # its numbers where a coordinate has no limit

    def numbers(self, inertia: float) -> tuple[float, ...]: ...

    def mistakes(self) -> list[str]: ...

    @staticmethod
    def force(x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Number: ...


@fixed("make another, and set stop= of the joint to it")
@dataclass(frozen=True)
class Stop(metaclass=Spelled):
    """A spring and damper that a coordinate meets at its limit; they push, and never pull it back.

    The damping sets in over the first 0.1 millirad (or mm).

    `stiffness` in N m/rad (N/m for slides), `damping` in N m s/rad (N s/m).
    """

    stiffness: float | None = None
    damping: float | None = None
    absent: ClassVar[tuple[float, ...]] = (0.0, 0.0)

    def numbers(self, inertia: float) -> tuple[float, float]:
        stiffness = inertia * FREQUENCY**2 if self.stiffness is None else self.stiffness
        damping = 2.0 * DAMPING_RATIO * (stiffness * inertia) ** 0.5 if self.damping is None else self.damping
        return real(stiffness), real(damping)

    def mistakes(self) -> list[str]:
        return _negative(self, "stiffness", "damping")

    @staticmethod
    def force(x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Number:
        stiffness, damping = numbers
        above = x - upper > lower - x  # the limit that is nearer
        depth = where(above, x - upper, lower - x)
        closing = where(above, rate, -rate)
        resisted = damping * closing * min(depth * (1.0 / CUSHION), 1.0)
        push = where(depth > 0.0, max(stiffness * depth + resisted, 0.0), 0.0)
        return where(above, -push, push)


@fixed("make another, and set stop= of the joint to it")
@dataclass(frozen=True)
class ExponentialStop(metaclass=Spelled):
    """McKenna's limit, as of tendons: f (exp(sharpness (lower - x)) - exp(sharpness (x - upper))).

    f is `force_at_limit`, in N m (N for slides), `sharpness` in 1/rad (1/m); `damping` in N m s/rad
    (N s/m) acts between the limits too. (McKenna and Zeltzer, Dynamic simulation of autonomous legged
    locomotion, 1990.)
    """

    force_at_limit: float | None = None
    sharpness: float | None = None
    damping: float = 0.0
    absent: ClassVar[tuple[float, ...]] = (0.0, 1.0, 0.0)

    def numbers(self, inertia: float) -> tuple[float, float, float]:
        sharpness = 1.0 / YIELD if self.sharpness is None else self.sharpness
        force = inertia * FREQUENCY**2 / sharpness if self.force_at_limit is None else self.force_at_limit
        return real(force), real(sharpness), real(self.damping)

    def mistakes(self) -> list[str]:
        found = _negative(self, "force_at_limit", "sharpness", "damping")
        if not found and (self.damping is None or self.sharpness == 0.0):
            found.append("stop: give a damping of 0 or more, and a sharpness above 0")
        return found

    @staticmethod
    def force(x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Number:
        force, sharpness, damping = numbers
        tendons = exp(sharpness * (lower - x)) - exp(sharpness * (x - upper))
        return force * tendons - damping * rate


@fixed("make another, and set stop= of the joint to it")
@dataclass(frozen=True)
class RigidStop(metaclass=Spelled):
    """A limit that is never passed: it bounces by `restitution`, 0 to 1, or stays while it is pressed.

    `stop="rigid"` is one without restitution. It has no force of its own: runs find its impulses and what it
    bears together with contacts and loops (`contact_dynamics.problem.joint_rows`).
    """

    restitution: float = 0.0
    absent: ClassVar[tuple[float, ...]] = ()

    def numbers(self, inertia: float) -> tuple[float, ...]:
        return ()

    def mistakes(self) -> list[str]:
        e = self.restitution
        plain = isinstance(e, int | float | np.number) and not isinstance(e, bool)
        return [] if plain and 0.0 <= e <= 1.0 else [f"stop: restitution {e!r}; give a number from 0 to 1"]

    @staticmethod
    def force(x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Number:
        return 0.0


STOPS: tuple[type[JointStop], ...] = (Stop, ExponentialStop, RigidStop)
RIGID = "rigid"  # stands for RigidStop()


def _negative(stop: object, *words: str) -> list[str]:
    found = []
    for word in words:
        value = getattr(stop, word)
        plain = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if value is not None and not (plain and 0.0 <= float(value) < float("inf")):
            found.append(f"stop: {word} {value!r}; give a finite number, 0 or more")
    return found
