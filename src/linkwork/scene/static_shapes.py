"""Shapes that scenes stand on."""

from linkwork.geometry import Plane


def ground_plane(height: float = 0.0) -> Plane:
    """Return the half space below a height [m], level: what a scene stands on.

    >>> import linkwork as lw
    >>> lw.Scene().add(lw.ground_plane(), material=lw.Material(friction=0.6))
    <Static 'plane': 1 shapes>
    """
    return Plane((0.0, 0.0, 1.0), height)
