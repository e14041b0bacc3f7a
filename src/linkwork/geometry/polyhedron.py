"""volume, centre, second moments <- triangles: exact integrals over a closed polyhedron.

The solid is the sum of tetrahedra from one point to each triangle, counted negative where the triangle faces
that point (S. Lien, J. Kajiya, A symbolic method for calculating the integral properties of arbitrary
nonconvex polyhedra, IEEE CG&A 4(10), 1984). The point is taken near the solid for the centroid, and at the
centroid for the second moments: so nothing is lost far from the origin.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.mesh_loops import extent, first_moments, second_moments
from linkwork.geometry.solid import Faces
from linkwork.mechanism.placement import Array
from linkwork.native.loop_entry import Entry


class Integrals(NamedTuple):
    """What is integrated over a solid and its surface."""

    volume: float  # [m^3]
    centroid: Array  # (3,) [m]
    second: Array  # (3, 3) of x x^T about the centroid [m^5]
    area: float  # [m^2]

    @property
    def gyration(self) -> Array:
        """The tensor of inertia about the centroid per unit mass (3, 3) [m^2]."""
        return (np.trace(self.second) * np.eye(3) - self.second) / self.volume


def integrals(vertices: Array, faces: Faces) -> Integrals:
    """Integrate over the solid that a closed surface encloses."""
    middle = 0.5 * bounds(vertices).sum(axis=0)
    sums = _sums(first_moments, vertices, faces, middle, 5)
    volume = sums[0] / 6.0
    centroid = middle + (sums[1:4] / (24.0 * volume) if volume else np.zeros(3))
    # Over a tetrahedron with a corner in the origin x x^T integrates to V / 20 (aa + bb + cc + ss), s = a + b
    # + c.
    xx, yy, zz, xy, yz, zx = _sums(second_moments, vertices, faces, centroid, 6) / 120.0
    second = np.array([(xx, xy, zx), (xy, yy, yz), (zx, yz, zz)])
    return Integrals(float(volume), centroid, second, 0.5 * float(sums[4]))


def bounds(vertices: Array) -> Array:
    """Return the lowest and the highest coordinates of finite points, (2, 3)."""
    found = np.empty((2, 3))
    extent(np.ascontiguousarray(vertices), found)
    return found


def _sums(loop: Entry, vertices: Array, faces: Faces, origin: Array, count: int) -> Array:
    sums = np.zeros((2, count))
    loop(np.ascontiguousarray(vertices), np.ascontiguousarray(faces), origin, sums)
    return sums.sum(axis=0)


def signed_volumes(vertices: Array, faces: Faces, groups: NDArray[np.int64], count: int) -> Array:
    """Return the volumes of groups of faces; negative where they face inwards."""
    middle = 0.5 * bounds(vertices).sum(axis=0)
    return np.bincount(groups, _triple(*corners(vertices - middle, faces)), count) / 6.0


def normals(vertices: Array, faces: Faces) -> Array:
    """Return the normals of the faces, twice as long as the faces are large (m, 3) [m^2]."""
    a, b, c = corners(vertices, faces)
    return np.cross(b - a, c - a)


def corners(vertices: Array, faces: Faces) -> tuple[Array, Array, Array]:
    """Return the first, second and third corners of all faces, (m, 3) each."""
    return vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]


def _triple(a: Array, b: Array, c: Array) -> Array:
    return np.einsum("ij,ij->i", a, np.cross(b, c))
