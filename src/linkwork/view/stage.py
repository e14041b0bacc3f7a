"""The bodies and joints on the page. Pieces of equal triangles are a batch: two messages move all of them."""

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.view.body_appearance import Looks
from linkwork.view.camera import Camera
from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import Piece
from linkwork.view.ground_plane import GroundPlane, ground_plane
from linkwork.view.moving_batch import move_batch
from linkwork.view.piece_batch import Batch, places_of
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.quaternion import quaternions
from linkwork.view.tessellate import Shell

Array = np.ndarray
_SUNK = 3.0  # how far a grid goes down with what is above it, in sizes of the mechanism
_CLEAR = 0.35  # opacity of bodies that are seen through
Picked = Callable[[str, Array], None]  # name of a body or joint, and where it was hit in the world


_BODIES, _JOINTS = "/bodies", "/joints"  # folders of the page


class Stage:
    """A drawing on a server's page; it can be followed by the drawing of the edited mechanism."""

    def __init__(self, server: Any, drawing: Drawing, camera: Camera) -> None:
        self._server = server
        self._batches: dict[tuple[str, Hashable], Batch] = {}  # by folder and triangles
        self._made = {_BODIES: 0, _JOINTS: 0}  # batches so far: each has a name of its own on the page
        self._watch: list[Callable[[Batch], None]] = []  # what is set on every batch, also on later ones
        server.scene.set_up_direction(tuple(drawing.up.tolist()))
        server.scene.configure_environment_map(None)
        server.scene.configure_default_lights(enabled=False)
        self.light(drawing, camera)
        self.lay_floor(drawing, camera)
        self.follow(drawing)

    def light(self, drawing: Drawing, camera: Camera) -> None:
        """Light a mechanism in space from above and from the viewer; one in the plane evenly, as on paper.

        Light of pi in all shows a colour as it is. A page puts out lights of 1 and 0.4: they are viser's own.
        """
        self._flat = drawing.space == "plane"
        scene, from_viewer = self._server.scene, camera.view().position - camera.center
        from_viewer /= np.linalg.norm(from_viewer)
        right = np.cross(drawing.up, from_viewer)
        above = drawing.up + 0.4 * from_viewer - 0.35 * right
        far = 200.0 * camera.radius  # so far that it does not matter where
        ambient, direct, key = (np.pi, 0.0, 0.0) if self._flat else (1.25, 0.7, 1.9)
        scene.add_light_ambient("/lights/ambient", intensity=ambient)
        for name, intensity, way in (("viewer", direct, from_viewer), ("key", key, above)):
            place = tuple((camera.center + far * way).tolist())
            self._key = scene.add_light_directional(f"/lights/{name}", intensity=intensity, position=place)
        self.show_shadows(not self._flat)

    def lay_floor(self, drawing: Drawing, camera: Camera, dark: bool = False) -> None:
        """Lay a grid under the mechanism, or behind it in the plane."""
        self._laid = _key(ground_plane(drawing)), camera, dark
        self._low = self._lowest = camera.lowest(drawing.up)
        _floor(self._server, drawing, camera, dark, self._lowest)

    def sink_floor(self, passed: Array) -> None:
        """Lay the grid lower, if bodies (1, B, 3, 4) of a mechanism without ground are below it now.

        What falls without end leaves it behind.
        """
        drawing, (key, camera, dark) = self.drawing, self._laid
        if self._flat or key is not None:
            return
        low = Camera(drawing, passed).lowest(drawing.up)
        if self._low - _SUNK * drawing.size < low < self._lowest - 1e-3 * drawing.size:
            self._lowest = low - 0.1 * drawing.size
            _floor(self._server, drawing, camera, dark, self._lowest)

    def follow(self, drawing: Drawing) -> None:
        """Show another drawing: what is the same by name stays on the page, only what changed is sent."""
        self.drawing = drawing
        self.numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}
        groups: dict[tuple[str, Hashable], list[Piece]] = {}
        laid = ground_plane(drawing)
        if _key(laid) != self._laid[0]:
            self.lay_floor(drawing, *self._laid[1:])
        for folder, pieces in ((_BODIES, drawing.pieces), (_JOINTS, drawing.glyphs)):
            for piece in pieces:
                if laid is None or piece is not laid.piece:  # that is the floor
                    groups.setdefault((folder, piece.shell.key), []).append(piece)
        for key in [key for key in self._batches if key not in groups]:
            self._batches.pop(key).handle.remove()
        for key, pieces in groups.items():
            batch = self._batches.get(key)
            if batch is not None and batch.is_of(pieces):
                batch.pieces = pieces
                continue
            if batch is not None:
                batch.handle.remove()
            self._batches[key] = self._batch(key[0], pieces)
        ordered = [self._batches[key] for key in groups]
        self._places = places_of([piece for batch in ordered for piece in batch.pieces], self.numbers)
        ends = np.cumsum([0, *(len(batch.pieces) for batch in ordered)]).tolist()
        self._parts = [(batch, slice(*pair)) for batch, pair in zip(ordered, pairwise(ends), strict=True)]

    def _batch(self, folder: str, pieces: Sequence[Piece]) -> Batch:
        name = f"{folder}/{_word(pieces[0].shell)}{self._made[folder]}"
        self._made[folder] += 1
        batch = Batch(self._server, name, pieces, self.numbers)
        for watch in self._watch:
            watch(batch)
        return batch

    def _each(self, watch: Callable[[Batch], None]) -> None:
        """Do something to all batches, and to those that are still to come."""
        self._watch.append(watch)
        for batch in self._batches.values():
            watch(batch)

    @property
    def bodies(self) -> list[Batch]:
        """The batches of bodies."""
        return [batch for (folder, _), batch in self._batches.items() if folder == _BODIES]

    @property
    def joints(self) -> list[Batch]:
        """The batches of joints."""
        return [batch for (folder, _), batch in self._batches.items() if folder == _JOINTS]

    def place(self, poses: WorldPoses) -> None:
        """Move everything to where it is."""
        positions, rotations = self._places.positions(poses), self._places.rotations(poses)
        for batch, part in self._parts:
            move_batch(batch.handle, positions[part], rotations[part])

    def dress(self, looks: Looks) -> None:
        """Show bodies and joints as they are to be seen: selected, hidden, clear, coloured."""
        for batch in (*self.bodies, *self.joints):
            batch.dress(looks)

    def show_through(self, clear: bool) -> None:
        """Let bodies be seen through, so that forces inside them are seen."""
        for batch in self.bodies:
            batch.handle.opacity = _CLEAR if clear else None

    def show_joints(self, visible: bool) -> None:
        for batch in self.joints:
            batch.handle.visible = visible

    def show_shadows(self, visible: bool) -> None:
        """Cast shadows, in space: they cost a browser without a graphics card most of its time."""
        self._key.cast_shadow = visible and not self._flat

    def on_click(self, picked: Picked, hit: Callable[[str, Any, Any], Array]) -> None:
        """Report which body or joint is clicked, and where; `hit` finds the place on a ray."""

        def watch(batch: Batch) -> None:
            def clicked(event: Any) -> None:
                piece = batch.pieces[event.instance_index or 0]
                picked(piece.name, hit(piece.name, event.ray_origin, event.ray_direction))

            batch.handle.on_click(clicked)

        self._each(watch)

    def on_drag(self, dragged: Callable[[str, Any], None]) -> None:
        """Report which body is dragged, with viser's event."""

        def watch(batch: Batch) -> None:
            async def moved(event: Any) -> None:
                dragged(batch.pieces[event.instance_index or 0].body, event)

            if batch.folder == _BODIES:
                batch.handle.on_drag("left")(moved)

        self._each(watch)


