"""What a simulation that is stepped keeps: a sample after every step, up to a number of the last."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from linkwork.model.state import State
from linkwork.recording.batch import Recordings
from linkwork.recording.lazy_sequence import Each
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.recording.status import Status

if TYPE_CHECKING:
    from linkwork.simulation.stepped_run import SteppedRun

Array = np.ndarray

_NAMES = np.array([status.name for status in Status])

_FIRST_ROOM = 256  # samples
_LOOKED_AT = 100


class StepRecord:
    """Samples of N mechanisms: times, states y (N, n), and the inputs (N, nu) that hold from then on.

    Those of the last sample are not known before the next step begins, or somebody looks: then they are held.
    """

    def __init__(self, most: int, states: tuple[int, ...], inputs: tuple[int, ...]) -> None:
        self._most = most  # samples that are kept
        self._shapes = {"t": (), "y": states, "u": inputs}
        self.begin()

    def begin(self) -> None:
        """Forget everything."""
        room = min(2 * self._most, _FIRST_ROOM)
        self.t, self.y, self.u = (np.empty((room, *shape)) for shape in self._shapes.values())
        self.count = 0  # samples that there are
        self.dropped = 0  # and that there were before them
        self.end = nan  # time of the last one

    def add(self, t: float, y: Array) -> None:
        """Add a sample; its inputs are to be held."""
        k = self.count
        if k == len(self.t):
            k = self._make_room()
        self.t[k] = self.end = t
        self.y[k] = y
        self.count = k + 1

    def hold(self, u: Array) -> None:
        """Let other inputs hold from the last sample on."""
        self.u[self.count - 1] = u

    def amend(self, y: Array) -> None:
        """Make other states of the last sample."""
        self.y[self.count - 1] = y

    def _make_room(self) -> int:
        """Grow, or drop the older half of what is there; return how many samples are left."""
        size = len(self.t)
        kept = self.count if size < 2 * self._most else self._most - 1
        grown = min(max(2 * size, _FIRST_ROOM), 2 * self._most)
        for name, shape in self._shapes.items():
            before, made = getattr(self, name), np.empty((grown, *shape))
            made[:kept] = before[self.count - kept : self.count]
            setattr(self, name, made)
        self.dropped += self.count - kept
        self.count = kept
        return kept

    @property
    def samples(self) -> tuple[Array, Array, Array]:
        """The times (S,), states (S, N, n) and inputs (S, N, nu) of the last samples."""
        part = slice(max(self.count - self._most, 0), self.count)
        return self.t[part].copy(), self.y[part].copy(), self.u[part].copy()

    def some(self) -> Array:
        """Return up to a hundred of the last samples of the first mechanism, rows of t and y."""
        k = np.unique(np.linspace(max(self.count - self._most, 0), self.count - 1, _LOOKED_AT).astype(int))
        return np.column_stack([self.t[k], self.y[k, 0]])

    @property
    def lost(self) -> int:
        """How many samples are no longer there."""
        return self.dropped + max(self.count - self._most, 0)

    def arrays(self) -> dict[str, Array]:
        """Return what a file holds of it."""
        t, y, u = self.samples
        return {"t": t, "y": y, "u": u, "dropped": np.array([self.lost])}

    def recall(self, arrays: Mapping[str, Array]) -> None:
        """Become what `arrays` gave."""
        self.t, self.y, self.u = (np.array(arrays[name]) for name in self._shapes)
        self.count, self.dropped = len(self.t), int(arrays["dropped"][0])
        self.end = float(self.t[-1]) if self.count else nan


def recording_of(run: "SteppedRun", spent: tuple[float, float], notes: Sequence[str]) -> Recording:
    """Return the recording of a mechanism alone."""
    (t, y, u), sides, account = run.samples, run.sides, run.setup.setting.account
    nq, remembered = run.setup.model.nq, sides.remembered[0]
    q, v, work = y[:, 0, :nq].copy(), y[:, 0, nq:-1].copy(), y[:, 0, -1].copy()
    held = account.held(remembered, t, q, u[:, 0], sides.gathered("weakest")[0])
    notes = [*notes, *sides.notes(0), *run.doubts()]
    report = partial(account.report, remembered, held, sides.failures[0], spent, sides.happened[0], notes)
    return Recording(run.setup.channels(u, run.changes), t, q, v, work, report, run.state)


def recordings_of(run: "SteppedRun", spent: tuple[float, float], notes: Sequence[str]) -> Recordings:
    """Return the recordings of a batch."""
    (t, y, u), sides, setting, variants = run.samples, run.sides, run.setup.setting, run.setup.variants
    nq, remembered = run.setup.model.nq, sides.remembered
    rows, ends, weakest = np.moveaxis(y, 1, 0), sides.memo("t_final"), sides.gathered("weakest")
    filled = np.searchsorted(t, ends, side="right")
    failures, happened = sides.failures, sides.happened
    last, inputs = sides.y.copy(), u[-1]

    def report(k: int) -> Report:
        account = (variants.settings[k] if variants else setting).account
        q = rows[k, : filled[k], :nq]
        held = account.held(remembered[k], t[: filled[k]], q, u[: filled[k], k], weakest[k])
        said = [*notes, *sides.notes(k)]
        found = account.report(remembered[k], held, failures[k], spent, happened[k], said)
        return variants.report(k, found) if variants else found

    def final(k: int) -> State:
        own = dict(zip(setting.inputs, inputs[k].tolist(), strict=True))
        where = last[k, :nq], last[k, nq:-1], float(ends[k])
        return State(*where, None, own, setting.system.model.slices)

    return Recordings(
        run.setup.channels(u, run.changes),
        t,
        rows[..., :nq],
        rows[..., nq:-1],
        rows[..., -1],
        ends,
        filled,
        _NAMES[sides.status],
        Each(len(rows), report),
        Each(len(rows), final),
    )
