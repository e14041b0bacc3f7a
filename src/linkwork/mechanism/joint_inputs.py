"""What a joint does by itself where its options are inputs: damping, dry friction, its spring; as a load."""

from collections.abc import Iterable
from typing import Any

from linkwork.algebra.number import Number, tanh
from linkwork.mechanism.input import Input, as_number
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import JointSide


class JointInputs(Load):
    """The forces of a joint whose damping, friction, stiffness or rest are inputs."""

    word = "joint"
    takes = Joint

    def __init__(self, joint: Joint) -> None:
        super().__init__(joint.name, joint)
        self._numbers = {
            word: _each(getattr(joint, word), joint.nv)
            for word in ("damping", "friction", "stiffness", "rest")
        }
        self._scales = joint.per_coordinate("friction_speed").tolist()
        self._has = [word for word in ("damping", "friction", "stiffness") if joint.reads_inputs(word)]

    def act(self, t: Number, joint: JointSide) -> None:
        forces: list[Any] = []
        for n, (x, speed, scale) in enumerate(zip(joint.q, joint.v, self._scales, strict=True)):
            c, mu, k, rest = (as_number(numbers[n]) for numbers in self._numbers.values())
            force: Any = 0.0
            if "damping" in self._has:
                force = force - c * speed
            if "friction" in self._has:
                force = force - mu * tanh(speed / scale)
            if "stiffness" in self._has:
                force = force - k * (x - rest)
            forces.append(force)
        joint.push(forces)


def _each(said: Any, count: int) -> list[Any]:
    """Return an option of a joint per coordinate, inputs as they are."""
    items = list(said) if isinstance(said, list | tuple) else [said]
    return items * count if len(items) == 1 else items


def joint_inputs(joints: Iterable[Joint]) -> list[JointInputs]:
    """Return the loads that stand for options of joints that are inputs."""
    return [JointInputs(joint) for joint in joints if reads_inputs(joint)]


def reads_inputs(joint: Joint) -> bool:
    """Return whether an option of a joint is an input."""
    if not any(isinstance(getattr(joint, word), Input | tuple) for word in _WORDS):
        return False
    return any(joint.reads_inputs(word) for word in ("damping", "friction", "stiffness"))


_WORDS = ("damping", "friction", "stiffness", "rest")
