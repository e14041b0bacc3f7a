"""contacts <- a half-space and a convex shape or a mesh, in closed form."""

from linkwork.contact.contact_reduction import put_contact, thinned, well_spread
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.features import feature
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.shape_table import FIRST_NODE
from linkwork.contact.support import support
from linkwork.contact.tree_descent import descended, lowest_of_node
from linkwork.geometry.vectors import along, dot, neg, row, three, turned


@native
def plane_in(table, j, R, p):
    """Return normal and offset of a half-space, in the axes in which it is placed by R, p."""
    m = turned(R, three(table.size, 4 * j))
    return m, table.size[4 * j + 3] + dot(m, p)


@native
def above_plane(A, m, offset):
    """Return depth and lowest point of a convex shape over a half-space."""
    a = along(support(A, neg(m)), -A.radius, m)
    return offset - dot(m, a), a


@native_apart
def convex_plane(table, A, m, offset, work, margin):
    """Write the contacts of a convex shape and a half-space, in axes of the shape; return how many."""
    depth, a = above_plane(A, m, offset)
    if depth < -margin:
        return 0
    n = neg(m)
    corners_here, _ = feature(table, A, n, work, 0)
    count = 0
    deepest = -1e300
    for k in range(corners_here):
        x = row(work.ring, k)
        deep = offset - dot(m, x)
        if deep >= -margin:
            put_contact(work.raw, work.raw_label, count, x, along(x, deep, m), n, deep, work.label[k], 0)
            deepest = max(deepest, deep)
            count += 1
    count = well_spread(work.raw, work.raw_label, 0, count, work.corners)
    if deepest < depth - 1e-9:
        put_contact(work.raw, work.raw_label, count, a, along(a, depth, m), n, depth, 99, 0)
        count += 1
    return thinned(work.raw, work.raw_label, 3, 0, count) if count > 4 and work.corners == 4 else count


@native_apart
def mesh_plane(table, i, m, offset, work, margin):
    """Write the corners of a mesh that are in a half-space as contacts, in axes of the mesh; return how
    many."""
    boxes, child = table.node_box, table.node_child
    first = table.index[12 * i + FIRST_NODE]
    stack = work.stack
    stack[0] = 0
    top, count = 1, 0
    while top > 0:
        top -= 1
        node = first + stack[top]
        if lowest_of_node(boxes, node, m) > offset + margin:
            continue
        if child[2 * node] >= 0:
            top = descended(child, node, stack, 0, top)
            continue
        triangle = -1 - child[2 * node]
        p0, p1, p2 = corners(table, i, triangle)
        for c in range(3):
            x = p0 if c == 0 else (p1 if c == 1 else p2)
            deep = offset - dot(m, x)
            if deep >= -margin:
                if count == work.raw_room:
                    count = thinned(work.raw, work.raw_label, 3, 0, count)
                put_contact(work.raw, work.raw_label, count, x, along(x, deep, m), neg(m), deep, triangle, 0)
                count += 1
    return thinned(work.raw, work.raw_label, 3, 0, count) if count > 4 else count


@native_apart
def mesh_depth(table, i, m, offset, work):
    """Return depth and deepest point of a mesh in a half-space: negative is the height above it."""
    boxes, child = table.node_box, table.node_child
    first = table.index[12 * i + FIRST_NODE]
    stack = work.stack
    stack[0] = 0
    top = 1
    best, point = -1e300, (0.0, 0.0, 0.0)
    while top > 0:
        top -= 1
        node = first + stack[top]
        if offset - lowest_of_node(boxes, node, m) <= best:
            continue
        if child[2 * node] >= 0:
            top = descended(child, node, stack, 0, top)
            continue
        p0, p1, p2 = corners(table, i, -1 - child[2 * node])
        for c in range(3):
            x = p0 if c == 0 else (p1 if c == 1 else p2)
            if offset - dot(m, x) > best:
                best, point = offset - dot(m, x), x
    return best, point
