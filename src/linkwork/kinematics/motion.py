"""The motion of a driven mechanism: positions, velocities, accelerations, reactions, by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError, unknown
from linkwork.kinematics.assembly import reached
from linkwork.kinematics.dead_points import MotionEvent, dead_points
from linkwork.kinematics.driver_count import check_drivers
from linkwork.kinematics.driver_forces import BodyStates, required
from linkwork.kinematics.equation_system import System, system_of
from linkwork.kinematics.sparse_newton import Factors
from linkwork.kinematics.units import units
from linkwork.lazy import lazy
from linkwork.mechanism.body import Body
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.recording.plot import Trace, figure, html
from linkwork.viewable import Playable

Array = np.ndarray


def kinematics(mechanism: Mechanism, times: Any, *, start: Any = None) -> "Motion":
    """Return the motion of a mechanism whose drivers follow their laws, at given times.

    It begins in the assembly nearest to the drawing, or at `start`, a Motion's last pose (`motion.final`),
    and goes on continuously: it never changes to another way in which the mechanism can be assembled.
    """
    try:
        at = np.atleast_1d(np.asarray(times, float))
    except (TypeError, ValueError):
        raise ValueError(f"kinematics: times {times!r:.80}; give numbers [s]") from None
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all():
        raise ValueError(f"kinematics: times of shape {np.shape(times)}; give finite numbers [s]")
    system = system_of(mechanism.copy())
    q = system.assemble() if start is None else np.array(start, float)
    if q.shape != (system.nq,) or not np.isfinite(q).all():
        raise ValueError(
            f"kinematics: start of shape {q.shape}; give a posture, or the {system.nq} finite numbers of "
            "motion.final"
        )
    check_drivers(system, q)
    drives = np.zeros((len(at), len(system.laws), 3))
    for k, law in enumerate(system.laws):
        drives[:, k] = law.at(at)
    system.place(reached(system, q, drives[0, :, 0]))
    return marched(system, at, drives)


def marched(system: System, times: Array, drives: Array) -> "Motion":
    """Go through all times from where the system is."""
    start = system.turned_near(system.driven_values(system.w.q), drives[0, :, 0])
    count = len(times)
    q, v, a = np.zeros((count, system.nq)), np.zeros((count, system.n)), np.zeros((count, system.n))
    done = system.march(drives, q, v, a, start)
    motion = Motion(system, times[:done], q[:done], v[:done], a[:done])
    if done < count:
        raise _stuck(system, motion, float(times[done]), drives[done, :, 0])
    return motion


def _stuck(system: System, motion: "Motion", time: float, goal: Array) -> AssemblyError:
    last = system.w.q.copy()
    system.w.u[::3] = goal
    system.close(last, np.ones(system.m))
    where = f" at t = {time:.6g} s{system.driven_text(goal)}"
    error = AssemblyError(system.open_text(system.w.q.copy(), where=where))
    error.motion, error.final = motion, last
    return error


class Motion(Playable):
    """What `kinematics` found: `motion["rocker"].angle`, `motion["C"].reaction`, `motion["motor"].force`."""

    def __init__(
        self,
        system: System,
        time: Array,
        q: Array,
        v: Array,
        a: Array,
        happened: tuple[MotionEvent, ...] | None = None,
    ) -> None:
        self._system, self.time = system, time
        self.q, self.v, self.a = q, v, a  # coordinates of bodies, and their first and second derivatives
        self._happened = happened

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism, a copy as it was."""
        return self._system.mechanism

    @property
    def final(self) -> Array:
        """The last pose, from which another motion can go on."""
        return self.q[-1]

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        span = f"{self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self) else "no time reached"
        return f"Motion({self.mechanism.name!r}, {len(self)} times, {span})"

    @lazy
    def events(self) -> tuple[MotionEvent, ...]:
        """The dead points that were met, passed or touched; of a simulation, its events."""
        if self._happened is not None:
            return self._happened
        return dead_points(self._system, self.time, self.q)

    @lazy
    def states(self) -> BodyStates:
        """Frames, motions and accelerations of all bodies."""
        return BodyStates(self._system, self.q, self.v, self.a)

    @lazy
    def multipliers(self) -> tuple[Array, Array]:
        """Forces of all equations, (times, equations), and the entries of phi_q, (times, entries).

        Where equations are redundant, forces are not unique: these are the least.
        """
        system = self._system
        Q = required(system, self.states, self.time)
        forces = np.zeros((len(self.time), system.m))
        entries = np.zeros((len(self.time), len(system.entry_rows)))
        for t in range(len(self.time)):
            if system.large:
                system.evaluate(self.q[t])
                entries[t] = system.w.phi_q
                forces[t] = Factors(system).forces(Q[t])
                continue
            A = system.matrix(self.q[t])
            entries[t] = system.w.phi_q
            scaled = A * system.columns
            lengths = np.linalg.norm(scaled, axis=1)
            lengths = np.where(lengths > 0.0, lengths, 1.0)
            balanced = (scaled / lengths[:, None]).T
            forces[t] = np.linalg.lstsq(balanced, Q[t] * system.columns, rcond=1e-10)[0] / lengths
        return forces, entries

    def wrench(self, name: str, body: Body) -> Any:
        """Return what a thing exerts on a body: a Force in world axes, about the body's origin."""
        system = self._system
        forces, entries = self.multipliers
        part, k = system.entries[name], system.numbers[id(body)]
        total = np.zeros((len(self.time), system.free))
        for e in range(part.start, part.stop):
            column = system.entry_columns[e] - system.free * k
            if 0 <= column < system.free:
                total[:, column] += entries[:, e] * forces[:, system.entry_rows[e]]
        size = system.algebra.dimension
        turn = system.algebra.Force.from_scalars([*total[:, size:].T, *[np.zeros(len(total))] * size])
        torque = (self.states.frames[body.name].axes @ turn).n
        torques = [torque] if size == 2 else list(torque)
        return system.algebra.Force.from_scalars([*torques, *total[:, :size].T])

    def __getitem__(self, name: str) -> Any:
        """Return a body, joint, constraint or driver over time."""
        m = self.mechanism
        if name in m.bodies:
            return BodyMotion(self, m.bodies[name])
        if name in m.joints:
            return JointMotion(self, m.joints[name])
        if name in m.drivers:
            return DriverMotion(self, m.drivers[name])
        if name in m.constraints:
            return ConstraintMotion(self, name)
        raise KeyError(unknown("name", name, (*m.bodies, *m.joints, *m.drivers, *m.constraints)))

    def gaps(self, sample: int) -> dict[str, float]:
        """Return by how much each joint and constraint is open at one of the times [m, rad]."""
        phi = np.abs(self._system.evaluate(self.q[sample])[0])
        m = self.mechanism
        return {
            name: float(phi[self._system.rows[name]].max(initial=0.0)) for name in (*m.joints, *m.constraints)
        }

    def traces(self, *what: str) -> list[Trace]:
        """Return curves of named quantities: "rocker", "rocker.velocity", "C.reaction.force".

        Without names: what drivers, joints and bodies do.
        """
        found = []
        m = self.mechanism
        moving = [f"{name}.position" for name, joint in m.joints.items() if joint.nv]
        for words in what or (*m.drivers, *moving, *m.bodies):
            name, _, quantity = words.partition(".")
            thing = self[name]
            quantity = quantity or thing.quantities[0]
            value = thing
            for word in quantity.split("."):
                if not hasattr(value, word):
                    raise ValueError(unknown(f"quantity of {name!r}", word, thing.quantities))
                value = getattr(value, word)
            values = np.asarray(value, float).reshape(len(self.time), -1)
            unit = units(self._system, name, quantity)
            for k in range(values.shape[1]):
                label = f"{name}.{quantity}" + (f"[{k}]" if values.shape[1] > 1 else "")
                found.append(Trace(label, quantity, unit[k if len(unit) > 1 else 0], values[:, k]))
        return found

    def plot(self, *what: str) -> Any:
        """Return a matplotlib Figure of named quantities over time."""
        return figure(self.time, self.traces(*what), self.mechanism.name)

    def animate(
        self,
        traces: Mapping[str, Sequence[float]] | None = None,
        axes: Any = None,
        *,
        view: str = "xy",
        interval: float = 40.0,
    ) -> Any:
        """Return an animation of matplotlib: `traces` are points of bodies, by name, whose curves are drawn,
        one point of each, or several.

        `view` is "xy", "xz" or "yz", of a mechanism in space; `interval` the time between pictures [ms].
        """
        from linkwork.kinematics.planar_plot import animate

        system = self._system
        ground = {"ground": system.algebra.Frame()}
        frames = [ground | dict(system.named(q)) for q in self.q]
        curves = [
            (name, self[name].trace(point))
            for name, points in (traces or {}).items()
            for point in np.atleast_2d(np.asarray(points, float)).tolist()
        ]
        return animate(self.mechanism, frames, curves, self.time, axes, view=view, interval=interval)

    def _repr_html_(self) -> str:
        """Draw angles or places of the driven things over time, for notebooks."""
        names = [driver.name for driver in self._system.drivers][:6]
        rows = [("times", str(len(self))), ("events", ", ".join(map(str, self.events)) or "none")]
        return html(self.mechanism.name, rows, self.time, self.traces(*(f"{n}.position" for n in names)))


