"""Mechanisms that are near to each other, simulated as one; one that is near to nobody, alone.

A scene is not one large model: every edit would then cost what all of it costs (measured for 100 ragdolls of
15 bodies: growing the model 100 ms, a Simulation of it 900 ms; of the edited ragdoll alone 2 ms and 8 ms).
So each mechanism keeps a model of its own, with the static shapes in it, and those whose boxes come near are
joined for as long as they stay near. What is far from each other cannot act on each other within a step, so
nothing is lost; an edit, a sleeper and one that is culled cost what their own encounter costs, identical
mechanisms share one model and its native code, and encounters are what threads share out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import velocities
from linkwork.mechanism.contact import contact_of_all
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.merge import SEPARATOR, add_member
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.rigid_frames import HERE, frame_of
from linkwork.scene.scene_mechanism import CONTACT, add_statics, own_elements
from linkwork.scene.scene_node import Static
from linkwork.scene.unit import Unit
from linkwork.simulation.stepping import Simulation

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray

_CALM = 2  # steps without any motion after which an encounter sleeps


@dataclass(frozen=True, eq=False)
class Joined:
    """The model of units together: what is in it under the names "0/knee", "1/knee"; of one, its own."""

    models: tuple[Model, ...]  # of the units alone
    model: Model
    prefixes: tuple[str, ...]
    columns: tuple[tuple[Any, Any], ...]  # of each unit: where its q and v are
    rows: tuple[Array, ...]  # of each unit: the rows of its bodies
    timed: bool  # whether time alone can move it
    idle: list[Simulation] = field(default_factory=list)  # simulations that nobody uses now

    @classmethod
    def of(cls, units: Sequence[Unit], statics: Iterable[Static]) -> "Joined":
        """Join units."""
        models = tuple(unit.model for unit in units)
        if len(units) == 1:
            model, rows = models[0], units[0].model_rows
            return cls(models, model, ("",), ((slice(None), slice(None)),), (rows,), _timed(model))
        whole = Mechanism("encounter", gravity=models[0].gravity)
        prefixes = tuple(f"{k}{SEPARATOR}" for k in range(len(units)))
        for k, unit in enumerate(units):
            chosen = [*own_elements(unit.mechanism), unit.mechanism.contacts[CONTACT]]
            place = frame_of(unit.place)
            add_member(whole, str(k), unit.mechanism, place, chosen)
        contact = contact_of_all(whole)
        assert contact is not None
        contact._name = CONTACT
        whole._list_again(whole._contacts)
        add_statics(whole, statics, HERE)
        cut = [
            prefix + joint
            for prefix, model in zip(prefixes, models, strict=True)
            for joint in model.loop_names
            if joint in model.mechanism.joints
        ]
        model = whole.compile(cut=cut, floating=True)
        columns = tuple(_columns(own, model, prefix) for own, prefix in zip(models, prefixes, strict=True))
        rows = tuple(
            np.array([model.body_rows[prefix + own.body_names[row]] for row in unit.model_rows], np.int64)
            for unit, own, prefix in zip(units, models, prefixes, strict=True)
        )
        return cls(models, model, prefixes, columns, rows, _timed(model))


def _timed(model: Model) -> bool:
    """Whether forces can change while nothing moves: by time, or by controllers."""
    laws = (*model.smooth_tree.loads, *model.smooth_tree.loops)
    sampled = any(type(load).__name__ == "Sampled" for load in model.mechanism.loads.values())
    return sampled or bool(model.mechanism.drivers) or any(one.timed or one.formula is None for one in laws)


def _columns(model: Model, whole: Model, prefix: str) -> tuple[Array, Array]:
    """Return where positions and velocities of an unit are among those of all."""
    q, v = np.zeros(model.nq, np.int64), np.zeros(model.nv, np.int64)
    for joint, (own_q, own_v) in model.slices.items():
        if joint.startswith(SEPARATOR):
            continue
        at_q, at_v = whole.slices[prefix + joint]
        q[own_q], v[own_v] = np.arange(at_q.start, at_q.stop), np.arange(at_v.start, at_v.stop)
    unknowns = {loop.name: loop for loop in whole.link_tree.loops if loop.drawn}
    for loop in model.link_tree.loops:
        if loop.drawn:
            at = unknowns[prefix + loop.name].u
            q[loop.u : loop.u + len(loop.drawn)] = np.arange(at, at + len(loop.drawn))
    return q, v


class Encounter:
    """Actors that are simulated together."""

    def __init__(self, scene: "Scene", units: Sequence[Unit], joined: Joined, simulation: Simulation) -> None:
        self.units, self.joined, self.simulation, self._scene = tuple(units), joined, simulation, scene
        self.offset = scene.time - simulation.t  # of the clock of the scene, seen from its own [s]
        self.resting, self.calm, self.apart = False, 0, 0
        self.q, self.v = simulation.q, simulation.v  # where it is
        self.before = self.v  # the velocities before the last step
        self.span = 0.0  # of the last step [s]
        self.events: list[Any] = []  # of the last step
        self.reactions: Any = None  # of joints in the last step, if somebody asked
        self._state: State | None = None
        for unit in units:
            unit.encounter = self

    @property
    def model(self) -> Model:
        """The model of all units."""
        return self.joined.model

    @property
    def time(self) -> float:
        """The clock of the units [s]."""
        return self.simulation.t

    def prefix(self, unit: Unit) -> str:
        """Return what stands in front of the names of an unit here."""
        return self.joined.prefixes[self.units.index(unit)]

    # on the way

    def advance(self, t: float) -> None:
        """Go on to a time of the scene."""
        self._state, self.reactions, self.before = None, None, self.v
        begun = self.simulation.t
        self.simulation.go_to(max(t - self.offset, begun))
        self.span = self.simulation.t - begun
        self.events = self.simulation.take_events()
        before, self.q, self.v = self.q, self.simulation.q, self.simulation.v
        still = not self.v.any() and not self.before.any() and np.array_equal(before, self.q)
        self.calm = self.calm + 1 if still and not self.joined.timed else 0

    def publish(self) -> None:
        """Write where bodies are to the arrays of the scene."""
        X, V = self.placed = placed_bodies(self.model, self.q, self.v)
        if len(self.units) == 1:
            self.units[0].write(X[self.joined.rows[0]], V[self.joined.rows[0]])
            return
        arrays = self._scene.arrays
        for unit, rows in zip(self.units, self.joined.rows, strict=True):
            arrays.poses[unit.rows], arrays.velocities[unit.rows] = X[rows], V[rows]

    def fall_asleep(self) -> bool:
        """Rest if nothing has moved for a while; return whether it does from now on."""
        if self.calm >= _CALM and not self.resting:
            self.resting, self.events = True, []
            return True
        return False

    def wake(self) -> None:
        """Go on from now; its clock has not moved on meanwhile, and nothing in it depends on that."""
        if self.resting:
            self.offset = self._scene.time - self.simulation.t
            self.resting, self.calm = False, 0
            self._scene.regrouped()

    # what it is

    @property
    def state(self) -> State:
        """The state of all units."""
        if self._state is None or self.simulation.inputs.written[0]:
            self._state = self.simulation.state
        return self._state

    @property
    def last_step(self) -> float:
        """How long the last step was, of those that steps of the scene are made of [s]."""
        return min(self.span or self._scene.step_size, self._scene.step_size)

    def node_of_row(self, row: int) -> Any:
        """Return the body of a row of the model, or the static shapes."""
        return self.node_of_name(self.model.body_names[row] if row >= 0 else "ground")

    def node_of_name(self, name: str) -> Any:
        """Return the body or joint of a name in the model, or the static shapes."""
        if name.startswith(SEPARATOR):
            return self._scene[name[1:]]
        for unit, prefix in zip(self.units, self.joined.prefixes, strict=True):
            own = name.removeprefix(prefix)
            if name.startswith(prefix) and (own in unit.numbers or own in unit.mechanism.joints):
                return self._scene.handle_in(unit, own)
        return self._scene

    def part(self, unit: Unit) -> State:
        """Return the state of an unit, in the coordinates of its own model."""
        state = self.state
        if len(self.units) == 1:
            return state
        k = self.units.index(unit)
        (at_q, at_v), prefix = self.joined.columns[k], self.joined.prefixes[k]
        own = [
            {word.removeprefix(prefix): value for word, value in words.items() if word.startswith(prefix)}
            for words in (state.inputs, state.controllers)
        ]
        return State(state.q[at_q], state.v[at_v], state.t, None, own[0], unit.model.slices, own[1])

    def positions(self, unit: Unit) -> Array:
        """Return the positions (nq,) of an unit."""
        return self.q[self.joined.columns[self.units.index(unit)][0]]

    def velocities(self, unit: Unit) -> Array:
        """Return the velocities (nv,) of an unit."""
        return self.v[self.joined.columns[self.units.index(unit)][1]]


def joined_state(joined: Joined, states: Sequence[State]) -> State:
    """Return the state of units together, at the time of the first."""
    if len(states) == 1:
        return states[0]
    model = joined.model
    q, v = model.q_drawn.copy(), np.zeros(model.nv)
    inputs, controllers = dict[str, Any](), dict[str, Any]()
    for state, (at_q, at_v), prefix in zip(states, joined.columns, joined.prefixes, strict=True):
        q[at_q], v[at_v] = state.q, state.v
        inputs |= {prefix + word: value for word, value in state.inputs.items()}
        controllers |= {prefix + word: value for word, value in state.controllers.items()}
    return State(q, v, states[0].t, None, inputs, model.slices, controllers)


def placed_bodies(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Return poses (bodies, 3, 4) and velocities (bodies, 6) of all bodies of a model, angular first."""
    X, V = model.kernel_of(velocities.PLACED, form="rolled")(q, v)
    return X, V


def at_time(state: State, t: float) -> State:
    """Return a state at another time; steps begin anew there."""
    return replace(state, t=t, memory=None)
