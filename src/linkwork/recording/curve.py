"""A curve with its name and unit; and what range of numbers a picture of curves shows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np

Array = np.ndarray

MANY = 12  # curves that can be distinguished
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666")  # Okabe and Ito
_ROUND_OFF = 1e-9  # of the scale of a quantity: changes that are less are none
_NOTHING = 1e-12  # numbers below are zero, in SI units
_DEGREES = {"rad": "°", "rad/s": "°/s", "rad/s²": "°/s²"}


@dataclass(frozen=True)
class Trace:
    """One curve."""

    label: str  # "ball.position[0]"
    quantity: str  # "position"
    unit: str  # "rad"; "" for a plain number
    values: Array  # (S,), or (N, S) of a batch
    logarithmic: bool = False
    part: str = ""  # which of several it is, as pictures call it: "x"; "": as the label does, "[0]"
    scale: float = 0.0  # the largest number of the whole quantity: what is far less is round-off

    @property
    def short(self) -> str:
        """The name in pictures, without the quantity: "ball x", "rotor[0]"."""
        name, _, index = self.label.rpartition(f".{self.quantity}")
        return f"{name}{f' {self.part}' if self.part else index}" if name else self.label

    @property
    def axis(self) -> str:
        """The words on the axis: "position [rad]"."""
        words = self.quantity.replace("_", " ").replace(".", " ")
        return f"{words} [{self.unit}]" if self.unit else words


def by_axis(traces: Sequence[Trace]) -> dict[str, list[Trace]]:
    """Put curves of one quantity and unit together."""
    panels: dict[str, list[Trace]] = {}
    for trace in traces:
        panels.setdefault(trace.axis, []).append(trace)
    return panels


def in_degrees(trace: Trace) -> Trace:
    """Return a curve of angles, of their rates or of their accelerations in degrees; others as they are."""
    if trace.unit not in _DEGREES:
        return trace
    factor = 180.0 / pi
    return replace(trace, unit=_DEGREES[trace.unit], values=trace.values * factor, scale=trace.scale * factor)


def shown_range(curves: Sequence[Trace]) -> tuple[float, float]:
    """Return the least and the largest number that a picture of curves has to show.

    Where they change by round-off alone, a range about their value in which that is not seen.
    """
    values = np.concatenate([curve.values.ravel() for curve in curves])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    scale = max(max(curve.scale for curve in curves), abs(low), abs(high))
    if high - low > max(_ROUND_OFF * scale, _NOTHING):
        return low, high
    middle = 0.5 * low + 0.5 * high
    margin = 0.5 * abs(middle) if abs(middle) > max(_ROUND_OFF * scale, _NOTHING) else max(0.5 * scale, 0.5)
    return middle - margin, middle + margin
