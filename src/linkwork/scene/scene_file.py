"""Scenes in files: `.lws`, a header of plain values and arrays (`recording.array_file`), checked when read.

Mechanisms are written as JSON, equal ones once; states with what contacts remember; behaviours by the name of
their class and their values (`plain_values`). Nothing in a file is run, and no class is looked for that the
program has not defined. A scene that was read goes on bit for bit.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import FormatError, LinkworkError
from linkwork.formats.mechanism_json import mechanism_of_text, mechanism_text
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Pair
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.compile import compile_mechanism
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording import array_file
from linkwork.recording.stored_arrays import store_final
from linkwork.scene.actor import Actor
from linkwork.scene.plain_values import behaviour_read, behaviour_written, read, written
from linkwork.scene.rigid_frames import frame_of
from linkwork.scene.scene_node import Group, Node, Static
from linkwork.scene.unit import Unit

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray

_VERSION = 1


# writing


class _Writer:
    """What has been written so far: texts of mechanisms, and arrays."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.arrays: dict[str, Array] = {}
        self._known: dict[int, int] = {}
        self._kept: list[Mechanism] = []

    def mechanism(self, mechanism: Mechanism) -> int:
        if id(mechanism) not in self._known:
            text = mechanism_text(mechanism)
            if text not in self.texts:
                self.texts.append(text)
            self._known[id(mechanism)] = self.texts.index(text)
            self._kept.append(mechanism)
        return self._known[id(mechanism)]

    def state(self, prefix: str, state: State) -> list[str] | None:
        return store_final(self.arrays, prefix, state)


def save(scene: "Scene", path: Path) -> None:
    """Write a scene, all or nothing."""
    if path.suffix != ".lws":
        raise FormatError(f"{path}: scenes are saved as '.lws'; rename it")
    out = _Writer()
    units = [_unit(out, k, unit, scene.passing.of(unit)) for k, unit in enumerate(scene.units)]
    numbers = {unit: k for k, unit in enumerate(scene.units)}
    encounters = []
    for k, one in enumerate(scene.encounters.all):
        memory = out.state(f"encounter/{k}", one.state)
        words = {"units": [numbers[unit] for unit in one.units], "memory": memory, "offset": one.offset}
        words["names"] = list(one.names)
        encounters.append(words | {"resting": one.resting, "calm": one.calm, "apart": one.apart})
    header = {
        "kind": "scene",
        "scene_version": _VERSION,
        "gravity": scene.gravity.tolist(),
        "step": scene.step_size,
        "clock": scene.clock_numbers(),
        "groups": [_group(node) for node in scene.walk_nodes() if isinstance(node, Group)],
        "statics": out.mechanism(_statics(scene)),
        "order": [node.path for node in scene.walk_nodes()],
        "units": units,
        "encounters": encounters,
        "last_number": scene.last_number,
        "random": written(scene.random, "random"),
        "behaviours": [behaviour_written(each) for each in scene.behaviours],
        "mechanisms": out.texts,
    }
    array_file.write(path, header, out.arrays)


def _group(group: Group) -> dict[str, Any]:
    return {"path": group.path, "pose": group._pose.tolist()}


def _statics(scene: "Scene") -> Mechanism:
    """Return all static shapes as bodies of a mechanism, named by their paths."""
    made = Mechanism("statics", gravity=scene.gravity)
    for static in scene.statics:
        pose = static.pose
        body = Body(
            static.path,
            position=pose[:, 3],
            rotation=pose[:, :3],
            collisions=static.solids,
            material=static.material,
        )
        made.add(body)
        made.add(
            Fixed(f"{static.path} on ground", made.ground, body, on_parent=frame_of(pose), on_child=(0, 0, 0))
        )
    return made


def _unit(out: _Writer, k: int, unit: Unit, passing: Iterable[Pair]) -> dict[str, Any]:
    actors = []
    for n, actor in enumerate(unit.actors):
        words: dict[str, Any] = {"path": actor.path, "bodies": list(actor.names), "start": None, "held": None}
        if actor.start is not None:
            mechanism, _, state = actor.start
            memory = out.state(f"start/{k}/{n}", state)
            words["start"] = {"mechanism": out.mechanism(mechanism), "memory": memory}
        if actor.held:
            words["held"] = {"joints": list(actor.held), "mechanism": out.mechanism(_unlocked(actor))}
        actors.append(words)
    found: dict[str, Any] = {
        "number": unit.number,
        "mechanism": out.mechanism(unit.mechanism),
        "actors": actors,
    }
    found |= {"place": unit.place.tolist(), "paused": unit.paused}
    found |= {"accuracy": unit.accuracy, "max_step": unit.max_step}
    found["passing"] = [list(pair) for pair in sorted(passing)]
    if unit.encounter is None:
        found["memory"] = out.state(f"unit/{k}", unit.state)
    return found


