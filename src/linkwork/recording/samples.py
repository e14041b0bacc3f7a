"""What one run and a batch of runs have in common: arrays over time, by name."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, unknown
from linkwork.lazy import LOCK
from linkwork.recording.channels import Channels, derivable
from linkwork.recording.curve import Trace
from linkwork.recording.layout import PARTS, WHOLE, Layout
from linkwork.recording.series import BodyRecord, ConstraintRecord, DriverRecord, JointRecord, LoadRecord
from linkwork.spelling import Computed, require, spelled_methods

Array = np.ndarray

_ROUNDING = 1e-14  # of the potential energy: less is no energy at play


@spelled_methods
class Samples(Computed):
    """What one run and a batch of runs have in common: arrays over time, by name."""

    time: Array  # (S,) [s]
    q: Array  # (..., S, nq) positions [rad, m, quaternions]
    v: Array  # (..., S, nv) velocities [rad/s, m/s]
    work: Array  # (..., S) of all forces but gravity, since the start [J]
    recorded: Array  # (..., S) whether there is such a sample; False after a run's early end
    given: dict[str, Array]  # derived quantities that came with the motion, by name
    kept: dict[str, Array]  # and all that was derived so far
    _channels: Channels

    def __init__(
        self,
        channels: Channels,
        time: Array,
        q: Array,
        v: Array,
        work: Array,
        recorded: Array,
        given: Mapping[str, Array] | None = None,
    ) -> None:
        time, q, v, work, recorded = map(read_only, (time, q, v, work, recorded))
        given = {name: read_only(array) for name, array in (given or {}).items()}
        self.__dict__.update(
            time=time, q=q, v=v, work=work, recorded=recorded, _channels=channels, given=given, kept={**given}
        )

    @property
    def layout(self) -> Layout:
        """Where names are in arrays, and in what units."""
        return self._channels.layout

    @property
    def model(self) -> Any:
        """The model that was run; None if this comes from a file."""
        return self._channels.model

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs of laws by name: a number, or where they changed on the way one per sample, (S,).

        Of a batch (N,) or (N, S). What is set at the time of a sample counts from this sample on.
        """
        return self._channels.inputs

    @property
    def appearance(self) -> tuple[Any, dict[str, Array]]:
        """What the file says of how the bodies look; for the viewer."""
        return self._channels.appearance

    def derived(self, quantity: str) -> Array:
        """Return a whole array of derived quantities; it is computed once."""
        if quantity not in self.kept:
            with LOCK:
                if quantity not in self.kept:
                    found = self._channels.derive(quantity, self)
                    self.kept.update({name: read_only(array) for name, array in found.items()})
        return self.kept[quantity]

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

    @property
    def energy_balance(self) -> Array:
        """Energy that came from nowhere (..., S): E - E0 less the work done since the start [J]."""
        return (self.energy - self.energy[..., :1]) - (self.work - self.work[..., :1])

    @property
    def energy_error(self) -> Any:
        """Largest |energy_balance|, relative to the energy at play; of a batch (N,).

        That is the largest kinetic energy, or the range of the potential energy or of the work if that is
        more. A mechanism in which nothing happens has the error 0; a run of one sample has none, NaN.
        """
        worst, at_play = most(np.abs(self.energy_balance)), self.energy_at_play
        rounding = _ROUNDING * most(np.abs(self.potential_energy))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(at_play > rounding, worst / at_play, np.where(worst > rounding, worst, 0.0))
        found = np.where(np.isnan(worst) | (self.recorded.sum(axis=-1) < 2), np.nan, found)
        return float(found) if found.ndim == 0 else found

    @property
    def energy_at_play(self) -> Array:
        """The largest kinetic energy, or the range of the potential energy or of the work (...,) [J]."""
        ranges = [most(energy) + most(-energy) for energy in (self.potential_energy, self.work)]
        return np.maximum(most(self.kinetic_energy), np.maximum(*ranges))

    @property
    def momentum(self) -> Array:
        """The momentum (..., S, 6 or 3): angular, about the centre of mass, then linear [kg m²/s, kg m/s]."""
        return self.derived("momentum")

    @property
    def center_of_mass(self) -> Array:
        """The centre of mass of all that moves (..., S, 3), in the plane (..., S, 2) [m]."""
        return self.derived("center_of_mass")

    @property
    def loop_gaps(self) -> dict[str, Array]:
        """By how much each joint or constraint that closes a loop is open (..., S) [m, rad]."""
        gaps = self.derived("gaps") if self.layout.closing else self.q
        return {name: gaps[..., k] for k, name in enumerate(self.layout.closing)}

    @property
    def title(self) -> str:
        """The name of the mechanism."""
        return ""

    def pictured(self, exact: bool = False) -> "Sequence[tuple[str, Samples]]":
        """Return the runs to draw, with their names in a picture; `exact` without samples in between."""
        return [("", self)]

    def marks(self) -> Sequence[tuple[float, str]]:
        """Return the events to mark in pictures."""
        return ()

    def __contains__(self, name: object) -> bool:
        """Return whether there is a joint, body, constraint, driver or load of this name."""
        layout = self.layout
        known = layout.joints, layout.bodies, layout.loads, layout.constraints, layout.drivers
        return any(name in names for names in known)

    def __iter__(self) -> Iterator[Any]:
        what = type(self).__name__
        raise TypeError(
            f"a {what} has no order to go through; take run.time, run.q, or the names run.model.joint_names"
        )

    def record(self, name: str) -> JointRecord | BodyRecord | LoadRecord:
        """Return a joint, body, spring, motor or load over time."""
        layout = self.layout
        for names, kind in (
            (layout.drivers, DriverRecord),
            (layout.constraints, ConstraintRecord),
            (layout.joints, JointRecord),
            (layout.bodies, BodyRecord),
            (layout.loads, LoadRecord),
        ):
            if name in names:
                return kind(self, name)
        raise KeyError(unknown("name", name, [*layout.joints, *layout.bodies, *layout.loads]))

    def traces(self, *names: str) -> list[Trace]:
        """Return single curves with units: "pin", "pin.velocity", "pole.position[2]", "energy", ...

        A name alone stands for the position of a joint, the pose of a body (position; in the plane angle and
        position) and the force of a spring, motor, load or constraint; no name for everything of joints and
        loads, poses and velocities of bodies, and the energies.
        """
        for name in names:
            require("traces: name", name, str, "names one by one, as texts: 'pin', 'pole.position[2]'")
        return [trace for name in names or self._all() for trace in self._traces(name)]

    def _all(self) -> Iterable[str]:
        quantities = ("position", "velocity", "acceleration", "force")
        joints = (name for name in self.layout.joints if name not in self.layout.constraints)
        yield from (f"{name}.{quantity}" for name in joints for quantity in quantities)
        yield from (f"{name}.position" for name in self.layout.curves)
        yield from (f"{name}.force" for name in (*self.layout.constraints, *self.layout.loads))
        yield from self._all_of_bodies()
        yield from WHOLE

    def _all_of_bodies(self) -> Iterable[str]:
        turn = "angle" if self.layout.space == "plane" else "rotation"
        force = ("contact_force",) if self.layout.touching else ()
        words = ("position", turn, "velocity", "angular_velocity", *force)
        return (f"{name}.{word}" for name in self.layout.bodies for word in words)

    def _own_traces(self, name: str) -> list[Trace]:
        """Return curves of the whole mechanism."""
        if name == "error":
            at_play = self.energy_at_play[..., None]
            with np.errstate(invalid="ignore", divide="ignore"):
                values = np.where(at_play > 0.0, np.abs(self.energy_balance) / at_play, 0.0)
            return [
                Trace("error", "energy error, relative", "1", np.where(values > 0.0, values, np.nan), True)
            ]
        return [Trace(name, "energy", "J", getattr(self, name))] if name in WHOLE else []

    def _traces(self, text: str) -> list[Trace]:
        if not self.knows(text) and (own := self._own_traces(text)):
            return own
        name, quantity = self._split(text)
        if quantity.endswith("]") or (not quantity and text.endswith("]") and not self.knows(text)):
            return [self._component(text)]
        record = self.record(name)
        if not quantity:
            return [trace for word in record.alone for trace in self._traces(f"{name}.{word}")]
        if quantity in PARTS and quantity in record.quantities:
            return [trace for part in PARTS[quantity] for trace in self._traces(f"{name}.{part}")]
        known = [word for item in record.quantities for word in PARTS.get(item, (item,))]
        if quantity not in known:
            raise KeyError(f"{text!r}: {unknown('quantity', quantity, known)}")
        values = np.asarray(attrgetter(quantity)(record))
        units = self.layout.units(name, quantity)
        axes = self.recorded.ndim
        parts = _parts(values.shape[axes:], units, name in self.layout.bodies or "." in quantity)
        return _components(f"{name}.{quantity}", quantity, units, values, axes, parts)

    def _component(self, text: str) -> Trace:
        """Return the curve of "pole.position[2]", or of "arm.rotation[0, 1]"."""
        whole, _, index = text[:-1].rpartition("[")
        wanted = ", ".join(index.replace(" ", "").split(","))
        found = {trace.label: trace for trace in self._traces(whole)}
        labels = [label for label in found if label.endswith(f"[{wanted}]")]
        if len(labels) != 1:
            raise KeyError(unknown("curve", text, found))
        return found[labels[0]]

    def knows(self, name: str) -> bool:
        """Return whether this is the name of a joint, constraint, body or load."""
        return name in self.layout.joints or name in self.layout.bodies or name in self.layout.loads

    def _split(self, text: str) -> tuple[str, str]:
        """Split "pin.velocity" into name and quantity; names may have points of their own."""
        words = text.split(".")
        for count in range(len(words), 0, -1):
            name = ".".join(words[:count])
            if self.knows(name):
                return name, ".".join(words[count:])
        return text, ""

    def to_dataframe(self, *names: str) -> Any:
        """Return a pandas.DataFrame over time with a column per curve, as `traces` names them.

        Of a batch the index has the number of the run, then the time; what a run has not reached is left out.
        """
        pandas = optional("pandas", "export")
        index = pandas.Index(self.time, name="time")
        if self.recorded.ndim > 1:
            words = ["run", "time"]
            index = pandas.MultiIndex.from_product([range(len(self.recorded)), self.time], names=words)
        curves = {trace.label: trace.values.ravel() for trace in self.traces(*names)}
        return pandas.DataFrame(curves, index)[self.recorded.ravel()]

    def to_xarray(self, *names: str) -> Any:
        """Return an xarray.Dataset of single curves with units, as `traces` names them."""
        xarray = optional("xarray", "export")
        axes = ("run", "time")[-self.recorded.ndim :]
        curves = {trace.label: (axes, trace.values, {"units": trace.unit}) for trace in self.traces(*names)}
        return xarray.Dataset(curves, {"time": ("time", self.time, {"units": "s"})})

    def arrays(self) -> tuple[dict[str, Array], dict[str, str]]:
        """Return all that a file holds, and by name why a quantity is not among it."""
        arrays = {"time": self.time, "q": self.q, "v": self.v, "work": self.work}
        arrays |= {f"inputs/{name}": np.array(value, float) for name, value in self.inputs.items()}
        absent = {}
        for quantity in derivable(self.layout):
            try:
                arrays[quantity] = np.asarray(self.derived(quantity), dtype=float)
            except Exception as error:  # whatever a law of the user raises: the motion itself is saved
                absent[quantity] = f"{type(error).__name__}: {error}"
        return arrays, absent


