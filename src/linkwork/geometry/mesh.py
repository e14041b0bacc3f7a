"""A solid of triangles: its mass properties, exactly, if it encloses one, and what is wrong if not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import MeshError
from linkwork.geometry.mesh_topology import Edges, edges_of, is_closed, loops, pieces
from linkwork.geometry.polyhedron import Integrals, integrals
from linkwork.geometry.self_intersection import crossing
from linkwork.geometry.solid import RESOLUTION, Faces, Solid, Surface, frozen, unchanging
from linkwork.mechanism.placement import Array, plain
from linkwork.spelling import require, spelled_methods

if TYPE_CHECKING:
    from linkwork.geometry.hull import ConvexHull

FLAT = 1e-13  # of size times area; a volume below is none


@spelled_methods
@unchanging
@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Solid):
    """A polyhedron of triangles, which go counter-clockwise seen from outside.

    Any triangles can be drawn; mass has what is closed, the right way round, and does not pass through
    itself. `problems` says what is wrong, `repaired` repairs what it can and lists it in `repairs`.

    >>> from linkwork.geometry import Box
    >>> Box(1, 2, 3).mesh().volume
    6.0
    """

    vertices: Any  # (n, 3) [m]
    faces: Any  # (m, 3) indices of vertices
    name: str = field(default="mesh", kw_only=True, compare=False)  # for messages: the file it comes from
    repairs: tuple[str, ...] = field(default=(), kw_only=True, compare=False)

    @classmethod
    def from_polygons(
        cls,
        vertices: ArrayLike,
        faces: Iterable[Sequence[int]],
        *,
        name: str = "mesh",
        position: Any = None,
        rotation: Any = None,
        density: float | None = None,
        mass: float | None = None,
    ) -> "Mesh":
        """Make a mesh of faces with any number of corners; concave ones are cut into convex ones.

        Faces that cross themselves, or whose corners lie in no plane, are refused.
        """
        from linkwork.geometry.triangulation import cut_faces

        points = _vertices(vertices, name)
        triangles, _ = cut_faces(points, faces, name)
        place: dict[str, Any] = {"position": position, "rotation": rotation, "density": density, "mass": mass}
        return cls(points, triangles, name=name, **place)

    def _check(self) -> None:
        require("mesh: name", self.name, str, "a text")
        require("mesh: repairs", self.repairs, tuple, "texts, or leave it out: `repaired` fills it in")
        where = f"mesh {self.name!r}"
        vertices = _vertices(self.vertices, self.name)
        faces = np.asarray(self.faces)
        if faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
            raise ValueError(
                f"{where}: faces of shape {faces.shape}; give (m, 3) indices of vertices, "
                "or use Mesh.from_polygons for faces of more corners"
            )
        if not np.issubdtype(faces.dtype, np.integer):
            raise ValueError(f"{where}: faces of type {faces.dtype}; give whole numbers, indices of vertices")
        if faces.min() < 0 or faces.max() >= len(vertices):
            k = int(np.flatnonzero((faces < 0).any(axis=1) | (faces >= len(vertices)).any(axis=1))[0])
            raise ValueError(
                f"{where}: face {k} is {tuple(faces[k].tolist())}; allowed are 0 to {len(vertices) - 1}, "
                f"the indices of its {len(vertices)} vertices"
            )
        faces = faces.astype(np.int64)
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    # what it encloses

    @cached_property
    def edges(self) -> Edges:
        """The edges."""
        return edges_of(self.faces)

    @cached_property
    def is_closed(self) -> bool:
        """Whether every edge has a face on either side, in the same orientation."""
        return is_closed(self.faces)

    @property
    def area(self) -> float:
        """The area of all faces [m^2]."""
        return self._integrals.area

    def problems(self) -> tuple[str, ...]:
        """List why the mesh encloses no solid: what, and where; empty when all is well."""
        return self._problems

    @cached_property
    def _problems(self) -> tuple[str, ...]:
        if not self.is_closed:
            return self._borders()
        volume, size = self._integrals.volume, float(np.linalg.norm(np.ptp(self.vertices, axis=0)))
        if abs(volume) <= FLAT * self.area * size:
            return (
                f"it has no volume: {volume:.3g} m^3 within {plain(np.ptp(self.vertices, axis=0))} m; "
                "give it a thickness",
            )
        if volume < 0.0:
            return (f"it is inside out, its volume is {volume:.6g} m^3; turn all faces round",)
        if fault := crossing(self.vertices, self.faces):
            return (fault,)
        return ()

    def _borders(self) -> tuple[str, ...]:
        """Say where the surface ends, and where it turns over."""
        edges, found = self.edges, []
        if edges.free.size:
            holes = len(loops(self.faces, edges))
            found.append(
                f"it is open: {edges.free.size} edges have no face on one side, "
                f"round {counted(holes, 'hole')}; the first is {self._edge(int(edges.free[0]))}; close it"
            )
        if edges.turned.size:
            found.append(
                f"neighbouring faces are of opposite orientation over {edges.turned.size} edges, "
                f"the first is {self._edge(int(edges.turned[0]))}; "
                "let all go counter-clockwise seen from outside"
            )
        return tuple(found)

    def _edge(self, k: int) -> str:
        a, b = self.edges.ends[k].tolist()
        return f"from vertex {a} at {plain(self.vertices[a])} to vertex {b} at {plain(self.vertices[b])}"

    @cached_property
    def _integrals(self) -> Integrals:
        return integrals(self.vertices, self.faces)

    @property
    def _solid(self) -> Integrals:
        """The integrals, of a mesh that encloses a solid."""
        if self._problems:
            raise MeshError(
                f"mesh {self.name!r} has no mass properties: {'; '.join(self._problems)}. "
                "Mesh.repaired(), or load(..., repair=True), repairs what can be repaired"
            )
        return self._integrals

    @property
    def volume(self) -> float:
        return self._solid.volume

    @property
    def centre(self) -> Array:
        return self._solid.centroid

    @property
    def gyration(self) -> Array:
        return self._solid.gyration

    def repaired(self) -> "Mesh":
        """Return the mesh with what can be repaired repaired; `repairs` of the result says what was done.

        Vertices that nearly meet are joined, faces without area and double ones dropped, orientations made to
        agree and to face outwards, holes filled. A mesh that passes through itself stays as it is.
        """
        from linkwork.geometry.repair import repaired

        return repaired(self)

    # its parts

    def hull(self) -> "ConvexHull":
        """Return the convex hull, placed as the mesh is."""
        from linkwork.geometry.hull import ConvexHull

        return ConvexHull(self.vertices, position=self.position, rotation=self.rotation)

    def convex_parts(self, threshold: float = 0.05) -> tuple["ConvexHull", ...]:
        """Cut the mesh into nearly convex parts, up to a concavity of `threshold` of its size, by CoACD.

        This is for touching, not for weighing: the hulls cover somewhat more than the mesh. Needs the extra
        `linkwork[convex]`.
        """
        from linkwork.geometry.decomposition import convex_parts

        return convex_parts(self, threshold)

    # what users see

    def summary(self) -> str:
        """Say in a few lines what the mesh is, and what is wrong with it."""
        count, _ = pieces(self.faces, self.edges)
        low, high = self.bounds
        lines = [
            f"mesh {self.name!r}: {len(self.vertices)} vertices, {len(self.faces)} faces, "
            + counted(count, "piece"),
            f"  size      {plain(high - low)} m, from {plain(low)} to {plain(high)}",
            f"  area      {self.area:.9g} m^2",
        ]
        if not self._problems:
            inertia = self.inertia(None if self.weighed else 1.0)
            moments, _ = inertia.principal()
            per = f"mass {inertia.mass:.6g} kg" if self.weighed else "density 1"
            lines += [
                f"  volume    {self.volume:.9g} m^3",
                f"  centre    {plain(inertia.com)} m",
                f"  moments   {plain(moments)} kg m^2, principal, {per}",
            ]
        lines += [f"  problem   {problem}" for problem in self._problems]
        lines += [f"  repair    {repair}" for repair in self.repairs]
        return "\n".join(lines)

    def reach(self, direction: Array) -> float:
        return float((self.vertices @ direction).max())

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        return self.vertices, self.faces

    def mesh(self, resolution: int = RESOLUTION) -> "Mesh":
        return self

    def scaled(self, factors: float | Sequence[float]) -> "Mesh":
        """Return the mesh stretched by one factor or three, along its own axes; negative ones mirror it."""
        stretch = np.broadcast_to(np.asarray(factors, dtype=np.float64), (3,))
        if not np.isfinite(stretch).all() or not stretch.all():
            raise ValueError(
                f"mesh {self.name!r}: scale {factors!r}; give one factor or three, finite and not 0"
            )
        faces: Faces = self.faces if np.prod(stretch) > 0.0 else self.faces[:, ::-1]
        return self.like(self.vertices * stretch, faces)

    def like(self, vertices: ArrayLike, faces: ArrayLike, repairs: tuple[str, ...] | None = None) -> "Mesh":
        """Return other triangles with the name, place and weight of this mesh."""
        return Mesh(
            vertices,
            faces,
            name=self.name,
            repairs=self.repairs if repairs is None else repairs,
            position=self.position,
            rotation=self.rotation,
            density=self.density,
            mass=self.mass,
        )

    def __repr__(self) -> str:
        return f"Mesh({self.name!r}, {len(self.vertices)} vertices, {len(self.faces)} faces)"


def _vertices(vertices: ArrayLike, name: str) -> Array:
    points = frozen(vertices, f"mesh {name!r}: vertices")
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"mesh {name!r}: vertices of shape {points.shape}; give (n, 3) in metres")
    return points


def counted(count: int, word: str) -> str:
    """Return a number of things in words: 1 hole, 2 holes."""
    return f"1 {word}" if count == 1 else f"{count} {word}s"
