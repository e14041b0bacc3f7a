"""Mechanisms as URDF: a tree of links and joints, loops as <loop_joint>; what it has no words for is named.

<loop_joint name type><link1 link xyz rpy/><link2 link xyz rpy/></loop_joint> is how Isaac Sim closes loops.
Links have the frames of their joints, as URDF wants it; other shapes are written as meshes beside it.
"""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from linkwork.algebra.spatial import Frame
from linkwork.atomic_files import write_atomically
from linkwork.errors import FormatError, warn
from linkwork.formats.mesh_obj import save_obj
from linkwork.formats.spanning_tree import (
    Branch,
    angles,
    drawn_at,
    inverse,
    number_of,
    place,
    spanning_tree,
    turn,
    words,
)
from linkwork.geometry import Box, Capsule, Cylinder, MeshFile, Plane, Solid, Sphere
from linkwork.geometry.ground import Endless
from linkwork.geometry.skin import Collision, Visual, skins
from linkwork.mechanism.body import Body
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Free, Planar, Prismatic, Revolute, Spherical
from linkwork.mechanism.mechanism import GRAVITY, Mechanism

_KINDS = {
    Fixed: "fixed",
    Prismatic: "prismatic",
    Planar: "planar",
    Free: "floating",
    Spherical: "spherical",  # as Bullet and MuJoCo read it
}


def save_urdf(mechanism: Mechanism, path: Path) -> None:
    """Write a mechanism to a .urdf file, all or nothing; a warning names what cannot be kept."""
    write_atomically(path, [_Writer(mechanism, path).text().encode("utf-8")])


