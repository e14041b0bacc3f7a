"""A first mechanism, step by step: a crank and slider from three boxes, each step noticed when done."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from linkwork.mechanism.joints import Prismatic, Revolute
from linkwork.mechanism.mechanism import Mechanism
from linkwork.view.tree_panel import words


@dataclass(frozen=True)
class GuideStep:
    """Something to do, how, and whether it was done on a page; parts are called {0}, {1} and {2}."""

    title: str
    how: str
    done: Callable[[Any], bool]


def _hinges(m: Mechanism, on_ground: bool) -> int:
    """Return how many hinges are on ground, or between parts."""
    return sum(
        isinstance(joint, Revolute) and ("ground" in joint.ends) == on_ground for joint in m.joints.values()
    )


STEPS = (
    GuideStep(
        "Three parts",
        "Parts: press Add shape three times, or upload three meshes: a crank, a rod and a slider.",
        lambda page: len(page.editor.mechanism.bodies) >= 3,
    ),
    GuideStep(
        "Hold the first on ground",
        "New joint: On ground, Body {0}, As Revolute; press Add joint.",
        lambda page: _hinges(page.editor.mechanism, on_ground=True) >= 1,
    ),
    GuideStep(
        "Join the others to it",
        "Axis y: it turns upright. Then the same between {0} and {1}, and between {1} and {2}; a click on a"
        " part, before, says where.",
        lambda page: _hinges(page.editor.mechanism, on_ground=False) >= 2,
    ),
    GuideStep(
        "Close the loop",
        "Axis y, too. Then On ground, Body {2}, As Prismatic. Which joint closes the loop is not asked for.",
        lambda page: any(
            isinstance(joint, Prismatic) and "ground" in joint.ends
            for joint in page.editor.mechanism.joints.values()
        ),
    ),
    GuideStep(
        "It can move in one way",
        "Axis x for the slide. Pull joints by their gizmo to where they belong; hinges are alike, the slide"
        " is across them.",
        lambda page: page.said.freedoms == 1 and page.said.good,
    ),
    GuideStep(
        "Pull it",
        "Take a part with the mouse: the rest follows, and joints stay together.",
        lambda page: page.pulled_once,
    ),
    GuideStep(
        "Run",
        "Press Run, below: it moves by its weight.",
        lambda page: page.engine is not None and page.engine.state.t > 0.0,
    ),
)


class Guide:
    """The steps on a page: those that were done, the one to be done, and what comes after."""

    def __init__(self, gui: Any, page: Any) -> None:
        self._page, self._sheet = page, gui.add_html("", order=0.1)
        self.done, self.open = 0, not page.editor.mechanism.elements
        self._draw()

    @property
    def finished(self) -> bool:
        return self.done == len(STEPS)

    def begin(self) -> None:
        """Show the steps, from the first that is not done."""
        self.open, self.done = True, 0
        self.follow(draw=True)

    def close(self) -> None:
        """Take the steps off the page."""
        self.open = False
        self._draw()

    def follow(self, draw: bool = False) -> None:
        """Go on to the first step that is not done; what was done stays so."""
        before = self.done
        while self.open and not self.finished and STEPS[self.done].done(self._page):
            self.done += 1
        if draw or self.done != before:
            self._draw()

    def _draw(self) -> None:
        if not self.open:
            self._sheet.content, self._sheet.visible = "", False
            return
        lines, names = [], tuple(self._page.editor.mechanism.bodies)
        called = names[:3] if len(names) >= 3 else ("the crank", "the rod", "the slider")
        for number, step in enumerate(STEPS):
            state = "done" if number < self.done else "now" if number == self.done else "later"
            mark = "✓" if state == "done" else str(number + 1)
            how = f'<div class="lw-how">{escape(step.how.format(*called))}</div>' if state == "now" else ""
            lines.append(f'<li class="{state}"><span>{mark}</span><div>{escape(step.title)}{how}</div></li>')
        title = "That is a mechanism." if self.finished else "A first mechanism"
        close = f'<span class="lw-act on" role="button" data-lw=\'{words("guide", "close")}\'>close</span>'
        self._sheet.content = (
            f'<div class="lw-guide"><header><b>{title}</b>{close}</header><ol>{"".join(lines)}</ol></div>'
        )
        self._sheet.visible = True
