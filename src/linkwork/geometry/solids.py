"""The solid primitives that give a body its mass, exactly."""

from dataclasses import dataclass
from math import hypot, pi

import numpy as np

from linkwork.geometry.solid import RESOLUTION, Solid, Surface
from linkwork.geometry.tessellation import arc, box, revolved
from linkwork.mechanism.placement import Array

__all__ = ["Box", "Capsule", "Cone", "Cylinder", "Ellipsoid", "Solid", "Sphere"]


@dataclass(frozen=True)
class Sphere(Solid):
    """A ball about its origin."""

    radius: float

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


@dataclass(frozen=True)
class Box(Solid):
    """A box about its origin; the full sizes along x, y and z."""

    x: float
    y: float
    z: float

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


@dataclass(frozen=True)
class Cylinder(Solid):
    """A round cylinder about its origin, its axis along z; full length."""

    radius: float
    length: float

    @property
    def volume(self) -> float:
        return pi * self.radius**2 * self.length

    @property
    def gyration(self) -> tuple[float, float, float]:
        across = self.radius**2 / 4.0 + self.length**2 / 12.0
        return across, across, self.radius**2 / 2.0

    def reach(self, direction: Array) -> float:
        x, y, z = direction
        return self.radius * hypot(x, y) + self.length / 2.0 * abs(z)

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        r, h = self.radius, self.length / 2.0
        return revolved([(0.0, -h), (r, -h), (r, h), (0.0, h)], resolution)


@dataclass(frozen=True)
class Capsule(Solid):
    """A cylinder about its origin, axis z, with half a ball on each end; `length` is without the balls."""

    radius: float
    length: float

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


@dataclass(frozen=True)
class Cone(Solid):
    """A round cone standing on its origin: the centre of its base is at z = 0, its apex at z = length."""

    radius: float
    length: float

    @property
    def volume(self) -> float:
        return pi / 3.0 * self.radius**2 * self.length

    @property
    def centre(self) -> Array:
        return np.array([0.0, 0.0, self.length / 4.0])

    @property
    def gyration(self) -> tuple[float, float, float]:
        across = 3.0 / 80.0 * (4.0 * self.radius**2 + self.length**2)
        return across, across, 0.3 * self.radius**2

    def reach(self, direction: Array) -> float:
        x, y, z = direction
        return max(self.radius * hypot(x, y), self.length * z)

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        return revolved([(0.0, 0.0), (self.radius, 0.0), (0.0, self.length)], resolution)


@dataclass(frozen=True)
class Ellipsoid(Solid):
    """An ellipsoid about its origin; the semi-axes along x, y and z."""

    x: float
    y: float
    z: float

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * pi * self.x * self.y * self.z

    @property
    def gyration(self) -> tuple[float, float, float]:
        xx, yy, zz = self.x**2 / 5.0, self.y**2 / 5.0, self.z**2 / 5.0
        return yy + zz, zz + xx, xx + yy

    def reach(self, direction: Array) -> float:
        return float(np.linalg.norm(direction * np.array([self.x, self.y, self.z])))

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        ball, faces = Sphere(1.0).surface(resolution)
        return ball * (self.x, self.y, self.z), faces
