"""What a run returns: arrays over time, by the names of the mechanism; how it went; and its file.

A run keeps time, positions and velocities. Everything else (accelerations, forces, poses, energies, ...) is
derived from them when it is first asked for, and kept. Saving derives all of it, so that a file can be looked
at where there is no model.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from math import isfinite, isnan, nan, prod
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.algebra import planar, spatial
from linkwork.errors import FormatError, LinkworkError, SimulationError, unknown
from linkwork.model.state import State
from linkwork.simulation import container, plot
from linkwork.simulation.plot import Trace

if TYPE_CHECKING:
    from linkwork.simulation.batch_recording import Recordings

Array = np.ndarray

_ALGEBRA = {"space": spatial, "plane": planar}
_SUCCESS = frozenset({"DONE", "EVENT"})  # the statuses of runs that ended as they were told to


# how it went


@dataclass(frozen=True)
class Report:
    """How a run went; plain values, which go into its file as JSON."""

    status: str  # name of a Status
    message: str = ""  # why, if it failed
    hint: str = ""  # what may help then
    mechanism: str = ""
    method: str = ""
    accuracy: float | None = None  # asked for; None if the step is fixed
    step: float | None = None  # fixed step [s]
    accepted: int = 0  # steps
    rejected: int = 0
    evaluations: int = 0  # of the accelerations
    wall_time: float = 0.0  # [s]
    error_estimate: float | None = None  # of the states, in the measure of `accuracy`
    python_laws: tuple[str, ...] = ()  # names of laws that run as plain Python
    warnings: tuple[str, ...] = ()
    events: tuple[tuple[float, str], ...] = ()  # (time [s], name)
    provenance: Mapping[str, Any] = field(default_factory=dict)  # versions, digest of the model, options, ...

    @property
    def failed(self) -> bool:
        """Whether the run ended otherwise than it was told to."""
        return self.status not in _SUCCESS

    @property
    def outcome(self) -> str:
        """The status in words."""
        return self.status.lower().replace("_", " ")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; numbers that are not finite become texts."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Report":
        """Return the report that `to_json` made these values of; ValueError if there is none."""
        values = {item.name: data[item.name] for item in fields(cls)}
        for name in ("status", "message", "hint", "mechanism", "method"):
            values[name] = _text(values[name])
        for name in ("accepted", "rejected", "evaluations"):
            values[name] = int(values[name])
        for name in ("accuracy", "step", "error_estimate"):
            values[name] = None if values[name] is None else float(values[name])
        values["wall_time"] = float(values["wall_time"])
        for name in ("python_laws", "warnings"):
            values[name] = tuple(map(_text, values[name]))
        values["events"] = tuple((float(time), _text(event)) for time, event in values["events"])
        values["provenance"] = dict(values["provenance"])
        return cls(**values)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


# what the names mean


@dataclass(frozen=True)
class Layout:
    """Where the names of a mechanism are in arrays, and in what units."""

    space: str  # "space" or "plane"
    joints: Mapping[str, tuple[slice, slice]]  # name -> (slice in q, slice in v)
    bodies: tuple[str, ...]
    loads: Mapping[str, tuple[str, ...]]  # springs, motors, ... -> units of their force, "" if not known
    position_units: tuple[str, ...]  # (nq,) "rad", "m", or "1" for numbers of quaternions
    velocity_units: tuple[str, ...]  # (nv,) "rad" or "m", per second

    @property
    def algebra(self) -> ModuleType:
        return _ALGEBRA[self.space]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of one sample of each derived quantity, except the forces of loads."""
        nv, size, freedoms = len(self.velocity_units), self.algebra.dimension, self.algebra.freedoms
        return {
            "accelerations": (nv,),
            "forces": (nv,),
            "poses": (len(self.bodies), size, size + 1),
            "velocities": (len(self.bodies), freedoms),
            "body_accelerations": (len(self.bodies), freedoms),
            "reactions": (len(self.joints), freedoms),
            "kinetic_energy": (),
            "potential_energy": (),
        }

    def units(self, name: str, quantity: str) -> tuple[str, ...]:
        """Return the units of a quantity of a joint, body or load: one, or one per number."""
        if name in self.loads:
            return self.loads[name]
        if name in self.joints and quantity in _COORDINATE_UNITS:
            in_q, in_v = self.joints[name]
            if quantity == "position":
                return self.position_units[in_q]
            return tuple(_COORDINATE_UNITS[quantity][unit] for unit in self.velocity_units[in_v])
        return (_UNITS[quantity],)

    def to_json(self) -> dict[str, Any]:
        joints = [[name, q.start, q.stop, v.start, v.stop] for name, (q, v) in self.joints.items()]
        return {
            "space": self.space,
            "joints": joints,
            "bodies": list(self.bodies),
            "loads": [[name, *units] for name, units in self.loads.items()],
            "position_units": list(self.position_units),
            "velocity_units": list(self.velocity_units),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Layout":
        """Return the layout that `to_json` made these values of; ValueError if there is none."""
        joints = {_text(name): (slice(a, b), slice(c, d)) for name, a, b, c, d in data["joints"]}
        layout = cls(
            space=_text(data["space"]),
            joints=joints,
            bodies=tuple(map(_text, data["bodies"])),
            loads={_text(name): tuple(map(_text, units)) for name, *units in data["loads"]},
            position_units=tuple(map(_text, data["position_units"])),
            velocity_units=tuple(map(_text, data["velocity_units"])),
        )
        for units, side in ((layout.position_units, 0), (layout.velocity_units, 1)):
            parts = [part[side] for part in joints.values()]
            if not all(0 <= part.start <= part.stop <= len(units) for part in parts):
                raise ValueError(f"a joint lies outside the {len(units)} coordinates")
        if layout.space not in _ALGEBRA or not set(layout.velocity_units) <= {"rad", "m"}:
            raise ValueError(f"the space {layout.space!r} or a unit is unknown")
        return layout


_UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s²",
    "angle": "rad",
    "rotation": "1",
    "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s²",
    "reaction.torque": "N m",
    "reaction.force": "N",
    "energy": "J",
    "kinetic_energy": "J",
    "potential_energy": "J",
    "work": "J",
}
_COORDINATE_UNITS = {
    "position": {"rad": "rad", "m": "m"},
    "velocity": {"rad": "rad/s", "m": "m/s"},
    "acceleration": {"rad": "rad/s²", "m": "m/s²"},
    "force": {"rad": "N m", "m": "N"},
}
_WHOLE = ("energy", "kinetic_energy", "potential_energy", "work")
_PARTS = {"reaction": ("reaction.torque", "reaction.force")}  # quantities that are of two units


