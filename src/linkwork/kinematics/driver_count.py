"""Are there enough drivers, and not too many? Asked of the rank of phi_q before anything is solved."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.kinematics import newton
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.sparse_newton import Factors
from linkwork.kinematics.sparse_rank import Elimination
from linkwork.mechanism.joint import Joint

Array = np.ndarray

_NOTHING = 1e-9  # singular value, of rows of length one
_REGULAR = 1e-7  # the same, of large mechanisms: no need to look closer
_LISTED = 3  # free motions that are reported one by one
_PART = 1e-6  # share of a motion, or of a force, that is worth a name
_ASIDE = 1e-2  # how far to go aside, where rank is low here but may not be nearby [rad, sizes]


def check_drivers(system: System, q: Array) -> None:
    """Raise AssemblyError unless the drivers determine the motion, no more and no less, near q."""
    system.evaluate(q)
    if system.large and (factors := Factors(system)).square and abs(factors.regularity()) > _REGULAR:
        return
    here = _shortage(system, q)
    if not here:
        return
    for place in _nearby(system, q):  # a dead point, if it is different next to here
        there = _shortage(system, place)
        here = Shortage(here.free if there.free else [], here.fighting if there.fighting else [])
        if not here:
            return
    faults = [*_fight_in_words(here.fighting), *_lack_in_words(system, q, here.free)]
    raise AssemblyError(f"mechanism {system.mechanism.name!r} has {', and '.join(faults)}")


def _fight_in_words(drivers: list[str]) -> Iterator[str]:
    names = ", ".join(map(repr, drivers))
    if len(drivers) > 1:
        yield f"too many drivers: {names} fight each other; remove one"
    elif drivers:
        yield f"too many drivers: {names} drives what cannot move; remove it"


def _lack_in_words(system: System, q: Array, free: list[Callable[[], Array]]) -> Iterator[str]:
    if free:
        count = f"{len(free)} motion{'s are' if len(free) > 1 else ' is'} free"
        listed = "; ".join(in_words(system, q, motion()) for motion in free[:_LISTED])
        more = f"; and {len(free) - _LISTED} more" if len(free) > _LISTED else ""
        yield f"too few drivers: {count}: {listed}{more}; add a driver for each"


@dataclass(frozen=True)
class Shortage:
    """What is wrong: motions that are free, each found when asked for, and drivers that fight, by name."""

    free: list[Callable[[], Array]]
    fighting: list[str]

    def __bool__(self) -> bool:
        return bool(self.free or self.fighting)


def _shortage(system: System, q: Array) -> Shortage:
    system.evaluate(q)
    rows = system.driver_rows
    if system.large:
        found = _eliminated(system)
        units = np.eye(len(found.free)) if len(found.free) <= _LISTED else np.eye(_LISTED, len(found.free))
        several = [partial(found.motion, unit) for unit in units]
        free = [*several, *several[:1] * (len(found.free) - len(several))]
        fight = {row for each in found.fighting for row, x in each.items() if abs(x) > _PART}
        return Shortage(free, [d.name for d, row in zip(system.drivers, rows, strict=True) if row in fight])
    left, sizes, right = np.linalg.svd(system.scaled_matrix())
    rank = int((sizes > _NOTHING).sum())
    idle = left[:, rank:]
    weights = np.linalg.norm(idle[rows], axis=1) if idle.size else np.zeros(len(rows))
    fighting = [d.name for d, weight in zip(system.drivers, weights, strict=True) if weight > _PART]
    return Shortage([partial(np.copy, motion) for motion in right[rank:]], fighting)


def _eliminated(system: System, driven: bool = True) -> Elimination:
    """Eliminate the equations as they were last evaluated, drivers last, or without drivers."""
    values = system.w.phi_q * system.columns[system.entry_columns]
    lengths = np.sqrt(np.bincount(system.entry_rows, values * values, system.m))
    values = values / np.where(lengths > 0.0, lengths, 1.0)[system.entry_rows]
    keep = np.ones(len(values), bool) if driven else ~np.isin(system.entry_rows, system.driver_rows)
    places = system.entry_rows[keep], system.entry_columns[keep]
    return Elimination(*places, values[keep], (system.m, system.n), system.driver_rows.tolist())


def _free_motion(system: System, q: Array) -> Callable[[Array], Array] | None:
    """Return what makes a motion that the joints allow of random numbers, drivers aside; None if none is."""
    system.evaluate(q)
    if system.large:
        found = _eliminated(system, driven=False)
        return (lambda numbers: found.motion(numbers[: len(found.free)])) if found.free else None
    A = system.scaled_matrix()
    A[system.driver_rows] = 0.0
    _, sizes, right = np.linalg.svd(A)
    motions = right[int((sizes > _NOTHING).sum()) :]
    return (lambda numbers: numbers[: len(motions)] @ motions) if len(motions) else None


def _nearby(system: System, q: Array) -> Iterator[Array]:
    """Yield a few positions next to q that the joints allow, drivers aside."""
    motion = _free_motion(system, q)
    if motion is None:
        return
    generator = np.random.default_rng(2)
    active = np.ones(system.m)
    active[system.driver_rows] = 0.0
    for _ in range(3):
        direction = motion(generator.normal(size=system.n))
        system.place(q)
        newton.shift(system.w, _ASIDE * direction / np.abs(direction).max())
        if system.close(system.w.q.copy(), active) < 1e-9:
            yield system.w.q.copy()


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
    algebra: ModuleType = system.algebra
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


def body_motion(algebra: ModuleType, frame: Any, change: Any) -> Any:
    """Return the motion, in a body's frame, from rates of its place in the world and of its turn."""
    size = algebra.dimension
    linear = frame.axes.local(tuple(change[:size]))
    return algebra.Motion.from_scalars([*change[size:], *linear])
