"""The bodies and joints on the page. Pieces of equal triangles are a batch: two messages move all of them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.view.camera import Camera
from linkwork.view.drawing import Drawing, Piece
from linkwork.view.looks import Looks
from linkwork.view.moving_batch import move_batch
from linkwork.view.piece_poses import Places, WorldPoses
from linkwork.view.tessellate import Shell

Array = np.ndarray
_CLEAR = 0.35  # opacity of bodies that are seen through
Picked = Callable[[str, Array], None]  # name of a body or joint, and where it was hit in the world


_BODIES, _JOINTS = "/bodies", "/joints"  # folders of the page


def _looks(piece: Piece) -> tuple[Any, ...]:
    """Return what a page shows of a piece beside its triangles and its place."""
    return piece.name, piece.shell.scale, piece.colour, piece.opacity


def places_of(pieces: Sequence[Piece], numbers: Mapping[str, int]) -> Places:
    """Return where pieces are on the bodies of these numbers."""
    return Places(
        [numbers[piece.body] for piece in pieces], np.array([p.pose for p in pieces]).reshape(-1, 3, 4)
    )


class Batch:
    """Pieces of equal triangles."""

    def __init__(
        self,
        server: Any,
        name: str,
        pieces: Sequence[Piece],
        numbers: Mapping[str, int],
        shadows: bool = True,
    ) -> None:
        self.folder = name.rpartition("/")[0]
        self.pieces = pieces
        self._stretched = self._cleared = False  # whether looks differ from the pieces' own
        self._places = places_of(pieces, numbers)
        self._colours = np.array([piece.colour for piece in pieces], np.uint8)
        shape = pieces[0].shell
        self._opacities = np.array([piece.opacity for piece in pieces], np.float32)
        clear = bool((self._opacities < 1.0).any())
        self.handle = server.scene.add_batched_meshes_simple(
            name,
            shape.vertices.astype(np.float32),
            shape.faces.astype(np.uint32),
            batched_wxyzs=np.tile(np.array([1, 0, 0, 0], np.float32), (len(pieces), 1)),
            batched_positions=np.zeros((len(pieces), 3), np.float32),
            batched_scales=np.array([piece.shell.scale for piece in pieces], np.float32),
            batched_colors=self._colours,
            batched_opacities=self._opacities if clear else None,
            lod="off",
            side="front" if shape.convex else "double",
            cast_shadow=shadows,
            receive_shadow=False,  # in software they are striped
        )

    def place(self, poses: WorldPoses) -> None:
        move_batch(self.handle, self._places.positions(poses), self._places.rotations(poses))

    def is_of(self, pieces: Sequence[Piece]) -> bool:
        """Whether these pieces look as those that are shown; where they are may differ."""
        return [_looks(piece) for piece in self.pieces] == [_looks(piece) for piece in pieces]

    def dress(self, looks: Looks) -> None:
        """Show the pieces as they are to be seen."""
        names, bodies = [piece.name for piece in self.pieces], [piece.body for piece in self.pieces]
        self.handle.batched_colors = looks.colouring(names, self._colours)
        scales = np.array([piece.shell.scale for piece in self.pieces], np.float32)
        if looks.hidden or self._stretched:
            self.handle.batched_scales = looks.scales(bodies, scales)
            self._stretched = bool(looks.hidden)
        if looks.opacities or self._cleared:
            clear = looks.clearness(names, self._opacities)
            self.handle.batched_opacities = np.ones(len(names), np.float32) if clear is None else clear
            self._cleared = bool(looks.opacities)


class Stage:
    """A drawing on a server's page; it can be followed by the drawing of the edited mechanism."""

    def __init__(self, server: Any, drawing: Drawing, camera: Camera) -> None:
        self._server = server
        self._batches: dict[tuple[str, Hashable], Batch] = {}  # by folder and triangles
        self._made = {_BODIES: 0, _JOINTS: 0}  # batches so far: each has a name of its own on the page
        self._watch: list[Callable[[Batch], None]] = []  # what is set on every batch, also on later ones
        server.scene.set_up_direction(tuple(drawing.up.tolist()))
        server.scene.configure_environment_map(None)
        self.light(drawing, camera)
        self.lay_floor(drawing, camera)
        self.follow(drawing)

    def light(self, drawing: Drawing, camera: Camera) -> None:
        """Light a mechanism in space from above and from the viewer; one in the plane evenly, as on paper."""
        self._flat = drawing.space == "plane"
        ambient, direct = (1.35, 0.2) if self._flat else (0.8, 0.5)  # colours look as in the tree
        self._server.scene.add_light_ambient("/lights/ambient", intensity=ambient)
        from_viewer = camera.view().position - camera.center
        place = tuple((camera.center + 100.0 * from_viewer).tolist())  # so far that it does not matter where
        self._server.scene.add_light_directional("/lights/viewer", intensity=direct, position=place)
        self.show_shadows(not self._flat)

    def lay_floor(self, drawing: Drawing, camera: Camera, dark: bool = False) -> None:
        """Lay a grid under the mechanism, or behind it in the plane."""
        _floor(self._server, drawing, camera, dark)

    def follow(self, drawing: Drawing) -> None:
        """Show another drawing: what is the same by name stays on the page, only what changed is sent."""
        self.drawing = drawing
        self.numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}
        groups: dict[tuple[str, Hashable], list[Piece]] = {}
        for folder, pieces in ((_BODIES, drawing.pieces), (_JOINTS, drawing.glyphs)):
            for piece in pieces:
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
        self._server.scene.configure_default_lights(enabled=not self._flat, cast_shadow=visible)

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


def _floor(server: Any, drawing: Drawing, camera: Camera, dark: bool) -> None:
    """Lay a grid under the mechanism, or behind it in the plane."""
    cell = 10.0 ** np.floor(np.log10(0.25 * drawing.size))
    cell *= max(factor for factor in (1.0, 2.0, 5.0) if factor * cell <= 0.25 * drawing.size)
    width = 8.0 * max(drawing.size, cell)
    width = 2.0 * cell * np.ceil(width / (2.0 * cell))
    normal = np.array([0.0, 0.0, 1.0]) if drawing.space == "plane" else drawing.up
    plane = ("yz", "xz", "xy")[int(np.abs(normal).argmax())]
    low = camera.lowest(normal) - (0.02 if drawing.space == "plane" else 0.004) * drawing.size
    place = low * normal + cell * np.round(camera.center / cell) * (1.0 - np.abs(normal))
    server.scene.add_grid(
        "/floor",
        width=float(width),
        height=float(width),
        plane=plane,
        cell_size=float(cell / 5.0),
        section_size=float(cell),
        cell_color=(52, 55, 60) if dark else (232, 233, 236),
        section_color=(74, 78, 86) if dark else (206, 208, 214),
        cell_thickness=0.6,
        section_thickness=1.0,
        shadow_opacity=0.18,
        fade_distance=float(6.0 * width),
        position=tuple(place.tolist()),
    )
