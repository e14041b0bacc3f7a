"""contact points <- pairs of shapes: which pair is computed how, in one compiled call for many pairs."""

from typing import Any

import numpy as np

from linkwork.contact.box_box import box_box
from linkwork.contact.convex_pairs import closest
from linkwork.contact.decorators import native, native_apart
from linkwork.contact.face_axes import rather_a_face
from linkwork.contact.manifold import points_of_contact
from linkwork.contact.planar_pairs import polygon_plane, polygon_polygon
from linkwork.contact.plane_pairs import convex_plane, mesh_plane, plane_in
from linkwork.contact.shape_kinds import BOX, HEIGHT_FIELD, MESH, PLANE, POLYGON
from linkwork.contact.shape_table import (
    DEPTH,
    NORMAL,
    POINT_A,
    POINT_B,
    TABLE,
    WORK,
    Buffer,
    Table,
    Work,
    opened_buffer,
    opened_table,
    opened_work,
)
from linkwork.contact.solid_pairs import solid_contacts
from linkwork.contact.support import convex_kind, form_of
from linkwork.contact.triangle_pairs import SURFACES, triangle_pairs
from linkwork.geometry.vectors import (
    add,
    back_times,
    dot,
    neg,
    position,
    put_three,
    rotation,
    sub,
    three,
    turned,
    turned_back,
)
from linkwork.native.numba_functions import entry, memory, native_linked


@native_apart
def _convex_convex(table, A, B, R, p, work, margin):
    """Write the contacts of two convex shapes in axes of A; return how many."""
    if A.kind == BOX and B.kind == BOX:
        depth, n, a, b, face = box_box(A, B, R, p, margin)
        if depth < -margin:
            return 0
        if face:
            # The points come from clipping; the plane of the face is all it needs to know of them.
            a = (
                A.x * (1.0 if n[0] > 0.0 else -1.0),
                A.y * (1.0 if n[1] > 0.0 else -1.0),
                A.z * (1.0 if n[2] > 0.0 else -1.0),
            )
            b = (a[0] - depth * n[0], a[1] - depth * n[1], a[2] - depth * n[2])
    else:
        depth, n, a, b = closest(A, B, R, p, work, margin)
        depth, n, a, b = rather_a_face(table, A, B, R, p, depth, n, a, b)
        if depth < -margin:
            return 0
    return points_of_contact(table, A, B, R, p, depth, n, a, b, work, work.raw, work.raw_label, 0, margin)


@native_linked("int64", TABLE, "float64*", "int64", "int64", WORK, "float64")
def raw_contacts(table, poses, i, j, work, margin):
    """Leave the contacts of two shapes, `in_order`, in `work.raw`, in axes of the first; return how many."""
    _Ra, _pa, R, p = relative_pose(poses, i, j)
    kind_a, kind_b = convex_kind(table, i), convex_kind(table, j)
    if kind_a == POLYGON and kind_b == POLYGON:
        return polygon_polygon(table, i, j, R, p, work, margin)
    if kind_b == PLANE:
        m, offset = plane_in(table, j, R, p)
        if kind_a < PLANE:
            return convex_plane(table, form_of(table, i, work, 0), m, offset, work, margin)
        if kind_a == MESH:
            return mesh_plane(table, i, m, offset, work, margin)
        if kind_a == POLYGON:
            return polygon_plane(table, i, m, offset, work, margin)
    elif kind_a < PLANE and kind_b < PLANE:
        A, B = form_of(table, i, work, 0), form_of(table, j, work, 1)
        return _convex_convex(table, A, B, R, p, work, margin)
    elif (kind_a < PLANE or kind_a == MESH) and (kind_b in (MESH, HEIGHT_FIELD)):
        return solid_contacts(table, form_of(table, i, work, 0), i, j, R, p, work, margin)
    return 0


@native
def relative_pose(poses, i, j):
    """Return the pose of shape i, and that of j in axes of i."""
    R, p = rotation(poses, i), position(poses, i)
    return R, p, back_times(R, rotation(poses, j)), turned_back(R, sub(position(poses, j), p))


