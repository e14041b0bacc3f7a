"""Linkwork: describe a mechanism once, in plain Python; it compiles to native code, to simulate, drive and edit."""

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
from linkwork.algebra.spatial import Force, Frame, Motion, rotation_x, rotation_y, rotation_z, translation
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
