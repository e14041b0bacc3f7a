"""Loads against plain physics: each push by hand, in world axes, through the Jacobian of its point."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from mechanisms import ALGEBRA, SPACES, kinds, random_frame, random_inertia, random_state, random_tree
from mechanisms import rate as slope
from naive import relative_error
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.dynamics import motion
from linkwork.dynamics.kernel import Kernel

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
    "one body": ("body 3", "body 3"),
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


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", LOADS)
def test_a_load_pushes_as_by_hand(name, space, pair):
    c = case(name, space, pair)
    tau = generalised(c.model, c.q, c.pushes)
    found = c.model.motion(c.q, c.v, T)
    assert relative_error(found, c.model.forward_dynamics(c.q, c.v, tau)) < 1e-10
    forces = on_bodies(c.pushes)
    forces.pop("ground", None)
    by_body = c.model.forward_dynamics(c.q, c.v, 0 * tau, forces=forces)
    assert relative_error(found, by_body) < 1e-10
    np.testing.assert_allclose(c.model.load_values("load", c.q, c.v, T), c.shown, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", LOADS)
def test_forces_on_bodies_are_told_in_the_frames_of_their_joints(name, space):
    """Row by row, in the joint's frame on the body, also for what is welded; `forces` of the same is it."""
    for pair in ("welded", "on a mast"):
        c = case(name, space, pair)
        tau, rows = c.model.loads(c.q, c.v, T)
        np.testing.assert_array_equal(tau, np.zeros(c.model.nv))
        expected, Force = on_bodies(c.pushes), ALGEBRA[space].Force
        for body, joint, row in zip(c.model.body_names, c.model.joint_names, rows, strict=True):
            joint = c.mechanism.joints[joint]
            own = joint.frames()[joint.child.name == body]
            told = np.asarray(own @ Force.from_scalars(row.tolist()))
            np.testing.assert_allclose(told, expected.get(body, 0 * row), rtol=1e-9, atol=1e-10)


INNER = ("spring", "damper", "curved spring", "bushing")  # between two bodies


def two_free(space: str, name: str, rng: np.random.Generator) -> tuple[lw.Mechanism, Physics]:
    m = lw.Mechanism("pair", space=space, gravity=np.zeros(3 if space == "space" else 2))
    a, b = (m.add(lw.Body(x, random_inertia(rng, space))) for x in "ab")
    m.add(lw.Free("flight of a", m.ground, a))
    m.add(lw.Free("flight of b", b, m.ground))
    load, physics = LOADS[name](m, a, b, rng)
    m.add(load)
    return m, physics


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", INNER)
def test_a_load_between_two_bodies_keeps_their_momentum(name, space):
    rng = np.random.default_rng(3)
    m, _ = two_free(space, name, rng)
    model = m.compile()
    q, v, _ = random_state(model, rng)
    a, dq = model.motion(q, v), model.position_rates(q, v)
    assert np.abs(a).max() > 0.1
    change = slope(lambda s: model.momentum(q + s * dq, v + s * a))
    np.testing.assert_allclose(change, np.zeros_like(change), rtol=0, atol=1e-8 * np.abs(a).max())


def power(model: lw.Model, q: Array, v: Array, t: float, form: Any = "rolled") -> float:
    """Return the power of all applied forces that the kernel of the motion tells."""
    tree = model.driven()
    kernel = Kernel(motion.LOADED if tree.loads else motion.ALGORITHM, tree, form)
    nothing = [np.zeros(shape) for shape in kernel.shapes[3 : kernel.inputs]]
    return float(kernel(t, q, v, *nothing)[2])


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", LOADS)
def test_the_power_is_that_of_the_pushes(name, space):
    c = case(name, space, "two links")
    by_hand = sum(p.force @ p.body.velocity(p.point) + p.torque @ p.body.w for p in c.pushes)
    assert power(c.model, c.q, c.v, T) == pytest.approx(by_hand, rel=1e-9, abs=1e-11)


