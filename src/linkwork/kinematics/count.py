"""Are there enough drivers, and not too many? Asked of the rank of phi_q before anything is solved."""

from typing import Any

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.kinematics import newton
from linkwork.kinematics.sparse import Factors
from linkwork.kinematics.system import LARGE, System
from linkwork.mechanism.joint import Joint

Array = np.ndarray

_NOTHING = 1e-9  # singular value, of rows of length one
_PART = 1e-6  # share of a motion, or of a force, that is worth a name
_ASIDE = 1e-2  # how far to go aside, where rank is low here but may not be nearby [rad, sizes]


def check_drivers(system: System, q: Array) -> None:
    """Raise AssemblyError unless the drivers determine the motion, no more and no less, near q."""
    if system.n >= LARGE:
        _count_large(system, q)
        return
    free, fighting = _shortage(system, q)
    if not free and not fighting:
        return
    for place in _nearby(system, q):  # a dead point, if it is different next to here
        there = _shortage(system, place)
        free, fighting = (free if there[0] else []), (fighting if there[1] else [])
        if not free and not fighting:
            return
    name = system.mechanism.name
    if fighting:
        names = ", ".join(map(repr, fighting))
        raise AssemblyError(
            f"mechanism {name!r} has too many drivers: {names} fight each other"
            if len(fighting) > 1
            else f"mechanism {name!r} has too many drivers: {names} drives what cannot move; remove one"
        )
    count = f"{len(free)} motion{'s are' if len(free) > 1 else ' is'} free"
    told = "; ".join(free)
    raise AssemblyError(f"mechanism {name!r} has too few drivers: {count}: {told}; add a driver for each")


def _count_large(system: System, q: Array) -> None:
    """Raise AssemblyError if a large mechanism is not determined, as far as its factors tell."""
    system.evaluate(q)
    name, lack = system.mechanism.name, system.n - system.m
    if lack > 0:
        raise AssemblyError(
            f"mechanism {name!r} has too few drivers: at least {lack} motions are free; add some"
        )
    if lack == 0 and not Factors(system).square:
        raise AssemblyError(
            f"mechanism {name!r} is not determined by its drivers where it is drawn: some fight, others lack"
        )


def _shortage(system: System, q: Array) -> tuple[list[str], list[str]]:
    """Return the motions that are free, in words, and the names of drivers that fight."""
    system.evaluate(q)
    A = system.scaled_matrix()
    left, sizes, right = np.linalg.svd(A)
    rank = int((sizes > _NOTHING).sum())
    free = [in_words(system, q, motion) for motion in right[rank:]]
    rows = system.driver_rows
    idle = left[:, rank:]
    fighting = []
    if rows.size and idle.size:
        weights = np.linalg.norm(idle[rows], axis=1)
        fighting = [d.name for d, weight in zip(system.drivers, weights, strict=True) if weight > _PART]
    return free, fighting


def _nearby(system: System, q: Array) -> list[Array]:
    """Return a few positions next to q that the joints allow, drivers aside."""
    system.evaluate(q)
    A = system.scaled_matrix()
    A[system.driver_rows] = 0.0
    _, sizes, right = np.linalg.svd(A)
    motions = right[int((sizes > _NOTHING).sum()) :]
    generator, found = np.random.default_rng(2), []
    active = np.ones(system.m)
    active[system.driver_rows] = 0.0
    for _ in range(3 if len(motions) else 0):
        direction = generator.normal(size=len(motions)) @ motions
        system.place(q)
        newton.shift(system.w, _ASIDE * direction / np.abs(direction).max())
        if system.close(system.w.q.copy(), active) < 1e-9:
            found.append(system.w.q.copy())
    return found


def in_words(system: System, q: Array, motion: Array) -> str:
    """Say which joints move, or if there are none which bodies."""
    joints = []
    largest = np.abs(motion).max()
    for joint in system.mechanism.joints.values():
        rates = _relative(system, joint, q, motion * system.columns)
        if np.abs(rates).max(initial=0.0) > _PART * largest * max(1.0, system.size) and joint.nv:
            joints.append(repr(joint.name))
    if joints:
        more = f" and {len(joints) - 6} more" if len(joints) > 6 else ""
        return f"joint{'s' if len(joints) > 1 else ''} {', '.join(joints[:6])}{more}"
    per_body = np.abs(motion[: system.free * len(system.bodies)]).reshape(-1, system.free).max(axis=1)
    bodies = [repr(b.name) for b, x in zip(system.bodies, per_body, strict=True) if x > _PART * largest]
    return (
        f"bod{'ies' if len(bodies) > 1 else 'y'} {', '.join(bodies[:6])}" if bodies else "a constraint's own"
    )


def _relative(system: System, joint: Joint, q: Array, v: Array) -> Array:
    """Return the motion of a joint's child relative to its parent, when bodies move by v."""
    algebra: Any = system.algebra
    sides = system.poses(joint, q)
    motions = []
    for body, side in zip(joint.bodies, sides, strict=True):
        k = system.numbers.get(id(body))
        change = np.zeros(system.free) if k is None else v[system.free * k : system.free * (k + 1)]
        motions.append(body_motion(algebra, side.frame, change.tolist()))
    on_parent, on_child = joint.frames()
    X = (sides[0].frame @ on_parent).local(sides[1].frame @ on_child)
    relative = on_child.local(motions[1]) - X.local(on_parent.local(motions[0]))
    return np.array(relative.scalars(), float)


def body_motion(algebra: Any, frame: Any, change: Any) -> Any:
    """Return the motion, in a body's frame, from rates of its place in the world and of its turn."""
    size = algebra.dimension
    linear = frame.axes.local(tuple(change[:size]))
    return algebra.Motion.from_scalars([*change[size:], *linear])
