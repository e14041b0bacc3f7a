"""The loops over pixels of a picture, as native code: triangles through a depth buffer, and the floor."""

import numpy as np

from linkwork.native.numba_functions import entry, native

SHADOW = 0.82  # brightness of the floor in shadow


@native
def crossing(y, xa, ya, xb, yb):
    """Return the least and the greatest x at which a row crosses an edge; least > greatest: nowhere."""
    if y < min(ya, yb) or y > max(ya, yb):
        return np.inf, -np.inf
    if ya == yb:
        return min(xa, xb), max(xa, xb)
    x = xa + (y - ya) / (yb - ya) * (xb - xa)
    return x, x


@entry(None, "float64[:, ::1]", "int64[:, ::1]", "float64[:, ::1]", "float32[:, :, ::1]", "float64[:, ::1]")
def fill(points, faces, colours, image, depth):
    """Draw triangles: points (V, 3) in pixels, with one over the distance; the nearest wins.

    Of each row only what lies between two edges is looked at, and a pixel more on both sides: the box round
    a long thin triangle that lies across the picture is mostly empty.
    """
    height, width = depth.shape
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        za, zb, zc = points[a, 2], points[b, 2], points[c, 2]
        if za <= 0.0 or zb <= 0.0 or zc <= 0.0:
            continue  # behind the eye
        xa, ya, xb, yb = points[a, 0], points[a, 1], points[b, 0], points[b, 1]
        xc, yc = points[c, 0], points[c, 1]
        area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        if area == 0.0:
            continue
        left, right = max(0.0, min(xa, xb, xc)), min(width - 1.0, max(xa, xb, xc))
        top, bottom = max(0.0, min(ya, yb, yc)), min(height - 1.0, max(ya, yb, yc))
        for y in range(int(np.ceil(top)), int(bottom) + 1):
            ab, bc, ca = crossing(y, xa, ya, xb, yb), crossing(y, xb, yb, xc, yc), crossing(y, xc, yc, xa, ya)
            first = max(left, min(ab[0], bc[0], ca[0]) - 1.0)
            last = min(right, max(ab[1], bc[1], ca[1]) + 1.0)
            for x in range(int(np.ceil(first)), int(last) + 1):
                u = ((xb - x) * (yc - y) - (xc - x) * (yb - y)) / area
                v = ((xc - x) * (ya - y) - (xa - x) * (yc - y)) / area
                w = 1.0 - u - v
                if u < 0.0 or v < 0.0 or w < 0.0:
                    continue
                z = u * za + v * zb + w * zc
                if z > depth[y, x]:
                    depth[y, x] = z
                    for k in range(image.shape[2]):
                        image[y, x, k] = u * colours[a, k] + v * colours[b, k] + w * colours[c, k]


@entry(
    None,
    "float32[:, :, ::1]",
    "float64[:, ::1]",
    "float32[:, :, ::1]",
    "int64",
    "int64[::1]",
    "uint8[:, :, ::1]",
)
def blend(image, shadow, floor, finer, window, out):
    """Put what was drawn in a window over the floor, in shadow or not, and make pixels coarser by averaging.

    The window (top, bottom, left, right) is counted in the coarse pixels.
    """
    for y in range(window[0], window[1]):
        for x in range(window[2], window[3]):
            for k in range(3):
                total = 0.0
                for i in range(y * finer, (y + 1) * finer):
                    for j in range(x * finer, (x + 1) * finer):
                        behind = floor[i, j, k] * (SHADOW if shadow[i, j] > 0.0 else 1.0)
                        total += behind if image[i, j, k] < 0.0 else image[i, j, k]
                out[y, x, k] = np.uint8(min(255.0, total / (finer * finer) + 0.5))
