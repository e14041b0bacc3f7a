"""A table of measures over many mechanisms: one row per case, whatever becomes of the others.

What is computed depends on the cases alone, neither on the executor nor on the order in which results come.
In a folder each finished case is a small file of its own, named by a digest of all that it depends on; so a
sweep that was stopped goes on where it was.
"""

import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkwork.errors import warn
from linkwork.real_numbers import shown
from linkwork.simulation.case_outcome import CaseOutcome, built_for, computed, measured
from linkwork.simulation.cases_together import computed_together
from linkwork.simulation.progress import Progress
from linkwork.simulation.rehearsal import Watch
from linkwork.simulation.sweep_cases import Case, all_cases, check_call
from linkwork.simulation.sweep_folder import Store
from linkwork.simulation.sweep_table import Table
from linkwork.simulation.sweep_work import SweepWork
from linkwork.spelling import checked_keywords

_TASKS = 10_000  # tasks that an executor gets at most; more cases than that are sent in groups
_FEW = 16  # cases that are computed one by one
_MOST_TOGETHER = 1000  # cases that are simulated side by side
_AT_A_TIME = 8.0  # seconds that these would take one by one
_SHORT = 0.04  # a case that takes less is mostly Python, which threads do in turns: it is not shared out [s]


@checked_keywords
def sweep(
    build: Callable[..., Any],
    parameters: Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]],
    measure: Callable[[Any], Any],
    *,
    executor: Executor | None = None,
    folder: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    retry: bool = False,
) -> Table:
    """Return a table of measure(build(**case)) over all combinations of the parameters, the last one fastest.

    `parameters` may also be a list of cases. `measure` returns a number, a mapping of numbers or an array. A
    case that raises is a row with status "failed", the reason, and NaN; the others go on. `executor` is any
    of concurrent.futures, threads if not given. With a `folder`, what was computed there before is taken from
    it, failed cases too unless `retry`. A case is computed again when its parameters have changed, the code
    of build or measure, the version of Linkwork, or the `options`: whatever else the results depend on.

    >>> table = sweep(lambda a, b: (a, b), {"a": [1.0, 2.0], "b": [3.0, 4.0]}, lambda ab: {"sum": sum(ab)})
    >>> table["sum"]
    array([4., 5., 5., 6.])
    """
    for word, function in (("build", build), ("measure", measure)):
        if not callable(function):
            raise TypeError(f"sweep: {word} {function!r} is not a function; give one")
    if not hasattr(executor, "submit") and executor is not None:
        raise TypeError(
            f"sweep: executor {shown(executor)}; give one of concurrent.futures, such as "
            "ProcessPoolExecutor(4), or leave it out: threads on all cores"
        )
    if folder is None and (options is not None or retry):
        word = "retry" if options is None else "options"
        raise ValueError(f"sweep: {word}= is about results in a folder=; give one, or leave it out")
    cases = all_cases(parameters)
    check_call(build, cases[0])
    store = None if folder is None else Store(Path(folder), build, measure, dict(options or {}))
    outcomes = [None if store is None else store.load(case) for case in cases]
    missing = [k for k, known in enumerate(outcomes) if known is None or (retry and known.status == "failed")]
    work = SweepWork(functools.partial(computed, build, measure), cases, outcomes, store)
    with _running(executor) as pool, Progress("sweep") as progress:
        size = -(-len(missing) // _TASKS) or 1
        if executor is None and len(missing) > _FEW:
            missing, size = _rehearsed(pool, work, build, measure, missing, size)
        work.run(pool, missing, size, progress)
    table = Table(cases, [outcome for outcome in outcomes if outcome is not None])
    if failed := [k for k, outcome in enumerate(outcomes) if outcome and outcome.status == "failed"]:
        case = ", ".join(f"{name}={value!r}" for name, value in cases[failed[0]].items())
        message = table["message"][failed[0]]
        warn(f"sweep: {len(failed)} of {len(cases)} cases failed, the first is {case}: {message}")
    if folder is not None:
        table.save_csv(Path(folder) / "table.csv")
    return table


def _rehearsed(
    pool: Executor,
    work: SweepWork,
    build: Callable[..., Any],
    measure: Callable[[Any], Any],
    missing: list[int],
    size: int,
) -> tuple[list[int], int]:
    """Compute a case or two, and see if others can be simulated side by side; return those, and how many.

    How many at a time depends on how long one takes: what is computed together is kept together.
    """

    def watch(k: int) -> tuple[Watch, float]:
        """Compute a case; return what it asked of `simulate`, and the processor's time that it took [s]."""
        outcome, watch, taken = pool.submit(_watched, build, measure, work.cases[k]).result()
        work.keep(k, outcome)
        return watch, taken

    asked, _ = watch(missing[0])
    if not asked.calls:
        return missing[1:], size
    again, taken = watch(missing[1])
    if asked.same(again):
        work.task = functools.partial(computed_together, build, measure, asked.calls)
        share = 1 if taken < _SHORT else os.cpu_count() or 1
        fair = -(-(len(missing) - 2) // share)
        size = max(size, min(fair, _MOST_TOGETHER, int(_AT_A_TIME / taken)))
    return missing[2:], size


def _watched(
    build: Callable[..., Any], measure: Callable[[Any], Any], case: Case
) -> tuple[CaseOutcome, Watch, float]:
    """Return the outcome of a case, what it asked of `simulate`, and the time of the processor [s]."""
    begun, watch = time.thread_time(), Watch()
    built = built_for(build, case)
    outcome = measured(measure, built, case, watch.watching(built))
    return outcome, watch, time.thread_time() - begun


@contextmanager
def _running(executor: Executor | None) -> Iterator[Executor]:
    """Give the executor, or threads of our own, which are not waited for if the sweep is interrupted."""
    if executor is not None:
        yield executor
        return
    threads = ThreadPoolExecutor(os.cpu_count())
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
