"""What closes the loops of a spanning tree: joints that were cut, and constraints, placed on its links."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Protocol

import numpy as np

from linkwork.algebra.number import is_zero
from linkwork.errors import ModelError
from linkwork.mechanism.input import Input, enter
from linkwork.mechanism.joint import Joint
from linkwork.tree import joint_forces
from linkwork.tree.cuthill_mckee import neighbours, reverse_cuthill_mckee
from linkwork.tree.joint_forces import Rows
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.loop_as_drawn import Drawn, fitted_as_drawn, weak_pivots
from linkwork.tree.loop_constraint import LoopConstraint
from linkwork.tree.loop_formula import Formulas, LoopFormula, constraint_formula, joint_formula
from linkwork.tree.loop_roots import felt_by, with_common_roots
from linkwork.tree.own_unknowns import guessed
from linkwork.tree.purity import traced_purely
from linkwork.tree.tree import Tree
from linkwork.varied import real

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Loop:
    """A joint, or a constraint, that closes a loop, on the links of a tree."""

    joint: Joint | LoopConstraint
    ends: tuple[int, ...]  # the links that it is between, without ground
    formula: LoopFormula
    data: tuple[float, ...]  # frames on links, numbers of its kind, gains, parameters
    root: int = 0  # the link where its rows end: see `loop_roots`
    row: int = 0  # its first row
    equation: int = 0  # its first equation: there are more than rows if it has unknowns of its own
    q: int = 0  # its first number in the array of loop joints' coordinates
    v: int = 0
    u: int = 0  # its first own unknown in the positions of the mechanism
    drawn: tuple[float, ...] = ()  # its own unknowns as drawn
    weak: tuple[float, ...] = ()  # per row: how little, as a pivot, is nothing
    inputs: tuple[Input, ...] = ()  # that the law of a driver reads

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def rows(self) -> int:
        """How many equations of the links it adds."""
        return len(self.formula.position)

    @property
    def equations(self) -> int:
        """How many equations it has, with those that its own unknowns take."""
        return self.rows + len(self.formula.shift)

    @property
    def constants(self) -> tuple[float, ...]:
        """Its numbers as programs read them."""
        return (*self.data, *self.weak)

    @property
    def timed(self) -> bool:
        """Whether the time is in its equations: it is a driver with a law of time."""
        return not all(is_zero(x) for x in self.formula.pace)

    @property
    def says(self) -> str:
        """What it is, in words."""
        word = self.joint.constraint.word if isinstance(self.joint, LoopConstraint) else "joint"
        return f"{word} {self.name!r}"


def check_loops(joints: Sequence[Joint]) -> None:
    """Refuse what a joint cannot do yet when it closes a loop."""
    mistakes = [
        f"joint {joint.name!r} closes a loop and has armature, which is not supported; give it to another"
        for joint in joints
        if joint.per_coordinate("armature").any()
    ]
    if mistakes:
        raise ModelError("; ".join(mistakes))


Moved = Callable[
    [], Mapping[str, Sequence[float]]
]  # by joint, the inertia that each of its coordinates moves


def close(
    tree: Tree, joints: Sequence[Joint | LoopConstraint], drawn: Drawn, like: Tree | None = None
) -> Tree:
    """Return the tree with joints that close loops.

    Formulas of loops between the same bodies are taken over from a tree `like` this one.
    """
    loops = [fitted_as_drawn(tree, loop, drawn) for loop in _placed(tree, joints, None, like)]
    loops = [replace(loop, weak=weak_pivots(tree, loop, drawn)) for loop in loops]
    unknowns = sum(len(loop.drawn) for loop in loops)
    return tree.having(loops=tuple(loops), unknowns=unknowns, inputs=tuple(inputs_of(loops)))


class Reading(Protocol):
    """What reads inputs: a loop, or a load."""

    @property
    def inputs(self) -> Sequence[Input]: ...

    @property
    def says(self) -> str: ...


def inputs_of(things: Iterable[Reading]) -> dict[str, float]:
    """Return the inputs that are read, in their order, with their default values."""
    known: dict[str, Input] = {}
    for thing in things:
        for given in thing.inputs:
            try:
                enter(known, given)
            except ValueError as error:
                raise ModelError(f"{thing.says}: {error}") from None
    return {name: given.value for name, given in known.items()}


def close_driven(
    tree: Tree,
    closed: Tree,
    joints: Sequence[Joint | LoopConstraint],
    moved: Moved,
    like: Tree | None = None,
    rows: Rows = Rows.NONE,
) -> Tree:
    """Return the tree with joints that close loops, their own forces in them, without what is `rows`.

    `closed` is the tree without such forces.
    """
    known = {loop.name: loop for loop in closed.loops}
    loops = _placed(tree, joints, moved, like, rows)
    loops = [replace(loop, weak=known[loop.name].weak, drawn=known[loop.name].drawn) for loop in loops]
    return tree.having(loops=tuple(loops), unknowns=closed.unknowns)


def without(tree: Tree, names: Collection[str]) -> Tree:
    """Return the tree without some of what closes loops."""
    return tree.having(loops=_numbered([loop for loop in tree.loops if loop.name not in names]))


def _placed(
    tree: Tree,
    joints: Sequence[Joint | LoopConstraint],
    moved: Moved | None,
    like: Tree | None,
    rows: Rows = Rows.NONE,
) -> tuple[Loop, ...]:
    """Place what closes loops on the links of a tree; those that share links come together."""
    kinds, known = JointFormulas(driven=moved is not None, rows=rows), {}
    before = {loop.name: loop for loop in like.loops} if like else {}
    loops: list[Loop] = []
    for joint in joints:
        old = before.get(joint.name)
        again = like is not None and old is not None and _same(old.joint, joint, tree, like)
        stops = moved is not None and isinstance(joint, Joint) and joint_forces.has_stops(joint)
        if old is not None and again and not stops:
            loops.append(replace(old, ends=_ends(joint, tree), root=0))
        else:
            loops.append(_place(joint, tree, kinds, moved, known, rows))
    if any(map(_unknowns, joints)):
        firsts = accumulate(map(_unknowns, joints), initial=int(tree.starts[-1, 1]))
        loops = [replace(loop, u=first) for loop, first in zip(loops, firsts, strict=False)]
    return _numbered(_ordered(tree, with_common_roots(tree, loops)))


def _unknowns(joint: Joint | LoopConstraint) -> int:
    return joint.nq if isinstance(joint, LoopConstraint) else 0


def _same(old: Joint | LoopConstraint, new: Joint | LoopConstraint, tree: Tree, like: Tree) -> bool:
    """Whether the formula of a loop, and its numbers, are those that it had in another tree."""
    if isinstance(old, LoopConstraint) and isinstance(new, LoopConstraint):
        same = old.constraint is new.constraint and old.bodies == new.bodies and old.joints == new.joints
    else:
        same = old is new
    bodies = [body.name for body in (*new.bodies, *(b for joint in _joints(new) for b in joint.bodies))]
    return (
        same
        and all(tree.body_frames[body] is like.body_frames.get(body) for body in bodies)
        and _pattern(new, tree) == _pattern(old, like)
    )


def _joints(joint: Joint | LoopConstraint) -> tuple[Joint, ...]:
    return joint.joints if isinstance(joint, LoopConstraint) else ()


def _links(joint: Joint | LoopConstraint, tree: Tree) -> list[int]:
    """Return the links a loop is between: those of its bodies, and those that hang on its joints."""
    hanging = {block.name: number for number, block in enumerate(tree.blocks, 1)} if _joints(joint) else {}
    return [
        *(tree.body_links[body.name] for body in joint.bodies),
        *(hanging.get(on.name, 0) for on in _joints(joint)),
    ]


def _ends(joint: Joint | LoopConstraint, tree: Tree) -> tuple[int, ...]:
    return tuple({link: None for link in _links(joint, tree) if link})


def _pattern(joint: Joint | LoopConstraint, tree: Tree) -> list[int | None]:
    """Return which of its ends each of the links of a loop is."""
    ends = _ends(joint, tree)
    return [ends.index(link) if link else None for link in _links(joint, tree)]


def _numbered(loops: Sequence[Loop]) -> tuple[Loop, ...]:
    rows = accumulate((loop.rows for loop in loops), initial=0)
    equations = accumulate((loop.equations for loop in loops), initial=0)
    qs = accumulate((loop.joint.nq for loop in loops), initial=0)
    vs = accumulate((loop.joint.nv for loop in loops), initial=0)
    return tuple(
        replace(loop, row=row, equation=equation, q=q, v=v)
        for loop, row, equation, q, v in zip(loops, rows, equations, qs, vs, strict=False)
    )


def _ordered(tree: Tree, loops: Sequence[Loop]) -> list[Loop]:
    """Order loops so that those that share links are near each other (reverse Cuthill and McKee), by root."""
    if len(loops) < 3:
        return sorted(loops, key=lambda loop: loop.root)
    order = reverse_cuthill_mckee(neighbours([felt_by(tree, loop) for loop in loops]))
    return sorted((loops[k] for k in order), key=lambda loop: loop.root)


def _place(
    joint: Joint | LoopConstraint,
    tree: Tree,
    kinds: JointFormulas,
    moved: Moved | None,
    known: Formulas,
    rows: Rows = Rows.NONE,
) -> Loop:
    if isinstance(joint, LoopConstraint):
        return _place_constraint(joint, tree, known)
    kind, numbers = kinds.of(joint, False)
    if moved is not None:
        inertia = moved()[joint.name] if joint_forces.has_stops(joint) else ()
        numbers = [*numbers, *joint_forces.settings(joint, inertia, rows)]
    ends, (a, b) = _ends(joint, tree), _pattern(joint, tree)
    formula, constants = joint_formula(joint, kind, a, b, known)
    on_a, on_b = (
        tree.body_frames[body.name] @ frame
        for body, frame in zip((joint.parent, joint.child), joint.frames(), strict=True)
    )
    return _loop(joint, ends, formula, [*on_a.scalars(), *on_b.scalars(), *numbers], constants)


def _place_constraint(closing: LoopConstraint, tree: Tree, known: Formulas) -> Loop:
    ends, pattern = _ends(closing, tree), _pattern(closing, tree)
    bodies, joints = pattern[: len(closing.bodies)], [k or 0 for k in pattern[len(closing.bodies) :]]
    formula, constants, inputs = traced_purely(
        f"{closing.constraint.word} {closing.name!r}",
        closing.constraint,
        lambda: constraint_formula(closing, bodies, joints, len(ends), known),
        lambda found: (found[0].signature, found[1]),
    )
    frames = [x for body in closing.bodies for x in tree.body_frames[body.name].scalars()]
    guess = guessed(closing.constraint, closing.constraint.drawn_poses()) if closing.nq else ()
    return replace(_loop(closing, ends, formula, frames, constants), drawn=tuple(guess), inputs=inputs)


def _loop(
    joint: Joint | LoopConstraint,
    ends: tuple[int, ...],
    formula: LoopFormula,
    numbers: Sequence[float],
    constants: Sequence[float],
) -> Loop:
    data = (*numbers, *(0.0,) * (2 * len(formula.position)), *constants)
    return Loop(joint, ends, formula, tuple(real(x) for x in data))
