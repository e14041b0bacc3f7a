"""Places that behaviours are given: points, bodies, mechanisms."""

from typing import Any

import numpy as np

from linkwork.mechanism.placement import numbers
from linkwork.scene.actor import Actor
from linkwork.scene.handles import BodyHandle

Array = np.ndarray


def point(where: str, value: Any) -> Array:
    """Return a point or direction (3,) that was given; `where` says what it is for."""
    found = numbers(value, where)
    if found.shape != (3,):
        raise ValueError(f"{where} {value!r:.80}; give 3 numbers")
    return found


def place(where: str, value: Any) -> Any:
    """Return something whose position is known in each step: a body or mechanism of a scene, or a point."""
    if isinstance(value, BodyHandle | Actor):
        return value
    try:
        return point(where, value)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{error}; or a body or a mechanism of the scene, robot['foot']") from None
