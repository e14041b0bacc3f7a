"""Loops as drawn: where constraints' own unknowns are, and how little, as a pivot of a row, is nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.trace.graph_walks import evaluate
from linkwork.tree.loop_constraint import LoopConstraint
from linkwork.tree.loop_roots import felt_by, with_own_root
from linkwork.tree.own_unknowns import fitted, guessed
from linkwork.tree.tree import Tree
from linkwork.varied import of_variants

if TYPE_CHECKING:
    from linkwork.tree.loops import Loop

Array = np.ndarray

# Near a position where a loop's links are in line, a row has a short lever: rounding errors of its gap, over
# this lever squared, turn the velocities. The row is weak, and dropped, where they would by this much.
_TURN = 1e-7


@dataclass(frozen=True, eq=False)
class Drawn:
    """The links of a tree as drawn."""

    q: Sequence[float]
    poses: Sequence[Any]  # of ground and of every link, in the world
    inertias: Sequence[Sequence[float]]  # per link, what each of its velocities moves


def fitted_as_drawn(tree: Tree, loop: "Loop", drawn: Drawn) -> "Loop":
    """Return a loop with its own unknowns as drawn."""
    if not isinstance(loop.joint, LoopConstraint) or not loop.joint.nq:
        return loop
    known, constraint = _known(tree, loop, drawn), loop.joint.constraint
    guess = guessed(constraint, constraint.drawn_poses())
    u = fitted(lambda u: _evaluated(loop.formula.shift, known | {"u": u}), guess)
    if not is_determined(tree, loop, drawn, u):
        raise ModelError(
            f"constraint {loop.name!r}: its unknowns are not determined as drawn, at {u}: its curve stands "
            "still there, or bends as much as what is on it; draw it elsewhere"
        )
    return replace(loop, drawn=tuple(u))


def is_determined(tree: Tree, loop: "Loop", drawn: Drawn, u: Sequence[Any]) -> bool:
    """Return whether a constraint's own unknowns follow from where its links are: phi_u has full rank."""
    known = _known(tree, loop, drawn) | {"u": u}
    try:
        return all(abs(x) < np.inf for x in _evaluated(loop.formula.shift, known))
    except (ArithmeticError, ValueError):
        return False


def weak_pivots(tree: Tree, loop: "Loop", drawn: Drawn) -> tuple[float, ...]:
    """Return, per row of a loop, the pivot below which it is weak.

    Elsewhere a row has a pivot of lever^2 / inertia: the lever of a torque is one, that of a force the size
    of the loop; the inertia is the geometric mean of those in the loop.
    """
    poses = drawn.poses
    angular, freedoms = tree.algebra.angular, tree.algebra.freedoms
    around = felt_by(tree, with_own_root(tree, loop))
    moved = [x for link in around for x in drawn.inertias[link - 1] if x > 0.0]
    if not moved:  # a joint between what is welded together moves nothing
        return (0.0 if around else np.inf,) * loop.rows
    places = [poses[link].p for link in around]
    for body, frame in zip((loop.joint.parent, loop.joint.child), loop.joint.frames(), strict=True):
        X = poses[tree.body_links[body.name]] @ tree.body_frames[body.name]
        places.append((X @ frame).p)
    known, rows = _known(tree, loop, drawn), []
    for r, direction in enumerate(loop.formula.directions):
        forces = [*direction.scalars(), *(x for end in loop.formula.direct if end for x in end[r])]
        t = _evaluated(forces, known)
        rows.append([*t[:angular], *t[freedoms:], *t[angular:freedoms]])
    slides = freedoms - angular
    return tuple(of_variants(partial(_weak_pivots, slides), places, moved, rows).tolist()) if rows else ()


def _weak_pivots(slides: int, points: Array, moved: Array, rows: Array) -> Array:
    """Return the pivots below which rows are weak, between places and with inertias of a loop.

    A row is a force: how it turns, and in the last `slides` numbers how it pushes.
    """
    size = float(np.linalg.norm(points[:, None] - points, axis=-1).max())
    far = float(np.linalg.norm(points, axis=-1).max())
    inertia = float(np.exp(np.mean(np.log(moved))))
    found = []
    for row in rows:
        turn, slide = np.linalg.norm(row[:-slides]), np.linalg.norm(row[-slides:])
        rounding = np.spacing(1.0) * max(turn, far * slide)  # of its gap, and of its lever
        lever = max(turn, size * slide, rounding / _TURN)
        found.append(float(rounding / _TURN * lever / inertia))
    return np.array(found)


def _known(tree: Tree, loop: "Loop", drawn: Drawn) -> dict[str, Sequence[Any]]:
    """Return the numbers of the symbols of a loop's formula, as drawn."""
    known = {f"X{n}": drawn.poses[end].scalars() for n, end in enumerate(loop.ends)}
    known |= {"data": loop.data, "parameter": loop.data[loop.formula.n_data :], "u": loop.drawn}
    for n, link in enumerate(tree.links[end - 1] for end in loop.ends):
        known[f"q{n}"] = drawn.q[link.q : link.q + link.kind.nq]
    return known


def _evaluated(formula: Sequence[Any], known: Mapping[str, Sequence[Any]]) -> list[Any]:
    return evaluate(formula, lambda symbol: known[symbol.args[0][0]][symbol.args[0][1]])
