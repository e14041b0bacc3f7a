"""contacts <- a solid of triangles that is not convex, and a convex shape or another such solid.

The contacts of two solids that just touch are well defined: corners on faces, edges on edges. So the contacts
of two that overlap are those that they have when b has been moved out of a, by the shortest way there is from
where they are. With t the move and n_k, d_k normals and depths of the contacts after it, along which b could
come nearer by -d_k at most,

    t = the least t' with n_k.t' >= D_k,    D_k = d_k + n_k.t    for all k,

which says that no move near t is shorter and parts them, too (Karush, Kuhn, Tucker). D_k is the depth of a
contact, and n_k.t = D_k holds for those that t is held by.

A first t comes from least depths of the features of one solid in the other (`surface_pairs`,
`corners_inside`), or without any from the mean normal of what is inside. If the two still overlap there, or
are apart, a place where they touch is looked for along it. From there t' is taken for t until both are the
same: sequential quadratic programming, without curvature. Where the second comes from outside, the contacts
that hold t keep it outside of what is convex; a step that ends inside has met the other side of a hollow, and
contacts that held the step go on to hold, though they may not be found from there. If one of these holds t in
the end and is not there, it asked for too much, of a hollow as a plane without end: then steps that end deep
inside are made shorter. Where the solids overlap by more than a feature is large no contact may be found at
all; so the last t is tried, with `_SLACK` more along all normals, and if the solids overlap there, it is once
more begun from outside.

Contacts of other places, that t leaves farther behind than `_NEAR`, stay what they are.
"""

from linkwork.contact.contact_reduction import copy_contact, put_contact, swap_contacts, thinned_by_normal
from linkwork.contact.corners_inside import candidates
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.minimum_translation import least_move
from linkwork.contact.shape_kinds import MESH, PLANE
from linkwork.contact.shape_table import DEPTH, HELD, NORMAL, POINT_A, POINT_B
from linkwork.contact.support import convex_kind
from linkwork.contact.surface_distances import mesh_field, mesh_mesh
from linkwork.contact.surface_pairs import convex_contacts, near_contacts
from linkwork.contact.touching_pose import TOO_LONG, is_closed, overlap, straight, touching
from linkwork.contact.triangle_pairs import SURFACES, near_triangles, triangle_pairs
from linkwork.geometry.vectors import add, along, dot, norm, put_three, sub, three, unit

# Parts of the radius of the smaller:
_SHALLOW = 1e-3  # contacts that are no deeper are taken as they are
_NEAR = 0.03  # so far apart solids are looked at, and moved in a step
_BEHIND = 0.05  # so much farther than the nearest contacts of two meshes are looked for, if they may be far
_EXACT = 1e-7  # the error of a move
_SLACK = 6e-4  # so little an overlap may be that is not noticed
_STEPS, _TRIES = 60, 3
_DEEP = 0.3  # of a step: so deep inside is too deep


@native_apart
def solid_contacts(table, A, i, j, R, p, work, margin):
    """Write the contacts of convex shape or mesh i with mesh or height field j, placed by R, p in its axes;
    return how many. A is the form of i."""
    size = table.reach[7 * i + 6]
    if table.kind[j] == MESH:
        size = min(size, table.reach[7 * j + 6])
    convex = convex_kind(table, i) < PLANE
    if convex:
        count = convex_contacts(table, A, i, j, R, p, work, margin)
    elif margin > 0.0 and not overlap(table, A, i, j, R, p, work):
        return _apart(table, i, j, R, p, work, margin, size)
    else:
        count = candidates(table, i, j, R, p, work)
        if not is_closed(table, i) or not is_closed(table, j):
            return count if count > 0 else triangle_pairs(table, i, j, R, p, work, SURFACES, 0.0)[0]
    if count > 4:
        count = thinned_by_normal(work, 0, count)
    deepest = _deepest(work, count)
    if deepest > _SHALLOW * size or not _parted(table, A, i, j, R, p, work, count, size):
        return _moved_out(table, A, i, j, R, p, work, count, margin, size)
    if convex or margin <= 0.0:
        return count
    # Of two meshes those that are apart have not been looked for yet.
    first = _hold(work, count)
    count = near_triangles(table, i, j, R, p, work, max(min(margin, _BEHIND * size), deepest))
    if count == 0:
        count = _take(work, first)
    return thinned_by_normal(work, 0, count) if count > 4 else count


