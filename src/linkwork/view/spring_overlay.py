"""Springs as coils, dampers as cylinders with a rod, rods and ropes as bars between their ends."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwork.view import palette, tessellate
from linkwork.view.body_pieces import turned_to
from linkwork.view.drawn_pieces import SpringMark
from linkwork.view.moving_batch import add_batch, move_batch, paint_batch
from linkwork.view.overlay import Overlay
from linkwork.view.piece_poses import Places, WorldPoses
from linkwork.view.quaternion import quaternions
from linkwork.view.trajectory import Moment

Array = np.ndarray

_TURNS = 9  # of a coil
_RADII = {"spring": 0.016, "damper": 0.013, "rod": 0.005}  # per size of the mechanism
_THINNEST, _FATTEST = 0.035, 0.22  # of springs and dampers, per length


@cache
def unit_shape(kind: str) -> tuple[Array, Array]:
    """Return the triangles of a coil, a damper or a bar along z, of radius 1 and length 1."""
    if kind == "spring":
        turns = np.linspace(0.0, 1.0, 20 * _TURNS + 1)
        angles = 2.0 * np.pi * _TURNS * turns
        wide = np.minimum(1.0, 12.0 * np.minimum(turns, 1.0 - turns))  # its ends are on the axis
        line = np.column_stack([wide * np.cos(angles), wide * np.sin(angles), turns - 0.5])
        return _coil(line, 0.16, 0.012)
    if kind == "damper":
        rod = tessellate.cylinder(0.35, 1.0)
        pot = tessellate.cylinder(1.0, 0.42)
        return tessellate.joined((rod.corners, rod.faces), (pot.corners + (0.0, 0.0, -0.1), pot.faces))
    bar = tessellate.cylinder(1.0, 1.0)
    return bar.corners, bar.faces


def _coil(line: Array, across: float, along: float) -> tuple[Array, Array]:
    """Return a tube along a coil: its wire is `across` wide and `along` high, as the coil is stretched."""
    vertices, faces = tessellate.tube_surface(line, 1.0)
    rings = vertices.reshape(len(line), -1, 3) - line[:, None]
    return (line[:, None] + rings * (across, across, along)).reshape(-1, 3), faces


class Springs(Overlay):
    """What goes from a point of one body to a point of another; not on a switch."""

    def nodes(self) -> list[Any]:
        numbers = {name: k for k, name in enumerate(self._drawing.bodies)} | {"ground": -1}
        self._groups: list[tuple[Any, str, list[SpringMark], list[Places]]] = []
        for kind in _RADII:
            marks = [mark for mark in self._drawing.springs if mark.kind == kind]
            if not marks:
                continue
            sides = [(mark.a, mark.on_a) for mark in marks], [(mark.b, mark.on_b) for mark in marks]
            ends = [
                Places(
                    [numbers[name] for name, _ in side],
                    np.array([np.column_stack([np.eye(3), on]) for _, on in side]),
                )
                for side in sides
            ]
            self._groups.append((self._node(kind, len(marks)), kind, marks, ends))
        return [node for node, *_ in self._groups]

    def _node(self, kind: str, count: int) -> Any:
        name = "/springs" if kind == "rod" else f"/{kind}s/all"
        side = "front" if kind == "rod" else "double"
        colour, sizes = palette.SPRING, np.ones((count, 3))
        return add_batch(
            self._server.scene, name, unit_shape(kind), colour, sizes, side=side, cast_shadow=True
        )

    def highlight(self, name: str | None) -> None:
        """Show one in the colour of what is selected."""
        for node, _, marks, _ in self._groups if self._made else ():
            chosen = [palette.SELECTED if mark.name == name else palette.SPRING for mark in marks]
            paint_batch(node, np.array(chosen, np.uint8))

    def on_click(self, picked: Callable[[str | None], None]) -> None:
        """Return which one is clicked."""
        for node, _, marks, _ in self._groups if self._made else ():
            node.on_click(lambda event, marks=marks: picked(marks[event.instance_index or 0].name))

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        for node, kind, _, ends in self._groups:
            a, b = (places.positions(poses) for places in ends)
            lengths = np.linalg.norm(b - a, axis=1)
            radius = np.full(len(a), _RADII[kind] * self._size)
            if kind != "rod":
                long = np.maximum(lengths, 1e-9)
                radius = np.clip(radius, _THINNEST * long, _FATTEST * long)
            turns = quaternions(np.array([turned_to(way) for way in b - a]))
            move_batch(node, (a + b) / 2.0, turns, np.column_stack([radius, radius, lengths]))
