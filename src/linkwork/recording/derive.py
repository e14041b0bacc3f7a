"""quantity <- model, t, q, v: everything that is derived from a motion, by name.

Recordings, plots, tables, files and pages ask here; none of them computes physics of its own. A quantity is
derived for any number of samples at once. What it depends on is derived on the way and kept in the same
`Derivation`, so that nothing is computed twice.

Each kind of model says how its quantities are derived (`formulas`): compiled models here, the equations of
kinematics and free bodies where they are.
"""

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np

from linkwork.algebra import planar, spatial
from linkwork.errors import unknown
from linkwork.recording.contact_quantities import OF_CONTACT, OF_RIGID
from linkwork.recording.planar_angle import counted_angles
from linkwork.tree.subspace import drive_directions

Array = np.ndarray

ALGEBRA = {"space": spatial, "plane": planar}

# name -> shape of one sample and units. d is the dimension, f the freedoms of a body: 6 in space, 3 in the
# plane. Wrenches are torque, then force; velocities angular, then of the origin; all in world axes.
QUANTITIES = {
    "inputs": "(inputs,) values of the inputs of laws, in the order of `model.inputs`",
    "position_rates": "(nq,) [rad/s, m/s, 1/s of quaternions] dq/dt",
    "accelerations": "(nv,) [rad/s², m/s²]",
    "forces": "(nv,) [N m, N] of each joint: damping, friction, spring, stops and motors",
    "external": "(bodies, f) [N m, N] loads on bodies, in the frame of the joint that carries each",
    "poses": "(bodies, d, d + 1) [1, m] rows of [R | p]",
    "angles": "(bodies,) [rad] in the plane; they go on counting after a turn",
    "velocities": "(bodies, f) [rad/s, m/s]",
    "body_accelerations": "(bodies, f) [rad/s², m/s²]",
    "body_momenta": "(bodies, f) [kg m²/s, kg m/s] angular about each body's centre of mass, then linear",
    "reactions": "(joints, f) [N m, N] constraint forces on children, about the joints",
    "loop_positions": "(...,) [rad, m] coordinates of joints that close loops",
    "loop_velocities": "(...,) [rad/s, m/s] their velocities",
    "loop_accelerations": "(...,) [rad/s², m/s²] their accelerations",
    "loop_forces": "(...,) [N m, N] what drives them, as `forces`",
    "row_forces": "(rows,) [N, N m] of the equations of loops and constraints, along their gradients",
    "gaps": "(loops,) [m, rad] by how much each joint or constraint that closes a loop is open",
    "driver_laws": "(drivers, 3) [rad, m] value, first and second derivative of each driver's law",
    "drive_wrenches": "(joints, f) [N m, N] `forces` as they act on the joints' children, about the joints",
    "load_wrenches": "(bodies, f) [N m, N] loads on bodies, about their centres of mass",
    "driver_wrenches": "(drivers, f) [N m, N] what drivers exert on the joint's child, or on the body",
    "kinetic_energy": "() [J]",
    "potential_energy": "() [J] of gravity",
    "momentum": "(f,) [kg m²/s, kg m/s] angular about the centre of mass, then linear",
    "center_of_mass": "(d,) [m]",
}
CONTACT_QUANTITIES = {  # of models with contact, besides
    "contacts": "(most, 15) bodies, point, normal, depth, force and slip: see `contact_quantities`",
    "contact_forces": "(bodies, d) [N] sum of the forces of contacts on each body",
}


def derive(
    quantity: str, model: Any, t: Any, q: Array, v: Array, inputs: Mapping[str, Any] | None = None
) -> Array:
    """Return a quantity at times t (...,), positions q (..., nq) and velocities v (..., nv).

    `quantity` is one of `QUANTITIES`, or "load/NAME" for what a load shows; inputs that are not given have
    their default values. The leading axes of the result are those of q.
    """
    q, v = np.asarray(q, float), np.asarray(v, float)
    lead = q.shape[:-1]
    flat = (int(np.prod(lead)),)
    times = np.broadcast_to(np.asarray(t, float), lead).reshape(flat)
    known = {"inputs": inputs_over(model, inputs, lead).reshape(*flat, -1)} if inputs else {}
    at = Derivation(model, times, q.reshape(*flat, q.shape[-1]), v.reshape(*flat, v.shape[-1]), known)
    values = at[quantity]
    return values.reshape((*lead, *values.shape[1:]))


