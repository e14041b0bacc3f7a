"""a, lambda <- t, q, v: dynamics in the coordinates of all bodies, with a Lagrange multiplier per equation.

    [ M      phi_q^T ] [    a    ]   [ -h    ]
    [ phi_q  0       ] [ -lambda ] = [ gamma ]

The textbook version, dense and in NumPy: the oracle of recursive dynamics. M and h are those of single
bodies by Newton and Euler. (Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989,
equation 6.3.18.)
"""

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.kinematics import newton
from linkwork.kinematics.body_quantities import position_rates
from linkwork.kinematics.driver_forces import BodyStates, moving, required
from linkwork.kinematics.equation_system import System, system_of, undriven_model
from linkwork.kinematics.joint_coordinates import of_bodies
from linkwork.recording.channels import LiveChannels

Array = np.ndarray

NOTHING = 1e-11  # a singular value, relative, of equations that follow from others


def look(system: System, t: float, q: Array, v: Array) -> Array:
    """Return phi_q; phi, the velocities and the accelerations that equations ask for are in system.w."""
    w = system.w
    w.q[:], w.v[:] = q, v
    for k, law in enumerate(system.laws):
        w.u[3 * k : 3 * k + 3] = law.at(t)[0]
    A = system.matrix(q)
    newton.look_at_rates(w)
    return A


def acceleration(system: System, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Return accelerations (n,) and multipliers (m,), the least where they are not unique."""
    n, m, c = system.n, system.m, system.columns
    units = np.vstack([np.zeros(n), np.eye(n)])
    forces = moving(system, BodyStates(system, np.tile(q, (n + 1, 1)), np.tile(v, (n + 1, 1)), units))
    M = (forces[1:] - forces[0]).T
    h = required(system, BodyStates(system, q[None], v[None], np.zeros((1, n))), np.array([t]))[0]
    A = look(system, t, q, v) * c
    lengths = np.linalg.norm(A, axis=1)
    rows = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 1.0)
    mass, A = c[:, None] * M * c, rows[:, None] * A
    top = np.abs(mass).max()
    K = np.block([[mass / top, A.T], [A, np.zeros((m, m))]])
    right = np.concatenate([-h * c / top, system.w.acceleration * rows])
    x = np.linalg.lstsq(K, right, rcond=NOTHING)[0]
    return x[:n] * c, -x[n:] * rows * top


def projected(system: System, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the nearest state that satisfies all equations."""
    look(system, t, q, v)
    assert system.polish() >= 0.0
    q = system.w.q.copy()
    A = look(system, t, q, v)
    change = np.linalg.lstsq(A * system.columns, system.w.velocity - A @ v, rcond=NOTHING)[0]
    return q, v + change * system.columns


def simulate_maximal(
    mechanism: lw.Mechanism, times: Array, state: lw.State | None = None, accuracy: float = 1e-9
) -> lw.KinematicRecording:
    """Let a mechanism move from a state, at the first of the times, and look at it at all of them."""
    system, model = system_of(mechanism.copy()), undriven_model(mechanism)
    start = mechanism.compile().state() if state is None else state
    q, v = of_bodies(system, model, start.q, start.v)
    system.place(q)
    nq, found = system.nq, [projected(system, times[0], q, v)]

    def rates(t: float, y: Array) -> Array:
        q, v = y[:nq], y[nq:]
        return np.concatenate([position_rates(system, q, v), acceleration(system, t, q, v)[0]])

    for begin, end in pairwise(times):
        y = np.concatenate(found[-1])
        y = solve_ivp(rates, (begin, end), y, "DOP853", rtol=accuracy, atol=accuracy).y[:, -1]
        found.append(projected(system, end, y[:nq], y[nq:]))
    q, v = (np.array(each) for each in zip(*found, strict=True))
    a = np.array([acceleration(system, *at)[0] for at in zip(np.asarray(times).tolist(), q, v, strict=True)])
    return lw.KinematicRecording(LiveChannels(system), np.array(times, float), q, v, a, by_hand=True)
