"""Reduced dynamics: joints that are locked for a while; bodies that they join move as one.

A joint is replaced by a weld of the same name, where it is. What bodies did relative to each other is ended
by an impulse between them, so that momentum is kept; energy of that motion is lost. Loads and constraints
that act on the joint wait; they come back, as the joint itself does, when it is unlocked.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.mechanism import Mechanism
from linkwork.scene.actor import Actor
from linkwork.scene.rigid_frames import composed, frame_of, inverted
from linkwork.scene.scene_mechanism import users_of
from linkwork.scene.structural_change import edit

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


def lock(scene: "Scene", actor: Actor, joints: Sequence[str]) -> None:
    """Lock joints between bodies of an actor, all of them if none is named."""
    found = {name: handle.joint for name, handle in actor.joints.items() if "ground" not in handle.joint.ends}
    for name in joints:
        if name not in found:
            raise ModelError(f"{actor.path!r}: {unknown('joint between its bodies', name, found)}")
    chosen = [name for name in joints or found if name not in actor.held and type(found[name]) is not Fixed]
    if not chosen:
        return
    poses = {name: np.array(actor[name].pose) for name in actor.names}
    kept: dict[str, Any] = {}

    def weld(mechanism: Mechanism) -> None:
        for name in chosen:
            joint = mechanism.joints[name]
            waiting = users_of(mechanism, joint)
            for user in waiting:
                mechanism.remove(user)
            mechanism.remove(joint)
            kept[name] = joint, waiting[::-1]
            a, b = (poses[body] for body in joint.ends)
            at = frame_of(composed(inverted(a), b))
            mechanism.add(Fixed(name, joint.parent, joint.child, on_parent=at, on_child=(0.0, 0.0, 0.0)))

    edit(scene, actor.unit, weld)
    actor.held |= kept


def unlock(scene: "Scene", actor: Actor) -> None:
    """Let joints move again that were locked; those that broke off meanwhile stay away."""
    kept = {name: what for name, what in actor.held.items() if name in actor}
    actor.held = {}
    if not kept:
        return

    def free(mechanism: Mechanism) -> None:
        for name in kept:
            for user in users_of(mechanism, mechanism.joints[name]):
                mechanism.remove(user)
            mechanism.remove(mechanism.joints[name])
        for joint, _ in kept.values():
            joint.parent, joint.child = (mechanism.bodies[body] for body in joint.ends)
            mechanism.add(joint)
        for _, waiting in kept.values():
            for user in waiting:
                if user.name not in mechanism:
                    mechanism.add(user)

    edit(scene, actor.unit, free)
