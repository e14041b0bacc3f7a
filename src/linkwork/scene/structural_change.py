"""Structure that changes in mid-motion: models are grown, states carried over by name, momentum kept.

What all changes have in common; `taking_apart`, `putting_together` and `fracture` are made of it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.mechanism.contact import name_of
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.carry import carry
from linkwork.model.state import State
from linkwork.scene.actor import Actor
from linkwork.scene.passing_pairs import joined_pairs
from linkwork.scene.unit import Unit

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


def edit(scene: "Scene", unit: Unit, change: Callable[[Mechanism], Any]) -> Any:
    """Change the mechanism of a unit in mid-motion; if that cannot be, nothing is changed."""
    mechanism, state = unit.own_mechanism(), unit.state_to_edit
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
    made: dict[tuple[int, bytes], Any] = {}  # units that share a model share the next one
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


# for what is made of it


def new_actor(scene: "Scene", actor: Actor, name: str) -> Actor:
    """Return another actor of the same unit, in the same group, still without bodies."""
    group = actor.parent
    assert group is not None
    made = Actor(group.free_name(name.rpartition("/")[2]), group, actor.unit, [])
    group.put(made)
    return made


def leave_contacts(mechanism: Mechanism, names: set[str]) -> None:
    """Let contacts of all bodies name some bodies no longer."""
    for contact in list(mechanism.contacts.values()):
        pairs = [tuple(name_of(end) for end in pair) for pair in contact.without]
        kept = [pair for pair in pairs if not names.intersection(pair)]
        if len(kept) < len(pairs):
            contact.without = kept
        if contact.between and names & {name_of(end) for end in contact.between}:
            mechanism.remove(contact)


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
