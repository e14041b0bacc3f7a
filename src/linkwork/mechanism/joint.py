"""A joint: where it sits on two bodies, and how the second may move relative to the first.

A subclass says only where the child is; velocity terms are derived by differentiation:

    class Knee(lw.Joint):
        coordinates = 1

        def motion(self, q):
            return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from linkwork.algebra import planar, spatial
from linkwork.algebra.number import Number
from linkwork.mechanism.body import Body

ALGEBRA = {"space": spatial, "plane": planar}


class Joint:
    """Connect `child` to `parent`; coordinates measure the child's frame of the joint in the parent's.

    Where: `at=` a point (or Frame) of the world as drawn, or `on_parent=`, `on_child=` points or Frames on
    the bodies; a side that is not given follows from the drawing. `axis=` is the joint's axis in that same
    frame. Per coordinate, in SI units: `limits` (lower, upper), `damping`, `friction`, `stiffness`, `rest`,
    `armature`; one number serves all coordinates.
    """

    coordinates: ClassVar[int] = 1  # velocities, and positions unless said otherwise
    positions: ClassVar[int | None] = None  # coordinates of position, if their number differs
    spaces: ClassVar[frozenset[str]] = frozenset({"space", "plane"})
    directed: ClassVar[bool] = True  # has an axis

    space: str = "space"  # or "plane", as the mechanism it was added to

    def __init__(
        self,
        name: str,
        parent: Body,
        child: Body,
        *,
        at: Any = None,
        axis: Sequence[float] | None = None,
        on_parent: Any = None,
        on_child: Any = None,
        limits: Any = None,
        damping: Any = 0.0,
        friction: Any = 0.0,
        stiffness: Any = 0.0,
        rest: Any = 0.0,
        armature: Any = 0.0,
    ):
        if at is not None and (on_parent is not None or on_child is not None):
            raise ValueError(
                f"joint {name!r}: at= and on_parent=/on_child= exclude each other; give the place once"
            )
        if axis is not None and not self.directed:
            raise ValueError(f"joint {name!r}: a {type(self).__name__} joint has no axis; drop axis=")
        self.name, self.parent, self.child = name, parent, child
        self.at, self.axis, self.on_parent, self.on_child = at, axis, on_parent, on_child
        self.limits, self.damping, self.friction = limits, damping, friction
        self.stiffness, self.rest, self.armature = stiffness, rest, armature

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.parent.name!r}, {self.child.name!r})"

    # what a subclass says

    def motion(self, q: Sequence[Number]) -> Any:
        """Return the pose of the child's joint frame in the parent's, a Frame, at coordinates q."""
        raise TypeError(
            f"joint class {type(self).__name__} does not say how it moves; define motion(self, q) -> Frame"
        )

    def rates(self, q: Sequence[Number], v: Sequence[Number]) -> Sequence[Number]:
        """Return dq/dt at velocities v; they are the same unless a subclass says otherwise."""
        return v

    def subspace(self, q: Sequence[Number]) -> list[Any] | None:
        """Return the child's motion, in its frame, per unit of each velocity; None: derived from `motion`."""
        return None

    def neutral(self) -> list[float]:
        """Return the coordinates at which both joint frames coincide."""
        return [0.0] * self.nq

    # what follows

    @property
    def algebra(self) -> ModuleType:
        """The algebra of the joint's space: `linkwork.algebra.spatial` or `planar`."""
        return ALGEBRA[self.space]

    @property
    def nq(self) -> int:
        return self.coordinates if self.positions is None else self.positions

    @property
    def nv(self) -> int:
        return self.coordinates

    def per_coordinate(self, quantity: str) -> np.ndarray:
        """Return damping, friction, stiffness, rest or armature as an array (nv,)."""
        return np.broadcast_to(np.asarray(getattr(self, quantity), float), (self.nv,)).copy()

    def limit_pairs(self) -> np.ndarray:
        """Return the limits as an array (nv, 2), infinite where there are none."""
        if self.limits is None:
            return np.tile([-np.inf, np.inf], (self.nv, 1))
        return np.broadcast_to(np.asarray(self.limits, float), (self.nv, 2)).copy()

    def frames(self) -> tuple[Any, Any]:
        """Return the joint's frames on the parent and on the child body."""
        Frame = self.algebra.Frame
        X_WP, X_WC = self._drawn(self.parent), self._drawn(self.child)
        aligned = self.alignment()
        if self.on_parent is None and self.on_child is None:
            X_WJ = self._frame(self.child.position if self.at is None else self.at) @ aligned
            return X_WP.local(X_WJ), X_WC.local(X_WJ)
        if self.on_parent is None:
            X_CJ = self._frame(self.on_child) @ aligned
            return X_WP.local(X_WC @ X_CJ), X_CJ
        X_PJ = self._frame(self.on_parent) @ aligned
        if self.on_child is None:
            return X_PJ, X_WC.local(X_WP @ X_PJ)
        assert isinstance(X_PJ, Frame)
        return X_PJ, self._frame(self.on_child) @ aligned

    def alignment(self) -> Any:
        """Return the frame that has the joint's own axis along `axis`."""
        if self.axis is None:
            return self.algebra.Frame()
        if self.algebra is planar:
            x, y = np.asarray(self.axis, float)
            return planar.Frame(rotation=float(np.arctan2(y, x)))
        return spatial.Frame(rotation=_turn_z_to(np.asarray(self.axis, float)))

    def drawn(self) -> list[float]:
        """Return the coordinates as drawn."""
        return self.neutral()

    def _frame(self, place: Any) -> Any:
        Frame = self.algebra.Frame
        return place if isinstance(place, Frame) else Frame(position=[float(x) for x in place])

    def _drawn(self, body: Body) -> Any:
        return self.algebra.Frame(position=body.position.tolist(), rotation=body.rotation.tolist())


def _turn_z_to(axis: np.ndarray) -> list[list[float]]:
    """Return the smallest turn that takes z to the axis (half a turn about x for -z)."""
    scaled = axis / np.abs(axis).max()  # so that squares neither overflow nor vanish
    x, y, z = (float(a) for a in scaled / np.linalg.norm(scaled))
    if x * x + y * y == 0.0:
        return [[1.0, 0.0, 0.0], [0.0, np.sign(z), 0.0], [0.0, 0.0, np.sign(z)]]
    k = 1.0 / (1.0 + z) if z > 0 else (1.0 - z) / (x * x + y * y)  # the same number, without cancellation
    return [[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]]
