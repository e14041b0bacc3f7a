"""The tree as arrays: what the algorithms walk over.

A link is a body, or several welded ones, with a frame of its own: the outer frame of the joint it hangs on.
Link 0 is ground, its frame the world's. Two trees are made of one mechanism: `links`, where welded bodies are
one link (for dynamics), and `bodies`, where each body is a link of its own (for poses and reactions).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.mechanism.joint import ALGEBRA
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model import joint_forces
from linkwork.model.joint_formula import JointFormula, JointFormulas
from linkwork.model.load_formula import PlacedLoad
from linkwork.model.topology import Branch

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Link:
    """One moving link: where its constants and coordinates are."""

    name: str  # of the joint it hangs on
    kind: JointFormula
    parent: int  # number of the parent link, 0 for ground
    data: int  # where its constants begin in Tree.data
    q: int  # its first position coordinate
    v: int  # its first velocity
    parameters: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Tree:
    """Links in an order in which parents come first, and their constants."""

    algebra: ModuleType
    links: tuple[Link, ...]  # without ground: link number i is links[i - 1]
    data: Array  # gravity, then per link what DataLayout says [SI]
    nq: int
    nv: int
    body_links: dict[str, int]  # the link each body belongs to
    body_frames: dict[str, Any]  # pose of the body in its link
    loads: tuple[PlacedLoad, ...] = ()  # what acts on the links beyond their joints
    loops: tuple[Any, ...] = ()  # joints that close loops, see `loops`

    @property
    def shown(self) -> int:
        """How many numbers the loads show or tell."""
        return sum(placed.told for placed in self.loads)


@dataclass(frozen=True)
class DataLayout:
    """Where the constants of a link are, counted from its first."""

    placement: int  # pose of the joint's inner frame in the parent link
    inertia: int  # of the link, in its frame, about its origin
    body: int  # pose of the link's own body in the link
    armature: int  # inertia of the drive, per velocity
    parameters: int

    @classmethod
    def of(cls, algebra: ModuleType, nv: int) -> "DataLayout":
        frame, inertia = algebra.Frame.size, algebra.RigidInertia.size
        return cls(0, frame, frame + inertia, 2 * frame + inertia, 2 * frame + inertia + nv)


def grow(
    mechanism: Mechanism,
    branches: Sequence[Branch],
    weld: bool,
    moved: Mapping[str, Sequence[float]] | None = None,
) -> Tree:
    """Turn the spanning tree into arrays; `weld` makes one link of bodies joined by Fixed joints.

    If `moved` says which inertia each coordinate of a joint moves, the joints' own forces are in their kinds.
    """
    algebra = ALGEBRA[mechanism.space]
    ground = mechanism.ground.name
    kinds = JointFormulas(driven=moved is not None)
    body_links, body_frames = {ground: 0}, {ground: algebra.Frame()}
    stubs: list[tuple[Branch, JointFormula, list[float], int, Any]] = []
    inertias: list[Any] = [algebra.RigidInertia.zero()]
    for branch in branches:
        joint, body = branch.joint, branch.body
        parent = body_links[branch.parent.name]
        placement = body_frames[branch.parent.name] @ branch.inner
        if weld and type(joint) is Fixed:  # a subclass may move its frame
            body_links[body.name] = parent
            body_frames[body.name] = placement @ branch.outer.inverse
        else:
            kind, parameters = kinds.of(joint, branch.reverse)
            if moved is not None:
                parameters = [*parameters, *joint_forces.settings(joint, moved[joint.name])]
            stubs.append((branch, kind, parameters, parent, placement))
            inertias.append(algebra.RigidInertia.zero())
            body_links[body.name] = len(stubs)
            body_frames[body.name] = branch.outer.inverse
        number = body_links[body.name]
        inertias[number] = inertias[number] + body_frames[body.name] @ _rigid(algebra, body.inertia)
    links: list[Link] = []
    data: list[float] = [float(g) for g in mechanism.gravity]
    nq = nv = 0
    for number, (branch, kind, parameters, parent, placement) in enumerate(stubs, 1):
        links.append(Link(branch.joint.name, kind, parent, len(data), nq, nv, tuple(parameters)))
        data += [*placement.scalars(), *inertias[number].scalars(), *body_frames[branch.body.name].scalars()]
        data += [*branch.joint.per_coordinate("armature"), *parameters]
        nq, nv = nq + kind.nq, nv + kind.nv
    array = np.array(data, float)
    array.setflags(write=False)
    return Tree(algebra, tuple(links), array, nq, nv, body_links, body_frames)


def _rigid(algebra: ModuleType, inertia: Any) -> Any:
    return algebra.RigidInertia.about_center(
        float(inertia.mass), inertia.com.tolist(), inertia.tensor.tolist()
    )


def link_poses(tree: Tree, q: Sequence[float]) -> list[Any]:
    """Return the pose in the world of ground and of every link."""
    poses = [tree.algebra.Frame()]
    for link in tree.links:
        poses.append(poses[link.parent] @ _placed(tree, link, q))
    return poses


def _placed(tree: Tree, link: Link, q: Sequence[float]) -> Any:
    """Return the pose of a link in its parent."""
    Frame = tree.algebra.Frame
    placement = Frame.from_scalars(tree.data[link.data : link.data + Frame.size].tolist())
    return placement @ _asked(link, link.kind.motion, q)


def _asked(link: Link, formula: Callable[..., Any], q: Sequence[float]) -> Any:
    """Return what a formula of a link's joint gives at the mechanism's positions."""
    own = list(q[link.q : link.q + link.kind.nq])
    try:
        return formula(own, link.parameters)
    except (ArithmeticError, ValueError) as error:
        raise ModelError(
            f"joint {link.name!r} has no pose at {own}: {error}; let neutral() give others"
        ) from None


def moved_inertias(tree: Tree, q: Sequence[float]) -> list[list[float]]:
    """Return, per link, the inertia each of its velocities moves alone: of the link and all it carries."""
    algebra = tree.algebra
    size = algebra.RigidInertia.size
    composite = [algebra.RigidInertia.zero() for _ in range(len(tree.links) + 1)]
    found: list[list[float]] = [[] for _ in tree.links]
    for number in range(len(tree.links), 0, -1):
        link = tree.links[number - 1]
        at = DataLayout.of(algebra, link.kind.nv)
        data = tree.data[link.data : link.data + at.parameters].tolist()
        own = algebra.RigidInertia.from_scalars(data[at.inertia : at.inertia + size])
        composite[number] = composite[number] + own
        S = _asked(link, link.kind.subspace, q)
        rotors = data[at.armature : at.parameters]
        found[number - 1] = [
            float(s.dot(composite[number] @ s)) + rotor for s, rotor in zip(S, rotors, strict=True)
        ]
        composite[link.parent] = composite[link.parent] + _placed(tree, link, q) @ composite[number]
    return found
