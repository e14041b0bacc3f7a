"""a, lambda <- q, v: dynamics in the coordinates of all bodies, with Lagrange multipliers.

    [ M      phi_q^T ] [    a    ]   [ -h    ]
    [ phi_q  0       ] [ -lambda ] = [ gamma ]

M and h are of the single bodies (Newton, Euler), phi any constraint. A second opinion on every mechanism, and
the way for constraints that are no joints of a tree. (Haug, Computer Aided Kinematics and Dynamics of
Mechanical Systems, 1989, equation 6.3.18.)
"""

from typing import Any

import numpy as np
from scipy.sparse import block_array, block_diag, coo_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from linkwork.errors import SimulationError
from linkwork.kinematics import newton
from linkwork.kinematics.driver_forces import BodyStates, required
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.sparse_newton import Factors

Array = np.ndarray

_MANY = 150  # unknowns and equations from which on they are solved sparse
_NOTHING = 1e-11  # singular value, relative, of equations that follow from others


class MaximalDynamics:
    """Accelerations of all bodies under all loads, constraints and drivers of a mechanism."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._inertias = []
        for body in system.bodies:
            inertia = system.algebra.RigidInertia.about_center(
                float(body.inertia.mass), body.inertia.com.tolist(), body.inertia.tensor.tolist()
            )
            units = [inertia @ unit for unit in system.algebra.units()]
            self._inertias.append(np.array([unit.scalars() for unit in units], float))
        self._driven = [joint for joint in system.mechanism.joints.values() if np.any(joint.armature)]

    def mass_matrix(self, q: Array) -> Any:
        """Return M (n, n), sparse: place in world axes and turn in the body's, for every body."""
        system = self.system
        angular, size, free = system.algebra.angular, system.algebra.dimension, system.free
        blocks = []
        for X, inertia in zip(system.named(q).values(), self._inertias, strict=True):
            E = np.zeros((free, free))  # motion in the body's frame from rates of coordinates
            E[:angular, size:] = np.eye(angular)
            E[angular:, :size] = np.asarray(X.rotation, float).T
            blocks.append(E.T @ inertia @ E)
        own = system.n - free * len(blocks)
        M = block_diag([*blocks, np.zeros((own, own))], format="csr")
        return M + self._rotors(q) if self._driven else M

    def _rotors(self, q: Array) -> Any:
        """Return what the rotors of drives add, which turn with their joints."""
        system, free = self.system, self.system.free
        units = np.zeros((2 * free, system.n))
        total: Any = csr_array((system.n, system.n))
        for joint in self._driven:
            at = [system.numbers[id(b)] for b in joint.bodies if id(b) in system.numbers]
            columns = np.concatenate([np.arange(free * k, free * (k + 1)) for k in at])
            units[:] = 0.0
            units[np.arange(len(columns)), columns] = 1.0
            many = np.tile(q, (len(units), 1))
            between, a_rel = BodyStates(system, many, np.zeros(units.shape), units).across(joint)
            rates = np.array([np.broadcast_to(x, (len(units),)) for x in between.rates(a_rel)])
            R = csr_array(rates @ units)  # rates of the joint by those of all coordinates
            total = total + R.T @ diags_array(joint.per_coordinate("armature")) @ R
        return total

    def look(self, t: float, q: Array, v: Array) -> Any:
        """Bring the system to a state, and return phi_q, sparse."""
        system = self.system
        system.w.v[:] = v
        for k, law in enumerate(system.laws):
            system.w.u[3 * k : 3 * k + 3] = law.at(t)[0]
        system.evaluate(q)
        newton.look_at_rates(system.w)
        places = system.entry_rows, system.entry_columns
        return coo_array((system.w.phi_q, places), shape=(system.m, system.n)).tocsr()

    def __call__(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return accelerations (n,) and forces of the equations (m,), the least where not unique."""
        system, n, m = self.system, self.system.n, self.system.m
        A = self.look(t, q, v)
        gamma = system.w.acceleration.copy()
        states = BodyStates(system, q[None], v[None], np.zeros((1, n)))
        h = required(system, states, np.array([t]))[0]
        columns = diags_array(system.columns)
        mass = columns @ self.mass_matrix(q) @ columns
        J, scale = _rows_of_length_one(A @ columns)
        inertia = max(float(abs(mass).max()), 1e-300)
        right = np.concatenate([-h * system.columns / inertia, gamma * scale])
        if n + m > _MANY:
            little = -1e-14 * eye_array(m)
            x = splu(csc_array(block_array([[mass / inertia, J.T], [J, little]]))).solve(right)
        else:
            J, mass = J.toarray(), mass.toarray() / inertia
            K = np.block([[mass, J.T], [J, np.zeros((m, m))]])
            x = np.linalg.lstsq(K, right, rcond=_NOTHING)[0]
        return x[:n] * system.columns, -x[n:] * scale * inertia

    def projected(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the nearest state that satisfies all equations."""
        system = self.system
        self.look(t, q, v)
        if system.polish() < 0.0:
            raise SimulationError(f"at t = {t:.6g} s {system.open_text(system.w.q.copy())}")
        there = system.w.q.copy()
        A = self.look(t, there, v)
        lack = system.w.velocity - A @ v
        if system.large:
            change = Factors(system).solve(lack)
        else:
            change = np.linalg.lstsq(A.toarray() * system.columns, lack, rcond=1e-12)[0]
        system.w.ref[:] = system.w.located
        return there, v + change * system.columns


def _rows_of_length_one(A: Any) -> tuple[Any, Array]:
    """Return a sparse matrix with its rows scaled, and the factors."""
    lengths = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    return diags_array(scale) @ A, scale
