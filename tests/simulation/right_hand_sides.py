"""Small equations of motion as native code, for one lane or many: what the loop is tested with."""

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from linkwork.native.numba_functions import doubles, integers
from linkwork.simulation.loop.programs import PROGRAMS, Program
from linkwork.simulation.problem import Problem

Formula = Callable[..., None]  # (inputs, results): fills the array of results, knows nothing of lanes
_alive: list[Any] = []


@functools.cache
def _native(formula: Formula, sizes: tuple[int, ...], inputs: int, lanes: int) -> int:
    """Compile a formula over ports of these sizes, the first `inputs` of them read; return its address."""
    one, ports, total = numba.njit(error_model="numpy")(formula), len(sizes), sum(sizes)
    first = tuple(int(x) for x in np.cumsum((0, *sizes)))
    read = first[inputs]

    @numba.cfunc("void(int64,int64)", error_model="numpy")
    def run(plan, table):
        addresses = integers(table, ports)
        x = np.empty(total)
        for l in range(lanes):
            for p in range(inputs):
                port = doubles(addresses[p], sizes[p] * lanes)
                for i in range(sizes[p]):
                    x[first[p] + i] = port[i * lanes + l]
            one(x[:read], x[read:])
            for p in range(inputs, ports):
                port = doubles(addresses[p], sizes[p] * lanes)
                for i in range(sizes[p]):
                    port[i * lanes + l] = x[first[p] + i]

    _alive.append(run)
    address = ctypes.cast(run.ctypes, ctypes.c_void_p).value
    assert address is not None
    return address


def _program(
    name: str, formula: Formula, sizes: tuple[int, ...], inputs: int, lanes: int, order: Sequence[str] = ()
) -> Program:
    """Return a formula as a program of PROGRAMS; `order` is that of the formula's ports, if another."""
    ports = (*order, *(port for port in PROGRAMS[name] if port not in order))
    return Program.of_ports(_native(formula, sizes, inputs, lanes), ports)


def motion(formula: Formula, nq: int = 1, nv: int = 1, lanes: int = 1) -> Program:
    """Return t, q, v -> q', v', power as a program."""
    return _program("motion", formula, (1, nq, nv, nq, nv, 1), 3, lanes)


def rates(formula: Formula, nq: int = 1, nv: int = 1, lanes: int = 1) -> Program:
    """Return t, q, v -> q' as a program with the ports of motion."""
    return _program("rates", formula, (1, nq, nv, nq), 3, lanes)


def events(formula: Formula, count: int, nq: int = 1, nv: int = 1, lanes: int = 1) -> Program:
    """Return t, q, v -> g as a program."""
    return _program("event_functions", formula, (1, nq, nv, count), 3, lanes)


def tangent(formula: Formula, nq: int = 1, nv: int = 1, lanes: int = 1) -> Program:
    """Return (t, q, v), (dt, dq, dv) -> the derivative of motion as a program.

    The formula gets six inputs; the ports in between, where a tangent writes values, stay untouched.
    """
    order = ("t", "q", "qd", "dt", "dq", "dqd", "dqdot", "dqdd", "dpower")
    return _program("tangent", formula, (1, nq, nv, 1, nq, nv, nq, nv, 1), 6, lanes, order)


def problem_of(**options: Any) -> Problem:
    """Return a problem whose programs are among the options, by name."""
    programs = {name: options.pop(name) for name in PROGRAMS if name in options}
    return Problem(programs=programs, **options)


def pendulum(x, f):
    """Swing, and count v^2 as power."""
    f[0] = x[2]
    f[1] = -9.81 * math.sin(x[1])
    f[2] = x[2] * x[2]


def pendulum_rates(x, f):
    """Return the velocity."""
    f[0] = x[2]


def pendulum_tangent(x, f):
    """Differentiate the pendulum."""
    f[0] = x[5]
    f[1] = -9.81 * math.cos(x[1]) * x[4]
    f[2] = 2.0 * x[2] * x[5]


def kepler(x, f):
    """Go round the sun in the plane."""
    r = math.sqrt(x[1] * x[1] + x[2] * x[2])
    f[0], f[1] = x[3], x[4]
    f[2], f[3] = -x[1] / (r * r * r), -x[2] / (r * r * r)
    f[4] = 0.0


def driven(x, f):
    """Oscillate under a force that depends on time; from (0, 3) the answer is q = sin(3 t) e^(t/3)."""
    t, q, v = x[0], x[1], x[2]
    s, c, e = math.sin(3.0 * t), math.cos(3.0 * t), math.exp(t / 3.0)
    exact, rate = s * e, (3.0 * c + s / 3.0) * e
    second = (-9.0 * s + 2.0 * c + s / 9.0) * e
    f[0] = v
    f[1] = second - 4.0 * (q - exact) - 0.5 * (v - rate) - (q * q - exact * exact)
    f[2] = rate


def tumbling(x, f):
    """Turn a free body, inertias 1, 2, 3: a quaternion and the angular velocity in the body."""
    w, i, j, k, a, b, c = x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    f[0] = 0.5 * (-i * a - j * b - k * c)
    f[1] = 0.5 * (w * a + j * c - k * b)
    f[2] = 0.5 * (w * b + k * a - i * c)
    f[3] = 0.5 * (w * c + i * b - j * a)
    f[4], f[5], f[6] = (2.0 - 3.0) * b * c, (3.0 - 1.0) / 2.0 * c * a, (1.0 - 2.0) / 3.0 * a * b
    f[7] = 0.0


def van_der_pol(x, f):
    """Oscillate by relaxation, stiff."""
    f[0] = x[2]
    f[1] = 1e4 * (1.0 - x[1] * x[1]) * x[2] - x[1]
    f[2] = x[2]


def prothero_robinson(x, f):
    """Follow v = cos t under a rate of 1e6."""
    f[0] = x[2]
    f[1] = -1e6 * (x[2] - math.cos(x[0])) - math.sin(x[0])
    f[2] = 0.0


def explosion(x, f):
    """Grow as v' = v^2, from v = 1 to infinity at t = 1."""
    f[0], f[1], f[2] = 0.0, x[2] * x[2], 0.0


def free_fall(x, f):
    """Fall."""
    f[0], f[1], f[2] = x[2], -9.81, 0.0


def waiting(x, f):
    """Move at constant speed."""
    f[0], f[1], f[2] = x[2], 0.0, 0.0


def root_of_time(x, f):
    """Need the square root of 1 - t, which ends at t = 1."""
    f[0], f[1], f[2] = x[2], math.sqrt(1.0 - x[0]), 0.0


def struck(x, f):
    """Be hit at t = 1, for a hundredth of a second, after a quiet time."""
    f[0], f[1], f[2] = x[2], -x[1] + 1e3 * math.exp(-(((x[0] - 1.0) / 0.01) ** 2)), 0.0


def tapped(x, f):
    """Do nothing but to be hit at t = 1."""
    f[0], f[1], f[2] = x[2], 1e3 * math.exp(-(((x[0] - 1.0) / 0.01) ** 2)), 0.0
