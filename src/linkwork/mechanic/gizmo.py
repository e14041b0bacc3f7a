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
        self._taken: tuple[Array, Array] | None = None  # how the handles were when they were taken
        self.handle: Any = None
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
            if self.handle is not None:
                self.handle.visible = False
            return
        pose, size = self._pose(), _SIZE * 2.0 * self._page.camera.radius
        if self.handle is None:
            self.handle = self._page.server.scene.add_transform_controls(
                "/gizmo", scale=size, line_width=3.0, depth_test=False
            )
            self.handle.on_update(self._held)
        if (
            not 0.7 < size / self.handle.scale < 1.4
        ):  # a page makes new handles, and forgets a hand on the old
            self.handle.scale = size
        self.handle.position, self.handle.wxyz = pose[:, 3], quaternions(pose[None, :, :3])[0]
        self.handle.visible = True

    def _pose(self) -> Array:
        editor = self._page.editor
        if self._is_joint:
            return editor.joint_pose(self._name)
        return pose_of(editor.body(self._name))

    async def _held(self, event: Any) -> None:
        """Move what is held as the handles were, when they are let go; until then only the handles move.

        The handles may be behind what they are on, by an edit that a page does not show yet: what counts is
        how far they were pulled and turned.
        """
        self._holding = event.phase != "end"
        if event.phase == "start":
            self._taken = self._shown()
        elif event.phase == "end" and self._taken is not None:
            (R, p), (R_taken, p_taken) = self._shown(), self._taken
            self._taken = None
            self._page.in_turn(self._released, self._name, p - p_taken, R @ R_taken.T)

    def _shown(self) -> tuple[Array, Array]:
        """Return how the handles are turned, and where they are."""
        return matrices(np.array(self.handle.wxyz, float)[None])[0], np.array(self.handle.position, float)

    def _released(self, name: str | None, way: Array, turn: Array) -> None:
        if name is not None and name == self._name:
            pose = self._pose()
            self.put(pose[:, 3] + way, turn @ pose[:, :3])

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
