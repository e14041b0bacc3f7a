"""What is added to a scene while it runs: mechanisms, bodies, shapes that stand still."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.geometry.solid import Solid
from linkwork.mechanism.body import Body
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import numbers
from linkwork.model.compile import compile_mechanism
from linkwork.model.loop_closing import fitted
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.recording import Recording
from linkwork.scene.actor import Actor
from linkwork.scene.encounter import placed_bodies
from linkwork.scene.rigid_frames import HERE, composed, free_positions, free_velocities, placed, turned
from linkwork.scene.scene_mechanism import add_statics, is_anchored, is_floating_base, taken_in
from linkwork.scene.scene_node import Group, Static, shape_of
from linkwork.scene.structural_change import change_statics, dismiss
from linkwork.scene.unit import Unit

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray

_KNOWN = 32  # mechanisms that were added last, whose models are kept for others like them


class Adding:
    """Adds to a scene; identical mechanisms share one model."""

    def __init__(self, scene: "Scene") -> None:
        self._scene = scene
        self._known: list[tuple[Any, Any, Mechanism, Model]] = []  # of mechanisms that were added before

    def forget(self) -> None:
        """Forget models: what they meet has changed."""
        self._known.clear()

    def take_in(self, group: Group, thing: Any, given: dict[str, Any]) -> Any:
        """Add a mechanism, a body or shapes, with the options that were given."""
        name, position, rotation, velocity, start, material, accuracy, max_step = given.values()
        if isinstance(thing, Body):
            whole = Mechanism(thing.name)
            whole.add(thing if thing._journal is None else copy.deepcopy(thing))
            thing = whole
        if isinstance(thing, Mechanism | Model):
            refuse(
                thing, given, ("name", "position", "rotation", "velocity", "state", "accuracy", "max_step")
            )
            mechanism = thing.mechanism if isinstance(thing, Model) else thing
            called = group.free_name(
                mechanism.name.replace("/", " ") if name is None else name, exact=bool(name)
            )
            place = composed(group.pose, placed(position, rotation, f"scene: {called!r}"))
            begins = velocity, start, called
            return self._add_actor(group, mechanism, place, begins, accuracy, max_step)
        solids = tuple(thing) if isinstance(thing, list | tuple) else (thing,)
        if not solids or not all(isinstance(shape_of(one), Solid) for one in solids):
            raise TypeError(
                f"scene: cannot add {thing!r:.80}; give a Mechanism, a Body, shapes such as lw.ground_plane()"
                " or lw.Box(...), or a Behaviour; functions are called by world.observe(function)"
            )
        refuse(thing, given, ("name", "position", "rotation", "material"))
        if material is not None and not isinstance(material, Material):
            raise TypeError(f"scene: material {material!r:.80}; give a lw.Material(...)")
        first = shape_of(solids[0])
        called = type(first).__name__.lower() if name is None else name
        called = group.free_name(called, exact=bool(name))
        pose = composed(group.pose, placed(position, rotation, f"scene: {called!r}"))
        static = Static(called, group, solids, pose, material)
        group.put(static)
        change_statics(self._scene, lambda unit, made: add_statics(made, [static], unit.place))
        return static

    def _add_actor(
        self, group: Group, mechanism: Mechanism, place: Array, begins: tuple[Any, Any, str], *words: Any
    ) -> Actor:
        velocity, start, name = begins
        speed = np.zeros(3) if velocity is None else numbers(velocity, f"scene: {name!r}: velocity")
        if speed.shape != (3,):
            raise ValueError(f"scene: {name!r}: velocity {velocity!r}; give 3 numbers in m/s")
        own, model = self._compiled(mechanism, place)
        anchored = is_anchored(own)
        if anchored and speed.any():
            raise ValueError(f"scene: {name!r} is held by ground, and cannot move at velocity {velocity!r}")
        state = model.state(t=self._scene.time)
        if start is not None:
            state = _started(model, state, start, name)
        if not anchored:
            state = _moved(own, model, state, place, speed)
        unit = Unit(
            self._scene.next_number(),
            self._scene.arrays,
            own,
            model,
            place if anchored else HERE,
            state,
            *words,
        )
        self._scene.units.append(unit)
        actor = Actor(name, group, unit, list(unit.numbers))
        actor.begins_as(own, model, state)
        group.put(actor)
        try:
            self._scene.encounters.begin([unit]).begin()  # so that what cannot be simulated is refused here
        except Exception:
            dismiss(self._scene, actor)
            group.drop(actor)
            raise
        return actor

    def _compiled(self, mechanism: Mechanism, place: Array) -> tuple[Mechanism, Model]:
        """Return the scene's copy of a mechanism and its model; those of identical ones are shared."""
        revision = mechanism._revision, tuple(thing._revision for thing in mechanism.elements)
        anchored = is_anchored(mechanism)
        here = place.tobytes() if anchored else b""
        for source, key, own, model in self._known:
            if source is mechanism and key == (revision, here):
                return own, model
        own = taken_in(mechanism, self._scene.gravity, self._scene.statics, place if anchored else HERE)
        model = compile_mechanism(own, floating=True, unrolls=False)
        for _, key, same, known in self._known:
            if known.digest == model.digest and key[1] == here and list(same) == list(own):
                own, model = same, known
                break
        self._known.append((mechanism, (revision, here), own, model))
        del self._known[:-_KNOWN]
        return own, model


def refuse(thing: Any, given: dict[str, Any], allowed: Sequence[str]) -> None:
    """Say which of the options that were given have no meaning."""
    for word, value in given.items():
        if value is not None and word not in allowed:
            what = type(thing).__name__
            takes = ", ".join(f"{each}=" for each in allowed) or "no options"
            raise ModelError(f"scene: {word} {value!r:.60} has no meaning for a {what}; it takes {takes}")


def _started(model: Model, state: State, given: Any, name: str) -> State:
    """Return the state of a model in which joints are where a given one has them, by name; its own time."""
    found = given.final if isinstance(given, Recording) else given
    if not isinstance(found, State) or found.q.ndim != 1 or not found.slices:
        raise TypeError(f"scene: {name!r}: state {given!r:.80}; give model.state(knee=0.3), or a recording")
    unknowns = set(found.slices) - set(model.slices)
    if unknowns:
        raise ModelError(f"scene: {name!r}: its state has {unknown('joint', min(unknowns), model.slices)}")
    q, v = state.q.copy(), state.v.copy()
    for joint, (from_q, from_v) in found.slices.items():
        at_q, at_v = model.slices[joint]
        q[at_q], v[at_v] = found.q[from_q], found.v[from_v]
    inputs = {**state.inputs, **found.inputs}
    return State(fitted(model, q), v, state.t, None, inputs, model.slices, found.controllers)


def _moved(mechanism: Mechanism, model: Model, state: State, place: Array, speed: Array) -> State:
    """Return the state of what floats, carried along with its ground, and moving at a speed more."""
    q, v = state.q.copy(), state.v.copy()
    X, V = placed_bodies(model, q, v)
    for name, joint in mechanism.joints.items():
        if is_floating_base(mechanism, joint):
            at_q, at_v = model.slices[name]
            row = model.body_rows[joint.child.name]
            pose = composed(place, X[row])
            q[at_q] = free_positions(pose)
            v[at_v] = free_velocities(pose, turned(place, V[row]) + np.concatenate([np.zeros(3), speed]))
    return State(q, v, state.t, None, state.inputs, model.slices, state.controllers)
