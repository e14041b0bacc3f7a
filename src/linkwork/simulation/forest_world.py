"""The members of a forest that may touch, as one mechanism: their elements under qualified names.

The coordinates of a member are those that it has alone: its loops are cut where they are cut in its own
model, and what floats hangs on its ground, which is placed. An edit of one member takes out its elements and
puts in those that it has now; the model is grown from the one before (`carry`), and so is the state.
"""

import copy
from collections.abc import Mapping

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.merge import SEPARATOR, add_member, remove_member
from linkwork.model.carry import carry
from linkwork.model.model import Model
from linkwork.model.state import State

Array = np.ndarray


class ForestWorld:
    """Members that meet by a contact, by name; `at` says where their grounds are placed."""

    def __init__(self, members: Mapping[str, Model], contact: Contact, at: Mapping[str, object]) -> None:
        self.members, self.contact, self.at = dict(members), contact, dict(at)
        self._whole: Mechanism | None = self._merged()
        self._complete(self._whole.compile(cut=_cuts(self.members), floating=True))

    def _merged(self) -> Mechanism:
        first = next(iter(self.members.values())).mechanism
        whole = Mechanism("world", gravity=first.gravity, space=first.space)
        whole.add(copy.deepcopy(self.contact))
        for name, model in self.members.items():
            add_member(whole, name, model.mechanism, self.at.get(name))
        return whole

    def _complete(self, model: Model) -> None:
        self.model = model
        self._columns = {name: _columns(own, model, name) for name, own in self.members.items()}

    def state(self, parts: Mapping[str, State], given: State) -> State:
        """Return the state of all, of those of the members; what else is remembered is in the one `given`."""
        q, v = self.model.q_drawn.copy(), np.zeros(self.model.nv)
        inputs = {}
        for name in self.members:
            at_q, at_v = self._columns[name]
            q[at_q], v[at_v] = parts[name].q, parts[name].v
            inputs |= {name + SEPARATOR + word: value for word, value in parts[name].inputs.items()}
        return State(q, v, given.t, given.memory, inputs, self.model.slices, given.controllers)

    def part(self, name: str, state: State) -> State:
        """Return the state of a member."""
        at_q, at_v = self._columns[name]
        prefix, model = name + SEPARATOR, self.members[name]
        inputs = {
            word.removeprefix(prefix): value
            for word, value in state.inputs.items()
            if word.startswith(prefix)
        }
        return State(state.q[at_q], state.v[at_v], state.t, None, inputs, model.slices)

    def rows(self, name: str, q: Array, v: Array) -> tuple[Array, Array]:
        """Return positions and velocities (..., n) of a member, of those of all."""
        at_q, at_v = self._columns[name]
        return q[..., at_q], v[..., at_v]

    def edited(
        self, members: Mapping[str, Model], at: Mapping[str, object], state: State
    ) -> "tuple[ForestWorld, State]":
        """Return the world of other members, grown from this one, and its state, carried over by names."""
        whole = self._whole or self._merged()
        self._whole = None  # what it describes is no longer this
        for name, model in self.members.items():
            if not _same(model, members.get(name)) or not _same_place(self.at, at, name):
                remove_member(whole, name)
        for name, model in members.items():
            if name not in whole:
                add_member(whole, name, model.mechanism, at.get(name))
        made = object.__new__(ForestWorld)
        made.members, made.contact, made.at = dict(members), self.contact, dict(at)
        made._whole = whole
        model, carried = carry(self.model, state, whole, cut=_cuts(members))
        made._complete(model)
        return made, carried


def meeting_members(models: Mapping[str, Model], at: Mapping[str, object]) -> dict[str, Model]:
    """Return the members that have shapes; ModelError if there are none, or others are placed."""
    found = {name: model for name, model in models.items() if _has_shapes(model.mechanism)}
    if not found:
        raise ModelError("forest: contact= lets members meet, and none has shapes; give bodies shapes")
    for name in at:
        if name not in models:
            raise ModelError(f"forest: at= has {unknown('member', name, models)}")
        if name not in found:
            raise ModelError(
                f"forest: at= places {name!r}, which cannot collide: it has no shapes; draw it elsewhere"
            )
    return found


def _has_shapes(mechanism: Mechanism) -> bool:
    return any(body.touched_by for body in (mechanism.ground, *mechanism.bodies.values()))


def _cuts(members: Mapping[str, Model]) -> list[str]:
    """Return the joints at which loops are cut, as in the members' own models."""
    return [
        name + SEPARATOR + joint
        for name, model in members.items()
        for joint in model.loop_names
        if joint in model.mechanism.joints
    ]


def _columns(model: Model, world: Model, name: str) -> tuple[Array, Array]:
    """Return where positions and velocities of a member are among those of all."""
    q, v = np.zeros(model.nq, np.int64), np.zeros(model.nv, np.int64)
    for joint, (own_q, own_v) in model.slices.items():
        at_q, at_v = world.slices[name + SEPARATOR + joint]
        q[own_q], v[own_v] = np.arange(at_q.start, at_q.stop), np.arange(at_v.start, at_v.stop)
    unknowns = {loop.name: loop for loop in world.link_tree.loops if loop.drawn}
    for loop in model.link_tree.loops:
        if loop.drawn:
            at = unknowns[name + SEPARATOR + loop.name].u
            q[loop.u : loop.u + len(loop.drawn)] = np.arange(at, at + len(loop.drawn))
    return q, v


def _same(one: Model, other: Model | None) -> bool:
    return other is not None and (one is other or one.mechanism.elements == other.mechanism.elements)


def _same_place(one: Mapping[str, object], other: Mapping[str, object], name: str) -> bool:
    a, b = one.get(name), other.get(name)
    return a is b or repr(a) == repr(b)
