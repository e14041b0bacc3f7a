"""Where the derived quantities of a motion come from: the model, or a file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from linkwork.dynamics.load_code import Answer
from linkwork.errors import SimulationError
from linkwork.recording.derive import Derivation, inputs_over
from linkwork.recording.layout import Layout, layout_of
from linkwork.recording.planar_angle import planar_angles
from linkwork.recording.report import text
from linkwork.tree.purity import NotAFunction

if TYPE_CHECKING:
    from linkwork.recording.samples import Samples

Array = np.ndarray

_MOTION = frozenset(  # what follows from positions and velocities alone
    {"poses", "angles", "velocities", "position_rates", "kinetic_energy", "potential_energy", "momentum"}
    | {"center_of_mass", "loop_positions", "loop_velocities", "gaps", "inputs"}
)


_BY_KERNELS = frozenset(  # of these, what kernels give without anything else of a model
    {"kinetic_energy", "potential_energy", "momentum", "center_of_mass", "poses", "velocities"}
)


class Between(Protocol):
    """What a motion does between its samples."""

    def of_run(self, k: int) -> "Between":
        """Return what knows run k of a batch."""
        ...

    def rows(self, run: Any, k: int, times: Array) -> Array:
        """Return q, v and the work (T, nq + nv + 1) at rising times between samples k and k + 1 of a run."""
        ...


class Channels(ABC):
    """Where the derived quantities of a motion come from."""

    between: Between | None = None  # what knows the motion between samples; None: cubics

    model: Any = None  # that was run; None if the recording comes from a file
    # of the run by name: one for all samples, or one each, (S,); of a batch (N,) or (N, S) as well
    inputs: Mapping[str, Any] = MappingProxyType({})
    appearance: tuple[Any, dict[str, Array]] = None, {}  # what a file says of how the bodies look

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Where names are in arrays, and in what units."""

    @abstractmethod
    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        """Return a quantity, and what comes with it, for all samples; after a run's end it is NaN."""

    @abstractmethod
    def part(self, index: Any) -> "Channels":
        """Return the channels of some samples: those at an index of arrays over all samples."""


class LiveChannels(Channels):
    """Derived quantities computed by the model."""

    def __init__(
        self,
        model: Any,
        layout: Layout | None = None,
        inputs: Mapping[str, Any] | None = None,
        between: Between | None = None,
        answers: Sequence[Answer] = (),
    ) -> None:
        self.model, self.inputs, self.between = model, inputs or {}, between
        self._layout = layout
        self._answers = answers  # of laws that were called in the run

    @property
    def layout(self) -> Layout:
        if self._layout is None:
            self._layout = layout_of(self.model)
        return self._layout

    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        self._check_laws(quantity)
        there = samples.recorded
        time = np.broadcast_to(samples.time, there.shape)[there]
        known = {name: _single(values, there) for name, values in samples.kept.items()}
        if self.inputs:
            known["inputs"] = inputs_over(self.model, self.inputs, there.shape)[there]
        at = Derivation(self.model, time, samples.q[there], samples.v[there], known)
        at[quantity]
        fresh = at.known.keys() - known.keys()
        return {name: _spread(at.known[name], there) for name in fresh}

    def _check_laws(self, quantity: str) -> None:
        """Refuse what depends on laws that are called, and that answer otherwise now than in the run."""
        if quantity in _MOTION:
            return
        try:
            for answer in self._answers:
                answer.check()
        except NotAFunction as error:
            raise SimulationError(
                f"{quantity}: since the run, a law has become another. {error}. Ask for {quantity} before "
                "you change what a law reads"
            ) from None

    def part(self, index: Any) -> Channels:
        axes, between = index if isinstance(index, tuple) else (index,), self.between
        if between is not None and len(axes) > 1 and isinstance(axes[0], int):
            between = between.of_run(axes[0])
        elif not any(map(np.ndim, self.inputs.values())):
            return self
        return LiveChannels(self.model, self.layout, _indexed(self.inputs, index), between, self._answers)


def _indexed(inputs: Mapping[str, Any], index: Any) -> dict[str, Any]:
    """Return the inputs of some samples, or of a run of a batch; they may have fewer axes than samples."""
    axes = index if isinstance(index, tuple) else (index,)
    return {name: np.asarray(value)[axes[: np.ndim(value)]] for name, value in inputs.items()}


class VariantChannels(Channels):
    """Derived quantities of a batch each of whose runs has a model of its own.

    `wholes` are models of many runs as one, with the numbers of these runs: what kernels compute without
    anything else of a model is computed by them for all samples at once.
    """

    def __init__(
        self, models: Sequence[Any], alone: LiveChannels, wholes: Sequence[tuple[Array, Any]] = ()
    ) -> None:
        self._models, self._alone, self._wholes = models, alone, wholes  # the channels if all had one model
        self.model, self.inputs, self.between = alone.model, alone.inputs, alone.between

    @property
    def layout(self) -> Layout:
        return self._alone.layout

    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        found: dict[int, Mapping[str, Array]] = {}
        for members, whole in self._wholes if quantity in _BY_KERNELS else ():
            values = _derived_at_once(quantity, whole, samples, members)
            found |= {k: {quantity: own} for k, own in zip(members.tolist(), values, strict=True)}
        for k in range(len(self._models)):
            if k not in found:
                found[k] = self.part((k, slice(None))).derive(quantity, _of_run(samples, k))
        names = [name for name in found[0] if all(name in each for each in found.values())] if found else ()
        return {name: _stacked([found[k][name] for k in range(len(found))]) for name in names}

    def part(self, index: Any) -> Channels:
        if not isinstance(index, tuple):
            return self
        inputs, between = self._alone.part(index).inputs, self.between and self.between.of_run(index[0])
        return VariantChannel(self._models, index[0], self.layout, inputs, between)


