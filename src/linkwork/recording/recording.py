"""What a run returns: arrays over time, by the names of the mechanism; how it went; and its file.

A run keeps time, positions and velocities. Everything else (accelerations, forces, poses, energies, ...) is
derived from them when it is first asked for, and kept. Saving derives all of it, so that a file can be looked
at where there is no model.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.model.state import State
from linkwork.recording import array_file
from linkwork.recording.channels import Channels, StoredChannels
from linkwork.recording.contact_record import ContactRecord
from linkwork.recording.interpolation import Instant, instant_at, instant_of_sample, refined
from linkwork.recording.notebook_page import html
from linkwork.recording.plot_runs import overview, plot
from linkwork.recording.report import Report
from linkwork.recording.run_table import check_suffix, write_table
from linkwork.recording.samples import Samples
from linkwork.recording.stored_arrays import check_shapes, restored_final, store_final
from linkwork.spelling import checked_keywords, returned_by, spelled_methods
from linkwork.viewable import Playable, appearance

Array = np.ndarray

_NOTICED = 0.5  # time of compiling that is worth a word [s]


@returned_by("lw.simulate(model, duration) returns one, lw.load(path) reads one")
@spelled_methods
class Recording(Playable, Samples):
    """A run: `time`, `q`, `v`, `a`; joints, bodies, springs and loads by name; energies; how it went."""

    final: State  # where it ended, from which another run can go on

    def __init__(
        self,
        channels: Channels,
        time: Array,
        q: Array,
        v: Array,
        work: Array,
        report: Report | Callable[[], Report],
        final: State,
        given: Mapping[str, Array] | None = None,
    ) -> None:
        super().__init__(channels, time, q, v, work, np.ones(len(time), bool), given)
        self._report = report
        self.final = final

    @property
    def report(self) -> Report:
        """How it went."""
        if not isinstance(self._report, Report):
            self._report = self._report()
        return self._report

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_report": self.report}

    def __getitem__(self, name: str) -> Any:
        return self.record(name)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"<Recording {self.report.mechanism!r}: {self.report.outcome}, {self._span()}>"

    def _span(self) -> str:
        samples = f"{len(self)} sample{'' if len(self) == 1 else 's'}"
        return f"{self.time[0]:g} to {self.time[-1]:g} s, {samples}" if len(self) else samples

    @property
    def mechanism(self) -> Any:
        """The mechanism that moved, not to be changed; None if this comes from a file."""
        return None if self.model is None else self.model.mechanism

    @property
    def title(self) -> str:
        return self.report.mechanism if self.model is None else self.mechanism.name

    @property
    def status(self) -> str:
        return self.report.status

    @property
    def message(self) -> str:
        return self.report.message

    def at(self, t: Any) -> Instant:
        """Return the run at a time [s], or at several: `run.at(1.2345)["pole"].pose`.

        Between samples it is what the method of the run does there, loops closed: as accurate as the run,
        however far apart its samples are. At a sample it is that sample.
        """
        return instant_at(self, t)

    def sample(self, k: int) -> Instant:
        """Return sample k: `run.sample(-1)["pole"].pose`."""
        return instant_of_sample(self, range(len(self))[k])

    @property
    def contacts(self) -> ContactRecord:
        """The contacts of all samples: times, bodies, points, normals, depths, forces and slips.

        `run.contacts.of("foot")` are those of one body, `run.contacts.at(1.5)` those of the sample nearest to
        a time. Forces are those of contacts that last; `run.contacts.impacts` are the impulses of impacts.
        """
        if not self.layout.touching:
            raise LinkworkError(f"{self.title!r}: nothing meets in this mechanism; add lw.Contact(...)")
        return ContactRecord.of_samples(self, self.report.impacts)

    def summary(self) -> str:
        """Return what happened, as text: how far, how much work, how exact, and why if it failed."""
        rows = self._rows()
        width = max(len(word) for word, _ in rows)
        lines = [f"  {word:{width}}  {text}" for word, text in rows]
        return "\n".join([f"{self.report.mechanism}: {self.report.outcome}", *lines])

    def _rows(self) -> list[tuple[str, str]]:
        report = self.report
        rows = [("failed", text) for text in (report.message, report.hint) if report.failed and text]
        steps = f"{report.accepted} accepted, {report.rejected} rejected"
        rows += [
            ("time", self._span()),
            ("steps", f"{steps}, {report.evaluations} evaluations"),
            ("wall time", self._speed()),
            ("method", _method(report)),
            ("achieved", self._achieved()),
        ]
        if report.python_laws:
            rows.append(("Python laws", f"{', '.join(report.python_laws)} (slower)"))
        rows += [("event", f"{name} at {time:g} s") for time, name in report.events[:8]]
        if len(report.events) > 8:
            rows.append(("event", f"and {len(report.events) - 8} more"))
        return rows + [("warning", text) for text in report.warnings]

    def _speed(self) -> str:
        wall = self.report.wall_time
        span = float(self.time[-1] - self.time[0]) if len(self) else 0.0
        factor = f" ({span / wall:.3g} times real time)" if wall > 0.0 and span > 0.0 else ""
        compiled = self.report.compile_time
        before = f", after {compiled:.2g} s of compiling, which is kept" if compiled > _NOTICED else ""
        return f"{wall:.3g} s{factor}{before}"

    def _achieved(self) -> str:
        try:
            found = self.energy_error
            energy = "energy error unknown" if isnan(found) else f"energy error {found:.2g}"
        except (LinkworkError, ArithmeticError, ValueError) as error:
            energy = f"energy error unknown ({error})"
        estimate = self.report.error_estimate
        parts = [energy] if estimate is None else [energy, f"error estimate {estimate:.2g}"]
        if self.report.loop_gap is not None:
            parts.append(f"worst loop gap {self.report.loop_gap:.2g}")
        return ", ".join(parts)

    @checked_keywords
    def plot(
        self,
        *names: str,
        phase: str | Sequence[str] = (),
        against: str | None = None,
        degrees: bool = False,
    ) -> Any:
        """Return a matplotlib Figure of the named curves ("pin", "pole.position[2]"); see `traces`.

        "energy" shows kinetic and potential energy and their sum, and the work where there is any; "error"
        how much energy came from nowhere. Without names it shows the positions of the joints. `phase="pin"`
        draws velocities over positions; `against=` draws the named curves over another one, not the time.
        With `degrees=True` angles are in degrees. `lw.plot` draws several runs into one picture.
        """
        return plot(self, *names, phase=phase, against=against, degrees=degrees)

    def marks(self) -> Sequence[tuple[float, str]]:
        """Return the events to mark in pictures."""
        return self.report.events

    def pictured(self, exact: bool = False) -> Sequence[tuple[str, "Recording"]]:
        return [("", self if exact else self.drawn)]

    @property
    def drawn(self) -> "Recording":
        """It as pictures show it: with more samples, if it has those at the ends of long steps of order 8."""
        report, model = self.report, self.model
        long = report.provenance.get("options", {}).get("method") == "dop853"
        steps = abs(len(self) - 1 - report.accepted) <= 1
        written = any(map(np.ndim, self.inputs.values()))
        uneven = report.failed or report.events or report.python_laws or written
        if not (long and steps) or uneven or model is None or model.loop_names:
            return self
        arrays = refined(self)
        return self if arrays is None else Recording(self._channels, *arrays, report, self.final)

    def _repr_html_(self) -> str:
        drawn = self.drawn
        traces, title = overview(drawn)
        return html(title, [("status", self.report.outcome), *self._rows()], drawn.time, traces)

    def save(self, path: str | Path) -> None:
        """Write everything to a `.lwr` file, all or nothing, or its curves as a table to a `.csv` file.

        `lw.load` reads `.lwr`, also where there is no model.
        """
        if check_suffix(path, ".lwr", ".csv") == ".csv":
            write_table(self, path)
            return
        if (fall := np.flatnonzero(np.diff(self.time) < 0.0)).size:
            t = self.time[fall[0] : fall[0] + 2].tolist()
            raise ValueError(f"save: times fall: {t[0]:g} is followed by {t[1]:g}; compute at sorted times")
        arrays, absent = self.arrays()
        drawing, shapes = appearance(self)
        arrays |= shapes
        memory = store_final(arrays, "final", self.final)
        header = {
            "kind": "recording",
            "layout": self.layout.to_json(),
            "report": self.report.to_json(),
            "absent": absent,
            "memory": memory,
            "drawing": drawing,
        }
        array_file.write(path, header, arrays)

    @classmethod
    def restored(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> "Recording":
        """Return what `save` wrote; ValueError, KeyError or TypeError if it is not all there."""
        channels = StoredChannels(header, arrays)
        check_shapes(arrays, channels.layout, (arrays["time"].size,))
        report = Report.from_json(header["report"])
        final = restored_final(arrays, "final", header["memory"], channels.layout)
        return cls(channels, arrays["time"], arrays["q"], arrays["v"], arrays["work"], report, final)


def _method(report: Report) -> str:
    asked = [("accuracy", report.accuracy, ""), ("step", report.step, " s")]
    return ", ".join([report.method, *(f"{word} {x:g}{unit}" for word, x, unit in asked if x is not None)])
