"""What a mechanism looks like, as plain data in space: pieces on bodies, marks of joints and springs.

A planar mechanism lies in the plane z = 0; joined bodies lie in layers above each other, as real ones do.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.names import kind_name
from linkwork.mechanism.placement import lifted
from linkwork.mechanism.sketch import Line, attachments
from linkwork.mechanism.springs import Spring
from linkwork.view.body_pieces import (
    SLIM,
    Part,
    arm_to,
    box_corners,
    described_parts,
    in_space,
    link_through,
    rgb_of,
)
from linkwork.view.constraint_drawing import Tie, outlines, rods, sketch_lines, ties
from linkwork.view.glyph import axis_vectors, glyphs
from linkwork.view.palette import GROUND, JOINT, Rgb, body_colour
from linkwork.view.supports import TURNING, Grounded, supports
from linkwork.view.tessellate import Shell

Array = np.ndarray

_RAIL = 0.22  # length of a rail, per size of the mechanism, unless the slider is longer
_STOUT = 0.08  # radius of a mark, per length of the shorter body: of many small ones none is hidden by it
_SHRINK = 0.002  # faces of different bodies that lie in one plane would flicker: some are this much smaller


@dataclass(frozen=True, eq=False)
class Piece:
    """A shape on a body, or a mark of a joint on one."""

    name: str  # of the body or joint it shows
    body: str  # that it moves with
    shell: Shell
    pose: Array  # (3, 4) on that body
    colour: Rgb
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class JointMark:
    """A joint: what it connects, and where."""

    name: str
    kind: str  # name of its class
    parent: str
    child: str
    on_parent: Array  # (3, 4)
    on_child: Array  # (3, 4)
    axes: Array  # (k, 3) unit vectors in the joint's frame
    loop: bool  # it closes a loop, and carries no body


@dataclass(frozen=True, eq=False)
class SpringMark:
    """A line between points of two bodies: a spring, a damper, a rod or a rope."""

    name: str
    a: str
    b: str
    on_a: Array  # (3,)
    on_b: Array  # (3,)
    kind: str = "rod"  # or "spring", "damper"


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is drawn of a mechanism; bodies are those of the model, in its order, without ground."""

    name: str
    space: str  # "space" or "plane"
    up: Array  # (3,) unit vector
    bodies: tuple[str, ...]
    pieces: tuple[Piece, ...]
    glyphs: tuple[Piece, ...]  # of joints
    joints: tuple[JointMark, ...]
    springs: tuple[SpringMark, ...]  # and rods and ropes of constraints
    ties: tuple[Tie, ...]  # constraints and drivers
    masses: Array  # (B,) [kg]
    centers: Array  # (B, 3) in the body's frame [m]
    inertias: Array  # (B, 3, 3) about the centre of mass [kg m^2]
    drawn: Array  # (B, 3, 4) poses as drawn
    size: float  # of all that is drawn [m]
    paints: Mapping[str, int] = field(default_factory=dict)  # which colour of the palette each body has


def drawing(model: Any, before: Drawing | None = None) -> Drawing:
    """Return what is drawn of a model; bodies that were in the drawing before an edit keep their colours."""
    return drawing_of_mechanism(model.mechanism, tuple(model.body_names), model.loop_names, before)


