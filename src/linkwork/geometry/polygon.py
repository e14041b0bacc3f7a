"""Polygons: plates in the plane, and what they sweep in space."""

from dataclasses import dataclass
from functools import cached_property
from math import cos, hypot, pi, sin
from typing import Any

import numpy as np

from linkwork.geometry import plane_figures
from linkwork.geometry.section import Section
from linkwork.geometry.solid import RESOLUTION, Faces, Solid, Surface, frozen, size_of, unchanging
from linkwork.geometry.tessellation import prism, revolved
from linkwork.mechanism.placement import Array, plain
from linkwork.real_numbers import is_finite

OFF_PLANE = 1e-6  # of its size a polygon in space may be off its plane: six typed digits


@unchanging
@dataclass(frozen=True, eq=False, repr=False)
class Polygon(Solid):
    """A flat plate in the x-y plane; its density is per area [kg/m^2].

    In a planar mechanism that is all there is to say; what has a thickness there is an Extrusion, or a Box.
    The points go round once, either way, and are kept counter-clockwise; points in space (n, 3) must lie in a
    plane, and place the polygon there. What crosses itself is refused.

    >>> Polygon([(0, 0), (2, 0), (2, 1), (0, 1)]).inertia(3.0).mass
    6.0
    """

    points: Any  # (n, 2) corners, counter-clockwise [m]

    measure = "m^2"

    def _check(self) -> None:
        points = frozen(self.points, "Polygon: points")
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            raise ValueError(f"Polygon: points of shape {points.shape}; give (n, 2), or (n, 3) in space")
        if len(points) > 3 and (points[0] == points[-1]).all():
            points = points[:-1]  # said to be closed; it is anyway
        if points.shape[1] == 3:
            points = self._flattened(points)
        if found := plane_figures.fault(points):
            raise ValueError(f"Polygon: {found}")
        size = plane_figures.area(points)
        if abs(size) <= 1e-14 * np.ptp(points, axis=0).max() ** 2:
            raise ValueError("Polygon: no area, all points lie on one line; move one of them off it")
        object.__setattr__(self, "points", frozen(points if size > 0.0 else points[::-1], ""))

    def _flattened(self, points: Array) -> Array:
        """Return the points in their own plane, and place the polygon there."""
        if not points[:, 2].any():
            return points[:, :2]
        middle = points.mean(axis=0)
        d = points - middle
        normal = np.cross(d, np.roll(d, -1, axis=0)).sum(axis=0)  # Newell's
        length = float(np.linalg.norm(normal))
        size = float(np.ptp(points, axis=0).max())
        if length <= 1e-14 * size**2:
            raise ValueError("Polygon: no area, all points lie on one line; move one of them off it")
        off = d @ (normal / length)
        worst = int(np.argmax(np.abs(off)))
        if abs(off[worst]) > OFF_PLANE * size:
            raise ValueError(
                f"Polygon: the points do not lie in a plane: point {worst}, {plain(points[worst])}, is "
                f"{abs(off[worst]):.3g} m off it; cut the polygon into triangles"
            )
        turn = _upright(normal / length)
        placed = np.array(self.rotation) @ turn
        object.__setattr__(
            self, "position", tuple((self.position + np.array(self.rotation) @ middle).tolist())
        )
        object.__setattr__(self, "rotation", tuple(map(tuple, placed.tolist())))
        return (d @ turn)[:, :2]

    @cached_property
    def _moments(self) -> tuple[float, Array, Array]:
        return plane_figures.moments(self.points)

    @property
    def area(self) -> float:
        """The area [m^2]."""
        return self._moments[0]

    @property
    def volume(self) -> float:
        """The area, since the density is per area [m^2]."""
        return self.area

    @property
    def centre(self) -> Array:
        return np.append(self._moments[1], 0.0)

    @property
    def gyration(self) -> Array:
        A, _, mu = self._moments
        xx, yy, xy = mu[2, 0] / A, mu[0, 2] / A, mu[1, 1] / A
        return np.array([(yy, -xy, 0.0), (-xy, xx, 0.0), (0.0, 0.0, xx + yy)])

    @property
    def is_convex(self) -> bool:
        """Whether no corner turns in."""
        return plane_figures.is_convex(self.points)

    def convex_parts(self) -> tuple["Polygon", ...]:
        """Cut the polygon into convex ones; each is placed as the whole is."""
        cuts = plane_figures.convex_cuts(self.points)
        if len(cuts) == 1:
            return (self,)
        place = {"position": self.position, "rotation": self.rotation, "density": self.density}
        if self.mass is not None:
            place["density"] = self.mass / self.area
        return tuple(Polygon(self.points[cut], **place) for cut in cuts)

    @cached_property
    def cut(self) -> Faces:
        """The polygon as triangles: (n - 2, 3) numbers of its points, counter-clockwise."""
        return plane_figures.ears(self.points)

    def sections(self) -> tuple[Section, ...]:
        return tuple(Section(part.points) for part in self.convex_parts())

    def extruded(self, length: float) -> "Extrusion":
        """Return a solid of this section, drawn out along z, half to either side."""
        return Extrusion(self._section("extruded"), length, position=self.position, rotation=self.rotation)

    def revolved(self, angle: float = 2 * pi) -> "Revolution":
        """Return a solid of this section, x being the radius and y the height, turned about z."""
        return Revolution(self._section("revolved"), angle)

    def _section(self, word: str) -> "Polygon":
        if self.weighed:
            raise ValueError(
                f"Polygon: density or mass of a plate that is to be {word}; give it to the result"
            )
        return Polygon(self.points)

    def reach(self, direction: Array) -> float:
        return float((self.points @ direction[:2]).max())

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        return np.c_[self.points, np.zeros(len(self.points))], self.cut

    def __repr__(self) -> str:
        return f"Polygon({len(self.points)} points, area={self.area:.6g})"


