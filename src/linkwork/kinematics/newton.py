"""Newton-Raphson on the coordinates of bodies, as native code: q <- where all equations are satisfied.

All functions share the arrays of a `Workspace`: `w` below. `least_squares` solves the equations of a step.
"""

from collections import namedtuple

import numpy as np

from linkwork.kinematics.least_squares import factor, fill, solved
from linkwork.kinematics.tolerances import NOISE, OPEN, ROUNDING, ROUNDS, SLOW, SMALL
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import call, entry, native

Workspace = namedtuple(
    "Workspace",
    "run positions rates ports bodies coordinates free q v a u ref located phi phi_q velocity acceleration "
    "entry_rows entry_columns columns rows A b x order hidden tangent memory kept",
)
_INTEGERS = ("positions", "rates", "ports", "entry_rows", "entry_columns", "order")
WORKSPACE = Named(
    Workspace,
    dict.fromkeys(Workspace._fields, "float64[::1]")
    | dict.fromkeys(_INTEGERS, "int64[::1]")
    | dict.fromkeys(("run", "bodies", "coordinates", "free"), "int64")
    | {"A": "float64[:, ::1]"},
)


@native
def evaluate(w):
    """phi, phi_q <- q, u"""
    call(w.run, w.positions.ctypes.data, w.ports.ctypes.data)


@native
def move(w, x, share):
    """q <- q moved by a share of x, which is scaled."""
    free, size = w.free, w.coordinates
    q = w.q
    for body in range(w.bodies):
        at, to = free * body, size * body
        if free == 3:
            for k in range(3):
                q[to + k] += share * x[at + k] * w.columns[at + k]
            continue
        for k in range(3):
            q[to + k] += share * x[at + k] * w.columns[at + k]
        a, b, c = (0.5 * share * x[at + 3], 0.5 * share * x[at + 4], 0.5 * share * x[at + 5])
        s, i, j, k = q[to + 3], q[to + 4], q[to + 5], q[to + 6]
        s1 = s - i * a - j * b - k * c
        i1 = i + s * a + j * c - k * b
        j1 = j + s * b + k * a - i * c
        k1 = k + s * c + i * b - j * a
        length = np.sqrt(s1 * s1 + i1 * i1 + j1 * j1 + k1 * k1)
        q[to + 3], q[to + 4], q[to + 5], q[to + 6] = s1 / length, i1 / length, j1 / length, k1 / length
    at, to = free * w.bodies, size * w.bodies
    for k in range(w.x.size - at):
        q[to + k] += share * x[at + k] * w.columns[at + k]


@native
def copy(x, to):
    """to <- x, of the same length"""
    for k in range(x.size):
        to[k] = x[k]


@native
def largest(x):
    top = 0.0
    for value in x:
        if not abs(value) <= top:
            top = abs(value)
    return top


@native
def correct(w):
    """q <- where all equations are satisfied, near q; how far it moved, or -1 if it does not get there."""
    before, way, open_by = np.inf, 0.0, np.inf
    for _ in range(ROUNDS):
        evaluate(w)
        fill(w)
        open_by = 0.0
        for i in range(w.phi.size):
            w.b[i] = -w.phi[i] * w.rows[i]
            open_by = max(open_by, abs(w.b[i]))
        if not np.isfinite(open_by):
            return -1.0
        solved(w, factor(w))
        step = largest(w.x)
        if not np.isfinite(step):
            return -1.0
        if step > SLOW * before and step > NOISE:
            break
        move(w, w.x, 1.0)
        way += step
        if step < SMALL:
            return way if open_by < OPEN else -1.0
        before = step
    return way if open_by < ROUNDING else -1.0  # at a dead point steps stay long


@native
def wanted(w, what):
    """b <- what phi_q v, or phi_q a, has to be, scaled."""
    for i in range(w.phi.size):
        w.b[i] = what[i] * w.rows[i]


@native
def look(w):
    """A, rows <- at q, factored; the sign of the determinant."""
    evaluate(w)
    fill(w)
    return factor(w)


@entry("float64", WORKSPACE)
def polish(w):
    """q <- where all equations are satisfied, near q; how far it moved, -1 if it does not get there."""
    return correct(w)


@entry(None, WORKSPACE)
def look_at(w):
    """phi, phi_q <- q, u"""
    evaluate(w)


@entry(None, WORKSPACE, "float64[::1]")
def shift(w, x):
    """q <- q moved by x, which is scaled."""
    move(w, x, 1.0)


@entry(None, WORKSPACE)
def look_at_rates(w):
    """velocity, acceleration, located <- q, v, u"""
    call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
