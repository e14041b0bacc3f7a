"""Models in SDF (sdformat.org, versions 1.2 to 1.12): links and joints, in loops too, become a Mechanism.

Links of a nested model are called `model::link`. Poses are relative to the model, a joint's to its child,
unless `relative_to` names another frame. The axis of a joint is in its own frame, but in that of the model up
to version 1.4, and up to 1.6 where `use_parent_model_frame` says so. What is not read is listed in a warning.
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.algebra.spatial import Frame
from linkwork.errors import unknown
from linkwork.formats.file_format import FileFormat, Reading
from linkwork.formats.link_inertias import judge_inertias
from linkwork.formats.markup import SHOWN, Element, parse, shorten
from linkwork.formats.sdf_frames import MODEL, UNBOUNDED, WORLD, Frames, floats, is_true, number
from linkwork.formats.sdf_link import read_collisions, read_inertia, read_visuals
from linkwork.formats.sdf_words import check_words
from linkwork.mechanism.body import Body
from linkwork.mechanism.coupling import Coupling, rings
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Free, Helical, Prismatic, Revolute, Spherical, Universal
from linkwork.mechanism.mechanism import Mechanism

_JOINTS: dict[str, type[Joint]] = {
    "fixed": Fixed,
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "ball": Spherical,
    "universal": Universal,
    "revolute2": Universal,
    "screw": Helical,
}
_DYNAMICS = (
    ("damping", "damping"),
    ("friction", "friction"),
    ("stiffness", "spring_stiffness"),
    ("rest", "spring_reference"),
)
_NEWEST = 12  # of versions 1.x


def load_sdf(path: Path, base: str = "fixed", *, repair: bool = False, unphysical: bool = False) -> Mechanism:
    """Read the models of a file; joints named `base` hold what is not joined to the world."""
    root = parse(path, texts=True)
    if root.tag != "sdf":
        raise root.error(f"the root is <{root.tag[:SHOWN]}>; an SDF file has <sdf>")
    version = root.attributes.get("version", f"1.{_NEWEST}")
    if not re.fullmatch(r"1\.\d{1,2}", version, re.ASCII) or int(version[2:]) > _NEWEST:
        raise root.error(f"version={shorten(version)}; available are 1.2 to 1.{_NEWEST}")
    worlds = list(root.each("world"))
    if len(worlds) > 1:
        raise worlds[1].error("a second <world>; keep one")
    holder = worlds[0] if worlds else root
    _nothing_included(holder)
    gravity = worlds[0].one("gravity") if worlds else None
    check_words(root)
    numbers = (0.0, 0.0, -9.8 if worlds else -9.81) if gravity is None else floats(gravity, 3)
    frames = Frames(holder)
    if not frames.models:
        raise root.error("there is no <model>; add one")
    only = next(iter(frames.models)) if len(frames.models) == 1 else None
    reading = _Reading(Mechanism(only or path.stem, numbers), base, only, int(version[2:]) < 5)
    reading.repair, reading.unphysical = repair, unphysical
    reading.models(frames, Frame(), "")
    reading.couple()
    reading.hold_roots()
    return reading.mechanism


def _nothing_included(holder: Element) -> None:
    for include in holder.each("include"):
        raise include.error("no other file is read; put the model itself here (gz sdf -p writes it out)")


class _Reading:
    """Models as they become parts of a mechanism."""

    repair = unphysical = False  # what becomes of inertia that no real body has

    def __init__(self, mechanism: Mechanism, base: str, only: str | None, in_model: bool) -> None:
        self.mechanism, self.base = mechanism, base
        self.unsaid = "" if only is None else f"{only}::"  # what names do not begin with
        self.in_model = in_model  # axes are in the frame of the model, as up to version 1.4
        self.links: dict[str, Body] = {}  # by names from outside of all models
        self.joints: dict[str, Joint] = {}
        self.mimics: dict[str, tuple[str, Element]] = {}  # joint, that which it follows
        self.static: set[str] = set()
        self.used = {"ground", "base"}

    def models(self, frames: Frames, outer: Any, prefix: str) -> None:
        """Add the models inside of a model, or of the world, and the joints among them."""
        for name, model in frames.models.items():
            self._links(model, outer @ frames.pose(name), f"{prefix}{name}::")
        for name, joint in frames.joints.items():
            self._joint(joint, name, frames, outer, prefix)

    def _links(self, frames: Frames, outer: Any, prefix: str) -> None:
        """Add the links and joints of a model, whose own frame is at `outer`, and of those nested in it."""
        _nothing_included(frames.holder)
        static = is_true(frames.holder.one("static"))
        inertias = {name: read_inertia(link) for name, link in frames.links.items()}
        refused = lambda name, message: frames.links[name].error(message)  # noqa: E731
        judge_inertias(inertias, self.repair, self.unphysical, refused)
        for name, link in frames.links.items():
            place = outer @ frames.pose(name)
            body = Body(
                self._free(f"{prefix}{name}"),
                inertias[name],
                position=list(place.p),
                rotation=[list(row) for row in place.R],
                visuals=read_visuals(link, frames),
                collisions=read_collisions(link, frames),
            )
            self.links[f"{prefix}{name}"] = self.mechanism.add(body)
            if static:
                self.static.add(f"{prefix}{name}")
        self.models(frames, outer, prefix)

    def _free(self, name: str) -> str:
        name = name.removeprefix(self.unsaid)
        while name in self.used:
            name += "_"
        self.used.add(name)
        return name

    def _end(self, joint: Element, tag: str, frames: Frames, prefix: str) -> Body:
        end = joint.need(tag)
        link = frames.link_of(end.content.strip(), end)
        return self.mechanism.ground if link == WORLD else self.links[f"{prefix}{link}"]

    def _joint(self, joint: Element, name: str, frames: Frames, outer: Any, prefix: str) -> None:
        kind = joint.text("type")
        if kind not in _JOINTS:
            raise joint.error(f"type={shorten(kind)}; available are {', '.join(_JOINTS)}")
        parent, child = (self._end(joint, tag, frames, prefix) for tag in ("parent", "child"))
        if parent is child:
            raise joint.error(f"joins {parent.name!r} to itself; name two links")
        place = outer @ frames.pose(name)
        options: dict[str, Any] = {
            "on_parent": _drawn(parent).local(place),
            "on_child": _drawn(child).local(place),
        }
        moving = kind not in ("fixed", "ball")
        axis = joint.need("axis") if moving else None
        if axis is not None:
            options |= self._axis_options(axis, name, frames, kind)
        if kind in ("universal", "revolute2"):
            second = self._axis_options(joint.need("axis2"), name, frames, kind)
            options["axis2"] = second.pop("axis")
            for word in (options.keys() | second.keys()) & {"limits", *(word for word, _ in _DYNAMICS)}:
                none = (None, None) if word == "limits" else 0.0
                options[word] = [options.get(word, none), second.get(word, none)]
        if kind == "screw":
            pitch = number(joint, "screw_thread_pitch", 0.0) or number(joint, "thread_pitch", 0.0)
            if not pitch:
                raise joint.error("<screw_thread_pitch> is missing or 0; give metres per turn")
            options["pitch"] = pitch if joint.one("screw_thread_pitch") else -2.0 * math.pi / pitch
        made = self.mechanism.add(_JOINTS[kind](self._free(f"{prefix}{name}"), parent, child, **options))
        self.joints[f"{prefix}{name}"] = made
        if mimic := axis.one("mimic") if axis is not None else None:
            if made.nv != 1:
                raise mimic.error(f"of a joint of type {kind}; only one coordinate can follow another")
            self.mimics[f"{prefix}{name}"] = f"{prefix}{mimic.text('joint')}", mimic
        limit = axis.one("limit") if axis is not None else None
        if limit is not None:
            effort, speed = (number(limit, tag, -1.0, UNBOUNDED) for tag in ("effort", "velocity"))
            made.effort, made.speed = (None if x < 0.0 else x for x in (effort, speed))

    def _axis(self, axis: Element, joint: str, frames: Frames) -> list[float]:
        xyz = axis.need("xyz")
        vector = np.array(floats(xyz, 3))
        if not vector.any():
            raise xyz.error("0 0 0 has no direction; give a vector that is not zero")
        in_model = self.in_model or is_true(axis.one("use_parent_model_frame"))
        if expressed := xyz.attributes.get("expressed_in", MODEL if in_model else ""):
            turn = np.array(frames.pose(joint).R, float).T @ np.array(frames.pose(expressed).R, float)
            vector = turn @ vector
        return (vector / np.linalg.norm(vector)).tolist()

    def _axis_options(self, axis: Element, joint: str, frames: Frames, kind: str) -> dict[str, Any]:
        options: dict[str, Any] = {"axis": self._axis(axis, joint, frames)}
        limit, dynamics = axis.one("limit"), axis.one("dynamics")
        if limit is not None and kind != "continuous":
            lower, upper = (
                number(limit, "lower", -UNBOUNDED, 1.8e308),
                number(limit, "upper", UNBOUNDED, 1.8e308),
            )
            if lower > upper:
                raise limit.error(f"lower={lower:g} is above upper={upper:g}; allowed is lower <= upper")
            if lower > -1e15 or upper < 1e15:
                options["limits"] = (lower if lower > -1e15 else None, upper if upper < 1e15 else None)
        for word, tag in _DYNAMICS:
            value = number(dynamics, tag, 0.0)
            if value < 0.0 and word != "rest":
                raise (dynamics or axis).error(f"{tag} {value:g} is negative; give 0 or more")
            if value:
                options[word] = value
        return options

    def couple(self) -> None:
        """Let joints follow others."""
        for ring in rings({name: leader for name, (leader, _) in self.mimics.items()}):
            mimic = self.mimics[ring[0]][1]
            raise mimic.error(f"joints {ring[:10]} mimic each other in a ring; let one of them lead")
        for name, (leader, mimic) in self.mimics.items():
            if leader not in self.joints or self.joints[leader].nv != 1:
                known = [key for key, joint in self.joints.items() if joint.nv == 1]
                raise mimic.error(unknown("joint", leader[:SHOWN], known))
            ratio, offset = number(mimic, "multiplier", 0.0), number(mimic, "offset", 0.0)
            offset -= ratio * number(mimic, "reference", 0.0)
            label = self._free(f"{self.joints[name].name}_mimic")
            self.mechanism.add(Coupling(label, self.joints[name], self.joints[leader], ratio, offset))

    def hold_roots(self) -> None:
        """Hold what is not joined to ground: one link of everything that hangs together."""
        joined: dict[str, set[str]] = {name: set() for name in ("ground", *self.mechanism.bodies)}
        children = set()
        for joint in self.mechanism.joints.values():
            a, b = joint.ends
            joined[a].add(b)
            joined[b].add(a)
            children.add(b)
        seen = _reached(joined, "ground")
        static = {self.links[name].name for name in self.static}
        names = [name for name in self.mechanism.bodies if name not in children]
        for name in [*names, *self.mechanism.bodies]:
            if name in seen:
                continue
            kind = Fixed if self.base == "fixed" or name in static else Free
            label, body = "base", self.mechanism.bodies[name]
            while label in self.mechanism:
                label += "_"
            self.mechanism.add(
                kind(label, self.mechanism.ground, body, on_parent=_drawn(body), on_child=Frame())
            )
            seen |= _reached(joined, name)


def _drawn(body: Body) -> Any:
    return Frame(body.position.tolist(), body.rotation.tolist())


def _reached(joined: dict[str, set[str]], start: str) -> set[str]:
    seen, stack = {start}, [start]
    while stack:
        for name in joined[stack.pop()] - seen:
            seen.add(name)
            stack.append(name)
    return seen


def _read(path: Path, reading: Reading) -> Mechanism:
    return load_sdf(path, reading.base, repair=reading.repair, unphysical=reading.unphysical)


FORMAT = FileFormat(suffix=".sdf", holds="mechanism", read=_read, takes=("base", "repair", "unphysical"))
