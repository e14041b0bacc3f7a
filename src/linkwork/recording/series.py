"""A joint, a body or a load over time."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.spelling import Computed, spelled_methods

if TYPE_CHECKING:
    from linkwork.recording.samples import Samples

Array = np.ndarray


class Record(Computed):
    """What has a name, over time."""

    _quantities: tuple[str, ...]
    _alone: tuple[str, ...] = ("position",)
    _kind: ClassVar[str]

    def __init__(self, samples: "Samples", name: str) -> None:
        self._samples, self._name = samples, name

    def __repr__(self) -> str:
        return f"<{self._kind} {self._name!r}: {', '.join(self.quantities)}>"

    @property
    def quantities(self) -> tuple[str, ...]:
        """What there is of it."""
        return self._quantities

    @property
    def alone(self) -> tuple[str, ...]:
        """What the name alone stands for in curves."""
        return self._alone


class JointRecord(Record):
    """A joint over time; a joint of one coordinate has arrays (S,), one of k coordinates (S, k)."""

    _quantities = ("position", "velocity", "acceleration", "force", "reaction")
    _kind = "joint"

    def _of(self, tree: Array, loops: str, side: int) -> Array:
        """Return what is of the joint in an array of the tree's joints, or in that of loop joints."""
        part, size = self._samples.layout.joints[self._name][side], tree.shape[-1]
        if part.start < size or part.start == part.stop:
            return _squeezed(tree[..., part])
        return _squeezed(self._samples.derived(loops)[..., part.start - size : part.stop - size])

    @property
    def position(self) -> Array:
        return self._of(self._samples.q, "loop_positions", 0)

    @property
    def velocity(self) -> Array:
        return self._of(self._samples.v, "loop_velocities", 1)

    @property
    def acceleration(self) -> Array:
        return self._of(self._samples.a, "loop_accelerations", 1)

    @property
    def force(self) -> Array:
        """The joint's own force: drive, spring, damping, friction, stops and motors."""
        return self._of(self._samples.derived("forces"), "loop_forces", 1)

    @property
    def reaction(self) -> Any:
        """The constraint force on the child, in world axes: a Force with `.torque` and `.force`."""
        row = list(self._samples.layout.joints).index(self._name)
        array = self._samples.derived("reactions")[..., row, :]
        return self._samples.layout.algebra.Force.from_scalars(list(np.moveaxis(array, -1, 0)))


class ConstraintRecord(JointRecord):
    """A constraint or a driver over time."""

    _quantities = ("force", "reaction")
    _alone = ("force",)
    _kind = "constraint"

    def __init__(self, samples: "Samples", name: str) -> None:
        super().__init__(samples, name)
        if name in samples.layout.curves:
            self._quantities = ("force", "position", "velocity", "acceleration", "reaction")

    @property
    def force(self) -> Array:
        """The forces of its equations, each along the gradient of `phi`: what a driver drives with."""
        rows, _ = self._samples.layout.constraints[self._name]
        return _squeezed(self._samples.derived("row_forces")[..., rows])


class DriverRecord(ConstraintRecord):
    """A driver over time: the force it drives with, and the value of its law with its derivatives."""

    _quantities = ("force", "position", "velocity", "acceleration", "power", "reaction")
    _kind = "driver"

    def _law(self, derivative: int) -> Array:
        number = list(self._samples.layout.drivers).index(self._name)
        return self._samples.derived("driver_laws")[..., number, derivative]

    @property
    def position(self) -> Array:
        """What it drives to."""
        return self._law(0)

    @property
    def velocity(self) -> Array:
        return self._law(1)

    @property
    def acceleration(self) -> Array:
        return self._law(2)

    @property
    def power(self) -> Array:
        """What it gives to the mechanism [W]."""
        return self.force * self.velocity


