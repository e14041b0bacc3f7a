"""What is only stood upon: half-spaces and terrain, which have no finite mass."""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from linkwork.geometry.solid import RESOLUTION, Solid, Surface, frozen, size_of, unchanging
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.placement import Array, plain
from linkwork.real_numbers import is_finite

DRAWN = 10.0  # side of the square that is drawn of a plane [m]


class Endless(Solid):
    """A solid without end, and so without a mass."""

    @property
    def volume(self) -> float:
        return inf

    @property
    def gyration(self) -> tuple[float, float, float]:
        raise self._no_mass()

    def inertia(self, density: float | None = None) -> Inertia:
        raise self._no_mass()

    def _no_mass(self) -> ValueError:
        name = type(self).__name__
        return ValueError(
            f"{name}: has no end, and so no mass; put it on the ground, or give the body an Inertia"
        )


@unchanging
@dataclass(frozen=True)
class Plane(Endless):
    """The half-space n . x <= offset; n points out of the solid."""

    normal: Any = (0.0, 0.0, 1.0)  # (3,), made a unit vector; (2,) in the plane
    offset: float = 0.0  # distance of the surface from the origin, along the normal [m]

    def _check(self) -> None:
        normal = frozen(self.normal, "Plane: normal")
        if normal.shape not in ((2,), (3,)) or not normal.any():
            raise ValueError(f"Plane: normal {self.normal!r}; give 3 numbers, not all 0 (2 in the plane)")
        normal = np.append(normal, 0.0)[:3]
        length = float(np.linalg.norm(normal))
        if abs(length - 1.0) > 1e-15:  # so that a unit vector stays what it is
            normal = normal / length
        if not is_finite(self.offset):
            raise ValueError(f"Plane: offset {self.offset!r}; give a finite distance in metres")
        object.__setattr__(self, "normal", tuple(normal.tolist()))
        object.__setattr__(self, "offset", float(self.offset))

    def reach(self, direction: Array) -> float:
        length = float(np.linalg.norm(direction))
        along = float(np.dot(self.normal, direction))
        return self.offset * length if along >= (1.0 - 1e-12) * length else inf

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        """Return a square, which is all that is drawn of a plane."""
        n = np.array(self.normal)
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(n)))], n)
        x *= DRAWN / 2.0 / np.linalg.norm(x)
        y = np.cross(n, x)
        vertices = self.offset * n + np.array([-x - y, x - y, x + y, y - x])
        return vertices, np.array([(0, 1, 2), (0, 2, 3)])


@unchanging
@dataclass(frozen=True, eq=False, repr=False)
class HeightField(Endless):
    """Terrain over the x-y plane, solid below; a grid of heights, centred on its origin.

    heights[i, j] is at x = (i / (nx - 1) - 1/2) size[0] and y = (j / (ny - 1) - 1/2) size[1]. A cell is two
    triangles, cut from its corner of lowest x and y to the opposite one.
    """

    heights: Any  # (nx, ny) [m]
    size: Any  # (2,) full extent along x and y [m]

    def _check(self) -> None:
        heights = frozen(self.heights, "HeightField: heights")
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ValueError(f"HeightField: heights of shape {heights.shape}; give (nx, ny), each 2 or more")
        if np.shape(self.size) != (2,):
            raise ValueError(f"HeightField: size {self.size!r}; give 2 lengths in metres, along x and y")
        size = tuple(size_of("HeightField", "size", length) for length in self.size)
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "size", size)

    def height(self, x: float, y: float) -> float:
        """Return the height of the terrain over a point of its own frame [m]."""
        nx, ny = self.heights.shape
        i, j = (x / self.size[0] + 0.5) * (nx - 1), (y / self.size[1] + 0.5) * (ny - 1)
        if not (0.0 <= i <= nx - 1 and 0.0 <= j <= ny - 1):
            raise ValueError(
                f"HeightField: {plain((x, y))} is beside the terrain, which has size {plain(self.size)}"
            )
        m, n = min(int(i), nx - 2), min(int(j), ny - 2)
        u, v = i - m, j - n
        (a, b), (c, d) = self.heights[m : m + 2, n : n + 2]
        return float(a + u * (c - a) + v * (d - c) if u >= v else a + v * (b - a) + u * (d - b))

    def reach(self, direction: Array) -> float:
        """Return how far the solid reaches, which has no end downwards."""
        if direction[2] < 0.0:
            return inf
        return float((self.surface()[0] @ direction).max())

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        """Return the terrain, which is open below."""
        nx, ny = self.heights.shape
        x, y = (np.linspace(-0.5, 0.5, n) * length for n, length in zip((nx, ny), self.size))
        X, Y = np.meshgrid(x, y, indexing="ij")
        index = np.arange(nx * ny).reshape(nx, ny)
        a, b, c, d = (
            part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:])
        )
        vertices = np.stack([X, Y, self.heights], axis=-1).reshape(-1, 3)
        return vertices, np.vstack([np.c_[a, b, c], np.c_[a, c, d]])

    def __repr__(self) -> str:
        return f"HeightField({self.heights.shape[0]} x {self.heights.shape[1]}, size={plain(self.size)})"
