"""The contacts of a run, sample by sample: one row for each point at which two bodies touch."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.errors import unknown
from linkwork.real_numbers import is_finite, shown
from linkwork.recording.contact_quantities import BODY_A, BODY_B, DEPTH, FORCE, NORMAL, POINT, SLIP
from linkwork.recording.report import Impact

if TYPE_CHECKING:
    from linkwork.recording.samples import Samples

Array = np.ndarray


class RecordedContact(NamedTuple):
    """One point of contact at one sample."""

    time: float  # [s]
    bodies: tuple[str, str]
    point: Array  # (d,) [m]
    normal: Array  # (d,) from a to b
    depth: float  # [m]
    force: Array  # (d,) on b [N]
    slip: Array  # (d,) of b on a [m/s]


@dataclass(frozen=True, eq=False)
class ContactRecord:
    """Contacts over time, sorted by sample: arrays over all of them, or `for contact in run.contacts`.

    d is 3, in the plane 2; all are in world axes. Forces are those of contacts that last. Where rigid bodies
    have hit each other on the way, `impacts` has time, bodies, point and impulse.
    """

    samples: Array  # (S,) times of all samples of the run [s]
    names: tuple[str, ...]  # of the bodies
    sample: Array  # (n,) number of the sample
    pair: Array  # (n, 2) numbers of bodies a and b, -1 is ground
    point: Array  # (n, d) where they touch [m]
    normal: Array  # (n, d) unit vector from a to b
    depth: Array  # (n,) how far they overlap; negative: the gap [m]
    force: Array  # (n, d) on b [N]
    slip: Array  # (n, d) velocity of b, seen from a, along the surfaces [m/s]
    impacts: tuple[Impact, ...] = ()

    @classmethod
    def of_samples(cls, run: "Samples", impacts: tuple[Impact, ...]) -> "ContactRecord":
        """Return the contacts of a run, whose impacts are known."""
        found = run.derived("contacts")
        sample, place = np.nonzero(np.isfinite(found[:, :, DEPTH]))
        rows, size = found[sample, place], run.layout.algebra.dimension
        part: Callable[[int], Array] = lambda first: rows[:, first : first + size]  # noqa: E731
        pair = rows[:, BODY_A : BODY_B + 1].astype(np.int64)
        vectors = part(POINT), part(NORMAL), rows[:, DEPTH], part(FORCE), part(SLIP)
        return cls(run.time, run.layout.bodies, sample, pair, *vectors, impacts)

    @property
    def time(self) -> Array:
        """When each is (n,) [s]."""
        return self.samples[self.sample]

    @property
    def bodies(self) -> tuple[tuple[str, str], ...]:
        """Whose each is (n): the names of a and b."""
        names = (*self.names, "ground")  # -1 is the last
        return tuple((names[a], names[b]) for a, b in self.pair.tolist())

    @property
    def normal_force(self) -> Array:
        """How strongly each is pressed (n,) [N]."""
        return np.einsum("ni,ni->n", self.force, self.normal)

    def of(self, body: str) -> "ContactRecord":
        """Return those of one body; `ground` is one."""
        if body not in (*self.names, "ground"):
            raise KeyError(unknown("body", body, (*self.names, "ground")))
        number = -1 if body == "ground" else self.names.index(body)
        impacts = tuple(one for one in self.impacts if body in one.bodies)
        return self._some((self.pair == number).any(axis=1), impacts)

    def at(self, t: float) -> "ContactRecord":
        """Return those of the sample that is nearest to a time [s], and impacts to which it is nearest."""
        if not is_finite(t):
            raise ValueError(f"contacts: t {shown(t)}; give a time in seconds")
        if not self.samples[0] <= t <= self.samples[-1]:
            first, last = self.samples[[0, -1]]
            raise ValueError(f"contacts: t {t} is outside the recording, {first:g} to {last:g} s")
        nearest = int(np.abs(self.samples - t).argmin())
        impacts = (one for one in self.impacts if np.abs(self.samples - one.time).argmin() == nearest)
        return self._some(self.sample == nearest, tuple(impacts))

    def _some(self, which: Array, impacts: tuple[Impact, ...] = ()) -> "ContactRecord":
        names = ("sample", "pair", "point", "normal", "depth", "force", "slip")
        some = {name: getattr(self, name)[which] for name in names}
        return replace(self, **some, impacts=impacts)

    def __len__(self) -> int:
        return len(self.depth)

    def __getitem__(self, k: int) -> RecordedContact:
        k = range(len(self))[k]
        pair = self._some(np.arange(len(self)) == k).bodies[0]
        values = self.point[k], self.normal[k], float(self.depth[k]), self.force[k], self.slip[k]
        return RecordedContact(float(self.time[k]), pair, *values)

    def __iter__(self) -> Iterator[RecordedContact]:
        return (self[k] for k in range(len(self)))

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame with a row per contact."""
        from linkwork.recording.samples import optional

        pandas, axes = optional("pandas", "export"), "xyz"
        columns: dict[str, Any] = {"time": self.time}
        columns |= dict(zip(("a", "b"), zip(*self.bodies) if len(self) else ((), ()), strict=True))
        for word in ("point", "normal", "force", "slip"):
            values = getattr(self, word)
            columns |= {f"{word} {axes[k]}": values[:, k] for k in range(values.shape[1])}
        return pandas.DataFrame(columns | {"depth": self.depth})

    def __repr__(self) -> str:
        times = len(np.unique(self.sample))
        return f"ContactRecord({len(self)} points of {len({*self.bodies})} pairs, at {times} samples)"
