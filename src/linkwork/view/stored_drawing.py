"""A drawing in the file of a recording, so that it can be looked at where there is no model.

What comes from a file is not trusted: what does not fit raises ValueError, TypeError, KeyError or IndexError.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.recording.layout import Layout
from linkwork.recording.report import text
from linkwork.view import tessellate
from linkwork.view.constraint_drawing import Connection
from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import JointMark, Piece, SpringMark
from linkwork.view.palette import body_colour
from linkwork.view.tessellate import Shell

Array = np.ndarray

_PREFIX = "drawing/"
_MEASURES = ("masses", "centers", "inertias", "drawn")


def described(drawing: Drawing) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return a drawing as plain JSON values, and arrays by name."""
    shells: dict[Any, tuple[int, Shell]] = {}
    for piece in (*drawing.pieces, *drawing.glyphs):
        shells.setdefault(piece.shell.key, (len(shells), piece.shell))
    kinds = [shell for _, shell in shells.values()]

    def plain(pieces: Iterable[Piece]) -> list[Any]:
        return [
            [
                piece.name,
                piece.body,
                shells[piece.shell.key][0],
                list(piece.shell.scale),
                piece.pose.tolist(),
                list(piece.colour),
                piece.opacity,
            ]
            for piece in pieces
        ]

    header = {
        "name": drawing.name,
        "space": drawing.space,
        "up": drawing.up.tolist(),
        "size": drawing.size,
        "bodies": list(drawing.bodies),
        "shells": [[len(shell.vertices), len(shell.faces), shell.convex, shell.endless] for shell in kinds],
        "pieces": plain(drawing.pieces),
        "glyphs": plain(drawing.glyphs),
        "joints": [_joint_row(mark) for mark in drawing.joints],
        "springs": [[m.name, m.a, m.b, m.on_a.tolist(), m.on_b.tolist(), m.kind] for m in drawing.springs],
        "ties": [[each.name, each.kind, *each.on] for each in drawing.connections],
    }
    arrays = {_PREFIX + word: getattr(drawing, word) for word in _MEASURES}
    arrays[_PREFIX + "vertices"] = np.concatenate([np.zeros((0, 3)), *(shell.vertices for shell in kinds)])
    arrays[_PREFIX + "faces"] = np.concatenate(
        [np.zeros((0, 3), np.int64), *(shell.faces for shell in kinds)]
    )
    return header, arrays


def _joint_row(m: JointMark) -> list[Any]:
    """Return a joint as plain values; `_joint_mark` reads them."""
    places = m.on_parent.tolist(), m.on_child.tolist(), m.axes.tolist()
    return [m.name, m.kind, m.parent, m.child, *places, m.loop]


def restored(header: Mapping[str, Any], arrays: Mapping[str, Array], bodies: Sequence[str]) -> Drawing:
    """Return the drawing that `described` made these of, if it is one of these bodies."""
    if list(header["bodies"]) != list(bodies):
        raise ValueError("it is of other bodies")
    known = {*bodies, "ground"}
    shells = _shells(header["shells"], arrays[_PREFIX + "vertices"], arrays[_PREFIX + "faces"])
    count = len(bodies)
    shapes = {"masses": (count,), "centers": (count, 3), "inertias": (count, 3, 3), "drawn": (count, 3, 4)}
    measures = {word: _finite(arrays[_PREFIX + word], shape) for word, shape in shapes.items()}
    if header["space"] not in ("space", "plane") or not 0.0 < float(header["size"]) < 1e9:
        raise ValueError(f"space {header['space']!r} or size {header['size']!r}")
    connected = header.get("ties", ())
    return Drawing(
        name=text(header["name"]),
        space=header["space"],
        up=_finite(header["up"], (3,)),
        bodies=tuple(bodies),
        pieces=tuple(_pieces(header["pieces"], shells, known)),
        glyphs=tuple(_pieces(header["glyphs"], shells, known)),
        joints=tuple(_joint_mark(row, known) for row in header["joints"]),
        springs=tuple(_spring_mark(row, known) for row in header["springs"]),
        connections=tuple(
            Connection(text(name), text(kind), tuple(map(text, on))) for name, kind, *on in connected
        ),
        masses=measures["masses"],
        centers=measures["centers"],
        inertias=measures["inertias"],
        drawn=measures["drawn"],
        size=float(header["size"]),
    )


