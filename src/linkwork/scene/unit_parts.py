"""Units that become one, and one that becomes two: elements change hands, states follow by name."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.merge import draw_elsewhere
from linkwork.model.compile import compile_mechanism
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.actor import Actor
from linkwork.scene.rigid_frames import (
    composed,
    frame_of,
    free_positions,
    free_velocities,
    inverted,
    seen_from,
)
from linkwork.scene.scene_mechanism import (
    CONTACT,
    add_statics,
    is_floating_base,
    let_float,
    own_elements,
    remove_static,
)
from linkwork.scene.unit import Unit

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray
Before = list[tuple[Model, State]]

_FAR = 0.5  # what is farther from the others than twice this is parted from them [m]


def joined_units(
    scene: "Scene", unit: Unit, other: Unit, place: Array
) -> tuple[Model, State, dict[str, str]]:
    """Move all elements of another unit to one; return model and state of both, and names that changed.

    The ground of both is where `place` says.
    """
    before = [(unit.model, unit.state), (other.model, other.state)]
    mechanism, second = unit.own_mechanism(), other.own_mechanism()
    if any(load.whole for load in second.loads.values()):
        raise ModelError("attach: a load that sees all coordinates cannot become part of another mechanism")
    if other.anchored and not np.array_equal(place, other.place):
        _move_ground(scene, other, composed(inverted(place), other.place))
    names = _new_names(mechanism, second)
    touched = CONTACT in mechanism.contacts
    _move_elements(second, mechanism, names)
    mechanism.gravity = seen_from(place, scene.gravity)
    if touched != (CONTACT in mechanism.contacts) or not np.array_equal(place, unit.place):
        for static in scene.statics:
            remove_static(mechanism, static.body)
        add_statics(mechanism, scene.statics, place)
    model = compile_mechanism(mechanism, floating=True, like=before[0][0])
    state = _state_of_both(before, model, names, scene.time)
    if not np.array_equal(unit.place, other.place):
        state = _seen_from(scene, unit, place, mechanism, model, state, names, other)
    unit.place = place
    return model, state, names


def _move_ground(scene: "Scene", unit: Unit, placed: Array) -> None:
    """Let a unit have its ground elsewhere, from where it is seen as `placed`."""
    mechanism = unit.own_mechanism()
    for thing in (*mechanism.constraints.values(), *mechanism.drivers.values(), *mechanism.loads.values()):
        if any(end is mechanism.ground for end in thing.on):
            raise ModelError(
                f"attach: {thing.name!r} of {unit.actors[0].path!r} is on its ground, and that of what it "
                "is joined to is elsewhere; lw.merge both mechanisms before they are added, or remove it"
            )
    draw_elsewhere(own_elements(mechanism), mechanism.ground, frame_of(placed))


def _new_names(mechanism: Mechanism, second: Mechanism) -> dict[str, str]:
    """Return the names that the elements of the second get in a mechanism, where each is there once."""
    names: dict[str, str] = {}
    taken = {*mechanism, *second}
    for thing in own_elements(second):
        names[thing.name] = thing.name
        if thing.name in mechanism:
            names[thing.name] = _free_name(thing.name, taken)
            taken.add(names[thing.name])
    return names


def _move_elements(second: Mechanism, mechanism: Mechanism, names: dict[str, str]) -> None:
    """Move the elements of the second to a mechanism, and which of them do not meet."""
    moving = list(own_elements(second))
    touching = second.contacts.get(CONTACT)
    passing = [tuple(names.get(_name(end), _name(end)) for end in pair) for pair in _without(touching)]
    for thing in reversed(moving):
        second.take(second.elements.index(thing))
    for thing in moving:
        _rename(thing, names)
        if not isinstance(thing, Contact):
            _ground(thing, second, mechanism)
        mechanism.insert(len(mechanism.elements), thing)
    if touching is not None and CONTACT not in mechanism.contacts:
        mechanism.add(Contact(CONTACT))
    if passing:
        contact = mechanism.contacts[CONTACT]
        contact.without = [*_without(contact), *passing]


def _state_of_both(before: Before, model: Model, names: dict[str, str], time: float) -> State:
    """Return the state of the model of both, joint by joint; those of the second have new names."""
    q, v = model.q_drawn.copy(), np.zeros(model.nv)
    inputs, controllers = {}, {}
    for (own, state), called in zip(before, ({}, names), strict=True):
        for joint, (from_q, from_v) in own.slices.items():
            name = called.get(joint, joint)
            if name in model.slices:
                at_q, at_v = model.slices[name]
                q[at_q], v[at_v] = state.q[from_q], state.v[from_v]
        inputs |= state.inputs
        controllers |= {called.get(name, name): value for name, value in state.controllers.items()}
    return State(q, v, time, None, inputs, model.slices, controllers)


def _free_name(name: str, taken: set[str]) -> str:
    """Return a name that is not taken: "knee 2", "knee 3", ..."""
    stem, _, last = name.rpartition(" ")
    stem = stem if last.isdigit() and stem else name
    number = 2
    while f"{stem} {number}" in taken:
        number += 1
    return f"{stem} {number}"


def part_what_is_apart(scene: "Scene") -> None:
    """Give one actor that has gone away from the others of its unit a unit of its own."""
    for unit in scene.units:
        if len(unit.actors) > 1 and unit.encounter:
            boxes = [scene.arrays.reached(actor.rows, 0.0, _FAR) for actor in unit.actors]
            lows = np.array([low.min(axis=0) for low, _ in boxes])
            highs = np.array([high.max(axis=0) for _, high in boxes])
            over = (lows[:, None] <= highs[None]).all(axis=2) & (highs[:, None] >= lows[None]).all(axis=2)
            alone = np.flatnonzero(over.sum(axis=1) == 1)
            for k in alone[::-1]:
                if is_apart(unit.actors[k]):
                    part_unit(scene, unit.actors[k])
                    return


def is_apart(actor: Actor) -> bool:
    """Whether nothing connects an actor to others of its unit."""
    own, mechanism = set(actor.names), actor.mechanism
    used = (_bodies_of(mechanism, thing) for thing in own_elements(mechanism))
    return all(bodies <= {*own, "ground"} for bodies in used if bodies & own)


def _seen_from(
    scene: "Scene",
    unit: Unit,
    place: Array,
    mechanism: Mechanism,
    model: Model,
    state: State,
    names: dict[str, str],
    other: Unit,
) -> State:
    """Return a state in which bodies that float are seen from the ground of the unit they are in now."""
    changed = {names.get(name, name): row for row, name in enumerate(other.numbers)}
    q, v = state.q.copy(), state.v.copy()
    rows = {name: unit.first + k for name, k in unit.numbers.items()}
    rows |= {name: other.first + k for name, k in changed.items()}
    back = inverted(place)
    for name, joint in mechanism.joints.items():
        if is_floating_base(mechanism, joint) and joint.child.name in rows:
            row = rows[joint.child.name]
            X, V = scene.arrays.poses[row], scene.arrays.velocities[row]
            at_q, at_v = model.slices[name]
            seen = composed(back, X)
            q[at_q], v[at_v] = free_positions(seen), free_velocities(X, V)
    return State(q, v, state.t, None, state.inputs, model.slices, state.controllers)


def part_unit(scene: "Scene", actor: Actor) -> None:
    """Give an actor, one of several of its unit, a unit of its own."""
    unit, own = actor.unit, set(actor.names)
    state, model, place = unit.state, unit.model, unit.place
    mechanism = unit.own_mechanism()
    moving = []
    for thing in own_elements(mechanism):
        used = _bodies_of(mechanism, thing)
        if used & own:
            if not used <= {*own, "ground"}:
                raise ModelError(
                    f"{actor.path!r}: {thing.name!r} connects it to {sorted(used - own)[0]!r}; remove that"
                )
            moving.append(thing)
    made = Mechanism(actor.name, gravity=mechanism.gravity)
    without = _without(mechanism.contacts.get(CONTACT))
    left = [pair for pair in without if not own.intersection(map(_name, pair))]
    if len(left) < len(without):
        mechanism.contacts[CONTACT].without = left
    for thing in reversed(moving):
        mechanism.take(mechanism.elements.index(thing))
    for thing in moving:
        _ground(thing, mechanism, made)
        made.insert(len(made.elements), thing)
    let_float(made)
    if any(body.touched_by for body in made.bodies.values()):
        made.add(Contact(CONTACT, without=[pair for pair in without if own.issuperset(map(_name, pair))]))
        add_statics(made, scene.statics, place)
    models = [compile_mechanism(each, floating=True, like=model) for each in (mechanism, made)]
    states = [_part_of(state, model, each) for each in models]
    other = Unit(scene.next_number(), scene.arrays, made, models[1], place, states[1])
    other.own_mechanism()
    scene.units.append(other)
    scene.passing.move(unit, other, {}, own)
    encounter = unit.encounter
    actor.move_to(other, {})
    unit.take(models[0], states[0])
    if encounter:
        scene.encounters.replace(encounter, {unit: states[0]})
    else:
        unit.settle(states[0])
        other.paused = unit.paused
    if encounter:
        scene.encounters.begin([other], [states[1]])


def _part_of(state: State, old: Model, new: Model) -> State:
    """Return the state of joints that are in another model, too."""
    q, v = new.q_drawn.copy(), np.zeros(new.nv)
    for joint, (at_q, at_v) in new.slices.items():
        from_q, from_v = old.slices[joint]
        q[at_q], v[at_v] = state.q[from_q], state.v[from_v]
    inputs = {name: value for name, value in state.inputs.items() if name in new.inputs}
    kept = {name: value for name, value in state.controllers.items() if name in new.mechanism.loads}
    return State(q, v, state.t, None, inputs, new.slices, kept)


def _bodies_of(mechanism: Mechanism, thing: Any) -> set[str]:
    """Return the names of the bodies that an element is about, through joints as well."""
    if thing.name in mechanism.bodies and thing is mechanism.bodies[thing.name]:
        return {thing.name}
    if isinstance(thing, Joint):
        return set(thing.ends)
    found = set()
    for name in map(_name, thing.on):
        found |= {name} if name in mechanism.bodies or name == "ground" else set(mechanism.joints[name].ends)
    return found


def _without(contact: Any) -> list[tuple[str, ...]]:
    return [] if contact is None else [tuple(map(_name, pair)) for pair in contact.without]


def _name(thing: Any) -> str:
    return thing if isinstance(thing, str) else thing.name


def _rename(thing: Any, names: dict[str, str]) -> None:
    """Give an element its new name, and let it refer to joints by theirs."""
    thing._name = names[thing.name]
    if isinstance(thing, Constraint | Load):
        on = tuple(names.get(each, each) if isinstance(each, str) else each for each in thing.on)
        if on != tuple(thing.on):
            thing.on = on


def _ground(thing: Any, old: Mechanism, new: Mechanism) -> None:
    """Let an element that is on the ground of one mechanism be on that of another."""
    if isinstance(thing, Joint):
        for word in ("parent", "child"):
            if getattr(thing, word) is old.ground:
                setattr(thing, word, new.ground)
    elif isinstance(thing, Constraint | Load) and any(each is old.ground for each in thing.on):
        thing.on = tuple(new.ground if each is old.ground else each for each in thing.on)
