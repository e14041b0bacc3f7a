"""Whether laws stay what they were when a run began.

What laws read from outside is read when a run begins. If it changes while the run goes on (an action writes
to it, or a law that is called), formulas would be stale, and laws that are called another: the run says so.
"""

from collections.abc import Iterator

from linkwork.dynamics.load_code import answers, raised
from linkwork.mechanism.called_equations import answers_otherwise
from linkwork.mechanism.outside_values import outside_of
from linkwork.model import trees
from linkwork.model.following import outsides_of
from linkwork.model.model import Model
from linkwork.recording.status import Status
from linkwork.simulation.failure import Failure, failed
from linkwork.simulation.run_programs import RunPrograms
from linkwork.tree.load_formula import PlacedLoad
from linkwork.tree.purity import NotAFunction


class LawWatch:
    """The laws of a run: those of the model that was asked for, and those of its events."""

    def __init__(self, asked: Model, system: RunPrograms) -> None:
        self._asked, self._system = asked, system
        self._model, self._outsides = system.model, outsides_of(asked)
        self._events = [(one, outside_of(one.described)) for one in system.event_tree.loads if one.formula]

    def change(self) -> tuple[str, str]:
        """Return the name of an element whose formula is another now, and words for it; nothing for none."""
        for placed, outside in self._events:
            if not outside.same and self._is_another(placed):
                return placed.name, _words(f"event {placed.name!r}", outside.change())
        if self._asked is self._model:
            return "", ""
        called = self._system.python_laws
        found = next((name for name in self._changed() if name not in called), "")
        if not found or self._asked.current.digest == self._model.digest:
            return self.change_of_called()
        return self._in_words(found)

    def change_of_called(self) -> tuple[str, str]:
        """Return the same of a constraint or driver that is called; loads that are, are asked again."""
        called, elements = self._system.called_constraints, self._model.mechanism
        for name in self._changed() if called else ():
            if name in called and answers_otherwise(elements[name]):
                return self._in_words(name)
        return "", ""

    def _changed(self) -> Iterator[str]:
        """Yield the elements that read something that is another than when the run began, as far as is known.

        The model that was asked for may have followed meanwhile: somebody has called a method of it.
        """
        return (name for name, outside in self._outsides.items() if not outside.same)

    def _in_words(self, name: str) -> tuple[str, str]:
        word = getattr(self._model.mechanism[name], "word", "joint")
        return name, _words(f"{word} {name!r}", self._outsides[name].change())

    def _is_another(self, placed: PlacedLoad) -> bool:
        (now,) = trees.place(self._model, [placed.described], self._system.tree)
        before = placed.formula
        return before is None or now.formula is None or _key(now) != _key(placed)


def other_answer(watch: LawWatch) -> tuple[str, str]:
    """Return the name of a law that was called in this thread and answers otherwise now, and words for it."""
    for answer in answers.kept or ():
        try:
            answer.check()
        except NotAFunction as error:
            return answer.placed.name, str(error)
        except Exception:  # it may not want to be asked about the past
            continue
    return watch.change_of_called()


def no_function() -> Failure | None:
    """Return the failure of a law that was called in this thread, and gave two answers to one question."""
    name, t, error = getattr(raised, "error", ("", 0.0, None))
    return (
        failed(Status.LAW_CHANGED, t, name, str(error), hint="") if isinstance(error, NotAFunction) else None
    )


def _key(placed: PlacedLoad) -> object:
    assert placed.formula
    return placed.formula.signature, placed.formula.parameters


def _words(who: str, what: str) -> str:
    return f"what {who} reads from outside has changed during the run" + (f": {what}" if what else "")
