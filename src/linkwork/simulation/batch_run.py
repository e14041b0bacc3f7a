"""Many runs at once, of one mechanism or of variants of it: SIMD lanes, and a part of the runs per thread.

Variants whose formulas are the same share their programs, and each lane has the numbers of its own.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.native import store
from linkwork.recording.batch import Recordings
from linkwork.recording.channels import Channels
from linkwork.recording.lazy_sequence import Each
from linkwork.recording.report import Report
from linkwork.recording.status import Status
from linkwork.simulation import integration
from linkwork.simulation.controllers import Controllers, Replay, inputs_at, inputs_of
from linkwork.simulation.failure import GOOD, interruption
from linkwork.simulation.integration import MEMO
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.marching import Marching
from linkwork.simulation.polling import Keyboard, results
from linkwork.simulation.progress import Progress
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.side_by_side import SideBySide
from linkwork.simulation.single_run import StepsBetween
from linkwork.simulation.statistics import NO_LOOPS, HeldLoops, is_laborious
from linkwork.simulation.variant_groups import Alike, Variants, in_order, in_parts

Array = np.ndarray

_NAMES = np.array([status.name for status in Status])


class ManyRuns:
    """Runs from states q (N, nq), v (N, nv); `run` returns their Recordings."""

    def __init__(
        self,
        setting: RunSettings,
        start: State,
        duration: float,
        times: Array,
        variants: Variants | None = None,
        watch: LawWatch | None = None,
    ):
        self.setting, self.system, self.chosen = setting, setting.system, setting.chosen
        self.watch = watch or LawWatch(setting.system.model, setting.system)
        self.t, self.t_end, self.times = start.t, start.t + duration, times
        self._y = np.hstack([start.q, start.v, np.zeros((len(start.q), 1))])
        self._variants = variants
        self._start_inputs = start.inputs
        values = input_values(setting.inputs, start.inputs)
        self._inputs = np.broadcast_to(values, (len(start.q), len(setting.inputs)))
        self.keyboard = Keyboard()
        self.notes: list[str] = []  # what the user should know
        self.controllers: Controllers | Replay = Controllers.none()

    def run(self, threads: int) -> Recordings:
        begun = time.perf_counter()
        count = len(self._y)
        workers = max(1, min(threads, -(-count // store.lanes())))
        if self.setting.controlled:
            return self._run_controlled(threads, begun)
        groups = self._variants.alike if self._variants else [Alike(self.setting, np.arange(count))]
        parts = [self._part(group) for group in in_parts(groups, workers)]
        integration.prepare()
        ready = time.perf_counter()
        with self.keyboard, Progress(self.system.model.name) as progress:
            if len(parts) == 1:
                parts[0].march(self.t_end, progress.update)
            else:
                self._in_threads(parts, workers, progress)
        return self._record(parts, (ready - begun, time.perf_counter() - ready))

    def _run_controlled(self, threads: int, begun: float) -> Recordings:
        """Let all mechanisms go on together from one call of the controllers to the next."""
        model, setting, count = self.system.model, self.setting, len(self._y)
        controllers = self.controllers = Controllers(
            model, list(setting.inputs), count, self.t, self._variants.models if self._variants else None
        )
        controllers.check_calls(self.t, self.t_end)
        integration.prepare()
        start = self._y, self.t, self._inputs, self.watch
        sides = SideBySide(setting, *start, threads, alone=False, times=self.times, variants=self._variants)
        ready, t = time.perf_counter(), self.t
        with self.keyboard, Progress(model.name) as progress:
            try:
                while t < self.t_end and not self.keyboard.pressed:
                    if controllers.next_time <= t:
                        sides.control(controllers)
                    t = min(controllers.next_time, self.t_end)
                    sides.march(t)
                    progress.update((t - self.t) / (self.t_end - self.t))
            except KeyboardInterrupt:
                self.keyboard.pressed = True
        if self.keyboard.pressed:
            going = np.flatnonzero(sides.memo("status") == Status.DONE)
            sides.fail({int(k): interruption(float(sides.memo("t_final")[k])) for k in going})
        self._inputs = sides.inputs
        return self._record(sides.parts, (ready - begun, time.perf_counter() - ready))

    def _part(self, group: Alike) -> Marching:
        return Marching(
            group.setting,
            self._y[group.members],
            self.t,
            self._inputs[group.members],
            self.keyboard,
            self.watch,
            times=self.times,
            members=group.members,
            constants=group.constants,
            setting_of=self.setting_of,
        )

    def _shared_setting(self, k: int) -> RunSettings:
        """Return the setting of run k, or of one that has the same formulas."""
        return self._variants.shared(k) if self._variants else self.setting

    def setting_of(self, k: int) -> RunSettings:
        """Return the setting of run k, as if it ran alone."""
        return self._variants.settings[k] if self._variants else self.setting

    def _in_threads(self, parts: list[Marching], workers: int, progress: Progress) -> None:
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(part.march, self.t_end) for part in parts]
            results(
                futures,
                self.interrupt,
                lambda: progress.update(sum(part.done for part in parts) / len(parts)),
            )

    def interrupt(self) -> None:
        """End all runs at their next look, or before they begin."""
        self.keyboard.pressed = True

    def _record(self, parts: list[Marching], spent: tuple[float, float]) -> Recordings:
        nq = self.system.model.nq
        order = np.arange(len(self._y))
        if self._variants:
            order = np.argsort(np.concatenate([part.members for part in parts]))
        rows, filled, ends, weakest, *bad = (
            in_order([getattr(part.work.memory, name) for part in parts], order)
            for name in ("record", "filled", "y_final", "weakest", "bad_t", "bad_y")
        )
        remembered = in_order([part.work.remembered(slice(None)) for part in parts], order)
        memos = remembered.view(MEMO)[:, 0]
        ended, codes = memos["t_final"].copy(), memos["status"].astype(int)
        filled = np.minimum(filled, np.searchsorted(self.times, ended, side="right"))
        failures = [failure for part in parts for failure in part.failures]
        failures = [failures[k] for k in order]
        happened = [occurrences.happened for part in parts for occurrences in part.occurrences]
        happened = [happened[k] for k in order]
        for k, failure in enumerate(failures):
            if failure:
                codes[k] = failure.status
        doubts = self._doubts(rows, filled, remembered, bad, codes)
        q, v, work = rows[:, :, 1 : 1 + nq], rows[:, :, 1 + nq : -1], rows[:, :, -1]
        held = self._held(remembered, q, filled, weakest)

        def report(k: int) -> Report:
            events = [event for event in happened[k] if event[0] <= ended[k]]
            notes = [doubts[k]] if doubts[k] else []
            account = self._shared_setting(k).account
            found = account.report(remembered[k], held[k], failures[k], spent, events, notes)
            return self._variants.report(k, found) if self._variants else found

        def final(k: int) -> State:
            where = ends[k, :nq], ends[k, nq:-1], float(ended[k])
            memories = self.controllers.memories(k)
            return State(*where, None, self._inputs_of(k), self.system.model.slices, memories)

        reports, finals = Each(len(rows), report), Each(len(rows), final)
        names = _NAMES[codes]
        return Recordings(
            self._channels(), self.times, q, v, work, ended.copy(), filled, names, reports, finals
        )

    def _held(self, remembered: Array, q: Array, filled: Array, weakest: Array) -> Sequence[HeldLoops]:
        """Return how well loops of each run were held closed, up to its last sample."""
        if not self.system.tree.loops:
            return [NO_LOOPS] * len(q)
        inputs, accounts = self._inputs_at_samples(), [self.setting_of(k).account for k in range(len(q))]
        return [
            account.held(remembered[k], self.times[:count], q[k, :count], inputs[:count, k], weakest[k])
            for k, (account, count) in enumerate(zip(accounts, filled, strict=True))
        ]

    def _channels(self) -> Channels:
        inputs, changes = self._start_inputs, self.controllers.changes
        if changes:
            inputs = inputs_of(list(self.setting.inputs), self._inputs_at_samples(), True)
        alone = self.setting.channels(inputs, StepsBetween(self.setting.words, tuple(changes)))
        return self._variants.channels(alone) if self._variants else alone

    def _inputs_at_samples(self) -> Array:
        """Return the inputs that hold from the times of samples on, (S, N, nu)."""
        values = input_values(self.setting.inputs, self._start_inputs)
        return inputs_at(self.controllers.changes, self.times, np.broadcast_to(values, self._inputs.shape))

    def _inputs_of(self, k: int) -> dict[str, float]:
        return dict(zip(self.setting.inputs, self._inputs[k].tolist(), strict=True))

    def _doubts(
        self, rows: Array, filled: Array, remembered: Array, bad: Sequence[Array], codes: Array
    ) -> list[str]:
        """Return what is odd about each run that seems to be good, nothing if nothing is; note the first."""
        doubts = [""] * len(rows)
        good = np.isin(codes, GOOD)
        for count in np.unique(filled[good]):
            some = np.flatnonzero(good & (filled == count))
            if self._variants:  # their models are compiled only when they are asked for
                memos = remembered[some].view(MEMO)[:, 0]
                worth = np.isfinite(bad[0][some]) | is_laborious(memos["accepted"], memos["rejected"])
                some = some[worth | bool(self.chosen.step)]
            for group in some[:, None] if self._variants else [some]:
                account, (t, y) = self.setting_of(int(group[0])).account, (each[group] for each in bad)
                of = lambda n, group=group: self._inputs_of(int(group[n]))  # noqa: E731
                found = account.doubts(rows[group, :count], remembered[group], (t, y), of)
                for k, doubt in zip(group, found, strict=True):
                    doubts[k] = doubt
        odd = [k for k, doubt in enumerate(doubts) if doubt]
        if odd:
            self.notes.append(
                f"{len(odd)} of {len(doubts)} runs are doubtful, the first is run {odd[0]}: {doubts[odd[0]]}"
            )
        return doubts
