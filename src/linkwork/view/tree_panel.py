"""The tree of bodies and joints: a row each, from ground outwards; a click selects, hides or isolates."""

import json
from collections.abc import Collection, Iterator
from html import escape
from typing import Any

from linkwork.view.body_appearance import Looks
from linkwork.view.drawing import Drawing
from linkwork.view.drawn_pieces import JointMark
from linkwork.view.palette import Rgb, hexadecimal

_ROWS = 800  # more are found by searching
_INDENT = 11  # pixels
_DEEPEST = 9  # level that is moved in; a long chain goes straight down from there


class TreePanel:
    """Rows of names, and a field to search in."""

    def __init__(self, gui: Any, drawing: Drawing, looks: Looks) -> None:
        self._looks = looks
        gui.add_html('<span class="lw-short"></span>')  # what follows has a short label
        self._search = gui.add_text(
            "Search", "", hint="bodies, joints, constraints and loads by name or kind"
        )
        self._search.on_update(lambda event: self.draw())
        self._rows_shown = gui.add_html("")
        self.follow(drawing)
        self.draw()

    def follow(self, drawing: Drawing, wrong: Collection[str] = (), redundant: Collection[str] = ()) -> None:
        """Take the rows of another drawing, for the next `draw`; `wrong` and `redundant` names are marked."""
        self._rows, self._wrong, self._redundant = (
            list(_rows(drawing)),
            frozenset(wrong),
            frozenset(redundant),
        )
        self._flat, self._title = drawing.space == "plane", drawing.name
        self._colours: dict[str, Rgb] = {}
        for piece in drawing.pieces:
            self._colours.setdefault(piece.name, piece.colour)

    def draw(self) -> None:
        """Show the rows that are searched for, and which is selected."""
        wanted = self._search.value.strip().lower()
        rows = [row for row in self._rows if wanted in f"{row[1]} {row[2]}".lower()]
        lines = [self._row(*row) for row in rows[:_ROWS]]
        if len(rows) > _ROWS:
            lines.append(f'<div class="lw-hint">and {len(rows) - _ROWS} more: search for them</div>')
        if not rows:
            lines.append('<div class="lw-hint">nothing has this name</div>')
        kind = "lw-tree lw-plane" if self._flat else "lw-tree"
        title = escape(self._title, quote=True)
        self._rows_shown.content = f'<div class="{kind}" data-lw-title="{title}">{"".join(lines)}</div>'

    def _row(self, depth: int, name: str, kind: str, is_body: bool) -> str:
        looks, label = self._looks, f"{name} · {kind}" if kind else name
        marks = "".join(
            f" {word}"
            for word, so in (("chosen", name == looks.selected), ("hidden", name in looks.hidden))
            if so
        )
        colour = hexadecimal(looks.colours.get(name, self._colours.get(name, (134, 142, 150))))
        state = " wrong" if name in self._wrong else " redundant" if name in self._redundant else ""
        dot = f'<span class="lw-dot{"" if is_body else " joint"}{state}" '
        dot += f'style="background:{colour}"></span>'
        acts, indent = "", 4 + _INDENT * min(depth, _DEEPEST)
        if is_body:
            eye = "show" if name in looks.hidden else "hide"
            acts = _act("hide", name, eye, name in looks.hidden) + _act("isolate", name, "only", False)
        return (
            f'<div class="lw-row{marks}" role="button" aria-label="{escape(label)}" title="{escape(label)}" '
            f"draggable=\"true\" data-lw-drag='{words('drop', name)}' "
            f"data-lw='{words('select', name)}' style=\"padding-left:{indent}px\">{dot}"
            f'<span class="lw-name">{escape(name)}</span><span class="lw-kind">{escape(kind)}</span>'
            f"{acts}</div>"
        )


def words(*said: str) -> str:
    """Return what a page sends when something is clicked, as the value of an attribute in single quotes."""
    return escape(json.dumps(said), quote=True)


def _act(word: str, name: str, label: str, on: bool) -> str:
    return (
        f"<span class=\"lw-act lw-{word}{' on' if on else ''}\" data-lw='{words(word, name)}'>{label}</span>"
    )


def _rows(drawing: Drawing) -> Iterator[tuple[int, str, str, bool]]:
    """Return depth, name, kind and whether it is a body: a joint, and below it the body that it carries."""
    carried: dict[str, list[JointMark]] = {}
    for mark in drawing.joints:
        if not mark.loop:
            for body in (mark.parent, mark.child):
                carried.setdefault(body, []).append(mark)
    seen: set[str] = set()
    for root in ("ground", *drawing.bodies):
        # how deep, by which joint, which body
        waiting: list[tuple[int, JointMark | None, str]] = [(0, None, root)]
        while waiting:
            depth, mark, body = waiting.pop()
            if body in seen:
                continue
            seen.add(body)
            if mark is not None:
                yield depth - 1, mark.name, mark.kind.lower(), False
            yield depth, body, "" if depth or body == "ground" else "free", True
            for joint in reversed(carried.get(body, [])):
                waiting.append((depth + 2, joint, joint.child if joint.parent == body else joint.parent))
    for mark in drawing.joints:
        if mark.loop:
            yield 0, mark.name, f"{mark.kind.lower()}, closes {mark.parent} – {mark.child}", False
    for each in drawing.connections:
        yield 0, each.name, ", ".join(filter(None, (in_words(each.kind), " – ".join(each.on)))), False


def in_words(kind: str) -> str:
    """Return the name of a class in words: "rack pinion" of "RackPinion"."""
    return "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in kind).strip()
