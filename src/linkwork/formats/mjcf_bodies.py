"""Bodies, joints and shapes of a model that MuJoCo compiled; its coordinates are those of MuJoCo.

A body of MuJoCo has several joints, which move one after the other: between them are bodies without mass. Its
frame is where it is drawn, with every joint at its reference; a joint's coordinate there is that reference.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwork.algebra.rotation import from_quaternion
from linkwork.algebra.spatial import Frame
from linkwork.geometry import (
    Box,
    Capsule,
    Collision,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Solid,
    Sphere,
    Visual,
)
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Free, Prismatic, Revolute, Spherical
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism

_KINDS: dict[str, type[Joint]] = {
    "mjJNT_FREE": Free,
    "mjJNT_BALL": Spherical,
    "mjJNT_SLIDE": Prismatic,
    "mjJNT_HINGE": Revolute,
}
_SHOWN_GROUPS = 3  # of geoms: MuJoCo's viewer shows 0, 1 and 2


class MjcfNames:
    """Names of things of MuJoCo, made so that each is one thing in a mechanism."""

    def __init__(self, model: Any) -> None:
        self.model, self.text = model, model.names.tobytes()
        self.used = {"ground"}

    def take(self, kind: Any, index: int, usual: str) -> str:
        """Return a name for a thing: its own, if it has one that is free."""
        return self.free(self.own(kind, index, usual))

    def own(self, kind: Any, index: int, usual: str) -> str:
        """Return the name that a thing has in its file; the usual one, if it has none."""
        first = self._address(kind, index)
        return self.text[first : self.text.index(b"\0", first)].decode("utf-8", "replace") or usual

    def free(self, name: str) -> str:
        while name in self.used:
            name += "_"
        self.used.add(name)
        return name

    def _address(self, kind: Any, index: int) -> int:
        words = {
            "body": "name_bodyadr",
            "joint": "name_jntadr",
            "eq": "name_eqadr",
            "tendon": "name_tendonadr",
        }
        words |= {"actuator": "name_actuatoradr", "geom": "name_geomadr", "key": "name_keyadr"}
        return int(getattr(self.model, words[kind])[index])


class Bodies:
    """The bodies and joints of a model as they become those of a mechanism."""

    def __init__(self, model: Any, mechanism: Mechanism, names: MjcfNames, left_out: list[str]) -> None:
        self.model, self.mechanism, self.names, self.left_out = model, mechanism, names, left_out
        self.bodies: list[Body] = [mechanism.ground]
        self.joints: list[Joint] = []
        self.classes = _collision_classes(model)
        joint_names = [
            names.take("joint", j, f"joint{j}") for j in range(model.njnt)
        ]  # joints, by which states go, keep their names if bodies have the same
        for b in range(1, model.nbody):
            self._add(b, joint_names)
        self._dress(mechanism.ground, 0)

    def _add(self, b: int, joint_names: list[str]) -> None:
        model, mechanism = self.model, self.mechanism
        name = self.names.take("body", b, f"body{b}")
        place = {"position": model.xpos[b].copy(), "rotation": model.xmat[b].reshape(3, 3).copy()}
        first, count = int(model.body_jntadr[b]), int(model.body_jntnum[b])
        parent = self.bodies[model.body_parentid[b]]
        at = Frame(model.body_pos[b].tolist(), rotation(model.body_quat[b]).tolist())
        body = mechanism.add(Body(name, _inertia(model, b), **place))
        self.bodies.append(body)
        self._dress(body, b)
        if not count:
            what = self.names.free(f"{name}_fixed")
            mechanism.add(Fixed(what, parent, body, on_parent=at, on_child=Frame()))
        for j in range(first, first + count):
            last = j == first + count - 1
            child = body
            if not last:
                child = mechanism.add(Body(self.names.free(f"{name}_{joint_names[j]}"), **place))
            self.joints.append(mechanism.add(self._joint(j, joint_names[j], parent, child, at)))
            parent, at = child, Frame()

    def _joint(self, j: int, name: str, parent: Body, child: Body, at: Any) -> Joint:
        model = self.model
        kind, dof, adr = _KINDS[model.jnt_type[j]], int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
        place, axis = model.jnt_pos[j], model.jnt_axis[j]
        if kind is Free:
            if model.dof_armature[dof : dof + 3].any():  # MuJoCo's is along the axes of the world
                self.left_out.append(f"that armature of free joint {name!r} does not turn with the body")
            return Free(
                name,
                parent,
                child,
                on_parent=Frame(),
                on_child=Frame(),
                damping=self._per_freedom(model.dof_damping, dof, 6),
                friction=self._per_freedom(model.dof_frictionloss, dof, 6),
                armature=self._per_freedom(model.dof_armature, dof, 6),
            )
        nv = 3 if kind is Spherical else 1
        options: dict[str, Any] = {
            "on_parent": at @ Frame(place.tolist()),
            "on_child": self._on_child(kind, place, axis, float(model.qpos0[adr])),
            "damping": float(model.dof_damping[dof]),
            "friction": float(model.dof_frictionloss[dof]),
            "armature": float(model.dof_armature[dof]),
            "stiffness": float(model.jnt_stiffness[j]),
        }
        if nv == 1:
            options["axis"] = axis.tolist()
            if options["stiffness"]:
                options["rest"] = float(model.qpos_spring[adr])
            if model.jnt_limited[j]:
                options["limits"] = tuple(model.jnt_range[j].tolist())
        elif model.jnt_limited[j]:
            self.left_out.append(f"range of ball joint {name!r}")
        if model.jnt_stiffnesspoly[j].any() or model.dof_dampingpoly[dof].any():
            self.left_out.append(f"higher terms of stiffness or damping of joint {name!r}")
        joint = kind(name, parent, child, **options)
        if model.jnt_actfrclimited[j] and nv == 1:
            joint.effort = float(np.abs(model.jnt_actfrcrange[j]).max())
        return joint

    @staticmethod
    def _per_freedom(values: Any, dof: int, count: int) -> Any:
        """Return numbers of a free joint, which has turning first; MuJoCo has it last."""
        given = values[dof : dof + count]
        return [*given[3:].tolist(), *given[:3].tolist()] if given.any() else 0.0

    @staticmethod
    def _on_child(kind: type[Joint], place: Any, axis: Any, reference: float) -> Any:
        """Return the joint's frame on the child: turned or moved on by the coordinate of the drawing."""
        if kind is Prismatic:
            return Frame((place + reference * axis).tolist())
        if kind is Revolute and reference:
            half = 0.5 * reference
            return Frame(place.tolist(), rotation(np.r_[np.cos(half), np.sin(half) * axis]).tolist())
        return Frame(place.tolist())

    # what bodies are drawn with and touched by

    def _dress(self, body: Body, b: int) -> None:
        model = self.model
        visuals, collisions, kinds, frictions = [], [], set(), []
        first, count = int(model.body_geomadr[b]), int(model.body_geomnum[b])
        for g in range(first, first + count):
            touches = bool(model.geom_contype[g] or model.geom_conaffinity[g])
            for shape in self._shapes(g, touches):
                colour = model.geom_rgba[g]
                if model.geom_matid[g] >= 0:
                    colour = model.mat_rgba[model.geom_matid[g]]
                if model.geom_group[g] < _SHOWN_GROUPS and colour[3] > 0.0:
                    visuals.append(Visual(shape=self._seen(g, shape), colour=tuple(colour.tolist())))
                if touches:
                    collisions.append(Collision(shape=shape, material=_material(model, g)))
                    kinds.add((int(model.geom_contype[g]), int(model.geom_conaffinity[g])))
                    frictions.append(model.geom_friction[g].tolist())
        if visuals:
            body.visuals = visuals
        if collisions:
            body.collisions = collisions
        if kinds:
            body.group = sum(1 << self.classes.index(kind) for kind in kinds)
            body.mask = sum(
                1 << k for k, other in enumerate(self.classes) if any(_meet(kind, other) for kind in kinds)
            )
        if len(kinds) > 1:
            self.left_out.append(f"different contype or conaffinity of geoms of {body.name!r} (united)")

    def _shapes(self, g: int, touches: bool) -> Iterator[Solid]:
        """Yield the shape of a geom, if there is one."""
        model = self.model
        kind, size = model.geom_type[g], model.geom_size[g].tolist()
        place: dict[str, Any] = {
            "position": model.geom_pos[g].copy(),
            "rotation": rotation(model.geom_quat[g]),
        }
        match kind:
            case "mjGEOM_SPHERE":
                yield Sphere(size[0], **place)
            case "mjGEOM_CAPSULE":
                yield Capsule(size[0], 2.0 * size[1], **place)
            case "mjGEOM_ELLIPSOID":
                yield Ellipsoid(*size, **place)
            case "mjGEOM_CYLINDER":
                yield Cylinder(size[0], 2.0 * size[1], **place)
            case "mjGEOM_BOX":
                yield Box(*(2.0 * side for side in size), **place)
            case "mjGEOM_PLANE":
                yield Plane(**place)
            case "mjGEOM_HFIELD":
                yield self._terrain(int(model.geom_dataid[g]), place)
            case "mjGEOM_MESH":
                points, faces = self._triangles(int(model.geom_dataid[g]))
                yield ConvexHull(points, **place) if touches else Mesh(points, faces, **place)
            case _:
                self.left_out.append(f"a geom of {kind.removeprefix('mjGEOM_').lower()}")

    def _seen(self, g: int, shape: Solid) -> Solid:
        """Return what is drawn: the mesh itself where its hull is touched."""
        if not isinstance(shape, ConvexHull):
            return shape
        points, faces = self._triangles(int(self.model.geom_dataid[g]))
        return Mesh(points, faces, position=shape.position, rotation=shape.rotation)

    def _triangles(self, mesh: int) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        v, f = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
        points = model.mesh_vert[v : v + int(model.mesh_vertnum[mesh])].astype(float)
        return points, model.mesh_face[f : f + int(model.mesh_facenum[mesh])].astype(np.int64)

    def _terrain(self, field: int, place: dict[str, Any]) -> Solid:
        model = self.model
        rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
        first = int(model.hfield_adr[field])
        heights = model.hfield_data[first : first + rows * columns].reshape(rows, columns).T.astype(float)
        x, y, top, _ = model.hfield_size[field].tolist()
        return HeightField(heights * top, (2.0 * x, 2.0 * y), **place)


