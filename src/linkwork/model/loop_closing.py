"""Closing loops: the nearest closed velocity, a closed position near a given one, states by joint names."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.angles import degrees_caution, like_degrees
from linkwork.dynamics import loop_closure, position_rates
from linkwork.dynamics.loop_assembly import Closing, least_step
from linkwork.dynamics.loop_assembly import assemble as newton
from linkwork.errors import AssemblyError, NumericalError, unknown, warn
from linkwork.model import nonfinite
from linkwork.model.arguments import delivered, together
from linkwork.model.joint_space import accelerating_kernel
from linkwork.model.loop_equations import driver_inputs
from linkwork.model.own_forces import input_values
from linkwork.model.state import State
from linkwork.real_numbers import is_finite, real_array
from linkwork.spelling import require
from linkwork.tree.loop_constraint import LoopConstraint
from linkwork.tree.own_unknowns import guessed

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def closed_velocity(
    model: "Model",
    q: Array,
    v: Array,
    *,
    hold: Iterable[str] = (),
    t: Any = 0.0,
    inputs: Any = None,
    out: Array | None = None,
) -> Array:
    """Return the velocity nearest to v, in the sense of kinetic energy, that keeps all loops closed.

    The velocities of joints in `hold` (for one state) stay as they are; AssemblyError if they cannot.
    Drivers move as at time t, with the `inputs` that their laws read.
    """
    if not model.link_tree.loops:
        return delivered("closed_velocity", real_array("v", v), out)
    held = list(hold)
    if not held and not model.inertia_fault:
        kernel = accelerating_kernel(model, loop_closure.VELOCITY_CORRECTION)
        u = driver_inputs(model, inputs)
        given = ("t", t, ()), ("q", q, (model.nq,)), ("v", v, (model.nv,)), ("inputs", u, (u.shape[-1],))
        (t, q, v, u), _ = together(*given)
        return delivered("closed_velocity", v + kernel(t, q, v, u)[-1], out)
    v = real_array("closed_velocity: v", v)
    if v.shape != (model.nv,) or not np.isfinite(v).all():
        raise ValueError(f"closed_velocity: v has shape {v.shape}; give {model.nv} finite numbers")
    J = model.constraint_jacobian(q)
    opening = model.constraint_velocity(q, v, t, inputs=inputs)
    found = v + least_step(*_held(model, J, _metric(model, q), held), opening)
    left = float(np.abs(model.constraint_velocity(q, found, t, inputs=inputs)).max())
    if left > 1e-9 * (1.0 + float(np.abs(found).max())):
        names = ", ".join(map(repr, held))
        raise AssemblyError(f"the velocities of {names} open the loops at {left:.3g}; hold fewer")
    return delivered("closed_velocity", found, out)


def assemble(
    model: "Model",
    q: Array | None = None,
    *,
    hold: Iterable[str] = (),
    t: float = 0.0,
    inputs: Any = None,
    tolerance: float = 1e-12,
) -> Array:
    """Return a position near q (as drawn, if not given) in which all loops are closed.

    Joints in `hold` stay where they are; drivers are where they are at time t, with these `inputs`. Gaps left
    are below the tolerance, in radians and in units of the mechanism's size. If loops cannot be closed from
    there, AssemblyError names their joints and gaps.
    """
    start = np.array(model.q_drawn if q is None else q, float)
    if start.shape != (model.nq,) or not np.isfinite(start).all():
        raise ValueError(f"assemble: q has shape {start.shape}; give {model.nq} finite numbers")
    if not model.link_tree.loops:
        return start
    closing = _closing(model, list(hold), t, driver_inputs(model, inputs))
    found, gap = newton(closing, start, tolerance)
    if closing.size(found, gap) <= tolerance:
        return found
    raise AssemblyError(_open_loops(model, found, gap, tolerance * model.size))


def _closing(model: "Model", hold: list[str], t: float, u: Array) -> Closing:
    """Return what closing the loops needs to know, with some joints held."""
    weights, moves = model.row_weights, _free(model, hold)

    def equations(q: Array) -> tuple[Array, Array]:
        return _held(model, model.constraint_jacobian(q) * weights[:, None], _metric(model, q), hold)

    def correction(q: Array) -> tuple[Array, Array]:
        if not hold and not model.inertia_fault:
            gap, change = model.kernel_of(loop_closure.POSITION_CORRECTION)(np.float64(t), q, u)
            return gap, change
        gap = model.kernel_of(loop_closure.GAPS)(np.float64(t), q, np.zeros(model.nv), u)[0]
        return gap, least_step(*equations(q), gap * weights)

    def size(q: Array, gap: Array) -> float:
        gaps = _all_gaps(model, q, gap)
        return float(np.linalg.norm(gaps))  # a largest one would not fall steadily: axes turn

    def moved(q: Array, change: Array, part: float) -> Array:
        return moved_by(model, q, change * moves, part)

    return Closing(correction, size, moved, equations, weights, model.coordinate_sizes)


def _metric(model: "Model", q: Array) -> Array:
    """Return the matrix by which changes are weighed: the mass matrix, or plain sizes."""
    return np.diag(model.coordinate_sizes**-2.0) if model.inertia_fault else model.mass_matrix(q)


def _free(model: "Model", hold: Iterable[str]) -> Array:
    """Return 1 for velocities that may change, 0 for those of the joints held."""
    free = np.ones(model.nv)
    for name in hold:
        if name not in model.slices:
            raise ValueError(f"hold: {unknown('joint', name, model.slices)}")
        free[model.slices[name][1]] = 0.0
    return free


def _held(model: "Model", J: Array, M: Array, hold: list[str]) -> tuple[Array, Array]:
    """Return the rows and the mass matrix of a mechanism some joints of which are held."""
    free = _free(model, hold)
    return J * free, M * np.outer(free, free) + np.diag(1.0 - free)


def _all_gaps(model: "Model", q: Array, gap: Array) -> Array:
    """Return the gaps of all equations, weighted: of rows, and of what constraints' own unknowns take."""
    if not model.link_tree.unknowns:
        return gap * model.row_weights
    (found,) = model.kernel_of(loop_closure.EQUATION_GAPS)(q)
    for name, part in model.equation_slices.items():
        rows = model.row_slices[name]
        if part.stop - part.start == rows.stop - rows.start:
            found[part] = gap[rows] * model.row_weights[rows]
        else:
            found[part] *= model.row_weights[rows].max()
    return found


