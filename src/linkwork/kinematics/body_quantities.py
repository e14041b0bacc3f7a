"""Derived quantities of a motion in the coordinates of all bodies: how `derive` finds them for a System.

q has the coordinates of all bodies, then unknowns of joints and constraints; v their rates, those of turns in
the axes of the body. Every joint follows from the bodies, so that all are found as joints that close loops
are in a compiled model. Two quantities are added to those of `linkwork.recording.derive.QUANTITIES`:
"multipliers" (equations,), the forces of all equations, and "phi_q", the entries of the Jacobian.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from linkwork.algebra import rotation
from linkwork.kinematics import newton
from linkwork.kinematics.driver_forces import AppliedForces, BodyStates, required, rigid_inertia
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.sparse_newton import Factors
from linkwork.lazy import LOCK
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.recording.derive import Derivation, Formula, body_momenta, formulas, stacked

Array = np.ndarray


@formulas.register
def _(system: System) -> Mapping[str, Formula]:
    return _OF_BODIES


def states_of(at: Derivation) -> BodyStates:
    """Return frames and motions of all bodies, as if they did not accelerate."""
    return at.once("states", lambda: BodyStates(at.model, at.q, at.v, np.zeros_like(at.v)))


def _accelerating(at: Derivation) -> BodyStates:
    return at.once("accelerating", lambda: BodyStates(at.model, at.q, at.v, at["accelerations"]))


# bodies


def _accelerations(at: Derivation) -> Array:
    """What the equations say, of drivers among them: phi_q a = gamma, the least where that is not unique."""
    found, w = np.empty_like(at.v), at.model.w
    with LOCK:  # the system is one for all who ask
        for k, (t, q, v) in enumerate(zip(at.t.tolist(), at.q, at.v, strict=True)):
            w.q[:], w.v[:] = q, v
            for n, law in enumerate(at.model.laws):
                w.u[3 * n : 3 * n + 3] = law.at(t)[0]
            newton.look_at(w)
            newton.look_at_rates(w)
            found[k] = Factors(at.model).solve(w.acceleration) * at.model.columns
    return found


def _position_rates(at: Derivation) -> Array:
    return np.array([position_rates(at.model, q, v) for q, v in zip(at.q, at.v, strict=True)])


def position_rates(system: System, q: Array, v: Array) -> Array:
    """Return dq/dt from velocities v."""
    size, free = system.coordinates, system.free
    found = np.zeros(system.nq)
    for k in range(len(system.bodies)):
        found[size * k : size * k + 3] = v[free * k : free * k + 3]
        if free == 6:
            turn, rates = q[size * k + 3 : size * k + 7], v[free * k + 3 : free * k + 6]
            found[size * k + 3 : size * k + 7] = rotation.quaternion_rates(turn.tolist(), rates.tolist())
    found[size * len(system.bodies) :] = v[free * len(system.bodies) :]
    return found


def _poses(at: Derivation) -> Array:
    frames, size = states_of(at).frames, at.model.algebra.dimension
    rows = [frames[body.name].scalars() for body in at.model.bodies]
    flat = np.array([[np.broadcast_to(x, at.t.shape) for x in row] for row in rows], float)
    return np.moveaxis(flat, 2, 0).reshape(len(at.t), len(rows), size, size + 1)


def _angles(at: Derivation) -> Array:
    """Return the angles in the plane, which go on counting after a turn."""
    return at.q[:, 2 : 3 * len(at.model.bodies) : 3]


def _in_world(at: Derivation, rates: Array) -> Array:
    """Return rates of all bodies' coordinates by body: angular, then linear, in world axes."""
    system = at.model
    size, free, count = system.algebra.dimension, system.free, len(system.bodies)
    rows = rates[:, : free * count].reshape(len(rates), count, free)
    turns = rows[:, :, size:]
    if size == 3:
        turns = np.einsum("tbij,tbj->tbi", at["poses"][..., :-1], turns)
    return np.concatenate([turns, rows[:, :, :size]], axis=2)


