"""Edits of bodies: copies, mirror images, parts put together and taken apart. Each changes one mechanism."""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, MeshError
from linkwork.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Solid, Sphere
from linkwork.geometry.mesh_topology import pieces
from linkwork.geometry.solid import COMMON
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import lifted

Array = np.ndarray

_EVEN = (Box, Sphere, Cylinder, Capsule, Ellipsoid)  # mirror images of themselves in all their planes


def free_name(mechanism: Mechanism, wanted: str) -> str:
    """Return a name that nothing has: the wanted one, or with a number behind it."""
    base = wanted.strip() or "part"
    if base not in mechanism:
        return base
    stem = base.rstrip("0123456789").rstrip() or base
    return next(name for k in range(2, 100_000) if (name := f"{stem} {k}") not in mechanism)


def pose_of(body: Body) -> Array:
    """Return where a body is drawn, (3, 4), also one of the plane."""
    return lifted(np.column_stack([body.rotation, body.position]))


def remade(body: Body, name: str, parts: Sequence[Any], weighed: dict[str, Any] | None = None) -> Body:
    """Return a body like another, of other parts; `weighed` says its density, mass or inertia."""
    how = dict(body.given if weighed is None else weighed)
    inertia = how.pop("inertia", None)
    if weighed is None and not body.weighed and not _holds_inertia(body):
        how, inertia = {"density": 0.0}, body.inertia
    options: dict[str, Any] = {
        "visuals": body.visuals,
        "collisions": body.collisions,
        "material": body.material,
        "group": body.group,
        "mask": body.mask,
        "color": body.color,
    }
    made = Body(name, *parts, **how, position=body.position, rotation=body.rotation, **options)
    if inertia is not None:
        made.inertia = inertia
    return made


def _holds_inertia(body: Body) -> bool:
    return not body.parts or any(isinstance(part, Inertia) for part in body.parts)


def exchange(mechanism: Mechanism, old: Body, new: Body) -> None:
    """Put a body in the place of another; joints, loads and constraints are on the new one then."""
    mechanism.add(new)
    for element in mechanism.elements:
        if isinstance(element, Joint):
            for word in ("parent", "child"):
                if getattr(element, word) is old:
                    setattr(element, word, new)
        elif isinstance(element, Contact):
            for word in ("between", "without"):
                said = getattr(element, word)
                if said and old in _flat(said):
                    setattr(element, word, _exchanged(said, old, new))
        elif not isinstance(element, Body) and any(each is old for each in element.on):
            element.on = tuple(new if each is old else each for each in element.on)
    mechanism.remove(old)


def _flat(said: Any) -> list[Any]:
    return [end for each in said for end in (each if isinstance(each, tuple | list) else [each])]


def _exchanged(said: Any, old: Body, new: Body) -> Any:
    if isinstance(said, tuple | list):
        return tuple(_exchanged(each, old, new) for each in said)
    return new if said is old else said


# copies


def duplicate(mechanism: Mechanism, body: Body, shift: Sequence[float]) -> Body:
    """Add a copy of a body beside it."""
    made = remade(body, free_name(mechanism, body.name), body.parts)
    made.position = np.asarray(body.position, float) + np.asarray(shift, float)[: len(body.position)]
    return mechanism.add(made)


def mirror(mechanism: Mechanism, body: Body, axis: str) -> Body:
    """Add the mirror image of a body in the plane through the world's origin that is square to an axis."""
    M = np.eye(3)
    M["xyz".index(axis), "xyz".index(axis)] = -1.0
    size = len(body.position)
    m = M[:size, :size]
    parts = [_mirrored(part, M) for part in body.parts]
    how: dict[str, Any] = dict(body.given)
    if not body.weighed:
        inertia = body.inertia
        tensor = M @ inertia.tensor @ M if inertia.space == "space" else inertia.tensor
        how = {"inertia": Inertia(inertia.mass, m @ inertia.com, tensor)}
        if any(isinstance(part, Solid) for part in parts):
            how["density"] = 0.0
    made = remade(body, free_name(mechanism, f"{body.name} mirrored"), parts, how)
    made.visuals = [_mirrored(skin, M) for skin in body.visuals]
    made.collisions = [_mirrored(skin, M) for skin in body.collisions]
    made.position, made.rotation = m @ body.position, m @ body.rotation @ m
    return mechanism.add(made)


