"""A particle: a mass without size."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.free_bodies.law import Law, same_size, state_property, value
from linkwork.mechanism.names import name_text
from linkwork.mechanism.placement import Array
from linkwork.real_numbers import is_finite, real_array
from linkwork.spelling import Closed, spelled_methods


@spelled_methods
class Particle(Closed):
    """A point mass with place x and momentum P, in space or in the plane, as its position says.

    `force` [N] is numbers, or a function of the time and the particle.
    """

    def __init__(
        self,
        name: str,
        mass: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        velocity: ArrayLike | None = None,
        force: Law = None,
    ) -> None:
        self.name = name_text(name, "Particle")
        self.mass = mass
        shape = np.shape(position)
        if shape not in ((2,), (3,)):
            raise ValueError(
                f"{self._where}: position {position!r}; give 3 numbers in metres, 2 in the plane"
            )
        self.dimension = shape[0]
        self._x = value(position, 0.0, None, shape, f"{self._where}: position")
        self._P = self.mass * value(velocity, 0.0, None, shape, f"{self._where}: velocity")
        self.force = force

    @property
    def _where(self) -> str:
        return f"particle {self.name!r}"

    def __repr__(self) -> str:
        return f"Particle({self.name!r}, mass={self.mass:.6g})"

    @property
    def mass(self) -> float:
        """The mass [kg]; the momentum stays when it is set."""
        return self._mass

    @mass.setter
    def mass(self, mass: float) -> None:
        if not (is_finite(mass) and mass > 0.0):
            raise ValueError(f"{self._where}: mass {mass!r}; give a finite number > 0")
        self._mass = float(mass)

    @property
    def shapes_of_state(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of vectors, and of what turns: nothing."""
        return (self.dimension,), (0,)

    x: Array = state_property("x", False, "The place in the world [m].")
    P: Array = state_property("P", False, "The momentum [kg m/s].")

    @property
    def v(self) -> Array:
        """The velocity P / m [m/s]."""
        return self.P / self.mass

    @property
    def kinetic_energy(self) -> float:
        """The kinetic energy [J]."""
        return 0.5 * float(self.v @ self.P)

    @property
    def state(self) -> Array:
        """The state x, P as one array; set it to move the particle."""
        return np.concatenate([self.positions, self.momenta])

    @state.setter
    def state(self, numbers: ArrayLike) -> None:
        given = real_array(f"{self._where}: state", numbers)
        if given.shape != (2 * self.dimension,):
            raise ValueError(
                f"{self._where}: state of shape {given.shape}; give {2 * self.dimension} numbers"
            )
        self.positions, self.momenta = np.split(given.copy(), [self.dimension])

    @property
    def positions(self) -> Array:
        """The first part of the state: x."""
        return self.x

    @positions.setter
    def positions(self, numbers: Array) -> None:
        self._x = same_size(self.positions, numbers, f"{self._where}: positions")

    @property
    def momenta(self) -> Array:
        """The second part of the state: P."""
        return self.P

    @momenta.setter
    def momenta(self, numbers: Array) -> None:
        self._P = same_size(self.momenta, numbers, f"{self._where}: momenta")

    @property
    def scales(self) -> tuple[Array, Array]:
        """What is a normal size of positions and momenta: 1 m, 1 m/s."""
        return np.ones(self.dimension), np.full(self.dimension, self.mass)

    def tidy(self) -> None:
        """Do nothing: a particle has no orientation."""

    def position_rates(self) -> Array:
        """Return dx/dt = P / m."""
        return self.v

    def momentum_rates(self, t: float = 0.0, gravity: Any = None) -> tuple[Array, float]:
        """Return dP/dt, the force, and the power that it has."""
        F = value(self.force, t, self, (self.dimension,), f"{self._where}: force")
        if gravity is not None:
            F = F + self.mass * np.asarray(gravity, dtype=np.float64)
        return F, float(F @ self.v)

    def derivative(self, t: float = 0.0, gravity: Any = None) -> Array:
        """Return the rates of the state."""
        return np.concatenate([self.position_rates(), self.momentum_rates(t, gravity)[0]])