# joints


def _unwrapped(joint: Joint, numbers: list[Any]) -> list[Any]:
    """Let angles go on counting after a turn, from one sample to the next."""
    if not joint.can_locate:
        return numbers
    return [np.unwrap(x) if turns else x for x, turns in zip(numbers, joint.periodic, strict=True)]


def _joints(at: Derivation) -> dict[str, Array]:
    states = states_of(at)
    across = {name: states.across(joint)[0] for name, joint in at.model.mechanism.joints.items()}
    joints = at.model.mechanism.joints
    positions = [x for name, each in across.items() for x in _unwrapped(joints[name], _plain(at, each.q))]
    velocities = [x for each in across.values() for x in _plain(at, each.v)]
    return {"loop_positions": _columns(at, positions), "loop_velocities": _columns(at, velocities)}


def _joint_accelerations(at: Derivation) -> Array:
    states = _accelerating(at)
    found = [states.across(joint) for joint in at.model.mechanism.joints.values()]
    return _columns(at, [x for each, a in found for x in _plain(at, each.rates(a))])


def _plain(at: Derivation, numbers: Any) -> list[Array]:
    return [np.broadcast_to(np.asarray(x, float), at.t.shape) for x in numbers]


def _columns(at: Derivation, arrays: list[Array]) -> Array:
    return np.array(arrays, float).reshape(len(arrays), len(at.t)).T


# forces


def _multipliers(at: Derivation) -> dict[str, Array]:
    """Forces of all equations, (samples, equations), and the entries of phi_q, (samples, entries).

    Where equations are redundant, forces are not unique: these are the least.
    """
    system = at.model
    Q = required(system, _accelerating(at), at.t)
    forces = np.zeros((len(at.t), system.m))
    entries = np.zeros((len(at.t), len(system.entry_rows)))
    for t in range(len(at.t)):
        if system.large:
            system.evaluate(at.q[t])
            entries[t] = system.w.phi_q
            forces[t] = Factors(system).forces(Q[t])
            continue
        A = system.matrix(at.q[t])
        entries[t] = system.w.phi_q
        scaled = A * system.columns
        lengths = np.linalg.norm(scaled, axis=1)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        balanced = (scaled / lengths[:, None]).T
        forces[t] = np.linalg.lstsq(balanced, Q[t] * system.columns, rcond=1e-10)[0] / lengths
    return {"multipliers": forces, "phi_q": entries}


def _row_forces(at: Derivation) -> Array:
    mechanism, rows = at.model.mechanism, at.model.rows
    names = (*mechanism.constraints, *mechanism.drivers)
    parts = [at["multipliers"][:, rows[name]] for name in names]
    return np.concatenate([np.zeros((len(at.t), 0)), *parts], axis=1)


def _wrench(at: Derivation, name: str, body: Body) -> Any:
    """Return what a joint, constraint or driver exerts on a body: in world axes, about the body's origin."""
    system = at.model
    forces, entries = at["multipliers"], at["phi_q"]
    part, k = system.entries[name], system.numbers[id(body)]
    total = np.zeros((len(at.t), system.free))
    for e in range(part.start, part.stop):
        column = system.entry_columns[e] - system.free * k
        if 0 <= column < system.free:
            total[:, column] += entries[:, e] * forces[:, system.entry_rows[e]]
    size = system.algebra.dimension
    turn = system.algebra.Force.from_scalars([*total[:, size:].T, *[np.zeros(len(total))] * size])
    torque = (states_of(at).frames[body.name].axes @ turn).n
    torques = [torque] if size == 2 else list(torque)
    return system.algebra.Force.from_scalars([*torques, *total[:, :size].T])


def _on_child(at: Derivation, joint: Joint, name: str) -> Any:
    """Return what equations of this name exert on a joint's child, about the joint's frame there."""
    frames = states_of(at).frames
    body, sign = (joint.child, 1.0) if id(joint.child) in at.model.numbers else (joint.parent, -1.0)
    place = frames[joint.child.name] @ joint.frames()[1]
    return (_wrench(at, name, body) * sign).about(place.p - frames[body.name].p)


