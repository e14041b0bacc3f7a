"""Closed loops of a model: coordinates, gaps, forces, and closing them."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.dynamics import equations_of_motion, loop_closure, reactions
from linkwork.dynamics.external_forces import external_forces
from linkwork.dynamics.kernel import real_array
from linkwork.dynamics.loop_assembly import Closing, assemble, least_step
from linkwork.dynamics.loop_reference import dense_forward_dynamics
from linkwork.errors import AssemblyError, ModelError, unknown
from linkwork.lazy import lazy
from linkwork.mechanism.joint import Joint
from linkwork.model.arrays import Array, delivered, together
from linkwork.model.forces import OwnForces, joint_units
from linkwork.model.named_rows import Named
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.loop_constraint import LoopConstraint


class ClosedLoops(OwnForces):
    """A model some joints of which close loops: those were cut, and the rest is a tree."""

    # looking at loops

    @property
    def loop_names(self) -> tuple[str, ...]:
        """The joints that close loops, as the mechanism was cut; any other joint is in the spanning tree."""
        return tuple(loop.name for loop in self._links.loops)

    @lazy
    def row_slices(self) -> Mapping[str, slice]:
        """Where the equations of each loop joint are among those of all."""
        return MappingProxyType(
            {loop.name: slice(loop.row, loop.row + loop.rows) for loop in self._links.loops}
        )

    @lazy
    def tie_units(self) -> Mapping[str, str]:
        """The constraints and drivers, with the unit of their forces, "" if that is not known."""
        found = {loop.name: "" for loop in self._links.loops if isinstance(loop.joint, LoopConstraint)}
        for name, driver in self._mechanism.drivers.items():
            side = driver.sides()[0]
            turns = driver.component == "angle"
            if isinstance(side, Joint):
                turns = (
                    self.coordinate_units[self.slices[side.name][1].start + int(driver.component)] == "rad"
                )
            found[name] = "N m" if turns else "N"
        return MappingProxyType(found)

    @lazy
    def loop_slices(self) -> Mapping[str, tuple[slice, slice]]:
        """Where the coordinates and velocities of each loop joint are among those of all loop joints."""
        return MappingProxyType(
            {
                loop.name: (slice(loop.q, loop.q + loop.joint.nq), slice(loop.v, loop.v + loop.joint.nv))
                for loop in self._links.loops
            }
        )

    @lazy
    def loop_units(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The units of all loop joints' coordinates, and of what their velocities change."""
        positions: list[str] = []
        velocities: list[str] = []
        kinds, drawn = JointFormulas(), self.loop_motion(self.q_drawn, np.zeros(self.nv))[0]
        for loop in self._links.loops:
            if not loop.joint.nv:
                continue
            here = drawn[self.loop_slices[loop.name][0]].tolist()
            units = joint_units(*kinds.of(loop.joint, False), here, loop.joint)
            positions, velocities = [*positions, *units[0]], [*velocities, *units[1]]
        return tuple(positions), tuple(velocities)

    def loop_coordinates(self, q: Array, v: Array | None = None) -> dict[str, tuple[Array, Array]]:
        """Return, by loop joint, its coordinates and velocities (zero if v is not given)."""
        positions, rates = self.loop_motion(q, np.zeros(self.nv) if v is None else v)
        return {
            name: (positions[..., at_q], rates[..., at_v]) for name, (at_q, at_v) in self.loop_slices.items()
        }

    def loop_motion(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return coordinates and velocities of all loop joints, as `loop_slices` says."""
        positions, rates = self._kernel(loop_closure.COORDINATES)(q, v)
        return positions, rates

    def loop_accelerations(self, q: Array, v: Array, a: Array) -> Array:
        """Return accelerations of all loop joints, when the others accelerate by a."""
        return self._kernel(loop_closure.ACCELERATIONS)(q, v, a)[0]

    def loop_drives(self, q: Array, v: Array, t: Any = 0.0) -> Array:
        """Return what drives the loop joints: damping, friction, springs, stops and motors."""
        *_, shown, forces = self._applied(q, v, t)
        first = 0
        for placed in self.driven(bodies=True).loads:
            first += placed.shown
            for k, (name, n) in enumerate(placed.across):
                forces[..., self.loop_slices[name][1].start + n] += shown[..., first + k]
            first += len(placed.across)
        return forces

    def constraint_residual(self, q: Array, t: Any = 0.0) -> Array:
        """Return how far the loops are from closed, (rows,): by `row_slices`, in metres and radians.

        Drivers are looked at at time t.
        """
        return self._gaps(q, np.zeros(self.nv), t)[0]

    def constraint_velocity(self, q: Array, v: Array, t: Any = 0.0) -> Array:
        """Return how fast the loops open, (rows,): the constraint Jacobian times v, and what drivers do."""
        return self._gaps(q, v, t)[1]

    def _gaps(self, q: Array, v: Array, t: Any) -> tuple[Array, ...]:
        (t, q, v), _ = together(("t", t, ()), ("q", q, (self.nq,)), ("v", v, (self.nv,)))
        return self._kernel(loop_closure.GAPS)(t, q, v)

    def _row_velocities(self, q: Array, v: Array) -> Array:
        """Return the constraint Jacobian times v, (rows,)."""
        return self._kernel(loop_closure.ROW_VELOCITIES)(q, v)[0]

    def constraint_jacobian(self, q: Array) -> Array:
        """Return how fast the loops open per unit of each velocity: (rows, nv), dense."""
        array = real_array("constraint_jacobian: q", q)
        gaps = self._row_velocities(array, np.zeros(self.nv))  # checks q
        if not self.nv:
            return np.zeros((*gaps.shape, 0))
        many = np.repeat(array.reshape(-1, self.nq), self.nv, axis=0)
        units = np.tile(np.eye(self.nv), (len(many) // self.nv, 1))
        rates = self._row_velocities(many, units).reshape(*gaps.shape[:-1], self.nv, gaps.shape[-1])
        return np.ascontiguousarray(np.swapaxes(rates, -1, -2))

    def loop_gap(self, q: Array, t: Any = 0.0) -> float | None:
        """Return the worst gap of the loops at positions q [m, rad]; None if there are no loops."""
        if not self._links.loops or not len(q):
            return None
        return float(np.abs(self.constraint_residual(q, t)).max())

    @lazy
    def row_weights(self) -> Array:
        """One over what is a normal size of each equation of the loops: 1 rad, or the mechanism's size."""
        if not self._links.loops:
            return np.empty(0)
        turns = np.abs(self._kernel(loop_closure.DIRECTIONS)(self.q_drawn, np.zeros(self.nv))[0])
        angular = self._links.algebra.angular
        slides = turns[:, angular:].max(axis=1) > turns[:, :angular].max(axis=1)
        return np.where(slides, 1.0 / self.size, 1.0)

    @lazy
    def coordinate_sizes(self) -> Array:
        """A normal change of each velocity's coordinate: 1 rad, or the mechanism's size, (nv,)."""
        return np.array([1.0 if unit == "rad" else self.size for unit in self.coordinate_units])

    @lazy
    def weak_pivots(self) -> Array:
        """Of each equation of the loops, how little acceleration by its own unit force is none, (rows,)."""
        return np.array([x for loop in self._links.loops for x in loop.weak])

    # forces

    def _reactions_with_loops(
        self, q: Array, v: Array, a: Array, external: Array, rows: Array, out: Array | None
    ) -> Named:
        """Return the reactions of all joints from the forces of the loops' equations."""
        (array,) = self._kernel(reactions.ALGORITHM)(q, v, a, external + self._pushes(q, rows))
        wrenches = self._wrenches(q, rows).array
        array = delivered("reactions", np.concatenate([array, wrenches], axis=-2), out)
        numbers = {name: row for row, name in enumerate((*self.joint_names, *self.loop_names))}
        return Named("joint", numbers, array, 2, self._force, {})

    def reactions_in_motion(self, q: Array, v: Array, t: Any, a: Array, external: Array) -> Named:
        """Return the reactions under all forces of the mechanism, which accelerate it by a.

        `external` are the forces on bodies as `loads` gives them.
        """
        if not self._links.loops:
            return self.reactions_at(q, v, a, external)
        return self._reactions_with_loops(q, v, a, external, self.row_forces_in_motion(q, v, t), None)

    def row_forces_in_motion(self, q: Array, v: Array, t: Any = 0.0) -> Array:
        """Return the forces of the loops' equations, (rows,), under all forces of the mechanism.

        Each is along the gradient of its equation. Where equations are redundant these are the least.
        """
        kernel = self.motion_kernel(equations_of_motion.LOOP_FORCES)
        (q, v, t), batch = together(("q", q, (self.nq,)), ("v", v, (self.nv,)), ("t", t, ()))
        scratch = [np.zeros((*batch, *shape)) for shape in kernel.shapes[3 : kernel.inputs]]
        return _least(self.constraint_jacobian(q), kernel(t, q, v, *scratch)[-1])

    def _pushes(self, q: Array, rows: Array) -> Array:
        """Return what forces of the loops' equations do to bodies, as `external_forces` does."""
        tree = self.driven(bodies=True)  # its rows may come in another order
        ordered = [rows[..., self.row_slices[loop.name]] for loop in tree.loops]
        return self._kernel(loop_closure.PUSHES, tree)(q, np.concatenate(ordered, axis=-1))[0]

    def loop_forces(self, q: Array, v: Array, tau: Array, *, forces: Any = None) -> Named:
        """Return, by loop joint, the force it exerts on its child to keep the loop closed.

        In world axes, about the origin of the joint's frame on the child. Where the equations of the loops
        are redundant, forces are not unique: these are the smallest.
        """
        return self._wrenches(np.asarray(q, float), self._row_forces(q, v, tau, forces))

    def _row_forces(self, q: Array, v: Array, tau: Array, forces: Any) -> Array:
        """Return the least forces of the loops' equations under forces tau, and on bodies."""
        where, tree = np.asarray(q, float), self._rigid
        if not tree.loops:
            return np.zeros((*where.shape[:-1], len(self.weak_pivots)))
        if forces is None:
            found, _ = self._rigid_kernel(loop_closure.LOOP_FORCES)(q, v, tau)
        else:
            external = external_forces(self._links, forces)
            found, _ = self._rigid_kernel(loop_closure.LOOP_FORCES_WITH_FORCES)(q, v, tau, external)
        rows = np.zeros((*found.shape[:-1], len(self.weak_pivots)))  # drivers and couplings bear nothing
        J = self.constraint_jacobian(where)[..., self._rigid_rows, :]
        rows[..., self._rigid_rows] = _least(J, found)
        return rows

    @lazy
    def _rigid_rows(self) -> Array:
        """The equations that are not of drivers or couplings, in the order of `_rigid`."""
        parts = [np.arange(*self.row_slices[loop.name].indices(10**9)) for loop in self._rigid.loops]
        return np.concatenate([np.empty(0, int), *parts])

    def _wrenches(self, where: Array, rows: Array) -> Named:
        """Return the forces of loop joints on their children from those of their equations."""
        T = self._kernel(loop_closure.DIRECTIONS)(where, np.zeros(self.nv))[0]
        pushes = T * rows[..., None]
        wrenches = [pushes[..., part, :].sum(axis=-2) for part in self.row_slices.values()]
        numbers = {name: k for k, name in enumerate(self.loop_names)}
        return Named("loop joint", numbers, np.stack(wrenches, axis=-2), 2, self._force, {})

    @property
    def _force(self) -> Any:
        return self._links.algebra.Force.from_scalars

    def _by_singular_values(
        self, q: Array, v: Array, tau: Array, forces: Any, solver: str, out: Array | None
    ) -> Array:
        if solver != "svd":
            raise ValueError(f'forward_dynamics: solver {solver!r}; give "sparse" or "svd"')
        given = ("q", q, self.nq), ("v", v, self.nv), ("tau", tau, self.nv)
        (q, v, tau), batch = together(*((name, x, (size,)) for name, x, size in given))
        drive = tau - self.inverse_dynamics(q, v, np.zeros(v.shape), forces=forces)
        rows = self._rigid_rows
        M, J = self.mass_matrix(q), self.constraint_jacobian(q)[..., rows, :]
        right = self._kernel(loop_closure.BIAS)(q, v)[0][..., rows]
        found = np.empty(v.shape)
        for k in np.ndindex(batch):
            found[k] = dense_forward_dynamics(M[k], drive[k], J[k], right[k], self.weak_pivots[rows])
        return delivered("forward_dynamics", found, out)

    # closing

    def closed_velocity(
        self, q: Array, v: Array, *, hold: Iterable[str] = (), t: Any = 0.0, out: Array | None = None
    ) -> Array:
        """Return the velocity nearest to v, in the sense of kinetic energy, that keeps all loops closed.

        The velocities of joints in `hold` (for one state) stay as they are; AssemblyError if they cannot.
        Drivers move as at time t.
        """
        if not self._links.loops:
            return delivered("closed_velocity", real_array("v", v), out)
        held = list(hold)
        if not held and self._has_inertia:
            kernel = self._accelerating(loop_closure.VELOCITY_CORRECTION)
            (t, q, v), _ = together(("t", t, ()), ("q", q, (self.nq,)), ("v", v, (self.nv,)))
            return delivered("closed_velocity", v + kernel(t, q, v)[-1], out)
        v = real_array("closed_velocity: v", v)
        if v.shape != (self.nv,) or not np.isfinite(v).all():
            raise ValueError(f"closed_velocity: v has shape {v.shape}; give {self.nv} finite numbers")
        J = self.constraint_jacobian(q)
        opening = self.constraint_velocity(q, v, t)
        found = v + least_step(*self._held(J, self._metric(q), held), opening)
        left = float(np.abs(self.constraint_velocity(q, found, t)).max())
        if left > 1e-9 * (1.0 + float(np.abs(found).max())):
            names = ", ".join(map(repr, held))
            raise AssemblyError(f"the velocities of {names} open the loops at {left:.3g}; hold fewer")
        return delivered("closed_velocity", found, out)

    def assemble(
        self,
        q: Array | None = None,
        *,
        hold: Iterable[str] = (),
        t: float = 0.0,
        tolerance: float = 1e-12,
    ) -> Array:
        """Return a position near q (as drawn, if not given) in which all loops are closed.

        Joints in `hold` stay where they are; drivers are where they are at time t. Gaps left are below the
        tolerance, in radians and in units of the mechanism's size. If loops cannot be closed from there,
        AssemblyError names their joints and gaps.
        """
        start = np.array(self.q_drawn if q is None else q, float)
        if start.shape != (self.nq,) or not np.isfinite(start).all():
            raise ValueError(f"assemble: q has shape {start.shape}; give {self.nq} finite numbers")
        if not self._links.loops:
            return start
        closing = self._closing(list(hold), t)
        found, gap = assemble(closing, start, tolerance)
        if np.linalg.norm(gap * closing.weights) <= tolerance:
            return found
        raise AssemblyError(self._open_loops(found, gap, tolerance * self.size))

    def _closing(self, hold: list[str], t: float) -> Closing:
        """Return what closing the loops needs to know, with some joints held."""
        weights, moves = self.row_weights, self._free(hold)

        def equations(q: Array) -> tuple[Array, Array]:
            return self._held(self.constraint_jacobian(q) * weights[:, None], self._metric(q), hold)

        def correction(q: Array) -> tuple[Array, Array]:
            if self._has_inertia and not hold:
                gap, change = self._kernel(loop_closure.POSITION_CORRECTION)(np.float64(t), q)
                return gap, change
            gap = self.constraint_residual(q, t)
            return gap, least_step(*equations(q), gap * weights)

        return Closing(
            correction,
            lambda q, change: self._moved_by(q, change * moves),
            equations,
            weights,
            self.coordinate_sizes,
        )

    @lazy
    def _has_inertia(self) -> bool:
        """Whether all that moves has inertia, by which changes can be weighed."""
        try:
            return bool(self._accelerating)
        except ModelError:
            return False

    def _metric(self, q: Array) -> Array:
        """Return the matrix by which changes are weighed: the mass matrix, or plain sizes."""
        return self.mass_matrix(q) if self._has_inertia else np.diag(self.coordinate_sizes**-2.0)

    def _free(self, hold: Iterable[str]) -> Array:
        """Return 1 for velocities that may change, 0 for those of the joints held."""
        free = np.ones(self.nv)
        for name in hold:
            if name not in self.slices:
                raise ValueError(f"hold: {unknown('joint', name, self.slices)}")
            free[self.slices[name][1]] = 0.0
        return free

    def _held(self, J: Array, M: Array, hold: list[str]) -> tuple[Array, Array]:
        """Return the rows and the mass matrix of a mechanism some joints of which are held."""
        free = self._free(hold)
        return J * free, M * np.outer(free, free) + np.diag(1.0 - free)

    def _moved_by(self, q: Array, change: Array) -> Array:
        """Return the position after a small change of all velocities' coordinates."""
        there = q + self.position_rates(q, change)
        for first in self.quaternions:
            there[first : first + 4] /= np.linalg.norm(there[first : first + 4])
        return there

    def _open_loops(self, q: Array, gap: Array, tolerance: float) -> str:
        """Say which loops stay open, and by how much."""
        T = self._kernel(loop_closure.DIRECTIONS)(q, np.zeros(self.nv))[0]
        T = T / np.maximum(np.linalg.norm(T, axis=1, keepdims=True), 1e-300)  # of constraints, of any length
        angular = self._links.algebra.angular
        told = []
        for name, part in self.row_slices.items():
            error = (T[part] * gap[part, None]).sum(axis=0)
            turn, slide = float(np.linalg.norm(error[:angular])), float(np.linalg.norm(error[angular:]))
            direct = float(np.abs(gap[part]).max(initial=0.0)) if not T[part].any() else 0.0
            if direct > tolerance:
                told.append(f"{name!r} by {direct:.3g}")
            elif max(turn, slide) > tolerance:
                told.append(f"{name!r} by {slide:.3g} m and {turn:.3g} rad")
        return (
            f"mechanism {self.name!r} cannot be assembled from here: joints that stay open are "
            f"{', '.join(told)}; draw it nearer to closed, or look for lengths that cannot meet"
        )


def _least(J: Array, rows: Array) -> Array:
    """Return the least forces of equations J that do the same as those given."""
    left, sizes, _ = np.linalg.svd(J, full_matrices=False)
    left = left * (sizes > 1e-9 * sizes.max(axis=-1, keepdims=True, initial=1e-300))[..., None, :]
    return (left @ (np.swapaxes(left, -1, -2) @ rows[..., None]))[..., 0]
