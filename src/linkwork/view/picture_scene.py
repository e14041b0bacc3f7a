"""The scene of a picture that is drawn without a browser: what overlays show, as plain values.

It has those words of viser's scene that overlays use: pages, films and pictures show the same overlays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkwork.geometry import Cone
from linkwork.view.body_pieces import turned_to
from linkwork.view.camera import View
from linkwork.view.quaternion import matrices
from linkwork.view.tessellate import cylinder, solid_shell

Array = np.ndarray

_AXES = np.array([(214, 51, 60), (55, 178, 77), (28, 100, 220)], float)  # colours of x, y, z


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles in the world."""

    vertices: Array  # (V, 3)
    normals: Array  # (V, 3)
    faces: Array  # (F, 3)
    colours: Array  # (V, 3)
    opacity: float = 1.0
    shadow: bool = False


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines in the world, of a width in pixels."""

    ends: Array  # (N, 2, 3)
    colour: Array  # (3,)
    width: float


@dataclass(frozen=True, eq=False)
class Label:
    """Words at a place of the world."""

    text: str
    place: Array  # (3,)
    centred: bool


class Node:
    """Something in the scene; what it shows is in its attributes, and whoever moves it sets them."""

    def __init__(self, scene: "PictureScene", name: str, **shown: Any) -> None:
        self._scene, self.name, self.visible = scene, name, True
        for word, value in shown.items():
            setattr(self, word, value)

    def remove(self) -> None:
        self._scene.nodes.pop(self.name, None)

    def drawn(self) -> Iterator[Surface | Lines | Label]:
        """Return what is seen of it now: of a folder nothing."""
        return iter(())


class _Meshes(Node):
    """The same triangles at many places."""

    vertices: Array
    faces: Array
    batched_wxyzs: Array
    batched_positions: Array
    batched_scales: Array
    batched_colors: Any
    batched_opacities: Any
    cast_shadow: bool

    def drawn(self) -> Iterator[Surface]:
        clear = self.batched_opacities
        yield placed(
            (self.vertices, self.faces),
            np.asarray(self.batched_positions, float),
            matrices(np.asarray(self.batched_wxyzs, float)),
            np.asarray(self.batched_scales, float),
            np.asarray(self.batched_colors, float),
            opacity=1.0 if clear is None else float(np.min(clear)),
            shadow=self.cast_shadow,
        )


class _Arrows(Node):
    points: Array  # (N, 2, 3)
    color: Any
    shaft_radius: float
    head_radius: float
    head_length: float

    def drawn(self) -> Iterator[Surface]:
        start, way = self.points[:, 0].astype(float), np.diff(self.points, axis=1)[:, 0].astype(float)
        lengths = np.linalg.norm(way, axis=1)
        seen = lengths > 0.0
        start, way, lengths = start[seen], way[seen], lengths[seen]
        if not len(way):
            return
        turns, colour = np.array([turned_to(each) for each in way]), np.asarray(self.color, float)
        heads = np.minimum(self.head_length, 0.6 * lengths)
        ways = way / lengths[:, None]
        parts = (
            (_bar(), self.shaft_radius, lengths - heads, 0.5 * (lengths - heads)),
            (_tip(), self.head_radius, heads, lengths - heads),
        )
        for surface, radius, long, along in parts:
            thick = np.full(len(long), radius)
            scales = np.column_stack([thick, thick, long])
            yield placed(surface, start + along[:, None] * ways, turns, scales, colour)


class _Axes(Node):
    batched_wxyzs: Array
    batched_positions: Array
    axes_length: float
    axes_radius: float

    def drawn(self) -> Iterator[Surface]:
        turns, at = matrices(np.asarray(self.batched_wxyzs, float)), np.asarray(self.batched_positions, float)
        scales = np.tile([self.axes_radius, self.axes_radius, self.axes_length], (len(at), 1))
        for axis, colour in zip(np.eye(3), _AXES, strict=True):
            middles = at + 0.5 * self.axes_length * (turns @ axis)
            yield placed(_bar(), middles, turns @ turned_to(axis), scales, colour)


class _Segments(Node):
    points: Array
    color: Any
    thickness: float

    def drawn(self) -> Iterator[Lines]:
        points, colours = np.asarray(self.points, float), np.asarray(self.color, float)
        if colours.ndim == 1:
            yield Lines(points, colours, self.thickness)
            return
        for colour in np.unique(colours[:, 0], axis=0):  # both ends have the same
            yield Lines(points[(colours[:, 0] == colour).all(axis=1)], colour, self.thickness)


class _Words(Node):
    text: str
    position: Any
    anchor: str

    def drawn(self) -> Iterator[Label]:
        if self.text:
            yield Label(self.text, np.asarray(self.position, float), self.anchor.startswith("center-center"))


class PictureScene:
    """Where overlays put what they show: it stands for viser's server, its scene, and a page that looks."""

    def __init__(self, view: View, size: tuple[int, int]) -> None:
        self.nodes: dict[str, Node] = {}
        camera = SimpleNamespace(
            position=view.position,
            look_at=view.look_at,
            up_direction=view.up,
            fov=view.fov,
            image_width=size[0],
            image_height=size[1],
        )
        self._clients = {0: SimpleNamespace(camera=camera)}

    @property
    def scene(self) -> "PictureScene":
        return self

    def get_clients(self) -> dict[int, Any]:
        return self._clients

    def drawn(self) -> Iterator[Surface | Lines | Label]:
        """Return all that is seen now; what is in a folder that is hidden is not."""
        for name, node in self.nodes.items():
            above = name.rpartition("/")[0]
            if node.visible and (above not in self.nodes or self.nodes[above].visible):
                yield from node.drawn()

    def _add(self, kind: type[Node], name: str, **shown: Any) -> Any:
        self.nodes[name] = kind(self, name, **shown)
        return self.nodes[name]

    def add_frame(self, name: str, *, show_axes: bool) -> Any:
        return self._add(Node, name)

    def add_batched_meshes_simple(
        self,
        name: str,
        vertices: Array,
        faces: Array,
        *,
        batched_opacities: Any = None,
        cast_shadow: bool = True,
        **shown: Any,
    ) -> Any:
        about = {"batched_opacities": batched_opacities, "cast_shadow": cast_shadow, **shown}
        return self._add(_Meshes, name, vertices=vertices, faces=faces.astype(np.int64), **about)

    def add_arrows(self, name: str, points: Array, colors: Any, **sizes: float) -> Any:
        return self._add(_Arrows, name, points=points, color=colors, **sizes)

    def add_batched_axes(self, name: str, **shown: Any) -> Any:
        return self._add(_Axes, name, **shown)

    def add_line_segments(
        self, name: str, points: Array, colors: Any, *, thickness: float, thickness_units: str
    ) -> Any:
        return self._add(_Segments, name, points=points, color=colors, thickness=thickness)

    def add_label(
        self, name: str, text: str, *, anchor: str, font_screen_scale: float, visible: bool = True
    ) -> Any:
        label = self._add(_Words, name, text=text, anchor=anchor, position=np.zeros(3))
        label.visible = visible
        return label


