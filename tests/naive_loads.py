"""Loads in plain numbers, in world axes: what each should push, and mechanisms to put them on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mechanisms import kinds, random_frame, random_inertia, random_state, random_tree
from mechanisms import rate as slope
from naive import relative_error
from scipy.spatial.transform import Rotation

import linkwork as lw

Array = np.ndarray
T = 0.7  # the time of most tests


# bodies and pushes in plain numbers


@dataclass
class Seen:
    """A body at some moment, in world axes."""

    name: str
    R: Array
    p: Array
    w: Array  # angular velocity, (1,) in the plane
    v: Array  # of its origin

    def place(self, point: Any) -> Array:
        return self.p + self.R @ point

    def velocity(self, point: Any) -> Array:
        return self.v + turned(self.w, self.R @ point)


@dataclass
class Push:
    """A force and a torque in world axes, on a point of a body."""

    body: Seen
    point: Array
    force: Array
    torque: Array


def turned(w: Array, r: Array) -> Array:
    """Return w x r."""
    return np.cross(w, r) if len(r) == 3 else w[0] * np.array([-r[1], r[0]])


def moment(r: Array, f: Array) -> Array:
    """Return r x f, (1,) in the plane."""
    return np.cross(r, f) if len(r) == 3 else np.array([r[0] * f[1] - r[1] * f[0]])


def seen(model: lw.Model, q: Array, v: Array, name: str) -> Seen:
    frame, size = model.poses(q)[name], model.gravity.size
    velocity = np.asarray(model.velocities(q, v)[name])
    return Seen(name, frame.rotation, frame.position, velocity[:-size], velocity[-size:])


def generalised(model: lw.Model, q: Array, pushes: list[Push]) -> Array:
    """Return the sum of J^T f."""
    tau = np.zeros(model.nv)
    for push in pushes:
        J = model.jacobian(q, push.body.name, push.point)
        tau += J.T @ np.concatenate([push.torque, push.force])
    return tau


def on_bodies(pushes: list[Push]) -> dict[str, Array]:
    """Return the pushes as forces in the bodies' frames, about their origins."""
    total: dict[str, Array] = {}
    for push in pushes:
        f, n = push.body.R.T @ push.force, push.torque
        n = push.body.R.T @ n if len(n) == 3 else n
        own = np.concatenate([n + moment(push.point, f), f])
        total[push.body.name] = total.get(push.body.name, 0.0) + own
    return total


# a mechanism to load, and every load with its physics


def machine(space: str, seed: int = 0) -> lw.Mechanism:
    """Return a random tree, a body welded to its last one, and a mast welded to ground with one on top."""
    m = random_tree(seed, space, [k for k in kinds(space) if k is not lw.Fixed], n=5)
    rng = np.random.default_rng([seed, 7])
    for name, on in (("hook", m["body 4"]), ("mast", m.ground)):
        place = random_frame(rng, space)
        body = lw.Body(
            name, random_inertia(rng, space), position=place.position, rotation=place.rotation.tolist()
        )
        m.add(body)
        m.add(lw.Fixed(f"weld of {name}", *((on, body) if name == "hook" else (body, on))))
    return m


PAIRS = {
    "two links": ("body 1", "body 4"),
    "ground first": ("ground", "body 3"),
    "ground last": ("body 2", "ground"),
    "welded": ("hook", "body 2"),
    "one link": ("body 4", "hook"),
    "on a mast": ("mast", "hook"),
    "ground only": ("mast", "ground"),
}
Physics = Callable[[float, Seen, Seen], tuple[list[Push], Any]]  # pushes, and what the load shows


def spring(m: lw.Mechanism, a: lw.Body, b: lw.Body, rng: np.random.Generator, **law: Any) -> tuple:
    size = m.gravity.size
    pa, pb = rng.normal(size=(2, size))
    load = lw.Spring("load", a, b, on_parent=pa, on_child=pb, **law)

    def physics(t: float, A: Seen, B: Seen) -> tuple[list[Push], Any]:
        span = B.place(pb) - A.place(pa)
        along = span / np.linalg.norm(span)
        speed = along @ (B.velocity(pb) - A.velocity(pa))
        stretch = np.linalg.norm(span) - law["rest"]
        k, c = law.get("stiffness", 0.0), law.get("damping", 0.0)
        tension = (k(stretch) if callable(k) else k * stretch) + (c(speed) if callable(c) else c * speed)
        still = np.zeros(3 if size == 3 else 1)
        return [Push(A, pa, tension * along, still), Push(B, pb, -tension * along, still)], [tension]

    return load, physics


