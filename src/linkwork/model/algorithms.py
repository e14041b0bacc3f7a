"""The algorithms on trees as methods on arrays."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from linkwork.dynamics import (
    energy,
    forward_dynamics,
    inverse_dynamics,
    jacobian,
    loop_closure,
    mass_matrix,
    momentum,
    poses,
    position_rates,
    reactions,
    velocities,
)
from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.external_forces import external_forces
from linkwork.dynamics.inertia_check import LARGEST, check_inertia
from linkwork.dynamics.kernel import Kernel, real_array
from linkwork.errors import unknown
from linkwork.lazy import lazy
from linkwork.model.arrays import Array, ModelArrays, delivered
from linkwork.model.named_rows import Named
from linkwork.tree.loops import without
from linkwork.tree.subspace import constraint_subspace, motion_subspace
from linkwork.tree.tree import Link, Tree


class Algorithms(ModelArrays):
    """A model that can be asked for motions and forces."""

    # dynamics

    def forward_dynamics(
        self,
        q: Array,
        v: Array,
        tau: Array,
        *,
        forces: Any = None,
        solver: Literal["sparse", "svd"] = "sparse",
        out: Array | None = None,
    ) -> Array:
        """Return the accelerations (nv,) that joint forces tau (and forces on bodies) give.

        This is the rigid-body answer: damping, friction, springs and limits of joints are not in it, armature
        is. Closed loops stay closed: q and v are those of the spanning tree, and should close the loops. But
        drivers do not drive, and couplings do not couple, as with mimic joints in other libraries of robots:
        tau moves all joints. `motion` has all of these. With solver="svd" it is found the slow way, as a
        reference: by singular values of the dense equations.
        """
        if solver != "sparse":
            return self._by_singular_values(q, v, tau, forces, solver, out)
        if forces is None and out is not None:
            done = self._forward_dynamics(q, v, tau, out)
            if done is out:
                return out
            return self._slowly(self._forward.ALGORITHM, done, (q, v, tau), out)
        if forces is None:
            return self._rigid_kernel(self._forward.ALGORITHM)(q, v, tau)[0]
        external = external_forces(self._links, forces)
        return self._rigid_kernel(self._forward.WITH_FORCES)(q, v, tau, external, out=(out,))[0]

    @abstractmethod
    def _by_singular_values(
        self, q: Array, v: Array, tau: Array, forces: Any, solver: str, out: Array | None
    ) -> Array:
        """Return the accelerations by the dense equations of a closed mechanism."""

    @lazy
    def _rigid(self) -> Tree:
        """The tree that joint forces move: without drivers and couplings."""
        return without(self._links, {*self._mechanism.drivers, *self.couplings})

    def _rigid_kernel(self, algorithm: Algorithm) -> Kernel:
        return self._accelerating(algorithm, tree=self._rigid)

    @property
    def _forward(self) -> Any:
        """The module of forward dynamics: with loops, or without."""
        return loop_closure if self._rigid.loops else forward_dynamics

    @lazy
    def _forward_dynamics(self) -> Any:
        return self._rigid_kernel(self._forward.ALGORITHM).call

    @lazy
    def _accelerating(self) -> Callable[..., Kernel]:
        """The kernels that accelerate, once it is known that all that moves has inertia."""
        if self.nv <= LARGEST:
            joints = [name for name, (_, part) in self.slices.items() for _ in range(part.start, part.stop)]
            elsewhere = self.q_drawn + 0.3 * np.sin(1.0 + np.arange(self.nq))  # anywhere
            check_inertia((self.mass_matrix(q) for q in (self.q_drawn, elsewhere)), joints)
        return self._kernel

    def inverse_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        *,
        driven: Iterable[str] | None = None,
        forces: Any = None,
        out: Array | None = None,
    ) -> Array:
        """Return the joint forces (nv,) that accelerations a take.

        With closed loops: those in the joints of the spanning tree when the loop joints bear nothing. With
        `driven` joints, the forces in these alone, in the order of their names: the loops bear the rest. If
        several sets of forces do it, the one with the least sum of squares. v and a have to keep the loops
        closed, and the joints have to be able to produce a: else an error tells the joints by name.
        """
        if driven is not None:
            return self._drive_forces(q, v, a, driven, forces, out)
        if forces is None and out is not None:
            done = self._inverse_dynamics(q, v, a, out)
            if done is out:
                return out
            return self._slowly(inverse_dynamics.ALGORITHM, done, (q, v, a), out)
        if forces is None:
            return self._kernel(inverse_dynamics.ALGORITHM)(q, v, a)[0]
        external = external_forces(self._links, forces)
        return self._kernel(inverse_dynamics.WITH_FORCES)(q, v, a, external, out=(out,))[0]

    @abstractmethod
    def _drive_forces(
        self, q: Array, v: Array, a: Array, driven: Iterable[str], forces: Any, out: Array | None
    ) -> Array:
        """Return the forces in driven joints: what a model of closed loops adds to inverse dynamics."""

    @lazy
    def _inverse_dynamics(self) -> Any:
        return self._kernel(inverse_dynamics.ALGORITHM).call

    def _slowly(self, algorithm: Algorithm, done: Any, inputs: tuple[Any, ...], out: Array) -> Array:
        """Go on where a single call stopped: it is a batch, the result is not finite, or who knows."""
        kernel = self._kernel(algorithm)
        if done is None and np.ndim(out) > len(
            kernel.outputs[0]
        ):  # else code for lanes would be made for nothing
            done = kernel.call_many(*inputs, out)
        if done is out:
            return out
        if done is False:
            kernel.explain([out], inputs)
        return kernel(*inputs, out=(out,))[0]

    def bias_forces(self, q: Array, v: Array, *, out: Array | None = None) -> Array:
        """Return the joint forces (nv,) at zero acceleration: gravity, Coriolis and centrifugal terms."""
        return self._kernel(inverse_dynamics.BIAS)(q, v, out=(out,))[0]

    def gravity_forces(self, q: Array, *, out: Array | None = None) -> Array:
        """Return the joint forces (nv,) that hold the mechanism at rest."""
        return self._kernel(inverse_dynamics.GRAVITY)(q, out=(out,))[0]

    def mass_matrix(
        self, q: Array, *, independent: Iterable[str] | None = None, out: Array | None = None
    ) -> Array:
        """Return the mass matrix (nv, nv), armature included; with closed loops, of the spanning tree.

        With `independent` joints, that of the closed mechanism in these alone, in the order of their names.
        """
        if independent is not None:
            return self._independent_mass_matrix(q, independent, out)
        if out is None:
            return self._kernel(mass_matrix.ALGORITHM)(q)[0]
        done = self._mass_matrix(q, out)
        return out if done is out else self._slowly(mass_matrix.ALGORITHM, done, (q,), out)

    @abstractmethod
    def _independent_mass_matrix(self, q: Array, independent: Iterable[str], out: Array | None) -> Array:
        """Return the mass matrix in independent joints: what a model of closed loops adds."""

    @lazy
    def _mass_matrix(self) -> Any:
        return self._kernel(mass_matrix.ALGORITHM).call

    def position_rates(self, q: Array, v: Array, *, out: Array | None = None) -> Array:
        """Return dq/dt (nq,) at velocities v; they differ where there are quaternions or free bodies."""
        return self._kernel(position_rates.ALGORITHM)(q, v, out=(out,))[0]

    # motion of bodies

    def poses(self, q: Array, *, out: Array | None = None) -> Named:
        """Return the poses of the bodies by name; `.array` has the rows of [R | p]."""
        (array,) = self._kernel(poses.ALGORITHM)(q, out=(out,))
        frame = self._links.algebra.Frame
        return Named("body", self._body_rows, array, 3, frame.from_scalars, {"ground": frame()})

    def velocities(self, q: Array, v: Array, *, out: Array | None = None) -> Named:
        """Return the velocities of the bodies' origins by name, in world axes, angular first."""
        (array,) = self._kernel(velocities.ALGORITHM)(q, v, out=(out,))
        return self._motions(array)

    def accelerations(
        self, q: Array, v: Array, tau: Array, *, forces: Any = None, out: Array | None = None
    ) -> Named:
        """Return how bodies accelerate under joint forces tau: angular, and of the origins, in world axes."""
        return self.body_accelerations(q, v, self.forward_dynamics(q, v, tau, forces=forces), out=out)

    def body_accelerations(self, q: Array, v: Array, a: Array, *, out: Array | None = None) -> Named:
        """Return the accelerations of bodies when the joints accelerate by a: as `accelerations` does."""
        (array,) = self._kernel(velocities.ACCELERATION_ALGORITHM)(q, v, a, out=(out,))
        return self._motions(array)

    def _motions(self, array: Array) -> Named:
        motion = self._links.algebra.Motion
        return Named("body", self._body_rows, array, 2, motion.from_scalars, {"ground": motion.zero()})

    @lazy
    def _body_rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.body_names)}

    def jacobian(self, q: Array, body: str, point: Any = None, *, out: Array | None = None) -> Array:
        """Return how a point of a body (its origin, if not given) moves per unit of each velocity.

        (6, nv) in space, (3, nv) in the plane: angular velocity, then velocity of the point, in world axes.
        """
        if body not in self._links.body_links:
            raise ValueError(f"jacobian: {unknown('body', body, self.body_names)}")
        algebra = self._links.algebra
        place = real_array("jacobian: point", [0.0] * algebra.dimension if point is None else point)
        if place.shape != (algebra.dimension,) or not np.isfinite(place).all():
            raise ValueError(
                f"jacobian: point {point!r}; give {algebra.dimension} finite numbers in the frame of {body!r}"
            )
        number = self._links.body_links[body]
        path = self._path(number)
        in_link = np.array(self._links.body_frames[body] @ place.tolist())
        if path:
            (rows,) = self._kernel(jacobian.ALGORITHM, path=path)(q, in_link)
        else:
            batch = self.poses(q).array.shape[:-3]  # checks q
            rows = np.zeros((*batch, self.nv, algebra.freedoms))
        J = np.swapaxes(rows, -1, -2)
        return delivered("jacobian", J, out)

    def _path(self, number: int) -> tuple[int, ...]:
        path: list[int] = []
        while number:
            path.append(number)
            number = self._links.links[number - 1].parent
        return tuple(reversed(path))

    # forces in joints

    def reactions(
        self, q: Array, v: Array, tau: Array, *, forces: Any = None, out: Array | None = None
    ) -> Named:
        """Return, by joint name, the force the joint exerts on its child beyond its drive tau.

        In world axes, about the origin of the joint's frame on the child. Drives act as torques about the
        axes of turning freedoms and forces along those of sliding ones; what is left is the constraint.
        """
        a = self.forward_dynamics(q, v, tau, forces=forces)
        external = external_forces(self._bodies, {} if forces is None else forces)
        if not self._links.loops:
            return self.reactions_at(q, v, a, external, out=out)
        return self._reactions_with_loops(q, v, a, external, self._row_forces(q, v, tau, forces), out)

    @abstractmethod
    def _row_forces(self, q: Array, v: Array, tau: Array, forces: Any) -> Array:
        """Return the least forces of the loops' equations under forces tau, and on bodies."""

    @abstractmethod
    def _reactions_with_loops(
        self, q: Array, v: Array, a: Array, external: Array, rows: Array, out: Array | None
    ) -> Named:
        """Return the reactions of all joints from the forces of the loops' equations."""

    def reactions_at(
        self, q: Array, v: Array, a: Array, external: Array, *, out: Array | None = None
    ) -> Named:
        """Return the reactions when the joints accelerate by a, with forces on bodies as `loads` gives."""
        (array,) = self._kernel(reactions.ALGORITHM)(q, v, a, external, out=(out,))
        rows = {name: row for row, name in enumerate(self.joint_names)}
        return Named("joint", rows, array, 2, self._links.algebra.Force.from_scalars, {})

    def motion_subspace(self, joint: str, q: Array) -> Array:
        """Return the child's motion per unit of each velocity, in its joint frame: (freedoms, nv)."""
        return motion_subspace(*self._link_at(joint, q))

    def constraint_subspace(self, joint: str, q: Array) -> Array:
        """Return a basis of the forces a joint can exert without doing work, in its frame on the child."""
        return constraint_subspace(*self._link_at(joint, q))

    def _link_at(self, joint: str, q: Array) -> tuple[Link, Array]:
        if joint not in self.slices:
            raise ValueError(unknown("joint", joint, self.slices))
        array = real_array("q", q)
        if array.shape != (self.nq,):
            raise ValueError(f"q has shape {array.shape}; give {self.nq} numbers")
        if not np.isfinite(array).all():
            raise ValueError("q is not finite")
        return self._bodies.links[self.joint_names.index(joint)], array[self.slices[joint][0]]

    # sums over all bodies

    def energy(self, q: Array, v: Array, *, out: Array | None = None) -> Any:
        """Return kinetic plus potential energy [J]."""
        kinetic, potential = self._energies(q, v)
        return delivered("energy", kinetic + potential, out)

    def kinetic_energy(self, q: Array, v: Array, *, out: Array | None = None) -> Any:
        """Return the kinetic energy [J], that of the drives' armature included: v.Hv / 2."""
        return delivered("kinetic_energy", self._energies(q, v)[0], out)

    def potential_energy(self, q: Array, *, out: Array | None = None) -> Any:
        """Return the potential energy of gravity [J], zero for masses at the height of the world's origin."""
        return delivered("potential_energy", self._energies(q, np.zeros(self.nv))[1], out)

    def _energies(self, q: Array, v: Array) -> tuple[Array, ...]:
        return self._kernel(energy.ALGORITHM)(q, v)

    def momentum(self, q: Array, v: Array, *, out: Array | None = None) -> Array:
        """Return the momentum (6,) or (3,) in world axes: angular about the centre of mass, then linear."""
        return self._kernel(momentum.MOMENTUM_ALGORITHM)(q, v, out=(out,))[0]

    def center_of_mass(self, q: Array, *, out: Array | None = None) -> Array:
        """Return the centre of mass of all that moves, in the world; what is welded to ground is left out."""
        return self._kernel(momentum.CENTER_ALGORITHM)(q, out=(out,))[0]

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of forward_dynamics, inverse_dynamics or mass_matrix, for compiled loops."""
        kernels = (self._forward.ALGORITHM, inverse_dynamics.ALGORITHM, mass_matrix.ALGORITHM)
        named = {algorithm.name: algorithm for algorithm in kernels}
        if name not in named:
            raise ValueError(f"kernel: {unknown('algorithm', name, named)}")
        return self._kernel(named[name])