# where derived quantities come from


class Channels(ABC):
    """Where the derived quantities of a motion come from."""

    layout: Layout

    @abstractmethod
    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        """Return a quantity, and what comes with it, for all samples; after a run's end it is NaN."""

    @abstractmethod
    def of_run(self, k: int, count: int) -> "Channels":
        """Return the channels of the first `count` samples of run k of a batch."""


class LiveChannels(Channels):
    """Derived quantities computed by the model."""

    def __init__(self, model: Any) -> None:
        self._model = model
        units = getattr(model, "load_units", {})
        self.layout = Layout(
            space=model.space,
            joints={name: model.slices[name] for name in model.joint_names},
            bodies=tuple(model.body_names),
            loads={name: units.get(name, ("",)) for name in model.load_names},
            position_units=tuple(unit or "1" for unit in model.position_units),
            velocity_units=tuple(model.coordinate_units),
        )

    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        there = samples.recorded
        time = np.broadcast_to(samples.time, there.shape)[there]
        found = self._at(quantity, time, samples.q[there], samples.v[there], samples)
        return {name: _spread(values, there) for name, values in found.items()}

    def of_run(self, k: int, count: int) -> Channels:
        return self

    def _at(self, quantity: str, t: Array, q: Array, v: Array, samples: "Samples") -> dict[str, Array]:
        """Return a quantity at single samples, in a batch."""
        model, there = self._model, samples.recorded
        match quantity.split("/", 1):
            case ["load", name]:
                return {quantity: model.load_values(name, q, v, t)}
            case ["accelerations"]:
                return {quantity: model.motion(q, v, t)}
            case ["forces" | "external"]:
                return dict(zip(("forces", "external"), model.loads(q, v, t), strict=True))
            case ["poses"]:
                return {quantity: model.poses(q).array}
            case ["velocities"]:
                return {quantity: model.velocities(q, v).array}
            case ["body_accelerations"]:
                a = samples.derived("accelerations")[there]
                return {quantity: model.body_accelerations(q, v, a).array}
            case ["reactions"]:
                a, external = (samples.derived(name)[there] for name in ("accelerations", "external"))
                return {quantity: model.reactions_at(q, v, a, external).array}
            case ["kinetic_energy"]:
                return {quantity: model.kinetic_energy(q, v)}
            case _:
                return {quantity: model.potential_energy(q)}