def bushing(m: lw.Mechanism, a: lw.Body, b: lw.Body, rng: np.random.Generator) -> tuple:
    size, angular = m.gravity.size, 3 if m.space == "space" else 1
    Xa, Xb = random_frame(rng, m.space), random_frame(rng, m.space)
    k, c = rng.uniform(1, 9, (2, size))
    kt, ct = rng.uniform(1, 9, (2, angular))
    words = {"stiffness": k, "damping": c, "torsion_stiffness": kt, "torsion_damping": ct}
    load = lw.Bushing("load", a, b, on_parent=Xa, on_child=Xb, **words)

    def physics(t: float, A: Seen, B: Seen) -> tuple[list[Push], Any]:
        Ra, Rb = A.R @ Xa.rotation, B.R @ Xb.rotation
        place = B.place(Xb.position)
        touched = A.R.T @ (place - A.p)
        gap = Ra.T @ (place - A.place(Xa.position))
        drift = Ra.T @ (B.velocity(Xb.position) - A.velocity(touched))
        force = -k * gap - c * drift
        spin = Ra.T @ (B.w - A.w) if size == 3 else B.w - A.w
        torque = -slope(lambda s: energies(Ra.T @ Rb, kt, s), 1e-3) - ct * spin
        f, n = Ra @ force, Ra @ torque if size == 3 else torque
        return [Push(A, touched, -f, -n), Push(B, Xb.position, f, n)], [*force, *torque]

    return load, physics


def energies(R: Array, k: Array, s: float) -> Array:
    """Return th^T k th / 2 of the turn R, turned further by s about each axis of the outer frame."""
    if len(R) == 2:
        th = np.arctan2(R[1, 0], R[0, 0]) + s
        return np.array([0.5 * k[0] * th**2])
    turns = (Rotation.from_rotvec(s * axis) * Rotation.from_matrix(R) for axis in np.eye(3))
    return np.array([0.5 * k @ turn.as_rotvec() ** 2 for turn in turns])


def force(m: lw.Mechanism, a: lw.Body, b: lw.Body, rng: np.random.Generator, frame: str) -> tuple:
    size = m.gravity.size
    at, f = rng.normal(size=(2, size))
    load = lw.Force("load", b, lambda body, t: [x * lw.sin(3 * t) for x in f], at=at, frame=frame)

    def physics(t: float, A: Seen, B: Seen) -> tuple[list[Push], Any]:
        now = f * np.sin(3 * t)
        still = np.zeros(3 if size == 3 else 1)
        return [Push(B, at, B.R @ now if frame == "body" else now, still)], now

    return load, physics


def drag(m: lw.Mechanism, a: lw.Body, b: lw.Body, rng: np.random.Generator) -> tuple:
    """The force of the manual, at the origin."""
    load = lw.Force("load", b, lambda body, t: -0.3 * body.velocity)

    def physics(t: float, A: Seen, B: Seen) -> tuple[list[Push], Any]:
        return [Push(B, 0 * B.p, -0.3 * B.v, 0 * B.w)], -0.3 * B.v

    return load, physics


def torque(m: lw.Mechanism, a: lw.Body, b: lw.Body, rng: np.random.Generator, frame: str) -> tuple:
    n = rng.normal(size=3 if m.space == "space" else 1)
    load = lw.Torque("load", b, n if m.space == "space" else float(n[0]), frame=frame)

    def physics(t: float, A: Seen, B: Seen) -> tuple[list[Push], Any]:
        turn = frame == "body" and len(n) == 3
        return [Push(B, 0 * B.p, 0 * B.p, B.R @ n if turn else n)], n

    return load, physics


def wrench(m: lw.Mechanism, a: lw.Body, b: lw.Body, rng: np.random.Generator, frame: str) -> tuple:
    size, angular = m.gravity.size, 3 if m.space == "space" else 1
    at, w = rng.normal(size=size), rng.normal(size=angular + size)
    load = lw.Wrench("load", b, lambda body, t: [x * (1 + t) for x in w], at=at, frame=frame)

    def physics(t: float, A: Seen, B: Seen) -> tuple[list[Push], Any]:
        n, f = (1 + t) * w[:angular], (1 + t) * w[angular:]
        shown = np.concatenate([n, f])
        if frame == "body":
            n, f = B.R @ n if size == 3 else n, B.R @ f
        return [Push(B, at, f, n)], shown

    return load, physics


