"""The equations of closed loops without units, so that their rank and their null space mean something.

With weights w, one over a normal size of each equation, and scales s, a normal change of each coordinate, the
equations J v = 0 become (w J s) x = 0 in motions x = v / s without units.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import loop_closure
from linkwork.dynamics.null_space import Split, split
from linkwork.errors import unknown
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.loads import Motor

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_WEAKER = 0.05  # singular values beside what they are elsewhere


@dataclass(frozen=True, eq=False)
class LoopScales:
    """Normal sizes of a closed mechanism, and its coordinates by name: of the tree, then of loop joints."""

    lengths: Mapping[str, float]  # of each loop: the largest between two of its joints on one body [m]
    weights: Array  # (rows,) one over a normal size of each equation
    scale: Array  # (nv,) a normal change of each coordinate: 1 rad, or the length of its loops [rad, m]
    every_scale: Array  # (nv + loop nv,) the same, those of loop joints last [rad, m]
    every_name: tuple[str, ...]  # (nv + loop nv,)
    every_unit: tuple[str, ...]  # (nv + loop nv,) "rad" or "m"
    numbers: Mapping[str, list[int]]  # of the coordinates, by their names and by joint
    preference: Array  # (nv,) 2 where one would hold or drive a mechanism, else 1

    def chosen(self, what: str, names: Iterable[str]) -> list[int]:
        """Return which coordinates have these names: those of the tree, then those of loop joints."""
        if isinstance(names, str):
            names = [names]
        found: list[int] = []
        for name in names:
            if name not in self.numbers:
                raise ValueError(f"{what}: {unknown('joint', name, self.numbers)}")
            numbers = self.numbers[name]
            if not numbers:
                raise ValueError(f"{what}: joint {name!r} has no freedom; choose one that moves")
            if any(k in found for k in numbers):
                raise ValueError(f"{what}: {name!r} is given twice; name every coordinate once")
            found += numbers
        return found


def loop_scales(model: "Model") -> LoopScales:
    """The normal sizes of a model's loops, equations and coordinates."""
    lengths = _lengths(model)
    scale = _scale(model, lengths)
    closing = model.link_tree.loops
    names = (*model.coordinate_names, *model.loop_coordinate_names)
    numbers = {name: [k] for k, name in enumerate(names)}
    for name, (_, part) in model.slices.items():
        numbers[name] = list(range(part.start, part.stop))
    for loop in closing:
        numbers[loop.name] = [model.nv + loop.v + k for k in range(loop.joint.nv)]
    own = [lengths[loop.name] for loop in closing for _ in range(loop.joint.nv)]
    units = model.loop_units[1]
    beyond = [length if unit == "m" else 1.0 for unit, length in zip(units, own, strict=True)]
    return LoopScales(
        lengths,
        _weights(model, lengths, scale),
        scale,
        np.array([*scale, *beyond]),
        names,
        (*model.coordinate_units, *units),
        numbers,
        _preference(model),
    )


def _lengths(model: "Model") -> dict[str, float]:
    found, ends = {}, {loop.name: loop.joint for loop in model.link_tree.loops}
    for name, path in model.loops.items():
        joints = [model.mechanism.joints.get(joint) or ends[joint] for joint in path.joints]
        bodies = (*path.bodies[1:], path.root)  # between a joint and the next
        lengths = [
            float(np.linalg.norm(_place(one, body) - _place(two, body)))
            for (one, two), body in zip(pairwise([*joints, joints[0]]), bodies, strict=True)
        ]
        found[name] = max(lengths) if max(lengths) > 1e-9 * model.size else model.size
    return found


def _place(joint: Joint, body: str) -> Any:
    """Return where a joint is on a body."""
    return np.asarray(joint.frames()[0 if joint.parent.name == body else 1].position)


def _scale(model: "Model", lengths: Mapping[str, float]) -> Array:
    longest: dict[str, float] = {}
    for name, path in model.loops.items():
        for joint in path.joints:
            longest[joint] = max(longest.get(joint, 0.0), lengths[name])
    scale = np.ones(model.nv)
    for name, (_, part) in model.slices.items():
        for k in range(part.start, part.stop):
            scale[k] = 1.0 if model.coordinate_units[k] == "rad" else longest.get(name, model.size)
    return scale


def _weights(model: "Model", lengths: Mapping[str, float], scale: Array) -> Array:
    if not model.link_tree.loops:
        return np.empty(0)
    T = model.kernel_of(loop_closure.DIRECTIONS)(model.q_drawn, np.zeros(model.nv))[0]
    angular = model.link_tree.algebra.angular
    across = np.zeros(len(T))
    for name, rows in model.row_slices.items():
        across[rows] = lengths[name]
    turn, slide = (np.linalg.norm(part, axis=1) for part in (T[:, :angular], T[:, angular:]))
    sizes = np.hypot(turn, slide * across)
    direct = np.linalg.norm(model.constraint_jacobian(model.q_drawn) * scale, axis=1)
    sizes = np.where(sizes > 0.0, sizes, direct)  # equations between coordinates of joints
    return 1.0 / np.where(sizes > 0.0, sizes, 1.0)


def _preference(model: "Model") -> Array:
    """Return 2 for coordinates of joints on ground, or with motors: those one would hold; 1 for others."""
    joints, link = model.mechanism.joints, model.link_tree.body_links
    motors = [load for load in model.mechanism.loads.values() if isinstance(load, Motor)]
    at_hand = {thing.name for motor in motors for thing in motor.sides(joints) if isinstance(thing, Joint)}
    at_hand |= {
        name for name, joint in joints.items() if not link[joint.parent.name] or not link[joint.child.name]
    }
    weights = [(2.0 if name in at_hand else 1.0, part) for name, (_, part) in model.slices.items()]
    return np.array([weight for weight, part in weights for _ in range(part.start, part.stop)])


def equations(model: "Model", q: Array) -> Array:
    """Return the equations of the loops without units: (..., rows, nv)."""
    scales = model.loop_scales
    return scales.weights[:, None] * model.constraint_jacobian(q) * scales.scale


def split_equations(model: "Model", q: Array) -> Split:
    """Return the singular values of the equations without units, and both sides."""
    return split(equations(model, q))


def weak_joints(model: "Model", q: Array, others: Array, rank: int) -> list[str]:
    """Return the loop joints whose equations, of this rank, hold much less at q than elsewhere."""
    U, sizes, _ = np.linalg.svd(equations(model, q), full_matrices=False)
    usual = np.linalg.svd(equations(model, others), compute_uv=False)
    few = sizes[:rank] < _WEAKER * usual.max(axis=0)[:rank]
    share = np.array([(U[rows, :rank][:, few] ** 2).sum() for rows in model.row_slices.values()])
    return [name for name, x in zip(model.row_slices, share, strict=True) if x > 0.1 * share.max()]


def every_velocity(model: "Model", q: Array) -> Array:
    """Return the velocities of all joints, those of loops last, per unit of those of the tree."""
    array = np.asarray(q, float)
    batch, count = array.shape[:-1], len(model.loop_coordinate_names)
    own = np.broadcast_to(np.eye(model.nv), (*batch, model.nv, model.nv))
    if not count or not model.nv:
        return np.concatenate([own, np.zeros((*batch, count, model.nv))], axis=-2)
    many = np.repeat(array.reshape(-1, model.nq), model.nv, axis=0)
    units = np.tile(np.eye(model.nv), (len(many) // model.nv, 1))
    rates = model.loop_motion(many, units)[1]
    rates = np.swapaxes(rates.reshape(*batch, model.nv, -1), -1, -2)
    return np.concatenate([own, rates], axis=-2)
