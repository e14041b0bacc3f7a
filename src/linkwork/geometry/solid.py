"""What every shape is: placed on a body, with mass, bounds and a surface of triangles."""

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algebra.vector import Vector, dot
from linkwork.geometry.section import Section
from linkwork.geometry.shape_code import ShapeCode
from linkwork.geometry.vectors import along, unit
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.placement import Array, plain, position_vector, rotation_matrix
from linkwork.real_numbers import is_finite, real_array
from linkwork.spelling import SpelledABC, fixed, spelled_methods
from linkwork.varied import real

if TYPE_CHECKING:
    from linkwork.geometry.compound import Compound
    from linkwork.geometry.mesh import Mesh

Faces: TypeAlias = NDArray[np.int64]  # (m, 3) indices of vertices, counter-clockwise seen from outside
Surface: TypeAlias = tuple[Array, Faces]  # vertices (n, 3) [m], and faces

RESOLUTION = 32  # straight pieces that stand for a full circle, unless said
COMMON = ("position", "rotation", "density", "mass")
_AT_THE_ORIGIN = (0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

# of the classes of solids: what is said to who sets a size
unchanging = fixed("make another, as by dataclasses.replace(shape, density=...), and the body of that")


@spelled_methods
@dataclass(frozen=True, kw_only=True, eq=False)
class Solid(metaclass=SpelledABC):
    """A homogeneous solid placed on a body by `position=` and `rotation=`.

    A solid is one class, a frozen dataclass of its sizes: its volume, its gyration about its own centre of
    mass, and a surface of triangles; a convex one says its `support` too. What else it is follows, and may be
    said where there is more to say: `reach`, `sections` in the plane, `code` for compiled loops.
    """

    position: Any = None  # (3,) of the solid's own origin in the body frame [m]
    rotation: Any = None  # (3, 3) from the solid's own axes to those of the body
    density: float | None = None  # [kg/m^3]; None: that of the body
    mass: float | None = None  # [kg], in place of a density

    measure = "m^3"  # the unit of `volume`; plates have an area
    code = cast(ShapeCode | None, None)  # of the solids that compiled loops know by themselves

    def __post_init__(self) -> None:
        where = type(self).__name__
        # Tuples keep a solid immutable, comparable and hashable.
        position = position_vector(self.position, where)
        rotation = rotation_matrix(self.rotation, where)
        object.__setattr__(self, "position", tuple(position.tolist()))
        object.__setattr__(self, "rotation", tuple(map(tuple, rotation.tolist())))
        for word in ("density", "mass"):
            value = getattr(self, word)
            if value is not None:
                object.__setattr__(self, word, amount(f"{where}: {word}", value))
        if self.density is not None and self.mass is not None:
            raise ValueError(f"{where}: density {self.density:g} and mass {self.mass:g}; give one of them")
        self._check()

    def _check(self) -> None:
        """Check the fields of the class itself, which are sizes unless it says otherwise."""
        for field in fields(self):
            if field.name not in COMMON:
                value = size_of(type(self).__name__, field.name, getattr(self, field.name))
                object.__setattr__(self, field.name, value)

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
    def gyration(self) -> tuple[float, float, float] | Array:
        """The inertia per unit mass about the centre of mass, in the own axes: 3 moments, or (3, 3) [m^2]."""

    def support(self, direction: Any) -> Any:
        """Return the point (3,) of a convex solid that is farthest in a direction, both in its own frame.

        A subclass writes it over any number, with lw.sqrt, lw.where and so on: it is traced and compiled, and
        the solid is then touched as it is. A solid that does not say it is touched by its triangles.
        """
        if self.code is None:
            raise TypeError(
                f"{type(self).__name__} has no support function; a convex solid defines support(d)"
            )
        x, y, z = (*self.sizes, 0.0, 0.0)[:3]
        return along(self.code.support((x, y, z), direction), self.core_radius, unit(direction))

    @property
    def is_convex(self) -> bool:
        """Whether the solid has a support function."""
        return self.code is not None or type(self).support is not Solid.support

    @property
    def sizes(self) -> tuple[float, ...]:
        """The numbers that its `code` is given, three at most."""
        return ()

    @property
    def core_radius(self) -> float:
        """The radius round the core that its `code` is of, as of balls and capsules [m]."""
        return 0.0

    def reach(self, direction: Array) -> float:
        """Return how far the solid reaches in a direction of its own frame: the largest d . x."""
        if self.is_convex:
            d = Vector(float(x) for x in direction)
            return float(dot(d, Vector(self.support(d))))
        return float((self.surface()[0] @ np.asarray(direction)).max())

    def sections(self) -> tuple[Section, ...]:
        """Return what the solid is in the plane: convex parts of its section with z = 0, if it is simple."""
        return ()

    def stretched_from(self) -> tuple["Solid", tuple[float, float, float]]:
        """Return a solid whose surface, stretched along x, y and z, is that of this one.

        Solids that are stretched from the same one share its triangles in drawings.
        """
        return self, (1.0, 1.0, 1.0)

    @abstractmethod
    def surface(self, resolution: int = RESOLUTION) -> Surface:
        """Return vertices and outward faces in the solid's own frame; curved ones are inscribed."""

    @property
    def weighed(self) -> bool:
        """Whether the solid says what it weighs, by a density or mass of its own."""
        return self.density is not None or self.mass is not None

    def inertia(self, density: float | None = None) -> Inertia:
        """Return the inertia in the frame of the body.

        `density` [kg/m^3] is for a solid that has no density or mass of its own.
        """
        return self.of_mass(self._mass(density))

    def of_mass(self, mass: float) -> Inertia:
        """Return the inertia in the frame of the body for a mass, whatever the solid says that it weighs."""
        g = self.gyration
        if isinstance(g, tuple):
            x, y, z = (mass * moment for moment in g)
            tensor: Any = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]
        else:
            tensor = mass * np.asarray(g)
        made = Inertia(mass, self.centre, tensor)
        here = isinstance(g, tuple) and (self.position, self.rotation) == _AT_THE_ORIGIN
        return made if here else made.moved(self.position, self.rotation)

    def _mass(self, density: float | None) -> float:
        if density is not None:
            density = amount(f"{type(self).__name__}: density", density)
        if self.mass is not None:
            return self.mass
        density = density if self.density is None else self.density
        if density is None:
            raise ValueError(
                f"{type(self).__name__} has no density= or mass= of its own; give inertia(density)"
            )
        return density * self.volume

    @property
    def bounds(self) -> Array:
        """The axis-aligned box around the solid in the body frame: (2, 3), lowest and highest corner [m]."""
        turn, p = np.array(self.rotation), np.array(self.position)
        return np.array([p - [self.reach(-axis) for axis in turn], p + [self.reach(axis) for axis in turn]])

    @property
    def pieces(self) -> tuple["Solid", ...]:
        """The solids that this one is put together of, in the body frame; not what is taken out of it."""
        return (self,)

    def triangles(self, resolution: int = RESOLUTION) -> Surface:
        """Return the surface in the body frame: vertices (n, 3) [m] and outward faces (m, 3).

        `resolution` is the number of straight pieces that stand for a full circle.
        """
        vertices, faces = self.surface(pieces_per_turn(resolution))
        return vertices @ np.array(self.rotation).T + np.array(self.position), faces

    def mesh(self, resolution: int = RESOLUTION) -> "Mesh":
        """Return the surface as a mesh, placed and weighed as the solid is."""
        from linkwork.geometry.mesh import Mesh

        vertices, faces = self.surface(pieces_per_turn(resolution))
        return Mesh(
            vertices,
            faces,
            name=type(self).__name__,
            position=self.position,
            rotation=self.rotation,
            density=self.density,
            mass=self.mass,
        )

    def show(self, ax: Any = None, resolution: int = RESOLUTION) -> Any:
        """Draw the solid with matplotlib, and return the axes."""
        from linkwork.geometry.shape_plot import draw

        return draw(self, ax, resolution)

    def __add__(self, other: "Solid") -> "Compound":
        """Put two solids together into one."""
        from linkwork.geometry.compound import Compound

        return Compound.joined(self, other) if isinstance(other, Solid) else NotImplemented

    def __sub__(self, other: "Solid") -> "Compound":
        """Take the mass of another solid, which lies inside, out of this one."""
        from linkwork.geometry.compound import Compound

        return Compound.hollowed(self, other) if isinstance(other, Solid) else NotImplemented

    # Of the solids that hold arrays; those of plain numbers compare as dataclasses do.

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self) if field.compare)
        return tuple((v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Solid) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # of a copy too
            object.__setattr__(self, name, value)


def amount(where: str, value: Any) -> float:
    """Return a density or mass, which is a finite number, not negative."""
    if not (is_finite(value) and value >= 0.0):
        raise ValueError(f"{where} {value!r}; give a finite number >= 0")
    return real(value)


def frozen(value: ArrayLike, where: str) -> Array:
    """Return finite numbers as a read-only array; -0.0 becomes 0.0, so that equal points have equal bytes."""
    array = np.atleast_1d(real_array(where, value)) + 0.0
    if not np.isfinite(array).all():
        k = int(np.flatnonzero(~np.isfinite(array).reshape(len(array), -1).all(axis=1))[0])
        raise ValueError(f"{where}: number {k}, {plain(array[k])}, is not finite")
    array.flags.writeable = False
    return array


def pieces_per_turn(resolution: Any) -> int:
    """Return a resolution, which is at least three pieces for a circle."""
    whole = isinstance(resolution, int | np.integer) and not isinstance(resolution, bool)
    if not whole or not 3 <= resolution <= 100_000:
        raise ValueError(f"resolution {resolution!r}; give the number of pieces of a circle, 3 or more")
    return int(resolution)


def size_of(shape: str, field: str, value: Any) -> float:
    if not (is_finite(value) and value > 0.0):
        raise ValueError(f"{shape}: {field} {value!r}; give a finite length > 0 in metres")
    return real(value)