class Derivation:
    """What is derived at samples t (N,), q (N, nq), v (N, nv): by name, each computed once."""

    def __init__(
        self, model: Any, t: Array, q: Array, v: Array, known: Mapping[str, Array] | None = None
    ) -> None:
        self.model, self.t, self.q, self.v = model, t, q, v
        self.known: dict[str, Any] = dict(known or {})
        self._made: dict[str, Any] = {}

    def __getitem__(self, quantity: str) -> Array:
        if quantity not in self.known:
            name, _, load = quantity.partition("/")
            found = formulas(self.model)
            if name not in found:
                raise KeyError(unknown("quantity", quantity, found))
            values = found[name](self, load) if load else found[name](self)
            self.known.update(values if isinstance(values, dict) else {quantity: values})
        return self.known[quantity]

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what several formulas need and has no name of its own; it is made once."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def frames(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the poses of bodies by name, ground among them, as Frames of arrays."""
        algebra, rows = ALGEBRA[self.model.space], self["poses"]
        found = {"ground": algebra.Frame()}
        for k, name in enumerate(names):
            found[name] = algebra.Frame.from_scalars(list(rows[:, k].reshape(len(rows), -1).T))
        return found


Formula: TypeAlias = Callable[..., Array | dict[str, Array]]


@singledispatch
def formulas(model: Any) -> Mapping[str, Formula]:
    """Return how the quantities of a model are derived: functions of a Derivation, by name.

    A function returns the quantity, or several by name. "load" takes the name of the load, too.
    """
    if model.contact_names:
        return _OF_RIGID_TOUCHING if model.is_rigid else _OF_TOUCHING
    return _OF_RIGID if model.is_rigid else _OF_COMPILED


def body_momenta(poses: Array, velocities: Array, masses: Array, centers: Array, inertias: Array) -> Array:
    """Return the momenta of bodies (N, bodies, f): L = I w and P = m (v + w x c), in world axes.

    `velocities` are angular, then of the origins; `inertias` about the centres of mass, in body axes.
    """
    R, w, v = poses[..., :-1], velocities[..., : -poses.shape[-2]], velocities[..., -poses.shape[-2] :]
    c = np.einsum("...bij,bj->...bi", R, centers)
    if poses.shape[-2] == 2:
        L, across = w * inertias.reshape(-1, 1), w * np.stack([-c[..., 1], c[..., 0]], axis=-1)
    else:
        L, across = (R @ (inertias @ (R.swapaxes(-1, -2) @ w[..., None])))[..., 0], np.cross(w, c)
    return np.concatenate([L, masses[:, None] * (v + across)], axis=-1)


def stacked(wrenches: list[Any], count: int, freedoms: int) -> Array:
    """Return Forces whose numbers are arrays, or numbers, as one array (count, wrenches, freedoms)."""
    rows = [[np.broadcast_to(x, (count,)) for x in wrench.scalars()] for wrench in wrenches]
    return np.moveaxis(np.array(rows, float).reshape(len(rows), freedoms, count), 2, 0)


# compiled models


