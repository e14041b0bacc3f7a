"""The journal of a mechanism: every change is an entry that can be taken back and made again."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from linkwork.mechanism.journaled import Recorded
from linkwork.spelling import Closed

_ABSENT = object()  # an attribute that was not there


@dataclass(frozen=True)
class Change:
    """One change of a mechanism, as observers hear of it."""

    what: Literal["add", "remove", "set"]
    name: str  # of the element; of the mechanism if it is the mechanism's own attribute
    attribute: str  # that was set; "" if an element was added or removed
    old: Any  # the value before, or the element that was removed
    new: Any  # the value after, or the element that was added
    by: Literal["edit", "undo", "redo"] = "edit"


class Step(Protocol):
    """A change that can be made and taken back."""

    @property
    def change(self) -> Change: ...

    def apply(self) -> None: ...

    def revert(self) -> None: ...


@dataclass(frozen=True)
class Assignment:
    """An attribute that was set: what became of the numbers behind it."""

    change: Change
    element: Recorded
    before: dict[str, Any]
    after: dict[str, Any]

    def apply(self) -> None:
        _restore(self.element, self.after)

    def revert(self) -> None:
        _restore(self.element, self.before)


@dataclass(frozen=True)
class JournalEntry:
    """Changes that are undone and redone together."""

    text: str
    steps: tuple[Step, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(step.change for step in self.steps)


class Journal(Closed):
    """The changes of one mechanism; `limit` of them are kept, and with them what they replaced."""

    def __init__(self, limit: int = 1000) -> None:
        self.limit = limit
        self._done: deque[JournalEntry] = deque()
        self._kept = 0  # steps in them
        self._undone: list[JournalEntry] = []
        self._group: list[Step] | None = None  # the steps of an entry that is not complete
        self._observers: list[Callable[[Change], None]] = []

    @property
    def undoable(self) -> tuple[JournalEntry, ...]:
        """The entries that can be undone, oldest first."""
        return tuple(self._done)

    @property
    def redoable(self) -> tuple[JournalEntry, ...]:
        """The entries that can be made again, the next last."""
        return tuple(self._undone)

    def observe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Call a function after every change; return a function that ends this."""
        self._observers.append(callback)

        def stop() -> None:
            if callback in self._observers:
                self._observers.remove(callback)

        return stop

    def assign(self, element: Recorded, word: str, value: Any) -> None:
        """Set an attribute of an element, and record it."""
        self.record(assignment(element, word, value))

    def record(self, step: Step) -> None:
        """Keep a change that was just made, alone or in the group, and notify the observers."""
        self._undone.clear()
        if self._group is None:
            self._keep(JournalEntry("", (step,)))
        else:
            self._group.append(step)
        self._notify(step.change)

    @contextmanager
    def group(self, text: str = "") -> Iterator[None]:
        """Make one entry of all changes within; if they raise, all of them are taken back."""
        if self._group is not None:  # part of the group around it
            yield
            return
        self._group = []
        try:
            yield
        except BaseException:
            steps, self._group = self._group, None
            self._revert(JournalEntry(text, tuple(steps)))
            raise
        steps, self._group = self._group, None
        if steps:
            self._keep(JournalEntry(text, tuple(steps)))

    def undo(self) -> JournalEntry:
        """Take back the last entry, and return it."""
        self._refuse_within("undo")
        if not self._done:
            raise IndexError("nothing to undo")
        entry = self._done.pop()
        self._kept -= len(entry.steps)
        self._undone.append(entry)
        self._revert(entry)
        return entry

    def redo(self) -> JournalEntry:
        """Make the entry again that was undone last, and return it."""
        self._refuse_within("redo")
        if not self._undone:
            raise IndexError("nothing to redo")
        entry = self._undone.pop()
        self._keep(entry)
        for step in entry.steps:
            step.apply()
        for change in entry.changes:
            self._notify(replace(change, by="redo"))
        return entry

    def _revert(self, entry: JournalEntry) -> None:
        for step in reversed(entry.steps):
            step.revert()
        for change in reversed(entry.changes):
            what: Any = {"add": "remove", "remove": "add", "set": "set"}[change.what]
            self._notify(replace(change, what=what, old=change.new, new=change.old, by="undo"))

    def _refuse_within(self, word: str) -> None:
        if self._group is not None:
            raise RuntimeError(f"{word} within a group of changes; leave the group first")

    def _keep(self, entry: JournalEntry) -> None:
        self._done.append(entry)
        self._kept += len(entry.steps)
        while len(self._done) > 1 and self._kept > self.limit:
            self._kept -= len(self._done.popleft().steps)

    def _notify(self, change: Change) -> None:
        for observer in tuple(self._observers):
            observer(change)


@dataclass(frozen=True)
class Journals:
    """The journals of several mechanisms that an element is in: each records its changes."""

    each: tuple[Journal, ...]

    def assign(self, element: Recorded, word: str, value: Any) -> None:
        step = assignment(element, word, value)
        for journal in self.each:
            journal.record(step)


def enter(element: Recorded, journal: Journal) -> None:
    """Let a journal record the changes of an element, too."""
    _recorded_by(element, dict.fromkeys((*_journals(element), journal)))


def leave(element: Recorded, journal: Journal) -> None:
    """Let a journal no longer record the changes of an element."""
    _recorded_by(element, [other for other in _journals(element) if other is not journal])


def _journals(element: Recorded) -> tuple[Journal, ...]:
    recorder = element._journal
    return (
        recorder.each
        if isinstance(recorder, Journals)
        else (recorder,)
        if isinstance(recorder, Journal)
        else ()
    )


def _recorded_by(element: Recorded, journals: Iterable[Journal]) -> None:
    each = tuple(journals)
    element._journal = Journals(each) if len(each) > 1 else each[0] if each else None


def assignment(element: Recorded, word: str, value: Any) -> Assignment:
    """Set an attribute of an element, and return what has changed."""
    before, recorder = _content(element), element._journal
    old = getattr(element, word, None)
    element._journal = None  # what a property sets is part of the same change
    try:
        setattr(element, word, value)
    except BaseException:
        _restore(element, {**before, **dict.fromkeys(_content(element).keys() - before, _ABSENT)})
        raise
    finally:
        element._journal = recorder
    after = _content(element)
    changed = [w for w in before | after if before.get(w, _ABSENT) is not after.get(w, _ABSENT)]
    was, is_now = ({w: side.get(w, _ABSENT) for w in changed} for side in (before, after))
    change = Change("set", getattr(element, "name", ""), word, old, getattr(element, word))
    return Assignment(change, element, was, is_now)


def _content(element: Recorded) -> dict[str, Any]:
    return {**vars(element), "_revision": element._revision}


def _restore(element: Recorded, content: dict[str, Any]) -> None:
    """Put attributes back as they were, without asking anybody."""
    for word, value in content.items():
        if word == "_revision":
            object.__setattr__(element, word, value)
        elif value is _ABSENT:
            vars(element).pop(word, None)
        else:
            vars(element)[word] = value
