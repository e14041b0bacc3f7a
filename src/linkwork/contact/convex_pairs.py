"""depth, normal, points <- two convex shapes: balls in closed form, others by GJK where their cores are apart
and by EPA where they overlap."""

from linkwork.contact.decorators import native_apart
from linkwork.contact.depth_newton import polish
from linkwork.contact.epa import penetration
from linkwork.contact.gjk import APART, INSIDE, gjk, witness
from linkwork.contact.round_pairs import ball_box, ball_turned, has_profile, round_round
from linkwork.contact.shape_kinds import BOX, CAPSULE, SPHERE
from linkwork.contact.support import curved
from linkwork.geometry.vectors import ZERO, along, neg, norm, sub, unit

_EXACT = 1e-14  # between the bounds of the squared distance: as close as rounding lets it come
_ROUGH = 1e-2  # where Newton's method goes on
_ROUNDING = 1e-13  # of the sizes: cores that are apart may overlap so much


@native_apart
def closest(A, B, R, p, work, limit):
    """Return depth (negative: the distance), normal from a to b, and a point on each, all in axes of A.

    B is placed by R, p in the axes of A. If they are farther apart than `limit` the depth is -inf.
    """
    if A.kind <= CAPSULE and B.kind <= CAPSULE:
        return round_round(A, B, R, p)
    if A.kind == SPHERE and B.kind == BOX:
        return ball_box(A, B, R, p)
    if A.kind == SPHERE and has_profile(B):
        return ball_turned(A, B, R, p)
    radii = A.radius + B.radius
    bends, start = curved(A) or curved(B), neg(p)
    tolerance = _ROUGH if bends else _EXACT
    while True:
        ended, v, n, l, m = gjk(A, B, R, p, work.w, work.a, start, radii + limit, tolerance)
        if ended == APART:
            return -1e300, ZERO, ZERO, ZERO
        if ended == INSIDE:
            break
        normal = unit(m)
        if bends:
            corners, weights = (0, 1, 2), (l[0], l[1], l[2])
            level, h, sharp, a, _slope = polish(A, B, R, p, work.w, work.a, corners, weights, normal, n)
            if level > 0 and h <= _ROUNDING * (norm(a) + norm(p)):
                b = along(a, -h, sharp)
                return radii + h, sharp, along(a, A.radius, sharp), along(b, -B.radius, sharp)
        if tolerance == _EXACT:
            a = witness(work.a, n, l)
            b = sub(a, v)
            return radii - norm(v), normal, along(a, A.radius, normal), along(b, -B.radius, normal)
        start, tolerance = v, _EXACT
    depth, normal, a = penetration(A, B, R, p, work, n)
    b = along(a, -depth, normal)
    return radii + depth, normal, along(a, A.radius, normal), along(b, -B.radius, normal)
