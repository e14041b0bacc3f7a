"""the way out of a solid of triangles <- a point inside: along a direction, or to the nearest face over a
corner."""

from linkwork.contact.decorators import native_apart
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.near_features import across, fits
from linkwork.contact.rays import ray_mesh, ray_triangle
from linkwork.contact.shape_kinds import MESH
from linkwork.contact.shape_table import COLUMNS, FIRST_FACE, FIRST_NODE
from linkwork.contact.terrain import cell, field_depth, field_triangle
from linkwork.contact.tree_descent import descended
from linkwork.geometry.shape_code import MISSED
from linkwork.geometry.vectors import ZERO, along, cross, dot, nine, sub, three, turned_back, unit

SHARP = 0.9  # cosine of the angles round a corner, and of those between faces: sharper edges are sharp


@native_apart
def way_out(table, f, x, u, work):
    """Return how far it is from x along u out of solid f, the normal there and the face; -1 if x is not
    inside."""
    if table.kind[f] == MESH:
        far, _n, face = ray_mesh(table, f, x, u, work, MISSED)
        if face < 0:
            return 0.0, ZERO, -1
        n = three(table.planes, 4 * (table.index[12 * f + FIRST_FACE] + face))
        return far, n, (face if dot(n, u) > 0.0 else -1)
    deep, n = field_depth(table, f, x)
    if deep <= 0.0 or u[2] <= 0.05:
        return 0.0, ZERO, -1
    # Under terrain: the cells over which the way goes until it is above all of them.
    ny = table.index[12 * f + COLUMNS]
    long = (table.size[4 * f + 3] - x[2]) / u[2]
    end = along(x, long, u)
    ax, ay, _u, _v = cell(table, f, min(x[0], end[0]), min(x[1], end[1]))
    bx, by, _u, _v = cell(table, f, max(x[0], end[0]), max(x[1], end[1]))
    best, face = MISSED, -1
    for cx in range(ax, bx + 1):
        for cy in range(ay, by + 1):
            for upper in range(2):
                p0, p1, p2 = field_triangle(table, f, cx, cy, upper)
                t = ray_triangle(x, u, p0, p1, p2, best)
                if t < best:
                    best, face = t, 2 * (cx * (ny - 1) + cy) + upper
                    n = unit(cross(sub(p1, p0), sub(p2, p0)))
    return best, n, (face if dot(n, u) > 0.0 else -1)


@native_apart
def smoothness(table, f, face, n):
    """Return the least cosine of a face's normal with those of its neighbours; sharp edges do not count."""
    least = 1.0
    for e in range(3):
        there, _asked, m = across(table, f, face, e)
        if there and dot(n, m) > SHARP:
            least = min(least, dot(n, m))
    return least


@native_apart
def nearest_face(table, f, x, many, work):
    """Return depth, normal and number of the nearest face of solid f over a corner x whose normals have the
    opposite of its own; -1 if there is none, or x is not inside."""
    best, n, face = 1e300, ZERO, -1
    if table.kind[f] != MESH:
        return _nearest_cell(table, f, x, many, work)
    boxes, child = table.node_box, table.node_child
    first, faces = table.index[12 * f + FIRST_NODE], table.index[12 * f + FIRST_FACE]
    stack = work.stack
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = first + stack[top]
        k = 15 * node
        gap, half = turned_back(nine(boxes, k), sub(x, three(boxes, k + 9))), three(boxes, k + 12)
        dx, dy = max(abs(gap[0]) - half[0], 0.0), max(abs(gap[1]) - half[1], 0.0)
        dz = max(abs(gap[2]) - half[2], 0.0)
        if dx * dx + dy * dy + dz * dz > best * best:
            continue
        if child[2 * node] >= 0:
            top = descended(child, node, stack, 0, top)
            continue
        triangle = -1 - child[2 * node]
        m = three(table.planes, 4 * (faces + triangle))
        depth = table.planes[4 * (faces + triangle) + 3] - dot(m, x)
        if 0.0 <= depth < best:
            p0, p1, p2 = corners(table, f, triangle)
            if fits(p0, p1, p2, m, x, many, work, 0.0):
                best, n, face = depth, m, triangle
    if face >= 0:  # the way to it must not leave the solid before
        _far, _n, first_met = ray_mesh(table, f, along(x, 1e-9 * best, n), n, work, (1.0 - 1e-6) * best)
        if first_met >= 0:
            return 1e300, ZERO, -1
    return best, n, face


@native_apart
def _nearest_cell(table, f, x, many, work):
    """Return the same of terrain: of the cells no farther aside than x is under it."""
    best, n, face = 1e300, ZERO, -1
    deep, _n = field_depth(table, f, x)
    if deep <= 0.0:
        return best, n, face
    ny = table.index[12 * f + COLUMNS]
    ax, ay, _u, _v = cell(table, f, x[0] - deep, x[1] - deep)
    bx, by, _u, _v = cell(table, f, x[0] + deep, x[1] + deep)
    for cx in range(ax, bx + 1):
        for cy in range(ay, by + 1):
            for upper in range(2):
                p0, p1, p2 = field_triangle(table, f, cx, cy, upper)
                m = unit(cross(sub(p1, p0), sub(p2, p0)))
                depth = dot(m, sub(p0, x))
                if 0.0 <= depth < best and fits(p0, p1, p2, m, x, many, work, 0.0):
                    best, n, face = depth, m, 2 * (cx * (ny - 1) + cy) + upper
    return best, n, face
