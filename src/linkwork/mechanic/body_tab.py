"""What can be done to the selected body, in the panel."""

from html import escape
from typing import Any

import numpy as np

from linkwork.mechanic.bodies import pose_of, problems
from linkwork.mechanic.editor import DENSITIES
from linkwork.mechanic.snapping import turned
from linkwork.view.inspector import turns

_OWN = "its own"


class BodyTab:
    """A folder: name, material, mass, colour, place; copies, mirror images, merging, splitting, repair."""

    def __init__(self, gui: Any, page: Any) -> None:
        self._page, self._name = page, ""
        self._folder = gui.add_folder("Body", visible=False)  # until one is selected
        with self._folder:
            self._note = gui.add_html("", visible=False)
            self._call = gui.add_text("Name", "")
            self._made_of = gui.add_dropdown("Material", (_OWN, *DENSITIES), initial_value="steel")
            self._density = gui.add_number("Density [kg/m³]", 7850.0, min=0.0, step=10.0)
            self._mass = gui.add_number("Mass [kg]", 0.0, min=0.0, step=0.001)
            self._paint = gui.add_rgb("Colour", (128, 128, 128))
            self._place = gui.add_vector3("Place [m]", (0.0, 0.0, 0.0), step=0.001)
            self._turn = gui.add_vector3(
                "Turned [°]", (0.0, 0.0, 0.0), step=1.0, hint="about x, then y, then z of the world"
            )
            self._moves = gui.add_checkbox("Gizmo", False, hint="move the body with handles in the picture")
            self._other = gui.add_dropdown("Merge with", ("(none)",))
            acts = gui.add_button_group("", ("copy", "mirror", "merge"))
            more = gui.add_button_group("", ("split", "repair", "delete"))
        for widget, edit in (
            (self._call, self._rename),
            (self._made_of, self._material),
            (self._density, lambda value: self._edit(page.editor.set_density, value)),
            (self._mass, lambda value: self._edit(page.editor.set_mass, value)),
            (self._paint, lambda value: self._edit(page.editor.set_color, [part / 255.0 for part in value])),
            (self._place, lambda value: self._put()),
            (self._turn, lambda value: self._put()),
        ):
            widget.on_update(
                lambda event, edit=edit: event.client and self._name and edit(event.target.value)
            )
        self._moves.on_update(lambda event: self._handles(self._moves.value))
        acts.on_click(lambda event: self._act(acts.value))
        more.on_click(lambda event: self._act(more.value))

    def follow(self, name: str | None) -> None:
        """Show a body as it is; the last one, if this is none."""
        m = self._page.editor.mechanism
        others = tuple(each for each in m.bodies if each != name) or ("(none)",)
        if tuple(self._other.options) != others:
            self._other.options = others
        self._folder.visible = name in m.bodies
        if name not in m.bodies:
            self._name = ""
            return
        self._name, body = name, m.bodies[name]
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
            (self._place, tuple(float(x) for x in pose[:, 3])),
            (self._turn, tuple(round(float(x), 9) for x in np.degrees(turns(pose[:, :3])))),
        ):
            if widget.value != value:
                widget.value = value
        wrong = problems(body)
        self._note.visible = bool(wrong)
        if wrong:
            told = f"not closed: {escape(wrong[0])}. Its mass is that of its hull; press repair"
            self._note.content = f'<div class="lw-sheet lw-bad">{told}</div>'

    def _edit(self, edit: Any, value: Any) -> None:
        self._page.try_edit(edit, self._name, value)

    def _rename(self, new: str) -> None:
        if new.strip() and new != self._name and self._page.try_edit(self._renamed, new.strip()):
            self._page.select(new.strip())

    def _renamed(self, new: str) -> bool:
        self._page.editor.rename(self._name, new)
        self._name = new
        return True

    def _material(self, word: str) -> None:
        if word in DENSITIES:
            self._edit(self._page.editor.set_density, DENSITIES[word])

    def _put(self) -> None:
        self._page.try_edit(
            self._page.editor.place, self._name, self._place.value, turned(*np.radians(self._turn.value))
        )

    def _handles(self, moves: bool) -> None:
        self._page.gizmo.moves_bodies = moves
        self._page.gizmo.follow(self._page.selected)

    def _act(self, word: str) -> None:
        page, name = self._page, self._name
        if not name:
            page.show_message("select a body first")
            return
        editor = page.editor
        match word:
            case "copy":
                made = page.try_edit(editor.duplicate, name)
            case "mirror":
                made = page.try_edit(editor.mirror, name, "x")
            case "merge":
                made = page.try_edit(editor.merge, [name, self._other.value])
            case "split":
                made = page.try_edit(editor.split, name)
            case "repair":
                made = page.try_edit(editor.repair, name)
            case _:
                made = page.try_edit(editor.delete, name)
        del made