def moved_by(model: "Model", q: Array, change: Array, part: float = 1.0) -> Array:
    """Return the position after a part of a small change of all velocities' coordinates."""
    if model.link_tree.unknowns:
        there = q + part * _changes(model, q, change)
    else:
        there = q + part * model.position_rates(q, change)
    for first in model.quaternions:
        there[first : first + 4] /= np.linalg.norm(there[first : first + 4])
    return there


def fitted(model: "Model", q: Array) -> Array:
    """Return a position with Newton's change of constraints' own unknowns; joints stay where they are."""
    return q + _changes(model, q, np.zeros(model.nv))


def _changes(model: "Model", q: Array, change: Array) -> Array:
    """Return what a change of all velocities' coordinates does to q, constraints' own unknowns with it."""
    try:
        return model.kernel_of(position_rates.CHANGES)(q, change)[0]
    except NumericalError:
        fault = nonfinite.undetermined(model, q)
        if fault is None:
            raise
        raise AssemblyError(
            f"mechanism {model.name!r} cannot be assembled from here: {fault.words}"
        ) from None


def _guessed(model: "Model", q: Array) -> Array:
    """Return a position in which constraints' own unknowns are where they guess them."""
    if not model.link_tree.unknowns:
        return q
    q, poses = q.copy(), model.poses(q)
    for loop in model.link_tree.loops:
        if isinstance(loop.joint, LoopConstraint) and loop.joint.nq:
            constraint = loop.joint.constraint
            own = guessed(constraint, [poses[body.name] for body in constraint.bodies])
            q[loop.u : loop.u + loop.joint.nq] = own
    return q


