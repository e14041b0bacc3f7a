"""A mechanism: what the user says, as plain named data. A graph, not a tree: any joint may close a loop."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from numpy.typing import ArrayLike

from linkwork.errors import LinkworkError, unknown
from linkwork.mechanism import mechanism_text, notebook
from linkwork.mechanism.body import Body
from linkwork.mechanism.body_skin import is_skin
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.element_changes import Placing, Renaming
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.journal import Change, Journal, JournalEntry, enter, leave
from linkwork.mechanism.journaled import Recorded, Revision, frozen
from linkwork.mechanism.load import Load
from linkwork.mechanism.names import name_text
from linkwork.mechanism.placement import Array, Space, numbers, plain
from linkwork.real_numbers import shown
from linkwork.spelling import require, spelled_methods
from linkwork.viewable import Viewable

if TYPE_CHECKING:
    from linkwork.model.model import Model

Element: TypeAlias = Body | Joint | Constraint | Load | Contact
Added = TypeVar("Added", bound=Element)

GRAVITY = {"space": (0.0, 0.0, -9.81), "plane": (0.0, -9.81)}


@spelled_methods
class Mechanism(Recorded, Viewable):
    """Bodies and joints by name, in space or in the plane.

    >>> from linkwork.mechanism.joints import Revolute
    >>> m = Mechanism("pendulum")
    >>> bob = m.add(Body.from_points("bob", [1.0], [(0, 0, -1)]))
    >>> pin = m.add(Revolute("pin", m.ground, bob, axis=(0, 1, 0)))
    >>> m
    Mechanism('pendulum', 1 body, 1 joint)
    >>> "bob" in m, list(m)
    (True, ['bob', 'pin'])
    """

    def __init__(
        self, name: str = "mechanism", gravity: ArrayLike | None = None, space: Space = "space"
    ) -> None:
        if not isinstance(space, str) or space not in GRAVITY:
            raise ValueError(f'mechanism {name!r}: space {space!r}; give "space" or "plane"')
        self.name = name
        self._space: Space = space
        self.gravity = gravity
        self._ground = Body("ground")
        self._ground.settle(space)
        self._elements: list[Element] = []
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._constraints: dict[str, Constraint] = {}
        self._drivers: dict[str, Driver] = {}
        self._loads: dict[str, Load] = {}
        self._contacts: dict[str, Contact] = {}
        self._states: dict[str, dict[str, Any]] = {}
        self._notes: dict[str, str] = {}
        self._start_journal()

    @property
    def name(self) -> str:
        """The name, in messages, pages and files."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name_text(name, "Mechanism")

    @property
    def space(self) -> Space:
        """Where it moves: "space" or "plane"."""
        return self._space

    @property
    def ground(self) -> Body:
        """The world, to which all is connected."""
        return self._ground

    # What was added, by kind and name, in order; to be read: `add` and `remove` change it.

    @property
    def elements(self) -> tuple[Element, ...]:
        """Everything that was added, in order; also what `check` will refuse."""
        return tuple(self._elements)

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The bodies by name, without ground."""
        return MappingProxyType(self._bodies)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints by name."""
        return MappingProxyType(self._joints)

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """The constraints by name, couplings among them."""
        return MappingProxyType(self._constraints)

    @property
    def drivers(self) -> Mapping[str, Driver]:
        """The drivers by name."""
        return MappingProxyType(self._drivers)

    @property
    def loads(self) -> Mapping[str, Load]:
        """The loads by name."""
        return MappingProxyType(self._loads)

    @property
    def contacts(self) -> Mapping[str, Contact]:
        """The contacts by name: who meets whom, and how."""
        return MappingProxyType(self._contacts)

    @property
    def states(self) -> dict[str, dict[str, Any]]:
        """States by name, as files keep them: positions by joint, and `velocities`, if they are not zero.

        `model.state(**mechanism.states["home"])` is one of them.
        """
        return self._states

    @property
    def notes(self) -> dict[str, str]:
        """What a .json file says of elements beside what they are, by name; of the mechanism under ""."""
        return self._notes

    @property
    def couplings(self) -> dict[str, Coupling]:
        """The constraints that are couplings of joints, by name."""
        return {name: thing for name, thing in self._constraints.items() if isinstance(thing, Coupling)}

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall: (3,), or (2,) in the plane [m/s^2]."""
        return self._gravity

    @gravity.setter
    def gravity(self, gravity: ArrayLike | None) -> None:
        standard = GRAVITY[self.space]
        vector = numbers(standard if gravity is None else gravity, f"mechanism {self.name!r}: gravity")
        if vector.shape != (len(standard),):
            raise ValueError(
                f"mechanism {self.name!r}: gravity {plain(vector)}; give {len(standard)} numbers in m/s^2"
            )
        self._gravity = frozen(vector)

    def add(self, thing: Added, *others: Any) -> Added:
        """Take a body, joint, constraint, driver, load or contact, and return it; one at a time."""
        if others:
            raise TypeError(f"mechanism {self.name!r}: add takes one thing at a time, not {others[0]!r} too")
        if not isinstance(thing, Element):
            raise TypeError(f"mechanism {self.name!r}: cannot add {shown(thing)}; {_addable(thing)}")
        if thing not in self:
            self._settle(thing)
        change = Change("add", thing.name, "", None, thing)
        place = Placing(change, self, thing, len(self._elements), adds=True)
        place.apply()
        self.journal.record(place)
        return thing

    def _settle(self, thing: Element) -> None:
        """Let an element know the space it is in; journals of other mechanisms do not record that."""
        recorder, thing._journal = thing._journal, None
        try:
            if isinstance(thing, Joint):
                thing.space = self.space
            elif isinstance(thing, Constraint):
                thing.settle(self.space, self._joints)
            else:
                thing.settle(self.space)
        finally:
            thing._journal = recorder

    def remove(self, thing: Element | str) -> Element:
        """Take out an element, itself or by name, that nothing else uses; return it."""
        element = self[thing] if isinstance(thing, str) else thing
        if element is self.ground:
            raise ValueError(f"mechanism {self.name!r}: the ground cannot be removed")
        places = list(map(id, self._elements))
        if id(element) not in places:
            raise ValueError(f"mechanism {self.name!r}: {element!r} is not in it; nothing to remove")
        kinds = self._kinds[1 if isinstance(element, Body) else 2 :]  # bodies use nothing, joints use bodies
        others = chain(*(kind.values() for kind in kinds)) if self._distinct else self._elements
        if users := [repr(other.name) for other in others if uses(other, element)]:
            raise ValueError(
                f"mechanism {self.name!r}: {element.name!r} is used by {', '.join(users)}; remove those first"
            )
        change, index = Change("remove", element.name, "", element, None), places.index(id(element))
        place = Placing(change, self, element, index, adds=False)
        place.apply()
        self.journal.record(place)
        return element

    def rename(self, thing: Element | str, name: str) -> None:
        """Give an element another name; whatever refers to it by name follows.

        >>> m = Mechanism()
        >>> ball = m.add(Body("ball"))
        >>> m.rename(ball, "sphere")
        >>> ball.name, list(m)
        ('sphere', ['sphere'])
        """
        element = self[thing] if isinstance(thing, str) else thing
        new = name_text(name, type(element).__name__)
        if element is self.ground or element not in self:
            raise ValueError(f"mechanism {self.name!r}: {thing!r} cannot be renamed; give an element of it")
        if new in self and self[new] is not element:
            raise ValueError(f"mechanism {self.name!r}: {new!r} is the name of something else; give another")
        old = element.name
        if new == old:
            return
        with self.edit(f"rename {old}"):
            users = [other for other in self._elements if uses(other, element)]
            touched = {id(each): (each, each._revision, Revision()) for each in (element, *users)}
            step = Renaming(Change("set", new, "name", old, new), self, element, tuple(touched.values()))
            step.apply()
            self.journal.record(step)
            for other in users:
                for word in ("on", "joint", "of"):
                    said = vars(other).get(word)
                    if said == old:
                        setattr(other, word, new)
                    elif isinstance(said, tuple) and old in [each for each in said if isinstance(each, str)]:
                        setattr(other, word, tuple(new if each == old else each for each in said))

    @property
    def kinds(self) -> tuple[Mapping[str, Any], ...]:
        """Bodies, joints, constraints, drivers, loads and contacts, by name."""
        return tuple(map(MappingProxyType, self._kinds))

    @property
    def _kinds(self) -> tuple[dict[str, Any], ...]:
        return self._bodies, self._joints, self._constraints, self._drivers, self._loads, self._contacts

    @property
    def _distinct(self) -> bool:
        """Whether no name is there twice among elements of a kind."""
        return sum(map(len, self._kinds)) == len(self._elements)

    def insert(self, index: int, thing: Element) -> None:
        """Put an element in place, without a word to the journal; `add` and `undo` do it."""
        self._elements.insert(index, thing)
        names = self._names_of(thing)
        if index == len(self._elements) - 1:
            names.setdefault(thing.name, thing)
        else:
            self._list_again(names)
        enter(thing, self.journal)

    def take(self, index: int) -> None:
        """Take an element out of its place, without a word to the journal; `remove` and `undo` do it."""
        distinct, thing = self._distinct, self._elements.pop(index)
        if distinct:
            del self._names_of(thing)[thing.name]
        else:
            self._list_again(self._names_of(thing))
        if distinct or thing not in self:
            leave(thing, self.journal)

    def _names_of(self, thing: Element) -> dict[str, Any]:
        if isinstance(thing, Body):
            return self._bodies
        if isinstance(thing, Joint):
            return self._joints
        if isinstance(thing, Load):
            return self._loads
        if isinstance(thing, Contact):
            return self._contacts
        return self._drivers if isinstance(thing, Driver) else self._constraints

    def list_again(self, thing: Element) -> None:
        """Look up the names of all elements of a kind again; `rename` and `undo` do it."""
        self._list_again(self._names_of(thing))

    def _list_again(self, names: dict[str, Any]) -> None:
        names.clear()
        for other in self._elements:
            if self._names_of(other) is names:
                names.setdefault(other.name, other)

    # editing

    @property
    def journal(self) -> Journal:
        """The changes made so far: what can be undone and redone, and how many are kept."""
        if not isinstance(self._journal, Journal):
            raise LinkworkError(f"mechanism {self.name!r} belongs to a compiled model and cannot be changed")
        return self._journal

    def edit(self, text: str = "") -> AbstractContextManager[None]:
        """Make one entry of the journal of all changes in a `with` block; if it raises, none is made.

        >>> m = Mechanism()
        >>> with m.edit("a ball"):
        ...     ball = m.add(Body("ball"))
        ...     ball.position = (0, 0, 1)
        >>> len(m.undo().changes), len(m)
        (2, 0)
        """
        return self.journal.group(text)

    def undo(self) -> JournalEntry:
        """Take back the last change, or group of changes, and return it."""
        return self.journal.undo()

    def redo(self) -> JournalEntry:
        """Make the change, or group of changes, again that was undone last, and return it."""
        return self.journal.redo()

    def observe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Call a function with every `Change` after it was made, undone or redone; return what ends this."""
        return self.journal.observe(callback)

    def _start_journal(self) -> None:
        self._journal = journal = Journal()
        for thing in (self.ground, *self._elements):
            enter(thing, journal)

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        """Become a copy: with a journal of its own."""
        vars(self).update(state[0])
        self._revision, self._complete = state[1]["_revision"], True
        self._start_journal()

    def copy(self) -> "Mechanism":
        """Return a mechanism of its own, with copies of all that is in it."""
        return copy.deepcopy(self)

    __copy__ = copy  # half a copy, with the bodies of another mechanism, is of no use

    def __getitem__(self, name: str) -> Element:
        """Return the body, joint, constraint, driver, load or contact of this name."""
        if name == self.ground.name:
            return self.ground
        for things in self._kinds:
            if name in things:
                return things[name]
        raise KeyError(unknown("name", name, (thing.name for thing in self._elements)))

    def __contains__(self, thing: object) -> bool:
        """Return whether a name, or an element itself, is in the mechanism; `ground` always is."""
        if isinstance(thing, str):
            return thing == self.ground.name or any(thing in names for names in self._kinds)
        if thing is self.ground or not isinstance(thing, Element):
            return thing is self.ground
        found = self._names_of(thing).get(thing.name)
        return found is thing or (not self._distinct and id(thing) in map(id, self._elements))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all that was added, in order."""
        return (thing.name for thing in self._elements)

    def __len__(self) -> int:
        """Return how many things were added."""
        return len(self._elements)

    def compile(self, *, cut: Iterable[str] = (), floating: bool = False) -> "Model":
        """Check the description and turn it into an immutable Model.

        Loops are cut where it costs least. `cut` names joints that are to be cut, should it matter. Bodies
        that no joint connects to ground, but a constraint or a spring, get a Free joint: the first of each
        group of them, named for it: 'bob free'. With `floating`, so do those that nothing holds, which are a
        mistake otherwise. `model.notes` names what was added.
        """
        from linkwork.model.compile import compile_mechanism

        require("compile: cut", cut, Iterable, "names of joints")
        require("compile: floating", floating, bool, "True or False")
        return compile_mechanism(self, cut=cut, floating=floating)

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the mechanism to a `.json` file, all or nothing, or by an added format; `lw.load` reads it.

        Functions are written as formulas; one that cannot be is refused by name, with lw.FormatError.
        """
        from linkwork.formats import save

        save(self, Path(path))

    def assemble(self, branch: Any = None, t: float = 0.0) -> Any:
        """Draw the mechanism as it fits, drivers where their laws are at time t; return the poses by name.

        The nearest to the drawing; or `branch`: a number of `lw.assembly_modes`, or values by names of
        joints, or of bodies in the plane (their angle): of all modes the one nearest to these. AssemblyError
        says what stays open.
        """
        from linkwork.kinematics import assemble

        return assemble(self, branch, t)

    def plot(self, axes: Any = None, *, view: str = "xy", names: bool = True) -> Any:
        """Draw the mechanism with matplotlib, seen along an axis if it is in space; return the axes."""
        from linkwork.kinematics import plot

        return plot(self, axes, view=view, names=names)

    def __repr__(self) -> str:
        bodies = mechanism_text.count(self._bodies, "body", "bodies")
        joints = mechanism_text.count(self._joints, "joint")
        return f"Mechanism({self.name!r}, {bodies}, {joints})"

    def _repr_html_(self) -> str:
        """Show the mechanism in a notebook, in small tables."""
        return notebook.mechanism_html(self)

    def summary(self) -> str:
        """Summarise in a few lines what the mechanism is made of."""
        return mechanism_text.summary(self)


def _addable(thing: Any) -> str:
    """Say what to add in place of something that is no element."""
    if is_skin(thing):
        return "a shape is of a body, Body(name, shape, density=...), or of the ground, ground.add(shape)"
    if isinstance(thing, Input):
        return f"a law reads an input, as in Motor('motor', joint, Input({thing.name!r})); add that"
    return "give a Body, Joint, Constraint, Load or Contact"


def uses(user: Element, thing: Element) -> bool:
    """Whether one element refers to another, itself or by name."""
    if isinstance(user, Joint):
        return thing is user.parent or thing is user.child
    if isinstance(user, Load):
        return any(thing is used or thing.name == used for used in user.on)
    if isinstance(user, Contact):
        return any(thing is used or (isinstance(thing, Body) and thing.name == used) for used in user.on)
    if isinstance(user, Constraint):
        return any(thing is used or (isinstance(thing, Joint) and thing.name == used) for used in user.on)
    return False
