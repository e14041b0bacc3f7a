"""Shapes that scenes stand on."""

from linkwork.geometry import Plane
from linkwork.real_numbers import is_finite
from linkwork.spelling import checked_keywords


@checked_keywords
def ground_plane(height: float = 0.0) -> Plane:
    """Return the half space below a height [m], level: what a scene stands on.

    >>> import linkwork as lw
    >>> lw.Scene().add(lw.ground_plane(), material=lw.Material(friction=0.6))
    <Static 'plane': 1 shapes>
    """
    if not is_finite(height):
        raise ValueError(f"ground_plane: height {height!r}; give metres")
    return Plane((0.0, 0.0, 1.0), height)
