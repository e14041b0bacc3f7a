"""What stops a joint at its limits: a linear spring and damper, or McKenna's exponential spring.

What is not said follows from the inertia that the joint moves as drawn, so that a stop yields about as much
for a finger as for a crane: 5 millirad (or mm) when met with 1 rad/s (1 m/s).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from linkwork.algebra.number import Number, exp, max, where

FREQUENCY = 200.0  # of the joint on its stop, if not said [rad/s]
DAMPING_RATIO = 0.5  # of a linear stop, if not said
YIELD = 0.02  # over which an exponential stop grows e-fold, if not said [rad, m]


class JointStop(Protocol):
    """Force of a stop on one coordinate x with limits, from its numbers."""

    count: ClassVar[int]  # of its numbers

    def numbers(self, inertia: float) -> tuple[float, ...]: ...

    def mistakes(self) -> list[str]: ...

    @staticmethod
    def force(x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Number: ...


@dataclass(frozen=True)
class Stop:
    """A spring and damper that a coordinate meets at its limit; they push, and never pull it back.

    `stiffness` in N m/rad (N/m for slides), `damping` in N m s/rad (N s/m).
    """

    stiffness: float | None = None
    damping: float | None = None
    count: ClassVar[int] = 2

    def numbers(self, inertia: float) -> tuple[float, float]:
        stiffness = inertia * FREQUENCY**2 if self.stiffness is None else self.stiffness
        damping = 2.0 * DAMPING_RATIO * (stiffness * inertia) ** 0.5 if self.damping is None else self.damping
        return float(stiffness), float(damping)

    def mistakes(self) -> list[str]:
        return _negative(self, "stiffness", "damping")

    @staticmethod
    def force(x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Number:
        stiffness, damping = numbers
        below, above = lower - x, x - upper
        push = where(below > 0.0, max(stiffness * below - damping * rate, 0.0), 0.0)
        return push - where(above > 0.0, max(stiffness * above + damping * rate, 0.0), 0.0)


@dataclass(frozen=True)
class ExponentialStop:
    """McKenna's limit, as of tendons: f (exp(sharpness (lower - x)) - exp(sharpness (x - upper))).

    f is `force_at_limit`, in N m (N for slides), `sharpness` in 1/rad (1/m); `damping` in N m s/rad
    (N s/m) acts everywhere. (McKenna and Zeltzer, Dynamic simulation of autonomous legged locomotion, 1990,
    as in the first seed.)
    """

    force_at_limit: float | None = None
    sharpness: float | None = None
    damping: float = 0.0
    count: ClassVar[int] = 3

    def numbers(self, inertia: float) -> tuple[float, float, float]:
        sharpness = 1.0 / YIELD if self.sharpness is None else self.sharpness
        force = inertia * FREQUENCY**2 / sharpness if self.force_at_limit is None else self.force_at_limit
        return float(force), float(sharpness), float(self.damping)

    def mistakes(self) -> list[str]:
        return _negative(self, "force_at_limit", "sharpness", "damping")

    @staticmethod
    def force(x: Number, rate: Number, lower: Number, upper: Number, numbers: Sequence[Number]) -> Number:
        force, sharpness, damping = numbers
        tendons = exp(sharpness * (lower - x)) - exp(sharpness * (x - upper))
        return force * tendons - damping * rate


def _negative(stop: object, *words: str) -> list[str]:
    found = []
    for word in words:
        value = getattr(stop, word)
        if value is not None and not (isinstance(value, int | float) and 0.0 <= value < float("inf")):
            found.append(f"stop: {word} {value!r}; give a finite number, 0 or more")
    return found
