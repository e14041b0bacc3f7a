"""a, lambda <- q, v: dynamics in the coordinates of all bodies, with Lagrange multipliers.

    [ M      phi_q^T ] [    a    ]   [ -h    ]
    [ phi_q  0       ] [ -lambda ] = [ gamma ]

M and h are of the single bodies (Newton, Euler), phi any constraint. A second opinion on every mechanism, and
the way for constraints that are no joints of a tree. (Haug, Computer Aided Kinematics and Dynamics of
Mechanical Systems, 1989, equation 6.3.18.)
"""

from typing import Any

import numpy as np
from scipy.sparse import block_array, coo_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from linkwork.errors import SimulationError
from linkwork.kinematics import newton
from linkwork.kinematics.driver_forces import AppliedForces, BodyStates, add_armature
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.multipliers import accelerate, augmented, single_bodies
from linkwork.kinematics.rigid_bodies import RigidBodies
from linkwork.kinematics.sparse_newton import Factors

Array = np.ndarray

_LITTLE = 1e-14  # instead of zero, so that redundant equations can be solved
_MANY = 150  # unknowns and equations from which on they are solved sparse


class MaximalDynamics:
    """Accelerations of all bodies under all loads, constraints and drivers of a mechanism."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._bodies, self._applied = RigidBodies(system), AppliedForces(system)
        self._driven = [joint for joint in system.mechanism.joints.values() if np.any(joint.armature)]
        self._augmented = augmented(system.n + system.m) if system.n + system.m <= _MANY else None

    def _rotors(self, q: Array) -> Array:
        """Return what the rotors of drives add to M, turning with their joints; empty if there are none."""
        system, free = self.system, self.system.free
        if not self._driven:
            return np.zeros((0, 0))
        units = np.zeros((2 * free, system.n))
        total = np.zeros((system.n, system.n))
        for joint in self._driven:
            at = [system.numbers[id(b)] for b in joint.bodies if id(b) in system.numbers]
            columns = np.concatenate([np.arange(free * k, free * (k + 1)) for k in at])
            units[:] = 0.0
            units[np.arange(len(columns)), columns] = 1.0
            many = np.tile(q, (len(units), 1))
            between, a_rel = BodyStates(system, many, np.zeros(units.shape), units).across(joint)
            rates = np.array([np.broadcast_to(x, (len(units),)) for x in between.rates(a_rel)])
            R = rates @ units  # rates of the joint by those of all coordinates
            total += R.T @ (joint.per_coordinate("armature")[:, None] * R)
        return total

    def rates(self, t: float, y: Array) -> Array:
        """Return the rates of coordinates and velocities, one behind the other."""
        system = self.system
        a, _ = self(t, y[: system.nq], y[system.nq :])
        rates, own = self._bodies.rates, system.n - system.free * len(system.bodies)
        rates[system.nq - own :] = y[len(y) - own :]
        return np.concatenate([rates, a])

    def _look(self, t: float, q: Array, v: Array) -> None:
        """Bring the system to a state."""
        w = self.system.w
        w.q[:], w.v[:] = q, v
        for k, law in enumerate(self.system.laws):
            w.u[3 * k : 3 * k + 3] = law.at(t)[0]

    def _others(self, t: float, q: Array, v: Array) -> Array:
        """Return forces along all unknowns: of loads, of joints by themselves, and what rotors take up."""
        system = self.system
        Q = np.zeros((1, system.n))
        if self._driven:
            add_armature(system, BodyStates(system, q[None], v[None], np.zeros((1, system.n))), Q)
        self._applied.subtract(np.array([t]), q[None], v[None], Q)
        return -Q[0]

    def __call__(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return accelerations (n,) and forces of the equations (m,), the least where not unique."""
        system, bodies = self.system, self._bodies
        self._look(t, q, v)
        others, rotors = self._others(t, q, v), self._rotors(q)
        a, forces = np.empty(system.n), np.empty(system.m)
        if self._augmented is None:
            return self._sparse(others, rotors)
        code = bodies.run, bodies.plan, bodies.ports, bodies.M, bodies.h
        accelerate(system.w, self._augmented, *code, rotors, others, a, forces)
        return a, forces

    def _sparse(self, others: Array, rotors: Array) -> tuple[Array, Array]:
        """Return accelerations and forces of a large mechanism."""
        system, w, m, n = self.system, self.system.w, self.system.m, self.system.n
        newton.look_at(w)
        newton.look_at_rates(w)
        single_bodies(self._bodies.run, self._bodies.plan, self._bodies.ports)
        columns = diags_array(system.columns)
        mass = columns @ (self._mass_matrix() + csr_array(rotors if rotors.size else (n, n))) @ columns
        J, scale = _rows_of_length_one(self._jacobian() @ columns)
        inertia = max(float(abs(mass).max()), 1e-300)
        forces = (others - self._bodies.h) * system.columns / inertia
        K = block_array([[mass / inertia, J.T], [J, -_LITTLE * eye_array(m)]])
        x = splu(csc_array(K)).solve(np.concatenate([forces, w.acceleration * scale]))
        return x[:n] * system.columns, -x[n:] * scale * inertia

    def _mass_matrix(self) -> Any:
        """Return M of the bodies as last computed, sparse."""
        n, free, count = self.system.n, self.system.free, len(self.system.bodies)
        first = free * np.arange(count)[:, None, None]
        rows, columns = first + np.arange(free)[:, None], first + np.arange(free)
        shape = self._bodies.M.shape
        places = np.broadcast_to(rows, shape).ravel(), np.broadcast_to(columns, shape).ravel()
        return coo_array((self._bodies.M.ravel(), places), shape=(n, n)).tocsr()

    def _jacobian(self) -> Any:
        """Return phi_q as last computed, sparse."""
        system = self.system
        places = system.entry_rows, system.entry_columns
        return coo_array((system.w.phi_q, places), shape=(system.m, system.n)).tocsr()

    def projected(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the nearest state that satisfies all equations."""
        system, w = self.system, self.system.w
        self._look(t, q, v)
        newton.look_at_rates(w)
        if system.polish() < 0.0:
            raise SimulationError(f"at t = {t:.6g} s {system.open_text(w.q.copy())}")
        there = w.q.copy()
        newton.look_at(w)
        newton.look_at_rates(w)
        A = self._jacobian()
        lack = w.velocity - A @ v
        if system.large:
            change = Factors(system).solve(lack)
        else:
            change = np.linalg.lstsq(A.toarray() * system.columns, lack, rcond=1e-12)[0]
        w.ref[:] = w.located
        return there, v + change * system.columns


def _rows_of_length_one(A: Any) -> tuple[Any, Array]:
    """Return a sparse matrix with its rows scaled, and the factors."""
    lengths = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    return diags_array(scale) @ A, scale