def _unlocked(actor: Actor) -> Mechanism:
    """Return the mechanism of an actor with the joints that are locked now, and what acts on them."""
    made = actor.mechanism.copy()
    for name, (joint, waiting) in actor.held.items():
        made.remove(made.joints[name])
        for thing in (joint, *waiting):
            if thing.name not in made:
                made.add(_belonging(thing, made))
    return made


def _belonging(thing: Any, mechanism: Mechanism) -> Any:
    """Return a copy of an element that refers to the bodies of a mechanism."""
    import copy

    memo: dict[int, Any] = {}
    for body in thing.bodies if isinstance(thing, Joint) else thing.on:
        if isinstance(body, Body):
            memo[id(body)] = mechanism[body.name]
    made = copy.deepcopy(thing, memo)
    made._journal = None
    return made


# reading


def load(path: str | Path) -> "Scene":
    """Return the scene that `save` wrote; FormatError says what is wrong with a file."""
    header, arrays = array_file.read(path)
    if header.get("kind") != "scene":
        raise FormatError(f"{path}: holds {header.get('kind')!r:.40}, not a scene")
    if header.get("scene_version") != _VERSION:
        raise FormatError(
            f"{path}: a scene of version {header.get('scene_version')!r:.20}; this reads {_VERSION}"
        )
    try:
        return _Reader(str(path), header, arrays).scene
    except FormatError as error:
        raise FormatError(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        LinkworkError,
        OverflowError,
    ) as error:
        raise FormatError(f"{path}: is no complete scene: {type(error).__name__}: {error}") from None