def _word(shell: Shell) -> str:
    key = (
        shell.key if isinstance(shell.key, str) else shell.key[0] if isinstance(shell.key, tuple) else "mesh"
    )
    return key if isinstance(key, str) else "mesh"


def _key(laid: GroundPlane | None) -> tuple[float, ...] | None:
    """Return what tells planes from each other."""
    return None if laid is None else (*laid.normal.tolist(), laid.height)


def _lie_of_floor(drawing: Drawing, camera: Camera, cell: float, lowest: float) -> tuple[Array, Array]:
    """Return how the floor is turned (3, 3) and where it is: on the plane of ground, else below everything.

    In the plane it is the paper, behind everything. Lines of the grid go through the origin.
    """
    laid = ground_plane(drawing)
    if laid is not None:
        normal, low = laid.normal, laid.height
    else:
        normal = np.array([0.0, 0.0, 1.0]) if drawing.space == "plane" else drawing.up
        flat = drawing.space == "plane"
        low = (camera.lowest(normal) if flat else lowest) - (0.02 if flat else 0.004) * drawing.size
    x = (
        np.eye(3)[int(np.abs(normal).argmin())]
        if np.abs(normal).max() > 0.999
        else np.cross(drawing.up, normal)
    )
    x = x - (x @ normal) * normal
    x /= np.linalg.norm(x)
    turn = np.column_stack([x, np.cross(normal, x), normal])
    on_grid = cell * np.round(camera.center @ turn[:, :2] / cell)
    return turn, turn[:, :2] @ on_grid + low * normal


FLOOR = "/floor"  # its node on pages
FLOOR_COLOURS: dict[bool, dict[str, Any]] = {  # of pages that are dark, and of others
    True: {"cell_color": (52, 55, 60), "section_color": (74, 78, 86), "plane_color": (38, 41, 46)},
    False: {"cell_color": (228, 231, 235), "section_color": (204, 208, 214), "plane_color": (240, 242, 245)},
}


def _floor(server: Any, drawing: Drawing, camera: Camera, dark: bool, lowest: float) -> None:
    """Lay a grid on the ground, under the mechanism, or behind it in the plane."""
    cell = 10.0 ** np.floor(np.log10(0.25 * drawing.size))
    cell *= max(factor for factor in (1.0, 2.0, 5.0) if factor * cell <= 0.25 * drawing.size)
    solid = ground_plane(drawing) is not None
    size = max(drawing.size, cell)
    width = 2.0 * cell * np.ceil((20.0 if solid else 4.0) * size / cell)
    turn, place = _lie_of_floor(drawing, camera, cell, lowest)
    # Paper has lines everywhere; a floor fades before they are too close to be seen as lines.
    away = float(np.linalg.norm(place))
    near = away < size  # else it fades with the distance from the viewer, as pages cannot do from elsewhere
    beyond = (away if near else 2.5 * size) + (0.3 if solid else 0.5) * width
    fade = 6.0 * width if drawing.space == "plane" else beyond
    server.scene.add_grid(
        FLOOR,
        width=float(width),
        height=float(width),
        plane="xy",
        wxyz=quaternions(turn[None])[0],
        position=tuple(place.tolist()),
        cell_size=float(cell / 5.0),
        section_size=float(cell),
        **FLOOR_COLOURS[dark],
        cell_thickness=0.6,
        section_thickness=1.0,
        shadow_opacity=0.3 if solid else 0.18,
        plane_opacity=1.0 if solid else 0.0,
        fade_distance=float(fade),
        fade_from="origin" if near else "camera",
    )
