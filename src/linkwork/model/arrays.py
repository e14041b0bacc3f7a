"""The arrays of a model, and the kernels made of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.kernel import Kernel, check_out, real_array
from linkwork.dynamics.native_program import Form
from linkwork.lazy import lazy
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.tree.topology import Topology
from linkwork.tree.tree import Tree, grow

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class ModelArrays:
    """What is known of a mechanism as numbers; immutable."""

    name: str
    space: str  # "space" or "plane"
    gravity: Array  # (3,) or (2,) [m/s^2]
    nq: int  # numbers of a position
    nv: int  # numbers of a velocity
    body_names: tuple[str, ...]  # parents before children, without ground
    joint_names: tuple[str, ...]  # joint k carries body k
    parents: Array  # (bodies,) number of the body that carries body k, -1 for ground
    masses: Array  # (bodies,) [kg]
    centers: Array  # (bodies, 3) or (bodies, 2) centre of mass in the body's frame [m]
    inertias: Array  # (bodies, 3, 3) or (bodies,) tensor about the centre of mass, body axes [kg m^2]
    slices: Mapping[str, tuple[slice, slice]]  # joint -> (slice in q, slice in v)
    q_drawn: Array  # (nq,) positions as drawn [rad, m, quaternions]
    limits: Array  # (nv, 2) lower, upper; infinite where there is none [rad, m]
    damping: Array  # (nv,) force per velocity [N m s/rad, N s/m]
    friction: Array  # (nv,) dry friction [N m, N]
    stiffness: Array  # (nv,) spring of the joint [N m/rad, N/m]
    rest: Array  # (nv,) where that spring rests [rad, m]
    armature: Array  # (nv,) inertia of the drive [kg m^2, kg]
    quaternions: Array  # (k,) number of the first of four positions that are a quaternion
    couplings: Mapping[str, Coupling]  # by name
    _mechanism: Mechanism
    _graph: Topology
    _links: Tree  # welded bodies as one link
    _form: Form
    _kernels: dict[tuple[int, tuple[int, ...] | None], Kernel] = field(default_factory=dict, init=False)
    _settings: dict[Any, Any] = field(default_factory=dict, init=False)  # of runs, kept by `simulate`

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism as it was when compiled; not to be changed."""
        return self._mechanism

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints by name, as described."""
        return MappingProxyType(self._mechanism.joints)

    @lazy
    def _bodies(self) -> Tree:
        """The tree with one link per body, for poses and reactions."""
        return grow(self._mechanism, self._graph.branches, weld=False, like=self._links)

    def _kernel(
        self,
        algorithm: Algorithm,
        tree: Tree | None = None,
        path: tuple[int, ...] | None = None,
        form: Form | None = None,
    ) -> Kernel:
        kernel = self._kernels.get((id(algorithm), path))
        if kernel is None:
            if tree is None:
                tree = self._links if algorithm.tree == "links" else self._bodies
            kernel = self._kernels.setdefault(
                (id(algorithm), path), Kernel(algorithm, tree, form or self._form, path)
            )
        return kernel


def together(*arguments: tuple[str, Any, tuple[int, ...]]) -> tuple[list[Array], tuple[int, ...]]:
    """Return arrays of one batch, what is not batched repeated, and the batch's shape."""
    arrays = [real_array(name, x) for name, x, _ in arguments]
    extra = [a.shape[: a.ndim - len(shape)] for a, (_, _, shape) in zip(arrays, arguments, strict=True)]
    batch = max(extra, key=len)
    if any(own not in ((), batch) for own in extra):
        named = zip((name for name, _, _ in arguments), arrays, strict=True)
        sizes = ", ".join(f"{name} has shape {array.shape}" for name, array in named)
        raise ValueError(f"batches of different sizes: {sizes}")
    return [
        a if own == batch else np.broadcast_to(a, (*batch, *a.shape)).copy()
        for a, own in zip(arrays, extra, strict=True)
    ], batch


def delivered(name: str, value: Array, out: Array | None) -> Any:
    """Return a value in `out`, or as a fresh array, or as a float if it is one number."""
    if out is None:
        return float(value) if np.ndim(value) == 0 else np.ascontiguousarray(value)
    check_out(name, out, np.shape(value))
    out[...] = value
    return out
