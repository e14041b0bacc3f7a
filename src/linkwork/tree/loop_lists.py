"""Which bodies and joints are in which loop: the lists LR, LB and LJ of Brandl, Johanni, Otter (1987).

A loop is named for the joint that closes it, which was cut. Its *root* is the body of it that is nearest to
ground in the spanning tree, the one with the smallest number; from there two sides lead to the joint.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from linkwork.errors import unknown
from linkwork.mechanism.joint import Joint
from linkwork.spelling import fixed
from linkwork.tree.topology import Topology, TreeBody


@fixed("it says where a loop runs")
@dataclass(frozen=True)
class LoopPath:
    """One loop of a mechanism, by names."""

    joint: str  # that closes it, and names it
    root: str  # body nearest to ground
    parent_side: tuple[str, ...]  # bodies from the root, which is not among them, to the joint's parent
    child_side: tuple[str, ...]  # to the joint's child
    joints: tuple[str, ...]  # once around: from the root to the joint's parent, the joint, back to the root

    @property
    def bodies(self) -> tuple[str, ...]:
        """All bodies once around, the root first."""
        return (self.root, *self.parent_side, *reversed(self.child_side))


class LoopLists(Mapping[str, LoopPath]):
    """The loops by name; and, by body, those rooted at it, those that contain it, those connected at it."""

    rooted_at: Mapping[str, tuple[str, ...]]  # body -> loops it is the root of: LR
    containing: Mapping[str, tuple[str, ...]]  # body -> loops it is in without being their root: LB
    connected_at: Mapping[str, tuple[str, ...]]  # body -> loops that share a joint with one in LR: LJ

    def __init__(self, graph: Topology, joints: list[Joint]):
        above = {branch.body.name: branch for branch in graph.branches}
        self._paths = {joint.name: _path(joint, above) for joint in joints}
        users: dict[str, list[str]] = {}
        for name, path in self._paths.items():
            for joint in path.joints:
                users.setdefault(joint, []).append(name)
        self._connected = {
            name: frozenset(other for joint in path.joints for other in users[joint]) - {name}
            for name, path in self._paths.items()
        }
        rooted: dict[str, list[str]] = {"ground": [], **{name: [] for name in above}}
        containing = {name: list[str]() for name in rooted}
        for name, path in self._paths.items():
            rooted[path.root].append(name)
            for body in path.bodies[1:]:
                containing[body].append(name)
        connected = {
            body: [
                name
                for name in self._paths
                if name not in own and any(name in self._connected[root] for root in own)
            ]
            for body, own in rooted.items()
        }
        self.rooted_at, self.containing, self.connected_at = map(_frozen, (rooted, containing, connected))

    def connected(self, name: str) -> tuple[str, ...]:
        """Return the loops that have a joint in common with this one."""
        self[name]
        return tuple(other for other in self._paths if other in self._connected[name])

    def __getitem__(self, name: str) -> LoopPath:
        if name not in self._paths:
            raise KeyError(unknown("loop", name, self._paths))
        return self._paths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<loops closed by {', '.join(map(repr, self)) or 'nothing'}>"


def _path(joint: Joint, above: Mapping[str, TreeBody]) -> LoopPath:
    """Return the loop that a cut joint closes."""
    sides: list[list[TreeBody]] = []
    for body in (joint.parent, joint.child):
        way, name = list[TreeBody](), body.name
        while name in above:
            way.append(above[name])
            name = above[name].parent.name
        sides.append(way[::-1])
    one, two = sides
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] is two[shared]:
        shared += 1
    root = one[shared - 1].body.name if shared else "ground"
    one, two = one[shared:], two[shared:]
    around = [branch.joint.name for branch in one], [branch.joint.name for branch in reversed(two)]
    to_parent, to_child = (tuple(branch.body.name for branch in side) for side in (one, two))
    return LoopPath(joint.name, root, to_parent, to_child, (*around[0], joint.name, *around[1]))


def _frozen(lists: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({name: tuple(loops) for name, loops in lists.items()})
