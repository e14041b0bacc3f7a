"""What can be shown over the mechanism, each on a switch: frames, centres of mass, axes, forces, names..."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.view import palette
from linkwork.view.arrows import arrows
from linkwork.view.body_pieces import turned_to
from linkwork.view.contact_arrows import ContactArrows
from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import Piece
from linkwork.view.moving_batch import add_batch, move_batch
from linkwork.view.name_labels import Names
from linkwork.view.overlay import Overlay
from linkwork.view.palette import Rgb
from linkwork.view.piece_batch import Batch
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.slender_overlay import Slender
from linkwork.view.spring_overlay import Springs
from linkwork.view.subject import Subject
from linkwork.view.tessellate import ball, box, cylinder
from linkwork.view.trajectory import Moment

Array = np.ndarray

_POINTS = 600  # of a trace
_DOT = 0.007  # radius of a point that is traced, per size of the mechanism
_GAPS = 6  # that are shown


class Frames(Overlay):
    """The axes of the bodies' frames: x red, y green, z blue."""

    word = "frames"

    def nodes(self) -> list[Any]:
        count = len(self._drawing.bodies)
        self._places = self._everywhere(np.tile(np.eye(3, 4), (count, 1, 1)))
        node = self._server.scene.add_batched_axes(
            "/overlays/frames",
            batched_wxyzs=np.tile([1.0, 0, 0, 0], (count, 1)),
            batched_positions=np.zeros((count, 3)),
            axes_length=0.09 * self._size,
            axes_radius=0.003 * self._size,
        )
        return [node]

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        (node,) = self._nodes
        move_batch(node, self._places.positions(poses), self._places.rotations(poses))


class Masses(Overlay):
    """Centres of mass, and the boxes of even density that have the same inertia."""

    word = "centres of mass, inertia"

    def nodes(self) -> list[Any]:
        drawing = self._drawing
        heavy = [k for k, mass in enumerate(drawing.masses) if mass > 0.0]
        dots, boxes = [], []
        for k in heavy:
            name, pose, sides = drawing.bodies[k], np.eye(3, 4), np.zeros(3)
            pose[:, 3] = drawing.centers[k]
            dots.append(Piece(name, name, ball(0.009 * self._size), pose.copy(), palette.CENTER))
            pose[:, :3], sides = equal_box(drawing.inertias[k], drawing.masses[k])
            sides = np.maximum(sides, 0.004 * self._size)
            boxes.append(Piece(name, name, box(*sides.tolist()), pose, palette.CENTER, 0.22))
        numbers = {name: k for k, name in enumerate(drawing.bodies)}
        groups = {"centers": dots, "inertia": boxes}
        self._batches = [
            Batch(self._server, f"/overlays/{word}", group, numbers, shadows=False)
            for word, group in groups.items()
            if group
        ]
        return [batch.handle for batch in self._batches]

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        for batch in self._batches:
            batch.place(poses)


def equal_box(tensor: Array, mass: float) -> tuple[Array, Array]:
    """Return the principal axes (3, 3) of an inertia, and the sides (3,) of the even box that has it."""
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return axes, np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0))


class Axes(Overlay):
    """The axes of joints."""

    word = "joint axes"

    def nodes(self) -> list[Any]:
        pieces = []
        for mark in self._drawing.joints:
            for axis in mark.axes:
                pose = np.column_stack([mark.on_child[:, :3] @ turned_to(axis), mark.on_child[:, 3]])
                rod = cylinder(0.002 * self._size, 0.3 * self._size)
                pieces.append(Piece(mark.name, mark.child, rod, pose, palette.AXIS))
        numbers = {name: k for k, name in enumerate(self._drawing.bodies)} | {"ground": -1}
        self._batches = (
            [Batch(self._server, "/overlays/axes", pieces, numbers, shadows=False)] if pieces else []
        )
        return [batch.handle for batch in self._batches]

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        for batch in self._batches:
            batch.place(poses)


class Traces(Overlay):
    """The paths of points: of one that was clicked, else of the centres of mass."""

    word = "traces"

    def __init__(self, server: Any, subject: Subject) -> None:
        super().__init__(server, subject.drawing)
        self._subject = subject
        self._points = subject.drawing.centers
        self._chosen: list[int] = []

    def follow(self, body: str | None, point: Array | None) -> None:
        """Trace a point of a body (by default its centre of mass), or all bodies."""
        self._points, self._chosen = self._drawing.centers.copy(), []
        if body in self._drawing.bodies:
            number = self._drawing.bodies.index(body)
            self._chosen = [number]
            if point is not None:
                self._points[number] = point
        self.draw()

    def nodes(self) -> list[Any]:
        node = self._server.scene.add_line_segments(
            "/overlays/traces",
            np.zeros((1, 2, 3), np.float32),
            palette.TRACE,
            thickness=2.0,
            thickness_units="screen",
        )
        dot = ball(_DOT * self._size)
        surface, sizes = (dot.vertices, dot.faces), np.array([dot.scale])
        dots = add_batch(self._server.scene, "/overlays/traced", surface, palette.TRACE, sizes)
        self._nodes = [node, dots]
        self.draw()
        return self._nodes

    @property
    def _traced(self) -> list[int]:
        return self._chosen or list(range(len(self._drawing.bodies)))

    def draw(self) -> None:
        """Draw the paths anew, if they are on the page."""
        if not self._nodes:
            return
        poses = self._subject.trajectory.passed(_POINTS)
        paths = np.einsum("sbij,bj->sbi", poses[..., :3], self._points) + poses[..., 3]
        segments = np.stack([paths[:-1, self._traced], paths[1:, self._traced]], axis=2).reshape(-1, 2, 3)
        if len(segments):
            self._nodes[0].points = segments.astype(np.float32)

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        """Move the points along their paths, which stay."""
        numbers = self._traced
        at = np.einsum("bij,bj->bi", poses.rotations[numbers], self._points[numbers])
        turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(numbers), 1))
        sizes = np.full((len(numbers), 3), _DOT * self._size)
        move_batch(self._nodes[1], at + poses.positions[numbers], turns, sizes)