class _Reader:
    """A scene as it is made from a file."""

    def __init__(self, path: str, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        from linkwork.scene import break_when, captured_motion, culling, scene_events, sensors  # noqa: F401
        from linkwork.scene.scene import Scene

        self._path, self._arrays = path, arrays
        self._mechanisms = [mechanism_of_text(text.encode(), path) for text in header["mechanisms"]]
        self._models: dict[int, Model] = {}
        self.scene = scene = Scene(header["gravity"], step=header["step"])
        self._clock = _clock(header["clock"])
        scene.set_clock(self._clock)
        for group in header["groups"]:
            parent, name = self._parent(group["path"])
            made = Group(parent.free_name(name, exact=True), parent, _pose(group["pose"]))
            parent.put(made)
        self._take_statics(header["statics"])
        units = [self._unit(k, words) for k, words in enumerate(header["units"])]
        scene.last_number = max([int(header["last_number"]), *(unit.number for unit in units)])
        joined: set[int] = set()
        for k, words in enumerate(header["encounters"]):
            numbers = [int(n) for n in words["units"]]
            if joined.intersection(numbers) or len(set(numbers)) != len(numbers) or min(numbers) < 0:
                raise FormatError(f"{path}: mechanisms are in two encounters: {numbers}")
            joined |= set(numbers)
            self._encounter(k, [units[n] for n in numbers], words)
        for k, unit in enumerate(units):
            if k not in joined:
                unit.settle(self._state(f"unit/{k}", header["units"][k]["memory"], unit.model))
                scene.rest(unit)
        self._order(header["order"])
        scene.random = read(header["random"], scene, "random")
        if not isinstance(scene.random, np.random.Generator):
            raise FormatError(f"{path}: random is no generator")
        scene.have_behaviours([behaviour_read(each, scene, path) for each in header["behaviours"]])

    def _parent(self, path: str) -> tuple[Group, str]:
        above, _, name = str(path).rpartition("/")
        parent = self.scene[above] if above else self.scene
        if not isinstance(parent, Group):
            raise FormatError(f"{self._path}: {above!r} is no group")
        return parent, name

    def _take_statics(self, number: int) -> None:
        for name, body in self._mechanisms[number].bodies.items():
            parent, called = self._parent(name)
            pose = np.column_stack([body.rotation, body.position])
            parent.free_name(called, exact=True)
            parent.put(Static(called, parent, tuple(body.collisions), pose, body.material))

    def _model(self, number: int) -> tuple[Mechanism, Model]:
        mechanism = self._mechanisms[number]
        if number not in self._models:
            self._models[number] = compile_mechanism(mechanism, floating=True, unrolls=False)
        return mechanism, self._models[number]

    def _state(self, prefix: str, memory: list[str] | None, model: Model) -> State:
        arrays = self._arrays
        q, v, t = (arrays[f"{prefix}/{part}"] for part in "qvt")
        if q.shape != (model.nq,) or v.shape != (model.nv,) or not np.isfinite([*q, *v, float(t)]).all():
            raise FormatError(f"{self._path}: the state {prefix!r} has shapes {q.shape} and {v.shape}")
        kept = None if memory is None else {name: arrays[f"{prefix}/memory/{name}"] for name in memory}
        words = []
        for word in ("inputs", "controllers"):
            first = f"{prefix}/{word}/"
            words.append({k.removeprefix(first): x for k, x in arrays.items() if k.startswith(first)})
        inputs = {name: float(x) for name, x in words[0].items()}
        return State(q.copy(), v.copy(), float(t), kept, inputs, model.slices, words[1])

    def _unit(self, k: int, words: Mapping[str, Any]) -> Unit:
        scene = self.scene
        mechanism, model = self._model(words["mechanism"])
        limits = [None if words[each] is None else float(words[each]) for each in ("accuracy", "max_step")]
        unit = Unit(
            int(words["number"]),
            scene.arrays,
            mechanism,
            model,
            _pose(words["place"]),
            model.state(),
            *limits,
        )
        unit.paused = bool(words["paused"])
        scene.passing.have(unit, {(str(a), str(b)) for a, b in words.get("passing", ())})
        scene.units.append(unit)
        for n, each in enumerate(words["actors"]):
            parent, name = self._parent(each["path"])
            bodies = [str(body) for body in each["bodies"]]
            if not set(bodies) <= set(unit.numbers):
                raise FormatError(f"{self._path}: {each['path']!r} has bodies that its mechanism has not")
            actor = Actor(parent.free_name(name, exact=True), parent, unit, bodies)
            parent.put(actor)
            if each["start"] is not None:
                own, start = self._model(each["start"]["mechanism"])
                actor.begins_as(own, start, self._state(f"start/{k}/{n}", each["start"]["memory"], start))
            if each["held"] is not None:
                actor.held = self._held(actor, each["held"])
        return unit

    def _held(self, actor: Actor, words: Mapping[str, Any]) -> dict[str, Any]:
        from linkwork.scene.scene_mechanism import users_of

        whole = self._mechanisms[words["mechanism"]]
        own = actor.mechanism
        return {
            name: (
                _belonging(whole.joints[name], own),
                [_belonging(thing, own) for thing in users_of(whole, whole.joints[name])[::-1]],
            )
            for name in words["joints"]
        }

    def _encounter(self, k: int, units: list[Unit], words: Mapping[str, Any]) -> None:
        names = [str(name) for name in words.get("names", range(len(units)))] if len(units) > 1 else [""]
        if len(names) != len(units) or (len(units) > 1 and not all(name.isdigit() for name in names)):
            raise FormatError(f"{self._path}: {len(units)} mechanisms are members {names!r:.60}")
        model = self.scene.encounters.model_of(units, names)
        state = self._state(f"encounter/{k}", words["memory"], model)
        rest = float(words["offset"]), bool(words["resting"])
        time, here = self.scene.time, state.t + rest[0]
        # Others may be a step ahead of one that failed; from farther behind a step would take forever.
        step = (self.scene.step_size or 0.0) + self._clock[2]
        if not rest[1] and abs(here - time) > step + _rounding(time):
            raise FormatError(f"{self._path}: mechanisms are at {here:g} s, and the scene at {time:g} s")
        made = self.scene.encounters.resume(units, names, state, *rest)
        made.calm, made.apart = int(words["calm"]), int(words["apart"])

    def _order(self, paths: list[str]) -> None:
        """Have nodes in the order that they had."""
        ranks = {path: k for k, path in enumerate(paths)}
        for group in self.scene.groups:
            children: list[Node] = sorted(group.children, key=lambda node: ranks.get(node.path, len(ranks)))
            group.have(tuple(children))


def _clock(numbers: Any) -> list[float]:
    """Return the numbers of a clock that has gone on in steps."""
    t, origin, dt, steps = (float(x) for x in numbers)
    if not (np.isfinite([t, origin, dt]).all() and dt >= 0.0 and steps >= 0.0 and steps.is_integer()):
        raise FormatError(f"a clock of {numbers!r:.80}; times are finite, and steps go on")
    if dt and not abs(t - (origin + steps * dt)) <= _rounding(t):
        raise FormatError(f"a clock at {t:g} s, after {steps:g} steps of {dt:g} s from {origin:g} s")
    return [t, origin, dt, steps]


def _rounding(t: float) -> float:
    return 1e-9 * (1.0 + abs(t))


def _pose(rows: Any) -> Array:
    pose = np.array(rows, float)
    if pose.shape != (3, 4) or not np.isfinite(pose).all():
        raise FormatError(f"a pose has shape {pose.shape}; it is (3, 4)")
    if np.abs(pose[:, :3] @ pose[:, :3].T - np.eye(3)).max() > 1e-9:
        raise FormatError("a pose has axes that are not square and of unit length")
    return pose
