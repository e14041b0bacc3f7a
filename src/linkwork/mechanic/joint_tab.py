"""Joints in the panel: which bodies, which kind, where, and what acts in them."""

from typing import Any

import numpy as np

from linkwork.mechanic.editor import KINDS
from linkwork.mechanic.snapping import frame_along, nearest, turned
from linkwork.view.inspector import turns

_REACH = 0.2  # within which a new joint snaps to a place of a part, of the mechanism's size
_LAWS = ("motor (force)", "driver (position)")


class JointTab:
    """Folders: a new joint; the selected one: kind, frame, limits, spring, damping, friction, drives."""

    def __init__(self, gui: Any, page: Any) -> None:
        self._page, self._name = page, ""
        with gui.add_folder("New joint"):
            self._parent = gui.add_dropdown("On", ("ground",), hint="what the joint is on")
            self._child = gui.add_dropdown("Body", ("(none)",), hint="what moves")
            self._new_kind = gui.add_dropdown("Kind", tuple(KINDS), initial_value="Revolute")
            gui.add_button(
                "Add joint", icon="link", hint="at the place of the part you clicked last"
            ).on_click(lambda event: self.add())
        self._folder = gui.add_folder("Joint", visible=False)  # until one is selected
        with self._folder:
            self._call = gui.add_text("Name", "", hint="select a joint in the picture or the tree")
            self._kind = gui.add_dropdown("Kind", tuple(KINDS), initial_value="Revolute")
            self._place = gui.add_vector3("Place [m]", (0.0, 0.0, 0.0), step=0.001)
            self._turn = gui.add_vector3(
                "Turned [°]", (0.0, 0.0, 0.0), step=15.0, hint="the axis is z of its frame"
            )
            axes = gui.add_button_group("Axis", ("x", "y", "z", "flip"))
            self._snap = gui.add_checkbox("Snap", True, hint="to faces, edges, centres of circles")
            self._angles = gui.add_checkbox("15°", False, hint="turn in steps of 15 degrees")
            self._grid = gui.add_number("Grid [m]", 0.0, min=0.0, step=0.001, hint="0: none")
            self._limited = gui.add_checkbox("Limits", False)
            self._limits = gui.add_vector2("From, to [rad, m]", (-1.0, 1.0), step=0.01)
            self._damping = gui.add_number("Damping [N s/m, N m s]", 0.0, min=0.0, step=0.01)
            self._friction = gui.add_number("Friction [N, N m]", 0.0, min=0.0, step=0.01)
            self._stiffness = gui.add_number("Spring [N/m, N m]", 0.0, min=0.0, step=0.1)
            self._rest = gui.add_number("Rest [m, rad]", 0.0, step=0.01)
            self._what = gui.add_dropdown("Drive by", _LAWS)
            self._law = gui.add_text("Formula", "", hint="of t, q and v: 0.5 * sin(2 * t)")
            acts = gui.add_button_group("", ("drive", "free", "delete"))
        self._watch(axes, acts)

    def _watch(self, axes: Any, acts: Any) -> None:
        def edits(widget: Any, word: str) -> None:
            widget.on_update(lambda event: event.client and self._option(word, widget.value))

        for widget, word in (
            (self._damping, "damping"),
            (self._friction, "friction"),
            (self._stiffness, "stiffness"),
            (self._rest, "rest"),
        ):
            edits(widget, word)
        self._call.on_update(lambda event: event.client and self._rename(self._call.value))
        self._kind.on_update(lambda event: event.client and self._change_kind(self._kind.value))
        for widget in (self._place, self._turn):
            widget.on_update(lambda event: event.client and self._put())
        for widget in (self._limited, self._limits):
            widget.on_update(lambda event: event.client and self._limit())
        axes.on_click(lambda event: self._axis(axes.value))
        acts.on_click(lambda event: self._act(acts.value))
        for widget in (self._snap, self._angles, self._grid):
            widget.on_update(lambda event: self._snapping())

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
            page.joined(name)

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
            self._name = ""
            return
        self._name, joint = name, m.joints[name]
        pose = editor.joint_pose(name)
        limits = joint.limit_pairs()
        limited = bool(len(limits)) and bool(np.isfinite(limits[0]).all())
        values: list[tuple[Any, Any]] = [
            (self._call, name),
            (self._kind, type(joint).__name__ if type(joint).__name__ in KINDS else "Revolute"),
            (self._place, tuple(float(x) for x in pose[:, 3])),
            (self._turn, tuple(round(float(x), 9) for x in np.degrees(turns(pose[:, :3])))),
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

    def _try(self, edit: Any, *arguments: Any) -> Any:
        if not self._name:
            self._page.show_message("select a joint first")
            return None
        return self._page.try_edit(edit, self._name, *arguments)

    def _option(self, word: str, value: Any) -> None:
        self._try(self._page.editor.change_joint, word, float(value))

    def _rename(self, new: str) -> None:
        old, new = self._name, new.strip()
        if old and new and new != old:
            self._try(self._page.editor.rename, new)
            if new in self._page.editor.mechanism.joints:
                self._name = new

    def _change_kind(self, kind: str) -> None:
        if self._name and kind != type(self._page.editor.joint(self._name)).__name__:
            self._try(self._page.editor.change_kind, kind)

    def _put(self) -> None:
        self._try(self._page.editor.place_joint, self._place.value, turned(*np.radians(self._turn.value)))

    def _limit(self) -> None:
        low, high = self._limits.value
        self._try(
            self._page.editor.change_joint,
            "limits",
            (float(low), float(high)) if self._limited.value else None,
        )

    def _axis(self, word: str) -> None:
        if word == "flip":
            self._try(self._page.editor.flip)
        elif self._name:
            axis = np.eye(3)["xyz".index(word)]
            place = self._page.editor.joint_pose(self._name)[:, 3]
            self._try(self._page.editor.place_joint, place, frame_along(axis))

    def _act(self, word: str) -> None:
        editor = self._page.editor
        if word == "delete":
            self._try(editor.delete)
        elif word == "drive":
            self._try(editor.motor if self._what.value == _LAWS[0] else editor.drive, self._law.value or "0")
        elif self._name:
            m, name = editor.mechanism, self._name
            acting = [
                each.name
                for each in (*m.loads.values(), *m.drivers.values())
                if any(getattr(end, "name", end) == name for end in each.on)
            ]
            for each in acting:
                self._page.try_edit(editor.delete, each)
