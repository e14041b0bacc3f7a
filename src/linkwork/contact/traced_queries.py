"""Inside and rays of a convex solid that is known by its support function alone.

Both ask for the distance of a point, by gjk. A ray is followed from outside: at a point x of it with the
nearest point a of the solid, all of the solid is beyond the plane through a across x - a, so the ray meets
nothing before that plane, and goes on from there. (G. van den Bergen, Ray casting against general convex
objects, 2004.)
"""

from linkwork.contact.decorators import native_apart
from linkwork.contact.gjk import INSIDE, gjk
from linkwork.contact.shape_kinds import SPHERE
from linkwork.contact.support import Form
from linkwork.geometry.shape_code import MISSED
from linkwork.geometry.vectors import ZERO, along, dot, neg, norm, scale

_SAME = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_EXACT = 1e-14  # between the bounds of a squared distance
_ON = 1e-12  # of the size: a point so close is on the surface
_ABOVE = 1e-6  # of the size: from so far above the surface its normal is asked for
_STEPS = 128


@native_apart
def _gap(form, x, work):
    """Return the vector from the nearest point of a solid to a point x; zero if that is inside."""
    point = Form(SPHERE, 0.0, 0.0, 0.0, 0.0, form.points, 0, 0, 0, 0, 0)
    ended, v, _n, _l, _m = gjk(form, point, _SAME, x, work.w, work.a, neg(x), 1e150, _EXACT)
    return ZERO if ended == INSIDE else neg(v)


@native_apart
def in_traced(form, q, size, work):
    """Whether a point is inside a traced solid of some size, or on its surface."""
    return norm(_gap(form, q, work)) <= _ON * size


@native_apart
def ray_traced(form, o, d, size, work):
    """Return how far along the unit vector d a ray meets a traced solid, MISSED, or -1 inside; the normal."""
    t, normal = 0.0, neg(d)
    for step in range(_STEPS):
        x = along(o, t, d)
        gap = _gap(form, x, work)
        far = norm(gap)
        if far <= _ON * (size + t):
            if step == 0:
                return -1.0, ZERO
            # From a little above the surface the nearest point is below it, however oblique the ray is.
            above = _gap(form, along(x, _ABOVE * size, normal), work)
            return t, (scale(1.0 / norm(above), above) if norm(above) > 0.0 else normal)
        normal = scale(1.0 / far, gap)
        speed = dot(normal, d)
        if speed > -1e-12:
            return MISSED, ZERO
        t -= far / speed
    return MISSED, ZERO