def stored(name: str, space: str) -> float:
    """Return the rate of what a load without damping stores, and its power, as their sum."""
    rng = np.random.default_rng(8)
    m = machine(space, 1)
    size, angular = m.gravity.size, 3 if space == "space" else 1
    Xa, Xb = random_frame(rng, space), random_frame(rng, space)
    k, kt = rng.uniform(1, 9, size), rng.uniform(1, 9, angular)
    a, b = m["body 1"], m["hook"]
    if name == "spring":
        m.add(lw.Spring("load", a, b, on_parent=Xa.position, on_child=Xb.position, stiffness=5.0, rest=0.3))
    else:
        m.add(lw.Bushing("load", a, b, on_parent=Xa, on_child=Xb, stiffness=k, torsion_stiffness=kt))
    model = m.compile()
    q, v, _ = random_state(model, rng)
    dq = model.position_rates(q, v)

    def energy(s: float) -> float:
        A, B = (model.poses(q + s * dq)[x.name] @ X for x, X in ((a, Xa), (b, Xb)))
        gap = A.rotation.T @ (B.position - A.position)
        if name == "spring":
            return 0.5 * 5.0 * (np.linalg.norm(gap) - 0.3) ** 2
        return 0.5 * k @ gap**2 + float(energies(A.rotation.T @ B.rotation, kt, 0.0)[0])

    return power(model, q, v, 0.0) + float(slope(energy))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", ["spring", "bushing"])
def test_what_springs_give_they_have_stored(name, space):
    assert abs(stored(name, space)) < 1e-8


def test_a_spring_rests_as_drawn_unless_told():
    m = machine("space", 2)
    a, b = m["body 1"], m["hook"]
    at = {"on_parent": (0.1, 0.2, 0.3), "on_child": (0.4, -0.5, 0.6)}
    m.add(lw.Spring("drawn", a, b, **at, stiffness=6.0))
    m.add(lw.Spring("told", a, b, **at, stiffness=6.0, rest=0.0))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(2))
    poses = model.poses(model.q_drawn)
    length = np.linalg.norm(poses["hook"] @ at["on_child"] - np.array(poses["body 1"] @ at["on_parent"]))
    drawn, told = (model.load_values(name, q, v) for name in ("drawn", "told"))
    np.testing.assert_allclose(told - drawn, [6.0 * length], rtol=1e-12)
    np.testing.assert_allclose(model.load_values("drawn", model.q_drawn, 0 * v), [0.0], rtol=0, atol=1e-14)


def slide(space: str = "space", *, axis: Any = None) -> tuple[lw.Mechanism, lw.Body]:
    """Return a body of 2 kg on a slider along x, without gravity."""
    size = 3 if space == "space" else 2
    m = lw.Mechanism("slide", space=space, gravity=np.zeros(size))
    tensor = np.eye(3) if space == "space" else 1.0
    body = m.add(lw.Body("body", lw.Inertia(2.0, np.zeros(size), tensor)))
    m.add(lw.Prismatic("slide", m.ground, body, axis=np.eye(size)[0]))
    return m, body


@pytest.mark.parametrize("space", SPACES)
def test_a_spring_without_length_has_no_direction_and_no_force(space):
    m, body = slide(space)
    m.add(lw.Spring("spring", m.ground, body, stiffness=5.0, rest=0.3))
    model = m.compile()
    np.testing.assert_array_equal(model.motion([0.0], [1.0]), [0.0])
    np.testing.assert_allclose(model.motion([1e-150], [0.0]), [5.0 * 0.3 / 2], rtol=1e-14)
    np.testing.assert_allclose(model.motion([-1e-9], [0.0]), [-5.0 * 0.3 / 2], rtol=1e-8)


@pytest.mark.parametrize("space", SPACES)
def test_a_bushing_is_placed_like_a_joint(space):
    """`at` is in the world as drawn: the load rests in a drawing that fits."""
    m = lw.Mechanism("engine on its mount", space=space, gravity=np.zeros(3 if space == "space" else 2))
    rng = np.random.default_rng(1)
    bodies = []
    for name in "ab":
        X = random_frame(rng, space)
        bodies.append(
            m.add(
                lw.Body(name, random_inertia(rng, space), position=X.position, rotation=X.rotation.tolist())
            )
        )
        m.add(lw.Free(f"flight of {name}", m.ground, bodies[-1]))
    place = random_frame(rng, space)
    k, kt = np.arange(1.0, 1.0 + m.gravity.size), 10.0
    m.add(lw.Bushing("mount", *bodies, at=place, stiffness=k, torsion_stiffness=kt))
    model = m.compile()
    still = np.zeros(model.nv)
    np.testing.assert_allclose(model.load_values("mount", model.q_drawn, still), 0.0, rtol=0, atol=1e-12)
    q = model.q_drawn.copy()
    step = place.rotation @ np.eye(m.gravity.size)[0] * 0.1  # along the first axis of the frame
    own = model.slices["flight of b"][0]
    q[own][: m.gravity.size] += step
    shown = model.load_values("mount", q, still)
    np.testing.assert_allclose(shown, [-0.1 * k[0], *np.zeros(len(shown) - 1)], rtol=0, atol=1e-12)


