"""The catalogue of joints. Each class says where the child is; what else is needed is derived.

Axes are those of the joint frame, in which `axis=` is z (x for a slide in the plane). Coordinates, motion
subspaces and the directions left to constraints are those of Roberson and Schwertassek, Dynamics of Multibody
Systems, 1988: Phi is `subspace`, its complement the constraint directions.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from linkwork.algebra import rotation, spatial
from linkwork.algebra.number import Number, atan2, cos, floor, is_zero, sin
from linkwork.algebra.spatial import Frame, Motion
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint, JointOptions
from linkwork.mechanism.joint_mark import Mark
from linkwork.mechanism.placement import plain, unit
from linkwork.real_numbers import is_finite

_SPACE = frozenset({"space"})
_SQUARE = 1e-9  # the cosine between the axes of a Universal joint


class Fixed(Joint):
    """No freedom: the bodies are welded."""

    marks = (Mark("box", 1.6, 1.6, through=True),)
    coordinates = 0
    directed = False

    def motion(self, q: Sequence[Number]) -> Any:
        return self.algebra.Frame()

    def locate(self, X: Any) -> Sequence[Number]:
        return []

    def gap(self, X: Any) -> Sequence[Number]:
        return [*X.p, *self.algebra.skewness(X)]


class Revolute(Joint):
    """A hinge: q = angle about the axis [rad]."""

    marks = (Mark("cylinder", 1.0, 3.2, through=True),)
    axis_is_normal = True

    def motion(self, q: Sequence[Number]) -> Any:
        return self.algebra.turn(q[0])

    def locate(self, X: Any) -> Sequence[Number]:
        return [self.algebra.turn_angle(X)]

    def gap(self, X: Any) -> Sequence[Number]:
        return [*X.p, *self.algebra.tilt(X)]


class Prismatic(Joint):
    """A slider: q = displacement along the axis [m]."""

    marks = (Mark("box", 0.7, rail=True, on_child=False),)

    @property
    def shown_axes(self) -> tuple[str, ...]:
        return ("x",) if self.space == "plane" else ("z",)

    def motion(self, q: Sequence[Number]) -> Any:
        return self.algebra.slide(q[0])

    def locate(self, X: Any) -> Sequence[Number]:
        return [X.p[2] if self.algebra is spatial else X.p[0]]

    def gap(self, X: Any) -> Sequence[Number]:
        across = X.p[:2] if self.algebra is spatial else X.p[1:]
        return [*across, *self.algebra.skewness(X)]


class Helical(Joint):
    """A screw: q = angle about the axis [rad]; `pitch` is the advance per turn [m]."""

    marks = (Mark("cylinder", 0.5, rail=True, on_child=False), Mark("cylinder", 1.1, 3.0))
    spaces = _SPACE
    parameters = ("pitch",)

    def __init__(
        self, name: str, parent: Body, child: Body, *, pitch: float, **options: Unpack[JointOptions]
    ) -> None:
        super().__init__(name, parent, child, **options)
        self.pitch = pitch

    def mistakes(self) -> list[str]:
        found = super().mistakes()
        if not is_finite(self.pitch):
            found.append(f"pitch {self.pitch!r}; give a number, the advance per turn in metres")
        return found

    def motion(self, q: Sequence[Number]) -> Any:
        return spatial.slide(self.pitch / (2 * np.pi) * q[0]) @ spatial.turn(q[0])

    def locate(self, X: Any) -> Sequence[Number]:
        """Return the angle: that of the turn, with the whole turns that follow from the advance."""
        angle = spatial.turn_angle(X)
        if is_zero(self.pitch):
            return [angle]
        turns = X.p[2] / self.pitch - angle / (2 * np.pi)
        return [angle + 2 * np.pi * floor(turns + 0.5)]

    def gap(self, X: Any) -> Sequence[Number]:
        return [X.p[0], X.p[1], X.p[2] - self.pitch / (2 * np.pi) * self.locate(X)[0], *spatial.tilt(X)]


class Cylindrical(Joint):
    """A shaft free to turn and slide: q = (angle [rad], displacement [m]) about and along the axis."""

    marks = (Mark("cylinder", 0.5, rail=True, on_child=False), Mark("cylinder", 1.1, 3.0))
    coordinates = 2
    spaces = _SPACE

    def motion(self, q: Sequence[Number]) -> Any:
        return spatial.slide(q[1]) @ spatial.turn(q[0])

    def locate(self, X: Any) -> Sequence[Number]:
        return [spatial.turn_angle(X), X.p[2]]

    def gap(self, X: Any) -> Sequence[Number]:
        return [X.p[0], X.p[1], *spatial.tilt(X)]


class Universal(Joint):
    """A Cardan joint: q = angles [rad] about `axis`, fixed in the parent, and `axis2`, fixed in the child.

    The axes are square to each other; without them they are x and y of the joint frame.
    """

    marks = (
        Mark("cylinder", 0.5, 3.2, axis="x", through=True),
        Mark("cylinder", 0.5, 3.2, axis="y", through=True),
    )

    @property
    def shown_axes(self) -> tuple[str, ...]:
        return "x", "y"

    coordinates = 2
    spaces = _SPACE

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        axis2: Sequence[float] | None = None,
        **options: Unpack[JointOptions],
    ) -> None:
        super().__init__(name, parent, child, **options)
        self.axis2 = axis2

    def mistakes(self) -> list[str]:
        found = [*super().mistakes(), *self.axis_mistakes("axis2")]
        if (self.axis is None) != (self.axis2 is None):
            found.append("a Universal joint takes axis= and axis2= together, or neither; give both")
        elif self.axis is not None and not self.axis_mistakes("axis") and not self.axis_mistakes("axis2"):
            a, b = (np.asarray(axis, dtype=np.float64) for axis in (self.axis, self.axis2))
            if abs(unit(a) @ unit(b)) > _SQUARE:
                found.append(f"axis {plain(a)} and axis2 {plain(b)} are not square to each other; turn one")
        return found

    def alignment(self) -> Any:
        if self.axis is None or self.axis2 is None:
            return Frame()
        x, y = (unit(np.asarray(a, float)) for a in (self.axis, self.axis2))
        return Frame(rotation=np.column_stack([x, y, np.cross(x, y)]).tolist())

    def motion(self, q: Sequence[Number]) -> Any:
        return spatial.rotation_x(q[0]) @ spatial.rotation_y(q[1])

    def locate(self, X: Any) -> Sequence[Number]:
        return [atan2(X.R[2][1], X.R[1][1]), atan2(X.R[0][2], X.R[0][0])]

    def gap(self, X: Any) -> Sequence[Number]:
        return [*X.p, X.R[0][1]]

    def subspace(self, q: Sequence[Number]) -> list[Any]:
        return [Motion((cos(q[1]), 0.0, sin(q[1])), (0.0,) * 3), Motion((0.0, 1.0, 0.0), (0.0,) * 3)]


class Spherical(Joint):
    """A ball: q = quaternion (w, x, y, z), v = angular velocity in the child's joint frame [rad/s]."""

    marks = (Mark("ball", 1.5),)
    coordinates = 3
    positions = 4
    quaternion = 0
    spaces = _SPACE
    directed = False

    def motion(self, q: Sequence[Number]) -> Any:
        return Frame.of(rotation.from_quaternion(q), (0.0, 0.0, 0.0))

    def locate(self, X: Any) -> Sequence[Number]:
        return rotation.to_quaternion(X.R)

    def gap(self, X: Any) -> Sequence[Number]:
        return X.p

    def rates(self, q: Sequence[Number], v: Sequence[Number]) -> Sequence[Number]:
        return rotation.quaternion_rates(q, v)

    def subspace(self, q: Sequence[Number]) -> list[Any]:
        return spatial.units()[:3]

    def displacement(self, q: Sequence[Number]) -> Sequence[Number]:
        """Return axis times angle of the turn, as seen from the parent (and from the child)."""
        return rotation.to_rotation_vector(q)

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0]