@native_apart
def _apart(table, i, j, R, p, work, margin, size):
    """Write the contacts of mesh i and solid j that are apart: those not much farther than the nearest, and
    the closest points themselves, where these are a corner next to an edge or a corner; return how many."""
    if table.kind[j] == MESH:
        d, n, a, b = mesh_mesh(table, i, j, R, p, work, margin)
    else:
        d, n, a, b = mesh_field(table, i, j, R, p, work, margin)
    if d >= margin:
        return 0
    near = near_triangles(table, i, j, R, p, work, min(margin, max(d, 0.0) + _BEHIND * size))
    count = 0
    for k in range(near):  # what crosses itself may seem to be inside
        if work.raw[10 * k + DEPTH] <= _EXACT * size:
            copy_contact(work.raw, work.raw_label, k, count)
            count += 1
    if 0.0 < d < (1.0 - 1e-9) * -_deepest(work, count):
        put_contact(work.raw, work.raw_label, count, a, b, n, -d, 0, 0)
        count += 1
    return thinned_by_normal(work, 0, count) if count > 4 else count


@native_apart
def _parted(table, A, i, j, R, p, work, count, size):
    """Return whether the two are apart after the move that contacts ask for, and a little more; or where they
    are, without any. Contacts that no move satisfies are not doubted."""
    if count == 0:
        return not overlap(table, A, i, j, R, p, work)
    there, t, _held = least_move(work.raw, count, _SLACK * size)
    return not there or not overlap(table, A, i, j, R, add(p, t), work)


@native
def _deepest(work, count):
    most = -1e300
    for k in range(count):
        most = max(most, work.raw[10 * k + DEPTH])
    return most


@native_apart
def _near(table, A, i, j, R, p, t, work, margin):
    """Write the contacts of two solids that nearly touch when the second has been moved by t, with the depths
    and the points that they have before; return how many, HELD at most."""
    if convex_kind(table, i) < PLANE:
        count = near_contacts(table, A, i, j, R, add(p, t), work, margin)
    else:
        count = near_triangles(table, i, j, R, add(p, t), work, margin)
    if count > HELD:
        count = thinned_by_normal(work, 0, count)
    for k in range(count):
        work.raw[10 * k + DEPTH] += dot(three(work.raw, 10 * k + NORMAL), t)
        put_three(work.raw, 10 * k + POINT_B, sub(three(work.raw, 10 * k + POINT_B), t))
    return count


@native_apart
def _moved_out(table, A, i, j, R, p, work, count, margin, size):
    """Write the contacts that the two have when the second has been moved out of the first; return how many.

    If no such place is found the contacts at hand stay.
    """
    near, exact = _NEAR * size, _EXACT * size
    there, t, _held = least_move(work.raw, count, 0.0)
    there = there and dot(t, t) > 0.0
    _hold(work, count)
    many = 0
    if there and not overlap(table, A, i, j, R, along(add(p, t), near / norm(t), t), work):
        many = _near(table, A, i, j, R, p, t, work, near)
    if many == 0:
        t = touching(table, A, i, j, R, p, work, t, near)
        many = _near(table, A, i, j, R, p, t, work, near)
    before, longest, tries = 0, near, 0
    longest_way = 2.0 * (table.reach[7 * i + 6] + table.reach[7 * j + 6])
    for _step in range(_STEPS):
        deep = _left(work, many, t)
        if many == 0:
            break
        total = _with_holding(work, many, before)
        there, best, held = least_move(work.raw, total, 0.0)
        if deep <= exact:
            settled = there and norm(sub(best, t)) <= exact
            last = tries == _TRIES
            if settled and last:
                return _found(work, total, held, count, t, near, margin)
            there, best, held = least_move(work.raw, many, 0.0)
            if there and norm(sub(best, t)) <= exact and deep >= -exact:
                if last or _parted(table, A, i, j, R, p, work, many, size):
                    return _found(work, many, held, count, t, near, margin)
                out = straight(table, A, i, j, R, add(p, t), work, t, longest_way, near)
                if norm(out) < longest_way:
                    t = add(t, out)
                    many = _near(table, A, i, j, R, p, t, work, near)
                    before, tries = 0, tries + 1
                    continue
                return _found(work, many, held, count, t, near, margin)
            tries += settled  # held by what is not there any more
        if not there:
            break
        before = _keep_holding(work, held)
        change = sub(best, t)
        far = norm(change)
        many, s = 0, 0.0
        while many == 0 and longest > exact:  # too far where there is nothing near
            s = min(1.0, longest / max(far, exact))
            to = along(t, s, change)
            many = _near(table, A, i, j, R, p, to, work, near)
            if 0 < tries < _TRIES and deep <= exact and _left(work, many, to) > max(_DEEP * s * far, exact):
                many = 0
            longest = 0.3 * s * far if many == 0 else min(2.0 * longest, near)
        if many == 0 and 0 < tries < _TRIES:  # every step from here ends deep inside
            many = _near(table, A, i, j, R, p, t, work, near)
            if held[0] >= 0 and _parted(table, A, i, j, R, p, work, many, size):
                return _found(work, many, least_move(work.raw, many, 0.0)[2], count, best, near, margin)
            longest, tries, s = near, _TRIES, 0.0
        t = along(t, s, change)
    if count == 0 and norm(t) < 0.5 * TOO_LONG:  # not exact, but there is one
        x = three(table.reach, 7 * i)
        put_contact(work.raw, work.raw_label, 0, x, sub(x, t), unit(t), norm(t), 0, 0)
        return 1
    return _take(work, count)


