"""Behaviours that wait for something to happen, and call a function then."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork.real_numbers import is_finite
from linkwork.scene.behaviour import CheckedBehaviour
from linkwork.scene.behaviour_targets import place
from linkwork.scene.handles import BodyHandle, JointHandle
from linkwork.scene.scene_contacts import contacts_of, impacts
from linkwork.scene.scene_node import Static
from linkwork.spelling import require

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

_MOST_CALLS = 1e5  # of an action in one step; more are a slip of the pen


class SceneEvent(CheckedBehaviour):
    """Call a function when something happens."""

    takes: ClassVar[tuple[str, ...]]  # what the function is called with
    action: Callable[..., Any]

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an option, if it can be."""
        kind = type(self).__name__
        if word == "action" and not callable(value):
            raise TypeError(f"{kind}: action {value!r}; give a function")
        if word == "action" and not _may_be_called(value, len(self.takes)):
            call = f"action({', '.join(self.takes)})"
            raise TypeError(f"{kind}: {value!r:.80} is called as {call}; let it take these arguments")
        if word == "body" and not isinstance(value, BodyHandle):
            raise TypeError(f"{kind}: {value!r:.80}; give a body of a mechanism, robot['foot']")
        if word == "other":
            kinds = BodyHandle | Static | None
            require(f"{kind}: other", value, kinds, "a body, robot['foot'], or static shapes of the scene")
        if word in ("ends", "leaves"):
            require(f"{kind}: {word}", value, bool, "True or False")
        return value


def _may_be_called(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function takes so many arguments, as far as it says."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a built-in function, which does not say
        return True
    return True


class OnContact(SceneEvent):
    """Call `action(scene, body, other)` when a body begins to touch another, or ends with `ends=True`.

    `other` is a body, or static shapes; if it is given, only that counts.
    """

    takes = ("scene", "body", "other")

    def __init__(
        self, body: BodyHandle, action: Callable[..., Any], *, other: Any = None, ends: bool = False
    ) -> None:
        self.body, self.action, self.other, self.ends = body, action, other, ends
        self.touching: list[Any] = []

    def after(self, scene: "Scene", dt: float) -> None:
        """Compare who touches with who did."""
        encounter = self.body.actor.unit.encounter if self.body.exists else None
        if encounter is None or encounter.resting:
            return
        pairs = [contact.bodies for contact in (*contacts_of(encounter), *impacts(encounter))]
        now: list[Any] = []
        for pair in pairs:
            if self.body in pair and len(pair) == 2:
                other = pair[1] if pair[0] is self.body else pair[0]
                if other not in now and (self.other is None or other is self.other):
                    now.append(other)
        before, self.touching = self.touching, now
        changed = [
            other for other in (before if self.ends else now) if other not in (now if self.ends else before)
        ]
        for other in changed:
            self.action(scene, self.body, other)


class OnLimit(SceneEvent):
    """Call `action(scene, joint)` when a coordinate of a joint reaches one of its limits."""

    takes = ("scene", "joint")

    def __init__(self, joint: JointHandle, action: Callable[..., Any]) -> None:
        self.joint, self.action, self.there = joint, action, False

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an option, if it can be."""
        if word == "joint" and (not isinstance(value, JointHandle) or value.joint.limits is None):
            raise ValueError(f"OnLimit: {value!r}; give a joint that has limits")
        return super().checked(word, value)

    def after(self, scene: "Scene", dt: float) -> None:
        """Look whether the joint is at a limit."""
        if not self.joint.exists:
            return
        joint = self.joint.joint
        moved = np.asarray(joint.displacement(np.atleast_1d(self.joint.position).tolist()), float)
        low, high = np.asarray(joint.limit_pairs(), float).T
        there = bool(((moved <= low + 1e-9) | (moved >= high - 1e-9)).any())
        before, self.there = self.there, there
        if there and not before:
            self.action(scene, self.joint)


class OnDistance(SceneEvent):
    """Call `action(scene, a, b)` when two come closer than a distance [m]; or, with `leaves`, part.

    They are bodies, mechanisms, or points (3,).
    """

    takes = ("scene", "a", "b")

    def __init__(
        self, a: Any, b: Any, distance: float, action: Callable[..., Any], *, leaves: bool = False
    ) -> None:
        self.a, self.b = a, b
        self.distance, self.action, self.leaves = distance, action, leaves
        self.near: bool | None = None

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an option, if it can be."""
        if word in ("a", "b"):
            return place(f"OnDistance: {word}", value)
        if word == "distance" and not (is_finite(value) and value > 0.0):
            raise ValueError(f"OnDistance: distance {value!r}; give metres, above 0")
        return super().checked(word, value)

    def after(self, scene: "Scene", dt: float) -> None:
        """Compare the distance with what it was."""
        a, b = (np.asarray(getattr(one, "position", one), float) for one in (self.a, self.b))
        near = bool(np.linalg.norm(a - b) < self.distance)
        before, self.near = self.near, near
        if before is not None and near != before and near != self.leaves:
            self.action(scene, self.a, self.b)


class OnTime(SceneEvent):
    """Call `action(scene)` at a time [s], and again each `every` seconds after it."""

    takes = ("scene",)

    def __init__(self, time: float, action: Callable[..., Any], *, every: float | None = None) -> None:
        self.time, self.action, self.every, self.count = time, action, every, 0

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an option, if it can be."""
        if word == "time" or (word == "every" and value is not None):
            if not is_finite(value) or (word == "every" and not value > 0.0):
                raise ValueError(f"OnTime: {word} {value!r}; give seconds")
            return float(value)
        return super().checked(word, value)

    def before(self, scene: "Scene", dt: float) -> None:
        """Act at the first step that begins at the time or later."""
        if self.every is not None and dt > _MOST_CALLS * self.every:
            raise ValueError(
                f"OnTime: every {self.every:g} s are {dt / self.every:.3g} calls in a step of {dt:g} s; "
                "give more seconds between them"
            )
        while self.count == 0 or self.every is not None:
            if scene.time < self.time + self.count * (self.every or 0.0) - 1e-9 * dt:
                return
            self.count += 1
            self.action(scene)
