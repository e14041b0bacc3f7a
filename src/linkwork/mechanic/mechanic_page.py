"""The page of the mechanic: what stands can be built and pulled, and at a press it runs."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.mechanic.advice import Advice
from linkwork.mechanic.body_tab import BodyTab
from linkwork.mechanic.editor import Editor
from linkwork.mechanic.file_tab import FileTab
from linkwork.mechanic.gizmo import Gizmo
from linkwork.mechanic.guide import Guide
from linkwork.mechanic.joint_tab import JointTab
from linkwork.mechanic.limit_marks import LimitMarks
from linkwork.mechanic.mass_marks import MassMarks
from linkwork.mechanic.part_files import LARGEST
from linkwork.mechanic.pulling import Pulling
from linkwork.model.carry import carry
from linkwork.view.charts import Charts
from linkwork.view.drawing import Drawing, drawing, drawing_of_mechanism
from linkwork.view.edit_observer import Edits
from linkwork.view.live_panel import Running
from linkwork.view.panels import Command
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, Still, moment
from linkwork.view.tree_panel import words

Array = np.ndarray

_ROOM = 0.1  # that a mechanism may outgrow the picture by, of its size, before it is fitted again
_SLOW = 0.2  # between two pictures of numbers and curves [s]


class MechanicViewer(Pulling):
    """A mechanism that is built on the page; `editor` does all of it without one."""

    room = 1.5
    tabs = (("Build", "tool"), ("Inspector", "list-details"), ("Show", "eye"))

    def __init__(self, editor: Editor, *, save_to: Path | None = None, **where: Any) -> None:
        self.editor, self.save_to = editor, save_to
        self.said: Advice = editor.advice()
        self.clicked: tuple[str, Array] | None = None  # a body, and a place on it in the world
        self._laid = 1e-9  # size of what the floor was laid for [m]
        self._framed, self._framed_size = np.zeros((2, 3)), 0.0  # what pages were fitted to
        super().__init__(editor, self.drawn(), edits=Edits(editor.mechanism), **where)
        self.server.limit_uploads(LARGEST)
        self._mark_wrong()
        self._dress()
        self.gizmo, self.limit_marks, self.mass_marks = Gizmo(self), LimitMarks(self), MassMarks(self)
        editor.opened.append(self._opened)

    # what is shown

    def _drawing(self, before: Drawing | None = None) -> Drawing:
        model, m = self.editor.refresh(), self.editor.mechanism
        return drawing_of_mechanism(m, tuple(m.bodies), set()) if model is None else drawing(model, before)

    def drawn(self, before: Drawing | None = None) -> Subject:
        """Return the mechanism as drawn, as far as it goes."""
        with self.editor.lock:
            shown, model = self._drawing(before), self.editor.model
            if model is None or self.editor.problem is not None:
                return Subject(shown, Still(Moment.standing(shown.drawn)), None)
            return Subject(shown, Still(moment(model, self.editor.start().q)), model)

    def remade(self, mechanism: Any) -> Any:
        """Return what is shown of the mechanism as it is, and what is said of it."""
        with self.editor.lock:
            return self.drawn(self.drawing), self.editor.advice()

    def show_edited(self, made: Any) -> None:
        subject, self.said = made
        engine, self.engine = self.engine, None  # one that was started just now goes on, too
        if engine is not None:
            engine.close()
            if subject.model is not None:
                with self.editor.lock:
                    carried = carry(engine.model, engine.state, self.editor.mechanism)
                self.engine = self._engine(*carried, before=engine)
                self.engine.running = engine.running
                subject = Running(self.engine)
        self.show_subject(subject)
        self._fit()
        self._show_state()

    def _fit(self) -> None:
        """Show all of the mechanism on pages whose view was not turned, and on those that are still to come.

        A picture that shows it well enough stays as it is: who works on it would lose his place.
        """
        if self.engine is not None:
            return
        self._first_view(self.camera.view())
        size = self.camera.radius
        if not 0.5 < size / self._laid < 2.0:
            self.stage.lay_floor(self.drawing, self.camera, self.server.dark)
            self._laid = size
        low, high = self.camera.box - self._framed
        room = _ROOM * float(np.ptp(self._framed, axis=0).max())
        if (low > -room).all() and (high < room).all() and size > 0.5 * self._framed_size:
            return
        self._framed, self._framed_size = self.camera.box, size
        for number, client in self.server.get_clients().items():
            if number in self._fitted:
                self._look(client, "")

    def fill_again(self) -> None:
        """Keep the panels, with what they know of the mechanism as it is."""
        self._mark_wrong()
        self.inspector.subject = self.subject
        self.make_overlays()
        self._show_advice()
        self._curves()
        self._show_tabs()

    def _mark_wrong(self) -> None:
        """Show in red, in the tree and in the picture, what the diagnosis names."""
        self.looks.wrong = self.said.wrong
        self.tree.follow(self.drawing, self.said.wrong, self.said.redundant)

    def _opened(self) -> None:
        """Show another mechanism."""
        with self._lock:
            if self._edits is not None:
                self._edits.stop()
            self._edits = Edits(self.editor.mechanism)
            self.stop_dynamics()
            self._laid = 1e-9
            self.show_edited(self.remade(self.editor.mechanism))
            self.server.gui.set_panel_label(self.drawing.name)
            if self.editor.mechanism.elements:
                self.guide.close()  # it is about a first one
            self.stage.light(self.drawing, self.camera)
            shadows, in_space = self.switches["shadows"], self.drawing.space == "space"
            shadows.value = shadows.visible = in_space

    def stand(self, q: Array) -> None:
        super().stand(q)
        self.mass_marks.follow(self.selected)

    # panels

    def fill_panels(self) -> None:
        gui = self.server.gui
        with self.panels.right("Build"):
            self.files = FileTab(gui, self)
            self.guide = Guide(gui, self)
            self.bodies_tab = BodyTab(gui, self)
            self.joints_tab = JointTab(gui, self)
        super().fill_panels()
        self._advised = gui.add_html("", order=-1.0)
        self._show_advice()

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
        if self.busy:  # the last act that waits will
            return
        self._show_world()
        self.bodies_tab.follow(self.selected)
        self.joints_tab.follow(self.selected)
        if hasattr(self, "gizmo"):
            self.gizmo.follow(self.selected)
            self.mass_marks.follow(self.selected)
            self.limit_marks.follow(self.selected)
        self.follow_guide()

    def follow_guide(self) -> None:
        if hasattr(self, "guide"):
            self.guide.follow()

    def select(self, name: str | None, point: Array | None = None) -> None:
        super().select(name, point)
        if point is not None and name is not None and name in self.drawing.bodies:
            pose = self.now().poses[self.stage.numbers[name]]
            self.clicked = name, pose[:, :3] @ point + pose[:, 3]
        self._show_tabs()

    # edits

    def heard(self) -> dict[str, Any]:
        return {
            **super().heard(),
            "fix": lambda client, number: self._fix(number),
            "guide": lambda client, word: self.guide.close() if word == "close" else None,
        }

    def _fix(self, number: str) -> None:
        if number.isdigit() and int(number) < len(self.said.fixes):
            self.try_edit(self.said.fixes[int(number)].do, self.editor)

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

    def show_and_select(self, name: str) -> None:
        """Select something that was just added, or has another name now."""
        self.show_now()
        self.select(name)

    def done(self) -> None:
        """Show what has become of the last act that was waiting."""
        self.show_now()
        self._show_tabs()

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