@unchanging
@dataclass(frozen=True, eq=False)
class Extrusion(Solid):
    """A polygon in the x-y plane drawn out along z, by half the length to either side."""

    polygon: Any  # a Polygon, or its points (n, 2)
    length: float

    def _check(self) -> None:
        object.__setattr__(self, "polygon", _section("Extrusion", self.polygon))
        object.__setattr__(self, "length", size_of("Extrusion", "length", self.length))

    @property
    def volume(self) -> float:
        return self.polygon.area * self.length

    @property
    def centre(self) -> Array:
        return self.polygon.centre

    @property
    def gyration(self) -> Array:
        along = self.length**2 / 12.0
        return self.polygon.gyration + np.diag([along, along, 0.0])

    def reach(self, direction: Array) -> float:
        return self.polygon.reach(direction) + self.length / 2.0 * abs(direction[2])

    def sections(self) -> tuple[Section, ...]:
        return self.polygon.sections()

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        return prism(self.polygon.points, self.polygon.cut, -self.length / 2.0, self.length / 2.0)


@unchanging
@dataclass(frozen=True, eq=False)
class Revolution(Solid):
    """A polygon of (radius, height) turned about z: once round, or by an angle from the x axis on."""

    polygon: Any  # a Polygon, or its points (n, 2): radius >= 0, height
    angle: float = 2 * pi

    def _check(self) -> None:
        section = _section("Revolution", self.polygon)
        inner = int(np.argmin(section.points[:, 0]))
        if section.points[inner, 0] < 0.0:
            raise ValueError(
                f"Revolution: point {inner}, {plain(section.points[inner])}, has a negative radius; "
                "the section lies on one side of the axis, x >= 0"
            )
        if not (is_finite(self.angle) and 0.0 < self.angle <= 2 * pi):
            raise ValueError(f"Revolution: angle {self.angle!r}; give radians, more than 0 and at most 2 pi")
        object.__setattr__(self, "polygon", section)
        object.__setattr__(self, "angle", float(self.angle))

    @property
    def _is_full(self) -> bool:
        return self.angle == 2 * pi

    @cached_property
    def _moments(self) -> tuple[float, Array, Array]:
        """Volume, centre, and second moments about the centre, from those of the section about its centroid.

        With the radius r = a + s, a that of the centroid, integrals of r^k over the section are sums of
        central moments mu, none of which is large; those over the angle are elementary.
        """
        A, (a, height), mu = self.polygon._moments
        c, s = (0.0, 0.0) if self._is_full else (sin(self.angle), 1.0 - cos(self.angle))
        cs, c2 = (0.0, 0.0) if self._is_full else (0.5 * sin(self.angle) ** 2, sin(2.0 * self.angle) / 4.0)
        cc, ss = self.angle / 2.0 + c2, self.angle / 2.0 - c2
        r1, r2, r3 = A * a, A * a * a + mu[2, 0], A * a**3 + 3.0 * a * mu[2, 0] + mu[3, 0]
        r1z, r2z, r1zz = mu[1, 1], 2.0 * a * mu[1, 1] + mu[2, 1], a * mu[0, 2] + mu[1, 2]
        V = self.angle * r1
        d = np.array([c * r2, s * r2, self.angle * r1z]) / V
        xz, yz = c * r2z, s * r2z
        second = np.array([(cc * r3, cs * r3, xz), (cs * r3, ss * r3, yz), (xz, yz, self.angle * r1zz)])
        return V, d + (0.0, 0.0, height), second - V * np.outer(d, d)

    @property
    def volume(self) -> float:
        return self._moments[0]

    @property
    def centre(self) -> Array:
        return self._moments[1]

    @property
    def gyration(self) -> Array:
        V, _, second = self._moments
        return (np.trace(second) * np.eye(3) - second) / V

    def reach(self, direction: Array) -> float:
        x, y, z = direction
        outward = hypot(x, y)
        azimuth = np.arctan2(y, x) % (2 * pi)
        if not self._is_full and azimuth > self.angle:
            outward = max(x, x * cos(self.angle) + y * sin(self.angle))
        return float((self.polygon.points @ (outward, z)).max())

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        cap = None if self._is_full else self.polygon.cut
        return revolved(self.polygon.points, resolution, self.angle, cap)


def _section(where: str, polygon: Any) -> Polygon:
    """Return a polygon in its own plane, without a weight of its own."""
    if not isinstance(polygon, Polygon):
        polygon = Polygon(polygon)
    if polygon != Polygon(polygon.points):
        raise ValueError(f"{where}: a placed or weighed polygon; place and weigh the {where} instead")
    return polygon


def _upright(normal: Array) -> Array:
    """Return a turn that takes z to a unit normal, the shortest one where that points up."""
    x, y, z = normal
    if z < 0.0:
        return _upright(-normal) @ np.diag([1.0, -1.0, -1.0])
    k = 1.0 / (1.0 + z)
    return np.array([(1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)])
