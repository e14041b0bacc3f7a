"""How a motion changes with the numbers of its mechanism: derivatives by a length, a point, a ratio.

With phi(q, p) = 0 at every time, dq/dp = -phi_q^-1 phi_p. Numbers p are those that equations have as data.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import unknown
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.kinematic_recording import KinematicRecording
from linkwork.kinematics.parameters import Number, Place, number
from linkwork.lazy import LOCK
from linkwork.mechanism.joint import Joint
from linkwork.spelling import checked_keywords, require
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate

Array = np.ndarray


class Sensitivity:
    """The derivative of a motion by one parameter, at all times: by bodies and points."""

    def __init__(self, motion: KinematicRecording, change: Array) -> None:
        self._motion, self.change = motion, change  # change: (times, unknowns), of all coordinates

    def __getitem__(self, body: str) -> Array:
        """Return the derivative of a body's place, and of its angle, in space its turn in its own axes."""
        system = self._motion.model
        bodies = self._motion.mechanism.bodies
        if body not in bodies:
            raise KeyError(unknown("body", body, bodies))
        k = system.numbers[id(bodies[body])]
        return self.change[:, system.free * k : system.free * (k + 1)]

    def trace(self, body: str, point: Sequence[float]) -> Array:
        """Return the derivative of where a point of a body is, (times, 2 or 3)."""
        algebra = self._motion.model.algebra
        X, change = self._motion[body].pose, list(self[body].T)
        rate = algebra.frame_rate(X, change)
        turned = algebra.Frame.from_scalars(rate.scalars())
        return np.stack([np.broadcast_to(x, len(self.change)) for x in turned @ tuple(map(float, point))], -1)


@checked_keywords
def sensitivity(motion: KinematicRecording, parameter: Place) -> Sensitivity:
    """Return how a motion changes with a number of a joint or constraint, named by thing, word and index.

    A joint has its points "on_parent" and "on_child", in axes of these bodies, and what its class depends on,
    such as "pitch"; a constraint has its own numbers: ("rod", "length"), ("slot", "pin", 0).
    """
    require("sensitivity: motion", motion, KinematicRecording, "the motion that lw.kinematics returned")
    system = motion.model
    p = number(system.things, parameter, "sensitivity")
    change = np.zeros((len(motion), system.n))
    for t in range(len(motion)):
        with LOCK:  # the system is one for all who ask
            A = system.matrix(motion.q[t])
        right = np.zeros(system.m)
        right[system.rows[p.thing.name]] = _phi_p(system, p, motion.q[t])
        change[t] = -np.linalg.lstsq(A * system.columns, right, rcond=1e-12)[0] * system.columns
    return Sensitivity(motion, change)


def _phi_p(system: System, p: Number, q: Array) -> list[float]:
    """Return the derivative of a thing's equations by one of its numbers, bodies at rest."""
    sides, x = system.poses(p.thing, q), Graph().symbol("p")
    if isinstance(p.thing, Joint) and p.side is not None:
        frames, step = list(p.thing.frames()), [0.0] * system.algebra.dimension
        step[p.index or 0] = x
        frames[p.side] = frames[p.side].moved(step)
        parent, child = sides
        return _at(p.thing.gap((parent.frame @ frames[0]).local(child.frame @ frames[1])), x, 0.0)
    thing = p.put(x)
    if isinstance(thing, Joint):
        return _at(thing.gap(thing.pose_between(*sides)), x, p.value)
    first = system.coordinates * len(system.bodies) + system.own[thing.name]
    own = q[first : first + thing.unknowns].tolist()
    return _at(thing.phi(*thing.views(sides), *own), x, p.value)


def _at(rows: Sequence[Any], p: Any, value: float) -> list[float]:
    return [float(x) for x in evaluate(derivative(list(rows), {p: 1.0}), lambda _: value)]
