"""Linkwork: describe a mechanism once, in plain Python; it compiles to native code."""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from linkwork.version import __version__ as __version__

if TYPE_CHECKING:
    from linkwork import examples, view
    from linkwork.acoustics.listener import Listener
    from linkwork.acoustics.sound import Sound, sound
    from linkwork.algebra import planar, spatial
    from linkwork.algebra.frames import (
        rotation,
        rotation_about,
        rotation_euler,
        rotation_quaternion,
        translation,
    )
    from linkwork.algebra.linear import cross_matrix
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
        deg,
        degrees,
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
    from linkwork.algebra.table import interp
    from linkwork.algebra.vector import norm
    from linkwork.contact.colliders import Colliders
    from linkwork.contact.queries import closest_points, collide, contains, distance, overlap, ray_cast
    from linkwork.contact.result import ContactPoint, Contacts, Hit, Hits
    from linkwork.contact_dynamics import laws as contact_laws
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
    from linkwork.free_bodies import Particle, RigidBody, integrate
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
    from linkwork.kinematics.assembly import assembly_modes
    from linkwork.kinematics.kinematic_recording import KinematicRecording
    from linkwork.kinematics.motion import kinematics
    from linkwork.kinematics.planar_plot import image_outline
    from linkwork.kinematics.positions import Positions
    from linkwork.kinematics.sensitivity import sensitivity
    from linkwork.mechanism.body import Body
    from linkwork.mechanism.constraint import Constraint
    from linkwork.mechanism.contact import Contact
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
    from linkwork.mechanism.material import Material
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.mechanism.merge import merge
    from linkwork.mechanism.points import Absolute, Distance, PointOnLine, PointOnPlane, Pulley
    from linkwork.mechanism.sampled_controller import Sampled
    from linkwork.mechanism.sketch import Line
    from linkwork.mechanism.springs import Bushing, Spring, TorsionSpring
    from linkwork.mechanism.stop import ExponentialStop, RigidStop, Stop
    from linkwork.model.carry import carry
    from linkwork.model.model import Model
    from linkwork.model.state import State
    from linkwork.recording.batch import Recordings
    from linkwork.recording.plot_runs import plot
    from linkwork.recording.recording import Recording
    from linkwork.scene.behaviour import Behaviour, action
    from linkwork.scene.break_when import BreakWhen
    from linkwork.scene.captured_motion import CapturedMotion
    from linkwork.scene.culling import Culling
    from linkwork.scene.scene import Scene
    from linkwork.scene.scene_events import OnContact, OnDistance, OnLimit, OnTime
    from linkwork.scene.sensors import ContactSensor, HeightSensor, InertialSensor, RaySensor
    from linkwork.scene.static_shapes import ground_plane
    from linkwork.simulation.checkpoint import Checkpoint
    from linkwork.simulation.event import Event
    from linkwork.simulation.forest import Forest
    from linkwork.simulation.integrators.tableau import Tableau
    from linkwork.simulation.restoring import Restoring
    from linkwork.simulation.simulate import simulate
    from linkwork.simulation.stepping import Simulation
    from linkwork.simulation.sweep import sweep