class Planar(Joint):
    """A plate on a plane square to the axis: q = (x, y [m], angle [rad])."""

    marks = (Mark("box", 5.0, 0.3),)
    coordinates = 3
    axis_is_normal = True

    def motion(self, q: Sequence[Number]) -> Any:
        place = (q[0], q[1], 0.0)[: self.algebra.dimension]
        return self.algebra.translation(*place) @ self.algebra.turn(q[2])

    def locate(self, X: Any) -> Sequence[Number]:
        return [X.p[0], X.p[1], self.algebra.turn_angle(X)]

    def gap(self, X: Any) -> Sequence[Number]:
        return [*X.p[2:], *self.algebra.tilt(X)]


class Free(Joint):
    """No constraint: q = place and quaternion (x, y, z, w, x, y, z), v = motion in the child's frame.

    In the plane q = (x, y, angle), v = (angular, vx, vy).
    """

    marks = ()
    directed = False

    @property
    def coordinates(self) -> int:  # type: ignore[override]
        return self.algebra.freedoms

    @property
    def positions(self) -> int:  # type: ignore[override]
        return 7 if self.algebra is spatial else 3

    @property
    def quaternion(self) -> int | None:  # type: ignore[override]
        return 3 if self.algebra is spatial else None

    def motion(self, q: Sequence[Number]) -> Any:
        if self.algebra is spatial:
            return Frame.of(rotation.from_quaternion(q[3:]), q[:3])
        return self.algebra.translation(q[0], q[1]) @ self.algebra.turn(q[2])

    def locate(self, X: Any) -> Sequence[Number]:
        return [*X.p, *(rotation.to_quaternion(X.R) if self.algebra is spatial else [X.angle])]

    def gap(self, X: Any) -> Sequence[Number]:
        return []

    def rates(self, q: Sequence[Number], v: Sequence[Number]) -> Sequence[Number]:
        m = self.algebra.Motion.from_scalars(v)
        if self.algebra is spatial:
            return (*rotation.from_quaternion(q[3:]).times(m.v), *rotation.quaternion_rates(q[3:], m.w))
        return (*self.algebra.turn(q[2]).turned(m.v), m.w)

    def subspace(self, q: Sequence[Number]) -> list[Any]:
        return self.algebra.units()

    def displacement(self, q: Sequence[Number]) -> Sequence[Number]:
        """Return the turn, as axis times angle, then the place, both as seen from the parent."""
        if self.algebra is spatial:
            return [*rotation.to_rotation_vector(q[3:]), *q[:3]]
        return [q[2], q[0], q[1]]

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] if self.algebra is spatial else [0.0] * 3

    def frames(self) -> tuple[Any, Any]:
        """Return the frames; by default those of the bodies: q is then the pose of the child."""
        return super().frames() if self._has_place else (self.algebra.Frame(), self.algebra.Frame())

    @property
    def _has_place(self) -> bool:
        return not (self.at is None and self.on_parent is None and self.on_child is None)

    def drawn(self) -> list[float]:
        parent, child = self._drawn(self.parent), self._drawn(self.child)
        if self._has_place:
            X_PJ, X_CJ = self.frames()
            parent, child = parent @ X_PJ, child @ X_CJ
        X = parent.local(child)
        if self.algebra is spatial:
            return [*map(float, X.p), *map(float, rotation.to_quaternion(X.R))]
        return [*map(float, X.p), float(X.angle)]


CATALOGUE: tuple[type[Joint], ...] = (
    Fixed,
    Revolute,
    Prismatic,
    Helical,
    Cylindrical,
    Universal,
    Spherical,
    Planar,
    Free,
)
