"""A forest: several mechanisms with one clock.

Mechanisms that do not touch move independently of each other: each has its own steps, identical ones go
through the lanes of one kernel, and threads share the rest. No operation crosses lanes or threads, so every
member moves bit for bit as it would alone, whatever else is in the forest. Mechanisms that touch are one
member: `merge` makes one mechanism of them.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.errors import ModelError, SimulationError, unknown
from linkwork.lazy import lazy
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.merge import SEPARATOR
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.batch import Recordings
from linkwork.recording.recording import Recording
from linkwork.simulation.batch_run import ManyRuns
from linkwork.simulation.initial_state import checked_state, closed
from linkwork.simulation.options import MOST_STEPS, RunOptions, sample_times, seconds, worker_count
from linkwork.simulation.restoring import PROJECTED, Restoring
from linkwork.simulation.run_settings import setting

Array = np.ndarray

_SAMPLES = 101  # of a run, if neither times nor a distance between them is given


@dataclass(frozen=True, eq=False)
class Group:
    """Members that are identical: they share code and constants, and run in lanes."""

    model: Model
    names: tuple[str, ...]


class Forest:
    """Mechanisms by name, with one clock; coordinates are those of the members, one after the other.

    >>> from linkwork.examples import cart_pole, chain
    >>> forest = Forest({"left": cart_pole(), "right": cart_pole(), "rope": chain(3)})
    >>> forest
    Forest(3 mechanisms in 2 groups, nq=7, nv=7)
    >>> run = forest.simulate(1.0, forest.state({"left": {"pin": 0.3}}), every=0.1)
    >>> run["left/pin"].position.shape, bool(abs(run["right/pin"].position).max() < 1e-6)
    ((11,), True)
    """

    def __init__(self, members: Mapping[str, Mechanism | Model]) -> None:
        for name, member in members.items():
            if not isinstance(name, str) or not name or SEPARATOR in name:
                raise ModelError(f"forest: member name {name!r}; give a word without {SEPARATOR!r}")
            if not isinstance(member, Mechanism | Model):
                raise TypeError(f"forest: {name!r} is a {type(member).__name__}; give a Mechanism or a Model")
        made: dict[int, Model] = {}  # a mechanism that is given twice is compiled once

        def model_of(member: Mechanism | Model) -> Model:
            if isinstance(member, Model):
                return member
            return made.setdefault(id(member), made.get(id(member)) or member.compile())

        self.models: Mapping[str, Model] = MappingProxyType(
            {name: model_of(member) for name, member in members.items()}
        )
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

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    @lazy
    def groups(self) -> tuple[Group, ...]:
        """The members, identical ones together."""
        found: dict[str, list[str]] = {}
        for name, model in self.models.items():
            found.setdefault(model.digest, []).append(name)
        return tuple(Group(self.models[names[0]], tuple(names)) for names in found.values())

    def state(self, members: Mapping[str, Any] | None = None, *, t: float = 0.0) -> State:
        """Return a state; a member is given by a State, or by positions of its joints, else as drawn."""
        given = dict(members or {})
        for name in given:
            if name not in self.models:
                raise ValueError(f"state: {unknown('member', name, self.models)}")
        parts: list[State] = []
        for name, model in self.models.items():
            part = given.get(name, {})
            parts.append(checked_state(model, part) if isinstance(part, State) else model.state(part, t=t))
        q, v = (np.concatenate([getattr(part, word) for part in parts] or [[]]) for word in ("q", "v"))
        return State(q, v, float(t))

    def parts(self, state: State) -> dict[str, State]:
        """Return the states of the members."""
        q, v = np.asarray(state.q, float), np.asarray(state.v, float)
        if q.shape != (self.nq,) or v.shape != (self.nv,):
            raise ValueError(
                f"state: q has shape {q.shape} and v {v.shape}; give {self.nq} and {self.nv} numbers"
            )
        return {name: State(q[a], v[b], state.t) for name, (a, b) in self.slices.items()}

    def motion(self, q: Array, v: Array, t: float = 0.0) -> Array:
        """Return the accelerations (nv,) of all members under their own forces; see `Model.motion`."""
        return self._in_lanes(
            State(np.asarray(q, float), np.asarray(v, float), t),
            lambda model, q, v: model.motion(q, v, np.full(len(q), t)),
        )

    def energy(self, q: Array, v: Array) -> float:
        """Return the kinetic plus potential energy of all members [J]."""
        parts = self.parts(State(np.asarray(q, float), np.asarray(v, float)))
        return float(sum(self.models[name].energy(part.q, part.v) for name, part in parts.items()))

    def _in_lanes(self, state: State, function: Callable[[Model, Array, Array], Array]) -> Array:
        """Return one number per velocity: a function of a model and of the states of identical members."""
        parts, result = self.parts(state), np.empty(self.nv)
        for group in self.groups:
            q, v = (np.array([getattr(parts[name], word) for name in group.names]) for word in ("q", "v"))
            for name, values in zip(group.names, function(group.model, q, v), strict=True):
                result[self.slices[name][1]] = values
        return result

    def simulate(
        self,
        duration: float,
        state: State | None = None,
        *,
        accuracy: float = 1e-8,
        step: float | None = None,
        method: str = "auto",
        times: Any = None,
        every: float | None = None,
        max_step: float | None = None,
        max_steps: float = MOST_STEPS,
        loops: str | Restoring = PROJECTED,
        threads: int | None = None,
        check: bool = True,
    ) -> "ForestRecording":
        """Let all members move for a duration [s]; the options are those of `lw.simulate`.

        All are sampled at the same times: `times`, or `every` seconds, or 101 of them. A member that cannot
        go on raises SimulationError, which has what was computed as `.run`; with check=False it is returned.
        """
        start = self.state() if state is None else state
        parts = self.parts(start)
        words = RunOptions(accuracy, step, method, max_step, max_steps, loops=loops)
        try:
            span, workers = seconds(duration), worker_count(threads)
            if times is None and every is None:
                times = np.linspace(start.t, start.t + span, _SAMPLES) if span else [start.t]
            wanted = sample_times(start.t, span, times, every)
        except ValueError as error:
            raise ValueError(f"simulate: {error}") from None

        def run(model: Model, names: tuple[str, ...]) -> Recordings:
            shared = setting(model, words)
            pairs = [_closed(model, parts[name]) for name in names]
            q, v = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
            return ManyRuns(shared, State(q, v, start.t), span, wanted).run(1)

        jobs = self._jobs(workers)
        with ThreadPoolExecutor(workers) as pool:
            done = list(pool.map(lambda job: run(*job), jobs))
        found = {name: runs[k] for (_, names), runs in zip(jobs, done) for k, name in enumerate(names)}
        recording = ForestRecording(self, wanted, {name: found[name] for name in self.models})
        if check and recording.failed:
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


class ForestRecording:
    """Runs of the members of a forest at common times: `run["left"]`, `run["left/pin"].position`."""

    def __init__(self, forest: Forest, time: Array, runs: Mapping[str, Recording]) -> None:
        self.forest = forest
        self.time = time  # (S,) [s]
        self.runs: Mapping[str, Recording] = MappingProxyType(dict(runs))

    def __getitem__(self, name: str) -> Any:
        """Return the recording of a member, or what a member has under a name: "left/pin"."""
        member, _, inside = name.partition(SEPARATOR)
        if member not in self.runs:
            raise KeyError(unknown("member", member, self.runs))
        return self.runs[member][inside] if inside else self.runs[member]

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def failed(self) -> list[str]:
        """The members that ended early."""
        return [name for name, run in self.runs.items() if run.report.failed]

    @property
    def energy(self) -> Array:
        """Kinetic plus potential energy of all members (S,) [J]; NaN after one ended early."""
        total = np.zeros(len(self.time))
        for run in self.runs.values():
            total += np.pad(run.energy, (0, len(self.time) - len(run)), constant_values=np.nan)
        return total

    @property
    def final(self) -> State:
        """Where all members ended, from which another run can go on; none if one ended early."""
        if self.failed:
            raise SimulationError(f"{_failures(self)}; `run[member].final` is where each of them ended")
        ends = [run.final for run in self.runs.values()]
        q, v = (np.concatenate([getattr(end, word) for end in ends] or [[]]) for word in ("q", "v"))
        return State(q, v, ends[0].t if ends else 0.0)

    def summary(self) -> str:
        """Return what happened, as text: a line per member."""
        lines = [f"{self.forest!r}: {len(self) - len(self.failed)} done, {len(self.failed)} failed"]
        width = max((len(name) for name in self.runs), default=0)
        for name, run in self.runs.items():
            lines.append(f"  {name:{width}}  {run.report.outcome}, {run.report.accepted} steps")
        return "\n".join(lines)


class ForestFailed(SimulationError):
    """Members of a forest that could not go on: `.run` is what was computed."""

    def __init__(self, run: ForestRecording) -> None:
        super().__init__(_failures(run))
        self.run = run


def _failures(run: ForestRecording) -> str:
    first = run.runs[run.failed[0]].report
    return f"{len(run.failed)} of {len(run)} members failed, the first is {run.failed[0]!r}: {first.message}"


def _closed(model: Model, state: State) -> tuple[Array, Array]:
    """Return positions and velocities that close the loops of a model."""
    start = checked_state(model, state)
    return closed(model, start.q, start.v, start.t) if model.loop_names else (start.q, start.v)
