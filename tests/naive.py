"""The oracle: dynamics of trees the slow and obvious way, from the description alone.

Nothing here knows the fast code. Bodies are seen one by one, in world axes: for each its place, its
Jacobian (angular velocity, and velocity of its origin, per unit of every velocity v), and its acceleration
while v is constant. How these follow from one body to the next is the kinematics of relative motion. The
equations of Newton and Euler of every body, projected by its Jacobian and summed (d'Alembert, Kane), are the
equations of motion H a + bias = tau. Planar mechanisms are spatial ones that stay in the plane z = 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from naive_joints import JointMotion, cross, joint_motion

import linkwork as lw

Array = np.ndarray


def relative_error(actual: Any, expected: Any) -> float:
    """Return the largest difference over the largest number expected."""
    difference = np.max(np.abs(np.asarray(actual) - np.asarray(expected)), initial=0.0)
    size = np.max(np.abs(expected), initial=0.0)
    return float(difference / size) if size else float(difference)


# bodies


@dataclass
class Moving:
    """A frame that moves: where it is, and how it moves, in world axes."""

    R: Array  # (3, 3)
    p: Array  # (3,)
    Jw: Array  # (3, nv) angular velocity per unit of each velocity
    Jv: Array  # (3, nv) velocity of the origin per unit of each velocity
    w: Array  # (3,) angular velocity
    aw: Array  # (3,) angular acceleration while v is constant
    av: Array  # (3,) acceleration of the origin while v is constant

    def at(self, R: Array, p: Array) -> "Moving":
        """Return the motion of a frame fixed on this one, at p and turned by R."""
        r = self.R @ p
        return Moving(
            self.R @ R,
            self.p + r,
            self.Jw,
            self.Jv - cross(r) @ self.Jw,
            self.w,
            self.aw,
            self.av + cross(self.aw) @ r + cross(self.w) @ cross(self.w) @ r,
        )


def across(P: Moving, X: JointMotion, own: slice, v: Array) -> Moving:
    """Return how the joint's frame on the child moves, from that on the parent: relative motion."""
    r = P.R @ X.p
    W, V = np.zeros_like(P.Jw), np.zeros_like(P.Jv)
    W[:, own], V[:, own] = P.R @ X.W, P.R @ X.V
    return Moving(
        P.R @ X.R,
        P.p + r,
        P.Jw + W,
        P.Jv - cross(r) @ P.Jw + V,
        P.w + W @ v,
        P.aw + cross(P.w) @ W @ v + P.R @ X.dW,
        P.av
        + cross(P.aw) @ r
        + cross(P.w) @ cross(P.w) @ r
        + 2 * cross(P.w) @ V @ v  # Coriolis
        + P.R @ X.dV,
    )


def back_across(C: Moving, X: JointMotion, own: slice, v: Array) -> Moving:
    """Return how the joint's frame on the parent moves, from that on the child: `across` solved for it."""
    R = C.R @ X.R.T
    r = R @ X.p
    W, V = np.zeros_like(C.Jw), np.zeros_like(C.Jv)
    W[:, own], V[:, own] = R @ X.W, R @ X.V
    Jw = C.Jw - W
    w = C.w - W @ v
    aw = C.aw - cross(w) @ W @ v - R @ X.dW
    carried = cross(aw) @ r + cross(w) @ cross(w) @ r + 2 * cross(w) @ V @ v + R @ X.dV
    return Moving(R, C.p - r, Jw, C.Jv + cross(r) @ Jw - V, w, aw, C.av - carried)


# mechanisms


