"""Vectors of three numbers and rotations of nine, as tuples, for compiled code."""

from math import sqrt

from linkwork.geometry.compiled import compiled, compiled_apart

ZERO = (0.0, 0.0, 0.0)


@compiled
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
def neg(a):
    return -a[0], -a[1], -a[2]


@compiled
def scale(s, a):
    return s * a[0], s * a[1], s * a[2]


@compiled
def along(a, s, d):
    """Return a + s d."""
    return a[0] + s * d[0], a[1] + s * d[1], a[2] + s * d[2]


@compiled
def lowest(a, b, c):
    """Return the lowest corner of the box around three points."""
    return min(a[0], min(b[0], c[0])), min(a[1], min(b[1], c[1])), min(a[2], min(b[2], c[2]))


@compiled
def highest(a, b, c):
    """Return the highest corner of the box around three points."""
    return max(a[0], max(b[0], c[0])), max(a[1], max(b[1], c[1])), max(a[2], max(b[2], c[2]))


@compiled
def norm(a):
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@compiled
def unit(a):
    """Return a / |a|; the z axis if a is zero."""
    aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
    if 1e-200 < aa < 1e200:
        s = 1.0 / sqrt(aa)
        return a[0] * s, a[1] * s, a[2] * s
    size = max(abs(a[0]), abs(a[1]), abs(a[2]))
    if not size > 1e-300:
        return 0.0, 0.0, 1.0
    x, y, z = a[0] / size, a[1] / size, a[2] / size
    s = 1.0 / sqrt(x * x + y * y + z * z)
    return x * s, y * s, z * s


@compiled
def normal_to(a):
    """Return a unit vector at right angles to a."""
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    if x <= y and x <= z:
        return unit((0.0, a[2], -a[1]))
    if y <= z:
        return unit((-a[2], 0.0, a[0]))
    return unit((a[1], -a[0], 0.0))


@compiled
def tangents(n):
    """Return two unit vectors at right angles to a unit vector and to each other (Duff and others 2017)."""
    sign = 1.0 if n[2] >= 0.0 else -1.0
    a = -1.0 / (sign + n[2])
    b = n[0] * n[1] * a
    s = (1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0])
    return s, (b, sign + n[1] * n[1] * a, -n[1])


@compiled
def turned(R, v):
    """Return R v; R is nine numbers, by rows."""
    return (
        R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
        R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
        R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
    )


@compiled
def turned_back(R, v):
    """Return R^T v."""
    return (
        R[0] * v[0] + R[3] * v[1] + R[6] * v[2],
        R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
        R[2] * v[0] + R[5] * v[1] + R[8] * v[2],
    )


@compiled
def back_times(A, B):
    """Return A^T B."""
    return (
        A[0] * B[0] + A[3] * B[3] + A[6] * B[6],
        A[0] * B[1] + A[3] * B[4] + A[6] * B[7],
        A[0] * B[2] + A[3] * B[5] + A[6] * B[8],
        A[1] * B[0] + A[4] * B[3] + A[7] * B[6],
        A[1] * B[1] + A[4] * B[4] + A[7] * B[7],
        A[1] * B[2] + A[4] * B[5] + A[7] * B[8],
        A[2] * B[0] + A[5] * B[3] + A[8] * B[6],
        A[2] * B[1] + A[5] * B[4] + A[8] * B[7],
        A[2] * B[2] + A[5] * B[5] + A[8] * B[8],
    )


@compiled
def times(A, B):
    """Return A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@compiled
def transposed(R):
    return R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]


@compiled
def row(memory, i):
    """Return the i-th three numbers."""
    return memory[3 * i], memory[3 * i + 1], memory[3 * i + 2]


@compiled
def put(memory, i, v):
    """Write the i-th three numbers."""
    memory[3 * i] = v[0]
    memory[3 * i + 1] = v[1]
    memory[3 * i + 2] = v[2]


@compiled
def three(memory, k):
    """Return three numbers from the k-th on."""
    return memory[k], memory[k + 1], memory[k + 2]


@compiled
def put_three(memory, k, v):
    """Write three numbers from the k-th on."""
    memory[k] = v[0]
    memory[k + 1] = v[1]
    memory[k + 2] = v[2]


@compiled
def rotation(poses, i):
    """Return the rotation of the i-th pose, whose numbers are the rows of [R | p]."""
    k = 12 * i
    return (
        poses[k],
        poses[k + 1],
        poses[k + 2],
        poses[k + 4],
        poses[k + 5],
        poses[k + 6],
        poses[k + 8],
        poses[k + 9],
        poses[k + 10],
    )


@compiled
def position(poses, i):
    """Return the position of the i-th pose."""
    return poses[12 * i + 3], poses[12 * i + 7], poses[12 * i + 11]


@compiled
def put_pose(poses, i, R, p):
    """Write the i-th pose."""
    for r in range(3):
        for c in range(3):
            poses[12 * i + 4 * r + c] = R[3 * r + c]
        poses[12 * i + 4 * r + 3] = p[r]


@compiled
def nine(memory, k):
    """Return nine numbers from the k-th on."""
    return (
        memory[k],
        memory[k + 1],
        memory[k + 2],
        memory[k + 3],
        memory[k + 4],
        memory[k + 5],
        memory[k + 6],
        memory[k + 7],
        memory[k + 8],
    )


@compiled_apart
def farthest(memory, width, first, many, d):
    """Return which of many rows, of `width` numbers each, reaches farthest in a direction; the first of
    several.

    In two runs side by side: a comparison waits for the last but one.
    """
    i, j = first, first
    f = dot(three(memory, width * first), d)
    g = f
    k = first + 1
    while k + 1 < first + many:
        x, y = dot(three(memory, width * k), d), dot(three(memory, width * k + width), d)
        i, f = (k if x > f else i), max(f, x)
        j, g = (k + 1 if y > g else j), max(g, y)
        k += 2
    if k < first + many:
        x = dot(three(memory, width * k), d)
        i, f = (k if x > f else i), max(f, x)
    return j if g > f or (g == f and j < i) else i
