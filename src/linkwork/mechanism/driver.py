"""A driver: a coordinate that follows a law of time."""

from collections.abc import Callable
from typing import Any

from linkwork.algebra import rotation
from linkwork.algebra.number import Number
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load_view import BodySide, JointSide, continued
from linkwork.real_numbers import is_finite, is_real, shown

_PLACES = ("x", "y", "z")
_TURNS = ("qw", "qx", "qy", "qz")  # of a body in space


class Driver(Constraint):
    """Drive a joint coordinate, or one of a body, to a value, or to a function of time.

    `what` is a joint, itself or by name; (joint, k) for its k-th coordinate; or (body, "x" | "y" | "z" |
    "angle"), the angle in the plane. Angles may count any number of turns. Turns in space are quaternions
    with w >= 0, of less than half a turn, whose components can be driven: those of a joint by number, those
    of a body by "qw", "qx", "qy", "qz"; three of them are a rotation. `law` may be set anew at any time. A
    law is a number, an input or a function of time, which may read inputs; one with a method `derivative`, as
    splines of SciPy have it, is asked for it.
    """

    word = "driver"
    sees_unknowns = True

    def __init__(self, name: str, what: Any, law: float | Input | Callable[[Any], Any] = 0.0) -> None:
        thing: Any = what
        component: Any = None
        if isinstance(what, tuple) and len(what) == 2:
            thing, component = what
        super().__init__(name, thing)
        self._whole = component is None  # of what has one coordinate
        self.component: int | str = 0 if self._whole else component
        self.law = law

    @property
    def drives(self) -> str:
        """What is driven, in words: "A", "A[1]" or "rocker.angle"."""
        thing = self.on[0]
        name = str(getattr(thing, "name", thing))
        if isinstance(self.component, str):
            return f"{name}.{self.component}"
        return f"{name}[{self.component}]" if self.component else name

    def mistakes(self) -> list[str]:
        side = self.sides()[0]
        if isinstance(side, Body):
            known = (*_PLACES[: self.algebra.dimension], *(["angle"] if self.space == "plane" else _TURNS))
            if self.component not in known:
                words = ", ".join(f"({side.name!r}, {word!r})" for word in known)
                said = repr(side.name) if self._whole else f"({side.name!r}, {self.component!r})"
                return [f"{said} cannot be driven; give one of {words}"]
        elif self._whole and side.nq > 1:
            return [f"joint {side.name!r} has {side.nq} coordinates; say which, as in ({side.name!r}, 0)"]
        elif not isinstance(self.component, int) or not 0 <= self.component < side.nq:
            return [f"joint {side.name!r} has {side.nq} coordinates; {self.component!r} is none of them"]
        if callable(self.law) or isinstance(self.law, Input):
            return []
        if not is_real(self.law):
            return [f"law {shown(self.law)}; give a number, a function of time, or a spline"]
        return [] if is_finite(self.law) else [f"law {shown(self.law)} is not finite"]

    def value(self, side: BodySide | JointSide) -> Number:
        """Return the coordinate that is driven."""
        if isinstance(side, JointSide):
            return side.q[int(self.component)]
        if self.component == "angle":
            return side.angle
        if self.component in _TURNS:
            return rotation.to_quaternion(side.frame.R)[_TURNS.index(str(self.component))]
        return side.position[_PLACES.index(str(self.component))]

    @property
    def turns(self) -> bool:
        """Whether what is driven is an angle, that comes back after a whole turn."""
        side = self.sides()[0]
        if isinstance(side, Joint):
            return side.can_locate and side.periodic[int(self.component)]
        return self.component == "angle"

    def phi(self, side: Any, value: Number = 0.0) -> list[Number]:
        there = self.value(side)
        return [(continued(there, value) if self.turns else there) - value]
