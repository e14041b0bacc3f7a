"""Units and sizes of coordinates and of what loads show; names of coordinates."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from linkwork.errors import unknown
from linkwork.mechanism.joint import Joint
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.joint_units import joint_units
from linkwork.tree.load_action import Side
from linkwork.tree.loop_constraint import LoopConstraint
from linkwork.varied import of_all_variants, real

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray
Units = tuple[tuple[str, ...], tuple[str, ...]]  # of positions, and of what velocities change


class _ByJoint(dict[str, Any]):
    def __missing__(self, name: str) -> Never:
        raise KeyError(unknown("joint", name, self))


def slices(model: "Model") -> Mapping[str, tuple[slice, slice]]:
    """Where the coordinates of each joint of the tree are: joint -> (slice in q, slice in v)."""
    in_q, in_v = (map(slice, starts, starts[1:]) for starts in model.joint_starts.T.tolist())
    return MappingProxyType(_ByJoint(zip(model.joint_names, zip(in_q, in_v, strict=True), strict=True)))


def limited_joints(model: "Model") -> tuple[str, ...]:
    """The joints of the tree that have limits."""
    limits = np.isfinite(model.limits)
    return tuple(name for name, (_, part) in model.slices.items() if limits[part].any())


def tree_units(model: "Model") -> Units:
    """The units of the positions of all tree joints, and of what their velocities change."""
    found = [block.units for block in model.link_tree.blocks]
    return tuple(u for units in found for u in units[0]), tuple(u for units in found for u in units[1])


def position_units(model: "Model") -> tuple[str, ...]:
    """The unit of each position: that of the velocity it follows, or "" for numbers of a quaternion, and for
    constraints' own unknowns.
    """
    return (*model.tree_units[0], *[""] * model.link_tree.unknowns)


def coordinate_units(model: "Model") -> tuple[str, ...]:
    """The unit of what each velocity changes: "rad" if it turns the child, else "m"."""
    return model.tree_units[1]


def loop_units(model: "Model") -> Units:
    """The units of all loop joints' coordinates, and of what their velocities change."""
    positions: list[str] = []
    velocities: list[str] = []
    kinds, drawn = JointFormulas(), model.loop_motion(model.q_drawn, np.zeros(model.nv))[0]
    for loop in model.link_tree.loops:
        if isinstance(loop.joint, LoopConstraint):
            positions, velocities = positions + [""] * loop.joint.nq, velocities + ["1"] * loop.joint.nv
            continue
        here = drawn[model.loop_slices[loop.name][0]].tolist()
        units = joint_units(*kinds.of(loop.joint, False), here, loop.joint)
        positions, velocities = [*positions, *units[0]], [*velocities, *units[1]]
    return tuple(positions), tuple(velocities)


def constraint_units(model: "Model") -> Mapping[str, str]:
    """The constraints and drivers, with the unit of their forces, "" if that is not known."""
    found = {loop.name: "" for loop in model.link_tree.loops if isinstance(loop.joint, LoopConstraint)}
    for name, driver in model.mechanism.drivers.items():
        side = driver.sides()[0]
        turns = driver.component == "angle"
        if isinstance(side, Joint):
            number = model.slices[side.name][1].start + int(driver.component)
            turns = model.coordinate_units[number] == "rad"
        found[name] = "N m" if turns else "N"
    return MappingProxyType(found)


def load_units(model: "Model") -> dict[str, tuple[str, ...]]:
    """The units of the numbers that each load shows."""

    def of_side(side: Side) -> Sequence[str]:
        cut = side.cut
        if cut is None:
            return model.coordinate_units[side.v]
        first = side.body == cut.joint.parent.name  # one of two
        return joint_units(cut.kind, cut.numbers, cut.joint.drawn(), cut.joint)[1] if first else ()

    return {
        placed.name: placed.load.units(placed.shown, [u for side in placed.sides for u in of_side(side)])
        for placed in model.loaded_tree.loads
    }


def size(model: "Model") -> float:
    """The largest length in the mechanism: between joints, to a centre of mass, of inertia [m]."""
    lengths = [block.offset for block in model.link_tree.blocks]
    lengths += [branch.arm for branch in model.graph.branches]
    inertias = model.inertias.reshape(len(model.masses), -1)
    return real(of_all_variants(_largest, lengths, model.masses, inertias))


def _largest(lengths: Array, masses: Array, inertias: Array) -> Array:
    """Return the largest of lengths, and of radii of gyration; 1 if there is none."""
    heavy = masses > 0.0
    square = np.divide(inertias.max(axis=-1, initial=0.0), masses, out=np.zeros(masses.shape), where=heavy)
    found = np.concatenate([lengths, np.sqrt(square)], axis=-1).max(axis=-1, initial=0.0)
    return np.where(found == 0.0, 1.0, found)


def coordinate_sizes(model: "Model") -> Array:
    """A normal change of each velocity's coordinate: 1 rad, or the mechanism's size, (nv,)."""
    return np.array([1.0 if unit == "rad" else model.size for unit in model.coordinate_units])


def coordinate_names(model: "Model") -> tuple[str, ...]:
    """The name of each velocity: of its joint, with a number if that has several: "ball[2]"."""
    slices = model.slices.items()
    return tuple(name for joint, (_, part) in slices for name in _numbered(joint, part.stop - part.start))


def loop_coordinate_names(model: "Model") -> tuple[str, ...]:
    """The name of each velocity of the joints that close loops, in their order."""
    return tuple(name for loop in model.link_tree.loops for name in _numbered(loop.name, loop.joint.nv))


def _numbered(joint: str, count: int) -> list[str]:
    return [joint] if count == 1 else [f"{joint}[{k}]" for k in range(count)]
