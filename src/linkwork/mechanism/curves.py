"""Constraints along curves: where on the curve is an unknown of its own, found with the poses.

In motion it is a number of q behind those of all joints, see `tree/own_unknowns.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from linkwork.algebra.number import Number
from linkwork.algebra.vector import Vector, dot
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint_constraint import rate
from linkwork.mechanism.load import Laws
from linkwork.mechanism.load_view import BodySide
from linkwork.mechanism.option_mistakes import NOT_NEGATIVE, number_mistakes
from linkwork.mechanism.points import Point, PointConstraint
from linkwork.mechanism.sketch import Line, circle, curve, guide
from linkwork.real_numbers import finite_array

Curve = Callable[[Any], Sequence[Any]]
_SAMPLES = 200  # of a curve, to begin at the nearest


class PointOnCurve(PointConstraint):
    """Keep a point of `child` on a curve of `parent`: curve(s), a point in axes of the parent.

    `interval` is where s is looked for at first; the curve may go on beyond.
    """

    unknowns = 1
    laws: ClassVar[Laws] = {"curve": ("s",)}

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        curve: Curve,
        *,
        interval: tuple[float, float] = (0.0, 1.0),
        on_parent: Point | None = None,
        on_child: Point | None = None,
    ) -> None:
        super().__init__(name, parent, child, on_parent=on_parent, on_child=on_child)
        self.curve, self.interval = curve, interval

    def mistakes(self) -> list[str]:
        return [*super().mistakes(), *curve_mistakes(self.curve, self.interval, self.algebra.dimension)]

    def sketch(self, size: float) -> list[Line]:
        return [curve(self.ends[0], self.points[0], self.curve, self.interval)]

    def guess(self, parent: Any, child: Any) -> list[float]:
        there = np.array(self.child_in_parent(parent, child), float)
        return [_nearest(self.curve, self.interval, lambda p: float(np.linalg.norm(p - there)))]

    def phi(self, parent: Any, child: Any, s: Number) -> list[Number]:
        return [*(self.child_in_parent(parent, child) - Vector(self.curve(s)))]


class Cam(PointConstraint):
    """Keep a follower in contact with a cam: its roller of some `radius` [m], its edge, or its flat face.

    `profile(s)` is the outline of the cam, a point (x, y) in its axes; `interval` goes once round it. The
    roller's centre, the edge (radius 0) or a point of the face is `on_child`, a point of the follower; `face`
    is the face's normal, in axes of the follower, towards the cam. A roller stays on the side it is drawn on.
    """

    unknowns = 1
    laws: ClassVar[Laws] = {"profile": ("s",)}
    law_sizes: ClassVar[Mapping[str, int]] = {"profile": 2}

    def __init__(
        self,
        name: str,
        cam: Body,
        follower: Body,
        profile: Curve,
        *,
        radius: float = 0.0,
        face: Sequence[float] | None = None,
        interval: tuple[float, float] = (0.0, 2 * np.pi),
        on_parent: Point | None = None,
        on_child: Point | None = None,
    ) -> None:
        super().__init__(name, cam, follower, on_parent=on_parent, on_child=on_child)
        self.profile, self.radius, self.face, self.interval = profile, radius, face, interval

    def mistakes(self) -> list[str]:
        found = [*super().mistakes(), *self.vector_mistakes("face", direction=True)]
        found += curve_mistakes(self.profile, self.interval, 2, "profile")
        found += number_mistakes(self, "radius", wanted=NOT_NEGATIVE)
        if self.face is not None and self.radius:
            found.append("radius= and face= exclude each other: a follower has a roller or a flat face")
        return found

    def sketch(self, size: float) -> list[Line]:
        (cam, follower), (on_cam, on_follower) = self.ends, self.points
        lines = [curve(cam, on_cam, self.profile, self.interval)]
        if self.radius:
            lines.append(circle(follower, float(self.radius), on_follower))
        if self.face is not None:
            x, y, *_ = self.face
            lines.append(guide(follower, on_follower, (-y, x), 0.5 * size))
        return lines

    def _flat(self, cam: BodySide, follower: BodySide) -> tuple[Vector, Vector]:
        """Return, in the cam's axes, the follower's point and its normal."""
        at, normal = self.child_in_parent(cam, follower), Vector((0.0, 0.0))
        if self.face is not None:
            n = self.vector(np.array(self.face, float) / np.linalg.norm(self.face))
            normal = cam.frame.axes.local(follower.frame.axes @ n)
        return Vector(at[:2]), Vector(normal[:2])

    def guess(self, cam: Any, follower: Any) -> list[float]:
        at, normal = (np.array(x, float) for x in self._flat(cam, follower))
        if self.face is None:
            return [_nearest(self.profile, self.interval, lambda p: float(np.linalg.norm(p - at)))]
        return [_nearest(self.profile, self.interval, lambda p: float((p - at) @ normal))]

    def phi(self, cam: Any, follower: Any, s: Number) -> list[Number]:
        at, normal = self._flat(cam, follower)
        there = at - Vector(self.profile(s))
        if self.face is not None:
            return [there.dot(normal), normal.dot(self.tangent(s))]
        if self.radius == 0.0:
            return list(there)
        square = dot(there, there) - self.radius**2
        return [square / (2.0 * self.radius), there.dot(self.tangent(s))]

    def tangent(self, s: Number) -> list[Number]:
        """Return how the outline goes on from s."""
        return rate(self.profile, s)


def _nearest(curve: Curve, interval: tuple[float, float], measure: Callable[[np.ndarray], float]) -> float:
    """Return the parameter of the sample of a curve at which a measure is least."""
    places = np.linspace(*interval, _SAMPLES, endpoint=False).tolist()
    return min(places, key=lambda s: measure(np.array(curve(s), float)))


def curve_mistakes(curve: Any, interval: Any, size: int, word: str = "curve") -> list[str]:
    """List what is wrong with a curve, in words."""
    if not callable(curve):
        return [f"{word} {curve!r} is not a function; give one of the parameter, that returns {size} numbers"]
    try:
        first, last = finite_array("interval", interval)
        fits = bool(first < last)
    except (TypeError, ValueError):
        first, last, fits = 0.0, 0.0, False
    if not fits:
        return [f"interval {interval!r}; give (first, last), two finite numbers, the first below the last"]
    try:
        point = curve(float(0.5 * (first + last)))
    except Exception as error:  # of the user's own curve
        return [f"the {word} raised {type(error).__name__}: {error}"]
    try:
        fits = finite_array(word, point).shape == (size,)
    except ValueError:
        fits = False
    return [] if fits else [f"the {word} gives {point!r} at its middle; return {size} finite numbers"]