class StoredChannels(Channels):
    """Derived quantities as they were computed when the recording was saved."""

    def __init__(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self.layout = Layout.from_json(header["layout"])
        self._absent = {_text(name): _text(why) for name, why in header["absent"].items()}
        self._arrays = {name: arrays[name] for name in derivable(self.layout) if name not in self._absent}

    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        if quantity in self._absent:
            why = self._absent[quantity]
            raise SimulationError(f"{quantity} is not in the file; when it was saved there was {why}")
        return {quantity: self._arrays[quantity]}

    def of_run(self, k: int, count: int) -> Channels:
        cut = object.__new__(StoredChannels)
        cut.layout, cut._absent = self.layout, self._absent
        cut._arrays = {name: array[k, :count] for name, array in self._arrays.items()}
        return cut


def derivable(layout: Layout) -> list[str]:
    """Return the names of all quantities that a file holds beside the motion itself."""
    return [*layout.shapes(), *(f"load/{name}" for name in layout.loads)]


def _spread(values: Array, there: Array) -> Array:
    """Put the samples that there are into an array of all, NaN elsewhere."""
    if there.all():
        return values.reshape(*there.shape, *values.shape[1:])
    array = np.full((*there.shape, *values.shape[1:]), np.nan)
    array[there] = values
    return array


# arrays by name


class JointRecord:
    """A joint over time; a joint of one coordinate has arrays (S,), one of k coordinates (S, k)."""

    quantities = ("position", "velocity", "acceleration", "force", "reaction")

    def __init__(self, samples: "Samples", name: str) -> None:
        self._samples, self._name = samples, name

    def __repr__(self) -> str:
        return f"<joint {self._name!r}: {', '.join(self.quantities)}>"

    def _of(self, array: Array, side: int) -> Array:
        return _squeezed(array[..., self._samples.layout.joints[self._name][side]])

    @property
    def position(self) -> Array:
        return self._of(self._samples.q, 0)

    @property
    def velocity(self) -> Array:
        return self._of(self._samples.v, 1)

    @property
    def acceleration(self) -> Array:
        return self._of(self._samples.a, 1)

    @property
    def force(self) -> Array:
        """The joint's own force: drive, spring, damping, friction, stops and motors."""
        return self._of(self._samples.derived("forces"), 1)

    @property
    def reaction(self) -> Any:
        """The constraint force on the child, in world axes: a Force with `.torque` and `.force`."""
        row = list(self._samples.layout.joints).index(self._name)
        array = self._samples.derived("reactions")[..., row, :]
        return self._samples.layout.algebra.Force.from_scalars(list(np.moveaxis(array, -1, 0)))


class BodyRecord:
    """A body over time: its origin and axes in the world."""

    quantities = (
        "position",
        "rotation",
        "velocity",
        "angular_velocity",
        "acceleration",
        "angular_acceleration",
    )

    def __init__(self, samples: "Samples", name: str) -> None:
        self._samples, self._name = samples, name
        self._row = samples.layout.bodies.index(name)
        if samples.layout.space == "plane":
            self.quantities = (*self.quantities, "angle")

    def __repr__(self) -> str:
        return f"<body {self._name!r}: pose, {', '.join(self.quantities)}>"

    @property
    def pose(self) -> Any:
        """The pose, a Frame of arrays: `.position`, `.rotation`, in the plane `.angle`."""
        rows = self._samples.derived("poses")[..., self._row, :, :]
        scalars = rows.reshape(*rows.shape[:-2], prod(rows.shape[-2:]))
        return self._samples.layout.algebra.Frame.from_scalars(list(np.moveaxis(scalars, -1, 0)))

    @property
    def position(self) -> Array:
        return self._samples.derived("poses")[..., self._row, :, -1]

    @property
    def rotation(self) -> Array:
        return self._samples.derived("poses")[..., self._row, :, :-1]

    @property
    def angle(self) -> Array:
        """The angle in the plane, from -pi to pi."""
        if self._samples.layout.space != "plane":
            raise AttributeError(f"body {self._name!r}: `angle` is for the plane; in space use `rotation`")
        rotation = self.rotation
        return np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])

    @property
    def velocity(self) -> Array:
        """The velocity of the origin, in world axes."""
        return self._linear("velocities")

    @property
    def angular_velocity(self) -> Array:
        return self._angular("velocities")

    @property
    def acceleration(self) -> Array:
        """The acceleration of the origin, in world axes."""
        return self._linear("body_accelerations")

    @property
    def angular_acceleration(self) -> Array:
        return self._angular("body_accelerations")

    def _linear(self, quantity: str) -> Array:
        return self._samples.derived(quantity)[..., self._row, self._samples.layout.algebra.angular :]

    def _angular(self, quantity: str) -> Array:
        angular = self._samples.layout.algebra.angular
        return _squeezed(self._samples.derived(quantity)[..., self._row, :angular])


