"""What is simulated as one in a scene: a mechanism with its model, its place, and its rows in the arrays.

A mechanism that was added is one unit. What is detached from it stays in the unit, floating: so an edit
grows one model in place, and nothing is copied. Units become one when bodies of both are joined, and part
again only where one of them is paused, restarted or removed.
"""

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from linkwork.mechanism.body import Body
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.snapshot import editable_copy
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.scene.rigid_frames import HERE, composed, turned
from linkwork.scene.scene_mechanism import has_shapes, is_anchored, own_bodies
from linkwork.scene.scene_node import shape_of
from linkwork.simulation.options import checked_accuracy, positive

if TYPE_CHECKING:
    from linkwork.scene.actor import Actor
    from linkwork.scene.body_arrays import BodyArrays
    from linkwork.scene.encounter import Encounter

Array = np.ndarray

_FAR = 1e9  # half width of what has no end [m]


class Unit:
    """A mechanism, its model, where it is, and whose parts it has."""

    def __init__(
        self,
        number: int,
        arrays: "BodyArrays",
        mechanism: Mechanism,
        model: Model,
        place: Array,
        state: State,
        accuracy: float | None = None,
        max_step: float | None = None,
    ) -> None:
        try:
            for value, check in ((accuracy, checked_accuracy), (max_step, partial(positive, "max_step"))):
                if value is not None:
                    check(value)
        except ValueError as error:
            raise ValueError(f"scene: {mechanism.name!r}: {error}") from None
        if max_step is not None and accuracy is None and has_shapes(mechanism):
            raise ValueError(
                f"scene: {mechanism.name!r}: max_step goes with accuracy=; without, what has shapes goes by "
                "the steps of the scene: lw.Scene(step=...)"
            )
        self.number = number  # units are ordered by it
        self.mechanism, self._shared, self._arrays = mechanism, True, arrays
        self.place = place  # of its ground (3, 4)
        self.accuracy, self.max_step = accuracy, max_step  # where nothing is near; None: as the scene says
        self.actors: list[Actor] = []
        self.encounter: Encounter | None = None
        self.paused = False
        self.first = self.count = 0
        self.take(model, state)

    def take(self, model: Model, state: State) -> None:
        """Become another model, at a state: its mechanism was edited."""
        self.model, self._state = model, state
        bodies = own_bodies(self.mechanism)
        self.touches, self.anchored = has_shapes(self.mechanism), is_anchored(self.mechanism)
        self.numbers = {body.name: k for k, body in enumerate(bodies)}
        self.model_rows = np.array([model.body_rows[name] for name in self.numbers], np.int64)
        self.give_back()
        self.count = len(bodies)
        self.first = self._arrays.take(np.array([_box(body) for body in bodies]).reshape(-1, 2, 3))
        touching = [k for k, body in enumerate(bodies) if body.touched_by]
        self.touching = self.first + np.array(touching, np.int64)

    def give_back(self) -> None:
        """Leave its rows to others."""
        if self.count:
            self._arrays.give_back(self.first, self.count)
            self.count = 0

    @property
    def placed(self) -> bool:
        """Whether its ground is elsewhere than that of the world; that of what floats is not."""
        return self.place is not HERE and not np.array_equal(self.place, HERE)

    @property
    def rows(self) -> slice:
        """Its rows in the arrays of the scene, one for each body."""
        return slice(self.first, self.first + self.count)

    @property
    def state(self) -> State:
        """Positions, velocities, inputs and memory, in the coordinates of its model."""
        return self.encounter.part(self) if self.encounter else self._state

    @property
    def state_to_edit(self) -> State:
        """The same for a model that is edited: no run goes on from it bit for bit."""
        return self.encounter.part(self, self.encounter.state_to_edit) if self.encounter else self._state

    @property
    def q(self) -> Array:
        """The positions (nq,)."""
        return self.encounter.positions(self) if self.encounter else self._state.q

    @property
    def v(self) -> Array:
        """The velocities (nv,)."""
        return self.encounter.velocities(self) if self.encounter else self._state.v

    def settle(self, state: State) -> None:
        """Be at a state, outside of all encounters."""
        self.encounter, self._state = None, state

    def own_mechanism(self) -> Mechanism:
        """Return its mechanism to be edited: a copy, if others refer to it as it is."""
        if self._shared:
            self.mechanism, self._shared = editable_copy(self.mechanism), False
            self.mechanism.journal.limit = 2
        return self.mechanism

    def share(self) -> tuple[Mechanism, Model, State]:
        """Return what it is, to be kept by others: its mechanism is copied before it is edited."""
        self._shared = True
        return self.mechanism, self.model, self.state

    def become(self, mechanism: Mechanism, model: Model, state: State) -> None:
        """Be what it was at another time."""
        self.mechanism, self._shared = mechanism, True
        self.take(model, state)

    def write(self, X: Array, V: Array) -> None:
        """Write poses and velocities of its bodies, seen from its ground, to the arrays of the scene."""
        if self.placed:
            X, V = composed(self.place, X), turned(self.place, V)
        self._arrays.poses[self.rows], self._arrays.velocities[self.rows] = X, V

    def __repr__(self) -> str:
        return f"<Unit of {', '.join(actor.path for actor in self.actors)}>"


_boxes: WeakKeyDictionary[Body, tuple[Any, Array]] = WeakKeyDictionary()  # with the revision of the body


def _box(body: Body) -> Array:
    """Return the box (2, 3) around the shapes of a body, in its frame; its centre of mass if it has none."""
    revision, box = _boxes.get(body, (None, np.zeros(0)))
    if revision is not body._revision:
        shapes = tuple(shape_of(shape) for shape in body.touched_by)
        point = np.asarray(body.inertia.com, float)
        box = _box_of(shapes) if shapes else np.array([point, point])
        _boxes[body] = body._revision, box
    return box


@lru_cache(maxsize=1024)
def _box_of(shapes: tuple[Any, ...]) -> Array:
    boxes = [shape.bounds for shape in shapes]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    return np.clip([low, high], -_FAR, _FAR)
