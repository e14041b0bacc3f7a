"""A mechanism that is built when somebody looks at it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkwork.mechanism.element_changes import Placing
from linkwork.mechanism.mechanism import Mechanism


class Deferred(Mechanism):
    """A mechanism that is not built yet; whatever is asked of it, it is built and is a Mechanism then."""

    @classmethod
    def of(cls, make: Callable[[], Mechanism], then: Callable[[Mechanism], None]) -> "Deferred":
        """Return what `make` builds when it is asked for; `then` is called with it."""
        made = object.__new__(cls)
        vars(made)["_make"] = make, then
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, word: str) -> Any:  # nothing is there
            self._become()
            return getattr(self, word)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._become()
        return self.__reduce_ex__(protocol)

    def _become(self) -> None:
        """Be the mechanism that is built; the steps of its journal are about this one from now on."""
        own = vars(self)
        make, then = own["_make"]
        built = make()
        del own["_make"]
        own.update(vars(built))
        for word in ("_journal", "_revision", "_complete", "__class__"):
            object.__setattr__(self, word, getattr(built, word))
        for entry in (*self.journal.undoable, *self.journal.redoable):
            for step in entry.steps:
                if isinstance(step, Placing) and step.mechanism is built:
                    object.__setattr__(step, "mechanism", self)
        then(self)
