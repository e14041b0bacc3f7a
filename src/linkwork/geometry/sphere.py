"""A ball."""

from dataclasses import dataclass
from math import pi

import numpy as np

from linkwork.geometry.compiled import compiled, compiled_within
from linkwork.geometry.section import Section
from linkwork.geometry.shape_code import MISSED, ShapeCode, ray_ball
from linkwork.geometry.solid import RESOLUTION, Solid, Surface, unchanging
from linkwork.geometry.tessellation import arc, revolved
from linkwork.geometry.vectors import ZERO, along, dot, unit
from linkwork.mechanism.placement import Array


@compiled_within
def _support(size, d):
    return ZERO


@compiled
def _inside(size, q):
    return dot(q, q) <= size[0] * size[0]


@compiled
def _ray(size, o, d):
    t = ray_ball(o, d, ZERO, size[0])
    return t, (unit(along(o, t, d)) if 0.0 <= t < MISSED else ZERO)


@compiled
def _branch(size, x):
    return 0


@compiled
def _on_branch(size, branch, d):
    return ZERO


@unchanging
@dataclass(frozen=True)
class Sphere(Solid):
    """A ball about its origin."""

    radius: float

    code = ShapeCode(_support, _inside, _ray, _branch, _on_branch)

    @property
    def sizes(self) -> tuple[float, ...]:
        return (self.radius,)

    @property
    def core_radius(self) -> float:
        return self.radius

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * pi * self.radius**3

    @property
    def gyration(self) -> tuple[float, float, float]:
        g = 0.4 * self.radius**2
        return g, g, g

    def reach(self, direction: Array) -> float:
        return self.radius * float(np.linalg.norm(direction))

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        return revolved(arc(self.radius, 0.0, -pi / 2, pi / 2, max(2, resolution // 2)), resolution)

    def stretched_from(self) -> tuple[Solid, tuple[float, float, float]]:
        return Sphere(1.0), (self.radius, self.radius, self.radius)

    def sections(self) -> tuple[Section, ...]:
        return (Section([(0.0, 0.0)], self.radius),)
