"""Linkwork: describe a mechanism once, in plain Python; it compiles to native code."""

from linkwork.algebra.frames import rotation, translation
from linkwork.algebra.number import (
    abs,
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
    max,
    min,
    pow,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)
from linkwork.algebra.spatial import Force, Frame, Motion, rotation_x, rotation_y, rotation_z
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
from linkwork.formats import load
from linkwork.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.coupling import Coupling
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
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.state import State

__version__ = "0.1.0"

__all__ = [
    "abs",
    "acos",
    "asin",
    "AssemblyError",
    "atan",
    "atan2",
    "Body",
    "Box",
    "Capsule",
    "Cone",
    "cos",
    "cosh",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Ellipsoid",
    "exp",
    "Fixed",
    "floor",
    "Force",
    "FormatError",
    "Frame",
    "Free",
    "Helical",
    "hypot",
    "Inertia",
    "Joint",
    "LinkworkError",
    "load",
    "log",
    "max",
    "Mechanism",
    "min",
    "Model",
    "ModelError",
    "Motion",
    "NumericalError",
    "Planar",
    "pow",
    "Prismatic",
    "Revolute",
    "rotation",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "sign",
    "SimulationError",
    "sin",
    "sinh",
    "Sphere",
    "Spherical",
    "sqrt",
    "State",
    "tan",
    "tanh",
    "TraceError",
    "translation",
    "Universal",
    "where",
]
