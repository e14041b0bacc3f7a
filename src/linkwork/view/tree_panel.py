"""The tree of bodies and joints in the panel: a row each; a click selects."""

from collections.abc import Callable, Iterator
from typing import Any

from linkwork.view.drawing import Drawing, JointMark
from linkwork.view.palette import SELECTED

_ROWS = 120  # more are found by the list alone
_LISTED = 2000  # names in that list
_INDENT = "\u00a0\u00a0\u00a0"
_NOTHING = "(nothing)"

# Rows of a tree stand on the left, close together, and look like text on the colour of what they are.
_STYLE = """<style id="lw-tree">
div:has(> #lw-tree) ~ div:has(> .mantine-Button-root) { padding-bottom: 1px !important; }
div:has(> #lw-tree) ~ div > .mantine-Button-root {
  height: 1.6em !important; padding: 0 0.4em; color: inherit; border-left: 3px solid var(--button-bg);
  background: color-mix(in srgb, var(--button-bg) 16%, transparent) !important;
}
div:has(> #lw-tree) ~ div > * > .mantine-Button-inner { justify-content: flex-start; }
</style>"""


class TreePanel:
    """Rows of names, and a list to type in."""

    def __init__(self, gui: Any, drawing: Drawing, select: Callable[[str | None], None]) -> None:
        rows = list(_rows(drawing))
        gui.add_html(_STYLE)
        names = list(dict.fromkeys(name for name, _, _ in rows if name != "ground"))
        self._list = gui.add_dropdown("Selected", (_NOTHING, *names[:_LISTED]), initial_value=_NOTHING)
        self._list.on_update(lambda event: event.client and select(_name(self._list.value)))
        self._buttons: dict[str, list[Any]] = {}
        for name, label, is_body in rows[:_ROWS]:
            button = gui.add_button(label, color=_colour(is_body, False))
            button.on_click(lambda event, name=name: select(None if name == "ground" else name))
            self._buttons.setdefault(name, []).append((button, is_body))
        if len(rows) > _ROWS:
            gui.add_markdown(f"*and {len(rows) - _ROWS} more: choose them above*")
        self._selected: str | None = None

    def show(self, name: str | None) -> None:
        """Mark the row that is selected."""
        for changed, chosen in ((self._selected, False), (name, True)):
            for button, is_body in self._buttons.get(changed or "", ()):
                button.color = _colour(is_body, chosen)
        self._selected = name
        self._list.value = name if name in self._list.options else _NOTHING


def _name(chosen: str) -> str | None:
    return None if chosen == _NOTHING else chosen


def _colour(is_body: bool, chosen: bool) -> tuple[int, int, int]:
    return SELECTED if chosen else (72, 96, 122) if is_body else (190, 196, 204)


def _rows(drawing: Drawing) -> Iterator[tuple[str, str, bool]]:
    """Return names with labels, from ground outwards: a joint, and below it the body that it carries."""
    carried: dict[str, list[JointMark]] = {}
    for mark in drawing.joints:
        if not mark.loop:
            for body in (mark.parent, mark.child):
                carried.setdefault(body, []).append(mark)
    seen: set[str] = set()
    # how deep, by which joint, which body
    waiting: list[tuple[int, JointMark | None, str]] = [(0, None, "ground")]
    while waiting:
        depth, mark, body = waiting.pop()
        if body in seen:
            continue
        seen.add(body)
        if mark is not None:
            yield mark.name, f"{_INDENT * (depth - 1)}{mark.name} · {mark.kind.lower()}", False
        yield body, _INDENT * depth + body, True
        for joint in reversed(carried.get(body, [])):
            waiting.append((depth + 2, joint, joint.child if joint.parent == body else joint.parent))
    for mark in drawing.joints:
        if mark.loop:
            label = f"{mark.name} · {mark.kind.lower()}, closes {mark.parent} – {mark.child}"
            yield mark.name, label, False
    for tie in drawing.ties:
        yield tie.name, f"{tie.name} · {tie.kind.lower()}, {' – '.join(tie.on)}", False
