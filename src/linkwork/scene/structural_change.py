"""Structure that changes in mid-motion: models are grown, states carried over by name, momentum kept."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import LinkworkError, ModelError, unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import name_of
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Free
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.carry import carry
from linkwork.model.state import State
from linkwork.scene.actor import Actor
from linkwork.scene.handles import BodyHandle, Handle, JointHandle
from linkwork.scene.passing import joined_pairs
from linkwork.scene.rigid_frames import composed, frame_of, free_positions, free_velocities, inverted, turned
from linkwork.scene.scene_mechanism import is_floating_base, joined_bodies, let_float, users_of
from linkwork.scene.unit import Unit
from linkwork.scene.unit_parts import joined_units

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


def edit(scene: "Scene", unit: Unit, change: Callable[[Mechanism], Any]) -> Any:
    """Change the mechanism of a unit in mid-motion; if that cannot be, nothing is changed."""
    scene.history.keep("edit")
    mechanism, state = unit.own_mechanism(), unit.state
    were = joined_pairs(mechanism)
    with mechanism.edit("scene"):
        found = change(mechanism)
        scene.passing.let(unit, scene.arrays, were - joined_pairs(mechanism))
    try:
        model, state = carry(unit.model, state, mechanism)
    except LinkworkError:
        mechanism.journal.undo()
        raise
    replace_model(scene, unit, model, state)
    return found


def replace_model(scene: "Scene", unit: Unit, model: Any, state: State) -> None:
    """Go on with another model of a unit, at a state."""
    encounter = unit.encounter
    others = {each: each.state for each in encounter.units if each is not unit} if encounter else {}
    unit.take(model, state)
    if encounter:
        scene.encounters.replace(encounter, {**others, unit: state})
    else:
        unit.settle(state)
        rest(scene, unit)


def rest(scene: "Scene", unit: Unit) -> None:
    """Write where the bodies of a unit are that is in no encounter."""
    X, V = scene.placed(unit.model, unit.state.q, unit.state.v)
    unit.write(X[unit.model_rows], V[unit.model_rows])


def change_statics(scene: "Scene", change: Callable[[Unit, Mechanism], None]) -> None:
    """Change the static shapes that all units meet."""
    scene.encounters.forget_models()
    scene.forget_known()
    made: dict[int, Any] = {}  # units that share a model share the next one
    for unit in scene.units:
        if not unit.touches:
            continue
        key = id(unit.model), unit.place.tobytes()
        if key in made:
            mechanism, model = made[key]
            _, state = carry(unit.model, unit.state, mechanism)
            unit.mechanism = mechanism
            replace_model(scene, unit, model, state)
            continue
        edit(scene, unit, lambda mechanism, unit=unit: change(unit, mechanism))
        unit.share()
        made[key] = unit.mechanism, unit.model


# taking apart


def detach(scene: "Scene", body: BodyHandle) -> Actor:
    """Take a body, with what hangs on it, off its mechanism."""
    actor, unit = body.actor, body.actor.unit
    branch = unit.model.graph.branches[unit.model.body_rows[body.name]]
    if branch.parent_name == "ground" and type(branch.joint) is Free:
        raise ModelError(
            f"{body.path!r} hangs on nothing: it is the base that floats; detach what hangs on it"
        )
    below = _below(unit, body.name)
    loose = set(below)

    def cut(mechanism: Mechanism) -> None:
        for thing in _crossing(mechanism, loose):
            if thing in mechanism:
                for user in users_of(mechanism, thing):
                    mechanism.remove(user)
                mechanism.remove(thing)
        _float_on(mechanism, mechanism.bodies[body.name])

    edit(scene, unit, cut)
    made = new_actor(scene, actor, body.name)
    actor.give(made, below)
    return made


def _float_on(mechanism: Mechanism, base: Body) -> None:
    """Let a body, and what hangs on it, float; then all else that is loose."""
    held = [joint for joint in mechanism.joints.values() if mechanism.ground in (joint.parent, joint.child)]
    part = joined_bodies(mechanism, base)
    if not any(part & {joint.parent, joint.child} for joint in held):
        name = f"{base.name} free"
        while name in mechanism:
            name += "'"
        mechanism.add(Free(name, mechanism.ground, base))
    let_float(mechanism)


def new_actor(scene: "Scene", actor: Actor, name: str) -> Actor:
    """Return another actor of the same unit, in the same group, still without bodies."""
    group = actor.parent
    assert group is not None
    made = Actor(group.free_name(name.rpartition("/")[2]), group, actor.unit, [])
    group.put(made)
    return made


def _below(unit: Unit, name: str) -> list[str]:
    """Return a body and those that hang on it in the tree of the model, by name."""
    found = {name}
    for branch in unit.model.graph.branches:  # parents come first
        if branch.parent_name in found:
            found.add(branch.body_name)
    return [each for each in unit.numbers if each in found]


def _crossing(mechanism: Mechanism, loose: set[str]) -> list[Any]:
    """Return joints, constraints and loads between some bodies and the others."""
    found = []
    for joint in mechanism.joints.values():
        if len(loose.intersection(joint.ends)) == 1:
            found.append(joint)
    for thing in (*mechanism.constraints.values(), *mechanism.drivers.values(), *mechanism.loads.values()):
        names = {name_of(end) for end in thing.on}
        bodies = names & {*mechanism.bodies, "ground"}
        if bodies & loose and bodies - loose:
            found.append(thing)
    return found


def separate(scene: "Scene", joint: JointHandle) -> Actor | None:
    """Take a joint out; return what comes off by it, if something does."""
    actor, name = joint.actor, joint.name
    described = actor.mechanism.joints[name]
    ends = [body.name for body in (described.parent, described.child) if body.name in actor.names]

    def cut(mechanism: Mechanism) -> None:
        own = mechanism.joints[name]
        for user in users_of(mechanism, own):
            mechanism.remove(user)
        mechanism.remove(own)
        if own.child is not mechanism.ground:
            _float_on(mechanism, own.child)
        let_float(mechanism)

    edit(scene, actor.unit, cut)
    if len(ends) < 2:
        return None
    mechanism = actor.mechanism
    off = {body.name for body in joined_bodies(mechanism, mechanism.bodies[ends[1]])}
    if ends[0] in off or not off.intersection(actor.names):
        return None
    held = any(
        mechanism.ground in (each.parent, each.child) and not is_floating_base(mechanism, each)
        for each in mechanism.joints.values()
        if off.intersection(each.ends)
    )
    made = new_actor(scene, actor, ends[0] if held else ends[1])
    chosen = [each for each in actor.names if (each not in off) == held]
    actor.give(made, chosen)
    return made


def disintegrate(scene: "Scene", actor: Actor) -> None:
    """Take out all joints, constraints and loads of an actor."""
    own = set(actor.names)

    def cut(mechanism: Mechanism) -> None:
        for thing in [
            *mechanism.loads.values(),
            *mechanism.drivers.values(),
            *mechanism.constraints.values(),
            *mechanism.joints.values(),
        ]:
            names = {name_of(end) for end in _ends(mechanism, thing)}
            if names & own and not (isinstance(thing, Joint) and is_floating_base(mechanism, thing)):
                for user in users_of(mechanism, thing):
                    mechanism.remove(user)
                if thing in mechanism:
                    mechanism.remove(thing)
        let_float(mechanism)

    edit(scene, actor.unit, cut)


def _ends(mechanism: Mechanism, thing: Any) -> Iterable[Any]:
    if isinstance(thing, Joint):
        return thing.ends
    joints = [
        mechanism.joints[name].ends for name in thing.on if isinstance(name, str) and name in mechanism.joints
    ]
    return [*thing.on, *(end for ends in joints for end in ends)]


def remove_element(scene: "Scene", actor: Actor, name: str) -> None:
    """Take an element out of a mechanism, and what refers to it."""
    if name not in actor.mechanism or name.startswith("/"):
        known = [each for each in actor.mechanism if not each.startswith("/")]
        raise KeyError(f"{actor.path!r}: {unknown('name', name, known)}")
    if name in actor.names and len(actor.unit.numbers) == 1:
        raise ModelError(
            f"{actor.path!r}: {name!r} is its last body; remove it from the scene: world.remove(...)"
        )

    def cut(mechanism: Mechanism) -> None:
        thing = mechanism[name]
        for user in users_of(mechanism, thing):
            mechanism.remove(user)
        _leave_contacts(mechanism, {name})
        mechanism.remove(thing)
        let_float(mechanism)

    edit(scene, actor.unit, cut)
    actor.lose([name])


def _leave_contacts(mechanism: Mechanism, names: set[str]) -> None:
    """Let contacts of all bodies name some bodies no longer."""
    for contact in list(mechanism.contacts.values()):
        pairs = [tuple(name_of(end) for end in pair) for pair in contact.without]
        kept = [pair for pair in pairs if not names.intersection(pair)]
        if len(kept) < len(pairs):
            contact.without = kept
        if contact.between and names & {name_of(end) for end in contact.between}:
            mechanism.remove(contact)


# putting together


def attach(
    scene: "Scene",
    parent: BodyHandle,
    child: BodyHandle,
    kind: Any,
    at: Any,
    axis: Any,
    name: str | None,
    options: Any,
) -> JointHandle:
    """Join two bodies where they are now; see `Scene.attach`."""
    for word, handle in (("parent", parent), ("child", child)):
        if not isinstance(handle, BodyHandle):
            raise TypeError(f"attach: {word} {handle!r}; give a body of a mechanism, robot['hand']")
    if parent is child:
        raise ModelError(f"attach: {parent.path!r} to itself; give two bodies")
    kind = Fixed if kind is None else kind
    if not (isinstance(kind, type) and issubclass(kind, Joint)):
        raise TypeError(f"attach: joint {kind!r}; give a class of joints, lw.Fixed or lw.Revolute")
    if parent.actor.unit is not child.actor.unit:
        join_units(scene, parent.actor.unit, child.actor.unit)
    unit = parent.actor.unit
    called = f"{parent.name} to {child.name}" if name is None else name
    while name is None and called in unit.mechanism:
        called += "'"
    if called in unit.mechanism:
        raise ModelError(f"attach: {called!r} is there already in {parent.actor.path!r}; give another name=")
    X_P, X_C = (np.array(handle.pose) for handle in (parent, child))
    place = np.column_stack([np.eye(3), X_C[:, 3] if at is None else np.asarray(at, float)])
    frames = [frame_of(composed(inverted(X), place)) for X in (X_P, X_C)]
    words = dict(options or {})
    if axis is not None:
        words["axis"] = tuple(np.asarray(axis, float).tolist())

    def join(mechanism: Mechanism) -> None:
        a, b = mechanism.bodies[parent.name], mechanism.bodies[child.name]
        if b not in joined_bodies(mechanism, a):
            _take_base(mechanism, a, b)
        mechanism.add(kind(called, a, b, on_parent=frames[0], on_child=frames[1], **words))

    edit(scene, unit, join)
    if parent.actor is not child.actor:
        other = child.actor
        other.give(parent.actor, list(other.names))
        scene.forget(other)
    return parent.actor[called]


def _take_base(mechanism: Mechanism, a: Body, b: Body) -> None:
    """Take away the Free joint of one of two parts that are about to be joined: they float together."""
    for body in (b, a):
        part = joined_bodies(mechanism, body)
        held = [
            joint
            for joint in mechanism.joints.values()
            if mechanism.ground in (joint.parent, joint.child) and part & {joint.parent, joint.child}
        ]
        if len(held) == 1 and is_floating_base(mechanism, held[0]):
            for user in users_of(mechanism, held[0]):
                mechanism.remove(user)
            mechanism.remove(held[0])
            return


def join_units(scene: "Scene", unit: Unit, other: Unit) -> None:
    """Let a unit become part of another; both stay where they are and move as they do."""
    place = unit.place
    if other.anchored and not np.array_equal(other.place, unit.place):
        if unit.anchored:
            raise ModelError(
                "attach: both mechanisms are held by grounds at different places; lw.merge them before they "
                "are added"
            )
        place = other.place
    if unit.paused or other.paused:
        raise ModelError("attach: a mechanism is paused; resume it first")
    both = [each.encounter for each in (unit, other)]
    model, state, names = joined_units(scene, unit, other, place)
    for encounter in {id(each): each for each in both if each}.values():
        gone = [unit, other]
        scene.encounters.replace(
            encounter, {each: each.state for each in encounter.units if each not in gone}, gone
        )
    scene.record.renamed(other, unit, names)
    for actor in list(other.actors):
        actor.move_to(unit, names)
    scene.passing.forget(other)
    scene.units.remove(other)
    other.give_back()
    unit.settle(state)
    unit.take(model, state)
    scene.encounters.begin([unit], [state])


# breaking bodies


def fracture(scene: "Scene", handle: BodyHandle, parts: Sequence[Body]) -> list[Actor]:
    """Break a body into parts; see `Scene.fracture`."""
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, Body) for part in parts):
        raise TypeError(
            f"fracture: parts {parts!r:.80}; give bodies, drawn where they are in the frame of the body"
        )
    actor, unit, name = handle.actor, handle.actor.unit, handle.name
    pose, velocity = np.array(handle.pose), _velocity(handle)
    before = _momentum(handle.body, pose, velocity)
    names: dict[str, Body] = {}

    def put(mechanism: Mechanism) -> None:
        old = mechanism.bodies[name]
        for user in users_of(mechanism, old):
            mechanism.remove(user)
        _leave_contacts(mechanism, {name})
        mechanism.remove(old)
        for part in parts:
            called = part.name
            while called in mechanism or called in names:
                called += "'"
            made = _part(part, called, old)
            names[called] = made
            mechanism.add(made)
            mechanism.add(Free(f"{called} free", mechanism.ground, made))
        let_float(mechanism)

    edit(scene, unit, put)
    poses = [composed(pose, np.column_stack([part.rotation, part.position])) for part in parts]
    speeds = _shared_out(before, names.values(), poses, pose, velocity)
    state = unit.state
    q, v = state.q.copy(), state.v.copy()
    back = inverted(unit.place)
    for called, place, speed in zip(names, poses, speeds, strict=True):
        at_q, at_v = unit.model.slices[f"{called} free"]
        if unit.placed:
            place, speed = composed(back, place), turned(back, speed)
        q[at_q], v[at_v] = free_positions(place), free_velocities(place, speed)
    moved = State(q, v, state.t, state.memory, state.inputs, unit.model.slices, state.controllers)
    replace_model(scene, unit, unit.model, moved)
    actor.lose([name])
    found = []
    for called in names:
        made = new_actor(scene, actor, called)
        made._names.append(called)
        found.append(made)
    if not actor.names:
        scene.forget(actor)
    return found


def _part(part: Body, name: str, old: Body) -> Body:
    import copy

    made = copy.deepcopy(part)
    made._name = name
    made.position, made.rotation = old.position, old.rotation
    return made


def _velocity(handle: BodyHandle) -> Array:
    return np.concatenate([handle.angular_velocity, handle.velocity])


def _momentum(body: Body, pose: Array, velocity: Array) -> Array:
    """Return angular momentum about the world's origin, and linear, of a body (6,)."""
    inertia, R = body.inertia, pose[:, :3]
    c, w = R @ np.asarray(inertia.com, float), velocity[:3]
    P = inertia.mass * (velocity[3:] + np.cross(w, c))
    L = R @ np.asarray(inertia.tensor, float) @ R.T @ w
    return np.concatenate([L + np.cross(pose[:, 3] + c, P), P])


