"""contacts <- contacts of features: those that are left when others have been moved out of.

Deep in a solid there are several ways out, and each is a least depth of its own: a ball in a box has six. A
contact j that is less deep takes A above the plane that touches B in its point b_j; whatever of B lies below
that plane is not touched any more. So a contact k is needed only if its point b_k is above the planes of all
contacts that are less deep:

    u_j . (b_k - b_j) >= 0    for all j with depth_j < depth_k.

On a solid that is convex one contact is left, the least; the two sides of a plate give one; in a groove, or
between a floor and a wall, each side lies above the plane of the other, and both stay.

Points that go with a least depth (of a face that A stands on) stay if there is a contact of that depth in
their plane. Points that are apart stay, too: there is nothing to move out of, and each says how far A may
still go there. On a hill, whose faces all have planes of their own, a box that comes down on one edge would
not see the ground under the other.
"""

from linkwork.contact.contact_reduction import swap_contacts, thinned_by_normal
from linkwork.contact.containment import in_solid
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.local_solids import LEAST
from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.geometry.vectors import add, along, dot, scale, sub, three, turned_back

_SAME_WAY = 1.0 - 1e-12  # cosine of normals that are one
_ABOVE = 1e-9  # of the size: so far below a plane is on it
SMOOTH = 3  # the third label of a contact that is not exactly one of two features
_PRESSES_ALIKE = 0.97  # cosine of normals that press the same way
_MOST = 200  # contacts that are looked at one by one


@native_apart
def necessary(work, count, size, side):
    """Keep the contacts that are needed in the first rows; return how many. B is the second (side 1), or the
    first (side 0) of the pair."""
    rows, labels = work.raw, work.raw_label
    slack = _ABOVE * size
    kept = with_least_depths(work, count, size, 0.0)
    least = 0
    while least < kept and labels[3 * least + 2] == LEAST:
        least += 1
    # Marks first: a contact that is not needed still says where B is.
    left = 0
    for k in range(kept):
        labels[3 * k + 2] = _needed(rows, k, least, side, slack)
    for k in range(kept):
        if labels[3 * k + 2] == 1:
            swap_contacts(rows, labels, 3, left, k)
            left += 1
    return left


@native_apart
def with_least_depths(work, count, size, apart):
    """Keep least depths, and behind them the points that go with one or are no deeper than `apart`; return
    how many."""
    rows, labels = work.raw, work.raw_label
    least = 0
    for k in range(count):  # the least depths come first
        if labels[3 * k + 2] == LEAST:
            swap_contacts(rows, labels, 3, least, k)
            least += 1
    slack = _ABOVE * size
    kept = least
    for k in range(least, count):
        if rows[10 * k + DEPTH] <= apart or _goes_with(rows, k, least, slack):
            swap_contacts(rows, labels, 3, kept, k)
            kept += 1
    return kept


@native
def _above(rows, k, j, side):
    """Return how far the point of contact k on B is above the plane of contact j."""
    on_b = POINT_B if side == 1 else POINT_A
    rise = dot(three(rows, 10 * j + NORMAL), sub(three(rows, 10 * k + on_b), three(rows, 10 * j + on_b)))
    return -rise if side == 1 else rise


@native
def _goes_with(rows, k, least, slack):
    n, b = three(rows, 10 * k + NORMAL), three(rows, 10 * k + POINT_B)
    found = False
    for j in range(least):
        same = dot(n, three(rows, 10 * j + NORMAL)) > _SAME_WAY
        found = found or (same and abs(dot(n, sub(b, three(rows, 10 * j + POINT_B)))) <= slack)
    return found


@native
def _needed(rows, k, least, side, slack):
    for j in range(least):
        if rows[10 * j + DEPTH] < rows[10 * k + DEPTH] and _above(rows, k, j, side) < -slack:
            return 0
    return 1


@native_apart
def left_over(table, i, j, R, p, work, count):
    """Keep the contacts that are left when those that are less deep have been moved out of; return how many.

    After a move by depth along the normal a contact is left if its point of either solid is still inside the
    other.
    """
    rows, labels = work.raw, work.raw_label
    count = _one_of_each(table, i, j, R, p, work, count)
    if count > _MOST:
        count = thinned_by_normal(work, 0, count)
    kept = 0
    while kept < count:
        least = kept
        for k in range(kept + 1, count):
            if rows[10 * k + DEPTH] < rows[10 * least + DEPTH]:
                least = k
        swap_contacts(rows, labels, 3, kept, least)
        n, depth = three(rows, 10 * kept + NORMAL), rows[10 * kept + DEPTH]
        kept += 1
        left = kept
        for k in range(kept, count):
            same = dot(n, three(rows, 10 * k + NORMAL)) > _PRESSES_ALIKE
            a, b = three(rows, 10 * k + POINT_A), three(rows, 10 * k + POINT_B)
            if (
                same
                or in_solid(table, i, along(b, depth, n), work)
                or (in_solid(table, j, turned_back(R, sub(along(a, -depth, n), p)), work))
            ):
                swap_contacts(rows, labels, 3, left, k)
                left += 1
        count = left
    return count


@native_apart
def _one_of_each(table, i, j, R, p, work, count):
    """Keep of smooth contacts only the deepest of each place where the two overlap; return how many are
    left. Two are of one place if the way from one to the other is inside both, and they press alike."""
    rows, labels = work.raw, work.raw_label
    kept, done = 0, 0
    for k in range(count):  # the others first
        if labels[3 * k + 2] != SMOOTH:
            swap_contacts(rows, labels, 3, done, k)
            done += 1
    kept = done
    while done < count:
        deepest = done
        for k in range(done + 1, count):
            if rows[10 * k + DEPTH] > rows[10 * deepest + DEPTH]:
                deepest = k
        swap_contacts(rows, labels, 3, done, deepest)
        here, n = _middle(rows, done), three(rows, 10 * done + NORMAL)
        alone = True
        for m in range(kept):
            if alone and labels[3 * m + 2] == SMOOTH and dot(n, three(rows, 10 * m + NORMAL)) > 0.5:
                x = scale(0.5, add(here, _middle(rows, m)))
                alone = not (
                    in_solid(table, i, x, work) and in_solid(table, j, turned_back(R, sub(x, p)), work)
                )
        if alone:
            swap_contacts(rows, labels, 3, kept, done)
            kept += 1
        done += 1
    return kept


@native
def _middle(rows, k):
    return scale(0.5, add(three(rows, 10 * k + POINT_A), three(rows, 10 * k + POINT_B)))
