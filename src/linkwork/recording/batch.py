"""What a batch of runs returns: one array for all of them, and each as a recording of its own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, NoReturn, overload

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.model.state import State
from linkwork.recording import array_file
from linkwork.recording.channels import Channels, StoredChannels
from linkwork.recording.curve import COLORS
from linkwork.recording.interpolation import Instant, instant_at, times_within
from linkwork.recording.plot_runs import plot
from linkwork.recording.recording import Recording
from linkwork.recording.report import SUCCESS, Report, in_words
from linkwork.recording.run_table import check_suffix, write_table
from linkwork.recording.samples import Samples
from linkwork.recording.stored_arrays import check_shapes, restored_final, store_final
from linkwork.spelling import checked_keywords, returned_by, spelled_methods

Array = np.ndarray

_SHOWN = 5  # failed runs that a summary lists


@returned_by("lw.simulate(model, duration, q=..., v=...) returns them")
@spelled_methods
class Recordings(Samples):
    """Runs of one mechanism at common times: `runs[k]` is one of them, `runs["pin"].position` is (N, S).

    A run that ended early has no samples after its end: NaN in every array.
    """

    ends: Array  # (N,) when each run ended [s]
    filled: Array  # (N,) samples of each run
    status: Array  # (N,) the names of their statuses
    reports: Sequence[Report]  # how each went
    finals: Sequence[State]  # where each ended

    def __init__(
        self,
        channels: Channels,
        time: Array,
        q: Array,
        v: Array,
        work: Array,
        ends: Array,
        filled: Array,
        status: Array,
        reports: Sequence[Report],
        finals: Sequence[State],
    ) -> None:
        recorded = np.arange(len(time)) < np.asarray(filled)[:, None]
        q, v = (np.where(recorded[:, :, None], array, np.nan) for array in (q, v))
        super().__init__(channels, time, q, v, np.where(recorded, work, np.nan), recorded)
        self.ends, self.filled = ends, filled
        self.status = status
        self.status.setflags(write=False)
        self.reports, self.finals = reports, finals

    @overload
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: int) -> Recording: ...

    def __getitem__(self, key: str | int) -> Any:
        """Return a joint, body or load over all runs by name, or a run by number."""
        if isinstance(key, str):
            return self.record(key)
        k = range(len(self))[index(key)]
        count = int(self.filled[k])
        return Recording(
            self._channels.part((k, slice(count))),
            self.time[:count],
            self.q[k, :count],
            self.v[k, :count],
            self.work[k, :count],
            self.reports[k],
            self.finals[k],
        )

    def __len__(self) -> int:
        return len(self.q)

    def __iter__(self) -> Iterator[Recording]:
        return (self[k] for k in range(len(self)))

    def at(self, t: Any) -> Instant:
        """Return all runs at a time [s], or at several: `runs.at(1.2345)["pole"].position` is (N, 3).

        As `Recording.at`; a run that ended before is NaN.
        """
        at = times_within(self, t)
        if self.model is None:
            return instant_at(self, t)
        q, v = (np.full((len(self), *at.shape, x.shape[-1]), np.nan) for x in (self.q, self.v))
        work = np.full((len(self), *at.shape), np.nan)
        for k, run in enumerate(self):
            there = at <= (run.time[-1] if len(run) else -np.inf)
            if there.any():
                now = run.at(at[there])
                q[k, there], v[k, there], work[k, there] = now.q, now.v, now.work
        return Instant(self._channels, at, q, v, work, ~np.isnan(work))

    @checked_keywords
    def plot(
        self,
        *names: str,
        phase: str | Sequence[str] = (),
        against: str | None = None,
        degrees: bool = False,
    ) -> Any:
        """Return a matplotlib Figure of the named curves of all runs; see `Recording.plot`."""
        return plot(self, *names, phase=phase, against=against, degrees=degrees)

    @property
    def title(self) -> str:
        return self.reports[0].mechanism if self.reports else ""

    def pictured(self, exact: bool = False) -> Sequence[tuple[str, Samples]]:
        """Return each run with its number, or all as one if they cannot be distinguished."""
        if len(self) > len(COLORS):
            return [("", self)]
        return [(f"run {k}", run if exact else run.drawn) for k, run in enumerate(self)]

    # what is seen of one run at a time

    def show(self, *_: Any, **options: Any) -> NoReturn:
        """Say that a batch has no picture; one of its runs has: `runs[0].show(...)`."""
        self._one_at_a_time("show()")

    def snapshot(self, *_: Any, **options: Any) -> NoReturn:
        """Say that a batch has no picture; one of its runs has: `runs[0].snapshot(...)`."""
        self._one_at_a_time("snapshot()")

    def save_html(self, path: str | Path, **options: Any) -> NoReturn:
        """Say that a batch has no picture; one of its runs has: `runs[0].save_html(...)`."""
        self._one_at_a_time(f"save_html({str(path)!r})")

    def save_video(self, path: str | Path, **options: Any) -> NoReturn:
        """Say that a batch has no picture; one of its runs has: `runs[0].save_video(...)`."""
        self._one_at_a_time(f"save_video({str(path)!r})")

    def _one_at_a_time(self, call: str) -> NoReturn:
        raise LinkworkError(
            f"{call}: these are {len(self)} runs of one mechanism, which would stand in each other; take one "
            f"of them: runs[0].{call}"
        )

    def __repr__(self) -> str:
        return f"<Recordings {self._name()}: {self._outcomes()}>"

    def _name(self) -> str:
        return repr(self.reports[0].mechanism) if self.reports else "of nothing"

    def _outcomes(self) -> str:
        counts = Counter(map(in_words, self.status.tolist()))
        runs = f"{len(self)} run{'' if len(self) == 1 else 's'}"
        return ", ".join([runs, *(f"{count} {outcome}" for outcome, count in counts.most_common())])

    @property
    def failed(self) -> Array:
        """The numbers of the runs that ended otherwise than requested."""
        return np.flatnonzero(~np.isin(self.status, SUCCESS))

    def summary(self) -> str:
        """Return what happened, as text: how many, how far, how much work, and why some failed."""
        steps, rejected, evaluations = (
            sum(getattr(report, word) for report in self.reports)
            for word in ("accepted", "rejected", "evaluations")
        )
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self.time) else "none"
        wall = max((report.wall_time for report in self.reports), default=0.0)
        lines = [
            f"{self._name()}: {self._outcomes()}",
            f"  time       {span}, {len(self.time)} samples",
            f"  steps      {steps} accepted, {rejected} rejected, {evaluations} evaluations",
            f"  wall time  {wall:.3g} s",
        ]
        for k in self.failed[:_SHOWN]:
            report = self.reports[k]
            lines.append(f"  run {k} failed at {self.ends[k]:g} s: {report.message or report.outcome}")
        if len(self.failed) > _SHOWN:
            lines.append(f"  and {len(self.failed) - _SHOWN} more failed: see `failed`")
        return "\n".join(lines)

    def save(self, path: str | Path) -> None:
        """Write all runs to one `.lwr` file, all or nothing, or their curves as a table to a `.csv` file.

        `lw.load` reads `.lwr`, also where there is no model.
        """
        if check_suffix(path, ".lwr", ".csv") == ".csv":
            write_table(self, path)
            return
        arrays, absent = self.arrays()
        arrays["ends"] = np.asarray(self.ends, dtype=float)
        arrays["filled"] = np.asarray(self.filled, dtype=np.int64)
        memories = [store_final(arrays, f"final/{k}", final) for k, final in enumerate(self.finals)]
        common, reports = _factored([report.to_json() for report in self.reports])
        header = {
            "kind": "recordings",
            "layout": self.layout.to_json(),
            "common": common,
            "reports": reports,
            "absent": absent,
            "memory": memories,
        }
        array_file.write(path, header, arrays)


def _factored(reports: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Take out what all reports have in common, which is most of them."""
    first = reports[0] if reports else {}
    common = {key: value for key, value in first.items() if all(item[key] == value for item in reports)}
    return common, [{key: item[key] for key in item.keys() - common.keys()} for item in reports]


def restore_batch(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Recordings:
    """Return what `save` wrote; ValueError, KeyError or TypeError if it is not all there."""
    channels = StoredChannels(header, arrays)
    ends, filled, samples = arrays["ends"], arrays["filled"], arrays["time"].size
    runs = len(header["reports"])
    check_shapes(arrays, channels.layout, (runs, samples))
    if ends.shape != (runs,) or filled.shape != (runs,) or len(header["memory"]) != runs:
        raise ValueError(f"the ends of {runs} runs are of other length")
    if ((filled < 0) | (filled > samples)).any():
        raise ValueError(f"a run has fewer than 0 or more than {samples} samples")
    reports = tuple(Report.from_json(header["common"] | report) for report in header["reports"])
    return Recordings(
        channels,
        arrays["time"],
        arrays["q"],
        arrays["v"],
        arrays["work"],
        ends,
        filled,
        np.array([report.status for report in reports], dtype=str),
        reports,
        tuple(
            restored_final(arrays, f"final/{k}", names, channels.layout)
            for k, names in enumerate(header["memory"])
        ),
    )
