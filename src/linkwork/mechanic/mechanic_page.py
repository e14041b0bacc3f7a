"""The page of the mechanic: what stands can be built and pulled, and at a press it runs."""

import time
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.mechanic.advice import Advice
from linkwork.mechanic.body_tab import BodyTab
from linkwork.mechanic.editor import Editor
from linkwork.mechanic.file_tab import FileTab
from linkwork.mechanic.gizmo import Gizmo
from linkwork.mechanic.joint_tab import JointTab
from linkwork.mechanic.part_files import LARGEST
from linkwork.model.carry import carry
from linkwork.model.state import State
from linkwork.view.charts import Charts
from linkwork.view.drawing import Drawing, drawing, drawing_of_mechanism
from linkwork.view.edits import Edits
from linkwork.view.live_panel import Running, on_plane, ray_of
from linkwork.view.live_simulation import Engine
from linkwork.view.panels import Command
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, Still, moment
from linkwork.view.tree_panel import words
from linkwork.view.viewer import SPEEDS, Viewer

Array = np.ndarray

_SLOW = 0.2  # between two pictures of numbers and curves [s]


class MechanicViewer(Viewer):
    """A mechanism that is built on the page; `editor` does all of it without one."""

    room = 1.5
    tabs = (("Build", "tool"), ("Inspector", "list-details"), ("Show", "eye"))

    def __init__(self, editor: Editor, *, save_to: Path | None = None, **where: Any) -> None:
        self.editor, self.save_to = editor, save_to
        self.engine: Engine | None = None  # while dynamics are on
        self.speed = 1.0
        self.said: Advice = editor.advice()
        self.clicked: tuple[str, Array] | None = None  # a body, and a place on it in the world
        self._grip: tuple[str, Array, Array] | None = None  # body, point on it, place in the world
        self._pulled: Array | None = None
        self._drawn_at = 0.0
        self._laid = 1e-9  # size of what the floor was laid for [m]
        super().__init__(self._still(), edits=Edits(editor.mechanism), **where)
        self.server.limit_uploads(LARGEST)
        self.gizmo = Gizmo(self)
        self.stage.on_drag(self._dragged)
        editor.opened.append(self._opened)

    def close(self) -> None:
        super().close()
        if self.engine is not None:
            self.engine.close()

    # what is shown

    def _drawing(self, before: Drawing | None = None) -> Drawing:
        model, m = self.editor.refresh(), self.editor.mechanism
        return drawing_of_mechanism(m, tuple(m.bodies), set()) if model is None else drawing(model, before)

    def _still(self, before: Drawing | None = None) -> Subject:
        """Return the mechanism as drawn, as far as it goes."""
        with self.editor.lock:
            shown, model = self._drawing(before), self.editor.model
            if model is None or self.editor.problem is not None:
                return Subject(shown, Still(Moment.standing(shown.drawn)), None)
            return Subject(shown, Still(moment(model, self.editor.start().q)), model)

    def remade(self, mechanism: Any) -> Any:
        """Return what is shown of the mechanism as it is, and what is said of it."""
        with self.editor.lock:
            subject, said = self._still(self.drawing), self.editor.advice()
            carried = None
            if self.engine is not None and subject.model is not None:
                carried = carry(self.engine.model, self.engine.state, mechanism)
            return subject, said, carried

    def show_edited(self, made: Any) -> None:
        subject, self.said, carried = made
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.close()
        if carried is not None:
            self.engine = self._engine(*carried)
            self.engine.running = engine is not None and engine.running
            subject = Running(self.engine)
        self.show_subject(subject)
        self._fit()
        self._show_state()

    def _fit(self) -> None:
        """Show all of the mechanism on pages that nobody has turned, and on those that are still to come."""
        if self.engine is not None:
            return
        self._first_view(self.camera.view())
        size = self.camera.radius
        if not 0.5 < size / self._laid < 2.0:
            self.stage.lay_floor(self.drawing, self.camera, self.server.dark)
            self._laid = size
        for number, client in self.server.get_clients().items():
            if number in self._fitted:
                self._look(client, "")

    def fill_again(self) -> None:
        """Keep the panels, with what they know of the mechanism as it is."""
        self.tree.follow(self.drawing, self.said.wrong)
        self.inspector.subject = self.subject
        self.make_overlays()
        self._show_advice()
        self._curves()
        self._show_tabs()

    def _opened(self) -> None:
        """Show another mechanism."""
        with self._lock:
            if self._edits is not None:
                self._edits.stop()
            self._edits = Edits(self.editor.mechanism)
            self.stop_dynamics()
            self.show_edited(self.remade(self.editor.mechanism))

    # panels

    def fill_panels(self) -> None:
        gui = self.server.gui
        with self.panels.right("Build"):
            self.files = FileTab(gui, self)
            self.bodies_tab = BodyTab(gui, self)
            self.joints_tab = JointTab(gui, self)
        super().fill_panels()
        self._advised = gui.add_html("", order=-1.0)
        self._show_advice()

    def controls(self, gui: Any) -> None:
        self._run = gui.add_button("Run", icon="player-play", hint="dynamics on: it moves, and can be pulled")
        self._run.on_click(lambda event: self.start_or_stop())
        acts = gui.add_button_group("", ("step", "reset", "wiggle", "save"))
        does = {"step": self.step, "reset": self.reset, "wiggle": self.wiggle}
        acts.on_click(
            lambda event: self.save_run(event.client) if acts.value == "save" else does[acts.value]()
        )
        self._clock = gui.add_text("Time", "as drawn", disabled=True)
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: self._set_speed(float(speed.value)))
        falls = gui.add_checkbox("Gravity", bool(self.editor.mechanism.gravity.any()))
        falls.on_update(lambda event: event.client and self.try_edit(self._gravity, falls.value))

    def _curves(self) -> None:
        """Offer the curves of a run, when there is one."""
        if self.charts is None and self.subject.channels:
            with self.panels.bottom:
                self.charts = Charts(
                    self.server.gui,
                    self.panels.bottom,
                    self.subject.channels[:2000],
                    self._channel,
                    self.show_message,
                )

    def _channel(self, names: Any) -> Any:
        return self.subject.curves(names)

    def _gravity(self, falls: bool) -> None:
        flat = self.editor.mechanism.space == "plane"
        self.editor.set_gravity(
            ((0.0, -9.81) if flat else (0.0, 0.0, -9.81)) if falls else (0.0,) * (3 - flat)
        )

    def _show_advice(self) -> None:
        said = self.said
        tone = "lw-good" if said.good else "lw-bad"
        lines = [f'<div class="{tone}"><b>{escape(said.summary)}</b></div>']
        lines += [f'<div class="lw-hint">{escape(note)}</div>' for note in said.notes]
        lines += [
            f'<div><span class="lw-fix" role="button" data-lw=\'{words("fix", str(k))}\'>press: '
            f"{escape(fix.text)}</span></div>"
            for k, fix in enumerate(said.fixes)
        ]
        self._advised.content = f'<div class="lw-sheet">{"".join(lines)}</div>'

    def _show_tabs(self) -> None:
        self.files.follow()
        self.bodies_tab.follow(self.selected)
        self.joints_tab.follow(self.selected)
        if hasattr(self, "gizmo"):
            self.gizmo.follow(self.selected)

    def select(self, name: str | None, point: Array | None = None) -> None:
        super().select(name, point)
        if point is not None and name in self.drawing.bodies:
            pose = self.now().poses[self.stage.numbers[name]]
            self.clicked = name, pose[:, :3] @ point + pose[:, 3]
        self._show_tabs()

    # edits

    def heard(self) -> dict[str, Any]:
        return {**super().heard(), "fix": lambda client, number: self._fix(number)}

    def _fix(self, number: str) -> None:
        if number.isdigit() and int(number) < len(self.said.fixes):
            self.try_edit(self.said.fixes[int(number)].do, self.editor)

    def try_edit(self, edit: Any, *arguments: Any) -> Any:
        """Do an edit; what is wrong with it is said, and nothing has changed."""
        try:
            made = edit(*arguments)
        except (LinkworkError, ValueError, KeyError, TypeError, IndexError, AttributeError, OSError) as error:
            text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            self.show_message(text or type(error).__name__)
            return None
        self.show_message("")
        return made

    def commands(self) -> list[Command]:
        editor = self.editor
        return [
            Command("Undo", "Z", "arrow-back-up", lambda client: self.try_edit(editor.undo), "cmd/ctrl"),
            Command("Redo", "Y", "arrow-forward-up", lambda client: self.try_edit(editor.redo), "cmd/ctrl"),
            Command("Run or stop", "space", "player-play", lambda client: self.start_or_stop()),
            Command("Reset to the drawing", "R", "rotate", lambda client: self.reset()),
            Command("Delete what is selected", "delete", "trash", lambda client: self.delete(self.selected)),
            Command("Add a joint", "J", "link", lambda client: self.joints_tab.add()),
            Command("Save", "S", "device-floppy", lambda client: self.files.save(client), "cmd/ctrl"),
            *super().commands(),
        ]

    def joined(self, name: str) -> None:
        """Select a joint that was just added, as soon as the page shows it."""
        self.show_now()
        self.select(name)

    def show_now(self) -> None:
        """Show the mechanism as it is, without waiting for the page to look."""
        with self._lock:
            if self._edits is not None and (found := self._edits.look(self.remade)) is not None:
                self.show_edited(found)

    def save_html(self, path: Path) -> None:
        """Write a page that plays what was run; of what stands, ten seconds of it."""
        from linkwork.simulation.simulate import simulate
        from linkwork.view import offline

        self.subject.curves(())
        run = self.subject.run
        if run is None or len(run.time) < 2:
            run = simulate(self.editor.mechanism.compile(floating=True), 10.0)
        offline.save(run, path)

    def delete(self, name: str | None) -> None:
        """Delete an element, and what is on it."""
        if name is not None:
            self.try_edit(self.editor.delete, name)

    # dynamics

    def _engine(self, model: Any, state: State) -> Engine:
        engine = Engine(model, state, {})
        engine.speed, engine.stopped = self.speed, self._failed
        return engine

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
            self.show_subject(self._still(self.drawing))
        self._show_state()

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
                    self._stand(model.assemble(tried))
                except LinkworkError:
                    continue
                time.sleep(1.0 / 30.0)
        self._stand(q)

    def _show_state(self) -> None:
        running = self.engine is not None and self.engine.running
        self._run.label, self._run.icon = ("Stop", "player-pause") if running else ("Run", "player-play")
        if self.engine is None:
            self._clock.value = "as drawn"

    # pulling

    def _stand(self, q: Array) -> None:
        """Show a position without editing anything."""
        with self._lock:
            if self.editor.model is not None and self.engine is None:
                self.subject.trajectory = Still(moment(self.editor.model, q))
                self._stale = True

    def _dragged(self, body: str, event: Any) -> None:
        if body not in self.drawing.bodies:
            return
        if event.phase == "start":
            number = self.stage.numbers[body]
            pose = self.now().poses[number]
            eye, ray = ray_of(event)
            point = self._hit(body, eye, ray)
            if point is None:
                place = on_plane(event, pose[:, :3] @ self.drawing.centers[number] + pose[:, 3])
                point = pose[:, :3].T @ (place - pose[:, 3])
            place = pose[:, :3] @ point + pose[:, 3]
            self._grip, self._pulled = (body, point, place), None
            if self.engine is not None:
                self.engine.grab(body, place)
            return
        if self._grip is None:
            return
        name, point, place = self._grip
        if event.phase == "update":
            target = on_plane(event, place)
            if self.engine is not None:
                self.engine.drag(target)
            elif self.subject.model is not None:
                start = self._pulled if self._pulled is not None else self.subject.trajectory.at(0.0).q
                if start is not None and start.shape == (self.subject.model.nq,):
                    self._pulled = self.editor.pull(start, name, point, target)
                    self._stand(self._pulled)
        elif event.phase == "end":
            if self.engine is not None:
                self.engine.release()
            elif self._pulled is not None:
                self.try_edit(self.editor.keep_pose, self._pulled)
            self._grip = self._pulled = None
        self._stale = True

    def show_time(self, t: float) -> None:
        now = time.perf_counter()
        if self.engine is not None and self.engine.running and now - self._drawn_at < _SLOW:
            return
        self._drawn_at = now
        if self.engine is not None:
            rate = f", {self.engine.rate:.2g} times real time" if self.engine.running else ""
            self._clock.value = f"{t:.2f} s{rate}"
        self.inspector.show(self.selected, self.now())
        if self.charts is not None and self.charts.names and self.subject.run is not None:
            self.charts.move(t)
            self.charts.draw()
        if self.overlays.traces.visible:
            self.overlays.traces.draw()
