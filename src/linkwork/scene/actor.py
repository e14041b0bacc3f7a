"""A mechanism in a scene: bodies and joints by name, and all that can be done to it."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.handles import BodyHandle, Handle, JointHandle
from linkwork.scene.scene_node import Group, Node
from linkwork.scene.unit import Unit
from linkwork.simulation.controllers import writers
from linkwork.simulation.held_inputs import HeldInputs
from linkwork.spelling import spelled_methods

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray


@spelled_methods
class Actor(Node):
    """A mechanism in a scene: `robot["knee"].position`, `robot.detach("forearm")`.

    It is a copy of what was added. What was detached from another is one too, with the bodies it took along;
    both are described by the mechanism of their unit, until one of them is paused or removed.
    """

    def __init__(self, name: str, parent: Group, unit: Unit, bodies: list[str]) -> None:
        super().__init__(name, parent)
        self._unit, self._names = unit, bodies
        unit.actors.append(self)
        self.held: dict[str, Any] = {}  # what a level of detail has taken away, to be put back
        self._handles: dict[str, Handle] = {}
        self._start: tuple[Mechanism, Model, State] | None = None

    @property
    def scene(self) -> "Scene":
        """The scene it is in."""
        if self._parent is None:
            raise ModelError(f"{self.name!r} was removed from its scene")
        return self._parent.scene

    @property
    def unit(self) -> Unit:
        """What it is simulated as, perhaps with others that came from it."""
        return self._unit

    @property
    def mechanism(self) -> Mechanism:
        """Its description, with static shapes of the scene as fixed bodies, "/floor"."""
        return self._unit.mechanism

    @property
    def model(self) -> Model:
        """The model of its mechanism."""
        return self._unit.model

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its bodies."""
        return tuple(self._names)

    @property
    def children(self) -> tuple[Any, ...]:
        """Its bodies."""
        return tuple(self[name] for name in self._names)

    @property
    def joints(self) -> Mapping[str, JointHandle]:
        """Its joints by name."""
        own = {*self._names, "ground"}
        joints = self.mechanism.joints
        return {name: self[name] for name, joint in joints.items() if own.issuperset(joint.ends)}

    def __getitem__(self, name: str) -> Any:
        """Return a body or a joint by name."""
        if name not in self._handles:
            if name in self._names:
                self._handles[name] = BodyHandle(self, name)
            elif name in self:
                self._handles[name] = JointHandle(self, name)
            else:
                known = [*self._names, *(each for each in self.mechanism.joints if each in self)]
                raise KeyError(f"{self.path!r}: {unknown('body or joint', name, known)}")
        return self._handles[name]

    def __contains__(self, name: object) -> bool:
        if name in self._names:
            return True
        joint = self.mechanism.joints.get(name) if isinstance(name, str) else None
        return joint is not None and {*self._names, "ground"}.issuperset(joint.ends)

    def row_of(self, body: str) -> int:
        """Return the row of a body in the arrays of the scene."""
        return self._unit.first + self._unit.numbers[body]

    @property
    def rows(self) -> Array:
        """The rows of its bodies in the arrays of the scene."""
        return np.array([self.row_of(name) for name in self._names], np.int64)

    # where it is

    @property
    def state(self) -> State:
        """Positions, velocities and inputs of its unit, in the coordinates of `model`."""
        return self._unit.state

    @property
    def time(self) -> float:
        """Its own clock [s]: it stands still while the mechanism is paused."""
        return self._unit.encounter.time if self._unit.encounter else self._unit.state.t

    @property
    def position(self) -> Array:
        """Where its first body is: (3,) [m]."""
        return self[self._names[0]].position

    @property
    def velocity(self) -> Array:
        """The velocity of its first body: (3,) [m/s]."""
        return self[self._names[0]].velocity

    @property
    def mass(self) -> float:
        """The mass of its bodies [kg]."""
        return sum(self.mechanism.bodies[name].mass for name in self._names)

    @property
    def momentum(self) -> Array:
        """Angular momentum about the world's origin, then linear: (6,) [kg m^2/s, kg m/s]."""
        return self.scene.momentum(self)

    @property
    def paused(self) -> bool:
        """Whether its clock stands still."""
        return self._unit.paused

    @property
    def resting(self) -> bool:
        """Whether it sleeps: it stands still, and is not simulated until something comes near."""
        return self._unit.encounter is not None and self._unit.encounter.resting

    @property
    def inputs(self) -> "ActorInputs":
        """Its inputs by name; what is written holds from the next step on."""
        return ActorInputs(self._unit)

    # what is done to it

    def detach(self, body: str) -> "Actor":
        """Take off a body, with what hangs on it; return it, floating on as a mechanism of its own."""
        if body not in self._names:
            raise KeyError(f"{self.path!r}: {unknown('body', body, self._names)}")
        return self.scene.detach(self[body])

    def remove(self, name: str) -> None:
        """Take out a body, joint, load or constraint, and what refers to it; what is loose floats on."""
        self.scene.remove_element(self, name)

    def disintegrate(self) -> None:
        """Let all bodies fly on by themselves: joints, constraints and springs between them go."""
        self.scene.disintegrate(self)

    def pause(self) -> None:
        """Stop its clock: it is not simulated, does not collide, and costs nothing."""
        self.scene.pause(self)

    def resume(self) -> None:
        """Go on where its clock has stopped."""
        self.scene.resume(self)

    def restart(self) -> None:
        """Begin anew where it was added, as it was."""
        self.scene.restart(self)

    def wake(self) -> None:
        """Let it be simulated, if it sleeps."""
        if self._unit.encounter:
            self._unit.encounter.wake()

    def reduce(self, *joints: str) -> None:
        """Lock joints, all if none is given: bodies that they join move as one; momentum is kept."""
        self.scene.reduce(self, joints)

    def restore(self) -> None:
        """Let joints move again that `reduce` has locked."""
        self.scene.unlock(self)

    # what happens to it, for the scene

    def move_to(self, unit: Unit, names: Mapping[str, str]) -> None:
        """Be a part of another unit, in which bodies and joints may have other names."""
        self._unit.actors.remove(self)
        self._unit = unit
        unit.actors.append(self)
        self._names[:] = [names.get(name, name) for name in self._names]
        for handle in self._handles.values():
            handle.move_to(self, names.get(handle.name, handle.name))
        self._handles = {handle.name: handle for handle in self._handles.values()}

    @property
    def handles(self) -> dict[str, Handle]:
        """The handles that were asked for, by name."""
        return dict(self._handles)

    def return_to(
        self, unit: Unit, names: tuple[str, ...], held: Mapping[str, Any], handles: Mapping[str, Handle]
    ) -> None:
        """Be what it was at another time; `handles` named its bodies and joints then."""
        self._unit, self._names, self.held = unit, list(names), dict(held)
        unit.actors.append(self)
        self._handles = {name: each for name, each in {**self._handles, **handles}.items() if name in self}
        for name, handle in self._handles.items():
            handle.move_to(self, name)

    def give(self, other: "Actor", bodies: list[str]) -> None:
        """Leave bodies to another actor of the same unit; handles of them, and of their joints, follow."""
        self._names = [name for name in self._names if name not in bodies]
        other._names += [name for name in bodies if name not in other._names]
        for name, handle in list(self._handles.items()):
            if name not in self and name in other:
                handle.move_to(other, name)
                other._handles[name] = self._handles.pop(name)

    def lose(self, bodies: list[str]) -> None:
        """Have some bodies no longer."""
        self._names = [name for name in self._names if name not in bodies]
        self._handles = {name: each for name, each in self._handles.items() if name in self}

    @property
    def start(self) -> tuple[Mechanism, Model, State] | None:
        """What it was when it was added; None if it was part of another."""
        return self._start

    def begins_as(self, *start: Any) -> None:
        """Remember what it is when it is added."""
        self._start = start  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._parent is None:
            return f"<Actor {self.name!r}, removed>"
        how = "paused" if self.paused else "asleep" if self.resting else "awake"
        return f"<Actor {self.path!r}: {len(self._names)} bodies, {how}>"


