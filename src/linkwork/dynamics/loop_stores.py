"""What kernels of loop joints write of a formula, and where the numbers that it is made of lie."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwork.dynamics.algorithm import Loops
from linkwork.native.emit import Store
from linkwork.trace.expression import Graph
from linkwork.tree.loop_formula import LoopFormula


def pushes(
    step: Loops, formula: LoopFormula, there: set[str], graph: Graph
) -> list[tuple[str, int, Any, Any]]:
    """Return what is added to forces: a number of the formula, and the factor that it is multiplied by."""
    added: list[tuple[str, int, Any, Any]] = []
    if step.driven:
        for n, wrench in enumerate(formula.drive):
            added += [(f"external{n}", k, x, 1.0) for k, x in enumerate(wrench.scalars())]
    if step.pushed:
        for n, forces in enumerate(formula.forces):
            for r, force in enumerate(forces):
                unit = graph.symbol(("row_force", r))
                added += [(f"external{n}", k, x, unit) for k, x in enumerate(force.scalars())]
    if "equation_force" in there:
        square = formula.square or np.eye(len(formula.position)).tolist()
        for r, parts in enumerate(square):
            unit = graph.symbol(("row_force", r))
            added += [("equation_force", k, x, unit) for k, x in enumerate(parts)]
    return added


def asked(step: Loops, formula: LoopFormula, there: set[str]) -> list[Store]:
    """Return what ports of an algorithm ask of a formula as it is."""
    rows: dict[str, Sequence[Any]] = {
        "gap_position": formula.position,
        "gap_velocity": [x + pace for x, pace in zip(formula.velocity, formula.pace, strict=True)],
        "equation_gap": formula.equations,
        "row_velocity": formula.velocity,
        "loop_bias": formula.bias,
        "direction": [x for t in formula.directions for x in t.scalars()],
        "loop_q": formula.q,
        "loop_v": formula.v,
        "loop_a": formula.a,
        "loop_own": formula.own,
    }
    wanted = [(port, k, x) for port, values in rows.items() if port in there for k, x in enumerate(values)]
    if "qdot" in there:
        for k, shift in enumerate(formula.shift):
            wanted.append(("u_rate", k, formula.v[k] + shift if step.fitting else formula.v[k]))
    return wanted


def places(
    formula: LoopFormula, offsets: dict[str, int], there: set[str], graph: Graph
) -> Callable[[Any], Any]:
    """Return the function from a symbol of a formula to that of the memory where its number lies."""

    def place(symbol: Any) -> Any:
        name, k = symbol.args[0]
        if name == "data":
            return graph.symbol(("data", k))
        if name == "parameter":
            return graph.symbol(("data", formula.n_data + k))
        if name == "ground":
            return graph.symbol(("ground", offsets["a"] + k))
        if name == "u":
            return graph.symbol(("u", k))
        if name == "t":
            return graph.symbol(("t", 0)) if "t" in there else 0.0
        if name.startswith("input"):
            return graph.symbol((name, 0)) if "inputs" in there else 0.0
        word, end = name.rstrip("0123456789"), name[len(name.rstrip("0123456789")) :]
        if word in ("q", "qd", "qdd"):
            return graph.symbol((name, k)) if word in there else 0.0
        return graph.symbol((f"block{end}", offsets["X_W" if word == "X" else word] + k))

    return place
