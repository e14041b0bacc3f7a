"""Shapes: the solids that give bodies mass, and what a body is drawn and touched with."""

from linkwork.geometry.skin import Collision, MeshFile, Visual
from linkwork.geometry.solids import Box, Capsule, Cone, Cylinder, Ellipsoid, Solid, Sphere

__all__ = [
    "Box",
    "Capsule",
    "Collision",
    "Cone",
    "Cylinder",
    "Ellipsoid",
    "MeshFile",
    "Solid",
    "Sphere",
    "Visual",
]
