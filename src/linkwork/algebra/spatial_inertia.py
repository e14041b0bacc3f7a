"""Inertias in space, of rigid bodies and of what hangs together; see `spatial`."""

from collections.abc import Iterable, Sequence

import numpy as np

from linkwork.algebra.linear import Linear, columns
from linkwork.algebra.number import Number, is_one, is_zero
from linkwork.algebra.spatial_frames import Force, Frame, Motion, units
from linkwork.algebra.vector import Matrix, Symmetric, Vector, minus, plus, product


class RigidInertia(Linear):
    """The inertia of a rigid body about the frame's origin: mass, mass times centre of mass, tensor."""

    __slots__ = ("I", "h", "m")
    size = 10

    def __init__(self, mass: Number, moment: Iterable[Number], tensor: Iterable[Number]):
        self.m, self.h, self.I = mass, Vector(moment), Symmetric(tensor)

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "RigidInertia":
        return cls(x[0], x[1:4], x[4:])

    @classmethod
    def about_center(
        cls, mass: Number, com: Sequence[Number], tensor: Sequence[Sequence[Number]]
    ) -> "RigidInertia":
        """Take the tensor about the centre of mass (parallel axes: I = tensor + m (c.c 1 - c c^T))."""
        c = Vector(com)
        square = c.dot(c)
        shifted = [
            product(mass, minus(square if i == j else 0.0, c[i] * c[j]))
            for i in range(3)
            for j in range(i, 3)
        ]
        return cls(mass, c * mass, Symmetric.of(tensor) + Symmetric(shifted))

    def scalars(self) -> tuple[Number, ...]:
        return (self.m, *self.h, *self.I)

    def __matmul__(self, motion: Motion) -> Force:
        return Force(
            self.I.times(motion.w) + self.h.cross(motion.v),
            motion.v * self.m - self.h.cross(motion.w),
        )

    @property
    def matrix(self) -> np.ndarray:
        """The inertia as a matrix (6, 6), angular first."""
        return columns([self @ unit for unit in units()])

    def articulated(self) -> "ArticulatedInertia":
        x, y, z = self.h
        m = self.m
        return ArticulatedInertia(
            self.I,
            Matrix.of(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))),
            Symmetric((m, 0.0, 0.0, m, 0.0, m)),
        )

    def carried(self, X: Frame) -> "RigidInertia":
        """Rotate, then move by parallel axes: I - [p]x [h]x - [h + m p]x [p]x."""
        h0 = X.R.times(self.h)
        h1 = h0 + X.p * self.m
        sum_dot = plus(X.p.dot(h0), X.p.dot(h1))
        tensor = [
            minus(sum_dot if i == j else 0.0, plus(product(h0[i], X.p[j]), product(X.p[i], h1[j])))
            for i in range(3)
            for j in range(i, 3)
        ]
        return RigidInertia(self.m, h1, self.I.rotated(X.R) + Symmetric(tensor))


class ArticulatedInertia(Linear):
    """A symmetric 6x6 inertia [[I, H], [H^T, M]] as felt at a handle of an articulated body (21 numbers)."""

    __slots__ = ("H", "I", "M")
    size = 21

    def __init__(self, I: Symmetric, H: Matrix, M: Symmetric):
        self.I, self.H, self.M = I, H, M

    @classmethod
    def from_scalars(cls, x: Sequence[Number]) -> "ArticulatedInertia":
        return cls(Symmetric(x[:6]), Matrix.of((x[6:9], x[9:12], x[12:15])), Symmetric(x[15:]))

    def scalars(self) -> tuple[Number, ...]:
        return (*self.I, *self.H.scalars(), *self.M)

    def __matmul__(self, motion: Motion) -> Force:
        return Force(
            self.I.times(motion.w) + self.H.times(motion.v),
            self.H.transpose_times(motion.w) + self.M.times(motion.v),
        )

    def less(self, U: Sequence[Force], V: Sequence[Force]) -> "ArticulatedInertia":
        """Return IA - U V^T, where that is symmetric."""
        I, H, M = self.I, self.H, self.M
        for a, b in zip(U, V, strict=True):
            I = I - Symmetric(product(a.n[i], b.n[j]) for i in range(3) for j in range(i, 3))
            H = H - Matrix.of([product(a.n[i], b.f[j]) for j in range(3)] for i in range(3))
            M = M - Symmetric(product(a.f[i], b.f[j]) for i in range(3) for j in range(i, 3))
        return ArticulatedInertia(I, H, M)

    def without(
        self, S: Sequence[Motion], U: Sequence[Force], UD: Sequence[Force], armature: Sequence[Number]
    ) -> "ArticulatedInertia":
        """Return what is still felt when motion along S is free: IA - U D^-1 U^T, with UD = U D^-1.

        The result has no inertia along a column of S without armature; where that is a unit vector this is
        made exact.
        """
        left = self.less(U, UD)
        I, H, M = left.I, left.H, left.M
        free = {_unit_index(s.scalars()) for s, rotor in zip(S, armature, strict=True) if is_zero(rotor)}
        w, v = [i in free for i in range(3)], [i + 3 in free for i in range(3)]
        return ArticulatedInertia(
            Symmetric.of(
                [[0.0 if w[i] or w[j] else x for j, x in enumerate(row)] for i, row in enumerate(I.full())]
            ),
            Matrix.of([0.0 if w[i] or v[j] else x for j, x in enumerate(row)] for i, row in enumerate(H)),
            Symmetric.of(
                [[0.0 if v[i] or v[j] else x for j, x in enumerate(row)] for i, row in enumerate(M.full())]
            ),
        )

    def carried(self, X: Frame) -> "ArticulatedInertia":
        """Rotate the three blocks, then move: H + [p]x M, and I - H [p]x + [p]x (H + [p]x M)^T."""
        I, H, M = self.I.rotated(X.R), self.H.rotated(X.R), self.M.rotated(X.R)
        p = X.p
        moved = H + Matrix(p.cross(row) for row in M.full()).T
        first = Matrix(p.cross(row) for row in H)  # -H [p]x
        second = Matrix(p.cross(row) for row in moved).T  # [p]x moved^T
        tensor = Symmetric(plus(first[i][j], second[i][j]) for i in range(3) for j in range(i, 3))
        return ArticulatedInertia(I + tensor, moved, M)


def _unit_index(scalars: Sequence[Number]) -> int | None:
    """Return k if the vector is structurally plus or minus the k-th unit vector."""
    nonzero = [k for k, x in enumerate(scalars) if not is_zero(x)]
    return nonzero[0] if len(nonzero) == 1 and _is_unit(scalars[nonzero[0]]) else None


def _is_unit(x: Number) -> bool:
    return is_one(x) or is_one(-x)
