"""How bodies look on a page: colours, transparency, what is hidden."""

import threading
from typing import Any

from linkwork.view.body_appearance import Looks
from linkwork.view.drawing import Drawing
from linkwork.view.overlays import Overlays
from linkwork.view.stage import Stage
from linkwork.view.tree_panel import TreePanel


class Appearance:
    """The part of a page that dresses its bodies; the page has what is declared here."""

    server: Any
    drawing: Drawing
    stage: Stage
    overlays: Overlays
    tree: TreePanel
    looks: Looks
    selected: str | None
    _lock: threading.RLock
    _stale: bool

    def _look_controls(self, gui: Any) -> None:
        """Add how the selected body looks."""
        self._look_folder = gui.add_folder("Look", expand_by_default=False, visible=False)
        with self._look_folder:
            self._colour = gui.add_rgb("Colour", (128, 128, 128), hint="of the selected body, on this page")
            self._clear = gui.add_slider("Solid [%]", 5, 100, 5, 100, hint="less lets it be seen through")
            acts = gui.add_button_group("", ("hide", "only", "all"))
        self._colour.on_update(lambda event: event.client and self.paint(self._colour.value))
        self._clear.on_update(lambda event: event.client and self.see_through(self._clear.value / 100.0))
        does = {"hide": lambda: self.hide(self.selected), "only": lambda: self.isolate(self.selected)}
        acts.on_click(lambda event: does.get(acts.value, self.show_all)())

    def paint(self, colour: tuple[int, int, int]) -> None:
        """Give the selected body a colour on this page."""
        if self.selected in self.drawing.bodies:
            self.looks.colours[self.selected] = colour
            self._dress()

    def see_through(self, opacity: float) -> None:
        """Let the selected body be seen through."""
        if self.selected in self.drawing.bodies:
            self.looks.opacities[self.selected] = opacity
            self._dress()

    def hide(self, name: str | None) -> None:
        """Hide a body, or show it again."""
        if name is not None:
            self.looks.toggle(name)
            self._dress()

    def isolate(self, name: str | None) -> None:
        """Show one body alone, or all again."""
        if name in self.drawing.bodies:
            self.looks.isolate(name, self.drawing.bodies)
            self._dress()

    def show_all(self) -> None:
        """Hide nothing."""
        self.looks.hidden.clear()
        self._dress()

    def _dress(self) -> None:
        with self._lock, self.server.atomic():
            self.stage.dress(self.looks)
            self.overlays.slender.dress(self.looks)
            self._stale = True
            self.tree.draw()
