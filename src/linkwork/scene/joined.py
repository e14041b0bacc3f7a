"""The model of units that are simulated together, which grows as units come, change and go.

Units are members of one mechanism, "0/knee", "1/knee", behind the static shapes. When one of them is edited,
joins the others or leaves, only its own elements are taken out and put in; what has not changed is taken over
from the model before, and contacts remember what they did. The order of members, and their names, say all:
a model that has grown is to the bit the one that is made of the same members at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.mechanism.contact import Contact
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.merge import SEPARATOR, add_member, remove_member
from linkwork.model.compile import compile_mechanism
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.rigid_frames import HERE, frame_of
from linkwork.scene.scene_mechanism import CONTACT, add_statics, own_elements
from linkwork.scene.scene_node import Static
from linkwork.scene.unit import Unit
from linkwork.simulation.stepping import Simulation

Array = np.ndarray
Member = tuple[Unit, str, Model]  # with its name, and the model that it had


@dataclass(eq=False)
class Joined:
    """The model of units together; of one, its own."""

    models: tuple[Model, ...]  # of the units alone
    model: Model
    names: tuple[str, ...]  # of the members; "" of one alone
    columns: tuple[tuple[Any, Any], ...]  # of each unit: where its q and v are
    timed: bool  # whether time alone can move it
    whole: Mechanism | None = None  # from which the model was made, until another has grown from it
    idle: list[Simulation] = field(default_factory=list)  # simulations that are not used now

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What stands in front of the names of each unit."""
        return tuple(name + SEPARATOR if name else "" for name in self.names)


def alone(unit: Unit) -> Joined:
    """Return what one unit is by itself."""
    model = unit.model
    return Joined((model,), model, ("",), ((slice(None), slice(None)),), _timed(model))


def together(units: Sequence[Unit], names: Sequence[str], statics: Iterable[Static]) -> Joined:
    """Return several units, in this order, as members of these names."""
    whole = Mechanism("encounter", gravity=units[0].model.gravity)
    whole.journal.limit = 2
    whole.add(Contact(CONTACT))
    add_statics(whole, statics, HERE)
    for unit, name in zip(units, names, strict=True):
        _add(whole, unit, name)
    return _compiled(whole, units, names, None)


def grown(before: Joined, units: Sequence[Unit], names: Sequence[str]) -> Joined | None:
    """Return others from those before, of which members that stay come first; None if that cannot be.

    A member that is the same has its place, its name and its model; all others are put in behind.
    """
    whole, known = before.whole, dict(zip(before.names, before.models, strict=True))
    stays = [known.get(name) is unit.model for unit, name in zip(units, names, strict=True)]
    count = sum(stays)
    kept = list(names[:count])
    if whole is None or not count or not all(stays[:count]):
        return None
    if [name for name in before.names if name in kept] != kept:
        return None
    before.whole = None
    for name in before.names:
        if name not in kept:
            remove_member(whole, name)
    for unit, name in zip(units[count:], names[count:], strict=True):
        _add(whole, unit, name)
    return _compiled(whole, units, names, before.model)


def members(before: Sequence[Member], units: Sequence[Unit], used: Iterable[str] = ()) -> list[Member]:
    """Return units in the order in which they are members, with their names and models.

    Those that were members before, with the model that they still have, come first, as they were; then those
    that have changed, under their names; then new ones, under names that are not `used`.
    """
    there, known = set(units), {unit for unit, _, _ in before}
    same = [one for one in before if one[0] in there and one[0].model is one[2]]
    other = [
        (unit, name, unit.model) for unit, name, model in before if unit in there and unit.model is not model
    ]
    first = 1 + max((int(name) for name in (*used, *(name for _, name, _ in before)) if name), default=-1)
    fresh = sorted(there - known, key=lambda unit: unit.number)
    return [*same, *other, *((unit, str(first + k), unit.model) for k, unit in enumerate(fresh))]


def _add(whole: Mechanism, unit: Unit, name: str) -> None:
    chosen = [*own_elements(unit.mechanism), unit.mechanism.contacts[CONTACT]]
    add_member(whole, name, unit.mechanism, frame_of(unit.place), chosen)


def _compiled(whole: Mechanism, units: Sequence[Unit], names: Sequence[str], like: Model | None) -> Joined:
    models = tuple(unit.model for unit in units)
    prefixes = [name + SEPARATOR for name in names]
    cut = [
        prefix + joint
        for prefix, model in zip(prefixes, models, strict=True)
        for joint in model.loop_names
        if joint in model.mechanism.joints
    ]
    model = compile_mechanism(whole, cut=cut, floating=True, like=like)
    columns = tuple(_columns(own, model, prefix) for own, prefix in zip(models, prefixes, strict=True))
    return Joined(models, model, tuple(names), columns, _timed(model), whole)


def _timed(model: Model) -> bool:
    """Whether forces can change while nothing moves: by time, or by controllers."""
    laws = (*model.stepped_tree.loads, *model.stepped_tree.loops)
    sampled = any(type(load).__name__ == "Sampled" for load in model.mechanism.loads.values())
    return sampled or bool(model.mechanism.drivers) or any(one.timed or one.formula is None for one in laws)


def _columns(model: Model, whole: Model, prefix: str) -> tuple[Array, Array]:
    """Return where positions and velocities of an unit are among those of all."""
    q, v = np.zeros(model.nq, np.int64), np.zeros(model.nv, np.int64)
    for joint, (own_q, own_v) in model.slices.items():
        if joint.startswith(SEPARATOR):
            continue
        at_q, at_v = whole.slices[prefix + joint]
        q[own_q], v[own_v] = np.arange(at_q.start, at_q.stop), np.arange(at_v.start, at_v.stop)
    unknowns = {loop.name: loop for loop in whole.link_tree.loops if loop.drawn}
    for loop in model.link_tree.loops:
        if loop.drawn:
            at = unknowns[prefix + loop.name].u
            q[loop.u : loop.u + len(loop.drawn)] = np.arange(at, at + len(loop.drawn))
    return q, v


def joined_state(joined: Joined, states: Sequence[State], memory: Any = None) -> State:
    """Return the state of units together, at the time of the first; `memory` is that of all."""
    if len(states) == 1:
        return states[0]
    model = joined.model
    q, v = model.q_drawn.copy(), np.zeros(model.nv)
    inputs, controllers = dict[str, Any](), dict[str, Any]()
    for state, (at_q, at_v), prefix in zip(states, joined.columns, joined.prefixes, strict=True):
        q[at_q], v[at_v] = state.q, state.v
        inputs |= {prefix + word: value for word, value in state.inputs.items()}
        controllers |= {prefix + word: value for word, value in state.controllers.items()}
    return State(q, v, states[0].t, memory, inputs, model.slices, controllers)
