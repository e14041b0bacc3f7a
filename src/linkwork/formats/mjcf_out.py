"""Mechanisms as MJCF: nested bodies with inertia and shapes, joints, loops as equalities, motors.

Bodies without mass between two joints become one body with several joints, as MuJoCo wants it.
"""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from linkwork.algebra.rotation import to_quaternion
from linkwork.algebra.spatial import Frame
from linkwork.atomic_files import write_atomically
from linkwork.errors import FormatError, warn
from linkwork.formats.markup import MAX_NESTED, MAX_PIECE
from linkwork.formats.mesh_obj import save_obj
from linkwork.formats.mjcf_loads_out import LoadsOut, keyframes
from linkwork.formats.spanning_tree import (
    Branch,
    drawn_at,
    inverse,
    number_of,
    place,
    spanning_tree,
    turn,
    words,
)
from linkwork.geometry import Box, Capsule, Cylinder, Ellipsoid, MeshFile, Plane, Solid, Sphere
from linkwork.geometry.ground import Endless
from linkwork.geometry.skin import Collision, Visual, skins
from linkwork.mechanism.body import Body
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Cylindrical, Fixed, Free, Prismatic, Revolute, Spherical, Universal
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import plain

# The joints of MuJoCo that one of ours is, and the axis of its frame that each has.
_STEPS: dict[type[Joint], tuple[tuple[str, int], ...]] = {
    Fixed: (),
    Free: (("free", 2),),
    Spherical: (("ball", 2),),
    Revolute: (("hinge", 2),),
    Prismatic: (("slide", 2),),
    Universal: (("hinge", 0), ("hinge", 1)),
    Cylindrical: (("hinge", 2), ("slide", 2)),
}
_LEAST = 1e-14  # mass of what moves; MuJoCo has mjMINVAL = 1e-15
_FAR = 1e10  # a limit beyond is none
MOST_INLINED = 4_000_000  # characters of meshes in a file; those of more go into files beside it


def save_mjcf(mechanism: Mechanism, path: Path) -> None:
    """Write a mechanism to a file of MuJoCo, all or nothing; a warning names what cannot be kept."""
    write_atomically(path, [_Writer(mechanism, path).text().encode("utf-8")])


