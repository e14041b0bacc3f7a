"""Motion under the mechanism's own forces: those of its joints and its loads."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import applied_forces, equations_of_motion
from linkwork.dynamics.algorithm import INPUTS, Algorithm
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.load_code import raised
from linkwork.errors import LinkworkError, NumericalError, unknown
from linkwork.model import nonfinite
from linkwork.model.arguments import together
from linkwork.model.joint_space import accelerating_kernel
from linkwork.real_numbers import real_array
from linkwork.tree.tree import Tree

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

# What is unrolled: it takes up to twice as long to compile as rolled code, and half the time to run.
_FEW = 8  # links
_SHORT = 1200  # nodes of the laws of loads

_NO_INPUTS = np.empty(0)


def motion(
    model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None, out: Array | None = None
) -> Array:
    """Return the accelerations (nv,) under all forces of the mechanism: joints, loads, compliant contacts.

    This is what `simulate` integrates: damping, friction, springs and stops of joints are in it. `inputs` are
    values by name, or an array in the order of `model.inputs`; what is not given has its default value.
    """
    return _motion(model, model.touching_tree, q, v, t, inputs, out)


def free_motion(model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return the same without friction of joints that sticks: what it, rigid contacts and stops act on."""
    return _motion(model, model.smooth_touching_tree, q, v, t, inputs)


def _motion(
    model: "Model", tree: Tree, q: Array, v: Array, t: Any, inputs: Any, out: Array | None = None
) -> Array:
    kernel = motion_kernel(model, motion_algorithm(model, tree), tree)
    arrays = moving(model, kernel, q, v, t, inputs)
    return _applying(model, lambda: kernel(*arrays, out=(None, out, None))[1], *arrays[:4])


def moving(model: "Model", kernel: Kernel, q: Array, v: Array, t: Any, inputs: Any) -> list[Array]:
    """Return the arrays that a kernel of motion takes, scratch memory included."""
    u = input_values(model.inputs, inputs)
    given = ("t", t, ()), ("q", q, (model.nq,)), ("v", v, (model.nv,)), ("inputs", u, (len(model.inputs),))
    arrays, batch = together(*given)
    known = 4 if INPUTS in kernel.algorithm.given else 3
    return [*arrays[:known], *(np.zeros((*batch, *shape)) for shape in kernel.shapes[known : kernel.inputs])]


def input_values(known: Mapping[str, float], inputs: Any) -> Array:
    """Return the values of inputs as an array: (nu,), or (N, nu) where one of them has N values.

    `known` are their default values; `inputs` others by name, or an array of all.
    """
    if not known and (inputs is None or (isinstance(inputs, Mapping) and not inputs)):
        return _NO_INPUTS
    if inputs is not None and not isinstance(inputs, Mapping):
        return inputs
    given = dict(inputs or {})
    for name in given:
        if name not in known:
            what = unknown("input", name, known) if known else f"{name!r} is given, and no law reads inputs"
            raise ValueError(f"inputs: {what}")
    values = [real_array(f"input {name!r}", given.get(name, value)) for name, value in known.items()]
    for name, value in zip(known, values, strict=True):
        if value.ndim > 1 or not np.isfinite(value).all():
            what = "is not finite" if value.ndim <= 1 else f"has shape {value.shape}"
            raise ValueError(f"input {name!r} {what}; give a finite number, or one per run")
    return np.stack(np.broadcast_arrays(*values), axis=-1) if values else np.empty(0)


def _applying(
    model: "Model", run: Callable[[], Any], t: Array, q: Array, v: Array, u: Array | None = None
) -> Any:
    """Run what applies the loads; if the result is not finite, name the load that gave it."""
    raised.__dict__.pop("error", None)
    try:
        return run()
    except (NumericalError, ValueError) as error:
        fit = q.shape[-1:] == (model.nq,) and v.shape[-1:] == (model.nv,)
        if not fit or not all(np.isfinite(x).all() for x in (q, v, t)):
            raise
        u = np.empty((*np.shape(t), 0)) if u is None or not model.inputs else u
        rows = np.atleast_2d(q), np.atleast_2d(v), np.atleast_1d(t), np.atleast_2d(u)
        if hasattr(raised, "error"):
            name, at, cause = raised.error
            if not isinstance(cause, Exception):  # Ctrl-C
                raise cause from None
            text = f"load {name!r} raised {type(cause).__name__}: {cause} (at t = {at:.9g} s)"
            raise NumericalError(text) from cause
        for row in zip(*rows, strict=True):
            name, detail = nonfinite.not_finite(
                model, float(row[2]), np.concatenate(row[:2]), dict(zip(model.inputs, row[3].tolist()))
            )
            if name in model.load_names:
                raise NumericalError(detail) from error
        raise


def motion_kernel(model: "Model", algorithm: Algorithm, tree: Tree | None = None) -> Kernel:
    """Return the kernel of an algorithm over a tree with forces; inertia is checked first.

    The tree is the loaded one, which has no contacts, unless another is given.
    """
    tree = model.loaded_tree if tree is None else tree
    if tree.loops and algorithm in (equations_of_motion.ALGORITHM, equations_of_motion.LOADED):
        raise LinkworkError(
            f"mechanism {model.name!r} has closed loops, and {algorithm.name!r} is for trees; "
            "take the algorithm that motion_algorithm gives"
        )
    return accelerating_kernel(model, algorithm, tree, "unrolled" if is_unrolled(model, tree) else model.form)


