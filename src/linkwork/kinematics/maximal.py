"""a, lambda <- q, v: dynamics in the coordinates of all bodies, with Lagrange multipliers.

    [ M      phi_q^T ] [    a    ]   [ -h    ]
    [ phi_q  0       ] [ -lambda ] = [ gamma ]

M and h are of the single bodies (Newton, Euler), phi any constraint. A second opinion on every mechanism, and
the way for constraints that are no joints of a tree. (Haug, Computer Aided Kinematics and Dynamics of
Mechanical Systems, 1989, equation 6.3.18.)
"""

from typing import Any

import numpy as np
from scipy.integrate import DOP853
from scipy.sparse import block_array, csc_array
from scipy.sparse.linalg import splu

from linkwork.algebra import rotation
from linkwork.errors import AssemblyError, ModelError, SimulationError
from linkwork.kinematics import newton
from linkwork.kinematics.assembly import reached
from linkwork.kinematics.forces import BodyStates, required
from linkwork.kinematics.motion import Motion
from linkwork.kinematics.system import System, system_of
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.kind import Kinds
from linkwork.model.state import State

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

    def mass_matrix(self, q: Array) -> Array:
        """Return M (n, n): place in world axes and turn in the body's, for every body."""
        system = self.system
        angular, size = system.algebra.angular, system.algebra.dimension
        M = np.zeros((system.n, system.n))
        for k, (name, X) in enumerate(system.named(q).items()):
            assert name
            E = np.zeros((system.free, system.free))  # motion in the body's frame from rates of coordinates
            E[:angular, size:] = np.eye(angular)
            E[angular:, :size] = np.asarray(X.rotation, float).T
            at = slice(system.free * k, system.free * (k + 1))
            M[at, at] = E.T @ self._inertias[k] @ E
        self._add_armature(q, M)
        return M

    def _add_armature(self, q: Array, M: Array) -> None:
        """Add the rotors of drives, which turn with their joints: the rates of joints by those of bodies."""
        system = self.system
        driven = [joint for joint in system.mechanism.joints.values() if np.any(joint.armature)]
        if not driven:
            return
        each = np.tile(q, (system.n, 1))
        states = BodyStates(system, each, np.zeros((system.n, system.n)), np.eye(system.n))
        for joint in driven:
            across, a_rel = states.across(joint, Kinds(), [])
            rates = np.array([np.broadcast_to(x, (system.n,)) for x in across.rates(a_rel)])
            M += rates.T @ (joint.per_coordinate("armature")[:, None] * rates)

    def look(self, t: float, q: Array, v: Array) -> Array:
        """Bring the system to a state, and return phi_q."""
        system = self.system
        system.w.v[:] = v
        for k, law in enumerate(system.laws):
            system.w.u[3 * k : 3 * k + 3] = law.at(t)[0]
        A = system.matrix(q)
        newton.look_at_rates(system.w)
        return A

    def __call__(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Return accelerations (n,) and forces of the equations (m,), the least where not unique."""
        system = self.system
        A = self.look(t, q, v)
        gamma = system.w.acceleration.copy()
        states = BodyStates(system, q[None], v[None], np.zeros((1, system.n)))
        h = required(system, states, np.array([t]))[0]
        M = self.mass_matrix(q)
        lengths = np.linalg.norm(A * system.columns, axis=1)
        scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        inertia = max(float(np.abs(M).max()), 1e-300)
        J, right = A * system.columns * scale[:, None], np.concatenate([-h * system.columns, gamma * scale])
        mass = M * np.outer(system.columns, system.columns) / inertia
        right[: system.n] /= inertia
        n, m = system.n, system.m
        if n + m > _MANY:
            K = csc_array(block_array([[csc_array(mass), csc_array(J.T)], [csc_array(J), -1e-14 * _eye(m)]]))
            x = splu(K).solve(right)
        else:
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
        change = np.linalg.lstsq(A * system.columns, lack, rcond=1e-12)[0] * system.columns
        system.w.ref[:] = system.w.located
        return there, v + change


def _eye(m: int) -> Any:
    return csc_array((np.ones(m), (np.arange(m), np.arange(m))), shape=(m, m))


def simulate_maximal(
    model: Any, duration: float, state: State | None, accuracy: float, times: Any, every: float | None
) -> Motion:
    """Let a mechanism move for a duration from a state, and return its Motion at the times asked for.

    Dormand and Prince's method of order 8; after every step the state is projected onto the constraints.
    """
    mechanism = model if isinstance(model, Mechanism) else model._mechanism
    system = system_of(mechanism.copy())
    dynamics = MaximalDynamics(system)
    t0, q, v = _start(system, mechanism, state)
    q, v = dynamics.projected(t0, q, v)
    if times is None:
        step = duration / 100 if every is None else every
        times = np.arange(0.0, duration + 0.5 * step, step)
    wanted = t0 + np.asarray(times, float)
    if not len(wanted) or not np.isfinite(wanted).all() or (np.diff(wanted) < 0).any():
        raise ValueError("simulate: give times that do not decrease, at least one")

    def rates(t: float, y: Array) -> Array:
        return np.concatenate([_position_rates(system, y), dynamics(t, y[: system.nq], y[system.nq :])[0]])

    solver = DOP853(rates, t0, np.concatenate([q, v]), t0 + duration, rtol=accuracy, atol=accuracy)
    samples: list[Array] = [np.concatenate([q, v]) for t in wanted if t <= t0]
    while solver.status == "running":
        message = solver.step()
        if solver.status == "failed":
            raise SimulationError(f"mechanism {mechanism.name!r} stuck at t = {solver.t:.6g} s: {message}")
        between = solver.dense_output()
        while len(samples) < len(wanted) and wanted[len(samples)] <= solver.t:
            t = float(wanted[len(samples)])
            y = between(t)
            samples.append(np.concatenate(dynamics.projected(t, y[: system.nq], y[system.nq :])))
        there = dynamics.projected(solver.t, solver.y[: system.nq], solver.y[system.nq :])
        solver.y = np.concatenate(there)
        solver.f = rates(solver.t, solver.y)
    kept = wanted[: len(samples)]
    y = np.array(samples).reshape(len(samples), -1)
    found = [dynamics(float(t), *np.split(each, [system.nq]))[0] for t, each in zip(kept, y, strict=True)]
    ranks = np.full(len(kept), system.n)
    a = np.array(found).reshape(len(kept), system.n)
    return Motion(system, kept, y[:, : system.nq], y[:, system.nq :], a, np.zeros(len(kept), np.int64), ranks)


def _position_rates(system: System, y: Array) -> Array:
    """Return dq/dt from the velocities behind q in y."""
    q, v, size, free = y[: system.nq], y[system.nq :], system.coordinates, system.free
    found = np.zeros(system.nq)
    for k in range(len(system.bodies)):
        found[size * k : size * k + 3] = v[free * k : free * k + 3]
        if free == 6:
            turn = rotation.quaternion_rates(
                q[size * k + 3 : size * k + 7].tolist(), v[free * k + 3 : free * k + 6].tolist()
            )
            found[size * k + 3 : size * k + 7] = turn
    found[size * len(system.bodies) :] = v[free * len(system.bodies) :]
    return found


def _start(system: System, mechanism: Mechanism, state: State | None) -> tuple[float, Array, Array]:
    """Return time, coordinates and velocities of bodies, from a state by joints, or as drawn."""
    if state is None:
        values = np.array([law.at(0.0)[0, 0] for law in system.laws])
        try:
            q = reached(system, system.assemble(), values)
        except AssemblyError as error:
            raise SimulationError(str(error)) from error
        system.place(q)
        return 0.0, q, np.zeros(system.n)
    if mechanism.drivers or set(mechanism.constraints) - set(mechanism.couplings):
        raise ModelError("simulate: a state by joints is for mechanisms without constraints and drivers")
    compiled = mechanism.compile()
    poses, speeds = compiled.poses(state.q), compiled.velocities(state.q, state.v)
    q, v = system.drawn(), np.zeros(system.n)
    for k, body in enumerate(system.bodies):
        X, V = poses[body.name], speeds[body.name]
        coordinates = system.algebra.pose_coordinates(X)
        q[system.coordinates * k : system.coordinates * (k + 1)] = [float(x) for x in coordinates]
        turn = X.axes.local(V).scalars()[: system.algebra.angular]
        at = system.free * k
        v[at : at + system.free] = [*map(float, V.v), *map(float, turn)]
    system.place(q)
    return state.t, q, v
