"""Dynamics on a page of the mechanic: run, stop, step, back to the drawing; inputs; a wiggle."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.mechanic.editor import Editor
from linkwork.mechanic.page_actions import Acting
from linkwork.model.state import State
from linkwork.view.adjustable_values import Sliders
from linkwork.view.drawing import Drawing
from linkwork.view.live_panel import Running
from linkwork.view.live_simulation import Engine
from linkwork.view.playback import SPEEDS
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, Still, moment

Array = np.ndarray

_SLOW = 0.2  # between two pictures of numbers and curves [s]
_FIRST = 0.2  # order on the page of what moves it while it runs
_WORLD = (  # switches: what they are called, what they do, whether they are on, how they are turned
    ("Gravity", "9.81 m/s² down", lambda editor: bool(editor.mechanism.gravity.any()), Editor.set_falling),
    ("Ground", "a level plane under it", lambda editor: editor.has_ground, Editor.set_ground),
    ("Contact", "bodies meet each other, and ground", lambda editor: editor.touching, Editor.set_contact),
)


class Dynamics(Acting):
    """A page on which a mechanism stands as drawn, or runs."""

    def __init__(self, editor: Editor, subject: Subject, **where: Any) -> None:
        self.editor = editor
        self.engine: Engine | None = None  # while dynamics are on
        self.speed = 1.0
        self._drawn_at = 0.0
        self.sliders: Sliders | None = None  # while dynamics are on
        super().__init__(subject, **where)

    def drawn(self, before: Drawing | None = None) -> Subject:
        """Return the mechanism as drawn."""
        raise NotImplementedError

    def stand(self, q: Array) -> None:
        """Show a position without editing anything."""
        with self._lock:
            if self.editor.model is not None and self.engine is None:
                self.subject.trajectory = Still(moment(self.editor.model, q))
                self._stale = True

    def close(self) -> None:
        super().close()
        if self.engine is not None:
            self.engine.close()

    def controls(self, gui: Any) -> None:
        self._run = gui.add_button("Run", icon="player-play", hint="dynamics on: it moves, and can be pulled")
        self._run.on_click(lambda event: self.start_or_stop())
        acts = gui.add_button_group(
            "",
            ("step", "reset", "wiggle", "save run"),
            hint="a sixtieth of a second; back to the drawing; how it can move; what has run, as .lwr",
        )
        does = {"step": self.step, "reset": self.reset, "wiggle": self.wiggle}
        acts.on_click(lambda event: does.get(acts.value, lambda: self.save_run(event.client))())
        self._clock = gui.add_text("Time", "as drawn", disabled=True)
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: self._set_speed(float(speed.value)))
        self._world = [
            (gui.add_checkbox(word, False, hint=hint), is_on, turn) for word, hint, is_on, turn in _WORLD
        ]
        for box, _, turn in self._world:
            self.watch(box, lambda name, value, turn=turn: self.try_edit(turn, self.editor, value))
        self._show_world()

    def _show_world(self) -> None:
        """Show what of gravity, ground and contact there is."""
        for box, is_on, _ in self._world:
            if box.value != is_on(self.editor):
                box.value = is_on(self.editor)

    def _engine(self, model: Any, state: State, before: Engine | None = None) -> Engine:
        engine = Engine(model, state)
        engine.speed, engine.stopped = self.speed, self._failed
        if before is not None:
            engine.take_over(before)
        return engine

    def _show_sliders(self) -> None:
        """Offer, while it runs, a slider for each input, motor and driver; else for the first joints."""
        wanted = [] if self.engine is None else self.engine.adjustables
        if self.sliders is not None and self.sliders.found == wanted:
            self.sliders.engine = self.engine
            return
        if self.sliders is not None:
            self.sliders.remove()
        self.sliders = None
        if self.engine is not None:
            with self.panels.right("Build"):
                self.sliders = Sliders(self.server.gui, self.engine, _FIRST)
            self.sliders.folder.choose(self.selected)

    def _failed(self, why: str) -> None:
        self._show_state()
        self.show_message(why)

    def start_or_stop(self) -> None:
        """Let it move, or stop it where it is."""
        with self._lock:
            if self.engine is None and not self._start_dynamics():
                return
            assert self.engine is not None
            if self.engine.running:
                self.engine.stop()
            else:
                self.engine.start()
        self._show_state()

    def _start_dynamics(self) -> bool:
        model = self.editor.refresh()
        if model is None or self.editor.problem is not None:
            self.show_message(f"it cannot run yet: {self.editor.problem}")
            return False
        try:
            self.engine = self._engine(model, self.editor.start())
        except (LinkworkError, ValueError) as error:
            self.show_message(str(error))
            return False
        self.show_subject(Running(self.engine))
        return True

    def stop_dynamics(self) -> None:
        """End the run, if there is one."""
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.close()

    def step(self) -> None:
        """Go on by a sixtieth of a second."""
        with self._lock:
            if self.engine is None and not self._start_dynamics():
                return
            assert self.engine is not None
            self.engine.step()
            self._stale = True
        self._show_state()

    def reset(self) -> None:
        """Go back to the drawing; dynamics are off."""
        with self._lock:
            self.stop_dynamics()
            self.show_subject(self.drawn(self.drawing))
        self._show_state()

    def _choose_sliders(self, name: str | None) -> None:
        if self.sliders is not None:
            self.sliders.folder.choose(name)

    def _set_speed(self, speed: float) -> None:
        self.speed = speed
        if self.engine is not None:
            self.engine.speed = speed

    def save_run(self, client: Any) -> None:
        """Send what was run so far to a page, as a recording."""
        import tempfile

        run = self.subject.run if isinstance(self.subject, Running) else None
        if run is None or client is None:
            self.show_message("nothing has run yet; press Run")
            return
        self.subject.curves(())
        with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
            path = Path(folder, "run.lwr")
            assert self.subject.run is not None
            self.subject.run.save(path)
            client.send_file_download("run.lwr", path.read_bytes(), save_immediately=True)

    def wiggle(self) -> None:
        """Show how it can move: along each of its free motions, there and back."""
        model = self.editor.refresh()
        if self.engine is not None or model is None or self.editor.problem is not None:
            self.show_message(
                "reset to the drawing first" if self.engine is not None else "nothing moves yet"
            )
            return
        q = self.editor.start().q
        if model.loop_names:
            _, values, rows = np.linalg.svd(model.constraint_jacobian(q))
            motions = rows[int((values > 1e-8).sum()) :]
        else:
            motions = np.eye(model.nv)
        for motion in motions[:6]:
            motion = motion / (np.abs(motion).max() or 1.0)
            for k in range(25):
                tried = q + 0.25 * np.sin(2.0 * np.pi * k / 24.0) * np.asarray(
                    model.position_rates(q, motion)
                )
                try:
                    self.stand(model.assemble(tried))
                except LinkworkError:
                    continue
                time.sleep(1.0 / 30.0)
        self.stand(q)

    def _show_state(self) -> None:
        with self._lock:
            running = self.engine is not None and self.engine.running
            self._run.label, self._run.icon = ("Stop", "player-pause") if running else ("Run", "player-play")
            if self.engine is None:
                self._clock.value = "as drawn"
            self._show_sliders()
            self.follow_guide()

    def follow_guide(self) -> None:
        """Notice what was done of the steps to a first mechanism."""

    def show_time(self, moment: Moment) -> None:
        now = time.perf_counter()
        if self.engine is not None and self.engine.running and now - self._drawn_at < _SLOW:
            return
        self._drawn_at = now
        if self.engine is not None:
            rate = f" at {self.engine.rate:.2g}x" if self.engine.running else ""
            self._clock.value = f"{moment.t:.2f} s{rate}"
        self.inspector.show(self.selected, moment)
        self.stage.sink_floor(moment.poses[None])
        if self.charts is not None and self.charts.names and self.subject.run is not None:
            self.charts.draw()
            self.charts.move(moment.t)
        if self.overlays.traces.visible:
            self.overlays.traces.draw()
        self.follow_guide()