_AXES: dict[tuple[int, ...], tuple[str, ...]] = {(2,): ("x", "y"), (3,): ("x", "y", "z")}
_OF_COORDINATES: dict[tuple[str, ...], tuple[str, ...]] = {  # of joints, by their units
    ("1",) * 4: ("w", "x", "y", "z"),
    ("m",) * 3 + ("1",) * 4: ("x", "y", "z", "qw", "qx", "qy", "qz"),
    ("rad/s",) * 3 + ("m/s",) * 3: ("ωx", "ωy", "ωz", "vx", "vy", "vz"),
    ("m", "m", "rad"): ("x", "y", "angle"),
}


def _parts(shape: tuple[int, ...], units: tuple[str, ...], vector: bool) -> tuple[str, ...]:
    """Return what pictures call the parts of a quantity: axes, coordinates of a joint, or none."""
    return _AXES.get(shape, ()) if vector else _OF_COORDINATES.get(tuple(units), ())


def _components(
    label: str,
    quantity: str,
    units: tuple[str, ...],
    values: Array,
    axes: int,
    parts: tuple[str, ...] = (),
) -> list[Trace]:
    """Split an array into its single curves, named by index if there are several."""
    inner = values.shape[axes:]
    scale = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    if not inner:
        return [Trace(label, quantity, units[0], values, scale=scale)]
    traces = []
    for k, index in enumerate(np.ndindex(inner)):
        unit = units[k] if len(units) == prod(inner) else units[0]
        where = ", ".join(map(str, index))
        part = parts[k] if parts else ""
        values_of = values[(..., *index)]
        traces.append(Trace(f"{label}[{where}]", quantity, unit, values_of, part=part, scale=scale))
    return traces


def read_only(array: Array) -> Array:
    """Return a view that nobody writes to: `run["pin"].position *= 57` would change the run itself."""
    view = np.asarray(array).view()
    view.setflags(write=False)
    return view


def most(values: Array) -> Array:
    """Return the largest number over time (...,), of those that there are; NaN where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # there is none
        return np.nanmax(values, axis=-1) if values.shape[-1] else np.full(values.shape[:-1], np.nan)


def optional(package: str, extra: str) -> Any:
    """Import a package that not everybody has, or say how to get it."""
    try:
        return import_module(package)
    except ImportError:
        raise LinkworkError(f"this needs {package}; pip install linkwork[{extra}]") from None
