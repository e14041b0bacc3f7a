"""How joints are drawn: their marks on bodies, and what ground has under those that it has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.names import kind_name
from linkwork.mechanism.placement import lifted
from linkwork.view.arrow_shapes import drive_shell
from linkwork.view.body_pieces import SLIM, Part, box_corners, in_space, turned_to
from linkwork.view.drawn_pieces import JointMark, Piece
from linkwork.view.glyph import axis_vectors, glyphs
from linkwork.view.ground_symbols import Grounded
from linkwork.view.palette import DRIVE, JOINT, PAPER

Array = np.ndarray
Passed = Callable[[str], Array]  # the poses (S, 3, 4) that a body has passed

_RAIL = 0.22  # length of a rail, per size of the mechanism, unless the slider is longer
_STOUT = 0.08  # radius of a mark, per length of the shorter body: of many small ones none is hidden by it
_DRIVE = 0.038  # radius of the arrow of a motor, per size of the mechanism
_OPEN = 0.55, 1.02  # of the white in a pin of the plane, per radius and length of the pin


def joint_mark(joint: Joint, loop: bool) -> JointMark:
    """Return what a joint connects, and where."""
    on_parent, on_child = (_frame(frame) for frame in joint.frames())
    parent, child = joint.ends
    kind = kind_name(joint)
    return JointMark(
        joint.name, kind, parent, child, on_parent, on_child, axis_vectors(joint.shown_axes), loop
    )


def grounded(
    marks: Sequence[JointMark],
    bodies: Mapping[str, Body],
    shells: Mapping[str, Sequence[Part]],
    poses: Mapping[str, Array],
    passed: Passed | None = None,
) -> Iterable[Grounded]:
    """Return the joints that ground has, one of a kind at a place, with the bodies on them as drawn.

    What slides is at all places at once that it has passed, if that is known.
    """
    masses = {name: body.inertia.mass for name, body in bodies.items() if name != "ground"}
    centers = {name: moved(poses[name], in_space(bodies[name].inertia.com)) for name in masses}
    total = sum(masses.values())
    middle = sum((mass * centers[name] for name, mass in masses.items()), np.zeros(3)) / (total or 1.0)
    seen: list[tuple[str, Array]] = []
    for mark in marks:
        if "ground" not in (mark.parent, mark.child):
            continue
        on_ground = mark.on_parent if mark.parent == "ground" else mark.on_child
        body, place = mark.child if mark.parent == "ground" else mark.parent, on_ground[:, 3]
        if any(kind == mark.kind and np.allclose(place, other) for kind, other in seen):
            continue
        seen.append((mark.kind, place))
        boxes = [moved(own, box_corners(part.corners)) for part, own, _ in shells[body] if not part.endless]
        at = passed(body) if passed and mark.kind == "Prismatic" else poses[body][None]
        own = np.concatenate([np.zeros((0, 3)), *boxes])
        corners = np.einsum("sij,nj->sni", at[..., :3], own) + at[:, None, :, 3]
        along = on_ground[:, :3] @ mark.axes[0] if len(mark.axes) else np.zeros(3)
        yield Grounded(mark.name, mark.kind, place, along, middle, corners.reshape(-1, 3))


def joint_pieces(
    joints: Mapping[str, Joint],
    marks: Sequence[JointMark],
    shells: Mapping[str, Sequence[Part]],
    layers: Mapping[str, float],
    size: float,
) -> Iterable[Piece]:
    """Return the marks of joints: a little thicker than the thinner of the two bodies."""
    deep = max(layers.values(), default=0.0) - min(layers.values(), default=0.0)
    if layers:  # pins come out of the thickest body
        parts = [part for each in shells.values() for part, *_ in each]
        deep += max((float(np.ptp(part.corners[:, 2])) for part in parts), default=0.0)
    extents = {name: _extents(parts) for name, parts in shells.items()}
    for mark in marks:
        slim = [extents[name][0] for name in (mark.parent, mark.child) if extents[name][0] > 0.0]
        radius = float(np.clip(0.62 * min(slim, default=SLIM * size), 0.006 * size, 0.025 * size))
        long = [extents[name][1] for name in (mark.parent, mark.child) if extents[name][1] > 0.0]
        radius = min(radius, _STOUT * min(long, default=np.inf))
        rail = max(_RAIL * size, 1.4 * extents[mark.child][1])
        joint = joints[mark.name]
        for part, pose, shown in glyphs(joint.marks, joint.shown_axes, radius, rail, deep):
            body, frame = (mark.child, mark.on_child) if shown.on_child else (mark.parent, mark.on_parent)
            if shown.rail and layers and body == "ground":  # which has a guide
                continue
            placed = np.column_stack([frame[:, :3] @ pose[:, :3], frame[:, :3] @ pose[:, 3] + frame[:, 3]])
            if not shown.through:
                placed[2, 3] += layers.get(body, 0.0)
            yield Piece(mark.name, body, part, placed, JOINT)
            if shown.through and shown.shape == "cylinder" and layers:  # a pin in the plane is a circle
                across, along = _OPEN
                x, y, z = part.scale
                open_ = replace(part, scale=(across * x, across * y, along * z))
                yield Piece(mark.name, body, open_, placed, PAPER)


def drive_pieces(
    drives: Iterable[tuple[str, str]], marks: Sequence[JointMark], layers: Mapping[str, float], size: float
) -> Iterable[Piece]:
    """Return arrows round the hinges, and along the slides, that something of a name drives."""
    found = {mark.name: mark for mark in marks}
    for name, joint in drives:
        mark = found.get(joint)
        if mark is None or mark.kind not in ("Revolute", "Prismatic"):
            continue
        pose = mark.on_parent.copy()
        pose[:, :3] = pose[:, :3] @ turned_to(mark.axes[0])
        pose[2, 3] += layers.get(mark.parent, 0.0)
        yield Piece(name, mark.parent, drive_shell(mark.kind == "Revolute", _DRIVE * size), pose, DRIVE)


def _extents(parts: Sequence[Part]) -> tuple[float, float]:
    """Return the least and the largest extent of the shapes of a body; 0 if it has none."""
    extents = np.array([np.ptp(part.corners, axis=0) for part, _, _ in parts if not part.endless])
    return float(extents.min(initial=np.inf)) if len(extents) else 0.0, float(extents.max(initial=0.0))


def _frame(frame: Any) -> Array:
    scalars = np.array(frame.scalars(), float)
    return lifted(scalars.reshape((3, 4) if scalars.size == 12 else (2, 3)))


def moved(pose: Array, points: Array) -> Array:
    """Return points (N, 3) of a body, or one (3,), in the world."""
    return points @ pose[:, :3].T + pose[:, 3]
