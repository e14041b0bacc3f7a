"""Who is simulated with whom: units whose boxes come near are joined, and parted when they stay apart."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.errors import SimulationError
from linkwork.model.carried_contacts import carried_contacts
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.encounter import Begun, Encounter, at_time
from linkwork.scene.joined_model import Joined, Member, alone, grown, joined_state, members, together
from linkwork.scene.lane_group import LaneGroup
from linkwork.scene.unit import Unit
from linkwork.simulation.options import ACCURACY
from linkwork.simulation.stepping import Simulation

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray

_KEPT = 24  # models of units together, that may be needed again
_IDLE = 1  # simulations of one of them that are kept for later
_LOOKED_AT = 8  # sleepers in each step: looking takes some microseconds
_ALIKE = 2  # encounters of one model are a group
_APART = 30  # steps that units stay apart before they are parted


class _Before(NamedTuple):
    """Units that were together, as they were.

    If no time has passed since they were put together, there was no model of them; `joined` is the one before
    that then, if there was one. So it makes no difference whether somebody has asked for their state.
    """

    members: tuple[Member, ...]
    joined: Joined | None
    memory: Any  # of their contacts, in the model that they were joined to


class Encounters:
    """The encounters of a scene."""

    def __init__(self, scene: "Scene", threads: int) -> None:
        self._scene, self._threads = scene, threads
        self.all: list[Encounter] = []
        self.awake: list[Encounter] = []
        self._known: OrderedDict[Any, Joined] = OrderedDict()
        self._since: dict[Encounter, _Before | None] = {}  # of those that have not begun
        self._pool = ThreadPoolExecutor(threads - 1, "scene") if threads > 1 else None
        self._changed = True
        self._groups: dict[Any, LaneGroup] = {}  # by model and offset
        self._resting: _Boxes | None = None
        self._following: deque[Encounter] = deque()  # those asleep whose laws read from outside

    # making them

    def begin(
        self, units: Sequence[Unit], states: Sequence[State] | None = None, since: "_Before | None" = None
    ) -> Encounter:
        """Simulate units together from now on, from their states; some may have been together before."""
        parts = dict(zip(units, [unit.state for unit in units] if states is None else states, strict=True))
        since = since if len(units) > 1 else None
        used = since.joined.names if since and since.joined else ()
        ordered = members(since.members if since else (), units, used)
        made = Encounter(self._scene, ordered, lambda one: self._begun(one, parts), parts)
        self._since[made] = since
        return self._take(made)

    def resume(
        self, units: Sequence[Unit], names: Sequence[str], state: State, offset: float, rest: bool
    ) -> Encounter:
        """Simulate units together from the state of all, bit for bit as before."""
        joined = self._joined(units, names, None)
        begun = Begun(joined, self._made(joined, state, self._words(units)))
        same = [(unit, name, unit.model) for unit, name in zip(units, names, strict=True)]
        made = Encounter(self._scene, same, lambda _: begun)
        made.offset, made.resting = offset, rest
        return self._take(made)

    def _take(self, made: Encounter) -> Encounter:
        made.publish()
        self.all.append(made)
        self.regrouped()
        return made

    def end(self, encounter: Encounter, states: bool = True, memory: bool = True) -> "_Before | None":
        """Let units be on their own, at their `states`; return what they were together, with the `memory`."""
        parts = [unit.state_to_edit for unit in encounter.units] if states else []
        several, begun = len(encounter.units) > 1, encounter.has_begun
        kept = encounter.state_to_edit.memory if several and begun and memory else None
        for unit, state in zip(encounter.units, parts):
            unit.settle(state)
        for unit in encounter.units:
            unit.encounter = None
        if encounter.lane:
            encounter.lane[0].leave(encounter.lane[1])
        self.all.remove(encounter)
        self.regrouped()
        since = self._since.pop(encounter, None)
        if begun:
            since = _Before((), encounter.joined, kept)
            if len(encounter.joined.idle) < _IDLE:
                encounter.joined.idle.append(encounter.simulation)
        return (since or _Before((), None, None))._replace(members=encounter.members) if several else None

    def replace(self, encounter: Encounter, states: dict[Unit, State], gone: Sequence[Unit] = ()) -> None:
        """Go on with an encounter whose units have changed, or with some `gone`."""
        units = [unit for unit in encounter.units if unit not in gone]
        parts = [states.get(unit) or unit.state for unit in units]
        since = self.end(encounter, states=False)
        for unit, state in zip(units, parts, strict=True):
            unit.settle(state)
        if units:
            self.begin(units, parts, since)

    def fuse(self, unit: Unit, gone: Unit, become: Callable[[], State]) -> None:
        """Let a unit `become` what it is with another, which is `gone` then; return the state of both.

        Those that were near to one of them stay together with it, and contacts remember what they did.
        """
        states, since = dict[Unit, State](), list[_Before]()
        for one in {id(one): one for one in (unit.encounter, gone.encounter) if one}.values():
            states |= {each: each.state for each in one.units if each not in (unit, gone)}
            before = self.end(one, states=False)
            since += [before] if before else []
        t = self._scene.time
        for each, state in states.items():
            each.settle(at_time(state, t))
        states[unit] = become()
        ordered = list(states)
        parts = [at_time(state, t) for state in states.values()] if len(states) > 1 else [states[unit]]
        self.begin(ordered, parts, max(since, key=lambda before: len(before.members), default=None))

    def regrouped(self) -> None:
        """Know that there are other encounters, or others awake."""
        self._changed = True

    def forget_models(self) -> None:
        """Forget models of units together: what all of them meet has changed."""
        self._known.clear()
        self._since = dict.fromkeys(self._since)
        for one in self.all:
            if one.has_begun:
                one.joined.whole = None

    def model_of(self, units: Sequence[Unit], names: Sequence[str]) -> Model:
        """Return the model of units together, as members of these names."""
        return self._joined(units, names, None).model

    def _begun(self, one: Encounter, parts: dict[Unit, State]) -> Begun:
        """Make the model and the simulation of an encounter."""
        since = self._since.pop(one, None)
        before = since.joined if since else None
        joined = self._joined(one.units, one.names, before)
        memory = carried_contacts(before.model, joined.model, since.memory) if since and before else None
        state = joined_state(joined, [parts[unit] for unit in one.units], memory)
        return Begun(joined, self._simulation(one.units, joined, state))

    def _joined(self, units: Sequence[Unit], names: Sequence[str], before: Joined | None) -> Joined:
        places = tuple(unit.place.tobytes() for unit in units)
        key = (*(id(unit.model) for unit in units), *places, *names)
        known = self._known.get(key)
        if known is None:
            self._forget_gone()
            known = self._known[key] = self._new(units, names, before)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return known

    def _forget_gone(self) -> None:
        """Forget what was made of models that no unit has any more: they were edited, or have left."""
        there = {unit.model for unit in self._scene.units}
        for key in [key for key, one in self._known.items() if not there.issuperset(one.models)]:
            del self._known[key]

    def _new(self, units: Sequence[Unit], names: Sequence[str], before: Joined | None) -> Joined:
        if len(units) == 1:
            return alone(units[0])
        whole = before.whole if before else None
        if whole and 2 * whole.shared(units, names) > sum(len(unit.numbers) for unit in units):
            return grown(whole, units, names)
        return together(units, names, self._scene.gravity, self._scene.statics)

    def _words(self, units: Sequence[Unit]) -> tuple[float | None, float | None]:
        """Return accuracy and largest step of units; None: steps of the scene."""
        alone = units[0] if len(units) == 1 else None
        if alone and (alone.accuracy is not None or not alone.touches):
            return alone.accuracy or ACCURACY, alone.max_step
        return None, None

    def _simulation(self, units: Sequence[Unit], joined: Joined, state: State) -> Simulation:
        words = self._words(units)
        for k, one in enumerate(joined.idle):
            if words == (None, None) and one.model is joined.model:
                del joined.idle[k]
                one.reset(state)
                return one
        return self._made(joined, state, words)

    def _made(self, joined: Joined, state: State, words: tuple[float | None, float | None]) -> Simulation:
        accuracy, most = words
        if accuracy is None:
            return Simulation(joined.model, state, step=self._scene.step_size, record=False, threads=1)
        return Simulation(joined.model, state, accuracy=accuracy, max_step=most, record=False, threads=1)

    # who is near

    def update(self, h: float) -> None:
        """Join what comes near within a time h, and part what has stayed apart."""
        self._look_again()
        moving = [unit for one in self.awake for unit in one.units if unit.touches]
        if not moving:
            return
        near = _Near(_Boxes(self._scene, moving, h), self._rest(h))
        for one in [one for one in self.awake if len(one.units) > 1]:
            self._part(one, near)
        links = near.links_between()
        for near_each_other in _components(links):
            self.join(near_each_other)

    def _look_again(self) -> None:
        if self._changed:
            self.awake = [one for one in self.all if not one.resting]
            self._following = deque(one for one in self.all if one.resting and one.follows)
            self._changed, self._resting = False, None

    def _rest(self, h: float) -> "_Boxes":
        """Return the boxes of what sleeps, which stay the same as long as nothing wakes or falls asleep."""
        if self._resting is None:
            resting = [unit for one in self.all if one.resting for unit in one.units if unit.touches]
            self._resting = _Boxes(self._scene, resting, h)
        return self._resting

    def join(self, encounters: Iterable[Encounter]) -> Encounter:
        """Simulate the units of several encounters together."""
        units, states = list[Unit](), dict[Unit, State]()
        t = self._scene.time
        since: _Before | None = None
        for one in encounters:
            units += one.units
            states |= {unit: unit.state_to_edit for unit in one.units}
            before = self.end(one)
            if before and (since is None or len(before.members) > len(since.members)):
                since = before
        clock = min(state.t for state in states.values()) if len(states) == 1 else t
        ordered = sorted(units, key=lambda unit: unit.number)
        return self.begin(ordered, [at_time(states[unit], clock) for unit in ordered], since)

    def _part(self, one: Encounter, near: "_Near") -> None:
        """Part an encounter whose units have stayed apart."""
        parts = near.parts_of(one)
        one.apart = one.apart + 1 if len(parts) > 1 else 0
        if one.apart >= _APART:
            states = {unit: unit.state for unit in one.units}
            since = self.end(one)
            for units in sorted(parts, key=len, reverse=True):  # the largest grows from what it was part of
                self.begin(units, [states[unit] for unit in units], since)
                since = None

    # time

    def advance(self, t: float) -> None:
        """Bring all that is awake to a time; each encounter is computed by one thread, whichever it is."""
        self._look_again()
        self._look_at_sleepers()
        self._look_again()
        alone = [one for one in self.awake if one.lane is None]
        left = self._advance_groups(t)
        for one in alone:
            one.begin()
        if self._pool is None or len(alone) < 2:
            for one in alone:
                _advance(one, t)
        else:
            self._share_out(alone, t)
        alone += left
        for one in alone:
            one.publish()
            if one.fall_asleep():
                self._changed = True
        self._group(alone)

    def _advance_groups(self, t: float) -> list[Encounter]:
        """Bring those in groups to a time; return those that have left, and are there, too."""
        left = list[Encounter]()
        for (_, offset), group in list(self._groups.items()):
            if not len(group):
                continue
            given = self._pool, self._threads
            left += group.advance(max(t - offset, group.t), lambda one: _advance(one, t), *given)
            group.publish(self._scene.arrays)
            for one in group.calmed():
                self._changed |= one.fall_asleep()
        return left

    def _group(self, alone: Sequence[Encounter]) -> None:
        """Let those that are alike go on together."""
        for one in alone:
            if not one.fits_lanes or one.resting or one.pauses():
                continue
            key = one.model, one.offset
            if key not in self._groups:
                if sum(other.has_begun and other.model is one.model for other in self.awake) < _ALIKE:
                    continue
                self._groups = {k: group for k, group in self._groups.items() if len(group)}
                self._groups[key] = LaneGroup(one.model, self._scene.step_size, one.time)
            group = self._groups[key]
            if not len(group):
                group.t = one.time
            if group.able and group.t == one.time:
                group.take(one, self._scene.arrays)

    def _look_at_sleepers(self) -> None:
        """Wake those whose laws have become others, by what they read from outside: a few in each step."""
        for _ in range(min(_LOOKED_AT, len(self._following))):
            self._following.rotate(-1)
            if self._following[0].simulation.laws_changed:
                self._following[0].wake()

    def _share_out(self, alone: Sequence[Encounter], t: float) -> None:
        """Let all threads take encounters until none is left, the largest first."""
        waiting = iter(sorted(alone, key=lambda one: -one.model.nv))

        def work() -> None:
            for one in waiting:
                _advance(one, t)

        assert self._pool
        others = [self._pool.submit(work) for _ in range(self._threads - 1)]
        try:
            work()
        finally:
            faults = [other.exception() for other in others]
        for fault in faults:
            if fault:
                raise fault


def _advance(one: Encounter, t: float) -> None:
    try:
        one.advance(t)
    except SimulationError as error:
        names = ", ".join(repr(actor.path) for unit in one.units for actor in unit.actors[:3])
        raise SimulationError(f"scene: {names}: {error}") from error


def _components(links: Iterable[tuple[Encounter, Encounter]]) -> list[list[Encounter]]:
    """Return the groups that links make of encounters."""
    group: dict[Encounter, list[Encounter]] = {}
    for a, b in links:
        one, other = group.setdefault(a, [a]), group.setdefault(b, [b])
        if one is not other:
            one += other
            group.update(dict.fromkeys(other, one))
    return list({id(members): members for members in group.values()}.values())


class _Boxes:
    """The boxes that units can be in during a step, and those of each of their bodies."""

    def __init__(self, scene: "Scene", units: list[Unit], h: float) -> None:
        self.units = units
        if not units:
            self.lows = self.highs = np.zeros((0, 3))
            return
        rows = np.concatenate([unit.touching for unit in units])
        fall = 0.5 * h * h * float(np.linalg.norm(scene.gravity))
        self._low, self._high = scene.arrays.reached(rows, h, fall)
        self._starts = np.cumsum([0, *(len(unit.touching) for unit in units)])
        self.lows = np.minimum.reduceat(self._low, self._starts[:-1])
        self.highs = np.maximum.reduceat(self._high, self._starts[:-1])

    def bodies_of(self, k: int) -> tuple[Array, Array]:
        """Return the boxes (n, 3), (n, 3) of the bodies of an unit."""
        part = slice(self._starts[k], self._starts[k + 1])
        return self._low[part], self._high[part]


class _Near:
    """Which units may touch within a step: by boxes of units first, then by those of their bodies."""

    def __init__(self, moving: _Boxes, resting: _Boxes) -> None:
        self._pairs: list[tuple[Unit, Unit]] = []
        for others in (moving, resting):
            over = np.ones((len(moving.units), len(others.units)), bool)
            for k in range(3):
                over &= moving.lows[:, None, k] <= others.highs[None, :, k]
                over &= moving.highs[:, None, k] >= others.lows[None, :, k]
            for i, j in zip(*(which.tolist() for which in np.nonzero(over)), strict=True):
                if (others is resting or i < j) and _touch(moving.bodies_of(i), others.bodies_of(j)):
                    self._pairs.append((moving.units[i], others.units[j]))

    def links_between(self) -> list[tuple[Encounter, Encounter]]:
        """Return the encounters that come near to each other."""
        found = {}
        for a, b in self._pairs:
            one, other = a.encounter, b.encounter
            if one is not None and other is not None and one is not other:
                found[id(one), id(other)] = one, other
        return list(found.values())

    def parts_of(self, one: Encounter) -> list[list[Unit]]:
        """Return the units of an encounter, those together that are near to each other."""
        group = {unit: [unit] for unit in one.units}
        for a, b in self._pairs:
            if a in group and b in group and group[a] is not group[b]:
                other = group[b]
                group[a] += other
                group.update(dict.fromkeys(other, group[a]))
        return list({id(members): members for members in group.values()}.values())


def _touch(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether a box of some bodies overlaps one of others."""
    over = (one[0][:, None] <= other[1][None]) & (one[1][:, None] >= other[0][None])
    return bool(over.all(axis=2).any())