# what a body tells a load


@pytest.mark.parametrize("space", SPACES)
def test_a_law_sees_the_body_in_the_words_of_a_recording(space):
    m = machine(space, 4)
    point = np.arange(1.0, 1.0 + m.gravity.size)

    class Watch(lw.Load):
        def act(self, t, body):
            turn = [x for row in body.rotation for x in row]
            spin = body.angular_velocity
            spin = list(spin) if space == "space" else [spin, body.angle]
            there = body.to_world(point)
            seen = [*body.position, *turn, *body.velocity, *spin, *there, *body.velocity_at(point)]
            return [*seen, *body.to_local(there), t]

    m.add(Watch("watch", m["hook"]))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(4))
    B = seen(model, q, v, "hook")
    spin = B.w if space == "space" else [B.w[0], np.arctan2(B.R[1, 0], B.R[0, 0])]
    expected = [*B.p, *B.R.ravel(), *B.v, *spin, *B.place(point), *B.velocity(point), *point, T]
    np.testing.assert_allclose(model.load_values("watch", q, v, T), expected, rtol=0, atol=1e-12)


# drives


def drives(space: str) -> lw.Mechanism:
    """Return a chain of every joint but Fixed, every other one the wrong way round."""
    rng = np.random.default_rng(6)
    m = lw.Mechanism("drives", space=space)
    last = m.ground
    for k, kind in enumerate(kind for kind in kinds(space) if kind is not lw.Fixed):
        body = m.add(lw.Body(f"body {k}", random_inertia(rng, space)))
        options = {"pitch": 0.3} if kind is lw.Helical else {}
        m.add(kind(kind.__name__, *((body, last) if k % 2 else (last, body)), **options))
        last = body
    return m


def assert_driven(model: lw.Model, q: Array, v: Array, tau: Array, t: float = 0.0) -> None:
    """Assert that the loads are these joint forces and nothing else."""
    found, rows = model.loads(q, v, t)
    np.testing.assert_allclose(found, tau, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(rows, 0 * rows)
    assert relative_error(model.motion(q, v, t), model.forward_dynamics(q, v, tau)) < 1e-10


@pytest.mark.parametrize("space", SPACES)
def test_motors_drive_every_joint(space):
    """By numbers, and by laws of all its coordinates; either way round."""
    m = drives(space)
    rng = np.random.default_rng(9)
    gains = {}
    for joint in m.joints.values():
        constant = rng.normal(size=joint.nv)
        gains[joint.name] = constant, rng.normal(size=(joint.nv, joint.nq)), rng.normal(size=joint.nv)
        m.add(lw.Motor(f"push {joint.name}", joint.name, constant if joint.nv > 1 else float(constant[0])))

        def law(t, q, v, joint=joint):
            _, K, c = gains[joint.name]
            return lw.cos(t) * (K[0, 0] * q - c[0] * v) if joint.nv == 1 == joint.nq else K @ q - c * v

        m.add(lw.Motor(f"control {joint.name}", joint, law))
    model = m.compile()
    q, v, _ = random_state(model, rng)
    tau = np.zeros(model.nv)
    for name, (own_q, own_v) in model.slices.items():
        constant, K, c = gains[name]
        scale = np.cos(T) if len(c) == 1 else 1.0
        tau[own_v] = constant + scale * (K @ q[own_q] - c * v[own_v])
        shown = model.load_values(f"control {name}", q, v, T)
        np.testing.assert_allclose(shown, tau[own_v] - constant, rtol=1e-12, atol=1e-13)
    assert_driven(model, q, v, tau, T)


def pair(kind: type[lw.Joint] = lw.Revolute, **options: Any) -> lw.Mechanism:
    """Return two bodies, one on the other, the second joint the wrong way round."""
    m = lw.Mechanism("pair")
    rng = np.random.default_rng(5)
    arm, hand = (m.add(lw.Body(name, random_inertia(rng, "space"))) for name in ("arm", "hand"))
    m.add(kind("shoulder", m.ground, arm, **options))
    m.add(kind("wrist", hand, arm, **options))
    return m


@pytest.mark.parametrize("said", ["joint", "name", "bodies", "bodies the other way round"])
def test_a_torsion_spring_is_of_a_joint(said):
    m = pair()
    arm, hand = m["arm"], m["hand"]
    on = {"joint": [m["wrist"]], "name": ["wrist"], "bodies": [arm, hand]}.get(said, [hand, arm])
    m.add(lw.TorsionSpring("coil", *on, stiffness=3.0, damping=0.5, rest=0.2))
    curved = m.add(lw.TorsionSpring("curved", *on, stiffness=lambda x: x**3, damping=lambda w: w * abs(w)))
    assert curved.name == "curved"
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(1))
    x, w = q[1], v[1]
    coil = -3.0 * (x - 0.2) - 0.5 * w
    assert_driven(model, q, v, np.array([0.0, coil - x**3 - w * abs(w)]))
    np.testing.assert_allclose(model.load_values("coil", q, v), [coil], rtol=1e-14)


