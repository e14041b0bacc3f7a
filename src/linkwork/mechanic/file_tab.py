"""Parts, examples and files in the panel."""

import tempfile
from pathlib import Path
from typing import Any

from linkwork.geometry import Box, Capsule, Cone, Cylinder, Sphere

_SHAPES = ("box", "cylinder", "sphere", "cone", "capsule", "plate")
_SCALES = {"as it looks": None, "metres": 1.0, "millimetres": 1e-3, "centimetres": 1e-2, "inches": 0.0254}
_EXAMPLES = (
    "slider_crank",
    "steam_engine",
    "four_bar",
    "cart_pole",
    "robot_arm",
    "stewart_platform",
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
            self._scale = gui.add_dropdown("Unit", tuple(_SCALES), hint="of meshes whose files have none")
            self._upload = gui.add_upload_button(
                "Upload part", icon="upload", hint=".stl .obj .ply .glb .json .urdf"
            )
            self._shape = gui.add_dropdown("Shape", _SHAPES)
            self._size = gui.add_vector3("Size [m]", (0.1, 0.02, 0.02), min=(1e-6,) * 3, step=0.01)
            add = gui.add_button("Add shape", icon="cube")
        page.press(add, lambda name, word: page.try_edit(self.add_shape))
        self._upload.on_upload(lambda event: self._sent(event.target.value))
        with gui.add_folder("File", expand_by_default=False):
            saves = gui.add_button_group("Save", ("json", "script", "urdf", "html"))
            saves.on_click(lambda event: self.send(saves.value, event.client))
            self._taken_apart = gui.add_checkbox("Parts only", False, hint="its bodies, to be joined by hand")
            example = gui.add_dropdown("Example", ("(choose)", *_EXAMPLES))
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

    def add_shape(self) -> str:
        """Add the chosen shape in the chosen size, beside what is there."""
        x, y, z = (float(each) for each in self._size.value)
        editor, word = self._page.editor, self._shape.value
        right = float(self._page.camera.box[1, 0]) + 0.7 * x if editor.mechanism.bodies else 0.0
        if word == "plate":
            outline = [(-x / 2, -y / 2), (x / 2, -y / 2), (x / 2, y / 2), (-x / 2, y / 2)]
            return editor.add_polygon(outline, z)
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
