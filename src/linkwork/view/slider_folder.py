"""Sliders of what can be moved by hand: of what is selected or searched for, else the first of all."""

from collections.abc import Collection
from html import escape
from typing import Any

import numpy as np

_FEW = 10  # that are seen at a glance: the rest is found by selecting or searching, or shown when asked for
_SEEN = 60  # at once: more would make a page slow


def within(value: float, low: float, high: float) -> float:
    """Return a value as a slider shows it: in its range, and without what rounding has left of zero."""
    places = max(0, 9 - int(np.floor(np.log10(high - low))))
    return round(float(np.clip(value, low, high)), places) + 0.0


class SliderFolder:
    """A folder of the panel at the right."""

    def __init__(self, gui: Any, title: str, order: float | None = None) -> None:
        self._gui = gui
        self._folder = gui.add_folder(title, visible=False, order=order)
        with self._folder:
            self._find = gui.add_text("Find", "", visible=False, hint="sliders by their names")
            self._said = gui.add_html("", visible=False)
            self._all = gui.add_checkbox("Show all", False, visible=False)
        self._all.on_update(lambda event: self._arrange())
        self._find.on_update(lambda event: self._arrange())
        self._rows: list[tuple[Any, frozenset[str]]] = []  # sliders, and what each is of
        self._selected: str | None = None

    def add(
        self,
        label: str,
        low: float,
        high: float,
        value: float,
        of: Collection[str],
        parts: int,
        hint: str | None = None,
    ) -> Any:
        """Add a slider of something: a joint, the bodies it is on ..."""
        with self._folder:
            step = (high - low) / parts
            slider = self._gui.add_slider(label, low, high, step, within(value, low, high), hint=hint)
        self._rows.append((slider, frozenset(of)))
        self._folder.visible = True
        self._find.visible = self._all.visible = len(self._rows) > _FEW
        if len(self._rows) > _FEW:
            self._arrange()
        return slider

    def choose(self, selected: str | None) -> None:
        """Show the sliders of what is selected; all, if it has none."""
        self._selected = selected
        if len(self._rows) > _FEW:
            self._arrange()

    def _arrange(self) -> None:
        wanted = self._find.value.strip().lower()
        own = [slider for slider, of in self._rows if self._selected in of]
        if wanted:
            found = [slider for slider, _ in self._rows if wanted in slider.label.lower()]
        else:
            found = own or [slider for slider, _ in self._rows]
        narrowed = bool(own or wanted)
        shown = set(map(id, found[: _SEEN if narrowed or self._all.value else _FEW]))
        for slider, _ in self._rows:
            if slider.visible != (id(slider) in shown):
                slider.visible = id(slider) in shown
        count = f"{len(shown)} of {len(self._rows)}"
        why = (
            ""
            if len(shown) == len(self._rows)
            else f"{count}, those of {self._selected}: Esc shows all"
            if own and not wanted
            else f"{count}: select a joint or body for its own, or find it by name"
        )
        self._said.content = f'<div class="lw-sheet lw-hint">{escape(why)}</div>' if why else ""
        self._said.visible = bool(why)

    def remove(self) -> None:
        self._folder.remove()
