"""Batches of meshes are moved by one message each.

viser's own setters take a message for positions and another for rotations, and look up the types of both:
three times the work. What is sent is the same message that they send, with two entries.
"""

from typing import Any

import numpy as np

from linkwork.view.picture_scene import Node

Array = np.ndarray


def move_batch(handle: Any, positions: Array, rotations: Array, scales: Array | None = None) -> None:
    """Move the pieces of a batch to positions (N, 3) and quaternions (N, 4), stretched by scales (N, 3)."""
    values = {
        "batched_positions": positions.astype(np.float32),
        "batched_wxyzs": rotations.astype(np.float32),
    }
    if scales is not None:
        values["batched_scales"] = scales.astype(np.float32)
    if isinstance(handle, Node):
        vars(handle).update(values)
        return
    from viser._messages import SceneNodeUpdateMessage

    state = handle._impl
    for word, value in values.items():
        setattr(state.props, word, value)
    state.api._queue_scene_message(SceneNodeUpdateMessage(state.name, values))
