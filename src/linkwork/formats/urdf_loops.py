"""Loops of robots in URDF, which has none by itself, in the two forms that are in use.

<loop_joint name type><link1 link xyz rpy/><link2 link xyz rpy/><axis xyz/></loop_joint>      Isaac Sim
<constraint name type><parent link/><parent_origin xyz rpy/><parent_axis xyz/>                urdfdom_headers,
                      <child link/><child_origin xyz rpy/><child_axis xyz/></constraint>      pull request 108
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linkwork.algebra.spatial import Frame
from linkwork.errors import unknown
from linkwork.formats.markup import SHOWN, Element
from linkwork.formats.urdf_link import read_turn
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Cylindrical, Fixed, Planar, Prismatic, Revolute, Spherical

_KINDS: dict[str, type[Joint]] = {
    "spherical": Spherical,
    "ball": Spherical,
    "fixed": Fixed,
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "planar": Planar,
    "cylindrical": Cylindrical,
}


def read_loops(robot: Element, links: Mapping[str, Body], used: set[str]) -> Iterator[Joint]:
    """Yield the joints that close loops."""
    for element in robot.children:
        if element.tag == "loop_joint":
            ends = [(element.need(tag), element.need(tag)) for tag in ("link1", "link2")]
            axes = [element.one("axis"), None]
        elif element.tag == "constraint":
            ends = [(element.need(tag), element.one(f"{tag}_origin")) for tag in ("parent", "child")]
            axes = [element.one(f"{tag}_axis") for tag in ("parent", "child")]
        else:
            continue
        yield _loop(element, ends, axes, links, used)


def _loop(element: Element, ends: Any, axes: Any, links: Mapping[str, Body], used: set[str]) -> Joint:
    kind, name = element.text("type"), element.text("name")
    if kind not in _KINDS:
        raise element.error(f"type={kind[:SHOWN]!r}; a loop is closed by {', '.join(_KINDS)}")
    bodies = []
    for end, _ in ends:
        link = end.text("link")
        if link not in links:
            raise end.error(unknown("link", link[:SHOWN], links))
        bodies.append(links[link])
    if bodies[0] is bodies[1]:
        raise element.error(f"joins link {bodies[0].name!r} to itself; name two links")
    while name in used:
        name += "_loop"
    used.add(name)
    directed = _KINDS[kind].directed and kind != "fixed"
    frames = [_frame(origin, _direction(axis) if directed else None) for (_, origin), axis in zip(ends, axes)]
    if directed and axes[1] is None and axes[0] is not None:  # one axis, in the frames of both links' ends
        frames[1] = _frame(ends[1][1], _direction(axes[0]))
    return _KINDS[kind](name, *bodies, on_parent=frames[0], on_child=frames[1])


def _direction(axis: Element | None) -> np.ndarray | None:
    if axis is None:
        return None
    xyz = np.array(axis.numbers("xyz", 3))
    length = float(np.linalg.norm(xyz))
    if length == 0.0:
        raise axis.error("xyz=0 0 0 has no direction; give a vector that is not zero")
    return xyz / length


def _frame(origin: Element | None, axis: np.ndarray | None) -> Any:
    """Return the frame of one end, turned so that its z is along the axis: the shortest way."""
    position, turn = [0.0, 0.0, 0.0], np.eye(3)
    if origin is not None:
        position = list(origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
        turn = read_turn(origin)
    if axis is not None and not math.isclose(axis[2], 1.0, abs_tol=1e-15):
        turn = turn @ _turn_z_to(axis)
    return Frame(position, turn.tolist())


def _turn_z_to(axis: np.ndarray) -> np.ndarray:
    x, y, z = axis
    if z < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    cross = np.array([(0.0, 0.0, x), (0.0, 0.0, y), (-x, -y, 0.0)])
    return np.eye(3) + cross + cross @ cross / (1.0 + z)
