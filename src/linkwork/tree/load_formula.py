"""Loads placed on a tree, and their formulas with the numbers taken out: loads alike share native code.

As with joints (`joint_formula`), a load is run once on symbols (`load_action`); constants become parameters,
which are data. A law that cannot be run on symbols is kept as Python, to be called; one that gives something
else when it is asked twice (it draws random numbers, or counts its calls) is refused (`purity`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, Protocol
from weakref import WeakSet

from linkwork.errors import ModelError
from linkwork.fingerprint import digest, spelled_code
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input, enter
from linkwork.mechanism.journaled import LOCKED
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import WrongAnswer
from linkwork.mechanism.mechanism import Mechanism
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import is_smooth, reachable
from linkwork.tree.joint_formula import lift, structure
from linkwork.tree.load_action import Both, LoadNumbers, Outcome, Side, Slices, act
from linkwork.tree.purity import NotAFunction, differ, traced_purely, two_answers
from linkwork.varied import real

_ASKED, _ASKED_AGAIN = 100, 5  # times that a law is asked whose formula is a constant, or not
_known_functions: WeakSet[Load] = WeakSet()  # loads of models whose laws are functions of their arguments


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
