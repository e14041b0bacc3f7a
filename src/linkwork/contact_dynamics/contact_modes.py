"""Modes of contacts, and forces <- modes: what each contact does to the relative motion at it.

An *open* contact exerts nothing. A *sliding* one holds its normal distance, and its force is N along the
normal and mu N against the slip: one unknown, along c = n - mu d. A *sticking* one holds all three
directions. With the rows R of what is held and the directions C of forces, and b the relative accelerations
along the rows without contact,

    R M^-1 C^T x = -b

In a mode the motion is smooth, so this is what is integrated (`event_run`). Rows may be redundant, as those
of a box on four corners: the accelerations are unique then, the forces are not. Of all that do it the nearest
to given ones are taken: those that the problem with its inequalities was solved with.
"""

from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.response import Response

Array = np.ndarray

OPEN, SLIDING, STICKING = 0, 1, 2

_FEW = 12  # rows that are not worth dividing
_RANK = 1e-11  # singular values below this part of the largest are rounding errors


class Modes(NamedTuple):
    """What contacts do."""

    mode: Array  # (n,) OPEN, SLIDING or STICKING
    direction: Array  # (n, 3) of slip, along the contact's axes; its first number is 0

    def some(self, which: Array) -> "Modes":
        """Return those of some contacts."""
        return Modes(self.mode[which], self.direction[which])


def held_rows(modes: Modes) -> Array:
    """Return the numbers, among 3 n, of the directions that are held."""
    held = np.zeros((len(modes.mode), 3), bool)
    held[:, 0] = modes.mode != OPEN
    held[:, 1:] = (modes.mode == STICKING)[:, None]
    return np.flatnonzero(held)


def force_directions(modes: Modes, friction: Array) -> Array:
    """Return the forces (3 n, held) per unit of each unknown."""
    n = len(modes.mode)
    C = np.eye(3 * n).reshape(n, 3, 3 * n)
    slides = modes.mode == SLIDING
    C[slides, :, 3 * np.flatnonzero(slides)] -= friction[slides, None] * modes.direction[slides]
    return C.reshape(3 * n, 3 * n)[:, held_rows(modes)]


class Held(NamedTuple):
    """The answer of a model to contacts in some modes."""

    forces: Array  # (n, 3)
    change: Array  # (r,) of accelerations along the basis
    gain: float  # smallest answer of a held normal to its own force; negative: it jams (Painleve)


def held(given: Response, modes: Modes, friction: Array, bias: Array, near: Array | None = None) -> Held:
    """Return forces that keep contacts in their modes; relative accelerations without them are `bias` (n, 3).

    Of forces that are not unique, those nearest to `near` (n, 3).
    """
    n = len(modes.mode)
    rows = held_rows(modes)
    if not len(rows):
        return Held(np.zeros((n, 3)), np.zeros(len(given.mass)), np.inf)
    J = given.rows.reshape(3 * n, -1)
    C = force_directions(modes, friction)
    answer = given.inverse @ (J.T @ C)
    A, right = J[rows] @ answer, -bias.reshape(-1)[rows]
    normals = np.flatnonzero(rows % 3 == 0)
    start = np.zeros(len(rows)) if near is None else near.reshape(-1)[rows]
    x = start + least_change(A, right - A @ start)
    return Held((C @ x).reshape(n, 3), answer @ x, float(np.diag(A)[normals].min()))


def least_change(A: Array, right: Array) -> Array:
    """Return the smallest x with A x = right, scaled so that rows of any unit count alike.

    Rows that have nothing to do with each other, as those of bodies far apart, are solved by themselves.
    """
    x = np.zeros(len(right))
    for rows in _islands(A):
        part = A[np.ix_(rows, rows)]
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(part)), 1e-300))
        y, *_ = np.linalg.lstsq(scale[:, None] * part * scale, scale * right[rows], rcond=_RANK)
        x[rows] = scale * y
    return x


def _islands(A: Array) -> list[Array]:
    """Return the rows of a matrix in groups that nothing couples."""
    if len(A) <= _FEW:
        return [np.arange(len(A))]
    coupled = (A != 0.0) | (A.T != 0.0)
    rest, found = np.ones(len(A), bool), []
    while rest.any():
        group = np.zeros(len(A), bool)
        fresh = np.zeros(len(A), bool)
        fresh[np.argmax(rest)] = True
        while fresh.any():
            group |= fresh
            fresh = coupled[fresh].any(axis=0) & ~group
        rest &= ~group
        found.append(np.flatnonzero(group))
    return found