class BodyMotion:
    """A body over time."""

    def __init__(self, motion: Motion, body: Body) -> None:
        self._motion, self._body = motion, body
        system = motion._system
        k = system.numbers[id(body)]
        size = system.algebra.dimension
        first, free = system.coordinates * k, system.free * k
        self.quantities = ("angle", "position", "velocity") if size == 2 else ("position", "velocity")
        self.coordinates = motion.q[:, first : first + system.coordinates]
        self.position = self.coordinates[:, :size]  # of its origin [m]
        self.velocity = motion.v[:, free : free + size]  # [m/s]
        self.acceleration = motion.a[:, free : free + size]  # [m/s^2]
        turn, speed = (
            motion.v[:, free + size : free + system.free],
            motion.a[:, free + size : free + system.free],
        )
        if size == 2:
            self.angular_velocity, self.angular_acceleration = turn[:, 0], speed[:, 0]  # [rad/s], [rad/s^2]
        else:
            R = np.broadcast_to(self.pose.rotation, (len(turn), 3, 3))
            self.angular_velocity = np.einsum("tij,tj->ti", R, turn)  # in world axes
            self.angular_acceleration = np.einsum("tij,tj->ti", R, speed)

    @property
    def angle(self) -> Array:
        """In the plane: the angle, which goes on counting after a turn [rad]."""
        if self._motion._system.algebra.dimension != 2:
            raise AttributeError(f"body {self._body.name!r} is in space; use pose, or a joint's position")
        return self.coordinates[:, 2]

    @property
    def pose(self) -> Any:
        """The Frame over time: numbers are arrays."""
        return self._motion.states.frames[self._body.name]

    def trace(self, point: Sequence[float]) -> Array:
        """Return where a point of the body is, at all times."""
        size = self._motion._system.algebra.dimension
        if np.shape(point) != (size,):
            raise ValueError(f"body {self._body.name!r}: point {point!r:.80}; give {size} numbers")
        places = self.pose @ tuple(float(x) for x in point)
        return np.stack([np.broadcast_to(x, (len(self._motion),)) for x in places], axis=-1)


