"""Loads placed on a tree, and their formulas with the numbers taken out: loads alike share native code.

As with joints (`kind`), a load is run once on symbols; constants become parameters, which are data. A law
that cannot be run on symbols is kept as Python, to be called; a law that gives something else when it is
asked twice (it draws random numbers, or counts its calls) is refused (`purity`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, Protocol
from weakref import WeakSet

import numpy as np

from linkwork.algebra.number import Number
from linkwork.errors import ModelError
from linkwork.fingerprint import digest, spelled_code
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input, as_number, enter, reading
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.journaled import LOCKED
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide, JointSide, SystemSide, WrongAnswer, coordinates
from linkwork.mechanism.mechanism import Mechanism
from linkwork.trace.expression import Graph, is_condition, is_smooth, reachable
from linkwork.tree.joint_formula import JointFormula, lift, structure
from linkwork.tree.joint_kinematics import JointKinematics
from linkwork.tree.purity import NotAFunction, differ, traced_purely, two_answers
from linkwork.varied import real

_ASKED, _ASKED_AGAIN = 100, 5  # times that a law is asked whose formula is a constant, or not
_known_functions: WeakSet[Load] = WeakSet()  # loads of models whose laws are functions of their arguments

Slices = Mapping[str, tuple[slice, slice]]  # joint -> (slice in q, slice in v)
Both = tuple[Sequence[Number], Sequence[Number]]  # positions and velocities


@dataclass(frozen=True, eq=False)
class Cut:
    """A joint that closes a loop, and so has no coordinates in the tree."""

    joint: Joint
    kind: JointFormula
    numbers: Sequence[float]


@dataclass(frozen=True)
class Side:
    """Where a load acts: on a body of a link, or on the joint of one, or on an end of a cut joint."""

    link: int  # 0 for ground
    frame: Any  # of the body, or of the cut joint's end, in its link; None for a joint of the tree
    q: slice  # coordinates of the joint, none for a body
    v: slice
    body: str = ""  # the body it is on; none for a joint of the tree
    on_body: Any = None  # the frame in the body
    cut: Cut | None = None  # the joint; its ends, on parent and child, come one after the other
    base: Any = None  # the frame of the body in its link

    def like(self, other: "Side") -> bool:
        """Whether a formula sees the same of both: all but their numbers."""
        cuts = [side.cut.joint if side.cut else None for side in (self, other)]
        return (
            self.base is other.base
            and cuts[0] is cuts[1]
            and (self.link == 0) == (other.link == 0)
            and (self.frame is None) == (other.frame is None)
            and self.q.stop - self.q.start == other.q.stop - other.q.start
            and self.v.stop - self.v.start == other.v.stop - other.v.start
        )

    def pose(self, poses: Mapping[str, Any]) -> Any:
        """Return the pose of the link, from those of bodies."""
        return poses[self.body] @ self.on_body @ self.frame.inverse


@dataclass(frozen=True)
class LoadNumbers:
    """What a load is run on, over any number."""

    t: Number
    frame: Callable[[int], Any]  # of a side's link in the world
    motion: Callable[[int], Any]  # of a side's link, in its frame
    joint: Callable[[int], Both]  # of a side's joint
    whole: Callable[[], Both]  # of the mechanism
    input: Callable[[Input], Number]


@dataclass(frozen=True)
class Outcome:
    """What a load does, and what it shows of it."""

    wrenches: dict[int, Any]  # by side: force in the frame and about the origin of its link
    forces: dict[tuple[int, int], Number]  # by side (-1: the whole mechanism) and velocity: generalised force
    across: dict[tuple[str, int], Number]  # by cut joint and velocity: generalised force, in `wrenches` too
    shown: list[Number]

    def scalars(self) -> list[Number]:
        wrenches = (x for wrench in self.wrenches.values() for x in wrench.scalars())
        others = (*self.forces.values(), *self.across.values(), *self.shown)
        return [x if hasattr(x, "graph") else real(x) for x in (*wrenches, *others)]

    def like(self, scalars: Sequence[Number]) -> "Outcome":
        """Return an outcome of this form, made of other numbers."""
        numbers = iter(scalars)
        wrenches = {
            k: type(w).from_scalars([next(numbers) for _ in range(w.size)]) for k, w in self.wrenches.items()
        }
        forces = {key: next(numbers) for key in self.forces}
        across = {key: next(numbers) for key in self.across}
        return Outcome(wrenches, forces, across, list(numbers))

    def outputs(self) -> list[Number]:
        """Return the numbers that are kept: what the load shows, and its forces in cut joints."""
        return [*self.shown, *self.across.values()]


@dataclass(frozen=True, eq=False)
class LoadFormula:
    """A load over symbols ("t", 0), ("X0", k), ("v0", k), ("q0", k), ("qd0", k) of its first side, ...,
    ("q", k), ("qd", k) of the whole mechanism, ("i0", 0) of its first input, ..., and ("parameter", k).
    """

    outcome: Outcome
    parameters: tuple[float, ...]
    signature: str  # equal for loads that can share their code
    timed: bool  # the time is in it
    varies: bool  # anything is in it that can change
    smooth: bool  # nothing in it bends or jumps, though it may saturate
    size: int  # nodes


@dataclass(frozen=True, eq=False)
class PlacedLoad:
    """A load on the links of a tree."""

    load: Load
    described: Load  # as it was before it was drawn
    drawn: tuple[float, ...]  # the poses of its bodies as drawn
    algebra: ModuleType
    sides: tuple[Side, ...]
    seen: int  # how many things it is given; sides beyond are those of joints that it may ask for
    slices: Slices
    formula: LoadFormula | None  # None: its law must be called
    shown: int  # how many numbers it shows
    across: tuple[tuple[str, int], ...]  # cut joints and their velocities, whose forces follow these
    inputs: tuple[Input, ...]  # that its law reads

    @property
    def outputs(self) -> int:
        """How many numbers it puts out: those it shows, and its forces in cut joints."""
        return self.shown + len(self.across)

    @property
    def name(self) -> str:
        return self.load.name

    @property
    def says(self) -> str:
        """What it is, in words."""
        return f"{self.load.word} {self.name!r}"

    @property
    def timed(self) -> bool:
        """Whether the time may be in its law."""
        return self.formula is None or self.formula.timed


class _CutSide(JointSide):
    """A cut joint, seen from its ends; what drives it pushes both."""

    def __init__(self, cut: Cut, a: BodySide, b: BodySide):
        X = a.frame.local(b.frame)
        self._seen = JointKinematics.of(cut.joint, cut.kind, cut.numbers, X, b.motion - X.local(a.motion))
        self.name, self.ends = cut.joint.name, (a, b)
        super().__init__(self._seen.q, self._seen.v)

    def settle(self) -> None:
        """Let the ends feel the forces."""
        for end, wrench in zip(self.ends, self._seen.push(self.forces), strict=True):
            end.wrench = end.wrench + wrench


def act(
    load: Load, algebra: ModuleType, sides: Sequence[Side], slices: Slices, numbers: LoadNumbers, seen: int
) -> Outcome:
    """Run a load on any numbers; it is given the first `seen` of what its sides make."""
    bodies = {
        k: BodySide(algebra, numbers.frame(k) @ side.frame, side.frame.local(numbers.motion(k)))
        for k, side in enumerate(sides)
        if side.frame is not None
    }
    views: list[Any] = []
    k = 0
    while k < len(sides):
        cut = sides[k].cut
        if cut:
            views.append(_CutSide(cut, bodies[k], bodies[k + 1]))
        else:
            views.append(bodies[k] if k in bodies else _TreeSide(k, *numbers.joint(k)))
        k += 2 if cut else 1
    cuts = {view.name: view for view in views if isinstance(view, _CutSide)}
    everything: list[SystemSide] = []
    if load.whole:
        q, v = (
            coordinates(
                numbers.whole()[n],
                {joint: pair[n] for joint, pair in slices.items()},
                {name: (view.position, view.velocity)[n] for name, view in cuts.items()},
            )
            for n in (0, 1)
        )
        everything = [SystemSide(q, v, cuts)]
    with reading(numbers.input):
        shown = _numbers(load.act(numbers.t, *everything, *views[:seen]))
    forces: dict[tuple[int, int], Number] = {}
    for view in views:
        if isinstance(view, _TreeSide):
            for n, force in enumerate(view.forces):
                key = (-1, sides[view.side].v.start + n) if load.whole else (view.side, n)
                forces[key] = forces.get(key, 0.0) + force
    for system in everything:
        for n, force in enumerate(system.forces):
            forces[-1, n] = forces.get((-1, n), 0.0) + force
    across = {(name, n): force for name, view in cuts.items() for n, force in enumerate(view.forces)}
    for view in cuts.values():
        view.settle()
    wrenches: dict[int, Any] = {}
    for k, body in bodies.items():
        if sides[k].link:
            first = next(other for other in bodies if sides[other].link == sides[k].link)
            wrench = sides[k].frame @ body.wrench
            wrenches[first] = wrenches[first] + wrench if first in wrenches else wrench
    return Outcome(wrenches, forces, across, shown)


class _TreeSide(JointSide):
    """A joint of the tree, and which side it is."""

    def __init__(self, side: int, q: Sequence[Number], v: Sequence[Number]):
        super().__init__(q, v)
        self.side = side


def _called(load: Load, error: Exception) -> str:
    """Say how the law of a load is called, if it was wrong about that."""
    called = {word: names for word, names in load.laws.items() if callable(getattr(load, word, None))}
    if load.word == "event":
        called = {"quantity": ("t", "q", "v") if load.whole else ("side", "t")}
    if not isinstance(error, TypeError) or not called:
        return ""
    if len(called) > 1 or load.word == "event":
        each = (f"{word}({', '.join(names)})" for word, names in called.items())
        return f" (it is called as {' and '.join(each)})"
    ((word, names),) = called.items()
    also = "; of a joint of one coordinate q and v are numbers" if "q" in names and not load.whole else ""
    return f" (it is called as {word}({', '.join(names)}){also})"


def _numbers(shown: Any) -> list[Number]:
    if shown is None:
        return []
    items = list(shown) if isinstance(shown, list | tuple) or np.ndim(shown) else [shown]
    if any(isinstance(x, bool | np.bool_) or is_condition(x) for x in items):
        raise TypeError("it is a truth value; give a number (of an event one that crosses zero: q - 0.3)")
    if any(isinstance(x, complex) for x in items):
        raise TypeError(f"{shown!r} is complex; give real numbers")
    return [x.item() if isinstance(x, np.ndarray) else as_number(x) for x in items]


class Sides(Protocol):
    """Where loads act on a tree."""

    def body(self, name: str) -> Side: ...

    def joint(self, name: str) -> tuple[Side, ...]: ...  # one, or two if it is cut

    @property
    def cut(self) -> Iterable[str]: ...  # the joints that are


def place(
    described: Load,
    mechanism: Mechanism,
    algebra: ModuleType,
    at: Sides,
    slices: Slices,
    q_drawn: Sequence[float],
    poses: Mapping[str, Any],
    before: PlacedLoad | None = None,
) -> PlacedLoad:
    """Find the links a load acts on, and make a formula of it, or see that it works on plain numbers.

    `poses` are those of the bodies as drawn. The formula is that of `before` if nothing in it has changed.
    """
    things = described.sides(mechanism.joints)
    given = [(at.body(thing.name),) if isinstance(thing, Body) else at.joint(thing.name) for thing in things]
    if described.whole:  # it may look at any joint, and push it
        names = {thing.name for thing in things}
        given += [at.joint(name) for name in at.cut if name not in names]
    sides, seen = tuple(side for pair in given for side in pair), len(things)
    frames = [poses[thing.name] for thing in things if isinstance(thing, Body)]
    drawn = tuple(real(x) for frame in frames for x in frame.scalars())
    if before is not None and before.formula is not None and not described.whole:
        same = before.described is described and before.drawn == drawn
        if (
            same
            and _shared_links(sides) == _shared_links(before.sides)
            and all(map(Side.like, sides, before.sides))
        ):
            return replace(before, sides=sides, slices=slices)
    load = described.drawn(frames)
    still = [0.0] * sum(part.stop - part.start for _, part in slices.values())
    inputs: dict[str, Input] = {}
    placed = partial(PlacedLoad, load, described, drawn, algebra, sides, seen, slices)

    def trace() -> LoadFormula:
        return _formula(load, algebra, sides, slices, len(q_drawn), len(still), seen, inputs)

    formula = _if_traceable(load, described, trace)
    if formula:
        outcome, known = formula.outcome, tuple(inputs.values())
        return placed(formula, len(outcome.shown), tuple(outcome.across), known)
    inputs.clear()
    outcome = _called_twice(load, algebra, sides, slices, seen, (q_drawn, still), poses, inputs)
    return placed(None, len(outcome.shown), tuple(outcome.across), tuple(inputs.values()))


def _called_twice(
    load: Load,
    algebra: ModuleType,
    sides: Sequence[Side],
    slices: Slices,
    seen: int,
    drawn: Both,
    poses: Mapping[str, Any],
    inputs: dict[str, Input],
) -> Outcome:
    """Return what a load does as drawn, at rest; ModelError if it raises, or gives two answers.

    The inputs that it reads are entered.
    """
    q, v = drawn
    numbers = LoadNumbers(
        0.0,
        lambda k: sides[k].pose(poses),
        lambda k: algebra.Motion.zero(),
        lambda k: (list(q[sides[k].q]), v[sides[k].v]),
        lambda: drawn,
        lambda given: (enter(inputs, given), given.value)[1],
    )
    who = f"{load.word} {load.name!r}"
    try:
        outcome, again = (act(load, algebra, sides, slices, numbers, seen) for _ in range(2))
        answers = outcome.scalars(), again.scalars()
    except WrongAnswer as error:
        raise ModelError(f"{who}: its law gives {error}") from error
    except Exception as error:
        raise ModelError(
            f"{who}: its law raised {type(error).__name__}: {error}{_called(load, error)}"
        ) from error
    if differ(*answers):
        raise two_answers(who, 0.0, *answers)
    return outcome


def _shared_links(sides: Sequence[Side]) -> list[int]:
    """Return, per side, the first that is on the same link."""
    links = [side.link for side in sides]
    return [links.index(link) for link in links]


def _if_traceable(load: Load, described: Load, trace: Callable[[], LoadFormula]) -> LoadFormula | None:
    """Return a formula, if it can be had; NotAFunction if it is not always the same.

    One in which nothing varies is asked for more often: it may have been drawn by lot. What has been shown of
    a load that cannot change, as those of models, is not asked again in its other trees.
    """
    try:
        found = traced_purely(
            f"{load.word} {load.name!r}",
            load,
            trace,
            lambda formula: (formula.signature, formula.parameters),
            lambda formula: (
                0 if described in _known_functions else _ASKED_AGAIN if formula.varies else _ASKED
            ),
        )
        if described._journal is LOCKED:
            _known_functions.add(described)
        return found
    except NotAFunction:
        raise
    except Exception:  # whatever a law does on symbols that it would not do on numbers
        return None


def _formula(
    load: Load,
    algebra: ModuleType,
    sides: Sequence[Side],
    slices: Slices,
    nq: int,
    nv: int,
    seen: int,
    inputs: dict[str, Input],
) -> LoadFormula:
    """Run a load on symbols; the inputs that it reads are entered, in the order of their symbols."""
    inputs.clear()
    numbers = _symbols(load, algebra, sides, nq, nv, inputs)
    outcome = act(load, algebra, sides, slices, numbers, seen)
    roots, parameters = lift(outcome.scalars())
    keys = (
        sorted(outcome.wrenches),
        list(outcome.forces),
        len(outcome.outputs()),
        [s.link == 0 for s in sides],
    )
    nodes = reachable(roots)
    used = {x.args[0][0] for x in nodes if x.op == "symbol"}
    return LoadFormula(
        outcome.like(roots),
        tuple(parameters),
        f"{algebra.__name__} {keys} {structure(roots)}",
        "t" in used,
        bool(used - {"parameter"}),
        is_smooth(outcome.scalars(), saturating=True),
        len(nodes),
    )


def _symbols(
    load: Load, algebra: ModuleType, sides: Sequence[Side], nq: int, nv: int, inputs: dict[str, Input]
) -> LoadNumbers:
    """Return symbols for all that a load may read; inputs are entered when they are read."""
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

    def read(given: Input) -> Any:
        return graph.symbol((f"i{enter(inputs, given)}", 0))

    return LoadNumbers(
        graph.symbol(("t", 0)), frame, motion, joint, lambda: (symbols("q", nq), symbols("qd", nv)), read
    )


def source_of(load: Load) -> str:
    """Return a fingerprint of a load whose law must be called: its class, its numbers, its functions."""
    mine = {word: value for word, value in vars(load).items() if word not in ("on", "_place")}
    return digest([spelled_code(type(load)), {word: spelled_code(value) for word, value in mine.items()}])
