"""Between samples: the steps of the run, where it knows how it was made; else cubics.

What was simulated goes on from the sample before (`Between` of the channels), to the accuracy of the run.
Otherwise Hermite's cubics have the values and the rates of both neighbours: positions follow with their rates
dq/dt, velocities with the accelerations; quaternions are brought back to length one. Where x has four
derivatives and samples are h apart, their error is at most h^4 max|d4x/dt4| / 384. At a sample the result is
that sample, bit for bit.
"""

from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, SimulationError
from linkwork.real_numbers import real_array
from linkwork.recording.channels import Between
from linkwork.recording.derive import derive
from linkwork.recording.samples import Samples
from linkwork.spelling import spelled_methods

Array = np.ndarray

_ENOUGH, _MOST = 500, 16  # samples of a picture; parts of a step


@spelled_methods
class Instant(Samples):
    """A motion at one time, or at several: what a recording is over time, without the axis of samples."""

    def __getitem__(self, name: str) -> Any:
        return self.record(name)

    def __repr__(self) -> str:
        return f"<Instant at {self.time} s>"

    @property
    def energy_balance(self) -> Array:
        raise _of_a_run("energy_balance")

    @property
    def energy_error(self) -> Any:
        raise _of_a_run("energy_error")

    @property
    def energy_at_play(self) -> Array:
        raise _of_a_run("energy_at_play")


def _of_a_run(word: str) -> LinkworkError:
    return LinkworkError(
        f"{word} compares a motion with its start: ask the run, run.{word}, not one time of it"
    )


def instant_of_sample(run: Samples, k: Any) -> Instant:
    """Return sample k of a run, or of all runs of a batch; or several (...,)."""
    index = (*[slice(None)] * (run.recorded.ndim - 1), k)
    given = {name: values[index] for name, values in run.given.items()}
    channels = run._channels.part(index if len(index) > 1 else k)
    where = run.time[k], run.q[index], run.v[index], run.work[index]
    return Instant(channels, *where, np.asarray(run.recorded[index]), given)


def instant_at(run: Samples, t: Any) -> Instant:
    """Return a run at a time, or at several (...,), between its first and last sample."""
    at = times_within(run, t)
    time = run.time
    before = np.searchsorted(time, at, side="right") - 1
    after = np.minimum(before + 1, len(time) - 1)
    if run.model is None:
        if not (time[before] == at).all():
            raise SimulationError(
                f"at: t {t!r:.80} is between the samples of a file, where there is no model to derive "
                "anything from; ask at one of its times, or run it again"
            )
        return instant_of_sample(run, before if at.ndim else int(before))
    if run._channels.between is None:
        q, v, work = _by_cubics(run, at, before, after)
    else:
        rows = _by_steps(run, run._channels.between, at.ravel(), before.ravel()).reshape(*at.shape, -1)
        q, v, work = np.split(rows, [run.model.nq, run.model.nq + run.model.nv], axis=-1)
        work = work[..., 0]
    held = run._channels.part(before)  # inputs that change are those of the sample before, until the next
    return Instant(held, at, q, v, work, np.ones(at.shape, bool))


def times_within(run: Samples, t: Any) -> Array:
    """Return times as an array; ValueError if one is not between the first and the last sample of a run."""
    at, time = real_array("at: t", t), run.time
    if not len(time) or not ((at >= time[0]) & (at <= time[-1])).all():
        span = f"{time[0]:g} to {time[-1]:g} s" if len(time) else "it has no samples"
        raise ValueError(f"at: t {t!r:.80} is outside the recording, {span}")
    return at


def _by_steps(run: Samples, between: Between, at: Array, before: Array) -> Array:
    """Return q, v and the work (T, n) at times (T,), each after a sample."""
    found = np.column_stack([run.q[before], run.v[before], run.work[before]])
    inside = np.flatnonzero(run.time[before] != at)
    for k in np.unique(before[inside]).tolist():
        mine = inside[before[inside] == k]
        times, which = np.unique(at[mine], return_inverse=True)
        found[mine] = between.rows(run, k, times)[which]
    return found


def _by_cubics(run: Samples, at: Array, before: Array, after: Array) -> tuple[Array, Array, Array]:
    time = run.time
    exact = time[before] == at
    held = run._channels.part(before)
    written = held is not run._channels
    rates = [
        (
            run.derived(word)[before],
            derive(word, run.model, time[after], run.q[after], run.v[after], held.inputs)
            if written
            else run.derived(word)[after],
        )
        for word in ("position_rates", "accelerations")
    ]
    h = time[after] - time[before]
    s = np.where(exact, 0.0, (at - time[before]) / np.where(exact, 1.0, h))
    q, v = (
        cubic(x[before], h[..., None] * rate[0], x[after], h[..., None] * rate[1], s[..., None])
        for x, rate in zip((run.q, run.v), rates, strict=True)
    )
    work = (1.0 - s) * run.work[before] + s * run.work[after]
    return normalised(run.model, q), v, work


def normalised(model: Any, q: Array) -> Array:
    """Bring the quaternions of positions (..., nq) between samples back to length one, in place."""
    for first in model.quaternions.tolist():
        part = q[..., first : first + 4]
        part /= np.linalg.norm(part, axis=-1, keepdims=True)
    return q


def refined(run: Samples) -> tuple[Array, Array, Array, Array] | None:
    """Return times, positions, velocities and work of a run at more times, as pictures want them.

    None: it has as many samples as they want. Cubics would do for the eye, but not for energies: those of a
    double pendulum, 1e-8 J wrong at samples 20 ms apart, are 1e-3 J wrong between them by cubics.
    """
    parts = min(-(-_ENOUGH // max(len(run.time), 1)), _MOST)
    if parts == 1 or len(run.time) < 3:
        return None
    t, s = run.time, np.arange(parts) / parts
    times = np.append((t[:-1, None] + np.diff(t)[:, None] * s).ravel(), t[-1])
    there = instant_at(run, times)
    return times, there.q, there.v, there.work


def cubic(x: Array, dx: Array, y: Array, dy: Array, s: Array | float) -> Array:
    """Return Hermite's cubic, from x to y as s goes from 0 to 1."""
    return (
        (1.0 + 2.0 * s) * (1.0 - s) ** 2 * x
        + s * (1.0 - s) ** 2 * dx
        + s**2 * (3.0 - 2.0 * s) * y
        - s**2 * (1.0 - s) * dy
    )