class JointMotion:
    """A joint over time; a joint of one coordinate has arrays (S,), one of k coordinates (S, k)."""

    quantities = ("position", "velocity", "acceleration", "reaction.force", "reaction.torque")

    def __init__(self, motion: Motion, joint: Joint) -> None:
        self._motion, self._joint = motion, joint

    def _array(self, numbers: Sequence[Any], unwrap: bool = False) -> Array:
        count = len(self._motion)
        made = (
            np.stack([np.broadcast_to(x, (count,)) for x in numbers], -1)
            if len(numbers)
            else np.zeros((count, 0))
        )
        if unwrap:
            for k, turns in enumerate(self._joint.periodic):
                made[:, k] = np.unwrap(made[:, k]) if turns else made[:, k]
        return made[:, 0] if made.shape[1] == 1 else made

    def _own(self, whole: Array, bodies: int) -> Array:
        """Return unknowns of the joint's own from coordinates, velocities or accelerations of all."""
        first = bodies * len(self._motion._system.bodies) + self._motion._system.own[self._joint.name]
        return self._array(list(whole[:, first : first + self._joint.nq].T))

    @property
    def _across(self) -> tuple[Any, Any]:
        return self._motion.states.across(self._joint)

    @property
    def position(self) -> Array:
        """Its coordinates; angles go on counting after a turn [rad, m]."""
        if not self._joint.can_locate:
            return self._own(self._motion.q, self._motion._system.coordinates)
        return self._array(self._across[0].q, unwrap=True)

    @property
    def velocity(self) -> Array:
        if not self._joint.can_locate:
            return self._own(self._motion.v, self._motion._system.free)
        return self._array(self._across[0].v)

    @property
    def acceleration(self) -> Array:
        if not self._joint.can_locate:
            return self._own(self._motion.a, self._motion._system.free)
        across, a = self._across
        return self._array(across.rates(a))

    @property
    def reaction(self) -> Any:
        """The Force it exerts on its child beyond what drives it, as in a Recording.

        In world axes, about the joint's frame on the child [N m, N].
        """
        motion, joint = self._motion, self._joint
        drivers = [d.name for d in motion.mechanism.drivers.values() if d.sides()[0] is joint]
        body, sign = (joint.child, 1.0) if id(joint.child) in motion._system.numbers else (joint.parent, -1.0)
        wrench = motion.wrench(joint.name, body)
        for name in drivers:
            wrench = wrench + motion.wrench(name, body)
        place = motion.states.frames[joint.child.name] @ joint.frames()[1]
        total = (wrench * sign).about(place.p - motion.states.frames[body.name].p)
        if not drivers:
            return total
        across = self._across[0]
        here = place.axes.local(total)
        drive = across.push([s.dot(here) for s in across.S])[1]
        return place.axes @ (here - drive)


