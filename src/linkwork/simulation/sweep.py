"""A table of measures over many mechanisms: one row per case, whatever becomes of the others.

What is computed depends on the cases alone, neither on the executor nor on the order in which results come.
In a folder each finished case is a small file of its own, named by a digest of all that it depends on; so a
sweep that was stopped goes on where it was.
"""

import csv
import functools
import inspect
import io
import itertools
import math
import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.atomic import write_atomically
from linkwork.errors import FormatError, unknown, warn
from linkwork.fingerprint import digest, spelled, spelled_code
from linkwork.mechanism.mechanism import Mechanism
from linkwork.recording import container
from linkwork.recording.samples import optional
from linkwork.simulation.foreseen import Call
from linkwork.simulation.progress import Progress
from linkwork.simulation.rehearsal import Rehearsal, Watch
from linkwork.spelling import checked_keywords

Case = dict[str, Any]

_RESERVED = ("status", "message")
_TASKS = 10_000  # tasks that an executor gets at most; more cases than that are sent in groups
_SHOWN = 12  # rows in the text of a table
_FEW = 16  # cases that are computed one by one
_MOST_TOGETHER = 1000  # cases that are simulated side by side
_AT_A_TIME = 1.0  # seconds that these would take one by one


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
) -> "Table":
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
    if folder is None and (options is not None or retry):
        word = "retry" if options is None else "options"
        raise ValueError(f"sweep: {word}= is about results in a folder=; give one, or leave it out")
    cases = _cases(parameters)
    _check_call(build, cases[0])
    store = None if folder is None else _Store(Path(folder), build, measure, dict(options or {}))
    outcomes = [None if store is None else store.load(case) for case in cases]
    missing = [k for k, known in enumerate(outcomes) if known is None or (retry and known.status == "failed")]
    work = _Work(functools.partial(_computed, build, measure), cases, outcomes, store)
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
    work: "_Work",
    build: Callable[..., Any],
    measure: Callable[[Any], Any],
    missing: list[int],
    size: int,
) -> tuple[list[int], int]:
    """Compute a case or two, and see if others can be simulated side by side; return those, and how many.

    How many at a time depends on how long one takes: what is computed together is kept together.
    """
    first, second = missing[:2]
    asked, _ = work.watch(pool, build, measure, first)
    if not asked.calls:
        return missing[1:], size
    again, taken = work.watch(pool, build, measure, second)
    if asked.same(again):
        work.task = functools.partial(_computed_together, build, measure, asked.calls)
        fair = -(-(len(missing) - 2) // (os.cpu_count() or 1))
        size = max(size, min(fair, _MOST_TOGETHER, int(_AT_A_TIME / taken)))
    return missing[2:], size


def _watched(
    build: Callable[..., Any], measure: Callable[[Any], Any], case: Case
) -> "tuple[CaseOutcome, Watch, float]":
    """Return the outcome of a case, what it asked of `simulate`, and the time it took [s]."""
    begun, watch = time.perf_counter(), Watch()
    built = _built(build, case)
    outcome = _measured(measure, built, case, watch.watching(built))
    return outcome, watch, time.perf_counter() - begun


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


# cases


def _cases(parameters: Any) -> list[Case]:
    """Return all cases with plain values, or raise ValueError if there is anything that cannot be swept."""
    if isinstance(parameters, Mapping):
        values = {name: _values(name, given) for name, given in parameters.items()}
        cases = [dict(zip(values, combination)) for combination in itertools.product(*values.values())]
    else:
        if not isinstance(parameters, list | tuple) or not all(isinstance(x, Mapping) for x in parameters):
            raise ValueError(
                f"sweep: parameters {parameters!r}; give {{name: values}}, or a list of {{name: value}}"
            )
        cases = [{name: _value(name, x) for name, x in case.items()} for case in parameters]
    if not cases or not cases[0]:
        raise ValueError("sweep: there is no parameter; give at least one with its values")
    for name in cases[0]:
        if not isinstance(name, str) or name in _RESERVED:
            raise ValueError(f"sweep: a parameter is named {name!r}, as a column of the table; rename it")
    for case in cases:
        if case.keys() != cases[0].keys():
            raise ValueError(f"sweep: the cases {cases[0]} and {case} have different parameters; give all")
    return cases


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, str | bytes | Mapping | set | frozenset) or not isinstance(given, Iterable):
        raise ValueError(f"sweep: parameter {name!r} is {given!r}; give a list of its values")
    values = [_value(name, x) for x in given]
    if not values:
        raise ValueError(f"sweep: parameter {name!r} has no values; give at least one")
    return values


