"""Rows of active contacts <- q: where contacts are that move along with bodies, J there, and how J changes.

The rows of a contact are the velocity of the first link's point, seen from the second's, along the axes;
where something resists turning, three more are the relative angular velocity along them. In the plane nothing
moves along the second tangent. Parts take the record ACTIVE (`active_record`), and what nodes know as arrays.
"""

from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.contact_dynamics.event_driven.active_record import AXES, GAP, NUMBERS, PLACE
from linkwork.contact_dynamics.problem.nodes import fill_three
from linkwork.geometry.vectors import (
    add,
    dot,
    position,
    put_pose,
    put_three,
    rotation,
    three,
    times,
    turned,
    turned_back,
)
from linkwork.native.numba_functions import call, doubles, integers, memory, native, native_apart

MOST_POINTS = 62  # of a pair, a bit each
_ALONG = 1.0 - 1e-9  # cosine of normals that are the same
_SQUARE = 1e-15  # cosine of axes that are square: a contact that is looked at again has the same, to the bit
_ROUNDING = 1e-12  # of how fast a point moves: as much along another axis is a rounding error
NUDGE = 1e-5  # of the size of the mechanism: how far bodies move for a difference


@native
def place_links(r, poses):
    """Find poses of links, and their motion per velocity, where `where` says."""
    call(r.columns, r.columns_plan, r.columns_table)
    if r.flat:
        X = doubles(r.X)
        for k in range(r.links):
            for i in range(2):
                poses[k, i, 0], poses[k, i, 1] = X[6 * k + 3 * i], X[6 * k + 3 * i + 1]
                poses[k, i, 3] = X[6 * k + 3 * i + 2]


@native
def go_to(r, poses, q, h, rates):
    """Place links at q + h q'."""
    where, a, b = doubles(r.where), doubles(q), doubles(rates)
    for i in range(r.nq):
        where[i] = a[i] + h * b[i] if h != 0.0 else a[i]
    place_links(r, poses)


@native
def _place_shape(r, links, k):
    own, x, l = doubles(r.local), doubles(r.shape_poses), integers(r.link_of)[k]
    if l >= 0:
        R, p = rotation(links, l), position(links, l)
        put_pose(x, k, times(R, rotation(own, k)), add(turned(R, position(own, k)), p))
    else:
        put_pose(x, k, rotation(own, k), position(own, k))


@native
def _goes_along(r, k, number, m):
    """Return whether the normal that was found is the one of the base, carried along by one of the shapes."""
    n, normals, label = three(number, 10 * m + NORMAL), doubles(r.normals), integers(r.label)
    for side in range(2):
        R = rotation(doubles(r.shape_poses), label[4 * k + side])
        if dot(n, turned(R, three(normals, 6 * k + 3 * side))) < -_ALONG:
            return True
    return False


@native
def note_normals(r):
    """Write the normals of the base in the axes of the shapes, which are placed."""
    base, normals, label = doubles(r.base), doubles(r.normals), integers(r.label)
    for k in range(r.count):
        for side in range(2):
            R = rotation(doubles(r.shape_poses), label[4 * k + side])
            put_three(normals, 6 * k + 3 * side, turned_back(R, three(base, NUMBERS * k + AXES)))


@native
def _match(r, k, base, found, end, taken, features):
    """Return which of the contacts found is contact k: the nearest that is not taken, by its bit; or -1.

    One with other features goes on only with the same normal: at a corner that an edge has passed it ends.
    """
    label, old = integers(r.label), doubles(base)
    number, seen = doubles(found[0]), integers(found[1])
    best, chosen = 1e300, -1
    for m in range(end):
        same = seen[4 * m + 2] == label[4 * k + 2] and seen[4 * m + 3] == label[4 * k + 3]
        if (taken >> m) & 1 or (features and not same):
            continue
        if not features and not _goes_along(r, k, number, m):
            continue
        far = 0.0
        for i in range(3):
            middle = 0.5 * (number[10 * m + POINT_A + i] + number[10 * m + POINT_B + i])
            far += (middle - old[NUMBERS * k + PLACE + i]) ** 2
        if far < best:
            best, chosen = far, m
    return chosen


@native
def _take(base, k, number, m, now):
    """Write contact k from the one that was found; its tangent goes along without turning about it."""
    old, new, at = doubles(base), doubles(now), NUMBERS * k
    n0, n1, n2 = -number[10 * m + NORMAL], -number[10 * m + NORMAL + 1], -number[10 * m + NORMAL + 2]
    a0, a1, a2 = old[at + AXES + 3], old[at + AXES + 4], old[at + AXES + 5]
    s = n0 * a0 + n1 * a1 + n2 * a2
    if abs(s) > _SQUARE:
        a0, a1, a2 = a0 - s * n0, a1 - s * n1, a2 - s * n2
        f = 1.0 / (a0 * a0 + a1 * a1 + a2 * a2) ** 0.5
        a0, a1, a2 = f * a0, f * a1, f * a2
    axes = at + AXES
    new[axes], new[axes + 1], new[axes + 2] = n0, n1, n2
    new[axes + 3], new[axes + 4], new[axes + 5] = a0, a1, a2
    new[axes + 6], new[axes + 7], new[axes + 8] = n1 * a2 - n2 * a1, n2 * a0 - n0 * a2, n0 * a1 - n1 * a0
    for i in range(3):
        new[at + PLACE + i] = 0.5 * (number[10 * m + POINT_A + i] + number[10 * m + POINT_B + i])
    new[at + GAP] = -number[10 * m + DEPTH]


