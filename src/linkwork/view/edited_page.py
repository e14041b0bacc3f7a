"""A page that shows the mechanism as it is edited."""

import threading
from typing import Any

from linkwork.mechanism.mechanism import Mechanism
from linkwork.view.bodies_on_page import Appearance
from linkwork.view.camera import Camera
from linkwork.view.edit_observer import Edits
from linkwork.view.fitting import Fitting
from linkwork.view.subject import Subject


class FollowingEdits(Appearance, Fitting):
    """The part of a page that shows other subjects; the page has what is declared here."""

    room: float
    subject: Subject
    switches: dict[str, Any]
    _edits: Edits | None
    _lock: threading.RLock

    def show_message(self, text: str) -> None:
        """Say something in the panel."""
        raise NotImplementedError

    def fill_again(self) -> None:
        """Put into the panels what belongs to another subject."""
        raise NotImplementedError

    def select(self, name: str | None, point: Any = None) -> None:
        """Select a body or joint by name."""
        raise NotImplementedError

    def _follow_edits(self) -> None:
        """Show the mechanism as it is now, if it was edited."""
        if self._edits is None or not self._edits.due:
            return
        try:
            found = self._edits.look(self.remade)
        except Exception as error:  # a mistake in the mechanism, or whatever a law of the user raises
            self.show_message(f"shown as it was before it was edited: {error}")
            return
        if found is not None:
            with self._lock, self.server.atomic():
                self.show_edited(found)
                self.show_message("")

    def remade(self, mechanism: Mechanism) -> Any:
        """Return what is shown of an edited mechanism, for `show_edited`."""
        raise NotImplementedError

    def show_edited(self, made: Any) -> None:
        """Show what `remade` has made."""
        raise NotImplementedError

    def show_subject(self, subject: Subject) -> None:
        """Show another subject in place of this one: what is the same by name stays as it is."""
        shown = {word: box.value for word, box in self.switches.items()}
        self.overlays.remove()
        self.subject, self.drawing = subject, subject.drawing
        self.camera = Camera(self.drawing, subject.trajectory.passed(2), self.room)
        self.stage.follow(self.drawing)
        self.fill_again()
        self.stage.dress(self.looks)
        for word, visible in shown.items():
            if word in self.switches:
                self.switches[word].value = visible
            if word in self.overlays.switches:
                self.overlays.switch(word, visible)
        self.stage.show_joints(shown["joints"])
        self.stage.show_through(shown["see through"])
        self.overlays.springs.on_click(self.select)
        there = {*self.drawing.bodies, *(mark.name for mark in self.drawing.joints)}
        if self._followed not in there:
            self._followed = None
        self.select(self.selected if self.selected in there else None)
        self._stale = True
