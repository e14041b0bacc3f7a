"""Constraints between points and places of bodies."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, sqrt
from linkwork.algebra.vector import Vector, dot
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.load_view import BodySide, continued
from linkwork.mechanism.option_mistakes import POSITIVE, number_mistakes
from linkwork.mechanism.placement import plain
from linkwork.mechanism.sketch import Line, guide
from linkwork.real_numbers import finite_array, real_array, shown

Point = Sequence[float]


class PointConstraint(Constraint):
    """A constraint between a place on `parent` and a point of `child`, their origins if not given."""

    takes = Body

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        on_parent: Point | None = None,
        on_child: Point | None = None,
    ) -> None:
        super().__init__(name, parent, child)
        self.on_parent, self.on_child = on_parent, on_child

    @property
    def points(self) -> tuple[Vector, Vector]:
        """The points, as numbers."""
        zero = (0.0,) * self.algebra.dimension
        on_parent, on_child = (zero if on is None else on for on in (self.on_parent, self.on_child))
        return self.vector(on_parent), self.vector(on_child)

    def vector(self, numbers: Any) -> Vector:
        return Vector(_number(x) for x in numbers)

    def vector_mistakes(self, word: str, direction: bool = False) -> list[str]:
        """List what is wrong with a point or direction given by this option."""
        said = getattr(self, word)
        if said is None:
            return []
        try:
            vector = real_array(word, said)
        except ValueError:
            return [f"{word} {said!r} is not a vector; give {self.algebra.dimension} numbers"]
        if vector.shape != (self.algebra.dimension,) or not np.isfinite(vector).all():
            return [f"{word} {said!r}; give {self.algebra.dimension} finite numbers"]
        if direction and not vector.any():
            return [f"{word} {plain(vector)} has no direction; give a vector that is not zero"]
        return []

    def mistakes(self) -> list[str]:
        return [*self.vector_mistakes("on_parent"), *self.vector_mistakes("on_child")]

    def attached(self) -> list[tuple[Body, Any]]:
        return list(zip(self.ends, self.points, strict=True))

    @property
    def ends(self) -> tuple[Body, Body]:
        """The two bodies."""
        a, b = self.sides()
        assert isinstance(a, Body)
        assert isinstance(b, Body)
        return a, b

    def child_in_parent(self, parent: BodySide, child: BodySide) -> Vector:
        """Return where the child's point is, seen from the place on the parent, in the parent's axes."""
        on_parent, on_child = self.points
        return parent.to_local(child.to_world(on_child)) - on_parent


class Distance(PointConstraint):
    """Keep two points at a distance, as drawn if no `length` is given [m]: a massless rod with balls."""

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        length: float | None = None,
        *,
        on_parent: Point | None = None,
        on_child: Point | None = None,
    ) -> None:
        super().__init__(name, parent, child, on_parent=on_parent, on_child=on_child)
        self.length = length

    def mistakes(self) -> list[str]:
        found = [*super().mistakes(), *number_mistakes(self, "length", optional=True)]
        if found:
            return found
        length = self.rest_length
        if not (isfinite(length) and length > 0.0):
            return [f"length {length:.6g}; give one above 0, or a Spherical joint (in the plane a Revolute)"]
        return []

    @property
    def rest_length(self) -> Any:
        """The length, as drawn if none was given [m]."""
        if self.length is not None:
            return _number(self.length)
        a, b = (
            body.rotation @ np.array(point) + body.position
            for body, point in zip(self.bodies, self.points, strict=True)
        )
        return float(np.linalg.norm(a - b))

    def sketch(self, size: float) -> list[Line]:
        return [Line(*self.attached())]

    def phi(self, parent: Any, child: Any) -> list[Number]:
        """Half the difference of squares, over the length: metres near zero, and smooth everywhere."""
        on_parent, on_child = self.points
        d = child.to_world(on_child) - parent.to_world(on_parent)
        return [(dot(d, d) - self.rest_length**2) / (2.0 * self.rest_length)]


class PointOnLine(PointConstraint):
    """Keep a point of `child` on a line of `parent`: through `on_parent`, along `axis` (x if not given)."""

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        axis: Sequence[float] | None = None,
        on_parent: Point | None = None,
        on_child: Point | None = None,
    ) -> None:
        super().__init__(name, parent, child, on_parent=on_parent, on_child=on_child)
        self.axis = axis

    def mistakes(self) -> list[str]:
        return [*super().mistakes(), *self.vector_mistakes("axis", direction=True)]

    def sketch(self, size: float) -> list[Line]:
        axis = (1.0, 0.0, 0.0) if self.axis is None else self.axis
        return [guide(self.ends[0], self.points[0], axis, size)]

    def phi(self, parent: Any, child: Any) -> list[Number]:
        there = self.child_in_parent(parent, child)
        axis = (1.0, 0.0, 0.0)[: len(there)] if self.axis is None else self.axis
        return [there.dot(across) for across in _across(axis)]


class PointOnPlane(PointConstraint):
    """Keep a point of `child` on a plane of `parent`: through `on_parent`, square to `normal`.

    The normal is the last axis if not given. In the plane this is a line.
    """

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        normal: Sequence[float] | None = None,
        on_parent: Point | None = None,
        on_child: Point | None = None,
    ) -> None:
        super().__init__(name, parent, child, on_parent=on_parent, on_child=on_child)
        self.normal = normal

    def mistakes(self) -> list[str]:
        return [*super().mistakes(), *self.vector_mistakes("normal", direction=True)]

    def sketch(self, size: float) -> list[Line]:
        normal = (0.0, 0.0, 1.0)[-self.algebra.dimension :] if self.normal is None else self.normal
        return [guide(self.ends[0], self.points[0], along, size) for along in _across(normal)]

    def phi(self, parent: Any, child: Any) -> list[Number]:
        there = self.child_in_parent(parent, child)
        normal = (0.0, 0.0, 1.0)[-len(there) :] if self.normal is None else self.normal
        return [there.dot(self.vector(np.array(normal, float) / np.linalg.norm(normal)))]


class Pulley(PointConstraint):
    """A rope from a point of `parent` over fixed points `over` to a point of `child`, always taut.

    The piece at the parent plus `ratio` times that at the child keeps its `length`, as drawn if not given.
    """

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        over: Sequence[Point],
        ratio: float = 1.0,
        length: float | None = None,
        on_parent: Point | None = None,
        on_child: Point | None = None,
    ) -> None:
        super().__init__(name, parent, child, on_parent=on_parent, on_child=on_child)
        self.over, self.ratio, self.length = over, ratio, length

    def mistakes(self) -> list[str]:
        found = super().mistakes()
        size = (2, self.algebra.dimension)
        try:
            fits = finite_array("over", self.over).shape == size
        except ValueError:
            fits = False
        if not fits:
            found.append(f"over {self.over!r}; give two places of the world, {size[1]} finite numbers each")
        found += number_mistakes(self, "ratio", wanted=POSITIVE)
        return found + number_mistakes(self, "length", wanted=POSITIVE, optional=True)

    def sketch(self, size: float) -> list[Line]:
        first, last = self.attached()
        return [Line(first, ("ground", self.over), last)]

    def _pieces(self, a: Sequence[Number], b: Sequence[Number]) -> Number:
        total: Number = 0.0
        for point, fixed, share in ((a, self.over[0], 1.0), (b, self.over[1], self.ratio)):
            d = Vector(point) - self.vector(fixed)
            total = total + share * sqrt(dot(d, d))
        return total

    @property
    def rest_length(self) -> Any:
        """The length, as drawn if none was given [m]."""
        if self.length is not None:
            return _number(self.length)
        a, b = (
            body.rotation @ np.array(point) + body.position
            for body, point in zip(self.bodies, self.points, strict=True)
        )
        return float(self._pieces(a.tolist(), b.tolist()))

    def phi(self, parent: Any, child: Any) -> list[Number]:
        on_parent, on_child = self.points
        return [self._pieces(parent.to_world(on_parent), child.to_world(on_child)) - self.rest_length]


class Absolute(Constraint):
    """Hold coordinates of a body: `x`, `y`, `z`, in the plane `angle`; or its whole `pose`, as drawn if none.

    A pose is a Frame, or (x, y, angle), or place and quaternion. What changes with time is a Driver's.
    """

    takes = Body

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        angle: float | None = None,
        pose: Any = None,
    ) -> None:
        super().__init__(name, body)
        self.x, self.y, self.z, self.angle, self.pose = x, y, z, angle, pose

    @property
    def held(self) -> dict[str, float]:
        """What is held, by the word of the coordinate."""
        words = {"x": self.x, "y": self.y, "z": self.z, "angle": self.angle}
        return {word: float(value) for word, value in words.items() if value is not None}

    def mistakes(self) -> list[str]:
        known = ("x", "y", "angle") if self.space == "plane" else ("x", "y", "z")
        found = number_mistakes(self, "x", "y", "z", "angle", optional=True)
        if found:
            return found
        found = [f"{word}= cannot be held in the {self.space}" for word in self.held if word not in known]
        if self.pose is not None and not isinstance(self.pose, self.algebra.Frame):
            count = self.algebra.coordinates
            try:
                fits = finite_array("pose", self.pose).shape == (count,)
            except ValueError:
                fits = False
            if not fits:
                found.append(f"pose {shown(self.pose)}; give a Frame, or {count} finite numbers")
        if self.pose is not None and self.held:
            found.append("pose= and single coordinates exclude each other; give one")
        return found

    def phi(self, body: Any) -> list[Number]:
        if self.held:
            place = dict(zip("xyz", body.position, strict=False))
            rows = [place[word] - value for word, value in self.held.items() if word != "angle"]
            if "angle" in self.held:
                rows.append(continued(body.angle, self.held["angle"]) - self.held["angle"])
            return rows
        pose = self.drawn_poses()[0].tolist() if self.pose is None else self.pose
        X = pose if isinstance(pose, self.algebra.Frame) else self.algebra.pose([float(x) for x in pose])
        E = X.local(body.frame)
        return [*E.p, *self.algebra.skewness(E)]


def _number(x: Any) -> Any:
    """Return a plain float of a plain number, and any other number as it is."""
    return float(x) if isinstance(x, int | float | np.generic) else x


def _across(axis: Sequence[float]) -> list[list[float]]:
    """Return unit vectors square to an axis, and to each other."""
    a = np.array(axis, float) / np.linalg.norm(axis)
    if a.size == 2:
        return [[float(-a[1]), float(a[0])]]
    least = np.eye(3)[np.abs(a).argmin()]
    first = np.cross(a, least) / np.linalg.norm(np.cross(a, least))
    return [first.tolist(), np.cross(a, first).tolist()]
