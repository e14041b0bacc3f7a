"""What a load does: its law run on any numbers, floats or symbols, as forces on links and joints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.algebra.number import Number
from linkwork.mechanism.input import Input, as_number, reading
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide, JointSide, SystemSide, coordinates
from linkwork.trace.graph_walks import is_condition
from linkwork.tree.joint_formula import JointFormula
from linkwork.tree.joint_kinematics import JointKinematics
from linkwork.varied import real

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


class _TreeSide(JointSide):
    """A joint of the tree, and which side it is."""

    def __init__(self, side: int, q: Sequence[Number], v: Sequence[Number]):
        super().__init__(q, v)
        self.side = side


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


def _numbers(shown: Any) -> list[Number]:
    if shown is None:
        return []
    items = list(shown) if isinstance(shown, list | tuple) or np.ndim(shown) else [shown]
    if any(isinstance(x, bool | np.bool_) or is_condition(x) for x in items):
        raise TypeError("it is a truth value; give a number (of an event one that crosses zero: q - 0.3)")
    if any(isinstance(x, complex) for x in items):
        raise TypeError(f"{shown!r} is complex; give real numbers")
    return [x.item() if isinstance(x, np.ndarray) else as_number(x) for x in items]
