"""What an SDF link carries: its inertia, what it is drawn with and touched by."""

from typing import Any

import numpy as np

from linkwork.formats.markup import SHOWN, Element
from linkwork.formats.sdf_frames import Frames, floats, number, pose_of
from linkwork.geometry import (
    Box,
    Capsule,
    Collision,
    Cone,
    Cylinder,
    Ellipsoid,
    MeshFile,
    Plane,
    Solid,
    Sphere,
    Visual,
)
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.material import Material


def read_inertia(link: Element) -> Inertia:
    """Return the inertia of a link in its frame; where the file says nothing, SDF has 1 kg and 1 kg m^2."""
    inertial = link.one("inertial")
    if inertial is not None and inertial.attributes.get("auto", "false") in ("true", "1"):
        raise inertial.error(
            'auto="true" is not computed here; write the mass and inertia (gz sdf --expand-auto-inertials -p)'
        )
    mass = number(inertial, "mass", 1.0)
    if mass < 0.0:
        raise (inertial or link).error(f"mass {mass:g} is negative; give 0 or more")
    tensor = inertial.one("inertia") if inertial is not None else None
    xx, yy, zz = (number(tensor, word, 1.0) for word in ("ixx", "iyy", "izz"))
    xy, xz, yz = (number(tensor, word, 0.0) for word in ("ixy", "ixz", "iyz"))
    own = Inertia(mass, np.zeros(3), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], unphysical=True)
    to, place = pose_of(inertial) if inertial is not None else ("", None)
    if to and inertial is not None:
        raise inertial.error(f"a pose relative to {to[:SHOWN]!r}; give that of the inertia in its link")
    moved = own if place is None else own.moved(list(place.p), [list(row) for row in place.R])
    return Inertia(moved.mass, moved.com, moved.tensor)


def read_visuals(link: Element, frames: Frames) -> list[Visual]:
    """Return what the link is drawn with."""
    return [
        Visual(shape=shape, name=visual.attributes.get("name"), colour=_colour(visual))
        for visual in link.each("visual")
        if (shape := _shape(visual, frames.within(link.text("name"), visual))) is not None
    ]


def read_collisions(link: Element, frames: Frames) -> list[Collision]:
    """Return what the link is touched by."""
    return [
        Collision(shape=shape, name=collision.attributes.get("name"), material=_material(collision))
        for collision in link.each("collision")
        if (shape := _shape(collision, frames.within(link.text("name"), collision))) is not None
    ]


def _material(collision: Element) -> Material | None:
    step: Element | None = collision
    for tag in ("surface", "friction", "ode"):
        step = step.one(tag) if step is not None else None
    bounce = collision.one("surface")
    bounce = bounce.one("bounce") if bounce is not None else None
    if step is None and bounce is None:
        return None
    try:
        return Material(
            friction=number(step, "mu", 1.0), restitution=number(bounce, "restitution_coefficient", 0.0)
        )
    except ValueError as problem:
        raise collision.error(str(problem)) from None


def _colour(visual: Element) -> tuple[float, float, float, float] | None:
    material = visual.one("material")
    diffuse = material.one("diffuse") if material is not None else None
    if diffuse is None:
        return None
    values = floats(diffuse, 4 if len(diffuse.content.split()) == 4 else 3)
    red, green, blue, opacity = (*values, 1.0)[:4]
    return red, green, blue, opacity


def _shape(element: Element, pose: Any) -> Solid | MeshFile | None:
    place: dict[str, Any] = {"position": list(pose.p), "rotation": [list(row) for row in pose.R]}
    geometry = element.need("geometry")
    if len(geometry.children) != 1:
        raise geometry.error(f"{len(geometry.children)} shapes; give one")
    shape = geometry.children[0]
    try:
        match shape.tag:
            case "box":
                return Box(*floats(shape.need("size"), 3), **place)
            case "sphere":
                return Sphere(number(shape, "radius", 1.0), **place)
            case "cylinder":
                return Cylinder(number(shape, "radius", 1.0), number(shape, "length", 1.0), **place)
            case "capsule":
                return Capsule(number(shape, "radius", 0.5), number(shape, "length", 1.0), **place)
            case "cone":
                return Cone(number(shape, "radius", 0.5), number(shape, "length", 1.0), **place)
            case "ellipsoid":
                return Ellipsoid(*floats(shape.need("radii"), 3), **place)
            case "plane":
                normal = shape.one("normal")
                return Plane(floats(normal, 3) if normal is not None else (0.0, 0.0, 1.0), **place)
            case "mesh":
                scale = shape.one("scale")
                x, y, z = (1.0, 1.0, 1.0) if scale is None else floats(scale, 3)
                folder = str(shape.file.parent.absolute())
                name = shape.need("uri").content.strip()
                return MeshFile(filename=_as_package(name), scale=(x, y, z), folder=folder, **place)
            case "empty":
                return None
    except ValueError as problem:
        raise shape.error(str(problem)) from None
    raise shape.error(
        f"unknown shape <{shape.tag}>; available are box, sphere, cylinder, capsule, cone, ellipsoid, "
        f"plane, mesh"
    )


def _as_package(name: str) -> str:
    """Return a name of Gazebo's in the form that ROS has for the same: model://arm/part.dae."""
    return name.replace("model://", "package://", 1) if name.startswith("model://") else name
