"""where a ray first meets a shape <- origin and unit direction, in closed form or by descent of a tree.

A ray that begins inside a solid meets it at once, at distance 0, with the normal against the ray. A mesh and
a height field are met on their surface, from either side; only from above is a point under terrain met at
once.
"""

from linkwork.contact.broad_phase import build, opened_tree, write_bounds
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.mesh_pairs import corners
from linkwork.contact.shape_kinds import CONVEX, HEIGHT_FIELD, MESH, PLANE, POLYGON, TRACED, switch
from linkwork.contact.shape_table import (
    COLUMNS,
    FACES,
    FIRST_FACE,
    FIRST_NODE,
    FIRST_POINT,
    GROUP,
    POINTS,
    ROWS,
    opened_table,
    opened_work,
)
from linkwork.contact.support import form_of
from linkwork.contact.terrain import cell, field_depth, field_triangle
from linkwork.contact.traced_queries import ray_traced
from linkwork.contact.tree_descent import descended
from linkwork.geometry.shape_code import MISSED, ray_ball, ray_slabs
from linkwork.geometry.vectors import (
    ZERO,
    along,
    cross,
    dot,
    neg,
    nine,
    position,
    put_three,
    rotation,
    row,
    sub,
    three,
    turned,
    turned_back,
    unit,
)
from linkwork.native.numba_functions import entry, memory


@native
def _no_ray(form, o, d):
    return MISSED, ZERO


_ray = native(switch("ray", ("o", "d"), _no_ray))


@native_apart
def _hull(table, i, o, d):
    low, high, n = -MISSED, MISSED, ZERO
    first = table.index[12 * i + FIRST_FACE]
    for k in range(first, first + table.index[12 * i + FACES]):
        m = three(table.planes, 4 * k)
        gap, speed = dot(m, o) - table.planes[4 * k + 3], dot(m, d)
        if speed == 0.0:
            if gap > 0.0:
                return MISSED, n
        elif speed < 0.0:
            t = -gap / speed
            if t > low:
                low, n = t, m
        else:
            high = min(high, -gap / speed)
    if low > high or high < 0.0:
        return MISSED, n
    return low, n


@native
def ray_triangle(o, d, p0, p1, p2, best):
    """Return where the ray meets a triangle (Moeller, Trumbore 1997), if before best."""
    e, f = sub(p1, p0), sub(p2, p0)
    q = cross(d, f)
    det = dot(e, q)
    if det == 0.0:
        return MISSED
    s = sub(o, p0)
    u = dot(s, q) / det
    if not 0.0 <= u <= 1.0:
        return MISSED
    r = cross(s, e)
    v = dot(d, r) / det
    if not (v >= 0.0 and u + v <= 1.0):
        return MISSED
    t = dot(f, r) / det
    return t if 0.0 <= t < best else MISSED


@native_apart
def ray_mesh(table, i, o, d, work, longest):
    """Return where a ray first meets a mesh, in its axes, up to `longest`: distance, normal against the ray,
    triangle."""
    boxes, child = table.node_box, table.node_child
    first = table.index[12 * i + FIRST_NODE]
    stack = work.stack
    stack[0] = 0
    top = 1
    best, n, face = longest, ZERO, -1
    while top > 0:
        top -= 1
        node = first + stack[top]
        k = 15 * node
        R = nine(boxes, k)
        h = three(boxes, k + 12)
        h = (h[0] + 1e-12, h[1] + 1e-12, h[2] + 1e-12)
        t, _axis, _side = ray_slabs(turned_back(R, sub(o, three(boxes, k + 9))), turned_back(R, d), h)
        if t >= MISSED or t > best:
            continue
        if child[2 * node] >= 0:
            top = descended(child, node, stack, 0, top)
            continue
        p0, p1, p2 = corners(table, i, -1 - child[2 * node])
        t = ray_triangle(o, d, p0, p1, p2, best)
        if t < best:
            best, face = t, -1 - child[2 * node]
            n = unit(cross(sub(p1, p0), sub(p2, p0)))
    if face < 0:
        return MISSED, n, face
    return best, (n if dot(n, d) <= 0.0 else neg(n)), face


