"""One thing that can be shown over the mechanism, on a switch."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from linkwork.view.drawing import Drawing
from linkwork.view.palette import Rgb
from linkwork.view.piece_poses import Places, WorldPoses
from linkwork.view.trajectory import Moment

Array = np.ndarray


class Overlay(ABC):
    """One switch. A subclass puts its nodes on the page when first shown, and moves them while shown."""

    word = ""
    colour: Rgb | None = None  # of what it shows, if that is one

    def __init__(self, server: Any, drawing: Drawing) -> None:
        self._server, self._drawing = server, drawing
        self._nodes: list[Any] = []
        self._made = False
        self.visible = False

    def switch(self, visible: bool) -> None:
        self.visible = visible
        if visible and not self._made:
            self._made, self._nodes = True, self.nodes()
        for node in self._nodes:
            node.visible = visible

    def hide(self) -> None:
        """Let nothing be seen of it, and go on moving it: it can be shown at any time."""
        for node in self._nodes:
            node.visible = False

    @property
    def roots(self) -> list[str]:
        """The names of its nodes on the page; others are below these."""
        return [node.name for node in self._nodes]

    def remove(self) -> None:
        """Take everything off the page."""
        for node in self._nodes:
            node.remove()
        self._nodes, self._made, self.visible = [], False, False

    @abstractmethod
    def nodes(self) -> list[Any]:
        """Put everything on the page, and return viser's handles."""

    @abstractmethod
    def place(self, moment: Moment, poses: WorldPoses) -> None:
        """Move everything to where it is."""

    def measure(self, moment: Moment, poses: WorldPoses) -> None:  # noqa: B027 (most have nothing to measure)
        """Take a moment that is still to come into account, if that matters."""

    @property
    def scale(self) -> str:
        """How much the longest arrow stands for, with its unit; "" where there are none."""
        return ""

    def _everywhere(self, poses: Array) -> Places:
        """Return places (B, 3, 4) on the bodies in turn."""
        return Places(range(len(self._drawing.bodies)), poses)

    @property
    def _size(self) -> float:
        return self._drawing.size
