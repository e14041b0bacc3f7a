"""How far shapes can move in a time, at most."""

from math import sqrt

from linkwork.contact_dynamics.detection import SHAPES
from linkwork.contact_dynamics.nodes import LAYOUT
from linkwork.native.numba_functions import entry


@entry(
    None,
    *(LAYOUT, SHAPES, "float64[:, :, ::1]", "float64[:, ::1]", "float64[::1]", "float64", "float64[::1]"),
)
def fill_reach(tree, shapes, poses, J, v, h, reach):
    """Write how far any point of each shape can move in a time h at velocities v."""
    known, speed, spin = -2, 0.0, 0.0
    for k in range(len(shapes.link)):
        link = shapes.link[k]
        if link < 0:
            reach[k] = 0.0
            continue
        if link != known:
            known, root = link, tree.root[link]
            w0 = w1 = w2 = u0 = u1 = u2 = 0.0  # in the axes of the root, at its origin
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
            x, y, z = (
                poses[link, 0, 3] - poses[root, 0, 3],
                poses[link, 1, 3] - poses[root, 1, 3],
                poses[link, 2, 3] - poses[root, 2, 3],
            )
            a = poses[root, 0, 0] * x + poses[root, 1, 0] * y + poses[root, 2, 0] * z
            b = poses[root, 0, 1] * x + poses[root, 1, 1] * y + poses[root, 2, 1] * z
            c = poses[root, 0, 2] * x + poses[root, 1, 2] * y + poses[root, 2, 2] * z
            u0, u1, u2 = u0 + w1 * c - w2 * b, u1 + w2 * a - w0 * c, u2 + w0 * b - w1 * a
            spin = sqrt(w0 * w0 + w1 * w1 + w2 * w2)
            speed = sqrt(u0 * u0 + u1 * u1 + u2 * u2)
        reach[k] = h * (speed + spin * shapes.radius[k])
