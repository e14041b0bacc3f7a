"""A rigid body: a name, an inertia, and where it is drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.mechanism.body_inertia import Part, inertia_of
from linkwork.mechanism.body_skin import (
    EVERYTHING,
    bits,
    color_given,
    group_bits,
    material_wanted,
    placed_on_ground,
    skins_given,
)
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.journaled import Recorded, frozen
from linkwork.mechanism.material import Material
from linkwork.mechanism.names import name_text
from linkwork.mechanism.placement import (
    Array,
    RotationLike,
    Space,
    plain,
    position_vector,
    rotation_matrix,
)
from linkwork.spelling import checked_keywords, require, spelled_methods
from linkwork.varied import real

_PLAIN = Material()


@spelled_methods
class Body(Recorded):
    """A rigid body, described by its shapes and a density or a mass, by an Inertia, or by nothing (massless).

    >>> from linkwork.geometry import Box
    >>> round(Body("cart", Box(0.4, 0.2, 0.1), density=800).inertia.mass, 12)
    6.4

    A body is drawn in space until it is added to a planar mechanism, which takes its part in the plane. Its
    position has 3 numbers there, and 2 in the plane (or 3, if z is 0). Its name stays what it is.
    """

    def __init__(
        self,
        name: str,
        *parts: Part,
        density: float | None = None,
        mass: float | None = None,
        position: ArrayLike | None = None,
        rotation: RotationLike = None,
        visuals: Sequence[Any] = (),
        collisions: Sequence[Any] = (),
        material: Material | None = None,
        group: int = 1,
        mask: int = EVERYTHING,
        color: Any = None,
    ) -> None:
        self._name = name_text(name, type(self).__name__)
        self._parts = parts
        self.visuals = visuals
        self.collisions = collisions
        self.material = material
        self.group, self.mask = group, mask
        self.color = color
        self._space: Space | None = None
        self._weigh(density, mass)
        self._space = self.inertia.space
        self.position = position
        self.rotation = rotation

    @classmethod
    def from_points(
        cls,
        name: str,
        masses: ArrayLike,
        positions: ArrayLike,
        *,
        position: ArrayLike | None = None,
        rotation: RotationLike = None,
        visuals: Sequence[Any] = (),
        collisions: Sequence[Any] = (),
        material: Material | None = None,
        group: int = 1,
        mask: int = EVERYTHING,
        color: Any = None,
    ) -> "Body":
        """Make a body of point masses; positions (n, 3), or (n, 2) in the plane, in the body frame."""
        inertia = Inertia.from_points(masses, positions)
        return cls(
            name,
            inertia,
            position=position,
            rotation=rotation,
            visuals=visuals,
            collisions=collisions,
            material=material,
            group=group,
            mask=mask,
            color=color,
        )

    @property
    def name(self) -> str:
        """The name, by which joints, states and results refer to the body."""
        return self._name

    @property
    def parts(self) -> tuple[Part, ...]:
        """The shapes, or the Inertia, that the body was made of."""
        return self._parts

    @property
    def given(self) -> dict[str, float]:
        """The density or mass that was given for the shapes."""
        return dict(self._given)

    @property
    def space(self) -> Space:
        """Where it lives: "space", or "plane" as the mechanism it was added to."""
        return self._space or "space"

    @property
    def inertia(self) -> Inertia:
        """Mass, centre of mass and tensor; what is assigned stands in place of that of the shapes."""
        return self._inertia

    @inertia.setter
    def inertia(self, inertia: Inertia) -> None:
        if not isinstance(inertia, Inertia):
            raise TypeError(f"{self._where}: inertia {inertia!r}; give an Inertia(mass, com, tensor)")
        self._inertia, self._weighed = inertia, False

    @property
    def weighed(self) -> bool:
        """Whether its inertia is that of its shapes, so that their density or mass can be assigned."""
        return self._weighed

    @property
    def mass(self) -> float:
        """The mass [kg]; that of shapes can be assigned, shared out by volume, and their inertia follows."""
        return self.inertia.mass

    @mass.setter
    def mass(self, mass: float) -> None:
        self._weigh_again(None, mass)

    @property
    def density(self) -> float | None:
        """The density of the shapes [kg/m^3], if that was given; it can be assigned as the mass can."""
        return self.given.get("density") if self._weighed else None

    @density.setter
    def density(self, density: float) -> None:
        self._weigh_again(density, None)

    def _weigh_again(self, density: float | None, mass: float | None) -> None:
        """Give the shapes another density or mass."""
        if not self._weighed:
            word, value = ("mass", mass) if density is None else ("density", density)
            raise AttributeError(
                f"{self._where}: {word} = {value!r} does not say how the mass is spread, and no shapes do; "
                "assign inertia = lw.Inertia(mass, com, tensor)"
            )
        if density is None and mass is None:
            raise ValueError(f"{self._where}: density and mass are None; give one of them")
        self._weigh(density, mass)

    def _weigh(self, density: float | None, mass: float | None) -> None:
        inertia = inertia_of(self._where, self._parts, density, mass)
        self._inertia = inertia.planar() if self._space == "plane" else inertia
        self._given = tuple(
            (word, real(x)) for word, x in (("density", density), ("mass", mass)) if x is not None
        )
        self._weighed = bool(self._parts) and not any(isinstance(part, Inertia) for part in self._parts)

    @property
    def visuals(self) -> tuple[Any, ...]:
        """What the body is drawn with in place of its shapes: Visuals, shapes, files, outlines as points."""
        return self._visuals

    @visuals.setter
    def visuals(self, visuals: Sequence[Any]) -> None:
        self._visuals = skins_given(f"{self._where}: visuals", visuals, outlines=True)

    @property
    def collisions(self) -> tuple[Any, ...]:
        """What the body is touched by in place of its shapes: Collisions, shapes, files."""
        return self._collisions

    @collisions.setter
    def collisions(self, collisions: Sequence[Any]) -> None:
        self._collisions = skins_given(f"{self._where}: collisions", collisions, outlines=False)

    @property
    def touched_by(self) -> tuple[Any, ...]:
        """The shapes by which it is touched: its collisions, or else its solids."""
        known = getattr(self._revision, "touched_by", None)
        if known is None:
            known = self._collisions or tuple(part for part in self._parts if hasattr(part, "surface"))
            if self._complete:
                self._revision.touched_by = known
        return known

    @property
    def material(self) -> Material:
        """What it is made of where it is touched; a Collision may say otherwise of its shape."""
        return self._material

    @material.setter
    def material(self, material: Material | None) -> None:
        if material is not None and not isinstance(material, Material):
            require(f"{self._where}: material", material, Material, material_wanted(material))
        self._material = _PLAIN if material is None else material

    @property
    def group(self) -> int:
        """The groups it is in, one bit each; it meets bodies in whose mask one of them is, and likewise."""
        return self._group

    @group.setter
    def group(self, group: int) -> None:
        self._group = group_bits(f"{self._where}: group", group)

    @property
    def mask(self) -> int:
        """The groups that it meets, one bit each; -1: all."""
        return self._mask

    @mask.setter
    def mask(self, mask: int) -> None:
        self._mask = bits(f"{self._where}: mask", mask)

    @property
    def color(self) -> tuple[float, float, float, float] | None:
        """What it is drawn in: red, green, blue, opacity, each 0 to 1; None: whoever draws it chooses.

        It can be given as "#rrggbb", as a name such as "red" or "steel", or as three or four numbers.
        """
        return self._color

    @color.setter
    def color(self, color: Any) -> None:
        self._color = color_given(f"{self._where}: color", color)

    @checked_keywords
    def add(self, *shapes: Any, material: Material | None = None) -> None:
        """Let the ground be touched by shapes, which need no mass, and draw it with them.

        The material is that of these shapes; without, that of the ground.

        >>> from linkwork.geometry import Plane
        >>> ground = Body("ground")
        >>> ground.add(Plane(), material=Material.ice)
        >>> len(ground.touched_by)
        1
        """
        if self.name != "ground":
            raise TypeError(
                f"{self._where}: only the ground takes shapes without mass; give those of a body when it is "
                "made, Body(name, *shapes, density=...), or assign collisions = [...]"
            )
        if not shapes:
            raise TypeError("ground: add takes shapes; give at least one, such as lw.Plane()")
        self.collisions = (*self.collisions, *placed_on_ground(shapes, material))

    @property
    def position(self) -> Array:
        """Where the body frame is drawn in the world: (3,), or (2,) in the plane [m]."""
        return self._position

    @position.setter
    def position(self, position: ArrayLike | None) -> None:
        self._position = frozen(position_vector(position, self._where, self.space))
        self._flat = position is not None and np.size(position) == 2

    @property
    def rotation(self) -> Array:
        """How the body frame is turned in the world: (3, 3), or (2, 2) in the plane."""
        return self._rotation

    @rotation.setter
    def rotation(self, rotation: RotationLike) -> None:
        self._rotation = frozen(rotation_matrix(rotation, self._where, self.space))

    def mistakes(self) -> list[str]:
        """List what is wrong with where the body is drawn, in words; empty when all is well."""
        if self._flat and self.space == "space":
            x, y, _ = self.position
            return [f"position {plain((x, y))} in a mechanism in space; give 3 numbers in metres"]
        return []

    def settle(self, space: Space) -> None:
        """Take the place the body has in this space; `Mechanism.add` calls it."""
        if space == self.space:
            return
        if space == "space":
            raise ValueError(
                f"{self._where} has a planar inertia in a mechanism in space; give "
                'Inertia(mass, com, tensor) with 3 numbers and a 3x3 matrix, or use Mechanism(space="plane")'
            )
        position = frozen(position_vector(self.position, self._where, space))
        rotation = frozen(rotation_matrix(self.rotation, self._where, space))
        self._space, self._inertia = space, self.inertia.planar()
        self._position, self._rotation = position, rotation

    @property
    def _where(self) -> str:
        return f"body {self.name!r}"

    def __repr__(self) -> str:
        return f"Body({self.name!r}, mass={self.inertia.mass:.6g})"
