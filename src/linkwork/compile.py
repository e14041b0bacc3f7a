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
    loop_closure,
    mass_matrix,
    momentum,
    motion,
    poses,
    position_rates,
    reactions,
    velocities,
)
from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.assembly import Closing, assemble
from linkwork.dynamics.external import external_forces
from linkwork.dynamics.inertia_check import LARGEST, check_inertia
from linkwork.dynamics.kernel import Kernel, check_out, real_array
from linkwork.dynamics.load_code import raised
from linkwork.dynamics.loop_reference import dense_forward_dynamics
from linkwork.dynamics.program import Form
from linkwork.errors import AssemblyError, LinkworkError, NumericalError, unknown
from linkwork.mechanism.check import check
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model import blame
from linkwork.model.applied import Placed, Side, place, source_of
from linkwork.model.loops import Loop, check_loops, close
from linkwork.model.named import Named
from linkwork.model.state import State
from linkwork.model.subspace import constraint_subspace, motion_subspace
from linkwork.model.topology import Topology, topology
from linkwork.model.tree import Link, Tree, grow, moved_inertias
from linkwork.trace.once import once

Array = np.ndarray

_CLOSED = 1e-13  # gap of a loop that is none, in radians, and in units of the mechanism's size
_CLOSING_STEPS, _CLOSING_STEP = 100, 0.2  # steps of closing loops at a state, and the longest [rad, m]


