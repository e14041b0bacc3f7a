"""accelerations <- q, v, t: active contacts in fixed modes, and what keeps them closed. Native parts.

An *open* contact exerts nothing. A *sliding* one holds its normal distance, and its force is N along the
normal and mu N against the slip: one unknown, along c = n - mu d. A *sticking* one holds all three
directions. Resistance to spinning and to rolling is the same, with moments up to torsional or rolling times
N. With the rows R of what is held, those of closed loops among them, the directions C of forces, and b the
relative accelerations along the rows without contact,

    R M^-1 C^T x = -b

Rows may be redundant, as those of a box on four corners: the accelerations are unique then, the forces are
not. Of all that do it the nearest to given ones are taken: those that the problem with its inequalities was
solved with when the modes were found.
"""

from linkwork.contact_dynamics.event_driven.active_record import GAP, NUMBERS, SLIDING, STICKING
from linkwork.contact_dynamics.event_driven.active_rows import (
    along_rows,
    fill_drift,
    fill_rows,
    follow,
    go_to,
)
from linkwork.contact_dynamics.event_driven.joint_modes import (
    fill_joint_forces,
    hold_joints,
    joints_act,
    look_at_joints,
    rub_joints,
)
from linkwork.contact_dynamics.event_driven.mode_margins import COUNT, FIRST, SLOW, fill_directions
from linkwork.contact_dynamics.problem.least_norm import smallest
from linkwork.contact_dynamics.problem.nodes import inertia
from linkwork.native.numba_functions import call, doubles, integers, native, native_apart

_JUMP = 1e-3  # of the speeds at a contact: more is no drift


@native
def _hold_row(r, k, number):
    """Hold a row of contacts, the force along it unknown; return how many rows there are."""
    rows, held, pushed = doubles(r.rows), doubles(r.held), doubles(r.pushed)
    for i in range(r.nv):
        held[k * r.nv + i] = pushed[k * r.nv + i] = rows[number * r.nv + i]
    integers(r.which)[k] = number
    return k + 1


@native
def _rub(r, k, number, factor):
    """Add to what an unknown pushes that along a row of contacts."""
    rows, pushed = doubles(r.rows), doubles(r.pushed)
    for i in range(r.nv):
        pushed[k * r.nv + i] += factor * rows[number * r.nv + i]


