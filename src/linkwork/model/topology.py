"""The graph of bodies and joints: a spanning tree from ground, and the joints that close loops."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.loop_constraint import ties


@dataclass(frozen=True)
class Branch:
    """One body of the spanning tree and the joint it hangs on."""

    body: Body
    parent: Body  # the body nearer to ground
    joint: Joint
    reverse: bool  # the body is the joint's parent: the joint is met the other way round
    inner: Any  # the joint's frame on the body nearer to ground
    outer: Any  # the joint's frame on the body


@dataclass(frozen=True)
class Topology:
    """The spanning tree, parents before children and each branch in one piece, and what closes loops."""

    branches: tuple[Branch, ...]
    loops: tuple[Any, ...]  # joints, and constraints as ties


def topology(mechanism: Mechanism, wanted: Iterable[str] = ()) -> Topology:
    """Span the tree, cut what closes loops, and number the bodies depth first; cut those that are wanted."""
    joints = list(mechanism.joints.values())
    cut = _wanted(mechanism, wanted)
    worth = _worth_cutting(mechanism)
    while True:  # each round cuts a better joint of a loop, or is the last
        children, used = _span(mechanism, [joint for joint in joints if joint.name not in cut])
        closing = [joint for joint in joints if joint.name not in used and joint.name not in cut]
        better = next(
            (name for joint in closing if (name := _better_cut(joint, children, worth)) is not None), None
        )
        if better is None:
            break
        cut.add(better)
    order: list[Branch] = []
    stack = list(reversed(children[mechanism.ground.name]))
    while stack:
        branch = stack.pop()
        order.append(branch)
        stack.extend(reversed(children[branch.body.name]))
    closing = [joint for joint in joints if joint.name not in used]
    return Topology(tuple(order), (*closing, *ties(mechanism, closing)))


def _wanted(mechanism: Mechanism, names: Iterable[str]) -> set[str]:
    """Return the joints that are to be cut; ModelError if they cannot all be."""
    cut = {names} if isinstance(names, str) else set(names)
    for name in cut:
        if name not in mechanism.joints:
            raise ModelError(f"cut: {unknown('joint', name, mechanism.joints)}")
    _, used = _span(mechanism, [joint for joint in mechanism.joints.values() if joint.name not in cut])
    if cut and len(used) < len(mechanism.bodies):
        named = ", ".join(map(repr, sorted(cut)))
        raise ModelError(f"cut: without {named} not all bodies are connected to ground; cut fewer")
    return cut


def _span(mechanism: Mechanism, joints: list[Joint]) -> tuple[dict[str, list[Branch]], set[str]]:
    """Return the branches that leave each body, and the joints used: breadth first, so paths are short."""
    touching: dict[str, list[Joint]] = defaultdict(list)
    for joint in joints:
        touching[joint.parent.name].append(joint)
        touching[joint.child.name].append(joint)
    reached = {mechanism.ground.name}
    children: dict[str, list[Branch]] = defaultdict(list)
    used: set[str] = set()
    front = [mechanism.ground]
    while front:
        following = []
        for parent in front:
            for joint in touching[parent.name]:
                reverse = joint.child is parent
                body = joint.parent if reverse else joint.child
                if body.name in reached:
                    continue
                used.add(joint.name)
                reached.add(body.name)
                inner, outer = joint.frames()[:: -1 if reverse else 1]
                children[parent.name].append(Branch(body, parent, joint, reverse, inner, outer))
                following.append(body)
        front = following
    return children, used


def _better_cut(
    joint: Joint, children: dict[str, list[Branch]], worth: Callable[[Joint], tuple[Any, ...]]
) -> str | None:
    """Return the joint of a loop that leaves fewer equations when it is cut instead; None if there is none.

    A cut joint leaves one equation per freedom it takes; it must be able to tell its coordinates from the
    poses of its bodies; and loads and drives act on joints of the tree.
    """
    above = {branch.body.name: branch for row in children.values() for branch in row}
    paths = []
    for body in (joint.parent, joint.child):
        path, name = [], body.name
        while name in above:
            path.append(above[name])
            name = above[name].parent.name
        paths.append(path)
    a, b = paths
    while a and b and a[-1] is b[-1]:  # what both have in common is not in the loop
        a.pop()
        b.pop()
    candidates = [joint, *(branch.joint for pair in zip_longest(a, b) for branch in pair if branch)]
    best = max(candidates, key=worth)  # the first of the best: nearest to the middle of the loop
    return None if best is joint or worth(best) == worth(joint) else best.name


def _worth_cutting(mechanism: Mechanism) -> Callable[[Joint], tuple[Any, ...]]:
    """Return what makes a joint worth cutting: it can be, loads leave it alone, it has many freedoms."""
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
        return joint.can_locate and joint.name not in tied, alone, joint.nv

    return worth
