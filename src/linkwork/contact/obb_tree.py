"""tree of oriented boxes <- triangles: Gottschalk, Lin and Manocha 1996, section 4.

The axes of a box are the eigenvectors of the covariance of its triangles' surface; it is split across its
longest axis at the mean. A leaf is one triangle, its box aligned with the longest side.

For two meshes every second level is left out, and the boxes of four children lie side by side, number by
number: one box is tested with four at once, in the lanes of the processor.
"""

from math import sqrt
from typing import Any

import numpy as np

from linkwork.contact.decorators import native
from linkwork.geometry.vectors import (
    add,
    along,
    cross,
    dot,
    highest,
    lowest,
    norm,
    normal_to,
    row,
    scale,
    sub,
    unit,
)
from linkwork.native.numba_functions import entry, memory

_SWEEPS = 12  # of Jacobi's rotations


def tree_of(points: Any, faces: Any) -> tuple[Any, Any]:
    """Return boxes (n, 15) and children (n, 2) of a tree over triangles; the root is the first."""
    count = max(2 * len(faces) - 1, 0)
    boxes, children = np.zeros((count, 15)), np.full((count, 2), -1, np.int64)
    if count:
        order = np.arange(len(faces))
        _build(points, faces, boxes, children, order, np.zeros((count, 3), np.int64), np.zeros(len(faces)))
    return boxes, children


def fours_of(boxes: Any, children: Any) -> tuple[Any, Any]:
    """Return the same tree in fours: boxes (m, 15, 4) and what is below each (m, 4), a node or -1 - triangle.

    The first has the root alone. Where there are fewer than four, boxes smaller than nothing meet nothing.
    """
    fours, below = np.zeros((len(boxes), 15, 4)), np.full((len(boxes), 4), -1, np.int64)
    fours[:, 12:] = -1e300
    count = _gather(boxes, children, fours, below, np.zeros(len(boxes), np.int64)) if len(boxes) else 0
    return fours[:count].copy(), below[:count].copy()


@entry("int64", "float64[:, ::1]", "int64[:, ::1]", "float64[:, :, ::1]", "int64[:, ::1]", "int64[::1]")
def _gather(boxes, children, fours, below, waiting):
    box, child, four, under, todo = (
        memory(boxes),
        memory(children),
        memory(fours),
        memory(below),
        memory(waiting),
    )
    _put_lane(box, child, four, under, 0, 0, 0, 1)
    todo[1] = 0
    done, count = 1, 2 if child[0] >= 0 else 1
    while done < count:
        lane, node = 0, todo[done]
        for side in range(2):
            k = child[2 * node + side]
            for half in range(2 if child[2 * k] >= 0 else 1):
                below_k = child[2 * k + half] if child[2 * k] >= 0 else k
                if child[2 * below_k] >= 0:
                    todo[count] = below_k
                    _put_lane(box, child, four, under, done, lane, below_k, count)
                    count += 1
                else:
                    _put_lane(box, child, four, under, done, lane, below_k, 0)
                lane += 1
        done += 1
    return count


@native
def _put_lane(box, child, four, under, place, lane, node, next_place):
    """Write a box into a lane of a four, and what is below it: its own triangle, or the next four."""
    for c in range(15):
        four[60 * place + 4 * c + lane] = box[15 * node + c]
    under[4 * place + lane] = next_place if child[2 * node] >= 0 else child[2 * node]


