"""Linkwork: describe a mechanism once, in plain Python; it compiles to native code."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.algebra import planar, spatial
from linkwork.algebra.frames import rotation, rotation_about, rotation_euler, rotation_quaternion, translation
from linkwork.algebra.number import (
    abs as abs,
)
from linkwork.algebra.number import (
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    exp,
    floor,
    hypot,
    log,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)
from linkwork.algebra.number import (
    max as max,
)
from linkwork.algebra.number import (
    min as min,
)
from linkwork.algebra.number import (
    pow as pow,
)
from linkwork.algebra.spatial import Frame, rotation_x, rotation_y, rotation_z
from linkwork.algebra.vector import norm
from linkwork.compile import Model
from linkwork.errors import (
    AssemblyError,
    FormatError,
    LinkworkError,
    ModelError,
    NumericalError,
    SimulationError,
    TraceError,
)
from linkwork.files import load
from linkwork.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.curves import Cam, PointOnCurve
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.gears import Gear, RackPinion
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from linkwork.mechanism.load import (
    Bushing,
    Feedback,
    Force,
    Load,
    Motor,
    Spring,
    Torque,
    TorsionSpring,
    Wrench,
)
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.points import Absolute, Distance, PointOnLine, PointOnPlane, Pulley
from linkwork.mechanism.stop import ExponentialStop, Stop
from linkwork.model.state import State
from linkwork.simulation.event import Event
from linkwork.simulation.restoring import Restoring
from linkwork.version import __version__ as __version__

if TYPE_CHECKING:
    from linkwork import examples
    from linkwork.kinematics.assembly import assembly_modes
    from linkwork.kinematics.motion import Motion, kinematics
    from linkwork.kinematics.positions import Positions
    from linkwork.kinematics.sensitivity import sensitivity
    from linkwork.simulation.recording import Recording
    from linkwork.simulation.simulate import simulate
    from linkwork.simulation.sweep import sweep

# Found when asked for: they take longer to import than all the rest, and not everybody needs them.
_LATER = {
    "sensitivity": "linkwork.kinematics.sensitivity",
    "Positions": "linkwork.kinematics.positions",
    "assembly_modes": "linkwork.kinematics.assembly",
    "kinematics": "linkwork.kinematics",
    "Motion": "linkwork.kinematics.motion",
    "examples": "linkwork.examples",
    "Recording": "linkwork.simulation.recording",
    "simulate": "linkwork.simulation.simulate",
    "sweep": "linkwork.simulation.sweep",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if module.__name__ == f"linkwork.{name}" else getattr(module, name)


__all__ = [
    "Absolute",
    "acos",
    "asin",
    "assembly_modes",
    "AssemblyError",
    "atan",
    "atan2",
    "Body",
    "Box",
    "Bushing",
    "Cam",
    "Capsule",
    "Cone",
    "Constraint",
    "cos",
    "cosh",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Distance",
    "Driver",
    "Ellipsoid",
    "Event",
    "Restoring",
    "examples",
    "exp",
    "ExponentialStop",
    "Feedback",
    "Fixed",
    "floor",
    "Force",
    "FormatError",
    "Frame",
    "Free",
    "Gear",
    "Helical",
    "hypot",
    "Inertia",
    "Joint",
    "kinematics",
    "LinkworkError",
    "load",
    "Load",
    "log",
    "Mechanism",
    "Model",
    "ModelError",
    "Motion",
    "Motor",
    "norm",
    "NumericalError",
    "planar",
    "Planar",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "Positions",
    "Prismatic",
    "Pulley",
    "RackPinion",
    "Recording",
    "Revolute",
    "rotation",
    "rotation_about",
    "rotation_euler",
    "rotation_quaternion",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "sensitivity",
    "sign",
    "simulate",
    "SimulationError",
    "sin",
    "sinh",
    "spatial",
    "Sphere",
    "Spherical",
    "Spring",
    "sqrt",
    "State",
    "Stop",
    "sweep",
    "tan",
    "tanh",
    "Torque",
    "TorsionSpring",
    "TraceError",
    "translation",
    "Universal",
    "where",
    "Wrench",
]
