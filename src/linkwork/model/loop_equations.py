"""The equations that close loops: gaps, how fast they open, the constraint Jacobian; loop joints' motion."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import loop_closure
from linkwork.model.arguments import together
from linkwork.model.own_forces import input_values
from linkwork.real_numbers import real_array
from linkwork.tree.loop_lists import LoopLists
from linkwork.varied import of_variants, real_table

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def loops(model: "Model") -> LoopLists:
    """The loops by the names of the joints that close them, and lists of them by body.

    `model.loops["C"]` has the root, the bodies on both sides and the joints; `model.loops.rooted_at`,
    `.containing` and `.connected_at` are lists by body: the loops that a body is the root of, that it is part
    of, and one of whose closing joints it carries (LR, LB and LJ of Brandl, Johanni and Otter).
    """
    return LoopLists(model.graph, [loop.joint for loop in model.link_tree.loops])


def loop_names(model: "Model") -> tuple[str, ...]:
    """The joints that close loops, as the mechanism was cut; any other joint is in the spanning tree."""
    return tuple(loop.name for loop in model.link_tree.loops)


def row_slices(model: "Model") -> Mapping[str, slice]:
    """Where the equations of each loop joint are among those of all."""
    closing = model.link_tree.loops
    return MappingProxyType({loop.name: slice(loop.row, loop.row + loop.rows) for loop in closing})


def equation_slices(model: "Model") -> Mapping[str, slice]:
    """Where all equations of each loop joint or constraint are: rows, and what its own unknowns take."""
    closing = model.link_tree.loops
    return MappingProxyType(
        {loop.name: slice(loop.equation, loop.equation + loop.equations) for loop in closing}
    )


def loop_slices(model: "Model") -> Mapping[str, tuple[slice, slice]]:
    """Where the coordinates and velocities of each loop joint are among those of all loop joints."""
    return MappingProxyType(
        {
            loop.name: (slice(loop.q, loop.q + loop.joint.nq), slice(loop.v, loop.v + loop.joint.nv))
            for loop in model.link_tree.loops
        }
    )


# motion of the joints that close loops


def loop_coordinates(model: "Model", q: Array, v: Array | None = None) -> dict[str, tuple[Array, Array]]:
    """Return, by loop joint, its coordinates and velocities (zero if v is not given)."""
    positions, rates = loop_motion(model, q, np.zeros(model.nv) if v is None else v)
    return {
        name: (positions[..., at_q], rates[..., at_v]) for name, (at_q, at_v) in model.loop_slices.items()
    }


def loop_motion(model: "Model", q: Array, v: Array) -> tuple[Array, Array]:
    """Return coordinates and velocities of all loop joints, in the order of `loop_slices`."""
    positions, rates = model.kernel_of(loop_closure.COORDINATES)(q, v)
    return positions, rates


def loop_accelerations(model: "Model", q: Array, v: Array, a: Array) -> Array:
    """Return accelerations of all loop joints, when the others accelerate by a."""
    return model.kernel_of(loop_closure.ACCELERATIONS)(q, v, a)[0]


# gaps


def constraint_residual(model: "Model", q: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return how far the loops are from closed, (rows,): by `row_slices`, in metres and radians.

    Drivers are taken at time t, with the `inputs` that their laws read, by name.
    """
    return _gaps(model, q, np.zeros(model.nv), t, inputs)[0]


def constraint_velocity(model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return how fast the loops open, (rows,): the constraint Jacobian times v, and what drivers do."""
    return _gaps(model, q, v, t, inputs)[1]


def _gaps(model: "Model", q: Array, v: Array, t: Any, inputs: Any) -> tuple[Array, ...]:
    u = driver_inputs(model, inputs)
    given = ("t", t, ()), ("q", q, (model.nq,)), ("v", v, (model.nv,)), ("inputs", u, (u.shape[-1],))
    return model.kernel_of(loop_closure.GAPS)(*together(*given)[0])


def driver_inputs(model: "Model", inputs: Any) -> Array:
    """Return the values of the inputs that laws of drivers read, (n,) or (N, n): the first of all inputs."""
    count = len(model.link_tree.inputs)
    if not count:
        return np.empty(0)
    return real_array("inputs", input_values(model.inputs, inputs))[..., :count]


def row_velocities(model: "Model", q: Array, v: Array) -> Array:
    """Return the constraint Jacobian times v, (rows,)."""
    return model.kernel_of(loop_closure.ROW_VELOCITIES)(q, v)[0]


def constraint_jacobian(model: "Model", q: Array) -> Array:
    """Return how fast the loops open per unit of each velocity: (rows, nv), dense."""
    array = real_array("constraint_jacobian: q", q)
    gaps = row_velocities(model, array, np.zeros(model.nv))  # checks q
    if not model.nv:
        return np.zeros((*gaps.shape, 0))
    many = np.repeat(array.reshape(-1, model.nq), model.nv, axis=0)
    units = np.tile(np.eye(model.nv), (len(many) // model.nv, 1))
    rates = row_velocities(model, many, units).reshape(*gaps.shape[:-1], model.nv, gaps.shape[-1])
    return np.ascontiguousarray(np.swapaxes(rates, -1, -2))


def loop_gap(model: "Model", q: Array, t: Any = 0.0, *, inputs: Any = None) -> float | None:
    """Return the worst gap of the loops at positions q [m, rad]; None if there are no loops."""
    if not model.link_tree.loops or not len(q):
        return None
    return float(np.abs(constraint_residual(model, q, t, inputs=inputs)).max())


# normal sizes


def row_weights(model: "Model") -> Array:
    """One over what is a normal size of each equation of the loops: 1 rad, or the mechanism's size."""
    if not model.link_tree.loops:
        return np.empty(0)
    (directions,) = model.kernel_of(loop_closure.DIRECTIONS)(model.q_drawn, np.zeros(model.nv))
    return of_variants(partial(_weights, model.link_tree.algebra.angular), directions, model.size)


def _weights(angular: int, directions: Array, size: Array) -> Array:
    turns = np.abs(directions)
    slides = turns[:, angular:].max(axis=1) > turns[:, :angular].max(axis=1)
    return np.where(slides, 1.0 / size, 1.0)


def weak_pivots(model: "Model") -> Array:
    """Of each equation of the loops, how little acceleration by its own unit force is none, (rows,)."""
    return real_table(x for loop in model.link_tree.loops for x in loop.weak)
