"""Loads on bodies and joints, by laws that are numbers or functions: forces, torques, motors, feedback."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from linkwork.algebra.number import Number
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.load import Laws, Load
from linkwork.mechanism.load_options import (
    Law,
    drive_units,
    frame_mistakes,
    law_mistakes,
    law_value,
    point,
    point_mistakes,
)
from linkwork.mechanism.load_view import BodySide, JointSide, SystemSide, WrongAnswer, answer_numbers


class Wrench(Load):
    """Push and twist a body: `law` gives torque and force, torque first, or is a function law(body, t).

    That is 6 numbers, 3 in the plane. `at` is a point of the body, its origin if not given; `frame` says
    whether the numbers are in axes of the "world" or of the "body".
    """

    takes = Body
    laws: ClassVar[Laws] = {"law": ("body", "t")}

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
            *frame_mistakes(self.frame),
            *point_mistakes("at", self.at, self.space),
            *law_mistakes(self.law, len(self._units())),
        ]

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return self._units()

    def act(self, t: Number, body: BodySide) -> Any:
        wrench = answer_numbers(
            law_value(self.law, body, t), len(self._units()), "torque and force, torque first,"
        )
        turning = body.algebra.angular
        body.twist(wrench[:turning], self.frame)
        body.push(wrench[turning:], point(self.at, body.algebra.dimension), self.frame)
        return wrench


class Force(Wrench):
    """Push a body at a point: `law` is a force [N] or a function law(body, t) that returns one.

    `at` and `frame` are those of a Wrench.
    """

    def _units(self) -> tuple[str, ...]:
        return ("N",) * ALGEBRA[self.space].dimension

    def act(self, t: Number, body: BodySide) -> Any:
        force = law_value(self.law, body, t)
        body.push(force, point(self.at, body.algebra.dimension), self.frame)
        return force


class Torque(Wrench):
    """Twist a body: `law` is a torque [N m] (a number in the plane) or a function law(body, t)."""

    def __init__(self, name: str, body: Body, law: Law, *, frame: str = "world") -> None:
        super().__init__(name, body, law, frame=frame)

    def _units(self) -> tuple[str, ...]:
        return ("N m",) * ALGEBRA[self.space].angular

    def act(self, t: Number, body: BodySide) -> Any:
        torque = law_value(self.law, body, t)
        body.twist(torque, self.frame)
        return torque


class Motor(Load):
    """Drive a joint: `law` is a generalised force [N m, N] or a function law(t, q, v) of its coordinates.

    q and v are numbers if the joint has one coordinate, else arrays. Without a law the force is an input by
    the name of the motor, 0 unless a run or a simulation says otherwise.
    """

    takes = Joint
    laws: ClassVar[Laws] = {"law": ("t", "q", "v")}

    def __init__(self, name: str, joint: Joint | str, law: Law = None) -> None:
        super().__init__(name, joint)
        self.law: Law = Input(self.name) if law is None else law

    def sides(self, joints: Mapping[str, Joint]) -> list[Body | Joint]:
        (joint,) = super().sides(joints)
        assert isinstance(joint, Joint)
        if not callable(self.law) and np.size(self.law) != joint.nv:
            raise ValueError(
                f"law {self.law!r}; joint {joint.name!r} takes {joint.nv} numbers, or a list of inputs"
            )
        return [joint]

    def mistakes(self) -> list[str]:
        return law_mistakes(self.law, None)

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return drive_units(coordinates)

    def act(self, t: Number, joint: JointSide) -> Any:
        force = law_value(self.law, t, joint.position, joint.velocity)
        joint.push(force)
        return force


class Feedback(Load):
    """Drive joints by a law u(t, q, v) of all coordinates of the mechanism.

    q and v are arrays in the order of the model that also know the joints by name: q["pin"]. The law returns
    one number per velocity of the joints it drives, in their order.
    """

    whole = True
    takes = Joint
    laws: ClassVar[Laws] = {"law": ("t", "q", "v")}

    def __init__(
        self, name: str, joints: Joint | str | Iterable[Joint | str], law: Callable[..., Any]
    ) -> None:
        single = isinstance(joints, Joint | str | Body) or not isinstance(joints, list | tuple | set)
        several: Any = [joints] if single and not hasattr(joints, "__next__") else list(joints)  # type: ignore[arg-type]
        super().__init__(name, *several)
        self.law = law

    def mistakes(self) -> list[str]:
        found = [] if self.on else ["joints []; give at least one, which the law drives"]
        return found if callable(self.law) else [*found, f"law {self.law!r}; give a function law(t, q, v)"]

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        return drive_units(coordinates)

    def act(self, t: Number, system: SystemSide, *joints: JointSide) -> Any:
        forces = law_value(self.law, t, system.q, system.v)
        items = list(forces) if isinstance(forces, list | tuple) or np.ndim(forces) else [forces]
        wanted = sum(len(joint.v) for joint in joints)
        if len(items) != wanted:
            raise WrongAnswer(f"{len(items)} numbers where the driven joints have {wanted}")
        for joint in joints:
            joint.push(items[: len(joint.v)])
            items = items[len(joint.v) :]
        return forces
