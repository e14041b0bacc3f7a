"""Newton's method for many mechanisms alike, each in a lane of SIMD registers: a loop around the step."""

import numpy as np

from linkwork.native.numba_functions import call, entry

_SMALL = 1e-9  # a step after which there is none left, as in `newton`
_OPEN = 1e-7  # largest equation before that step, in sizes of the mechanism
_ROUNDS = 10
_FAR = 1.0  # four times the longest step to begin with, that keeps to a branch [rad, sizes]


@entry(
    None,
    "int64",
    "int64[::1]",
    "int64",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64",
    "bool[::1]",
)
def solve_lanes(step, ports, lanes, u, p, q, size, good):
    """q, good <- positions for values u of the drivers and sizes p, from q; `good` tells which were found.

    u: (N, drivers), p: (N, sizes), q: (N, nq). Room for one block is behind the ports: q, u, p, new q, step.
    """
    count, nq, nu, np_ = len(q), q.shape[1], u.shape[1], p.shape[1]
    room_q, room_u, room_p = (
        np.empty((nq, lanes)),
        np.empty((max(nu, 1), lanes)),
        np.empty((max(np_, 1), lanes)),
    )
    room_new, room_step = np.empty((nq, lanes)), np.empty((2, lanes))
    before = np.empty(lanes)
    ports[0], ports[1] = room_q.ctypes.data, room_u.ctypes.data
    ports[2], ports[3], ports[4] = room_p.ctypes.data, room_new.ctypes.data, room_step.ctypes.data
    for first in range(0, count, lanes):
        width = min(lanes, count - first)
        for l in range(lanes):
            at = first + min(l, width - 1)  # lanes that are not needed repeat the last
            for k in range(nq):
                room_q[k, l] = q[at, k]
            for k in range(nu):
                room_u[k, l] = u[at, k]
            for k in range(np_):
                room_p[k, l] = p[at, k]
            before[l] = _FAR
        for _ in range(_ROUNDS):
            call(step, 0, ports.ctypes.data)
            busy = False
            for l in range(width):
                length = room_step[0, l]
                if before[l] < _SMALL or before[l] == -1.0:
                    continue  # done, or given up
                if not length < 0.25 * before[l] and not length < 1e-11:
                    before[l] = -1.0
                    continue
                before[l] = length
                for k in range(nq):
                    room_q[k, l] = room_new[k, l]
                if length < _SMALL:
                    if not room_step[1, l] < _OPEN * size:
                        before[l] = -1.0
                else:
                    busy = True
            if not busy:
                break
        for l in range(width):
            good[first + l] = before[l] >= 0.0 and before[l] < _SMALL
            if good[first + l]:
                for k in range(nq):
                    q[first + l, k] = room_q[k, l]
