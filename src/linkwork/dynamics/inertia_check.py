"""Refuse to accelerate what has no inertia: a mass matrix that is singular in every pose."""

from collections.abc import Iterable, Sequence

import numpy as np

from linkwork.errors import ModelError, NumericalError

LARGEST = 1000  # velocities; the dense check of larger mechanisms would take longer than it is worth
_DIGITS_LOST = 1e-13  # smallest pivot of the scaled mass matrix: beyond, no digit of an acceleration is right
_REMEDY = (
    "  give the bodies they carry mass (two point masses have none about their line), or the joints armature="
)


def check_inertia(mass_matrices: Iterable[np.ndarray], joints: Sequence[str]) -> None:
    """Raise a ModelError that names the joints along which the mass matrices of all poses are singular.

    `joints` has one name per velocity. A mechanism that is singular in one pose only may run through it.
    """
    trouble = ""
    try:
        for H in mass_matrices:
            trouble = _trouble(H, joints)
            if not trouble:
                return
    except NumericalError:  # a pose out of the reach of a user's formula
        pass
    if trouble:
        raise ModelError(f"the mechanism cannot accelerate:\n{trouble}\n{_REMEDY}")


def _trouble(H: np.ndarray, joints: Sequence[str]) -> str:
    """Say what moves without moving mass; H is scaled to a unit diagonal, to compare gnats with trucks."""
    diagonal = np.diagonal(H)
    idle = ~(diagonal > 0.0)
    if idle.any():
        names = dict.fromkeys(name for name, still in zip(joints, idle, strict=True) if still)
        return "\n".join(f"  joint {name!r} moves no inertia" for name in names)
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(H * scale * scale[:, None])
    if not len(values) or values[0] >= _DIGITS_LOST:
        return ""
    share = np.abs(vectors[:, 0])
    names = dict.fromkeys(name for name, part in zip(joints, share, strict=True) if part > 0.1)
    return f"  {', '.join(map(repr, names))} can move without moving mass"
