"""A mechanism that moves while it is looked at: start, stop, reset, step; inputs; a hand to pull with."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import lifted
from linkwork.model.carry import carry
from linkwork.model.state import State
from linkwork.recording.channels import LiveChannels
from linkwork.recording.curve import Trace
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.view.adjustable_values import Sliders
from linkwork.view.drawing import drawing
from linkwork.view.live_simulation import Engine
from linkwork.view.palette import SELECTED
from linkwork.view.playback import SPEEDS
from linkwork.view.quaternion import matrices
from linkwork.view.slider_folder import SliderFolder
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment
from linkwork.view.viewer import Viewer

Array = np.ndarray

_SLOW = 0.25  # between two pictures of curves and paths [s]


class LiveTrajectory:
    """What a running simulation has passed through."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def times(self) -> Array:
        return np.array([0.0])  # there is nothing to play

    def at(self, t: float) -> Moment:
        return self._engine.now

    def passed(self, count: int) -> Array:
        moments = list(self._engine.history)
        some = moments[:: max(1, len(moments) // count)]
        return lifted(self._engine.model.poses(np.array([q for _, q, _ in some])).array)


class Running(Subject):
    """A model that runs: its curves are what was seen so far."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        super().__init__(drawing(engine.model), LiveTrajectory(engine), engine.model, self._recording())

    def curves(self, names: Sequence[str]) -> tuple[Array, list[Trace]]:
        self.run = self._recording()
        return super().curves(names)

    def _recording(self) -> Recording:
        """Return what was seen so far, as a recording."""
        engine = self._engine
        moments = list(engine.history)
        time_, q, v = (np.array([moment[k] for moment in moments]) for k in range(3))
        report = Report(status="DONE", mechanism=engine.model.name)
        return Recording(LiveChannels(engine.model), time_, q, v, np.zeros(len(time_)), report, engine.state)


class LiveViewer(Viewer):
    """A page with a simulation behind it."""

    room = 1.4  # its way is not known beforehand

    def __init__(self, model: Any, start: State, **where: Any) -> None:
        self.engine = Engine(model, start)
        self._drawn_at = 0.0
        self._line: Any = None
        self._held_at = np.zeros(3)  # where a body was gripped, in the world
        super().__init__(Running(self.engine), **where)
        self.engine.stopped = self._stopped
        self.stage.on_drag(self._dragged)

    def close(self) -> None:
        super().close()
        self.engine.close()

    def remade(self, mechanism: Mechanism) -> tuple[Any, State]:
        """Return the model of an edited mechanism, and the state that goes on from that of now."""
        return carry(self.engine.model, self.engine.state, mechanism)

    def show_edited(self, made: tuple[Any, State]) -> None:
        model, state = made
        before = self.engine
        before.close()
        self.engine = Engine(model, state)
        self.engine.take_over(before)
        self.show_subject(Running(self.engine))
        if before.running:
            self.start()

    def controls(self, gui: Any) -> None:
        engine = self.engine
        self._clock = gui.add_text("Time", "0 s", disabled=True)
        self._start = gui.add_button("Start", icon="player-play")
        self._start.on_click(lambda event: self.stop() if engine.running else self.start())
        others = gui.add_button_group("", ("step", "reset"))
        others.on_click(lambda event: self.step() if others.value == "step" else self.reset())
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: setattr(engine, "speed", float(speed.value)))

    def hands(self, gui: Any) -> SliderFolder:
        self.sliders = Sliders(gui, self.engine)
        return self.sliders.folder

    def start(self) -> None:
        self.show_message("")
        self.engine.start()
        self._start.label, self._start.icon = "Stop", "player-pause"

    def stop(self) -> None:
        self.engine.stop()
        self._start.label, self._start.icon = "Start", "player-play"

    def _stopped(self, why: str) -> None:
        self.stop()
        self.show_message(why)

    def step(self) -> None:
        self.stop()
        self.engine.step()

    def reset(self) -> None:
        self.stop()
        self.engine.reset()
        self._stale = True

    def _dragged(self, body: str, event: Any) -> None:
        if body not in self.drawing.bodies:
            return
        match event.phase:
            case "start":
                if not self.engine.running:
                    self.show_message("start the simulation, then pull")
                self._held_at = self._gripped(body, event)
                self.engine.grab(body, self._held_at)
            case "update":
                self.engine.drag(on_plane(event, self._held_at))
            case "end":
                self.engine.release()
        self._stale = True

    def _gripped(self, body: str, event: Any) -> Array:
        """Return where the pointer meets a body, in the world; beside it, the place nearest to its middle."""
        number = self.stage.numbers[body]
        pose = self.engine.now.poses[number]
        point = self._hit(body, *ray_of(event))
        if point is None:
            return on_plane(event, pose[:, :3] @ self.drawing.centers[number] + pose[:, 3])
        return pose[:, :3] @ point + pose[:, 3]

    def _refresh(self) -> None:
        super()._refresh()
        hand = self.engine.hand
        if hand.body is None:
            if self._line is not None:
                self._line.visible = False
            return
        pose = self.engine.now.poses[self.stage.numbers[hand.body]]
        ends = np.array([[pose[:, :3] @ hand.point + pose[:, 3], hand.place]])
        if self._line is None:
            self._line = self.server.scene.add_line_segments(
                "/hand", ends, SELECTED, thickness=4.0, thickness_units="screen"
            )
        self._line.points, self._line.visible = ends.astype(np.float32), True

    def show_time(self, moment: Moment) -> None:
        now = time.perf_counter()
        if self.engine.running and now - self._drawn_at < _SLOW:
            return
        self._drawn_at = now
        rate = f" at {self.engine.rate:.2g}x" if self.engine.running else ""
        self._clock.value = f"{moment.t:.2f} s{rate}"
        self.inspector.show(self.selected, moment)
        self.stage.sink_floor(moment.poses[None])
        if self.charts is not None and self.charts.names:
            self.charts.draw()
            self.charts.move(moment.t)
        if self.overlays.traces.visible:
            self.overlays.traces.draw()


def ray_of(event: Any) -> tuple[Array, Array]:
    """Return the eye, and the direction in which the pointer is seen.

    By its place on the screen: viser's own places in the world are NaN for batches of stretched pieces.
    """
    camera = event.client.camera
    x, y = (2.0 * np.array(event.end_screen_pos) - 1.0) * np.tan(camera.fov / 2.0) * (camera.aspect, 1.0)
    return np.array(camera.position), matrices(np.array(camera.wxyz)) @ (x, y, 1.0)


def on_plane(event: Any, point: Array) -> Array:
    """Return where the ray of the pointer meets the plane through a point, square to the line of sight."""
    eye, ray = ray_of(event)
    normal = np.array(event.client.camera.look_at) - eye
    return eye + ray * ((point - eye) @ normal) / (ray @ normal)
