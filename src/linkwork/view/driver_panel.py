"""A mechanism that its drivers move: by sliders, or by their laws as time goes on."""

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics.assembly import posture_like, reached
from linkwork.kinematics.driver_count import check_drivers
from linkwork.kinematics.equation_system import system_of
from linkwork.kinematics.kinematic_recording import KinematicRecording
from linkwork.kinematics.motion import marched
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.recording.channels import LiveChannels
from linkwork.recording.interpolation import Instant
from linkwork.recording.trace import Trace
from linkwork.view.driven_drawing import drawing_of_driven
from linkwork.view.playback import SPEEDS
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, Still, recorded
from linkwork.view.viewer import Viewer

Array = np.ndarray

STEP = 1.0 / 60.0  # of time, by the button [s]
_SLOW = 0.25  # between two pictures of curves and paths [s]
_KEPT = 600  # moments
_AHEAD = np.linspace(0.0, 10.0, 201)  # times at which a law is asked how far it goes [s]


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


class DrivenViewer(Viewer):
    """A page with sliders for drivers, and a clock that lets them follow their laws."""

    room = 1.6  # its way is not known beforehand

    def __init__(self, mechanism: Mechanism, **where: Any) -> None:
        self.running, self.speed = False, 1.0
        self._drawn_at = 0.0
        trouble = ""
        try:
            self.driving: Driving | None = Driving(mechanism)
            subject: Subject = self.driving.subject
        except LinkworkError as error:  # it is drawn as it is, and the page says why it stands
            self.driving, trouble = None, str(error)
            drawn = drawing_of_driven(mechanism)
            subject = Subject(drawn, Still(Moment.standing(drawn.drawn)))
        super().__init__(subject, **where)
        if trouble:
            self.show_message(trouble)

    def remade(self, mechanism: Mechanism) -> Driving:
        """Return the edited mechanism, where it goes on."""
        return Driving(mechanism, self.driving)

    def show_edited(self, made: Driving) -> None:
        self.driving = made
        self.show_subject(made.subject)
        if self.running:
            self.start()

    def controls(self, gui: Any) -> None:
        self.sliders: dict[str, Any] = {}
        if self.driving is None:
            return
        self._clock = gui.add_text("Time", "0 s", disabled=True)
        self._start = gui.add_button("Start", icon="player-play")
        self._start.on_click(lambda event: self.stop() if self.running else self.start())
        others = gui.add_button_group("", ("step", "reset"))
        others.on_click(lambda event: self.step() if others.value == "step" else self.reset())
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: setattr(self, "speed", float(speed.value)))
        with gui.add_folder("Drivers"):
            for number, driver in enumerate(self.driving.system.drivers):
                low, high = _range(self.driving, number)
                unit = "rad" if driver.turns else "m"
                here = float(np.clip(_shown(driver, self.driving.values[number]), low, high))
                slider = gui.add_slider(f"{driver.name} [{unit}]", low, high, (high - low) / 500.0, here)
                slider.on_update(
                    lambda event, name=driver.name, slider=slider: (
                        event.client and self.drive(name, slider.value)
                    )
                )
                self.sliders[driver.name] = slider

    # what can be done

    def start(self) -> None:
        self.show_message("")
        self.running = True
        self._start.label, self._start.icon = "Stop", "player-pause"

    def stop(self) -> None:
        self.running = False
        self._start.label, self._start.icon = "Start", "player-play"

    def step(self) -> None:
        """Stop, and go on by a sixtieth of a second."""
        self.stop()
        self._pass_time(STEP)

    def reset(self) -> None:
        """Go back to the first time, drivers where their laws are."""
        self.stop()
        with self._lock:
            self.show_message("")
            if self.driving is not None:
                self.driving.reset()
                self._show_values()

    def drive(self, name: str, value: float) -> None:
        """Put a driver to a value [rad, m]; what cannot be reached is reported, and nothing moves."""
        with self._lock:
            driving = self.driving
            if driving is None:
                return
            number = list(self.sliders).index(name)
            driver, here = driving.system.drivers[number], driving.values[number]
            way = value - _shown(driver, here)
            if driver.turns:
                way = (way + np.pi) % (2.0 * np.pi) - np.pi
            try:
                driving.drive(number, here + way)
                self.show_message("")
            except LinkworkError as error:
                self.show_message(str(error))
            self._show_values()

    def advance(self, seconds: float) -> None:
        if self.running:
            self._pass_time(seconds * self.speed)

    def _pass_time(self, seconds: float) -> None:
        with self._lock:
            if self.driving is None:
                return
            try:
                self.driving.pass_time(seconds)
            except (LinkworkError, ValueError) as error:
                self.show_message(str(error))
                self.stop()
            self._show_values()

    def _show_values(self) -> None:
        self._stale = True
        driving = self.driving
        if driving is None:
            return
        for driver, value in zip(driving.system.drivers, driving.values, strict=True):
            slider = self.sliders[driver.name]
            here = float(np.clip(_shown(driver, value), slider.min, slider.max))
            if slider.value != here:
                slider.value = here

    def show_time(self, moment: Moment) -> None:
        now = time.perf_counter()
        if self.driving is None:
            self.inspector.show(self.selected, moment)
            return
        if self.running and now - self._drawn_at < _SLOW:
            return
        self._drawn_at = now
        self._clock.value = f"{moment.t:.2f} s"
        self.inspector.show(self.selected, moment)
        if self.charts is not None and self.charts.names:
            self.charts.move(moment.t)
            self.charts.draw()
        if self.overlays.traces.visible:
            self.overlays.traces.draw()


def _shown(driver: Driver, value: float) -> float:
    """Return a driver's value as a slider shows it: an angle from -pi to pi."""
    return float((value + np.pi) % (2.0 * np.pi) - np.pi) if driver.turns else float(value)


def _range(driving: Driving, number: int) -> tuple[float, float]:
    """Return from where to where a driver can be moved: a turn; limits; or what its law does, and more."""
    driver = driving.system.drivers[number]
    if driver.turns:
        return -np.pi, np.pi
    side = driver.sides()[0]
    at = driving.system.laws[number].at
    try:
        law = at(_AHEAD)[:, 0]
    except ValueError:  # a table may end before
        law = at(np.zeros(1))[:, 0]
    low, high = float(law.min()), float(law.max())
    more = 0.1 * (high - low) or 0.5 * driving.system.size
    low, high = low - more, high + more
    if isinstance(side, Joint):
        least, most = side.limit_pairs()[int(driver.component)]
        low, high = max(low, float(least)), min(high, float(most))
    return low, max(high, low + 1e-6)
