"""A mechanism as a system of equations in the coordinates of its bodies."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError, ModelError
from linkwork.kinematics import continuation, levenberg_marquardt, newton, sparse_newton
from linkwork.kinematics.equation_numbering import Numbering
from linkwork.kinematics.equations import Thing, borrowed
from linkwork.kinematics.newton_workspace import workspace
from linkwork.kinematics.parameters import Number, number
from linkwork.lazy import lazy
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.load_view import JointSide, PoseSide
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.mechanism_check import check
from linkwork.model.compile import compile_now
from linkwork.model.driver_law import DriverLaw
from linkwork.model.own_forces import input_values

Array = np.ndarray

LARGE = 400  # unknowns from which on equations are kept sparse
_TRIES = 40  # starts near the drawing before an assembly is given up
_SOFT = 1e-3  # weight of equations that may stay open, so that all others are closed
_CLOSED = 1e-9  # what is left of equations that are satisfied, scaled


class System:
    """Bodies, equations by name, and the arrays that native code works on."""

    def __init__(
        self,
        mechanism: Mechanism,
        vary: Mapping[str, Any] | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> None:
        check(mechanism)
        self.mechanism = mechanism
        self.algebra: ModuleType = ALGEBRA[mechanism.space]
        self.bodies: list[Body] = list(mechanism.bodies.values())
        self.numbers = {id(body): k for k, body in enumerate(self.bodies)}
        self.drivers = list(mechanism.drivers.values())
        self.inputs: dict[str, float] = dict(inputs or {})  # values of those that laws read
        self.laws = [DriverLaw(driver, self.inputs) for driver in self.drivers]
        self._check_inputs()
        self.things: list[Thing] = [
            *mechanism.joints.values(),
            *mechanism.constraints.values(),
            *self.drivers,
        ]
        self.free, self.coordinates = self.algebra.freedoms, self.algebra.coordinates
        self.size = self._size()
        self.varied = {name: self._varied(name, places) for name, places in (vary or {}).items()}
        self._number()

    # making it

    def _check_inputs(self) -> None:
        """Refuse inputs that nothing reads: neither drivers nor, for their forces, loads and joints."""
        known: Mapping[str, float] = {
            name: given.value for law in self.laws for name, given in law.inputs.items()
        }
        if not self.inputs.keys() <= known.keys():
            known = compile_now(self.mechanism, floating=True).inputs
        input_values(known, self.inputs)

    def _varied(self, name: str, places: Any) -> list[Number]:
        """Return the numbers that vary under one name: one, or several that are equal."""
        several = places if isinstance(places, list) else [places]
        found = [number(self.things, place, f"vary {name!r}") for place in several]
        values = {x.value for x in found}
        if len(values) != 1:
            listed = ", ".join(f"{value:.6g}" for value in sorted(values))
            raise ValueError(f"vary {name!r}: numbers {listed} under one name; draw them equal, or name each")
        return found

    def _number(self) -> None:
        """Say where the numbers of every thing are, and make the arrays."""
        numbering = Numbering(self.algebra, self.bodies, self.varied)
        for thing in self.things:
            numbering.add(thing)
        self.n, self.nq, self.m, self.references = (
            numbering.n,
            numbering.nq,
            numbering.m,
            numbering.references,
        )
        self.rows, self.entries, self.own = numbering.rows, numbering.entries, numbering.own
        self.places, self.records = numbering.places, numbering.records
        self.driver_rows = np.array([self.rows[driver.name].start for driver in self.drivers], np.int64)
        self.data = np.array(numbering.data, float)
        self.columns = np.ones(self.n)  # scales of the unknowns
        for k in range(len(self.bodies)):
            self.columns[self.free * k : self.free * k + self.algebra.dimension] = self.size
        self.w, self._keep = workspace(numbering, self.data, self.columns, not self.large)
        self.entry_rows, self.entry_columns = self.w.entry_rows, self.w.entry_columns
        self.kept_q = np.zeros(self.nq)

    def _size(self) -> float:
        """Return the size of the mechanism: the longest distance of joints on one body, or drawn [m]."""
        places: dict[str, list[Array]] = {}
        for joint in self.mechanism.joints.values():
            for body, X in zip(joint.bodies, joint.frames(), strict=True):
                places.setdefault(body.name, []).append(np.array(X.position, float))
        lengths = [
            float(np.linalg.norm(p - q)) for group in places.values() for p in group[:20] for q in group[:20]
        ]
        drawn = [body.position for body in self.bodies]
        spread = float(np.ptp(drawn, axis=0).max()) if drawn else 0.0
        return max(lengths, default=0.0) or spread or 1.0

    @lazy
    def joint_order(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The joints of the spanning tree and those that close loops, in the order of the compiled model.

        Of a mechanism that cannot be compiled: all joints as described, and none.
        """
        model = undriven_model(self.mechanism)
        if model is None:
            return tuple(self.mechanism.joints), ()
        return model.joint_names, tuple(name for name in model.loop_names if name in self.mechanism.joints)

    # poses

    @property
    def quaternions(self) -> Array:
        """Where in q each quaternion begins: those of bodies in space."""
        count = len(self.bodies) if self.algebra.dimension == 3 else 0
        return self.coordinates * np.arange(count) + 3

    def drawn(self) -> Array:
        """Return the coordinates as drawn, unknowns of constraints where they guess them."""
        q = np.zeros(self.nq)
        for k, body in enumerate(self.bodies):
            X = self.algebra.Frame(body.position.tolist(), body.rotation.tolist())
            q[self.coordinates * k : self.coordinates * (k + 1)] = self.algebra.pose_coordinates(X)
        self.guess(q)
        return q

    def guess(self, q: Array) -> None:
        """Set the unknowns of constraints to where they guess them, from the poses in q."""
        for thing in self.things:
            first = self.coordinates * len(self.bodies) + self.own[thing.name]
            if isinstance(thing, Joint) and not thing.can_locate:
                q[first : first + thing.nq] = thing.drawn()
            elif isinstance(thing, Constraint) and thing.unknowns:
                q[first : first + thing.unknowns] = thing.guess(*thing.views(self.poses(thing, q)))

    def poses(self, thing: Thing, q: Array) -> list[PoseSide]:
        """Return what a thing sees of its bodies at coordinates q."""
        found = []
        for body in thing.bodies:
            k = self.numbers.get(id(body))
            part = None if k is None else q[self.coordinates * k : self.coordinates * (k + 1)].tolist()
            angle = 0.0 if self.algebra.dimension == 2 else None
            found.append(
                PoseSide(self.algebra, self.algebra.Frame(), angle)
                if part is None
                else PoseSide.of(self.algebra, part)
            )
        return found

    def place(self, q: Array, turns: Array | None = None) -> None:
        """Begin from coordinates q: turns are counted from there, or as joint coordinates `turns` say."""
        self.w.q[:], self.w.memory[:] = q, 0.0
        if turns is not None:
            self.w.ref[:] = turns
            return
        first = 0
        for thing in self.things:
            if isinstance(thing, Constraint) and not isinstance(thing, Driver):
                for side in thing.views(self.poses(thing, q)):
                    if isinstance(side, JointSide):
                        self.w.ref[first : first + len(side.q)] = side.q
                        first += len(side.q)

    def driven_values(self, q: Array) -> Array:
        """Return the values that the drivers' coordinates have at q."""
        values = []
        for driver in self.drivers:
            if borrowed(driver):
                first = self.coordinates * len(self.bodies) + self.own[driver.name]
                values.append(float(q[first + int(driver.component)]))
                continue
            (side,) = driver.views(self.poses(driver, q))
            values.append(float(driver.value(side)))
        return np.array(values)

    def driven_text(self, values: Array) -> str:
        """Say which values drivers have."""
        pairs = zip(self.drivers, values, strict=True)
        return " with " + ", ".join(f"{driver.name} = {value:.6g}" for driver, value in pairs)

    def turned_near(self, values: Array, goal: Array) -> Array:
        """Count whole turns of driven angles so that drivers begin where their laws do."""
        turns = np.array([driver.turns for driver in self.drivers], bool)
        return np.where(turns, values + 2 * np.pi * np.round((goal - values) / (2 * np.pi)), values)

    def sizes(self) -> Array:
        """Return the numbers that vary, as they are."""
        return np.array([self.data[places[0]] for places in self.places.values()])

    def resize(self, sizes: Array) -> None:
        """Give the numbers that vary other values."""
        for places, size in zip(self.places.values(), sizes.tolist(), strict=True):
            self.data[places] = size

    # closing

    def weights(self) -> Array:
        """Return one over the length of each equation's gradient, at the coordinates as they are."""
        self.evaluate()
        square = np.zeros(self.m)
        np.add.at(square, self.entry_rows, (self.w.phi_q * self.columns[self.entry_columns]) ** 2)
        return np.where(square > 0.0, 1.0 / np.sqrt(np.where(square > 0.0, square, 1.0)), 1.0)

    def evaluate(self, q: Array | None = None) -> tuple[Array, Array]:
        """Return phi and the entries of phi_q."""
        if q is not None:
            self.w.q[:] = q
        newton.look_at(self.w)
        return self.w.phi, self.w.phi_q

    def matrix(self, q: Array | None = None) -> Array:
        """Return phi_q as a dense matrix: equations, unknowns."""
        self.evaluate(q)
        A = np.zeros((self.m, self.n))
        np.add.at(A, (self.entry_rows, self.entry_columns), self.w.phi_q)
        return A

    def scaled_matrix(self) -> Array:
        """Return phi_q as last evaluated, dense: lengths in sizes of the mechanism, rows of length one."""
        A = np.zeros((self.m, self.n))
        np.add.at(A, (self.entry_rows, self.entry_columns), self.w.phi_q * self.columns[self.entry_columns])
        lengths = np.linalg.norm(A, axis=1, keepdims=True)
        return A / np.where(lengths > 0.0, lengths, 1.0)

    def close(self, q: Array, active: Array, most: int = 300) -> float:
        """Bring the equations that are active near zero from q; return the largest left, scaled."""
        self.w.q[:] = q
        weights = self.weights() * active
        n = self.n
        if self.large:
            return sparse_newton.close(self, weights, most)
        N, L, g = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
        return float(levenberg_marquardt.close(self.w, weights, self.kept_q, N, L, g, most))

    def assemble(self, start: Array | None = None, with_drivers: bool = False, where: str = "") -> Array:
        """Return coordinates near a start (the drawing) that satisfy all equations; drivers move freely.

        With drivers they have the values in `w.u`. AssemblyError says what stays open.
        """
        origin = self.drawn() if start is None else start
        active = np.ones(self.m)
        if not with_drivers:
            active[self.driver_rows] = 0.0
        self._check_start(origin)
        best, best_q = np.inf, origin
        generator = np.random.default_rng(1)
        for attempt in range(_TRIES):
            q = origin.copy()
            if attempt:
                q = self.shaken(origin, generator, min(1.0, 0.02 * 1.5**attempt))
            self.place(q)
            left = self.close(q, active)
            if left < best:
                best, best_q = left, self.w.q.copy()
            if left < _CLOSED and self._exact(active):
                return self.w.q.copy()
        raise AssemblyError(self.open_text(best_q, active, where))

    def _check_start(self, q: Array) -> None:
        """Refuse equations that have no values, or no derivatives, where assembly starts."""
        self.place(q)
        phi, phi_q = self.evaluate(q)
        for thing in self.things:
            found = phi[self.rows[thing.name]], phi_q[self.entries[thing.name]]
            if not all(np.isfinite(x).all() for x in found):
                remedy = "let neutral() give others" if isinstance(thing, Joint) else "draw it elsewhere"
                raise AssemblyError(
                    f"mechanism {self.mechanism.name!r}: the equations of {_kind(thing)} {thing.name!r}, or "
                    f"their derivatives, are not finite where it starts; {remedy}"
                )

    def _exact(self, active: Array) -> bool:
        """Take the last digits: Newton's method, drivers at the values they have."""
        if self.driver_rows.size:
            values = self.driven_values(self.w.q)
            held = self.w.u[::3].copy()
            free = active[self.driver_rows] == 0.0
            self.w.u[::3] = np.where(free, values, held)
        return self.polish() >= 0.0

    @property
    def large(self) -> bool:
        """Whether equations are kept sparse."""
        return self.n >= LARGE

    def polish(self) -> float:
        """Satisfy all equations near the coordinates as they are; return how far these moved, or -1."""
        return sparse_newton.polish(self) if self.large else float(newton.polish(self.w))

    def advance(self, start: Array, goal: Array) -> int:
        """Drive from values of the drivers to others; return the number of sub-steps, negative if stuck."""
        if self.large:
            return sparse_newton.advance(self, start, goal)
        return int(continuation.advance(self.w, start, np.ascontiguousarray(goal), self.kept_q))

    def march(self, drives: Array, q: Array, v: Array, a: Array, start: Array) -> int:
        """Fill in the motion; return how many times were reached."""
        if self.large:
            return sparse_newton.march(self, drives, q, v, a, start)
        return int(continuation.march(self.w, drives, q, v, a, self.kept_q, start))

    def shaken(self, q: Array, generator: np.random.Generator, amount: float) -> Array:
        """Return coordinates moved at random by an amount of the mechanism's size, and of a radian."""
        self.w.q[:] = q
        change = generator.normal(size=self.n) * amount
        newton.shift(self.w, change)
        moved = self.w.q.copy()
        self.guess(moved)
        return moved

    def open_text(self, q: Array, active: Array | None = None, where: str = "") -> str:
        """Say how far the worst, by name, stays open if all else is closed."""
        weights = np.ones(self.m) if active is None else active.copy()
        phi = self.evaluate(q)[0] * weights
        undriven = [thing for thing in self.things if not isinstance(thing, Driver)]
        worst = max(undriven or self.things, key=lambda x: float(np.linalg.norm(phi[self.rows[x.name]])))
        name, word, rows = worst.name, _kind(worst), self.rows[worst.name]
        weights[rows] *= _SOFT
        self.close(q, weights)
        left = float(np.linalg.norm(self.w.phi[rows]))
        if left < _CLOSED * self.size:
            return (
                f"mechanism {self.mechanism.name!r} can be assembled{where}, but not be driven there: the "
                "way is too long, or leads over a dead point; give times, or values, in between"
            )
        gap = f"{1e3 * left:.3g} mm" if self.is_length(name) else f"{left:.3g} rad"
        return (
            f"mechanism {self.mechanism.name!r} cannot assemble{where}: closest gap {gap} at {word} "
            f"{name!r}; look for lengths that cannot meet, or draw it nearer to closed"
        )

    def is_length(self, name: str) -> bool:
        """Return whether the equations of a thing are lengths: they change when a body is moved."""
        columns = self.entry_columns[self.entries[name]]
        columns = columns[columns < self.free * len(self.bodies)]
        return bool((columns % self.free < self.algebra.dimension).any())

    def named(self, q: Array) -> Mapping[str, Any]:
        """Return the poses of all bodies, by name."""
        X = {}
        for k, body in enumerate(self.bodies):
            X[body.name] = self.algebra.pose(q[self.coordinates * k : self.coordinates * (k + 1)].tolist())
        return X


def undriven_model(mechanism: Mechanism) -> Any:
    """Return the model of a mechanism without its drivers; None if there is none of the joints alone."""
    alone = mechanism.copy()
    for name in list(alone.drivers):
        alone.remove(name)
    try:
        model = alone.compile()
    except ModelError:
        return None
    return model if model.joints.keys() <= mechanism.joints.keys() else None


def _kind(thing: Thing) -> str:
    return "joint" if isinstance(thing, Joint) else thing.word


def system_of(
    mechanism: Mechanism, vary: Mapping[str, Any] | None = None, inputs: Mapping[str, float] | None = None
) -> System:
    """Return the equations of a mechanism, some numbers of which may vary; ModelError if there are none."""
    if not mechanism.bodies:
        raise ModelError(f"mechanism {mechanism.name!r} has no bodies; add some")
    return System(mechanism, vary, inputs)