class Tree:
    """A mechanism without loops; `slices` say where coordinates are: joint -> (slice in q, slice in v)."""

    def __init__(self, mechanism: lw.Mechanism, slices: Mapping[str, tuple[slice, slice]]):
        self.mechanism, self.slices = mechanism, slices
        self.nv = sum(joint.nv for joint in mechanism.joints.values())
        self.gravity = in_space(mechanism.gravity)
        self.armature = np.zeros(self.nv)
        self.rows = [0, 1, 2, 3, 4, 5] if mechanism.space == "space" else [2, 3, 4]  # of what can move
        self.frames = {}  # joint -> (R, p) on the parent, (R, p) on the child
        for name, joint in mechanism.joints.items():
            self.armature[slices[name][1]] = joint.armature
            self.frames[name] = tuple(
                (turn_in_space(X.rotation), in_space(X.position)) for X in joint.frames()
            )
        self.order = list(self._outward())

    def _outward(self) -> Iterator[tuple[lw.Joint, lw.Body, lw.Body]]:
        """Yield joints from ground outwards, each with the body it hangs on and the one that hangs on it."""
        placed = {"ground"}
        waiting = list(self.mechanism.joints.values())
        while waiting:
            joint = next(j for j in waiting if j.parent.name in placed or j.child.name in placed)
            forward = joint.parent.name in placed
            inner, outer = (joint.parent, joint.child) if forward else (joint.child, joint.parent)
            waiting.remove(joint)
            placed.add(outer.name)
            yield joint, inner, outer

    def motions(self, q: Array, v: Array) -> tuple[dict[str, Moving], dict[str, tuple[Moving, JointMotion]]]:
        """Return how bodies move, and, by joint, how its frame on the parent does and the child's in it."""
        none, still = np.zeros(3), np.zeros((3, self.nv))
        bodies = {"ground": Moving(np.eye(3), none, still, still, none, none, none)}
        joints = {}
        for joint, inner, outer in self.order:
            own_q, own_v = self.slices[joint.name]
            X = joint_motion(joint, q[own_q], v[own_v])
            on_parent, on_child = self.frames[joint.name]
            if outer is joint.child:
                P = bodies[inner.name].at(*on_parent)
                bodies[outer.name] = across(P, X, own_v, v).at(*inverse(*on_child))
            else:
                P = back_across(bodies[inner.name].at(*on_child), X, own_v, v)
                bodies[outer.name] = P.at(*inverse(*on_parent))
            joints[joint.name] = P, X
        return bodies, joints

    def _massive(self, q: Array, v: Array) -> Iterator[tuple[lw.Body, Moving, Array, float]]:
        """Yield every body: the motion of its centre of mass, its tensor in world axes, its mass."""
        bodies, _ = self.motions(q, v)
        for body in self.mechanism.bodies.values():
            c = bodies[body.name].at(np.eye(3), in_space(body.inertia.com))
            yield body, c, c.R @ tensor_in_space(body.inertia.tensor) @ c.R.T, body.inertia.mass

    def _free(self, q: Array, v: Array) -> Iterator[tuple[Moving, Array, float]]:
        """Yield the bodies that can move; what is welded to ground is part of ground and counts in no sum."""
        welded = {"ground"}
        for joint, inner, outer in self.order:
            if isinstance(joint, lw.Fixed) and inner.name in welded:
                welded.add(outer.name)
        for body, c, I, m in self._massive(q, v):
            if body.name not in welded:
                yield c, I, m

    # dynamics

    def mass_matrix(self, q: Array) -> Array:
        H = np.diag(self.armature)
        for _, c, I, m in self._massive(q, np.zeros(self.nv)):
            H += m * c.Jv.T @ c.Jv + c.Jw.T @ I @ c.Jw
        return H

    def bias_forces(self, q: Array, v: Array, forces: Mapping[str, Any] | None = None) -> Array:
        """Return the joint forces at zero acceleration; forces on bodies are given in their frames."""
        bias = np.zeros(self.nv)
        for _, c, I, m in self._massive(q, v):
            bias += m * c.Jv.T @ (c.av - self.gravity)
            bias += c.Jw.T @ (I @ c.aw + cross(c.w) @ I @ c.w)
        bodies, _ = self.motions(q, v)
        for name, force in (forces or {}).items():
            body, given = bodies[name], np.zeros(6)
            given[self.rows] = force
            bias -= body.Jw.T @ body.R @ given[:3] + body.Jv.T @ body.R @ given[3:]
        return bias

    def inverse_dynamics(self, q: Array, v: Array, a: Array, forces: Any = None) -> Array:
        return self.mass_matrix(q) @ a + self.bias_forces(q, v, forces)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, forces: Any = None) -> Array:
        return np.linalg.solve(self.mass_matrix(q), tau - self.bias_forces(q, v, forces))

    # sums

    def kinetic_energy(self, q: Array, v: Array) -> float:
        return sum(0.5 * m * (c.Jv @ v) @ (c.Jv @ v) + 0.5 * c.w @ I @ c.w for c, I, m in self._free(q, v))

    def potential_energy(self, q: Array) -> float:
        return -sum(m * c.p @ self.gravity for c, _, m in self._free(q, np.zeros(self.nv)))

    def center_of_mass(self, q: Array) -> Array:
        masses, places = zip(*((m, c.p) for c, _, m in self._free(q, np.zeros(self.nv))), strict=True)
        return (np.array(masses) @ places / sum(masses))[: self.mechanism.gravity.size]

    def momentum(self, q: Array, v: Array) -> Array:
        """Return the momentum: angular about the centre of mass, then linear."""
        center = in_space(self.center_of_mass(q))
        total = np.zeros(6)
        for c, I, m in self._free(q, v):
            p = m * c.Jv @ v
            total += np.concatenate([I @ c.w + cross(c.p - center) @ p, p])
        return total[self.rows]

    # bodies and joints

    def jacobian(self, q: Array, body: str, point: Any = None) -> Array:
        frame = self.motions(q, np.zeros(self.nv))[0][body]
        at = frame.at(np.eye(3), in_space(np.zeros(3) if point is None else point))
        return np.vstack([at.Jw, at.Jv])[self.rows]

    def velocity(self, q: Array, v: Array, body: str) -> Array:
        return self.jacobian(q, body) @ v

    def acceleration(self, q: Array, v: Array, a: Array, body: str) -> Array:
        frame = self.motions(q, v)[0][body]
        total = np.concatenate([frame.Jw @ a + frame.aw, frame.Jv @ a + frame.av])
        return total[self.rows]

    def pose(self, q: Array, body: str) -> Array:
        """Return the rows of [R | p]."""
        frame = self.motions(q, np.zeros(self.nv))[0][body]
        size = self.mechanism.gravity.size
        return np.column_stack([frame.R[:size, :size], frame.p[:size]])

    def reaction(self, q: Array, v: Array, a: Array, name: str, forces: Any = None) -> Array:
        """Return the force of a joint, but for its drive, on its child, about the origin of its frame there.

        Cut the joint: what it exerts is what the bodies beyond it need beyond gravity and the forces on them.
        Its drive turns about the axes of turning freedoms and pulls along those of sliding ones.
        """
        bodies, joints = self.motions(q, v)
        joint, (P, X) = self.mechanism.joints[name], joints[name]
        place = P.p + P.R @ X.p
        torque, force = np.zeros(3), np.zeros(3)
        beyond = self._beyond(joint)
        for body, c, I, m in self._massive(q, v):
            if body.name in beyond:
                F = m * (c.Jv @ a + c.av - self.gravity)
                force += F
                torque += I @ (c.Jw @ a + c.aw) + cross(c.w) @ I @ c.w + cross(c.p - place) @ F
        for body in beyond & set(forces or {}):
            given = np.zeros(6)
            given[self.rows] = forces[body]
            F = bodies[body].R @ given[3:]
            force -= F
            torque -= bodies[body].R @ given[:3] + cross(bodies[body].p - place) @ F
        sign = 1.0 if joint.child.name in beyond else -1.0
        drive = self.drive(q, v, a, name, forces)
        turning = X.W.any(axis=0)
        torque = sign * torque - P.R @ X.W @ drive
        force = sign * force - P.R @ X.V @ np.where(turning, 0.0, drive)
        return np.concatenate([torque, force])[self.rows]

    def drive(self, q: Array, v: Array, a: Array, name: str, forces: Any = None) -> Array:
        """Return the joint's part of tau that reaches the bodies: what the armature leaves."""
        own = self.slices[name][1]
        return (self.inverse_dynamics(q, v, a, forces) - self.armature * a)[own]

    def _beyond(self, joint: lw.Joint) -> set[str]:
        """Return the bodies on the far side of a joint, seen from ground."""
        found: set[str] = set()
        for other, inner, outer in self.order:
            if other is joint or inner.name in found:
                found.add(outer.name)
        return found


def inverse(R: Array, p: Array) -> tuple[Array, Array]:
    return R.T, -R.T @ p


def in_space(p: Any) -> Array:
    """Return a point or vector as three numbers."""
    whole = np.zeros(3)
    whole[: len(p)] = p
    return whole


def turn_in_space(R: Array) -> Array:
    whole = np.eye(3)
    whole[: len(R), : len(R)] = R
    return whole


def tensor_in_space(I: Array) -> Array:
    return I if np.ndim(I) == 2 else np.diag([0.0, 0.0, float(I)])
