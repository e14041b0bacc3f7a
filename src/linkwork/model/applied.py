"""Loads placed on a tree, and their formulas with the numbers taken out: loads alike share native code.

As with joints (`kind`), a load is run once on symbols; constants become parameters, which are data. A law
that cannot be run on symbols is kept as Python, to be called; a law that gives another formula when it is
asked twice (it draws random numbers, or counts its calls) is no formula, and is kept as Python too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.algebra.number import Number
from linkwork.errors import ModelError
from linkwork.fingerprint import digest, spelled_code
from linkwork.mechanism.body import Body
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.side import BodySide, JointSide, SystemSide, coordinates
from linkwork.model.kind import lift, structure
from linkwork.trace.expression import Graph, reachable

_ASKED, _ASKED_AGAIN = 100, 5  # times that a law is asked whose formula is a constant, or not

Slices = Mapping[str, tuple[slice, slice]]  # joint -> (slice in q, slice in v)
Both = tuple[Sequence[Number], Sequence[Number]]  # positions and velocities


@dataclass(frozen=True)
class Side:
    """Where a load acts: on a body of a link, or on the joint of one."""

    link: int  # 0 for ground
    frame: Any  # of the body in its link; None for a joint
    q: slice  # coordinates of the joint, none for a body
    v: slice


@dataclass(frozen=True)
class Numbers:
    """What a load is run on, over any number."""

    t: Number
    frame: Callable[[int], Any]  # of a side's link in the world
    motion: Callable[[int], Any]  # of a side's link, in its frame
    joint: Callable[[int], Both]  # of a side's joint
    whole: Callable[[], Both]  # of the mechanism


@dataclass(frozen=True)
class Outcome:
    """What a load does, and what it shows of it."""

    wrenches: dict[int, Any]  # by side: force in the frame and about the origin of its link
    forces: dict[tuple[int, int], Number]  # by side (-1: the whole mechanism) and velocity: generalised force
    shown: list[Number]

    def scalars(self) -> list[Number]:
        wrenches = (x for wrench in self.wrenches.values() for x in wrench.scalars())
        return [
            x if hasattr(x, "graph") else float(x) for x in (*wrenches, *self.forces.values(), *self.shown)
        ]

    def like(self, scalars: Sequence[Number]) -> "Outcome":
        """Return an outcome of this form, made of other numbers."""
        numbers = iter(scalars)
        wrenches = {
            k: type(w).from_scalars([next(numbers) for _ in range(w.size)]) for k, w in self.wrenches.items()
        }
        return Outcome(wrenches, {key: next(numbers) for key in self.forces}, list(numbers))


@dataclass(frozen=True, eq=False)
class Formula:
    """A load over symbols ("t", 0), ("X0", k), ("v0", k), ("q0", k), ("qd0", k) of its first side, ...,
    ("q", k), ("qd", k) of the whole mechanism, and ("parameter", k).
    """

    outcome: Outcome
    parameters: tuple[float, ...]
    signature: str  # equal for loads that can share their code
    timed: bool  # the time is in it
    varies: bool  # anything is in it that can change


@dataclass(frozen=True, eq=False)
class Placed:
    """A load on the links of a tree."""

    load: Load
    algebra: ModuleType
    sides: tuple[Side, ...]
    slices: Slices
    formula: Formula | None  # None: its law must be called
    shown: int  # how many numbers it shows

    @property
    def name(self) -> str:
        return self.load.name

    @property
    def timed(self) -> bool:
        """Whether the time may be in its law."""
        return self.formula is None or self.formula.timed


def act(load: Load, algebra: ModuleType, sides: Sequence[Side], slices: Slices, numbers: Numbers) -> Outcome:
    """Run a load on any numbers."""
    views = [
        JointSide(*numbers.joint(k))
        if side.frame is None
        else BodySide(algebra, numbers.frame(k) @ side.frame, side.frame.local(numbers.motion(k)))
        for k, side in enumerate(sides)
    ]
    everything: list[SystemSide] = []
    if load.whole:
        named = ({joint: pair[n] for joint, pair in slices.items()} for n in (0, 1))
        everything = [SystemSide(*(coordinates(x, by) for x, by in zip(numbers.whole(), named, strict=True)))]
    shown = load.act(numbers.t, *everything, *views)
    wrenches: dict[int, Any] = {}
    forces: dict[tuple[int, int], Number] = {}

    def add(key: tuple[int, int], force: Number) -> None:
        forces[key] = forces.get(key, 0.0) + force

    for k, (side, view) in enumerate(zip(sides, views, strict=True)):
        if isinstance(view, JointSide):
            for n, force in enumerate(view.forces):
                add((-1, side.v.start + n) if load.whole else (k, n), force)
        elif side.link:
            first = next(
                i for i, other in enumerate(sides) if other.frame is not None and other.link == side.link
            )
            wrench = side.frame @ view.wrench
            wrenches[first] = wrenches[first] + wrench if first in wrenches else wrench
    for system in everything:
        for n, force in enumerate(system.forces):
            add((-1, n), force)
    return Outcome(wrenches, forces, _numbers(shown))


def _numbers(shown: Any) -> list[Number]:
    if shown is None:
        return []
    items = list(shown) if isinstance(shown, list | tuple) or np.ndim(shown) else [shown]
    return [x.item() if isinstance(x, np.ndarray) else x for x in items]


def place(
    load: Load,
    mechanism: Mechanism,
    algebra: ModuleType,
    body_sides: Mapping[str, Side],
    joint_sides: Mapping[str, Side],
    slices: Slices,
    q_drawn: Sequence[float],
    poses: Mapping[str, Any],
) -> Placed:
    """Find the links a load acts on, and make a formula of it, or see that it works on plain numbers.

    `poses` are those of the bodies as drawn.
    """
    things = load.sides(mechanism.joints)
    sides = tuple(
        body_sides[thing.name] if isinstance(thing, Body) else joint_sides[thing.name] for thing in things
    )
    drawn = [poses[thing.name] for thing in things if isinstance(thing, Body)]
    load = load.drawn(drawn)
    still = [0.0] * sum(part.stop - part.start for _, part in slices.values())
    formula = _if_pure(lambda: _formula(load, algebra, sides, slices, len(q_drawn), len(still)))
    if formula:
        return Placed(load, algebra, sides, slices, formula, len(formula.outcome.shown))

    def joint(k: int) -> Both:
        return list(q_drawn[sides[k].q]), still[sides[k].v]

    numbers = Numbers(
        0.0,
        lambda k: poses[things[k].name] @ sides[k].frame.inverse,
        lambda k: algebra.Motion.zero(),
        joint,
        lambda: (q_drawn, still),
    )
    try:
        outcome = act(load, algebra, sides, slices, numbers)
        outcome.scalars()
    except Exception as error:
        raise ModelError(
            f"{load.word} {load.name!r}: its law raised {type(error).__name__}: {error}"
        ) from error
    return Placed(load, algebra, sides, slices, None, len(outcome.shown))


def _if_pure(trace: Callable[[], Formula]) -> Formula | None:
    """Return a formula, if it can be had and is always the same.

    One in which nothing varies is asked for more often: it may have been drawn by lot.
    """
    try:
        first = trace()
        for _ in range(_ASKED_AGAIN if first.varies else _ASKED):
            again = trace()
            if (again.signature, again.parameters) != (first.signature, first.parameters):
                return None
        return first
    except Exception:  # whatever a law does on symbols that it would not do on numbers
        return None


def _formula(
    load: Load, algebra: ModuleType, sides: Sequence[Side], slices: Slices, nq: int, nv: int
) -> Formula:
    graph = Graph()

    def symbols(name: str, count: int) -> list[Any]:
        return graph.symbols((name, i) for i in range(count))

    def frame(k: int) -> Any:
        if not sides[k].link:
            return algebra.Frame()
        return algebra.Frame.from_scalars(symbols(f"X{k}", algebra.Frame.size))

    def motion(k: int) -> Any:
        if not sides[k].link:
            return algebra.Motion.zero()
        return algebra.Motion.from_scalars(symbols(f"v{k}", algebra.Motion.size))

    def joint(k: int) -> Both:
        q, v = sides[k].q, sides[k].v
        if load.whole:
            return symbols("q", nq)[q], symbols("qd", nv)[v]
        return symbols(f"q{k}", q.stop - q.start), symbols(f"qd{k}", v.stop - v.start)

    numbers = Numbers(
        graph.symbol(("t", 0)), frame, motion, joint, lambda: (symbols("q", nq), symbols("qd", nv))
    )
    outcome = act(load, algebra, sides, slices, numbers)
    roots, parameters = lift(outcome.scalars())
    keys = sorted(outcome.wrenches), list(outcome.forces), len(outcome.shown), [s.link == 0 for s in sides]
    used = {x.args[0][0] for x in reachable(roots) if x.op == "symbol"}
    return Formula(
        outcome.like(roots),
        tuple(parameters),
        f"{algebra.__name__} {keys} {structure(roots)}",
        "t" in used,
        bool(used - {"parameter"}),
    )


def source_of(load: Load) -> str:
    """Return a fingerprint of a load whose law must be called: its class, its numbers, its functions."""
    mine = {word: value for word, value in vars(load).items() if word not in ("on", "_place")}
    return digest([spelled_code(type(load)), {word: spelled_code(value) for word, value in mine.items()}])
