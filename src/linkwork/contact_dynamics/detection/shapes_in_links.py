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
    bodies = {name: k for k, name in enumerate(dict.fromkeys(world.owners))}
    frames = [tree.body_frames[name].scalars() for name in bodies]
    placed = lifted(np.array(frames, float).reshape(-1, *shape))
    on_link = placed[[bodies[name] for name in world.owners]]
    found = on_link[:, :, :3] @ world.local
    found[:, :, 3] += on_link[:, :, 3]
    return found
