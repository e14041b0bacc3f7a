"""Where shapes are in the frames of links: joints place bodies, wherever these are drawn."""

from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact.world_arrays import WorldArrays
from linkwork.mechanism.placement import lifted

if TYPE_CHECKING:
    from linkwork.tree.tree import Tree

Array = np.ndarray


def shapes_in_links(tree: "Tree", world: WorldArrays) -> Array:
    """Return the poses of shapes in their links (n, 3, 4)."""
    shape = (3, 4) if tree.algebra.freedoms == 6 else (2, 3)
    known: dict[str, Array] = {}
    for name in set(world.owners):
        known[name] = lifted(np.array(tree.body_frames[name].scalars(), float).reshape(shape))
    on_link = np.array([known[name] for name in world.owners]).reshape(-1, 3, 4)
    found = on_link[:, :, :3] @ world.local
    found[:, :, 3] += on_link[:, :, 3]
    return found