def _value(name: str, x: Any) -> Any:
    """Return a value as plain Python: a number, a text, a truth value, None, or a tuple of such."""
    if isinstance(x, np.ndarray | np.generic):
        x = x.tolist()
    if isinstance(x, list | tuple):
        return tuple(_value(name, item) for item in x)
    if isinstance(x, float) and not math.isfinite(x):
        raise ValueError(f"sweep: parameter {name!r} has the value {x}; give finite numbers")
    if x is not None and not isinstance(x, bool | int | float | str):
        raise ValueError(
            f"sweep: parameter {name!r} has the value {x!r}; give numbers or texts, build the rest"
        )
    return x


def _check_call(build: Callable[..., Any], case: Case) -> None:
    """Raise ValueError at once if `build` does not take these parameters, instead of failing every case."""
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):  # made in C: it will say so itself
        return
    try:
        signature.bind(**case)
    except TypeError as error:
        raise ValueError(f"sweep: build{signature} does not take {', '.join(case)}: {error}") from None


@dataclass(frozen=True)
class CaseOutcome:
    """What became of a case."""

    status: str  # "done" or "failed"
    message: str = ""
    values: dict[str, float] = field(default_factory=dict)


_DIED = CaseOutcome("failed", "executor: a worker died, and this case with it")


def _computed(
    build: Callable[..., Any], measure: Callable[[Any], Any], cases: list[Case]
) -> list[CaseOutcome]:
    """Compute cases; this runs where the executor runs, and what it returns can be sent from anywhere."""
    return [_outcome(build, measure, case) for case in cases]


def _outcome(build: Callable[..., Any], measure: Callable[[Any], Any], case: Case) -> CaseOutcome:
    return _measured(measure, _built(build, case), case)


def _built(build: Callable[..., Any], case: Case) -> Any:
    """Return what is built for a case, or a CaseOutcome that says why it could not be."""
    try:
        return build(**case)
    except (Exception, SystemExit) as error:
        return _failed("build", error)


def _measured(
    measure: Callable[[Any], Any], built: Any, case: Case, around: AbstractContextManager[None] | None = None
) -> CaseOutcome:
    """Return the outcome of a case; while it is measured, something may be `around`."""
    if isinstance(built, CaseOutcome):
        return built
    try:
        with around or nullcontext():
            values = _numbers(measure(built), _word(measure))
        if taken := values.keys() & {*case, *_RESERVED}:
            raise ValueError(f"the name {min(taken)!r} is taken by another column; rename the measure")
    except (Exception, SystemExit) as error:
        return _failed("measure", error)
    return CaseOutcome("done", "", values)


def _computed_together(
    build: Callable[..., Any], measure: Callable[[Any], Any], calls: Sequence[Call], cases: list[Case]
) -> list[CaseOutcome]:
    """Compute cases whose mechanisms are simulated side by side, by these calls, before they are measured."""
    built = [_built(build, case) for case in cases]
    those = [k for k, thing in enumerate(built) if isinstance(thing, Mechanism)]
    try:
        runs = Rehearsal([built[k] for k in those], calls)
    except Exception:  # they are not alike, or something is wrong, which the measure will find
        return [_measured(measure, thing, case) for thing, case in zip(built, cases, strict=True)]
    around = {k: runs.answering(n) for n, k in enumerate(those)}
    return [_measured(measure, built[k], case, around.get(k)) for k, case in enumerate(cases)]


def _failed(stage: str, error: BaseException) -> CaseOutcome:
    try:
        said = str(error)
    except Exception:
        said = "which cannot say why"
    return CaseOutcome("failed", f"{stage}: {type(error).__name__}: {said}{_place(error)}")


def _place(error: BaseException) -> str:
    """Say in which line of the user's own code something was raised: the last one outside of packages."""
    trail = traceback.extract_tb(error.__traceback__)
    ours = str(Path(__file__).parents[1])
    lines = [line for line in trail if not line.filename.startswith((ours, "<frozen")) and line.lineno]
    lines = [line for line in lines if "site-packages" not in line.filename] or lines
    return f" ({Path(lines[-1].filename).name}, line {lines[-1].lineno})" if lines else ""


def _word(measure: Callable[[Any], Any]) -> str:
    """Return the column of a measure that gives one number: the name of the function, if it has one."""
    name = getattr(getattr(measure, "func", measure), "__name__", "value")
    return name if name.isidentifier() else "value"


def _numbers(result: Any, word: str) -> dict[str, float]:
    """Return the numbers of a measure by column; those of arrays have their index in the name."""
    numbers: dict[str, float] = {}
    for name, value in (result if isinstance(result, Mapping) else {word: result}).items():
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"it returned {value!r} for {name!r}; give a number, or several by name")
        for index in np.ndindex(array.shape):
            where = f"[{', '.join(map(str, index))}]" if index else ""
            numbers[f"{name}{where}"] = float(array[index])
    return numbers