class LoadRecord:
    """A spring, motor or load over time."""

    quantities = ("force",)

    def __init__(self, samples: "Samples", name: str) -> None:
        self._samples, self._name = samples, name

    def __repr__(self) -> str:
        return f"<load {self._name!r}: force>"

    @property
    def force(self) -> Array:
        """What the load shows: a motor its force, a spring its tension."""
        return _squeezed(self._samples.derived(f"load/{self._name}"))


def _squeezed(array: Array) -> Array:
    return array[..., 0] if array.shape[-1] == 1 else array


class Samples:
    """What one run and a batch of runs have in common: arrays over time, by name."""

    def __init__(
        self, channels: Channels, time: Array, q: Array, v: Array, work: Array, recorded: Array
    ) -> None:
        self.time = time  # (S,) [s]
        self.q = q  # (..., S, nq) positions [rad, m, quaternions]
        self.v = v  # (..., S, nv) velocities [rad/s, m/s]
        self.work = work  # (..., S) of all forces but gravity, since the start [J]
        self.recorded = recorded  # (..., S) whether there is such a sample; False after a run's early end
        self._channels = channels
        self._kept: dict[str, Array] = {}

    @property
    def layout(self) -> Layout:
        """Where names are in arrays, and in what units."""
        return self._channels.layout

    def derived(self, quantity: str) -> Array:
        """Return a whole array of derived quantities; it is computed once."""
        if quantity not in self._kept:
            self._kept.update(self._channels.derive(quantity, self))
        return self._kept[quantity]

    @property
    def a(self) -> Array:
        """The accelerations (..., S, nv) [rad/s², m/s²]."""
        return self.derived("accelerations")

    @property
    def kinetic_energy(self) -> Array:
        return self.derived("kinetic_energy")

    @property
    def potential_energy(self) -> Array:
        """The potential energy of gravity [J]."""
        return self.derived("potential_energy")

    @property
    def energy(self) -> Array:
        """Kinetic energy and potential energy of gravity [J]."""
        return self.kinetic_energy + self.potential_energy

    def record(self, name: str) -> JointRecord | BodyRecord | LoadRecord:
        """Return a joint, body, spring, motor or load over time."""
        layout = self.layout
        for names, kind in (
            (layout.joints, JointRecord),
            (layout.bodies, BodyRecord),
            (layout.loads, LoadRecord),
        ):
            if name in names:
                return kind(self, name)
        raise KeyError(unknown("name", name, [*layout.joints, *layout.bodies, *layout.loads]))

    def traces(self, *names: str) -> list[Trace]:
        """Return single curves with units: of "pin", "pin.velocity", "pole.position", "energy", ...

        A name alone stands for the position of a joint or body, and for the force of a spring, motor or load;
        no name for everything of joints and loads, and the energies.
        """
        return [trace for name in names or self._all() for trace in self._traces(name)]

    def _all(self) -> Iterable[str]:
        quantities = ("position", "velocity", "acceleration", "force")
        yield from (f"{name}.{quantity}" for name in self.layout.joints for quantity in quantities)
        yield from (f"{name}.force" for name in self.layout.loads)
        yield from _WHOLE

    def _traces(self, text: str) -> list[Trace]:
        if text in _WHOLE and not self._known(text):
            return [Trace(text, "energy", "J", getattr(self, text))]
        name, quantity = self._split(text)
        record = self.record(name)
        quantity = quantity or record.quantities[0]
        if quantity in _PARTS and quantity in record.quantities:
            return [trace for part in _PARTS[quantity] for trace in self._traces(f"{name}.{part}")]
        known = [word for item in record.quantities for word in _PARTS.get(item, (item,))]
        if quantity not in known:
            raise KeyError(f"{text!r}: {unknown('quantity', quantity, known)}")
        values = np.asarray(attrgetter(quantity)(record))
        units = self.layout.units(name, quantity)
        return _components(f"{name}.{quantity}", quantity, units, values, self.recorded.ndim)

    def _known(self, name: str) -> bool:
        return name in self.layout.joints or name in self.layout.bodies or name in self.layout.loads

    def _split(self, text: str) -> tuple[str, str]:
        """Split "pin.velocity" into name and quantity; names may have points of their own."""
        words = text.split(".")
        for count in range(len(words), 0, -1):
            name = ".".join(words[:count])
            if self._known(name):
                return name, ".".join(words[count:])
        return text, ""

    def to_xarray(self, *names: str) -> Any:
        """Return an xarray.Dataset of single curves with units, as `traces` names them."""
        xarray = optional("xarray", "export")
        axes = ("run", "time")[-self.recorded.ndim :]
        curves = {trace.label: (axes, trace.values, {"units": trace.unit}) for trace in self.traces(*names)}
        return xarray.Dataset(curves, {"time": ("time", self.time, {"units": "s"})})

    def arrays(self) -> tuple[dict[str, Array], dict[str, str]]:
        """Return all that a file holds, and by name why a quantity is not among it."""
        arrays = {"time": self.time, "q": self.q, "v": self.v, "work": self.work}
        absent = {}
        for quantity in derivable(self.layout):
            try:
                arrays[quantity] = np.asarray(self.derived(quantity), dtype=float)
            except Exception as error:  # whatever a law of the user raises: the motion itself is saved
                absent[quantity] = f"{type(error).__name__}: {error}"
        return arrays, absent