class Ropes(lw.Load):
    """Three bodies drawn to their middle, turned against their spin; shows the middle."""

    def act(self, t, *bodies):
        places = [body.position for body in bodies]
        middle = (places[0] + places[1] + places[2]) / 3
        for body, place in zip(bodies, places, strict=True):
            body.push((middle - place) * 4.0)
            spin = body.angular_velocity
            body.twist(spin * -0.2)
        return middle


def ropes(m: lw.Mechanism, a: lw.Body, b: lw.Body, rng: np.random.Generator) -> tuple:
    load = Ropes("load", a, m["body 0"], b)

    def physics(t: float, A: Seen, B: Seen, C: Seen) -> tuple[list[Push], Any]:
        middle = (A.p + B.p + C.p) / 3
        return [Push(X, 0 * X.p, 4 * (middle - X.p), -0.2 * X.w) for X in (A, B, C)], middle

    return load, physics


LOADS: dict[str, Callable[..., tuple]] = {
    "spring": lambda *a: spring(*a, stiffness=7.0, rest=0.4),
    "damper": lambda *a: spring(*a, damping=3.0, rest=0.4),
    "curved spring": lambda *a: spring(
        *a, stiffness=lambda d: 50 * d + 10 * abs(d) * d, damping=lw.tanh, rest=0.4
    ),
    "bushing": bushing,
    "force": lambda *a: force(*a, "world"),
    "force of the body": lambda *a: force(*a, "body"),
    "drag": drag,
    "torque": lambda *a: torque(*a, "world"),
    "torque of the body": lambda *a: torque(*a, "body"),
    "wrench": lambda *a: wrench(*a, "world"),
    "wrench of the body": lambda *a: wrench(*a, "body"),
    "three bodies": ropes,
}


@dataclass
class Case:
    """A loaded mechanism in motion, and what its load should do."""

    mechanism: lw.Mechanism
    model: lw.Model
    q: Array
    v: Array
    pushes: list[Push]
    shown: Array


def case(name: str, space: str, pair: str) -> Case:
    seed = list(PAIRS).index(pair)
    m = machine(space, seed)
    rng = np.random.default_rng(seed)
    load, physics = LOADS[name](m, *(m[body] for body in PAIRS[pair]), rng)
    m.add(load)
    model = m.compile()
    q, v, _ = random_state(model, rng)
    pushes, shown = physics(T, *(seen(model, q, v, body.name) for body in _ends(load)))
    return Case(m, model, q, v, pushes, np.asarray(shown))


def _ends(load: lw.Load) -> list[Any]:
    """Return its bodies; a load of one body has the physics of two."""
    return [*load.on] * (2 if len(load.on) == 1 else 1)


def assert_driven(model: lw.Model, q: Array, v: Array, tau: Array, t: float = 0.0) -> None:
    """Assert that the loads are these joint forces and nothing else."""
    found, rows = model.loads(q, v, t)
    np.testing.assert_allclose(found, tau, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(rows, 0 * rows)
    assert relative_error(model.motion(q, v, t), model.forward_dynamics(q, v, tau)) < 1e-10


def pair(kind: type[lw.Joint] = lw.Revolute, **options: Any) -> lw.Mechanism:
    """Return two bodies, one on the other, the second joint the wrong way round."""
    m = lw.Mechanism("pair")
    rng = np.random.default_rng(5)
    arm, hand = (m.add(lw.Body(name, random_inertia(rng, "space"))) for name in ("arm", "hand"))
    m.add(kind("shoulder", m.ground, arm, **options))
    m.add(kind("wrist", hand, arm, **options))
    return m


def crowd(space: str, n: int = 3) -> lw.Mechanism:
    """Return a mechanism with every load and some joint forces, small enough to be unrolled."""
    rng = np.random.default_rng(11)
    m = random_tree(7, space, [lw.Revolute, lw.Prismatic, lw.Free], n=n)
    m.add(lw.Body("hook", random_inertia(rng, space)))
    m.add(lw.Fixed("weld", m["hook"], m[f"body {n - 1}"]))
    for joint in m.joints.values():
        if joint.nv:
            joint.damping, joint.limits = 0.1, (-0.5, 0.5)
    for k, make in enumerate(LOADS.values()):
        load, _ = make(m, m["body 0"], m["hook"] if k % 2 else m["body 1"], rng)
        load._name = f"load {k}"
        m.add(load)
    first = next(iter(m.joints.values()))
    m.add(lw.Motor("motor", first, lambda t, q, v: -3.0 * v + lw.sin(t)))
    m.add(lw.Feedback("feedback", first, lambda t, q, v: [q[0] * v[-1] + t] * first.nv))
    return m