def inputs_over(model: Any, inputs: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
    """Return the values of a model's inputs at samples, (*shape, nu).

    One is given for all, one per sample, or, where samples are (runs, times), one per run.
    """
    values = [np.asarray(inputs.get(name, value), float) for name, value in model.inputs.items()]
    columns = [np.broadcast_to(x.reshape(x.shape + (1,) * (len(shape) - x.ndim)), shape) for x in values]
    return np.stack(columns, axis=-1) if columns else np.empty((*shape, 0))


def _applied(at: Derivation) -> dict[str, Array]:
    found = at.model.loads(at.q, at.v, at.t, inputs=at["inputs"])
    return dict(zip(("forces", "external"), found, strict=True))


def _loop_motion(at: Derivation) -> dict[str, Array]:
    found = at.model.loop_motion(at.q, at.v)
    return dict(zip(("loop_positions", "loop_velocities"), found, strict=True))


def _reactions(at: Derivation) -> Array:
    a, external = at["accelerations"], at["external"]
    return at.model.reactions_in_motion(at.q, at.v, at.t, a, external, inputs=at["inputs"]).array


def _gaps(at: Derivation) -> Array:
    rows = np.abs(at.model.constraint_residual(at.q, at.t, inputs=at["inputs"]))
    gaps = [rows[:, part].max(axis=1, initial=0.0) for part in at.model.row_slices.values()]
    return np.array(gaps, float).reshape(len(gaps), len(at.t)).T


def _driver_laws(at: Derivation) -> Array:
    inputs = dict(zip(at.model.inputs, at["inputs"].T, strict=True))
    laws = [law.at(at.t, inputs) for law in at.model.driver_laws]
    return np.array(laws, float).reshape(len(laws), len(at.t), 3).swapaxes(0, 1)


def _drive_wrenches(at: Derivation) -> Array:
    names = at.model.joint_names
    forces = [at["forces"][:, at.model.slices[name][1]] for name in names]
    return _driven(at, [(name, tau) for name, tau in zip(names, forces, strict=True)])


def _driver_wrenches(at: Derivation) -> Array:
    """A driver of a joint acts on one of its coordinates; one of a body is a constraint of that body."""
    model, found = at.model, []
    joints = (*model.joint_names, *model.loop_names)
    for name, driver in model.mechanism.drivers.items():
        side = driver.sides()[0]
        if side.name in model.slices:
            tau = np.zeros((len(at.t), side.nv))
            tau[:, int(driver.component)] = at["row_forces"][:, model.equation_slices[name].start]
            found.append(_driven(at, [(side.name, tau)])[:, 0])
        else:
            found.append(at["reactions"][:, joints.index(name)])
    size = ALGEBRA[model.space].freedoms
    return np.array(found, float).reshape(len(found), len(at.t), size).swapaxes(0, 1)


def _driven(at: Derivation, drives: list[tuple[str, Array]]) -> Array:
    """Return what forces along the coordinates of joints exert on their children, about the joints."""
    model, algebra = at.model, ALGEBRA[at.model.space]
    frames, found = at.frames(model.body_names), []
    for name, tau in drives:
        local = np.zeros((len(at.t), algebra.freedoms))
        for n in np.flatnonzero(tau.any(axis=1)):
            S = model.motion_subspace(name, at.q[n])
            directions = drive_directions([algebra.Motion.from_scalars(s) for s in S.T.tolist()], algebra)
            for direction, force in zip(directions, tau[n], strict=True):
                local[n] += np.array(direction.scalars(), float) * force
        joint = model.joints[name]
        place = frames[joint.child.name] @ joint.frames()[1]
        found.append(place.axes @ algebra.Force.from_scalars(list(local.T)))
    return stacked(found, len(at.t), algebra.freedoms)


def _load_wrenches(at: Derivation) -> Array:
    model, algebra = at.model, ALGEBRA[at.model.space]
    frames, found = at.frames(model.body_names), []
    for k, (name, joint_name) in enumerate(zip(model.body_names, model.joint_names, strict=True)):
        joint = model.joints[joint_name]
        on_body = joint.frames()[1 if joint.child.name == name else 0]
        place = frames[name] @ on_body
        wrench = place.axes @ algebra.Force.from_scalars(list(at["external"][:, k].T))
        center = frames[name] @ tuple(model.centers[k].tolist())
        found.append(wrench.about(center - place.p))
    return stacked(found, len(at.t), algebra.freedoms)


_OF_COMPILED: dict[str, Formula] = {
    "position_rates": lambda at: at.model.position_rates(at.q, at.v),
    "inputs": lambda at: inputs_over(at.model, {}, at.t.shape),
    "accelerations": lambda at: at.model.motion(at.q, at.v, at.t, inputs=at["inputs"]),
    "forces": _applied,
    "external": _applied,
    "poses": lambda at: at.model.poses(at.q).array,
    "angles": lambda at: counted_angles(at.model, at.q, at["poses"]),
    "velocities": lambda at: at.model.velocities(at.q, at.v).array,
    "body_accelerations": lambda at: at.model.body_accelerations(at.q, at.v, at["accelerations"]).array,
    "body_momenta": lambda at: body_momenta(
        at["poses"], at["velocities"], at.model.masses, at.model.centers, at.model.inertias
    ),
    "reactions": _reactions,
    "loop_positions": _loop_motion,
    "loop_velocities": _loop_motion,
    "loop_accelerations": lambda at: at.model.loop_accelerations(at.q, at.v, at["accelerations"]),
    "loop_forces": lambda at: at.model.loop_drives(at.q, at.v, at.t, inputs=at["inputs"]),
    "row_forces": lambda at: at.model.equation_forces(at.q, at.v, at.t, inputs=at["inputs"]),
    "gaps": _gaps,
    "driver_laws": _driver_laws,
    "drive_wrenches": _drive_wrenches,
    "load_wrenches": _load_wrenches,
    "driver_wrenches": _driver_wrenches,
    "kinetic_energy": lambda at: at.model.kinetic_energy(at.q, at.v),
    "potential_energy": lambda at: at.model.potential_energy(at.q),
    "momentum": lambda at: at.model.momentum(at.q, at.v),
    "center_of_mass": lambda at: at.model.center_of_mass(at.q),
    "load": lambda at, name: at.model.load_values(name, at.q, at.v, at.t, inputs=at["inputs"]),
}
_OF_TOUCHING: dict[str, Formula] = _OF_COMPILED | OF_CONTACT
_OF_RIGID: dict[str, Formula] = _OF_COMPILED | OF_RIGID
_OF_RIGID_TOUCHING: dict[str, Formula] = _OF_TOUCHING | OF_RIGID
