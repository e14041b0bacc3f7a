"""Newton's method for many mechanisms alike, each in a lane of SIMD registers: a loop around the step."""

import numpy as np

from linkwork.kinematics.step_ports import LARGEST, LENGTH, PORTS
from linkwork.kinematics.tolerances import NOISE, OPEN, SMALL
from linkwork.native.numba_functions import call, entry, native

_ROUNDS = 10
_FAR = 1.0  # four times the longest step to begin with, that keeps to a branch [rad, sizes]
_FASTER = 0.25  # ratio of steps, at most
_GIVEN_UP = -1.0  # instead of the length of a step
_Q, _U, _P, _REF, _NEW, _REPORT = (PORTS.index(word) for word in ("q", "u", "p", "ref", "new", "report"))


@native
def _spread(rows, first, width, block):
    """block <- one row per lane; lanes that are not needed repeat the last."""
    for k in range(rows.shape[1]):
        for l in range(block.shape[1]):
            block[k, l] = rows[first + min(l, width - 1), k]


@entry(
    None,
    "int64",
    "int64",
    "int64[::1]",
    "int64",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64",
    "bool[::1]",
)
def solve_lanes(step, count_turns, ports, lanes, u, p, ref, q, size, good):
    """q, good <- positions for values u of the drivers and sizes p, from q; `good` says which were found.

    u: (N, drivers), p: (N, sizes), ref: (N, references), q: (N, nq). What lanes share is behind the ports.
    The references are first found from q and u, if there is something to count turns with: its address.
    """
    count, nq = q.shape
    block_q, block_u, block_p, block_ref = (
        np.empty((nq, lanes)),
        np.empty((u.shape[1] + 1, lanes)),
        np.empty((p.shape[1] + 1, lanes)),
        np.empty((ref.shape[1] + 1, lanes)),
    )
    new, report, before = np.empty((nq, lanes)), np.empty((2, lanes)), np.empty(lanes)
    ports[_Q], ports[_U], ports[_P] = block_q.ctypes.data, block_u.ctypes.data, block_p.ctypes.data
    ports[_REF], ports[_NEW], ports[_REPORT] = block_ref.ctypes.data, new.ctypes.data, report.ctypes.data
    for first in range(0, count, lanes):
        width = min(lanes, count - first)
        _spread(q, first, width, block_q)
        _spread(u, first, width, block_u)
        _spread(p, first, width, block_p)
        _spread(ref, first, width, block_ref)
        if count_turns:
            call(count_turns, 0, ports.ctypes.data)
            for l in range(width):
                for k in range(ref.shape[1]):
                    ref[first + l, k] = block_ref[k, l]
        for l in range(lanes):
            before[l] = _FAR
        for _ in range(_ROUNDS):
            call(step, 0, ports.ctypes.data)
            busy = False
            for l in range(width):
                length = report[LENGTH, l]
                if before[l] < SMALL:
                    continue  # arrived, or given up
                if not length < _FASTER * before[l] and not length < NOISE:
                    before[l] = _GIVEN_UP
                    continue
                before[l] = length
                for k in range(nq):
                    block_q[k, l] = new[k, l]
                if length < SMALL:
                    if not report[LARGEST, l] < OPEN * size:
                        before[l] = _GIVEN_UP
                else:
                    busy = True
            if not busy:
                break
        for l in range(width):
            good[first + l] = before[l] >= 0.0 and before[l] < SMALL
            if good[first + l]:
                for k in range(nq):
                    q[first + l, k] = block_q[k, l]
