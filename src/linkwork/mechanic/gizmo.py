"""The gizmo: handles that put a joint or a body somewhere else; near a place of a part it snaps there."""

from typing import Any

import numpy as np

from linkwork.mechanic.bodies import pose_of
from linkwork.mechanic.snapping import Feature, frame_along, nearest, on_angles, on_grid
from linkwork.view.quaternion import matrices, quaternions

Array = np.ndarray

_SIZE = 0.16  # of the mechanism's
_REACH = 0.03  # within which a place attracts, of the mechanism's size
_ALIGNED = np.cos(np.radians(30.0))  # an axis nearer than this to that of a place becomes the same


class Gizmo:
    """Handles on what is selected, as the page has them."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._name: str | None = None
        self._is_joint = self._holding = False
        self._handle: Any = None
        self.snap, self.grid, self.angles = True, 0.0, False
        self.moves_bodies = False
        self.snapped: Feature | None = None

    def follow(self, name: str | None) -> None:
        """Show the handles on a joint, or on a body if these are to be moved; nowhere otherwise."""
        if self._holding and name == self._name:
            return
        editor = self._page.editor
        self._is_joint = name in editor.mechanism.joints
        shown = self._page.engine is None and (
            self._is_joint or (self.moves_bodies and name in editor.mechanism.bodies)
        )
        self._name = name if shown else None
        if not shown:
            if self._handle is not None:
                self._handle.visible = False
            return
        pose = self._pose()
        if self._handle is None:
            self._handle = self._page.server.scene.add_transform_controls(
                "/gizmo", scale=_SIZE * self._page.camera.radius * 2.0, line_width=3.0, depth_test=False
            )
            self._handle.on_update(self._held)
        self._handle.scale = _SIZE * self._page.camera.radius * 2.0
        self._handle.position, self._handle.wxyz = pose[:, 3], quaternions(pose[None, :, :3])[0]
        self._handle.visible = True

    def _pose(self) -> Array:
        editor = self._page.editor
        if self._is_joint:
            return editor.joint_pose(self._name)
        return pose_of(editor.body(self._name))

    async def _held(self, event: Any) -> None:
        """Put what is held where it is let go, or where that snaps to; until then only the handles move."""
        self._holding = event.phase != "end"
        if event.phase == "end":
            self._page.server.in_background(self._released)

    def _released(self) -> None:
        if self._name is None:
            return
        position = np.array(self._handle.position, float)
        rotation = matrices(np.array(self._handle.wxyz, float)[None])[0]
        self.put(position, rotation)

    def put(self, position: Array, rotation: Array) -> None:
        """Put the joint or body that is held to a place, or where that snaps to."""
        name, page = self._name, self._page
        if name is None:
            return
        place, turn = self.snapped_pose(position, rotation)
        if self._is_joint:
            page.try_edit(page.editor.place_joint, name, place, turn)
        else:
            page.try_edit(page.editor.place, name, place, turn)
        self.follow(name)

    def snapped_pose(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Return where something is put that was let go somewhere: at a place of a part, on the grid."""
        self.snapped = None
        if self.angles:
            rotation = on_angles(rotation)
        if self.snap and self._is_joint:
            joint, editor = self._page.editor.joint(self._name), self._page.editor
            places = [
                place
                for body in joint.bodies
                if body.name != "ground"
                for place in editor.features(body.name)
            ]
            found = nearest(places, position, _REACH * 2.0 * self._page.camera.radius)
            if found is not None:
                self.snapped = found
                axis = found.axis if found.axis @ rotation[:, 2] >= 0.0 else -found.axis
                if axis @ rotation[:, 2] > _ALIGNED:
                    rotation = frame_along(axis, rotation)
                return found.point, rotation
        if self.grid > 0.0:
            position = on_grid(position, self.grid)
        return position, rotation
