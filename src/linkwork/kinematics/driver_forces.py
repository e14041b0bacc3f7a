"""Q <- q, v, a: inverse dynamics on the coordinates of bodies, by Newton and Euler.

What the constraints must exert on each body is I a + v x I v, less gravity and the loads; along its
coordinates that is Q = phi_q^T lambda.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.kinematics.driver_count import body_motion
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.instant import Moment, across
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import reading
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joint_inputs import joint_inputs
from linkwork.tree import joint_forces
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.joint_kinematics import JointKinematics

Array = np.ndarray


class BodyStates:
    """Frames, motions and accelerations of all bodies, over any number of times: numbers are arrays."""

    def __init__(self, system: System, q: Array, v: Array, a: Array) -> None:
        algebra, self.system = system.algebra, system
        self.q, self.v, self.count = q, v, len(q)
        self.frames: dict[str, Any] = {}
        self.motions: dict[str, Any] = {}
        self.accelerations: dict[str, Any] = {}  # spatial, in the body's frame
        zero = np.zeros(self.count)
        ground = system.mechanism.ground.name
        self.frames[ground] = algebra.pose(
            [zero] * 3 + [zero + 1.0] + [zero] * 3 if algebra.dimension == 3 else [zero] * 3
        )
        self.motions[ground] = self.accelerations[ground] = algebra.Motion.from_scalars([zero] * system.free)
        for k, body in enumerate(system.bodies):
            here = q[:, system.coordinates * k : system.coordinates * (k + 1)].T
            X = algebra.pose(list(here))
            at = slice(system.free * k, system.free * (k + 1))
            V = body_motion(algebra, X, list(v[:, at].T))
            A = body_motion(algebra, X, list(a[:, at].T))
            self.frames[body.name], self.motions[body.name] = X, V
            self.accelerations[body.name] = A + turning_acceleration(algebra, V)

    def across(self, joint: Joint) -> tuple[JointKinematics, Any]:
        """Return a joint between its bodies, and the acceleration of its child relative to its parent."""
        kind, numbers = JointFormulas().of(joint, False)
        parent, child = (body.name for body in joint.bodies)
        on_a, on_b = joint.frames()
        X = (self.frames[parent] @ on_a).local(self.frames[child] @ on_b)
        v_b = on_b.local(self.motions[child])
        v_rel = v_b - X.local(on_a.local(self.motions[parent]))
        own = list(self.q[:, self.system.coordinates * len(self.system.bodies) :].T)
        found = across(self.system, joint, kind, numbers, X, v_rel, own)
        gained = v_b.cross(v_rel) + kind.bias(found.q, found.v, numbers)
        a_rel = on_b.local(self.accelerations[child]) - X.local(on_a.local(self.accelerations[parent]))
        return found, a_rel - gained


def turning_acceleration(algebra: ModuleType, V: Any) -> Any:
    """Return what a body's acceleration, in its frame, has beside that of its coordinates.

    R^T p'' is not the rate of R^T p', since the axes turn.
    """
    none = [0.0] * algebra.angular
    turning = algebra.Motion.from_scalars([*none, *V.v]).cross(V)
    return algebra.Motion.from_scalars([*none, *turning.v])


def along_coordinates(algebra: ModuleType, X: Any, wrench: Any) -> list[Any]:
    """Return a wrench on a body, in its frame, along its coordinates: place in the world, turn of its own."""
    numbers = wrench.scalars()
    return [*(X.axes @ tuple(numbers[algebra.angular :])), *numbers[: algebra.angular]]


def rigid_inertia(system: System, body: Body) -> Any:
    """Return the inertia of a body about its origin, in its frame."""
    return body.inertia.rigid


def required(system: System, states: BodyStates, times: Array) -> Array:
    """Return what constraints must exert along all unknowns: (times, unknowns)."""
    Q = moving(system, states)
    AppliedForces(system).subtract(times, states.q, states.v, Q)
    return Q


def moving(system: System, states: BodyStates) -> Array:
    """Return what it takes to move bodies and rotors so, along all unknowns: (times, unknowns)."""
    algebra = system.algebra
    Q = np.zeros((states.count, system.n))
    gravity = [float(x) for x in system.mechanism.gravity]
    for k, body in enumerate(system.bodies):
        inertia = rigid_inertia(system, body)
        X, V, A = states.frames[body.name], states.motions[body.name], states.accelerations[body.name]
        fall = algebra.uniform_acceleration(X.axes.local(gravity))
        _add(system, Q, k, X, inertia @ (A - fall) + V.cross_force(inertia @ V), 1.0)
    _add_armature(system, states, Q)
    return Q


def _add_armature(system: System, states: BodyStates, Q: Array) -> None:
    """Add what turns the rotors of drives: armature times acceleration of the joint."""
    for joint in system.mechanism.joints.values():
        armature = joint.per_coordinate("armature")
        if not armature.any():
            continue
        between, a_rel = states.across(joint)
        forces = [inertia * a for inertia, a in zip(armature, between.rates(a_rel), strict=True)]
        for body, frame, wrench in zip(joint.bodies, joint.frames(), between.push(forces), strict=True):
            k = system.numbers.get(id(body))
            if k is not None:
                _add(system, Q, k, states.frames[body.name], frame @ wrench, 1.0)


def _add(system: System, Q: Array, k: int, X: Any, wrench: Any, factor: float, t: Any = slice(None)) -> None:
    """Add a wrench on a body, in its frame, along its coordinates."""
    for i, x in enumerate(along_coordinates(system.algebra, X, wrench)):
        Q[t, system.free * k + i] += factor * x


class AppliedForces:
    """The loads of a mechanism, and what its joints do by themselves."""

    def __init__(self, system: System) -> None:
        self.system, mechanism = system, system.mechanism
        Frame = system.algebra.Frame
        drawn = {body.name: Frame(body.position.tolist(), body.rotation.tolist()) for body in system.bodies}
        drawn[mechanism.ground.name] = Frame()
        self.loads = []
        for load in mechanism.loads.values():
            bodies = [side for side in load.sides(mechanism.joints) if not isinstance(side, Joint)]
            self.loads.append(load.drawn([drawn[body.name] for body in bodies]))
        self._of_inputs = joint_inputs(mechanism.joints.values())
        self.joints = [joint for joint in mechanism.joints.values() if joint_forces.features(joint)]

    @property
    def any(self) -> bool:
        return bool(self.loads or self._of_inputs or self.joints)

    def moments(self, times: Array, q: Array, v: Array) -> Iterator[Moment]:
        """Let all of them act, at one time after the other."""
        inputs = self.system.inputs
        for t, time in enumerate(times.tolist()):
            now = Moment(self.system, time, q[t], v[t])
            with reading(lambda given: inputs.get(given.name, given.value)):
                for load in (*self.loads, *self._of_inputs):
                    now.see(load)
            for joint in self.joints:
                now.own_forces(joint)
            yield now

    def subtract(self, times: Array, q: Array, v: Array, Q: Array) -> None:
        """Take what they exert, along all unknowns, from Q: (times, unknowns)."""
        for t, now in enumerate(self.moments(times, q, v) if self.any else ()):
            wrenches = now.wrenches()
            for k, body in enumerate(self.system.bodies):
                _add(self.system, Q, k, now.bodies[body.name].frame, wrenches[body.name], -1.0, t)
