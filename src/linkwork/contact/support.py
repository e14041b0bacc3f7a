"""Support functions: the point of a convex shape that is farthest in a direction, in the shape's own axes.

Balls and capsules are a core, a point and a segment, with a radius round it; the radius is added to whatever
is computed for the core.
"""

from math import sqrt
from typing import Any, NamedTuple

from linkwork.contact.decorators import native, native_apart, native_within
from linkwork.contact.shape_table import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    FACES,
    FIRST_FACE,
    FIRST_POINT,
    POINTS,
    SPHERE,
)
from linkwork.contact.vectors import add, farthest, norm, row, sub, three, turned, turned_back


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


@native
def form_of(table, i):
    """Return the core of a convex shape of the table."""
    kind = table.kind[i]
    x, y, z = three(table.size, 4 * i)
    radius = 0.0
    if kind in (SPHERE, CAPSULE):
        radius = x
    k = 12 * i
    return Form(
        kind,
        x,
        y,
        z,
        radius,
        table.points,
        table.index[k + FIRST_POINT],
        table.index[k + POINTS],
        table.index[k + FIRST_FACE],
        table.index[k + FACES],
    )


@native
def lone_triangle(points, first):
    """Return a triangle as a convex shape; its corners lie side by side."""
    return Form(CONVEX, 0.0, 0.0, 0.0, 0.0, points, first, 3, 0, 0)


@native
def curved(form):
    """Return whether the core has a curved surface."""
    return form.kind == CYLINDER or form.kind == CONE or form.kind == ELLIPSOID


@native_within
def support(form, d):
    """Return the farthest point of the core in a direction, which need not be of unit length."""
    kind = form.kind
    if kind == BOX:
        return (
            form.x if d[0] >= 0.0 else -form.x,
            form.y if d[1] >= 0.0 else -form.y,
            form.z if d[2] >= 0.0 else -form.z,
        )
    if kind == CYLINDER:
        across = sqrt(d[0] * d[0] + d[1] * d[1])
        z = form.y if d[2] >= 0.0 else -form.y
        if across > 1e-300:
            s = form.x / across
            return s * d[0], s * d[1], z
        return 0.0, 0.0, z
    if kind == CAPSULE:
        return 0.0, 0.0, (form.y if d[2] >= 0.0 else -form.y)
    if kind == SPHERE:
        return 0.0, 0.0, 0.0
    if kind == CONE:
        across = sqrt(d[0] * d[0] + d[1] * d[1])
        if d[2] * form.y >= form.x * across:
            return 0.0, 0.0, form.y
        if across > 1e-300:
            s = form.x / across
            return s * d[0], s * d[1], 0.0
        return 0.0, 0.0, 0.0
    if kind == ELLIPSOID:
        x, y, z = form.x * d[0], form.y * d[1], form.z * d[2]
        s = norm((x, y, z))
        if s > 1e-300:
            return form.x * x / s, form.y * y / s, form.z * z / s
        return 0.0, 0.0, form.z
    return row(form.points, farthest(form.points, 3, form.first, form.many, d))


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
