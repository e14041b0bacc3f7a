"""Mechanisms with contact that go on together by fixed steps: what `SideBySide` is for others.

The mesh of steps is t0 + k h. Where a piece ends between two points of it, a shorter step leads there from
the last one, and leaves no trace. Inputs that were changed begin a new mesh.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from math import inf, isfinite
from typing import Any

import numpy as np

from linkwork.contact_dynamics.time_stepping.contact_state import ContactState, Hit
from linkwork.contact_dynamics.time_stepping.lanes import Lanes
from linkwork.contact_dynamics.time_stepping.stepper import TOLERANCE, Stepper
from linkwork.contact_dynamics.time_stepping.warm_start_by_body import MemoryByBody
from linkwork.dynamics.load_code import raised
from linkwork.model.carried_contacts import SAVED
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.report import Impact, event_of, hits_of
from linkwork.recording.status import MESSAGES, Status
from linkwork.simulation.controllers import Controllers
from linkwork.simulation.driver_jumps import after_jump
from linkwork.simulation.event_log import Occurrences
from linkwork.simulation.failure import STEP_HINT, Failure, failed, failed_step
from linkwork.simulation.integration import MEMO
from linkwork.simulation.lane_steps import LaneSteps, enter_lane, leave_lane
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.loop.records import ON_MESH
from linkwork.simulation.options import MOREAU_JEAN
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.step_events import EventSides, StepEvents
from linkwork.simulation.stepped_mechanism import SteppedMechanism
from linkwork.simulation.variant_groups import Variants

Array = np.ndarray

_DONE = int(Status.DONE)
_FEW = 4  # mechanisms for a thread


class ContactSides:
    """N mechanisms from states y (N, n) at time t, with inputs (N, nu).

    Variants have a model each, and a stepper each; others share one in a thread.
    """

    def __init__(
        self,
        setting: RunSettings,
        y: Array,
        t: float,
        inputs: Array,
        watch: LawWatch,
        threads: int,
        variants: Variants | None = None,
    ) -> None:
        self._setting, self.watch, self._h = setting, watch, setting.chosen.step
        model, count = setting.system.model, len(y)
        self._models: Sequence[Model] = variants.models if variants else [model] * count
        self._workers = max(1, min(threads, count // _FEW))
        pieces = count if variants else self._workers
        self._edges = list(pairwise(np.linspace(0, count, pieces + 1).astype(int).tolist()))
        scheme = setting.chosen.method == MOREAU_JEAN
        own = [RunSettings(one, setting.words) for one in self._models] if variants else [setting] * pieces
        each = max(1, threads // self._workers)
        self._parts = [StepEvents(one, Stepper(one.system.model, scheme, each)) for one in own]
        stepper = self._parts[0].stepper
        self._names = MemoryByBody(model, stepper.system)
        self._restoring = self._names, stepper.sleepers, model.nq
        self.inputs = inputs.copy()  # (N, nu), to be written to
        self._memo = np.zeros(count, MEMO)
        self._memo["margin"] = np.inf
        self.failures: list[Failure | None] = [None] * count
        self.happened: list[list[tuple[float, str]]] = [[] for _ in range(count)]
        self._occurrences = [
            Occurrences(lambda one=one: one, setting.chosen, inf, watch) for one in self._models
        ]
        self._ones: list[SteppedMechanism] = [None] * count  # type: ignore[list-item]
        able = not self._parts[0].events
        self._lanes = [
            LaneSteps(part.stepper, b - a, self._h, able and self.inputs.shape[1] == len(part.stepper.inputs))
            for part, (a, b) in zip(self._parts, self._edges, strict=True)
        ]
        self._part_of = np.repeat(np.arange(pieces), [b - a for a, b in self._edges])
        self._pool: ThreadPoolExecutor | None = None
        self._t_end = t  # of the last piece
        self._lent = False  # whether the only mechanism was asked for by others: it keeps no lane of its own
        self._fresh = np.zeros(count, bool)  # which have begun and did not move yet
        self.begin(np.arange(count), y, t, inputs)

    def begin(self, which: Array, y: Array, t: float, inputs: Array) -> None:
        """Begin anew with some mechanisms, by number."""
        nq = self._setting.system.model.nq
        self.leave_lane(which)
        for k, row, values in zip(which.tolist(), y, inputs, strict=True):
            state = ContactState(row[:nq].copy(), row[nq:-1].copy(), t, float(row[-1]))
            sides = EventSides.of(len(self._setting.chosen.events))
            self._ones[k] = SteppedMechanism(state, state, t, values.copy(), sides)
            self.inputs[k], self.failures[k] = values, None
            self.happened[k].clear()
            self._occurrences[k].happened.clear()
            self._memo[k]["t"] = self._memo[k]["t_final"] = t
            self._memo[k]["status"] = _DONE
        self._fresh[which] = True

    def hand_over(self) -> dict[int, Failure]:
        """Let inputs that were written hold in the pieces that follow.

        Where drivers read them, mechanisms go to where these are; returns those that cannot, by number.
        """
        model, failures = self._setting.system.model, dict[int, Failure]()
        count = len(model.link_tree.inputs)  # those of drivers come first
        for k, one in enumerate(self._ones if count else ()):
            now, end = self.inputs[k], one.end
            if self._memo["status"][k] != _DONE or np.array_equal(now[:count], one.held[:count]):
                continue
            there = after_jump(self._models[k], np.array([*end.q, *end.v, end.work]), end.t, now, one.held)
            if isinstance(there, Failure):
                failures[k] = there
                continue
            q, v = there[: model.nq], there[model.nq : -1]
            one.begin_mesh(replace(end, q=q, v=v, work=float(there[-1]), rests=None, quick=True))
            one.held = now.copy()
        return failures

    def take_back(self) -> None:
        """Let those inputs hold that did so far, in place of what was written."""
        self.leave_lane()
        for k, one in enumerate(self._ones):
            self.inputs[k] = one.held

    def march(self, t_end: float) -> bool:
        """Go on to a time; return whether nothing has happened to any mechanism on the way.

        Ctrl-C leaves them where they were.
        """
        kept, lanes = list(self._ones), [part.copy() for part in self._lanes]
        memo, failures = self._memo.copy(), list(self.failures)
        lists = [*self.happened, *(one.happened for one in self._occurrences)]
        counts = [len(one) for one in lists]
        raised.__dict__.pop("error", None)
        try:
            if self._workers == 1:
                for part in range(len(self._edges)):
                    self._march_part(part, t_end)
            else:
                pool = self._pool = self._pool or ThreadPoolExecutor(self._workers)
                list(pool.map(lambda k: self._march_part(k, t_end), range(len(self._edges))))
        except KeyboardInterrupt:
            self._ones, self._memo[:], self.failures = kept, memo, failures
            for part, copied in zip(self._lanes, lanes, strict=True):
                part.become(copied)
            for one, count in zip(lists, counts, strict=True):
                del one[count:]
            raise
        self._t_end = t_end
        return bool((self._memo["status"] == _DONE).all())

    def _march_part(self, part: int, t_end: float) -> None:
        """Bring mechanisms to a time: by lanes as far as these go, and the others one by one."""
        lanes, (a, b) = self._lanes[part], self._edges[part]
        for k in np.flatnonzero(self._fresh[a:b]).tolist():
            self._enter_lane(lanes, k, a)
        self._fresh[a:b] = False
        for k in lanes.advance(self.inputs[a:b], t_end):
            self.leave_lane([a + k])
            self._ones[a + k] = self._ones[a + k].copy()
            if self._memo["status"][a + k] == _DONE:
                self._occurrences[a + k].t_end = t_end
                self._advance(self._parts[part], a + k, t_end)
            self._enter_lane(lanes, k, a)

    def _enter_lane(self, lanes: LaneSteps, k: int, a: int) -> None:
        """Let mechanism k of a part that begins at `a` go by a lane, if it can."""
        if self._memo["status"][a + k] == _DONE and not self._lent:
            lanes.enter_lane(k, self._ones[a + k], self.inputs[a + k])

    def leave_lane(self, which: Iterable[int] | None = None) -> None:
        """Take mechanisms, all if none are given, out of their lanes."""
        for k in range(len(self._ones)) if which is None else which:
            part = self._part_of[k]
            lanes, i = self._lanes[part], k - self._edges[part][0]
            if lanes.inside[i]:
                self._ones[k] = lanes.leave_lane(i, self._ones[k], self._memo[k], self._t_end)

    def _advance(self, part: StepEvents, k: int, t_end: float) -> None:
        """Bring one mechanism to a time."""
        one, h, inputs, memo = self._ones[k], self._h, self.inputs[k].copy(), self._memo[k]
        if one.held.tobytes() != inputs.tobytes():
            one.ahead = None
            if one.end.t != one.base.t:
                one.begin_mesh(one.end)
        one.held = inputs
        while (whole := one.origin + (one.index + 1.0) * h <= t_end + ON_MESH * h) or part.events:
            t = one.origin + (one.index + 1.0) * h
            ahead = one.ahead = one.ahead or part.ahead(one.sides, one.base, inputs)
            if not self._good(k, ahead.state, one.base, ahead.fault):
                return
            restarted = self._meet(part, k, t if whole else t_end)
            if memo["status"] != _DONE:
                return
            if restarted:
                continue
            if not whole:
                break
            one.go_on(ahead, t)
            self._log(k, ahead.hits)
            memo["accepted"] += 1.0
            memo["evaluations"] += 1.0
            if ahead.residual > TOLERANCE:
                self._note(memo, ahead.residual, t)
        one.end = one.base
        if t_end - one.base.t > ON_MESH * h:
            end = one.base.copy()
            part.stepper.step(end, t_end - one.base.t, inputs)
            if not self._good(k, end, one.base):
                return
            one.end = replace(one.base, q=end.q, v=end.v, t=t_end, work=end.work)
        memo["t"], memo["t_final"] = one.base.t, t_end

    def lend(self, lanes: Lanes, i: int, stepper: Stepper) -> bool:
        """Leave the only mechanism in a lane of others; return whether that can be."""
        self.leave_lane()
        self._lent = self._lanes[0].able and self._memo["status"][0] == _DONE
        return self._lent and enter_lane(lanes, i, stepper, self._ones[0], self.inputs[0])

    def take_home(self, lanes: Lanes, i: int, t_end: float) -> None:
        """Go on with the only mechanism from where a lane is, at a time."""
        self._ones[0], self._t_end = leave_lane(lanes, i, self._ones[0], self._memo[0], t_end, self._h), t_end

    def _log(self, k: int, hits: Sequence[Hit]) -> None:
        self.happened[k] += hits_of([Impact(*hit) for hit in hits])

    def _meet(self, part: StepEvents, k: int, t_end: float) -> bool:
        """Do what events up to a time say, of the step ahead; return whether an action makes a new start."""
        one, occurrences = self._ones[k], self._occurrences[k]
        nq = self._setting.system.model.nq
        assert one.ahead
        for crossing in one.ahead.crossings[one.met :]:
            t, event, state = one.base.t + crossing.x, part.events[crossing.event], crossing.state
            if t > t_end:
                return False
            there = np.array([*state.q, *state.v, state.work])
            y = occurrences.met(event, t, there, again=crossing.again)
            one.met += 1
            if event.action == "note" and not occurrences.failure:
                self.happened[k].append((t, event.name))
                continue
            self._log(k, crossing.hits)
            self.happened[k].append((t, event.name))
            one.sides = crossing.sides
            one.begin_mesh(replace(state, q=y[:nq], v=y[nq:-1], work=float(y[-1]), rests=None, quick=True))
            if not occurrences.over:
                one.sides = part.judge(crossing, one.base, one.held)
                return True
            self._memo[k]["t"] = self._memo[k]["t_final"] = t
            self._memo[k]["status"] = Status.EVENT
            if occurrences.failure:
                self.fail({k: occurrences.failure})
            return False
        return False

    def _note(self, memo: Any, residual: float, t: float) -> None:
        """Remember a step in which the laws of contact do not hold to the tolerance."""
        memo["rejected"] += 1.0
        if residual > memo["largest"]:
            memo["largest"], memo["check_t"] = residual, t

    def notes(self, k: int) -> list[str]:
        """Say in words how far contacts were not solved."""
        self.leave_lane([k])
        memo = self._memo[k]
        if not memo["rejected"]:
            return []
        return [
            f"contacts were not solved to {TOLERANCE:g} m/s in {int(memo['rejected'])} of "
            f"{int(memo['accepted'])} steps; {memo['largest']:.2g} m/s was left at {memo['check_t']:.6g} s"
        ]

    def _good(self, k: int, state: ContactState, before: ContactState, fault: str = "") -> bool:
        """Return whether a step has led to numbers; else the mechanism stays where it was.

        `fault` is the event whose function is no number.
        """
        with np.errstate(over="ignore"):
            total = float(state.q.dot(state.q) + state.v.dot(state.v))  # no number, if one of these is none
        if (isfinite(total) or np.isfinite([*state.q, *state.v]).all()) and not fault:
            return True
        if fault:
            words = f"event {fault!r}: {MESSAGES[Status.NOT_FINITE]}"
            failure = failed(Status.NOT_FINITE, before.t, fault, words, hint=STEP_HINT)
        else:
            y, held = np.concatenate([before.q, before.v]), self._ones[k].held
            names = self._setting.inputs
            failure = failed_step(self._models[k], before.t, y, dict(zip(names, held, strict=True)), self._h)
        self.fail({k: failure})
        self._memo[k]["t_final"], self._ones[k].end = before.t, before
        return False

    def control(self, controllers: Controllers) -> None:
        """Let controllers write inputs of the mechanisms that go on."""
        y, nq = self.y, self._setting.system.model.nq
        going = self._memo["status"] == _DONE
        failures = controllers.call(y[:, :nq], y[:, nq:-1], self.inputs, going)
        self.fail(self.hand_over() | failures)

    def fail(self, failures: Mapping[int, Failure]) -> None:
        """Let mechanisms stay where they are, by number."""
        self.leave_lane(failures)
        for k, failure in failures.items():
            self.failures[k], self._memo[k]["status"] = failure, failure.status

    def take_failures(self, other: "ContactSides") -> None:
        """Have failed as others did."""
        self.failures[:] = other.failures

    def go_on(self) -> None:
        """Let a mechanism that an event has stopped go on from there."""
        self._memo["status"][self._memo["status"] == Status.EVENT] = _DONE

    # what they are

    @property
    def y(self) -> Array:
        """The states (N, n)."""
        pairs = zip(self._lanes, self._edges, strict=True)
        return np.concatenate([part.y(self._ones[a:b]) for part, (a, b) in pairs])

    def memo(self, name: str) -> Array:
        """Return a number that all mechanisms remember, (N,)."""
        if name != "status":
            self.leave_lane()
        return self._memo[name]

    @property
    def remembered(self) -> Array:
        """All numbers that the mechanisms remember, (N, columns of MEMO)."""
        self.leave_lane()
        return self._memo.view(float).reshape(len(self._memo), -1).copy()

    def gathered(self, name: str) -> Array:
        """Return the states of the mechanisms: those in which loops hold least are not looked for."""
        del name
        return self.y

    @property
    def status(self) -> Array:
        """How they stand, (N,): a `Status` each."""
        return self._memo["status"].astype(int)

    # in a state, a file, or a copy

    def memory(self, k: int) -> dict[str, Array]:
        """Return what mechanism k remembers, to go on bit for bit."""
        return self.contacts(k) | {"key": self._setting.key}

    def contacts(self, k: int) -> dict[str, Array]:
        """Return what its contacts remember, for a model that is edited: which one it was takes a digest."""
        self.leave_lane([k])
        return self._ones[k].contents(self._names)

    def follow(self, start: State) -> None:
        """Let the only mechanism, which is at a start, go on bit for bit as the run that led there.

        Where that cannot be, since it was edited or options are others, contacts still remember impulses.
        """
        self.leave_lane()
        memory = start.memory or {}
        if not self._names.knows(memory):
            return
        here = self._ones[0].base
        here.memory, here.saved = self._names.memory(memory), memory[SAVED].copy()
        here = replace(self._ones[0], base=here, end=here)
        if "key" in memory and np.array_equal(memory["key"], self._setting.key):
            self._ones[0].become(memory, self._h, *self._restoring)
            if not -0.01 <= (start.t - self._ones[0].base.t) / self._h <= 1.01:  # it is within a step
                raise ValueError(f"at {start.t:g} s, and its step at {self._ones[0].base.t:g} s")
            self._advance(self._parts[0], 0, start.t)
            arrived = self._ones[0].end
            if arrived.q.tobytes() + arrived.v.tobytes() == start.q.tobytes() + start.v.tobytes():
                return
        self._ones[0] = here

    def arrays(self) -> dict[str, Array]:
        """Return all that is needed to go on bit for bit."""
        self.leave_lane()
        found = {"inputs": self.inputs.copy(), "memo": self.remembered, "y": self.y}
        for k in range(len(self._ones)):
            found |= {f"{k}/{name}": array for name, array in self.memory(k).items()}
        return found

    def recall(self, arrays: Mapping[str, Array], events: Sequence[Sequence[Any]]) -> None:
        """Become what `arrays` gave; `events` are those that have happened so far."""
        self.leave_lane()
        self.inputs[:] = arrays["inputs"]
        self._memo.view(float).reshape(len(self._memo), -1)[:] = arrays["memo"]
        nq = self._setting.system.model.nq
        for k, one in enumerate(self._ones):
            one.become({name: arrays[f"{k}/{name}"] for name in self.memory(k)}, self._h, *self._restoring)
            y, t = arrays["y"][k], float(self._memo[k]["t_final"])
            one.end = replace(one.base, q=y[:nq].copy(), v=y[nq:-1].copy(), t=t, work=float(y[-1]))
            one.held = self.inputs[k].copy()
            self.happened[k][:] = list(map(event_of, events[k]))
            watched = {event.name for event in self._setting.chosen.events}
            own = [event for event in self.happened[k] if event[1] in watched]
            self._occurrences[k].happened[:] = own