class Gaps(Overlay):
    """Loop joints, marked where the loop is open by more than can be seen; the panel has the numbers."""

    word = "loop gaps"

    def __init__(self, server: Any, subject: Subject, show_message: Callable[[str], None]) -> None:
        super().__init__(server, subject.drawing)
        self._subject, self._show_message = subject, show_message

    def nodes(self) -> list[Any]:
        marks = [mark for mark in self._drawing.joints if mark.loop]
        pieces = [
            Piece(mark.name, mark.child, ball(0.02 * self._size), mark.on_child, palette.GAP, 0.4)
            for mark in marks
        ]
        numbers = {name: k for k, name in enumerate(self._drawing.bodies)} | {"ground": -1}
        self._batches = (
            [Batch(self._server, "/overlays/gaps", pieces, numbers, shadows=False)] if pieces else []
        )
        return [batch.handle for batch in self._batches]

    def switch(self, visible: bool) -> None:
        super().switch(visible)
        if not visible:
            self._show_message("")

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        for batch in self._batches:
            batch.place(poses)
        gaps = self._subject.gaps(moment)
        if not gaps:
            self._show_message("no joint closes a loop")
            return
        worst = sorted(gaps, key=lambda name: -gaps[name])[:_GAPS]
        more = f" and {len(gaps) - _GAPS} smaller" if len(gaps) > _GAPS else ""
        listed = ", ".join(f"{name}: {gaps[name]:.1e}" for name in gaps if name in worst)
        self._show_message(f"loop gaps [m, rad]: {listed}{more}")


class Overlays:
    """All switches, and what they show at a moment."""

    def __init__(self, server: Any, subject: Subject, show_message: Callable[[str], None]) -> None:
        self._drawing = drawing = subject.drawing
        self._show_message = show_message
        self.traces = Traces(server, subject)
        self.springs, self.slender = Springs(server, drawing), Slender(server, drawing)
        if drawing.springs:
            self.springs.switch(True)
        switches = [
            Names(server, drawing),
            Frames(server, drawing),
            Masses(server, drawing),
            Axes(server, drawing),
            *arrows(server, subject),
            *([ContactArrows(server, subject)] if subject.touching else []),
            self.traces,
            Gaps(server, subject, show_message),
        ]
        self.switches = {overlay.word: overlay for overlay in switches}

    def switch(self, word: str, visible: bool) -> None:
        self.switches[word].switch(visible)

    def show(self, caller: str, words: Sequence[str], trace: Any) -> None:
        """Show overlays by name, and the path of a body or of a point of one; refuse what there is not."""
        unknown = [word for word in words if word not in self.switches]
        if unknown:
            raise ValueError(
                f"{caller}: unknown overlay {unknown[0]!r}; available are {', '.join(self.switches)}"
            )
        if trace is not None:
            self.traces.follow(*traced(self._drawing, trace))
        for word in words if trace is None else (*words, self.traces.word):
            self.switch(word, True)

    def measure(self, moments: Iterable[Moment]) -> None:
        """Let arrows keep one scale at all these moments."""
        shown = [overlay for overlay in self.switches.values() if overlay.visible]
        for moment in moments:
            self._each(shown, lambda overlay, moment=moment: overlay.measure(moment, moment.world))

    def legend(self) -> list[tuple[str, Rgb]]:
        """Return what the colours of arrows mean, and how much the longest stands for."""
        return [
            (f"{word}: longest {overlay.scale}" if overlay.scale else word, overlay.colour)
            for word, overlay in self.switches.items()
            if overlay.visible and overlay.colour is not None
        ]

    def remove(self) -> None:
        """Take everything off the page."""
        for overlay in (self.springs, self.slender, *self.switches.values()):
            overlay.remove()

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        """Move what is shown; what cannot be known is switched off, and said."""
        all_of_them = (self.springs, self.slender, *self.switches.values())
        shown = [overlay for overlay in all_of_them if overlay.visible]
        self._each(shown, lambda overlay: overlay.place(moment, poses))

    def _each(self, overlays: Iterable[Overlay], do: Callable[[Overlay], None]) -> None:
        for overlay in overlays:
            if overlay.visible:
                try:
                    do(overlay)
                except LinkworkError as error:
                    overlay.switch(False)
                    self._show_message(f"{overlay.word}: {error}")


def traced(drawing: Drawing, said: Any) -> tuple[str, Any]:
    """Return the body of which a point is traced, and the point on it [m], None for the centre of mass."""
    name, point = (said, None) if isinstance(said, str) else said
    if name not in drawing.bodies:
        raise ValueError(f"trace {name!r}: no body has this name; there are {', '.join(drawing.bodies[:8])}")
    if point is None:
        return name, None
    numbers = np.zeros(3)
    flat = np.asarray(point, float)
    if flat.shape not in ((3,), (2,) if drawing.space == "plane" else (3,)) or not np.isfinite(flat).all():
        raise ValueError(
            f"trace {said!r}; give a body and a point on it, {2 + (drawing.space == 'space')} numbers [m]"
        )
    numbers[: len(flat)] = flat
    return name, numbers
