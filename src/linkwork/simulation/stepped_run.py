"""Mechanisms that go on piece by piece: with the inputs that they hold, controllers, clock and samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.contact_dynamics.time_stepping.lanes import Lanes
from linkwork.contact_dynamics.time_stepping.stepper import Stepper
from linkwork.errors import AssemblyError, SimulationError
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.channels import Channels
from linkwork.recording.interpolation import Instant
from linkwork.recording.report import plain_event
from linkwork.recording.status import Status
from linkwork.simulation import integration
from linkwork.simulation.contact_side_by_side import ContactSides
from linkwork.simulation.controllers import Controllers, inputs_of, writers
from linkwork.simulation.failure import Failure
from linkwork.simulation.held_inputs import HeldInputs
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.loop.records import MEMO
from linkwork.simulation.options import most_numbers
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.side_by_side import SideBySide
from linkwork.simulation.single_run import StepsBetween
from linkwork.simulation.step_clock import StepClock
from linkwork.simulation.step_record import StepRecord
from linkwork.simulation.stepped_starts import rows_of
from linkwork.simulation.time_advance import sides_of
from linkwork.simulation.variant_groups import Variants

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class SteppingSetup:
    """What is stepped, and how; all but where it begins."""

    asked: Model  # that was given, which follows what laws read from outside
    model: Model
    setting: RunSettings
    variants: Variants | None
    batch: bool
    threads: int
    record: Any  # samples to keep, as said

    @property
    def key(self) -> list[int]:
        """A digest, as integers, of what shapes the steps."""
        own = [] if self.variants is None else self.variants.key.tolist()
        return [*self.setting.key.tolist(), *own]

    @property
    def words(self) -> tuple[RunSettings, bool, Variants | None]:
        """What a start is looked at with."""
        return self.setting, self.batch, self.variants

    def channels(self, u: Array, changes: Sequence[tuple[float, Array]] = ()) -> Channels:
        """Return where derived quantities come from, with inputs (S, N, nu), and their changes."""
        inputs = inputs_of(list(self.setting.inputs), u, self.batch)
        alone = self.setting.channels(inputs, StepsBetween(self.setting.words, changes))
        return self.variants.channels(alone) if self.variants else alone


class SteppedRun:
    """Mechanisms on their way, from a start."""

    def __init__(self, setup: SteppingSetup, start: State) -> None:
        integration.prepare()
        y, values = rows_of(start)
        setting, model, names = setup.setting, setup.model, list(setup.setting.inputs)
        watch = LawWatch(setup.asked, setting.system)
        self.setup, self._follows = setup, setup.asked is not model
        self._jumps = bool(model.link_tree.inputs)  # whether drivers read inputs: the mechanism follows them
        self.sides = sides_of(
            setting, y, start.t, values, watch, setup.threads, not setup.batch, setup.variants
        )
        self.inputs = HeldInputs(names, self.sides.inputs, setup.batch, model.load_names, writers(model))
        most = _kept(setup.record, setup.batch, y.size + values.size)
        self.record = StepRecord(most, y.shape, values.shape) if most else None
        self.controllers: Controllers | None = None
        if setting.controlled:
            models = setup.variants.models if setup.variants else None
            self.controllers = Controllers(model, names, len(y), start.t, models)
        self.begin(start)

    @property
    def count(self) -> int:
        """How many mechanisms there are."""
        return len(self.inputs.array)

    def begin(self, start: State) -> None:
        """Begin anew with all mechanisms."""
        y, values = rows_of(start)
        self.sides.begin(np.arange(len(y)), y, start.t, values)
        self.inputs.written[0] = False
        if start.memory is not None and not self.setup.batch:
            self.sides.follow(start)
        self.clock = StepClock(start.t)
        if self.controllers:
            self.controllers.turn_to(start.t)
            self.controllers.recall(start.controllers)
            self.controllers.changes.clear()
        self._begun, self._looked = np.array([[start.t, *self.sides.y[0]]]), 0.0
        self.stopped = False  # the only mechanism by an event, or since it failed
        self.now: Instant | None = None  # what was asked of where it is
        self.known: list[Failure | None] = [None] * len(y)  # failures that were reported
        if self.record:
            self.record.begin()
            self.record.add(start.t, self.sides.y)

    def begin_some(self, chosen: Array, start: State) -> None:
        """Begin anew with some mechanisms of a batch; the clock goes on."""
        y, values = rows_of(start)
        self.sides.begin(chosen, y, start.t, values)
        self.now = None
        if self.controllers:
            self.controllers.recall({}, chosen)
        if self.record:
            self.record.amend(self.sides.y)
            self.record.hold(self.inputs.array)

    # on the way

    @property
    def unwatched(self) -> bool:
        """Whether some steps may be taken as one: nobody notes, controls or stops what is between them."""
        return not (self.record or self.controllers or self._follows or self.setup.setting.chosen.events)

    def go_to(self, t_end: float, sampled: bool = True) -> bool:
        """Go on to a time, a sample of the record; return whether nothing has happened on the way."""
        if self.stopped:  # by an event
            self.sides.go_on()
            self.stopped = False
        if self._follows:
            self._check_laws()
        if self.inputs.written[0]:
            self._hand_over()
        if self.record and self.record.end == self.clock.t:
            self.record.hold(self.inputs.array)
        self.now = None
        calm = self.sides.march(t_end) if self.controllers is None else self._march_controlled(t_end)
        if calm or self._arrived():
            self.clock.t = t_end
        if sampled or self.stopped:
            self.add_sample()
        return calm

    def enter_lane(self, lanes: Lanes, i: int, stepper: Stepper) -> bool:
        """Leave the state of the only mechanism in a lane, if nothing but time passes for it."""
        sides, other = self.sides, self.setup.batch or self.controllers or self.record or self._follows
        if other or self.stopped or self.inputs.written[0] or not isinstance(sides, ContactSides):
            return False
        return sides.lend(lanes, i, stepper)

    def leave_lane(self, lanes: Lanes, i: int, t: float) -> None:
        """Go on from where a lane is, at a time."""
        self.sides.take_home(lanes, i, t)
        self.clock, self.now = StepClock(t), None

    def add_sample(self) -> None:
        """Add where it is to the record, if that is not there."""
        if self.record and self.record.end != self.clock.t:
            self.record.add(self.clock.t, self.sides.y)

    def _march_controlled(self, t_end: float) -> bool:
        """Go on to a time, from one call of controllers to the next; return whether nothing has happened."""
        controllers, t, calm = self.controllers, self.clock.t, True
        assert controllers
        controllers.check_calls(t, t_end)
        while t < t_end:
            if controllers.next_time <= t:
                self.sides.control(controllers)
                if self.record and self.record.end == t:
                    self.record.hold(self.inputs.array)
                    self.record.amend(self.sides.y)
            t = min(controllers.next_time, t_end)
            calm = self.sides.march(t) and calm
            if not self.setup.batch and self.sides.memo("status")[0] != Status.DONE:
                return False
        if not self.record or self.record.dropped:
            controllers.forget_before(self.record.t[0] if self.record else t_end)
        return calm and all(failure is None for failure in self.sides.failures)

    @property
    def laws_changed(self) -> bool:
        """Whether a law has become another, by what it reads from outside."""
        return self._follows and bool(self.sides.watch.change()[0])

    def _check_laws(self) -> None:
        """Refuse to go on with laws that have become others: what they read from outside is no input."""
        name, words = self.sides.watch.change()
        if name:
            raise SimulationError(
                f"at t = {self.clock.t:.9g} s: {words}; what changes on the way is an input: let the law "
                "read lw.Input(...), and write it to sim.inputs; or begin anew with another Simulation"
            )

    def _arrived(self) -> bool:
        """Return whether a piece on which something has happened has led to its end."""
        if self.setup.batch or self.sides.memo("status")[0] == Status.DONE:
            return True
        self.clock = StepClock(float(self.sides.memo("t_final")[0]))
        self.stopped = True
        return False

    def _hand_over(self) -> None:
        """Let inputs that were written hold from now on; what the only mechanism cannot follow is refused."""
        failures = self.sides.hand_over()
        self.inputs.written[0] = False
        if failures and not self.setup.batch:
            self.sides.take_back()
            failure = failures[0]
            raise AssemblyError(f"{failure.message}; the inputs are what they were") from failure.cause
        if failures:
            self.sides.fail(failures)
        if self.record and self._jumps:
            self.record.amend(self.sides.y)

    def new_failures(self) -> list[tuple[int, Failure]]:
        """Return the failures that were not reported yet, by mechanism."""
        failures = self.sides.failures
        found = [(k, one) for k, one in enumerate(failures) if one and one is not self.known[k]]
        self.known = failures
        return found

    # what is there

    def part(self, columns: slice) -> Array:
        """Return a copy of some columns of the states."""
        y = self.sides.y
        return y[:, columns].copy() if self.setup.batch else y[0, columns].copy()

    @property
    def state(self) -> State:
        """Where the mechanisms are."""
        return self._state(self.sides.memory)

    @property
    def state_to_edit(self) -> State:
        """Where the only mechanism is, for a model that is edited: contacts remember, as far as they stay."""
        return self._state(self.sides.contacts if isinstance(self.sides, ContactSides) else self.sides.memory)

    def _state(self, memory: Callable[[int], Any]) -> State:
        setup, values, one = self.setup, self.inputs.array, slice(None) if self.setup.batch else 0
        nq, slices, names = setup.model.nq, setup.model.slices, setup.setting.inputs
        where = self.part(slice(nq)), self.part(slice(nq, -1)), self.clock.t
        memories = self.controllers.memories(one) if self.controllers else {}
        if setup.batch:
            inputs = dict(zip(names, values.T.copy(), strict=True))
            return State(*where, None, inputs, slices, memories)
        kept = None if self.stopped else memory(0)
        return State(*where, kept, dict(zip(names, values[0].tolist(), strict=True)), slices, memories)

    def instant(self) -> Instant:
        """Return what there is now, in the words of a recording."""
        if self.now is None:
            nq, there = self.setup.model.nq, np.ones(self.count if self.setup.batch else (), bool)
            q, v, work = self.part(slice(nq)), self.part(slice(nq, -1)), self.part(slice(-1, None))[..., 0]
            channels = self.setup.channels(self.inputs.array[None])
            self.now = Instant(channels, np.array(self.clock.t), q, v, work, there)
        return self.now

    @property
    def samples(self) -> tuple[Array, Array, Array]:
        """Times, states and inputs of the samples that there are: the last one, if none are kept."""
        if self.record:
            self.record.hold(self.inputs.array)
            return self.record.samples
        u = self.inputs.array[None].copy()
        return np.array([self.clock.t]), self.sides.y[None].copy(), u

    @property
    def changes(self) -> tuple[tuple[float, Array], ...]:
        """The changes of inputs by controllers, some of them between samples."""
        return tuple(self.controllers.changes) if self.controllers else ()

    def doubts(self, least: float = 0.0) -> list[str]:
        """Say whether the steps of a mechanism alone have lost or made energy, if there were `least` of them
        since this was last asked, of as many before."""
        sides, account = self.sides, self.setup.setting.account
        if self.setup.batch or not isinstance(sides, SideBySide) or any(sides.failures):
            return []
        remembered, bad = sides.remembered, (sides.gathered("bad_t"), sides.gathered("bad_y"))
        memo = remembered.view(MEMO)[0, 0]
        steps = float(memo["accepted"] + memo["rejected"])
        if steps < (1.0 + least) * self._looked:
            return []
        self._looked = steps
        now = np.array([[self.clock.t, *sides.y[0]]])
        rows = self.record.some() if self.record else now[:0]
        rows = np.concatenate([rows if len(rows) else self._begun, now])
        values = dict(zip(self.setup.setting.inputs, self.inputs.array[0].tolist(), strict=True))
        return [*filter(None, account.doubts(rows[None], remembered, bad, lambda _: values))]

    # in a file, or in a copy

    def contents(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return all that is needed to go on bit for bit."""
        header = {
            "kind": "simulation",
            "key": self.setup.key,
            "batch": self.setup.batch,
            "clock": self.clock.numbers(),
            "stopped": self.stopped,
            "events": [list(map(plain_event, events)) for events in self.sides.happened],
        }
        arrays = self.sides.arrays()
        if self.controllers:
            arrays |= self.controllers.arrays()
        if self.record:
            self.record.hold(self.inputs.array)
            arrays |= {f"record/{name}": array for name, array in self.record.arrays().items()}
        return header, arrays

    def become(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Be what `contents` gave."""
        self.sides.recall(arrays, header["events"])
        self.inputs.written[0] = True
        if self.controllers:
            self.controllers.restore(arrays)
        self.clock = StepClock(*header["clock"])
        self.stopped, self.now = header["stopped"], None
        if self.record and "record/t" in arrays:
            self.record.recall({name: arrays[f"record/{name}"] for name in ("t", "y", "u", "dropped")})


def _kept(record: Any, batch: bool, size: int) -> int:
    """Return how many samples of this size to keep."""
    if record is None:
        record = not batch
    if isinstance(record, bool | np.bool_):
        return max(most_numbers() // (2 * (size + 1)), 1) if record else 0
    if not isinstance(record, int | np.integer) or record < 1:
        raise ValueError(f"record {record!r}; give True, False, or how many samples to keep")
    return int(record)
