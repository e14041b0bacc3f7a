"""whether points are inside a shape <- points in the world."""

from linkwork.contact.decorators import native, native_apart
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.shape_kinds import CONVEX, HEIGHT_FIELD, MESH, PLANE, POLYGON, TRACED, switch
from linkwork.contact.shape_table import (
    FACES,
    FIRST_FACE,
    FIRST_NODE,
    FIRST_POINT,
    POINTS,
    opened_table,
    opened_work,
)
from linkwork.contact.support import convex_kind, form_of
from linkwork.contact.terrain import field_depth
from linkwork.contact.traced_queries import in_traced
from linkwork.contact.tree_descent import descended
from linkwork.contact.triangles import closest_of_segments
from linkwork.geometry.shape_code import MISSED, ray_slabs
from linkwork.geometry.vectors import cross, dot, nine, position, rotation, row, sub, three, turned_back
from linkwork.native.numba_functions import entry, memory


@native
def _nowhere(form, q):
    return False


_inside = native(switch("inside", ("q",), _nowhere))


@native_apart
def contains(table, poses, i, point, work):
    """Return whether a point is inside shape i or on its surface."""
    q = turned_back(rotation(poses, i), sub(point, position(poses, i)))
    return holds(table, i, q, work, 0)


@native_apart
def holds(table, i, q, work, side):
    """Return whether a point is inside shape i or on its surface, in its own axes; see `form_of`."""
    kind = convex_kind(table, i)
    if kind < CONVEX:
        return _inside(form_of(table, i, work, side), q)
    if kind == TRACED:
        return in_traced(form_of(table, i, work, side), q, table.reach[7 * i + 6], work)
    if kind == PLANE:
        return dot(three(table.size, 4 * i), q) <= table.size[4 * i + 3]
    if kind == HEIGHT_FIELD:
        return field_depth(table, i, q)[0] >= 0.0
    if kind == CONVEX:
        first = table.index[12 * i + FIRST_FACE]
        for k in range(first, first + table.index[12 * i + FACES]):
            if dot(three(table.planes, 4 * k), q) > table.planes[4 * k + 3]:
                return False
        return True
    if kind == POLYGON:
        return _in_polygon(table, i, q)
    return winds(table, i, q, work)


@native_apart
def _in_polygon(table, i, q):
    first, n, r = table.index[12 * i + FIRST_POINT], table.index[12 * i + POINTS], table.size[4 * i]
    q = (q[0], q[1], 0.0)
    inside = n > 2
    for k in range(n):
        a, b = row(table.points, first + k), row(table.points, first + (k + 1) % n)
        inside = inside and cross(sub(b, a), sub(q, a))[2] >= 0.0
        on, _same = closest_of_segments(a, b, q, q)
        gap = sub(q, on)
        if dot(gap, gap) <= r * r:
            return True
    return inside


@native_apart
def winds(table, i, q, work):
    """Return whether a closed mesh goes round a point: it passes the half-line along x more often one way.

    By the tree: only triangles whose boxes the half-line meets.
    """
    boxes, child = table.node_box, table.node_child
    first = table.index[12 * i + FIRST_NODE]
    stack = work.stack
    stack[0] = 0
    top, turns = 1, 0
    while top > 0:
        top -= 1
        node = first + stack[top]
        k = 15 * node
        R, half = nine(boxes, k), three(boxes, k + 12)
        slack = 1e-12 * (1.0 + half[0])
        wide = (half[0] + slack, half[1] + slack, half[2] + slack)
        far, _axis, _side = ray_slabs(turned_back(R, sub(q, three(boxes, k + 9))), (R[0], R[1], R[2]), wide)
        if far >= MISSED:
            continue
        if child[2 * node] < 0:
            a, b, c = corners(table, i, -1 - child[2 * node])
            turns += _passes(sub(a, q), sub(b, q), sub(c, q))
        else:
            top = descended(child, node, stack, 0, top)
    return turns != 0


@native
def in_solid(table, f, x, work):
    """Return whether a point is inside a closed mesh, or under terrain, in its axes."""
    if table.kind[f] == MESH:
        return winds(table, f, x, work)
    return field_depth(table, f, x)[0] > 0.0


@native
def _passes(a, b, c):
    """Return +1 or -1 if the half-line along x passes a triangle, outward or inward; else 0. A border counts
    for one of its two triangles: corners at z = 0 (then y = 0) are taken to lie above."""
    s = _side(a, b) + _side(b, c) + _side(c, a)
    if s == 0:
        return 0
    n = cross(sub(b, a), sub(c, a))
    if n[0] == 0.0:
        return 0
    far = dot(n, a) / n[0]
    if far < 0.0:
        return 0
    return 1 if n[0] > 0.0 else -1


@native
def _side(a, b):
    """Return +1 or -1 if an edge, seen along x, crosses the half-line of y >= 0 upwards or downwards."""
    up_a, up_b = a[2] >= 0.0, b[2] >= 0.0
    if up_a == up_b:
        return 0
    across = a[1] * b[2] - b[1] * a[2]
    if up_b:
        return 1 if across > 0.0 else 0
    return -1 if across < 0.0 else 0


@entry(None, "int64[::1]", "float64[:, :, ::1]", "int64", "float64[:, ::1]", "int64[::1]", "int64[::1]")
def points_inside(table, poses, i, points, inside, work):
    """Write 1 for points that are inside shape i."""
    t, w, x, q, out = opened_table(table), opened_work(work), memory(poses), memory(points), memory(inside)
    for k in range(len(points)):
        if contains(t, x, i, row(q, k), w):
            out[k] = 1
