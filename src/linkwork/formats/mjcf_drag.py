"""The medium in models of MuJoCo: what slows a body down (MuJoCo, Computation, Passive forces)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Number = Any


@dataclass(frozen=True)
class Drag:
    """The wrench of a medium at rest on a box about a centre of a body, along the axes of that."""

    box: list[float]
    density: float
    viscosity: float
    axes: list[list[float]]  # of the box in the body
    centre: list[float]

    def __call__(self, body: Any, t: Number) -> list[Number]:
        box, density, viscosity = self.box, self.density, self.viscosity
        diameter = sum(box) / 3.0
        columns = [[self.axes[i][k] for i in range(3)] for k in range(3)]
        velocity, turning = body.velocity_at(self.centre), body.angular_velocity
        rows = [[body.rotation[i][k] for i in range(3)] for k in range(3)]
        inside = [
            [sum(row[i] * vector[i] for i in range(3)) for row in rows] for vector in (turning, velocity)
        ]
        own = [[sum(c[i] * x[i] for i in range(3)) for c in columns] for x in inside]
        torque, force = [], []
        for k in range(3):
            w, v, a, b = own[0][k], own[1][k], box[(k + 1) % 3], box[(k + 2) % 3]
            torque.append(
                -np.pi * diameter**3 * viscosity * w - density * box[k] * (a**4 + b**4) / 64.0 * abs(w) * w
            )
            force.append(-3.0 * np.pi * diameter * viscosity * v - 0.5 * density * a * b * abs(v) * v)
        return [sum(columns[k][i] * x[k] for k in range(3)) for x in (torque, force) for i in range(3)]
