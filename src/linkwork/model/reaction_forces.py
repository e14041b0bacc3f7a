"""Forces that joints bear: reactions of all joints, and the forces of the equations that close loops."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import equations_of_motion, loop_closure
from linkwork.dynamics import reactions as in_joints
from linkwork.dynamics.external_forces import external_forces
from linkwork.model.arguments import delivered
from linkwork.model.joint_space import accelerating_kernel
from linkwork.model.named_rows import NamedRows
from linkwork.model.own_forces import motion_kernel, moving
from linkwork.real_numbers import real_array
from linkwork.tree.tree import Tree

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def reactions(
    model: "Model", q: Array, v: Array, tau: Array, *, forces: Any = None, out: Array | None = None
) -> NamedRows:
    """Return, by joint name, the force the joint exerts on its child beyond its drive tau.

    In world axes, about the origin of the joint's frame on the child. Drives act as torques about the
    axes of turning freedoms and forces along those of sliding ones; what is left is the constraint.
    """
    a = model.forward_dynamics(q, v, tau, forces=forces)
    external = external_forces(model.body_tree, {} if forces is None else forces)
    if not model.link_tree.loops:
        return reactions_at(model, q, v, a, external, out=out)
    return _with_loops(model, q, v, a, external, _row_forces(model, q, v, tau, forces), out)


def reactions_at(
    model: "Model", q: Array, v: Array, a: Array, external: Array, *, out: Array | None = None
) -> NamedRows:
    """Return the reactions when the joints accelerate by a, with forces on bodies as `loads` gives."""
    (array,) = model.kernel_of(in_joints.ALGORITHM)(q, v, a, external, out=(out,))
    rows = {name: row for row, name in enumerate(model.joint_names)}
    return NamedRows("joint", rows, array, 2, model.link_tree.algebra.Force.from_scalars, {})


def reactions_in_motion(
    model: "Model", q: Array, v: Array, t: Any, a: Array, external: Array, *, inputs: Any = None
) -> NamedRows:
    """Return the reactions under all forces of the mechanism, which accelerate it by a.

    `external` are the forces on bodies as `loads` gives them.
    """
    rows = row_forces_in_motion(model, q, v, t, inputs=inputs) if model.link_tree.loops else None
    return reactions_under(model, q, v, a, external, rows)


def reactions_under(
    model: "Model", q: Array, v: Array, a: Array, external: Array, rows: Array | None
) -> NamedRows:
    """Return the reactions under forces on bodies and those of the loops' equations; a follows from them."""
    if rows is None:
        return reactions_at(model, q, v, a, external)
    return _with_loops(model, q, v, a, external, rows, None)


def _with_loops(
    model: "Model", q: Array, v: Array, a: Array, external: Array, rows: Array, out: Array | None
) -> NamedRows:
    """Return the reactions of all joints from the forces of the loops' equations."""
    (array,) = model.kernel_of(in_joints.ALGORITHM)(q, v, a, external + row_pushes(model, q, rows))
    wrenches = row_wrenches(model, q, rows).array
    array = delivered("reactions", np.concatenate([array, wrenches], axis=-2), out)
    numbers = {name: row for row, name in enumerate((*model.joint_names, *model.loop_names))}
    return NamedRows("joint", numbers, array, 2, model.link_tree.algebra.Force.from_scalars, {})


def loop_forces(model: "Model", q: Array, v: Array, tau: Array, *, forces: Any = None) -> NamedRows:
    """Return, by loop joint, the force it exerts on its child to keep the loop closed.

    In world axes, about the origin of the joint's frame on the child. Where the equations of the loops
    are redundant, forces are not unique: these are the smallest.
    """
    return row_wrenches(model, np.asarray(q, float), _row_forces(model, q, v, tau, forces))


def row_forces_in_motion(model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return the forces of the loops' equations, (rows,), under all forces of the mechanism.

    Each is along the gradient of its equation. Where equations are redundant these are the least.
    """
    return _row_forces_on(model, model.touching_tree, q, v, t, inputs)


def free_row_forces(model: "Model", q: Array, v: Array, t: Any, inputs: Any) -> Array:
    """Return the same without friction of joints that sticks."""
    return _row_forces_on(model, model.smooth_touching_tree, q, v, t, inputs)


def _row_forces_on(model: "Model", tree: Tree, q: Array, v: Array, t: Any, inputs: Any) -> Array:
    kernel = motion_kernel(model, equations_of_motion.LOOP_FORCES, tree)
    arrays = moving(model, kernel, q, v, t, inputs)
    return _least(model.constraint_jacobian(arrays[1]), kernel(*arrays)[-1])


def equation_forces(model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return the same by `equation_slices`: for all equations of constraints with unknowns of their own."""
    rows = row_forces_in_motion(model, q, v, t, inputs=inputs)
    if not model.link_tree.unknowns:
        return rows
    return model.kernel_of(loop_closure.EQUATION_FORCES)(real_array("q", q), rows)[0]


def _row_forces(model: "Model", q: Array, v: Array, tau: Array, forces: Any) -> Array:
    """Return the least forces of the loops' equations under forces tau, and on bodies."""
    where, tree = np.asarray(q, float), model.undriven_tree
    if not tree.loops:
        return np.zeros((*where.shape[:-1], len(model.weak_pivots)))
    if forces is None:
        found, _ = accelerating_kernel(model, loop_closure.LOOP_FORCES, tree)(q, v, tau)
    else:
        kernel = accelerating_kernel(model, loop_closure.LOOP_FORCES_WITH_FORCES, tree)
        found, _ = kernel(q, v, tau, external_forces(model.link_tree, forces))
    rows = np.zeros((*found.shape[:-1], len(model.weak_pivots)))  # drivers and couplings bear nothing
    J = model.constraint_jacobian(where)[..., model.undriven_rows, :]
    rows[..., model.undriven_rows] = _least(J, found)
    return rows


def row_pushes(model: "Model", q: Array, rows: Array) -> Array:
    """Return what forces of the loops' equations do to bodies, as `external_forces` does."""
    tree = model.loaded_body_tree  # its rows may come in another order
    ordered = [rows[..., model.row_slices[loop.name]] for loop in tree.loops]
    return model.kernel_of(loop_closure.PUSHES, tree)(q, np.concatenate(ordered, axis=-1))[0]


def row_wrenches(model: "Model", q: Array, rows: Array) -> NamedRows:
    """Return the forces of loop joints on their children from those of their equations."""
    T = model.kernel_of(loop_closure.DIRECTIONS)(q, np.zeros(model.nv))[0]
    pushes = T * rows[..., None]
    wrenches = [pushes[..., part, :].sum(axis=-2) for part in model.row_slices.values()]
    if not wrenches:
        wrenches = np.empty((0, *pushes.shape[:-2], pushes.shape[-1]))
    numbers = {name: k for k, name in enumerate(model.loop_names)}
    force = model.link_tree.algebra.Force.from_scalars
    return NamedRows("loop joint", numbers, np.moveaxis(np.asarray(wrenches), 0, -2), 2, force, {})


def _least(J: Array, rows: Array) -> Array:
    """Return the least forces of equations J that do the same as those given."""
    left, sizes, _ = np.linalg.svd(J, full_matrices=False)
    left = left * (sizes > 1e-9 * sizes.max(axis=-1, keepdims=True, initial=1e-300))[..., None, :]
    return (left @ (np.swapaxes(left, -1, -2) @ rows[..., None]))[..., 0]