@native_apart
def _field(table, i, o, d, longest):
    """Walk over the cells of a height field along the ray."""
    deep, m = field_depth(table, i, o)
    if deep > 0.0:
        return -1.0, m
    sx, sy = table.size[4 * i], table.size[4 * i + 1]
    low, high = table.size[4 * i + 2], table.size[4 * i + 3]
    middle = (0.0, 0.0, 0.5 * (low + high))
    begin, _a, _s = ray_slabs(sub(o, middle), d, (0.5 * sx, 0.5 * sy, 0.5 * (high - low) + 1e-9))
    if begin == MISSED:
        return MISSED, ZERO
    begin = max(begin, 0.0)
    x = along(o, begin, d)
    cx, cy, _u, _v = cell(table, i, x[0], x[1])
    nx, ny = table.index[12 * i + ROWS], table.index[12 * i + COLUMNS]
    dx, dy = sx / (nx - 1), sy / (ny - 1)
    for _step in range(nx + ny):
        for upper in range(2):
            p0, p1, p2 = field_triangle(table, i, cx, cy, upper)
            t = ray_triangle(o, d, p0, p1, p2, longest)
            if t < MISSED:
                other = MISSED
                if upper == 0:
                    q0, q1, q2 = field_triangle(table, i, cx, cy, 1)
                    other = ray_triangle(o, d, q0, q1, q2, t)
                    if other < t:
                        return other, unit(cross(sub(q1, q0), sub(q2, q0)))
                return t, unit(cross(sub(p1, p0), sub(p2, p0)))
        # Which border of the cell comes first?
        tx, ty = MISSED, MISSED
        if d[0] != 0.0:
            tx = ((cx + (1 if d[0] > 0.0 else 0)) * dx - 0.5 * sx - o[0]) / d[0]
        if d[1] != 0.0:
            ty = ((cy + (1 if d[1] > 0.0 else 0)) * dy - 0.5 * sy - o[1]) / d[1]
        if tx == MISSED and ty == MISSED:
            break
        if tx <= ty:
            cx += 1 if d[0] > 0.0 else -1
        else:
            cy += 1 if d[1] > 0.0 else -1
        if cx < 0 or cy < 0 or cx > nx - 2 or cy > ny - 2:
            break
    return MISSED, ZERO


@native_apart
def _polygon(table, i, o, d):
    """A rounded polygon in the plane: its edges moved out by the radius, and discs at its corners."""
    first, many, r = table.index[12 * i + FIRST_POINT], table.index[12 * i + POINTS], table.size[4 * i]
    best, n = MISSED, ZERO
    inside = many > 2
    for k in range(many):
        a, b = row(table.points, first + k), row(table.points, first + (k + 1) % many)
        t = ray_ball((o[0], o[1], 0.0), d, a, r) if r > 0.0 else MISSED
        if t < best:
            best, n = t, (unit(sub(along(o, t, d), a)) if t > 0.0 else ZERO)
        if many == 1:
            continue
        m = unit(cross(sub(b, a), (0.0, 0.0, 1.0)))
        gap, speed = dot(m, sub(o, a)) - r, dot(m, d)
        inside = inside and gap + r <= 0.0
        if speed < 0.0 and gap >= 0.0:
            t = -gap / speed
            s = dot(sub(along(o, t, d), a), sub(b, a))
            if t < best and 0.0 <= s <= dot(sub(b, a), sub(b, a)):
                best, n = t, m
    return (-1.0 if inside else best), n