def _joint_reaction(at: Derivation, joint: Joint) -> Any:
    """Return what a joint exerts on its child beyond what drives it, as in a compiled model."""
    drivers = [driver.name for driver in at.model.drivers if driver.sides()[0] is joint]
    total = _on_child(at, joint, joint.name)
    for name in drivers:
        total = total + _on_child(at, joint, name)
    if not drivers:
        return total
    states = states_of(at)
    place = states.frames[joint.child.name] @ joint.frames()[1]
    across = states.across(joint)[0]
    here = place.axes.local(total)
    drive = across.push([s.dot(here) for s in across.S])[1]
    return place.axes @ (here - drive)


def _reactions(at: Derivation) -> Array:
    """Of joints; of constraints and drivers on the last of their bodies, about its origin."""
    system = at.model
    found = [_joint_reaction(at, joint) for joint in system.mechanism.joints.values()]
    for thing in system.things[len(found) :]:
        moving = [body for body in thing.bodies if id(body) in system.numbers]
        found.append(_wrench(at, thing.name, moving[-1]))
    return stacked(found, len(at.t), system.free)


def counted(system: System, joints: Array) -> Array:
    """Return coordinates of the joints that constraints see, as `place` takes them, from those of all."""
    m = system.mechanism
    first = dict(zip(m.joints, accumulate((joint.nq for joint in m.joints.values()), initial=0)))
    seen = [side for c in m.constraints.values() for side in c.sides() if isinstance(side, Joint)]
    parts = [joints[first[joint.name] : first[joint.name] + joint.nq] for joint in seen]
    return np.concatenate([np.zeros(0), *parts])


def _gaps(at: Derivation) -> Array:
    system, m = at.model, at.model.mechanism
    found = []
    for q, joints in zip(at.q, at["loop_positions"], strict=True):
        system.place(q, counted(system, joints))
        phi = np.abs(system.evaluate()[0])
        found.append([phi[system.rows[name]].max(initial=0.0) for name in (*m.joints, *m.constraints)])
    return np.array(found, float).reshape(len(at.t), len(m.joints) + len(m.constraints))


def _driver_laws(at: Derivation) -> Array:
    laws = [law.at(at.t) for law in at.model.laws]
    return np.array(laws, float).reshape(len(laws), len(at.t), 3).swapaxes(0, 1)


def _driver_wrenches(at: Derivation) -> Array:
    found = []
    for driver in at.model.drivers:
        side = driver.sides()[0]
        joint = isinstance(side, Joint)
        found.append(_on_child(at, side, driver.name) if joint else _wrench(at, driver.name, side))
    return stacked(found, len(at.t), at.model.free)


# loads


def _moments(at: Derivation) -> list[Any]:
    return at.once("moments", lambda: list(AppliedForces(at.model).moments(at.t, at.q, at.v)))


def _forces(at: Derivation) -> Array:
    """What loads, and joints by themselves, exert along all unknowns."""
    Q = np.zeros((len(at.t), at.model.n))
    AppliedForces(at.model).subtract(at.t, at.q, at.v, Q)
    return -Q


def _load(at: Derivation, name: str) -> Array:
    values = [np.atleast_1d(np.asarray(now.said[name], float)) for now in _moments(at)]
    return np.array(values, float).reshape(len(at.t), -1)


def _joint_forces(at: Derivation) -> Array:
    joints = at.model.mechanism.joints.values()
    rows = [[x for joint in joints for x in now.joint(joint).forces] for now in _moments(at)]
    return np.array(rows, float).reshape(len(at.t), sum(joint.nv for joint in joints))


def _drive_wrenches(at: Derivation) -> Array:
    found, first, states = [], 0, states_of(at)
    for joint in at.model.mechanism.joints.values():
        tau = at["loop_forces"][:, first : first + joint.nv]
        first += joint.nv
        on_child = states.across(joint)[0].push(list(tau.T))[1]
        found.append((states.frames[joint.child.name] @ joint.frames()[1]).axes @ on_child)
    return stacked(found, len(at.t), at.model.free)


