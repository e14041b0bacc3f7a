"""A mechanism at one time, as its loads and events see it: bodies, joints, and all coordinates by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import SimulationError
from linkwork.kinematics.driver_count import body_motion
from linkwork.kinematics.equation_system import System
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide, Coordinates, JointSide, SystemSide, coordinates
from linkwork.tree import joint_forces
from linkwork.tree.joint_formula import JointFormula, JointFormulas
from linkwork.tree.joint_kinematics import JointKinematics

Array = np.ndarray


def across(
    system: System, joint: Joint, kind: JointFormula, numbers: list[float], X: Any, v_rel: Any, own: Any
) -> JointKinematics:
    """Return a joint between its frames; `own` are all unknowns of joints that cannot compute them from X."""
    if joint.can_locate:
        return JointKinematics.of(joint, kind, numbers, X, v_rel)
    first = system.own[joint.name]
    q = list(own[first : first + joint.nq])
    return JointKinematics(joint, kind, numbers, X, v_rel, q, kind.subspace(q, numbers))


class Moment:
    """Where bodies and joints are, how they move, and what has pushed them so far."""

    def __init__(self, system: System, t: float, q: Array, v: Array) -> None:
        self.system, self.t = system, t
        self._own = q[system.coordinates * len(system.bodies) :].tolist()
        self._kinds = JointFormulas(driven=True)
        self._across: dict[str, JointKinematics] = {}
        self._joints: dict[str, JointSide] = {}
        self.said: dict[str, Any] = {}  # by the loads that have acted
        algebra = system.algebra
        ground = BodySide(algebra, algebra.Frame(), algebra.Motion.zero())
        self.bodies = {system.mechanism.ground.name: ground}
        for k, (name, X) in enumerate(system.named(q).items()):
            change = v[system.free * k : system.free * (k + 1)].tolist()
            self.bodies[name] = BodySide(algebra, X, body_motion(algebra, X, change))

    def joint(self, joint: Joint) -> JointSide:
        """Return what is seen of a joint."""
        if joint.name not in self._joints:
            each = self._between(joint)
            self._across[joint.name] = each
            self._joints[joint.name] = JointSide(each.q, each.v)
        return self._joints[joint.name]

    def _between(self, joint: Joint) -> JointKinematics:
        kind, numbers = self._kinds.of(joint, False)
        masses = [max(float(body.inertia.mass) for body in joint.bodies) or 1.0] * joint.nv
        parent, child = (self.bodies[body.name] for body in joint.bodies)
        on_a, on_b = joint.frames()
        X = (parent.frame @ on_a).local(child.frame @ on_b)
        v_rel = on_b.local(child.motion) - X.local(on_a.local(parent.motion))
        numbers = [*numbers, *joint_forces.settings(joint, masses)]
        return across(self.system, joint, kind, numbers, X, v_rel, self._own)

    def everything(self) -> SystemSide:
        """Return all coordinates, in the order of the compiled model, or else of the description."""
        joints = self.system.mechanism.joints
        tree, loops = self.system.joint_order

        def gathered(word: str) -> Coordinates:
            values: list[float] = []
            slices: dict[str, slice] = {}
            for name in tree:
                part = getattr(self.joint(joints[name]), word)
                slices[name] = slice(len(values), len(values) + len(part))
                values += part
            others = {name: _plain(getattr(self.joint(joints[name]), word)) for name in loops}
            return coordinates(values, slices, others)

        cuts = {name: self.joint(joints[name]) for name in loops}
        return SystemSide(gathered("q"), gathered("v"), cuts)

    def see(self, load: Load) -> Any:
        """Let a load act, or an event look; return what it says."""
        joints = self.system.mechanism.joints
        sides = [
            self.joint(side) if isinstance(side, Joint) else self.bodies[side.name]
            for side in load.sides(joints)
        ]
        try:
            if not load.whole:
                said = load.act(self.t, *sides)
            else:
                whole = self.everything()
                said = load.act(self.t, whole, *sides)
                for name, part in whole.v.slices.items():
                    self.joint(joints[name]).push(whole.forces[part])
        except Exception as error:
            words = f"at t = {self.t:.9g} s: load {load.name!r} raised {type(error).__name__}: {error}"
            raise SimulationError(words) from error
        self._check(load, sides)
        self.said[load.name] = said
        return said

    def _check(self, load: Load, sides: Sequence[Any]) -> None:
        """Refuse a load after which what pushes its sides is not finite."""
        pushed = [x for side in sides for x in _pushed(side)]
        if not np.isfinite(np.array(pushed, float)).all():
            raise SimulationError(f"at t = {self.t:.9g} s: load {load.name!r} gives what is not finite")

    def own_forces(self, joint: Joint) -> None:
        """Let a joint do what it does by itself: damping, friction, spring, stops."""
        side = self.joint(joint)
        each = self._across[joint.name]
        side.push(each.kind.own_forces(each.q, each.v, each.numbers))

    def wrenches(self) -> Mapping[str, Any]:
        """Return what was pushed so far, joints included: a Force on each body, in its frame."""
        found = {name: side.wrench for name, side in self.bodies.items()}
        for name, side in self._joints.items():
            joint = self.system.mechanism.joints[name]
            pushes = self._across[name].push(side.forces)
            for body, frame, wrench in zip(joint.bodies, joint.frames(), pushes, strict=True):
                found[body.name] = found[body.name] + frame @ wrench
        return found


def _pushed(side: Any) -> list[float]:
    """Return what pushes a body or a joint so far."""
    found = side.wrench.scalars() if isinstance(side, BodySide) else side.forces
    return [float(x) for x in found]


def _plain(numbers: list[float]) -> Any:
    return numbers[0] if len(numbers) == 1 else np.array(numbers)
