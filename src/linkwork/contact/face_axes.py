"""depth, normal <- two polyhedra of few faces: the normals of all faces as separating axes.

Where faces of two polyhedra touch, the direction of the way between them is hardly known: a gap of nanometres
has none, and edges that coincide are as near as the faces. So a face is preferred to any other direction that
is no better, as between two boxes.
"""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.shape_kinds import BOX, CONVEX
from linkwork.contact.support import support
from linkwork.geometry.vectors import ZERO, add, along, dot, neg, sub, three, turned, turned_back

_MOST = 48  # faces, triangles of a hull
_PREFERRED = 1e-7  # [m]


@native
def _count(form):
    """Return how many faces a polyhedron has; 0 for other shapes, and for too many."""
    if form.kind == BOX:
        return 6
    return form.faces if form.kind == CONVEX and form.faces <= _MOST else 0


@native
def _face(table, form, k):
    """Return normal and offset of a face."""
    if form.kind == BOX:
        s = 1.0 if k < 3 else -1.0
        axis = k % 3
        half = form.x if axis == 0 else (form.y if axis == 1 else form.z)
        return (s * (axis == 0), s * (axis == 1), s * (axis == 2)), half
    at = 4 * (form.first_face + k)
    return three(table.planes, at), table.planes[at + 3]


@native_apart
def rather_a_face(table, A, B, R, p, depth, normal, a, b):
    """Return depth, normal and points of the best pair of a face and what is deepest behind it, if that is
    as good as what is given; else what is given."""
    na, nb = _count(A), _count(B)
    if na == 0 or nb == 0:
        return depth, normal, a, b
    best, chosen, x = 1e300, ZERO, ZERO
    for k in range(na):
        n, offset = _face(table, A, k)
        y = add(turned(R, support(B, neg(turned_back(R, n)))), p)
        if offset - dot(n, y) < best:
            best, chosen, x = offset - dot(n, y), n, y
    on_a = along(x, best, chosen)
    for k in range(nb):
        n, offset = _face(table, B, k)
        m = turned(R, n)
        y = support(A, neg(m))
        deep = offset - dot(n, turned_back(R, sub(y, p)))
        if deep < best:
            best, chosen, x, on_a = deep, neg(m), along(y, deep, m), y
    if best > depth + _PREFERRED:
        return depth, normal, a, b
    return best, chosen, on_a, x
