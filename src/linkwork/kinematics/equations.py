"""A joint, constraint or driver as formulas on the bodies it is between: phi, phi_q, and what rates must be.

It is run once on symbols ("Xb", k), ("qb", k), ("vb", k): frame, coordinates and velocities of its b-th body;
("s", k), ("w", k): its own unknowns and their rates; ("u", k): the value of a driver, its first and second
derivative; ("ref", k): joint coordinates as they were last, by which turns are counted; ("data", k): frames
of a joint on its bodies; ("parameter", k): all other numbers. Things of one structure share their code.

A body changes by (x, y, angle) in the plane; in space by its place in axes of the world, and a turn about its
own axes. With phi(q, u(t)) = 0 for all times

    phi_q v = -phi_u u',    phi_q a = -d/dt (phi_q v + phi_u u') at constant v
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from linkwork.errors import ModelError, TraceError
from linkwork.mechanism.called_equations import frame_sizes, given_slope, traced_or_called
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joint_constraint import traced_motion
from linkwork.mechanism.joints import CATALOGUE
from linkwork.mechanism.load_view import PoseSide
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph, Operand
from linkwork.tree.joint_formula import lift, structure

Thing = Joint | Constraint


@dataclass(frozen=True, eq=False)
class Equations:
    """The formulas of one structure."""

    algebra: ModuleType
    signature: str
    bodies: int  # ground among them
    data: int  # numbers before the parameters
    unknowns: int
    references: int
    inputs: int  # 1 for a driver
    phi: tuple[Operand, ...]
    entries: tuple[tuple[int, int, int], ...]  # where phi_q is not zero: equation, body (-1: own), component
    phi_q: tuple[Operand, ...]  # those entries
    velocity: tuple[Operand, ...]  # per equation: what phi_q v has to be
    acceleration: tuple[Operand, ...]  # what phi_q a has to be
    located: tuple[Operand, ...]  # the joint coordinates that references follow


_BY_CLASS: dict[Any, tuple[Equations, list[float]]] = {}  # joints of the catalogue, in all mechanisms


class Catalogue:
    """The structures met so far in one mechanism."""

    def __init__(self, space: ModuleType):
        self._algebra = space
        self._by_signature: dict[str, Equations] = {}

    def of(
        self, thing: Thing, on_ground: Sequence[bool], varied: Sequence[float] = (), put: Any = None
    ) -> tuple[Equations, list[float]]:
        """Return the equations of a thing, and its numbers; joints of the catalogue are traced once.

        With numbers `varied` these are data, behind those of its frames; put(symbols) is the thing with
        symbols instead of them.
        """
        if type(thing) not in CATALOGUE or varied:
            return self._traced(thing, on_ground, varied, put)
        assert isinstance(thing, Joint)
        numbers = tuple(getattr(thing, word) for word in thing.parameters)
        key = self._algebra, type(thing), tuple(on_ground), numbers
        if key not in _BY_CLASS:
            _BY_CLASS[key] = self._traced(thing, on_ground)
        equations, numbers = _BY_CLASS[key]
        frames = [float(x) for frame in thing.frames() for x in frame.scalars()]
        return equations, [*frames, *numbers[equations.data :]]

    def _traced(
        self, thing: Thing, on_ground: Sequence[bool], varied: Sequence[float] = (), put: Any = None
    ) -> tuple[Equations, list[float]]:
        try:
            traced = _Trace(thing, self._algebra, on_ground, varied, put)
        except (TraceError, ModelError) as error:
            who = f"{_word(thing)} {thing.name!r}: "
            raise type(error)(who + str(error).removeprefix(who)) from error
        groups = traced.groups
        roots, constants = lift([x for group in groups for x in group])
        sizes = len(thing.bodies), len(traced.numbers), traced.unknowns, len(traced.references)
        signature = f"{self._algebra.__name__} {sizes} {list(on_ground)} {traced.entries} {structure(roots)}"
        if signature not in self._by_signature:
            pieces, first = [], 0
            for group in groups:
                pieces.append(tuple(roots[first : first + len(group)]))
                first += len(group)
            phi, phi_q, velocity, acceleration, located = pieces
            self._by_signature[signature] = Equations(
                self._algebra,
                signature,
                *sizes,
                int(isinstance(thing, Driver)),
                phi,
                tuple(traced.entries),
                phi_q,
                velocity,
                acceleration,
                located,
            )
        return self._by_signature[signature], [*traced.numbers, *constants]


class _Trace:
    """One thing, run on symbols."""

    def __init__(
        self, thing: Thing, algebra: ModuleType, on_ground: Sequence[bool], varied: Sequence[float], put: Any
    ):
        self.graph, self.algebra = Graph(), algebra
        Frame = algebra.Frame
        if isinstance(thing, Joint):  # its frames are data
            self.numbers = [float(x) for frame in thing.frames() for x in frame.scalars()]
        else:
            self.numbers: list[float] = []
        if varied:
            thing = put(self._symbols("data", len(varied), len(self.numbers)))
            self.numbers += varied
        self.sides = []
        for b, ground in enumerate(on_ground):
            frame = Frame() if ground else Frame.from_scalars(self._symbols(f"X{b}", Frame.size))
            angle = 0.0 if ground else self.graph.symbol((f"q{b}", 2))
            self.sides.append(PoseSide(algebra, frame, angle if algebra.dimension == 2 else None))
        self.moving = [b for b, ground in enumerate(on_ground) if not ground]
        self.unknowns = own_unknowns(thing)
        self.own = self._symbols("s", self.unknowns)
        self.references: list[Expr] = []
        self.located: list[Operand] = []
        self.inputs = self._symbols("u", 3) if isinstance(thing, Driver) else []
        rows = self._joint(thing) if isinstance(thing, Joint) else self._constraint(thing)
        self.groups = self._differentiated(list(rows))

    def _symbols(self, name: str, count: int, first: int = 0) -> list[Expr]:
        return self.graph.symbols((name, first + k) for k in range(count))

    def _joint(self, joint: Joint) -> Sequence[Operand]:
        """Return the equations of a joint, the frames on its bodies being data."""
        Frame = self.algebra.Frame
        on_parent, on_child = (
            Frame.from_scalars(self._symbols("data", Frame.size, k * Frame.size)) for k in range(2)
        )
        parent, child = self.sides
        X = (parent.frame @ on_parent).local(child.frame @ on_child)
        if joint.can_locate:
            return joint.gap(X)
        E = traced_motion(joint, self.own).local(X)  # its coordinates are unknowns
        return [*E.p, *self.algebra.skewness(E)]

    def _constraint(self, constraint: Constraint) -> Sequence[Operand]:
        if isinstance(constraint, Driver):  # counts turns by its value
            if self.unknowns:  # those of its joint
                return [self.own[int(constraint.component)] - self.inputs[0]]
            (side,) = constraint.views(self.sides)
            return constraint.phi(side, self.inputs[0])
        near = []
        for joint in constraint.sides():
            if isinstance(joint, Joint):
                near.append(self._symbols("ref", joint.nq, len(self.references)))
                self.references += near[-1]
        views = constraint.views(self.sides, near)
        for side in views:
            self.located += getattr(side, "q", []) if not isinstance(side, PoseSide) else []
        return self._traced_or_called(constraint, views, near)

    def _traced_or_called(
        self, constraint: Constraint, views: Sequence[Any], near: Sequence[Sequence[Expr]]
    ) -> Sequence[Operand]:
        """Return the equations of a constraint; one that cannot be traced is called, on views of numbers."""
        algebra, plane = self.algebra, self.algebra.dimension == 2
        bodies = [constraint.bodies[b] for b in self.moving]
        frames = [algebra.Frame(body.position.tolist(), body.rotation.tolist()) for body in bodies]
        groups: list[list[Any]] = [list(self.sides[b].frame.scalars()) for b in self.moving]
        drawn = [[float(x) for x in frame.scalars()] for frame in frames]
        sizes = [frame_sizes(constraint, 1) for _ in frames]
        if plane:
            groups += [[self.sides[b].angle] for b in self.moving]
            drawn += [[float(frame.angle)] for frame in frames]
        joints = [side for side in constraint.sides() if isinstance(side, Joint)]
        groups += [*(list(one) for one in near), list(self.own)]
        drawn += [[float(x) for x in joint.drawn()] for joint in joints]
        drawn.append(
            [float(x) for x in constraint.guess(*constraint.views(self._at(drawn)))] if self.own else []
        )
        sizes += [[1.0] * len(group) for group in groups[len(sizes) :]]

        def run(numbers: Sequence[float]) -> Any:
            rest, parts = list(numbers), []
            for group in groups:
                parts.append([rest.pop(0) for _ in group])
            seen = constraint.views(self._at(parts), parts[-1 - len(near) : -1])
            return constraint.phi(*seen, *parts[-1])

        return traced_or_called(
            constraint,
            "phi on bodies",
            lambda: constraint.phi(*views, *self.own),
            [x for group in groups for x in group],
            run,
            [x for group in drawn for x in group],
            [x for group in sizes for x in group],
            None if plane or self.own else given_slope(constraint, Constraint, bodies),
        )

    def _at(self, parts: Sequence[Sequence[float]]) -> list[PoseSide]:
        """Return views of all bodies at numbers: frames of those that move; in the plane, then angles."""
        found, k = [], 0
        for b, side in enumerate(self.sides):
            if b not in self.moving:
                found.append(side)
                continue
            angle = parts[len(self.moving) + k][0] if self.algebra.dimension == 2 else None
            found.append(PoseSide(self.algebra, self.algebra.Frame.from_scalars(list(parts[k])), angle))
            k += 1
        return found

    def _differentiated(self, rows: list[Operand]) -> tuple[list[Operand], ...]:
        size = self.algebra.freedoms
        self.entries: list[tuple[int, int, int]] = []
        phi_q: list[Operand] = []
        columns = [(b, k, self._rates(b, _unit(k, size))) for b in self.moving for k in range(size)]
        columns += [(-1, k, {s: 1.0}) for k, s in enumerate(self.own)]
        for b, k, rates in columns:
            for row, value in enumerate(derivative(rows, rates)):
                if isinstance(value, Expr) or value != 0.0:
                    self.entries.append((row, b, k))
                    phi_q.append(value)
        along: dict[Expr, Operand] = {}
        for b in self.moving:
            along |= self._rates(b, self._symbols(f"v{b}", size))
        along |= dict(zip(self.own, self._symbols("w", self.unknowns), strict=True))
        driven = dict(zip(self.inputs, self.inputs[1:], strict=False))
        velocity = [-x for x in derivative(rows, driven)]
        acceleration = [-x for x in derivative(derivative(rows, along | driven), along | driven)]
        return rows, phi_q, velocity, acceleration, self.located

    def _rates(self, b: int, change: Sequence[Operand]) -> dict[Expr, Operand]:
        """Return how the symbols of a body change with its coordinates."""
        frame = self.sides[b].frame
        rates = {}
        for x, rate in zip(frame.scalars(), self.algebra.frame_rate(frame, change).scalars(), strict=True):
            if isinstance(x, Expr) and x.op == "symbol":
                rates[x] = rate
        if self.algebra.dimension == 2:
            rates[self.graph.symbol((f"q{b}", 2))] = change[2]
        return rates


def own_unknowns(thing: Thing) -> int:
    """Return how many unknowns a thing has beside the poses: coordinates that do not follow from these."""
    if isinstance(thing, Driver):
        return own_unknowns(joint) if (joint := borrowed(thing)) else 0
    if isinstance(thing, Constraint):
        return thing.unknowns
    return 0 if thing.can_locate else thing.nq


def borrowed(thing: Thing) -> Joint | None:
    """Return the joint whose unknowns a driver drives."""
    if not isinstance(thing, Driver):
        return None
    side = thing.sides()[0]
    return side if isinstance(side, Joint) and not side.can_locate else None


def _unit(k: int, size: int) -> list[float]:
    return [1.0 if i == k else 0.0 for i in range(size)]


def _word(thing: Thing) -> str:
    return "joint" if isinstance(thing, Joint) else thing.word
