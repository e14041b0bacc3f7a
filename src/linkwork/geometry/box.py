"""A box."""

from dataclasses import dataclass

import numpy as np

from linkwork.geometry.compiled import compiled, compiled_within
from linkwork.geometry.section import SAME_WAY, Section, leftwards
from linkwork.geometry.shape_code import ShapeCode, ray_slabs
from linkwork.geometry.solid import RESOLUTION, Solid, Surface, unchanging
from linkwork.geometry.tessellation import box
from linkwork.geometry.vectors import put
from linkwork.mechanism.placement import Array

# `size` is the half widths. A branch is a corner: bits 0, 1, 2 say whether it is at +x, +y, +z.


@compiled_within
def _support(size, d):
    return (
        size[0] if d[0] >= 0.0 else -size[0],
        size[1] if d[1] >= 0.0 else -size[1],
        size[2] if d[2] >= 0.0 else -size[2],
    )


@compiled
def _inside(size, q):
    return abs(q[0]) <= size[0] and abs(q[1]) <= size[1] and abs(q[2]) <= size[2]


@compiled
def _ray(size, o, d):
    t, axis, side = ray_slabs(o, d, size)
    return t, (side * (axis == 0), side * (axis == 1), side * (axis == 2))


@compiled
def _branch(size, x):
    return (x[0] > 0.0) * 1 + (x[1] > 0.0) * 2 + (x[2] > 0.0) * 4


@compiled
def _on_branch(size, branch, d):
    return (
        size[0] if branch & 1 else -size[0],
        size[1] if branch & 2 else -size[1],
        size[2] if branch & 4 else -size[2],
    )


@compiled
def _feature(size, d, ring, label, base):
    """Write the face that looks most along d; its corners have labels of their own."""
    x, y, z = size
    dx, dy, dz = abs(d[0]), abs(d[1]), abs(d[2])
    if dx >= dy and dx >= dz:
        s = x if d[0] > 0.0 else -x
        t = y if d[0] > 0.0 else -y
        put(ring, base, (s, -t, -z))
        put(ring, base + 1, (s, t, -z))
        put(ring, base + 2, (s, t, z))
        put(ring, base + 3, (s, -t, z))
        n, first = (1.0 if s > 0.0 else -1.0, 0.0, 0.0), (0 if s > 0.0 else 4)
    elif dy >= dz:
        s = y if d[1] > 0.0 else -y
        t = z if d[1] > 0.0 else -z
        put(ring, base, (-x, s, -t))
        put(ring, base + 1, (-x, s, t))
        put(ring, base + 2, (x, s, t))
        put(ring, base + 3, (x, s, -t))
        n, first = (0.0, 1.0 if s > 0.0 else -1.0, 0.0), (8 if s > 0.0 else 12)
    else:
        s = z if d[2] > 0.0 else -z
        t = x if d[2] > 0.0 else -x
        put(ring, base, (-t, -y, s))
        put(ring, base + 1, (t, -y, s))
        put(ring, base + 2, (t, y, s))
        put(ring, base + 3, (-t, y, s))
        n, first = (0.0, 0.0, 1.0 if s > 0.0 else -1.0), (16 if s > 0.0 else 20)
    for k in range(4):
        label[base + k] = first + k
    return 4, n


@unchanging
@dataclass(frozen=True)
class Box(Solid):
    """A box about its origin; the full sizes along x, y and z."""

    x: float
    y: float
    z: float

    code = ShapeCode(_support, _inside, _ray, _branch, _on_branch, feature=_feature)

    @property
    def sizes(self) -> tuple[float, ...]:
        return self.x / 2, self.y / 2, self.z / 2

    @property
    def volume(self) -> float:
        return self.x * self.y * self.z

    @property
    def gyration(self) -> tuple[float, float, float]:
        xx, yy, zz = self.x**2 / 12.0, self.y**2 / 12.0, self.z**2 / 12.0
        return yy + zz, zz + xx, xx + yy

    def reach(self, direction: Array) -> float:
        return float(np.abs(direction) @ (self.x, self.y, self.z)) / 2.0

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        half = np.array([self.x, self.y, self.z]) / 2.0
        return box(-half, half)

    def stretched_from(self) -> tuple[Solid, tuple[float, float, float]]:
        return Box(1.0, 1.0, 1.0), (self.x, self.y, self.z)

    def sections(self) -> tuple[Section, ...]:
        turn = np.array(self.rotation)
        z = turn[2]  # that of the world, in the box's own axes
        if np.max(np.abs(z)) < 1.0 - SAME_WAY:
            return ()
        k = int(np.argmax(np.abs(z)))
        u, v = (size * turn[:2, m] for m, size in enumerate(self.sizes) if m != k)
        return (Section(leftwards([-u - v, u - v, u + v, v - u]), turned=True),)
