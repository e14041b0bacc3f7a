"""What one run and a batch of runs have in common: arrays over time, by name."""

from collections.abc import Iterable, Mapping
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, unknown
from linkwork.lazy import LOCK
from linkwork.recording.channels import Channels, derivable
from linkwork.recording.layout import PARTS, WHOLE, Layout
from linkwork.recording.plot import Trace
from linkwork.recording.series import BodyRecord, ConstraintRecord, DriverRecord, JointRecord, LoadRecord

Array = np.ndarray


class Samples:
    """What one run and a batch of runs have in common: arrays over time, by name."""

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
        self.time = time  # (S,) [s]
        self.q = q  # (..., S, nq) positions [rad, m, quaternions]
        self.v = v  # (..., S, nv) velocities [rad/s, m/s]
        self.work = work  # (..., S) of all forces but gravity, since the start [J]
        self.recorded = recorded  # (..., S) whether there is such a sample; False after a run's early end
        self._channels = channels
        self.given = dict(given or {})  # derived quantities that came with the motion, by name
        self.kept = dict(self.given)  # and all that was derived so far

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
        """The inputs of laws by name, as they were in the run; of a batch (N,), or one for all."""
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
                    self.kept.update(self._channels.derive(quantity, self))
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
        gaps = self.derived("gaps")
        return {name: gaps[..., k] for k, name in enumerate(self.layout.closing)}

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
        loads, and the energies.
        """
        return [trace for name in names or self._all() for trace in self._traces(name)]

    def _all(self) -> Iterable[str]:
        quantities = ("position", "velocity", "acceleration", "force")
        joints = (name for name in self.layout.joints if name not in self.layout.constraints)
        yield from (f"{name}.{quantity}" for name in joints for quantity in quantities)
        yield from (f"{name}.force" for name in (*self.layout.constraints, *self.layout.loads))
        yield from WHOLE

    def _own_traces(self, name: str) -> list[Trace]:
        """Return curves of the whole mechanism."""
        return [Trace(name, "energy", "J", getattr(self, name))] if name in WHOLE else []

    def _traces(self, text: str) -> list[Trace]:
        if not self._known(text) and (own := self._own_traces(text)):
            return own
        name, quantity = self._split(text)
        if quantity.endswith("]") or (not quantity and text.endswith("]") and not self._known(text)):
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
        return _components(f"{name}.{quantity}", quantity, units, values, self.recorded.ndim)

    def _component(self, text: str) -> Trace:
        """Return the curve of "pole.position[2]", or of "arm.rotation[0, 1]"."""
        whole, _, index = text[:-1].rpartition("[")
        wanted = ", ".join(index.replace(" ", "").split(","))
        found = {trace.label: trace for trace in self._traces(whole)}
        labels = [label for label in found if label.endswith(f"[{wanted}]")]
        if len(labels) != 1:
            raise KeyError(unknown("curve", text, found))
        return found[labels[0]]

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
