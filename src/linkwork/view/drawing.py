"""What a mechanism looks like, as plain data in space: pieces on bodies, marks of joints and springs.

A planar mechanism lies in the plane z = 0; joined bodies lie in layers above each other, as real ones do.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from linkwork.mechanism.body import Body
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import lifted
from linkwork.mechanism.sketch import Line, attachments
from linkwork.mechanism.springs import Spring
from linkwork.view.body_pieces import (
    Part,
    arm_to,
    described_parts,
    in_space,
    link_through,
    rgb_of,
)
from linkwork.view.constraint_drawing import (
    Connection,
    connections,
    outlines,
    rods,
    sketch_lines,
    toothed_wheels,
)
from linkwork.view.drawn_pieces import JointMark, Piece, SpringMark
from linkwork.view.ground_symbols import TURNING, anchor, supports
from linkwork.view.joint_drawing import Passed, drive_pieces, grounded, joint_mark, joint_pieces, moved
from linkwork.view.palette import GROUND, JOINT, body_colour

Array = np.ndarray

_SHRINK = 0.002  # faces of different bodies that lie in one plane would flicker: some are this much smaller


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
    connections: tuple[Connection, ...]  # constraints, drivers and loads
    masses: Array  # (B,) [kg]
    centers: Array  # (B, 3) in the body's frame [m]
    inertias: Array  # (B, 3, 3) about the centre of mass [kg m^2]
    drawn: Array  # (B, 3, 4) poses as drawn
    size: float  # of all that is drawn [m]
    paints: Mapping[str, int] = field(default_factory=dict)  # which colour of the palette each body has


def drawing(model: Any, before: Drawing | None = None, passed: Passed | None = None) -> Drawing:
    """Return what is drawn of a model; bodies that were in the drawing before an edit keep their colours."""
    return drawing_of_mechanism(model.mechanism, tuple(model.body_names), model.loop_names, before, passed)


def drawing_of_mechanism(
    mechanism: Mechanism,
    names: tuple[str, ...],
    closing: Container[str],
    before: Drawing | None = None,
    passed: Passed | None = None,
) -> Drawing:
    """Return what is drawn of a mechanism: bodies in this order, some joints closing loops.

    Where it is known which poses a body has `passed`, guides are as long as what slides in them needs.
    """
    bodies = {"ground": mechanism.ground} | {name: mechanism.bodies[name] for name in names}
    poses = {name: _drawn_pose(body) for name, body in bodies.items()}
    marks = tuple(joint_mark(joint, joint.name in closing) for joint in mechanism.joints.values())
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
    wheels = {name: list(parts) for name, parts in shells.items()}
    for name, wheel in toothed_wheels(mechanism, lines, size):
        wheels[name].append(wheel)
    pieces = list(_body_pieces(bodies, wheels, layers, _welded(marks), paints))
    up = _up(mechanism)
    springs = tuple(SpringMark(*rod, _spring_kind(mechanism, rod[0])) for rod in rods(lines))
    flat, stands = mechanism.space == "plane", list[Piece]()
    if flat or all(part.endless for part, *_ in shells["ground"]):
        held = grounded(marks, bodies, shells, poses, passed)
        symbols = [(joint.name, supports(joint, up, size, flat)) for joint in held]
        symbols += [(n, anchor(place, away, size, flat)) for n, place, away in _anchored(springs, poses)]
        stands = [Piece(n, "ground", part, pose, GROUND) for n, parts in symbols for part, pose, _ in parts]
    return Drawing(
        name=mechanism.name,
        space=mechanism.space,
        up=up,
        bodies=names,
        pieces=tuple(pieces),
        glyphs=(
            *stands,
            *joint_pieces(mechanism.joints, marks, shells, layers, size),
            *drive_pieces(_drives(mechanism), marks, layers, size),
            *_outlines(lines, layers, size),
        ),
        joints=marks,
        springs=springs,
        connections=tuple(connections(mechanism)),
        **_masses([bodies[name].inertia for name in names]),
        drawn=np.array([poses[name] for name in names]).reshape(-1, 3, 4),
        size=size,
        paints=paints,
    )


def _masses(inertias: Sequence[Inertia]) -> dict[str, Array]:
    """Return masses, centres of mass and tensors of bodies, as a drawing has them."""
    return {
        "masses": np.array([inertia.mass for inertia in inertias]),
        "centers": np.array([in_space(inertia.com) for inertia in inertias]).reshape(-1, 3),
        "inertias": np.array([_tensor(inertia) for inertia in inertias]).reshape(-1, 3, 3),
    }


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


def _drives(mechanism: Mechanism) -> Iterable[tuple[str, str]]:
    """Return the names of motors and drivers, with those of their joints."""
    for thing in (*mechanism.loads.values(), *mechanism.drivers.values()):
        if isinstance(thing, Motor | Driver):
            yield thing.name, str(getattr(thing.on[0], "name", thing.on[0]))


def _anchored(
    springs: Sequence[SpringMark], poses: Mapping[str, Array]
) -> Iterable[tuple[str, Array, Array]]:
    """Return where springs and dampers are held by ground, and unit vectors that lead out of them there."""
    for mark in springs:
        if mark.kind != "rod" and "ground" in (mark.a, mark.b):
            place, on_body = (mark.on_a, mark.on_b) if mark.a == "ground" else (mark.on_b, mark.on_a)
            way = place - moved(poses[mark.b if mark.a == "ground" else mark.a], on_body)
            if (length := float(np.linalg.norm(way))) > 0.0:
                yield mark.name, place, way / length


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


def _size(
    poses: Mapping[str, Array], shells: Mapping[str, Sequence[Part]], marks: Sequence[JointMark]
) -> float:
    """Return the diagonal of the box that all shapes and joints as drawn lie in."""
    points = [moved(poses[mark.child], mark.on_child[:, 3][None]) for mark in marks]
    for name, parts in shells.items():
        points += [
            moved(poses[name], moved(pose, part.corners)) for part, pose, _ in parts if not part.endless
        ]
    if not points:
        return 1.0
    corners = np.concatenate(points)
    return float(np.linalg.norm(np.ptp(corners, axis=0))) or 1.0


# joints


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
