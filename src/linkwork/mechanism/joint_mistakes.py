"""What may be wrong with the options of a joint: its places, its axes, its numbers."""

from math import inf
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.mechanism.input import Input
from linkwork.mechanism.placement import place_mistake, plain
from linkwork.real_numbers import is_real, real_array

if TYPE_CHECKING:
    from linkwork.mechanism.joint import Joint


def axis_mistakes(joint: "Joint", option: str) -> list[str]:
    """List what is wrong with the axis given by this option."""
    axis = getattr(joint, option)
    if axis is None:
        return []
    size = joint.algebra.dimension
    try:
        vector = real_array(option, axis)
    except ValueError:
        return [f"{option} {axis!r} is not a vector; give {size} numbers"]
    if not np.isfinite(vector).all():
        return [f"{option} {plain(vector)} is not finite"]
    if size == 2 and (joint.axis_is_normal or vector.shape == (3,)):
        return [
            f"{option} {plain(vector)} in a planar mechanism; axes are normal to the plane there: drop "
            f'{option}= (a slider takes 2 numbers), or use Mechanism(space="space")'
        ]
    if vector.shape != (size,):
        return [f"{option} {plain(vector)}; give {size} numbers"]
    if not vector.any():
        return [f"{option} {plain(vector)} has no direction; give a vector that is not zero"]
    return []


def place_mistakes(joint: "Joint") -> list[str]:
    found = []
    if joint.at is not None and (joint.on_parent is not None or joint.on_child is not None):
        found.append("at= and on_parent=/on_child= exclude each other; give the place once")
    for option in ("at", "on_parent", "on_child"):
        place = getattr(joint, option)
        if place is not None and (mistake := place_mistake(place, joint.algebra)):
            found.append(f"{option} {mistake}")
    return found


def count_mistakes(joint: "Joint") -> list[str]:
    most = joint.algebra.freedoms
    for word, count in (("coordinates", joint.nv), ("positions", joint.nq)):
        if not isinstance(count, Integral) or count < 0:
            return [f"{type(joint).__name__}.{word} is {count!r}; give a whole number, 0 or more"]
    if joint.nv > most:
        where = "space" if joint.space == "space" else "the plane"
        return [
            f"{type(joint).__name__}.coordinates is {joint.nv}; a joint in {where} has {most} at most "
            "(`positions` may be more)"
        ]
    if joint.quaternion is not None:
        four = [float(x) for x in joint.neutral()[joint.quaternion : joint.quaternion + 4]]
        if len(four) < 4 or not any(four):
            return [f"neutral() gives the quaternion {four}; give one of length 1: [1, 0, 0, 0]"]
    return []


def number_mistakes(joint: "Joint") -> list[str]:
    found = []
    if joint.nv == 0:
        words = ("damping", "friction", "stiffness", "armature", "rest", "limits")
        given = [word for word in words if not _is_nothing(getattr(joint, word))]
        return [f"{word} {getattr(joint, word)!r} has no freedom to act on; drop it" for word in given]
    for word in ("armature", "friction_speed", "limits", "at", "on_parent", "on_child", "axis"):
        if has_input(said := getattr(joint, word)):
            found.append(f"{word} {said!r} is an input; give numbers, and others per run by simulate(vary=)")
    if joint.reads_inputs("stiffness") and joint.nq != joint.nv:
        found.append("its spring is an input, and its coordinates are no displacements; add a Load instead")
    for word in ("damping", "friction", "stiffness", "armature", "rest", "friction_speed"):
        said = getattr(joint, word)
        if said is None if word == "friction_speed" else isinstance(said, float) and 0.0 <= said < inf:
            continue  # as in most joints
        try:
            values = joint.per_coordinate(word)
        except (TypeError, ValueError):
            found.append(f"{word} {said!r}; give a number, or {joint.nv}: one per coordinate")
            continue
        if not np.isfinite(values).all():
            found.append(f"{word} {said!r} is not finite")
        elif word == "friction_speed":
            found += friction_speed_mistakes(joint, values)
        elif word != "rest" and (values < 0.0).any():
            found.append(f"{word} {said!r} is negative; allowed is 0 or more")
    return found


def drive_mistakes(joint: "Joint") -> list[str]:
    """List what is wrong with what files say of a drive."""
    given = [(word, getattr(joint, word)) for word in ("effort", "speed")]
    return [
        f"{word} {value!r}; give a number, 0 or more, or None"
        for word, value in given
        if value is not None and not (is_real(value) and value >= 0.0)
    ]


def _is_nothing(said: Any) -> bool:
    """Whether an option of a joint without freedom says nothing: 0, none, or an empty list."""
    try:
        return said is None or (np.ndim(said) < 2 and not real_array("", said).any())
    except ValueError:
        return False


def friction_speed_mistakes(joint: "Joint", values: np.ndarray) -> list[str]:
    said = f"friction_speed {joint.friction_speed!r}"
    sticks = values == 0.0
    if (values < 0.0).any() or (sticks.any() and not sticks.all()):
        return [f"{said}; give a speed above 0, below which friction fades out, or 0: it sticks"]
    if sticks.any() and joint.reads_inputs("friction"):
        return [f"{said}: friction that is an input does not stick; give a speed above 0"]
    return []


def limit_mistakes(joint: "Joint") -> list[str]:
    said, spring = f"limits {joint.limits!r}", joint.stiffness
    try:
        pairs = joint.limit_pairs()
    except (TypeError, ValueError):
        return [f"{said}; give (lower, upper), or {joint.nv} such pairs: one per coordinate"]
    if joint.limits is not None or (spring if isinstance(spring, float) else np.any(spring)):
        zeros = joint.neutral()
        if joint.displacement(zeros) is None:
            return ["springs and limits need to know how far the joint has moved; define displacement(q)"]
    if isinstance(joint.stop, type) or not hasattr(joint.stop, "force"):
        return [f'stop {joint.stop!r}; give a Stop, an ExponentialStop, a RigidStop, or "rigid"']
    found = joint.stop.mistakes()
    if found:
        return found
    if joint.limits is None:
        return []
    if np.isnan(pairs).any() or (pairs[:, 0] == np.inf).any() or (pairs[:, 1] == -np.inf).any():
        return [f"{said}: a limit is not a number that can be met; use None for none"]
    if (pairs[:, 0] > pairs[:, 1]).any():
        return [f"{said}: lower is above upper; exchange them"]
    return []


def has_input(said: Any) -> bool:
    """Whether an option is an input, or has one among its numbers."""
    if isinstance(said, list | tuple):
        return any(map(has_input, said))
    return isinstance(said, Input)
