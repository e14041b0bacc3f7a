"""What constraints and drivers look like: rods, ropes, outlines of cams, curves, pitch circles of gears."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.curves import Cam, PointOnCurve
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.gears import Gear, RackPinion
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.names import kind_name
from linkwork.mechanism.points import Distance, PointConstraint, PointOnLine, Pulley
from linkwork.view import tessellate
from linkwork.view.body_pieces import bar, in_space
from linkwork.view.tessellate import Shell

if TYPE_CHECKING:
    from linkwork.view.drawing import JointMark

Array = np.ndarray
Line = tuple[str, str, str, Array, Array]  # name, two bodies, and points (3,) on them
Part = tuple[str, str, Shell, Array]  # name, body, shape and its pose (3, 4) on the body

_THIN = 0.003  # radius of lines, per size of the mechanism
_LONG = 0.5  # of lines that have no end
_POINTS = 96  # of a curve
_NOWHERE = np.column_stack([np.eye(3), np.zeros(3)])


@dataclass(frozen=True)
class Tie:
    """A constraint or a driver: what it is, and between what."""

    name: str
    kind: str  # name of its class
    on: tuple[str, ...]


def ties(mechanism: Mechanism) -> Iterable[Tie]:
    """Return all constraints and drivers."""
    for thing in (*mechanism.constraints.values(), *mechanism.drivers.values()):
        ends = [str(getattr(end, "name", end)) for end in thing.on]
        yield Tie(thing.name, kind_name(thing), (thing.drives,) if isinstance(thing, Driver) else tuple(ends))


def lines(mechanism: Mechanism) -> Iterable[Line]:
    """Return what is drawn straight between points of two bodies: rods, and ropes over pulleys."""
    for thing in mechanism.constraints.values():
        if isinstance(thing, Distance):
            (a, b), (on_a, on_b) = _ends(thing), map(_point, thing.points)
            yield thing.name, a.name, b.name, on_a, on_b
        elif isinstance(thing, Pulley):
            (a, b), (on_a, on_b) = _ends(thing), map(_point, thing.points)
            over = [_point(point) for point in thing.over]
            yield thing.name, a.name, "ground", on_a, over[0]
            yield thing.name, "ground", "ground", over[0], over[1]
            yield thing.name, "ground", b.name, over[1], on_b


def outlines(mechanism: Mechanism, marks: "Mapping[str, JointMark]", size: float) -> Iterable[Part]:
    """Return what is drawn on one body: curves, rollers, faces, pitch circles."""
    for thing in mechanism.constraints.values():
        try:
            for body, shape, pose in _outline(thing, mechanism, marks, size):
                yield thing.name, body, shape, pose
        except (LinkworkError, ValueError, ArithmeticError):  # of a curve of the user: it is not drawn
            continue


def _outline(
    thing: Constraint, mechanism: Mechanism, marks: "Mapping[str, JointMark]", size: float
) -> Iterable[tuple[str, Shell, Array]]:
    radius = _THIN * size
    match thing:
        case Cam():
            (cam, follower), (on_cam, on_follower) = _ends(thing), map(_point, thing.points)
            yield cam.name, tessellate.tube(on_cam + _curve(thing.profile, thing.interval), radius), _NOWHERE
            if thing.radius:
                ring = tessellate.tube(_circle(float(thing.radius)), radius, closed=True)
                yield follower.name, ring, _at(on_follower)
            if thing.face is not None:
                x, y, *_ = in_space(thing.face)
                along = np.array([-y, x, 0.0]) / (np.hypot(x, y) or 1.0) * 0.25 * _LONG * size
                shape, pose, _ = bar(on_follower - along, on_follower + along, radius)
                yield follower.name, shape, pose
        case PointOnCurve():
            (parent, _), (on_parent, _) = _ends(thing), map(_point, thing.points)
            points = on_parent + _curve(thing.curve, thing.interval)
            yield parent.name, tessellate.tube(points, radius), _NOWHERE
        case PointOnLine():
            (parent, _), (on_parent, _) = _ends(thing), map(_point, thing.points)
            way = np.array([1.0, 0.0, 0.0]) if thing.axis is None else in_space(thing.axis)
            half = way / np.linalg.norm(way) * 0.5 * _LONG * size
            shape, pose, _ = bar(on_parent - half, on_parent + half, radius)
            yield parent.name, shape, pose
        case Gear():
            yield from _gears(thing, mechanism, marks, radius)
        case RackPinion():
            pinion = thing.sides()[0]
            yield from _wheel(marks[pinion.name], abs(float(thing.radius)), radius)


def _gears(
    gear: Gear, mechanism: Mechanism, marks: "Mapping[str, JointMark]", radius: float
) -> Iterable[tuple[str, Shell, Array]]:
    """Return the pitch circles of wheels with parallel axes; those of belts do not touch."""
    joints = [side for side in gear.sides() if isinstance(side, Joint)]
    places, axes = zip(*(_drawn(joint, marks[joint.name]) for joint in joints), strict=True)
    if abs(axes[0] @ axes[1]) < 0.999:
        return
    apart = places[1] - places[0]
    distance = float(np.linalg.norm(apart - (apart @ axes[0]) * axes[0]))
    ratio = abs(gear.factor)  # of the radii, first over second
    match gear.kind:
        case "internal":
            second = distance / abs(ratio - 1.0) if ratio != 1.0 else 0.0
        case "belt" | "crossed":
            second = 0.5 * distance / (1.0 + ratio)
        case _:
            second = distance / (1.0 + ratio)
    if second > 0.0:
        for joint, size in zip(joints, (ratio * second, second), strict=True):
            yield from _wheel(marks[joint.name], size, radius)


def _drawn(joint: Joint, mark: "JointMark") -> tuple[Array, Array]:
    """Return where a joint is drawn, and its axis, in the world."""
    body = joint.parent
    turn, place = np.eye(3), in_space(body.position)
    turn[: len(body.rotation), : len(body.rotation)] = body.rotation
    return place + turn @ mark.on_parent[:, 3], turn @ mark.on_parent[:, 2]


def _wheel(mark: "JointMark", size: float, radius: float) -> Iterable[tuple[str, Shell, Array]]:
    """Return a circle about the axis of a hinge, on what it turns, and a spoke that shows how it turns."""
    on_child = mark.child != "ground"
    body, frame = (mark.child, mark.on_child) if on_child else (mark.parent, mark.on_parent)
    yield body, tessellate.tube(_circle(size), radius, closed=True), frame
    shape, pose, _ = bar(np.zeros(3), np.array([size, 0.0, 0.0]), radius)
    R, p = frame[:, :3], frame[:, 3]
    yield body, shape, np.column_stack([R @ pose[:, :3], R @ pose[:, 3] + p])


def _circle(size: float) -> Array:
    """Return a circle about z."""
    angles = np.linspace(0.0, 2.0 * np.pi, _POINTS // 2, endpoint=False)
    return size * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])


def _curve(function: Any, interval: tuple[float, float]) -> Array:
    places = np.linspace(float(interval[0]), float(interval[1]), _POINTS + 1).tolist()
    return np.array([_point(function(s)) for s in places])


def _ends(thing: PointConstraint) -> tuple[Body, Body]:
    a, b = thing.sides()
    assert isinstance(a, Body)
    assert isinstance(b, Body)
    return a, b


def _point(numbers: Any) -> Array:
    return in_space([float(x) for x in numbers])


def _at(point: Array) -> Array:
    return np.column_stack([np.eye(3), point])
