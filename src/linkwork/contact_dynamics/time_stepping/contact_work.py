"""v, shift <- v, shift: contacts do no work that rigid contacts cannot do.

A step moves bodies at v0 up to its middle, gives them the impulses p of contacts, and moves them on at v1.
For weights and rigid bodies that is exact, so all that the energy changes by is the work of contacts,

    W = sum of p . J (v0 + v1) / 2,    J and p those of the middle.

Where something sticks, or presses without friction, W is zero in nature. Here it is not: v0 obeys the laws of
contact at the beginning of the step, v1 those at its end (`accelerated_contacts`), and u0 + u1 = J (v0 + v1)
is an error of second order, of either sign, as in all methods that are the same forwards and backwards in
time: what they keep is not quite the energy. Gonzalez (1996) corrects the derivative of a constraint by a
multiple of some direction, until it is one that does no work. So v1 is changed to v1 - s d, which changes the
energy by

    - s d . N (v1 - (v_f - v0) / 2) + s^2 d . N d / 2,

v_f the velocities without contact and N the inertia, until contacts have done no work where they stuck or
pressed before, and none that is positive on the whole. The direction is

    d = a (a . N w) / (a . N a) + ETA w,    a = v1 - v0,    w = v1 + v0 :

that of the motion, w, which keeps what sticks sticking, but first of all that part of it which is changing,
a, since impulses of contacts give that one: scaling w alone slows the spin of a top for the nodding of its
axis (ETA = 1: Jellett's integral of a top that rolls is wrong by 1e-2 after a second; 2e-3 with 0.01).

What overlaps and is shifted (`overlaps`, `unsolved_contacts`) is lifted, and that is paid for as well. Where
no ground is touched, impulses are scaled and not velocities, which keeps momentum.

Bodies that were put into something, and never came out of it, are pushed out whatever energy it takes; so are
trees, and islands of many contacts.
"""

from math import sqrt

from linkwork.contact_dynamics.problem.contact_problem import (
    CONTACTS,
    FLAT,
    NODES,
    TABLE,
    WHERE,
    node_product,
    velocity,
)
from linkwork.contact_dynamics.problem.contact_rows import POINTS, SLACK
from linkwork.contact_dynamics.problem.friction_cone import COULOMB, TURNING
from linkwork.contact_dynamics.problem.islands import ISLANDS
from linkwork.contact_dynamics.time_stepping.divided_steps import FEW, OPENED, STUCK, kind_of
from linkwork.native.numba_functions import entry, native, native_apart

_ROUNDING = 1e-13  # of the energies of which W is a difference
_ALONE = 6  # velocities of a body at most: trees are pushed out by velocities, see `contact_rows`
_UNSURE = 1e-8  # to which velocities are solved [m/s]
_ETA = 0.01
_MOST = 0.5  # of the motion that is scaled
_SMALL = 5e-2  # of the kinetic energy: more than that is no error of a contact that stays closed


@entry(None, NODES, CONTACTS, POINTS, FLAT, "float64", FLAT)
def keep_placed(nodes, c, points, before, half, placed):
    """Keep which nodes are still in what they were put into, as they were half of a step before."""
    for j in range(len(placed)):
        placed[j] = min(placed[j], 1.0)
    for k in range(len(points.gap)):
        gap = points.gap[k]
        if gap < -SLACK and gap - half * _approach(nodes, c, k, before) < -SLACK:
            for node in (c.a[k], c.b[k]):
                if node >= 0 and placed[node] != 0.0:
                    placed[node] = 2.0
    for j in range(len(placed)):
        placed[j] = 1.0 if placed[j] == 2.0 else 0.0


@native
def _approach(nodes, c, k, v):
    return velocity(nodes, c, k, v)[0] - c.bias[k, 0]


@entry(None, NODES, CONTACTS, TABLE, WHERE, ISLANDS, "int64", *[FLAT] * 4)
def bound_work(nodes, c, p, marks, islands, count, placed, before, v, shift):
    """Let contacts of each island do no work but what they can."""
    for i in range(count):
        members = islands.node[islands.first_node[i] : islands.first_node[i + 1]]
        contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
        if len(contacts) <= FEW and _is_bound(nodes, c, placed, before, v, members, contacts):
            _bound(nodes, c, p, marks, members, contacts, before, v, shift)


@native_apart
def _is_bound(nodes, c, placed, before, v, members, contacts):
    """Return whether an island moves, and contacts are all that holds it."""
    moves = False
    for j in members:
        if placed[j] != 0.0 or nodes.size[j] > _ALONE:
            return False
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            moves = moves or before[q] != 0.0 or v[q] != 0.0
    for k in contacts:
        if c.kind[k] != COULOMB and c.kind[k] != TURNING:
            return False
    return moves