# Found when asked for: a program that uses little, as `linkwork --help`, imports little.
_WHERE = {
    "linkwork.acoustics.listener": "Listener",
    "linkwork.acoustics.sound": "Sound sound",
    "linkwork.algebra.frames": "rotation rotation_about rotation_euler rotation_quaternion translation",
    "linkwork.algebra.table": "interp",
    "linkwork.algebra.linear": "cross_matrix",
    "linkwork.algebra.number": (
        "abs acos asin atan atan2 cos cosh deg degrees exp floor hypot log max min pow sign sin sinh sqrt "
        "tan tanh where"
    ),
    "linkwork.algebra.spatial": "Frame rotation_x rotation_y rotation_z",
    "linkwork.algebra.vector": "norm",
    "linkwork.contact.colliders": "Colliders",
    "linkwork.contact.queries": "closest_points collide contains distance overlap ray_cast",
    "linkwork.contact.result": "ContactPoint Contacts Hit Hits",
    "linkwork.errors": (
        "AssemblyError FormatError LinkworkError MeshError ModelError NumericalError SimulationError "
        "TraceError"
    ),
    "linkwork.files": "load",
    "linkwork.formats.file_format": "add_format FileFormat",
    "linkwork.free_bodies": "integrate Particle RigidBody",
    "linkwork.geometry": (
        "Box Capsule Compound Cone ConvexHull Cylinder Ellipsoid Extrusion HeightField Mesh Plane Polygon "
        "Revolution Solid Sphere"
    ),
    "linkwork.kinematics.assembly": "assembly_modes",
    "linkwork.kinematics.kinematic_recording": "KinematicRecording",
    "linkwork.kinematics.planar_plot": "image_outline",
    "linkwork.kinematics.positions": "Positions",
    "linkwork.kinematics.sensitivity": "sensitivity",
    "linkwork.mechanism.body": "Body",
    "linkwork.mechanism.constraint": "Constraint",
    "linkwork.mechanism.contact": "Contact",
    "linkwork.mechanism.coupling": "Coupling",
    "linkwork.mechanism.curves": "Cam PointOnCurve",
    "linkwork.mechanism.driver": "Driver",
    "linkwork.mechanism.gears": "Gear RackPinion",
    "linkwork.mechanism.inertia": "Inertia",
    "linkwork.mechanism.input": "Input",
    "linkwork.mechanism.joint": "Joint",
    "linkwork.mechanism.joints": (
        "Cylindrical Fixed Free Helical Planar Prismatic Revolute Spherical Universal"
    ),
    "linkwork.mechanism.load": "Load",
    "linkwork.mechanism.sampled_controller": "Sampled",
    "linkwork.mechanism.loads": "Feedback Force Motor Torque Wrench",
    "linkwork.mechanism.material": "Material",
    "linkwork.mechanism.mechanism": "Mechanism",
    "linkwork.mechanism.merge": "merge",
    "linkwork.mechanism.points": "Absolute Distance PointOnLine PointOnPlane Pulley",
    "linkwork.mechanism.sketch": "Line",
    "linkwork.mechanism.springs": "Bushing Spring TorsionSpring",
    "linkwork.mechanism.stop": "ExponentialStop RigidStop Stop",
    "linkwork.model.carry": "carry",
    "linkwork.model.model": "Model",
    "linkwork.model.state": "State",
    "linkwork.recording.batch": "Recordings",
    "linkwork.recording.plot_runs": "plot",
    "linkwork.recording.recording": "Recording",
    "linkwork.scene.behaviour": "action Behaviour",
    "linkwork.scene.break_when": "BreakWhen",
    "linkwork.scene.captured_motion": "CapturedMotion",
    "linkwork.scene.culling": "Culling",
    "linkwork.scene.scene": "Scene",
    "linkwork.scene.scene_events": "OnContact OnDistance OnLimit OnTime",
    "linkwork.scene.sensors": "ContactSensor HeightSensor InertialSensor RaySensor",
    "linkwork.scene.static_shapes": "ground_plane",
    "linkwork.simulation.checkpoint": "Checkpoint",
    "linkwork.simulation.event": "Event",
    "linkwork.simulation.stepping": "Simulation",
    "linkwork.simulation.forest": "Forest",
    "linkwork.simulation.integrators.tableau": "Tableau",
    "linkwork.simulation.restoring": "Restoring",
    "linkwork.simulation.simulate": "simulate",
    "linkwork.simulation.sweep": "sweep",
}
_LATER = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = {
    "contact_laws": "linkwork.contact_dynamics.laws",
    "planar": "linkwork.algebra.planar",
    "spatial": "linkwork.algebra.spatial",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        found = getattr(import_module(_LATER[name]), name)
    else:
        path = _MODULES.get(name, f"linkwork.{name}")
        if name.startswith("_") or find_spec(path) is None:
            # `from linkwork import Hinge` asks here first, and would answer an AttributeError with a text of
            # its own.
            asked = sys._getframe(1).f_code.co_name
            from linkwork.errors import absent

            raise ImportError(_absent(name)) if asked == "_handle_fromlist" else absent(_absent(name), name)
        found = import_module(path)
    globals()[name] = found
    return found


def _absent(name: str) -> str:
    """Say what a name is called here; those with an underscore are asked for by Python itself."""
    if name.startswith("_"):
        return f"module 'linkwork' has no attribute {name!r}"
    from linkwork.foreign_words import no_public_name

    return no_public_name(name, __all__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})


__all__ = [
    "Absolute",
    "acos",
    "action",
    "add_format",
    "asin",
    "assembly_modes",
    "AssemblyError",
    "atan",
    "atan2",
    "Behaviour",
    "Body",
    "Box",
    "BreakWhen",
    "Bushing",
    "Cam",
    "Capsule",
    "CapturedMotion",
    "carry",
    "Checkpoint",
    "closest_points",
    "collide",
    "Colliders",
    "Compound",
    "Cone",
    "Constraint",
    "Contact",
    "contact_laws",
    "ContactPoint",
    "Contacts",
    "ContactSensor",
    "contains",
    "ConvexHull",
    "cos",
    "cosh",
    "Coupling",
    "cross_matrix",
    "Culling",
    "Cylinder",
    "Cylindrical",
    "deg",
    "degrees",
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
    "ground_plane",
    "HeightField",
    "HeightSensor",
    "Helical",
    "Hit",
    "Hits",
    "hypot",
    "image_outline",
    "Inertia",
    "InertialSensor",
    "Input",
    "integrate",
    "interp",
    "Joint",
    "KinematicRecording",
    "kinematics",
    "Line",
    "LinkworkError",
    "Listener",
    "Load",
    "load",
    "log",
    "Material",
    "Mechanism",
    "merge",
    "Mesh",
    "MeshError",
    "Model",
    "ModelError",
    "Motor",
    "norm",
    "NumericalError",
    "OnContact",
    "OnDistance",
    "OnLimit",
    "OnTime",
    "overlap",
    "Particle",
    "Planar",
    "planar",
    "Plane",
    "plot",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "Polygon",
    "Positions",
    "Prismatic",
    "Pulley",
    "RackPinion",
    "ray_cast",
    "RaySensor",
    "Recording",
    "Recordings",
    "Restoring",
    "Revolute",
    "RigidStop",
    "Sampled",
    "Scene",
    "Simulation",
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
    "SimulationError",
    "sin",
    "sinh",
    "Solid",
    "Sound",
    "sound",
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
