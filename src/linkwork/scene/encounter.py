"""Mechanisms that are near to each other, simulated as one; one that is near to none, alone.

A scene is not one large model: every edit would then cost what all of it costs (measured for 100 ragdolls of
15 bodies: growing the model 100 ms, a Simulation of it 900 ms; of the edited ragdoll alone 2 ms and 8 ms).
So each mechanism keeps a model of its own, with the static shapes in it, and those whose boxes come near are
joined for as long as they stay near. What is far from each other cannot act on each other within a step, so
nothing is lost; an edit, a sleeper and one that is culled cost what their own encounter costs, identical
mechanisms share one model and its native code, and encounters are what threads share out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.time_stepping.lanes import Lanes
from linkwork.dynamics import velocities
from linkwork.mechanism.merge import SEPARATOR
from linkwork.model.following import FollowingModel
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.joined_model import Joined, Member
from linkwork.scene.lane_group import CALM, LaneGroup
from linkwork.scene.unit import Unit
from linkwork.simulation.lane_steps import next_pause
from linkwork.simulation.stepping import Simulation

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


class Begun(NamedTuple):
    """What makes time pass for units."""

    joined: Joined
    simulation: Simulation


class Encounter:
    """Actors that are simulated together."""

    def __init__(
        self,
        scene: "Scene",
        members: Sequence[Member],
        begins: Callable[["Encounter"], Begun],
        parts: Any = None,
    ) -> None:
        """Take units, with their names and models, and what makes their simulation.

        That is done when time passes, or somebody asks; `parts` are the states of units until then. If they
        are not given, the simulation begins at once.
        """
        self.members, self._scene, self._begins = tuple(members), scene, begins
        self.units = tuple(unit for unit, _, _ in members)
        self._parts: dict[Unit, State] | None = parts
        self._begun: Begun | None = None
        self.resting, self.calm, self.apart = False, 0, 0
        self.lane: tuple[LaneGroup, int] | None = None  # where it goes on together with others of its model
        self._pause = self._last_pause = 0  # steps until it goes by a lane again
        self._span = 0.0
        self.events: list[Any] = []  # of the last step
        self.reactions: Any = None  # of joints in the last step, if somebody asked
        self._state: State | None = None
        self._to_edit: State | None = None
        t = self.begin().simulation.t if parts is None else parts[self.units[0]].t
        self.offset = scene.time - t  # of the clock of the scene, seen from its own [s]
        for unit in self.units:
            unit.encounter = self

    def begin(self) -> Begun:
        """Return the model and the simulation of all units; they are made if they are not there yet."""
        if self._begun is None:
            begun = self._begun = self._begins(self)
            self._parts = None
            self._q, self._v = begun.simulation.q, begun.simulation.v
            self._before = self._v
        return self._begun

    @property
    def has_begun(self) -> bool:
        """Whether its simulation was made."""
        return self._begun is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of units as members; "" of one alone."""
        return ("",) if len(self.units) == 1 else tuple(name for _, name, _ in self.members)

    @property
    def joined(self) -> Joined:
        """The units together."""
        return self.begin().joined

    @property
    def simulation(self) -> Simulation:
        """What moves them."""
        if self.lane:
            self.lane[0].leave(self.lane[1])
        return self.begin().simulation

    @property
    def q(self) -> Array:
        """Where they are (nq,)."""
        return self.lane[0].lanes.q[self.lane[1]].copy() if self.lane else self._q

    @property
    def v(self) -> Array:
        """How they move (nv,)."""
        return self.lane[0].lanes.v[self.lane[1]].copy() if self.lane else self._v

    @property
    def before(self) -> Array:
        """The velocities before the last step (nv,)."""
        return self.lane[0].lanes.before[self.lane[1]].copy() if self.lane else self._before

    @property
    def span(self) -> float:
        """How long the last step was [s]."""
        return self.lane[0].span if self.lane and not self._span else self._span

    @property
    def model(self) -> Model:
        """The model of all units."""
        return self.joined.model

    @property
    def time(self) -> float:
        """The clock of the units [s]."""
        if self.lane:
            return self.lane[0].t
        return self._parts[self.units[0]].t if self._parts else self.simulation.t

    def prefix(self, unit: Unit) -> str:
        """Return what stands in front of the names of an unit here."""
        return self.joined.prefixes[self.units.index(unit)]

    # on the way

    def advance(self, t: float) -> None:
        """Go on to a time of the scene."""
        simulation = self.simulation
        self._state = self._to_edit = self.reactions = None
        self._before = self._v
        begun = simulation.t
        simulation.go_to(max(t - self.offset, begun))
        self._span = simulation.t - begun
        self.events = simulation.take_events()
        before, self._q, self._v = self._q, simulation.q, simulation.v
        still = not self._v.any() and not self._before.any() and np.array_equal(before, self._q)
        self.calm = self.calm + 1 if still and not self.joined.timed else 0

    def forget_step(self) -> None:
        """Know nothing of the last step: another is taken, in a group."""
        self._state = self._to_edit = self.reactions = None
        self.events, self._span = [], 0.0

    def stay_out_of_lanes(self, went: float) -> None:
        """Let a lane that failed after it went some steps not be tried again at once."""
        self._pause = self._last_pause = next_pause(self._last_pause, went)

    def pauses(self) -> bool:
        """Return whether lanes are not tried after this step."""
        self._pause = max(self._pause - 1, -1)
        return self._pause >= 0

    def leave_lane(self, lanes: Lanes, i: int, t: float, span: float) -> None:
        """Go on from where a lane is, at a time of its clock, after a step of a group."""
        assert self._begun
        if not self._span:
            self._before = lanes.before[i].copy()
            self._q, self._v, self._span = lanes.q[i].copy(), lanes.v[i].copy(), span
        self._begun.simulation.leave_lane(lanes, i, t)

    def publish(self) -> None:
        """Write where bodies are to the arrays of the scene."""
        for unit in self.units:
            X, V = placed_bodies(unit.model, self.positions(unit), self.velocities(unit))
            unit.write(X[unit.model_rows], V[unit.model_rows])

    @property
    def follows(self) -> bool:
        """Whether its laws read from outside what can change."""
        return self.has_begun and isinstance(self.model, FollowingModel)

    @property
    def fits_lanes(self) -> bool:
        """Whether it is one unit, seen from the ground of the scene: others of its model may be like it."""
        return len(self.units) == 1 and not self.units[0].placed and not self.follows

    def fall_asleep(self) -> bool:
        """Rest if nothing has moved for a while; return whether it does from now on."""
        if self.calm >= CALM and not self.resting:
            self.resting, self.events = True, []
            return True
        return False

    def wake(self) -> None:
        """Go on from now; its clock has not moved on meanwhile, and nothing in it depends on that."""
        if self.resting:
            self.offset = self._scene.time - self.time
            self.resting, self.calm = False, 0
            self._scene.regrouped()

    # what it is

    @property
    def state(self) -> State:
        """The state of all units."""
        if self._parts and len(self.units) == 1:
            return self._parts[self.units[0]]
        if self._state is None or self.simulation.inputs.written[0]:
            self._state = self.simulation.state
        return self._state

    @property
    def state_to_edit(self) -> State:
        """The state of all units for models that are edited; see `Simulation.state_to_edit`."""
        if self._parts:
            return self.state
        if self._to_edit is None or self.simulation.inputs.written[0]:
            self._to_edit = self.simulation.state_to_edit
        return self._to_edit

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

    def part(self, unit: Unit, state: State | None = None) -> State:
        """Return the state of an unit, in the coordinates of its own model; that of all may be given."""
        if self._parts:
            return self._parts[unit]
        if state is None:
            state = self.state if len(self.units) == 1 else self.state_to_edit
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
        if self._parts:
            return self._parts[unit].q
        return self.q[self.joined.columns[self.units.index(unit)][0]]

    def velocities(self, unit: Unit) -> Array:
        """Return the velocities (nv,) of an unit."""
        if self._parts:
            return self._parts[unit].v
        return self.v[self.joined.columns[self.units.index(unit)][1]]


def placed_bodies(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Return poses (bodies, 3, 4) and velocities (bodies, 6) of all bodies of a model, angular first."""
    X, V = model.kernel_of(velocities.PLACED, form="rolled")(q, v)
    return X, V


def at_time(state: State, t: float) -> State:
    """Return a state at another time; steps begin anew there."""
    return replace(state, t=t, memory=None)
