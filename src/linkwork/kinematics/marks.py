"""What is drawn of constraints: rods, ropes, guides, curves, cams and gears, as lines on bodies.

A line is a list of pieces, each points on one body: (name, (k, 2 or 3)); they move with these bodies and are
drawn as one line through all.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.curves import Cam, PointOnCurve
from linkwork.mechanism.gears import Gear
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Revolute
from linkwork.mechanism.points import Distance, PointConstraint, PointOnLine, PointOnPlane, Pulley

Array = np.ndarray
Line = list[tuple[str, Array]]

_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 65)


def points_on(constraint: Constraint) -> Iterator[tuple[Any, Array]]:
    """Yield the points by which a constraint holds its bodies."""
    if isinstance(constraint, PointConstraint):
        for body, point in zip(constraint.bodies, constraint.points, strict=False):
            yield body, np.array(point, float)


def marks(constraint: Constraint, size: float) -> list[Line]:
    """Return the lines of a constraint; `size` is that of the mechanism."""
    if isinstance(constraint, Gear):
        return list(_gear(constraint))
    if not isinstance(constraint, PointConstraint) or len(constraint.bodies) != 2:
        return []
    parent, child = (body.name for body in constraint.bodies)
    on_parent, on_child = (np.array(point, float) for point in constraint.points)
    if isinstance(constraint, Distance):
        return [[(parent, on_parent[None]), (child, on_child[None])]]
    if isinstance(constraint, Pulley):
        over = np.array(constraint.over, float)
        return [[(parent, on_parent[None]), ("ground", over), (child, on_child[None])]]
    if isinstance(constraint, PointOnLine):
        axis = np.eye(len(on_parent))[0] if constraint.axis is None else np.array(constraint.axis, float)
        return [_guide(parent, on_parent, axis, size)]
    if isinstance(constraint, PointOnPlane) and len(on_parent) == 2:
        x, y = (0.0, 1.0) if constraint.normal is None else constraint.normal
        return [_guide(parent, on_parent, np.array([-y, x], float), size)]
    if isinstance(constraint, PointOnCurve):
        return [_curve(parent, on_parent, constraint.curve, constraint.interval)]
    if isinstance(constraint, Cam):
        return [
            _curve(parent, on_parent, constraint.profile, constraint.interval),
            *_follower(constraint, child, on_child, size),
        ]
    return []


def _guide(body: str, place: Array, axis: Array, size: float) -> Line:
    step = 0.5 * size * axis / np.linalg.norm(axis)
    return [(body, np.array([place - step, place + step]))]


def _curve(body: str, place: Array, curve: Any, interval: tuple[float, float]) -> Line:
    points = np.array([np.array(curve(s), float) for s in np.linspace(*interval, 129).tolist()])
    return [(body, _padded(points, len(place)) + place)]


def _follower(cam: Cam, child: str, place: Array, size: float) -> Iterator[Line]:
    """Yield the roller, or the face, of a follower."""
    if cam.radius:
        circle = cam.radius * np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)], axis=-1)
        yield [(child, _padded(circle, len(place)) + place)]
    if cam.face is not None:
        x, y = np.array(cam.face, float)[:2]
        yield _guide(child, place, _padded(np.array([[-y, x]]), len(place))[0], 0.4 * size)


def _gear(gear: Gear) -> Iterator[Line]:
    """Yield the pitch circles of two hinges on one carrier."""
    first, second = (side for side in gear.sides() if isinstance(side, Joint))
    if gear.kind not in ("external", "internal", "belt", "crossed") or first.parent is not second.parent:
        return
    if not (isinstance(first, Revolute) and isinstance(second, Revolute)):
        return
    apart = np.array(second.frames()[0].p, float) - np.array(first.frames()[0].p, float)
    ratio = abs(gear.factor)  # of the radii, first over second
    radius = np.linalg.norm(apart) / abs(1.0 - ratio if gear.kind == "internal" else 1.0 + ratio)
    if gear.kind in ("belt", "crossed"):
        radius *= 0.5
    for joint, r in ((first, ratio * radius), (second, radius)):
        on_child = joint.frames()[1]
        circle = r * np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)], axis=-1)
        circle = np.vstack([circle, [(0.0, 0.0)]])  # and a spoke, that shows how it turns
        turned = [on_child @ tuple(p) for p in _padded(circle, len(on_child.p)).tolist()]
        yield [(joint.child.name, np.array(turned, float))]


def _padded(points: Array, size: int) -> Array:
    return np.pad(points, ((0, 0), (0, size - points.shape[1])))
