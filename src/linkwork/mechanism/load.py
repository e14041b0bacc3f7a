"""What a load is: something that pushes bodies or drives joints, by a law that is made native.

A load of one's own says what it acts on and how:

    class Wind(lw.Load):
        def act(self, t, body):
            body.push((2.0 * lw.sin(t), 0, 0), at=self.center)

`act` may use what `BodySide` and `JointSide` offer. What it returns is what a recording shows as its `force`.
A function that cannot be traced, say for an `if`, is called as it is, which is slower.
"""

import copy
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from linkwork.mechanism.attachments import ends, unknown_end
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.names import name_text

if TYPE_CHECKING:
    from linkwork.mechanism.sketch import Line

Laws: TypeAlias = Mapping[str, tuple[str, ...]]  # options that may be functions -> names of their arguments


class Load(Recorded):
    """Something that pushes bodies, or drives joints; `on` are those, in the order `act` gets them.

    `laws` names what the functions that it takes are given, by which files keep them as formulas: "body" is
    the body it acts on, "q" and "v" are the coordinates of its joint (of all joints, if it sees the `whole`);
    any other name is a number, such as the time "t".
    """

    whole: bool = False  # `act` gets all coordinates of the mechanism as well, before the others
    word: ClassVar[str] = "load"  # what it is called in messages
    takes: ClassVar[type[Body] | type[Joint] | None] = None  # what it acts on, None for both
    laws: ClassVar[Laws] = {}  # options that may be functions, and of what
    space: str = "space"  # or "plane", as the mechanism it was added to

    def __init__(self, name: str, *on: Body | Joint | str) -> None:
        self._name = name_text(name, type(self).__name__)
        self.on: tuple[Body | Joint | str, ...] = ends(on)

    @property
    def name(self) -> str:
        """The name, by which results refer to the load."""
        return self._name

    def __repr__(self) -> str:
        ends = "".join(f", {getattr(thing, 'name', thing)!r}" for thing in self.on)
        return f"{type(self).__name__}({self.name!r}{ends})"

    def settle(self, space: str) -> None:
        """Know the space of the mechanism it was added to."""
        self.space = space

    def sides(self, joints: Mapping[str, Joint]) -> list[Body | Joint]:
        """Return the bodies and joints it acts on, names looked up; ValueError if it cannot be."""
        found: list[Body | Joint] = []
        for thing in self.on:
            if isinstance(thing, str) and thing not in joints:
                raise ValueError(unknown_end(thing, self.takes, joints))
            last = joints[thing] if isinstance(thing, str) else thing
            if not isinstance(last, Body | Joint):
                raise ValueError(f"{last!r} is neither a body nor a joint; give one")
            found.append(last)
            if self.takes is not None and not isinstance(last, self.takes):
                raise ValueError(f"{last.name!r} is not a {self.takes.__name__.lower()}; give one")
            if isinstance(last, Joint) and last.nv == 0:
                raise ValueError(f"joint {last.name!r} has no freedom to drive")
            if isinstance(last, Joint) and last in found[:-1]:
                raise ValueError(f"joint {last.name!r} is given twice; give it once")
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> "Load":
        """Copy the load; its functions stay what they are, with what they hold and count."""
        made = copy.copy(self)
        memo[id(self)] = made
        for word, value in vars(self).items():
            if not inspect.isroutine(value) and not (callable(value) and not isinstance(value, type)):
                vars(made)[word] = copy.deepcopy(value, memo)
        return made

    # what a subclass says

    def act(self, *args: Any, **kwargs: Any) -> Any:
        """act(self, t, ...): push the sides, and return what is worth recording: a number or several."""
        raise TypeError(
            f"load class {type(self).__name__} does not say how it acts; define act(self, t, ...)"
        )

    def mistakes(self) -> list[str]:
        """List what is wrong with the options of the load, in words; `Mechanism.compile` collects them."""
        return []

    def sketch(self, size: float) -> "Iterable[Line]":
        """Return what it looks like, as lines on bodies (`lw.Line`); `size` [m] is that of all."""
        return []

    def attached(self) -> Sequence[tuple[Body, Sequence[float]]]:
        """Return the points by which it holds bodies."""
        return []

    def units(self, shown: int, coordinates: Sequence[str]) -> tuple[str, ...]:
        """Return the unit of each number it shows; `coordinates` are "rad" or "m", of its joints in turn."""
        return ("",) * shown

    def drawn(self, frames: Sequence[Any]) -> "Load":
        """Return the load with what follows from the poses of its bodies as drawn filled in."""
        return self
