"""Where the names of a mechanism are in the arrays of a motion in the coordinates of all its bodies."""

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from linkwork.kinematics.driver_forces import AppliedForces
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.instant import Moment
from linkwork.mechanism.joint import Joint
from linkwork.recording.layout import Layout, layout_of
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.joint_units import joint_units


@layout_of.register
def _(system: System) -> Layout:
    """All joints are behind the coordinates of bodies, since they follow from them."""
    m, count, own = system.mechanism, len(system.bodies), system.n - system.free * len(system.bodies)
    units = {name: _joint_units(joint) for name, joint in m.joints.items()}
    in_q = pairwise(accumulate((len(q) for q, _ in units.values()), initial=system.nq))
    in_v = pairwise(accumulate((len(v) for _, v in units.values()), initial=system.n))
    joints = {name: (slice(*q), slice(*v)) for name, q, v in zip(units, in_q, in_v, strict=True)}
    constrained = (*m.constraints, *m.drivers)
    none = slice(system.nq, system.nq), slice(system.n, system.n)
    rows = [system.rows[name].stop - system.rows[name].start for name in constrained]
    drivers = {name: _driven_unit(driver) for name, driver in m.drivers.items()}
    forces = {name: "N" if system.is_length(name) else "N m" for name in m.constraints}
    forces |= {name: "N m" if unit == "rad" else "N" for name, unit in drivers.items()}
    body = ["m"] * system.algebra.dimension
    turn = ["rad"] if system.algebra.dimension == 2 else ["1"] * 4
    return Layout(
        space=m.space,
        joints=joints | dict.fromkeys(constrained, none) | _unknowns(system),
        bodies=tuple(m.bodies),
        constraints={
            name: (slice(*part), forces[name])
            for name, part in zip(constrained, pairwise(accumulate(rows, initial=0)), strict=True)
        },
        loads=_load_units(system, units),
        position_units=(*(body + turn) * count, *["1"] * own, *(x for q, _ in units.values() for x in q)),
        velocity_units=(
            *(body + ["rad"] * system.algebra.angular) * count,
            *["1"] * own,
            *(x for _, v in units.values() for x in v),
        ),
        nq=system.nq,
        nv=system.n,
        drivers=drivers,
        closing=(*m.joints, *m.constraints),
    )


def _unknowns(system: System) -> dict[str, tuple[slice, slice]]:
    """Return where constraints' own unknowns are in positions and velocities."""
    found = {}
    for name, constraint in system.mechanism.constraints.items():
        if constraint.unknowns:
            q, v = (n * len(system.bodies) + system.own[name] for n in (system.coordinates, system.free))
            found[name] = slice(q, q + constraint.unknowns), slice(v, v + constraint.unknowns)
    return found


def _joint_units(joint: Joint) -> tuple[list[str], list[str]]:
    """Return the units of a joint's coordinates and of what its velocities change."""
    positions, velocities = joint_units(*JointFormulas().of(joint, False), joint.drawn(), joint)
    return [unit or "1" for unit in positions], velocities


def _driven_unit(driver: Any) -> str:
    side = driver.sides()[0]
    if isinstance(side, Joint):
        return _joint_units(side)[0][int(driver.component)]
    return "rad" if driver.component == "angle" else "1" if driver.component[0] == "q" else "m"


def _load_units(
    system: System, units: Mapping[str, tuple[list[str], list[str]]]
) -> dict[str, tuple[str, ...]]:
    """Return the units of what each load shows; how many numbers that are is seen as drawn, at rest."""
    now = Moment(system, 0.0, system.drawn(), np.zeros(system.n))
    joints, found = system.mechanism.joints, {}
    for load in AppliedForces(system).loads:
        sides = [side.name for side in load.sides(joints) if isinstance(side, Joint)]
        shown = np.size(now.see(load))
        found[load.name] = load.units(shown, [x for name in sides for x in units[name][1]])
    return found
