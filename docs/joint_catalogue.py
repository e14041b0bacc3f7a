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
from linkwork.trace.expression import Graph, evaluate

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
    """Return the picture of a joint that has moved a little, as SVG."""
    space = "space" if "space" in kind.spaces else "plane"
    model = alone(kind, space).compile()
    if not model.nv:
        return model.snapshot(size=(220, 160)).svg
    v = {lw.Prismatic: 0.15, lw.Free: 0.25}.get(kind, 0.4)
    moved = model.position_rates(model.q_drawn, np.full(model.nv, v))
    q = model.q_drawn + moved
    for first in model.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    run = lw.simulate(model, 0.0, lw.State(q, np.zeros(model.nv)))
    return run.snapshot(0.0, size=(220, 160)).svg


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
