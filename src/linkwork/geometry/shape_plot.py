"""Shapes drawn with matplotlib: in space, or in the plane what lies in it."""

from typing import Any

import numpy as np

from linkwork.geometry.polygon import Polygon
from linkwork.geometry.polyhedron import normals
from linkwork.geometry.solid import Solid
from linkwork.mechanism.placement import Array

_COLOUR = np.array([0.35, 0.55, 0.75])
_LIGHT = np.array([0.3, -0.5, 0.81])
_EDGES_SHOWN = 500  # faces; with more of them their edges would hide them


def draw(solid: Solid, ax: Any, resolution: int) -> Any:
    """Draw a solid into axes, new ones if there are none, and return them."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("drawing needs matplotlib: pip install 'linkwork[plot]'") from None
    if isinstance(solid, Polygon) and _is_flat(solid):
        return _draw_flat(solid, pyplot.figure().add_subplot() if ax is None else ax)
    return _draw_solid(solid, pyplot.figure().add_subplot(projection="3d") if ax is None else ax, resolution)


def _is_flat(polygon: Polygon) -> bool:
    """Return whether a polygon lies in the plane z = 0."""
    return polygon.position[2] == 0.0 and abs(polygon.rotation[2][2]) == 1.0


def _draw_flat(polygon: Polygon, ax: Any) -> Any:
    points, _ = polygon.triangles()
    ax.fill(points[:, 0], points[:, 1], facecolor=(*_COLOUR, 0.5), edgecolor=_COLOUR * 0.6)
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    return ax


def _draw_solid(solid: Solid, ax: Any, resolution: int) -> Any:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    vertices, faces = solid.triangles(resolution)
    edges = "#00000030" if len(faces) <= _EDGES_SHOWN else "none"
    ax.add_collection3d(
        Poly3DCollection(vertices[faces], facecolors=_shades(vertices, faces), edgecolors=edges)
    )
    _fit(ax, vertices)
    for axis in "xyz":
        getattr(ax, f"set_{axis}label")(f"{axis} [m]")
    return ax


def _fit(ax: Any, vertices: Array) -> None:
    """Show all that is drawn, at one scale; axes that showed something before grow."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    if len(ax.collections) > 1:
        shown = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
        low, high = np.minimum(low, shown[:, 0]), np.maximum(high, shown[:, 1])
    room = np.maximum(high - low, 1e-3 * float(np.max(high - low)) or 1e-3)
    for name, a, b in zip("xyz", 0.5 * (low + high - room), 0.5 * (low + high + room)):
        getattr(ax, f"set_{name}lim")(a, b)
    ax.set_box_aspect(room)


def _shades(vertices: Array, faces: Any) -> Array:
    """Return colours of faces, lighter where they face the light."""
    n = normals(vertices, faces)
    n /= np.maximum(np.linalg.norm(n, axis=1), np.finfo(float).tiny)[:, None]
    shade = 0.65 + 0.35 * (n @ (_LIGHT / np.linalg.norm(_LIGHT)))
    return np.clip(_COLOUR * shade[:, None], 0.0, 1.0)
