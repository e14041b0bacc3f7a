"""Edits of joints, and of what moves them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, unknown
from linkwork.formats.formula_arguments import Scalar, coordinates_of
from linkwork.formats.formula_law import Law, law_of_text
from linkwork.mechanic import bodies
from linkwork.mechanic.edited_mechanism import EditedMechanism
from linkwork.mechanism.body import Body
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joints import CATALOGUE
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.springs import Spring

Array = np.ndarray

KINDS = {kind.__name__: kind for kind in CATALOGUE}
OPTIONS = ("limits", "stiffness", "rest", "damping", "friction", "armature")  # of joints, as numbers


class JointEdits(EditedMechanism):
    """What can be done to joints, and what drives them."""

    # joints

    def join(
        self,
        kind: str,
        parent: str,
        child: str,
        at: Any,
        *,
        axis: Sequence[float] | None = None,
        rotation: Any = None,
        name: str = "",
    ) -> str:
        """Join two bodies at a place of the world as drawn, along an axis or in a frame; return the name."""
        if kind not in KINDS:
            raise ValueError(unknown("kind of joint", kind, KINDS))
        if parent == child:
            raise LinkworkError(f"join: {parent!r} to itself; choose two bodies")
        with self._edit(f"join {parent} and {child}") as m:
            name = bodies.free_name(m, name or kind.lower())
            algebra = ALGEBRA[m.space]
            place = self.place_of(at)
            frame: Any = place if rotation is None else algebra.Frame(place, np.asarray(rotation).tolist())
            joint = KINDS[kind](name, self.body(parent), self.body(child), at=frame, axis=axis)
            m.add(joint)
            if mistakes := joint.mistakes():
                raise LinkworkError(f"joint {name!r}: {mistakes[0]}")
            anchor(joint)
            return name

    def place_joint(self, name: str, position: Any, rotation: Any = None) -> None:
        """Put the frame of a joint, on both bodies, to a place of the world as drawn, and turn it."""
        with self._edit(f"place {name}"):
            joint = self.joint(name)
            rotation = self.joint_pose(name)[:, :3] if rotation is None else rotation
            algebra = joint.algebra
            size = algebra.dimension
            there = algebra.Frame(self.place_of(position), np.asarray(rotation, float)[:size, :size].tolist())
            joint.at = joint.axis = None
            joint.on_parent, joint.on_child = (frame.local(there) for frame in map(_drawn, joint.bodies))

    def joint_pose(self, name: str) -> Array:
        """Return where the frame of a joint is, as drawn on its parent, (3, 4)."""
        joint = self.joint(name)
        X, frame = bodies.pose_of(joint.parent), joint.frames()[0]
        size = joint.algebra.dimension
        rows = np.array([float(x) for x in frame.scalars()]).reshape(size, size + 1)
        on_parent = np.eye(3, 4)
        on_parent[:size, :size], on_parent[:size, 3] = rows[:, :size], rows[:, size]
        return np.column_stack([X[:, :3] @ on_parent[:, :3], X[:, :3] @ on_parent[:, 3] + X[:, 3]])

    def flip(self, name: str) -> None:
        """Turn the axis of a joint round."""
        X = self.joint_pose(name)
        turn = np.diag([1.0, -1.0, -1.0]) if self.mechanism.space == "space" else np.diag([-1.0, -1.0, 1.0])
        self.place_joint(name, X[:, 3], X[:, :3] @ turn)

    def change_joint(self, name: str, word: str, value: Any) -> None:
        """Set an option of a joint: limits, stiffness, rest, damping, friction or armature."""
        if word not in OPTIONS:
            raise ValueError(unknown("option of a joint", word, OPTIONS))
        with self._edit(f"{word} of {name}"):
            joint = self.joint(name)
            setattr(joint, word, value)
            if mistakes := joint.mistakes():
                raise LinkworkError(f"joint {name!r}: {mistakes[0]}")

    def change_kind(self, name: str, kind: str) -> None:
        """Make a joint one of another kind, at the same place; options that it cannot have are dropped."""
        if kind not in KINDS:
            raise ValueError(unknown("kind of joint", kind, KINDS))
        with self._edit(f"make {name} a {kind.lower()}") as m:
            old = self.joint(name)
            frames = old.frames()
            new = KINDS[kind](name, old.parent, old.child, on_parent=frames[0], on_child=frames[1])
            for user in [*m.loads.values(), *m.constraints.values(), *m.drivers.values()]:
                if any(end is old or end == name for end in user.on) and new.nv != old.nv and user in m:
                    bodies.remove_with_users(m, user)
            m.add(new)
            for user in (*m.loads.values(), *m.constraints.values(), *m.drivers.values()):
                if any(end is old for end in user.on):
                    user.on = tuple(new if end is old else end for end in user.on)
            m.remove(old)

    # what moves it

    def drive(self, joint: str, law: str | float, name: str = "") -> str:
        """Let a joint follow a formula of time such as "0.3 * sin(2 * t)"; return the driver's name."""
        with self._edit(f"drive {joint}") as m:
            made = Driver(bodies.free_name(m, name or f"{joint} driver"), self.joint(joint), _law(law))
            return self._acting(m.add(made))

    def motor(self, joint: str, law: str | float, name: str = "") -> str:
        """Drive a joint by a force, a formula of t, q and v [N m, N]; return the motor's name."""
        with self._edit(f"motor on {joint}") as m:
            made = self.joint(joint)
            given = [Scalar("t"), coordinates_of("q", made.nq), coordinates_of("v", made.nv)]
            motor = Motor(bodies.free_name(m, name or f"{joint} motor"), made, _law(law, given))
            return self._acting(m.add(motor))

    def release(self, joint: str) -> None:
        """Take motors and drivers from a joint."""
        with self._edit(f"release {joint}") as m:
            held = self.joint(joint)
            for each in [*m.loads.values(), *m.drivers.values()]:
                if isinstance(each, Motor | Driver) and any(end is held or end == joint for end in each.on):
                    bodies.remove_with_users(m, each)

    def spring(
        self,
        a: str,
        b: str,
        on_a: Sequence[float],
        on_b: Sequence[float],
        stiffness: float,
        damping: float = 0.0,
    ) -> str:
        """Put a spring and damper between points of two bodies; return its name."""
        with self._edit(f"spring between {a} and {b}") as m:
            name = bodies.free_name(m, "spring")
            ends = {"on_parent": tuple(on_a), "on_child": tuple(on_b)}
            made = Spring(name, self.body(a), self.body(b), stiffness=stiffness, damping=damping, **ends)
            return self._acting(m.add(made))

    def _acting(self, element: Any) -> str:
        if mistakes := element.mistakes():
            raise LinkworkError(f"{element.name!r}: {mistakes[0]}")
        return element.name


def anchor(joint: Joint) -> None:
    """Let a joint be said by frames on its bodies, so that it stays on them when they are moved."""
    if joint.at is None and joint.axis is None and joint.on_parent is not None and joint.on_child is not None:
        return
    on_parent, on_child = joint.frames()
    own = [word for word in ("axis2",) if getattr(joint, word, None) is not None]
    if own:  # a universal joint is said by its axes
        return
    joint.at = joint.axis = None
    joint.on_parent, joint.on_child = on_parent, on_child


def _drawn(body: Body) -> Any:
    algebra = ALGEBRA[body.space]
    return algebra.Frame(body.position.tolist(), body.rotation.tolist())


def _law(law: str | float, arguments: Sequence[Any] = (Scalar("t"),)) -> float | Law:
    """Return a number, or a formula; BadFormula says what is wrong with it."""
    if not isinstance(law, str):
        return float(law)
    try:
        return float(law)
    except ValueError:
        return law_of_text(law, list(arguments))