def test_feedback_sees_all_coordinates_by_number_and_by_name():
    m = pair(lw.Universal)
    model = m.compile()
    rng = np.random.default_rng(2)
    q, v, _ = random_state(model, rng)
    K = rng.normal(size=(4, 8))
    twist, bend = model.slices["wrist"][1], model.slices["shoulder"][1]
    whole = K @ np.concatenate([q, v])
    named = np.zeros(4)
    named[twist] = -2.0 * q[bend] + v[twist] * np.sin(T)
    laws = {
        "whole": (["shoulder", "wrist"], lambda t, q, v: K @ np.concatenate([q, v]), whole),
        "named": ("wrist", lambda t, q, v: -2.0 * q["shoulder"] + v["wrist"] * lw.sin(t), named),
        "order": ([m["wrist"], "shoulder"], lambda t, q, v: [1, 2, 3, 4], np.array([3.0, 4.0, 1.0, 2.0])),
        "sliced": ("wrist", lambda t, q, v: q[2:] @ q[:2] + v[-2:], _at(twist, q[2:] @ q[:2] + v[-2:])),
        "all": ("wrist", lambda t, q, v: [np.sum(q), q[0] * len(v)], _at(twist, [q.sum(), 4 * q[0]])),
    }
    for name, (joints, law, tau) in laws.items():
        m = pair(lw.Universal)
        on = [m[j.name] if isinstance(j, lw.Joint) else j for j in joints] if name == "order" else joints
        m.add(lw.Feedback(name, on, law))
        assert_driven(m.compile(), q, v, tau, T)


def _at(part: slice, values: Any) -> Array:
    tau = np.zeros(4)
    tau[part] = values
    return tau


def test_a_load_may_watch_the_whole_mechanism_and_push_any_joint():
    class Balance(lw.Load):
        whole = True

        def act(self, t, system, body):
            system.push("wrist", -3.0 * system.q["shoulder"] + body.position[0])
            system.push("wrist", system.v["wrist"])
            body.push((t, 0.0, 0.0))

    m = pair()
    m.add(Balance("balance", m["hand"]))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(3))
    tau, _ = model.loads(q, v, T)
    x = model.poses(q)["hand"].position[0]
    np.testing.assert_allclose(tau, [0.0, -3.0 * q[0] + x + v[1]], rtol=1e-13)
    a = model.forward_dynamics(q, v, tau + model.jacobian(q, "hand")[3] * T)
    assert relative_error(model.motion(q, v, T), a) < 1e-12


def test_loads_add_up_with_each_other_and_with_what_joints_do():
    m = pair(damping=0.3, stiffness=2.0, rest=0.1)
    for k in range(3):
        m.add(lw.Motor(f"motor {k}", "wrist", lambda t, q, v, k=k: k + q))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(3))
    tau = -0.3 * v - 2.0 * (q - 0.1)
    tau[1] += 3 + 3 * q[1]
    assert_driven(model, q, v, tau)


# forms and lanes


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


@pytest.fixture(scope="module", params=SPACES)
def crowded(request):
    model = crowd(request.param).compile()
    return model, model.specialize()


def test_both_forms_agree(crowded):
    model, special = crowded
    rng = np.random.default_rng(0)
    for t in (0.0, T):
        q, v, _ = random_state(model, rng)
        assert relative_error(special.motion(q, v, t), model.motion(q, v, t)) < 1e-12
        power_rolled, power_unrolled = (power(model, q, v, t, form) for form in ("rolled", "unrolled"))
        assert power_unrolled == pytest.approx(power_rolled, rel=1e-12)


