"""The model of units that are simulated together, which grows as units come, change and go.

Units are members of one mechanism, "0/knee", "1/knee", behind the static shapes. When one of them is edited,
joins the others or leaves, only what has changed of its elements is copied; all else is taken over from the
model before, and contacts remember what they did. The order of members, and their names, say all: a model
that has grown is to the bit the one that is made of the same members at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from linkwork.mechanism.contact import Contact
from linkwork.mechanism.journaled import LOCKED
from linkwork.mechanism.mechanism import Element, Mechanism
from linkwork.mechanism.member_copies import MemberCopies
from linkwork.mechanism.merge import SEPARATOR
from linkwork.mechanism.snapshot import Snapshot, locked_like, snapshot
from linkwork.model.compile import compile_now, compile_snapshot
from linkwork.model.following import following
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.rigid_frames import HERE, frame_of
from linkwork.scene.scene_mechanism import CONTACT, add_statics
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
    whole: "Whole | None" = None  # of which the model was made
    idle: list[Simulation] = field(default_factory=list)  # simulations that are not used now

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What stands in front of the names of each unit."""
        return tuple(name + SEPARATOR if name else "" for name in self.names)


def alone(unit: Unit) -> Joined:
    """Return what one unit is by itself."""
    model = unit.model
    return Joined((model,), model, ("",), ((slice(None), slice(None)),), _timed(model))


def together(
    units: Sequence[Unit], names: Sequence[str], gravity: Array, statics: Iterable[Static]
) -> Joined:
    """Return several units, in this order, as members of these names."""
    return grown(Whole(gravity, statics), units, names)


def grown(whole: "Whole", units: Sequence[Unit], names: Sequence[str]) -> Joined:
    """Return several units, in this order, as members of these names, from a whole of other members."""
    model = whole.follow(units, names)
    models, prefixes = tuple(unit.model for unit in units), [name + SEPARATOR for name in names]
    columns = tuple(_columns(own, model, prefix) for own, prefix in zip(models, prefixes, strict=True))
    return Joined(models, model, tuple(names), columns, _timed(model), whole)


class Whole:
    """Copies of the elements of units behind the static shapes, and the model that was last made of them.

    It follows units as they come, change and go: the model grows from the one before by what has changed.
    """

    def __init__(self, gravity: Array, statics: Iterable[Static]) -> None:
        start = Mechanism("encounter", gravity=gravity)
        start.add(Contact(CONTACT))
        add_statics(start, statics, HERE)
        self._start = snapshot(start).mechanism
        self._contact = self._start.contacts[CONTACT]
        self._members: dict[str, tuple[Model, bytes, MemberCopies]] = {}
        self.model: Model | None = None

    def shared(self, units: Sequence[Unit], names: Sequence[str]) -> int:
        """Return how many bodies it has of those that units have as members of these names."""
        there = [unit for unit, name in zip(units, names, strict=True) if name in self._members]
        return sum(len(unit.numbers) for unit in there)

    def follow(self, units: Sequence[Unit], names: Sequence[str]) -> Model:
        """Return the model of units as members of these names."""
        made, before, self.model = locked_like(self._start), self.model, None
        fresh: list[Element] = [] if before else list(self._start.elements)
        members: dict[str, tuple[Model, bytes, MemberCopies]] = {}
        known, self._members = self._members if before else {}, {}
        for unit, name in zip(units, names, strict=True):
            model, place, copies = known.get(name, (None, b"", None))
            if copies is None or place != unit.place.tobytes():
                model, copies = None, MemberCopies(name, frame_of(unit.place))
            if model is not unit.model:
                fresh += copies.follow(unit.mechanism, made, SEPARATOR)
            members[name] = unit.model, unit.place.tobytes(), copies
        origin = self._assembled(made, [copies for *_, copies in members.values()], fresh)
        cut = [
            name + SEPARATOR + joint
            for unit, name in zip(units, names, strict=True)
            for joint in unit.model.loop_names
            if joint in unit.mechanism.joints
        ]
        model = compile_snapshot(origin, cut=cut, floating=True, like=before, unrolls=False)
        if not any(unit.model.inertia_fault for unit in units):
            vars(model)["inertia_fault"] = ""  # they are trees of their own
        self._members, self.model = members, following(model, compile_now)
        return self.model

    def _assembled(self, made: Mechanism, members: Sequence[MemberCopies], fresh: list[Element]) -> Snapshot:
        """Put copies of members into a mechanism that is still empty."""
        start = self._start
        without = tuple(chain.from_iterable(copies.without for copies in members))
        if without != self._contact.without:
            self._contact = Contact(CONTACT, without=without)
            self._contact._journal = LOCKED
        vars(made)["_ground"] = start.ground
        for kind, own, *parts in zip(
            made._kinds, start._kinds, *(copies.kinds for copies in members), strict=True
        ):
            for part in (own, *parts):
                kind.update(part)
        made._contacts[CONTACT] = self._contact
        own = (self._contact if thing.name == CONTACT else thing for thing in start.elements)
        made._elements.extend(chain(own, *(copies.elements for copies in members)))
        outside = {name: one for copies in members for name, one in copies.outside.items()}
        current = {name: one.element for name, one in outside.items()}
        return Snapshot(made, outside, current, own=list(outside), fresh=fresh)


def members(before: Sequence[Member], units: Sequence[Unit], used: Iterable[str] = ()) -> list[Member]:
    """Return units in the order in which they are members, with their names and models.

    Those that were members before come first, in their order and under their names; then new ones, under
    names that are not `used`.
    """
    there, known = set(units), {unit for unit, _, _ in before}
    same = [(unit, name, unit.model) for unit, name, _ in before if unit in there]
    first = 1 + max((int(name) for name in (*used, *(name for _, name, _ in before)) if name), default=-1)
    fresh = sorted(there - known, key=lambda unit: unit.number)
    return [*same, *((unit, str(first + k), unit.model) for k, unit in enumerate(fresh))]


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