@spelled_methods
class BodyRecord(Record):
    """A body over time: its origin and axes in the world."""

    _kind = "body"
    _quantities = (
        "position",
        "rotation",
        "velocity",
        "angular_velocity",
        "acceleration",
        "angular_acceleration",
        "momentum",
        "angular_momentum",
    )

    def __init__(self, samples: "Samples", name: str) -> None:
        super().__init__(samples, name)
        self._row = samples.layout.bodies.index(name)
        if samples.layout.space == "plane":
            self._quantities = (*self._quantities, "angle")
            self._alone = ("angle", "position")
        if samples.layout.touching:
            self._quantities = (*self._quantities, "contact_force")

    def __repr__(self) -> str:
        return f"<body {self._name!r}: pose, {', '.join(self.quantities)}>"

    @property
    def pose(self) -> Any:
        """The pose, a Frame of arrays: `.position`, `.rotation`, in the plane `.angle`."""
        rows = self._samples.derived("poses")[..., self._row, :, :]
        scalars = rows.reshape(*rows.shape[:-2], prod(rows.shape[-2:]))
        return self._samples.layout.algebra.Frame.from_scalars(list(np.moveaxis(scalars, -1, 0)))

    @property
    def position(self) -> Array:
        return self._samples.derived("poses")[..., self._row, :, -1]

    @property
    def rotation(self) -> Array:
        return self._samples.derived("poses")[..., self._row, :, :-1]

    @property
    def angle(self) -> Array:
        """The angle in the plane, from the drawing on; it goes on counting after a turn."""
        if self._samples.layout.space != "plane":
            raise AttributeError(f"body {self._name!r}: `angle` is for the plane; in space use `rotation`")
        return self._samples.derived("angles")[..., self._row]

    def trace(self, point: Sequence[float]) -> Array:
        """Return where a point of the body is, over time."""
        size = self._samples.layout.algebra.dimension
        if np.shape(point) != (size,):
            raise ValueError(f"body {self._name!r}: point {point!r:.80}; give {size} numbers")
        places = self.pose @ tuple(float(x) for x in point)
        return np.stack([np.broadcast_to(x, self._samples.recorded.shape) for x in places], axis=-1)

    @property
    def velocity(self) -> Array:
        """The velocity of the origin, in world axes."""
        return self._linear("velocities")

    @property
    def angular_velocity(self) -> Array:
        return self._angular("velocities")

    @property
    def acceleration(self) -> Array:
        """The acceleration of the origin, in world axes."""
        return self._linear("body_accelerations")

    @property
    def angular_acceleration(self) -> Array:
        return self._angular("body_accelerations")

    @property
    def momentum(self) -> Array:
        """The momentum, mass times the velocity of the centre of mass, in world axes [kg m/s]."""
        return self._linear("body_momenta")

    @property
    def angular_momentum(self) -> Array:
        """The angular momentum about the centre of mass, in world axes [kg m²/s]."""
        return self._angular("body_momenta")

    @property
    def contact_force(self) -> Array:
        """The sum of the forces of contacts on the body, in world axes [N]; impacts are events of a run."""
        if not self._samples.layout.touching:
            raise AttributeError(f"body {self._name!r}: nothing meets in this mechanism; add lw.Contact(...)")
        return self._samples.derived("contact_forces")[..., self._row, :]

    def _linear(self, quantity: str) -> Array:
        return self._samples.derived(quantity)[..., self._row, self._samples.layout.algebra.angular :]

    def _angular(self, quantity: str) -> Array:
        angular = self._samples.layout.algebra.angular
        return _squeezed(self._samples.derived(quantity)[..., self._row, :angular])


class LoadRecord(Record):
    """A spring, motor or load over time."""

    _quantities = _alone = ("force",)
    _kind = "load"

    @property
    def force(self) -> Array:
        """What the load shows: a motor its force, a spring its tension."""
        return _squeezed(self._samples.derived(f"load/{self._name}"))


def _squeezed(array: Array) -> Array:
    return array[..., 0] if array.shape[-1] == 1 else array
