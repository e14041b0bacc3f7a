"""The graph of bodies and joints: a spanning tree from ground, and the joints that close loops."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import attrgetter
from typing import Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.lazy import kept
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joint_inputs import reads_inputs
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.same_ends import same_ends
from linkwork.mechanism.stop import RigidStop
from linkwork.tree import joint_forces
from linkwork.tree.branch_tables import COORDINATE_WORDS, BranchTables, Piece, branch_tables, pieces
from linkwork.tree.breadth_first import NO_JOINT, spanned
from linkwork.tree.joint_forces import Rows
from linkwork.tree.joint_formula import JointFormula, JointFormulas
from linkwork.tree.loop_constraint import ties
from linkwork.varied import of_variants

StandIn = tuple[float, float]  # mass and moment


@dataclass(frozen=True, eq=False)
class TreeBody:
    """One body of the spanning tree and the joint it hangs on."""

    body: Body
    parent: Body  # the body nearer to ground
    joint: Joint
    reverse: bool  # the body is the joint's parent: the joint is met the other way round
    stand_in: StandIn | None = None  # of one that has no mass, and is driven

    @kept
    def name(self) -> str:
        """That of the joint."""
        return self.joint.name

    @kept
    def body_name(self) -> str:
        return self.body.name

    @kept
    def parent_name(self) -> str:
        return self.parent.name

    @kept
    def fixed(self) -> bool:
        """Whether the joint is a weld; a subclass of Fixed may move its frame."""
        return type(self.joint) is Fixed

    @kept
    def counts(self) -> tuple[int, int, int]:
        """How many positions and velocities the joint has, and where its quaternion begins, or -1."""
        joint = self.joint
        return joint.nq, joint.nv, -1 if joint.quaternion is None else joint.quaternion

    @property
    def inner(self) -> Any:
        """The joint's frame on the body nearer to ground."""
        return self.frames[1 if self.reverse else 0]

    @property
    def outer(self) -> Any:
        """The joint's frame on the body."""
        return self.frames[0 if self.reverse else 1]

    @kept
    def on_joint(self) -> Any:
        """The pose of the body in the joint's frame on it."""
        return self.outer.inverse

    @kept
    def inertia(self) -> Any:
        """The inertia of the body, in the joint's frame on it."""
        given, algebra = self.body.inertia, self.joint.algebra
        if self.stand_in:
            mass, moment = self.stand_in
            tensor = moment if algebra.dimension == 2 else np.diag([moment] * 3).tolist()
            return self.on_joint @ algebra.RigidInertia.about_center(mass, given.com.tolist(), tensor)
        return self.on_joint @ given.rigid

    @kept
    def formula(self) -> tuple[JointFormula, list[float]]:
        """The kind of the joint, as it is met, and its numbers."""
        return JointFormulas().of(self.joint, self.reverse)

    @kept
    def driven_formula(self) -> tuple[JointFormula, list[float]]:
        """The same with the joint's own forces, whose settings are not among the numbers."""
        return JointFormulas(driven=True).of(self.joint, self.reverse)

    @kept
    def rigid_formula(self) -> tuple[JointFormula, list[float]]:
        """The same without friction that sticks in runs with rigid contact."""
        return JointFormulas(driven=True, rows=Rows.FRICTION).of(self.joint, self.reverse)

    @kept
    def stepped_formula(self) -> tuple[JointFormula, list[float]]:
        """The same without what is rows in steps with contact: springs at limits, too."""
        return JointFormulas(driven=True, rows=Rows.STOPS).of(self.joint, self.reverse)

    @kept
    def settings(self) -> list[float]:
        """Those of the joint's own forces if it has no stops."""
        return joint_forces.settings(self.joint, ())

    @kept
    def has_stops(self) -> bool:
        """Whether the joint has limits: the numbers of its stops depend on what it moves."""
        return joint_forces.has_stops(self.joint)

    @kept
    def reads_inputs(self) -> bool:
        """Whether an option of the joint is an input."""
        return reads_inputs(self.joint)

    @kept
    def armature(self) -> list[float]:
        return self.joint.per_coordinate("armature").tolist()

    @kept
    def frames(self) -> tuple[Any, Any]:
        """The joint's frames on its two bodies."""
        return self.joint.frames()

    @kept
    def of_body(self) -> np.ndarray:
        """Mass, centre and tensor of the body: numbers of a row."""
        inertia = self.body.inertia
        return np.concatenate([[inertia.mass], inertia.com, inertia.tensor.ravel()])

    @kept
    def arm(self) -> float:
        """How far the body's centre of mass is from its origin [m]."""
        return of_variants(_length, self.body.inertia.com)

    @kept
    def drawn(self) -> np.ndarray:
        """The joint's coordinates as drawn, (nq,)."""
        return np.array(self.joint.drawn(), float)

    @kept
    def of_coordinates(self) -> np.ndarray:
        """Per velocity what `COORDINATE_WORDS` say, (nv, 7)."""
        joint = self.joint
        plain = [getattr(joint, word) for word in COORDINATE_WORDS[2:]]
        if joint.limits is None and all(type(x) is float for x in plain):
            return np.array([[-np.inf, np.inf, *plain]] * joint.nv).reshape(-1, len(COORDINATE_WORDS))
        columns = [joint.per_coordinate(word) for word in COORDINATE_WORDS[2:]]
        return np.column_stack([joint.limit_pairs().reshape(-1, 2), *columns])