def rotation(quaternion: Any) -> np.ndarray:
    return np.array(from_quaternion(tuple((quaternion / np.linalg.norm(quaternion)).tolist())), dtype=float)


def _inertia(model: Any, b: int) -> Inertia:
    """Return the inertia as MuJoCo computed it, of geoms or as given."""
    own = Inertia(float(model.body_mass[b]), np.zeros(3), np.diag(model.body_inertia[b]), unphysical=True)
    moved = own.moved(model.body_ipos[b].copy(), rotation(model.body_iquat[b]))
    return Inertia(moved.mass, moved.com, moved.tensor, unphysical=bool(own.problems(allowed=1e-9)))


def _material(model: Any, g: int) -> Material:
    slide, spin, roll = model.geom_friction[g].tolist()
    flat = int(model.geom_condim[g])
    return Material(
        friction=slide if flat > 1 else 0.0,
        torsional=spin if flat > 3 else 0.0,
        rolling=roll if flat > 4 else 0.0,
    )


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether MuJoCo lets geoms of some contype and conaffinity meet."""
    return bool(one[0] & other[1] or other[0] & one[1])


def _collision_classes(model: Any) -> list[tuple[int, int]]:
    return sorted(
        {pair for pair in zip(model.geom_contype.tolist(), model.geom_conaffinity.tolist()) if any(pair)}
    )