class ConstraintMotion:
    """A constraint over time."""

    quantities = ("force",)

    def __init__(self, motion: Motion, name: str) -> None:
        self._motion, self._name = motion, name

    @property
    def force(self) -> Array:
        """The forces of its equations, each along the gradient of `phi`."""
        forces = self._motion.multipliers[0][:, self._motion._system.rows[self._name]]
        return forces[:, 0] if forces.shape[1] == 1 else forces

    @property
    def reaction(self) -> Any:
        """The Force it exerts on the last of its bodies: in world axes, about the body's origin [N m, N]."""
        motion = self._motion
        thing = next(thing for thing in motion._system.things if thing.name == self._name)
        moving = [body for body in thing.bodies if id(body) in motion._system.numbers]
        return motion.wrench(self._name, moving[-1])


class DriverMotion(ConstraintMotion):
    """A driver over time: what it drives to, and with which force [N, N m]."""

    quantities = ("force", "position", "velocity", "acceleration")

    def __init__(self, motion: Motion, driver: Driver) -> None:
        super().__init__(motion, driver.name)
        law = motion._system.laws[motion._system.drivers.index(driver)].at(motion.time)
        self.position, self.velocity, self.acceleration = law.T

    @property
    def power(self) -> Array:
        """What it gives to the mechanism [W]."""
        return self.force * self.velocity
