"""A mechanism as a scene has it: a copy under the scene's gravity that floats where nothing holds it.

Static shapes of the scene are bodies of it, fixed to its ground where they are seen from there, and named by
their path, "/floor". So one mechanism alone is complete: it needs no other to know where the floor is, and
an edit of it grows its own model only.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from linkwork.errors import ModelError, warn
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact, contact_of_all, name_of
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Free
from linkwork.mechanism.mechanism import GRAVITY, Element, Mechanism, uses
from linkwork.mechanism.snapshot import editable_copy
from linkwork.scene.rigid_frames import composed, frame_of, inverted, seen_from
from linkwork.scene.scene_node import SEPARATOR, Static, shape_of

Array = np.ndarray

CONTACT = SEPARATOR + "contact"
_WELD = " on ground"


def taken_in(mechanism: Mechanism, gravity: Array, statics: Iterable[Static], place: Array) -> Mechanism:
    """Return the copy of a mechanism that a scene keeps; its ground is placed."""
    if mechanism.space != "space":
        raise ModelError(f"scene: {mechanism.name!r} is in the plane; scenes are in space")
    if not mechanism.bodies:
        raise ModelError(f"scene: {mechanism.name!r} has no bodies; add some to it first")
    made = editable_copy(mechanism)
    if not any(np.array_equal(made.gravity, known) for known in (gravity, GRAVITY["space"])):
        warn(
            f"scene: {made.name!r} has a gravity of its own, {made.gravity.tolist()}; that of the scene "
            f"holds, {gravity.tolist()}"
        )
    made.gravity = seen_from(place, gravity)
    _meet_by_materials(made)
    let_float(made)
    add_statics(made, statics, place)
    return made


def _meet_by_materials(made: Mechanism) -> None:
    """Let bodies have the material that a contact of all of them gives: a scene has one contact for all."""
    known = contact_of_all(made)
    without: list[tuple[str, ...]] = []
    if known is not None:
        if known.law is not None:
            raise ModelError(
                f"scene: contact {known.name!r} of {made.name!r} has a law for all bodies; give it to pairs, "
                "lw.Contact(name, between=(a, b), law=...), or to the material"
            )
        if known.material is not None:
            for body in (made.ground, *made.bodies.values()):
                if body.touched_by:
                    body.material = known.material
        without = [tuple(map(name_of, pair)) for pair in known.without]
        made.remove(known)
    if has_shapes(made):
        made.add(Contact(CONTACT, without=without))


def has_shapes(mechanism: Mechanism) -> bool:
    """Whether bodies of it can be touched; what is fixed for all mechanisms does not count."""
    return any(body.touched_by for body in own_bodies(mechanism))


def own_bodies(mechanism: Mechanism) -> list[Body]:
    """Return the bodies of a mechanism that are its own, not the scene's."""
    return [body for name, body in mechanism.bodies.items() if not name.startswith(SEPARATOR)]


def own_elements(mechanism: Mechanism) -> Iterator[Element]:
    """Iterate over the elements of a mechanism that are its own, not the scene's."""
    return (thing for thing in mechanism.elements if not thing.name.startswith(SEPARATOR))


def add_statics(made: Mechanism, statics: Iterable[Static], place: Array) -> None:
    """Let a mechanism that can be touched meet static shapes."""
    if CONTACT not in made.contacts:
        return
    for static in statics:
        pose = composed(inverted(place), static.pose)
        body = Body(
            static.body,
            position=pose[:, 3],
            rotation=pose[:, :3],
            collisions=static.solids,
            visuals=[shape_of(solid) for solid in static.solids],
            material=static.material,
        )
        made.add(body)
        made.add(Fixed(static.body + _WELD, made.ground, body, on_parent=frame_of(pose), on_child=(0, 0, 0)))


def remove_static(made: Mechanism, name: str) -> None:
    """Take static shapes out of a mechanism again, by the name of their body."""
    if name in made.bodies:
        made.remove(made.joints[name + _WELD])
        made.remove(made.bodies[name])


def joined_bodies(mechanism: Mechanism, start: Body, without: Iterable[Joint] = ()) -> set[Body]:
    """Return the bodies that joints join to a body, but those `without` which it is done; not ground."""
    left = set(map(id, without))
    links: dict[Body, list[Body]] = {}
    for joint in mechanism.joints.values():
        if id(joint) not in left and mechanism.ground not in (joint.parent, joint.child):
            links.setdefault(joint.parent, []).append(joint.child)
            links.setdefault(joint.child, []).append(joint.parent)
    found, todo = {start}, [start]
    while todo:
        for other in links.get(todo.pop(), ()):
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def let_float(mechanism: Mechanism) -> list[str]:
    """Give a Free joint to what no joint connects to ground: to the first body of each part of it."""
    held = [
        joint.child if joint.parent is mechanism.ground else joint.parent
        for joint in mechanism.joints.values()
        if mechanism.ground in (joint.parent, joint.child)
    ]
    seen: set[Body] = set()
    for body in held:
        if body not in seen:
            seen |= joined_bodies(mechanism, body)
    made = []
    for body in own_bodies(mechanism):
        if body not in seen:
            seen |= joined_bodies(mechanism, body)
            name = f"{body.name} free"
            while name in mechanism:
                name += "'"
            mechanism.add(Free(name, mechanism.ground, body))
            made.append(name)
    return made


def is_anchored(mechanism: Mechanism) -> bool:
    """Whether it matters where its ground is: something of its own is on it, other than by Free joints."""
    ground = mechanism.ground
    if ground.touched_by:
        return True
    held = (
        ground in (joint.parent, joint.child) and not is_floating_base(mechanism, joint)
        for name, joint in mechanism.joints.items()
        if not name.startswith(SEPARATOR)
    )
    others = (*mechanism.constraints.values(), *mechanism.drivers.values(), *mechanism.loads.values())
    on_ground = (any(end is ground for end in thing.on) for thing in others)
    return any(held) or any(on_ground) or any(load.whole for load in mechanism.loads.values())


def is_floating_base(mechanism: Mechanism, joint: Joint) -> bool:
    """Whether a joint lets a body float: a plain Free joint on ground, whose coordinates are its pose."""
    plain = joint.at is None and joint.on_parent is None and joint.on_child is None
    return type(joint) is Free and joint.parent is mechanism.ground and plain


def users_of(mechanism: Mechanism, thing: Element) -> list[Element]:
    """Return the elements that use one, and those that use these, the last first."""
    found: list[Element] = []
    todo = [thing]
    while todo:
        used = todo.pop()
        for other in mechanism.elements:
            if other is not used and not isinstance(other, Contact) and uses(other, used):
                if other in found:
                    found.remove(other)
                found.append(other)
                todo.append(other)
    return found[::-1]
