"""Rigid stops and dry friction of joints in fixed modes, beside contacts. Native parts.

A stop is open, or closed: its row is held, by a force N. Friction *slides* with f against the velocity, or
*sticks*: its velocity stays zero, by a force |T| <= f. Parts take the record ACTIVE (`active_record`).
"""

from math import sqrt

from linkwork.contact_dynamics.event_driven.active_record import OPEN, SLIDING, STICKING
from linkwork.native.numba_functions import call, doubles, integers, native

NO_FORCE = 1e300  # what is left to the bounds of nothing


@native
def look_at_joints(r, q, v, gap, u):
    """Write gaps of stops and velocities along rows at q and v; all by address."""
    x, w, gaps, speeds = doubles(q), doubles(v), doubles(gap), doubles(u)
    position, sign, limit = integers(r.joint_position), doubles(r.joint_sign), doubles(r.joint_limit)
    if r.bent:
        for i in range(r.nq):
            doubles(r.joint_q)[i] = x[i]
        for i in range(r.nv):
            doubles(r.joint_v)[i] = w[i]
        call(r.bend, r.bend_plan, 0)
    for k in range(r.stops):
        gaps[k] = doubles(r.joint_gap)[k]
        if position[k] >= 0:
            gaps[k] = sign[k] * (x[position[k]] - limit[k])
    rows = doubles(r.joint_rows)
    for k in range(r.joints):
        s = 0.0
        for i in range(r.nv):
            s += rows[k * r.nv + i] * w[i]
        speeds[k] = s


@native
def joints_act(r):
    """Return whether a stop is closed, or friction acts."""
    mode, act = integers(r.joint_mode), False
    for k in range(r.joints):
        act = act or mode[k] != OPEN
    return act


@native
def hold_joints(r, k, stops_alone):
    """Hold closed stops, and friction that sticks unless it is `stops_alone`; return how many rows there are.

    Numbers of these rows are -2, -3 ...: that of a loop is -1.
    """
    mode, rows = integers(r.joint_mode), doubles(r.joint_rows)
    held, pushed = doubles(r.held), doubles(r.pushed)
    for j in range(r.stops if stops_alone else r.joints):
        if mode[j] == STICKING:
            for i in range(r.nv):
                held[k * r.nv + i] = pushed[k * r.nv + i] = rows[j * r.nv + i]
            integers(r.which)[k] = -2 - j
            k += 1
    return k


@native
def rub_joints(r):
    """Write what friction that slides exerts."""
    mode, rows, push = integers(r.joint_mode), doubles(r.joint_rows), doubles(r.joint_push)
    slide, bound = doubles(r.joint_slide), doubles(r.joint_bound)
    for i in range(r.nv):
        push[i] = 0.0
    for j in range(r.stops, r.joints):
        if mode[j] == SLIDING:
            for i in range(r.nv):
                push[i] -= slide[j] * bound[j] * rows[j * r.nv + i]


@native
def fill_joint_forces(r, first, last):
    """Write forces along rows of joints from unknowns, and add their power."""
    x, which, force, u = doubles(r.x), integers(r.which), doubles(r.joint_force), doubles(r.joint_u)
    mode, slide, bound = integers(r.joint_mode), doubles(r.joint_slide), doubles(r.joint_bound)
    for j in range(r.joints):
        force[j] = -slide[j] * bound[j] if mode[j] == SLIDING else 0.0
    for i in range(first, last):
        force[-2 - which[i]] = x[i]
    power = 0.0
    for j in range(r.joints):
        power += force[j] * u[j]
    doubles(r.power)[0] += power


@native
def _lowest(g0, u0, g1, u1, span):
    """Return the least value of the cubic from g0 with slope u0 to g1 with slope u1, in a time `span`.

    That is g1, or a minimum on the way; g0 itself, from which a stop may have been left, does not count.
    """
    a, b, d = span * u0, span * u1, g1 - g0  # g0 + a s + (3 d - 2 a - b) s^2 + (a + b - 2 d) s^3
    c2, c3 = 3.0 * d - 2.0 * a - b, a + b - 2.0 * d
    root = c2 * c2 - 3.0 * c3 * a  # the slope a + 2 c2 s + 3 c3 s^2 rises through zero at the larger root
    if a >= 0.0 or root < 0.0:
        return g1
    below = c2 + sqrt(root)
    if below <= -a:
        return g1
    s = -a / below
    return min(g1, g0 + s * (a + s * (c2 + s * c3)))


@native
def gap_of_stops(r, span):
    """Return the smallest gap of open stops, at most 1, on the whole way from the base of the step."""
    mode, least = integers(r.joint_mode), 1.0
    g0, u0, g1, u1 = doubles(r.joint_gap_0), doubles(r.joint_u_0), doubles(r.joint_gap), doubles(r.joint_u)
    for k in range(r.stops):
        if mode[k] == OPEN:
            least = min(least, _lowest(g0[k], u0[k], g1[k], u1[k], span) if span > 0.0 else g1[k])
    return least


@native
def joint_force_margin(r):
    """Return by how much forces along rows of joints are inside of their bounds [N m, N]."""
    mode, force, bound = integers(r.joint_mode), doubles(r.joint_force), doubles(r.joint_bound)
    least = NO_FORCE
    for j in range(r.joints):
        if mode[j] == STICKING:
            least = min(least, force[j] if j < r.stops else bound[j] - abs(force[j]))
    return least


@native
def slide_margin(r):
    """Return the smallest speed of friction that slides, at most 1, negative once it has turned back."""
    mode, slide, u, least = integers(r.joint_mode), doubles(r.joint_slide), doubles(r.joint_u), 1.0
    for j in range(r.stops, r.joints):
        if mode[j] == SLIDING:
            least = min(least, slide[j] * u[j])
    return least
