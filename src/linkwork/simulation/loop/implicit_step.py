"""A step of the Rosenbrock method, for one lane: tableau.Rosenbrock says the equations."""

import math

from linkwork.native.dense_factors import factor, substitute
from linkwork.native.numba_functions import doubles, integers, native
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.explicit_step import relative_errors, weigh_errors
from linkwork.simulation.loop.lane_records import is_finite, lane_of, rate_of
from linkwork.simulation.loop.records import Failure
from linkwork.simulation.loop.redundancy import watch_rows
from linkwork.simulation.loop.state_jacobian import differentiate


@native
def _prepare(run, h):
    """Factor I/(h gamma) - J, unless it is; return a Failure."""
    m = run.n - 1
    if not run.differentiated:
        differentiate(run)
    if not math.isfinite(run.norm):
        return Failure.NOT_FINITE.value
    if run.factored != h:
        a, jacobian = doubles(run.factors), doubles(run.jacobian)
        for i in range(m):
            for j in range(m):
                a[i * m + j] = -jacobian[i * run.n + j]
            a[i * m + i] += 1.0 / (h * run.gamma)
        run.factored = 0.0
        if not factor(run.factors, integers(run.pivots), m):
            return Failure.SINGULAR.value
        run.factored = h
    return Failure.NONE.value


@native
def _implicit_stage(run, s, h):
    """u_s <- stage s of the implicit method, f in stage min(s, 1) of k."""
    n, m = run.n, run.n - 1
    f, u, jacobian = doubles(rate_of(run, min(s, 1))), doubles(run.u), doubles(run.jacobian)
    c = doubles(run.ros_c + 8 * s * run.ros_stages)
    gamma = doubles(run.ros_gammas)[s]
    for i in range(n):
        u[s * n + i] = f[i] + h * gamma * jacobian[i * n + m]
    for j in range(s):
        for i in range(n):
            u[s * n + i] += c[j] / h * u[j * n + i]
    substitute(doubles(run.factors), integers(run.pivots), m, doubles(run.u + 8 * s * n))
    # Work depends on the motion, and nothing on work: its equation is solved last.
    for j in range(m):
        u[s * n + m] += jacobian[m * n + j] * u[s * n + j]
    u[s * n + m] *= h * run.gamma


@native
def implicit_step(run):
    """new, estimate <- a Rosenbrock step of the only lane; return a Failure.

    Where it is not finite, `stage` and `time` say where that was.
    """
    n, l = run.n, run.lanes - 1
    h = lane_of(run, l).step
    t, time, y = doubles(run.t), doubles(run.time), doubles(run.stage)
    base, new, estimate = doubles(run.base), doubles(run.new), doubles(run.estimate)
    u, alpha = doubles(run.u), doubles(run.ros_alpha)
    failure = _prepare(run, h)
    for s in range(run.ros_stages):
        a = doubles(run.ros_a + 8 * s * run.ros_stages)
        for i in range(n):
            y[i] = base[i]
        for j in range(s):
            for i in range(n):
                y[i] += a[j] * u[j * n + i]
        time[0] = t[0] + alpha[s] * h
        if failure:
            return failure
        if s > 0:
            evaluate(run, run.motion, run.time, run.stage, rate_of(run, 1))
            if run.rows:
                watch_rows(run, run.time, run.stage)
            if not is_finite(run, rate_of(run, 1), n, l):
                return Failure.NOT_FINITE.value
        _implicit_stage(run, s, h)
    for i in range(n):
        estimate[i] = u[(run.ros_stages - 1) * n + i]
        new[i] = y[i] + estimate[i]
    if not is_finite(run, run.new, n, l):
        return Failure.NOT_FINITE.value
    weigh_errors(run)
    relative_errors(run)
    return Failure.NONE.value
