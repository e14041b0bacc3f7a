"""What a body is drawn with: its shapes, or a link through its joints if it has none."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, warn
from linkwork.geometry.skin import Collision, MeshFile, Visual, skins
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.view import tessellate
from linkwork.view.palette import Rgb
from linkwork.view.tessellate import Shell

Array = np.ndarray

SLIM = 0.02  # thickness of a link that is drawn through its joints, per size of the mechanism

_STOUT = 0.08  # thickness of a link, at most, per length
_FAR = 0.6  # how far from a hinge a shape is, per its length, that a bar leads to
_SEEN, _SHORT = 0.0025, 0.3  # but so thick per size of the mechanism that it is seen, up to this per length

Part = tuple[Shell, Array, tuple[Rgb, float] | None]  # where on the body, and a colour of its own


def described_parts(body: Body) -> Iterable[Part]:
    """Return what the body is described with: what it is drawn with, else its shapes, else its collisions."""
    visuals = [(item.shape, item.colour) for item in skins(body.visuals, Visual)]
    shapes = [(part, None) for part in body.parts if not isinstance(part, Inertia)]
    touched = [(item.shape, None) for item in skins(body.collisions, Collision)]
    for choice in (visuals, shapes, touched):
        parts = list(_drawable(choice))
        if choice is visuals:
            parts += [bar for item in body.visuals if _is_outline(item) for bar in _outline(item)]
        if parts:
            return parts
    return []


def _drawable(shapes: Iterable[tuple[Any, Any]]) -> Iterable[Part]:
    for described, colour in shapes:
        shape = _opened(described)
        made = None if shape is None else tessellate.shell(shape)
        if shape is not None and made is not None:
            own = None if colour is None else (rgb_of(colour), float(colour[3]))
            yield made, np.column_stack([shape.rotation, shape.position]), own


def _is_outline(item: Any) -> bool:
    return isinstance(item, np.ndarray | list | tuple)


def _outline(points: Any) -> Iterable[Part]:
    """Return bars from point to point."""
    places = [in_space(point) for point in np.asarray(points, float)]
    radius = 0.5 * SLIM * float(np.ptp(places, axis=0).max())
    for a, b in pairwise(places):
        if np.abs(a - b).max() > 0.0:
            yield bar(a, b, radius)


def _opened(shape: Any) -> Any:
    """Return a shape, read from its file if it is in one; None if that cannot be, which is warned of."""
    if not isinstance(shape, MeshFile):
        return shape
    from linkwork.files import load

    try:
        return load(shape)
    except (LinkworkError, OSError) as error:
        warn(f"not drawn: {error}")
        return None


def rgb_of(colour: Sequence[float]) -> Rgb:
    """Return a colour of numbers from 0 to 1 as one of numbers from 0 to 255."""
    red, green, blue = (round(255 * min(max(float(part), 0.0), 1.0)) for part in colour[:3])
    return red, green, blue


def link_through(body: Body, points: Sequence[Array], size: float) -> Iterable[Part]:
    """Return a link through the joints of a body that has no shape: bars from joint to joint."""
    kept: list[Array] = []
    for point in points:
        if all(np.abs(point - other).max() > 1e-9 * size for other in kept):
            kept.append(point)
    points = kept
    center = in_space(body.inertia.com)
    ends = [*points, center] if body.inertia.mass > 0.0 else points
    reach = max((float(np.linalg.norm(p - q)) for p in ends for q in ends), default=0.0)
    radius = min(0.5 * SLIM * size, _STOUT * reach) if reach > 0.0 else 0.5 * SLIM * size
    radius = max(radius, min(_SEEN * size, _SHORT * reach))
    if len(points) < 2 and body.inertia.mass > 0.0:
        if not points or np.abs(points[0] - center).max() > 1e-9 * size:
            points.append(center)
        yield tessellate.ball(2.0 * radius), _at(center), None
    for point in points:
        yield tessellate.ball(radius), _at(point), None
    hub = points[0] if len(points) < 3 else np.mean(points, axis=0)
    for point in points[1:] if len(points) == 2 else points if len(points) > 2 else ():
        yield bar(hub, point, radius)
    if len(points) > 2:
        yield tessellate.ball(radius), _at(hub), None
    if not points:
        yield tessellate.ball(2.0 * radius), _at(center), None


def arm_to(parts: Sequence[Part], joint: Array, size: float) -> list[Part]:
    """Return a thin bar from a hinge to the shapes of a body that are far from it: a ball on a string."""
    boxes = [
        np.array([corners.min(axis=0), corners.max(axis=0)])
        for part, pose, _ in parts
        if not part.endless
        for corners in [box_corners(part.corners) @ pose[:, :3].T + pose[:, 3]]
    ]
    if not boxes:
        return []
    nearest = min((np.clip(joint, *box) for box in boxes), key=lambda at: float(np.linalg.norm(at - joint)))
    far = float(np.linalg.norm(nearest - joint))
    if far < max(_FAR * max(float(np.ptp(box, axis=0).max()) for box in boxes), 0.5 * SLIM * size):
        return []
    middle = min((box.mean(axis=0) for box in boxes), key=lambda at: float(np.linalg.norm(at - joint)))
    return [bar(joint, middle, 0.15 * SLIM * size)]


def bar(a: Array, b: Array, radius: float) -> Part:
    """Return a round bar between two points."""
    way = b - a
    length = float(np.linalg.norm(way))
    return tessellate.cylinder(radius, length), np.column_stack([turned_to(way), (a + b) / 2.0]), None


def turned_to(way: Array) -> Array:
    """Return a rotation (3, 3) that takes z along a vector; the identity for none."""
    length = np.linalg.norm(way)
    if length == 0.0:
        return np.eye(3)
    z = way / length
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _at(point: Array) -> Array:
    return np.column_stack([np.eye(3), point])


def in_space(point: Any) -> Array:
    """Return a point (3,) of one in space or in the plane."""
    made = np.zeros(3)
    made[: len(point)] = point
    return made


def box_corners(points: Array) -> Array:
    """Return the corners (8, 3) of the box round points."""
    box = np.array([points.min(axis=0), points.max(axis=0)])
    return np.array([(box[i, 0], box[j, 1], box[k, 2]) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