def _components(label: str, quantity: str, units: tuple[str, ...], values: Array, axes: int) -> list[Trace]:
    """Split an array into its single curves, named by index if there are several."""
    inner = values.shape[axes:]
    if not inner:
        return [Trace(label, quantity, units[0], values)]
    traces = []
    for k, index in enumerate(np.ndindex(inner)):
        unit = units[k] if len(units) == prod(inner) else units[0]
        where = ", ".join(map(str, index))
        traces.append(Trace(f"{label}[{where}]", quantity, unit, values[(..., *index)]))
    return traces


def optional(package: str, extra: str) -> Any:
    """Import a package that not everybody has, or say how to get it."""
    try:
        return __import__(package)
    except ImportError:
        raise LinkworkError(f"this needs {package}; pip install linkwork[{extra}]") from None


# one run


class Recording(Samples):
    """A run: `time`, `q`, `v`, `a`; joints, bodies, springs and loads by name; energies; how it went."""

    def __init__(
        self, channels: Channels, time: Array, q: Array, v: Array, work: Array, report: Report, final: State
    ) -> None:
        super().__init__(channels, time, q, v, work, np.ones(len(time), bool))
        self.report = report
        self.final = final  # where it ended, from which another run can go on

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
    def status(self) -> str:
        return self.report.status

    @property
    def message(self) -> str:
        return self.report.message

    @property
    def energy_balance(self) -> Array:
        """Energy that came from nowhere (S,): E - E0 less the work done since the start [J]."""
        return (self.energy - self.energy[0]) - (self.work - self.work[0])

    @property
    def energy_error(self) -> float:
        """Largest |energy_balance|, relative to the energy at play.

        That is the largest kinetic energy, or the range of the potential energy or of the work if that is
        more. A mechanism in which nothing happens has the error 0; a run of one sample has none, NaN.
        """
        if len(self) < 2:
            return nan
        worst = float(np.abs(self.energy_balance).max())
        ranges = [float(np.ptp(energy)) for energy in (self.potential_energy, self.work)]
        at_play = max(float(self.kinetic_energy.max()), *ranges)
        return worst / at_play if at_play else worst

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
        return f"{wall:.3g} s{factor}"

    def _achieved(self) -> str:
        try:
            found = self.energy_error
            energy = "energy error not known" if isnan(found) else f"energy error {found:.2g}"
        except (LinkworkError, ArithmeticError, ValueError) as error:
            energy = f"energy error unknown ({error})"
        estimate = self.report.error_estimate
        return energy if estimate is None else f"{energy}, error estimate {estimate:.2g}"

    def plot(self, *names: str) -> Any:
        """Return a matplotlib Figure of the named curves ("pin", "pole.position", "energy"); see `traces`.

        Without names it shows the positions of the joints.
        """
        optional("matplotlib", "plot")
        traces, title = (self.traces(*names), self.report.mechanism) if names else self._overview()
        return plot.figure(self.time, traces, title)

    def _overview(self) -> tuple[list[Trace], str]:
        """Return the positions of the joints, as many as can be told apart, and what to write above."""
        traces = [trace for name in self.layout.joints for trace in self.traces(f"{name}.position")]
        title = self.report.mechanism
        if len(traces) > plot.MANY:
            title = f"{title} ({plot.MANY} of {len(traces)} coordinates; name those you want)"
        return traces[: plot.MANY], title

    def _repr_html_(self) -> str:
        traces, title = self._overview()
        return plot.html(title, [("status", self.report.outcome), *self._rows()], self.time, traces)

    def to_dataframe(self, *names: str) -> Any:
        """Return a pandas.DataFrame over time with a column per curve, as `traces` names them."""
        pandas = optional("pandas", "export")
        index = pandas.Index(self.time, name="time")
        return pandas.DataFrame({trace.label: trace.values for trace in self.traces(*names)}, index)

    def save(self, path: str | Path) -> None:
        """Write everything to a file, all or nothing; `lw.load` reads it, also where there is no model."""
        arrays, absent = self.arrays()
        memory = store_final(arrays, "final", self.final)
        header = {
            "kind": "recording",
            "layout": self.layout.to_json(),
            "report": self.report.to_json(),
            "absent": absent,
            "memory": memory,
        }
        container.write(path, header, arrays)


