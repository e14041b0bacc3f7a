"""Springs between points, between frames, and about joints; their laws are numbers or functions."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from linkwork.algebra.number import Number, regular, sqrt, where
from linkwork.algebra.vector import Vector, norm
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.load import Laws, Load
from linkwork.mechanism.load_options import (
    Law,
    coefficient_mistakes,
    drive_units,
    is_number,
    point,
    point_mistakes,
    response,
)
from linkwork.mechanism.load_view import BodySide, JointSide
from linkwork.mechanism.sketch import Line
from linkwork.real_numbers import real_array
from linkwork.varied import real


class Spring(Load):
    """A spring and damper from a point of one body to a point of another; the force is along their line.

    `stiffness` [N/m] or a function of the extension [m] that gives a force [N]; `damping` [N s/m] or a
    function of its rate [m/s]; `rest` length [m], that of the drawing if not given. A recording shows the
    tension.
    """

    takes = Body
    laws: ClassVar[Laws] = {"stiffness": ("extension",), "damping": ("rate",)}

    def __init__(
        self,
        name: str,
        a: Body,
        b: Body,
        *,
        on_parent: Sequence[float] | None = None,
        on_child: Sequence[float] | None = None,
        stiffness: Law = 0.0,
        damping: Law = 0.0,
        rest: float | None = None,
    ) -> None:
        super().__init__(name, a, b)
        self.on_parent, self.on_child = on_parent, on_child
        self.stiffness, self.damping, self.rest = stiffness, damping, rest

    def mistakes(self) -> list[str]:
        found = [
            mistake
            for word in ("on_parent", "on_child")
            for mistake in point_mistakes(word, getattr(self, word), self.space)
        ]
        found += coefficient_mistakes(self, "stiffness", "damping")
        if self.rest is not None and not (is_number(self.rest) and self.rest >= 0.0):
            found.append(f"rest {self.rest!r}; give a length in metres, or nothing for that of the drawing")
        return found

    def drawn(self, frames: Sequence[Any]) -> "Spring":
        if self.rest is not None:
            return self
        a, b = (frame @ point(at, len(frame.p)) for at, frame in zip(self._ends, frames, strict=True))
        made = copy.copy(self)
        made.rest = real(norm(b - a))
        return made

    @property
    def _ends(self) -> tuple[Any, Any]:
        return self.on_parent, self.on_child

    def attached(self) -> list[tuple[Body, Any]]:
        size = ALGEBRA[self.space].dimension
        bodies = [body for body in self.on if isinstance(body, Body)]
        return [(body, point(at, size)) for body, at in zip(bodies, self._ends, strict=True)]

    def sketch(self, size: float) -> list[Line]:
        return [Line(*self.attached())]

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return ("N",)

    def act(self, t: Number, a: BodySide, b: BodySide) -> Number:
        at_a, at_b = (point(at, a.algebra.dimension) for at in self._ends)
        span = b.to_world(at_b) - a.to_world(at_a)
        square = span.dot(span)
        apart = square > 0.0  # where the points meet there is no direction, and no force
        length = regular(where(apart, sqrt(where(apart, square, 1.0)), 0.0), square)
        along = span / regular(where(apart, length, 1.0), length)
        rate = along.dot(b.velocity_at(at_b) - a.velocity_at(at_a))
        damping = response(self.damping, rate)
        tension = response(self.stiffness, length - self.rest) + damping
        # a plain spring that rests at length zero has a direction everywhere
        inputs = any(isinstance(x, Input) for x in (self.rest, self.stiffness))
        plain = not inputs and self.rest == 0.0 and not callable(self.stiffness)
        pull = span * self.stiffness + along * damping if plain else along * tension
        a.push(pull, at_a)
        b.push(-pull, at_b)
        return tension


class Bushing(Load):
    """A soft weld between two bodies: springs and dampers along and about the axes of a frame on the first.

    Where: as for a joint, `at=` or `on_parent=`, `on_child=`. `stiffness` [N/m] and `damping` [N s/m] along,
    `torsion_stiffness` [N m/rad] and `torsion_damping` [N m s/rad] about the axes, each one number or one per
    axis. At rest where both frames coincide. A recording shows force and torque on the second body, in the
    frame on the first.
    """

    takes = Body

    def __init__(
        self,
        name: str,
        a: Body,
        b: Body,
        *,
        at: Any = None,
        on_parent: Any = None,
        on_child: Any = None,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        torsion_stiffness: Any = 0.0,
        torsion_damping: Any = 0.0,
    ) -> None:
        super().__init__(name, a, b)
        self._place = Fixed(name, a, b, at=at, on_parent=on_parent, on_child=on_child)
        self.stiffness, self.damping = stiffness, damping
        self.torsion_stiffness, self.torsion_damping = torsion_stiffness, torsion_damping

    _WORDS = ("stiffness", "damping", "torsion_stiffness", "torsion_damping")

    @property
    def at(self) -> Any:
        return self._place.at

    @property
    def on_parent(self) -> Any:
        return self._place.on_parent

    @property
    def on_child(self) -> Any:
        return self._place.on_child

    def settle(self, space: str) -> None:
        super().settle(space)
        self._place.space = space

    def mistakes(self) -> list[str]:
        found = self._place.mistakes()
        for k, word in enumerate(self._WORDS):
            try:
                values = self._per_axis(word, k >= 2)
            except (TypeError, ValueError):
                found.append(f"{word} {getattr(self, word)!r}; give a number, or one per axis")
                continue
            if not (np.isfinite(values).all() and (values >= 0.0).all()):
                found.append(f"{word} {getattr(self, word)!r}; give finite numbers, 0 or more")
        return found

    def _per_axis(self, word: str, torsion: bool) -> np.ndarray:
        algebra = self._place.algebra
        return np.broadcast_to(
            real_array(word, getattr(self, word)), (algebra.angular if torsion else algebra.dimension,)
        )

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        algebra = ALGEBRA[self.space]
        return ("N",) * algebra.dimension + ("N m",) * algebra.angular

    def act(self, t: Number, a: BodySide, b: BodySide) -> list[Number]:
        algebra = a.algebra
        on_a, on_b = self._place.frames()
        X_WA, X_WB = a.frame @ on_a, b.frame @ on_b
        gap = X_WA.local(X_WB.p)
        touched = a.to_local(X_WB.p)  # the point of the first body where the second's frame is
        drift = X_WA.axes.local(b.velocity_at(on_b.p) - a.velocity_at(touched))
        turned = algebra.turning(X_WA.local(X_WB))
        apart = b.frame.axes @ b.motion - a.frame.axes @ a.motion
        spin = X_WA.axes.local(apart).scalars()[: algebra.angular]
        k, c, kt, ct = (self._per_axis(word, torsion=n >= 2).tolist() for n, word in enumerate(self._WORDS))
        force = Vector(-k_i * x - c_i * r for k_i, c_i, x, r in zip(k, c, gap, drift, strict=True))
        gradient = [kt_i * x for kt_i, x in zip(kt, turned, strict=True)]
        torque = algebra.turning_torque(turned, gradient)
        torque = [torque] if algebra.angular == 1 else list(torque)
        torque = [-n - ct_i * w for n, ct_i, w in zip(torque, ct, spin, strict=True)]
        world_force = X_WA.axes @ force
        moment = X_WA.axes @ algebra.Force.from_scalars([*torque, *[0.0] * algebra.dimension])
        world_torque = list(moment.scalars()[: algebra.angular])
        b.push(world_force, on_b.p)
        b.twist(world_torque)
        a.push(-world_force, touched)
        a.twist([-n for n in world_torque])
        return [*force, *torque]


class TorsionSpring(Load):
    """A spring and damper about (or along) a joint of one coordinate, given itself, or by its two bodies.

    `stiffness` [N m/rad] or a function of the angle from `rest` [rad] that gives a torque [N m]; `damping`
    [N m s/rad] or a function of the rate [rad/s]. A recording shows the torque on the child.
    """

    laws: ClassVar[Laws] = {"stiffness": ("angle",), "damping": ("rate",)}

    def __init__(
        self,
        name: str,
        a: Body | Joint | str,
        b: Body | None = None,
        *,
        stiffness: Law = 0.0,
        damping: Law = 0.0,
        rest: float = 0.0,
    ) -> None:
        super().__init__(name, *((a,) if b is None else (a, b)))
        self.stiffness, self.damping, self.rest = stiffness, damping, rest

    def sides(self, joints: Mapping[str, Joint]) -> list[Body | Joint]:
        if len(self.on) == 2:
            between = [joint for joint in joints.values() if {joint.parent, joint.child} == set(self.on)]
            if len(between) != 1:
                raise ValueError(f"{len(between)} joints connect these bodies; name the joint itself")
            found: list[Body | Joint] = [*between]
        else:
            found = super().sides(joints)
        if not (isinstance(found[0], Joint) and found[0].nv == 1):
            raise ValueError(f"{found[0].name!r} is not a joint of one coordinate; a TorsionSpring needs one")
        return found

    def mistakes(self) -> list[str]:
        found = coefficient_mistakes(self, "stiffness", "damping")
        if not is_number(self.rest):
            found.append(f"rest {self.rest!r}; give an angle in radians")
        return found

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return drive_units(coordinates)

    def act(self, t: Number, joint: JointSide) -> Number:
        torque = -(response(self.stiffness, joint.q[0] - self.rest) + response(self.damping, joint.v[0]))
        joint.push(torque)
        return torque
