"""Frames of SDF: numbers in texts, poses, and where links, joints and frames of a model are in it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.algebra.rotation import from_euler, from_quaternion
from linkwork.algebra.spatial import Frame
from linkwork.errors import unknown
from linkwork.formats.markup import LARGEST, NUMBER, SHOWN, Element, shorten

MODEL = "__model__"
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
        turn = from_euler("xyz", angles)
    return to, Frame((x, y, z), np.array(turn, dtype=float).tolist())


class Frames:
    """The links, joints, frames and nested models of a model by name, and where they are in it."""

    def __init__(self, model: Element, prefix: str) -> None:
        self.model = model
        self.links = _named(model, "link")
        self.joints = _named(model, "joint")
        frames, nested = _named(model, "frame"), _named(model, "model")
        self.attached = {name: frame.attributes.get("attached_to", "") for name, frame in frames.items()}
        self.placed: dict[str, _Placed] = {}
        if not self.links and not nested:
            raise model.error("there is no <link>; a model has at least one")
        for name, element in (*self.links.items(), *nested.items()):
            to, pose = pose_of(element)
            self._place(name, element, to or MODEL, pose)
        for name, element in frames.items():
            to, pose = pose_of(element)
            self._place(name, element, to or element.attributes.get("attached_to") or MODEL, pose)
        for name, element in self.joints.items():
            to, pose = pose_of(element)
            child = element.need("child").content.strip()
            self._place(name, element, to or child, pose)

    def _place(self, name: str, element: Element, to: str, pose: Any) -> None:
        if name in self.placed:
            raise element.error(
                f"a second thing is called {shorten(name)}; names are for one thing: rename it"
            )
        self.placed[name] = _Placed(element, to, pose)

    def pose(self, name: str) -> Any:
        """Return the pose of something in the model."""
        steps: list[Any] = []
        seen: set[str] = set()
        while name not in (MODEL, "world"):
            if name not in self.placed and "::" in name:
                name = name.partition("::")[0]
            if name not in self.placed:
                where = self.placed[next(reversed(list(seen)))].element if seen else self.model
                raise where.error(unknown("frame", name[:SHOWN], self.placed))
            if name in seen:
                raise self.placed[name].element.error("is placed relative to itself, in a ring; break it")
            seen.add(name)
            steps.append(self.placed[name].pose)
            name = self.placed[name].to
        pose = Frame()
        for step in reversed(steps):
            pose = pose @ step
        return pose


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
