"""When steps end: at multiples of their length, so that no rounding adds up."""

from math import inf, isnan, nan
from typing import Any

import numpy as np

from linkwork.simulation.options import counted_from


class StepClock:
    """The time, and how steps of one length are counted: they end at origin + steps * dt."""

    def __init__(self, t: float, origin: float = 0.0, dt: float = 0.0, steps: int = 0) -> None:
        self.t = t  # [s]
        self.origin, self.dt, self.steps = origin, dt or nan, steps  # no dt until there is a step

    def numbers(self) -> list[float]:
        """Return what another clock can be made of."""
        return [self.t, self.origin, 0.0 if isnan(self.dt) else self.dt, self.steps]

    def turn_to(self, dt: Any, fixed: float) -> None:
        """Count steps of another length from now on; None stands for the fixed step, if there is one."""
        if dt is None:
            if not fixed:
                raise ValueError("step: give seconds, as in sim.step(0.002); there is no fixed step=")
            dt = fixed
        elif isinstance(dt, bool) or not isinstance(dt, int | float | np.number) or not 0.0 < dt < inf:
            raise ValueError(f"step: dt {dt!r}; give seconds, above 0")
        if dt == self.dt:
            return
        dt = float(dt)
        origin, first = counted_from(self.t, dt)
        if not origin + (first + 1) * dt > self.t:
            raise ValueError(f"step: dt {dt:g} is less than time can resolve at {self.t:g} s")
        self.origin, self.dt, self.steps = origin, dt, int(first)