@entry(
    None,
    "float64[:, ::1]",
    "int64[:, ::1]",
    "float64[:, ::1]",
    "int64[:, ::1]",
    "int64[::1]",
    "int64[:, ::1]",
    "float64[::1]",
)
def _build(points, faces, boxes, children, order, waiting, place):
    x, f, box, child, tri = memory(points), memory(faces), memory(boxes), memory(children), memory(order)
    todo, key = memory(waiting), memory(place)
    todo[0], todo[1], todo[2] = 0, 0, len(faces)
    top, nodes = 1, 1
    while top > 0:
        top -= 1
        node, low, high = todo[3 * top], todo[3 * top + 1], todo[3 * top + 2]
        if high - low == 1:
            _write_leaf(x, f, box, node, tri[low])
            child[2 * node], child[2 * node + 1] = -1 - tri[low], -1
            continue
        axis, half = _write_box(x, f, box, node, tri, low, high)
        middle = _split(x, f, tri, key, low, high, axis, half)
        left, right = nodes, nodes + 1
        nodes += 2
        child[2 * node], child[2 * node + 1] = left, right
        todo[3 * top], todo[3 * top + 1], todo[3 * top + 2] = right, middle, high
        top += 1
        todo[3 * top], todo[3 * top + 1], todo[3 * top + 2] = left, low, middle
        top += 1


@native
def _write_axes(box, node, e0, e1, e2):
    k = 15 * node
    for i in range(3):
        box[k + 3 * i], box[k + 3 * i + 1], box[k + 3 * i + 2] = e0[i], e1[i], e2[i]


@native
def _write_extent(box, node, e0, e1, e2, low, high):
    k = 15 * node
    centre = scale(0.5 * (low[0] + high[0]), e0)
    centre = along(centre, 0.5 * (low[1] + high[1]), e1)
    centre = along(centre, 0.5 * (low[2] + high[2]), e2)
    for i in range(3):
        box[k + 9 + i] = centre[i]
        box[k + 12 + i] = 0.5 * (high[i] - low[i])


@native
def _write_leaf(x, f, box, node, t):
    a, b, c = row(x, f[3 * t]), row(x, f[3 * t + 1]), row(x, f[3 * t + 2])
    ab, bc, ca = sub(b, a), sub(c, b), sub(a, c)
    longest = ab
    if dot(bc, bc) > dot(longest, longest):
        longest = bc
    if dot(ca, ca) > dot(longest, longest):
        longest = ca
    e0 = unit(longest)
    n = cross(ab, ca)
    e2 = unit(n) if norm(n) > 1e-14 * dot(longest, longest) else normal_to(e0)
    e1 = unit(cross(e2, e0))
    e2 = cross(e0, e1)
    _write_axes(box, node, e0, e1, e2)
    p = (dot(a, e0), dot(a, e1), dot(a, e2))
    q = (dot(b, e0), dot(b, e1), dot(b, e2))
    r = (dot(c, e0), dot(c, e1), dot(c, e2))
    _write_extent(box, node, e0, e1, e2, lowest(p, q, r), highest(p, q, r))


