"""Dynamics in the coordinates of the joints: accelerations, joint forces, the mass matrix."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Never

import numpy as np

from linkwork.dynamics import forward_dynamics as on_trees
from linkwork.dynamics import inverse_dynamics as newton_euler
from linkwork.dynamics import loop_closure
from linkwork.dynamics import mass_matrix as composite_bodies
from linkwork.dynamics import position_rates as rates
from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.external_forces import external_forces
from linkwork.dynamics.inertia_check import LARGEST, NOT_TINY, SHARES, check_inertia
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.loop_reference import dense_forward_dynamics
from linkwork.dynamics.native_program import Form
from linkwork.errors import ModelError, NumericalError, unknown
from linkwork.model import drive_forces, independent_coordinates
from linkwork.model.arguments import delivered, together
from linkwork.model.state import State
from linkwork.spelling import refuse
from linkwork.tree.tree import Tree

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray
Call = Callable[..., Any]
_MISSING: Any = None  # an argument that Python does not ask for, so that a misspelt one is named first


def forward_dynamics(
    model: "Model",
    q: Array | State = _MISSING,
    v: Array | None = None,
    tau: Array | None = None,
    *,
    forces: Any = None,
    solver: Literal["sparse", "svd"] = "sparse",
    out: Array | None = None,
    **unknown: Never,
) -> Array:
    """Return the accelerations (nv,) that joint forces tau (and forces on bodies) give.

    This is the rigid-body answer: damping, friction, springs and limits of joints are not in it, armature
    is. Closed loops stay closed: q and v are those of the spanning tree, and should close the loops. But
    drivers do not drive, and couplings do not couple, as with mimic joints in other libraries of robots:
    tau moves all joints. `motion` has all of these. With solver="svd" it is found the slow way, as a
    reference: by singular values of the dense equations.
    """
    if unknown:
        refuse(forward_dynamics, unknown)
    done = None
    if forces is None and solver == "sparse":
        result = np.empty(model.nv) if out is None else out
        done = model.forward_call(q, v, tau, result)
        if done is result:
            return result
    if isinstance(q, State):
        q, v, tau = _spread("forward_dynamics", q, v, tau, "tau")
        return forward_dynamics(model, q, v, tau, forces=forces, solver=solver, out=out)
    if solver != "sparse":
        return _by_singular_values(model, q, v, tau, forces, solver, out)
    if forces is not None:
        return _with_forces(model)(q, v, tau, external_forces(model.link_tree, forces), out=(out,))[0]
    return _forward_kernel(model).finish(done, (q, v, tau), out)


def _spread(what: str, state: State, v: Any, x: Any, word: str) -> tuple[Array, Array, Any]:
    """Return q, v and x of a call with a State and x, which stands in the place of v or in its own."""
    if (v is None) == (x is None):
        raise TypeError(f"{what}: a State has q and v; give it, and {word}")
    return state.q, state.v, v if x is None else x


def _forward_kernel(model: "Model") -> Kernel:
    """Return the kernel of forward dynamics: with closed loops, or without."""
    module = loop_closure if model.undriven_tree.loops else on_trees
    return accelerating_kernel(model, module.ALGORITHM, model.undriven_tree)


# Looking a kernel up takes as long as running one. So the calls made most are kept by the model, each a
# built-in function of exact arrays, the result last: it returns that, or what `Kernel.finish` goes on with.


def forward_call(model: "Model") -> Call:
    """The built-in function of forward dynamics: (q, v, tau, out)."""
    return _forward_kernel(model).call


def inverse_call(model: "Model") -> Call:
    """The built-in function of inverse dynamics: (q, v, a, out)."""
    return model.kernel_of(newton_euler.ALGORITHM).call


def mass_call(model: "Model") -> Call:
    """The built-in function of the mass matrix: (q, out)."""
    return model.kernel_of(composite_bodies.ALGORITHM).call


def _with_forces(model: "Model") -> Kernel:
    module = loop_closure if model.undriven_tree.loops else on_trees
    return accelerating_kernel(model, module.WITH_FORCES, model.undriven_tree)


def accelerating_kernel(
    model: "Model", algorithm: Algorithm, tree: Tree | None = None, form: Form | None = None
) -> Kernel:
    """Return a kernel that divides by inertia; ModelError names the joints that move none."""
    if model.inertia_fault:
        raise ModelError(model.inertia_fault)
    return model.kernel_of(algorithm, tree, form)


def inertia_fault(model: "Model") -> str:
    """What is wrong with the inertia of all that moves; empty if nothing is."""
    with suppress(NumericalError):
        (shares,) = model.kernel_of(SHARES, form="rolled")(model.q_drawn)
        if (shares > NOT_TINY).all():
            return ""
    if model.nv > LARGEST:
        return ""
    joints = [name for name, (_, part) in model.slices.items() for _ in range(part.start, part.stop)]
    elsewhere = model.q_drawn + 0.3 * np.sin(1.0 + np.arange(model.nq))  # anywhere
    try:
        check_inertia((mass_matrix(model, q) for q in (model.q_drawn, elsewhere)), joints)
    except ModelError as error:
        return str(error)
    return ""


def _by_singular_values(
    model: "Model", q: Any, v: Any, tau: Any, forces: Any, solver: str, out: Array | None
) -> Array:
    if solver != "svd":
        raise ValueError(f'forward_dynamics: solver {solver!r}; give "sparse" or "svd"')
    given = ("q", q, model.nq), ("v", v, model.nv), ("tau", tau, model.nv)
    (q, v, tau), batch = together(*((name, x, (size,)) for name, x, size in given))
    drive = tau - inverse_dynamics(model, q, v, np.zeros(v.shape), forces=forces)
    rows = model.undriven_rows
    M, J = mass_matrix(model, q), model.constraint_jacobian(q)[..., rows, :]
    right = model.kernel_of(loop_closure.BIAS)(q, v)[0][..., rows]
    found = np.empty(v.shape)
    for k in np.ndindex(batch):
        found[k] = dense_forward_dynamics(M[k], drive[k], J[k], right[k], model.weak_pivots[rows])
    return delivered("forward_dynamics", found, out)


def inverse_dynamics(
    model: "Model",
    q: Array | State = _MISSING,
    v: Array | None = None,
    a: Array | None = None,
    *,
    driven: Iterable[str] | None = None,
    forces: Any = None,
    out: Array | None = None,
    **unknown: Never,
) -> Array:
    """Return the joint forces (nv,) that accelerations a take.

    With closed loops: those in the joints of the spanning tree when the loop joints bear nothing. With
    `driven` joints, the forces in these alone, in the order of their names: the loops bear the rest. If
    several sets of forces do it, the one with the least sum of squares. v and a have to keep the loops
    closed, and the joints have to be able to produce a: else an error names the joints.
    """
    if unknown:
        refuse(inverse_dynamics, unknown)
    done = None
    if driven is None and forces is None:
        result = np.empty(model.nv) if out is None else out
        done = model.inverse_call(q, v, a, result)
        if done is result:
            return result
    if isinstance(q, State):
        q, v, a = _spread("inverse_dynamics", q, v, a, "a")
        return inverse_dynamics(model, q, v, a, driven=driven, forces=forces, out=out)
    if driven is not None:
        return drive_forces.drive_forces(model, q, v, a, driven, forces, out)
    if forces is not None:
        external = external_forces(model.link_tree, forces)
        return model.kernel_of(newton_euler.WITH_FORCES)(q, v, a, external, out=(out,))[0]
    return model.kernel_of(newton_euler.ALGORITHM).finish(done, (q, v, a), out)


def bias_forces(
    model: "Model", q: Array, v: Array, *, independent: Iterable[str] | None = None, out: Array | None = None
) -> Array:
    """Return the joint forces (nv,) at zero acceleration: gravity, Coriolis and centrifugal terms.

    With `independent` joints, those in these alone that keep their velocities constant; v is always that
    of the whole mechanism, see `velocity_map`.
    """
    if independent is not None:
        return independent_coordinates.bias_forces(model, q, v, independent, out)
    return model.kernel_of(newton_euler.BIAS)(q, v, out=(out,))[0]


def gravity_forces(
    model: "Model", q: Array, *, independent: Iterable[str] | None = None, out: Array | None = None
) -> Array:
    """Return the joint forces (nv,) that hold the mechanism at rest; or those in `independent` joints."""
    if independent is not None:
        return independent_coordinates.gravity_forces(model, q, independent, out)
    return model.kernel_of(newton_euler.GRAVITY)(q, out=(out,))[0]


def mass_matrix(
    model: "Model",
    q: Array | State = _MISSING,
    *,
    independent: Iterable[str] | None = None,
    out: Array | None = None,
    **unknown: Never,
) -> Array:
    """Return the mass matrix (nv, nv), armature included; with closed loops, of the spanning tree.

    With `independent` joints, that of the closed mechanism in these alone, in the order of their names.
    """
    if unknown:
        refuse(mass_matrix, unknown)
    done = None
    if independent is None:
        result = np.empty((model.nv, model.nv)) if out is None else out
        done = model.mass_call(q, result)
        if done is result:
            return result
    if isinstance(q, State):
        return mass_matrix(model, q.q, independent=independent, out=out)
    if independent is not None:
        return independent_coordinates.mass_matrix(model, q, independent, out)
    return model.kernel_of(composite_bodies.ALGORITHM).finish(done, (q,), out)


def position_rates(model: "Model", q: Array, v: Array, *, out: Array | None = None) -> Array:
    """Return dq/dt (nq,) at velocities v.

    They differ where there are quaternions, free bodies or constraints' own unknowns.
    """
    algorithm = rates.WITH_UNKNOWNS if model.link_tree.unknowns else rates.ALGORITHM
    return model.kernel_of(algorithm)(q, v, out=(out,))[0]


def kernel(model: "Model", name: str) -> Kernel:
    """Return the kernel of forward_dynamics, inverse_dynamics or mass_matrix, for compiled loops."""
    made: dict[str, Callable[[], Kernel]] = {
        "forward_dynamics": lambda: _forward_kernel(model),
        "inverse_dynamics": lambda: model.kernel_of(newton_euler.ALGORITHM),
        "mass_matrix": lambda: model.kernel_of(composite_bodies.ALGORITHM),
    }
    if name not in made:
        raise ValueError(f"kernel: {unknown('algorithm', name, made)}")
    return made[name]()
