"""Newton's method for many mechanisms alike, each in a lane of SIMD registers: a loop around the step."""

import numpy as np

from linkwork.trace.compiled import call, entry

_SMALL = 1e-9  # a step after which there is none left, as in `newton`
_OPEN = 1e-6  # largest equation before that step, in sizes of the mechanism
_ROUNDS = 10


@entry
def solve_lanes(step, ports, lanes, u, q, size, good):
    """q, good <- positions for values u of the drivers, from q; `good` tells which were found.

    u: (N, drivers), q: (N, nq). Room for one block is behind the ports: q, u, new q, step.
    """
    count, nq, nu = len(q), q.shape[1], u.shape[1]
    room_q, room_u = np.empty((nq, lanes)), np.empty((max(nu, 1), lanes))
    room_new, room_step = np.empty((nq, lanes)), np.empty((2, lanes))
    before = np.empty(lanes)
    ports[0], ports[1] = room_q.ctypes.data, room_u.ctypes.data
    ports[2], ports[3] = room_new.ctypes.data, room_step.ctypes.data
    for first in range(0, count, lanes):
        width = min(lanes, count - first)
        for l in range(lanes):
            at = first + min(l, width - 1)  # lanes that are not needed repeat the last
            for k in range(nq):
                room_q[k, l] = q[at, k]
            for k in range(nu):
                room_u[k, l] = u[at, k]
            before[l] = np.inf
        for _ in range(_ROUNDS):
            call(step, 0, ports.ctypes.data)
            busy = False
            for l in range(width):
                length = room_step[0, l]
                if before[l] < _SMALL or before[l] == -1.0:
                    continue  # done, or given up
                if not length < 0.5 * before[l] and not length < 1e-11:
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
    return 0
