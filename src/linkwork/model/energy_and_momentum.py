"""Sums over all bodies: energy, momentum, the centre of mass."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import energy as energies
from linkwork.dynamics import momentum as momenta
from linkwork.model.arguments import delivered

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def energy(model: "Model", q: Array, v: Array, *, out: Array | None = None) -> Any:
    """Return kinetic plus potential energy [J]."""
    kinetic, potential = _energies(model, q, v)
    return delivered("energy", kinetic + potential, out)


def kinetic_energy(model: "Model", q: Array, v: Array, *, out: Array | None = None) -> Any:
    """Return the kinetic energy [J], that of the drives' armature included: v.Hv / 2."""
    return delivered("kinetic_energy", _energies(model, q, v)[0], out)


def potential_energy(model: "Model", q: Array, *, out: Array | None = None) -> Any:
    """Return the potential energy of gravity [J], zero for masses at the height of the world's origin."""
    return delivered("potential_energy", _energies(model, q, np.zeros(model.nv))[1], out)


def _energies(model: "Model", q: Array, v: Array) -> tuple[Array, ...]:
    return model.kernel_of(energies.ALGORITHM)(q, v)


def momentum(model: "Model", q: Array, v: Array, *, out: Array | None = None) -> Array:
    """Return the momentum (6,) or (3,) in world axes: angular about the centre of mass, then linear."""
    return model.kernel_of(momenta.MOMENTUM_ALGORITHM)(q, v, out=(out,))[0]


def center_of_mass(model: "Model", q: Array, *, out: Array | None = None) -> Array:
    """Return the centre of mass of all that moves, in the world; what is welded to ground is left out."""
    return model.kernel_of(momenta.CENTER_ALGORITHM)(q, out=(out,))[0]