@native
def _find_pair(r, i, j):
    """Find the contacts of two shapes; return how many."""
    pair, found = integers(r.pair), integers(r.find_buffer)
    pair[0], pair[1] = i, j
    while True:
        call(r.find, r.find_words, 0)
        counts = integers(found[2])
        if counts[1] <= found[3]:
            return min(counts[0], MOST_POINTS)
        call(r.grow, r.grow_plan, 0)


@native_apart
def follow(r, poses, base, now):
    """Write where contacts are now, links being placed; return how many are gone.

    They are found by their features, or by the nearest place. One that is gone, as when a corner passes an
    edge, stays where it was. Contacts of a pair of shapes are neighbours.
    """
    links, label = memory(poses), integers(r.label)
    lost, k, n = 0, 0, r.count
    while k < n:
        i, j, last = label[4 * k], label[4 * k + 1], k
        while last < n and label[4 * last] == i and label[4 * last + 1] == j:
            last += 1
        _place_shape(r, links, i)
        _place_shape(r, links, j)
        end, taken, done = _find_pair(r, i, j), 0, 0
        found = integers(r.find_buffer)
        for turn in range(2):
            for m in range(k, min(last, k + MOST_POINTS)):
                if (done >> (m - k)) & 1:
                    continue
                chosen = _match(r, m, base, found, end, taken, turn == 0)
                if chosen >= 0:
                    taken |= 1 << chosen
                    done |= 1 << (m - k)
                    _take(base, m, doubles(found[0]), chosen, now)
        for m in range(k, last):
            if m - k >= MOST_POINTS or not (done >> (m - k)) & 1:
                for i in range(NUMBERS):
                    doubles(now)[NUMBERS * m + i] = doubles(base)[NUMBERS * m + i]
                lost += 1
        k = last
    return lost


@native_apart
def fill_rows(r, tree, poses, J, contacts, rows):
    """Write the rows of contacts for all velocities.

    What should be square to an axis gives numbers of 1e-17 there, as a wheel's velocity along its axle: a row
    of nothing else would ask for forces of 1e17. They are written as nothing.
    """
    c, out, three, link = doubles(contacts), doubles(rows), doubles(r.three), integers(r.link)
    for i in range(r.count * r.wide * r.nv):
        out[i] = 0.0
    for k in range(r.count):
        at = NUMBERS * k
        point, x = (c[at], c[at + 1], c[at + 2]), at + AXES
        axes = (c[x], c[x + 1], c[x + 2]), (c[x + 3], c[x + 4], c[x + 5]), (c[x + 6], c[x + 7], c[x + 8])
        for side in range(2):
            l = link[2 * k + side]
            if l < 0 or tree.last[l] < 0:
                continue
            node = tree.node[l]
            first, size, sign = tree.first[node], tree.size[node], 1.0 - 2.0 * side
            for turning in range(r.wide // 3):
                fill_three(tree, poses, J, l, point, axes, turning == 1, sign, three, 0)
                to = (r.wide * k + 3 * turning) * r.nv + first
                for i in range(size):
                    x, y, z = three[i], three[size + i], three[2 * size + i]
                    least = _ROUNDING * max(abs(x), abs(y), abs(z))
                    out[to + i] += x if abs(x) > least else 0.0
                    out[to + r.nv + i] += y if abs(y) > least else 0.0
                    out[to + 2 * r.nv + i] += z if abs(z) > least else 0.0


@native
def along_rows(r, rows, x, u):
    """Write what rows of contacts make of a vector of velocities; all by address."""
    J, v, out = doubles(rows), doubles(x), doubles(u)
    for k in range(r.count * r.wide):
        s = 0.0
        for i in range(r.nv):
            s += J[k * r.nv + i] * v[i]
        out[k] = s


@native_apart
def fill_drift(r, tree, poses, J):
    """Write what J changes by along the motion q' = qdot, times v: (n, wide) [m/s^2]; poses are others then.

    That is the rate of u when velocity coordinates are held: of points that wander over curved surfaces, and
    of normals that turn with them. Collision detection knows both exactly; so u is exact at q + h q' and
    q - h q', and a central difference in which bodies move by 1e-5 of the mechanism's size errs by 1e-10 of
    the rate. (Formulas with the curvature of both surfaces, Montana 1988, would need it of every kind of
    shape, and say nothing at edges.)
    """
    v, drift, ahead, fastest = doubles(r.v), doubles(r.drift), doubles(r.ahead), 0.0
    for i in range(r.nv):
        fastest = max(fastest, abs(v[i]))
    if fastest == 0.0:
        for k in range(r.count * r.wide):
            drift[k] = 0.0
        return
    h = NUDGE * r.size / fastest
    for side in range(2):
        go_to(r, poses, r.q, h if side == 0 else -h, r.qdot)
        follow(r, poses, r.now, r.beside)
        fill_rows(r, tree, poses, J, r.beside, r.rows_beside)
        along_rows(r, r.rows_beside, r.v, r.ahead if side == 0 else r.drift)
    for k in range(r.count * r.wide):
        drift[k] = (ahead[k] - drift[k]) / (2.0 * h)