@native
def _left(work, count, t):
    """Return how deep the contacts still are after a move, at most."""
    most = -1e300
    for k in range(count):
        most = max(most, work.raw[10 * k + DEPTH] - dot(three(work.raw, 10 * k + NORMAL), t))
    return most


@native
def _keep_holding(work, held):
    """Keep the contacts that hold the move; return how many."""
    count = 0
    for k in range(3):
        if held[k] >= 0:
            copy_contact(work.raw, work.raw_label, held[k], work.raw_room + HELD + count)
            count += 1
    return count


@native
def _with_holding(work, count, many):
    """Add the contacts that held the move before; return how many there are."""
    for k in range(many):
        copy_contact(work.raw, work.raw_label, work.raw_room + HELD + k, count + k)
    return count + many


@native
def _hold(work, count):
    """Keep contacts behind the others; return how many."""
    for k in range(count):
        copy_contact(work.raw, work.raw_label, k, work.raw_room + k)
    return count


@native
def _take(work, count):
    """Take contacts that were kept; return how many."""
    for k in range(count):
        copy_contact(work.raw, work.raw_label, work.raw_room + k, k)
    return count


@native_apart
def _found(work, count, held, many, t, near, margin):
    """Write the contacts that hold the move, and behind them, thinned out, others that are there after it and
    those of other places that were at hand before; return how many there are."""
    rows, labels = work.raw, work.raw_label
    holding = _to_the_front(rows, labels, held)
    left = holding
    for k in range(holding, count):
        if rows[10 * k + DEPTH] >= -margin and not _repeats(rows, k, holding, near):
            copy_contact(rows, labels, k, left)
            left += 1
    for k in range(work.raw_room, work.raw_room + many):
        if dot(three(rows, 10 * k + NORMAL), t) - rows[10 * k + DEPTH] > near:
            copy_contact(rows, labels, k, left)
            left += 1
    return thinned_by_normal(work, holding, left) if left > 4 else left


@native
def _to_the_front(rows, labels, held):
    """Make up to three contacts the first; return how many there are."""
    a, b, c = held
    many = 0
    if a >= 0:
        swap_contacts(rows, labels, 3, 0, a)
        b, c = (a if b == 0 else b), (a if c == 0 else c)
        many = 1
    if b >= 0:
        swap_contacts(rows, labels, 3, many, b)
        c = b if c == many else c
        many += 1
    if c >= 0:
        swap_contacts(rows, labels, 3, many, c)
        many += 1
    return many


@native
def _repeats(rows, k, many, near):
    """Return whether a contact is one of the first ones again."""
    again = False
    for m in range(many):
        gap = sub(three(rows, 10 * k + POINT_A), three(rows, 10 * m + POINT_A))
        same = dot(three(rows, 10 * k + NORMAL), three(rows, 10 * m + NORMAL)) > 1.0 - 1e-9
        again = again or (same and dot(gap, gap) <= 1e-8 * near * near)
    return again
