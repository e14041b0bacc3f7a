"""The panels of the page: the tree at the left, tabs at the right, time and curves along the bottom."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LEFT, RIGHT = 250, 300  # widths [pixels]
_KEYS = {"arrowright": "→", "arrowleft": "←", "escape": "Esc"}  # as they are written
SELECTED = '<span class="lw-selected"></span>'  # a page scrolls to it when something else is selected


class Panels:
    """Where things are added: `with panels.right("Show"): gui.add_...`; they stay until `empty()`."""

    def __init__(self, gui: Any, tabs: Sequence[tuple[str, str]], timed: bool = True) -> None:
        """Make the panels, with these tabs (name, icon) at the right; time and curves if it is `timed`."""
        self._gui = gui
        gui.main_panel.dock_left()
        gui.main_panel.set_width(LEFT)
        right = gui.add_panel()
        self._right = {name: right.add_tab(name, icon) for name, icon in tabs}
        right.dock_right()
        right.set_width(RIGHT)
        self.bottom: Any = None
        if timed:
            bottom = gui.add_panel()
            self.bottom = bottom.add_tab("Time and curves", "chart-line")
            bottom.float(x=0, y=-1, width=680)
            self._mark_bottom()

    def _mark_bottom(self) -> None:
        with self.bottom:
            self._gui.add_html('<span class="lw-bottom"></span>')

    def right(self, name: str) -> Any:
        """Return a tab at the right."""
        return self._right[name]

    def empty(self) -> None:
        """Take away what is in the tabs, but not what stands at the left."""
        for tab in filter(None, (*self._right.values(), self.bottom)):
            for child in list(tab._children.values()):
                child.remove()
        if self.bottom is not None:
            self._mark_bottom()


@dataclass(frozen=True)
class Command:
    """Something that can be done from anywhere on the page, by a key or from the list of commands."""

    label: str
    key: str | None
    icon: str
    do: Callable[[Any], None]  # is given the client
    modifier: str | None = None
    about: str = ""

    @property
    def shortcut(self) -> str:
        """What to press, in words."""
        if self.key is None:
            return ""
        held = {"cmd/ctrl": "Ctrl+", "shift": "Shift+", "cmd/ctrl+shift": "Ctrl+Shift+"}.get(
            self.modifier or "", ""
        )
        return held + (self.key if len(self.key) == 1 else _KEYS.get(self.key, self.key.capitalize()))


def add_commands(gui: Any, commands: Sequence[Command]) -> None:
    """Put commands on the page, and one that lists them."""

    def explain(event: Any) -> None:
        client = event.client
        if client is None:
            return
        with client.gui.add_modal("Keys and commands") as modal:
            rows = [
                f"| {command.shortcut or '–'} | {command.label} | {command.about} |" for command in commands
            ]
            client.gui.add_markdown(
                "\n".join(["| key | command | |", "|---|---|---|", *rows])
                + "\n\nDrag turns the picture, right drag moves it, the wheel zooms; a click selects. "
                "Ctrl+K lists all commands."
            )
            client.gui.add_button("Close").on_click(lambda event: modal.close())

    for command in commands:
        handle = gui.add_command(
            command.label,
            description=command.about or None,
            hotkey=command.key,
            modifier=command.modifier,
            icon=command.icon,
        )
        handle.on_trigger(lambda event, command=command: command.do(event.client))
    gui.add_command("Help: keys and commands", hotkey="H", icon="help").on_trigger(explain)
