"""Parts, examples and files in the panel."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.geometry import Box, Capsule, Cone, Cylinder, Sphere
from linkwork.mechanism.mechanism import Mechanism

_SHAPES = ("box", "cylinder", "sphere", "cone", "capsule", "polygon")
_SPACES = {"in space": "space", "in the plane": "plane"}
_SCALES = {"as it looks": None, "metres": 1.0, "millimetres": 1e-3, "centimetres": 1e-2, "inches": 0.0254}
_EXAMPLES = (
    "slider_crank",
    "steam_engine",
    "three_cylinder_engine",
    "four_bar",
    "jansen_leg",
    "geneva_drive",
    "cart_pole",
    "robot_arm",
    "stewart_platform",
    "delta_robot",
    "bennett",
    "gripper",
)


class FileTab:
    """Folders: parts that are added; saving, examples, help."""

    def __init__(self, gui: Any, page: Any) -> None:
        self._page = page
        undo = gui.add_button_group("", ("undo", "redo", "guide"), order=0.0)
        undo.on_click(lambda event: self._pressed(undo.value))
        with gui.add_folder("Parts"):
            self._scale = gui.add_dropdown(
                "Unit",
                tuple(_SCALES),
                hint="of meshes whose files have none; by its looks one of more than 2 m is in millimetres",
            )
            self._upload = gui.add_upload_button(
                "Upload part",
                icon="upload",
                hint="a mesh: .stl .obj .ply .off .glb; a mechanism: .json .urdf .xml; or drop files here",
            )
            self._shape = gui.add_dropdown("Shape", _SHAPES)
            self._size = gui.add_vector3(
                "Size [m]",
                (0.1, 0.02, 0.02),
                min=(1e-6,) * 3,
                step=0.01,
                hint="box: along x, y, z; cylinder, cone, capsule: length and diameter; sphere: diameter",
            )
            self._outline = gui.add_text(
                "Outline [m]",
                "0 0, 0.1 0, 0.1 0.02, 0 0.02",
                visible=False,
                hint="corners as x y, x y, ..., once round",
            )
            self._thick = gui.add_number("Thickness [m]", 0.02, min=1e-6, step=0.001, visible=False)
            add = gui.add_button("Add shape", icon="cube", hint="beside what is there")
        page.watch(self._shape, lambda name, value: self._ask_for(value))
        page.press(add, lambda name, word: page.try_edit(self.add_shape))
        self._upload.on_upload(lambda event: self._sent(event.target.value))
        with gui.add_folder("File", expand_by_default=False):
            saves = gui.add_button_group(
                "Save",
                ("json", "script", "urdf", "html"),
                hint="the mechanism, Python that builds it, a tree for others, the run as a page that plays",
            )
            saves.on_click(lambda event: self.send(saves.value, event.client))
            fresh = gui.add_button_group("New", tuple(_SPACES), hint="an empty one; undo comes back")
            page.press(fresh, lambda name, word: self._begin(word))
            self._taken_apart = gui.add_checkbox("Parts only", False, hint="its bodies, to be joined by hand")
            example = gui.add_dropdown(
                "Example", ("(choose)", *_EXAMPLES), hint="in place of what is here; undo comes back"
            )
            page.watch(example, lambda name, value: self._open_example(value))

    def _pressed(self, word: str) -> None:
        editor = self._page.editor
        if word == "guide":
            self._page.guide.begin()
        else:
            self._page.try_edit(editor.undo if word == "undo" else editor.redo)

    def _sent(self, file: Any) -> None:
        self._page.try_edit(
            lambda: self._page.editor.add_sent(file.name, file.content, scale=_SCALES[self._scale.value])
        )

    def _ask_for(self, shape: str) -> None:
        """Ask for what a shape is given by."""
        flat = shape == "polygon"
        self._size.visible, self._outline.visible, self._thick.visible = not flat, flat, flat

    def _begin(self, word: str) -> None:
        self._page.try_edit(self._page.editor.open, Mechanism("mechanism", space=_SPACES[word]))

    def add_shape(self) -> str:
        """Add the chosen shape in the chosen size, beside what is there."""
        editor, word = self._page.editor, self._shape.value
        there = bool(editor.mechanism.bodies)
        right = float(self._page.camera.box[1, 0]) if there else 0.0
        if word == "polygon":
            outline = corners_of(self._outline.value)
            beside = right + 0.1 * np.ptp(outline[:, 0]) - outline[:, 0].min() if there else 0.0
            return editor.add_polygon(outline, float(self._thick.value), word, (float(beside), 0.0, 0.0))
        x, y, z = (float(each) for each in self._size.value)
        right += 0.7 * x if there else 0.0
        shape = {
            "box": lambda: Box(x, y, z),
            "cylinder": lambda: Cylinder(y / 2, x),
            "sphere": lambda: Sphere(x / 2),
            "cone": lambda: Cone(y / 2, x),
            "capsule": lambda: Capsule(y / 2, x),
        }[word]()
        return editor.add_shape(shape, word, (right, 0.0, 0.0))

    def _open_example(self, name: str) -> None:
        from linkwork import examples

        if name in _EXAMPLES:
            self._page.try_edit(lambda: self._page.editor.open(getattr(examples, name)()))
            if self._taken_apart.value:
                self._page.try_edit(self._page.editor.take_apart)

    # saving

    def save(self, client: Any) -> None:
        """Write to the file that was named when the page was opened, or send it to the page."""
        if self._page.save_to is None:
            self.send("json", client)
        elif self._page.try_edit(self._written):
            self._page.show_message(f"saved to {self._page.save_to}")

    def _written(self) -> bool:
        self._page.editor.save(self._page.save_to)
        return True

    def send(self, word: str, client: Any) -> None:
        """Send a file to the page, for its downloads."""
        if client is not None:
            content = self._page.try_edit(self._content, word)
            if content is not None:
                client.send_file_download(*content, save_immediately=True)

    def _content(self, word: str) -> tuple[str, bytes]:
        editor = self._page.editor
        if word == "json":
            return "mechanism.json", editor.text().encode("utf-8")
        if word == "script":
            return "mechanism.py", editor.script().encode("utf-8")
        with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
            path = Path(folder, f"mechanism.{word}")
            if word == "html":
                self._page.save_html(path)
            else:
                editor.save(path)
            return path.name, path.read_bytes()


def corners_of(text: str) -> np.ndarray:
    """Return the corners (n, 2) of a text "0 0, 0.1 0, 0 0.05" [m]."""
    rows = [row.split() for row in text.replace(";", ",").split(",") if row.strip()]
    try:
        corners = np.array([[float(each) for each in row] for row in rows])
    except ValueError:
        corners = np.zeros(0)
    if corners.ndim != 2 or corners.shape[1:] != (2,) or len(corners) < 3:
        raise ValueError(f"outline {text!r:.80}; give at least three corners in metres: 0 0, 0.1 0, 0 0.05")
    return corners
