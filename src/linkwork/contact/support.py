"""Support functions: the point of a convex shape that is farthest in a direction, in the shape's own axes.

Those of the solids are in their own files (`geometry/shape_code.py`). Balls and capsules are a core, a point
and a segment, with a radius round it; the radius is added to whatever is computed for the core.
"""

from typing import Any, NamedTuple

from linkwork.contact.corner_clusters import farthest_corner
from linkwork.contact.decorators import native, native_apart, native_within
from linkwork.contact.shape_kinds import CONVEX, CURVED, MESH, TRACED, switch
from linkwork.contact.shape_table import FACES, FIRST_FACE, FIRST_POINT, OWN, POINTS, SCRATCH
from linkwork.geometry.vectors import add, farthest, row, sub, three, turned, turned_back
from linkwork.native.numba_functions import call, doubles, integers


class Form(NamedTuple):
    """A convex core, and the radius round it."""

    kind: int
    x: float
    y: float
    z: float
    radius: float
    points: Any  # memory of points
    first: int
    many: int
    first_face: int
    faces: int  # 0 for a lone triangle
    scratch: int  # address of the numbers, and kernels, of a TRACED one: see `form_of`


@native
def convex_kind(table, i):
    """Return the kind of a shape; a mesh that bounds a convex solid is CONVEX."""
    kind = table.kind[i]
    return CONVEX if kind == MESH and table.size[4 * i + 2] > 0.0 else kind


@native
def form_of(table, i, work, side):
    """Return the core of a convex shape of the table; `side` distinguishes the two shapes of a pair.

    Each side has SCRATCH words: a direction, a point and derivatives, and from OWN on the addresses of a
    traced solid: its support kernel, that of the derivatives, its sizes.
    """
    x, y, z = three(table.size, 4 * i)
    k = 12 * i
    kind, scratch = convex_kind(table, i), work.at + 8 * SCRATCH * side
    if kind == TRACED:
        words = integers(scratch)
        for m in range(3):
            words[OWN + m] = table.faces[3 * table.index[k + FIRST_FACE] + m]
    return Form(
        kind,
        x,
        y,
        z,
        table.size[4 * i + 3],
        table.points,
        table.index[k + FIRST_POINT],
        table.index[k + POINTS],
        table.index[k + FIRST_FACE],
        table.index[k + FACES],
        scratch,
    )


@native
def lone_triangle(points, first):
    """Return a triangle as a convex shape; its corners lie side by side."""
    return Form(CONVEX, 0.0, 0.0, 0.0, 0.0, points, first, 3, 0, 0, 0)


@native
def curved(form):
    """Return whether the core has a curved surface."""
    if form.kind == TRACED:
        return integers(form.scratch)[OWN + 1] != 0
    return (CURVED >> form.kind) & 1 != 0


@native_apart
def _traced_support(scratch, d):
    """Return the same of a traced solid, by its kernel."""
    words, numbers = integers(scratch), doubles(scratch)
    numbers[0], numbers[1], numbers[2] = d[0], d[1], d[2]
    call(words[OWN], scratch, words[OWN + 2])
    return numbers[3], numbers[4], numbers[5]


@native_within
def _other_support(form, d):
    """Return the same of a hull, by its corners, or of a traced solid."""
    if form.kind == TRACED:
        return _traced_support(form.scratch, d)
    if form.x > 0.0:
        return row(form.points, farthest_corner(form, d))
    return row(form.points, farthest(form.points, 3, form.first, form.many, d))


# support(form, d): the farthest point of the core in a direction, which need not be of unit length
support = native_within(switch("support", ("d",), _other_support))


@native
def traced_bend(form, d, s, t):
    """Return s.H s, s.H t and t.H t of a traced solid, with H = d support / d d at the unit direction d."""
    words, numbers = integers(form.scratch), doubles(form.scratch)
    numbers[0], numbers[1], numbers[2] = d[0], d[1], d[2]
    call(words[OWN + 1], form.scratch, words[OWN + 2])
    xx, xy, xz, yy, yz, zz = numbers[6], numbers[7], numbers[8], numbers[9], numbers[10], numbers[11]
    Hs = (
        xx * s[0] + xy * s[1] + xz * s[2],
        xy * s[0] + yy * s[1] + yz * s[2],
        xz * s[0] + yz * s[1] + zz * s[2],
    )
    Ht = (
        xx * t[0] + xy * t[1] + xz * t[2],
        xy * t[0] + yy * t[1] + yz * t[2],
        xz * t[0] + yz * t[1] + zz * t[2],
    )
    return (
        s[0] * Hs[0] + s[1] * Hs[1] + s[2] * Hs[2],
        s[0] * Ht[0] + s[1] * Ht[1] + s[2] * Ht[2],
        t[0] * Ht[0] + t[1] * Ht[1] + t[2] * Ht[2],
    )


@native_within
def difference(A, B, R, p, d):
    """Return the farthest point of A - B in a direction, and the point of A it comes from, in axes of A."""
    a = support(A, d)
    b = add(turned(R, support(B, turned_back(R, (-d[0], -d[1], -d[2])))), p)
    return sub(a, b), a


@native_apart
def difference_apart(A, B, R, p, d):
    """Return the same; for where it is not called in a loop."""
    return difference(A, B, R, p, d)
