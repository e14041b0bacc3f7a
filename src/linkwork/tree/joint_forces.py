"""What a joint does by itself: damping, dry friction, its spring and its stops, as generalised forces.

Springs and stops act on the joint's displacement d(q). With J = dd/dt per unit of each velocity, a force f
along d is the generalised force J^T f: so springs conserve energy in every joint, also in balls.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from math import isfinite

import numpy as np

from linkwork.algebra.number import Number, tanh
from linkwork.algebra.vector import dot
from linkwork.errors import ModelError
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.stop import RigidStop, Stop
from linkwork.varied import any_varied, each, real

Features = tuple[str, ...]  # which of its forces a joint has; the numbers are data


class Rows(IntEnum):
    """What of joints is rows of a problem with contacts (`contact_dynamics`), and so none of their forces."""

    NONE = 0  # runs without rigid contact, but for friction that sticks in all of them
    FRICTION = 1  # rigid contact, to an accuracy: all friction that can stick
    STOPS = 2  # contact by steps: that, and springs at limits, which steps meet before they are passed


def features(joint: Joint, rows: Rows = Rows.NONE) -> Features:
    """Return the smooth forces a joint has, without what is `rows`, as words."""
    words = ("damping", "friction", "stiffness")  # where these are inputs, a load has them: see `JointInputs`
    found = [word for word in words if acts(joint, word)]
    if "friction" in found and joint.friction_sticks(rigid=rows >= Rows.FRICTION):
        found.remove("friction")
    if has_stops(joint) and not (rows == Rows.STOPS and stops_are_rows(joint)):
        formula = getattr(joint.stop, "formula", "")  # of one that came from a file
        found.append(f"{type(joint.stop).__module__}.{type(joint.stop).__qualname__} {formula}")
    return tuple(found)


def acts(joint: Joint, word: str) -> bool:
    """Whether a joint has damping, friction or stiffness of its own."""
    said = getattr(joint, word)
    if isinstance(said, float) and said == 0.0:
        return False
    return not joint.reads_inputs(word) and bool(joint.per_coordinate(word).any())


def has_stops(joint: Joint) -> bool:
    """Whether the joint has limits, which it meets at stops that push."""
    return has_limits(joint) and not isinstance(joint.stop, RigidStop)


def stops_are_rows(joint: Joint) -> bool:
    """Whether its limits are met by springs and dampers along coordinates of the tree: rows, by steps."""
    return has_limits(joint) and type(joint.stop) is Stop and is_straight(joint)


def is_straight(joint: Joint) -> bool:
    """Whether the displacement of a joint is its coordinates, and their rates its velocities."""
    kind = type(joint)
    same = kind.displacement is Joint.displacement and kind.rates is Joint.rates
    return same and joint.nq == joint.nv


def has_limits(joint: Joint) -> bool:
    """Whether the joint has limits."""
    return joint.limits is not None and _any_finite(joint.limit_pairs().ravel().tolist())


def _any_finite(limits: Iterable[float]) -> bool:
    return any(each(isfinite, x) if any_varied(x) else isfinite(x) for x in limits)


def settings(joint: Joint, inertia: Sequence[float], rows: Rows = Rows.NONE) -> list[float]:
    """Return the numbers of these forces, coordinate by coordinate; inertia is what each one moves."""
    has = features(joint, rows)
    columns = []
    for word, others in (("damping", ()), ("friction", ("friction_speed",)), ("stiffness", ("rest",))):
        if word in has:
            columns += [joint.per_coordinate(w) for w in (word, *others)]
    if _stops(has):
        limits = joint.limit_pairs()
        limited = [_any_finite(pair) for pair in limits]
        numbers = [
            joint.stop.numbers(real(m)) if there else joint.stop.absent
            for m, there in zip(inertia, limited, strict=True)
        ]
        columns += [*limits.T, *np.array(numbers).T]
    return [real(x) for column in columns for x in column]


def count(joint: Joint, rows: Rows = Rows.NONE) -> int:
    """Return how many numbers `settings` gives."""
    return len(settings(joint, [1.0] * joint.nv, rows))


def _stops(has: Features) -> bool:
    return any("." in word for word in has)


def forces(
    joint: Joint,
    q: Sequence[Number],
    v: Sequence[Number],
    numbers: Sequence[Number],
    rate: Callable[[Sequence[Number], Sequence[Number]], Sequence[Number]],
    rows: Rows = Rows.NONE,
) -> list[Number]:
    """Return the generalised forces; `rate(x, v)` is the rate of functions x of q at velocities v."""
    has, n = features(joint, rows), joint.nv
    columns = [list(numbers[k : k + n]) for k in range(0, len(numbers), n)] if n else []
    tau: list[Number] = [0.0] * n
    if "damping" in has:
        damping = columns.pop(0)
        tau = [-c * speed for c, speed in zip(damping, v, strict=True)]
    if "friction" in has:
        dry, scale = columns.pop(0), columns.pop(0)
        tau = [f - mu * tanh(speed / s) for f, mu, s, speed in zip(tau, dry, scale, v, strict=True)]
    if "stiffness" not in has and not _stops(has):
        return tau
    d = list(joint.displacement(q) or ())
    if len(d) != n:
        raise ModelError(f"displacement(q) gives {len(d)} numbers; give {n}, one per velocity")
    J = [rate(d, [1.0 if i == j else 0.0 for i in range(n)]) for j in range(n)]  # J[j][i] = dd_i per v_j
    along: list[Number] = [0.0] * n
    if "stiffness" in has:
        stiffness, rest = columns.pop(0), columns.pop(0)
        along = [-k * (x - x0) for k, x, x0 in zip(stiffness, d, rest, strict=True)]
    if _stops(has):
        lower, upper = columns.pop(0), columns.pop(0)
        rates = [dot([J[j][i] for j in range(n)], v) for i in range(n)]
        along = [
            along[i] + joint.stop.force(d[i], rates[i], lower[i], upper[i], [column[i] for column in columns])
            for i in range(n)
        ]
    return [tau[j] + dot(J[j], along) for j in range(n)]
