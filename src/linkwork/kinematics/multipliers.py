"""a, lambda <- M, h, phi_q, gamma: accelerations and forces of constraints together, dense, as native code.

    [ M      phi_q^T ] [    a    ]   [ -h    ]
    [ phi_q  0       ] [ -lambda ] = [ gamma ]

Lengths are scaled by the size of the mechanism, rows of phi_q to length one, M by its largest number.
Redundant equations make it singular: lambda is then the shortest that does, by orthogonal factors.
"""

from collections import namedtuple

import numpy as np

from linkwork.kinematics.least_squares import fill, shortest
from linkwork.kinematics.newton import WORKSPACE, evaluate
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import call, entry, native

_NOTHING = 1e-11  # pivot, relative, of equations that follow from others

Augmented = namedtuple("Augmented", "A b x order hidden kept phi")  # for n + m unknowns
_AUGMENTED = Named(
    Augmented,
    dict.fromkeys(Augmented._fields, "float64[::1]") | {"A": "float64[:, ::1]", "order": "int64[::1]"},
)


def augmented(size: int) -> Augmented:
    """Return the arrays of `shortest` for a number of unknowns."""
    A, order = np.zeros((size, size)), np.zeros(size, np.int64)
    b, x, hidden, kept, phi = (np.zeros(size) for _ in range(5))
    return Augmented(A=A, b=b, x=x, order=order, hidden=hidden, kept=kept, phi=phi)


@entry(None, "int64", "int64[::1]", "int64[::1]")
def single_bodies(run, plan, ports):
    """M, h, rates <- q, v of single bodies; see `rigid_bodies`."""
    call(run, plan.ctypes.data, ports.ctypes.data)


@native
def place_masses(w, k, M, rotors):
    """K <- the scaled mass matrix, of bodies and of rotors (n, n), if any; its largest number."""
    n, free, c = w.x.size, w.free, w.columns
    for i in range(k.x.size):
        for j in range(k.x.size):
            k.A[i, j] = 0.0
    for body in range(w.bodies):
        at = free * body
        for i in range(free):
            for j in range(free):
                k.A[at + i, at + j] = c[at + i] * M[body, i, j] * c[at + j]
    top = 0.0
    for i in range(n):
        for j in range(n):
            if rotors.size > 0:
                k.A[i, j] += c[i] * rotors[i, j] * c[j]
            top = max(top, abs(k.A[i, j]))
    return max(top, 1e-300)


@entry(
    None,
    WORKSPACE,
    _AUGMENTED,
    "int64",
    "int64[::1]",
    "int64[::1]",
    "float64[:, :, ::1]",
    "float64[::1]",
    "float64[:, ::1]",
    "float64[::1]",
    "float64[::1]",
    "float64[::1]",
)
def accelerate(w, k, run, plan, ports, M, h, rotors, applied, a, forces):
    """a, forces <- q, v, u; `run`, `plan` and `ports` compute M and h, `applied` are other forces (n,)."""
    n, m = w.x.size, w.phi.size
    evaluate(w)
    call(w.run, w.rates.ctypes.data, w.ports.ctypes.data)
    call(run, plan.ctypes.data, ports.ctypes.data)
    inertia = place_masses(w, k, M, rotors)
    fill(w)
    for i in range(n):
        k.b[i] = (applied[i] - h[i]) * w.columns[i] / inertia
        for j in range(n):
            k.A[i, j] /= inertia
    for i in range(m):
        k.b[n + i] = w.acceleration[i] * w.rows[i]
        for j in range(n):
            k.A[n + i, j] = w.A[i, j]
            k.A[j, n + i] = w.A[i, j]
    shortest(k, _NOTHING)
    for j in range(n):
        a[j] = k.x[j] * w.columns[j]
    for i in range(m):
        forces[i] = -k.x[n + i] * w.rows[i] * inertia
