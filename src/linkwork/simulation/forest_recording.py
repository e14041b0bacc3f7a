"""What the runs of a forest return: recordings of its members, by qualified names."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, SimulationError, absent, unknown
from linkwork.mechanism.merge import SEPARATOR
from linkwork.model.state import State
from linkwork.recording.curve import MANY, Trace, in_degrees
from linkwork.recording.interpolation import Instant
from linkwork.recording.layout import Layout, layout_of
from linkwork.recording.plot import Curves, figure
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.recording.samples import optional, read_only
from linkwork.simulation.forest_world import ForestWorld
from linkwork.spelling import Computed

Array = np.ndarray


class ForestRecording(Computed):
    """Runs of the members of a forest at common times: `run["left"]`, `run["left/pin"].position`.

    Names of curves are qualified: `run.plot("left/pin", "right/pin")`.
    """

    forest: Any
    time: Array  # (S,) [s]
    runs: Mapping[str, Any]  # recordings of the members
    world: Recording | None  # the recording of all members that meet, as one mechanism

    def __init__(
        self, forest: Any, time: Array, runs: Mapping[str, Any], world: Recording | None = None
    ) -> None:
        self.forest, self.time, self.world = forest, read_only(time), world
        self.runs = MappingProxyType(dict(runs))

    def __repr__(self) -> str:
        ended = f", {len(self.failed)} ended early" if self.failed else ""
        first, last = self.time[[0, -1]] if len(self.time) else (0.0, 0.0)
        return (
            f"<ForestRecording: {len(self)} runs{ended}, {first:g} to {last:g} s, {len(self.time)} samples>"
        )

    def __getitem__(self, name: str) -> Any:
        """Return the recording of a member, or what a member has under a name: "left/pin"."""
        member, inside = self._split(name)
        return self.runs[member][inside] if inside else self.runs[member]

    def _split(self, name: str) -> tuple[str, str]:
        member, _, inside = name.partition(SEPARATOR)
        if member not in self.runs:
            raise KeyError(unknown("member", member, self.runs))
        return member, inside

    def __contains__(self, name: object) -> bool:
        return name in self.runs

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
        alone = [run for run in self.runs.values() if not isinstance(run, MemberRecording)]
        for run in [*alone, *([self.world] if self.world else [])]:
            total += np.pad(run.energy, (0, len(self.time) - len(run)), constant_values=np.nan)
        return total

    @property
    def final(self) -> State:
        """Where all members ended, from which another run can go on; none if one ended early."""
        if self.failed:
            raise SimulationError(f"{_failures(self)}; `run[member].final` is where each of them ended")
        ends = {name: run.final for name, run in self.runs.items()}
        final = together(ends, next((end.t for end in ends.values()), 0.0))
        if self.world is None:
            return final
        return replace(final, memory=self.world.final.memory, controllers=self.world.final.controllers)

    def summary(self) -> str:
        """Return what happened, as text: a line per member."""
        lines = [f"{self.forest!r}: {len(self) - len(self.failed)} done, {len(self.failed)} failed"]
        width = max((len(name) for name in self.runs), default=0)
        for name, run in self.runs.items():
            lines.append(f"  {name:{width}}  {run.report.outcome}, {run.report.accepted} steps")
        return "\n".join(lines)

    def at(self, t: Any) -> "ForestInstant":
        """Return all members at a time [s], or at several: `run.at(0.5)["left/pole"].pose`."""
        return ForestInstant({name: run.at(t) for name, run in self.runs.items()})

    def traces(self, *names: str) -> list[Trace]:
        """Return single curves with units: "left/pin", or "left" for all of a member; see `Recording.traces`.

        After the end of a member they are NaN.
        """
        found = []
        for name in names or self.runs:
            member, inside = self._split(name)
            for trace in self.runs[member].traces(*([inside] if inside else [])):
                missing = len(self.time) - len(trace.values)
                values = np.pad(trace.values, (0, missing), constant_values=np.nan)
                label = trace.label.removeprefix(member + SEPARATOR)
                found.append(replace(trace, label=f"{member}{SEPARATOR}{label}", values=values))
        return found

    def plot(self, *names: str, degrees: bool = False) -> Any:
        """Return a matplotlib Figure of the named curves; without names, of the positions of joints."""
        optional("matplotlib", "plot")
        members = ((member, run.layout) for member, run in self.runs.items())
        joints = [
            f"{member}{SEPARATOR}{name}.position"
            for member, layout in members
            for name in layout.joints
            if name not in layout.constraints
        ]
        traces = self.traces(*(names or joints))[: None if names else MANY]
        shown = [in_degrees(trace) for trace in traces] if degrees else traces
        return figure([Curves("", self.time, shown)], ", ".join(self.runs))

    def to_dataframe(self, *names: str) -> Any:
        """Return a pandas.DataFrame over time with a column per curve, as `traces` names them."""
        pandas = optional("pandas", "export")
        index = pandas.Index(self.time, name="time")
        return pandas.DataFrame({trace.label: trace.values for trace in self.traces(*names)}, index)

    def to_xarray(self, *names: str) -> Any:
        """Return an xarray.Dataset of single curves with units, as `traces` names them."""
        xarray = optional("xarray", "export")
        curves = {t.label: ("time", t.values, {"units": t.unit}) for t in self.traces(*names)}
        return xarray.Dataset(curves, {"time": ("time", self.time, {"units": "s"})})

    # what each member has by itself, or all that meet have together

    def save(self, path: Any) -> Any:
        """Write the recording of all, if all meet; else say that members are saved one by one."""
        return self._together("save", path)

    def show(self, *args: Any, **options: Any) -> Any:
        """Show all, if all meet; else say that members are shown one by one."""
        return self._together("show", *args, **options)

    def snapshot(self, *args: Any, **options: Any) -> Any:
        """Draw all, if all meet; else say that members are drawn one by one."""
        return self._together("snapshot", *args, **options)

    def save_html(self, path: Any, **options: Any) -> Any:
        """Write a page of all, if all meet; else say that members are shown one by one."""
        return self._together("save_html", path, **options)

    def save_video(self, path: Any, **options: Any) -> Any:
        """Film all, if all meet; else say that members are filmed one by one."""
        return self._together("save_video", path, **options)

    def _together(self, word: str, *args: Any, **options: Any) -> Any:
        if self.world is not None and len(self.forest.meeting) == len(self):
            return getattr(self.world, word)(*args, **options)
        call = f"{word}({', '.join(repr(str(arg)) for arg in args)})"
        first = next(iter(self.runs), "member")
        raise LinkworkError(
            f"{call}: the members of a forest are mechanisms of their own; take one of them, "
            f"run[{first!r}].{call}, those that meet, run.world.{call}, or simulate lw.merge(...) of them as "
            "one mechanism"
        )


class MemberRecording:
    """A member of a forest that meets others: `run["left"]["pin"]` is `run.world["left/pin"]`."""

    def __init__(self, whole: Recording, world: ForestWorld, name: str) -> None:
        self._whole, self._world, self._prefix, self.name = whole, world, name + SEPARATOR, name

    @property
    def time(self) -> Array:
        return self._whole.time

    @property
    def q(self) -> Array:
        """Its positions (S, nq)."""
        return self._world.rows(self.name, self._whole.q, self._whole.v)[0]

    @property
    def v(self) -> Array:
        """Its velocities (S, nv)."""
        return self._world.rows(self.name, self._whole.q, self._whole.v)[1]

    @property
    def report(self) -> Report:
        """How the run of all that meet went."""
        return self._whole.report

    @property
    def status(self) -> str:
        return self._whole.status

    @property
    def layout(self) -> Layout:
        return layout_of(self._world.members[self.name])

    @property
    def final(self) -> State:
        """Where it ended."""
        return self._world.part(self.name, self._whole.final)

    def __len__(self) -> int:
        return len(self._whole)

    def __getitem__(self, name: str) -> Any:
        return self._whole[self._prefix + name]

    def at(self, t: Any) -> Any:
        """Return it at a time [s], or at several: `run["left"].at(0.5)["pole"].pose`."""
        return _MemberInstant(self._whole.at(t), self._prefix)

    def traces(self, *names: str) -> list[Trace]:
        """Return single curves with units; see `Recording.traces`."""
        given = [self._prefix + name for name in names]
        return self._whole.traces(*given) if given else self._own_traces()

    def _own_traces(self) -> list[Trace]:
        return [trace for trace in self._whole.traces() if trace.label.startswith(self._prefix)]

    def __getattr__(self, word: str) -> Any:
        raise absent(
            f"member {self.name!r} meets others, and has no {word!r} of its own; take that of all that meet, "
            f"run.world.{word}",
            word,
        )


class _MemberInstant(Computed):
    """A member of those that meet, at one time, or at several."""

    def __init__(self, whole: Instant, prefix: str) -> None:
        self._whole, self._prefix = whole, prefix

    def __repr__(self) -> str:
        return f"<{self._prefix.removesuffix(SEPARATOR)!r}: {self._whole!r}>"

    def __getitem__(self, name: str) -> Any:
        return self._whole[self._prefix + name]


class ForestInstant(Computed):
    """The members of a forest at one time, or at several: `now["left"]`, `now["left/pin"].position`."""

    members: Mapping[str, Any]

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.members = MappingProxyType(dict(members))

    def __repr__(self) -> str:
        return f"<ForestInstant of {', '.join(map(repr, self.members))}>"

    def __getitem__(self, name: str) -> Any:
        member, _, inside = name.partition(SEPARATOR)
        if member not in self.members:
            raise KeyError(unknown("member", member, self.members))
        return self.members[member][inside] if inside else self.members[member]


class ForestFailed(SimulationError):
    """Members of a forest that could not go on: `.run` is what was computed."""

    def __init__(self, run: ForestRecording) -> None:
        super().__init__(_failures(run))
        self.run = run


def _failures(run: ForestRecording) -> str:
    first = run.runs[run.failed[0]].report
    if run.world and run.world.report.failed and isinstance(run.runs[run.failed[0]], MemberRecording):
        return f"the {len(run.forest.meeting)} members that meet cannot go on: {run.world.report.message}"
    return f"{len(run.failed)} of {len(run)} members failed, the first is {run.failed[0]!r}: {first.message}"


def together(parts: Mapping[str, State], t: float) -> State:
    """Return the states of members as one, inputs by qualified names."""
    q, v = (np.concatenate([getattr(part, word) for part in parts.values()] or [[]]) for word in ("q", "v"))
    inputs = {
        member + SEPARATOR + name: value
        for member, part in parts.items()
        for name, value in part.inputs.items()
    }
    return State(q, v, t, None, inputs)