def _length(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


@dataclass(frozen=True, eq=False)
class Topology:
    """The spanning tree, parents before children and each branch in one piece, and what closes loops."""

    branches: tuple[TreeBody, ...]
    parents: np.ndarray  # (branches,) the number of the branch each hangs on, -1: ground
    reverse: np.ndarray  # (branches,) which joints are met the other way round
    stand_ins: Mapping[Body, StandIn]  # of bodies that have no mass, and are driven
    loops: tuple[Any, ...]  # joints, and constraints as ties
    pieces: list[Piece]  # branches that are those of the tree it was grown from, and new ones
    tables: BranchTables
    graph: "Graph"
    branch_of: np.ndarray  # (joints of the graph,) the branch on each joint, -1: it closes a loop


def topology(
    mechanism: Mechanism,
    wanted: Iterable[str] = (),
    like: Topology | None = None,
    free: Callable[[Body], Joint] | None = None,
) -> Topology:
    """Span the tree, cut what closes loops, and number the bodies depth first; cut those that are wanted.

    Branches of the same body on the same joint are taken over from a topology `like` this one. `free` gives
    a joint to a body that no other connects to ground.
    """
    graph = Graph(mechanism, like.graph if like else None)
    cut = _wanted(graph, wanted)
    tree = graph.span(cut, free)
    while closing := graph.left_over(tree):  # each round cuts a better joint of a loop, or is the last
        chosen = [joint for joint in closing if joint.name not in cut]
        better = _better_cut(chosen, tree, _worth_cutting(mechanism)) if chosen else None
        if better is None:
            break
        cut.add(better)
        tree = graph.span(cut, free)
    stand_ins = _stand_ins(mechanism, tree) if mechanism.drivers else {}
    found = pieces(_places_before(tree, stand_ins, like))
    branches: list[TreeBody] = []
    for begin, end, first in found:
        if like and first >= 0:
            branches += like.branches[first : first + end - begin]
        else:
            branches += [tree.branch(k, stand_ins) for k in range(begin, end)]
    dimension = 3 if mechanism.space == "space" else 2
    tables = branch_tables(branches, found, like.tables if like else None, dimension)
    loops = (*closing, *ties(mechanism, closing))
    branch_of = np.full(len(graph.joints), -1)
    branch_of[tree.joint_numbers] = np.arange(len(branches))
    return Topology(
        tuple(branches), tree.parents, tree.reverse, stand_ins, loops, found, tables, graph, branch_of
    )


@dataclass(frozen=True, eq=False)
class _Spanned:
    """The branches of a spanning tree, parents before children."""

    graph: "Graph"
    body_numbers: np.ndarray  # in the graph, of each branch
    joint_numbers: np.ndarray
    parents: np.ndarray
    reverse: np.ndarray

    @kept
    def bodies(self) -> list[Body]:
        return list(map(self.graph.bodies.__getitem__, self.body_numbers.tolist()))

    @kept
    def joints(self) -> list[Joint]:
        return list(map(self.graph.joints.__getitem__, self.joint_numbers.tolist()))

    def parent(self, k: int) -> Body:
        above = int(self.parents[k])
        return self.graph.bodies[self.body_numbers[above] if above >= 0 else 0]

    def branch(self, k: int, stand_ins: Mapping[Body, StandIn]) -> TreeBody:
        body = self.graph.bodies[self.body_numbers[k]]
        joint = self.graph.joints[self.joint_numbers[k]]
        return TreeBody(body, self.parent(k), joint, bool(self.reverse[k]), stand_ins.get(body))


class Graph:
    """Bodies and the joints that connect them, by number; what is the same in a graph `like` it is shared."""

    def __init__(self, mechanism: Mechanism, like: "Graph | None" = None):
        self.bodies = [mechanism.ground, *mechanism.bodies.values()]  # ground is the first
        self.joints = list(mechanism.joints.values())
        ends, head, tail = np.empty((2, 0), np.int64), 0, 0
        if like and like.bodies == self.bodies:
            self._number, ends = like._number, like._ends
            head, tail = same_ends(like.joints, self.joints)
        else:
            self._number = dict(zip(self.bodies, range(len(self.bodies)), strict=True))
        new = self.joints[head : len(self.joints) - tail]
        between = [[self._number[side] for side in map(which, new)] for which in (_parent, _child)]
        parts = ends[:, :head], np.array(between, np.int64).reshape(2, -1), ends[:, ends.shape[1] - tail :]
        self._ends = np.concatenate(parts, axis=1)  # (2, joints) numbers of parent and child

    def span(self, cut: Collection[str], free: Callable[[Body], Joint] | None = None) -> _Spanned:
        """Return a spanning tree without joints that are cut; `free` gives joints to bodies not reached."""
        numbers = [k for k, joint in enumerate(self.joints) if joint.name not in cut] if cut else []
        ends = np.ascontiguousarray(self._ends[:, numbers]) if cut else self._ends
        bodies, parents, joints = spanned(ends, len(self.bodies) - 1, free is not None)
        if cut:
            joints = np.where(joints < 0, NO_JOINT, np.array([*numbers, NO_JOINT])[joints])
        if free:
            for k in (joints == NO_JOINT).nonzero()[0].tolist():
                joints[k] = self._add(free, int(bodies[k]))
        return _Spanned(self, bodies, joints, parents, self._ends[0, joints] == bodies)

    def _add(self, free: Callable[[Body], Joint], body: int) -> int:
        """Connect a body to ground; return the number of its joint."""
        self.joints.append(free(self.bodies[body]))
        self._ends = np.column_stack([self._ends, [0, body]])
        return len(self.joints) - 1

    def left_over(self, tree: _Spanned) -> list[Joint]:
        """Return the joints that are not in a tree."""
        if len(tree.joint_numbers) == len(self.joints):
            return []
        used = set(tree.joints)
        return [joint for joint in self.joints if joint not in used]


_parent, _child = map(attrgetter, ("parent", "child"))


def _places_before(tree: _Spanned, stand_ins: Mapping[Body, StandIn], like: Topology | None) -> np.ndarray:
    """Return where each branch, on the same joint met the same way, was in another tree, or -1."""
    if not like or not like.branches:
        return np.full(len(tree.joint_numbers), -1)
    ours, theirs = tree.graph.joints, like.graph.joints
    head, tail = same_ends(ours, theirs)
    known = dict(zip(theirs[head : len(theirs) - tail], like.branch_of[head:].tolist(), strict=False))
    between = [known.get(joint, -1) for joint in ours[head : len(ours) - tail]]
    behind = like.branch_of[len(theirs) - tail :]
    places = np.concatenate([like.branch_of[:head], np.array(between, np.int64), behind])[tree.joint_numbers]
    places[like.reverse[places] != tree.reverse] = -1
    if stand_ins != like.stand_ins:
        changed = [stand_ins.get(body) != like.stand_ins.get(body) for body in tree.bodies]
        places[changed] = -1
    return places


# What is driven moves as its driver says, whatever its mass; but the equations divide by it. A body without
# mass, that carries none and all of whose freedoms are driven, counts as this part of the mechanism.
STAND_IN = 1e-7


def _stand_ins(mechanism: Mechanism, tree: _Spanned) -> dict[Body, StandIn]:
    """Return mass and moment that stand in for those of bodies that have and carry none, and are driven."""
    if all(_has_mass(body) for body in mechanism.bodies.values()):
        return {}
    driven: dict[int, set[Any]] = defaultdict(set)
    for driver in mechanism.drivers.values():
        driven[id(driver.sides()[0])].add(driver.component)
    total = sum(float(body.inertia.mass) for body in mechanism.bodies.values()) or 1.0
    size = max(float(np.linalg.norm(body.position)) for body in mechanism.bodies.values()) or 1.0
    found: dict[Body, StandIn] = {}
    heavy = {body for body in mechanism.bodies.values() if _has_mass(body)}
    for k in reversed(range(len(tree.bodies))):
        body, joint = tree.bodies[k], tree.joints[k]
        if body in heavy:
            heavy.add(tree.parent(k))
        elif len(driven[id(joint)] | driven[id(body)]) >= joint.nv > 0:
            found[body] = STAND_IN * total, STAND_IN * total * size**2
    return found


def _has_mass(body: Body) -> bool:
    return bool(np.any(body.inertia.mass) or np.any(body.inertia.tensor))


def _wanted(graph: Graph, names: Iterable[str]) -> set[str]:
    """Return the joints that are to be cut; ModelError if they cannot all be."""
    cut = {names} if isinstance(names, str) else set(names)
    known = [joint.name for joint in graph.joints] if cut else []
    for name in cut:
        if name not in known:
            raise ModelError(f"cut: {unknown('joint', name, known)}")
    if cut and len(graph.span(cut).parents) < len(graph.span(()).parents):
        named = ", ".join(map(repr, sorted(cut)))
        raise ModelError(f"cut: without {named} not all bodies are connected to ground; cut fewer")
    return cut


def _better_cut(
    closing: Sequence[Joint], tree: _Spanned, worth: Callable[[Joint], tuple[Any, ...]]
) -> str | None:
    """Return the first joint of a loop that leaves fewer equations when it is cut instead; None if none is.

    A cut joint leaves one equation per freedom it takes; it must be able to compute its coordinates from the
    poses of its bodies; and loads and drives act on joints of the tree.
    """
    above = {body: (tree.parent(k), tree.joints[k]) for k, body in enumerate(tree.bodies)}
    for joint in closing:
        paths: list[list[Joint]] = []
        for body in (joint.parent, joint.child):
            path = []
            while body in above:
                body, carrying = above[body]
                path.append(carrying)
            paths.append(path)
        a, b = paths
        while a and b and a[-1] is b[-1]:  # what both have in common is not in the loop
            a.pop()
            b.pop()
        candidates = [joint, *(other for pair in zip_longest(a, b) for other in pair if other)]
        best = max(candidates, key=worth)  # the first of the best: nearest to the middle of the loop
        if best is not joint and worth(best) != worth(joint):
            return best.name
    return None


def _worth_cutting(mechanism: Mechanism) -> Callable[[Joint], tuple[Any, ...]]:
    """Return what makes a joint worth cutting: it can be, loads leave it alone, it has many freedoms.

    What is rigid along a coordinate, a stop or friction, is exact where that is one of the tree. A body
    without mass is no tip of the tree, where its joint would move no inertia: in a loop others move it.
    """
    constrained = {
        side.name
        for constraint in (*mechanism.constraints.values(), *mechanism.drivers.values())
        for side in constraint.sides()
        if isinstance(side, Joint)
    }
    loaded = {
        thing.name
        for load in mechanism.loads.values()
        for thing in load.sides(mechanism.joints)
        if isinstance(thing, Joint)
    }

    def worth(joint: Joint) -> tuple[Any, ...]:
        alone = joint.name not in loaded and not joint.per_coordinate("armature").any()
        alone = alone and not (isinstance(joint.stop, RigidStop) and joint_forces.has_limits(joint))
        carried = all(_has_mass(body) or body is mechanism.ground for body in (joint.parent, joint.child))
        return joint.can_locate and joint.name not in constrained, carried, alone, joint.nv

    return worth
