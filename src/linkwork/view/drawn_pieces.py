"""What a drawing is made of: pieces on bodies, joints, and lines between bodies."""

from dataclasses import dataclass

import numpy as np

from linkwork.view.palette import Rgb
from linkwork.view.tessellate import Shell

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Piece:
    """A shape on a body, or a mark of a joint on one."""

    name: str  # of the body or joint it shows
    body: str  # that it moves with
    shell: Shell
    pose: Array  # (3, 4) on that body
    colour: Rgb
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class JointMark:
    """A joint: what it connects, and where."""

    name: str
    kind: str  # name of its class
    parent: str
    child: str
    on_parent: Array  # (3, 4)
    on_child: Array  # (3, 4)
    axes: Array  # (k, 3) unit vectors in the joint's frame
    loop: bool  # it closes a loop, and carries no body


@dataclass(frozen=True, eq=False)
class SpringMark:
    """A line between points of two bodies: a spring, a damper, a rod or a rope."""

    name: str
    a: str
    b: str
    on_a: Array  # (3,)
    on_b: Array  # (3,)
    kind: str = "rod"  # or "spring", "damper"