def _load_wrenches(at: Derivation) -> Array:
    rows = []
    for now in _moments(at):
        sides = [(now.bodies[body.name], body) for body in at.model.bodies]
        rows.append([_about_center(side, body).scalars() for side, body in sides])
    return np.array(rows, float).reshape(len(at.t), len(at.model.bodies), at.model.free)


def _about_center(side: Any, body: Body) -> Any:
    center = side.frame.axes @ tuple(body.inertia.com.tolist())
    return (side.frame.axes @ side.wrench).about(center)


# sums over all bodies


def _kinetic_energy(at: Derivation) -> Array:
    system, states = at.model, states_of(at)
    total = np.zeros(len(at.t))
    for body in system.bodies:
        V = states.motions[body.name]
        total += 0.5 * V.dot(rigid_inertia(system, body) @ V)
    first = 0
    for joint in system.mechanism.joints.values():  # drives
        rates = at["loop_velocities"][:, first : first + joint.nv]
        total += 0.5 * rates**2 @ joint.per_coordinate("armature")
        first += joint.nv
    return total


def _center_of_mass(at: Derivation) -> Array:
    masses, places = _places(at)
    return np.einsum("b,tbi->ti", masses, places) / max(masses.sum(), 1e-300)


def _places(at: Derivation) -> tuple[Array, Array]:
    """Return masses (bodies,) and centres of mass (samples, bodies, d)."""
    inertias = [body.inertia for body in at.model.bodies]
    centers = np.array([inertia.com for inertia in inertias], float)
    poses = at["poses"]
    places = np.einsum("tbij,bj->tbi", poses[..., :-1], centers) + poses[..., -1]
    return np.array([float(inertia.mass) for inertia in inertias]), places


def _potential_energy(at: Derivation) -> Array:
    masses, places = _places(at)
    return -np.einsum("b,tbi,i->t", masses, places, np.asarray(at.model.mechanism.gravity, float))


def _body_momenta(at: Derivation) -> Array:
    inertias = [body.inertia for body in at.model.bodies]
    masses, centers, tensors = (
        np.array([getattr(inertia, word) for inertia in inertias], float)
        for word in ("mass", "com", "tensor")
    )
    return body_momenta(at["poses"], at["velocities"], masses, centers, tensors)


def _momentum(at: Derivation) -> Array:
    system, states = at.model, states_of(at)
    center = list(at["center_of_mass"].T)
    total = system.algebra.Force.zero()
    for body in system.bodies:
        X = states.frames[body.name]
        h = X.axes @ (rigid_inertia(system, body) @ states.motions[body.name])
        total = total + h.about([c - p for c, p in zip(center, X.p, strict=True)])
    return stacked([total], len(at.t), system.free)[:, 0]


_OF_BODIES: dict[str, Formula] = {
    "position_rates": _position_rates,
    "accelerations": _accelerations,
    "forces": _forces,
    "poses": _poses,
    "angles": _angles,
    "velocities": lambda at: _in_world(at, at.v),
    "body_accelerations": lambda at: _in_world(at, at["accelerations"]),
    "body_momenta": _body_momenta,
    "reactions": _reactions,
    "loop_positions": _joints,
    "loop_velocities": _joints,
    "loop_accelerations": _joint_accelerations,
    "loop_forces": _joint_forces,
    "multipliers": _multipliers,
    "phi_q": _multipliers,
    "row_forces": _row_forces,
    "gaps": _gaps,
    "driver_laws": _driver_laws,
    "drive_wrenches": _drive_wrenches,
    "load_wrenches": _load_wrenches,
    "driver_wrenches": _driver_wrenches,
    "kinetic_energy": _kinetic_energy,
    "potential_energy": _potential_energy,
    "momentum": _momentum,
    "center_of_mass": _center_of_mass,
    "load": _load,
}
