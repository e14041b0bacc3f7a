"""What a URDF link carries: its inertia, what it is drawn with and touched by."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.algebra.rotation import from_euler
from linkwork.angles import warn_of_degrees
from linkwork.errors import warn
from linkwork.formats.markup import Element
from linkwork.geometry import Box, Capsule, Cylinder, Plane, Solid, Sphere
from linkwork.geometry.skin import Collision, Colour, MeshFile, Visual
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.material import Material
from linkwork.mechanism.placement import Array


def read_origin(element: Element) -> tuple[Array, Array]:
    """Return position and rotation of the element's <origin>, the identity when there is none."""
    origin = element.one("origin")
    if origin is None:
        return np.zeros(3), np.eye(3)
    position = np.array(origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
    return position, read_turn(origin)


def read_turn(origin: Element) -> Array:
    """Return the rotation of an <origin>: angles about the fixed axes x, y, z."""
    angles = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    warn_of_degrees(f"{origin.place}: rpy", *angles, remedy="90 degrees are 1.5707963")
    return np.array(from_euler("xyz", angles))


def read_inertia(link: Element) -> Inertia:
    """Return the inertia of a link in the link frame; a link without <inertial> has none."""
    inertial = link.one("inertial")
    if inertial is None:
        return Inertia.zero("space")
    mass = inertial.need("mass").positive("value")
    tensor = inertial.need("inertia")
    xx, xy, xz, yy, yz, zz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    own = Inertia(mass, np.zeros(3), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return own.moved(*read_origin(inertial))


def read_visuals(link: Element, materials: Mapping[str, Colour]) -> list[Visual]:
    """Return what the link is drawn with; a ball of no size, as some robots have it, is nothing to draw."""
    return [
        Visual(shape=_shape(visual), name=visual.attributes.get("name"), colour=_colour(visual, materials))
        for visual in link.each("visual")
        if not _is_point(visual.need("geometry"))
    ]


def _is_point(geometry: Element) -> bool:
    ball = geometry.one("sphere")
    if ball is None or ball.number("radius") != 0.0:
        return False
    warn(f"{geometry.file}:{ball.line}: a sphere of radius 0 is not drawn; leave it out, or give it a radius")
    return True


def read_collisions(link: Element) -> list[Collision]:
    """Return what the link is touched by."""
    return [
        Collision(shape=_shape(collision), name=collision.attributes.get("name"))
        for collision in link.each("collision")
    ]


# What PyBullet reads of a link's <contact>; both kinds of resistance are levers of the normal force [m].
_CONTACT_WORDS = {
    "lateral_friction": "friction",
    "rolling_friction": "rolling",
    "spinning_friction": "torsional",
    "restitution": "restitution",
    "stiffness": "stiffness",
    "damping": "damping",
}


def read_material(link: Element) -> Material | None:
    """Return what the link is made of where it is touched; None if the file does not say."""
    contact = link.one("contact")
    if contact is None:
        return None
    numbers = {
        word: found.positive("value")
        for tag, word in _CONTACT_WORDS.items()
        if (found := contact.one(tag)) is not None
    }
    try:
        return Material(**numbers)
    except ValueError as problem:
        raise contact.error(str(problem)) from None


def read_materials(robot: Element) -> dict[str, Colour]:
    """Return the colours of all named materials, those of the robot and those defined inside a <visual>."""
    colours: dict[str, Colour] = {}
    inside = [
        material
        for link in robot.each("link")
        for visual in link.each("visual")
        for material in visual.each("material")
    ]
    for material in [*robot.each("material"), *inside]:
        colour = material.one("color")
        if colour is not None and "name" in material.attributes:
            colours.setdefault(material.attributes["name"], _rgba(colour))
    return colours


def _colour(visual: Element, materials: Mapping[str, Colour]) -> Colour | None:
    material = visual.one("material")
    if material is None:
        return None
    colour = material.one("color")
    return materials.get(material.attributes.get("name", "")) if colour is None else _rgba(colour)


def _rgba(colour: Element) -> Colour:
    red, green, blue, opacity = colour.numbers("rgba", 4)
    return red, green, blue, opacity


def _shape(element: Element) -> Solid | MeshFile:
    position, rotation = read_origin(element)
    place: dict[str, Any] = {"position": position, "rotation": rotation}
    geometry = element.need("geometry")
    if len(geometry.children) != 1:
        raise geometry.error(f"{len(geometry.children)} shapes; give one")
    shape = geometry.children[0]
    try:
        match shape.tag:
            case "box":
                return Box(*shape.numbers("size", 3), **place)
            case "sphere":
                return Sphere(shape.number("radius"), **place)
            case "cylinder":
                return Cylinder(shape.number("radius"), shape.number("length"), **place)
            case "capsule":
                return Capsule(shape.number("radius"), shape.number("length"), **place)
            case "plane":  # as PyBullet reads it
                return Plane(shape.numbers("normal", 3), **place)
            case "mesh":
                x, y, z = shape.numbers("scale", 3, (1.0, 1.0, 1.0))
                folder = str(shape.file.parent.absolute())
                return MeshFile(filename=shape.text("filename"), scale=(x, y, z), folder=folder, **place)
    except ValueError as problem:
        raise shape.error(str(problem)) from None
    raise shape.error(
        f"unknown shape <{shape.tag}>; available are box, sphere, cylinder, capsule, plane, mesh"
    )