@native_apart
def _works(nodes, c, p, marks, before, v, contacts):
    """Return the work of contacts, how much of it is an error, and whether ground is touched."""
    work, wrong, pressed, grounded = 0.0, 0.0, 0.0, False
    for k in contacts:
        if p[k, 0] == 0.0 and p[k, 1] == 0.0 and p[k, 2] == 0.0:
            continue
        x, y = velocity(nodes, c, k, before), velocity(nodes, c, k, v)
        normal = p[k, 0] * (0.5 * (x[0] + y[0]) - c.bias[k, 0])
        along = p[k, 1] * (0.5 * (x[1] + y[1]) - c.bias[k, 1]) + p[k, 2] * (
            0.5 * (x[2] + y[2]) - c.bias[k, 2]
        )
        work, pressed = work + normal + along, pressed + p[k, 0]
        grounded = grounded or c.a[k] < 0 or c.b[k] < 0
        if k < len(marks) and marks[k] != OPENED:
            wrong += normal
            if marks[k] == STUCK and kind_of(c, p, k) == STUCK:
                wrong += along
    return work, wrong if abs(wrong) > _UNSURE * pressed else 0.0, grounded


@native_apart
def _bound(nodes, c, p, marks, members, contacts, before, v, shift):
    work, wrong, grounded = _works(nodes, c, p, marks, before, v, contacts)
    first = after = mixed = lifted = 0.0
    for j in members:
        lifted += node_product(nodes, j, shift, before) - node_product(nodes, j, shift, nodes.free)
        first += node_product(nodes, j, before, before)
        after += node_product(nodes, j, v, v)
        mixed += node_product(nodes, j, before, v)
    if wrong < -_SMALL * after:
        wrong = 0.0
    gained = work + lifted - min(work + lifted - wrong, 0.0)
    if abs(gained) <= _ROUNDING * (first + after):
        return
    if grounded:
        left = _scale_velocities(nodes, members, before, v, gained, first, after, mixed)
    else:
        left = _scale_impulses(nodes, members, before, v, gained)
    if left > 0.0 and lifted > 0.0:
        for j in members:
            for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
                shift[q] *= max(1.0 - left / lifted, 0.0)


@native_apart
def _scale_velocities(nodes, members, before, v, gained, first, after, mixed):
    """Take energy from velocities; return how much is left to be taken."""
    # d = a (a . N w) / (a . N a) + ETA w, with a = v1 - v0, w = v1 + v0
    change = after - 2.0 * mixed + first
    part = (after - first) / change if change > 0.0 else 0.0
    left = _take(nodes, members, before, v, gained, part + _ETA, _ETA - part, False)
    if left > 0.0:
        left = _take(nodes, members, before, v, gained, 1.0, 1.0, True)
    return left


@native_apart
def _take(nodes, members, before, v, gained, x, y, surely):
    """Take energy from v along d = x v1 + y v0; return how much is left to be taken.

    It is taken as a whole, or nothing is; or, `surely`, as much as there is if most of it is needed: else a
    body that turns round in each step would never come to rest.
    """
    square = slope = 0.0
    for j in members:
        ab, aa, bb = (
            node_product(nodes, j, v, before),
            node_product(nodes, j, v, v),
            node_product(nodes, j, before, before),
        )
        af, bf = node_product(nodes, j, v, nodes.free), node_product(nodes, j, before, nodes.free)
        square += x * x * aa + 2.0 * x * y * ab + y * y * bb
        slope += x * (aa - 0.5 * (af - ab)) + y * (ab - 0.5 * (bf - bb))
    root = slope * slope - 2.0 * square * gained
    if slope == 0.0 or square == 0.0 or (root < 0.0 and not surely):
        return gained
    root = sqrt(max(root, 0.0))
    s = 2.0 * gained / (slope + (root if slope > 0.0 else -root))
    if not surely and abs(s * x) > _SMALL:
        return gained
    if surely and (s < -_SMALL or s > _MOST):
        s = min(max(slope / square, 0.0), 1.0)
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            v[q] -= s * (x * v[q] + y * before[q])
    return gained - s * (slope - 0.5 * square * s) if surely else 0.0


@native_apart
def _scale_impulses(nodes, members, before, v, gained):
    """Give an island the part s of its impulses with which there is less energy; return what is left."""
    paid = moved = 0.0  # s (s moved - paid) / 2 is what they add to the energy
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            v[q] -= nodes.free[q]
        moved += node_product(nodes, j, v, v)
        paid -= node_product(nodes, j, v, before) + node_product(nodes, j, v, nodes.free)
    s = 1.0
    if moved > 0.0:
        root = paid * paid + 4.0 * moved * (moved - paid - 2.0 * gained)
        s = min(max((paid + sqrt(max(root, 0.0))) / (2.0 * moved), 0.0), 1.0 + _SMALL)
    for j in members:
        for q in range(nodes.first[j], nodes.first[j] + nodes.size[j]):
            v[q] = nodes.free[q] + s * v[q]
    return gained - 0.5 * (moved - paid - s * (s * moved - paid))