class _Writer:
    """Lines of a file, and what was left out of it."""

    def __init__(self, mechanism: Mechanism, path: Path) -> None:
        self.mechanism, self.path = mechanism, path
        self.left_out: list[str] = []
        self.assets: list[str] = []
        self.inlined = 0  # characters of meshes
        self.drawn: dict[str, float] = {}  # coordinates of joints that are not drawn at 0
        self.tree, self.loops = spanning_tree(mechanism, str(path))
        self.below: dict[Body, list[Branch]] = {}
        for branch in self.tree:
            self.below.setdefault(branch.parent, []).append(branch)
        used = [end for branch in self.loops for end in (branch.parent, branch.child)]
        used += [thing for load in mechanism.loads.values() for thing in load.on if isinstance(thing, Body)]
        self.loads = LoadsOut(mechanism, [branch.joint for branch in self.tree])
        self.order: list[
            tuple[Joint, list[float]]
        ] = []  # joints as MuJoCo counts them, and where they are drawn
        self.used = set(used)

    def text(self) -> str:
        ground = self.mechanism.ground
        body_lines = self._sites(ground, 4) + self._skins(ground, 4)
        stack: list[tuple[Branch | None, int]] = [(b, 4) for b in reversed(self.below.get(ground, []))]
        while stack:
            branch, indent = stack.pop()
            if branch is None:
                body_lines.append(" " * indent + "</body>")
                continue
            lines, last = self._body(branch, indent)
            if indent > 2 * (MAX_NESTED - 3):
                raise FormatError(
                    f"{self.path}: body {last.name!r} hangs on a longer chain of bodies than MuJoCo reads, "
                    f"whose parser takes elements up to {MAX_NESTED - 1} deep; save it as .json"
                )
            body_lines += lines
            stack.append((None, indent))
            stack += [(each, indent + 2) for each in reversed(self.below.get(last, []))]
        equalities = self._equalities()
        excluded = self._excluded()
        keys = [
            f"    <key name={quoteattr(name)} {said}/>"
            for name, said in keyframes(self.mechanism, self.order)
        ]
        self._say_left_out()
        gravity = words(self.mechanism.gravity)
        lines = [
            f"<mujoco model={quoteattr(self.mechanism.name)}>",
            '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
            f'  <option gravity="{gravity}"{self.loads.medium}/>',
        ]
        for word, content in (
            ("asset", self.assets),
            ("worldbody", body_lines),
            ("contact", excluded),
            ("equality", equalities),
            ("tendon", self.loads.tendons),
            ("actuator", self.loads.actuators),
            ("keyframe", keys),
        ):
            if content or word == "worldbody":
                lines += [f"  <{word}>", *content, f"  </{word}>"]
        return "\n".join([*lines, "</mujoco>", ""])

    # bodies

    def _body(self, branch: Branch, indent: int) -> tuple[list[str], Body]:
        """Return the lines that open a body, and the body: that after bodies without mass between joints."""
        chain = [branch]
        while self._is_between(chain[-1].child):
            chain += self.below[chain[-1].child]
        body = chain[-1].child
        steps = [step.on_parent @ self._moved(step) @ inverse(step.on_child) for step in chain]
        pose = Frame()
        for step in steps:
            pose = pose @ step
        pad = " " * indent
        lines = [f'{pad}<body name={quoteattr(_name(body))} pos="{words(place(pose))}" {_quaternion(pose)}>']
        for k, step in enumerate(chain):
            frame = step.on_child
            for later in steps[k + 1 :]:  # as it is seen from the last body
                frame = inverse(later) @ frame
            lines += self._joint(step, frame, indent + 2, branch)
        if body.inertia.mass > 0.0 or body.inertia.tensor.any():
            lines.append(f"{pad}  {self._inertial(body)}")
        if any(step.joint.nv for step in chain) and self._carried(body) < _LEAST:
            raise FormatError(
                f"{self.path}: body {body.name!r} moves and has no mass or no inertia; MuJoCo has no such "
                "body: give it one, or save it as .json"
            )
        return [*lines, *self._sites(body, indent + 2), *self._skins(body, indent + 2)], body

    def _moved(self, branch: Branch) -> Any:
        """Return how the joint has moved where it is drawn, as far as MuJoCo can begin there."""
        joint, q = branch.joint, drawn_at(branch)
        if joint.nv:
            self.order.append((joint, joint.neutral() if q is None else q))
        if q is None:
            return Frame()
        if not isinstance(joint, Free | Revolute | Prismatic):
            self.left_out.append(f"where joint {joint.name!r} is drawn")
            self.order[-1] = joint, joint.neutral()
            return Frame()
        if joint.nv == 1:
            self.drawn[joint.name] = q[0]
        return joint.motion(q)

    def _inertial(self, body: Body) -> str:
        """Return the element of what a body weighs, which MuJoCo takes only if a real body can weigh it."""
        inertia = body.inertia
        said = f'<inertial mass="{words(inertia.mass)}" pos="{words(inertia.com)}"'
        moments, axes = np.linalg.eigh(inertia.tensor)
        a, b, c = moments.tolist()
        if c > (a + b) * (1.0 + 1e-12) or a < 0.0:
            raise FormatError(
                f"{self.path}: body {body.name!r} has moments {plain(moments)} kg m^2, which MuJoCo takes "
                "for no body's: load with repair=True, or give it another inertia"
            )
        if c < (a + b) * (1.0 - 1e-9):
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tensor.tolist()
            return f'{said} fullinertia="{words((xx, yy, zz, xy, xz, yz))}"/>'
        # Of a plate, c = a + b: that must not be lost by rounding when MuJoCo looks for the axes itself.
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        turned = _quaternion(Frame(rotation=axes.tolist()))
        return f'{said} {turned} diaginertia="{words((a, b, min(c, a + b)))}"/>'

    def _carried(self, body: Body) -> float:
        """Return the mass, or moment if that is less, of a body and of those that are fixed to it."""
        fixed = [body]
        for each in fixed:  # grows while it is walked
            fixed += [step.child for step in self.below.get(each, []) if not step.joint.nv]
        least = float(np.linalg.eigvalsh(body.inertia.tensor)[0]) if body.inertia.mass else np.inf
        return min(sum(each.inertia.mass for each in fixed), least)

    def _is_between(self, body: Body) -> bool:
        """Return whether a body is nothing but the place between two joints."""
        below = self.below.get(body, [])
        bare = not body.inertia.mass and not body.visuals and not body.collisions and body not in self.used
        return bare and len(below) == 1 and not isinstance(below[0].joint, Fixed | Free)

    def _joint(self, step: Branch, frame: Any, indent: int, first: Branch) -> list[str]:
        joint, pad, file = step.joint, " " * indent, str(self.path)
        kinds = _STEPS.get(type(joint))
        if kinds is None:
            raise FormatError(
                f"{file}: joint {joint.name!r}: MJCF has no {type(joint).__name__}; save it as .json"
            )
        if isinstance(joint, Free) and (
            step.parent is not self.mechanism.ground
            or place(step.on_parent).any()
            or place(step.on_child).any()
        ):
            raise FormatError(
                f"{file}: joint {joint.name!r}: a Free joint of MuJoCo is between origins of "
                f"ground and a body; "
                "leave on_parent= and on_child= out, or save as .json"
            )
        numbers = {
            "damping": number_of(joint, "damping", file),
            "frictionloss": number_of(joint, "friction", file),
            "stiffness": number_of(joint, "stiffness", file),
            "springref": number_of(joint, "rest", file),
            "armature": number_of(joint, "armature", file),
        }
        if isinstance(joint, Free):
            said = "".join(f' {word}="{words(x)}"' for word, x in numbers.items() if x)
            return [f'{pad}<joint name={quoteattr(joint.name)} type="free"{said}/>']
        for word in ("effort", "speed"):
            if getattr(joint, word) is not None:
                self.left_out.append(f"{word} of joint {joint.name!r}")
        lines = []
        for k, (kind, axis) in enumerate(kinds):
            name = joint.name if len(kinds) == 1 else f"{joint.name}_{k + 1}"
            said = [f"name={quoteattr(name)}", f'type="{kind}"', f'pos="{words(place(frame))}"']
            if kind != "ball":
                said.append(f'axis="{words(turn(frame)[:, axis])}"')
                if joint.name in self.drawn:
                    said.append(f'ref="{words(self.drawn[joint.name])}"')
                lower, upper = np.clip(joint.limit_pairs()[k], -_FAR, _FAR).tolist()
                if lower == upper:
                    self.left_out.append(f"limits of joint {joint.name!r}, between which nothing is")
                elif lower > -_FAR or upper < _FAR:
                    said.append(f'range="{words((lower, upper))}"')
            said += [
                f'{word}="{words(x)}"'
                for word, x in numbers.items()
                if x and not (kind == "ball" and word == "springref")
            ]
            lines.append(f"{pad}<joint {' '.join(said)}/>")
        return lines

    # shapes

    def _skins(self, body: Body, indent: int) -> list[str]:
        lines = []
        touches = 1 if self.mechanism.contacts else 0
        worn: tuple[tuple[list[Any], bool], ...] = (
            (list(skins(body.visuals, Visual)), False),
            (list(skins(body.collisions, Collision)), True),
        )
        for things, touched in worn:
            for skin in things:
                geometry = self._geometry(skin.shape, body)
                if geometry is None:
                    continue
                said = (
                    f'contype="{touches}" conaffinity="{touches}" group="3"'
                    if touched
                    else 'contype="0" conaffinity="0"'
                )
                if (colour := getattr(skin, "colour", None)) is not None:
                    said += f' rgba="{words(colour)}"'
                material = getattr(skin, "material", None) or body.material
                if touched and material is not None:
                    levers = (material.friction, material.torsional, material.rolling)
                    dimensions = 6 if levers[2] else 4 if levers[1] else 3
                    said += f' friction="{words(levers)}" condim="{dimensions}"'
                lines.append(f"{' ' * indent}<geom {geometry} {said}/>")
        return lines

    def _geometry(self, shape: Solid | MeshFile, body: Body) -> str | None:
        if isinstance(shape, MeshFile):
            self.left_out.append(f"mesh {shape.filename!r} of {body.name!r}, a file that is not opened")
            return None
        position = np.zeros(3) if shape.position is None else np.ravel(shape.position)
        rotation = np.eye(3) if shape.rotation is None else np.asarray(shape.rotation, float)
        turned = to_quaternion(Frame((0.0, 0.0, 0.0), rotation.tolist()).R)
        at = f'pos="{words(position)}" quat="{words([float(x) for x in turned])}"'
        match shape:
            case Box():
                return f'type="box" size="{words((shape.x / 2, shape.y / 2, shape.z / 2))}" {at}'
            case Sphere():
                return f'type="sphere" size="{words(shape.radius)}" {at}'
            case Capsule():
                return f'type="capsule" size="{words((shape.radius, shape.length / 2))}" {at}'
            case Cylinder():
                return f'type="cylinder" size="{words((shape.radius, shape.length / 2))}" {at}'
            case Ellipsoid():
                return f'type="ellipsoid" size="{words((shape.x, shape.y, shape.z))}" {at}'
            case Plane() if body is self.mechanism.ground:
                return self._plane(shape)
        if isinstance(shape, Endless):
            self.left_out.append(f"a {type(shape).__name__} of {body.name!r}")
            return None
        vertices, faces = shape.surface()
        name = f"mesh{len(self.assets)}"
        said = f'vertex="{words(vertices)}" face="{_whole(faces)}"'
        self.inlined += len(said)
        if len(said) > MAX_PIECE or self.inlined > MOST_INLINED:
            self.inlined -= len(said)
            file = f"{self.path.stem}_{len(self.assets) + 1}.obj"
            save_obj(self.path.with_name(file), vertices, faces)
            said = f"file={quoteattr(file)}"
        self.assets.append(f'    <mesh name="{name}" {said}/>')
        return f'type="mesh" mesh="{name}" {at}'

    @staticmethod
    def _plane(shape: Plane) -> str:
        position = np.zeros(3) if shape.position is None else np.ravel(shape.position)
        rotation = np.eye(3) if shape.rotation is None else np.asarray(shape.rotation, float)
        normal = rotation @ np.asarray(shape.normal, float)
        return (
            f'type="plane" size="10 10 1" pos="{words(position + shape.offset * normal)}" '
            f'zaxis="{words(normal)}"'
        )

    # what acts between bodies

    def _equalities(self) -> list[str]:
        lines = []
        for kind, name, _ in (each for branch in self.loops for each in self._closings(branch)):
            ends = f"site1={quoteattr(name + '_1')} site2={quoteattr(name + '_2')}"
            lines.append(f"    <{kind} name={quoteattr(name)} {ends}/>")
        for coupling in self.mechanism.couplings.values():
            assert isinstance(coupling, Coupling)
            ends_ = f"joint1={quoteattr(coupling.joint)} joint2={quoteattr(coupling.of)}"
            y, x = (self.drawn.get(name, 0.0) for name in (coupling.joint, coupling.of))
            offset = coupling.offset + coupling.ratio * x - y  # MuJoCo counts from where it is drawn
            terms = f'polycoef="{words((offset, coupling.ratio, 0, 0, 0))}"'
            lines.append(f"    <joint name={quoteattr(coupling.name)} {ends_} {terms}/>")
        return lines

    def _closings(self, branch: Branch) -> list[tuple[str, str, float]]:
        """Return the equalities that close a loop: their kinds, names, and places along the axis [m]."""
        joint = branch.joint
        if isinstance(joint, Spherical):
            return [("connect", joint.name, 0.0)]
        if isinstance(joint, Fixed):
            return [("weld", joint.name, 0.0)]
        if isinstance(joint, Revolute):  # two points of the axis
            return [("connect", f"{joint.name}_{k + 1}", 0.1 * k) for k in range(2)]
        raise FormatError(
            f"{self.path}: joint {joint.name!r}: no loop is closed by a {type(joint).__name__} in MJCF; "
            "save it as .json"
        )

    def _sites(self, body: Body, indent: int) -> list[str]:
        """Return the places on a body at which loops are closed."""
        lines = []
        for branch in self.loops:
            for k, (end, frame) in enumerate(
                ((branch.parent, branch.on_parent), (branch.child, branch.on_child))
            ):
                for _, name, along in self._closings(branch) if end is body else ():
                    at = f'pos="{words(place(frame) + along * turn(frame)[:, 2])}" {_quaternion(frame)}'
                    lines.append(f"{' ' * indent}<site name={quoteattr(f'{name}_{k + 1}')} {at}/>")
        return lines + [f"{' ' * indent}{site}" for site in self.loads.sites.get(body, [])]

    def _excluded(self) -> list[str]:
        pairs = [pair for contact in self.mechanism.contacts.values() for pair in contact.without]
        named = [[getattr(body, "name", body) for body in pair] for pair in pairs]
        named = [["world" if name == "ground" else _renamed(str(name)) for name in pair] for pair in named]
        return [f"    <exclude body1={quoteattr(a)} body2={quoteattr(b)}/>" for a, b in named]

    def _say_left_out(self) -> None:
        m = self.mechanism
        self.left_out += self.loads.left_out
        others = [name for name in m.constraints if name not in m.couplings and name not in m.drivers]
        self.left_out += [f"constraint {name!r}" for name in others] + [
            f"driver {name!r}" for name in m.drivers
        ]
        if self.left_out:
            warn(f"{self.path}: not written as MJCF, and left out: {', '.join(dict.fromkeys(self.left_out))}")


def _name(body: Body) -> str:
    return _renamed(body.name)


def _renamed(name: str) -> str:
    """Return a name that MuJoCo leaves free: the world is its own."""
    return "world_link" if name == "world" else name


def _quaternion(frame: Any) -> str:
    """Return how a frame is turned."""
    return f'quat="{words([float(x) for x in to_quaternion(frame.R)])}"'


def _whole(values: Any) -> str:
    return " ".join(map(str, np.ravel(values).tolist()))
