"""Clocks of mechanisms in a scene: each may stand still, go on, or begin anew."""

from dataclasses import replace
from typing import TYPE_CHECKING

from linkwork.errors import ModelError
from linkwork.scene.actor import Actor
from linkwork.scene.encounter import at_time
from linkwork.scene.structural_change import take_out

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene


def pause(scene: "Scene", actor: Actor) -> None:
    """Stop the clock of a mechanism."""
    if not actor.paused:
        take_out(scene, actor).paused = True


def resume(scene: "Scene", actor: Actor) -> None:
    """Let the clock of a mechanism go on."""
    if actor.paused:
        actor.unit.paused = False
        scene.encounters.begin([actor.unit])


def sleep(scene: "Scene", actor: Actor) -> None:
    """Let a mechanism stand still, with all that it touches."""
    encounter = actor.unit.encounter
    if encounter and not encounter.resting:
        still = [replace(unit.state, v=0.0 * unit.v, memory=None) for unit in encounter.units]
        units = encounter.units
        scene.encounters.end(encounter, states=False, memory=False)
        scene.encounters.begin(units, still).resting = True


def restart(scene: "Scene", actor: Actor) -> None:
    """Begin anew with a mechanism as it was added."""
    if actor.start is None:
        raise ModelError(f"{actor.path!r} came off another mechanism; it has no start to go back to")
    unit = take_out(scene, actor)
    mechanism, model, state = actor.start
    unit.actors.remove(actor)
    unit.become(mechanism, model, state)
    unit.settle(at_time(state, scene.time))
    unit.paused = False
    actor.return_to(unit, tuple(unit.numbers), {}, {})
    scene.encounters.begin([unit])
