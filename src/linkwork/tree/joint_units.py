"""The units of a joint's coordinates."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from linkwork.mechanism.joint import Joint
from linkwork.tree.joint_formula import JointFormula
from linkwork.varied import any_varied

_Units = tuple[list[str], list[str]]
_KNOWN: WeakKeyDictionary[JointFormula, dict[tuple[object, ...], _Units]] = WeakKeyDictionary()


def joint_units(kind: JointFormula, numbers: Sequence[float], q: Sequence[float], joint: Joint) -> _Units:
    """Return the units of a joint's positions, and of what its velocities change: "rad" if it turns, or "m".

    A position has the unit of the velocity it follows, or none if it is of a quaternion. Joints of one kind
    with the same numbers have the same units: a thousand bodies ask once.
    """
    if any_varied(numbers):
        return _units(kind, numbers, q, joint)
    known, key = _KNOWN.setdefault(kind, {}), (*numbers, joint.quaternion)
    if key not in known:
        known[key] = _units(kind, numbers, q, joint)
    return known[key]


def _units(kind: JointFormula, numbers: Sequence[float], q: Sequence[float], joint: Joint) -> _Units:
    angular = joint.algebra.angular
    velocities = [
        "rad" if any(abs(x) > 0.0 for x in s.scalars()[:angular]) else "m" for s in kind.subspace(q, numbers)
    ]
    rows = np.zeros((kind.nv, kind.nq))
    for k, unit in enumerate(np.eye(kind.nv).tolist()):
        rows[k] = kind.position_rates(q, unit, numbers)
    positions = [velocities[int(k)] for k in np.abs(rows).argmax(axis=0)] if kind.nv else []
    if joint.quaternion is not None:
        positions[joint.quaternion : joint.quaternion + 4] = [""] * 4
    return positions, velocities
