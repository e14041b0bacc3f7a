"""How shapes move, and how far that takes them."""

from math import sqrt

from linkwork.contact_dynamics.detection.detection import SHAPES
from linkwork.contact_dynamics.problem.nodes import LAYOUT
from linkwork.native.numba_functions import entry, native

_TABLE = "float64[:, ::1]"


@native
def _twist(tree, J, v, link):
    """Return how a link moves, angular first, in the axes and at the origin of its tree's first link."""
    w0 = w1 = w2 = u0 = u1 = u2 = 0.0
    i = tree.last[link]
    while i >= 0:
        if J.shape[1] == 3:
            w2 += J[i, 0] * v[i]
            u0 += J[i, 1] * v[i]
            u1 += J[i, 2] * v[i]
        else:
            w0 += J[i, 0] * v[i]
            w1 += J[i, 1] * v[i]
            w2 += J[i, 2] * v[i]
            u0 += J[i, 3] * v[i]
            u1 += J[i, 4] * v[i]
            u2 += J[i, 5] * v[i]
        i = tree.above[i]
    return w0, w1, w2, u0, u1, u2


@native
def reaches(tree, shapes, poses, J, v, h, motion, reach):
    """Write how shapes move at velocities v, and how far any point of each can get in a time h."""
    known = root = -2
    w0 = w1 = w2 = u0 = u1 = u2 = 0.0
    for k in range(len(shapes.link)):
        link = shapes.link[k]
        if link < 0:
            reach[k] = 0.0
            for i in range(6):
                motion[k, i] = 0.0
            continue
        if link != known:
            known, root = link, tree.root[link]
            w0, w1, w2, u0, u1, u2 = _twist(tree, J, v, link)
        c, R = shapes.centre, poses
        x = R[link, 0, 0] * c[k, 0] + R[link, 0, 1] * c[k, 1] + R[link, 0, 2] * c[k, 2]
        y = R[link, 1, 0] * c[k, 0] + R[link, 1, 1] * c[k, 1] + R[link, 1, 2] * c[k, 2]
        z = R[link, 2, 0] * c[k, 0] + R[link, 2, 1] * c[k, 1] + R[link, 2, 2] * c[k, 2]
        x += R[link, 0, 3] - R[root, 0, 3]
        y += R[link, 1, 3] - R[root, 1, 3]
        z += R[link, 2, 3] - R[root, 2, 3]
        for i in range(3):
            motion[k, i] = R[root, i, 0] * u0 + R[root, i, 1] * u1 + R[root, i, 2] * u2
            motion[k, 3 + i] = R[root, i, 0] * w0 + R[root, i, 1] * w1 + R[root, i, 2] * w2
        a, b, d = motion[k, 3], motion[k, 4], motion[k, 5]
        motion[k, 0] += b * z - d * y
        motion[k, 1] += d * x - a * z
        motion[k, 2] += a * y - b * x
        speed = sqrt(motion[k, 0] ** 2 + motion[k, 1] ** 2 + motion[k, 2] ** 2)
        reach[k] = h * (speed + sqrt(a * a + b * b + d * d) * shapes.swing[k])


@entry(
    None,
    *(LAYOUT, SHAPES, "float64[:, :, ::1]", _TABLE, "float64[::1]", "float64", _TABLE, "float64[::1]"),
)
def fill_reach(tree, shapes, poses, J, v, h, motion, reach):
    """Write how shapes move at velocities v, and how far any point of each can get in a time h."""
    reaches(tree, shapes, poses, J, v, h, motion, reach)
