"""p, v, shift <- p, v: what is done about islands that are not solved to the tolerance.

Two things keep contacts of free bodies from being solved. In the instant of a dense impact hundreds of them
change at once: sweeps go on then, in turns, as long as some of them lead anywhere and as there is work.

And gaps *contradict* each other. In a heap that jams, more contacts stick than bodies have freedoms. If some
of them are 1 um apart, others 1 um deep, and all of them are asked to touch at the end of the step, no
velocities do that, and impulses move about for ever, though standing still would satisfy all of them but for
that micrometre. So what nearly touches is taken for touching, b = 0, in the laws; velocities without a
contradiction exist then, u = 0 of what sticks. Gaps b h are made good as places: bodies are shifted by h s in
the middle of the step, the least shift, in energy, with which

    J_n s + b  = 0  where p_n > 0,    >= 0  elsewhere

found by some sweeps over normals. A shift is no velocity: no friction holds it, and what it leaves is left to
the next step. Once gaps are within the slack of what touches (`contact_rows`) there is nothing to shift.

Where no work is saved for factors, islands come here at once.

What was rejected, measured on recorded problems of a tower that is hit and of 216 balls in a box: plain
sweeps (as far after 400 as conjugate ones after 200); Anderson's acceleration of sweeps, of the last 5 or 15,
begun anew where the gradient grows (now ten times nearer, now ten times farther than without); more than 200
factorisations (what they solve is solved by then).
"""

from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, FLAT, NODES, TABLE, WHERE
from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.problem.islands import ISLANDS
from linkwork.contact_dynamics.problem.natural_map import residual_of
from linkwork.contact_dynamics.problem.packed_rows import approach
from linkwork.contact_dynamics.solver.augmented_lagrangian import ROOM, are_loose
from linkwork.contact_dynamics.solver.gauss_seidel import TURN, sweep_island
from linkwork.contact_dynamics.solver.scaled_sweeps import close_gaps, scale_island
from linkwork.native.numba_functions import entry, native, native_apart
from linkwork.native.stages import ASK, GO, SKIP

_MOST = 40  # turns of sweeps over an island,
_LEAST = 2  # those it has in any case,
_CHEAP = 30_000  # contacts that are swept over in any case,
_PATIENCE = 6  # and how many turns may be in vain, one after the other
_DEEPER = 0.3  # of the tolerance, to which it is solved: so the next problem may need no solution
_NEARLY = 5e-3  # what closes so slowly until the next step nearly touches [m/s]
_CLOSINGS = 20  # sweeps over normals
_APART = 1e300


@entry(
    "int64",
    *(ISLANDS, "int64", FLAT, "float64", "float64", TABLE),
)
def ask_for_factors(islands, count, saved, enough, tolerance, answer):
    """Ask for `improve` if an unsolved island has saved `enough` work."""
    for i in range(count):
        if answer[i, 0] <= tolerance or answer[i, 5] > 0.0:
            continue
        members, work = islands.node[islands.first_node[i] : islands.first_node[i + 1]], 0.0
        for j in members:
            work += saved[j]
        if work / len(members) >= enough:
            return ASK
    return GO


@entry(
    "float64",
    *(NODES, CONTACTS, TABLE, FLAT, ISLANDS, "int64", ROOM, WHERE, FLAT, "float64", TABLE, FLAT),
)
def settle_unsolved(nodes, c, p, v, islands, count, room, loose, saved, tolerance, answer, start):
    """Solve islands as far as it goes; what stays unsolved gains no energy. Return the worst residual.

    The step starts with velocities `start`. Gaps between nodes that are all `loose` may be closed by shifts,
    which are written to `room.shift`.
    """
    worst = 0.0
    for i in range(count):
        if answer[i, 0] > tolerance and answer[i, 5] == 0.0:
            answer[i, 0] = _settle(nodes, c, p, v, islands, i, room, loose, saved, tolerance)
        if answer[i, 0] > tolerance:
            residual_of(nodes, c, room, p, v, room.gradient, islands, i)
            _bound_energy(nodes, c, p, v, room.gradient, islands, i, start)
        worst = max(worst, answer[i, 0])
    return worst


