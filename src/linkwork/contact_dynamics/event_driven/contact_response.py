"""How a model answers to forces at contacts: a <- p, closed loops held.

With M the mass matrix, G the rows of closed loops and of what drives, and Z a basis of the velocities that
keep them closed, G Z = 0, forces p along the rows J of contacts change accelerations by

    a = Z (Z^T M Z)^-1 Z^T J^T p,    and relative accelerations at contacts by W p, W = (J Z) (Z^T M Z)^-1
    (J Z)^T

The same holds for impulses and velocities. To the solver of contact problems the whole model is one node,
whose velocities are those along Z.
"""

from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.problem.friction_cone import COULOMB, TURNING
from linkwork.contact_dynamics.problem.rigid_joints import NO_JOINTS, JointProblem
from linkwork.model.model import Model

Array = np.ndarray

_RANK = 1e-9  # singular values of G below this part of the largest are those of redundant rows


class Response(NamedTuple):
    """Inertia and rows at some positions."""

    mass: Array  # (r, r) Z^T M Z
    inverse: Array  # (r, r)
    basis: Array | None  # (nv, r) Z; None: all velocities are free
    rows: Array  # (n, 3 or 6, r) J Z

    def spread(self, y: Array) -> Array:
        """Return velocities (nv,) of those along Z."""
        return y if self.basis is None else self.basis @ y

    def along(self, force: Array) -> Array:
        """Return what forces (nv,) are along Z."""
        return force if self.basis is None else self.basis.T @ force

    def answer(self, force: Array) -> Array:
        """Return accelerations (nv,) by forces (nv,)."""
        return self.spread(self.inverse @ self.along(force))

    def reduced(self, rows: Array) -> Array:
        """Return rows (..., nv) along Z (..., r)."""
        return rows if self.basis is None else rows @ self.basis

    def nodes(self) -> Nodes:
        """Return it as one node of a contact problem, which would not move without contact."""
        r = len(self.mass)
        where = np.array([r]), np.zeros(1, np.int64), np.zeros(1, np.int64)
        return Nodes(*where, self.mass.ravel(), self.inverse.ravel(), np.zeros(r))

    def contacts(self, bias: Array, bound: Array, joints: JointProblem = NO_JOINTS) -> Contacts:
        """Return contacts whose relative velocities are `bias` (n, 3 or 6) when nothing acts at them.

        Behind them, those that resist turning have three rows more, and rows of joints follow; `bound` (n, 3)
        is friction, torsional and rolling resistance.
        """
        n, wide, r = self.rows.shape
        turns = np.flatnonzero(bound[:, 1:].any(axis=1)) if wide == 6 else np.zeros(0, np.int64)
        m = len(joints.kind)
        of_joints, bias_of_joints = np.zeros((m, 3, r)), np.zeros((m, 3))
        of_joints[:, 0], bias_of_joints[:, 0] = joints.rows.reshape(m, r), joints.bias
        rows = np.concatenate([self.rows[:, :3], self.rows[turns, wide - 3 :], of_joints])
        count = n + len(turns) + m
        alone = np.einsum("nir,rs,nis->n", rows, self.inverse, rows)
        floor = 1e-12 * float(np.max(alone, initial=1e-300))
        return Contacts(
            np.zeros(count, np.int64),
            np.full(count, -1, np.int64),
            3 * r * np.arange(count),
            np.zeros(count, np.int64),
            np.ascontiguousarray(rows).ravel(),
            np.concatenate([bias[:, :3], bias[turns, wide - 3 :], bias_of_joints]),
            np.concatenate([bound[:, 0], bound[turns, 2], joints.bound]),
            np.repeat([3.0, 1.0], [n + len(turns), m]) / np.maximum(alone, floor),
            np.concatenate([np.repeat([COULOMB, TURNING], [n, len(turns)]), joints.kind]),
            np.concatenate([np.zeros(n), bound[turns, 1], np.zeros(m)]),
            np.concatenate([np.full(n, -1), turns, np.full(m, -1)]),
        )

    def by_contact(self, p: Array, contacts: Contacts) -> Array:
        """Return forces (n, 3 or 6) of contacts from those along rows of `contacts`."""
        n, wide, _ = self.rows.shape
        found, turns = np.zeros((n, wide)), contacts.kind == TURNING
        found[:, :3] = p[:n]
        found[contacts.of[turns], wide - 3 :] = p[turns]
        return found


def response(model: Model, q: Array, rows: Array) -> Response:
    """Return how a model answers at contacts with these rows J (n, 3 or 6, nv)."""
    M, Z = model.mass_matrix(q), None
    if model.loop_names:
        G = model.constraint_jacobian(q)
        _, sizes, right = np.linalg.svd(G)
        Z = right[np.count_nonzero(sizes > _RANK * sizes.max(initial=0.0)) :].T
        M, rows = Z.T @ M @ Z, rows @ Z
    return Response(M, np.linalg.inv(M), Z, rows)
