"""A mechanism as a tree of joints from ground outwards, and joints that close loops, for other formats."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.algebra.spatial import Frame
from linkwork.errors import FormatError
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import reading
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Prismatic, Revolute
from linkwork.mechanism.mechanism import Mechanism

_REVERSIBLE = (Fixed, Revolute, Prismatic)
_HALF_TURN = Frame((0.0, 0.0, 0.0), [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])  # z becomes -z

_ROUNDING = 1e-9  # of a coordinate [rad, m]


@dataclass(frozen=True, eq=False)
class Branch:
    """A joint of the tree, from the body nearer to ground to the other; z of its frames is its axis."""

    joint: Joint
    parent: Body
    child: Body
    on_parent: Any  # Frame
    on_child: Any  # Frame


def spanning_tree(mechanism: Mechanism, file: str) -> tuple[list[Branch], list[Branch]]:
    """Return the joints of a tree, parents first, and those that close loops.

    A joint whose child is nearer to ground is turned round: that is the same joint with its axis reversed.
    """
    if mechanism.space != "space":
        raise FormatError(f"{file}: mechanism {mechanism.name!r} is planar; save it as .json")
    waiting = list(mechanism.joints.values())
    reached: set[Body] = {mechanism.ground}
    tree: list[Branch] = []
    turned = False
    while waiting:
        left = []
        for joint in waiting:
            ends = (joint.child, joint.parent) if turned else (joint.parent, joint.child)
            if ends[0] in reached and ends[1] not in reached:
                tree.append(_branch(joint, turned, file))
                reached.add(ends[1])
                turned = False
            else:
                left.append(joint)
        if len(left) == len(waiting) and turned:
            break
        turned, waiting = len(left) == len(waiting), left
    lost = [body.name for body in mechanism.bodies.values() if body not in reached]
    if lost:
        raise FormatError(f"{file}: body {lost[0]!r} hangs on nothing; add a joint, a Free one if it floats")
    return tree, [_branch(joint, False, file) for joint in waiting]


def _branch(joint: Joint, turned: bool, file: str) -> Branch:
    frames = joint.frames()
    if not turned:
        return Branch(joint, joint.parent, joint.child, *frames)
    if not isinstance(joint, _REVERSIBLE):
        raise FormatError(
            f"{file}: joint {joint.name!r} leads towards ground, which a {type(joint).__name__} "
            f"cannot in this "
            "format; exchange its parent and child, or save as .json"
        )
    return Branch(joint, joint.child, joint.parent, frames[1] @ _HALF_TURN, frames[0] @ _HALF_TURN)


def drawn_at(branch: Branch) -> list[float] | None:
    """Return the coordinates at which a joint is drawn; None if its frames coincide there."""
    joint = branch.joint
    if not joint.nv or not joint.can_locate:
        return None
    sides = zip((branch.parent, branch.child), (branch.on_parent, branch.on_child), strict=True)
    one, other = (Frame(body.position.tolist(), body.rotation.tolist()) @ frame for body, frame in sides)
    q = [float(x) for x in joint.locate(one.local(other))]
    return q if np.abs(np.subtract(q, joint.neutral())).max() > _ROUNDING else None


def number_of(joint: Joint, word: str, file: str) -> float:
    """Return an option of a joint that is the same for all its coordinates; FormatError if it is not."""
    with reading(lambda given: given.value):
        values = joint.per_coordinate(word)
    if values.size and (values != values[0]).any():
        raise FormatError(
            f"{file}: joint {joint.name!r}: {word} {values.tolist()} differs between coordinates; "
            f"save as .json"
        )
    return float(values[0]) if values.size else 0.0


def inverse(frame: Any) -> Any:
    """Return the frame seen from itself the other way."""
    return frame.local(Frame())


def place(frame: Any) -> np.ndarray:
    """Return where a frame is (3,) [m]."""
    return np.array([float(x) for x in frame.p])


def turn(frame: Any) -> np.ndarray:
    """Return the rotation matrix (3, 3) of a frame."""
    return np.array([[float(x) for x in row] for row in frame.R])


def words(values: Any) -> str:
    """Return numbers as an XML attribute has them: the shortest text that is read back as the same bits."""
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in np.ravel(values))


def angles(rotation: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw, about fixed axes, of a rotation matrix; well-conditioned at any pitch."""
    yaw = float(np.arctan2(rotation[1, 0], rotation[0, 0]))
    c, s = np.cos(yaw), np.sin(yaw)
    rest = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    pitch = float(np.arctan2(-rest[2, 0], rest[0, 0]))
    return float(np.arctan2(-rest[1, 2], rest[1, 1])), pitch, yaw
