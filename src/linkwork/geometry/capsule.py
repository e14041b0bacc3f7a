"""A capsule: a cylinder with half a ball on each end."""

from dataclasses import dataclass
from math import pi

import numpy as np

from linkwork.geometry.compiled import compiled, compiled_within
from linkwork.geometry.section import Section, axis_section
from linkwork.geometry.shape_code import MISSED, ShapeCode, ray_ball, ray_cylinder, write_segment
from linkwork.geometry.solid import RESOLUTION, Solid, Surface, unchanging
from linkwork.geometry.tessellation import arc, revolved
from linkwork.geometry.vectors import ZERO, along, dot, scale, sub, unit
from linkwork.mechanism.placement import Array

# `size` is radius, half length.


@compiled_within
def _support(size, d):
    return 0.0, 0.0, (size[1] if d[2] >= 0.0 else -size[1])


@compiled
def _inside(size, q):
    c = (q[0], q[1], q[2] - min(max(q[2], -size[1]), size[1]))
    return dot(c, c) <= size[0] * size[0]


@compiled
def _ray(size, o, d):
    t, n = ray_cylinder(o, d, size[0], size[1])
    if t < MISSED and t > 0.0 and n[2] != 0.0:
        t = MISSED  # the ends are balls
    for end in range(2):
        c = (0.0, 0.0, size[1] if end == 0 else -size[1])
        s = ray_ball(o, d, c, size[0])
        if s < t:
            t = s
            n = unit(sub(along(o, t, d), c))
    return t, n


@compiled
def _branch(size, x):
    return 1 if x[2] > 0.0 else 0


@compiled
def _on_branch(size, branch, d):
    return 0.0, 0.0, (size[1] if branch else -size[1])


@compiled
def _feature(size, d, ring, label, base):
    end = scale(size[0], d)
    low, high = along(end, -size[1], (0.0, 0.0, 1.0)), along(end, size[1], (0.0, 0.0, 1.0))
    return write_segment(ring, label, base, low, high), ZERO


@unchanging
@dataclass(frozen=True)
class Capsule(Solid):
    """A cylinder about its origin, axis z, with half a ball on each end; `length` is without the balls."""

    radius: float
    length: float

    code = ShapeCode(_support, _inside, _ray, _branch, _on_branch, feature=_feature)

    @property
    def sizes(self) -> tuple[float, ...]:
        return self.radius, self.length / 2

    @property
    def core_radius(self) -> float:
        return self.radius

    @property
    def volume(self) -> float:
        return pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    @property
    def gyration(self) -> tuple[float, float, float]:
        r, h = self.radius, self.length
        tube = h / (h + 4.0 / 3.0 * r)  # the cylinder's share of the mass
        ball = 1.0 - tube
        # Half a ball has its centre of mass 3/8 r beyond the end of the cylinder, and 2/5 r^2 about that end.
        across = tube * (r**2 / 4.0 + h**2 / 12.0) + ball * (0.4 * r**2 + h**2 / 4.0 + 0.375 * r * h)
        return across, across, tube * r**2 / 2.0 + ball * 0.4 * r**2

    def reach(self, direction: Array) -> float:
        return self.radius * float(np.linalg.norm(direction)) + self.length / 2.0 * abs(direction[2])

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        r, h, pieces = self.radius, self.length / 2.0, max(1, resolution // 4)
        return revolved([*arc(r, -h, -pi / 2, 0.0, pieces), *arc(r, h, 0.0, pi / 2, pieces)], resolution)

    def stretched_from(self) -> tuple[Solid, tuple[float, float, float]]:
        return Capsule(1.0, self.length / self.radius), (self.radius, self.radius, self.radius)

    def sections(self) -> tuple[Section, ...]:
        h, r = self.length / 2, self.radius
        return axis_section(
            self.rotation, r, lambda along, _: Section([-h * along, h * along], r, turned=True)
        )