def placed(
    surface: tuple[Array, Array],
    positions: Array,
    rotations: Array,
    scales: Array,
    colours: Array,
    *,
    opacity: float = 1.0,
    shadow: bool = False,
) -> Surface:
    """Return triangles at N places: turned (N, 3, 3), stretched (N, 3), of one colour or of N."""
    vertices, faces = surface
    count, corners = len(positions), len(vertices)
    stretched = vertices[None] * scales[:, None]
    there = np.einsum("nij,nvj->nvi", rotations, stretched) + positions[:, None]
    leaning = normals(vertices, faces)[None] / np.where(scales == 0.0, 1.0, scales)[:, None]
    leaning = np.einsum("nij,nvj->nvi", rotations, leaning)
    leaning /= np.maximum(np.linalg.norm(leaning, axis=2, keepdims=True), 1e-300)
    numbers = faces[None] + corners * np.arange(count)[:, None, None]
    paint = np.broadcast_to(np.atleast_2d(colours), (count, 3))
    return Surface(
        there.reshape(-1, 3),
        leaning.reshape(-1, 3),
        numbers.reshape(-1, 3),
        np.repeat(paint, corners, axis=0),
        opacity,
        shadow,
    )


def normals(vertices: Array, faces: Array) -> Array:
    """Return the mean normal of the faces at each vertex."""
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    across = np.cross(b - a, c - a)
    total = np.zeros_like(vertices, dtype=float)
    for k in range(3):
        np.add.at(total, faces[:, k], across)
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, lengths, out=np.zeros_like(total), where=lengths > 0.0)


@cache
def _bar() -> tuple[Array, Array]:
    """Return a bar along z about the origin, of radius 1 and length 1."""
    bar = cylinder(1.0, 1.0)
    return bar.corners, bar.faces


@cache
def _tip() -> tuple[Array, Array]:
    """Return a cone whose base, of radius 1, is at the origin, and its point at z = 1."""
    cone = solid_shell(Cone(1.0, 1.0))
    low = float(cone.corners[:, 2].min())
    return cone.corners - (0.0, 0.0, low), cone.faces