def drawing_of_mechanism(
    mechanism: Mechanism, names: tuple[str, ...], closing: Container[str], before: Drawing | None = None
) -> Drawing:
    """Return what is drawn of a mechanism: bodies in this order, some joints closing loops."""
    bodies = {"ground": mechanism.ground} | {name: mechanism.bodies[name] for name in names}
    poses = {name: _drawn_pose(body) for name, body in bodies.items()}
    marks = tuple(_joint_mark(joint, joint.name in closing) for joint in mechanism.joints.values())
    shells = {name: list(described_parts(body)) for name, body in bodies.items()}
    size = _size(poses, shells, marks)
    lines = sketch_lines(mechanism, size)
    bare = [name for name in names if not shells[name]]
    points = attachments(mechanism) if bare else {}
    for name in bare:
        shells[name] = list(link_through(bodies[name], points.get(name, ()), size))
    for mark in marks:
        for name, on_body in ((mark.parent, mark.on_parent), (mark.child, mark.on_child)):
            if mark.kind in TURNING and name != "ground":
                shells[name] += arm_to(shells[name], on_body[:, 3], size)
    layers = _layers(mechanism.space, bodies, marks, shells)
    paints = _paints(names, before.paints if before else {})
    pieces = list(_body_pieces(bodies, shells, layers, _welded(marks), paints))
    up = _up(mechanism)
    stands: list[Piece] = []
    if mechanism.space == "plane" or all(part.endless for part, *_ in shells["ground"]):
        for joint in _grounded(marks, bodies, shells, poses):
            for part, pose, _ in supports(joint, up, size, mechanism.space == "plane"):
                stands.append(Piece(joint.name, "ground", part, pose, GROUND))
    inertias = [bodies[name].inertia for name in names]
    return Drawing(
        name=mechanism.name,
        space=mechanism.space,
        up=up,
        bodies=names,
        pieces=tuple(pieces),
        glyphs=(
            *stands,
            *_glyphs(mechanism.joints, marks, shells, layers, size),
            *_outlines(lines, layers, size),
        ),
        joints=marks,
        springs=tuple(SpringMark(*rod, _spring_kind(mechanism, rod[0])) for rod in rods(lines)),
        ties=tuple(ties(mechanism)),
        masses=np.array([inertia.mass for inertia in inertias]),
        centers=np.array([in_space(inertia.com) for inertia in inertias]).reshape(-1, 3),
        inertias=np.array([_tensor(inertia) for inertia in inertias]).reshape(-1, 3, 3),
        drawn=np.array([poses[name] for name in names]).reshape(-1, 3, 4),
        size=size,
        paints=paints,
    )


def _body_pieces(
    bodies: Mapping[str, Body],
    shells: Mapping[str, Sequence[Part]],
    layers: Mapping[str, float],
    welded: Container[str],
    paints: Mapping[str, int],
) -> Iterable[Piece]:
    """Return the shapes of bodies in their colours; those that lie in each other differ a little in size."""
    for name, parts in shells.items():
        number = paints.get(name, -1)
        own = bodies[name].color
        usual = GROUND if name in welded else body_colour(number), 1.0
        usual = usual if own is None else (rgb_of(own), float(own[3]))
        shrink = 1.0 - _SHRINK * ((number + 1) % 5)
        for part, pose, own_colour in parts:
            placed = pose.copy()
            placed[2, 3] += layers.get(name, 0.0)
            rgb, opacity = usual if own_colour is None else own_colour
            smaller = replace(part, scale=_times(part.scale, shrink))
            yield Piece(name, name, smaller, placed, rgb, opacity)


def _spring_kind(mechanism: Mechanism, name: str) -> str:
    """Return what a line between bodies stands for."""
    load = mechanism.loads.get(name)
    if not isinstance(load, Spring):
        return "rod"
    stiff = callable(load.stiffness) or np.any(np.asarray(load.stiffness, object) != 0.0)
    return "spring" if stiff else "damper"


def _paints(names: Sequence[str], before: Mapping[str, int]) -> dict[str, int]:
    """Return which colour each body has: the one it had, or the first that no other has."""
    paints = {name: before[name] for name in names if name in before}
    taken = set(paints.values())
    free = (number for number in count() if number not in taken)
    return {name: paints[name] if name in paints else next(free) for name in names}


# from the plane to space


def lifted_motions(motions: Array) -> Array:
    """Return angular and linear parts (..., 6) of those in space, or in the plane (..., 3)."""
    if motions.shape[-1] == 6:
        return np.asarray(motions, float)
    made = np.zeros((*motions.shape[:-1], 6))
    made[..., 2:5] = motions
    return made


def _frame(frame: Any) -> Array:
    scalars = np.array(frame.scalars(), float)
    return lifted(scalars.reshape((3, 4) if scalars.size == 12 else (2, 3)))


def _drawn_pose(body: Body) -> Array:
    return lifted(np.column_stack([body.rotation, body.position]))


def _tensor(inertia: Inertia) -> Array:
    tensor = np.asarray(inertia.tensor, float)
    return tensor if tensor.shape == (3, 3) else np.diag([0.0, 0.0, float(tensor)])


def _up(mechanism: Mechanism) -> Array:
    """Return where up is: against gravity, if that is along an axis; else along z, or y in the plane."""
    gravity = in_space(mechanism.gravity)
    along = np.abs(gravity) > 1e-9 * np.abs(gravity).max(initial=1e-300)
    if along.sum() == 1:
        return np.where(along, -np.sign(gravity), 0.0)
    return np.array([0.0, 1.0, 0.0]) if mechanism.space == "plane" else np.array([0.0, 0.0, 1.0])


# sizes


