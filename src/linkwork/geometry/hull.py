"""The convex hull of points."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.geometry.polyhedron import Integrals, corners, integrals
from linkwork.geometry.solid import RESOLUTION, Solid, Surface, frozen, unchanging
from linkwork.geometry.tessellation import compact
from linkwork.mechanism.placement import Array


@unchanging
@dataclass(frozen=True, eq=False, repr=False)
class ConvexHull(Solid):
    """The smallest convex solid that holds all points.

    >>> ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]).volume
    0.16666666666666666
    """

    points: Any  # (n, 3), those inside too [m]

    def _check(self) -> None:
        points = frozen(self.points, "ConvexHull: points")
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
            raise ValueError(f"ConvexHull: points of shape {points.shape}; give (n, 3), 4 points or more")
        size = np.ptp(points, axis=0).max()
        thin = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[-1]
        if thin <= 1e-12 * size * np.sqrt(len(points)):
            raise ValueError("ConvexHull: all points lie in one plane; give a Polygon, or points off it")
        object.__setattr__(self, "points", points)

    @cached_property
    def _surface(self) -> Surface:
        from scipy.spatial import ConvexHull as Quickhull

        middle = self.points.mean(axis=0)
        found = Quickhull(self.points - middle)
        faces = found.simplices.astype(np.int64)
        a, b, c = corners(self.points - middle, faces)
        inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
        faces[inward] = faces[inward, ::-1]
        vertices, faces = compact(self.points, faces)
        vertices.flags.writeable = faces.flags.writeable = False
        return vertices, faces

    @cached_property
    def _integrals(self) -> Integrals:
        return integrals(*self._surface)

    @property
    def volume(self) -> float:
        return self._integrals.volume

    @property
    def centre(self) -> Array:
        return self._integrals.centroid

    @property
    def gyration(self) -> Array:
        return self._integrals.gyration

    def reach(self, direction: Array) -> float:
        return float((self.points @ direction).max())

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        return self._surface

    def __repr__(self) -> str:
        return f"ConvexHull({len(self.points)} points)"
