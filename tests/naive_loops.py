"""The oracle of closed loops: random mechanisms whose loops are closed, and their dense equations of motion.

The spanning tree is that of `naive`; a loop joint's equations are written down from how its two frames move.
Together with Newton's law they are one linear system, solved by a singular value decomposition.
"""

from dataclasses import dataclass
from typing import Any

import naive
import numpy as np
from mechanisms import ALGEBRA, SPACES, JointClass, kinds, random_axis, random_frame, random_inertia
from naive_joints import cross, joint_motion

import linkwork as lw

Array = np.ndarray


@dataclass
class Drawn:
    """A mechanism, and coordinates of all its joints at which all loops are closed."""

    mechanism: lw.Mechanism
    coordinates: dict[str, Array]

    def positions(self, model: lw.Model) -> Array:
        q = np.zeros(model.nq)
        for name, (own, _) in model.slices.items():
            q[own] = self.coordinates[name]
        return q


def random_coordinates(joint: lw.Joint, rng: np.random.Generator) -> Array:
    q = rng.uniform(-1.2, 1.2, joint.nq)
    if joint.quaternion is not None:
        part = slice(joint.quaternion, joint.quaternion + 4)
        q[part] /= np.linalg.norm(q[part])
    return q


def join(
    m: lw.Mechanism,
    kind: JointClass,
    name: str,
    parent: lw.Body,
    child: lw.Body,
    rng: np.random.Generator,
    **options: Any,
) -> tuple[lw.Joint, Array]:
    """Add a joint between two bodies as they are drawn, at coordinates of its own."""
    if kind is lw.Helical:
        options["pitch"] = rng.normal()
    joint = kind(name, parent, child, **options)
    vars(joint)["space"] = m.space
    Frame = ALGEBRA[m.space].Frame
    poses = [Frame(position=b.position.tolist(), rotation=b.rotation.tolist()) for b in (parent, child)]
    q = random_coordinates(joint, rng)
    on_parent = options.pop("on_parent", None) or random_frame(rng, m.space)
    joint.on_parent = on_parent
    aligned = joint.alignment()
    X_J = poses[0] @ on_parent @ aligned @ joint.motion(q.tolist())
    joint.on_child = poses[1].local(X_J) @ aligned.inverse
    m.add(joint)
    return joint, q


def random_closed(seed: int, space: str, loop: JointClass | None = None, loops: int | None = None) -> Drawn:
    """Return up to 9 bodies anywhere, joined by joints of all kinds, some of which close loops.

    If said, the joints that close them are of the kind `loop`: all others have armature, and are not cut.
    Joints are met either way round, loops share bodies and joints and are rooted anywhere.
    """
    rng = np.random.default_rng([seed, SPACES.index(space), 7])
    m = lw.Mechanism(f"closed {seed}", space=space, gravity=rng.normal(size=3 if space == "space" else 2) * 6)
    choice = [kind for kind in (*kinds(space), lw.Revolute, lw.Prismatic) if kind is not lw.Free]
    coordinates = {}
    bodies = [m.ground]
    count = int(rng.integers(3, 10))
    loops = loops or int(rng.integers(1, 4))

    def add(kind: JointClass, name: str, one: lw.Body, two: lw.Body) -> None:
        if rng.random() < 0.5:
            one, two = two, one
        axis = {"axis": random_axis(rng, space)} if _directed(kind, space) else {}
        if kind is lw.Universal:
            axis["axis2"] = np.cross(axis["axis"], rng.normal(size=3))
        joint, q = join(m, kind, name, one, two, rng, **axis)
        coordinates[name] = q
        if joint.nv and not name.startswith("loop") and (loop or rng.random() < 0.2):
            joint.armature = rng.uniform(0.0, 0.5, joint.nv).tolist()

    for k in range(count):
        place = random_frame(rng, space)
        body = m.add(
            lw.Body(f"body {k}", random_inertia(rng, space), position=place.position, rotation=place.rotation)
        )
        kind = choice[rng.integers(len(choice))]
        if rng.random() < 0.25 or (loop and kind is lw.Fixed):
            kind = lw.Free
        add(kind, f"joint {k}", bodies[max(rng.integers(len(bodies)), rng.integers(len(bodies)))], body)
        bodies.append(body)
    for k in range(loops):
        one, two = rng.choice(len(bodies), 2, replace=False)
        add(loop or choice[rng.integers(len(choice))], f"loop {k}", bodies[one], bodies[two])
    return Drawn(m, coordinates)


