"""The graph of bodies and joints: a spanning tree from ground, and the joints that close loops."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.lazy import kept
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joint_inputs import reads_inputs
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.stop import RigidStop
from linkwork.tree import joint_forces
from linkwork.tree.branch_tables import COORDINATE_WORDS, BranchTables, Piece, branch_tables, pieces
from linkwork.tree.joint_forces import Rows
from linkwork.tree.joint_formula import JointFormula, JointFormulas
from linkwork.tree.loop_constraint import ties
from linkwork.varied import of_variants


@dataclass(frozen=True, eq=False)
class TreeBody:
    """One body of the spanning tree and the joint it hangs on."""

    body: Body
    parent: Body  # the body nearer to ground
    joint: Joint
    reverse: bool  # the body is the joint's parent: the joint is met the other way round
    stand_in: tuple[float, float] | None = None  # mass and moment of one that has none, and is driven

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
    loops: tuple[Any, ...]  # joints, and constraints as ties
    pieces: list[Piece]  # branches that are those of the tree it was grown from, and new ones
    tables: BranchTables

    @kept
    def numbers(self) -> dict[Body, int]:
        """Where the branch of each body is."""
        return {branch.body: number for number, branch in enumerate(self.branches)}


Children = dict[Body, list[tuple[Body, Body, Joint]]]  # body -> itself, a body it carries, and their joint


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
    cut = _wanted(mechanism, wanted)
    joints = list(mechanism.joints.values())

    def freed(body: Body) -> Joint:
        assert free
        joints.append(free(body))
        return joints[-1]

    while True:  # each round cuts a better joint of a loop, or is the last
        kept = [joint for joint in joints if joint.name not in cut] if cut else joints
        children, reached = _span(mechanism, kept, freed if free else None)
        if reached == len(kept):
            break
        closing = _left_over(kept, children)
        better = _better_cut(closing, children, _worth_cutting(mechanism))
        if better is None:
            break
        cut.add(better)
    known: dict[Body, int] = like.numbers if like else {}
    earlier: tuple[TreeBody, ...] = like.branches if like else ()
    stand_ins = _stand_ins(mechanism, children) if mechanism.drivers else {}
    order: list[TreeBody] = []
    before: list[int] = []  # where each was in `like`, or -1
    stack = children[mechanism.ground][::-1]
    while stack:
        parent, body, joint = stack.pop()
        number, light = known.get(body, -1), stand_ins.get(body) if stand_ins else None
        branch = earlier[number] if number >= 0 else None
        same = branch is not None and branch.joint is joint and branch.parent is parent
        if branch is None or not same or branch.stand_in != light:
            branch, number = TreeBody(body, parent, joint, joint.child is parent, light), -1
        order.append(branch)
        before.append(number)
        if row := children.get(body):
            stack += row[::-1]
    closing = _left_over(joints, children) if reached < len(joints) else []
    found, dimension = pieces(before), 3 if mechanism.space == "space" else 2
    tables = branch_tables(order, found, like.tables if like else None, dimension)
    return Topology(tuple(order), (*closing, *ties(mechanism, closing)), found, tables)


# What is driven moves as its driver says, whatever its mass; but the equations divide by it. A body without
# mass, that carries none and all of whose freedoms are driven, counts as this part of the mechanism.
STAND_IN = 1e-7


def _stand_ins(mechanism: Mechanism, children: Children) -> dict[Body, tuple[float, float]]:
    """Return mass and moment that stand in for those of bodies that have and carry none, and are driven."""
    if all(_has_mass(body) for body in mechanism.bodies.values()):
        return {}
    driven: dict[int, set[Any]] = defaultdict(set)
    for driver in mechanism.drivers.values():
        driven[id(driver.sides()[0])].add(driver.component)
    total = sum(float(body.inertia.mass) for body in mechanism.bodies.values()) or 1.0
    size = max(float(np.linalg.norm(body.position)) for body in mechanism.bodies.values()) or 1.0
    found: dict[Body, tuple[float, float]] = {}
    walk = list(children[mechanism.ground])
    for _, body, _ in walk:  # grows while it is walked
        walk += children.get(body, [])
    heavy = {body for body in mechanism.bodies.values() if _has_mass(body)}
    for parent, body, joint in reversed(walk):
        if body in heavy:
            heavy.add(parent)
        elif len(driven[id(joint)] | driven[id(body)]) >= joint.nv > 0:
            found[body] = STAND_IN * total, STAND_IN * total * size**2
    return found


def _has_mass(body: Body) -> bool:
    return bool(np.any(body.inertia.mass) or np.any(body.inertia.tensor))


def _wanted(mechanism: Mechanism, names: Iterable[str]) -> set[str]:
    """Return the joints that are to be cut; ModelError if they cannot all be."""
    cut = {names} if isinstance(names, str) else set(names)
    if not cut:
        return cut
    for name in cut:
        if name not in mechanism.joints:
            raise ModelError(f"cut: {unknown('joint', name, mechanism.joints)}")
    joints = list(mechanism.joints.values())
    _, reached = _span(mechanism, [joint for joint in joints if joint.name not in cut])
    if reached < _span(mechanism, joints)[1]:
        named = ", ".join(map(repr, sorted(cut)))
        raise ModelError(f"cut: without {named} not all bodies are connected to ground; cut fewer")
    return cut


def _span(
    mechanism: Mechanism, joints: list[Joint], free: Callable[[Body], Joint] | None = None
) -> tuple[Children, int]:
    """Return the bodies that each body carries, and how many are carried: breadth first, so paths are short.

    `free` gives a joint to a body that is not reached.
    """
    touching: dict[Body, list[tuple[Body, Joint]]] = defaultdict(list)  # body -> its neighbours
    for joint in joints:
        parent, child = joint.parent, joint.child
        touching[parent].append((child, joint))
        touching[child].append((parent, joint))
    reached = {mechanism.ground}
    children: Children = {mechanism.ground: []}
    front = [mechanism.ground]
    while front:
        for parent in front:  # grows while it is walked
            row = []
            for body, joint in touching[parent]:
                if body not in reached:
                    reached.add(body)
                    row.append((parent, body, joint))
                    front.append(body)
            if row:
                children[parent] = row
        front = []
        if free and len(reached) <= len(mechanism.bodies):
            loose = next(body for body in mechanism.bodies.values() if body not in reached)
            reached.add(loose)
            children[mechanism.ground].append((mechanism.ground, loose, free(loose)))
            front = [loose]
    return children, len(reached) - 1


def _left_over(joints: Iterable[Joint], children: Children) -> list[Joint]:
    """Return the joints that are not in the tree."""
    used = {joint for row in children.values() for _, _, joint in row}
    return [joint for joint in joints if joint not in used]


def _better_cut(
    closing: Sequence[Joint], children: Children, worth: Callable[[Joint], tuple[Any, ...]]
) -> str | None:
    """Return the first joint of a loop that leaves fewer equations when it is cut instead; None if none is.

    A cut joint leaves one equation per freedom it takes; it must be able to compute its coordinates from the
    poses of its bodies; and loads and drives act on joints of the tree.
    """
    above = {body: (parent, joint) for row in children.values() for parent, body, joint in row}
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

    What is rigid along a coordinate, a stop or friction, is exact where that is one of the tree.
    """
    tied = {
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
        return joint.can_locate and joint.name not in tied, alone, joint.nv

    return worth
