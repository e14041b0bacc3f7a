"""The recorded steps of a scene, and the Recording that they are for plots, tables, pages and films.

Structure may change on the way: joints come and go, bodies change hands. What stays is the body. So the
recording of a scene is that of all bodies it ever had, each moving freely, under the path that it had when it
was first seen ("robot/forearm"): positions, velocities, momenta, energies, pictures. A body stands still at
its first place before it is added, and at its last one after it was removed; `present` says when it was
there. Coordinates of joints are not in it: they have a meaning only while the joint is there; keep those by
`world.observe`.
"""

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.algebra import rotation as rotations
from linkwork.errors import SimulationError, unknown
from linkwork.mechanism.joints import Free
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.state import State
from linkwork.recording.channels import LiveChannels
from linkwork.recording.recording import Recording
from linkwork.recording.report import Impact, Report
from linkwork.scene.handles import BodyHandle
from linkwork.scene.rigid_frames import frame_of
from linkwork.scene.scene_contacts import impacts
from linkwork.scene.scene_node import shape_of
from linkwork.simulation.options import most_numbers

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene
    from linkwork.scene.unit import Unit

Array = np.ndarray

_BODY = 18  # numbers that are kept of a body: pose and velocity


class SceneRecord:
    """Where bodies were at first and after each step: as many steps as fit."""

    def __init__(self, scene: "Scene", most: Any) -> None:
        if not isinstance(most, bool) and (not isinstance(most, int) or most < 1):
            raise ValueError(f"scene: record {most!r}; give True, False, or how many steps to keep")
        self._scene, self._most = scene, most
        self._times: list[float] = []
        self._frames: list[tuple[int, Array, Array]] = []  # layout, poses (n, 3, 4), velocities (n, 6)
        self._layouts: list[tuple[tuple[str, ...], Array]] = []  # labels and rows
        self._labels: dict[tuple[int, str], str] = {}  # of bodies, by the number of their unit
        self._bodies: dict[str, Any] = {}  # by label
        self._impacts: list[Impact] = []
        self._version = -1
        self._numbers = 0

    def add(self) -> None:
        """Record where bodies are now."""
        if self._most is False:
            return
        if self._version != self._scene.arrays.version:
            self._lay_out()
        rows = self._layouts[-1][1]
        arrays = self._scene.arrays
        self._times.append(self._scene.time)
        self._frames.append((len(self._layouts) - 1, arrays.poses[rows], arrays.velocities[rows]))
        self._impacts += self._heard()
        self._numbers += _BODY * len(rows)
        full = (
            self._numbers > most_numbers() // 2 if self._most is True else len(self._times) >= 2 * self._most
        )
        if full:
            self._drop(len(self._times) // 2)

    def _heard(self) -> list[Impact]:
        """Return the impacts of the last step, bodies by their labels; static shapes are ground."""
        found = []
        for encounter in self._scene.encounters.all:
            for one in impacts(encounter) if encounter.events else ():
                if len(one.point) == 3:
                    names = [self._label(body) for body in one.bodies]
                    pair = (names[0], names[-1])
                    point, impulse = (tuple(x.tolist()) for x in (one.point, one.impulse))
                    found.append(Impact(one.time, pair, point, impulse))
        return found

    def _label(self, node: Any) -> str:
        if not isinstance(node, BodyHandle):
            return "ground"
        return self._labels.get((node.actor.unit.number, node.name), "ground")

    def _lay_out(self) -> None:
        """Find the rows of all bodies, and label those that are new."""
        labels, rows = [], []
        taken = set(self._bodies)
        for unit in self._scene.units:
            for actor in unit.actors:
                for name in actor.names:
                    key = unit.number, name
                    if key not in self._labels:
                        label = f"{actor.path}/{name}"
                        while label in taken:
                            label += "'"
                        taken.add(label)
                        self._labels[key] = label
                        self._bodies[label] = unit.mechanism.bodies[name]
                    labels.append(self._labels[key])
                    rows.append(unit.first + unit.numbers[name])
        self._layouts.append((tuple(labels), np.array(rows, np.int64)))
        self._version = self._scene.arrays.version

    def renamed(self, old: "Unit", new: "Unit", names: dict[str, str]) -> None:
        """Know bodies of a unit that has become part of another."""
        for (number, name), label in list(self._labels.items()):
            if number == old.number and (name in old.numbers):
                self._labels[new.number, names.get(name, name)] = label

    def _drop(self, count: int) -> None:
        """Forget the first steps, and what only they had."""
        del self._times[:count], self._frames[:count]
        self._impacts = [one for one in self._impacts if self._times and one.time >= self._times[0]]
        first = self._frames[0][0] if self._frames else len(self._layouts) - 1
        del self._layouts[:first]
        self._frames = [(k - first, X, V) for k, X, V in self._frames]
        self._numbers = sum(_BODY * len(X) for _, X, _ in self._frames)
        there = {label for labels, _ in self._layouts for label in labels}
        self._bodies = {label: body for label, body in self._bodies.items() if label in there}
        self._labels = {key: label for key, label in self._labels.items() if label in there}

    @property
    def labels(self) -> tuple[dict[tuple[int, str], str], dict[str, Any]]:
        """The labels of bodies by the numbers of their units, and bodies by label."""
        return dict(self._labels), dict(self._bodies)

    def forget_after(self, t: float, labels: tuple[dict[tuple[int, str], str], dict[str, Any]]) -> None:
        """Forget steps that were taken back, and what was seen in them first; bodies had these `labels`."""
        count = int(np.searchsorted(self._times, t, side="right"))
        del self._times[count:], self._frames[count:]
        del self._layouts[1 + max((layout for layout, _, _ in self._frames), default=-1) :]
        self._labels, self._bodies = dict(labels[0]), dict(labels[1])
        self._numbers = sum(_BODY * len(X) for _, X, _ in self._frames)
        self._impacts = [one for one in self._impacts if one.time <= t]
        self._version = -1

    def __len__(self) -> int:
        return len(self._times)

    def recording(self) -> Recording:
        """Return the recording of all bodies."""
        if not self._times:
            raise SimulationError("scene: nothing is recorded; step it first, with lw.Scene(record=True)")
        kept = self._times[-self._most :] if self._most is not True else self._times
        frames = self._frames[-len(kept) :]
        time = np.array(kept)
        mechanism, labels = self._mechanism()
        model = mechanism.compile(floating=True)
        where = {label: k for k, label in enumerate(labels)}
        X, V = np.full((len(time), len(labels), 3, 4), np.nan), np.zeros((len(time), len(labels), 6))
        for k, (layout, poses, velocities) in enumerate(frames):
            columns = [where[label] for label in self._layouts[layout][0]]
            X[k, columns], V[k, columns] = poses, velocities
        q, v = _coordinates(model, labels, _held(X), V)
        work = np.full(len(time), np.nan)  # what contacts, joints and edits do is not added up
        changes = tuple(
            (float(time[k]), "structure changes")
            for k in range(1, len(frames))
            if frames[k][0] != frames[k - 1][0]
        )
        report = Report("DONE", mechanism="scene", method="steps of a scene", step=self._scene.step_size,
                        accepted=len(time) - 1, events=changes,
                        impacts=tuple(one for one in self._impacts if one.time >= time[0]))  # fmt: skip
        final = State(q[-1], v[-1], float(time[-1]), None, {}, model.slices)
        return Recording(LiveChannels(model), time, q, v, work, report, final)

    def present(self, label: str) -> Array:
        """Return in which recorded steps a body was there (S,)."""
        if label not in self._bodies:
            raise KeyError(unknown("body", label, self._bodies))
        there = [label in set(labels) for labels, _ in self._layouts]
        return np.array([there[layout] for layout, _, _ in self._frames])

    def _mechanism(self) -> tuple[Mechanism, list[str]]:
        """Return all bodies that were recorded, floating, and the static shapes."""
        labels = sorted({label for labels, _ in self._layouts for label in labels})
        return floating_bodies(self._scene, {label: self._bodies[label] for label in labels}), labels


def floating_bodies(scene: "Scene", bodies: Mapping[str, Any]) -> Mechanism:
    """Return a mechanism of copies of bodies, by new names, each floating, and of the static shapes."""
    made = Mechanism("scene", gravity=scene.gravity)
    for label, body in bodies.items():
        body = copy.deepcopy(body)
        body._name, body._journal = label, None
        made.add(body)
        made.add(Free(f"{label} free", made.ground, body))
    for static in scene.statics:
        for solid in static.solids:
            shape = shape_of(solid)
            pose = frame_of(static.pose) @ frame_of(np.column_stack([shape.rotation, shape.position]))
            made.ground.visuals = (*made.ground.visuals, _placed(shape, pose))
    return made


class SceneNow:
    """The bodies that a scene has, as a model in which each floats: for who looks on while time passes."""

    def __init__(self, scene: "Scene") -> None:
        self._scene, self.version = scene, scene.arrays.version
        bodies, rows = dict[str, Any](), list[int]()
        for actor in scene.actors:
            for name in actor.names:
                bodies[f"{actor.path}/{name}"] = actor.mechanism.bodies[name]
                rows.append(actor.row_of(name))
        self._labels, self._rows = list(bodies), np.array(rows, np.int64)
        self.model = floating_bodies(scene, bodies).compile(floating=True)

    def height(self, x: float, y: float) -> float:
        """Return how high static shapes are at a place [m]."""
        return self._scene.height(x, y)

    @property
    def state(self) -> State:
        """Where they are."""
        arrays = self._scene.arrays
        X, V = arrays.poses[None, self._rows], arrays.velocities[None, self._rows]
        q, v = _coordinates(self.model, self._labels, X, V)
        return State(q[0], v[0], self._scene.time, None, {}, self.model.slices)


def _placed(shape: Any, pose: Any) -> Any:
    """Return a shape somewhere else."""
    made = copy.copy(shape)
    object.__setattr__(made, "position", tuple(pose.position.tolist()))
    object.__setattr__(made, "rotation", tuple(map(tuple, pose.rotation.tolist())))
    return made


def _held(X: Array) -> Array:
    """Return poses (S, n, 3, 4) in which those that are missing are the last before, or the first after."""
    for k in range(X.shape[1]):
        there = np.flatnonzero(~np.isnan(X[:, k, 0, 0]))
        before = np.maximum.accumulate(np.where(np.isnan(X[:, k, 0, 0]), -1, np.arange(len(X))))
        X[:, k] = X[np.where(before < 0, there[0], before), k]
    return X


def _coordinates(model: Any, labels: list[str], X: Array, V: Array) -> tuple[Array, Array]:
    """Return positions and velocities of Free joints from poses and velocities."""
    q, v = np.zeros((len(X), model.nq)), np.zeros((len(X), model.nv))
    R = X[..., :3]
    for k, label in enumerate(labels):
        at_q, at_v = model.slices[f"{label} free"]
        turns = np.array([rotations.to_quaternion(frame_of(pose).R) for pose in X[:, k]], float)
        signs = np.cumprod(np.r_[1.0, np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)])
        q[:, at_q] = np.concatenate([X[:, k, :, 3], signs[:, None] * turns], axis=1)
        for half in (0, 3):
            v[:, at_v.start + half : at_v.start + half + 3] = np.einsum(
                "sji,sj->si", R[:, k], V[:, k, half : half + 3]
            )
    return q, v
