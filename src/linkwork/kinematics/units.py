"""Units of what a motion knows, by the names of a mechanism."""

from linkwork.kinematics.equation_system import System
from linkwork.mechanism.joint import Joint
from linkwork.recording.layout import COORDINATE_UNITS, UNITS
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.joint_units import joint_units


def units(system: System, name: str, quantity: str) -> tuple[str, ...]:
    """Return the units of a quantity: one for all its numbers, or one for each."""
    m = system.mechanism
    if quantity == "power":
        return ("W",)
    if name in m.drivers and quantity in COORDINATE_UNITS:
        driver = m.drivers[name]
        side = driver.sides()[0]
        if isinstance(side, Joint):
            unit = _coordinates(side)[int(driver.component)]
        else:
            unit = "rad" if driver.component == "angle" else "m"
        return (COORDINATE_UNITS[quantity][unit],)
    if name in m.constraints and quantity == "force":
        return ("N" if system.is_length(name) else "N m",)
    if name in m.joints and quantity in COORDINATE_UNITS:
        return tuple(COORDINATE_UNITS[quantity].get(unit, "") for unit in _coordinates(m.joints[name]))
    return (UNITS.get(quantity, ""),)


def _coordinates(joint: Joint) -> list[str]:
    kind, numbers = JointFormulas().of(joint, False)
    positions, velocities = joint_units(kind, numbers, joint.drawn(), joint)
    return positions if len(positions) == len(velocities) else velocities
