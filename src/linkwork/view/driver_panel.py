"""A mechanism that its drivers move: by sliders, or by their laws as time goes on."""

import time
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.view.driven_drawing import drawing_of_driven
from linkwork.view.driven_pose import Driving
from linkwork.view.playback import SPEEDS
from linkwork.view.slider_folder import SliderFolder, within
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, Still
from linkwork.view.viewer import Viewer

Array = np.ndarray

STEP = 1.0 / 60.0  # of time, by the button [s]
_SLOW = 0.25  # between two pictures of curves and paths [s]
_KEPT = 600  # moments
_PARTS = 500  # of the way of a slider
_AHEAD = np.linspace(0.0, 10.0, 201)  # times at which a law is asked how far it goes [s]


class DrivenViewer(Viewer):
    """A page with sliders for drivers, and a clock that lets them follow their laws."""

    room = 1.3  # its way is not known beforehand

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
        if self.driving is None:
            return
        self._clock = gui.add_text("Time", "0 s", disabled=True)
        self._start = gui.add_button("Start", icon="player-play")
        self._start.on_click(lambda event: self.stop() if self.running else self.start())
        others = gui.add_button_group("", ("step", "reset"))
        others.on_click(lambda event: self.step() if others.value == "step" else self.reset())
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: setattr(self, "speed", float(speed.value)))

    def hands(self, gui: Any) -> SliderFolder:
        sliders: dict[str, Any] = {}
        folder = SliderFolder(gui, "Drivers")
        for number, driver in enumerate(self.driving.system.drivers if self.driving is not None else ()):
            assert self.driving is not None
            low, high = _range(self.driving, number)
            label, here = f"{driver.name} [{'rad' if driver.turns else 'm'}]", self.driving.values[number]
            of = {driver.name, *(side.name for side in driver.sides())}
            slider = folder.add(label, low, high, _shown(driver, here), of, _PARTS)
            slider.on_update(
                lambda event, name=driver.name, slider=slider: event.client and self.drive(name, slider.value)
            )
            sliders[driver.name] = slider
        self.sliders = sliders
        return folder

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
            here = within(_shown(driver, value), slider.min, slider.max)
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
            self.charts.draw()
            self.charts.move(moment.t)
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
