"""Solids put together, and taken out of each other."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.geometry.solid import RESOLUTION, Solid, Surface, unchanging
from linkwork.mechanism.body_inertia import inertia_of_shapes
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.placement import Array, plain

SLACK = 1e-9  # of its size a solid may stick out of what it is taken from


@unchanging
@dataclass(frozen=True)
class Compound(Solid):
    """Several solids as one, less the mass of others; written a + b and a - b.

    What is removed lies inside, and parts do not overlap: their masses are added and subtracted. A removed
    solid without a density of its own has that of the parts.

    >>> from linkwork.geometry import Box, Cylinder
    >>> round((Box(1, 1, 1) - Cylinder(0.2, 1.0)).volume, 12)
    0.874336293856
    """

    parts: tuple[Solid, ...]
    removed: tuple[Solid, ...] = ()

    @classmethod
    def joined(cls, one: Solid, other: Solid) -> "Compound":
        """Return a + b."""
        # One that is hollow stays a part of its own: what is removed is removed from it alone.
        parts = [(c,) if c.removed else c.parts for c in (_opened(one), _opened(other))]
        return cls(parts[0] + parts[1])

    @classmethod
    def hollowed(cls, one: Solid, other: Solid) -> "Compound":
        """Return a - b."""
        a = _opened(one)
        return cls(a.parts, (*a.removed, other))

    def _check(self) -> None:
        for word in ("parts", "removed"):
            given = getattr(self, word)
            if not isinstance(given, list | tuple):
                raise ValueError(f"Compound: {word} {given!r}; give a list of shapes")
            solids = tuple(given)
            for solid in solids:
                if not isinstance(solid, Solid):
                    raise ValueError(f"Compound: {word} {solid!r} is not a solid; give shapes")
                if not np.isfinite(solid.volume):
                    raise ValueError(
                        f"Compound: {type(solid).__name__} has no end; give solids of finite volume"
                    )
            object.__setattr__(self, word, solids)
        if not self.parts:
            raise ValueError("Compound: no parts; give at least one")
        whole = self.density is not None or self.mass is not None
        if whole and any(solid.weighed for solid in (*self.parts, *self.removed)):
            raise ValueError("Compound: density or mass of the whole and of parts; give either")
        low, high = self._extent
        for solid in self.removed:
            inner, outer = solid.bounds
            slack = SLACK * float(np.max(high - low))
            if (inner < low - slack).any() or (outer > high + slack).any():
                raise ValueError(
                    f"Compound: the removed {type(solid).__name__}, {plain(inner)} to {plain(outer)}, sticks "
                    f"out of the parts, {plain(low)} to {plain(high)}; remove only what is inside"
                )
        unit = self._unit
        if unit.mass <= 0.0 or unit.problems():
            raise ValueError(
                f"Compound: a volume of {unit.mass:.6g} m^3 is left, which no real solid has; "
                "remove only what is inside, once"
            )

    @property
    def _extent(self) -> Array:
        boxes = np.array([part.bounds for part in self.parts])
        return np.array([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])

    @cached_property
    def _unit(self) -> Inertia:
        """The inertia in the own frame for density 1."""
        total = Inertia.zero("space")
        for group, sign in ((self.parts, 1.0), (self.removed, -1.0)):
            for solid in group:
                own = solid.of_mass(solid.volume)
                total = total + Inertia(sign * own.mass, own.com, sign * own.tensor)
        return total

    @property
    def volume(self) -> float:
        return sum(part.volume for part in self.parts) - sum(solid.volume for solid in self.removed)

    @property
    def centre(self) -> Array:
        """The centre of the volume in the own frame, as of a homogeneous solid [m]."""
        return self._unit.com

    @property
    def gyration(self) -> Array:
        return self._unit.tensor / self._unit.mass

    @property
    def weighed(self) -> bool:
        return self.density is not None or self.mass is not None or all(part.weighed for part in self.parts)

    def inertia(self, density: float | None = None) -> Inertia:
        if self.density is not None or self.mass is not None:
            density = self._mass(density) / self.volume
        light = any(not part.weighed for part in self.parts)
        total = inertia_of_shapes("Compound", self.parts, density if light else None)
        if self.removed:
            filling = density
            if filling is None or any(part.weighed for part in self.parts):
                filling = self._common_density(density)
            for solid in self.removed:
                own = solid.inertia(filling)
                total = total + Inertia(-own.mass, own.com, -own.tensor)
        return total.moved(self.position, self.rotation)

    def _common_density(self, density: float | None) -> float | None:
        """Return the density that all parts have; None if they differ."""
        found = [part.inertia(density).mass / part.volume for part in self.parts]
        return found[0] if np.ptp(found) <= 1e-12 * max(found) else None

    @property
    def pieces(self) -> tuple[Solid, ...]:
        turn, shift = np.array(self.rotation), np.array(self.position)
        placed = []
        for part in self.parts:
            place: Any = {
                "position": turn @ part.position + shift,
                "rotation": turn @ np.array(part.rotation),
            }
            placed.append(replace(part, **place))
        return tuple(piece for part in placed for piece in part.pieces)

    def reach(self, direction: Array) -> float:
        return max(
            float(np.dot(part.position, direction)) + part.reach(direction @ np.array(part.rotation))
            for part in self.parts
        )

    def surface(self, resolution: int = RESOLUTION) -> Surface:
        """Return the surfaces of all parts, and those of what is removed, facing inwards."""
        vertices, faces, count = [], [], 0
        for group, step in ((self.parts, 1), (self.removed, -1)):
            for solid in group:
                points, triangles = solid.triangles(resolution)
                vertices.append(points)
                faces.append(triangles[:, ::step] + count)
                count += len(points)
        return np.vstack(vertices), np.vstack(faces)


def _opened(solid: Solid) -> Compound:
    """Return a solid as a compound, without a place or weight that would be lost."""
    if isinstance(solid, Compound) and solid == Compound(solid.parts, solid.removed):
        return solid
    return Compound((solid,))
