"""What is free to move in a closed mechanism: its loops by name, and its equations without units."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.dynamics import loop_closure
from linkwork.dynamics.null_space import Split, split
from linkwork.errors import unknown
from linkwork.lazy import lazy
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.loads import Motor
from linkwork.model.arrays import Array
from linkwork.model.closed_loops import ClosedLoops
from linkwork.tree.loop_lists import LoopLists

_WEAKER = 0.05  # singular values beside what they are elsewhere


class Freedoms(ClosedLoops):
    """A model that knows its loops by name, and what they leave free."""

    @lazy
    def loops(self) -> LoopLists:
        """The loops by the names of the joints that close them, and lists of them by body.

        `model.loops["C"]` has the root, the bodies on both sides and the joints; `model.loops.rooted_at`,
        `.containing` and `.connected_at` are the lists LR, LB and LJ of the first seed, by body.
        """
        return LoopLists(self._graph, [loop.joint for loop in self._links.loops])

    # sizes

    @lazy
    def loop_lengths(self) -> dict[str, float]:
        """A normal length of each loop: the largest between two of its joints on one body [m]."""
        found, ends = {}, {loop.name: loop.joint for loop in self._links.loops}
        for name, path in self.loops.items():
            joints = [self._mechanism.joints.get(joint) or ends[joint] for joint in path.joints]
            bodies = (*path.bodies[1:], path.root)  # between a joint and the next
            lengths = [
                float(np.linalg.norm(_place(one, body) - _place(two, body)))
                for (one, two), body in zip(pairwise([*joints, joints[0]]), bodies, strict=True)
            ]
            found[name] = max(lengths) if max(lengths) > 1e-9 * self.size else self.size
        return found

    @lazy
    def _equation_weights(self) -> Array:
        """One over a normal size of each equation of the loops: 1 rad, or the length of its loop."""
        if not self._links.loops:
            return np.empty(0)
        T = self._kernel(loop_closure.DIRECTIONS)(self.q_drawn, np.zeros(self.nv))[0]
        angular = self._links.algebra.angular
        lengths = np.zeros(len(T))
        for name, rows in self.row_slices.items():
            lengths[rows] = self.loop_lengths[name]
        turn, slide = (np.linalg.norm(part, axis=1) for part in (T[:, :angular], T[:, angular:]))
        sizes = np.hypot(turn, slide * lengths)
        direct = np.linalg.norm(self.constraint_jacobian(self.q_drawn) * self._coordinate_scale, axis=1)
        sizes = np.where(sizes > 0.0, sizes, direct)  # equations between coordinates of joints
        return 1.0 / np.where(sizes > 0.0, sizes, 1.0)

    @lazy
    def _coordinate_scale(self) -> Array:
        """A normal size of a change of each coordinate: 1 rad, or the length of its loops."""
        lengths: dict[str, float] = {}
        for name, path in self.loops.items():
            for joint in path.joints:
                lengths[joint] = max(lengths.get(joint, 0.0), self.loop_lengths[name])
        scale = np.ones(self.nv)
        for name, (_, part) in self.slices.items():
            for k in range(part.start, part.stop):
                scale[k] = 1.0 if self.coordinate_units[k] == "rad" else lengths.get(name, self.size)
        return scale

    def _equations(self, q: Array) -> Array:
        """Return the equations of the loops without units: (..., rows, nv)."""
        return self._equation_weights[:, None] * self.constraint_jacobian(q) * self._coordinate_scale

    def _split(self, q: Array) -> Split:
        return split(self._equations(q))

    def weak_joints(self, q: Array, others: Array, rank: int) -> list[str]:
        """Return the loop joints whose equations, of this rank, hold much less at q than elsewhere."""
        U, sizes, _ = np.linalg.svd(self._equations(q), full_matrices=False)
        usual = np.linalg.svd(self._equations(others), compute_uv=False)
        few = sizes[:rank] < _WEAKER * usual.max(axis=0)[:rank]
        share = np.array([(U[rows, :rank][:, few] ** 2).sum() for rows in self.row_slices.values()])
        return [name for name, x in zip(self.row_slices, share, strict=True) if x > 0.1 * share.max()]

    # coordinates by name

    @lazy
    def coordinate_names(self) -> tuple[str, ...]:
        """The name of each velocity: of its joint, with a number if that has several: "ball[2]"."""
        return tuple(
            name
            for joint, (_, part) in self.slices.items()
            for name in _numbered(joint, part.stop - part.start)
        )

    @lazy
    def loop_coordinate_names(self) -> tuple[str, ...]:
        """The name of each velocity of the joints that close loops, in their order."""
        return tuple(name for loop in self._links.loops for name in _numbered(loop.name, loop.joint.nv))

    def _chosen(self, what: str, names: Iterable[str]) -> list[int]:
        """Return which coordinates have these names: those of the tree, then those of loop joints."""
        if isinstance(names, str):
            names = [names]
        numbers: list[int] = []
        for name in names:
            if name not in self._coordinate_numbers:
                raise ValueError(f"{what}: {unknown('joint', name, self._coordinate_numbers)}")
            found = self._coordinate_numbers[name]
            if not found:
                raise ValueError(f"{what}: joint {name!r} has no freedom; choose one that moves")
            if any(k in numbers for k in found):
                raise ValueError(f"{what}: {name!r} is there twice; name every coordinate once")
            numbers += found
        return numbers

    @lazy
    def _coordinate_numbers(self) -> dict[str, list[int]]:
        """The numbers of coordinates, those of loop joints last, by name and by joint."""
        numbers = {name: [k] for k, name in enumerate(self._every_name)}
        for name, (_, part) in self.slices.items():
            numbers[name] = list(range(part.start, part.stop))
        for loop in self._links.loops:
            numbers[loop.name] = [self.nv + loop.v + k for k in range(loop.joint.nv)]
        return numbers

    @lazy
    def _every_name(self) -> tuple[str, ...]:
        return (*self.coordinate_names, *self.loop_coordinate_names)

    @lazy
    def _every_unit(self) -> tuple[str, ...]:
        return (*self.coordinate_units, *self.loop_units[1])

    @lazy
    def _every_scale(self) -> Array:
        """A normal size of a change of each coordinate, those of loop joints last."""
        own = [self.loop_lengths[loop.name] for loop in self._links.loops for _ in range(loop.joint.nv)]
        units = zip(self.loop_units[1], own, strict=True)
        return np.array([*self._coordinate_scale, *(1.0 if unit == "rad" else size for unit, size in units)])

    @lazy
    def _preference(self) -> Array:
        """How much rather than others each coordinate is shown or chosen: twice, where one would hold it."""
        joints, link = self._mechanism.joints, self._links.body_links
        motors = [load for load in self._mechanism.loads.values() if isinstance(load, Motor)]
        at_hand = {
            thing.name for motor in motors for thing in motor.sides(joints) if isinstance(thing, Joint)
        }
        at_hand |= {
            name
            for name, joint in joints.items()
            if not link[joint.parent.name] or not link[joint.child.name]
        }
        weights = [(2.0 if name in at_hand else 1.0, part) for name, (_, part) in self.slices.items()]
        return np.array([weight for weight, part in weights for _ in range(part.start, part.stop)])

    def _every_velocity(self, q: Array) -> Array:
        """Return the velocities of all joints, those of loops last, per unit of those of the tree."""
        array = np.asarray(q, float)
        batch = array.shape[:-1]
        own = np.broadcast_to(np.eye(self.nv), (*batch, self.nv, self.nv))
        if not self.loop_coordinate_names or not self.nv:
            return np.concatenate(
                [own, np.zeros((*batch, len(self.loop_coordinate_names), self.nv))], axis=-2
            )
        many = np.repeat(array.reshape(-1, self.nq), self.nv, axis=0)
        units = np.tile(np.eye(self.nv), (len(many) // self.nv, 1))
        rates = self._kernel(loop_closure.COORDINATES)(many, units)[1]
        rates = np.swapaxes(rates.reshape(*batch, self.nv, -1), -1, -2)
        return np.concatenate([own, rates], axis=-2)


def _numbered(joint: str, count: int) -> list[str]:
    return [joint] if count == 1 else [f"{joint}[{k}]" for k in range(count)]


def _place(joint: Joint, body: str) -> Any:
    """Return where a joint is on a body."""
    return np.asarray(joint.frames()[0 if joint.parent.name == body else 1].position)
