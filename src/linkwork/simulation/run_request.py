"""What is asked of the runs of one call of `simulate`: checked, and made ready to go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork.errors import warn
from linkwork.model.model import Model
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.recording.recording import Recording
from linkwork.simulation.batch_run import ManyRuns
from linkwork.simulation.checkpoint import Checkpoint, CheckpointFile, run_identity
from linkwork.simulation.initial_state import checked, checked_state, closed, outside_limits
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.options import GivenOptions, check_room, sample_times
from linkwork.simulation.rigid_contact_run import kind_of_run
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.single_run import OneRun
from linkwork.simulation.variant_groups import Variants
from linkwork.simulation.variants import variants_of, varied

Array = np.ndarray

_BATCH_SAMPLES = 101  # of each run of a batch, unless times are given


@dataclass(frozen=True, eq=False)
class RunRequest:
    """How long runs are, when they are sampled and what drives them; with what runs of a model share."""

    model: Model
    shared: RunSettings
    span: float  # [s]
    times: Any  # of the samples [s], or None
    every: Any  # seconds between samples, or None
    inputs: Any  # values by name, or None
    asked: Model  # the model that was given, which follows what laws read from outside

    def single(self, state: Any, checkpoint: Checkpoint | None) -> OneRun:
        """Return the run of one mechanism from a state, kept in a file if one is given."""
        start, wanted = self.start(state)
        kept = None
        if checkpoint is not None:
            kept = CheckpointFile(checkpoint, run_identity(self.shared, start, self.span, wanted))
        if start.memory is None and (text := outside_limits(self.model, start.q)):
            warn(text)
        kind = kind_of_run(self.shared)
        return kind(self.shared, start, self.span, wanted, kept, self._watch)

    def start(self, state: Any) -> tuple[State, Array]:
        """Return where one run starts, and the times of its samples."""
        begin = state.final if isinstance(state, Recording) else state
        start = start_state(self.model, begin, self.span, self.inputs)
        if self.shared.inputs or start.inputs or self.inputs is not None:
            start = replace(start, inputs=self._inputs(start.inputs, 1))
        wanted = sample_times(start.t, self.span, self.times, self.every)
        check_room(wanted.size * (self.model.nq + self.model.nv + 2))
        return start, wanted

    def batch(self, q: Any, v: Any) -> ManyRuns:
        """Return the runs of N mechanisms from positions (N, nq) and velocities (N, nv)."""
        times = self.times
        if times is None and self.every is None:
            times = np.linspace(0.0, self.span, _BATCH_SAMPLES) if self.span else [0.0]
        start = State(*start_states(self.model, q, v))
        start = closed_states(self.model, replace(start, inputs=self._inputs({}, len(start.q))))
        wanted = sample_times(start.t, self.span, times, self.every)
        check_room(wanted.size * len(start.q) * (self.model.nq + self.model.nv + 2))
        if text := outside_limits(self.model, start.q):
            warn(text)
        return ManyRuns(self.shared, start, self.span, wanted, watch=self._watch)

    @property
    def _watch(self) -> LawWatch:
        return LawWatch(self.asked, self.shared.system)

    def variants(self, words: GivenOptions, vary: Any, state: State | None, q: Any, v: Any) -> ManyRuns:
        """Return the runs of variants, from a state, or from positions (N, nq) and velocities (N, nv)."""
        described = varied(self.model, vary)
        count, variants = described.count, variants_of(described, words)
        if state is not None:
            start = checked_state(self.model, state)
            q, v, t, before = start.q, start.v, start.t, start.inputs
        else:
            t, before = 0.0, {}
        given = each_of(self._inputs(before, count), count)
        start = State(*variant_states(self.model, variants, q, v, t, given), t)
        start = replace(start, inputs=self._inputs(before, count))
        times = self.times
        if times is None and self.every is None:
            times = np.linspace(t, t + self.span, _BATCH_SAMPLES) if self.span else [t]
        wanted = sample_times(t, self.span, times, self.every)
        check_room(wanted.size * count * (self.model.nq + self.model.nv + 2))
        return ManyRuns(self.shared, start, self.span, wanted, variants, self._watch)

    def _inputs(self, before: Mapping[str, Any], count: int) -> dict[str, Any]:
        """Return the inputs of one run, or of a batch; ValueError names what is wrong with them."""
        values = start_inputs(self.shared.inputs, before, self.inputs, count)
        columns = values.tolist() if values.ndim == 1 else values.T
        return dict(zip(self.shared.inputs, columns, strict=True))


def start_inputs(known: Mapping[str, float], before: Mapping[str, Any], given: Any, count: int) -> Array:
    """Return the inputs that runs start with, (nu,) or (count, nu): as given, as before, or by default."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ValueError(f"inputs {given!r}; give values by name, {{'throttle': 2.0}}")
    values = input_values(known, {**before, **given})
    if values.ndim > 1 and len(values) != count:
        raise ValueError(f"inputs have {len(values)} values each, for {count} run{'s' if count > 1 else ''}")
    return values