def compile_mechanism(mechanism: Mechanism, form: Form = "rolled") -> "Model":
    """Check a mechanism and turn a copy of it into a Model: later changes are not seen."""
    check(mechanism)
    mechanism = copy.deepcopy(mechanism)
    graph = topology(mechanism)
    check_loops(mechanism, graph.loops)
    links = grow(mechanism, graph.branches, weld=True)
    joints = [branch.joint for branch in graph.branches]
    links = close(links, graph.loops, [float(x) for joint in joints for x in joint.drawn()])
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
        count = len(self.loop_names)
        form = (f", {count} loop{'s' if count > 1 else ''}" if count else "") + form
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
                if name in self.row_slices:
                    raise ValueError(
                        f"state: joint {name!r} closes a loop, and follows from the others; give those, and "
                        "let model.assemble(q) close the loops"
                    )
                if name not in self.slices:
                    raise ValueError(f"state: {unknown('joint', name, self.slices)}")
                part = array[self.slices[name][side]]
                given = real_array(f"state: joint {name!r}", value)
                if given.size != part.size or given.ndim > 1 or not np.isfinite(given).all():
                    raise ValueError(f"state: joint {name!r} is {value!r}; give {part.size} finite numbers")
                part[:] = given
        if self._links.loops and (positions or named or velocities):
            q, v = self._closing_state(q, v, {**(positions or {}), **named}, dict(velocities or {}))
        return State(q, v, float(t))

    def _closing_state(
        self, q: Array, v: Array, positions: Mapping[str, Any], velocities: Mapping[str, Any]
    ) -> tuple[Array, Array]:
        """Close the loops with named positions and velocities held; all others follow from them."""
        weights = self.row_weights

        def free(held: Mapping[str, Any]) -> Array:
            kept = {k for name in held for k in range(self.nv)[self.slices[name][1]]}
            return np.array([k for k in range(self.nv) if k not in kept], int)

        moving = free(positions)
        for _ in range(_CLOSING_STEPS):
            gap = self.constraint_residual(q) * weights
            if np.abs(gap).max() <= _CLOSED:
                break
            J = self.constraint_jacobian(q)[:, moving] * weights[:, None]
            change = np.zeros(self.nv)
            change[moving] = np.linalg.lstsq(J, -gap, rcond=1e-9)[0]
            q = self._moved_by(q, change * min(1.0, _CLOSING_STEP / max(np.abs(change).max(), 1e-300)))
        else:
            raise AssemblyError(self._open_loops(q, self.constraint_residual(q), _CLOSED * self.size))
        moving, J = free(velocities), self.constraint_jacobian(q)
        v = v.copy()
        v[moving] += np.linalg.lstsq(J[:, moving], -(J @ v), rcond=1e-9)[0]
        left = np.abs(J @ v).max()
        if left > 1e-9 * (1.0 + np.abs(v).max()):
            names = ", ".join(map(repr, velocities))
            raise AssemblyError(
                f"state: the velocities of {names} contradict each other; loops open at {left:.3g}"
            )
        return q, v

    # dynamics

    def forward_dynamics(
        self, q: Array, v: Array, tau: Array, *, forces: Any = None, out: Array | None = None
    ) -> Array:
        """Return the accelerations (nv,) that joint forces tau (and forces on bodies) give.

        This is the rigid-body answer: damping, friction, springs and limits of joints are not in it, armature
        is. Closed loops stay closed: q and v are those of the spanning tree, and should close the loops.
        """
        if forces is None and out is not None:
            done = self._forward_dynamics(q, v, tau, out)
            if done is out:
                return out
            return self._slowly(self._forward.ALGORITHM, done, (q, v, tau), out)
        if forces is None:
            return self._accelerating(self._forward.ALGORITHM)(q, v, tau)[0]
        external = external_forces(self._links, forces)
        return self._accelerating(self._forward.WITH_FORCES)(q, v, tau, external, out=(out,))[0]

    @property
    def _forward(self) -> Any:
        """The module of forward dynamics: with loops, or without."""
        return loop_closure if self._links.loops else forward_dynamics

    @once
    def _forward_dynamics(self) -> Any:
        return self._accelerating(self._forward.ALGORITHM).call

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
        """Return the joint forces (nv,) that accelerations a take.

        With closed loops: those in the joints of the spanning tree when the loop joints bear nothing.
        """
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
        """Return the mass matrix (nv, nv), armature included; with closed loops, of the spanning tree."""
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
        kernel = self.motion_kernel(self.motion_algorithm)
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
        if self._links.loops and algorithm in (motion.ALGORITHM, motion.LOADED):
            raise LinkworkError(f"mechanism {self.name!r} has closed loops, which this does not know yet")
        return self._accelerating(algorithm, tree=self.driven())

    @property
    def motion_algorithm(self) -> Algorithm:
        """The algorithm of how the mechanism moves, to be run by `motion_kernel`."""
        tree = self.driven()
        return motion.LOOPED if tree.loops else motion.LOADED if tree.loads else motion.ALGORITHM

    @property
    def rates_algorithm(self) -> Algorithm:
        """The algorithm of dq/dt alone, through the same arrays."""
        tree = self.driven()
        return motion.LOADED_RATES if tree.loops or tree.loads else motion.RATES

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
        for loop in tree.loops:
            parts += [loop.name, loop.a, loop.b, loop.formula.signature, loop.data]
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
        if weld:
            links = close(links, self._graph.loops, self.q_drawn.tolist(), self._moved)
        return replace(links, loads=self.place(self._mechanism.loads.values(), links))

    @once
    def _moved(self) -> dict[str, list[float]]:
        """The inertia that each coordinate of a joint moves as drawn, by joint."""
        found = moved_inertias(self._links, self.q_drawn.tolist())
        by_joint = {link.name: inertia for link, inertia in zip(self._links.links, found, strict=True)}
        by_loop = {loop.name: _inertia_beyond(loop) for loop in self._links.loops}
        return {name: by_joint.get(name, []) for name in self.joint_names} | by_loop

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
        if not self._links.loops:
            return self.reactions_at(q, v, a, external, out=out)
        loops = self.loop_forces(q, v, tau, forces=forces)
        external = external + self._pushes(q, loops)
        (array,) = self._kernel(reactions.ALGORITHM)(q, v, a, external)
        array = _delivered("reactions", np.concatenate([array, loops.array], axis=-2), out)
        rows = {name: row for row, name in enumerate((*self.joint_names, *self.loop_names))}
        return Named("joint", rows, array, 2, self._force, {})

    def _pushes(self, q: Array, loops: Named) -> Array:
        """Return the forces of loop joints on bodies, as `external_forces` does."""
        poses = self.poses(q)
        total: Any = 0.0
        for loop in self._links.loops:
            parent, child = loop.joint.parent.name, loop.joint.child.name
            X = poses[child] @ loop.joint.frames()[1]
            for body, force in ((child, loops[loop.name]), (parent, -loops[loop.name])):
                X_WB = poses[body]
                wrench = X_WB.local(X).offset @ X_WB.axes.local(force)
                total = total + external_forces(self._bodies, {body: np.asarray(wrench)})
        return total

    def reactions_at(
        self, q: Array, v: Array, a: Array, external: Array, *, out: Array | None = None
    ) -> Named:
        """Return the reactions when the joints accelerate by a, with forces on bodies as `loads` gives."""
        if self._links.loops:
            raise LinkworkError(f"{self.name}: reactions of a recording with closed loops are not there yet")
        (array,) = self._kernel(reactions.ALGORITHM)(q, v, a, external, out=(out,))
        rows = {name: row for row, name in enumerate(self.joint_names)}
        return Named("joint", rows, array, 2, self._links.algebra.Force.from_scalars, {})

    # loops

    @property
    def loop_names(self) -> tuple[str, ...]:
        """The joints that close loops, as the mechanism was cut; any other joint is in the spanning tree."""
        return tuple(loop.name for loop in self._links.loops)

    @once
    def row_slices(self) -> Mapping[str, slice]:
        """Where the equations of each loop joint are among those of all."""
        return MappingProxyType(
            {loop.name: slice(loop.row, loop.row + loop.rows) for loop in self._links.loops}
        )

    def loop_coordinates(self, q: Array, v: Array | None = None) -> dict[str, tuple[Array, Array]]:
        """Return, by loop joint, its coordinates and velocities (zero if v is not given)."""
        v = np.zeros(self.nv) if v is None else v
        positions, rates = self._kernel(loop_closure.COORDINATES)(q, v)
        return {
            loop.name: (
                positions[..., loop.q : loop.q + loop.joint.nq],
                rates[..., loop.v : loop.v + loop.joint.nv],
            )
            for loop in self._links.loops
        }

    def constraint_residual(self, q: Array) -> Array:
        """Return how far the loops are from closed, (rows,): by `row_slices`, in metres and radians."""
        return self._kernel(loop_closure.GAPS)(q, np.zeros(self.nv))[0]

    def constraint_velocity(self, q: Array, v: Array) -> Array:
        """Return how fast the loops open, (rows,): the constraint Jacobian times v."""
        return self._kernel(loop_closure.GAPS)(q, v)[1]

    def constraint_jacobian(self, q: Array) -> Array:
        """Return how fast the loops open per unit of each velocity: (rows, nv), dense."""
        array = real_array("constraint_jacobian: q", q)
        if array.ndim > 1:
            return np.stack([self.constraint_jacobian(one) for one in array])
        return np.ascontiguousarray(self.constraint_velocity(array, np.eye(self.nv)).T)

    def loop_forces(self, q: Array, v: Array, tau: Array, *, forces: Any = None) -> Named:
        """Return, by loop joint, the force it exerts on its child to keep the loop closed.

        In world axes, about the origin of the joint's frame on the child. Where the equations of the loops
        are redundant, forces are not unique: these are the smallest.
        """
        if forces is None:
            rows, _ = self._accelerating(loop_closure.LOOP_FORCES)(q, v, tau)
        else:
            external = external_forces(self._links, forces)
            rows, _ = self._accelerating(loop_closure.LOOP_FORCES_WITH_FORCES)(q, v, tau, external)
        where = np.asarray(q, float)
        J = self.constraint_jacobian(where)
        left, sizes, _ = np.linalg.svd(J, full_matrices=False)
        left = left * (sizes > 1e-9 * sizes.max(axis=-1, keepdims=True, initial=1e-300))[..., None, :]
        rows = (left @ (np.swapaxes(left, -1, -2) @ rows[..., None]))[..., 0]
        T = self._kernel(loop_closure.DIRECTIONS)(where, np.zeros(self.nv))[0]
        pushes = T * rows[..., None]
        wrenches = [pushes[..., part, :].sum(axis=-2) for part in self.row_slices.values()]
        numbers = {name: k for k, name in enumerate(self.loop_names)}
        return Named("loop joint", numbers, np.stack(wrenches, axis=-2), 2, self._force, {})

    @property
    def _force(self) -> Any:
        return self._links.algebra.Force.from_scalars

    def forward_dynamics_by_svd(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Return accelerations (nv,) and forces of the loops' equations (rows,) the slow way, as a reference.

        By singular values of the dense equations of one state; `forward_dynamics` gives the same.
        """
        (right,) = self._kernel(loop_closure.BIAS)(q, v)
        drive = np.asarray(tau, float) - self.bias_forces(q, v)
        J, least = self.constraint_jacobian(q), self._links.smallest_pivot
        return dense_forward_dynamics(self.mass_matrix(q), drive, J, right, least)

    def closed_velocity(self, q: Array, v: Array, *, out: Array | None = None) -> Array:
        """Return the velocity nearest to v, in the sense of kinetic energy, that keeps all loops closed."""
        if not self._links.loops:
            return _delivered("closed_velocity", real_array("v", v), out)
        kernel = self._accelerating(loop_closure.VELOCITY_CORRECTION)
        return _delivered("closed_velocity", np.asarray(v, float) + kernel(q, v)[1], out)

    def assemble(self, q: Array | None = None, *, tolerance: float = 1e-12) -> Array:
        """Return a position near q (as drawn, if not given) in which all loops are closed.

        Gaps left are below the tolerance, in radians and in units of the mechanism's size. If loops cannot be
        closed from there, AssemblyError names their joints and the gaps left.
        """
        start = np.array(self.q_drawn if q is None else q, float)
        if start.shape != (self.nq,) or not np.isfinite(start).all():
            raise ValueError(f"assemble: q has shape {start.shape}; give {self.nq} finite numbers")
        if not self._links.loops:
            return start
        kernel = self._accelerating(loop_closure.POSITION_CORRECTION)
        size = self.size
        scale = np.array([1.0 if unit == "rad" else size for unit in self.coordinate_units])

        def correction(q: Array) -> tuple[Array, Array]:
            gap, change = kernel(q)
            return gap, change

        closing = Closing(
            correction,
            self._moved_by,
            self.constraint_jacobian,
            self.mass_matrix,
            self.row_weights,
            scale,
        )
        found, gap = assemble(closing, start, tolerance)
        if np.linalg.norm(gap * closing.weights) <= tolerance:
            return found
        raise AssemblyError(self._open_loops(found, gap, tolerance * size))

    def loop_gap(self, q: Array) -> float | None:
        """Return the worst gap of the loops at positions q [m, rad]; None if there are no loops."""
        if not self._links.loops or not len(q):
            return None
        return float(np.abs(self.constraint_residual(q)).max())

    @once
    def row_weights(self) -> Array:
        """One over what is a normal size of each equation of the loops: 1 rad, or the mechanism's size."""
        if not self._links.loops:
            return np.empty(0)
        turns = np.abs(self._kernel(loop_closure.DIRECTIONS)(self.q_drawn, np.zeros(self.nv))[0])
        angular = self._links.algebra.angular
        slides = turns[:, angular:].max(axis=1) > turns[:, :angular].max(axis=1)
        return np.where(slides, 1.0 / self.size, 1.0)

    def _moved_by(self, q: Array, change: Array) -> Array:
        """Return the position after a small change of all velocities' coordinates."""
        there = q + self.position_rates(q, change)
        for first in self.quaternions:
            there[first : first + 4] /= np.linalg.norm(there[first : first + 4])
        return there

    def _open_loops(self, q: Array, gap: Array, tolerance: float) -> str:
        """Say which loops stay open, and by how much."""
        T = self._kernel(loop_closure.DIRECTIONS)(q, np.zeros(self.nv))[0]
        angular = self._links.algebra.angular
        told = []
        for name, part in self.row_slices.items():
            error = (T[part] * gap[part, None]).sum(axis=0)
            turn, slide = float(np.linalg.norm(error[:angular])), float(np.linalg.norm(error[angular:]))
            if max(turn, slide) > tolerance:
                told.append(f"{name!r} by {slide:.3g} m and {turn:.3g} rad")
        return (
            f"mechanism {self.name!r} cannot be assembled from here: joints that stay open are "
            f"{', '.join(told)}; draw it nearer to closed, or look for lengths that cannot meet"
        )

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
        kernels = (self._forward.ALGORITHM, inverse_dynamics.ALGORITHM, mass_matrix.ALGORITHM)
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


def _inertia_beyond(loop: Loop) -> list[float]:
    """Return the inertia that each coordinate of a loop joint moves: that of its child, or of its parent."""
    joint = loop.joint
    body, frame = (joint.child, joint.frames()[1]) if loop.b else (joint.parent, joint.frames()[0])
    numbers = float(body.inertia.mass), body.inertia.com.tolist(), body.inertia.tensor.tolist()
    inertia = frame.inverse @ joint.algebra.RigidInertia.about_center(*numbers)
    units = joint.algebra.units()
    along = [float(unit.dot(inertia @ unit)) for unit in units]
    return [max(along)] * joint.nv


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