def _open_loops(model: "Model", q: Array, gap: Array, tolerance: float) -> str:
    """Say which loops stay open, and by how much."""
    T = model.kernel_of(loop_closure.DIRECTIONS)(q, np.zeros(model.nv))[0]
    T = T / np.maximum(np.linalg.norm(T, axis=1, keepdims=True), 1e-300)  # of constraints, of any length
    angular = model.link_tree.algebra.angular
    wide = []
    for name, part in model.row_slices.items():
        error = (T[part] * gap[part, None]).sum(axis=0)
        turn, slide = float(np.linalg.norm(error[:angular])), float(np.linalg.norm(error[angular:]))
        direct = float(np.abs(gap[part]).max(initial=0.0)) if not T[part].any() else 0.0
        if direct > tolerance:
            wide.append(f"{name!r} by {direct:.3g}")
        elif max(turn, slide) > tolerance:
            wide.append(f"{name!r} by {slide:.3g} m and {turn:.3g} rad")
    return (
        f"mechanism {model.name!r} cannot be assembled from here: joints that stay open are "
        f"{', '.join(wide)}; draw it nearer to closed, or look for lengths that cannot meet"
    )


def _wanted(model: "Model", name: str, side: int) -> str:
    """Say what the position or velocity of a joint is made of."""
    joint, part = model.joints[name], model.slices[name][side]
    size = part.stop - part.start
    count = f"{size} finite number{'' if size == 1 else 's'}"
    if side == 1 or joint.quaternion is None:
        return count
    place = "x, y, z and " if joint.quaternion else ""
    return f"{count}: {place}a quaternion (w, x, y, z), as of lw.rotation_euler('xyz', angles).quaternion"


def state(
    model: "Model",
    positions: Mapping[str, Any] | None = None,
    /,
    *,
    velocities: Mapping[str, Any] | None = None,
    t: float = 0.0,
    inputs: Mapping[str, float] | None = None,
    **named: Any,
) -> State:
    """Return a state by joint names: positions, and velocities in a mapping; the rest as drawn, still.

    Positions are given by keyword, or, for joints whose names are no Python words, in a mapping. With
    closed loops what is named is kept, and all else follows from it. `inputs` are those that the state
    has, by name; drivers are where their laws are with them, at time t.
    """
    if not is_finite(t):
        raise ValueError(f"state: t {t!r}; give a finite time in seconds")
    for word, given in (("positions", positions), ("velocities", velocities), ("inputs", inputs)):
        require(f"state: {word}", {} if given is None else given, Mapping, "numbers by names of joints")
    q, v = model.q_drawn.copy(), np.zeros(model.nv)
    for array, side, values in ((q, 0, {**(positions or {}), **named}), (v, 1, dict(velocities or {}))):
        for name, value in values.items():
            if name in model.row_slices:
                word = "joint" if name in model.joints else "constraint"
                raise ValueError(
                    f"state: {word} {name!r} closes a loop, and follows from the others; give those, and "
                    "let model.assemble(q) close the loops"
                )
            if name not in model.slices:
                also = " (velocities are given by velocities={...})" if name.startswith("v") else ""
                raise ValueError(f"state: {unknown('joint', name, model.slices)}{also}")
            part = array[model.slices[name][side]]
            given = real_array(f"state: joint {name!r}", value)
            if given.size != part.size or given.ndim > 1 or not np.isfinite(given).all():
                raise ValueError(f"state: joint {name!r} is {value!r}; give {_wanted(model, name, side)}")
            if side == 0 and like_degrees(*given.ravel()) and all(model.joints[name].periodic):
                warn(f"state: {degrees_caution(f'joint {name!r}', value)}")
            part[:] = given
    if positions or named:
        q = _guessed(model, q)
    if positions or named or velocities:
        q = model.assemble(q, hold={**(positions or {}), **named}, t=t, inputs=inputs)
        v = model.closed_velocity(q, v, hold=velocities or (), t=t, inputs=inputs)
    if inputs:
        input_values(model.inputs, inputs)  # checks them
    return State(q, v, float(t), inputs=dict(inputs or {}), slices=model.slices)