@native_apart
def _settle(nodes, c, p, v, islands, i, room, loose, saved, tolerance):
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    work, shifts = 0.0, are_loose(loose, members)
    for j in members:
        work += saved[j]
    count = islands.first_contact[i + 1] - islands.first_contact[i]
    turns = int(min(max(work / (TURN * len(members)), _LEAST, _CHEAP / (TURN * count)), _MOST))
    if shifts:
        _loosen(c, islands, i, room.wanted)
    off = residual_of(nodes, c, room, p, v, room.gradient, islands, i)
    if off > tolerance:
        enough = _DEEPER * tolerance
        off, done = sweep_island(nodes, c, p, v, room, islands, i, off, enough, turns, _PATIENCE, True)
        for j in members:
            saved[j] = max(saved[j] - TURN * done, min(saved[j], 0.0))
    elif shifts:
        scale_island(nodes, c, room, islands, i)
    if shifts:
        _shift(nodes, c, p, v, islands, i, room)
    return off


@native
def _loosen(c, islands, i, wanted):
    """Let contacts touch that nearly do; write what gaps are `wanted` [m/s]."""
    for k in islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]:
        wanted[k] = _APART
        if c.kind[k] == COULOMB:
            wanted[k] = c.bias[k, 0]
            if c.bias[k, 0] < _NEARLY:
                c.bias[k, 0] = c.bias[k, 1] = c.bias[k, 2] = 0.0


@native_apart
def _shift(nodes, c, p, v, islands, i, room):
    """Write the shift of an island [m/s]."""
    wanted = room.wanted
    for k in islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]:
        if wanted[k] != _APART and c.bias[k, 0] != 0.0:
            wanted[k] = approach(nodes, c, room, k, v)
    close_gaps(nodes, c, p, room, islands, i, wanted, _APART, _CLOSINGS)


@native_apart
def _bound_energy(nodes, c, p, v, g, islands, i, start):
    """Scale impulses that would make energy.

    From velocities v0 at the start forces make v_f, and impulses p, times s, v(s) = v_f + s (v - v_f). Of
    what the kinetic energy changes by, M (v(s) - v0) . (v0 + v(s)) / 2, contacts do s g . (v0 + v(s)) / 2
    with g = J^T p, and forces the rest. Contacts do nothing at

        s = g . (v0 + v_f) / g . (v_f - v).

    With v_f in place of v0, what lies still would be allowed m (g h)^2 / 2 in each step that is not solved.
    Where no s is above 0, since bodies part while contacts press, that is the bound all the same.
    """
    gained, paid, all_paid, moved = 0.0, 0.0, 0.0, 0.0
    members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
    contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            gained += 0.5 * g[q] * (start[q] + v[q])
            paid -= 0.5 * g[q] * (start[q] + nodes.free[q])
            all_paid -= g[q] * nodes.free[q]
            moved += g[q] * (v[q] - nodes.free[q])
    for k in contacts:  # what gaps that are pushed apart may bring
        gained += min(c.bias[k, 0], 0.0) * p[k, 0]
    if gained <= 0.0:
        return
    paid = paid if paid > 0.0 else all_paid
    scale = min(max(2.0 * paid / moved, 0.0), 1.0) if moved > 0.0 else 0.0
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            v[q] = nodes.free[q] + scale * (v[q] - nodes.free[q])
    for k in contacts:
        p[k, 0], p[k, 1], p[k, 2] = scale * p[k, 0], scale * p[k, 1], scale * p[k, 2]


@entry("int64", FLAT)
def unless_shifted(shift):
    """Skip what follows unless something is shifted."""
    for i in range(len(shift)):
        if shift[i] != 0.0:
            return GO
    return SKIP
