"""What a mechanism can do at one position: freedoms, redundant equations, free motions, dead points."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwork.dynamics import loop_closure, reactions
from linkwork.dynamics.kernel import real_array
from linkwork.dynamics.mobility import Branch, Surroundings, branches, trend
from linkwork.dynamics.null_space import RANK, pivots
from linkwork.model.arrays import Array
from linkwork.model.findings import DeadPoint, Diagnosis, Drives, Motion
from linkwork.model.independent import IndependentCoordinates

_OPEN = 1e-9  # a gap, without units: what is wider is closed first
_NEAR = 0.2  # a way, without units: what is farther is not told


class Diagnosed(IndependentCoordinates):
    """A model that tells what it can do."""

    def diagnose(
        self, q: Array | None = None, v: Array | None = None, *, driven: Iterable[str] | None = None
    ) -> Diagnosis:
        """Tell degrees of freedom, rank, redundant joints, what can move, and which dead points are near.

        At position q, closed first if it is open; as drawn, if not given. With a velocity v the way to a
        singular position is told as time, too; with `driven` joints, whether they move everything. Print it,
        or read its fields. A singular value below 1e-6, beside the largest, or 1, is zero.
        """
        given = self.q_drawn if q is None else self._position("diagnose", q)
        if given.ndim != 1:
            raise ValueError(f"diagnose: q has shape {given.shape}; give {self.nq} numbers, of one position")
        speed = np.zeros(self.nv) if v is None else real_array("diagnose: v", v)
        if speed.shape != (self.nv,):
            raise ValueError(f"diagnose: v has shape {speed.shape}; give {self.nv} numbers")
        open_by = self._open_by(given)
        where = np.array(given) if open_by <= _OPEN else self.assemble(given)
        near, parts = self._surroundings(), self._split(where)
        rank = int(parts.rank)
        N = parts.motions(rank)
        found = branches(near, where, parts)
        freedoms = max((branch.tangents.shape[1] for branch in found), default=0)
        equations = len(self._equation_weights)
        telling = min(self.nv - freedoms, equations)  # a shaky structure's tell when it is pushed
        rank_near = max([rank, telling, *(branch.rank for branch in found)])
        margin = float(parts.sizes[rank_near - 1]) if rank == rank_near > 0 else 0.0 if rank_near else np.inf
        slopes = np.zeros(N.shape[1])
        if 0.0 < margin < np.inf:
            slopes = trend(near, where, N, rank_near - 1, margin)
        slope = float(np.linalg.norm(slopes))
        opening = np.abs(self._row_velocities(where, speed) * self._equation_weights)
        falls = -float(slopes @ (N.T @ (speed / self._coordinate_scale)))
        idle = self._idle_forces(where, parts.idle(rank))
        rates = self._rates(where, N)
        return Diagnosis(
            name=self.name,
            q=where,
            open_by=open_by,
            bodies=len(self.body_names),
            joints=(*self.joint_names, *self.loop_names),
            constraints=tuple(self.tie_units),
            loops=self.loop_names,
            coordinates=self._every_name,
            units=self._every_unit,
            freedoms=freedoms,
            freedoms_now=N.shape[1],
            velocities=self.nv,
            equations=equations,
            rank=rank,
            rank_near=rank_near,
            singular_values=parts.sizes,
            motion=self._motion(where, N),
            branches=tuple(self._motion(where, branch.tangents) for branch in found),
            infinitesimal=self._motion(where, _outside(N, found)),
            locked=self._locked(rates, found),
            redundant=_ranks(idle, self._idle_names),
            not_unique=_components(idle, self._idle_names, self._component_names),
            idle_forces=idle / self._idle_scale,
            margin=margin,
            weakest=self._loop_of(parts.left[:, rank_near - 1]) if rank_near else "",
            slope=slope,
            singular_ahead=margin / slope if slope > 1e-9 else np.inf,
            time_ahead=margin / falls if falls > 1e-12 else np.inf,
            opening=float(opening.max(initial=0.0)),
            dead_points=self._dead_points(where, N, rates, found),
            drives=None if driven is None else self._what_drives(where, N, rates, driven),
        )

    def _surroundings(self) -> Surroundings:
        weights, scale = self._equation_weights, self._coordinate_scale

        def right(q: Array, motions: Array) -> Array:
            many = np.broadcast_to(q, (len(motions), self.nq)).copy()
            return self._kernel(loop_closure.BIAS)(many, motions * scale)[0] * weights

        return Surroundings(
            self._equations,
            lambda q: self.constraint_residual(q) * weights,
            right,
            lambda q, change: self._moved_by(q, change * scale),
        )

    def _open_by(self, q: Array) -> float:
        return float(np.abs(self.constraint_residual(q) * self._equation_weights).max(initial=0.0))

    # motions

    def _rates(self, q: Array, motions: Array) -> Array:
        """Return the velocities of all joints without units under motions without units."""
        return (self._every_velocity(q) @ (self._coordinate_scale[:, None] * motions)) / self._every_scale[
            :, None
        ]

    def _motion(self, q: Array, motions: Array) -> Motion:
        """Return motions as they are told: in turn, one independent velocity is 1."""
        chosen = sorted(pivots(motions, self._preference))
        scaled = motions @ np.linalg.inv(motions[chosen]) if chosen else motions
        rates = self._rates(q, scaled) * self._every_scale[:, None] / self._coordinate_scale[chosen]
        rates[np.abs(rates) < 1e-9 * np.abs(rates).max(initial=0.0)] = 0.0
        names = tuple(self.coordinate_names[k] for k in chosen)
        return Motion(names, self._every_name, np.ascontiguousarray(rates.T))

    def _near(self, found: list[Branch]) -> Array:
        """Return how much all coordinates move somewhere near."""
        most = np.zeros(len(self._every_name))
        for branch in found:
            motions = self._split(branch.there).motions(branch.rank)
            most = np.maximum(most, np.linalg.norm(self._rates(branch.there, motions), axis=1))
        return most

    def _locked(self, rates: Array, found: list[Branch]) -> tuple[str, ...]:
        still = (np.linalg.norm(rates, axis=1) < RANK) & (self._near(found) < RANK)
        return tuple(name for name, locked in zip(self._every_name, still, strict=True) if locked)

    def _dead_points(self, q: Array, N: Array, rates: Array, found: list[Branch]) -> tuple[DeadPoint, ...]:
        """Return the coordinates that stand still at q, or very near, while others move."""
        if len(found) != 1 or found[0].tangents.shape[1] != N.shape[1]:
            return ()
        best = pivots(N, self._preference)[0]
        lengths, near = np.linalg.norm(rates, axis=1), self._near(found)
        here = (lengths < RANK) & (near >= RANK)
        ahead = np.zeros(len(lengths))
        if N.shape[1] == 1:
            ahead = self._way_to_rest(q, N, rates) * rates[best, 0] * self._coordinate_scale[best]
        told = here | (
            (lengths >= RANK) & (np.abs(ahead) < _NEAR * self._coordinate_scale[best]) & (ahead != 0.0)
        )
        name = self.coordinate_names[best]
        return tuple(
            DeadPoint(self._every_name[k], bool(here[k]), name, 0.0 if here[k] else float(ahead[k]))
            for k in np.flatnonzero(told)
            if k != best
        )

    def _way_to_rest(self, q: Array, N: Array, rates: Array) -> Array:
        """Return how far the one free motion goes until each coordinate stands still, extrapolated."""
        h, near = 1e-4, self._surroundings()
        sides = []
        for way in (h, -h):
            there = near.moved(q, way * N[:, 0])
            motion = self._split(there).right[:, -1:]
            motion = motion * np.sign(motion[:, 0] @ N[:, 0])
            sides.append(self._rates(there, motion)[:, 0])
        change = (sides[0] - sides[1]) / (2.0 * h)
        changing = np.abs(change) > 1e-6
        return np.where(changing, -rates[:, 0] / np.where(changing, change, 1.0), np.inf)

    def _what_drives(self, q: Array, N: Array, rates: Array, driven: Iterable[str]) -> Drives:
        names = (driven,) if isinstance(driven, str) else tuple(driven)
        chosen = rates[self._chosen("driven", names)]
        _, sizes, right = np.linalg.svd(chosen) if chosen.size else (0, np.zeros(0), np.eye(N.shape[1]))
        moves = int((sizes > RANK).sum())
        quality = float(sizes[-1]) if len(sizes) == N.shape[1] > 0 else 0.0 if N.shape[1] else 1.0
        return Drives(names, N.shape[1] - moves, quality, self._motion(q, N @ right[moves:].T))

    # forces

    @property
    def _idle_names(self) -> tuple[str, ...]:
        return (*self.joint_names, *self.loop_names)

    @property
    def _component_names(self) -> tuple[str, ...]:
        if self.space == "plane":
            return ("torque", "force x", "force y")
        return tuple(f"{what} {axis}" for what in ("torque", "force") for axis in "xyz")

    @property
    def _idle_scale(self) -> Array:
        angular, freedoms = self._links.algebra.angular, self._links.algebra.freedoms
        length = max(self.loop_lengths.values(), default=1.0)
        return np.where(np.arange(freedoms) < angular, 1.0, length)

    def _idle_forces(self, q: Array, idle: Array) -> Array:
        """Return the reactions of all joints, (idle forces, joints, 6 or 3), forces times a length."""
        count = idle.shape[1]
        if not count:
            return np.zeros((0, len(self._idle_names), self._links.algebra.freedoms))
        rows, many = (idle * self._equation_weights[:, None]).T, np.tile(q, (count, 1))
        external, wrenches = self._pushes(many, rows), self._wrenches(many, rows).array
        still = np.zeros((count, self.nv))
        kernel = self._kernel(reactions.ALGORITHM)
        loaded, idle_ones = (kernel(many, still, still, force)[0] for force in (external, 0.0 * external))
        return np.concatenate([loaded - idle_ones, wrenches], axis=1) * self._idle_scale

    def _loop_of(self, row_force: Array) -> str:
        """Return the loop that a force on the equations belongs to most."""
        parts = {name: float(np.linalg.norm(row_force[rows])) for name, rows in self.row_slices.items()}
        return max(parts, key=lambda name: parts[name])


def _outside(N: Array, found: list[Branch]) -> Array:
    """Return the free motions that are square to all branches."""
    if not found:
        return N
    T = N.T @ np.hstack([branch.tangents for branch in found])
    left, sizes, _ = np.linalg.svd(T)
    return N @ left[:, int((sizes > 1e-3).sum()) :]


def _ranks(idle: Array, names: Iterable[str]) -> dict[str, int]:
    """Return how many independent idle forces go through each joint."""
    found = {}
    for k, name in enumerate(names):
        sizes = np.linalg.svd(idle[:, k], compute_uv=False) if len(idle) else np.zeros(1)
        if count := int((sizes > RANK).sum()):
            found[name] = count
    return found


def _components(idle: Array, names: Iterable[str], words: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the components of each joint's reaction that idle forces change."""
    largest: Any = np.abs(idle).max(axis=0, initial=0.0)
    found = {
        name: tuple(word for word, size in zip(words, largest[k], strict=True) if size > RANK)
        for k, name in enumerate(names)
    }
    return {name: components for name, components in found.items() if components}
