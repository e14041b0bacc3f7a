"""q <- where weighted equations are least: Levenberg's and Marquardt's method, as native code.

    (A^T A + damping) x = -A^T phi,    A = phi_q

The damping falls while steps succeed, towards Newton's method, and grows while they do not, towards the
steepest descent. `newton` has the arrays.
"""

import numpy as np

from linkwork.kinematics.least_squares import solve_damped
from linkwork.kinematics.newton import WORKSPACE, copy, evaluate, largest, move
from linkwork.kinematics.tolerances import STRIDE
from linkwork.native.numba_functions import entry, native


@native
def normal_equations(w, weights, N, g):
    """N, g <- A^T A below its diagonal, -A^T phi, where A and phi are weighted; A is overwritten."""
    m, n = w.phi.size, w.x.size
    for i in range(m):
        for j in range(n):
            w.A[i, j] = 0.0
    for e in range(w.phi_q.size):
        i, j = w.entry_rows[e], w.entry_columns[e]
        w.A[i, j] += w.phi_q[e] * w.columns[j] * weights[i]
    for j in range(n):
        g[j] = 0.0
        for i in range(m):
            g[j] -= w.A[i, j] * weights[i] * w.phi[i]
        for k in range(j + 1):
            total = 0.0
            for i in range(m):
                total += w.A[i, j] * w.A[i, k]
            N[j, k] = total


@entry(
    "float64",
    WORKSPACE,
    "float64[::1]",
    "float64[::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[::1]",
    "int64",
)
def close(w, weights, kept_q, N, L, g, most):
    """q <- where the weighted equations are least (Levenberg, Marquardt); the largest left, weighted.

    The equations need not be satisfiable; a caller looks at what is left.
    """
    m = w.phi.size
    damping, cost = 1e-3, np.inf
    for _ in range(most):
        evaluate(w)
        now = 0.0
        for i in range(m):
            now += (weights[i] * w.phi[i]) ** 2
        if not now < cost:  # worse, or not a number: go back and take a shorter step
            copy(kept_q, w.q)
            damping *= 8.0
            if damping > 1e12:
                break
        else:
            damping = max(damping * 0.2, 1e-14)
            cost = now
            copy(w.q, kept_q)
            if cost < 1e-24:
                break
            normal_equations(w, weights, N, g)
            if largest(g) < 1e-15:
                break
        solve_damped(N, g, damping, w.x, L)
        longest = largest(w.x)
        move(w, w.x, min(1.0, STRIDE / longest) if longest > 0.0 else 1.0)
    copy(kept_q, w.q)
    evaluate(w)
    left = 0.0
    for i in range(m):
        left = max(left, abs(weights[i] * w.phi[i]))
    return left
