"""The sampled controllers of a run: when they are called, with what, and what becomes of their answers."""

from collections.abc import Mapping, Sequence
from math import ceil, inf
from typing import Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.load_view import coordinates
from linkwork.mechanism.sampled_controller import Sampled
from linkwork.model.model import Model
from linkwork.recording.status import Status
from linkwork.simulation.failure import Failure, failed

Array = np.ndarray

_HINT = "law(t, q, v), with memory= law(t, q, v, memory), gives finite numbers, one per input"
_MOST_CALLS = 10**7  # of a controller at one go, which take minutes; more are a slip of the pen


class Controllers:
    """Controllers of N mechanisms that go on together, and what they remember."""

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        mechanisms: int,
        t: float,
        variants: Sequence[Model] | None = None,
    ) -> None:
        """Begin at a time; `variants` are the models of the mechanisms, if they are not all the same."""
        self._model, self._variants, self._names = model, variants, list(names)
        self._all = sampled(model)
        self._columns = [[self._names.index(one.name) for one in each.inputs] for each in self._all]
        self._ticks = [0] * len(self._all)  # the next call of each, by number
        self._memory: dict[str, Array] = {  # (N, ...)
            one.name: np.array(np.broadcast_to(first, (mechanisms, *first.shape)))
            for one in self._all
            if (first := _first(one)) is not None
        }
        self.changes: list[tuple[float, Array]] = []  # of inputs so far: when, and all of them (N, nu)
        self.turn_to(t)

    def __bool__(self) -> bool:
        return bool(self._all)

    def turn_to(self, t: float) -> None:
        """Let the next calls be those at a time, or after it."""
        for n, one in enumerate(self._all):
            self._check_resolved(one, t)
            k = ceil((t - one.offset) / one.every)
            while _time(one, k - 1) >= t:
                k -= 1
            while _time(one, k) < t:
                k += 1
            self._ticks[n] = k

    def check_calls(self, t: float, t_end: float) -> None:
        """Raise ValueError if from one time to another a controller is called without end."""
        for one in self._all:
            self._check_resolved(one, t_end)
            count = (t_end - t) / one.every
            if count > _MOST_CALLS:
                raise ValueError(
                    f"controller {one.name!r}: {t_end - t:g} s are {count:.3g} calls of it, every "
                    f"{one.every:g} s; a run has at most {_MOST_CALLS:.0e}: give more seconds between them"
                )

    @staticmethod
    def _check_resolved(one: Sampled, t: float) -> None:
        if not t - one.offset + one.every > t - one.offset or not t + one.every > t:
            raise ValueError(
                f"controller {one.name!r}: every {one.every:g} s is less than time can resolve at {t:g} s"
            )

    @property
    def next_time(self) -> float:
        """The time of the next call [s]; inf if there are no controllers."""
        return min((_time(one, k) for one, k in zip(self._all, self._ticks, strict=True)), default=inf)

    def call(self, q: Array, v: Array, inputs: Array, going: Array) -> dict[int, Failure]:
        """Call those whose time has come, at q (N, nq) and v (N, nv); inputs (N, nu) <- what they give.

        Only mechanisms that are `going` (N,) are asked about. Returns what went wrong, by mechanism.
        """
        t, before, memories = self.next_time, inputs.copy(), self.memories(slice(None))
        due = [n for n, one in enumerate(self._all) if _time(one, self._ticks[n]) == t]
        try:
            failures = self._ask_all(due, t, q, v, inputs, going)
        except BaseException:  # Ctrl-C: as if they had not been asked
            inputs[:] = before
            self.recall(memories)
            raise
        for n in due:
            self._ticks[n] += 1
        self.changes.append((t, inputs.copy()))
        return failures

    def _ask_all(
        self, due: Sequence[int], t: float, q: Array, v: Array, inputs: Array, going: Array
    ) -> dict[int, Failure]:
        failures: dict[int, Failure] = {}
        for n in due:
            one = self._all[n]
            groups = [np.flatnonzero(going)] if one.vectorized else np.flatnonzero(going)[:, None]
            for which in groups:
                try:
                    self._ask(one, t, q, v, inputs, which, self._columns[n])
                except _Refused as refusal:
                    words = f"{one.word} {one.name!r} {refusal}"
                    failure = failed(refusal.status, t, one.name, words, refusal.__cause__, _HINT)
                    failures |= dict.fromkeys(which.tolist(), failure)
        return failures

    def _ask(
        self, one: Sampled, t: float, q: Array, v: Array, inputs: Array, which: Array, columns: list[int]
    ) -> None:
        memory = self._memory.get(one.name)
        at = slice(None) if one.vectorized else 0
        given = self._coordinates(q[which], v[which], which, at)
        if memory is not None:
            given.append(np.moveaxis(memory[which].copy(), 0, -1)[..., at])
        try:
            answer = one.law(t, *given)
        except Exception as error:
            raise _Refused(Status.LAW_RAISED, f"raised {type(error).__name__}: {error}") from error
        kept, count = memory, (len(which),) if one.vectorized else ()
        if memory is not None:
            if not (isinstance(answer, tuple) and len(answer) == 2):
                raise _Refused(Status.LAW_RAISED, f"gave {answer!r:.80}; with memory= it returns (u, memory)")
            answer, kept = answer
            kept = _numbers(kept, (*memory.shape[1:], *count), "memory")
        u = _numbers(answer, (len(columns), *count), "inputs")
        if one.limits is not None:
            low, high = one.limits
            u = np.clip(u, low, high)
        inputs[which[:, None], np.array(columns)] = u.T if one.vectorized else u
        if memory is not None and kept is not None:
            memory[which] = np.moveaxis(kept, -1, 0) if one.vectorized else kept

    def _loop_motion(self, q: Array, v: Array, which: Array) -> tuple[Any, Any]:
        """Return the coordinates of joints that close loops, and their velocities; None if there are none."""
        if not self._model.loop_names:
            return None, None
        if self._variants is None:
            return self._model.loop_motion(q, v)
        found = [self._variants[k].loop_motion(*each) for k, *each in zip(which, q, v, strict=True)]
        return tuple(map(np.array, zip(*found, strict=True)))  # type: ignore[return-value]

    def _coordinates(self, q: Array, v: Array, which: Array, at: Any) -> list[Any]:
        """Return q and v as laws see them: of one mechanism, or of all along the last axis."""
        model = self._model
        loops = self._loop_motion(q, v, which)
        found = []
        for side, (array, more) in enumerate(zip((q, v), loops, strict=True)):
            others: dict[str, Any] = {}
            if more is not None:
                for name, parts in model.loop_slices.items():
                    part = more[:, parts[side]].T[..., at]
                    others[name] = part[0] if len(part) == 1 else part
            slices = {joint: pair[side] for joint, pair in model.slices.items()}
            of_joints = array.T[: model.joint_starts[-1, side]]
            found.append(coordinates(of_joints[..., at].tolist(), slices, others))
        return found

    def forget_before(self, t: float) -> None:
        """Forget changes of inputs that no sample from a time on needs."""
        kept = [change for change in self.changes if change[0] >= t]
        self.changes = self.changes[-len(kept) - 1 :]

    # what is remembered

    def memories(self, one: int | slice) -> dict[str, Array]:
        """Return what controllers of a mechanism remember, or those of some, by name."""
        return {name: memory[one].copy() for name, memory in self._memory.items()}

    def recall(self, memories: Mapping[str, Any], which: Any = slice(None)) -> None:
        """Let controllers remember this; those that are not named begin anew."""
        for one in self._all:
            if one.name in self._memory:
                kept = self._memory[one.name]
                first = memories.get(one.name, _first(one))
                try:
                    kept[which] = np.asarray(first, float)
                except (TypeError, ValueError):
                    raise ValueError(
                        f"controller {one.name!r}: the state has a memory of shape {np.shape(first)} for it; "
                        f"it has {kept.shape[1:]}"
                    ) from None

    def arrays(self) -> dict[str, Array]:
        """Return all that is needed to go on, in a file."""
        found = {f"controller/{name}": memory for name, memory in self._memory.items()}
        if self._all:
            found["ticks"] = np.array(self._ticks)
            found["change_times"] = np.array([t for t, _ in self.changes], float)
            found["change_inputs"] = np.array([u for _, u in self.changes], float)
        return found

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Become what `arrays` gave."""
        if self._all:
            self._ticks = arrays["ticks"].tolist()
            self.changes = list(zip(arrays["change_times"].tolist(), arrays["change_inputs"], strict=True))
            self.recall({name: arrays[f"controller/{name}"] for name in self._memory})

    @classmethod
    def none(cls) -> "Replay":
        """Return what is there where there are none."""
        return Replay(())


class Replay:
    """Inputs as they were written in a run, in place of controllers, for a part of that run again."""

    def __init__(self, changes: Sequence[tuple[float, Array]]) -> None:
        self._left = list(changes)
        self.changes: list[tuple[float, Array]] = []

    def __bool__(self) -> bool:
        return bool(self._left or self.changes)

    @property
    def next_time(self) -> float:
        return self._left[0][0] if self._left else inf

    def call(self, q: Array, v: Array, inputs: Array, going: Array) -> dict[int, Failure]:
        self.changes.append(self._left.pop(0))
        inputs[:] = self.changes[-1][1]
        return {}

    def memories(self, one: int | slice) -> dict[str, Array]:
        return {}

    def arrays(self) -> dict[str, Array]:
        return {}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """There is nothing to go on from."""


def inputs_at(changes: Sequence[tuple[float, Array]], times: Array, first: Array) -> Array:
    """Return the inputs (S, N, nu) that hold from some times on; `first` (N, nu) do before all changes."""
    if not changes:
        return np.broadcast_to(first, (len(times), *first.shape))
    when = np.array([t for t, _ in changes])
    return np.array([first, *(u for _, u in changes)])[np.searchsorted(when, times, side="right")]


def inputs_of(names: Sequence[str], u: Array, batch: bool) -> dict[str, Any]:
    """Return inputs (S, N, nu) by name: where they never change one number, or (N,), else over samples."""
    found = {}
    for name, column in zip(names, np.moveaxis(u, 2, 0), strict=True):
        still = not len(column) or (column == column[0]).all()
        values = column[0] if still and len(column) else column.T
        found[name] = values if batch else float(values[0]) if still else values[0]
    return found


def sampled(model: Model) -> list[Sampled]:
    """Return the controllers of a model; ModelError if they cannot work together."""
    found = [load for load in model.mechanism.loads.values() if isinstance(load, Sampled)]
    if not found:
        return []
    others = (placed for placed in model.loaded_tree.loads if not isinstance(placed.load, Sampled))
    read = {given.name for thing in (*model.loaded_tree.loops, *others) for given in thing.inputs}
    writers: dict[str, str] = {}
    for one in found:
        for name in (given.name for given in one.inputs):
            if name not in read:
                what = unknown("input", name, read)
                if name in model.mechanism.loads:
                    remedy = f"leave that away, or let it read lw.Input({name!r})"
                    what = f"load {name!r} has a law of its own; {remedy}"
                raise ModelError(f"controller {one.name!r}: no law reads what it writes: {what}")
            if name in writers:
                raise ModelError(
                    f"controllers {writers[name]!r} and {one.name!r} write input {name!r}; let one of them"
                )
            writers[name] = one.name
    return found


def writers(model: Model) -> dict[str, str]:
    """Return which controller writes an input, by the input's name."""
    return {given.name: one.name for one in sampled(model) for given in one.inputs}


class _Refused(Exception):
    """An answer that cannot be used."""

    def __init__(self, status: Status, words: str) -> None:
        super().__init__(words)
        self.status = status


def _numbers(value: Any, shape: tuple[int, ...], what: str) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise ValueError
        array = np.asarray(array, float)
        if array.shape != shape:
            if array.size != int(np.prod(shape)) or array.ndim > len(shape):
                raise ValueError
            array = array.reshape(shape)
    except (TypeError, ValueError):
        raise _Refused(
            Status.LAW_RAISED, f"gave {value!r:.80} as {what}; give numbers of shape {shape or '()'}"
        ) from None
    if not np.isfinite(array).all():
        raise _Refused(Status.NOT_FINITE, f"gave {value!r:.80} as {what}, which is not finite")
    return array


def _first(one: Sampled) -> Array | None:
    return None if one.memory is None else np.asarray(one.memory, float)


def _time(one: Sampled, k: int) -> float:
    return one.offset + k * one.every