@native
def _hold_contacts(r, rubs):
    """Hold what modes say; where it is `rubs`, sliding ones rub. Return how many rows there are."""
    mode, bound, direction, k = integers(r.mode), doubles(r.bound), doubles(r.direction), 0
    for c in range(r.count):
        first = r.wide * c
        normal, k = k, _hold_row(r, k, first)
        for part in range(r.wide // 3 * 2 - 1):
            for i in range(COUNT[part]):
                row = FIRST[part] + i
                if mode[3 * c + part] == STICKING:
                    k = _hold_row(r, k, first + row)
                elif mode[3 * c + part] == SLIDING and rubs:
                    _rub(r, normal, first + row, -bound[3 * c + part] * direction[6 * c + row])
    return k


@native
def _hold_loops(r, k):
    """Hold closed loops, links being placed at `where`; return how many rows there are."""
    unit, opening = doubles(r.unit), doubles(r.opening)
    held, pushed, which = doubles(r.held), doubles(r.pushed), integers(r.which)
    if r.loops:
        for i in range(r.nv):
            unit[i] = 1.0
            call(r.openings, r.openings_plan, r.openings_table)
            unit[i] = 0.0
            for row in range(r.loops):
                held[(k + row) * r.nv + i] = pushed[(k + row) * r.nv + i] = opening[row]
        for row in range(r.loops):
            which[k + row] = -1
    return k + r.loops


@native
def _respond(r, tree, inverse, push, answer):
    """Write M^-1 of what pushes; both by address."""
    x, y = doubles(push), doubles(answer)
    for node in range(len(tree.size)):
        n, first, at, any_ = tree.size[node], tree.first[node], tree.at[node], False
        for i in range(first, first + n):
            any_ = any_ or x[i] != 0.0
        for row in range(n):
            s = 0.0
            if any_:
                for i in range(n):
                    s += inverse[at + row * n + i] * x[first + i]
            y[first + row] = s


@native
def _fill_matrix(r, tree, inverse, k):
    """Write M^-1 of what unknowns push, and what that does along the rows held."""
    held, answer, A = doubles(r.held), doubles(r.answer), doubles(r.matrix)
    for j in range(k):
        _respond(r, tree, inverse, r.pushed + 8 * j * r.nv, r.answer + 8 * j * r.nv)
    for i in range(k):
        for j in range(k):
            s = 0.0
            for m in range(r.nv):
                s += held[i * r.nv + m] * answer[j * r.nv + m]
            A[i * k + j] = s


@native
def _fill_change(r, k):
    """Write the change of velocities by unknowns x."""
    x, answer, change = doubles(r.x), doubles(r.answer), doubles(r.change)
    for i in range(r.nv):
        change[i] = 0.0
    for j in range(k):
        for i in range(r.nv):
            change[i] += answer[j * r.nv + i] * x[j]


@native
def _along(r, k, x):
    """Return what row k, among those held, makes of a vector."""
    held, s = doubles(r.held), 0.0
    for i in range(r.nv):
        s += held[k * r.nv + i] * x[i]
    return s


@native
def look(r, tree, poses, J, F, added, mass, inverse):
    """Be at q: inertia, contacts that have come along from the base, their rows."""
    go_to(r, poses, r.q, 0.0, r.qdot)
    inertia(tree, J, F, added, False, mass, inverse)
    r.lost = follow(r, poses, r.base, r.now)
    fill_rows(r, tree, poses, J, r.now, r.rows)
    along_rows(r, r.rows, r.v, r.u)
    if r.joints:
        look_at_joints(r, r.q, r.v, r.joint_gap, r.joint_u)


@native
def _near(r, row):
    """Return the force to stay near, by the number of a row."""
    if row <= -2:
        return doubles(r.joint_near)[-2 - row]
    c = row // r.wide
    return doubles(r.near)[6 * c + row - r.wide * c]


@native_apart
def move(r, tree, poses, J, F, added, mass, inverse):
    """Write forces of contacts and the change of accelerations, where the model without them moves freely.

    Links are elsewhere afterwards.
    """
    call(r.motion, r.motion_plan, r.motion_table)
    change, alone = doubles(r.change), doubles(r.joint_answer)
    if r.count == 0 and not joints_act(r):
        for i in range(r.nv):
            change[i] = 0.0
        return
    look(r, tree, poses, J, F, added, mass, inverse)
    fill_directions(r)
    contact_rows = _hold_contacts(r, True)
    rigid_rows = hold_joints(r, contact_rows, False)
    k = _hold_loops(r, rigid_rows)
    if r.count:
        fill_drift(r, tree, poses, J)
    _fill_matrix(r, tree, inverse, k)
    if r.joints:
        rub_joints(r)
        _respond(r, tree, inverse, r.joint_push, r.joint_answer)
    A, b, x, which = doubles(r.matrix), doubles(r.right), doubles(r.x), integers(r.which)
    drift, bent, free = doubles(r.drift), doubles(r.joint_drift), doubles(r.free)
    for i in range(k):
        s = 0.0
        if i < rigid_rows:
            s = -_along(r, i, free) - (drift[which[i]] if i < contact_rows else bent[-2 - which[i]])
        if r.joints:
            s -= _along(r, i, alone)
        for j in range(rigid_rows):
            s -= A[i * k + j] * _near(r, which[j])
        b[i] = s
    smallest(k, r.matrix, r.right, r.x, r.room, r.more)
    for j in range(rigid_rows):
        x[j] += _near(r, which[j])
    _fill_change(r, k)
    _fill_forces(r, contact_rows)
    if r.joints:
        for i in range(r.nv):
            change[i] += alone[i]
        fill_joint_forces(r, contact_rows, rigid_rows)


@native
def _fill_forces(r, count):
    """Write the forces of contacts, and add their power."""
    x, which, force, u = doubles(r.x), integers(r.which), doubles(r.force), doubles(r.u)
    mode, bound, direction = integers(r.mode), doubles(r.bound), doubles(r.direction)
    for i in range(6 * r.count):
        force[i] = 0.0
    for j in range(count):
        c = which[j] // r.wide
        force[6 * c + which[j] - r.wide * c] = x[j]
    power = 0.0
    for c in range(r.count):
        for part in range(r.wide // 3 * 2 - 1):
            for i in range(COUNT[part]):
                at = 6 * c + FIRST[part] + i
                if mode[3 * c + part] == SLIDING:
                    force[at] = -bound[3 * c + part] * force[6 * c] * direction[at]
        for i in range(r.wide):
            power += force[6 * c + i] * u[r.wide * c + i]
    doubles(r.power)[0] += power


@native_apart
def close(r, tree, poses, J, F, added, mass, inverse, fast):
    """Write the change of positions, or of velocities if `fast`, that closes contacts, stops and loops.

    `worst` is the worst gap of contacts and stops. Where a contact has gone over an edge its normal jumps,
    and velocities would have to. They are left as they are then: the end of the mode is found there, and an
    impact does it.
    """
    change, gaps, now, v = doubles(r.change), doubles(r.gaps), doubles(r.now), doubles(r.v)
    if r.loops and fast:
        call(r.velocities, r.velocities_plan, r.velocities_table)
    elif r.loops:
        call(r.positions, r.positions_plan, r.positions_table)
    look(r, tree, poses, J, F, added, mass, inverse)
    b, worst, fastest, count = doubles(r.right), 0.0, 0.0, 0
    if fast:
        count = _hold_contacts(r, False)
    else:
        for c in range(r.count):
            count = _hold_row(r, count, r.wide * c)
    for i in range(count):
        error, most = now[NUMBERS * i + GAP], 0.0
        if fast:
            error = _along(r, i, v)
            for j in range(r.nv):
                most += abs(doubles(r.held)[i * r.nv + j] * v[j])
        b[i], worst, fastest = -error, max(worst, abs(error)), max(fastest, most)
    if fast and worst > _JUMP * fastest + SLOW:
        r.jumped = 1
        for i in range(r.nq):
            doubles(r.q_jump)[i] = doubles(r.q)[i]
        for i in range(r.nv):
            change[i] = 0.0
        for i in range(r.loops):
            gaps[i] = 0.0
        r.worst = 0.0
        return
    rigid = hold_joints(r, count, not fast)
    for i in range(count, rigid):
        j = -2 - integers(r.which)[i]
        error = doubles(r.joint_u)[j] if fast else doubles(r.joint_gap)[j]
        b[i], worst = -error, max(worst, abs(error))
    k = _hold_loops(r, rigid)
    for i in range(rigid, k):
        b[i] = -gaps[i - rigid]
    _fill_matrix(r, tree, inverse, k)
    smallest(k, r.matrix, r.right, r.x, r.room, r.more)
    _fill_change(r, k)
    r.worst = worst
