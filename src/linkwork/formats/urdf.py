"""Robots in URDF (wiki.ros.org/urdf/XML): a tree of links and joints becomes a Mechanism."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from linkwork.algebra.spatial import Frame
from linkwork.errors import FormatError, unknown, warn
from linkwork.formats.file_format import FileFormat, Reading
from linkwork.formats.link_inertias import judge_inertias
from linkwork.formats.markup import SHOWN, Element, parse
from linkwork.formats.urdf_link import (
    read_collisions,
    read_inertia,
    read_material,
    read_materials,
    read_origin,
    read_visuals,
)
from linkwork.formats.urdf_loops import read_loops
from linkwork.formats.urdf_out import save_urdf
from linkwork.formats.urdf_words import check_words
from linkwork.mechanism.body import Body
from linkwork.mechanism.coupling import Coupling, rings
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Free, Planar, Prismatic, Revolute, Spherical
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import Array, plain

JOINTS: dict[str, type[Joint]] = {
    "fixed": Fixed,
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "planar": Planar,
    "floating": Free,
    "spherical": Spherical,  # not of URDF, but of Bullet and MuJoCo
}
LONGEST_NAME = 1000
UNBOUNDED = 1e308  # limits of 1e16 are how some robots say that there is none
FAR_OFF = 1e9  # a moment this many times mass x size^2 is a mistake of units or of the decimal point


@dataclass(frozen=True, eq=False)
class Edge:
    """A URDF joint: its element, the links it joins, the pose of the child in the parent at zero."""

    element: Element
    name: str
    parent: str
    child: str
    position: Array  # (3,) [m]
    rotation: Array  # (3, 3)


def load_urdf(
    path: Path, base: Literal["fixed", "free"] = "fixed", *, repair: bool = False, unphysical: bool = False
) -> Mechanism:
    """Read a robot; `linkwork.load` says what `base`, `repair` and `unphysical` mean.

    Bodies have the names of their links. In a mechanism every name is one thing: where a link is named like
    a joint, or `base` or `ground`, its body is called `..._link`; a joint of these names `..._joint`.
    """
    if base not in ("fixed", "free"):
        raise ValueError(f'base {base!r}; give "fixed" or "free"')
    robot = _robot(path)
    links = _named(robot, "link")
    if not links:
        raise robot.error("there is no <link>; a robot has at least one")
    edges = [_edge(element, links) for element in _named(robot, "joint").values()]
    root, walk = _walk(links, edges)
    poses = _poses(root, walk)
    inertias = _inertias(links, edges, repair, unphysical)
    materials = read_materials(robot)
    joint_names = _made_distinct([edge.name for edge in edges], {"ground", "base"}, "_joint")
    body_names = _made_distinct(links, {"ground", "base", *joint_names.values()}, "_link")

    mechanism = Mechanism(robot.attributes.get("name") or path.stem)
    bodies: dict[str, Body] = {}
    for name, link in links.items():
        position, rotation = poses[name]
        bodies[name] = mechanism.add(
            Body(
                body_names[name],
                inertias[name],
                position=position,
                rotation=rotation,
                visuals=read_visuals(link, materials),
                collisions=read_collisions(link),
                material=read_material(link),
            )
        )
    hold = Fixed if base == "fixed" else Free
    mechanism.add(hold("base", mechanism.ground, bodies[root], on_parent=Frame(), on_child=Frame()))
    for edge in edges:
        mechanism.add(_joint(edge, joint_names[edge.name], bodies[edge.parent], bodies[edge.child]))
    for coupling in _couplings(edges, joint_names, set(body_names.values())):
        mechanism.add(coupling)
    for joint in read_loops(robot, bodies, set(mechanism)):
        mechanism.add(joint)
    return mechanism


def _robot(path: Path) -> Element:
    robot = parse(path)
    if robot.tag != "robot":
        raise robot.error(f"the root is <{robot.tag[:SHOWN]}>; a URDF file has <robot>")
    for element in (robot, *robot.children):
        for child in element.children:
            if child.tag.startswith("xacro:") or child.tag.endswith("include"):
                raise child.error("this is not URDF, and no other file is read; run xacro on the file first")
    check_words(robot)
    return robot


def _named(robot: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.each(tag):
        name = element.text("name")
        if len(name) > LONGEST_NAME:
            raise element.error(f"a name of {len(name)} characters; allowed are {LONGEST_NAME}")
        if name in found:
            raise element.error(
                f"a second {tag} of this name (the first is on line {found[name].line}); rename it"
            )
        found[name] = element
    return found


def _edge(element: Element, links: Mapping[str, Element]) -> Edge:
    ends = []
    for tag in ("parent", "child"):
        end = element.need(tag)
        name = end.text("link")
        if name not in links:
            raise end.error(unknown("link", name[:SHOWN], links))
        ends.append(name)
    parent, child = ends
    if parent == child:
        raise element.error(f"joins link {parent!r} to itself; name two links")
    return Edge(element, element.text("name"), parent, child, *read_origin(element))


def _walk(links: Mapping[str, Element], edges: Sequence[Edge]) -> tuple[str, list[Edge]]:
    """Return the root link, and the joints in an order in which every parent comes before its children."""
    above: dict[str, Edge] = {}
    below: dict[str, list[Edge]] = {name: [] for name in links}
    for edge in edges:
        if edge.child in above:
            line = above[edge.child].element.line
            raise edge.element.error(
                f"link {edge.child!r} has a parent already (line {line}); give it one, URDF has no loops"
            )
        above[edge.child] = edge
        below[edge.parent].append(edge)
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise links[roots[1]].error(
            f"links {roots[0]!r} and {roots[1]!r} both have no parent; a robot has one root: join them"
        )
    walk = list(below[roots[0]]) if roots else []
    for edge in walk:  # grows while it is walked
        walk.extend(below[edge.child])
    if len(walk) < len(edges):
        reached = {edge.name for edge in walk}
        lost = next(edge for edge in edges if edge.name not in reached)
        raise lost.element.error(f"link {lost.child!r} hangs on a ring of joints; URDF has no loops")
    return roots[0], walk


def _poses(root: str, walk: Sequence[Edge]) -> dict[str, tuple[Array, Array]]:
    """Return where the links are drawn: as they stand with every coordinate at zero."""
    poses = {root: (np.zeros(3), np.eye(3))}
    for edge in walk:
        position, rotation = poses[edge.parent]
        poses[edge.child] = (position + rotation @ edge.position, rotation @ edge.rotation)
    return poses


def _inertias(
    links: Mapping[str, Element], edges: Sequence[Edge], repair: bool, unphysical: bool
) -> dict[str, Inertia]:
    """Return what the links weigh; small flaws are let through, and `check` will warn of them."""
    inertias = {name: read_inertia(link) for name, link in links.items()}
    size = max([1.0, *(math.hypot(*edge.position) for edge in edges)])
    for name, inertia in inertias.items():
        if inertia.mass > 0.0 and np.trace(inertia.tensor) > FAR_OFF * inertia.mass * size**2:
            raise _tensor_error(
                links[name],
                f"moments {plain(np.diag(inertia.tensor))} kg m^2 are out of all proportion to a mass of "
                f"{inertia.mass:g} kg and a size of {size:g} m; write kg and metres",
            )
    judge_inertias(inertias, repair, unphysical, lambda name, message: _tensor_error(links[name], message))
    return inertias


def _tensor_error(link: Element, message: str) -> FormatError:
    return link.need("inertial").need("inertia").error(message)


def _made_distinct(names: Collection[str], reserved: set[str], suffix: str) -> dict[str, str]:
    """Return the names under which things go: their own, or with a suffix where that is reserved."""
    result = {}
    used = reserved.union(names)
    for name in names:
        result[name] = name
        if name in reserved:
            while result[name] in used:
                result[name] += suffix
            used.add(result[name])
    return result


def _joint(edge: Edge, name: str, parent: Body, child: Body) -> Joint:
    element = edge.element
    kind = element.text("type")
    if kind not in JOINTS:
        raise element.error(f"type={kind[:SHOWN]!r}; available are {', '.join(JOINTS)}")
    moves = kind not in ("fixed", "floating")
    dynamics = element.one("dynamics") if moves else None
    joint = JOINTS[kind](
        name,
        parent,
        child,
        on_parent=Frame(edge.position.tolist(), edge.rotation.tolist()),
        on_child=Frame(),
        axis=_axis(element) if moves and kind != "spherical" else None,
        limits=_limits(element) if kind in ("revolute", "prismatic") else None,
        damping=dynamics.positive("damping", 0.0) if dynamics else 0.0,
        friction=dynamics.positive("friction", 0.0) if dynamics else 0.0,
    )
    limit = element.one("limit") if moves else None
    if limit is not None and kind == "spherical" and {"lower", "upper"} & limit.attributes.keys():
        warn(str(limit.error("left out: limits of a spherical joint; stop it by a load of your own")))
    if limit is not None and "effort" in limit.attributes:
        joint.effort = limit.number("effort", largest=UNBOUNDED)
    if limit is not None and "velocity" in limit.attributes:
        joint.speed = limit.number("velocity", largest=UNBOUNDED)
    return joint


def _axis(element: Element) -> tuple[float, ...]:
    axis = element.one("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)
    xyz = axis.numbers("xyz", 3)
    length = math.hypot(*xyz)
    if length == 0.0:
        raise axis.error(f"xyz={axis.text('xyz')[:SHOWN]!r} has no direction; give a vector that is not zero")
    return tuple(x / length for x in xyz)


def _limits(element: Element) -> tuple[float, float] | None:
    """Return the range of a joint, or None where none is said (urdfdom would lock the joint at zero)."""
    limit = element.one("limit")
    if limit is None:
        return None
    if "lower" not in limit.attributes and "upper" not in limit.attributes:
        return None
    lower, upper = (limit.number(attribute, 0.0, UNBOUNDED) for attribute in ("lower", "upper"))
    if lower > upper:
        raise limit.error(f"lower={lower:g} is above upper={upper:g}; allowed is lower <= upper")
    return lower, upper


def _couplings(edges: Sequence[Edge], names: Mapping[str, str], taken: Iterable[str]) -> Iterator[Coupling]:
    mimics: dict[str, Element] = {}
    leaders: dict[str, str] = {}
    for edge in edges:
        mimic = edge.element.one("mimic")
        if mimic is None or edge.element.text("type") == "fixed":  # some robots are reduced by fixing joints
            continue
        leader = mimic.text("joint")
        if leader in names:
            mimics[edge.name], leaders[edge.name] = mimic, leader
        else:  # as in alex_psyonic_hands of example-robot-data
            problem = mimic.error(f"left uncoupled: {unknown('joint', leader[:SHOWN], names)}")
            warn(str(problem))
    for ring in rings(leaders):
        raise mimics[ring[0]].error(f"joints {ring[:10]} mimic each other in a ring; let one of them lead")
    labels = _made_distinct([f"{names[name]}_mimic" for name in mimics], {*taken, *names.values()}, "_")
    for (name, mimic), label in zip(mimics.items(), labels.values(), strict=True):
        ratio, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        yield Coupling(label, names[name], names[leaders[name]], ratio, offset)


def _read(path: Path, reading: Reading) -> Mechanism:
    return load_urdf(path, reading.base, repair=reading.repair, unphysical=reading.unphysical)


FORMAT = FileFormat(
    suffix=".urdf", holds="mechanism", read=_read, write=save_urdf, takes=("base", "repair", "unphysical")
)
