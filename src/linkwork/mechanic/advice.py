"""What is said of a mechanism after every edit: its freedoms, what is wrong by name, and what mends it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError, LinkworkError
from linkwork.mechanic.bodies import is_open
from linkwork.mechanism.joints import Revolute, Spherical
from linkwork.mechanism.mechanism import Mechanism

_LISTED = 3  # parts that are not closed
_MANY = 60  # loops of which redundant equations are looked for at once


@dataclass(frozen=True)
class Fix:
    """Something that mends a mistake at a press."""

    text: str
    do: Callable[[Any], None]  # is given the editor


@dataclass(frozen=True)
class Advice:
    """What is said of a mechanism as it is."""

    freedoms: int | None  # None: it cannot be said
    summary: str
    notes: tuple[str, ...] = ()
    wrong: frozenset[str] = frozenset()  # names of elements that are shown in red
    redundant: frozenset[str] = frozenset()  # names of joints that share equations: a red ring
    fixes: tuple[Fix, ...] = ()

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong and self.freedoms is not None


def advice(mechanism: Mechanism, model: Any, error: Exception | None) -> Advice:
    """Return what is to be said of a mechanism, its model, or the mistake that there is none."""
    said, open_ = _of_motion(mechanism, model, error), [*filter(is_open, mechanism.bodies.values())][:_LISTED]
    notes = (f"{body.name} is not closed: its mass is that of its hull" for body in open_)
    mends = (Fix(f"repair {body.name}", lambda editor, name=body.name: editor.repair(name)) for body in open_)
    return replace(said, notes=(*said.notes, *notes), fixes=(*said.fixes, *mends))


def _of_motion(mechanism: Mechanism, model: Any, error: Exception | None) -> Advice:
    """Return how it can move, or why it cannot."""
    if not mechanism.bodies:
        return Advice(0, "no bodies yet: add a part", ("drop mesh files into Parts, or add a shape",))
    if model is None or isinstance(error, AssemblyError):
        text = str(error)
        named = frozenset(name for name in mechanism if repr(name) in text)
        if isinstance(error, AssemblyError):
            return Advice(
                None, "the joints do not meet", (_first(text),), named, fixes=tuple(_unmet(mechanism, named))
            )
        return Advice(
            None, "it cannot be simulated yet", (_first(text),), named, fixes=tuple(_mends(mechanism, text))
        )
    held = {name.removesuffix(" free") for name in model.joint_names if name not in mechanism.joints}
    notes: list[str] = []
    if held:
        listed = ", ".join(sorted(held)[:4])
        notes.append(f"not joined to ground: {listed}" + (" ..." if len(held) > 4 else ""))
    loops = len(model.loop_names)
    if loops == 0:
        return Advice(model.nv, _freedoms(model.nv), tuple(notes))
    if loops > _MANY:
        rank = int(np.linalg.matrix_rank(model.constraint_jacobian(model.q_drawn), tol=1e-6))
        return Advice(model.nv - rank, _freedoms(model.nv - rank), tuple(notes))
    try:
        found = model.diagnose()
    except LinkworkError as problem:
        return Advice(None, "the joints do not meet", (_first(str(problem)),))
    wrong: frozenset[str] = frozenset()
    redundant: frozenset[str] = frozenset()
    fixes: tuple[Fix, ...] = ()
    if found.redundant:
        names = [name for name, count in found.redundant.items() if count]
        count, moves = found.redundant_now, "it moves, but " if found.freedoms else ""
        notes.append(
            f"{count} {'equation is' if count == 1 else 'equations are'} redundant, shared by "
            f"{', '.join(names[:6])}: {moves}reactions are not unique"
        )
        redundant, fixes = frozenset(names), tuple(_looser(mechanism, names))
    if found.freedoms == 0:
        wrong = frozenset(name for name in found.loops if name in mechanism.joints)
        notes.append("nothing can move: " + ", ".join(sorted(wrong)) + " close loops")
        last = list(mechanism.joints)[-1]
        fixes = (Fix(f"remove {last}, the last joint", lambda editor: editor.delete(last)),)
    return Advice(found.freedoms, _freedoms(found.freedoms), tuple(notes), wrong, redundant, fixes)


def _first(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:3])[:400]


def _freedoms(count: int) -> str:
    return "1 degree of freedom" if count == 1 else f"{count} degrees of freedom"


def _unmet(mechanism: Mechanism, named: Iterable[str]) -> Iterable[Fix]:
    for name in named:
        if name in mechanism.joints:
            yield Fix(f"remove {name}", lambda editor, name=name: editor.delete(name))


def _mends(mechanism: Mechanism, text: str) -> Iterable[Fix]:
    """Return what gives mass to bodies that have none."""
    for name, body in mechanism.bodies.items():
        if repr(name) in text and body.inertia.mass == 0.0:
            yield Fix(
                f"give {name} the density of steel",
                lambda editor, name=name: editor.set_density(name, 7850.0),
            )


def _looser(mechanism: Mechanism, names: Iterable[str]) -> Iterable[Fix]:
    """Return what takes redundant equations away: a hinge of the loop that becomes a ball."""
    for name in names:
        if mechanism.space == "space" and isinstance(mechanism.joints.get(name), Revolute):
            yield Fix(
                f"make {name} a ball joint",
                lambda editor, name=name: editor.change_kind(name, Spherical.__name__),
            )
            return