# computing


@dataclass
class _Work:
    """The cases of a sweep, and what has become of them."""

    task: Callable[[list[Case]], list[CaseOutcome]]
    cases: list[Case]
    outcomes: list[CaseOutcome | None]
    store: "_Store | None"
    lost: list[int] = field(default_factory=list)  # cases of a pool that broke

    def run(self, pool: Executor, missing: list[int], size: int, progress: Progress) -> None:
        """Compute missing cases, so many at a time; on an interrupt keep what is done and cancel the rest."""
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

    def _take(self, future: "Future[list[CaseOutcome]]", numbers: list[int]) -> None:
        """Keep the outcomes of a task. What the executor did wrong is not the case's fault, nor on file."""
        error = CancelledError("by another program") if future.cancelled() else future.exception()
        if isinstance(error, BrokenExecutor):
            self.lost += numbers
        elif error is not None:
            self._blame(numbers, _failed("executor", error))
        else:
            for k, outcome in zip(numbers, future.result(), strict=True):
                self.keep(k, outcome)

    def watch(
        self, pool: Executor, build: Callable[..., Any], measure: Callable[[Any], Any], k: int
    ) -> tuple[Watch, float]:
        """Compute a case; return what it asked of `simulate`, and the time it took [s]."""
        outcome, watch, taken = pool.submit(_watched, build, measure, self.cases[k]).result()
        self.keep(k, outcome)
        return watch, taken

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


# the folder


class _Store:
    """Outcomes on disk, one file per case; equal cases write equal files, so sweeps may share a folder."""

    def __init__(
        self, folder: Path, build: Callable[..., Any], measure: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        from linkwork.version import __version__

        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        plain = {name: _value(name, x) for name, x in options.items()}
        self._common = digest([__version__, spelled_code(build), spelled_code(measure), spelled(plain)])

    def _key(self, case: Case) -> str:
        return digest([self._common, spelled(case)])

    def load(self, case: Case) -> CaseOutcome | None:
        """Return what is known of a case; None if there is no file, or one that is damaged or of another."""
        key = self._key(case)
        try:
            header, arrays = container.read(self._folder / f"{key}.case")
        except FormatError:
            return None
        match header:
            case {
                "key": str(found),
                "status": "done" | "failed" as status,
                "message": str(message),
                "columns": list(columns),
            } if found == key and arrays.keys() == {"values"} and arrays["values"].shape == (len(columns),):
                return CaseOutcome(status, message, dict(zip(columns, arrays["values"].tolist())))
        return None

    def save(self, case: Case, outcome: CaseOutcome) -> None:
        key = self._key(case)
        header = {
            "key": key,
            "case": case,
            "status": outcome.status,
            "message": outcome.message,
            "columns": list(outcome.values),
        }
        values = np.array(list(outcome.values.values()), dtype=float)
        container.write(self._folder / f"{key}.case", header, {"values": values})


# the table


class Table:
    """The outcome of a sweep: `table["period"]` is a column; `table.rows` are in the order of the cases."""

    def __init__(self, cases: Sequence[Case], outcomes: Sequence[CaseOutcome]) -> None:
        measures = dict.fromkeys(name for outcome in outcomes for name in outcome.values)
        self.columns: tuple[str, ...] = (*cases[0], *measures, *_RESERVED)
        self.rows: list[dict[str, Any]] = [
            {
                **case,
                **{name: outcome.values.get(name, math.nan) for name in measures},
                "status": outcome.status,
                "message": outcome.message,
            }
            for case, outcome in zip(cases, outcomes, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self.columns:
            raise KeyError(unknown("column", column, self.columns))
        return np.array([row[column] for row in self.rows])

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of cases that failed."""
        return [row for row in self.rows if row["status"] == "failed"]

    def __repr__(self) -> str:
        counts = f"Table: {len(self)} case{'' if len(self) == 1 else 's'}, {len(self.failed)} failed"
        shown = [list(self.columns)] + [
            [_cell(row[name]) for name in self.columns] for row in self.rows[:_SHOWN]
        ]
        widths = [max(len(line[k]) for line in shown) for k in range(len(self.columns))]
        lines = ["  ".join(word.rjust(width) for word, width in zip(line, widths)).rstrip() for line in shown]
        more = [f"... {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([counts, *lines, *more])

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame with a row per case."""
        return optional("pandas", "export").DataFrame(self.rows, columns=list(self.columns))

    def save_csv(self, path: str | Path) -> None:
        """Write the table as comma-separated values, all or nothing; numbers are read back as they were."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_atomically(path, [text.getvalue().encode(errors="backslashreplace")])


def _cell(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