def test_both_forms_tell_the_same_loads(crowded):
    model, special = crowded
    q, v, _ = random_state(model, np.random.default_rng(1))
    for a, b in zip(model.loads(q, v, T), special.loads(q, v, T), strict=True):
        assert relative_error(b, a) < 1e-12
    for name in model.load_names:
        shown = model.load_values(name, q, v, T)
        assert shown.size
        assert relative_error(special.load_values(name, q, v, T), shown) < 1e-12


@pytest.mark.parametrize("form", [0, 1], ids=["rolled", "specialized"])
def test_a_lane_is_the_single_call_bit_for_bit(crowded, form):
    model = crowded[form]
    n = 21
    rng = np.random.default_rng(2)
    q, v, _ = random_state(model, rng, n)
    t = rng.normal(size=n)
    single = [model.motion(*one) for one in zip(q, v, t, strict=True)]
    np.testing.assert_array_equal(model.motion(q, v, t), single)


def test_loads_and_their_values_come_in_batches(crowded):
    model, _ = crowded
    rng = np.random.default_rng(3)
    q, v, _ = random_state(model, rng, 9)
    t = rng.normal(size=9)
    tau, rows = model.loads(q, v, t)
    for k in range(9):
        one_tau, one_rows = model.loads(q[k], v[k], t[k])
        np.testing.assert_array_equal(tau[k], one_tau)
        np.testing.assert_array_equal(rows[k], one_rows)
        for name in model.load_names:
            one = model.load_values(name, q[k], v[k], t[k])
            np.testing.assert_array_equal(model.load_values(name, q, v, t)[k], one)


def test_what_is_not_batched_serves_all(crowded):
    model, _ = crowded
    q, v, _ = random_state(model, np.random.default_rng(4), 5)
    t = np.linspace(0, 1, 5)
    many = model.motion(q[0], v[0], t)
    np.testing.assert_array_equal(many, [model.motion(q[0], v[0], x) for x in t])
    np.testing.assert_array_equal(model.motion(q, v[0]), [model.motion(x, v[0]) for x in q])
    np.testing.assert_array_equal(model.motion(q[0], v, t)[3], model.motion(q[0], v[3], t[3]))
    assert model.motion(q[:0], v[:0]).shape == (0, model.nv)


def test_motion_takes_out(crowded):
    model, _ = crowded
    q, v, _ = random_state(model, np.random.default_rng(5), 3)
    for args in ((q[0], v[0], T), (q, v, T)):
        out = np.full_like(args[1], np.nan)
        assert model.motion(*args, out=out) is out
        np.testing.assert_array_equal(out, model.motion(*args))


def test_the_applied_power_is_what_the_energy_grows_by(crowded):
    model, _ = crowded
    q, v, _ = random_state(model, np.random.default_rng(6))
    a, dq = model.motion(q, v, T), model.position_rates(q, v)
    growth = slope(lambda s: model.energy(q + s * dq, v + s * a), 1e-5)
    assert power(model, q, v, T) == pytest.approx(float(growth), rel=1e-7)


