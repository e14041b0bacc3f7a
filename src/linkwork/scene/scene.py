"""Scene: mechanisms, static shapes and behaviours that live together; it is stepped, edited and saved.

A step of dt seconds does, in this order:

1. behaviours are called (`Behaviour.before`): controllers, culling, whatever they do to the scene;
2. mechanisms that come near to each other are joined, those that stay apart are parted (`encounters`);
3. what is awake is moved, on all threads; what bodies do to each other is solved in this;
4. poses and velocities of all bodies are written to the arrays that handles read;
5. behaviours hear of what has happened (`Behaviour.after`): contacts, limits, joints that break;
6. the step is recorded, and kept for `rewind`;
7. observers are called: viewers, sound, and the user's own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SimulationError
from linkwork.mechanism.body import Body
from linkwork.mechanism.placement import numbers
from linkwork.model.model import Model
from linkwork.scene import clocks, fracture, putting_together, structural_change, taking_apart
from linkwork.scene.actor import Actor, actor_in
from linkwork.scene.adding import Adding, refuse
from linkwork.scene.behaviour import Behaviour
from linkwork.scene.body_arrays import BodyArrays
from linkwork.scene.encounter import placed_bodies
from linkwork.scene.encounters import Encounters
from linkwork.scene.handles import BodyHandle, JointHandle, body_in, joint_in
from linkwork.scene.joint_load import joint_load
from linkwork.scene.locked_joints import lock, unlock
from linkwork.scene.members import add_behaviour, remove_behaviour, remove_node
from linkwork.scene.one_at_a_time import alone, as_edit
from linkwork.scene.passing_pairs import Passing
from linkwork.scene.real_time import run
from linkwork.scene.scene_contacts import SceneContact, contacts_of
from linkwork.scene.scene_node import Group, Static
from linkwork.scene.scene_queries import energy_of, momentum_of, ray
from linkwork.scene.scene_recording import SceneRecord
from linkwork.scene.scene_snapshot import Rewind, Snapshot
from linkwork.scene.unit import Unit
from linkwork.scene.unit_parts import part_what_is_apart
from linkwork.simulation.options import MOST_STEPS, worker_count
from linkwork.simulation.step_clock import StepClock
from linkwork.simulation.stepping import step_count
from linkwork.spelling import checked_keywords, spelled_methods
from linkwork.viewable import Viewable

Array = np.ndarray


_LOOK = 16  # steps after which is looked for mechanisms that came off others and have gone away


@spelled_methods
class Scene(Group):
    """Mechanisms, static shapes and behaviours that live together.

    >>> import linkwork as lw
    >>> world = lw.Scene()
    >>> floor = world.add(lw.ground_plane(), material=lw.Material(friction=0.6))
    >>> crate = world.add(lw.Body("crate", lw.Box(1, 1, 1), density=500), position=(0, 0, 0.5))
    >>> for _ in range(60):
    ...     world.step(1 / 60)
    >>> crate["crate"].position.round(6), world.time
    (array([0. , 0. , 0.5]), 1.0)
    """

    set_once: ClassVar[frozenset[str]] = frozenset({"threads", "record", "rewind", "step", "seed"})
    to_set: ClassVar[Mapping[str, str]] = {
        "step_size": "it is given once, lw.Scene(step=...); scene.step(dt) takes any dt",
        "threads": "it is given once: lw.Scene(threads=...)",
        "record": "it is given once: lw.Scene(record=...)",
        "gravity": "a scene has one from the start: lw.Scene(gravity=...)",
        "time": "call scene.rewind(steps), or scene.restore(snapshot)",
    }

    @checked_keywords
    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        *,
        step: float = 1 / 60,
        threads: int | None = None,
        record: bool | int = True,
        rewind: int = 0,
        seed: int = 0,
    ) -> None:
        """Make an empty scene.

        `step` [s] is the largest step of what touches, `record` how many steps to record, the last ones
        (True: what a tenth of the machine's memory holds), `rewind` how many can be taken back.
        """
        super().__init__("", None)
        self._gravity = numbers(gravity, "scene: gravity")
        if self._gravity.shape != (3,):
            raise ValueError(f"scene: gravity {gravity!r}; give 3 numbers in m/s^2")
        if not isinstance(step, float | int) or isinstance(step, bool) or not 0.0 < step < inf:
            raise ValueError(f"scene: step {step!r}; give seconds, above 0")
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ValueError(f"scene: seed {seed!r}; give a whole number, 0 or more")
        self.step_size = float(step)
        self.arrays, self.passing = BodyArrays(), Passing()
        self.threads = worker_count(threads)
        self.encounters = Encounters(self, self.threads)
        self.random = np.random.default_rng(seed)
        self.units: list[Unit] = []  # what is simulated
        self.last_number = 0
        self._behaviours: list[Behaviour] = []
        self._observers: list[Callable[[Scene], Any]] = []
        self._clock = StepClock(0.0)
        self._adding = Adding(self)
        self.lock, self._stepping = RLock(), False  # steps and edits hold the lock
        self.record = SceneRecord(self, record)
        self.history = Rewind(self, rewind)
        self.slowdown = 1.0  # of `run`: seconds that pass for each second of the scene, 1 if it keeps up

    # what is in it

    @property
    def scene(self) -> "Scene":
        return self

    @property
    def exists(self) -> bool:
        """True: a scene is the top of all nodes."""
        return True

    @property
    def path(self) -> str:
        return ""

    def __getitem__(self, path: str) -> Any:
        """Return what has a path: world["robots/left/knee"]; the scene's own is ""."""
        return self if path == "" else super().__getitem__(path)

    @property
    def time(self) -> float:
        """The time [s]."""
        return self._clock.t

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall (3,) [m/s^2]."""
        return self._gravity

    @property
    def actors(self) -> list[Actor]:
        """All mechanisms, from the top."""
        return [node for node in self.walk_nodes() if isinstance(node, Actor)]

    @property
    def groups(self) -> list[Group]:
        """The scene, and all groups in it."""
        return [self, *(node for node in self.walk_nodes() if isinstance(node, Group))]

    @property
    def statics(self) -> list[Static]:
        """All shapes that stand still."""
        return [node for node in self.walk_nodes() if isinstance(node, Static)]

    @property
    def behaviours(self) -> tuple[Behaviour, ...]:
        """The behaviours, in the order in which they are called."""
        return tuple(self._behaviours)

    def walk_nodes(self, top: Group | None = None) -> Iterator[Any]:
        """Iterate over groups, static shapes and mechanisms, not over bodies."""
        for node in (self if top is None else top).children:
            yield node
            if isinstance(node, Group):
                yield from self.walk_nodes(node)

    @as_edit
    def take_in(self, group: Group, thing: Any, given: dict[str, Any]) -> Any:
        """Do what `Group.add` says."""
        if isinstance(thing, Behaviour):
            refuse(thing, given, ())
            return add_behaviour(self, thing, self._behaviours)
        return self._adding.take_in(group, thing, given)

    @as_edit
    def remove(self, thing: Any) -> None:
        """Take out a mechanism, a group with all that is in it, static shapes, or a behaviour."""
        if isinstance(thing, Behaviour):
            remove_behaviour(thing, self._behaviours)
        else:
            remove_node(self, self[thing] if isinstance(thing, str) else thing)

    # time

    def step(self, dt: float | None = None, n: int = 1) -> None:
        """Go on by dt seconds, n times; dt is the scene's step if it is not given."""
        for _ in range(step_count(n)):
            with self.lock:
                if self._stepping:
                    raise SimulationError(
                        "scene: it is in the middle of a step, of which behaviours and observers are part; "
                        "call step() from outside"
                    )
                if dt != self._clock.dt:
                    self._clock.turn_to(dt, self.step_size)
                if self._clock.dt > MOST_STEPS * self.step_size:
                    raise ValueError(f"step: dt {dt!r} would be more than {MOST_STEPS:g} steps; give less")
                self._stepping = True
                try:
                    self._frame(self._clock.dt)
                finally:
                    self._stepping = False

    def _frame(self, dt: float) -> None:
        clock = self._clock
        t = clock.origin + (clock.steps + 1) * clock.dt
        self.history.keep()
        if not len(self.record):
            self.record.add()
        for behaviour in self.behaviours:
            behaviour.before(self, dt)
        if clock.steps % _LOOK == 0:
            part_what_is_apart(self)
        self.encounters.update(min(dt, self.step_size))
        self.encounters.advance(t)
        clock.t, clock.steps = t, clock.steps + 1
        try:
            for behaviour in self.behaviours:
                behaviour.after(self, dt)
        finally:
            self.record.add()  # the step was taken, whatever they make of it
        for observer in tuple(self._observers):
            observer(self)

    def run(
        self, duration: float, *, fps: float = 60.0, budget: float | None = None, until: Any = None
    ) -> Any:
        """Go on in real time for a duration of the scene [s]; see `real_time.run`."""
        return run(self, duration, fps=fps, budget=budget, until=until)

    def observe(self, observer: "Callable[[Scene], Any]") -> Callable[[], None]:
        """Call a function with the scene after every step; return a function that ends this."""
        if not callable(observer):
            raise TypeError(f"scene: observe {observer!r}; give a function of the scene")
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def regrouped(self) -> None:
        """Know that something wakes."""
        self.encounters.regrouped()

    # for its parts

    def next_number(self) -> int:
        """Return the number of a new unit."""
        self.last_number += 1
        return self.last_number

    def forget(self, actor: Actor) -> None:
        """Leave out an actor that has become part of another."""
        actor.unit.actors.remove(actor)
        if actor.parent is not None:
            actor.parent.drop(actor)

    def forget_known(self) -> None:
        """Forget models of mechanisms that were added: what they meet has changed."""
        self._adding.forget()

    def handle_in(self, unit: Unit, name: str) -> Any:
        """Return a body or joint of a unit by its name there."""
        for actor in unit.actors:
            if name in actor:
                return actor[name]
        return unit.actors[0] if unit.actors else self

    def rest(self, unit: Unit) -> None:
        """Write where the bodies of a unit are that is in no encounter."""
        structural_change.rest(self, unit)

    def clock_numbers(self) -> list[float]:
        """Return what the clock can be set to."""
        return self._clock.numbers()

    def set_clock(self, given: Sequence[float]) -> None:
        """Set the clock."""
        t, origin, dt, steps = given
        self._clock = StepClock(t, origin, dt, int(steps))

    def have_behaviours(self, behaviours: Sequence[Behaviour]) -> None:
        """Have these behaviours, and no others."""
        self._behaviours[:] = behaviours

    # what there is

    def placed(self, model: Model, q: Array, v: Array) -> tuple[Array, Array]:
        """Return poses and velocities of the bodies of a model."""
        return placed_bodies(model, q, v)

    @property
    def contacts(self) -> list[SceneContact]:
        """The contacts of the last step, of all that is awake: bodies, points, forces."""
        return [contact for one in self.encounters.all for contact in contacts_of(one)]

    def contacts_of(self, body: BodyHandle) -> list[SceneContact]:
        """Return the contacts of a body."""
        encounter = body.actor.unit.encounter
        found = contacts_of(encounter) if encounter else []
        return [contact for contact in found if body in contact.bodies]

    def joint_load(self, joint: JointHandle) -> Array:
        """Return what a joint bore in the last step; see `joint_load`."""
        return joint_load(joint)

    def momentum(self, *actors: Actor) -> Array:
        """Return the momentum of mechanisms, all if none is given: see `Actor.momentum`."""
        return momentum_of(self, actors or tuple(self.actors))

    def energy(self, *actors: Actor) -> float:
        """Return kinetic energy and that of gravity, of mechanisms, all if none is given [J]."""
        return energy_of(self, actors or tuple(self.actors))

    def ray(
        self, origin: ArrayLike, direction: ArrayLike, *, longest: float = inf, without: Any = None
    ) -> Any:
        """Return what a ray meets first: `.node`, `.point`, `.normal`, `.distance`; None if nothing."""
        return ray(self, origin, direction, longest, without)

    def height(self, x: float, y: float) -> float:
        """Return how high static shapes are at a place [m]; -inf where there are none."""
        found = ray(self, (x, y, 1e6), (0.0, 0.0, -1.0), inf, None, static=True)
        return -inf if found is None else float(found.point[2])

    @property
    def recording(self) -> Any:
        """The recorded steps as a Recording of all bodies; see `scene_recording`."""
        return self.record.recording()

    def show(self, *, live: bool = False, **options: Any) -> Any:
        """Play the recorded steps in the browser; with `live=True`, show each step while the scene goes on.

        A live page follows `step` and `run`, wherever they are called, and can hold them; the script goes on
        meanwhile. The options are those of `linkwork.view.show`.
        """
        if live:
            return Viewable.show(cast(Any, self), live=True, **{"block": False, **options})
        return self.recording.show(**options)

    def save_sound(self, path: str | Path, listener: Any = None, **options: Any) -> None:
        """Write what a listener hears of the recorded steps to a `.wav` file; see `lw.sound`."""
        self.recording.save_sound(path, listener, **options)

    # changes

    @as_edit
    def detach(self, body: BodyHandle) -> Actor:
        """Take a body, with what hangs on it, off its mechanism; return the mechanism that it is now."""
        return taking_apart.detach(self, body_in(self, body, "detach"))

    @as_edit
    def attach(
        self,
        parent: Any,
        child: BodyHandle,
        joint: Any = None,
        *,
        at: ArrayLike | None = None,
        axis: Sequence[float] | None = None,
        name: str | None = None,
        options: Any = None,
    ) -> JointHandle:
        """Join two bodies where they are now by a joint, a class such as lw.Revolute; lw.Fixed if not given.

        The parent may be shapes that stand still, or the scene itself: the child is held by ground then.
        `at` (the child's origin if not given) and `axis` are those of the world, now; `options` are others of
        the joint. What was another mechanism becomes part of that of the parent. Bodies that move relative
        to each other as the joint does not allow are stopped by an impulse between them: momentum is kept.
        """
        return putting_together.attach(self, parent, child, joint, at, axis, name, options)

    @as_edit
    def weld(self, parent: Any, child: BodyHandle, *, name: str | None = None) -> JointHandle:
        """Fix two bodies to each other where they are now."""
        return putting_together.attach(self, parent, child, None, None, None, name, None)

    @as_edit
    def unweld(self, joint: JointHandle) -> Actor | None:
        """Take a joint out; return the mechanism that comes off by it, if one does."""
        return taking_apart.separate(self, joint_in(self, joint, "unweld"))

    @as_edit
    def fracture(self, body: BodyHandle, parts: Sequence[Body]) -> list[Actor]:
        """Break a body into parts, drawn where they are in its frame; momentum is kept."""
        return fracture.fracture(self, body_in(self, body, "fracture"), parts)

    @as_edit
    def disintegrate(self, actor: Actor) -> None:
        """Let all bodies of a mechanism fly on by themselves."""
        taking_apart.disintegrate(self, actor_in(self, actor, "disintegrate"))

    @as_edit
    def reduce(self, actor: Actor, joints: Sequence[str] = ()) -> None:
        """Lock joints of a mechanism; see `Actor.reduce`."""
        lock(self, actor_in(self, actor, "reduce"), joints)

    @as_edit
    def unlock(self, actor: Actor) -> None:
        """Unlock what `reduce` has locked."""
        unlock(self, actor_in(self, actor, "unlock"))

    @as_edit
    def remove_element(self, actor: Actor, name: str) -> None:
        """Take an element out of a mechanism; see `Actor.remove`."""
        taking_apart.remove_element(self, actor_in(self, actor, "remove"), name)

    # clocks

    @alone
    def pause(self, actor: Actor) -> None:
        """Stop the clock of a mechanism; see `Actor.pause`."""
        clocks.pause(self, actor_in(self, actor, "pause"))

    @alone
    def resume(self, actor: Actor) -> None:
        """Let the clock of a mechanism go on."""
        clocks.resume(self, actor_in(self, actor, "resume"))

    @alone
    def sleep(self, actor: Actor) -> None:
        """Let a mechanism stand still, with all that it touches, until something comes near or `wake`."""
        clocks.sleep(self, actor_in(self, actor, "sleep"))

    @alone
    def restart(self, actor: Actor) -> None:
        """Begin anew with a mechanism as it was added."""
        clocks.restart(self, actor_in(self, actor, "restart"))

    # copies and files

    @alone
    def snapshot(self) -> Snapshot:
        """Return all that the scene is now, for `restore`."""
        return Snapshot.of(self)

    @alone
    def restore(self, snapshot: Snapshot) -> None:
        """Become what it was; it goes on from there bit for bit."""
        snapshot.apply(self)

    @alone
    def rewind(self, steps: int = 1) -> None:
        """Take back steps, with the edits made since; as many are kept as `rewind` of the scene says."""
        self.history.back(steps)

    @alone
    def undo(self, edits: int = 1) -> None:
        """Take back edits, with the steps made since; they are kept as those of `rewind` are.

        An edit is what was added, removed, joined, taken apart, broken, or had its joints locked.
        """
        self.history.back(edits, "edit")

    @alone
    def hash(self) -> str:
        """Return a digest of where all mechanisms are, to the bit."""
        return Snapshot.of(self).digest

    @alone
    def save(self, path: str | Path) -> None:
        """Write all that the scene is to a `.lws` file; `lw.load` goes on from there bit for bit."""
        from linkwork.scene.scene_file import save

        save(self, Path(path))

    def __repr__(self) -> str:
        return f"<Scene: {len(self.actors)} mechanisms, {len(self.statics)} static, t = {self.time:g} s>"
