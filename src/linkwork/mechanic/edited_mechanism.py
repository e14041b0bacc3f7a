"""What every edit stands on: a mechanism, its journal, and the model of it as it is."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError, LinkworkError, unknown
from linkwork.formats.mechanism_json import mechanism_text
from linkwork.mechanic import bodies
from linkwork.mechanic.advice import Advice, advice
from linkwork.mechanic.autosave import Autosave
from linkwork.mechanic.snapping import Feature, body_features
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.journal import JournalEntry
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.compile import compile_now
from linkwork.model.state import State
from linkwork.real_numbers import finite_array, shown
from linkwork.spelling import Closed, require

_OPENED = 20  # mechanisms that undo goes back to


@dataclass
class _Opened:
    """A mechanism that is or was edited, and the last entry of its journal when it was opened."""

    mechanism: Mechanism
    base: JournalEntry | None


class EditedMechanism(Closed):
    """A mechanism with a lock, a draft on disk, and a model that follows every edit."""

    def __init__(self, mechanism: Mechanism | None = None, *, autosave: Path | None = None) -> None:
        require("Editor: mechanism", mechanism, Mechanism | None, "an lw.Mechanism, or nothing")
        self.mechanism = Mechanism("mechanism") if mechanism is None else mechanism
        self.lock = threading.RLock()
        self.model: Any = None  # of the mechanism as it is, None while it has mistakes
        self.problem: Exception | None = None
        self._before: list[_Opened] = []  # what was edited before another was opened: undo goes back there
        self._base: JournalEntry | None = None  # undo does not go farther back in this mechanism's journal
        self._after: list[_Opened] = []  # what undo has left: redo goes there, until something else is done
        self._seen = -1  # changes that the model knows
        self._count = 0
        self._depth = 0  # of edits within edits
        self._saved = 0  # changes that are in a file
        self._places: dict[int, tuple[Any, list[Feature]]] = {}
        self._stop: Callable[[], None] = self.mechanism.observe(self._heard)
        self.opened: list[Callable[[], None]] = []  # called when another mechanism is edited
        self._autosave = None if autosave is None else Autosave(autosave, self._draft)

    def close(self, *, keep_draft: bool = False) -> None:
        """End; the draft goes, unless it is to be kept."""
        self._stop()
        if self._autosave is not None:
            self._autosave.close(keep=keep_draft)

    def _heard(self, change: Any) -> None:
        self._count += 1
        if change.by not in ("undo", "redo"):
            self._after.clear()
        if self._autosave is not None and not self._depth:
            self._autosave.changed()

    @contextmanager
    def _act(self) -> Iterator[None]:
        """Do something to the mechanism when all that was done before is kept; it is kept as a whole."""
        with self.lock:
            if self._autosave is not None and not self._depth:
                self._autosave.settle()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._autosave is not None and not self._depth:
                    self._autosave.changed()

    @contextmanager
    def _edit(self, text: str) -> Iterator[Mechanism]:
        with self._act(), self.mechanism.edit(text):
            yield self.mechanism

    # what there is

    def text(self) -> str:
        """Return the mechanism as the text of its file."""
        with self.lock:
            return mechanism_text(self.mechanism)

    def _draft(self) -> str:
        """Return the text without making those wait who edit meanwhile, if that can be."""
        for _ in range(3):
            count, mechanism = self._count, self.mechanism
            try:
                text = mechanism_text(mechanism)
            except Exception:  # of a mechanism that is half changed, anything
                if self._count == count:
                    raise
                continue
            if self._count == count and not self._depth:
                return text
        return self.text()

    def body(self, name: str) -> Body:
        """Return a body, or ground, by name."""
        if name == "ground":
            return self.mechanism.ground
        if name not in self.mechanism.bodies:
            raise KeyError(unknown("body", name, self.mechanism.bodies))
        return self.mechanism.bodies[name]

    def joint(self, name: str) -> Joint:
        """Return a joint by name."""
        if name not in self.mechanism.joints:
            raise KeyError(unknown("joint", name, self.mechanism.joints))
        return self.mechanism.joints[name]

    def place_of(self, position: Any) -> list[float]:
        """Return a place of the world as numbers of this mechanism; in the plane a third is left out."""
        numbers, size = finite_array("position", position), ALGEBRA[self.mechanism.space].dimension
        if numbers.shape not in ((size,), (3,)):
            raise ValueError(f"position {shown(position)}; give {size} numbers in metres")
        return numbers[:size].tolist()

    def features(self, name: str) -> list[Feature]:
        """Return the places of a body that joints snap to, in the world as drawn."""
        body = self.body(name)
        key = id(body)
        if key not in self._places or self._places[key][0] is not body.parts:
            self._places[key] = body.parts, body_features(body)
        X = bodies.pose_of(body)
        R, p = X[:, :3], X[:, 3]
        return [Feature(f.kind, R @ f.point + p, R @ f.axis, f.radius) for f in self._places[key][1]]

    # after every edit

    def refresh(self) -> Any:
        """Return the model of the mechanism as it is; None while there are mistakes."""
        with self.lock:
            if self._seen == self._count:
                return self.model
            seen, like = self._count, self.model
            try:
                form = "rolled" if like is None else like.form
                self.model = compile_now(self.mechanism, form, floating=True, like=like)
                self.problem, self._seen = None, seen
                self.start()
            except AssemblyError as error:
                self.problem = error
            except Exception as error:  # mistakes in the description, or whatever a law raises
                self.model, self.problem = None, error
            self._seen = seen
            return self.model

    def _whole(self) -> Any:
        """Return the model of the mechanism as it is; say why there is none."""
        if (model := self.refresh()) is None:
            raise LinkworkError(f"it cannot be moved yet: {self.problem}")
        return model

    def start(self) -> State:
        """Return the mechanism at rest as drawn, loops closed; AssemblyError if they cannot be."""
        model = self._whole()
        return State(model.assemble(model.q_drawn), np.zeros(model.nv))

    def advice(self) -> Advice:
        """Return what is to be said of the mechanism as it is: freedoms, mistakes, remedies."""
        with self.lock:
            return advice(self.mechanism, self.refresh(), self.problem)

    # undo and redo

    def undo(self) -> str:
        """Take back the last edit; return what it was."""
        with self._act():
            entries = self.mechanism.journal.undoable
            if entries and entries[-1] is not self._base:
                return self.mechanism.undo().text or "a change"
            if not self._before:
                raise IndexError("nothing to undo")
            self._after.append(_Opened(self.mechanism, self._base))
            self._switch(self._before.pop())
        self._tell_opened()
        return f"open {self._after[-1].mechanism.name}"

    def redo(self) -> str:
        """Make the edit again that was taken back last; return what it was."""
        with self._act():
            if self.mechanism.journal.redoable or not self._after:
                return self.mechanism.redo().text or "a change"
            self._before.append(_Opened(self.mechanism, self._base))
            self._switch(self._after.pop())
        self._tell_opened()
        return f"open {self.mechanism.name}"

    def open(self, mechanism: Mechanism) -> None:
        """Edit another mechanism; `undo` comes back to this one, with all that can be undone in it."""
        require("open: mechanism", mechanism, Mechanism, "an lw.Mechanism")
        with self._act():
            if self.mechanism.elements:
                self._before = [*self._before, _Opened(self.mechanism, self._base)][-_OPENED:]
            self._after.clear()
            entries = mechanism.journal.undoable
            self._switch(_Opened(mechanism, entries[-1] if entries else None))
        self._tell_opened()

    def _switch(self, to: _Opened) -> None:
        """Edit another mechanism from now on."""
        self._stop()
        self.mechanism, self._base = to.mechanism, to.base
        self.model, self.problem = None, None
        self._count, self._seen = self._count + 1, -1
        self._places.clear()
        self._stop = self.mechanism.observe(self._heard)

    def _tell_opened(self) -> None:
        for observer in self.opened:
            observer()