def is_unrolled(model: "Model", tree: Tree | None = None) -> bool:
    """Whether the motion is straight code for mechanisms of one build: there are few links and short laws."""
    tree = model.loaded_tree if tree is None else tree
    laws = sum(placed.formula.size for placed in tree.loads if placed.formula)
    straight = model.unrolls and model.form == "rolled" and tree.contacts is None
    return straight and len(tree.blocks) <= _FEW and laws <= _SHORT


def motion_algorithm(model: "Model", tree: Tree | None = None) -> Algorithm:
    """Return the algorithm of how the mechanism moves, to be run by `motion_kernel` on the same tree."""
    tree = model.loaded_tree if tree is None else tree
    if tree.loops:
        return equations_of_motion.LOOPED
    return equations_of_motion.LOADED if _has_loads(tree) else equations_of_motion.ALGORITHM


def rates_algorithm(model: "Model", tree: Tree | None = None) -> Algorithm:
    """Return the algorithm of dq/dt alone, through the same arrays."""
    tree = model.loaded_tree if tree is None else tree
    if tree.unknowns:
        return equations_of_motion.RATES_OF_UNKNOWNS
    loaded = tree.loops or _has_loads(tree)
    return equations_of_motion.LOADED_RATES if loaded else equations_of_motion.RATES


def _has_loads(tree: Tree) -> bool:
    return bool(tree.loads) or tree.contacts is not None


def changes_algorithm(model: "Model", tree: Tree) -> Algorithm:
    """Return the algorithm of what a change of all velocities' coordinates does to q, through the same."""
    return equations_of_motion.CHANGES_OF_UNKNOWNS if tree.unknowns else rates_algorithm(model, tree)


def loads(model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> tuple[Array, Array]:
    """Return what is applied: generalised forces (nv,) in all joints, and forces on bodies by row.

    The former are those of damping, friction, springs, stops and motors; the latter, (bodies, 6) or
    (bodies, 3), those of loads and compliant contacts, are in the frame that its joint has on the body,
    torque first.
    """
    return _loads(model, model.loaded_body_tree, q, v, t, inputs)


def free_loads(model: "Model", q: Array, v: Array, t: Any, inputs: Any) -> tuple[Array, Array]:
    """Return the same without friction of joints that sticks."""
    return _loads(model, model.smooth_body_tree, q, v, t, inputs)


def _loads(model: "Model", tree: Tree, q: Array, v: Array, t: Any, inputs: Any) -> tuple[Array, Array]:
    tau, external, drive, *_ = _applied(model, tree, q, v, t, inputs)
    if model.compliant_contacts is not None:
        external = _with_contacts(model, q, v, t, inputs)
    return tau + drive, external


def contact_forces(model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return the forces of compliant contacts on bodies, by row as `loads` gives them.

    Friction that holds is what it takes to hold, so these depend on all other forces.
    """
    _, external, *_ = _applied(model, model.loaded_body_tree, q, v, t, inputs)
    if model.compliant_contacts is None:
        return np.zeros_like(external)
    return _with_contacts(model, q, v, t, inputs) - external


def _with_contacts(model: "Model", q: Array, v: Array, t: Any, inputs: Any) -> Array:
    """Return all forces on bodies, those of compliant contacts included: what their motion leaves behind."""
    tree = model.touching_body_tree
    kernel = motion_kernel(model, motion_algorithm(model, tree), tree)
    place = [port.name for port in kernel.algorithm.given].index("external")
    given = moving(model, kernel, q, v, t, inputs)
    if given[0].ndim == 0:
        kernel(*given)
    else:
        for row in zip(*given, strict=True):
            kernel(*row)
    return given[place]


def load_values(model: "Model", name: str, q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return what a load shows: a motor its force, a spring its tension; (n,)."""
    first = 0
    for placed in model.loaded_body_tree.loads:
        if placed.name == name:
            return _applied(model, model.loaded_body_tree, q, v, t, inputs)[3][
                ..., first : first + placed.shown
            ]
        first += placed.outputs
    raise ValueError(f"load_values: {unknown('load', name, model.load_names)}")


def loop_drives(model: "Model", q: Array, v: Array, t: Any = 0.0, *, inputs: Any = None) -> Array:
    """Return what drives the loop joints: damping, friction, springs, stops and motors."""
    return _loop_drives(model, model.loaded_body_tree, q, v, t, inputs)


def free_loop_drives(model: "Model", q: Array, v: Array, t: Any, inputs: Any) -> Array:
    """Return the same without friction of joints that sticks."""
    return _loop_drives(model, model.smooth_body_tree, q, v, t, inputs)


def _loop_drives(model: "Model", tree: Tree, q: Array, v: Array, t: Any, inputs: Any) -> Array:
    *_, shown, forces = _applied(model, tree, q, v, t, inputs)
    first = 0
    for placed in tree.loads:
        first += placed.shown
        for k, (name, n) in enumerate(placed.across):
            forces[..., model.loop_slices[name][1].start + n] += shown[..., first + k]
        first += len(placed.across)
    return forces


def _applied(model: "Model", tree: Tree, q: Array, v: Array, t: Any, inputs: Any) -> tuple[Array, ...]:
    kernel = model.kernel_of(applied_forces.APPLIED, tree, "rolled")
    arrays = moving(model, kernel, q, v, t, inputs)
    return _applying(model, lambda: kernel(*arrays), *arrays)