def _of_run(samples: "Samples", k: int) -> "Samples":
    """Return the samples of a run of a batch."""
    kept = {name: values[k] for name, values in samples.kept.items()}
    own = {word: getattr(samples, word)[k] for word in ("q", "v", "recorded")}
    return cast("Samples", SimpleNamespace(time=samples.time, kept=kept, **own))


def _derived_at_once(quantity: str, whole: Any, samples: "Samples", members: Array) -> Array:
    """Return a quantity of runs whose models are one, (members, ...); after a run's end it is NaN."""
    there = samples.recorded[members]
    q, v = samples.q[members], samples.v[members]
    if there.ndim > 1:  # what is not there is as at first
        q, v = (np.where(there[..., None], x, x[:, :1]) for x in (q, v))
    at = Derivation(whole, np.zeros(there.size), q.reshape(there.size, -1), v.reshape(there.size, -1))
    return _spread(at[quantity].reshape((*there.shape, *at[quantity].shape[1:]))[there], there)


class VariantChannel(LiveChannels):
    """Derived quantities of one run of variants; its model is compiled when it is first asked for."""

    def __init__(
        self,
        models: Sequence[Any],
        k: int,
        layout: Layout,
        inputs: Mapping[str, Any],
        between: Between | None,
    ) -> None:
        self._models, self._k = models, k
        self._layout, self.inputs, self.between, self._answers = layout, inputs, between, ()

    @property
    def model(self) -> Any:  # type: ignore[override]
        return self._models[self._k]

    def part(self, index: Any) -> Channels:
        if not any(map(np.ndim, self.inputs.values())):
            return self
        inputs = _indexed(self.inputs, index)
        return VariantChannel(self._models, self._k, self.layout, inputs, self.between)


class StoredChannels(Channels):
    """Derived quantities as they were computed when the recording was saved."""

    def __init__(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self._layout = Layout.from_json(header["layout"])
        shapes = {name: array for name, array in arrays.items() if name.startswith("drawing/")}
        self.appearance = header.get("drawing"), shapes
        given = {name: array for name, array in arrays.items() if name.startswith("inputs/")}
        self.inputs = {name.removeprefix("inputs/"): array[()] for name, array in given.items()}
        self._absent = {text(name): text(why) for name, why in header["absent"].items()}
        names = [name for name in derivable(self.layout) if name not in self._absent]
        self._arrays = {name: arrays[name] for name in names if name in arrays or name not in _LATER}

    @property
    def layout(self) -> Layout:
        return self._layout

    def derive(self, quantity: str, samples: "Samples") -> Mapping[str, Array]:
        if quantity == "angles" and quantity not in self._arrays:
            return {quantity: np.unwrap(planar_angles(samples.derived("poses")), axis=-2)}
        if quantity in self._absent:
            why = self._absent[quantity]
            raise SimulationError(f"{quantity} is not in the file; when it was saved there was {why}")
        if quantity not in self._arrays:
            raise SimulationError(
                f"{quantity} is not in the file, and there is no model to derive it from; run it again"
            )
        return {quantity: self._arrays[quantity]}

    def part(self, index: Any) -> Channels:
        cut = object.__new__(StoredChannels)
        cut._layout, cut._absent, cut.appearance = self._layout, self._absent, self.appearance
        cut.inputs = _indexed(self.inputs, index)
        cut._arrays = {name: array[index] for name, array in self._arrays.items()}
        return cut


# Not in files of version 1 from the beginning.
_LATER = ("angles", "driver_laws", "body_momenta", "gaps", "momentum", "center_of_mass")


def derivable(layout: Layout) -> list[str]:
    """Return the names of all quantities that a file holds beside the motion itself."""
    contacts = ("contacts",) if layout.touching else ()
    return [*contacts, *layout.shapes(), *(f"load/{name}" for name in layout.loads)]


def _stacked(arrays: Sequence[Array]) -> Array:
    """Return arrays of several runs as one; what has fewer contacts than another is padded with NaN."""
    most = tuple(map(max, zip(*(array.shape for array in arrays), strict=True)))
    made = np.full((len(arrays), *most), np.nan)
    for row, array in zip(made, arrays, strict=True):
        row[tuple(map(slice, array.shape))] = array
    return made


def _single(values: Array, there: Array) -> Array:
    """Return the samples that there are, along one axis; without a copy if all are there."""
    inner = values.shape[there.ndim :]
    return values.reshape(there.size, *inner) if there.all() else values[there]


def _spread(values: Array, there: Array) -> Array:
    """Put the samples that there are into an array of all, NaN elsewhere."""
    if there.all():
        return values.reshape((*there.shape, *values.shape[1:]))
    array = np.full((*there.shape, *values.shape[1:]), np.nan)
    array[there] = values
    return array