def _method(report: Report) -> str:
    asked = [("accuracy", report.accuracy, ""), ("step", report.step, " s")]
    return ", ".join([report.method, *(f"{word} {x:g}{unit}" for word, x, unit in asked if x is not None)])


# files


def load_recording(path: str | Path) -> "Recording | Recordings":
    """Read what `save` wrote; FormatError says what is wrong with a file."""
    from linkwork.simulation.batch_recording import restore_batch  # which is made of recordings

    header, arrays = container.read(path)
    try:
        match header.get("kind"):
            case "recording":
                return _restore(header, arrays)
            case "recordings":
                return restore_batch(header, arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: is no complete recording: {type(error).__name__}: {error}") from None
    raise FormatError(f"{path}: holds {header.get('kind')!r}, not a recording")


def _restore(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Recording:
    channels = StoredChannels(header, arrays)
    check_shapes(arrays, channels, (arrays["time"].size,))
    return Recording(
        channels,
        arrays["time"],
        arrays["q"],
        arrays["v"],
        arrays["work"],
        Report.from_json(header["report"]),
        restore_final(arrays, "final", header["memory"]),
    )


def check_shapes(arrays: Mapping[str, Array], channels: StoredChannels, lead: tuple[int, ...]) -> None:
    """Raise ValueError if an array has not one entry per sample, or not the size of the mechanism."""
    layout = channels.layout
    if arrays["time"].shape != lead[-1:]:
        raise ValueError(f"array 'time' has shape {arrays['time'].shape}, not {lead[-1:]}")
    sizes = {"q": (len(layout.position_units),), "v": (len(layout.velocity_units),), "work": ()}
    for name, inner in (sizes | layout.shapes()).items():
        if name in arrays and arrays[name].shape != (*lead, *inner):
            raise ValueError(f"array {name!r} has shape {arrays[name].shape}, not {(*lead, *inner)}")
    for name in layout.loads:
        array = arrays.get(f"load/{name}")
        if array is not None and (array.ndim != len(lead) + 1 or array.shape[: len(lead)] != lead):
            raise ValueError(f"the force of {name!r} has shape {array.shape} for samples {lead}")


def store_final(arrays: dict[str, Array], prefix: str, state: State) -> list[str] | None:
    """Add a state to arrays, with its memory as it is; return the names of what is in that memory."""
    arrays |= {f"{prefix}/q": state.q, f"{prefix}/v": state.v, f"{prefix}/t": np.array(state.t, dtype=float)}
    if state.memory is None:
        return None
    arrays |= {f"{prefix}/memory/{name}": np.asarray(array) for name, array in state.memory.items()}
    return list(state.memory)


def restore_final(arrays: Mapping[str, Array], prefix: str, names: list[str] | None) -> State:
    """Return the state that `store_final` put there."""
    memory = None if names is None else {name: arrays[f"{prefix}/memory/{name}"] for name in names}
    q, v, t = (arrays[f"{prefix}/{part}"] for part in "qvt")
    return State(q, v, float(t), memory=memory)
