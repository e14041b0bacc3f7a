"""The inertia of a body: that of its shapes with a density or a mass, or one that is given."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from linkwork.mechanism.inertia import Inertia
from linkwork.real_numbers import is_finite


class Massive(Protocol):
    """A shape with mass: all that a body asks of geometry."""

    @property
    def volume(self) -> float: ...

    def inertia(self, density: float | None = None) -> Inertia: ...


Part: TypeAlias = Inertia | Massive


def inertia_of(where: str, parts: Sequence[Part], density: float | None, mass: float | None) -> Inertia:
    """Return the inertia of what a body is made of."""
    for word, value in (("density", density), ("mass", mass)):
        if value is not None and not (is_finite(value) and value >= 0.0):
            raise ValueError(f"{where}: {word} {value!r}; give a finite number >= 0")
    if density is not None and mass is not None:
        raise ValueError(f"{where}: density {density!r} and mass {mass!r} together; give one of them")
    for part in parts:
        if isinstance(part, type):
            raise TypeError(f"{where}: {part.__name__} is a class; give one of them: {part.__name__}(...)")
        if isinstance(part, list | tuple) and part and all(hasattr(each, "volume") for each in part):
            raise TypeError(f"{where}: {part!r} is a list; give shapes one by one: Body(name, a, b)")
        if not isinstance(part, Inertia) and not (hasattr(part, "volume") and hasattr(part, "inertia")):
            raise TypeError(f"{where}: {part!r} has no mass; give shapes or an Inertia")
    given = [part for part in parts if isinstance(part, Inertia)]
    shapes = [part for part in parts if not isinstance(part, Inertia)]
    if given:
        if len(parts) > 1 or density is not None or mass is not None:
            raise ValueError(
                f"{where}: an Inertia stands alone, without shapes, density= or mass=; add inertias with +"
            )
        return given[0]
    if not shapes:
        if density is not None or mass is not None:
            raise ValueError(
                f"{where}: density= or mass= without a shape; add shapes, or give Inertia(mass, com, tensor)"
            )
        return Inertia.zero("space")
    return inertia_of_shapes(where, shapes, density, mass)


def inertia_of_shapes(
    where: str, shapes: Sequence[Massive], density: float | None, mass: float | None = None
) -> Inertia:
    """Return the inertia of several shapes; density or mass are for those that have none of their own."""
    light = [shape for shape in shapes if not getattr(shape, "weighed", False)]
    if (density is not None or mass is not None) and not light:
        raise ValueError(f"{where}: every shape has its own density or mass; drop that of the whole")
    if light and density is None and mass is None:
        raise ValueError(f"{where}: shapes without density= (kg/m^3) or mass= (kg, shared out by volume)")
    if len({getattr(shape, "measure", "m^3") for shape in light}) > 1:
        raise ValueError(
            f"{where}: plates (kg/m^2) and solids (kg/m^3) under one density or mass; give each shape its own"
        )
    if mass is not None:
        rest = mass - sum(shape.inertia().mass for shape in shapes if shape not in light)
        if mass < 0.0:
            raise ValueError(f"{where}: mass {mass:g}; give a finite number >= 0")
        if rest < 0.0:
            raise ValueError(f"{where}: mass {mass:g} kg is less than that of its weighed shapes; give more")
        density = rest / sum(shape.volume for shape in light)
    first, *others = (shape.inertia(density) for shape in shapes)
    return sum(others, first)