@native
def _write_box(x, f, box, node, tri, low, high):
    """Fit a box round triangles; return its longest axis and half its middle along that axis."""
    o = row(x, f[3 * tri[low]])
    total = 0.0
    m = (0.0, 0.0, 0.0)
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(low, high):
        t = tri[k]
        a, b, c = sub(row(x, f[3 * t]), o), sub(row(x, f[3 * t + 1]), o), sub(row(x, f[3 * t + 2]), o)
        area = norm(cross(sub(b, a), sub(c, a)))
        s = add(add(a, b), c)
        total += area
        m = along(m, area / 3.0, s)
        w = area / 12.0
        xx += w * (s[0] * s[0] + a[0] * a[0] + b[0] * b[0] + c[0] * c[0])
        xy += w * (s[0] * s[1] + a[0] * a[1] + b[0] * b[1] + c[0] * c[1])
        xz += w * (s[0] * s[2] + a[0] * a[2] + b[0] * b[2] + c[0] * c[2])
        yy += w * (s[1] * s[1] + a[1] * a[1] + b[1] * b[1] + c[1] * c[1])
        yz += w * (s[1] * s[2] + a[1] * a[2] + b[1] * b[2] + c[1] * c[2])
        zz += w * (s[2] * s[2] + a[2] * a[2] + b[2] * b[2] + c[2] * c[2])
    if total > 0.0:
        m = scale(1.0 / total, m)
        xx, xy, xz = xx / total - m[0] * m[0], xy / total - m[0] * m[1], xz / total - m[0] * m[2]
        yy, yz, zz = yy / total - m[1] * m[1], yz / total - m[1] * m[2], zz / total - m[2] * m[2]
    e0, e1, e2 = _eigenvectors(xx, xy, xz, yy, yz, zz)
    _write_axes(box, node, e0, e1, e2)
    l0, l1, l2, h0, h1, h2 = 1e300, 1e300, 1e300, -1e300, -1e300, -1e300
    for k in range(low, high):
        for corner in range(3):
            p = row(x, f[3 * tri[k] + corner])
            d0, d1, d2 = dot(p, e0), dot(p, e1), dot(p, e2)
            l0, l1, l2 = min(l0, d0), min(l1, d1), min(l2, d2)
            h0, h1, h2 = max(h0, d0), max(h1, d1), max(h2, d2)
    _write_extent(box, node, e0, e1, e2, (l0, l1, l2), (h0, h1, h2))
    if h0 - l0 >= h1 - l1 and h0 - l0 >= h2 - l2:
        return e0, 0.5 * (h0 + l0)
    if h1 - l1 >= h2 - l2:
        return e1, 0.5 * (h1 + l1)
    return e2, 0.5 * (h2 + l2)


@native
def _split(x, f, tri, key, low, high, axis, middle):
    """Sort triangles to the two sides of the mean along an axis; return where the second half begins."""
    mean = 0.0
    for k in range(low, high):
        t = tri[k]
        key[k] = dot(add(add(row(x, f[3 * t]), row(x, f[3 * t + 1])), row(x, f[3 * t + 2])), axis)
        mean += key[k]
    mean /= high - low
    i, j = low, high - 1
    while i <= j:
        if key[i] <= mean:
            i += 1
        else:
            tri[i], tri[j] = tri[j], tri[i]
            key[i], key[j] = key[j], key[i]
            j -= 1
    if i in (low, high):
        return (low + high) // 2
    return i


@native
def _eigenvectors(xx, xy, xz, yy, yz, zz):
    """Return orthonormal axes that make a symmetric matrix diagonal: Jacobi's method."""
    e0, e1, e2 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    size = abs(xx) + abs(yy) + abs(zz)
    for _sweep in range(_SWEEPS):
        if abs(xy) + abs(xz) + abs(yz) <= 1e-9 * size:
            break
        c, s, t = _turn(xx, yy, xy)
        xx, yy, xy = xx - t * xy, yy + t * xy, 0.0
        xz, yz = c * xz - s * yz, s * xz + c * yz
        e0, e1 = along(scale(c, e0), -s, e1), along(scale(s, e0), c, e1)
        c, s, t = _turn(xx, zz, xz)
        xx, zz, xz = xx - t * xz, zz + t * xz, 0.0
        xy, yz = c * xy - s * yz, s * xy + c * yz
        e0, e2 = along(scale(c, e0), -s, e2), along(scale(s, e0), c, e2)
        c, s, t = _turn(yy, zz, yz)
        yy, zz, yz = yy - t * yz, zz + t * yz, 0.0
        xy, xz = c * xy - s * xz, s * xy + c * xz
        e1, e2 = along(scale(c, e1), -s, e2), along(scale(s, e1), c, e2)
    e0 = unit(e0)
    e1 = unit(along(e1, -dot(e0, e1), e0))
    return e0, e1, cross(e0, e1)


@native
def _turn(p, q, off):
    """Return cosine, sine and tangent of the rotation that removes an off-diagonal number."""
    if off == 0.0:
        return 1.0, 0.0, 0.0
    theta = (q - p) / (2.0 * off)
    t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / sqrt(t * t + 1.0)
    return c, t * c, t
