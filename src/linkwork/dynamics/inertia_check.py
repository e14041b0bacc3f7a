"""Refuse to accelerate what has no inertia: a mass matrix that is singular in every pose.

The articulated-body algorithm factors the mass matrix, H = L^T D L (Featherstone, RBDA 2008, section 6.5),
one block D per joint: the inertia that its velocities feel when all beyond is free. If H is singular, one of
these blocks is. Their inverse, which is at hand, says how far they are from it: 1 / (D^-1)_kk is what is left
of the inertia H_kk that velocity k moves when all others may give way. So shares 1 / ((D^-1)_kk H_kk) that
are not tiny show that there is no fault, in as many operations as there are links. Only where one is tiny,
H itself is looked at.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from linkwork.algebra.vector import plus
from linkwork.dynamics.algorithm import Algorithm, LinkView, Pass, Port, Q
from linkwork.dynamics.forward_dynamics import past_joint
from linkwork.errors import ModelError, NumericalError

LARGEST = 1000  # velocities; the dense check of larger mechanisms would take longer than it is worth
_DIGITS_LOST = 1e-13  # smallest pivot of the scaled mass matrix: beyond, no digit of an acceleration is right
_REMEDY = (
    "  give the bodies they carry mass (two point masses have none about their line), or the joints armature="
)


NOT_TINY = 1e-10  # share of inertia that is left: far above rounding

SHARE = Port("share", "v", lambda n: (n.nv,))


def own_inertias(link: LinkView, parent: LinkView) -> None:
    link.IA = link.inertia.articulated()
    link.Ic = link.inertia


def shares(link: LinkView, parent: LinkView) -> None:
    """Tips to base: the inertia felt when all beyond is free, beside that when all beyond is locked."""
    parent.IA += link.X @ past_joint(link)
    set_share(link, parent)


def set_share(link: LinkView, parent: LinkView) -> None:
    """Set the shares of a link that knows its `Dinv`."""
    moved = [plus(s.dot(link.Ic @ s), rotor) for s, rotor in zip(link.S, link.armature, strict=True)]
    link.share = [1.0 / (link.Dinv[k][k] * inertia) for k, inertia in enumerate(moved)]
    parent.Ic += link.X @ link.Ic


SHARES = Algorithm(
    "shares of inertia",
    inputs=(Q,),
    outputs=(SHARE,),
    passes=(Pass(own_inertias, "outward"), Pass(shares, "inward")),
    shared={"IA": "ArticulatedInertia", "Ic": "RigidInertia"},
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
