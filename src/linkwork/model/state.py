"""State: time, positions and velocities; everything else can be computed again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class State:
    """What a simulation goes on from."""

    q: np.ndarray  # (nq,) positions [m, rad, quaternions]
    v: np.ndarray  # (nv,) velocities [m/s, rad/s]
    t: float = 0.0  # time [s]
    memory: Mapping[str, np.ndarray] | None = None  # of the run it comes from, to go on bit for bit
    inputs: Mapping[str, Any] = field(default_factory=dict)  # values by name; others have their defaults
