"""Modes of contacts, and forces <- modes: what each contact does to the relative motion at it.

This is the same as `fixed_modes`, for problems that Python solves at events: R M^-1 C^T x = -b with the rows
R of what is held and the directions C of forces.
"""

from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.event_driven.active_record import OPEN, SLIDING, STICKING
from linkwork.contact_dynamics.event_driven.contact_response import Response
from linkwork.contact_dynamics.event_driven.mode_margins import COUNT, FIRST
from linkwork.contact_dynamics.problem.least_norm import least_norm

Array = np.ndarray

_ABLE = 1e-12  # of the largest answer to a force along a normal: less is none


class Modes(NamedTuple):
    """What contacts do."""

    part: Array  # (n, 3) OPEN, SLIDING or STICKING: of slip, of spin about the normal, of roll
    direction: Array  # (n, 3 or 6) unit vectors along slip, spin and roll, by the contact's rows

    @property
    def mode(self) -> Array:
        """OPEN, SLIDING or STICKING (n,)."""
        return self.part[:, 0]

    def some(self, which: Array) -> "Modes":
        """Return those of some contacts."""
        return Modes(self.part[which], self.direction[which])


def parts(wide: int) -> list[tuple[int, slice]]:
    """Return the motions that are resisted, by number, and which rows they are."""
    found = [(k, slice(first, first + count)) for k, (first, count) in enumerate(zip(FIRST, COUNT))]
    return found[: 1 if wide == 3 else 3]


def held_rows(modes: Modes) -> Array:
    """Return the numbers, among those of all contacts, of the rows that are held."""
    wide = modes.direction.shape[1]
    held = np.zeros((len(modes.direction), wide), bool)
    held[:, 0] = modes.mode != OPEN
    for k, rows in parts(wide):
        held[:, rows] = (modes.part[:, k] == STICKING)[:, None]
    return np.flatnonzero(held)


def force_directions(modes: Modes, bound: Array) -> Array:
    """Return the forces (rows, held) per unit of each unknown; `bound` (n, 3) is friction, ..., per N."""
    n, wide = len(modes.direction), modes.direction.shape[1]
    C = np.eye(wide * n).reshape(n, wide, wide * n)
    for k, rows in parts(wide):
        for i in np.flatnonzero(modes.part[:, k] == SLIDING):
            C[i, rows, wide * i] -= bound[i, k] * modes.direction[i, rows]
    return C.reshape(wide * n, wide * n)[:, held_rows(modes)]


class Held(NamedTuple):
    """The answer of a model to contacts in some modes."""

    forces: Array  # (n, 3 or 6)
    joint_forces: Array  # (m,) along held rows of joints
    change: Array  # (r,) of accelerations along the basis
    gain: float  # smallest answer of a held normal to its own force; negative: it jams (Painleve)


def held(
    given: Response,
    modes: Modes,
    bound: Array,
    bias: Array,
    near: Array | None = None,
    joints: tuple[Array, Array, Array] | None = None,
) -> Held:
    """Return forces that keep contacts in their modes; relative accelerations without them are `bias`.

    Of forces that are not unique, those nearest to `near`; both are as `forces`. Rows of `joints` (m, r) are
    held, too, whose accelerations and forces to stay near (m,) these are.
    """
    n, wide = bias.shape
    rows = held_rows(modes)
    own, own_bias, own_near = joints or (np.zeros((0, len(given.mass))), np.zeros(0), np.zeros(0))
    m = len(own)
    if not len(rows) + m:
        return Held(np.zeros((n, wide)), np.zeros(m), np.zeros(len(given.mass)), np.inf)
    J = given.rows.reshape(wide * n, len(given.mass))
    C = force_directions(modes, bound)
    answer = given.inverse @ np.hstack([J.T @ C, own.T])
    A, right = np.vstack([J[rows], own]) @ answer, -np.concatenate([bias.reshape(-1)[rows], own_bias])
    normals = np.flatnonzero(rows % wide == 0)
    first = np.zeros(len(rows)) if near is None else near.reshape(-1)[rows]
    start = np.concatenate([first, own_near])
    x = start + least_norm(A, right - A @ start)
    alone = np.einsum("kr,rs,ks->k", J[rows[normals]], given.inverse, J[rows[normals]])
    able = alone > _ABLE * alone.max(initial=0.0)  # what no force moves does not jam
    gain = float(np.min(np.diag(A)[normals][able], initial=np.inf))
    forces = (C @ x[: len(rows)]).reshape(n, wide)
    return Held(forces, x[len(rows) :], answer @ x, gain)
