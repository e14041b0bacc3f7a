"""A forest: several mechanisms with one clock.

Mechanisms that do not touch move independently of each other: each has its own steps, identical ones go
through the lanes of one kernel, and threads share the rest. No operation crosses lanes or threads, so every
member moves bit for bit as it would alone, whatever else is in the forest. Mechanisms that may touch are
solved together, as one (`forest_world`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.merge import SEPARATOR
from linkwork.model.carry import carry
from linkwork.model.following import fixed
from linkwork.model.model import Model
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.native import store
from linkwork.real_numbers import is_finite, shown
from linkwork.recording.status import Status
from linkwork.simulation.forest_recording import ForestFailed, ForestRecording, MemberRecording, together
from linkwork.simulation.forest_runs import run_together, runs_of
from linkwork.simulation.forest_world import ForestWorld, meeting_members
from linkwork.simulation.initial_state import checked_state
from linkwork.simulation.options import GivenOptions, StepOptions, sample_times, seconds, worker_count
from linkwork.spelling import Closed, require, spelled_methods

Array = np.ndarray

_SAMPLES = 101  # of a run, if neither times nor a distance between them is given


@dataclass(frozen=True, eq=False)
class Group:
    """Members that are identical: they share code and constants, and run in lanes."""

    model: Model
    names: tuple[str, ...]


@spelled_methods
class Forest(Closed):
    """Mechanisms by name, with one clock; coordinates are those of the members, one after the other.

    With a `contact`, an lw.Contact of all bodies, members that have shapes meet each other, and bodies that
    nothing holds are free; `at` says where the ground of a member that meets others is placed: a point or a
    Frame. `forest.world` is the model of all that meet,
    by qualified names: "left/pin".

    >>> from linkwork.examples import cart_pole, chain
    >>> forest = Forest({"left": cart_pole(), "right": cart_pole(), "rope": chain(3)})
    >>> forest
    Forest(3 mechanisms in 2 groups, nq=7, nv=7)
    >>> run = forest.simulate(1.0, forest.state({"left": {"pin": 0.3}}), every=0.1)
    >>> run["left/pin"].position.shape, bool(abs(run["right/pin"].position).max() < 1e-6)
    ((11,), True)
    """

    def __init__(
        self,
        members: Mapping[str, Mechanism | Model],
        *,
        contact: Contact | None = None,
        at: Mapping[str, Any] | None = None,
    ) -> None:
        require("forest: members", members, Mapping, "{name: mechanism, ...}")
        require("forest: contact", contact, Contact | None, "an lw.Contact of all bodies")
        require("forest: at", {} if at is None else at, Mapping, "{name: place, ...}")
        if at and not contact:
            raise ModelError("forest: at= places members that meet; give contact=, or draw them elsewhere")
        if contact and contact.between is not None:
            raise ModelError(f"forest: contact {contact.name!r} is of one pair; give one of all bodies")
        made: dict[int, Model] = {}  # a mechanism that is given twice is compiled once
        for name, member in members.items():
            _check_member(name, member)
            if id(member) not in made:
                made[id(member)] = _compiled(member, floating=contact is not None)
        self._take({name: made[id(member)] for name, member in members.items()})
        self._world: ForestWorld | None = None
        if contact:
            self._world = ForestWorld(meeting_members(self.models, at or {}), contact, at or {})

    def _take(self, models: Mapping[str, Model]) -> None:
        self.models: Mapping[str, Model] = MappingProxyType(dict(models))
        q = list(accumulate((model.nq for model in self.models.values()), initial=0))
        v = list(accumulate((model.nv for model in self.models.values()), initial=0))
        self.nq, self.nv = q[-1], v[-1]
        self.slices: Mapping[str, tuple[slice, slice]] = MappingProxyType(  # member -> (in q, in v)
            {name: (slice(*q[k : k + 2]), slice(*v[k : k + 2])) for k, name in enumerate(self.models)}
        )

    def __repr__(self) -> str:
        count = f"{len(self.models)} mechanism{'' if len(self.models) == 1 else 's'}"
        groups = f"{len(self.groups)} group{'' if len(self.groups) == 1 else 's'}"
        return f"Forest({count} in {groups}, nq={self.nq}, nv={self.nv})"

    def __getitem__(self, name: str) -> Model:
        """Return the model of a member."""
        if name not in self.models:
            raise KeyError(unknown("member", name, self.models))
        return self.models[name]

    def __contains__(self, name: object) -> bool:
        return name in self.models

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    @property
    def world(self) -> Model:
        """The model of all members that meet, by qualified names; `world_state` is its state."""
        if self._world is None:
            raise ModelError("forest: its members do not meet; give contact=")
        return self._world.model

    @property
    def meeting(self) -> tuple[str, ...]:
        """The members that meet each other."""
        return tuple(self._world.members) if self._world else ()

    @property
    def groups(self) -> tuple[Group, ...]:
        """The members that move by themselves, those together that are identical now."""
        met = self.meeting
        models = {name: fixed(model) for name, model in self.models.items() if name not in met}
        found: dict[str, list[str]] = {}
        for name, model in models.items():
            found.setdefault(model.digest, []).append(name)
        return tuple(Group(models[names[0]], tuple(names)) for names in found.values())

    def state(self, members: Mapping[str, Any] | None = None, *, t: float = 0.0) -> State:
        """Return a state; a member is given by a State, or by positions of its joints, else as drawn."""
        require("state: members", members or {}, Mapping, "{name: state, or {joint: position}}")
        given = dict(members or {})
        for name in given:
            if name not in self.models:
                raise ValueError(f"state: {unknown('member', name, self.models)}")
        parts: dict[str, State] = {}
        for name, model in self.models.items():
            part = given.get(name, {})
            if isinstance(part, State) and part.t != t:
                raise ValueError(f"state: {name!r} is at t = {part.t:g} s, and the clock at {t:g} s; give t=")
            parts[name] = checked_state(model, part) if isinstance(part, State) else model.state(part, t=t)
        return together(parts, float(t))

    def world_state(self, state: "State | ForestRecording") -> State:
        """Return the state of `world`, of one of the forest: where a simulation of all that meet begins."""
        if self._world is None:
            raise ModelError("forest: its members do not meet; give contact=")
        state = state.final if isinstance(state, ForestRecording) else state
        return self._world.state(self.parts(state), state)

    def carry(
        self,
        state: "State | ForestRecording",
        members: Mapping[str, Mechanism | Model],
        *,
        at: Mapping[str, Any] | None = None,
    ) -> "tuple[Forest, State]":
        """Return the forest of members that were edited, added or left out, and the state that goes on.

        Names of members, and names in each, are identities, as those of `lw.carry`: new members are as drawn
        and at rest, others go on where they are; contacts remember their impulses. `at` are the places of all
        members that meet, if they are not those from before.
        """
        require("carry: members", members, Mapping, "{name: mechanism, ...}")
        state = state.final if isinstance(state, ForestRecording) else state
        before = self.parts(state)
        models, parts = dict[str, Model](), dict[str, State]()
        for name, member in members.items():
            _check_member(name, member)
            if (old := self.models.get(name)) is None:
                models[name] = _compiled(member, floating=self._world is not None)
                parts[name] = models[name].state(t=state.t)
            elif member is old:
                models[name], parts[name] = old, before[name]
            else:
                edited = member.mechanism if isinstance(member, Model) else member
                models[name], parts[name] = carry(old, before[name], edited)
        made = Forest({})
        made._take(models)
        if self._world is None:
            if at:
                raise ModelError("forest: at= places members that meet, and these do not")
            return made, together(parts, state.t)
        places = self._world.at if at is None else at
        places = {name: place for name, place in places.items() if at is not None or name in models}
        met = meeting_members(models, places)
        made._world, world = self._world.edited(met, places, self.world_state(state))
        parts |= {name: made._world.part(name, world) for name in met}
        return made, replace(together(parts, state.t), memory=world.memory, controllers=world.controllers)

    def parts(self, state: "State | ForestRecording") -> dict[str, State]:
        """Return the states of the members."""
        state = state.final if isinstance(state, ForestRecording) else state
        if not isinstance(state, State):
            raise ValueError(f"state is {shown(state)}; give forest.state(...) or run.final")
        q, v = np.asarray(state.q, float), np.asarray(state.v, float)
        if q.shape != (self.nq,) or v.shape != (self.nv,):
            raise ValueError(
                f"state: q has shape {q.shape} and v {v.shape}; give {self.nq} and {self.nv} numbers"
            )
        inputs = self._inputs(state.inputs)
        return {name: State(q[a], v[b], state.t, None, inputs[name]) for name, (a, b) in self.slices.items()}

    def _inputs(self, inputs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the inputs of each member, of those by qualified names: "left/push"."""
        found: dict[str, dict[str, Any]] = {name: {} for name in self.models}
        require("inputs", inputs, Mapping, '{"left/push": 1.0}')
        for name, value in inputs.items():
            member, _, inside = str(name).partition(SEPARATOR)
            if member not in found:
                raise ValueError(f"inputs: {name!r}: {unknown('member', member, self.models)}")
            if inside not in self.models[member].inputs:
                known = [
                    f"{one}{SEPARATOR}{each}" for one, model in self.models.items() for each in model.inputs
                ]
                raise ValueError(f"inputs: {unknown('input', name, known)}")
            if not is_finite(value):
                raise ValueError(f"inputs: {name!r} is {shown(value)}; give a finite number")
            found[member][inside] = value
        return found

    def motion(
        self, q: Array, v: Array, t: float = 0.0, *, inputs: Mapping[str, float] | None = None
    ) -> Array:
        """Return the accelerations (nv,) of all members under their own forces; see `Model.motion`."""
        parts = self.parts(State(np.asarray(q, float), np.asarray(v, float), t, None, inputs or {}))
        result = np.empty(self.nv)
        if self._world:
            state = self._world.state(parts, State(q, v, t))
            rows = self._world.model.motion(state.q, state.v, t, inputs=state.inputs)
            for name in self.meeting:
                result[self.slices[name][1]] = self._world.rows(name, state.q, rows)[1]
        for group in self.groups:
            states = [parts[name] for name in group.names]
            q, v = (np.array([getattr(state, word) for state in states]) for word in ("q", "v"))
            u = np.array([input_values(group.model.inputs, state.inputs) for state in states])
            rows = group.model.motion(q, v, np.full(len(states), t), inputs=u)
            for name, row in zip(group.names, rows, strict=True):
                result[self.slices[name][1]] = row
        return result

    def energy(self, q: Array, v: Array) -> float:
        """Return the kinetic plus potential energy of all members [J]."""
        parts = self.parts(State(np.asarray(q, float), np.asarray(v, float)))
        return float(sum(self.models[name].energy(part.q, part.v) for name, part in parts.items()))

    def simulate(
        self,
        duration: float,
        state: "State | ForestRecording | None" = None,
        *,
        inputs: Mapping[str, float] | None = None,
        times: Any = None,
        every: float | None = None,
        threads: int | None = None,
        check: bool = True,
        **steps: Unpack[StepOptions],
    ) -> "ForestRecording":
        """Let all members move for a duration [s]; the options are those of `lw.simulate`.

        All are sampled at the same times: `times`, or `every` seconds, or 101 of them. Inputs have qualified
        names, "left/push". What is rigid and meets goes by steps if `step` is given, else to the accuracy;
        `run.world` is the recording of all that meet. A member that cannot go on raises SimulationError,
        which has what was computed as `.run`; with check=False it is returned. Ctrl-C returns what was
        computed.
        """
        words = GivenOptions(**steps)
        try:
            parts = self.parts(self.state() if state is None else state)
            for name, values in self._inputs(inputs or {}).items():
                parts[name] = replace(parts[name], inputs={**parts[name].inputs, **values})
            t = next((part.t for part in parts.values()), 0.0)
            span, workers = seconds(duration), worker_count(threads)
            given = state.final if isinstance(state, ForestRecording) else state
            if times is None and every is None:
                times = np.linspace(t, t + span, _SAMPLES) if span else [t]
            wanted = sample_times(t, span, times, every)
            run_alone = runs_of(self._jobs(workers), parts, words, span, wanted)
        except ValueError as error:
            raise ValueError(f"simulate: {error}") from None
        found, world = run_alone(workers), None
        if self._world:
            start = self._world.state(parts, given or State(np.zeros(0), np.zeros(0), t))
            world = run_together(self._world.model, start, words, span, wanted)
            found |= {name: MemberRecording(world, self._world, name) for name in self.meeting}
        recording = ForestRecording(self, wanted, {name: found[name] for name in self.models}, world)
        if check and any(recording[name].status != Status.INTERRUPTED.name for name in recording.failed):
            raise ForestFailed(recording)
        return recording

    def _jobs(self, workers: int) -> list[tuple[Model, tuple[str, ...]]]:
        """Share the members out: identical ones in whole blocks of lanes, the larger jobs first."""
        lanes = store.lanes()
        largest = max(-(-len(self.models) // (workers * lanes)), 1) * lanes
        jobs = [
            (group.model, group.names[k : k + largest])
            for group in self.groups
            for k in range(0, len(group.names), largest)
        ]
        return sorted(jobs, key=lambda job: -len(job[1]) * job[0].nv)


def _check_member(name: Any, member: Any) -> None:
    if not isinstance(name, str) or not name or SEPARATOR in name:
        raise ModelError(f"forest: member name {name!r}; give a word without {SEPARATOR!r}")
    if not isinstance(member, Mechanism | Model):
        raise TypeError(f"forest: {name!r} is {shown(member)}; give a Mechanism or a Model")


def _compiled(member: Mechanism | Model, floating: bool) -> Model:
    return member if isinstance(member, Model) else member.compile(floating=floating)