@native
def in_order(table, i, j):
    """Return two shapes as `raw_contacts` takes them, the half-space or the terrain last, and if they changed
    places."""
    kind_a, kind_b = convex_kind(table, i), convex_kind(table, j)
    swapped = kind_a > kind_b
    low, high = min(kind_a, kind_b), max(kind_a, kind_b)
    if (low == PLANE and (high in (MESH, POLYGON))) or (low == HEIGHT_FIELD and high == MESH):
        swapped = not swapped
    if swapped:
        return j, i, True
    return i, j, False


@native
def pair_contacts(table, poses, i, j, work, contacts, margin):
    """Append the contact points of shapes i and j to the contacts; return how many.

    Where there is no more room they are counted only.
    """
    i, j, swapped = in_order(table, i, j)
    Ra, pa, R, p = relative_pose(poses, i, j)
    if table.kind[i] != PLANE and table.kind[j] != PLANE:  # do the balls round them meet?
        gap = sub(add(turned(R, three(table.reach, 7 * j)), p), three(table.reach, 7 * i))
        reach = table.reach[7 * i + 6] + table.reach[7 * j + 6] + margin
        if dot(gap, gap) > reach * reach:
            return 0
    count = raw_contacts(table, poses, i, j, work, margin)
    _append(work, count, Ra, pa, i, j, swapped, contacts)
    return count


@native_apart
def _append(work, count, R, p, i, j, swapped, contacts):
    """Hand contacts on, from the axes of a to those of the world, and in the order in which they were
    asked."""
    contacts.count[1] += count
    if contacts.count[0] + count > contacts.room:
        return
    for k in range(count):
        at = contacts.count[0]
        a = add(turned(R, three(work.raw, 10 * k + POINT_A)), p)
        b = add(turned(R, three(work.raw, 10 * k + POINT_B)), p)
        n = turned(R, three(work.raw, 10 * k + NORMAL))
        put_three(contacts.number, 10 * at + POINT_A, b if swapped else a)
        put_three(contacts.number, 10 * at + POINT_B, a if swapped else b)
        put_three(contacts.number, 10 * at + NORMAL, neg(n) if swapped else n)
        contacts.number[10 * at + DEPTH] = work.raw[10 * k + DEPTH]
        contacts.label[4 * at] = j if swapped else i
        contacts.label[4 * at + 1] = i if swapped else j
        contacts.label[4 * at + 2] = work.raw_label[3 * k + (1 if swapped else 0)]
        contacts.label[4 * at + 3] = work.raw_label[3 * k + (0 if swapped else 1)]
        contacts.count[0] += 1


def contacts_of_pairs(table: Table, poses: Any, pairs: Any, work: Work, buffer: Buffer, margin: float) -> int:
    """Write the contacts of pairs of shapes, in their order; return how many there are.

    They are in the first rows of the buffer, unless there are more than it has room for.
    """
    return find_contacts(table.at, poses, pairs, work.at, buffer.at, margin)


def triangles_that_touch(table: Table, poses: Any, i: int, j: int, work: Work) -> tuple[int, int]:
    """Leave the triangles of two meshes that touch in `work.raw_label`; return contacts and pairs."""
    counts = np.zeros(2, np.int64)
    _triangles_that_touch(table.at, poses, i, j, work.at, counts)
    return int(counts[0]), int(counts[1])


@entry("int64", "int64[::1]", "float64[:, :, ::1]", "int64[:, ::1]", "int64[::1]", "int64[::1]", "float64")
def find_contacts(table, poses, pairs, work, buffer, margin):
    t, w, c = opened_table(table), opened_work(work), opened_buffer(buffer)
    x, pair = memory(poses), memory(pairs)
    c.count[0], c.count[1] = 0, 0
    for k in range(len(pairs)):
        pair_contacts(t, x, pair[2 * k], pair[2 * k + 1], w, c, margin)
    return c.count[1]


@entry(None, "int64[::1]", "float64[:, :, ::1]", "int64", "int64", "int64[::1]", "int64[::1]")
def _triangles_that_touch(table, poses, i, j, work, counts):
    t, w, x = opened_table(table), opened_work(work), memory(poses)
    Ra, pa = rotation(x, i), position(x, i)
    Rb, pb = rotation(x, j), position(x, j)
    R, p = back_times(Ra, Rb), turned_back(Ra, sub(pb, pa))
    counts[0], counts[1] = triangle_pairs(t, i, j, R, p, w, SURFACES, 0.0)
