"""The mechanism's own forces: those of its joints and its loads; and what they are measured in."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.dynamics import applied_forces, equations_of_motion
from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.load_code import raised
from linkwork.errors import LinkworkError, NumericalError, unknown
from linkwork.lazy import lazy
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.model import nonfinite
from linkwork.model.algorithms import Algorithms
from linkwork.model.arrays import Array, together
from linkwork.tree.joint_formula import JointFormula, JointFormulas
from linkwork.tree.load_formula import Cut, PlacedLoad, Side, place, source_of
from linkwork.tree.loop_constraint import LoopConstraint
from linkwork.tree.loops import Loop, close
from linkwork.tree.tree import Tree, moved_inertias, with_own_forces

# So much is unrolled: it takes up to twice as long to compile as rolled code, and half the time to run.
_FEW = 8  # links
_SHORT = 1200  # nodes of the laws of loads


class OwnForces(Algorithms):
    """A model that moves under the forces of its mechanism."""

    def motion(self, q: Array, v: Array, t: Any = 0.0, *, out: Array | None = None) -> Array:
        """Return the accelerations (nv,) under all forces of the mechanism: those of its joints and loads.

        This is what `simulate` integrates: damping, friction, springs and stops of joints are in it.
        """
        kernel = self.motion_kernel(self.motion_algorithm)
        (q, v, t), batch = together(("q", q, (self.nq,)), ("v", v, (self.nv,)), ("t", t, ()))
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
                who, detail = nonfinite.not_finite(self, float(row[2]), np.concatenate(row[:2]))
                if who in self.load_names:
                    raise NumericalError(detail) from error
            raise

    def motion_kernel(self, algorithm: Algorithm) -> Kernel:
        """Return the kernel of an algorithm over the tree with all forces; inertia is checked first."""
        if self._links.loops and algorithm in (equations_of_motion.ALGORITHM, equations_of_motion.LOADED):
            raise LinkworkError(f"mechanism {self.name!r} has closed loops, which this does not know yet")
        tree = self.driven()
        laws = sum(placed.formula.size for placed in tree.loads if placed.formula)
        small = len(tree.links) <= _FEW and laws <= _SHORT
        form = "unrolled" if self._form == "rolled" and small else self._form
        return self._accelerating(algorithm, tree=tree, form=form)

    @property
    def motion_algorithm(self) -> Algorithm:
        """The algorithm of how the mechanism moves, to be run by `motion_kernel`."""
        tree = self.driven()
        return (
            equations_of_motion.LOOPED
            if tree.loops
            else equations_of_motion.LOADED
            if tree.loads
            else equations_of_motion.ALGORITHM
        )

    @property
    def rates_algorithm(self) -> Algorithm:
        """The algorithm of dq/dt alone, through the same arrays."""
        tree = self.driven()
        return equations_of_motion.LOADED_RATES if tree.loops or tree.loads else equations_of_motion.RATES

    def loads(self, q: Array, v: Array, t: Any = 0.0) -> tuple[Array, Array]:
        """Return what is applied: generalised forces (nv,) in all joints, and forces on bodies by row.

        The former are those of damping, friction, springs, stops and motors; the latter, (bodies, 6) or
        (bodies, 3), are in the frame that its joint has on the body, torque first.
        """
        tau, external, drive, *_ = self._applied(q, v, t)
        return tau + drive, external

    def load_values(self, name: str, q: Array, v: Array, t: Any = 0.0) -> Array:
        """Return what a load shows: a motor its force, a spring its tension; (n,)."""
        first = 0
        for placed in self.driven(bodies=True).loads:
            if placed.name == name:
                return self._applied(q, v, t)[3][..., first : first + placed.shown]
            first += placed.told
        raise ValueError(f"load_values: {unknown('load', name, self.load_names)}")

    def _applied(self, q: Array, v: Array, t: Any) -> tuple[Array, ...]:
        (q, v, t), _ = together(("q", q, (self.nq,)), ("v", v, (self.nv,)), ("t", t, ()))
        kernel = self._kernel(applied_forces.APPLIED, tree=self.driven(bodies=True), form="rolled")
        return self._applying(lambda: kernel(t, q, v), q, v, t)

    @property
    def load_names(self) -> tuple[str, ...]:
        return tuple(self._mechanism.loads)

    @lazy
    def load_units(self) -> dict[str, tuple[str, ...]]:
        """The units of the numbers that each load shows."""

        def of_side(side: Side) -> Sequence[str]:
            cut = side.cut
            if cut is None:
                return self.coordinate_units[side.v]
            first = side.body == cut.joint.parent.name  # one of two
            return joint_units(cut.kind, cut.numbers, cut.joint.drawn(), cut.joint)[1] if first else ()

        return {
            placed.name: placed.load.units(placed.shown, [u for side in placed.sides for u in of_side(side)])
            for placed in self.driven().loads
        }

    # sizes and units

    @lazy
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

    @lazy
    def coordinate_units(self) -> tuple[str, ...]:
        """The unit of what each velocity changes: "rad" if it turns the child, else "m"."""
        return tuple(unit for units in self._units for unit in units[1])

    @property
    def position_units(self) -> tuple[str, ...]:
        """The unit of each position: that of the velocity it follows, or "" for numbers of a quaternion."""
        return tuple(unit for units in self._units for unit in units[0])

    @lazy
    def _units(self) -> list[tuple[list[str], list[str]]]:
        """The units of positions and velocities, link by link."""
        return [
            joint_units(
                link.kind,
                link.parameters,
                self.q_drawn[link.q : link.q + link.kind.nq].tolist(),
                self.joints[link.name],
            )
            for link in self._links.links
        ]

    # trees with forces

    @lazy
    def digest(self) -> str:
        """A digest of all that shapes the motion: equal for equal mechanisms, in any process."""
        tree = self.driven()
        parts: list[Any] = [self.space, self.joint_names, self.body_names, tree.data.tobytes()]
        parts += [(link.kind.signature, link.parent, link.q, link.v) for link in tree.links]
        for loop in tree.loops:
            parts += [loop.name, loop.ends, loop.formula.signature, loop.data]
        for placed in tree.loads:
            law = placed.formula
            parts += [placed.name, *(side.link for side in placed.sides)]
            parts += [law.signature, law.parameters] if law else [source_of(placed.load)]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def driven(self, bodies: bool = False) -> Tree:
        """Return the tree with the forces of its joints, and loads; links may be single bodies."""
        return self._driven_bodies if bodies else self._driven

    @lazy
    def _driven(self) -> Tree:
        return self._with_forces(weld=True)

    @lazy
    def _driven_bodies(self) -> Tree:
        return self._with_forces(weld=False)

    def _with_forces(self, weld: bool) -> Tree:
        links = with_own_forces(self._links if weld else self._bodies, lambda: self._moved)
        links = close(replace(links, loops=()), self._graph.loops, self.q_drawn.tolist(), lambda: self._moved)
        return replace(links, loads=self.place(self._mechanism.loads.values(), links))

    @lazy
    def _moved(self) -> dict[str, list[float]]:
        """The inertia that each coordinate of a joint moves as drawn, by joint."""
        found = moved_inertias(self._links, self.q_drawn.tolist())
        by_joint = {link.name: inertia for link, inertia in zip(self._links.links, found, strict=True)}
        by_loop = {loop.name: _inertia_beyond(loop, self._links) for loop in self._links.loops}
        return {name: by_joint.get(name, []) for name in self.joint_names} | by_loop

    def place(self, loads: Iterable[Load], tree: Tree) -> tuple[PlacedLoad, ...]:
        """Place loads (or quantities that are looked at like loads) on a tree of this model."""

        loads, none = list(loads), slice(0, 0)
        if not loads:
            return ()

        def end(body: str, on_body: Any, cut: Cut | None = None) -> Side:
            frame = tree.body_frames[body] @ on_body
            return Side(tree.body_links[body], frame, none, none, body, on_body, cut)

        body_sides = {name: end(name, tree.algebra.Frame()) for name in tree.body_links}
        joint_sides: dict[str, tuple[Side, ...]] = {
            link.name: (Side(number, None, *self.slices[link.name]),)
            for number, link in enumerate(tree.links, 1)
        }
        kinds = JointFormulas()
        for joint in self._graph.loops:
            if isinstance(joint, LoopConstraint):
                continue
            cut = Cut(joint, *kinds.of(joint, False))
            bodies = joint.parent.name, joint.child.name
            joint_sides[joint.name] = tuple(
                end(body, frame, cut) for body, frame in zip(bodies, joint.frames(), strict=True)
            )
        drawn = self.poses(self.q_drawn)
        where = (body_sides, joint_sides, self.slices, self.q_drawn.tolist(), drawn)
        return tuple(place(load, self._mechanism, tree.algebra, *where) for load in loads)


def joint_units(
    kind: JointFormula, numbers: Sequence[float], q: Sequence[float], joint: Joint
) -> tuple[list[str], list[str]]:
    """Return the units of a joint's positions, and of what its velocities change: "rad" if it turns, or "m".

    A position has the unit of the velocity it follows, or none if it is of a quaternion.
    """
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


def _inertia_beyond(loop: Loop, tree: Tree) -> list[float]:
    """Return the inertia that each coordinate of a loop joint moves: that of its child, or of its parent."""
    joint = loop.joint
    side = 1 if tree.body_links[joint.child.name] else 0
    body, frame = (joint.parent, joint.child)[side], joint.frames()[side]
    numbers = float(body.inertia.mass), body.inertia.com.tolist(), body.inertia.tensor.tolist()
    inertia = frame.inverse @ joint.algebra.RigidInertia.about_center(*numbers)
    units = joint.algebra.units()
    along = [float(unit.dot(inertia @ unit)) for unit in units]
    return [max(along)] * joint.nv