def _joint_mark(row: Sequence[Any], known: set[str]) -> JointMark:
    name, kind, parent, child, on_parent, on_child, axes, loop = row
    return JointMark(
        text(name),
        text(kind),
        _known(parent, known),
        _known(child, known),
        _finite(on_parent, (3, 4)),
        _finite(on_child, (3, 4)),
        _finite(np.reshape(axes, (-1, 3)), (len(axes), 3)),
        bool(loop),
    )


def _spring_mark(row: Sequence[Any], known: set[str]) -> SpringMark:
    name, a, b, on_a, on_b, *kind = row
    ends = _known(a, known), _known(b, known)
    return SpringMark(text(name), *ends, _finite(on_a, (3,)), _finite(on_b, (3,)), _spring_kind(kind))


def bare(name: str, layout: Layout, poses: Array) -> Drawing:
    """Return a drawing of bodies of which nothing but the motion, (S, B, 3, 4), is known: balls."""
    reach = np.ptp(poses[..., 3].reshape(-1, 3), axis=0) if poses.size else np.zeros(3)
    size = float(np.linalg.norm(reach)) or 1.0
    count = len(layout.bodies)
    pieces = tuple(
        Piece(body, body, tessellate.ball(0.02 * size), np.eye(3, 4), body_colour(k))
        for k, body in enumerate(layout.bodies)
    )
    up = np.array([0.0, 1.0, 0.0]) if layout.space == "plane" else np.array([0.0, 0.0, 1.0])
    return Drawing(
        name=name,
        space=layout.space,
        up=up,
        bodies=tuple(layout.bodies),
        pieces=pieces,
        glyphs=(),
        joints=(),
        springs=(),
        connections=(),
        masses=np.zeros(count),
        centers=np.zeros((count, 3)),
        inertias=np.zeros((count, 3, 3)),
        drawn=np.tile(np.eye(3, 4), (count, 1, 1)),
        size=size,
    )


def _shells(sizes: Iterable[Any], vertices: Array, faces: Array) -> list[Shell]:
    vertices, faces = _finite(vertices, (len(vertices), 3)), np.asarray(faces)
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind != "i":
        raise ValueError("its faces are not triangles")
    made, v, f = [], 0, 0
    for number, (vertex_count, face_count, convex, endless) in enumerate(sizes):
        if not (vertex_count > 0 and face_count > 0 and v + vertex_count <= len(vertices)):
            raise ValueError("its shapes have other numbers of corners")
        own = faces[f : f + face_count]
        if len(own) != face_count or own.min() < 0 or own.max() >= vertex_count:
            raise ValueError("a triangle has a corner that is not there")
        corners = vertices[v : v + vertex_count]
        made.append(Shell(("stored", number), corners, own, convex=bool(convex), endless=bool(endless)))
        v, f = v + vertex_count, f + face_count
    return made


def _pieces(rows: Iterable[Any], shells: Sequence[Shell], known: set[str]) -> Iterable[Piece]:
    for name, body, number, scale, pose, colour, opacity in rows:
        if not 0 <= number < len(shells):
            raise ValueError(f"shape {number} is not there")
        shape = shells[number]
        x, y, z = _finite(scale, (3,)).tolist()
        red, green, blue = (int(np.clip(int(part), 0, 255)) for part in colour)
        stretched = replace(shape, scale=(x, y, z))
        clear = min(max(float(opacity), 0.0), 1.0)
        place = _finite(pose, (3, 4))
        yield Piece(text(name), _known(body, known), stretched, place, (red, green, blue), clear)


def _spring_kind(said: Sequence[Any]) -> str:
    """Return what a line between bodies stands for; files from before it was said have rods."""
    kind = text(said[0]) if said else "rod"
    if kind not in ("rod", "spring", "damper"):
        raise ValueError(f"{kind!r} is no kind of spring")
    return kind


def _known(name: Any, known: set[str]) -> str:
    if name not in known:
        raise ValueError(f"body {name!r} is not there")
    return name


def _finite(values: Any, shape: tuple[int, ...]) -> Array:
    array = np.array(values, float)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"numbers of shape {array.shape} where {shape} are expected, or not finite")
    return array