def actor_in(scene: "Scene", thing: Any, what: str) -> Actor:
    """Return a mechanism of a scene, given itself or by its path, for a change that has a name."""
    actor = scene[thing] if isinstance(thing, str) else thing
    if not isinstance(actor, Actor):
        raise TypeError(f"{what}: {actor!r:.80}; give a mechanism of the scene, as `add` has returned it")
    if actor.scene is not scene:
        raise ModelError(f"{what}: {actor.path!r} is in another scene")
    return actor


class ActorInputs(MutableMapping[str, float]):
    """The inputs of a mechanism in a scene, by name."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def __getitem__(self, name: str) -> float:
        self._check(name)
        encounter = self._unit.encounter
        if encounter:
            return encounter.simulation.inputs[encounter.prefix(self._unit) + name]
        return float(self._unit.state.inputs.get(name, self._unit.model.inputs[name]))

    def __setitem__(self, name: str, value: float) -> None:
        self._check(name)
        encounter = self._unit.encounter
        if encounter:
            encounter.simulation.inputs[encounter.prefix(self._unit) + name] = value
            encounter.wake()
        else:
            model, state = self._unit.model, self._unit.state
            held = HeldInputs(  # which refuses what is no input
                list(model.inputs), np.zeros((1, len(model.inputs))), False, model.load_names, writers(model)
            )
            held[name] = value
            self._unit.settle(replace(state, inputs={**state.inputs, name: held[name]}))

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"input {name!r} cannot be deleted; write another value")

    def _check(self, name: str) -> None:
        if name not in self._unit.model.inputs:
            raise KeyError(unknown("input", name, self._unit.model.inputs))

    def __iter__(self) -> Iterator[str]:
        return iter(self._unit.model.inputs)

    def __len__(self) -> int:
        return len(self._unit.model.inputs)

    def __repr__(self) -> str:
        return f"<inputs {dict(self)}>"
