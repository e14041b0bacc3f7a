"""The work of a sweep: cases sent to an executor, their outcomes kept as they come."""

import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from dataclasses import dataclass, field, replace
from typing import Any

from linkwork.simulation.case_outcome import CaseOutcome, failed_outcome
from linkwork.simulation.progress import Progress
from linkwork.simulation.sweep_cases import Case
from linkwork.simulation.sweep_folder import Store

_DIED = CaseOutcome("failed", "executor: a worker died, and this case with it")
_AT_THE_TOP = "; build and measure go to other processes by name: define them at the top of a module"


@dataclass
class SweepWork:
    """The cases of a sweep, and what has become of them."""

    task: Callable[[list[Case]], list[CaseOutcome]]
    cases: list[Case]
    outcomes: list[CaseOutcome | None]
    store: "Store | None"
    lost: list[int] = field(default_factory=list)  # cases of a pool that broke

    def run(self, pool: Executor, missing: list[int], size: int, progress: Progress) -> None:
        """Compute missing cases, some at a time; on an interrupt keep what is done and cancel the rest."""
        futures: dict[Future[list[CaseOutcome]], list[int]] = {}
        try:
            for start in range(0, len(missing), size):
                self._submit(pool, missing[start : start + size], futures)
            for count, future in enumerate(as_completed(list(futures)), 1):
                self._take(future, futures[future])
                del futures[future]
                progress.update(count * size / len(missing))
            self._rescue(pool)
        except BaseException as stop:
            cancelled = {future for future in futures if future.cancel()}
            if isinstance(stop, KeyboardInterrupt):
                for future in futures.keys() - cancelled:
                    if future.done():
                        self._take(future, futures[future])
            raise

    def _submit(self, pool: Executor, numbers: list[int], futures: dict[Future[Any], list[int]]) -> None:
        try:
            futures[pool.submit(self.task, [self.cases[k] for k in numbers])] = numbers
        except BrokenExecutor:
            self.lost += numbers

    def _take(self, future: Future[list[CaseOutcome]], numbers: list[int]) -> None:
        """Keep the outcomes of a task. What the executor did wrong is not the case's fault, nor on file."""
        error = CancelledError("by another program") if future.cancelled() else future.exception()
        if isinstance(error, BrokenExecutor):
            self.lost += numbers
        elif error is not None:
            outcome = failed_outcome("executor", error)
            if "pickle" in outcome.message:
                outcome = replace(outcome, message=outcome.message + _AT_THE_TOP)
            self._blame(numbers, outcome)
        else:
            for k, outcome in zip(numbers, future.result(), strict=True):
                self.keep(k, outcome)

    def keep(self, k: int, outcome: CaseOutcome) -> None:
        """Keep the outcome of a case, on file too."""
        self.outcomes[k] = outcome
        if self.store is not None:
            self.store.save(self.cases[k], outcome)

    def _blame(self, numbers: list[int], outcome: CaseOutcome) -> None:
        for k in numbers:
            self.outcomes[k] = outcome

    def _rescue(self, broken: Executor) -> None:
        """Compute what a broken pool lost in processes with one case each: so it is known which one kills."""
        lost, self.lost = sorted(self.lost), []
        if not isinstance(broken, ProcessPoolExecutor):
            self._blame(lost, _DIED)
            return
        make = functools.partial(ProcessPoolExecutor, 1, getattr(broken, "_mp_context", None))
        idle = [make() for _ in range(min(len(lost), os.cpu_count() or 1))]
        running: dict[Future[list[CaseOutcome]], tuple[int, ProcessPoolExecutor]] = {}
        waiting = iter(lost)
        try:
            while True:
                for k in itertools.islice(waiting, len(idle)):
                    process = idle.pop()
                    running[process.submit(self.task, [self.cases[k]])] = (k, process)
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    k, process = running.pop(future)
                    self._take(future, [k])
                    idle.append(make() if self.lost else process)
                    self._blame(self.lost, _DIED)
                    self.lost.clear()
        finally:
            for process in (*idle, *(process for _, process in running.values())):
                process.shutdown(wait=False, cancel_futures=True)
