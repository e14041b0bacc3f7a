"""Mechanisms taken apart in mid-motion: what comes off floats on, as a mechanism of its own."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import name_of
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Free
from linkwork.mechanism.mechanism import Mechanism
from linkwork.scene.actor import Actor
from linkwork.scene.handles import BodyHandle, JointHandle
from linkwork.scene.scene_mechanism import is_floating_base, joined_bodies, let_float, users_of
from linkwork.scene.structural_change import edit, leave_contacts, new_actor
from linkwork.scene.unit import Unit

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene


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
        names = {end if isinstance(end, str) else end.name for end in thing.on}
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
        leave_contacts(mechanism, {name})
        mechanism.remove(thing)
        let_float(mechanism)

    edit(scene, actor.unit, cut)
    actor.lose([name])
    if not actor.names:
        scene.forget(actor)
