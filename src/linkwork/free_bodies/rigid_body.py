"""A rigid body: place, orientation, momentum and angular momentum, and how they change in time."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork.free_bodies.law import Law, same_size, state_property, value
from linkwork.free_bodies.orientation import ORIENTATIONS
from linkwork.mechanism.body import Body
from linkwork.mechanism.body_inertia import Part
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.placement import Array, RotationLike, Space, rotation_matrix
from linkwork.real_numbers import is_finite, real_array
from linkwork.spelling import Closed, spelled_methods


@spelled_methods
class RigidBody(Closed):
    """A rigid body with the state x, R, P, L: centre of mass, orientation, momentum, angular momentum.

    It is made as a Body is, of shapes, an Inertia, or point masses (`from_points`). x is the centre of mass
    in the world; a point p of the body, counted from there in its own axes, is at R p + x. L is about the
    centre of mass. `force` [N] and `torque` [N m] are numbers, or functions of the time and the body, in axes
    of the world. All states may be set.

    >>> from linkwork.geometry import Box
    >>> brick = RigidBody("brick", Box(4, 1, 2), mass=8.0, angular_velocity=(0, 0, 0.5))
    >>> brick.L
    array([0.        , 0.        , 5.66666667])
    >>> brick.derivative()[3:6]  # the first column of dR/dt
    array([0. , 0.5, 0. ])

    `orientation="quaternion"` keeps four numbers in the state in place of the nine of R. In the plane (by
    `space="plane"`, or a planar Inertia) R is 2x2, kept as an angle; L and the torque are numbers.
    """

    def __init__(
        self,
        name: str,
        *parts: Part,
        density: float | None = None,
        mass: float | None = None,
        position: ArrayLike | None = None,
        rotation: RotationLike = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        force: Law = None,
        torque: Law = None,
        orientation: Literal["matrix", "quaternion"] = "matrix",
        space: Space = "space",
    ) -> None:
        body = Body(name, *parts, density=density, mass=mass, position=position, rotation=rotation)
        if not isinstance(space, str) or space not in ("space", "plane"):
            raise ValueError(f'rigid body {name!r}: space {space!r}; give "space" or "plane"')
        if space == "plane":
            body.settle("plane")
        self.name = body.name
        self.space: Space = body.space
        self.shapes = tuple(part for part in body.parts if not isinstance(part, Inertia))
        self.shapes_center: Array = body.inertia.com  # centre of mass, from the origin of the shapes
        self._set_inertia(body.inertia)
        if not isinstance(orientation, str) or orientation not in ("matrix", "quaternion"):
            raise ValueError(f'{self._where}: orientation {orientation!r}; give "matrix" or "quaternion"')
        self._orientation = ORIENTATIONS["angle" if self.space == "plane" else orientation]
        self.R = body.rotation
        self._x = body.position + body.rotation @ body.inertia.com
        self.force, self.torque = force, torque
        shape, turning = self.shapes_of_state
        self._P = self.mass * value(velocity, 0.0, None, shape, f"{self._where}: velocity")
        omega = value(angular_velocity, 0.0, None, turning, f"{self._where}: angular_velocity")
        self._L = self.I @ omega if turning else self.I * omega

    @classmethod
    def from_points(
        cls,
        name: str,
        masses: ArrayLike,
        positions: ArrayLike,
        *,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        force: Law = None,
        torque: Law = None,
        orientation: Literal["matrix", "quaternion"] = "matrix",
    ) -> "RigidBody":
        """Make a body of point masses, given in the world: (n, 3), or (n, 2) in the plane.

        Its axes are the principal ones, so that I_body is diagonal, smallest moment first.
        """
        inertia = Inertia.from_points(masses, positions)
        moments, axes = inertia.principal()
        planar = inertia.space == "plane"
        own = Inertia(inertia.mass, np.zeros(inertia.com.size), moments[0] if planar else np.diag(moments))
        return cls(
            name,
            own,
            position=inertia.com,
            rotation=axes,
            velocity=velocity,
            angular_velocity=angular_velocity,
            force=force,
            torque=torque,
            orientation=orientation,
        )

    @property
    def _where(self) -> str:
        return f"rigid body {self.name!r}"

    x: Array = state_property("x", False, "The centre of mass in the world [m].")
    P: Array = state_property("P", False, "The momentum [kg m/s].")
    L: Array = state_property(
        "L", True, "The angular momentum about the centre of mass, a number in the plane."
    )

    @property
    def shapes_of_state(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of vectors, and of what turns."""
        return ((3,), (3,)) if self.space == "space" else ((2,), ())

    @property
    def mass(self) -> float:
        """The mass [kg]."""
        return self._mass

    def _set_inertia(self, inertia: Inertia) -> None:
        self._mass, self.I_body = inertia.mass, inertia.tensor
        moments = inertia.principal()[0]
        if not (self.mass > 0.0 and moments[0] > 1e-14 * moments[-1] and not inertia.problems()):
            raise ValueError(
                f"{self._where}: mass {self.mass:g} kg and principal moments {moments} kg m^2; "
                "a body that can turn has mass about every axis: give a Particle, or more points"
            )
        inverse = np.linalg.inv(np.atleast_2d(self.I_body))
        self.I_body_inverse: Array = np.array(inverse, dtype=np.float64).reshape(self.I_body.shape)

    # derived quantities

    @property
    def R(self) -> Array:
        """The orientation: columns are the axes of the body in the world, (3, 3), or (2, 2) in the plane."""
        return self._orientation.matrix(self._turn)

    @R.setter
    def R(self, rotation: RotationLike) -> None:
        self._turn = self._orientation.pack(rotation_matrix(rotation, self._where, self.space))

    @property
    def angle(self) -> float:
        """The angle of a body in the plane [rad], over several turns."""
        if self.space == "space":
            raise AttributeError(f"{self._where} is in space, and has a rotation matrix R")
        return float(self._turn[0])

    @angle.setter
    def angle(self, angle: float) -> None:
        if self.space == "space":
            raise AttributeError(f"{self._where} is in space; set its rotation matrix R")
        if not is_finite(angle):
            raise ValueError(f"{self._where}: angle {angle!r}; give a finite number [rad]")
        self._turn = np.array([float(angle)])

    @property
    def quaternion(self) -> Array:
        """The orientation in space as a unit quaternion (w, x, y, z)."""
        return ORIENTATIONS["quaternion"].pack(self.R)

    @property
    def v(self) -> Array:
        """The velocity of the centre of mass, P / m [m/s]."""
        return self.P / self.mass

    @property
    def I(self) -> Array:  # noqa: E743
        """The inertia tensor in axes of the world, R I_body R^T [kg m^2]."""
        return self.R @ self.I_body @ self.R.T if self.space == "space" else self.I_body

    @property
    def I_inverse(self) -> Array:
        """The inverse of the inertia tensor in axes of the world, R I_body^-1 R^T."""
        inverse = self.I_body_inverse
        return self.R @ inverse @ self.R.T if self.space == "space" else inverse

    @property
    def omega(self) -> Array:
        """The angular velocity in axes of the world, I^-1 L [rad/s]."""
        return self.I_inverse @ self.L if self.space == "space" else self.I_inverse * self.L

    @property
    def kinetic_energy(self) -> float:
        """The kinetic energy [J]."""
        return 0.5 * float(np.dot(self.v, self.P) + np.dot(self.omega, self.L))

    def to_world(self, point: ArrayLike) -> Array:
        """Return a point of the body, in its axes from its centre of mass, in the world: R p + x."""
        return np.asarray(point, dtype=np.float64) @ self.R.T + self.x

    def to_body(self, point: ArrayLike) -> Array:
        """Return a point of the world in the axes of the body, from its centre of mass: R^T (p - x)."""
        return (np.asarray(point, dtype=np.float64) - self.x) @ self.R

    def velocity_at(self, point: ArrayLike) -> Array:
        """Return the velocity of the point of the body that is at a place of the world."""
        d = np.asarray(point, dtype=np.float64) - self.x
        if self.space == "plane":
            return self.v + self.omega * np.array([-d[1], d[0]])
        return self.v + np.cross(self.omega, d)

    def torque_of(self, force: ArrayLike, point: ArrayLike) -> Array:
        """Return the torque d x F of a force that acts at a place of the world, about the centre of mass."""
        d, F = np.asarray(point, dtype=np.float64) - self.x, np.asarray(force, dtype=np.float64)
        return np.array(d[0] * F[1] - d[1] * F[0]) if self.space == "plane" else np.cross(d, F)

    # the state, flat

    @property
    def state(self) -> Array:
        """The state x, R, P, L as one array (18,), R column after column; set it to move the body.

        With a quaternion (13,), in the plane (6,).
        """
        return np.concatenate([self.positions, self.momenta])

    @state.setter
    def state(self, numbers: ArrayLike) -> None:
        size = self.x.size + self._orientation.size
        given = real_array(f"{self._where}: state", numbers)
        if given.shape != self.state.shape:
            raise ValueError(
                f"{self._where}: state of shape {given.shape}; give {self.state.shape[0]} numbers"
            )
        self.positions, self.momenta = np.split(given.copy(), [size])

    @property
    def positions(self) -> Array:
        """The first part of the state: x, and the numbers of R."""
        return np.concatenate([self.x, self._turn])

    @positions.setter
    def positions(self, numbers: Array) -> None:
        given = same_size(self.positions, numbers, f"{self._where}: positions")
        self._x, self._turn = np.split(given, [self.x.size])

    @property
    def momenta(self) -> Array:
        """The second part of the state: P and L."""
        return np.append(self.P, self.L)

    @momenta.setter
    def momenta(self, numbers: Array) -> None:
        self._P, L = np.split(same_size(self.momenta, numbers, f"{self._where}: momenta"), [self.x.size])
        self._L = L.reshape(self.shapes_of_state[1])

    @property
    def scales(self) -> tuple[Array, Array]:
        """What is a normal size of positions and momenta: 1 m, 1 rad, 1 m/s, 1 rad/s."""
        moment = float(np.max(np.abs(self.I_body)))
        turning = max(1, np.size(self.L))
        return np.ones(self.positions.size), np.r_[np.full(self.x.size, self.mass), np.full(turning, moment)]

    def tidy(self) -> None:
        """Make R orthonormal again, or the quaternion one of unit length: a step leaves them a little off."""
        self._turn = self._orientation.tidied(self._turn)

    def position_rates(self) -> Array:
        """Return dx/dt = v, and dR/dt = omega* R."""
        return np.concatenate([self.v, self._orientation.rates(self._turn, self.omega)])

    def momentum_rates(self, t: float = 0.0, gravity: Any = None) -> tuple[Array, float]:
        """Return dP/dt = F and dL/dt = N, force and torque, and the power that they have."""
        shape, turning = self.shapes_of_state
        F = value(self.force, t, self, shape, f"{self._where}: force")
        N = value(self.torque, t, self, turning, f"{self._where}: torque")
        if gravity is not None:
            F = F + self.mass * np.asarray(gravity, dtype=np.float64)
        return np.append(F, N), float(np.dot(F, self.v) + np.dot(N, self.omega))

    def derivative(self, t: float = 0.0, gravity: Any = None) -> Array:
        """Return the rates of the state: dx/dt, dR/dt, dP/dt, dL/dt as one array."""
        return np.concatenate([self.position_rates(), self.momentum_rates(t, gravity)[0]])

    def __repr__(self) -> str:
        return f"RigidBody({self.name!r}, mass={self.mass:.6g})"
