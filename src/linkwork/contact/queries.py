"""Questions about two shapes, without a world: `collide`, `distance`, `closest_points`, `overlap` and
others."""

from functools import lru_cache
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.contact.colliders import Colliders, listed
from linkwork.contact.result import Contacts
from linkwork.mechanism.placement import Array, Space
from linkwork.spelling import checked_keywords

_KEPT = 256  # pairs whose tables and trees are kept


@checked_keywords
def collide(
    a: Any, b: Any, *, pose_a: Any = None, pose_b: Any = None, margin: float = 0.0, space: Space = "space"
) -> Contacts:
    """Return the points in which two shapes touch, up to four for each direction in which they press.

    A shape is where its own `position=` and `rotation=` say; `pose_a` and `pose_b` (a Frame, or a position)
    move it from there. With `margin` points that are closer than this [m] count too, with negative depth.

    >>> from linkwork.geometry import Box, Sphere
    >>> found = collide(Sphere(0.5, position=(0, 0, 0.9)), Box(1, 1, 1))
    >>> round(float(found.depth[0]), 12), found.normal[0].tolist()
    (0.1, [0.0, 0.0, -1.0])
    """
    return _placed(a, b, pose_a, pose_b, space).contacts(margin=margin)


@checked_keywords
def distance(a: Any, b: Any, *, pose_a: Any = None, pose_b: Any = None, space: Space = "space") -> float:
    """Return the distance of two shapes [m]; negative where they overlap: minus the depth.

    >>> from linkwork.geometry import Sphere
    >>> distance(Sphere(0.5), Sphere(0.5, position=(3, 0, 0)))
    2.0
    """
    return _placed(a, b, pose_a, pose_b, space).distance("a", "b")


@checked_keywords
def closest_points(
    a: Any, b: Any, *, pose_a: Any = None, pose_b: Any = None, space: Space = "space"
) -> tuple[Array, Array]:
    """Return the points of two shapes that are closest to each other [m]."""
    return _placed(a, b, pose_a, pose_b, space).closest_points("a", "b")


@checked_keywords
def overlap(a: Any, b: Any, *, pose_a: Any = None, pose_b: Any = None, space: Space = "space") -> bool:
    """Return whether two shapes touch; of a mesh its surface counts, `contains` asks for its inside."""
    return len(_placed(a, b, pose_a, pose_b, space).contacts()) > 0


@checked_keywords
def contains(shape: Any, points: ArrayLike, *, pose: Any = None, space: Space = "space") -> Any:
    """Return whether points (3,) or (n, 3) are inside a shape, surface included.

    >>> from linkwork.geometry import Box
    >>> contains(Box(1, 1, 1), [(0, 0, 0.4), (0, 0, 0.6)]).tolist()
    [True, False]
    """
    return _placed(shape, None, pose, None, space).contains("a", points)


@checked_keywords
def ray_cast(
    shapes: Any, origin: ArrayLike, direction: ArrayLike, *, longest: float = np.inf, space: Space = "space"
) -> Any:
    """Return where a ray (or many, (n, 3)) first meets a shape, a list of them, or Colliders: a Hit, or Hits.

    The body of a hit is the number of the shape in the list, as text.

    >>> from linkwork.geometry import Sphere
    >>> ray_cast(Sphere(1.0), (0, 0, 5), (0, 0, -1)).distance
    4.0
    """
    if isinstance(shapes, Colliders):
        return shapes.ray_cast(origin, direction, longest=longest)
    world = Colliders(space)
    for k, shape in enumerate(listed(shapes)):
        world.add(str(k), shape)
    return world.ray_cast(origin, direction, longest=longest)


@lru_cache(maxsize=_KEPT)
def _pair(a: Any, b: Any, space: Space) -> Colliders:
    """Return a world of two shapes, of which copies are made."""
    world = Colliders(space)
    world.add("a", a, fixed=False)
    if b is not None:
        world.add("b", b, fixed=False)
    return world


@lru_cache(maxsize=_KEPT)
def _pair_here(a: Any, b: Any, space: Space, thread: int) -> Colliders:
    """Return the world of two shapes that only this thread moves; shapes and trees are shared."""
    return _pair(a, b, space).copy()


def _placed(a: Any, b: Any, pose_a: Any, pose_b: Any, space: Space) -> Colliders:
    try:
        world = _pair_here(a, b, space, get_ident())
    except TypeError:  # what cannot be hashed cannot be kept
        world = _pair.__wrapped__(a, b, space)
    for name, pose in (("a", pose_a), ("b", pose_b)):
        if name in world:
            if hasattr(pose, "rotation"):
                world.move(name, pose.position, pose.rotation)
            else:
                none = (0.0, 0.0, 0.0) if space == "space" else (0.0, 0.0)
                world.move(name, none if pose is None else pose, np.eye(3))
    return world
