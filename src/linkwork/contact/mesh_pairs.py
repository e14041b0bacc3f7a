"""contacts <- two triangles of meshes that cross, seen as surfaces."""

from linkwork.contact.contact_reduction import put_contact
from linkwork.contact.decorators import native
from linkwork.contact.shape_table import FIRST_FACE, FIRST_POINT
from linkwork.contact.triangles import contact_of
from linkwork.geometry.vectors import along, dot, row, sub


@native
def corners(table, shape, triangle):
    """Return the three corners of a triangle of a mesh."""
    k = 12 * shape
    f = 3 * (table.index[k + FIRST_FACE] + triangle)
    first = table.index[k + FIRST_POINT]
    return (
        row(table.points, first + table.faces[f]),
        row(table.points, first + table.faces[f + 1]),
        row(table.points, first + table.faces[f + 2]),
    )


@native
def put_crossing(work, count, ta, tb, p0, p1, p2, q0, q1, q2, x, y):
    """Write the ends of the segment in which two triangles cross as contacts; return how many there are
    now."""
    depth, n, of_b = contact_of(p0, p1, p2, q0, q1, q2)
    gap = sub(y, x)
    ends = 2 if dot(gap, gap) > 1e-24 else 1
    for e in range(ends):
        z = x if e == 0 else y
        a = along(z, depth, n) if of_b == 1 else z
        b = along(z, -depth, n) if of_b == 0 else z
        put_contact(work.raw, work.raw_label, count, a, b, n, depth, ta, tb)
        count += 1
    return count