def _mirrored(part: Any, M: Array) -> Any:
    if isinstance(part, Inertia):
        size = len(part.com)
        tensor = M @ part.tensor @ M if size == 3 else part.tensor
        return Inertia(part.mass, M[:size, :size] @ part.com, tensor)
    if not isinstance(part, Solid):
        shape = getattr(part, "shape", None)
        if isinstance(shape, Solid):
            return replace(part, shape=_mirrored(shape, M))
        raise LinkworkError(f"mirror: cannot mirror {part!r:.60}; give it shapes, or a mesh that is loaded")
    place = {"position": M @ np.array(part.position), "rotation": M @ np.array(part.rotation) @ M}
    if isinstance(part, _EVEN):
        return replace(part, **place)
    mesh = part if isinstance(part, Mesh) else part.mesh()
    kept = {word: getattr(part, word) for word in ("density", "mass")}
    return Mesh(mesh.vertices @ M, mesh.faces[:, ::-1], name=getattr(part, "name", "mesh"), **place, **kept)


# together and apart


def merge_bodies(mechanism: Mechanism, bodies: Sequence[Body]) -> Body:
    """Make one body of several: the first, which takes over the shapes and joints of the others."""
    first, rest = bodies[0], bodies[1:]
    if mechanism.space == "plane":
        raise LinkworkError("merge: bodies of the plane cannot be merged yet; draw one body with both shapes")
    X = pose_of(first)
    parts = [part for part in first.parts if isinstance(part, Solid)]
    visuals, inertia = list(first.visuals), first.inertia
    for body in rest:
        R, p = X[:, :3].T @ pose_of(body)[:, :3], X[:, :3].T @ (pose_of(body)[:, 3] - X[:, 3])
        parts += [moved(part, R, p) for part in body.parts if isinstance(part, Solid)]
        visuals += [moved(skin, R, p) for skin in body.visuals]
        inertia = inertia + body.inertia.moved(p, R)
    made = remade(first, first.name, parts, {"density": 0.0} if parts else {"inertia": inertia})
    made.inertia = inertia
    made.visuals = visuals
    inner = [j for j in mechanism.joints.values() if j.parent in bodies and j.child in bodies]
    for joint in inner:
        remove_with_users(mechanism, joint)
    for body in rest:
        for joint in mechanism.joints.values():
            if body in (joint.parent, joint.child):
                _rehang(joint, body, first)
        remove_with_users(mechanism, body)
    exchange(mechanism, first, made)
    return made


def _rehang(joint: Joint, body: Body, to: Body) -> None:
    """Let a joint be on another body, where it is in the world."""
    on_parent, on_child = joint.frames()
    X, Y = pose_of(to), pose_of(body)
    shift = joint.algebra.Frame((X[:, :3].T @ (Y[:, 3] - X[:, 3])).tolist(), (X[:, :3].T @ Y[:, :3]).tolist())
    joint.at = joint.axis = None
    if joint.parent is body:
        joint.parent, on_parent = to, shift @ on_parent
    else:
        joint.child, on_child = to, shift @ on_child
    joint.on_parent, joint.on_child = on_parent, on_child


def moved(part: Any, R: Array, p: Array) -> Any:
    """Return a shape, or what has one, turned and shifted on its body."""
    if hasattr(part, "shape"):
        return replace(part, shape=moved(part.shape, R, p))
    if not hasattr(part, "position"):
        return np.asarray(part, float) @ R.T + p
    rotation = R @ np.array(part.rotation)
    left, _, right = np.linalg.svd(rotation)  # products of rotations drift
    return replace(part, position=R @ np.array(part.position) + p, rotation=left @ right)