def test_loads_alike_share_their_code_and_not_their_numbers():
    """Also where a number is 0 or 1, which formulas drop."""
    numbers = (0.0, 1.0, -1.0, 2.5, 7.0)
    m = lw.Mechanism("row", gravity=(0, 0, 0))
    for k, x in enumerate(numbers):
        body = m.add(lw.Body(f"body {k}", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
        m.add(lw.Prismatic(f"slide {k}", m.ground, body, axis=(1, 0, 0)))
        m.add(lw.Force(f"force {k}", body, (x, 0, 0)))
        m.add(lw.Motor(f"motor {k}", f"slide {k}", lambda t, q, v, x=x: x * q))
    model = m.compile()
    np.testing.assert_allclose(model.motion(np.full(5, 3.0), np.zeros(5)), 4.0 * np.array(numbers))


def test_a_mechanism_without_freedom_has_loads_too():
    m = lw.Mechanism("statue")
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Fixed("weld", m.ground, body))
    m.add(lw.Force("wind", body, (1, 2, 3)))
    model = m.compile()
    assert model.motion([], []).shape == (0,)
    np.testing.assert_array_equal(model.loads([], [])[1], [[0, 0, 0, 1, 2, 3]])


# laws in arrays, and laws that must be called


ARRAYS: dict[str, Callable[..., Any]] = {
    "a matrix": lambda t, q, v: np.array([[1.0, 2.0], [3.0, 4.0]]) @ q - 0.5 * v,
    "a function": lambda t, q, v: np.sin(q) - np.tanh(v),
    "array times number": lambda t, q, v: v * lw.sin(t),
    "number times array": lambda t, q, v: lw.sin(t) * v,
    "number less array": lambda t, q, v: t - v,
    "number over array": lambda t, q, v: t / (2.0 + q * q),
    "drag": lambda t, q, v: -lw.norm(v) * v,
    "a sum": lambda t, q, v: [np.sum(q), np.dot(q, v)],
    "elements": lambda t, q, v: np.array([q[0], -v[1]]),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("whole", [False, True], ids=["motor", "feedback"])
def test_laws_in_arrays_are_native(name, whole):
    m = lw.Mechanism("tube")
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Cylindrical("tube", m.ground, body))
    law = ARRAYS[name]
    m.add((lw.Feedback if whole else lw.Motor)("law", "tube", law))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(1))
    np.testing.assert_allclose(model.load_values("law", q, v, T), law(T, q, v), rtol=1e-14)
    assert model.driven().loads[0].formula is not None


TABLE = {0: 2.0, 1: -1.0, 2: 0.5}


def branching(t, q, v):
    return -3.0 * q if q > 0 else 5.0 * q


def from_math(t, q, v):
    return math.sin(q) + math.exp(-t)


def looked_up(t, q, v):
    return TABLE[int(t) % 3] * v


def through_arrays(t, q, v):
    return float(np.interp(q, [-1.0, 0.0, 1.0], [0.0, 2.0, 3.0]))


def looping(t, q, v):
    total, n = 0.0, 0
    while n < abs(q) * 10:
        total, n = total + v, n + 1
    return total


def enclosed(scale):
    def law(t, q, v):
        return scale * max(q, v)

    return law


CALLED = [branching, from_math, looked_up, through_arrays, looping, enclosed(4.0)]


@pytest.mark.parametrize("law", CALLED, ids=lambda law: law.__name__)
def test_a_law_that_cannot_be_traced_is_called(law):
    m = pair()
    m.add(lw.Motor("motor", "wrist", law))
    m.add(lw.Motor("native", "shoulder", lambda t, q, v: -2.0 * v))
    model = m.compile()
    rng = np.random.default_rng(0)
    q, v, _ = random_state(model, rng, 11)
    t = rng.uniform(0, 3, 11)
    tau = np.array([[-2.0 * b[0], law(c, a[1], b[1])] for a, b, c in zip(q, v, t, strict=True)])
    expected = np.array([model.forward_dynamics(*one) for one in zip(q, v, tau, strict=True)])
    single = np.array([model.motion(*one) for one in zip(q, v, t, strict=True)])
    assert relative_error(single, expected) < 1e-13
    np.testing.assert_array_equal(model.motion(q, v, t), single)
    np.testing.assert_array_equal(model.load_values("motor", q, v, t)[:, 0], tau[:, 1])
    np.testing.assert_array_equal(model.specialize().motion(q, v, t), single)


def test_what_is_called_adds_to_what_is_native_and_called_before():
    def called(body, t):
        return (1.0, 2.0, 3.0) if t > -1.0 else (0.0, 0.0, 0.0)

    m = pair()
    for k in range(2):
        m.add(lw.Force(f"native force {k}", m["hand"], (4.0, 5.0, 6.0)))
        m.add(lw.Force(f"called force {k}", m["hand"], called))
        m.add(lw.Motor(f"native motor {k}", "wrist", lambda t, q, v: 3.0 * q))
        m.add(lw.Motor(f"called motor {k}", "wrist", branching))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(2), 9)
    tau, rows = model.loads(q, v)
    expected = 6.0 * q[:, 1] + 2 * np.where(q[:, 1] > 0, -3.0, 5.0) * q[:, 1]
    np.testing.assert_allclose(tau, np.column_stack([0 * expected, expected]), rtol=1e-13)
    push = 2 * np.array([5.0, 7.0, 9.0])
    for k in range(9):
        total = tau[k] + model.jacobian(q[k], "hand")[3:].T @ push
        assert relative_error(model.motion(q, v)[k], model.forward_dynamics(q[k], v[k], total)) < 1e-12
    assert rows[0].any()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", ["spring", "force", "three bodies", "bushing"])