class _Writer:
    """Lines of a file, and what was left out of it."""

    def __init__(self, mechanism: Mechanism, path: Path) -> None:
        self.mechanism, self.path = mechanism, path
        self.left_out: list[str] = []
        self.lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(mechanism.name)}>"]
        self.frames: dict[Body, Any] = {}  # of links, in their bodies
        self.meshes = 0

    def text(self) -> str:
        tree, loops = spanning_tree(self.mechanism, str(self.path))
        root, tree = self._root(tree)
        self.frames |= {root: Frame()} if root is self.mechanism.ground else {}
        for branch in tree:
            self.frames[branch.child] = branch.on_child
        name = root.name
        if root is self.mechanism.ground:
            name = "world"
            while name in self.mechanism.bodies:
                name += "_"
        self._link(root, name)
        for branch in tree:
            self._link(branch.child, branch.child.name)
        couplings = {coupling.joint: coupling for coupling in self.mechanism.couplings.values()}
        for branch in tree:
            self._joint(branch, couplings.pop(branch.joint.name, None), root, name)
        self.left_out += [f"coupling {coupling.name!r}" for coupling in couplings.values()]
        for branch in loops:
            self._loop(branch, root, name)
        self._say_left_out()
        return "\n".join([*self.lines, "</robot>", ""])

    def _root(self, tree: list[Branch]) -> tuple[Body, list[Branch]]:
        """Return the root link: the body that alone is held to ground, at its origin; else ground."""
        held = [branch for branch in tree if branch.parent is self.mechanism.ground]
        if len(held) == 1 and type(held[0].joint) in (Fixed, Free) and not self.mechanism.ground.visuals:
            first = held[0]
            at_origin = not place(first.on_parent).any() and np.array_equal(turn(first.on_parent), np.eye(3))
            if at_origin and not self.mechanism.ground.collisions:
                self.frames[first.child] = first.on_child
                if drawn_at(first) is not None:
                    self.left_out.append(f"where joint {first.joint.name!r} is drawn")
                if isinstance(first.joint, Free):
                    self.left_out.append('that it floats: load it with base="free"')
                return first.child, [branch for branch in tree if branch is not first]
        if self.mechanism.ground.collisions or self.mechanism.ground.visuals:
            self.frames[self.mechanism.ground] = Frame()
        return self.mechanism.ground, tree

    # links

    def _link(self, body: Body, name: str) -> None:
        self.lines.append(f"  <link name={quoteattr(name)}>")
        frame = inverse(self.frames[body])
        if body is not self.mechanism.ground and (body.inertia.mass > 0.0 or body.inertia.tensor.any()):
            inertia = body.inertia.moved(place(frame), turn(frame))
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tensor.tolist()
            parts = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (xx, xy, xz, yy, yz, zz))
            tensor = " ".join(f'{word}="{words(x)}"' for word, x in parts)
            self.lines += [
                "    <inertial>",
                f'      <origin xyz="{words(inertia.com)}"/>',
                f'      <mass value="{words(inertia.mass)}"/>',
                f"      <inertia {tensor}/>",
                "    </inertial>",
            ]
        for skin in skins(body.visuals, Visual):
            self._skin("visual", skin, frame, body)
        for skin in skins(body.collisions, Collision):
            self._skin("collision", skin, frame, body)
        self.lines.append("  </link>")

    def _skin(self, word: str, skin: Any, frame: Any, body: Body) -> None:
        geometry = self._geometry(skin.shape, body)
        if geometry is None:
            return
        shape = skin.shape
        position = shape.position if shape.position is not None else np.zeros(3)
        rotation = shape.rotation if shape.rotation is not None else np.eye(3)
        own = frame @ Frame(np.ravel(position).tolist(), np.asarray(rotation, float).tolist())
        name = "" if skin.name is None else f" name={quoteattr(skin.name)}"
        self.lines += [
            f"    <{word}{name}>",
            f"      {_origin(own)}",
            f"      <geometry>{geometry}</geometry>",
        ]
        if getattr(skin, "colour", None) is not None:
            self.lines.append(f'      <material name=""><color rgba="{words(skin.colour)}"/></material>')
        self.lines.append(f"    </{word}>")

    def _geometry(self, shape: Solid | MeshFile, body: Body) -> str | None:
        match shape:
            case Box():
                return f'<box size="{words((shape.x, shape.y, shape.z))}"/>'
            case Sphere():
                return f'<sphere radius="{words(shape.radius)}"/>'
            case Cylinder():
                return f'<cylinder radius="{words(shape.radius)}" length="{words(shape.length)}"/>'
            case Capsule():
                return f'<capsule radius="{words(shape.radius)}" length="{words(shape.length)}"/>'
            case MeshFile():
                if shape.hull:
                    self.left_out.append(
                        f"that mesh {shape.filename!r} of {body.name!r} is touched by its hull"
                    )
                return f'<mesh filename={quoteattr(shape.filename)} scale="{words(shape.scale)}"/>'
        if isinstance(shape, Plane | Endless):
            self.left_out.append(f"a {type(shape).__name__} of {body.name!r}")
            return None
        return f"<mesh filename={quoteattr(self._mesh(shape))}/>"

    def _mesh(self, shape: Solid) -> str:
        """Write a shape as a mesh beside the file, and return its name there."""
        self.meshes += 1
        name = f"{self.path.stem}_{self.meshes}.obj"
        save_obj(self.path.with_name(name), *shape.surface())
        return name

    # joints

    def _joint(self, branch: Branch, coupling: Coupling | None, root: Body, root_name: str) -> None:
        joint, file = branch.joint, str(self.path)
        kind = self._kind(joint)
        limits = joint.limit_pairs() if joint.limits is not None else None
        parent = root_name if branch.parent is root else branch.parent.name
        self.lines += [
            f'  <joint name={quoteattr(joint.name)} type="{kind}">',
            f"    {_origin(inverse(self.frames[branch.parent]) @ branch.on_parent)}",
            f"    <parent link={quoteattr(parent)}/>",
            f"    <child link={quoteattr(branch.child.name)}/>",
        ]
        if kind not in ("fixed", "floating", "spherical"):
            self.lines.append('    <axis xyz="0 0 1"/>')
        effort, speed = (1e16 if x is None else x for x in (joint.effort, joint.speed))
        drive = f'effort="{words(effort)}" velocity="{words(speed)}"'
        if kind in ("revolute", "prismatic"):
            lower, upper = (-1e16, 1e16) if limits is None else np.clip(limits[0], -1e16, 1e16).tolist()
            self.lines.append(f'    <limit lower="{words(lower)}" upper="{words(upper)}" {drive}/>')
        elif limits is not None:
            self.left_out.append(f"limits of joint {joint.name!r}")
        elif joint.effort is not None or joint.speed is not None:
            self.lines.append(f"    <limit {drive}/>")
        damping, friction = (number_of(joint, word, file) for word in ("damping", "friction"))
        if damping or friction:
            self.lines.append(f'    <dynamics damping="{words(damping)}" friction="{words(friction)}"/>')
        if coupling is not None:
            ratio = f'multiplier="{words(coupling.ratio)}" offset="{words(coupling.offset)}"'
            self.lines.append(f"    <mimic joint={quoteattr(coupling.of)} {ratio}/>")
        self.lines.append("  </joint>")
        if drawn_at(branch) is not None:
            self.left_out.append(f"where joint {joint.name!r} is drawn")
        self.left_out += [
            f"{word} of joint {joint.name!r}"
            for word in ("stiffness", "armature")
            if np.any(joint.per_coordinate(word))
        ]

    def _kind(self, joint: Joint) -> str:
        if isinstance(joint, Revolute):
            return "continuous" if joint.limits is None else "revolute"
        kind = _KINDS.get(type(joint))
        if kind is None:
            raise FormatError(
                f"{self.path}: joint {joint.name!r}: URDF has no {type(joint).__name__}; save it as "
                f".mjcf or .json"
            )
        return kind

    def _loop(self, branch: Branch, root: Body, root_name: str) -> None:
        kind = "revolute" if isinstance(branch.joint, Revolute) else _KINDS.get(type(branch.joint))
        if kind is None or kind == "floating":
            raise FormatError(
                f"{self.path}: joint {branch.joint.name!r}: no loop is closed by a "
                f"{type(branch.joint).__name__} in "
                "URDF; save it as .json"
            )
        self.lines.append(f'  <loop_joint name={quoteattr(branch.joint.name)} type="{kind}">')
        for word, body, frame in (
            ("link1", branch.parent, branch.on_parent),
            ("link2", branch.child, branch.on_child),
        ):
            own = inverse(self.frames.get(body, Frame())) @ frame
            name = root_name if body is root else body.name
            origin = f'xyz="{words(place(own))}" rpy="{words(angles(turn(own)))}"'
            self.lines.append(f"    <{word} link={quoteattr(name)} {origin}/>")
        if kind in ("revolute", "prismatic", "planar"):
            self.lines.append('    <axis xyz="0 0 1"/>')
        self.lines.append("  </loop_joint>")

    def _say_left_out(self) -> None:
        m = self.mechanism
        others = [
            one for name, one in m.constraints.items() if name not in m.couplings and name not in m.drivers
        ]
        for kind, things in (
            ("load", m.loads.values()),
            ("constraint", others),
            ("driver", m.drivers.values()),
            ("contact", m.contacts.values()),
        ):
            self.left_out += [f"{kind} {thing.name!r}" for thing in things]
        self.left_out += [f"state {name!r}" for name in m.states]
        if tuple(m.gravity.tolist()) != GRAVITY["space"]:
            self.left_out.append(f"gravity {m.gravity.tolist()}")
        if self.left_out:
            warn(
                f"{self.path}: URDF cannot hold, and left out are: {', '.join(dict.fromkeys(self.left_out))}"
            )


def _origin(frame: Any) -> str:
    return f'<origin xyz="{words(place(frame))}" rpy="{words(angles(turn(frame)))}"/>'
