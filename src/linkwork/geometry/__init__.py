"""Shapes: the solids that give bodies mass, and what a body is drawn and touched with."""

from linkwork.geometry.box import Box
from linkwork.geometry.capsule import Capsule
from linkwork.geometry.compound import Compound
from linkwork.geometry.cone import Cone
from linkwork.geometry.cylinder import Cylinder
from linkwork.geometry.ellipsoid import Ellipsoid
from linkwork.geometry.ground import HeightField, Plane
from linkwork.geometry.hull import ConvexHull
from linkwork.geometry.mesh import Mesh
from linkwork.geometry.polygon import Extrusion, Polygon, Revolution
from linkwork.geometry.skin import Collision, MeshFile, Visual
from linkwork.geometry.solid import Solid
from linkwork.geometry.sphere import Sphere

__all__ = [
    "Box",
    "Capsule",
    "Collision",
    "Compound",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "Extrusion",
    "HeightField",
    "Mesh",
    "MeshFile",
    "Plane",
    "Polygon",
    "Revolution",
    "Solid",
    "Sphere",
    "Visual",
]
