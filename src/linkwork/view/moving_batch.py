"""Batches of meshes: the same triangles at many places, which are moved by one message each.

viser's own setters take a message for positions and another for rotations, and look up the types of both:
three times the work. What is sent is the same message that they send, with two entries.

A page takes the colours of batches and arrows for amounts of light, not for what is seen: they are sent as
amounts (sRGB decoded), or all would look washed out.
"""

from typing import Any

import numpy as np

from linkwork.view.picture_scene import Node, PictureScene

Array = np.ndarray


def add_batch(
    scene: Any,
    name: str,
    surface: tuple[Array, Array],
    colours: Any,
    scales: Array,
    *,
    opacities: Array | None = None,
    side: str = "front",
    cast_shadow: bool = False,
    receive_shadow: bool = False,
) -> Any:
    """Put N pieces into a scene, stretched by scales (N, 3), in one colour or in N."""
    vertices, faces = surface
    return scene.add_batched_meshes_simple(
        name,
        vertices.astype(np.float32),
        faces.astype(np.uint32),
        batched_wxyzs=np.tile(np.array([1, 0, 0, 0], np.float32), (len(scales), 1)),
        batched_positions=np.zeros((len(scales), 3), np.float32),
        batched_scales=scales.astype(np.float32),
        batched_colors=scene_colours(scene, colours),
        batched_opacities=opacities,
        lod="off",
        side=side,
        cast_shadow=cast_shadow,
        receive_shadow=receive_shadow,
    )


def paint_batch(handle: Any, colours: Array) -> None:
    """Give the pieces of a batch other colours (N, 3)."""
    in_picture = isinstance(handle, Node)
    handle.batched_colors = colours if in_picture else amounts_of_light(colours)


def scene_colours(scene: Any, colours: Any) -> Any:
    """Return colours as a scene takes them for batches and arrows."""
    return colours if isinstance(scene, PictureScene) else amounts_of_light(colours)


def amounts_of_light(colours: Any) -> Array:
    """Return the amounts of light, 0 to 255, that are seen as colours of sRGB (IEC 61966-2-1)."""
    seen = np.asarray(colours, float) / 255.0
    amounts = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * amounts).astype(np.uint8)


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