def test_a_load_on_bodies_that_is_called_gives_what_its_formula_does(name, space):
    """The same load with an `if` in it."""
    c = case(name, space, "welded")
    load = c.mechanism.loads["load"]

    class Branching(type(load)):
        def act(self, t, *sides):
            return super().act(t, *sides) if t > -1.0 else None

    load.__class__ = Branching
    called = c.mechanism.compile()
    assert relative_error(called.motion(c.q, c.v, T), c.model.motion(c.q, c.v, T)) < 1e-12
    rng = np.random.default_rng(1)
    q, v, _ = random_state(called, rng, 5)
    np.testing.assert_array_equal(called.motion(q, v, T), [called.motion(*s, T) for s in zip(q, v)])


def test_feedback_may_be_called():
    m = pair()
    m.add(lw.Feedback("law", ["wrist", "shoulder"], lambda t, q, v: [q["shoulder"], -1.0] if q[0] > 0 else v))
    model = m.compile()
    for x in (0.3, -0.3):
        q, v = np.array([x, 0.2]), np.array([0.5, 0.7])
        tau = np.array([-1.0, x]) if x > 0 else v[::-1]
        assert_driven(model, q, v, tau)


def test_a_law_that_draws_random_numbers_draws_them_every_time():
    rng = np.random.default_rng(0)
    m = pair()
    m.add(lw.Motor("noise", "wrist", lambda t, q, v: rng.normal()))
    model = m.compile()
    q, v = np.zeros(2), np.zeros(2)
    drawn = [model.load_values("noise", q, v)[0] for _ in range(200)]
    assert len(set(drawn)) == 200
    assert np.std(drawn) == pytest.approx(1.0, abs=0.15)
    assert len({tuple(row) for row in model.motion(np.zeros((16, 2)), v)}) == 16


def test_a_law_that_counts_its_calls_is_called():
    calls = []

    def law(t, q, v):
        calls.append(t)
        return 0.5 * len(calls)

    m = pair()
    m.add(lw.Motor("counter", "wrist", law))
    model = m.compile()
    q, v = np.zeros(2), np.zeros(2)
    first = model.load_values("counter", q, v)[0]
    assert [model.load_values("counter", q, v)[0] for _ in range(3)] == [first + 0.5, first + 1, first + 1.5]


@pytest.mark.parametrize("odds", [0.05, 0.5])
def test_a_law_that_seldom_draws_something_else_is_not_frozen(odds):
    rng = np.random.default_rng(1)
    m = pair()
    m.add(lw.Motor("gust", "wrist", lambda t, q, v: 1.0 if rng.random() < odds else 0.0))
    model = m.compile()
    gusts = [model.load_values("gust", np.zeros(2), np.zeros(2))[0] for _ in range(400)]
    assert np.mean(gusts) == pytest.approx(odds, abs=0.08)
    assert 0.0 < np.mean(gusts) < 1.0


def test_called_laws_work_in_threads():
    m = pair()
    m.add(lw.Motor("motor", "wrist", branching))
    model = m.compile()
    q, v, _ = random_state(model, np.random.default_rng(0), 40)
    expected = model.motion(q, v)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: model.motion(q, v), range(20)):
            np.testing.assert_array_equal(found, expected)


# laws that fail


def raising(t, q, v):
    if t > 0.5:
        raise RuntimeError("the cable broke")
    return 0.0


METHODS: dict[str, Callable[..., Any]] = {
    "motion": lambda model, *state: model.motion(*state),
    "loads": lambda model, *state: model.loads(*state),
    "load_values": lambda model, *state: model.load_values("winch", *state),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("batch", [(), (9,)], ids=["single", "batch"])
def test_a_law_that_raises_is_named_with_its_reason(method, batch):
    m = pair()
    m.add(lw.Motor("winch", "wrist", raising))
    model = m.compile()
    q = np.zeros((*batch, 2))
    METHODS[method](model, q, q, 0.0)
    with pytest.raises(lw.LinkworkError, match=r"load 'winch'.*(RuntimeError|the cable broke)"):
        METHODS[method](model, q, q, T)
    METHODS[method](model, q, q, 0.0)


def test_the_reason_told_is_that_of_this_call():
    m = pair()
    m.add(lw.Motor("winch", "wrist", raising))
    m.add(lw.Motor("brake", "shoulder", lambda t, q, v: 1.0 / (q + 2.0) if q < -1 else 0.0))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match="winch"):
        model.motion(np.zeros(2), np.zeros(2), T)
    with pytest.raises(lw.LinkworkError, match=r"brake.*(ZeroDivisionError|division)"):
        model.motion(np.array([-2.0, 0.0]), np.zeros(2), 0.0)


