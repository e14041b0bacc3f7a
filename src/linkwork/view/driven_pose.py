"""Where drivers put a mechanism: their laws at a time, and what was moved by hand from there."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics.assembly import posture_like, reached
from linkwork.kinematics.driver_count import check_drivers
from linkwork.kinematics.equation_system import system_of
from linkwork.kinematics.kinematic_recording import KinematicRecording
from linkwork.kinematics.motion import marched
from linkwork.mechanism.mechanism import Mechanism
from linkwork.recording.channels import LiveChannels
from linkwork.recording.curve import Trace
from linkwork.recording.interpolation import Instant
from linkwork.view.driven_drawing import drawing_of_driven
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, recorded

Array = np.ndarray

_KEPT = 600  # moments


class Driving:
    """Where the drivers are: their laws at time t, and how far each was moved by hand from there."""

    def __init__(self, mechanism: Mechanism, before: "Driving | None" = None) -> None:
        """Begin at the first time; or, with an edited mechanism, go on where it was before, if it can."""
        self.system = system_of(mechanism.copy())
        self._channels = LiveChannels(self.system)
        q = self.system.assemble()
        check_drivers(self.system, q)
        self._start = reached(self.system, q, self._laws(0.0)[:, 0])
        self.history: deque[tuple[float, Array, Array, Array]] = deque(maxlen=_KEPT)
        self.reset()
        if before is not None:
            try:
                self._go_on(before)
            except LinkworkError:
                self.reset()
        self.subject = _Steered(self)

    def _go_on(self, before: "Driving") -> None:
        """Be at the time of another, bodies near where they were, drivers moved by hand as far, by name."""
        moved = dict(zip((driver.name for driver in before.system.drivers), before.offsets, strict=True))
        offsets = np.array([moved.get(driver.name, 0.0) for driver in self.system.drivers])
        q = self.system.assemble(posture_like(before.system, self.system))
        self.system.place(reached(self.system, q, self._laws(before.t)[:, 0] + offsets))
        found = self._solved(before.t, offsets)
        self.t, self.offsets, self.found = before.t, offsets, found
        self.history.clear()
        self._keep()

    def reset(self) -> None:
        """Go back to the first time, drivers where their laws are."""
        self.t, self.offsets = 0.0, np.zeros(len(self.system.drivers))
        self.system.place(self._start)
        self.history.clear()
        self.found = self._solved(self.t, self.offsets)
        self._keep()

    @property
    def values(self) -> Array:
        """The values of all drivers."""
        return self._laws(self.t)[:, 0] + self.offsets

    def pass_time(self, seconds: float) -> None:
        """Let the drivers follow their laws; AssemblyError if they cannot, and all stays where it was."""
        self.found = self._solved(self.t + seconds, self.offsets)
        self.t += seconds
        self._keep()

    def drive(self, number: int, value: float) -> None:
        """Move a driver to a value; AssemblyError if it cannot go there, and all stays where it was."""
        offsets = self.offsets.copy()
        offsets[number] = value - self._laws(self.t)[number, 0]
        self.found = self._solved(self.t, offsets)
        self.offsets = offsets

    def past(self) -> KinematicRecording:
        """Return the motion so far."""
        t, q, v, a = (np.array(column) for column in zip(*self.history, strict=True))
        return KinematicRecording(self._channels, t, q, v, a, by_hand=True)

    def _laws(self, t: float) -> Array:
        """Return the values of laws and their derivatives, (drivers, 3)."""
        return np.array([law.at(t)[0] for law in self.system.laws]).reshape(-1, 3)

    def _solved(self, t: float, offsets: Array) -> KinematicRecording:
        before = self.system.w.q.copy()
        drives = self._laws(t)
        drives[:, 0] += offsets
        try:
            return marched(self._channels, np.array([t]), drives[None])
        except LinkworkError:
            self.system.place(before)
            raise

    def _keep(self) -> None:
        found = self.found
        self.history.append((self.t, found.q[0], found.v[0], found.a[0]))


class _DrivenTrajectory:
    """What has been passed through, for the page."""

    times = np.zeros(1)  # there is nothing to play

    def __init__(self, driving: Driving) -> None:
        self._driving = driving

    def at(self, t: float) -> Moment:
        return recorded(self._driving.found).at(self._driving.t)

    def passed(self, count: int) -> Array:
        return recorded(self._driving.past()).passed(count)


class _Steered(Subject):
    """What is looked at while it is driven: forces are those of now, curves what was passed through."""

    def __init__(self, driving: Driving) -> None:
        self._driving = driving
        drawn = drawing_of_driven(driving.system.mechanism)
        super().__init__(drawn, _DrivenTrajectory(driving), run=driving.found)

    def instant(self, moment: Moment) -> Instant:
        return self._driving.found.sample(0)

    def curves(self, names: Sequence[str]) -> tuple[Array, list[Trace]]:
        past = self._driving.past()
        return past.time, past.traces(*names) if names else []
