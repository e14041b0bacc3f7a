"""Changes of which elements a mechanism has, and of their names: steps of its journal."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkwork.mechanism.journal import Change
from linkwork.mechanism.journaled import Revision

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Element, Mechanism


@dataclass(frozen=True)
class Placing:
    """An element that was added or removed: a step of the journal."""

    change: Change
    mechanism: "Mechanism"
    element: "Element"
    index: int  # its place among the elements
    adds: bool

    def apply(self) -> None:
        self._put(self.adds)

    def revert(self) -> None:
        self._put(not self.adds)

    def _put(self, there: bool) -> None:
        if there:
            self.mechanism.insert(self.index, self.element)
        else:
            self.mechanism.take(self.index)


@dataclass(frozen=True)
class Renaming:
    """An element that was given another name: a step of the journal."""

    change: Change
    mechanism: "Mechanism"
    element: "Element"
    touched: tuple[tuple["Element", Revision, Revision], ...]  # it and its users: revisions before and after

    def apply(self) -> None:
        self._call(self.change.new, 2)

    def revert(self) -> None:
        self._call(self.change.old, 1)

    def _call(self, name: str, which: int) -> None:
        vars(self.element)["_name"] = name
        for each in self.touched:
            object.__setattr__(each[0], "_revision", each[which])
        self.mechanism.list_again(self.element)
