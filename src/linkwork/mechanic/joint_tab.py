"""Joints in the panel: which bodies, which kind, where, and what acts in them."""

from typing import Any

import numpy as np

from linkwork.mechanic.joint_edits import KINDS
from linkwork.mechanic.snapping import frame_along, nearest, turned
from linkwork.mechanism.joints import Prismatic
from linkwork.view.inspector import turns, without_noise
from linkwork.view.panels import SELECTED

_FIRST = 0.5  # order on the page: before all else but undo and redo
_REACH = 0.2  # within which a new joint snaps to a place of a part, of the mechanism's size
_UNITS = {  # of a joint that turns, and of one that slides
    "_limits": ("From, to [rad]", "From, to [m]"),
    "_damping": ("Damping [N m s]", "Damping [N s/m]"),
    "_friction": ("Friction [N m]", "Friction [N]"),
    "_stiffness": ("Spring [N m]", "Spring [N/m]"),
    "_rest": ("Rest [rad]", "Rest [m]"),
}
_LAWS = ("motor (force)", "driver (position)")
_LAW_UNITS = {"motor (force)": ("N m", "N"), "driver (position)": ("rad", "m")}


class JointTab:
    """Folders: a new joint; the selected one: kind, frame, limits, spring, damping, friction, drives."""

    def __init__(self, gui: Any, page: Any) -> None:
        self._page = page
        with gui.add_folder("New joint"):
            self._parent = gui.add_dropdown("On", ("ground",), hint="what the joint is on")
            self._child = gui.add_dropdown("Body", ("(none)",), hint="what moves")
            self._new_kind = gui.add_dropdown("As", tuple(KINDS), initial_value="Revolute")
            add = gui.add_button("Add joint", icon="link", hint="at the place of the part you clicked last")
            page.press(add, lambda name, word: self.add())
        self._folder = gui.add_folder("Joint", visible=False, order=_FIRST)  # until one is selected
        with self._folder:
            gui.add_html(SELECTED)
            self._call = gui.add_text("Name", "", hint="select a joint in the picture or the tree")
            self._kind = gui.add_dropdown("Kind", tuple(KINDS), initial_value="Revolute")
            self._place = gui.add_vector3("Place [m]", (0.0, 0.0, 0.0), step=0.001)
            self._turn = gui.add_vector3(
                "Turned [°]", (0.0, 0.0, 0.0), step=15.0, hint="the axis is z of its frame"
            )
            axes = gui.add_button_group(
                "Axis", ("x", "y", "z", "flip"), hint="along an axis of the world; the other way round"
            )
            self._limited = gui.add_checkbox("Limits", False, hint="their ends in the picture can be pulled")
            self._limits = gui.add_vector2(
                "From, to [rad]", (-1.0, 1.0), step=0.01, hint="from where it is drawn, which is 0"
            )
            self._what = gui.add_dropdown("Drive by", _LAWS, hint="a force, or a position that is enforced")
            self._law = gui.add_text(
                "Formula", "", hint="of t, for a force of q and v, too: 0.5 * sin(2 * t); drive applies it"
            )
            acts = gui.add_button_group(
                "", ("drive", "free", "delete"), hint="apply the formula; take it away; delete the joint"
            )
            self._damping = gui.add_number("Damping [N m s]", 0.0, min=0.0, step=0.01)
            self._friction = gui.add_number("Friction [N m]", 0.0, min=0.0, step=0.01)
            self._stiffness = gui.add_number("Spring [N m]", 0.0, min=0.0, step=0.1, hint="per rad, or per m")
            self._rest = gui.add_number("Rest [rad]", 0.0, step=0.01, hint="where the spring is at rest")
            with gui.add_folder("Snapping", expand_by_default=False):
                self._snap = gui.add_checkbox("Snap", True, hint="to faces, edges, centres of circles")
                self._angles = gui.add_checkbox("15°", False, hint="turn in steps of 15 degrees")
                self._grid = gui.add_number("Grid [m]", 0.0, min=0.0, step=0.001, hint="0: none")
        self._watch(axes, acts)

    def _watch(self, axes: Any, acts: Any) -> None:
        page = self._page
        for widget, word in (
            (self._damping, "damping"),
            (self._friction, "friction"),
            (self._stiffness, "stiffness"),
            (self._rest, "rest"),
        ):
            page.watch(widget, lambda name, value, word=word: self._option(name, word, value))
        page.watch(self._call, self._rename)
        page.watch(self._kind, self._change_kind)
        page.watch(self._place, lambda name, value: self._try(page.editor.place_joint, name, value))
        page.watch(self._turn, lambda name, value: self._try(self._turned, name, turned(*np.radians(value))))
        page.watch(self._limited, lambda name, value: self._limit(name, value, self._limits.value))
        page.watch(self._limits, lambda name, value: self._limit(name, self._limited.value, value))
        page.watch(self._what, lambda name, value: self._label_law())
        page.press(axes, self._axis)
        page.press(acts, self._act)
        for widget in (self._snap, self._angles, self._grid):
            page.watch(widget, lambda name, value: self._snapping())

    def _snapping(self) -> None:
        gizmo = self._page.gizmo
        gizmo.snap, gizmo.angles, gizmo.grid = self._snap.value, self._angles.value, float(self._grid.value)

    # a new one

    def add(self) -> None:
        """Add a joint of the chosen kind between the chosen bodies, where a part was clicked last."""
        page, child = self._page, self._child.value
        place, axis = self._where(child)
        name = page.try_edit(
            lambda: page.editor.join(
                self._new_kind.value, self._parent.value, child, place, rotation=frame_along(axis)
            )
        )
        if name is not None:
            page.show_and_select(name)

    def _where(self, child: str) -> tuple[Any, Any]:
        """Return the place and axis of a new joint: those of the part that was clicked, or of the body."""
        page = self._page
        editor = page.editor
        body = editor.mechanism.bodies.get(child)
        if body is None:
            return np.zeros(3), np.array([0.0, 0.0, 1.0])
        clicked = page.clicked
        if clicked is not None and clicked[0] in (child, self._parent.value):
            found = nearest(editor.features(clicked[0]), clicked[1], _REACH * 2.0 * page.camera.radius)
            return (clicked[1], np.array([0.0, 0.0, 1.0])) if found is None else (found.point, found.axis)
        place = np.zeros(3)
        place[: len(body.position)] = body.position
        return place, np.array([0.0, 0.0, 1.0])

    # the selected one

    def follow(self, name: str | None) -> None:
        """Show a joint as it is, and which bodies there are; a selected one is the next to be joined."""
        editor = self._page.editor
        m = editor.mechanism
        bodies = tuple(m.bodies)
        if tuple(self._parent.options) != ("ground", *bodies):
            self._parent.options = ("ground", *bodies)
            self._child.options = bodies or ("(none)",)
        if name in m.bodies and self._child.value != name:
            self._child.value = name
            if self._parent.value == name:
                self._parent.value = "ground"
        self._folder.visible = name in m.joints
        if name not in m.joints:
            return
        joint = m.joints[name]
        pose = editor.joint_pose(name)
        limits = joint.limit_pairs()
        limited = bool(len(limits)) and bool(np.isfinite(limits[0]).all())
        values: list[tuple[Any, Any]] = [
            (self._call, name),
            (self._kind, type(joint).__name__ if type(joint).__name__ in KINDS else "Revolute"),
            (self._place, without_noise(pose[:, 3])),
            (self._turn, tuple(round(float(x), 9) + 0.0 for x in np.degrees(turns(pose[:, :3])))),
            (self._limited, limited),
            *([(self._limits, tuple(map(float, limits[0])))] if limited else []),
        ]
        for word, widget in (
            ("damping", self._damping),
            ("friction", self._friction),
            ("stiffness", self._stiffness),
            ("rest", self._rest),
        ):
            value = getattr(joint, word)
            values.append((widget, float(value) if isinstance(value, int | float) else 0.0))
        for widget, value in values:
            if widget.value != value:
                widget.value = value
        self._label_law()
        for word, labels in _UNITS.items():
            widget, label = getattr(self, word), labels[isinstance(joint, Prismatic)]
            if widget.label != label:
                widget.label = label

    def _label_law(self) -> None:
        """Say in which unit the formula of the selected joint is."""
        joint = self._page.editor.mechanism.joints.get(self._page.selected)
        unit = _LAW_UNITS[self._what.value][isinstance(joint, Prismatic)]
        if self._law.label != f"Formula [{unit}]":
            self._law.label = f"Formula [{unit}]"

    def _try(self, edit: Any, name: str, *arguments: Any) -> Any:
        return self._page.try_edit(edit, name, *arguments)

    def _option(self, name: str, word: str, value: Any) -> None:
        self._try(self._page.editor.change_joint, name, word, float(value))

    def _rename(self, name: str, new: str) -> None:
        new = new.strip()
        if new and new != name:
            self._try(self._page.editor.rename, name, new)
            if new in self._page.editor.mechanism.joints:
                self._page.show_and_select(new)

    def _change_kind(self, name: str, kind: str) -> None:
        if kind != type(self._page.editor.joint(name)).__name__:
            self._try(self._page.editor.change_kind, name, kind)

    def _limit(self, name: str, limited: bool, limits: Any) -> None:
        low, high = (float(each) for each in limits)
        self._try(self._page.editor.change_joint, name, "limits", (low, high) if limited else None)

    def _axis(self, name: str, word: str) -> None:
        if word == "flip":
            self._try(self._page.editor.flip, name)
        else:
            self._try(self._turned, name, frame_along(np.eye(3)["xyz".index(word)]))

    def _turned(self, name: str, rotation: Any) -> None:
        editor = self._page.editor
        editor.place_joint(name, editor.joint_pose(name)[:, 3], rotation)

    def _act(self, name: str, word: str) -> None:
        editor = self._page.editor
        if word == "delete":
            self._try(editor.delete, name)
        elif word == "drive":
            law = self._law.value or "0"
            self._try(editor.motor if self._what.value == _LAWS[0] else editor.drive, name, law)
        else:
            self._try(editor.release, name)
