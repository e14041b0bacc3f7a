"""The solid primitives that give a body its mass, exactly."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import isfinite, pi
from typing import Any

import numpy as np

from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.placement import Array, position_vector, rotation_matrix


@dataclass(frozen=True, kw_only=True)
class Solid(ABC):
    """A homogeneous solid placed on a body by `position=` and `rotation=`.

    Adding a solid is one class: its sizes, its volume, and its gyration about its own centre of mass.
    """

    position: Any = None  # (3,) of the solid's own origin in the body frame [m]
    rotation: Any = None  # (3, 3) from the solid's own axes to those of the body

    def __post_init__(self) -> None:
        where = type(self).__name__
        for field in fields(self):
            if field.name not in ("position", "rotation"):
                object.__setattr__(self, field.name, _size(where, field.name, getattr(self, field.name)))
        # Tuples keep a solid immutable, comparable and hashable.
        position = position_vector(self.position, where)
        rotation = rotation_matrix(self.rotation, where)
        object.__setattr__(self, "position", tuple(position.tolist()))
        object.__setattr__(self, "rotation", tuple(map(tuple, rotation.tolist())))

    @property
    @abstractmethod
    def volume(self) -> float:
        """The volume [m^3]."""

    @property
    def centre(self) -> Array:
        """The centre of mass in the solid's own frame [m]."""
        return np.zeros(3)

    @property
    @abstractmethod
    def gyration(self) -> tuple[float, float, float]:
        """The moments of inertia per unit mass about the own axes through the centre of mass [m^2]."""

    def inertia(self, density: float) -> Inertia:
        """Return the inertia in the frame of the body, for a density in kg/m^3."""
        if not (isfinite(density) and density >= 0.0):
            raise ValueError(f"{type(self).__name__}: density {density!r} kg/m^3; give a finite number >= 0")
        mass = density * self.volume
        own = Inertia(mass, self.centre, mass * np.diag(self.gyration))
        return own.moved(self.position, self.rotation)


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


def _size(shape: str, field: str, value: Any) -> float:
    try:
        size = float(value)
    except (TypeError, ValueError):
        size = float("nan")
    if not (isfinite(size) and size > 0.0):
        raise ValueError(f"{shape}: {field} {value!r}; give a finite length > 0 in metres")
    return size
