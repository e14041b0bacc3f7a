"""The catalogue of loads: forces, springs and motors, by laws that are numbers or plain functions."""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, sqrt, where
from linkwork.algebra.vector import Vector, norm
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide, JointSide, SystemSide
from linkwork.mechanism.placement import place_mistake, plain
from linkwork.mechanism.sketch import Line

Law = Any  # a number, a vector, or a function


class Wrench(Load):
    """Push and twist a body: `law` gives torque and force, torque first, or is a function law(body, t).

    That is 6 numbers, 3 in the plane. `at` is a point of the body, its origin if not given; `frame` says
    whether the numbers are in axes of the "world" or of the "body".
    """

    takes = Body

    def __init__(
        self, name: str, body: Body, law: Law, *, at: Sequence[float] | None = None, frame: str = "world"
    ) -> None:
        super().__init__(name, body)
        self.law, self.at, self.frame = law, at, frame

    def _units(self) -> tuple[str, ...]:
        algebra = ALGEBRA[self.space]
        return ("N m",) * algebra.angular + ("N",) * algebra.dimension

    def mistakes(self) -> list[str]:
        return [
            *_frame_mistakes(self.frame),
            *_point_mistakes("at", self.at, self.space),
            *_law_mistakes(self.law, len(self._units())),
        ]

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return self._units()

    def act(self, t: Number, body: BodySide) -> Any:
        wrench = list(_value(self.law, body, t))
        turning = body.algebra.angular
        body.twist(wrench[:turning], self.frame)
        body.push(wrench[turning:], _point(self.at, body.algebra.dimension), self.frame)
        return wrench


class Force(Wrench):
    """Push a body at a point: `law` is a force [N] or a function law(body, t) that returns one.

    `at` and `frame` are those of a Wrench.
    """

    def _units(self) -> tuple[str, ...]:
        return ("N",) * ALGEBRA[self.space].dimension

    def act(self, t: Number, body: BodySide) -> Any:
        force = _value(self.law, body, t)
        body.push(force, _point(self.at, body.algebra.dimension), self.frame)
        return force


class Torque(Wrench):
    """Twist a body: `law` is a torque [N m] (a number in the plane) or a function law(body, t)."""

    def __init__(self, name: str, body: Body, law: Law, *, frame: str = "world") -> None:
        super().__init__(name, body, law, frame=frame)

    def _units(self) -> tuple[str, ...]:
        return ("N m",) * ALGEBRA[self.space].angular

    def act(self, t: Number, body: BodySide) -> Any:
        torque = _value(self.law, body, t)
        body.twist(torque, self.frame)
        return torque


class Spring(Load):
    """A spring and damper from a point of one body to a point of another; the force is along their line.

    `stiffness` [N/m] or a function of the extension [m] that gives a force [N]; `damping` [N s/m] or a
    function of its rate [m/s]; `rest` length [m], that of the drawing if not given. A recording shows the
    tension.
    """

    takes = Body

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
            for mistake in _point_mistakes(word, getattr(self, word), self.space)
        ]
        found += _coefficient_mistakes(self, "stiffness", "damping")
        if self.rest is not None and not _plain_number(self.rest):
            found.append(f"rest {self.rest!r}; give a length in metres, or nothing for that of the drawing")
        return found

    def drawn(self, frames: Sequence[Any]) -> "Spring":
        if self.rest is not None:
            return self
        a, b = (frame @ _point(at, len(frame.p)) for at, frame in zip(self._ends, frames, strict=True))
        made = copy.copy(self)
        made.rest = float(norm(b - a))
        return made

    @property
    def _ends(self) -> tuple[Any, Any]:
        return self.on_parent, self.on_child

    def attached(self) -> list[tuple[Body, Any]]:
        size = ALGEBRA[self.space].dimension
        bodies = [body for body in self.on if isinstance(body, Body)]
        return [(body, _point(at, size)) for body, at in zip(bodies, self._ends, strict=True)]

    def sketch(self, size: float) -> list[Line]:
        return [Line(*self.attached())]

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return ("N",)

    def act(self, t: Number, a: BodySide, b: BodySide) -> Number:
        at_a, at_b = (_point(at, a.algebra.dimension) for at in self._ends)
        span = b.to_world(at_b) - a.to_world(at_a)
        square = span.dot(span)
        apart = square > 0.0  # where the points meet there is no direction, and no force
        length = where(apart, sqrt(where(apart, square, 1.0)), 0.0)
        along = span / where(apart, length, 1.0)
        rate = along.dot(b.velocity_at(at_b) - a.velocity_at(at_a))
        damping = _response(self.damping, rate)
        tension = _response(self.stiffness, length - self.rest) + damping
        # a plain spring that rests at length zero has a direction everywhere
        plain = self.rest == 0.0 and not callable(self.stiffness)
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
            np.asarray(getattr(self, word), float), (algebra.angular if torsion else algebra.dimension,)
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


