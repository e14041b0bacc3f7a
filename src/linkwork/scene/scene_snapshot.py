"""All that a scene is at a time, in memory: to take steps and edits back, and to compare to the bit."""

import hashlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.contact import Pair
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.actor import Actor
from linkwork.scene.handles import Handle
from linkwork.scene.plain_values import behaviour_read, behaviour_written
from linkwork.scene.scene_node import Group, Node
from linkwork.scene.unit import Unit

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class UnitThen:
    """A unit as it was."""

    unit: Unit
    what: tuple[Mechanism, Model, State]
    place: Array
    paused: bool
    passing: set[Pair]  # of its bodies, that pass through each other for now
    actors: tuple[
        tuple[Actor, tuple[str, ...], dict[str, Any], dict[str, Handle]], ...
    ]  # with their bodies, what is held back, and handles of them


@dataclass(frozen=True, eq=False)
class EncounterThen:
    """An encounter as it was."""

    names: tuple[str, ...]  # of its members
    units: tuple[Unit, ...]
    state: State
    offset: float
    resting: bool
    counts: tuple[int, int]  # calm, apart


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A scene as it was."""

    clock: tuple[float, ...]
    units: tuple[UnitThen, ...]
    encounters: tuple[EncounterThen, ...]
    tree: tuple[tuple[Group, tuple[Node, ...]], ...]
    behaviours: tuple[Any, ...]
    random: Any
    numbers: int
    labels: tuple[dict[Any, str], dict[str, Any]]  # of bodies in the record

    @classmethod
    def of(cls, scene: "Scene") -> "Snapshot":
        """Take one; what is in it is shared until it is edited."""
        units = tuple(
            UnitThen(
                unit,
                unit.share(),
                unit.place,
                unit.paused,
                scene.passing.of(unit),
                tuple((actor, actor.names, dict(actor.held), actor.handles) for actor in unit.actors),
            )
            for unit in scene.units
        )
        encounters = tuple(
            EncounterThen(one.names, one.units, one.state, one.offset, one.resting, (one.calm, one.apart))
            for one in scene.encounters.all
        )
        tree = tuple((group, group.children) for group in scene.groups)
        behaviours = tuple((each, behaviour_written(each, loose=True)) for each in scene.behaviours)
        clock = tuple(scene.clock_numbers())
        random, labels = scene.random.bit_generator.state, scene.record.labels
        return cls(clock, units, encounters, tree, behaviours, random, scene.last_number, labels)

    def apply(self, scene: "Scene") -> None:
        """Make the scene what it was."""
        for one in list(scene.encounters.all):
            scene.encounters.end(one, states=False, memory=False)
        for unit in scene.units:
            unit.give_back()
        scene.set_clock(self.clock)
        statics = scene.statics
        for group in scene.groups:
            group.have(())
        for group, children in self.tree:
            group.have(children)
        if scene.statics != statics:
            scene.encounters.forget_models()
            scene.forget_known()
        scene.units[:] = [then.unit for then in self.units]
        for then in self.units:
            unit = then.unit
            unit.place, unit.paused, unit.actors = then.place, then.paused, []
            scene.passing.have(unit, then.passing)
            unit.become(*then.what)
            unit.settle(then.what[2])
            for actor, names, held, handles in then.actors:
                actor.return_to(unit, names, held, handles)
        for then in self.encounters:
            made = scene.encounters.resume(then.units, then.names, then.state, then.offset, then.resting)
            made.calm, made.apart = then.counts
        for then in self.units:
            if then.unit.encounter is None:
                scene.rest(then.unit)
        scene.random.bit_generator.state = self.random
        scene.last_number = self.numbers
        kept = []
        for each, data in self.behaviours:
            vars(each).clear()
            vars(each).update(vars(behaviour_read(data, scene, "snapshot", loose=True)))
            kept.append(each)
        scene.have_behaviours(kept)
        scene.record.forget_after(scene.time, self.labels)

    @property
    def digest(self) -> str:
        """A digest of the time, and of positions and velocities of all mechanisms, to the bit."""
        found = hashlib.sha256(np.array(self.clock[:1]).tobytes())
        for then in self.units:
            state = then.what[2]
            found.update(state.q.tobytes() + state.v.tobytes())
            found.update(repr([(actor.name, names) for actor, names, *_ in then.actors]).encode())
        return found.hexdigest()


class Rewind:
    """The last snapshots of a scene."""

    def __init__(self, scene: "Scene", most: int) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ValueError(f"scene: rewind {most!r}; give how many steps to keep, 0 or more")
        self._scene, self.most = scene, most
        self._kept: deque[tuple[str, Snapshot]] = deque(maxlen=2 * most)
        self._editing = False

    def keep(self) -> None:
        """Keep what the scene is now, before a step, if it is to be."""
        if self.most:
            self._kept.append(("step", Snapshot.of(self._scene)))

    @contextmanager
    def edit(self) -> Iterator[None]:
        """Keep what the scene was before an edit, if that succeeds; what it is made of does not count."""
        if self._editing or not self.most:
            yield
            return
        before, self._editing = Snapshot.of(self._scene), True
        try:
            yield
        finally:
            self._editing = False
        self._kept.append(("edit", before))

    def back(self, count: int, what: str = "step") -> None:
        """Take steps or edits back, and all that came after them."""
        there = sum(word == what for word, _ in self._kept)
        if isinstance(count, bool) or not isinstance(count, int) or not 0 < count <= there:
            raise ModelError(
                f"scene: {count!r} {what}s to take back; {there} are kept"
                + ("" if self.most else ": make it with lw.Scene(rewind=600)")
            )
        word, then = self._kept.pop()
        while (count := count - (word == what)) > 0:
            word, then = self._kept.pop()
        then.apply(self._scene)

    def __len__(self) -> int:
        return sum(word == "step" for word, _ in self._kept)
