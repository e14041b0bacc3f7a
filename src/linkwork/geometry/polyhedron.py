"""volume, centre, second moments <- triangles: exact integrals over a closed polyhedron.

The solid is the sum of tetrahedra from one point to each triangle, counted negative where the triangle faces
that point (S. Lien, J. Kajiya, A symbolic method for calculating the integral properties of arbitrary
nonconvex polyhedra, IEEE CG&A 4(10), 1984). The point is taken near the solid for the centroid, and at the
centroid for the second moments: so nothing is lost far from the origin.
"""

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.mesh_loops import solid_sums
from linkwork.geometry.solid import Faces
from linkwork.mechanism.placement import Array


def integrals(vertices: Array, faces: Faces) -> tuple[float, Array, Array]:
    """Return volume [m^3], centroid (3,) [m], and the integral of x x^T about the centroid (3, 3) [m^5]."""
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    sums = _sums(vertices, faces, middle)
    volume = sums[0] / 6.0
    centroid = middle + (sums[1:4] / (24.0 * volume) if volume else np.zeros(3))
    # Over a tetrahedron with a corner in the origin x x^T integrates to V / 20 (aa + bb + cc + ss), s = a + b
    # + c.
    xx, yy, zz, xy, yz, zx = _sums(vertices, faces, centroid)[4:10] / 120.0
    return float(volume), centroid, np.array([(xx, xy, zx), (xy, yy, yz), (zx, yz, zz)])


def area(vertices: Array, faces: Faces) -> float:
    """Return the area of all faces [m^2]."""
    return 0.5 * float(_sums(vertices, faces, vertices[0])[10])


def _sums(vertices: Array, faces: Faces, origin: Array) -> Array:
    sums = np.zeros((2, 11))
    solid_sums(np.ascontiguousarray(vertices), np.ascontiguousarray(faces), origin, sums)
    return sums.sum(axis=0)


def signed_volumes(vertices: Array, faces: Faces, groups: NDArray[np.int64], count: int) -> Array:
    """Return the volumes of groups of faces; negative where they face inwards."""
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
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
