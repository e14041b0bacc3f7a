"""What can be done to the selected body, in the panel."""

from html import escape
from typing import Any

import numpy as np

from linkwork.mechanic.bodies import pose_of, problems
from linkwork.mechanic.body_edits import DENSITIES
from linkwork.mechanic.snapping import turned
from linkwork.view.inspector import rows_of, side_by_side, turns, without_noise
from linkwork.view.panels import SELECTED

_OWN = "its own"
_PLANES = {f"{axis} = 0": axis for axis in "xyz"}


class BodyTab:
    """A folder: name, material, mass, colour, place; copies, mirror images, merging, splitting, repair."""

    def __init__(self, gui: Any, page: Any) -> None:
        self._page = page
        self._folder = gui.add_folder("Body", visible=False, order=0.5)  # until one is selected
        with self._folder:
            gui.add_html(SELECTED)
            self._note = gui.add_html("", visible=False)
            self._call = gui.add_text("Name", "")
            self._made_of = gui.add_dropdown(
                "Material", (_OWN, *DENSITIES), initial_value="steel", hint="sets the density"
            )
            self._density = gui.add_number("Density [kg/m³]", 7850.0, min=0.0, step=10.0)
            self._mass = gui.add_number(
                "Mass [kg]", 0.0, min=0.0, step=0.001, hint="what is typed here holds, whatever the density"
            )
            self._weight = gui.add_html("")
            self._paint = gui.add_rgb("Colour", (128, 128, 128))
            self._place = gui.add_vector3("Place [m]", (0.0, 0.0, 0.0), step=0.001, hint="of its origin")
            self._turn = gui.add_vector3(
                "Turned [°]", (0.0, 0.0, 0.0), step=1.0, hint="about x, then y, then z of the world"
            )
            self._moves = gui.add_checkbox("Gizmo", False, hint="move the body with handles in the picture")
            self._other = gui.add_dropdown("Merge with", ("(none)",), hint="what merge makes one body of")
            self._mirror = gui.add_dropdown("Mirror in", tuple(_PLANES), hint="the plane of the world")
            acts = gui.add_button_group(
                "", ("copy", "mirror", "merge"), hint="a copy beside it; its mirror image; one body of two"
            )
            more = gui.add_button_group(
                "",
                ("split", "repair", "delete"),
                hint="a body of each piece; a mesh with holes closed; it goes, with its joints",
            )
        self._watch(page, acts, more)

    def _watch(self, page: Any, acts: Any, more: Any) -> None:
        editor, edit = page.editor, page.try_edit
        page.watch(self._call, self._rename)
        page.watch(self._made_of, self._material)
        page.watch(self._density, lambda name, value: edit(editor.set_density, name, value))
        page.watch(self._mass, lambda name, value: edit(editor.set_mass, name, value))
        page.watch(
            self._paint, lambda name, value: edit(editor.set_color, name, [part / 255.0 for part in value])
        )
        page.watch(self._place, lambda name, value: edit(editor.place, name, value))
        page.watch(self._turn, lambda name, value: edit(self._turned, name, value))
        page.watch(self._moves, self._handles)
        page.press(acts, self._act)
        page.press(more, self._act)

    def follow(self, name: str | None) -> None:
        """Show a body as it is; the last one, if this is none."""
        m = self._page.editor.mechanism
        others = tuple(each for each in m.bodies if each != name) or ("(none)",)
        if tuple(self._other.options) != others:
            self._other.options = others
        self._folder.visible = name in m.bodies
        if name not in m.bodies:
            return
        body = m.bodies[name]
        density = body.density if body.weighed else None
        made_of = next((word for word, value in DENSITIES.items() if value == density), _OWN)
        pose = pose_of(body)
        colour = next(
            (piece.colour for piece in self._page.drawing.pieces if piece.name == name), (128, 128, 128)
        )
        for widget, value in (
            (self._call, name),
            (self._made_of, made_of),
            (self._density, float(density or 0.0)),
            (self._mass, float(body.inertia.mass)),
            (self._paint, tuple(colour)),
            (self._place, without_noise(pose[:, 3])),
            (self._turn, tuple(round(float(x), 9) + 0.0 for x in np.degrees(turns(pose[:, :3])))),
        ):
            if widget.value != value:
                widget.value = value
        self._weight.content = weight_sheet(body)
        wrong = problems(body)
        self._note.visible = bool(wrong)
        if wrong:
            message = f"not closed: {escape(wrong[0])}. Its mass is that of its hull; press repair"
            self._note.content = f'<div class="lw-sheet lw-bad">{message}</div>'

    def _rename(self, name: str, new: str) -> None:
        new = new.strip()
        if new and new != name and self._page.try_edit(self._renamed, name, new):
            self._page.show_and_select(new)

    def _renamed(self, name: str, new: str) -> bool:
        self._page.editor.rename(name, new)
        return True

    def _material(self, name: str, word: str) -> None:
        if word in DENSITIES:
            self._page.try_edit(self._page.editor.set_density, name, DENSITIES[word])

    def _turned(self, name: str, angles: Any) -> None:
        editor = self._page.editor
        editor.place(name, pose_of(editor.body(name))[:, 3], turned(*np.radians(angles)))

    def _handles(self, name: str | None, moves: bool) -> None:
        self._page.gizmo.moves_bodies = moves
        self._page.gizmo.follow(name)

    def _act(self, name: str, word: str) -> None:
        editor = self._page.editor
        does = {
            "copy": editor.duplicate,
            "mirror": lambda name: editor.mirror(name, _PLANES[self._mirror.value]),
            "merge": lambda name: editor.merge([name, self._other.value]),
            "split": editor.split,
            "repair": editor.repair,
            "delete": editor.delete,
        }
        self._page.try_edit(does[word], name)


def weight_sheet(body: Any) -> str:
    """Return the centre of mass and the principal moments of a body, as they are drawn in the picture."""
    inertia, flat = body.inertia, len(body.position) == 2
    moments = np.linalg.eigvalsh(np.atleast_2d(np.asarray(inertia.tensor, float)))
    return rows_of(
        [
            ("centre of mass", side_by_side(inertia.com), "m", ""),
            (
                "moment of inertia" if flat else "principal moments",
                side_by_side(moments),
                "kg m²",
                "",
            ),
        ]
    )
