"""Forces that balance each other through a closed mechanism, since some equations follow from others."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics import reactions
from linkwork.dynamics.null_space import RANK
from linkwork.model.reaction_forces import row_pushes, row_wrenches

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def idle_forces(model: "Model", q: Array, idle: Array) -> Array:
    """Return the reactions of all joints to idle forces of the equations: (idle forces, joints, 6 or 3).

    `idle` (rows, idle forces) are without units; forces come times a length, see `scale`.
    """
    count = idle.shape[1]
    if not count:
        return np.zeros((0, len(_joints(model)), model.link_tree.algebra.freedoms))
    rows, many = (idle * model.loop_scales.weights[:, None]).T, np.tile(q, (count, 1))
    external, wrenches = row_pushes(model, many, rows), row_wrenches(model, many, rows).array
    still = np.zeros((count, model.nv))
    kernel = model.kernel_of(reactions.ALGORITHM)
    loaded, unloaded = (kernel(many, still, still, force)[0] for force in (external, 0.0 * external))
    return np.concatenate([loaded - unloaded, wrenches], axis=1) * scale(model)


def scale(model: "Model") -> Array:
    """Return what makes a force comparable with a torque: the length of the longest loop, (6,) or (3,)."""
    algebra = model.link_tree.algebra
    length = max(model.loop_scales.lengths.values(), default=1.0)
    return np.where(np.arange(algebra.freedoms) < algebra.angular, 1.0, length)


def ranks(model: "Model", idle: Array) -> dict[str, int]:
    """Return how many independent idle forces go through each joint."""
    found = {}
    for k, name in enumerate(_joints(model)):
        sizes = np.linalg.svd(idle[:, k], compute_uv=False) if len(idle) else np.zeros(1)
        if count := int((sizes > RANK).sum()):
            found[name] = count
    return found


def components(model: "Model", idle: Array) -> dict[str, tuple[str, ...]]:
    """Return the components of each joint's reaction that idle forces change."""
    largest: Any = np.abs(idle).max(axis=0, initial=0.0)
    words = component_names(model)
    found = {
        name: tuple(word for word, size in zip(words, largest[k], strict=True) if size > RANK)
        for k, name in enumerate(_joints(model))
    }
    return {name: changed for name, changed in found.items() if changed}


def component_names(model: "Model") -> tuple[str, ...]:
    """Return what the numbers of a reaction are called."""
    if model.space == "plane":
        return ("torque", "force x", "force y")
    return tuple(f"{what} {axis}" for what in ("torque", "force") for axis in "xyz")


def _joints(model: "Model") -> tuple[str, ...]:
    return (*model.joint_names, *model.loop_names)
