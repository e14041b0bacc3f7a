"""Mechanism -> Model: the stages joined, and all algorithms as methods on arrays."""

import copy
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.dynamics import (
    energy,
    forward_dynamics,
    inverse_dynamics,
    jacobian,
    loads,
    mass_matrix,
    momentum,
    motion,
    poses,
    position_rates,
    reactions,
    velocities,
)
from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.external import external_forces
from linkwork.dynamics.inertia_check import LARGEST, check_inertia
from linkwork.dynamics.kernel import Kernel, check_out, real_array
from linkwork.dynamics.load_code import raised
from linkwork.dynamics.program import Form
from linkwork.errors import ModelError, NumericalError, unknown
from linkwork.mechanism.check import check
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model import blame
from linkwork.model.applied import Placed, Side, place, source_of
from linkwork.model.named import Named
from linkwork.model.state import State
from linkwork.model.subspace import constraint_subspace, motion_subspace
from linkwork.model.topology import Topology, topology
from linkwork.model.tree import Link, Tree, grow, moved_inertias
from linkwork.trace.once import once

Array = np.ndarray


def compile_mechanism(mechanism: Mechanism, form: Form = "rolled") -> "Model":
    """Check a mechanism and turn a copy of it into a Model: later changes are not seen."""
    check(mechanism)
    mechanism = copy.deepcopy(mechanism)
    graph = topology(mechanism)
    if graph.loops:
        names = ", ".join(repr(joint.name) for joint in graph.loops)
        raise ModelError(
            f"mechanism {mechanism.name!r} has closed loops, closed by {names}; so far only trees compile"
        )
    links = grow(mechanism, graph.branches, weld=True)
    joints = [branch.joint for branch in graph.branches]
    numbers = {branch.body.name: number for number, branch in enumerate(graph.branches)} | {"ground": -1}

    def each(values: Callable[[Joint], Any]) -> Array:
        return _frozen([x for joint in joints for x in values(joint)])

    return Model(
        name=mechanism.name,
        space=mechanism.space,
        gravity=_frozen(mechanism.gravity),
        nq=links.nq,
        nv=links.nv,
        body_names=tuple(branch.body.name for branch in graph.branches),
        joint_names=tuple(joint.name for joint in joints),
        parents=_frozen([numbers[branch.parent.name] for branch in graph.branches], int),
        masses=_frozen([branch.body.inertia.mass for branch in graph.branches]),
        centers=_frozen([branch.body.inertia.com for branch in graph.branches]),
        inertias=_frozen([branch.body.inertia.tensor for branch in graph.branches]),
        slices=MappingProxyType(_slices(joints)),
        q_drawn=each(lambda joint: joint.drawn()),
        limits=each(lambda joint: joint.limit_pairs()).reshape(-1, 2),
        damping=each(lambda joint: joint.per_coordinate("damping")),
        friction=each(lambda joint: joint.per_coordinate("friction")),
        stiffness=each(lambda joint: joint.per_coordinate("stiffness")),
        rest=each(lambda joint: joint.per_coordinate("rest")),
        armature=each(lambda joint: joint.per_coordinate("armature")),
        quaternions=_frozen(_quaternions(joints), int),
        couplings=MappingProxyType(dict(mechanism.couplings)),
        _mechanism=mechanism,
        _graph=graph,
        _links=links,
        _form=form,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """What the machine needs of a mechanism: immutable, shared freely between threads.

    Arrays of one state have shape (nq,) or (nv,); with a leading axis of N they are batches, computed in SIMD
    lanes. The methods that return arrays take `out=`; none writes its inputs; a wrong shape or a NaN raises
    ValueError naming the argument and the joint. Forces on bodies are given by `forces=`: a mapping from body
    names to Force, or to arrays of the same numbers (torque first), in the body's frame, about its origin.
    """

    name: str
    space: str  # "space" or "plane"
    gravity: Array  # (3,) or (2,) [m/s^2]
    nq: int  # numbers of a position
    nv: int  # numbers of a velocity
    body_names: tuple[str, ...]  # parents before children, without ground
    joint_names: tuple[str, ...]  # joint k carries body k
    parents: Array  # (bodies,) number of the body that carries body k, -1 for ground
    masses: Array  # (bodies,) [kg]
    centers: Array  # (bodies, 3) or (bodies, 2) centre of mass in the body's frame [m]
    inertias: Array  # (bodies, 3, 3) or (bodies,) tensor about the centre of mass, body axes [kg m^2]
    slices: Mapping[str, tuple[slice, slice]]  # joint -> (slice in q, slice in v)
    q_drawn: Array  # (nq,) positions as drawn [rad, m, quaternions]
    limits: Array  # (nv, 2) lower, upper; infinite where there is none [rad, m]
    damping: Array  # (nv,) force per velocity [N m s/rad, N s/m]
    friction: Array  # (nv,) dry friction [N m, N]
    stiffness: Array  # (nv,) spring of the joint [N m/rad, N/m]
    rest: Array  # (nv,) where that spring rests [rad, m]
    armature: Array  # (nv,) inertia of the drive [kg m^2, kg]
    quaternions: Array  # (k,) number of the first of four positions that are a quaternion
    couplings: Mapping[str, Coupling]  # by name; kept, not yet enforced
    _mechanism: Mechanism
    _graph: Topology
    _links: Tree  # welded bodies as one link
    _form: Form
    _kernels: dict[tuple[int, tuple[int, ...] | None], Kernel] = field(default_factory=dict)

    def __repr__(self) -> str:
        form = "" if self._form == "rolled" else ", specialized"
        return f"Model({self.name!r}, {len(self.body_names)} bodies, nq={self.nq}, nv={self.nv}{form})"

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return compile_mechanism, (self._mechanism, self._form)

    def specialize(self) -> "Model":
        """Return the same model, unrolled for this mechanism: slower to compile, faster in batches."""
        return replace(self, _form="unrolled", _kernels={})

    def state(
        self,
        positions: Mapping[str, Any] | None = None,
        /,
        *,
        velocities: Mapping[str, Any] | None = None,
        t: float = 0.0,
        **named: Any,
    ) -> State:
        """Return a state by joint names: positions, and velocities in a mapping; the rest as drawn, still.

        Positions are given by keyword, or, for joints whose names are no Python words, in a mapping.
        """
        q, v = self.q_drawn.copy(), np.zeros(self.nv)
        for array, side, values in ((q, 0, {**(positions or {}), **named}), (v, 1, dict(velocities or {}))):
            for name, value in values.items():
                if name not in self.slices:
                    raise ValueError(f"state: {unknown('joint', name, self.slices)}")
                part = array[self.slices[name][side]]
                given = real_array(f"state: joint {name!r}", value)
                if given.size != part.size or given.ndim > 1 or not np.isfinite(given).all():
                    raise ValueError(f"state: joint {name!r} is {value!r}; give {part.size} finite numbers")
                part[:] = given
        return State(q, v, float(t))

    # dynamics

    def forward_dynamics(
        self, q: Array, v: Array, tau: Array, *, forces: Any = None, out: Array | None = None
    ) -> Array:
        """Return the accelerations (nv,) that joint forces tau (and forces on bodies) give.

        This is the rigid-body answer: damping, friction, springs and limits of joints are not in it, armature
        is.
        """
        if forces is None and out is not None:
            done = self._forward_dynamics(q, v, tau, out)
            if done is out:
                return out
            return self._slowly(forward_dynamics.ALGORITHM, done, (q, v, tau), out)
        if forces is None:
            return self._accelerating(forward_dynamics.ALGORITHM)(q, v, tau)[0]
        external = external_forces(self._links, forces)
        return self._accelerating(forward_dynamics.WITH_FORCES)(q, v, tau, external, out=(out,))[0]

    @once
    def _forward_dynamics(self) -> Any:
        return self._accelerating(forward_dynamics.ALGORITHM).call

    @once
    def _accelerating(self) -> Callable[..., Kernel]:
        """The kernels that accelerate, once it is known that all that moves has inertia."""
        if self.nv <= LARGEST:
            joints = [name for name, (_, part) in self.slices.items() for _ in range(part.start, part.stop)]
            elsewhere = self.q_drawn + 0.3 * np.sin(1.0 + np.arange(self.nq))  # anywhere
            check_inertia((self.mass_matrix(q) for q in (self.q_drawn, elsewhere)), joints)
        return self._kernel

    def inverse_dynamics(
        self, q: Array, v: Array, a: Array, *, forces: Any = None, out: Array | None = None
    ) -> Array:
        """Return the joint forces (nv,) that accelerations a take."""
        if forces is None and out is not None:
            done = self._inverse_dynamics(q, v, a, out)
            if done is out:
                return out
            return self._slowly(inverse_dynamics.ALGORITHM, done, (q, v, a), out)
        if forces is None:
            return self._kernel(inverse_dynamics.ALGORITHM)(q, v, a)[0]
        external = external_forces(self._links, forces)
        return self._kernel(inverse_dynamics.WITH_FORCES)(q, v, a, external, out=(out,))[0]

    @once
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

    def mass_matrix(self, q: Array, *, out: Array | None = None) -> Array:
        """Return the mass matrix (nv, nv), armature included."""
        if out is None:
            return self._kernel(mass_matrix.ALGORITHM)(q)[0]
        done = self._mass_matrix(q, out)
        return out if done is out else self._slowly(mass_matrix.ALGORITHM, done, (q,), out)

    @once
    def _mass_matrix(self) -> Any:
        return self._kernel(mass_matrix.ALGORITHM).call

    def position_rates(self, q: Array, v: Array, *, out: Array | None = None) -> Array:
        """Return dq/dt (nq,) at velocities v; they differ where there are quaternions or free bodies."""
        return self._kernel(position_rates.ALGORITHM)(q, v, out=(out,))[0]

    # under the mechanism's own forces

    def motion(self, q: Array, v: Array, t: Any = 0.0, *, out: Array | None = None) -> Array:
        """Return the accelerations (nv,) under all forces of the mechanism: those of its joints and loads.

        This is what `simulate` integrates: damping, friction, springs and stops of joints are in it.
        """
        kernel = self.motion_kernel(motion.LOADED if self.driven().loads else motion.ALGORITHM)
        (q, v, t), batch = _together(("q", q, (self.nq,)), ("v", v, (self.nv,)), ("t", t, ()))
        scratch = [np.zeros((*batch, *shape)) for shape in kernel.shapes[3 : kernel.inputs]]
        return self._applying(lambda: kernel(t, q, v, *scratch, out=(None, out, None))[1], q, v, t)

    def _applying(self, run: Callable[[], Any], q: Array, v: Array, t: Array) -> Any:
        """Run what applies the loads; if the result is not finite, say by whose fault."""
        raised.__dict__.pop("error", None)
        try:
            return run()
        except (NumericalError, ValueError) as error:
            fit = q.shape[-1:] == (self.nq,) and v.shape[-1:] == (self.nv,)
            if not fit or not all(np.isfinite(x).all() for x in (q, v, t)):
                raise
            if hasattr(raised, "error"):
                name, at, cause = raised.error
                if not isinstance(cause, Exception):  # Ctrl-C
                    raise cause from None
                text = f"load {name!r} raised {type(cause).__name__}: {cause} (at t = {at:.9g} s)"
                raise NumericalError(text) from cause
            for row in zip(np.atleast_2d(q), np.atleast_2d(v), np.atleast_1d(t), strict=True):
                who, detail = blame.not_finite(self, float(row[2]), np.concatenate(row[:2]))
                if who in self.load_names:
                    raise NumericalError(detail) from error
            raise

    def motion_kernel(self, algorithm: Algorithm) -> Kernel:
        """Return the kernel of an algorithm over the tree with all forces; inertia is checked first."""
        return self._accelerating(algorithm, tree=self.driven())

    def loads(self, q: Array, v: Array, t: Any = 0.0) -> tuple[Array, Array]:
        """Return what is applied: generalised forces (nv,) in all joints, and forces on bodies by row.

        The former are those of damping, friction, springs, stops and motors; the latter, (bodies, 6) or
        (bodies, 3), are in the frame that its joint has on the body, torque first.
        """
        tau, external, drive, _ = self._applied(q, v, t)
        return tau + drive, external

    def load_values(self, name: str, q: Array, v: Array, t: Any = 0.0) -> Array:
        """Return what a load shows: a motor its force, a spring its tension; (n,)."""
        first = 0
        for placed in self.driven(bodies=True).loads:
            if placed.name == name:
                return self._applied(q, v, t)[3][..., first : first + placed.shown]
            first += placed.shown
        raise ValueError(f"load_values: {unknown('load', name, self.load_names)}")

    def _applied(self, q: Array, v: Array, t: Any) -> tuple[Array, ...]:
        (q, v, t), _ = _together(("q", q, (self.nq,)), ("v", v, (self.nv,)), ("t", t, ()))
        kernel = self._kernel(loads.APPLIED, tree=self.driven(bodies=True), form="rolled")
        return self._applying(lambda: kernel(t, q, v), q, v, t)

    @once
    def size(self) -> float:
        """The largest length in the mechanism: between joints, to a centre of mass, of inertia [m]."""
        frame = self._links.algebra.Frame
        offsets = [
            frame.from_scalars(self._links.data[link.data : link.data + frame.size]).position
            for link in self._links.links
        ]
        lengths = [float(np.linalg.norm(x)) for x in (*offsets, *self.centers)]
        heavy = self.masses > 0.0
        inertias = self.inertias.reshape(len(self.masses), -1).max(axis=1, initial=0.0)
        lengths += np.sqrt(inertias[heavy] / self.masses[heavy]).tolist()
        return max(lengths, default=0.0) or 1.0

    @once
    def coordinate_units(self) -> tuple[str, ...]:
        """The unit of what each velocity changes: "rad" if it turns the child, else "m"."""
        angular = self._links.algebra.angular
        units = []
        for link in self._links.links:
            here = self.q_drawn[link.q : link.q + link.kind.nq].tolist()
            for s in link.kind.subspace(here, link.parameters):
                units.append("rad" if any(abs(x) > 0.0 for x in s.scalars()[:angular]) else "m")
        return tuple(units)

    @once
    def position_units(self) -> tuple[str, ...]:
        """The unit of each position: that of the velocity it follows, or "" for numbers of a quaternion."""
        units: list[str] = []
        for link in self._links.links:
            here = self.q_drawn[link.q : link.q + link.kind.nq].tolist()
            rows = np.zeros((link.kind.nv, link.kind.nq))
            for k, unit in enumerate(np.eye(link.kind.nv).tolist()):
                rows[k] = link.kind.position_rates(here, unit, link.parameters)
            units += [self.coordinate_units[link.v + int(k)] for k in np.abs(rows).argmax(axis=0)]
        for first in self.quaternions:
            units[first : first + 4] = [""] * 4
        return tuple(units)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints by name, as described."""
        return MappingProxyType(self._mechanism.joints)

    @property
    def load_names(self) -> tuple[str, ...]:
        return tuple(self._mechanism.loads)

    @once
    def load_units(self) -> dict[str, tuple[str, ...]]:
        """The units of the numbers that each load shows."""
        units = self.coordinate_units
        return {
            placed.name: placed.load.units(placed.shown, [u for side in placed.sides for u in units[side.v]])
            for placed in self.driven().loads
        }

    @once
    def digest(self) -> str:
        """A digest of all that shapes the motion: equal for equal mechanisms, in any process."""
        tree = self.driven()
        parts: list[Any] = [self.space, self.joint_names, self.body_names, tree.data.tobytes()]
        parts += [(link.kind.signature, link.parent, link.q, link.v) for link in tree.links]
        for placed in tree.loads:
            law = placed.formula
            parts += [placed.name, *(side.link for side in placed.sides)]
            parts += [law.signature, law.parameters] if law else [source_of(placed.load)]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def driven(self, bodies: bool = False) -> Tree:
        """Return the tree with the forces of its joints, and loads; links may be single bodies."""
        return self._driven_bodies if bodies else self._driven

    @once
    def _driven(self) -> Tree:
        return self._with_forces(weld=True)

    @once
    def _driven_bodies(self) -> Tree:
        return self._with_forces(weld=False)

    def _with_forces(self, weld: bool) -> Tree:
        links = grow(self._mechanism, self._graph.branches, weld, moved=self._moved)
        return replace(links, loads=self.place(self._mechanism.loads.values(), links))

    @once
    def _moved(self) -> dict[str, list[float]]:
        """The inertia that each coordinate of a joint moves as drawn, by joint."""
        found = moved_inertias(self._links, self.q_drawn.tolist())
        by_joint = {link.name: inertia for link, inertia in zip(self._links.links, found, strict=True)}
        return {name: by_joint.get(name, []) for name in self.joint_names}

    def place(self, loads: Iterable[Load], tree: Tree) -> tuple[Placed, ...]:
        """Place loads (or quantities that are looked at like loads) on a tree of this model."""
        links, frames = tree.body_links, tree.body_frames
        body_sides = {name: Side(links[name], frames[name], slice(0, 0), slice(0, 0)) for name in links}
        numbers = {link.name: number for number, link in enumerate(tree.links, 1)}
        joint_sides = {name: Side(number, None, *self.slices[name]) for name, number in numbers.items()}
        drawn = self.poses(self.q_drawn)
        where = (body_sides, joint_sides, self.slices, self.q_drawn.tolist(), drawn)
        return tuple(place(load, self._mechanism, tree.algebra, *where) for load in loads)

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

    @once
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
        return _delivered("jacobian", J, out)

    def _path(self, number: int) -> tuple[int, ...]:
        path: list[int] = []
        while number:
            path.append(number)
            number = self._links.links[number - 1].parent
        return tuple(reversed(path))

    def reactions(
        self, q: Array, v: Array, tau: Array, *, forces: Any = None, out: Array | None = None
    ) -> Named:
        """Return, by joint name, the force the joint exerts on its child beyond its drive tau.

        In world axes, about the origin of the joint's frame on the child. Drives act as torques about the
        axes of turning freedoms and forces along those of sliding ones; what is left is the constraint.
        """
        a = self.forward_dynamics(q, v, tau, forces=forces)
        external = external_forces(self._bodies, {} if forces is None else forces)
        return self.reactions_at(q, v, a, external, out=out)

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
        return _delivered("energy", kinetic + potential, out)

    def kinetic_energy(self, q: Array, v: Array, *, out: Array | None = None) -> Any:
        """Return the kinetic energy [J], that of the drives' armature included: v.Hv / 2."""
        return _delivered("kinetic_energy", self._energies(q, v)[0], out)

    def potential_energy(self, q: Array, *, out: Array | None = None) -> Any:
        """Return the potential energy of gravity [J], zero for masses at the height of the world's origin."""
        return _delivered("potential_energy", self._energies(q, np.zeros(self.nv))[1], out)

    def _energies(self, q: Array, v: Array) -> tuple[Array, ...]:
        return self._kernel(energy.ALGORITHM)(q, v)

    def momentum(self, q: Array, v: Array, *, out: Array | None = None) -> Array:
        """Return the momentum (6,) or (3,) in world axes: angular about the centre of mass, then linear."""
        return self._kernel(momentum.MOMENTUM_ALGORITHM)(q, v, out=(out,))[0]

    def center_of_mass(self, q: Array, *, out: Array | None = None) -> Array:
        """Return the centre of mass of all that moves, in the world; what is welded to ground is left out."""
        return self._kernel(momentum.CENTER_ALGORITHM)(q, out=(out,))[0]

    # inside

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of forward_dynamics, inverse_dynamics or mass_matrix, for compiled loops."""
        kernels = (forward_dynamics.ALGORITHM, inverse_dynamics.ALGORITHM, mass_matrix.ALGORITHM)
        named = {algorithm.name: algorithm for algorithm in kernels}
        if name not in named:
            raise ValueError(f"kernel: {unknown('algorithm', name, named)}")
        return self._kernel(named[name])

    @once
    def _bodies(self) -> Tree:
        """The tree with one link per body, for poses and reactions."""
        return grow(self._mechanism, self._graph.branches, weld=False)

    def _kernel(
        self,
        algorithm: Algorithm,
        tree: Tree | None = None,
        path: tuple[int, ...] | None = None,
        form: Form | None = None,
    ) -> Kernel:
        kernel = self._kernels.get((id(algorithm), path))
        if kernel is None:
            if tree is None:
                tree = self._links if algorithm.tree == "links" else self._bodies
            kernel = self._kernels.setdefault(
                (id(algorithm), path), Kernel(algorithm, tree, form or self._form, path)
            )
        return kernel


def _together(*arguments: tuple[str, Any, tuple[int, ...]]) -> tuple[list[Array], tuple[int, ...]]:
    """Return arrays of one batch, what is not batched repeated, and the batch's shape."""
    arrays = [real_array(name, x) for name, x, _ in arguments]
    extra = [a.shape[: a.ndim - len(shape)] for a, (_, _, shape) in zip(arrays, arguments, strict=True)]
    batch = max(extra, key=len)
    if any(own not in ((), batch) for own in extra):
        named = zip((name for name, _, _ in arguments), arrays, strict=True)
        sizes = ", ".join(f"{name} has shape {array.shape}" for name, array in named)
        raise ValueError(f"batches of different sizes: {sizes}")
    return [
        a if own == batch else np.broadcast_to(a, (*batch, *a.shape)).copy()
        for a, own in zip(arrays, extra, strict=True)
    ], batch


def _slices(joints: Sequence[Joint]) -> dict[str, tuple[slice, slice]]:
    """Return where the coordinates of each joint are, in the order of the joints."""
    q = list(accumulate((joint.nq for joint in joints), initial=0))
    v = list(accumulate((joint.nv for joint in joints), initial=0))
    return {joint.name: (slice(*q[k : k + 2]), slice(*v[k : k + 2])) for k, joint in enumerate(joints)}


def _quaternions(joints: Sequence[Joint]) -> list[int]:
    starts = _slices(joints)
    return [starts[j.name][0].start + j.quaternion for j in joints if j.quaternion is not None]


def _frozen(values: Any, kind: type = float) -> Array:
    array = np.array(values, kind)
    array.setflags(write=False)
    return array


def _delivered(name: str, value: Array, out: Array | None) -> Any:
    """Return a value in `out`, or as a fresh array, or as a float if it is one number."""
    if out is None:
        return float(value) if np.ndim(value) == 0 else np.ascontiguousarray(value)
    check_out(name, out, np.shape(value))
    out[...] = value
    return out