def _shared_out(
    before: Array, bodies: Iterable[Body], poses: list[Array], pose: Array, velocity: Array
) -> list[Array]:
    """Return velocities (6,) of parts that move on as the whole did, with its momentum to the last digit.

    Where parts do not weigh what the whole did, a common change of velocity and spin makes up for it.
    """
    bodies, w = list(bodies), velocity[:3]
    speeds = [np.concatenate([w, velocity[3:] + np.cross(w, each[:, 3] - pose[:, 3])]) for each in poses]
    for _ in range(2):
        missing = before - sum(_momentum(*each) for each in zip(bodies, poses, speeds, strict=True))
        masses = np.array([body.inertia.mass for body in bodies])
        places = np.array(
            [X[:, 3] + X[:, :3] @ body.inertia.com for body, X in zip(bodies, poses, strict=True)]
        )
        centre = masses @ places / masses.sum()
        tensor = np.zeros((3, 3))
        for body, X, mass, place in zip(bodies, poses, masses, places, strict=True):
            r = place - centre
            tensor += X[:, :3] @ np.asarray(body.inertia.tensor, float) @ X[:, :3].T
            tensor += mass * (r @ r * np.eye(3) - np.outer(r, r))
        dv = missing[3:] / masses.sum()
        spin = np.linalg.lstsq(tensor, missing[:3] - np.cross(centre, missing[3:]), rcond=1e-12)[0]
        speeds = [
            speed + np.concatenate([spin, dv + np.cross(spin, X[:, 3] - centre)])
            for speed, X in zip(speeds, poses, strict=True)
        ]
    return speeds


# coming and going


def take_out(scene: "Scene", actor: Actor) -> Unit:
    """Take an actor out of its encounter, with a unit of its own; return that."""
    from linkwork.scene.unit_parts import part_unit

    if len(actor.unit.actors) > 1:
        part_unit(scene, actor)
    unit = actor.unit
    if unit.encounter:
        encounter, state = unit.encounter, unit.state
        scene.encounters.replace(encounter, {}, [unit])
        unit.settle(state)
    return unit


def dismiss(scene: "Scene", actor: Actor) -> None:
    """Let an actor leave the scene."""
    unit = take_out(scene, actor)
    scene.passing.forget(unit)
    scene.units.remove(unit)
    unit.give_back()


def handle_of(scene: "Scene", thing: Any) -> Handle:
    """Return a body or joint, given itself or by its path."""
    return scene[thing] if isinstance(thing, str) else thing
