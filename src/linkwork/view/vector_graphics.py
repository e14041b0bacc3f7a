"""Vector graphics: outlines of pieces from the far ones to the near ones."""

from collections.abc import Iterator
from html import escape

import numpy as np

from linkwork.view.camera import View, projected
from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import Piece
from linkwork.view.palette import SPRING, Rgb, hexadecimal
from linkwork.view.piece_poses import WorldPoses

Array = np.ndarray
Shape = tuple[float, Array, Rgb]  # distance, corners (n, 2) in pixels, colour


def svg(drawing: Drawing, poses: Array, view: View, size: tuple[int, int]) -> str:
    """Return an SVG picture of bodies at poses (B, 3, 4)."""
    world = WorldPoses.of(poses)
    numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}
    shapes: list[Shape] = []
    for piece in (*drawing.pieces, *drawing.glyphs):
        k = numbers[piece.body]
        corners = piece.shell.corners @ piece.pose[:, :3].T + piece.pose[:, 3]
        corners = corners @ world.rotations[k].T + world.positions[k]
        shapes += _shapes(piece, corners, view, size)
    for mark in drawing.springs:
        ends = [
            world.rotations[numbers[name]] @ on + world.positions[numbers[name]]
            for name, on in ((mark.a, mark.on_a), (mark.b, mark.on_b))
        ]
        pixels, distance = projected(np.array(ends), view, size)
        shapes.append((float(distance.mean()), pixels, SPRING))
    shapes.sort(key=lambda shape: -shape[0])
    width, height = size
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f"<title>{escape(drawing.name)}</title>",
        '<g stroke-width="1" stroke-linejoin="round">',
        *(_polygon(corners, colour) for _, corners, colour in shapes),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _polygon(corners: Array, colour: Rgb) -> str:
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
    red, green, blue = colour
    edge = hexadecimal((red // 2, green // 2, blue // 2))
    if len(corners) == 2:
        return f'<polyline points="{points}" fill="none" stroke="{hexadecimal(colour)}" stroke-width="2"/>'
    return f'<polygon points="{points}" fill="{hexadecimal(colour)}" stroke="{edge}"/>'


def _shapes(piece: Piece, corners: Array, view: View, size: tuple[int, int]) -> Iterator[Shape]:
    """Return the outline of what is convex, and of other shapes the triangles that face the viewer."""
    pixels, distance = projected(corners, view, size)
    if (distance <= 0.0).any():
        return  # it is beside or behind the eye
    if piece.shell.convex:
        yield float(distance.min()), outline(pixels.round(2)), piece.colour
        return
    for face in piece.shell.faces:
        a, b, c = pixels[face]
        if (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]) < 0.0:  # y of pixels is down
            yield float(distance[face].mean()), pixels[face], piece.colour


def outline(points: Array) -> Array:
    """Return the convex hull of points of the plane, in order (Andrew's monotone chain, 1979)."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))]
    hull: list[Array] = []
    for chain in (order, order[::-1]):
        first = len(hull)
        for p in chain:
            while len(hull) >= first + 2 and _left(hull[-2], hull[-1], p) <= 1e-9:
                hull.pop()
            hull.append(p)
        hull.pop()
    return np.array(hull)


def _left(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
