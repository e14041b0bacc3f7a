"""Frames of SDF: numbers in texts, poses, and where links, joints, frames and models of a model are in it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.algebra.rotation import from_euler, from_quaternion
from linkwork.algebra.spatial import Frame
from linkwork.angles import warn_of_degrees
from linkwork.errors import unknown
from linkwork.formats.markup import LARGEST, NUMBER, SHOWN, Element, shorten

MODEL = "__model__"
WORLD = "world"
UNBOUNDED = 1e308  # a limit that is none


@dataclass(frozen=True, eq=False)
class _Placed:
    """Something with a pose: what it is relative to, by its name, and its element."""

    element: Element
    to: str
    pose: Any  # Frame


def floats(element: Element, count: int) -> tuple[float, ...]:
    """Return n finite numbers of the text of an element."""
    words = element.content.split()
    if len(words) != count:
        raise element.error(f"{shorten(element.content.strip())} has {len(words)} numbers; give {count}")
    return tuple(number_in(element, word) for word in words)


def number_in(element: Element, word: str, largest: float = LARGEST) -> float:
    """Return one finite number of a text of an element."""
    if largest >= UNBOUNDED and word in ("inf", "+inf", "-inf"):  # as limits are where SDF says nothing
        return math.copysign(UNBOUNDED, float(word))
    if not NUMBER.fullmatch(word) or not abs(float(word)) <= largest:
        raise element.error(
            f"{shorten(word)} is not a number from -{largest:g} to {largest:g}; write it like 0.5"
        )
    return float(word)


def number(element: Element | None, tag: str, default: float, largest: float = LARGEST) -> float:
    """Return the number of a child, or a default."""
    child = None if element is None else element.one(tag)
    return default if child is None else number_in(child, child.content.strip(), largest)


def is_true(element: Element | None) -> bool:
    """Return what the text of an element says, false if there is none."""
    word = "" if element is None else element.content.strip().lower()
    if element is not None and word not in ("true", "false", "1", "0"):
        raise element.error(f"{shorten(word)}; give true or false")
    return word in ("true", "1")


def pose_of(element: Element) -> tuple[str, Any]:
    """Return what the pose of an element is relative to, "" if it does not say, and the pose."""
    pose = element.one("pose")
    if pose is None:
        return "", Frame()
    to = pose.attributes.get("relative_to") or pose.attributes.get("frame", "")  # up to 1.6
    if not pose.content.strip():
        return to, Frame()
    form = pose.attributes.get("rotation_format", "euler_rpy")
    if form not in ("euler_rpy", "quat_xyzw"):
        raise pose.error(f"rotation_format={shorten(form)}; available are euler_rpy and quat_xyzw")
    if form == "quat_xyzw":
        x, y, z, i, j, k, w = floats(pose, 7)
        length = math.hypot(w, i, j, k)
        if abs(length - 1.0) > 1e-3:
            raise pose.error(f"a quaternion of length {length:g}; give one of length 1")
        turn = from_quaternion((w / length, i / length, j / length, k / length))
    else:
        x, y, z, *angles = floats(pose, 6)
        if pose.attributes.get("degrees", "false") in ("true", "1"):
            angles = [math.radians(angle) for angle in angles]
        else:
            warn_of_degrees(f"{pose.place}: angles", *angles, remedy='write <pose degrees="true">')
        turn = from_euler("xyz", angles)
    return to, Frame((x, y, z), np.array(turn, dtype=float).tolist())


def inverse(frame: Any) -> Any:
    """Return where the outer frame is in this one."""
    return frame.local(Frame())


class Frames:
    """What a model, a world or a file holds, by name, and where it is in its own frame.

    Names within models inside are `hand::palm`.
    """

    def __init__(self, holder: Element) -> None:
        self.holder = holder
        self.links = _named(holder, "link")
        self.joints = _named(holder, "joint")
        self.frames = _named(holder, "frame")
        self.models = {name: Frames(model) for name, model in _named(holder, "model").items()}
        self.placed: dict[str, _Placed] = {}
        own = MODEL if holder.tag == "model" else WORLD
        self.poses: dict[str, Any] = {own: Frame()}  # those that are known
        self.ends = {WORLD: WORLD} | {name: name for name in self.links}  # what things are fixed to
        if holder.tag == "model" and not self.links and not self.models:
            raise holder.error("there is no <link>; a model has at least one")
        for name, element in self.links.items():
            self._place(name, element, *pose_of(element), own)
        for name, model in self.models.items():
            to, pose = pose_of(model.holder)
            if by := model.holder.attributes.get("placement_frame", ""):
                if by not in model.placed:
                    raise model.holder.error(unknown("frame", by[:SHOWN], model.placed))
                pose = pose @ inverse(model.pose(by))
            self._place(name, model.holder, to, pose, own)
        for name, element in self.frames.items():
            self._place(name, element, *pose_of(element), element.attributes.get("attached_to") or own)
        for name, element in self.joints.items():
            self._place(name, element, *pose_of(element), element.need("child").content.strip())
        for name, element in self.frames.items():  # what is nowhere is a mistake, used or not
            self.pose(name)
            self.link_of(name, element)

    def _place(self, name: str, element: Element, to: str, pose: Any, usual: str) -> None:
        if name in self.placed:
            raise element.error(
                f"a second thing is called {shorten(name)}; names are for one thing: rename it"
            )
        self.placed[name] = _Placed(element, to or usual, pose)

    def pose(self, name: str) -> Any:
        """Return the pose of something in the model."""
        steps: dict[str, Any] = {}  # what it is relative to, what that is relative to, ...
        while name not in self.poses:
            if name in steps:
                raise self.placed[name].element.error("is placed relative to itself, in a ring; break it")
            model, _, inner = name.partition("::")
            if name in self.placed:
                steps[name] = self.placed[name].pose
                name = self.placed[name].to
            elif inner and model in self.models:
                steps[name] = self.models[model].pose(inner)
                name = model
            else:
                last = next(reversed(steps), "")
                asking = self.placed[last].element if last in self.placed else self.holder
                raise asking.error(unknown("frame", name[:SHOWN], list(self.placed)))
        pose = self.poses[name]
        for step, own in reversed(steps.items()):
            self.poses[step] = pose = pose @ own
        return pose

    def within(self, name: str, element: Element) -> Any:
        """Return the pose of an element in the link of this name, which it belongs to."""
        to, pose = pose_of(element)
        return pose if to in ("", name) else inverse(self.pose(name)) @ self.pose(to) @ pose

    def link_of(self, name: str, asking: Element) -> str:
        """Return the link that a link, joint, frame or model is fixed to; `world` if that is meant."""
        seen: set[str] = set()
        while name not in self.ends:
            if name in seen:
                raise asking.error(f"frame {shorten(name)} is attached to itself, in a ring; break it")
            seen.add(name)
            model, _, inner = name.partition("::")
            if name == MODEL:
                name = self._canonical()
            elif name in self.frames:
                name = self.frames[name].attributes.get("attached_to") or MODEL
            elif name in self.joints:
                name = self.joints[name].need("child").content.strip()
            elif model in self.models:
                link = self.models[model].link_of(inner or MODEL, asking)
                self.ends[name] = link if link == WORLD else f"{model}::{link}"
            else:
                raise asking.error(unknown("link", name[:SHOWN], list(self._links())))
        self.ends.update(dict.fromkeys(seen, self.ends[name]))
        return self.ends[name]

    def _canonical(self) -> str:
        """Return what a model stands for: its first link, if it does not say."""
        if self.holder.tag != "model":
            return WORLD
        return self.holder.attributes.get("canonical_link") or next(iter((*self.links, *self.models)))

    def _links(self) -> Iterator[str]:
        yield from self.links
        for name, model in self.models.items():
            yield from (f"{name}::{link}" for link in model._links())


def _named(model: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in model.each(tag):
        name = element.text("name")
        if len(name) > 1000:
            raise element.error(f"a name of {len(name)} characters; allowed are 1000")
        if name in found:
            raise element.error(
                f"a second {tag} of this name (the first is on line {found[name].line}); rename it"
            )
        found[name] = element
    return found
