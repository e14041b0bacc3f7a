"""Bodies joined where they are in mid-motion; mechanisms that become one."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import numbers
from linkwork.model.state import State
from linkwork.scene.handles import BodyHandle, JointHandle, body_in
from linkwork.scene.rigid_frames import composed, frame_of, inverted
from linkwork.scene.scene_mechanism import is_floating_base, joined_bodies, users_of
from linkwork.scene.scene_node import Static
from linkwork.scene.structural_change import edit
from linkwork.scene.unit import Unit
from linkwork.scene.unit_parts import joined_units

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


def attach(
    scene: "Scene",
    parent: Any,
    child: BodyHandle,
    kind: Any,
    at: Any,
    axis: Any,
    name: str | None,
    options: Any,
) -> JointHandle:
    """Join two bodies where they are now; see `Scene.attach`."""
    child = body_in(scene, child, "attach: child")
    ground = _is_ground(scene, parent)
    parent = child if ground else body_in(scene, parent, "attach: parent")
    if parent is child and not ground:
        raise ModelError(f"attach: {parent.path!r} to itself; give two bodies")
    kind = Fixed if kind is None else kind
    if not (isinstance(kind, type) and issubclass(kind, Joint)):
        raise TypeError(f"attach: joint {kind!r}; give a class of joints, lw.Fixed or lw.Revolute")
    if parent.actor.unit is not child.actor.unit:
        join_units(scene, parent.actor.unit, child.actor.unit)
    unit, first = parent.actor.unit, "ground" if ground else parent.name
    called = f"{first} to {child.name}" if name is None else name
    while name is None and called in unit.mechanism:
        called += "'"
    if called in unit.mechanism:
        raise ModelError(f"attach: {called!r} is there already in {parent.actor.path!r}; give another name=")
    X_P, X_C = np.array(unit.place if ground else parent.pose), np.array(child.pose)
    place = np.column_stack([np.eye(3), X_C[:, 3] if at is None else _three(at, "at")])
    frames = [frame_of(composed(inverted(X), place)) for X in (X_P, X_C)]
    words = dict(options or {})
    if axis is not None:
        words["axis"] = tuple(_three(axis, "axis").tolist())

    def join(mechanism: Mechanism) -> None:
        a, b = mechanism.ground if ground else mechanism.bodies[first], mechanism.bodies[child.name]
        if ground or b not in joined_bodies(mechanism, a):
            _take_base(mechanism, *((b,) if ground else (b, a)))
        mechanism.add(kind(called, a, b, on_parent=frames[0], on_child=frames[1], **words))

    edit(scene, unit, join)
    if parent.actor is not child.actor:
        other = child.actor
        other.give(parent.actor, list(other.names))
        scene.forget(other)
    return parent.actor[called]


def _is_ground(scene: "Scene", parent: Any) -> bool:
    """Whether what bodies are joined to is what stands still: shapes of the scene, or the scene itself."""
    node = scene[parent] if isinstance(parent, str) and parent in scene else parent
    if isinstance(node, Static) and (node.parent is None or node.parent.scene is not scene):
        raise ModelError(f"attach: parent: {node!r} is not in this scene")
    return node is scene or isinstance(node, Static)


def _three(given: Any, word: str) -> Array:
    found = numbers(given, f"attach: {word}")
    if found.shape != (3,):
        raise ValueError(f"attach: {word} {given!r}; give 3 numbers, of the world as it is now")
    return found


def _take_base(mechanism: Mechanism, *bodies: Body) -> None:
    """Take away the Free joint of one of the parts that are about to be joined: they float together."""
    for body in bodies:
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
    if unit.paused or other.paused:
        raise ModelError("attach: a mechanism is paused; resume it first")
    if other.mechanism.ground.touched_by:  # shapes of a ground stay with it
        unit, other = other, unit
        if other.mechanism.ground.touched_by:
            raise ModelError(
                f"attach: the grounds of {unit.actors[0].path!r} and {other.actors[0].path!r} have shapes, "
                "and bodies joined to each other one ground; add shapes that stand still to the scene: "
                "world.add(shapes)"
            )
    place = other.place if other.anchored and not unit.anchored else unit.place
    model, state, names = joined_units(scene, unit, other, place)

    def become() -> State:
        scene.record.renamed(other, unit, names)
        for actor in list(other.actors):
            actor.move_to(unit, names)
        scene.passing.move(other, unit, names, other.numbers)
        scene.passing.forget(other)
        scene.units.remove(other)
        other.give_back()
        unit.settle(state)
        unit.take(model, state)
        return state

    scene.encounters.fuse(unit, other, become)