def test_who_interrupts_a_law_interrupts_the_call():
    def law(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return 0.0

    m = pair()
    m.add(lw.Motor("winch", "wrist", law))
    model = m.compile()
    with pytest.raises(KeyboardInterrupt):
        model.motion(np.zeros(2), np.zeros(2), T)


def test_a_law_of_the_whole_mechanism_that_raises_is_not_passed_over():
    class Balance(lw.Load):
        whole = True

        def act(self, t, system):
            system.push("wrist", raising(t, 0.0, 0.0))

    m = pair()
    m.add(Balance("balance"))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match="balance"):
        model.motion(np.zeros(2), np.zeros(2), T)


@pytest.mark.parametrize(
    "law", [lambda t, q, v: math.nan * q, lambda t, q, v: lw.sqrt(q - 5.0), lambda t, q, v: math.inf]
)
def test_a_law_that_is_not_finite_is_named(law):
    m = pair()
    m.add(lw.Motor("winch", "wrist", law))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match="winch"):
        model.motion(np.ones(2), np.zeros(2))


WRONG = {
    "force": (lambda m: lw.Force("bad", m["arm"], lambda body, t: (1, 2)), "2 numbers where the force has 3"),
    "torque": (lambda m: lw.Torque("bad", m["arm"], lambda body, t: 1.0), "1 numbers where the torque has 3"),
    "wrench": (lambda m: lw.Wrench("bad", m["arm"], lambda body, t: [1.0] * 7), "4 numbers where the force"),
    "motor": (lambda m: lw.Motor("bad", "wrist", lambda t, q, v: [q, v]), "2 numbers where the force has 1"),
    "feedback": (lambda m: lw.Feedback("bad", "wrist", lambda t, q, v: q), "2 numbers where the driven .* 1"),
    "name": (lambda m: lw.Feedback("bad", "wrist", lambda t, q, v: q["rist"]), "unknown joint 'rist'"),
    "arguments": (lambda m: lw.Motor("bad", "wrist", lambda t: 0.0), "TypeError"),
    "error": (lambda m: lw.Motor("bad", "wrist", lambda t, q, v: 1 / 0), "ZeroDivisionError"),
    "text": (lambda m: lw.Motor("bad", "wrist", lambda t, q, v: "much"), "much|TypeError|ValueError"),
    "nothing": (lambda m: lw.Motor("bad", "wrist", lambda t, q, v: None), "NoneType|None"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_law_that_cannot_work_is_told_at_once_and_by_name(wrong):
    make, words = WRONG[wrong]
    m = pair()
    m.add(make(m))
    with pytest.raises(lw.ModelError, match=f"load 'bad'.*({words})"):
        m.compile().motion(np.zeros(2), np.zeros(2))


def test_a_called_law_that_changes_how_many_numbers_it_gives_is_named():
    m = pair()
    m.add(lw.Motor("winch", "wrist", lambda t, q, v: [0.0] if t < 0.5 else [0.0, 1.0]))
    model = m.compile()
    with pytest.raises(lw.LinkworkError, match=r"winch.*2 numbers"):
        model.motion(np.zeros(2), np.zeros(2), T)


def test_states_of_other_shapes_are_refused():
    model = crowd("plane", 2).compile()
    q, v, _ = random_state(model, np.random.default_rng(0), 4)
    for wrong, words in (
        ((q[:, :-1], v, 0.0), r"q has shape \(4, 3\)"),
        ((q[0], v[0, :-1], 0.0), r"v has shape \(3,\)"),
        ((q, v[:3], 0.0), "batches of different sizes"),
        ((q, v, np.zeros((4, 2))), r"t has shape \(4, 2\)"),
        ((q, v, "now"), "t is not an array of real numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            model.motion(*wrong)
    with pytest.raises(ValueError, match=r"t.* is nan"):
        model.motion(q[0], v[0], np.nan)
    with pytest.raises(ValueError, match="load_values: unknown load 'motr'; did you mean 'motor'"):
        model.load_values("motr", q, v)