def split_body(mechanism: Mechanism, body: Body) -> list[Body]:
    """Make a body of each shape of one, or of each piece of its mesh; its joints stay on the first."""
    shapes = [part for part in body.parts if isinstance(part, Solid)]
    if len(shapes) == 1 and isinstance(shapes[0], Mesh):
        shapes = _mesh_pieces(shapes[0])
    if len(shapes) < 2:
        raise LinkworkError(f"split: body {body.name!r} is of one piece; there is nothing to take apart")
    if body.density is None or not body.weighed:
        volume = sum(shape.volume for shape in shapes)
        density = body.inertia.mass / volume
    else:
        density = body.density
    first = remade(body, body.name, shapes[:1], {"density": density})
    exchange(mechanism, body, first)
    made = [first]
    for shape in shapes[1:]:
        one = remade(body, free_name(mechanism, body.name), [shape], {"density": density})
        one.visuals, one.collisions = (), ()
        made.append(mechanism.add(one))
    return made


def _mesh_pieces(mesh: Mesh) -> list[Solid]:
    count, piece = pieces(mesh.faces, mesh.edges)
    made: list[Solid] = []
    for k in range(count):
        used, faces = np.unique(mesh.faces[piece == k], return_inverse=True)
        made.append(mesh.like(mesh.vertices[used], faces.reshape(-1, 3), ()))
    return made


def remove_with_users(mechanism: Mechanism, element: Any) -> None:
    """Remove an element, and before it whatever uses it."""
    for user in _users(mechanism, element):
        if user in mechanism:
            remove_with_users(mechanism, user)
    mechanism.remove(element)


def _users(mechanism: Mechanism, element: Any) -> Iterable[Any]:
    for other in mechanism.elements:
        if isinstance(other, Joint):
            if element is other.parent or element is other.child:
                yield other
        elif not isinstance(other, Body):
            names = [*other.on, *(vars(other).get(word) for word in ("joint", "of"))]
            if any(each is element or each == element.name for each in names if each is not None):
                yield other


# meshes


def problems(body: Body) -> list[str]:
    """Return why shapes of a body enclose no solid, so that they have no mass of their own."""
    meshes = [getattr(skin, "shape", skin) for skin in (*body.parts, *body.visuals)]
    return [problem for mesh in meshes if isinstance(mesh, Mesh) for problem in mesh.problems()]


def is_open(body: Body) -> bool:
    """Whether a body is drawn with a mesh that encloses no solid, and weighed by the hull of it."""
    return any(isinstance(skin, Mesh) and skin.problems() for skin in body.visuals)


def weighed_body(name: str, mesh: Mesh, density: float, **place: Any) -> Body:
    """Return a body of a mesh; if that encloses nothing, drawn with it, and as heavy as its convex hull."""
    try:
        return Body(name, mesh, density=density, **place)
    except (MeshError, ValueError):
        try:
            inertia = mesh.hull().inertia(density)
        except (MeshError, ValueError, LinkworkError):
            inertia = Inertia.zero("space")
        return Body(name, inertia, visuals=[mesh], **place)


def repair_body(mechanism: Mechanism, body: Body, density: float) -> Body:
    """Repair the meshes of a body, so that they enclose a solid; say what cannot be repaired."""
    shapes = [part for part in body.parts if isinstance(part, Solid)]
    drawn = [getattr(skin, "shape", skin) for skin in body.visuals]
    shapes = shapes or [shape for shape in drawn if isinstance(shape, Mesh)]
    fixed = [shape.repaired() if isinstance(shape, Mesh) and shape.problems() else shape for shape in shapes]
    left = [problem for shape in fixed if isinstance(shape, Mesh) for problem in shape.problems()]
    if left:
        raise LinkworkError(f"body {body.name!r} cannot be repaired: {left[0]}")
    made = remade(body, body.name, fixed, {"density": density})
    made.visuals = ()
    exchange(mechanism, body, made)
    return made


def sizes_of(shape: Solid) -> dict[str, Any]:
    """Return what a shape is said by: its fields but where it is, and what it weighs."""
    return {field.name: getattr(shape, field.name) for field in fields(shape) if field.name not in COMMON}