def _times(scale: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    x, y, z = scale
    return x * factor, y * factor, z * factor


def _extents(parts: Sequence[Part]) -> tuple[float, float]:
    """Return the least and the largest extent of the shapes of a body; 0 if it has none."""
    extents = np.array([np.ptp(part.corners, axis=0) for part, _, _ in parts if not part.endless])
    return float(extents.min(initial=np.inf)) if len(extents) else 0.0, float(extents.max(initial=0.0))


def _size(
    poses: Mapping[str, Array], shells: Mapping[str, Sequence[Part]], marks: Sequence[JointMark]
) -> float:
    """Return the diagonal of the box that all shapes and joints as drawn lie in."""
    points = [_moved(poses[mark.child], mark.on_child[:, 3][None]) for mark in marks]
    for name, parts in shells.items():
        points += [
            _moved(poses[name], _moved(pose, part.corners)) for part, pose, _ in parts if not part.endless
        ]
    if not points:
        return 1.0
    corners = np.concatenate(points)
    return float(np.linalg.norm(np.ptp(corners, axis=0))) or 1.0


def _moved(pose: Array, points: Array) -> Array:
    return points @ pose[:, :3].T + pose[:, 3]


# joints


def _grounded(
    marks: Sequence[JointMark],
    bodies: Mapping[str, Body],
    shells: Mapping[str, Sequence[Part]],
    poses: Mapping[str, Array],
) -> Iterable[Grounded]:
    """Return the joints that ground has, one of a kind at a place, with the bodies on them as drawn."""
    masses = {name: body.inertia.mass for name, body in bodies.items() if name != "ground"}
    centers = {name: _moved(poses[name], in_space(bodies[name].inertia.com)) for name in masses}
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
        boxes = [_moved(own, box_corners(part.corners)) for part, own, _ in shells[body] if not part.endless]
        corners = _moved(poses[body], np.concatenate([np.zeros((0, 3)), *boxes]))
        along = on_ground[:, :3] @ mark.axes[0] if len(mark.axes) else np.zeros(3)
        yield Grounded(mark.name, mark.kind, place, along, middle, corners)


def _joint_mark(joint: Joint, loop: bool) -> JointMark:
    on_parent, on_child = (_frame(frame) for frame in joint.frames())
    parent, child = joint.ends
    kind = kind_name(joint)
    return JointMark(
        joint.name, kind, parent, child, on_parent, on_child, axis_vectors(joint.shown_axes), loop
    )


def _welded(marks: Sequence[JointMark]) -> set[str]:
    """Return ground and all that is fixed to it."""
    welded = {"ground"}
    while True:
        more = {
            body
            for mark in marks
            if mark.kind == "Fixed" and welded & {mark.parent, mark.child}
            for body in (mark.parent, mark.child)
        }
        if more <= welded:
            return welded
        welded |= more


def _layers(
    space: str, bodies: Mapping[str, Body], marks: Sequence[JointMark], shells: Mapping[str, Sequence[Part]]
) -> dict[str, float]:
    """Return how high each body of a planar mechanism lies, so that no two that are joined touch [m]."""
    if space == "space":
        return {}
    near: dict[str, set[str]] = {name: set() for name in bodies}
    for mark in marks:
        near[mark.parent].add(mark.child)
        near[mark.child].add(mark.parent)
    numbers: dict[str, int] = {"ground": 0}
    for name in bodies:
        if name != "ground":
            taken = {numbers[other] for other in near[name] if other in numbers and other != "ground"}
            numbers[name] = next(k for k in range(len(bodies)) if k not in taken)
    depth = max(
        (float(np.ptp(part.corners[:, 2])) for parts in shells.values() for part, _, _ in parts), default=0.0
    )
    middle = max(numbers.values()) / 2.0
    return {name: 1.1 * depth * (number - middle) for name, number in numbers.items()}


def _outlines(lines: Sequence[tuple[str, Line]], layers: Mapping[str, float], size: float) -> Iterable[Piece]:
    """Return the lines that lie on one body, each in the layer of that body."""
    for name, body, shape, pose in outlines(lines, size):
        placed = pose.copy()
        placed[2, 3] += layers.get(body, 0.0)
        yield Piece(name, body, shape, placed, JOINT)


def _glyphs(
    joints: Mapping[str, Joint],
    marks: Sequence[JointMark],
    shells: Mapping[str, Sequence[Part]],
    layers: Mapping[str, float],
    size: float,
) -> Iterable[Piece]:
    """Return the marks of joints: a little thicker than the thinner of the two bodies."""
    deep = max(layers.values(), default=0.0) - min(layers.values(), default=0.0)
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
