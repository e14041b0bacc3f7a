"""The graph of bodies and joints: a spanning tree from ground, and the joints that close loops."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism


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
    loops: tuple[Joint, ...]


def topology(mechanism: Mechanism) -> Topology:
    """Span the tree: breadth first, so that paths to ground are short, then number it depth first."""
    touching: dict[str, list[Joint]] = defaultdict(list)
    for joint in mechanism.joints.values():
        touching[joint.parent.name].append(joint)
        touching[joint.child.name].append(joint)
    found: dict[str, Branch] = {}
    children: dict[str, list[Branch]] = defaultdict(list)
    used: set[str] = set()
    front = [mechanism.ground]
    while front:
        reached = []
        for parent in front:
            for joint in touching[parent.name]:
                reverse = joint.child is parent
                body = joint.parent if reverse else joint.child
                if body is mechanism.ground or body.name in found or joint.name in used:
                    continue
                used.add(joint.name)
                inner, outer = joint.frames()[:: -1 if reverse else 1]
                found[body.name] = branch = Branch(body, parent, joint, reverse, inner, outer)
                children[parent.name].append(branch)
                reached.append(body)
        front = reached
    order: list[Branch] = []
    stack = list(reversed(children[mechanism.ground.name]))
    while stack:
        branch = stack.pop()
        order.append(branch)
        stack.extend(reversed(children[branch.body.name]))
    loops = tuple(joint for joint in mechanism.joints.values() if joint.name not in used)
    return Topology(tuple(order), loops)