def start_state(model: Model, state: Any, span: float = 0.0, inputs: Any = None) -> State:
    """Return the state that a run of one mechanism starts from, with closed loops.

    `inputs` are given beside those of the state; drivers that read them are where they are with them.
    """
    start = checked_state(model, model.state() if state is None else state)
    given = inputs if isinstance(inputs, Mapping) else {}
    jumps = any(start.inputs.get(name) != given.get(name) for name in model.link_tree.inputs if name in given)
    if model.loop_names and (start.memory is None or jumps):
        q, v = closed(model, start.q, start.v, start.t, {**start.inputs, **given})
        start = replace(start, q=q, v=v)
    if span and start.t + span == start.t:
        raise ValueError(f"duration {span:g} is less than time can resolve at state.t {start.t:g}")
    return start


def start_states(model: Model, q: Any, v: Any) -> tuple[Array, Array]:
    """Return the positions (N, nq) and velocities (N, nv) of a batch; one for all is repeated."""
    states = [
        checked(model, word, drawn if given is None else given, 2)
        for word, given, drawn in (("q", q, model.q_drawn), ("v", v, np.zeros(model.nv)))
    ]
    counts = {len(array) for array in states if array.ndim == 2}
    if len(counts) > 1:
        raise ValueError(f"q has shape {states[0].shape} and v {states[1].shape}; give as many of both")
    count = counts.pop() if counts else 1
    q, v = (np.broadcast_to(array, (count, array.shape[-1])) for array in states)
    return q, v


def closed_states(model: Model, start: State) -> State:
    """Return the states of a batch with closed loops, each with its inputs."""
    if not model.loop_names:
        return start
    each = zip(start.q, start.v, each_of(start.inputs, len(start.q)), strict=True)
    pairs = [closed(model, q, v, start.t, inputs) for q, v, inputs in each]
    return replace(start, q=np.array([q for q, _ in pairs]), v=np.array([v for _, v in pairs]))


def each_of(inputs: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the inputs of each of N mechanisms, of those of all."""
    columns = {name: np.broadcast_to(value, count).tolist() for name, value in inputs.items()}
    return [{name: column[k] for name, column in columns.items()} for k in range(count)]


def variant_states(
    model: Model,
    variants: Variants,
    q: Any,
    v: Any,
    t: float,
    inputs: Sequence[Mapping[str, Any]],
    which: Array | None = None,
) -> tuple[Array, Array]:
    """Return positions and velocities of variants, or of some by number; as drawn and at rest by default.

    `inputs` are those of each.
    """
    numbers = np.arange(variants.count) if which is None else which
    given = ("q", q, variants.q_drawn[numbers]), ("v", v, None)
    states = [_one_each(model, *each, len(numbers)) for each in given]
    q, v = (np.broadcast_to(array, (len(numbers), array.shape[-1])) for array in states)
    if not model.loop_names:
        return q, v
    models = (variants.models[k] for k in numbers.tolist())
    pairs = [closed(one, q, v, t, u) for one, q, v, u in zip(models, q, v, inputs, strict=True)]
    return np.array([q for q, _ in pairs]), np.array([v for _, v in pairs])


def _one_each(model: Model, word: str, given: Any, drawn: Any, count: int) -> Array:
    """Return positions or velocities, one for all variants or one for each; as drawn, and at rest."""
    if given is None:
        return drawn if drawn is not None else np.zeros(model.nv)
    array = checked(model, word, given, 2)
    if array.ndim == 2 and len(array) != count:
        raise ValueError(f"{word} has shape {array.shape}, and there are {count} variants; give one for each")
    return array
