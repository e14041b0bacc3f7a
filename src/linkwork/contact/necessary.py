"""contacts <- contacts of features: those that are left when others have been moved out of.

Deep in a solid there are several ways out, and each is a least depth of its own: a ball in a box has six. A
contact j that is less deep takes A above the plane that touches B in its point b_j; whatever of B lies below
that plane is not touched any more. So a contact k is needed only if its point b_k is above the planes of all
contacts that are less deep:

    u_j . (b_k - b_j) >= 0    for all j with depth_j < depth_k.

On a solid that is convex one contact is left, the least; the two sides of a plate give one; in a groove, or
between a floor and a wall, each side lies above the plane of the other, and both stay.

Points that go with a least depth (of a face that A stands on) stay if there is a contact of that depth in
their plane.
"""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.local_solids import LEAST
from linkwork.contact.manifold import swap_contacts
from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.geometry.vectors import dot, sub, three

_SAME_WAY = 1.0 - 1e-12  # cosine of normals that are one
_ABOVE = 1e-9  # of the size: so far below a plane is on it


@native_apart
def necessary(work, count, size, side):
    """Keep the contacts that are needed in the first rows; return how many. B is the second (side 1), or the
    first (side 0) of the pair."""
    rows, labels = work.raw, work.raw_label
    slack = _ABOVE * size
    kept = with_least_depths(work, count, size)
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
def with_least_depths(work, count, size):
    """Keep least depths, and behind them the points that go with one; return how many."""
    rows, labels = work.raw, work.raw_label
    least = 0
    for k in range(count):  # the least depths come first
        if labels[3 * k + 2] == LEAST:
            swap_contacts(rows, labels, 3, least, k)
            least += 1
    slack = _ABOVE * size
    kept = least
    for k in range(least, count):
        if _goes_with(rows, k, least, slack):
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