def random_plane(seed: int) -> tuple[Drawn, Drawn]:
    """Return a closed planar mechanism of hinges and sliders, and the same in space, with redundant loops."""
    rng = np.random.default_rng([seed, 11])
    flat = lw.Mechanism(f"plane {seed}", space="plane", gravity=(0.3, -9.0))
    deep = lw.Mechanism(f"promoted {seed}", gravity=(0.3, -9.0, 0.0))
    coordinates: dict[str, Array] = {}
    pairs = [(flat.ground, deep.ground)]

    def add(kind: JointClass, name: str, one: int, two: int) -> None:
        if rng.random() < 0.5:
            one, two = two, one
        (a, A), (b, B) = pairs[one], pairs[two]
        frame = random_frame(rng, "plane")
        axis = {} if kind is lw.Revolute else {"axis": rng.normal(size=2)}
        joint, q = join(flat, kind, name, a, b, rng, on_parent=frame, **axis)
        frames = {side: _promoted(getattr(joint, side)) for side in ("on_parent", "on_child")}
        along = {"axis": (0, 0, 1)} if kind is lw.Revolute else {"axis": (*axis["axis"], 0)}
        deep.add(kind(name, A, B, **frames, **along))
        coordinates[name] = q

    for k in range(int(rng.integers(3, 8))):
        inertia, place = random_inertia(rng, "plane"), random_frame(rng, "plane")
        a = flat.add(lw.Body(f"body {k}", inertia, position=place.position, rotation=place.rotation))
        solid = lw.Inertia(
            float(inertia.mass), (*inertia.com, 0.0), np.diag([0.6, 0.7, 1.0]) * float(inertia.tensor)
        )
        X = _promoted(place)
        b = deep.add(lw.Body(f"body {k}", solid, position=X.position, rotation=X.rotation))
        pairs.append((a, b))
        kind = lw.Revolute if rng.random() < 0.7 else lw.Prismatic
        add(kind, f"joint {k}", int(max(rng.integers(len(pairs) - 1, size=2))), len(pairs) - 1)
    for k in range(int(rng.integers(1, 3))):
        one, two = rng.choice(len(pairs), 2, replace=False)
        add(lw.Revolute if rng.random() < 0.7 else lw.Prismatic, f"loop {k}", int(one), int(two))
    return Drawn(flat, coordinates), Drawn(deep, coordinates)


def _directed(kind: JointClass, space: str) -> bool:
    return kind.directed and (space == "space" or kind is lw.Prismatic)


def _promoted(X: Any) -> Any:
    R, p = np.eye(3), np.zeros(3)
    R[:2, :2], p[:2] = X.rotation, X.position
    return lw.Frame(position=p, rotation=R)


class Closed:
    """The equations of a closed mechanism at one position: M a = tau - h + J^T force, J a = right."""

    def __init__(self, drawn: Drawn, model: lw.Model):
        self.drawn, self.model = drawn, model
        source = drawn.mechanism
        tree = lw.Mechanism("tree", space=source.space, gravity=source.gravity)
        for body in source.bodies.values():
            tree.add(body)
        for name in model.slices:
            tree.add(source.joints[name])
        self.tree = naive.Tree(tree, model.slices)

    def constraints(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return J and the right side, all loop joints one after the other."""
        bodies, _ = self.tree.motions(q, v)
        rows, rights = [], []
        for name in self.model.loop_names:
            joint = self.drawn.mechanism.joints[name]
            at = self.drawn.coordinates[name]
            sides = [(naive.turn_in_space(X.rotation), naive.in_space(X.position)) for X in joint.frames()]
            P = bodies[joint.parent.name].at(*sides[0])
            C = bodies[joint.child.name].at(*sides[1])
            r = C.p - P.p
            X = joint_motion(joint, at, np.zeros(joint.nv))
            assert np.allclose(P.R @ X.R, C.R, atol=1e-7)
            assert np.allclose(P.p + P.R @ X.p, C.p, atol=1e-7)
            S = np.vstack([P.R @ X.W, P.R @ X.V])[self.tree.rows]
            J = np.vstack([C.Jw - P.Jw, C.Jv - P.Jv + cross(r) @ P.Jw])[self.tree.rows]
            own = np.linalg.lstsq(S, J @ v, rcond=None)[0] if joint.nv else np.zeros(0)
            X = joint_motion(joint, at, own)
            whole = np.zeros(len(v) + joint.nv)
            whole[len(v) :] = own
            wide = naive.Moving(P.R, P.p, _wide(P.Jw, joint.nv), _wide(P.Jv, joint.nv), P.w, P.aw, P.av)
            should = naive.across(wide, X, slice(len(v), None), whole)
            gained = np.concatenate([C.aw - should.aw, C.av - should.av])[self.tree.rows]
            U = np.linalg.svd(S)[0] if joint.nv else np.eye(len(S))
            T = U[:, joint.nv :].T
            rows.append(T @ J)
            rights.append(-T @ gained)
        return np.vstack(rows), np.concatenate(rights)

    def closed_velocity(self, q: Array, v: Array) -> Array:
        """Return the part of v that opens no loop."""
        J, _ = self.constraints(q, np.zeros_like(v))
        J = J * _inverse_lengths(J)[:, None]
        return v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, forces: Any = None) -> Array:
        M, h = self.tree.mass_matrix(q), self.tree.bias_forces(q, v, forces)
        J, right = self.constraints(q, v)
        L = np.linalg.cholesky(M)
        free = np.linalg.solve(L, tau - h)
        A = np.linalg.solve(L, J.T).T
        scale = _inverse_lengths(A)
        A, right = A * scale[:, None], right * scale
        return np.linalg.solve(L.T, free + np.linalg.pinv(A, rcond=1e-7) @ (right - A @ free))

    def margin(self, q: Array) -> float:
        """Return the smallest singular value of the scaled equations that is not zero."""
        M = self.tree.mass_matrix(q)
        J, _ = self.constraints(q, np.zeros(self.model.nv))
        A = np.linalg.solve(np.linalg.cholesky(M), J.T).T
        A *= _inverse_lengths(A)[:, None]
        sizes = np.linalg.svd(A)[1]
        return float(min(sizes[sizes > 1e-9], default=1.0))


def _wide(J: Array, more: int) -> Array:
    return np.hstack([J, np.zeros((3, more))])


def _inverse_lengths(A: Array) -> Array:
    """Return one over the length of each row, 0 for rows that are only rounding."""
    lengths = np.linalg.norm(A, axis=1)
    there = lengths > 1e-11
    return there / np.where(there, lengths, 1.0)