@native_apart
def ray_shape(table, poses, i, origin, direction, work, longest):
    """Return distance along a ray to shape i (MISSED: none up to `longest`), normal there, and the
    triangle."""
    R, p = rotation(poses, i), position(poses, i)
    o, d = turned_back(R, sub(origin, p)), turned_back(R, direction)
    kind = table.kind[i]
    t, n, face = MISSED, ZERO, -1
    if kind < CONVEX:
        t, n = _ray(form_of(table, i, work, 0), o, d)
    elif kind == TRACED:
        t, n = ray_traced(form_of(table, i, work, 0), o, d, table.reach[7 * i + 6], work)
    elif kind == CONVEX:
        t, n = _hull(table, i, o, d)
    elif kind == PLANE:
        n = three(table.size, 4 * i)
        gap, speed = dot(n, o) - table.size[4 * i + 3], dot(n, d)
        if gap <= 0.0:
            t = -1.0
        elif speed < 0.0:
            t = -gap / speed
    elif kind == MESH:
        t, n, face = ray_mesh(table, i, o, d, work, longest)
    elif kind == HEIGHT_FIELD:
        t, n = _field(table, i, o, d, longest)
    elif kind == POLYGON:
        t, n = _polygon(table, i, o, d)
    if t < 0.0:
        t, n = 0.0, neg(d)  # it begins inside
    if t > longest:
        t = MISSED
    return t, turned(R, n), face


@entry(
    None,
    "int64[::1]",
    "float64[:, :, ::1]",
    "float64[:, ::1]",
    "float64[:, ::1]",
    "float64",
    "int64",
    "int64[::1]",
    "int64[::1]",
    "float64[:, ::1]",
    "int64[:, ::1]",
)
def cast_rays(table, poses, origins, directions, longest, mask, work, tree, out, hit):
    """Write the first hits of rays: point, normal, distance in `out` (n, 7), shape (-1: none), triangle in
    `hit`.

    Directions are unit vectors. Only shapes with a group in `mask` are met.
    """
    t, w, x = opened_table(table), opened_work(work), memory(poses)
    ro, rd, result, shape = memory(origins), memory(directions), memory(out), memory(hit)
    grown = opened_tree(tree)
    o, box, ch, st = grown.order, grown.boxes, grown.child, grown.stack
    n = t.at
    write_bounds(t, x, 0.0, grown.bounds)
    bounded = endless = 0
    for k in range(n):
        if t.index[12 * k + GROUP] & mask == 0:
            continue
        if t.kind[k] != PLANE:
            o[bounded] = k
            bounded += 1
        else:
            endless += 1
            o[n - endless] = k
    build(grown, bounded, 1)
    for r in range(len(origins)):
        origin, d = row(ro, r), row(rd, r)
        best, normal, which, face = longest, ZERO, -1, -1
        for k in range(n - endless, n):
            s, m, f = ray_shape(t, x, o[k], origin, d, w, best)
            if s < MISSED and (s < best or which < 0):
                best, normal, which, face = s, m, o[k], f
        top = 0
        if bounded > 0:
            st[0] = 0
            top = 1
        while top > 0:
            top -= 1
            node = st[top]
            low, high = three(box, 6 * node), three(box, 6 * node + 3)
            c = (0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]))
            h = (
                0.5 * (high[0] - low[0]) * (1.0 + 1e-12) + 1e-12,
                0.5 * (high[1] - low[1]) * (1.0 + 1e-12) + 1e-12,
                0.5 * (high[2] - low[2]) * (1.0 + 1e-12) + 1e-12,
            )
            s, _axis, _side = ray_slabs(sub(origin, c), d, h)
            if s >= MISSED or s > best:
                continue
            if ch[3 * node] >= 0:
                st[top], st[top + 1] = ch[3 * node + 1], ch[3 * node]
                top += 2
                continue
            k = o[-1 - ch[3 * node]]
            s, m, f = ray_shape(t, x, k, origin, d, w, best)
            if s < best or (s <= best and s < MISSED and (which < 0 or k < which)):
                best, normal, which, face = s, m, k, f
        put_three(result, 7 * r, along(origin, best if which >= 0 else 0.0, d))
        put_three(result, 7 * r + 3, normal)
        result[7 * r + 6] = best if which >= 0 else MISSED
        shape[2 * r], shape[2 * r + 1] = which, face
