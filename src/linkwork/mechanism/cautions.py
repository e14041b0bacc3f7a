"""What is allowed, but rarely meant.

Angles that look like degrees, hinges through the middle of a body, options without the one they belong to.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwork.angles import degrees_caution, like_degrees
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Revolute, Spherical, Universal
from linkwork.mechanism.load import Load
from linkwork.mechanism.placement import plain, unit
from linkwork.mechanism.points import Absolute
from linkwork.mechanism.springs import Bushing, Spring, TorsionSpring
from linkwork.mechanism.stop import Stop

_CENTRED = 1e-9  # of the position: a frame at the centre of mass
_MORE_ABOUT = {  # options and their defaults; the options that they say more about, and theirs
    Joint: (
        (("rest", 0.0), ("stiffness", 0.0)),
        (("stop", Stop()), ("limits", None)),
        (("friction_speed", None), ("friction", 0.0)),
    ),
    Spring: ((("rest", None), ("stiffness", 0.0)),),
    TorsionSpring: ((("rest", 0.0), ("stiffness", 0.0)),),
}
_ONE_OF = {  # options, 0 unless given, of which one is needed for any effect
    Spring: ("stiffness", "damping"),
    TorsionSpring: ("stiffness", "damping"),
    Bushing: ("stiffness", "damping", "torsion_stiffness", "torsion_damping"),
}
_NEAR, _FAR = 2.5, 5.0  # radii of gyration from a centre of mass: the end of a rod is 1.7 of them away
_ROUND = 1e-6  # of a moment of inertia: a body that is round about an axis


def cautions(element: Body | Joint | Constraint | Load) -> Iterator[str]:
    """Yield, in words, what of an element is probably not meant."""
    yield from _without_effect(element)
    if isinstance(element, Joint):
        yield from _joint_angles(element)
        yield from _unplaced(element)
        yield from _placed_as_in_parent(element)
    elif isinstance(element, TorsionSpring):
        if like_degrees(element.rest) and isinstance(element.on[0], Revolute):
            yield degrees_caution("rest", element.rest)
    elif isinstance(element, Driver):
        fixed = not callable(element.law) and not isinstance(element.law, Input)
        if fixed and like_degrees(element.law) and element.turns:
            yield degrees_caution("law", element.law)
    elif isinstance(element, Absolute) and like_degrees(element.angle):
        yield degrees_caution("angle", element.angle)


def _joint_angles(joint: Joint) -> Iterator[str]:
    unsprung = isinstance(joint.stiffness, float) and joint.stiffness == 0.0
    if joint.limits is None and unsprung:
        return
    said = [] if joint.limits is None else joint.limit_pairs().ravel().tolist()
    rests = np.ravel(joint.rest).tolist() if np.any(joint.stiffness) else []
    for word, angles in (("limits", said), ("rest", rests)):
        if like_degrees(*angles) and joint.nq == joint.nv and joint.can_locate and all(joint.periodic):
            yield degrees_caution(word, getattr(joint, word))


def _without_effect(element: Body | Joint | Constraint | Load) -> Iterator[str]:
    """Caution of options that say more about another one, which is missing, and of springs that are none.

    No mistake: the other one may be varied, and be 0 in one of many mechanisms.
    """
    for kind, options in _MORE_ABOUT.items():
        for (word, usual), (other, none) in options if isinstance(element, kind) else ():
            said = getattr(element, word)
            if _is_said(said, usual) and not _is_said(getattr(element, other), none):
                yield f"{word} {said!r} has no effect without {other}=; give that too, or drop {word}="
    for kind, words in _ONE_OF.items():
        if isinstance(element, kind) and not any(_is_said(getattr(element, word), 0.0) for word in words):
            yield f"it has no effect; give {'=, '.join(words[:-1])}= or {words[-1]}="


def _is_said(value: Any, usual: Any) -> bool:
    """Return whether a value, or one of several, is another than usual."""
    return value is not usual and bool(np.any(np.asarray(value, object) != usual))


def _unplaced(joint: Joint) -> Iterator[str]:
    """Caution where a joint turns a body about its centre of mass only because its place is not given.

    Not for wheels, which are round about the axis, nor for balls in a socket; nor where both bodies are
    drawn with their frames at the same place, which can only be meant. A ball on a hinge is a pendulum's.
    """
    if not isinstance(joint, Revolute | Spherical | Universal):
        return
    if joint.at is not None or joint.on_parent is not None or joint.on_child is not None:
        return
    child, apart = joint.child, joint.child.position - joint.parent.position
    inertia = child.inertia
    if not inertia.mass > 0.0 or not apart.any() or inertia.tensor.size == 0:
        return
    if np.abs(inertia.com).max() > _CENTRED * np.abs(apart).max() or _is_round(joint):
        return
    yield (
        f"it turns body {child.name!r} about its centre of mass, since no place is given; "
        f"say where it is, at=..., or at={plain(child.position)} if that is meant"
    )


def _placed_as_in_parent(joint: Joint) -> Iterator[str]:
    """Caution of `at=` far from both bodies, if the same numbers in the frame of the parent are at both."""
    parent, child = joint.parent, joint.child
    at = np.asarray(joint.at)  # of a Frame an object
    if at.shape != parent.position.shape or not parent.position.any():
        return
    meant = parent.position + parent.rotation @ at
    if all(_is_at(body, meant, _NEAR) and not _is_at(body, at, _FAR) for body in (parent, child)):
        yield (
            f"at={plain(at)} is a place in the world as drawn, far from bodies {parent.name!r} and "
            f"{child.name!r}; if it is one in the frame of {parent.name!r}, give at={plain(meant)}"
        )


def _is_at(body: Body, place: np.ndarray, radii: float) -> bool:
    """Return whether a place is within so many radii of gyration of a body's centre of mass."""
    inertia = body.inertia
    if not inertia.mass > 0.0 or inertia.com.shape != place.shape:
        return False
    square = float(np.trace(inertia.tensor) / 2.0 if inertia.tensor.ndim else inertia.tensor) / inertia.mass
    away = place - body.position - body.rotation @ inertia.com
    return float(away @ away) <= radii**2 * square


def _is_round(joint: Joint) -> bool:
    """Return whether the child is a wheel on its hinge, or a ball where there are several axes."""
    tensor = _in_space(joint.child)
    if tensor is None:
        return True
    moment = float(np.trace(tensor))
    is_ball = bool(np.abs(tensor - moment / 3.0 * np.eye(3)).max() <= _ROUND * moment)
    if not isinstance(joint, Revolute):
        return is_ball
    if is_ball:
        return False
    axis = np.array([0.0, 0.0, 1.0])
    if joint.space == "space" and joint.axis is not None:
        axis = joint.child.rotation.T @ unit(np.asarray(joint.axis, float))
    elif joint.space == "space":
        axis = joint.child.rotation.T @ axis
    about = float(axis @ tensor @ axis)
    across = 0.5 * (moment - about)
    outer = np.outer(axis, axis)
    return bool(np.abs(tensor - about * outer - across * (np.eye(3) - outer)).max() <= _ROUND * moment)


def _in_space(body: Body) -> np.ndarray | None:
    """Return the tensor of a body; in the plane that of its shapes, None if it has none."""
    if body.space == "space":
        return body.inertia.tensor
    if not body.parts or any(isinstance(part, Inertia) for part in body.parts):
        return None
    return Body(body.name, *body.parts, **body.given).inertia.tensor  # type: ignore[arg-type]
