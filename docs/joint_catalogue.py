"""Write the tables and pictures of the page on joints, from the joints: python docs/joint_catalogue.py

The test of the page makes them anew and compares.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy

import linkwork as lw
from linkwork.mechanism.joint_constraint import motion_subspace, traced_motion
from linkwork.mechanism.joints import CATALOGUE
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate

PAGE = Path(__file__).with_name("joints.md")
PICTURES = Path(__file__).with_name("pictures")
BEGIN, END = "<!-- made by joint_catalogue.py -->", "<!-- end -->"

MOTIONS = {"space": ("ωx", "ωy", "ωz", "vx", "vy", "vz"), "plane": ("ω", "vx", "vy")}
FORCES = {"space": ("nx", "ny", "nz", "fx", "fy", "fz"), "plane": ("n", "fx", "fy")}
TWO_PI = 2.0 * np.pi  # the pitch of the screw here: it advances 1 m per radian


def alone(kind: type[lw.Joint], space: str) -> Any:
    """Return a mechanism with one joint of a kind, on a plate."""
    m = lw.Mechanism(kind.__name__, space=space, gravity=(0, 0, 0)[: 3 if space == "space" else 2])
    plate = lw.Box(1.0, 1.0, 0.1, position=(0, 0, -0.3))
    base = m.add(lw.Body("base", plate, mass=1.0))
    child = m.add(lw.Body("child", lw.Box(0.3, 0.2, 0.5, position=(0, 0, 0.35)), mass=1.0))
    m.add(lw.Fixed("stand", m.ground, base))
    options: dict[str, Any] = {"pitch": TWO_PI} if kind is lw.Helical else {}
    m.add(kind("joint", base, child, at=(0, 0, 0) if space == "space" else (0, 0), **options))
    return m


def directions(kind: type[lw.Joint], space: str) -> list[str]:
    """Return what each velocity moves, as sums of unit motions in the joint frame of the child."""
    joint: Any = alone(kind, space).compile().joints["joint"]
    graph = Graph()
    q = graph.symbols(f"q{k}" for k in range(joint.nq))
    motions = motion_subspace(joint, traced_motion(joint, q), q)
    texts = []
    for motion in motions:
        values = evaluate(motion.scalars(), lambda symbol: sympy.Symbol(symbol.args[0], real=True))
        terms = [(sympy.nsimplify(sympy.simplify(x)), word) for x, word in zip(values, MOTIONS[space])]
        texts.append(_sum([(factor, word) for factor, word in terms if factor != 0]))
    return texts


def _sum(terms: Sequence[tuple[Any, str]]) -> str:
    text = ""
    for factor, word in terms:
        negative = str(factor).startswith("-")
        size = -factor if negative else factor
        part = word if size == 1 else f"{size} {word}"
        text += (" - " if negative else " + ") + part if text else ("-" if negative else "") + part
    return text


def borne(model: Any, space: str) -> list[str]:
    """Return what the joint bears as drawn: unit forces in its frame."""
    columns = model.constraint_subspace("joint", model.q_drawn).T
    return [
        _sum([(sympy.nsimplify(x), w) for x, w in zip(c, FORCES[space]) if abs(x) > 1e-12]) for c in columns
    ]


def rows(space: str) -> Iterator[str]:
    """Yield the lines of the table of a space."""
    yield "| joint | | what it is | axes | q | v | Φ, moved by each of v | Ψᶜ, borne | q of no motion |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for kind in CATALOGUE:
        if space not in kind.spaces:
            continue
        model = alone(kind, space).compile()
        joint: Any = model.joints["joint"]
        q, v = model.slices["joint"]
        positions = ", ".join(unit or "1" for unit in model.position_units[q]) or "none"
        velocities = ", ".join(f"{unit}/s" for unit in model.coordinate_units[v]) or "none"
        picture = f"![](pictures/{kind.__name__.lower()}.svg)"
        rest = ", ".join(f"{x:g}" for x in joint.neutral()) or "none"
        moved, held = (
            "; ".join(directions(kind, space)) or "nothing",
            ", ".join(borne(model, space)) or "nothing",
        )
        said = (inspect.getdoc(kind) or "").split("\n\n")
        flat = [text for text in said if space == "plane" and text.startswith("In the plane")]
        what, axes = (flat or said)[0], ", ".join(joint.shown_axes) or "none"
        cells = (f"`{kind.__name__}`", picture, " ".join(what.split()), axes)
        cells += (positions, velocities, moved, held, rest)
        yield f"| {' | '.join(cells)} |"


def defaults() -> Iterator[str]:
    """Yield the options of every joint, and of some."""
    yield "| option | default | of |"
    yield "|---|---|---|"
    known = inspect.signature(lw.Joint).parameters
    for kind in (lw.Joint, *CATALOGUE):
        for name, parameter in inspect.signature(kind).parameters.items():
            if parameter.kind is not parameter.KEYWORD_ONLY or (kind is not lw.Joint and name in known):
                continue
            missing = parameter.default is parameter.empty
            default = "must be given" if missing else f"`{parameter.default!r}`"
            yield f"| `{name}=` | {default} | {'all' if kind is lw.Joint else f'`{kind.__name__}`'} |"


def text() -> str:
    """Return all that is made for the page."""
    parts = [
        "## In space\n",
        *rows("space"),
        "\n## In the plane\n",
        *rows("plane"),
        "\n## Options\n",
        *defaults(),
    ]
    return "\n".join([BEGIN, "", *parts, "", END])


def picture(kind: type[lw.Joint]) -> str:
    """Return what a joint lets the child do, as SVG: an arrow along each slide, a ring round each turn.

    They are read off the motion subspace as drawn, one row per velocity, angular first. A velocity that does
    both is a screw. What has no freedom stands on the plate.
    """
    space = "space" if "space" in kind.spaces else "plane"
    model = alone(kind, space).compile()
    motions = model.dual_bases("joint", model.q_drawn).motion.T.round(9)
    center = np.array([0.0, 0.0, 0.38 if len(motions) else -0.05])
    behind, front = [], []
    for motion in motions:
        turn, slide = motion[:3], motion[3:]
        if turn.any() and slide.any():
            strokes = [(_around(turn, 2.0, slide), _SCREW)]
        elif turn.any():
            strokes = [(_around(turn, 0.86), _TURN)]
        else:
            strokes = [(side * np.outer([0.44, 0.98], slide), _SLIDE) for side in (-1.0, 1.0)]
        for points, colour in strokes:
            for line, near, tip in _pieces(center + points, center):
                (front if near else behind).append(_stroke(line, colour, tip))
    lines = [*_box(np.array([0.0, 0.0, -0.45]), (0.85, 0.85, 0.07), _PLATE), *behind]
    lines += [*_box(center, (0.32, 0.32, 0.32), _CHILD), *front]
    for axis, word in zip(np.eye(3), "xyz", strict=True):
        lines.append(_stroke(_CORNER + np.outer([0.0, 0.42], axis), _FRAME, True, 1.4))
        x, y = _seen(_CORNER + 0.58 * axis)
        place = f'x="{x:.1f}" y="{y + 3.0:.1f}" text-anchor="middle"'
        lines.append(f'<text {place} font-size="11" fill="{_FRAME}">{word}</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 220 180" width="220" height="180">'
    return "\n".join([head, *lines, "</svg>"]) + "\n"


# Colours that are seen on white and on black.
_TURN, _SLIDE, _SCREW, _FRAME, _EDGE = "#2f7fd3", "#d8432f", "#9b59b6", "#8a8f98", "#4a5563"
_PLATE, _CHILD = ("#c4ccd6", "#8e99a8", "#a9b4c1"), ("#f0c878", "#c8974a", "#dcae5e")  # top, and its sides
_VIEWER = np.array([1.0, -1.0, 1.0])  # from where it is seen
_TO_PAGE = 58.0 * np.array([[0.866, 0.866, 0.0], [0.5, -0.5, -1.0]])  # isometric
_MIDDLE = np.array([112.0, 96.0])
_CORNER = np.array([-0.95, -0.95, 0.95])  # of the small axes


def _seen(points: Any) -> Any:
    """Return where points of space are on the picture."""
    return points @ _TO_PAGE.T + _MIDDLE


def _around(axis: Any, turns: float, rise: Any = 0.0) -> Any:
    """Return a path round an axis, of n turns; with a rise per turn along it, a screw."""
    unit = axis / np.linalg.norm(axis)
    first = np.cross(unit, _VIEWER)  # seen at its full length, so that the gap is at the side
    first /= np.linalg.norm(first)
    angles = np.linspace(0.25, 0.25 + 2.0 * np.pi * turns, round(40 * turns))
    circle = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), np.cross(unit, first))
    along = np.linspace(-0.55, 0.55, len(angles)) if np.any(rise) else np.zeros(len(angles))
    return 0.62 * circle + np.outer(along, unit)


def _pieces(points: Any, center: Any) -> Iterator[tuple[Any, bool, bool]]:
    """Yield the parts of a way that are in front of its middle, or behind it, the last with a tip."""
    near = (points - center) @ _VIEWER >= -1e-9
    ends = [*(np.flatnonzero(near[1:] != near[:-1]) + 1).tolist(), len(points)]
    begin = 0
    for end in ends:
        yield points[max(begin - 1, 0) : end], bool(near[end - 1]), end == len(points)
        begin = end


def _stroke(points: Any, colour: str, tip: bool, width: float = 2.6) -> str:
    """Return a line, with an arrow's tip at its end."""
    seen = _seen(points)
    line = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in seen)
    drawn = f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="round"/>'
    if not tip:
        return drawn
    way = seen[-1] - seen[-2]
    way = way / np.linalg.norm(way)
    side = np.array([-way[1], way[0]])
    corners = seen[-1] + np.array([3.0 * width * way, 1.6 * width * side, -1.6 * width * side])
    return drawn + f'<polygon points="{_text(corners)}" fill="{colour}"/>'


def _box(center: Any, half: tuple[float, float, float], fills: tuple[str, str, str]) -> Iterator[str]:
    """Yield the three faces of a box that are seen: its top, and those towards x and from y."""
    around = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
    for axis, sign, fill in zip((2, 0, 1), (1, 1, -1), fills, strict=True):
        corners = _text(_seen(np.insert(around, axis, sign, axis=1) * half + center))
        yield f'<polygon points="{corners}" fill="{fill}" stroke="{_EDGE}" stroke-linejoin="round"/>'


def _text(corners: Any) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def page() -> str:
    """Return the page with what is made anew."""
    said = PAGE.read_text(encoding="utf-8")
    before, _, rest = said.partition(BEGIN)
    return before + text() + rest.partition(END)[2]


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    for kind in CATALOGUE:
        (PICTURES / f"{kind.__name__.lower()}.svg").write_text(picture(kind), encoding="utf-8")


if __name__ == "__main__":
    main()
