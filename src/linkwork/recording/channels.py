"""Where the derived quantities of a motion come from: the model, or a file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import SimulationError
from linkwork.recording.layout import Layout
from linkwork.recording.report import text

if TYPE_CHECKING:
    from linkwork.recording.samples import Samples

Array = np.ndarray


class Channels(ABC):
    """Where the derived quantities of a motion come from."""

    layout: Layout
    model: Any = None  # that was run; None if the recording comes from a file
    appearance: tuple[Any, dict[str, Array]] = None, {}  # what a file says of how the bodies look

    @abstractmethod
    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        """Return a quantity, and what comes with it, for all samples; after a run's end it is NaN."""

    @abstractmethod
    def of_run(self, k: int, count: int) -> "Channels":
        """Return the channels of the first `count` samples of run k of a batch."""


class LiveChannels(Channels):
    """Derived quantities computed by the model."""

    def __init__(self, model: Any, layout: Layout | None = None) -> None:
        self.model = model
        self.layout = layout or layout_of(model)

    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        there = samples.recorded
        time = np.broadcast_to(samples.time, there.shape)[there]
        found = self._at(quantity, time, samples.q[there], samples.v[there], samples)
        return {name: _spread(values, there) for name, values in found.items()}

    def of_run(self, k: int, count: int) -> Channels:
        return self

    def _at(self, quantity: str, t: Array, q: Array, v: Array, samples: "Samples") -> dict[str, Array]:
        """Return a quantity at single samples, in a batch."""
        model, there = self.model, samples.recorded
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
                return {quantity: model.reactions_in_motion(q, v, t, a, external).array}
            case ["loop_positions" | "loop_velocities"]:
                names = "loop_positions", "loop_velocities"
                return dict(zip(names, model.loop_motion(q, v), strict=True))
            case ["loop_accelerations"]:
                return {quantity: model.loop_accelerations(q, v, samples.derived("accelerations")[there])}
            case ["loop_forces"]:
                return {quantity: model.loop_drives(q, v, t)}
            case ["row_forces"]:
                return {quantity: model.row_forces_in_motion(q, v, t)}
            case ["kinetic_energy"]:
                return {quantity: model.kinetic_energy(q, v)}
            case _:
                return {quantity: model.potential_energy(q)}


class StoredChannels(Channels):
    """Derived quantities as they were computed when the recording was saved."""

    def __init__(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self.layout = Layout.from_json(header["layout"])
        shapes = {name: array for name, array in arrays.items() if name.startswith("drawing/")}
        self.appearance = header.get("drawing"), shapes
        self._absent = {text(name): text(why) for name, why in header["absent"].items()}
        self._arrays = {name: arrays[name] for name in derivable(self.layout) if name not in self._absent}

    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        if quantity in self._absent:
            why = self._absent[quantity]
            raise SimulationError(f"{quantity} is not in the file; when it was saved there was {why}")
        return {quantity: self._arrays[quantity]}

    def of_run(self, k: int, count: int) -> Channels:
        cut = object.__new__(StoredChannels)
        cut.layout, cut._absent, cut.appearance = self.layout, self._absent, self.appearance
        cut._arrays = {name: array[k, :count] for name, array in self._arrays.items()}
        return cut


def layout_of(model: Any) -> Layout:
    """Return where the names of a model are in arrays, and in what units."""
    loop_units = model.loop_units
    behind = {name: (_moved(q, model.nq), _moved(v, model.nv)) for name, (q, v) in model.loop_slices.items()}
    return Layout(
        space=model.space,
        joints={name: model.slices[name] for name in model.joint_names} | behind,
        bodies=tuple(model.body_names),
        constraints={name: (model.row_slices[name], unit) for name, unit in model.tie_units.items()},
        loads={name: model.load_units.get(name, ("",)) for name in model.load_names},
        position_units=tuple(unit or "1" for unit in (*model.position_units, *loop_units[0])),
        velocity_units=(*model.coordinate_units, *loop_units[1]),
        nq=model.nq,
        nv=model.nv,
    )


def derivable(layout: Layout) -> list[str]:
    """Return the names of all quantities that a file holds beside the motion itself."""
    return [*layout.shapes(), *(f"load/{name}" for name in layout.loads)]


def _moved(part: slice, by: int) -> slice:
    return slice(part.start + by, part.stop + by)


def _spread(values: Array, there: Array) -> Array:
    """Put the samples that there are into an array of all, NaN elsewhere."""
    if there.all():
        return values.reshape(*there.shape, *values.shape[1:])
    array = np.full((*there.shape, *values.shape[1:]), np.nan)
    array[there] = values
    return array
