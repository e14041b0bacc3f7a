"""What `lw.kinematics` returns: a recording in the coordinates of all bodies."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.kinematics import body_layout  # noqa: F401  # says what the names mean in arrays
from linkwork.kinematics.body_quantities import counted
from linkwork.kinematics.dead_points import DeadPoint, dead_points
from linkwork.kinematics.equation_system import System
from linkwork.lazy import LOCK, lazy
from linkwork.model.state import State
from linkwork.real_numbers import real_array
from linkwork.recording.channels import LiveChannels
from linkwork.recording.derive import derive
from linkwork.recording.interpolation import Instant
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.spelling import returned_by, spelled_methods

Array = np.ndarray


@returned_by("lw.kinematics(mechanism, times) returns one")
@spelled_methods
class KinematicRecording(Recording):
    """A motion of all bodies: `motion["rocker"].angle`, `motion["C"].reaction`, `motion["motor"].force`.

    Its words are those of a Recording. `q`, `v` and `a` are coordinates of bodies, their velocities and
    accelerations; angles go on counting after a turn. The work of its forces is not computed: NaN. Laws of
    drivers know nothing of a motion `by_hand`: it is interpolated, and has no dead points.
    """

    def __init__(
        self, channels: LiveChannels, time: Array, q: Array, v: Array, a: Array, *, by_hand: bool = False
    ) -> None:
        system: System = channels.model
        drawn = system.drawn(), np.zeros(system.n), 0.0
        final = State(*((q[-1], v[-1], float(time[-1])) if len(time) else drawn))
        work = np.full(len(time), np.nan)
        super().__init__(channels, time, q, v, work, self._made_report, final, {"accelerations": a})
        self._by_hand = by_hand

    def __repr__(self) -> str:
        return f"<KinematicRecording {self.mechanism.name!r}: {self._span()}>"

    @lazy
    def events(self) -> tuple[DeadPoint, ...]:
        """The dead points that were met, passed or touched."""
        return () if self._by_hand else dead_points(self.model, self.time, self.q)

    def _made_report(self) -> Report:
        return Report(
            status="DONE",
            mechanism=self.mechanism.name,
            method="kinematics",
            loop_gap=float(self.derived("gaps").max(initial=0.0)),
            events=tuple((event.time, str(event)) for event in self.events),
        )

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("time", self._span()), ("method", "kinematics, as drivers say")]
        rows.append(("achieved", f"worst gap {self.report.loop_gap:.2g}"))
        return rows + [("event", str(event)) for event in self.events]

    def at(self, t: Any) -> Instant:
        """Return the motion at a time [s], or at several: `motion.at(0.123)["rocker"].angle`.

        What drivers determine is solved there, as exactly as at the times asked for before.
        """
        if self._by_hand:
            return super().at(t)
        times = real_array("at: t", t)
        low, high = (float(self.time.min()), float(self.time.max())) if len(self) else (np.inf, -np.inf)
        if not ((times >= low) & (times <= high)).all():
            raise ValueError(f"at: t {t!r:.80} is outside the recording, {self._span()}")
        solved = [self._solved(x) for x in times.ravel().tolist()]
        q, v, a, joints = (
            np.array(each, float).reshape(*times.shape, -1) for each in zip(*solved, strict=True)
        )
        given = {"accelerations": a, "loop_positions": joints}
        there = np.full(times.shape, np.nan), np.ones(times.shape, bool)
        return Instant(self._channels, times, q, v, *there, given)

    def _solved(self, t: float) -> tuple[Array, Array, Array, Array]:
        """Return q, v, a and joint coordinates at a time, driven there from the nearest sample."""
        k = int(np.abs(self.time - t).argmin())
        here = self.derived("loop_positions")[k]
        if self.time[k] == t:
            return self.q[k], self.v[k], self.a[k], here
        with LOCK:  # the system is driven there, and it is one for all who ask
            return self._driven(k, t, here)

    def _driven(self, k: int, t: float, here: Array) -> tuple[Array, Array, Array, Array]:
        system: System = self.model
        system.place(self.q[k], counted(system, here))
        drives = np.stack([law.at([self.time[k], t]) for law in system.laws], axis=1)
        q, v, a = np.zeros((2, system.nq)), np.zeros((2, system.n)), np.zeros((2, system.n))
        start = system.turned_near(system.driven_values(self.q[k]), drives[0, :, 0])
        if system.march(drives, q, v, a, start) < 2:
            raise AssemblyError(system.open_text(system.w.q.copy(), where=f" at t = {t:.6g} s"))
        there = derive("loop_positions", system, t, q[1], v[1])
        turns = [joint.can_locate and x for joint in self.mechanism.joints.values() for x in joint.periodic]
        whole = 2 * np.pi * np.round((here - there) / (2 * np.pi))
        return q[1], v[1], a[1], np.where(turns, there + whole, there)

    def sample(self, k: int) -> Instant:
        found = super().sample(k)
        found.kept["loop_positions"] = self.derived("loop_positions")[k]  # with the turns counted so far
        return found

    @property
    def drawn(self) -> "KinematicRecording":
        return self

    def marks(self) -> Sequence[tuple[float, str]]:
        return ()

    def _all(self) -> Iterable[str]:
        layout = self.layout
        yield from (f"{name}.{word}" for name in layout.drivers for word in ("position", "force"))
        joints = (name for name, (q, _) in layout.joints.items() if q.stop > q.start)
        yield from (f"{name}.position" for name in joints)
        yield from self._all_of_bodies()

    def animate(
        self,
        traces: Mapping[str, Sequence[float]] | None = None,
        axes: Any = None,
        *,
        view: str = "xy",
        interval: float = 40.0,
    ) -> Any:
        """Return an animation of matplotlib: `traces` are points of bodies, by name, whose curves are drawn,
        one point of each, or several.

        `view` is "xy", "xz" or "yz", of a mechanism in space; `interval` the time between pictures [ms].
        """
        from linkwork.kinematics.planar_plot import animate

        ground = {"ground": self.model.algebra.Frame()}
        frames = [ground | dict(self.model.named(q)) for q in self.q]
        curves = [
            (name, self[name].trace(point))
            for name, points in (traces or {}).items()
            for point in np.atleast_2d(np.asarray(points, float)).tolist()
        ]
        return animate(self.mechanism, frames, curves, self.time, axes, view=view, interval=interval)
