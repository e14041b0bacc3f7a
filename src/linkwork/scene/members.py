"""Behaviours that a scene gets and loses, and nodes that leave it."""

from typing import TYPE_CHECKING, Any

from linkwork.errors import ModelError
from linkwork.scene.actor import Actor
from linkwork.scene.behaviour import Behaviour
from linkwork.scene.handles import Handle
from linkwork.scene.scene_mechanism import remove_static
from linkwork.scene.scene_node import Group, Static
from linkwork.scene.structural_change import change_statics, dismiss

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene


def add_behaviour(scene: "Scene", thing: Behaviour, behaviours: list[Behaviour]) -> Behaviour:
    """Let a behaviour begin, and be one of those of a scene."""
    if thing in behaviours:
        raise ModelError(f"scene: {thing!r} is in it already")
    for word, part in vars(thing).items():
        if not isinstance(part, Handle | Actor):
            continue
        if not part.exists or (part.actor if isinstance(part, Handle) else part).scene is not scene:
            raise ModelError(f"scene: {word} of {thing!r}, {part!r}, is not in this scene")
    thing.begin(scene)
    behaviours.append(thing)
    return thing


def remove_behaviour(thing: Behaviour, behaviours: list[Behaviour]) -> None:
    """Let a behaviour be none of a scene any more."""
    if thing not in behaviours:
        raise ModelError(f"scene: {thing!r} is not in it; nothing to remove")
    behaviours.remove(thing)


def remove_node(scene: "Scene", node: Any) -> None:
    """Take out a mechanism, a group with all that is in it, or static shapes."""
    if not isinstance(node, Group | Static | Actor) or node.parent is None:
        raise ModelError(
            f"scene: {node!r} is no node in it; give a mechanism, a group or static shapes, and take "
            "parts of a mechanism out by robot.remove(name)"
        )
    for child in list(node.children) if isinstance(node, Group) else ():
        remove_node(scene, child)
    if isinstance(node, Actor):
        dismiss(scene, node)
        node.parent.drop(node)
    elif isinstance(node, Static):
        body = node.body
        node.parent.drop(node)
        change_statics(scene, lambda _, made: remove_static(made, body))
    else:
        node.parent.drop(node)
