"""A joint seen from its two frames: its coordinates, its velocities, and what its forces do to both bodies.

A joint of the spanning tree has coordinates, and its frames follow from them. For a joint that closes a loop
it is the other way round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwork.algebra.dense import inverse_positive
from linkwork.algebra.number import Number
from linkwork.algebra.vector import dot
from linkwork.errors import ModelError, TraceError
from linkwork.mechanism.joint import Joint
from linkwork.tree.joint_formula import JointFormula
from linkwork.tree.subspace import drive_directions


@dataclass(frozen=True)
class JointKinematics:
    """A joint between its frames a, on the parent, and b, on the child; all is in frame b."""

    joint: Joint
    kind: JointFormula
    numbers: Sequence[Number]  # of the kind
    X: Any  # pose of b in a
    v_rel: Any  # motion of b relative to a
    q: Sequence[Number]
    S: Sequence[Any]  # motion subspace

    @classmethod
    def of(
        cls, joint: Joint, kind: JointFormula, numbers: Sequence[Number], X: Any, v_rel: Any
    ) -> "JointKinematics":
        q = _located(joint, X)
        return cls(joint, kind, numbers, X, v_rel, q, kind.subspace(q, numbers))

    @property
    def v(self) -> list[Number]:
        """The velocities of the joint: the nearest, if it does not allow this motion."""
        return self.rates(self.v_rel)

    def rates(self, motion: Any) -> list[Number]:
        """Return the coordinates of a motion along the joint's freedoms, those of the nearest one."""
        columns = [s.scalars() for s in self.S]
        inverse = inverse_positive([[dot(s, t) for t in columns] for s in columns])
        along = [dot(s, motion.scalars()) for s in columns]
        return [dot(row, along) for row in inverse]

    def push(self, forces: Sequence[Number]) -> tuple[Any, Any]:
        """Return what generalised forces of the joint do to a and to b, each in its frame."""
        algebra = self.joint.algebra
        on_b = algebra.Force.zero()
        for force, direction in zip(forces, drive_directions(self.S, algebra), strict=True):
            on_b = on_b + direction * force
        return -(self.X @ on_b), on_b


def _located(joint: Joint, X: Any) -> list[Number]:
    """Return the coordinates of a joint from the pose of its frame on b in that on a."""
    try:
        q = list(joint.locate(X))
    except TraceError as error:
        raise TraceError(f"joint {joint.name!r}: {error}") from error
    except Exception as error:
        said = str(error) if not joint.can_locate else f"locate(X) raised {type(error).__name__}: {error}"
        raise ModelError(said if joint.name in said else f"joint {joint.name!r}: {said}") from error
    if len(q) != joint.nq:
        raise ModelError(f"joint {joint.name!r}: locate(X) gives {len(q)} numbers; give {joint.nq}")
    return q
