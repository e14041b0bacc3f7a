"""What queries give back: contact points and hits of rays, as arrays and one by one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.contact.shape_table import DEPTH, NORMAL, POINT_A, POINT_B
from linkwork.mechanism.placement import Array
from linkwork.spelling import fixed, returned_by


@returned_by("lw.collide(a, b) returns them")
@fixed("it says where shapes meet")
@dataclass(frozen=True, eq=False)
class ContactPoint:
    """One point of contact of bodies a and b."""

    bodies: tuple[str, str]
    point_a: Array  # (3,) on the surface of a [m]
    point_b: Array  # (3,) on the surface of b [m]
    normal: Array  # (3,) unit vector from a to b
    depth: float  # how far they overlap along the normal [m]; negative: the gap
    features: tuple[int, int]  # of a and b: corner, edge or triangle; the same from step to step

    @property
    def point(self) -> Array:
        """Where it is: halfway between the two surfaces [m]."""
        return 0.5 * (self.point_a + self.point_b)


@returned_by("lw.collide(a, b) returns them")
@fixed("it says where shapes meet")
@dataclass(frozen=True, eq=False)
class Contacts:
    """Points of contact, sorted by pair; arrays over all of them, or `for contact in contacts`."""

    point_a: Array  # (n, 3) [m]
    point_b: Array  # (n, 3) [m]
    normal: Array  # (n, 3) from a to b
    depth: Array  # (n,) [m]
    shapes: Any  # (n, 2) rows of the table of shapes
    features: Any  # (n, 2)
    bodies: tuple[tuple[str, str], ...]  # (n) names

    @classmethod
    def of(cls, numbers: Array, labels: Any, names: tuple[str, ...]) -> "Contacts":
        """Take rows of compiled code; `names` are those of the bodies of shapes."""
        return cls(
            numbers[:, POINT_A : POINT_A + 3],
            numbers[:, POINT_B : POINT_B + 3],
            numbers[:, NORMAL : NORMAL + 3],
            numbers[:, DEPTH],
            labels[:, :2],
            labels[:, 2:],
            tuple((names[i], names[j]) for i, j in _rows(labels)),
        )

    @property
    def point(self) -> Array:
        """Where they are: halfway between the two surfaces (n, 3) [m]."""
        return 0.5 * (self.point_a + self.point_b)

    def __len__(self) -> int:
        return len(self.depth)

    def __getitem__(self, k: int) -> ContactPoint:
        i, j = self.features[k].tolist()
        return ContactPoint(
            self.bodies[k], self.point_a[k], self.point_b[k], self.normal[k], float(self.depth[k]), (i, j)
        )

    def __iter__(self) -> Iterator[ContactPoint]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        deepest = f", deepest {self.depth.max():.3g} m" if len(self) else ""
        return f"Contacts({len(self)} points of {len(set(self.bodies))} pairs{deepest})"


def _rows(labels: Any) -> Iterator[tuple[int, int]]:
    return zip(labels[:, 0].tolist(), labels[:, 1].tolist())


@returned_by("lw.ray_cast(shapes, origin, direction) returns one")
@fixed("it says where shapes meet")
@dataclass(frozen=True, eq=False)
class Hit:
    """Where a ray first meets something; false if it meets nothing."""

    body: str | None
    point: Array  # (3,) [m]
    normal: Array  # (3,) against the ray
    distance: float  # from its origin [m]; inf if it meets nothing
    triangle: int  # of a mesh; else -1

    def __bool__(self) -> bool:
        return self.body is not None


@returned_by("lw.ray_cast(shapes, origins, directions) returns them")
@fixed("it says where shapes meet")
@dataclass(frozen=True, eq=False)
class Hits:
    """Where rays first meet something, as arrays; `hits[k]` is one of them."""

    bodies: tuple[str | None, ...]  # (n) None: nothing
    point: Array  # (n, 3) [m]
    normal: Array  # (n, 3)
    distance: Array  # (n,) inf: nothing [m]
    triangle: Any  # (n,)

    @property
    def hit(self) -> Any:
        """Which rays meet something (n,)."""
        return np.isfinite(self.distance)

    def __len__(self) -> int:
        return len(self.distance)

    def __getitem__(self, k: int) -> Hit:
        return Hit(
            self.bodies[k], self.point[k], self.normal[k], float(self.distance[k]), int(self.triangle[k])
        )
