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
from linkwork.errors import (
    AssemblyError,
    FormatError,
    LinkworkError,
    MeshError,
    ModelError,
    NumericalError,
    SimulationError,
    TraceError,
)
from linkwork.files import load
from linkwork.formats.file_format import FileFormat, add_format
from linkwork.geometry import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Extrusion,
    HeightField,
    Mesh,
    Plane,
    Polygon,
    Revolution,
    Solid,
    Sphere,
)
from linkwork.mechanism.body import Body
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.curves import Cam, PointOnCurve
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.gears import Gear, RackPinion
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.input import Input
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
from linkwork.mechanism.load import Load
from linkwork.mechanism.loads import Feedback, Force, Motor, Torque, Wrench
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.merge import merge
from linkwork.mechanism.points import Absolute, Distance, PointOnLine, PointOnPlane, Pulley
from linkwork.mechanism.sketch import Line
from linkwork.mechanism.springs import Bushing, Spring, TorsionSpring
from linkwork.mechanism.stop import ExponentialStop, Stop
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.simulation.event import Event
from linkwork.simulation.integrators.tableau import Tableau
from linkwork.simulation.restoring import Restoring
from linkwork.version import __version__ as __version__

if TYPE_CHECKING:
    from linkwork import examples, view
    from linkwork.contact.colliders import Colliders
    from linkwork.contact.queries import closest_points, collide, contains, distance, overlap, ray_cast
    from linkwork.contact.result import Contact, Contacts, Hit, Hits
    from linkwork.free_bodies import Particle, RigidBody, integrate
    from linkwork.kinematics.assembly import assembly_modes
    from linkwork.kinematics.maximal_run import simulate_maximal
    from linkwork.kinematics.motion import Motion, kinematics
    from linkwork.kinematics.planar_plot import image_outline
    from linkwork.kinematics.positions import Positions
    from linkwork.kinematics.sensitivity import sensitivity
    from linkwork.recording.recording import Recording
    from linkwork.simulation.forest import Forest
    from linkwork.simulation.simulate import simulate
    from linkwork.simulation.sweep import sweep

# Found when asked for: they take longer to import than all the rest, and not everybody needs them.
_LATER = {
    "sensitivity": "linkwork.kinematics.sensitivity",
    "Positions": "linkwork.kinematics.positions",
    "assembly_modes": "linkwork.kinematics.assembly",
    "image_outline": "linkwork.kinematics.planar_plot",
    "kinematics": "linkwork.kinematics",
    "Motion": "linkwork.kinematics.motion",
    "examples": "linkwork.examples",
    "integrate": "linkwork.free_bodies",
    "Particle": "linkwork.free_bodies",
    "RigidBody": "linkwork.free_bodies",
    "carry": "linkwork.model.carry",
    "closest_points": "linkwork.contact.queries",
    "collide": "linkwork.contact.queries",
    "Colliders": "linkwork.contact.colliders",
    "Contact": "linkwork.contact.result",
    "Contacts": "linkwork.contact.result",
    "contains": "linkwork.contact.queries",
    "distance": "linkwork.contact.queries",
    "Hit": "linkwork.contact.result",
    "Hits": "linkwork.contact.result",
    "overlap": "linkwork.contact.queries",
    "ray_cast": "linkwork.contact.queries",
    "Recording": "linkwork.recording.recording",
    "Forest": "linkwork.simulation.forest",
    "simulate": "linkwork.simulation.simulate",
    "simulate_maximal": "linkwork.kinematics.maximal_run",
    "sweep": "linkwork.simulation.sweep",
    "view": "linkwork.view",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
    module = import_module(_LATER[name])
    found = globals()[name] = module if module.__name__ == f"linkwork.{name}" else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *_LATER]


__all__ = [
    "Absolute",
    "acos",
    "add_format",
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
    "carry",
    "closest_points",
    "collide",
    "Colliders",
    "Compound",
    "Cone",
    "Constraint",
    "Contact",
    "Contacts",
    "contains",
    "ConvexHull",
    "cos",
    "cosh",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Distance",
    "distance",
    "Driver",
    "Ellipsoid",
    "Event",
    "examples",
    "exp",
    "ExponentialStop",
    "Extrusion",
    "Feedback",
    "Fixed",
    "floor",
    "Force",
    "Forest",
    "FileFormat",
    "FormatError",
    "Frame",
    "Free",
    "Gear",
    "HeightField",
    "Helical",
    "Hit",
    "Hits",
    "hypot",
    "image_outline",
    "Inertia",
    "Input",
    "integrate",
    "Joint",
    "kinematics",
    "Line",
    "LinkworkError",
    "Load",
    "load",
    "log",
    "Mechanism",
    "merge",
    "Mesh",
    "MeshError",
    "Model",
    "ModelError",
    "Motion",
    "Motor",
    "norm",
    "NumericalError",
    "overlap",
    "Particle",
    "Planar",
    "planar",
    "Plane",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "Polygon",
    "Positions",
    "Prismatic",
    "Pulley",
    "RackPinion",
    "ray_cast",
    "Recording",
    "Restoring",
    "Revolute",
    "Revolution",
    "RigidBody",
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
    "simulate_maximal",
    "SimulationError",
    "sin",
    "sinh",
    "Solid",
    "spatial",
    "Sphere",
    "Spherical",
    "Spring",
    "sqrt",
    "State",
    "Stop",
    "sweep",
    "Tableau",
    "tan",
    "tanh",
    "Torque",
    "TorsionSpring",
    "TraceError",
    "translation",
    "Universal",
    "view",
    "where",
    "Wrench",
]
