"""Forces on bodies, given by name, as the array of forces on links that the algorithms take."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.errors import unknown
from linkwork.real_numbers import real_array
from linkwork.tree.tree import Tree

Array = np.ndarray


def external_forces(tree: Tree, forces: Any) -> Array:
    """Return (links, freedoms), or (N, links, freedoms): each force seen from its link's frame.

    `forces` maps body names to forces in the body's frame, torque first, about its origin.
    """
    checked = _checked(tree, forces)
    n = tree.algebra.freedoms
    batch = next((array.shape[:-1] for array in checked.values() if array.ndim > 1), ())
    total = np.zeros((*batch, len(tree.blocks), n))
    for name, array in checked.items():
        number = tree.body_links[name]
        if number:  # what pushes a body on ground moves nothing
            force = tree.algebra.Force.from_scalars([array[..., k] for k in range(n)])
            total[..., number - 1, :] += np.asarray(tree.body_frames[name] @ force)
    return total


def _checked(tree: Tree, forces: Any) -> dict[str, Array]:
    if not isinstance(forces, Mapping):
        raise ValueError(f"forces is of type {type(forces).__name__}; give forces by names of bodies")
    n = tree.algebra.freedoms
    checked = {}
    for name, force in forces.items():
        if name not in tree.body_links:
            raise ValueError(f"forces: {unknown('body', name, tree.body_links)}")
        array = real_array(f"forces: body {name!r}", force)
        if array.shape[-1:] != (n,) or array.ndim > 2 or not np.isfinite(array).all():
            raise ValueError(
                f"forces: body {name!r} has {force!r}; give {n} finite numbers, torque first, or (N, {n})"
            )
        checked[name] = array
    if len({array.shape for array in checked.values() if array.ndim > 1}) > 1:
        sizes = ", ".join(f"{name!r} has {array.shape}" for name, array in checked.items())
        raise ValueError(f"forces: batches of different sizes: {sizes}")
    return checked