class Motor(Load):
    """Drive a joint: `law` is a generalised force [N m, N] or a function law(t, q, v) of its coordinates.

    q and v are numbers if the joint has one coordinate, else arrays.
    """

    takes = Joint

    def __init__(self, name: str, joint: Joint | str, law: Law) -> None:
        super().__init__(name, joint)
        self.law = law

    def sides(self, joints: Mapping[str, Joint]) -> list[Body | Joint]:
        (joint,) = super().sides(joints)
        assert isinstance(joint, Joint)
        if not callable(self.law) and np.size(self.law) != joint.nv:
            raise ValueError(f"law {self.law!r}; joint {joint.name!r} takes {joint.nv} numbers")
        return [joint]

    def mistakes(self) -> list[str]:
        return _law_mistakes(self.law, None)

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return _drive_units(coordinates)

    def act(self, t: Number, joint: JointSide) -> Any:
        force = _value(self.law, t, joint.position, joint.velocity)
        joint.push(force)
        return force


class TorsionSpring(Load):
    """A spring and damper about (or along) a joint of one coordinate, given itself, or by its two bodies.

    `stiffness` [N m/rad] or a function of the angle from `rest` [rad] that gives a torque [N m]; `damping`
    [N m s/rad] or a function of the rate [rad/s]. A recording shows the torque on the child.
    """

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
            raise ValueError(f"{found[0].name!r} is no joint of one coordinate; a TorsionSpring needs one")
        return found

    def mistakes(self) -> list[str]:
        found = _coefficient_mistakes(self, "stiffness", "damping")
        if not _plain_number(self.rest):
            found.append(f"rest {self.rest!r}; give an angle in radians")
        return found

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return _drive_units(coordinates)

    def act(self, t: Number, joint: JointSide) -> Number:
        torque = -(_response(self.stiffness, joint.q[0] - self.rest) + _response(self.damping, joint.v[0]))
        joint.push(torque)
        return torque


class Feedback(Load):
    """Drive joints by a law u(t, q, v) of all coordinates of the mechanism.

    q and v are arrays in the order of the model that also know the joints by name: q["pin"]. The law returns
    one number per velocity of the joints it drives, in their order.
    """

    whole = True
    takes = Joint

    def __init__(
        self, name: str, joints: Joint | str | Iterable[Joint | str], law: Callable[..., Any]
    ) -> None:
        several = [joints] if isinstance(joints, Joint | str | Body) else list(joints)
        super().__init__(name, *several)
        self.law = law

    def mistakes(self) -> list[str]:
        return [] if callable(self.law) else [f"law {self.law!r}; give a function law(t, q, v)"]

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return _drive_units(coordinates)

    def act(self, t: Number, system: SystemSide, *joints: JointSide) -> Any:
        forces = _value(self.law, t, system.q, system.v)
        items = list(forces) if isinstance(forces, list | tuple) or np.ndim(forces) else [forces]
        wanted = sum(len(joint.v) for joint in joints)
        if len(items) != wanted:
            raise ValueError(f"{len(items)} numbers where the driven joints have {wanted}")
        for joint in joints:
            joint.push(items[: len(joint.v)])
            items = items[len(joint.v) :]
        return forces


def _value(law: Law, *arguments: Any) -> Any:
    return law(*arguments) if callable(law) else law


def _drive_units(coordinates: Sequence[str]) -> tuple[str, ...]:
    return tuple("N m" if unit == "rad" else "N" for unit in coordinates)


def _point(point: Any, size: int) -> Vector:
    """Return a point of a body, its origin if not given; in the plane a third number, 0, is dropped."""
    return Vector([0.0] * size if point is None else [float(x) for x in point][:size])


def _response(law: Law, x: Number) -> Number:
    """Return the force of a spring or damper at an extension or rate."""
    return law(x) if callable(law) else law * x


# what may be wrong


def _plain_number(x: Any) -> bool:
    return isinstance(x, int | float | np.number) and not isinstance(x, bool) and bool(np.isfinite(x))


def _frame_mistakes(frame: str) -> list[str]:
    return [] if frame in ("world", "body") else [f'frame {frame!r}; give "world" or "body"']


def _point_mistakes(word: str, point: Any, space: str) -> list[str]:
    algebra = ALGEBRA[space]
    if point is None:
        return []
    if isinstance(point, algebra.Frame):
        return [f"{word} {point!r} is no point; give {algebra.dimension} numbers"]
    mistake = place_mistake(point, algebra)
    return [f"{word} {mistake}"] if mistake else []


def _law_mistakes(law: Law, count: int | None) -> list[str]:
    if callable(law):
        return []
    try:
        if np.asarray(law).dtype.kind in "US":
            raise TypeError("a text")
        values = np.asarray(law, float)
    except (TypeError, ValueError):
        return [f"law {law!r}; give a function, or numbers"]
    if not np.isfinite(values).all():
        return [f"law {law!r} is not finite"]
    if values.ndim > 1 or (count is not None and values.size != count):
        return [f"law {plain(values)}; give {count or 'plain'} numbers, or a function that does"]
    return []


def _coefficient_mistakes(load: Load, *words: str) -> list[str]:
    found = []
    for word in words:
        value = getattr(load, word)
        if not callable(value) and not (_plain_number(value) and value >= 0.0):
            found.append(f"{word} {value!r}; give a finite number, 0 or more, or a function")
    return found
