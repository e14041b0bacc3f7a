"""Tangents: how the motion changes along a direction, against differences and known linear systems."""

import ctypes
from math import prod
from typing import Any

import numpy as np
import pytest
from mechanisms import SPACES, Knee, kinds, random_frame, random_inertia, random_joint, random_state
from mechanisms import rate as slope

import linkwork as lw
from linkwork.dynamics import equations_of_motion
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.native_program import program
from linkwork.native import store

Array = np.ndarray
T = 0.7


def tangent(model: lw.Model, q: Array, v: Array, t: float, directions: Array) -> tuple[Array, Array]:
    """Return (dq/dt, a, power) and, column by column, how they change along directions of (t, q, v)."""
    tree = model.loaded_tree
    algorithm = equations_of_motion.LOADED if tree.loads else equations_of_motion.ALGORITHM
    lanes = store.lanes()
    p = program(algorithm, tree, lanes, "rolled", tangent=True)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(p.run)
    sizes = [prod(shape) for shape in p.shapes]
    values, changes = ([np.full((size, lanes), 0.25) for size in sizes] for _ in range(2))
    work, dwork = np.zeros((2, p.work_size * lanes))
    pointers = [x.ctypes.data for x in (p.data, work, *values, dwork, *changes)]
    ports = np.array(pointers, np.int64)
    state = np.array([t, *q, *v])
    parts = [slice(0, 1), slice(1, 1 + model.nq), slice(1 + model.nq, None)]
    found = []
    for first in range(0, directions.shape[1], lanes):
        block = directions[:, first : first + lanes]
        for k, part in enumerate(parts):
            values[k][...] = state[part, None]
            changes[k][...] = 0.0
            changes[k][:, : block.shape[1]] = block[part]
        run(p.plan.ctypes.data, ports.ctypes.data)
        found.append(np.vstack(changes[p.inputs :])[:, : block.shape[1]])
    return np.vstack(values[p.inputs :])[:, 0], np.hstack(found)


def outputs(model: lw.Model, state: Array) -> Array:
    """Return (dq/dt, a, power) at (t, q, v)."""
    tree = model.loaded_tree
    kernel = Kernel(
        equations_of_motion.LOADED if tree.loads else equations_of_motion.ALGORITHM, tree, "rolled"
    )
    nothing = [np.zeros(shape) for shape in kernel.shapes[3 : kernel.inputs]]
    t, q, v = state[0], state[1 : 1 + model.nq], state[1 + model.nq :]
    return np.concatenate([np.ravel(x) for x in kernel(t, q, v, *nothing)])


def assert_tangent(model: lw.Model, seed: int, step: float = 1e-4) -> None:
    """Assert that all columns, and some oblique direction, are what differences give."""
    rng = np.random.default_rng(seed)
    q, v, _ = random_state(model, rng)
    state = np.array([T, *q, *v])
    directions = np.column_stack([np.eye(len(state)), rng.normal(size=len(state))])
    value, found = tangent(model, q, v, T, directions)
    at_hand = outputs(model, state)
    np.testing.assert_allclose(value, at_hand, rtol=1e-11, atol=1e-11 * np.abs(at_hand).max())
    for column, direction in zip(found.T, directions.T, strict=True):
        expected = slope(lambda s, d=direction: outputs(model, state + s * d), step)
        scale = np.abs(expected).max() + 1e-3 * np.abs(at_hand).max()
        np.testing.assert_allclose(column, expected, rtol=0, atol=1e-6 * scale)


def rig(joint: lw.Joint, rng: np.random.Generator) -> None:
    """Give a joint all that joints can do."""
    joint.damping, joint.friction, joint.friction_speed = 0.4, 0.7, 0.8
    joint.stiffness, joint.rest = rng.uniform(0.5, 2.0, (2, joint.nv))
    joint.limits = (-0.4, 0.4)
    joint.stop = (lw.Stop(20.0, 1.0), lw.ExponentialStop(0.5, 2.0, 0.1))[rng.integers(2)]


def pair_on(kind: Any, space: str, reverse: bool, rng: np.random.Generator) -> lw.Mechanism:
    """Return two bodies, the first on this joint, rigged, the second hinged to it."""
    m = lw.Mechanism("pair", space=space)
    a, b = (m.add(lw.Body(name, random_inertia(rng, space))) for name in "ab")
    ends = (a, m.ground) if reverse else (m.ground, a)
    rig(m.add(random_joint(kind, "joint", *ends, rng, space)), rng)
    m.add(lw.Revolute("hinge", a, b))
    return m


KINDS = [(kind, space) for space in SPACES for kind in kinds(space) if kind is not lw.Fixed]


@pytest.mark.parametrize(
    ("kind", "space"), [*KINDS, (Knee, "space")], ids=lambda x: getattr(x, "__name__", x)
)
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
def test_every_joint_with_all_its_forces(kind, space, reverse):
    for seed in range(2):
        m = pair_on(kind, space, reverse, np.random.default_rng(seed))
        assert_tangent(m.compile(), seed)


class Winch(lw.Load):
    """Pulls two bodies to a place, by the time, their spin and a joint."""

    def act(self, t, a, b, joint):
        place = a.to_world([0.1] * len(a.position))
        a.push((b.position - place) * (1 + lw.sin(t)), [0.1] * len(a.position))
        b.twist(a.angular_velocity * joint.q[0])
        joint.push([lw.tanh(x) * t for x in joint.v])
        return t


def loads(m: lw.Mechanism, rng: np.random.Generator) -> dict[str, lw.Load]:
    """Return one load of each kind, between a body on a joint and one on it."""
    a, b, size = m["a"], m["b"], m.gravity.size
    pa, pb = rng.normal(size=(2, size))
    frames = {"on_parent": random_frame(rng, m.space), "on_child": random_frame(rng, m.space)}
    soft = {"stiffness": 3.0, "damping": 0.2, "torsion_stiffness": 4.0, "torsion_damping": 0.3}
    ends = {"on_parent": pa, "on_child": pb}
    joint = m.joints["joint"]
    cubic = {"stiffness": lambda d: 50 * d + 10 * abs(d) * d, "damping": lambda r: r * lw.exp(-r * r)}
    turning = size if size == 3 else 1
    return {
        "spring": lw.Spring("load", a, b, **ends, stiffness=5.0, damping=0.4, rest=0.2),
        "curved spring": lw.Spring("load", m.ground, b, **ends, **cubic, rest=0.2),
        "bushing": lw.Bushing("load", a, b, **frames, **soft),
        "bushing to ground": lw.Bushing("load", m.ground, b, **frames, **soft),
        "force": lw.Force("load", b, lambda body, t: body.velocity * -lw.cos(3 * t), at=pa, frame="body"),
        "torque": lw.Torque("load", b, lambda body, t: body.angular_velocity * t),
        "wrench": lw.Wrench("load", a, lambda body, t: [t * t] * (turning + size), at=pa),
        "motor": lw.Motor("load", joint, lambda t, q, v: v * lw.sin(t)),
        "torsion spring": lw.TorsionSpring("load", "hinge", stiffness=lambda x: x**3, damping=0.3),
        "feedback": lw.Feedback("load", "hinge", lambda t, q, v: q[0] * v[-1] + lw.cos(q["hinge"]) * t),
        "three sides": Winch("load", a, b, joint),
    }


LOADS = list(loads(pair_on(lw.Revolute, "space", False, np.random.default_rng(0)), np.random.default_rng(0)))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", LOADS)
def test_every_load(name, space):
    for seed, kind in enumerate((lw.Free, lw.Prismatic)):
        rng = np.random.default_rng(seed)
        m = pair_on(kind, space, bool(seed), rng)
        m.add(loads(m, rng)[name])
        assert_tangent(m.compile(), seed)


@pytest.mark.parametrize("space", SPACES)
def test_all_loads_at_once(space):
    """More directions than lanes, several loads of one code, bodies welded together and to ground."""
    rng = np.random.default_rng(4)
    m = pair_on(lw.Free, space, True, rng)
    hook, mast = (m.add(lw.Body(name, random_inertia(rng, space))) for name in ("hook", "mast"))
    m.add(lw.Fixed("weld", m["b"], hook))
    m.add(lw.Fixed("foot", mast, m.ground))
    for k in range(2):
        for name, load in loads(m, rng).items():
            load._name = f"{name} {k}"
            m.add(load)
    m.add(lw.Spring("stay", mast, hook, stiffness=3.0, rest=0.1))
    assert_tangent(m.compile(), 4)


def test_a_linear_system_has_its_matrix_for_a_tangent():
    """Two masses, three springs, two dampers: dv/dt = -M^-1 (K x + C v), exactly."""
    m = lw.Mechanism("masses", gravity=(0, 0, 0))
    k, c, mass = (3.0, 5.0, 7.0), (0.5, 0.25), (2.0, 4.0)
    last = m.ground
    for n in range(2):
        body = m.add(
            lw.Body(f"body {n}", lw.Inertia(mass[n], (0, 0, 0), np.eye(3)), position=(1.0 + n, 0, 0))
        )
        m.add(lw.Prismatic(f"slide {n}", m.ground, body, axis=(1, 0, 0)))
        m.add(lw.Spring(f"spring {n}", last, body, stiffness=k[n], damping=c[n]))
        last = body
    m.add(lw.Spring("last", last, m.ground, on_child=(3, 0, 0), stiffness=k[2]))
    m.add(lw.Motor("motor", "slide 0", lambda t, q, v: 6.0 * t))
    K = np.array([[k[0] + k[1], -k[1]], [-k[1], k[1] + k[2]]])
    C = np.array([[c[0] + c[1], -c[1]], [-c[1], c[1]]])
    _, found = tangent(m.compile(), np.array([0.1, 0.2]), np.zeros(2), T, np.eye(5))
    H = np.diag(mass)
    expected = np.linalg.solve(H, np.column_stack([[6.0, 0.0], -K, -C]))
    np.testing.assert_allclose(found[2:4], expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[:2], np.eye(2, 5, 3), rtol=0, atol=1e-15)


@pytest.mark.parametrize("x", [-0.3, 0.0, 0.3])
def test_a_stop_is_stiff_on_its_side_only(x):
    m = lw.Mechanism("buffer", gravity=(0, 0, 0))
    body = m.add(lw.Body("body", lw.Inertia(2.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Prismatic("rail", m.ground, body, limits=(None, 0.1), stop=lw.Stop(50.0, 3.0)))
    _, found = tangent(m.compile(), np.array([x]), np.array([0.2]), T, np.eye(3))
    expected = [0.0, -25.0, -1.5] if x > 0.1 else [0.0, 0.0, 0.0]
    np.testing.assert_allclose(found[1], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("space", SPACES)
def test_a_spring_between_points_that_meet_has_a_tangent(space):
    size = 3 if space == "space" else 2
    m = lw.Mechanism("meeting", space=space, gravity=np.zeros(size))
    inertia = lw.Inertia(2.0, np.zeros(size), np.eye(3) if size == 3 else 1.0)
    body = m.add(lw.Body("body", inertia))
    m.add(lw.Prismatic("rail", m.ground, body))
    m.add(lw.Spring("spring", m.ground, body, stiffness=5.0, rest=0.0))
    value, found = tangent(m.compile(), np.zeros(1), np.zeros(1), T, np.eye(3))
    np.testing.assert_array_equal(value, np.zeros(3))
    np.testing.assert_allclose(found[1], [0.0, -5.0 / 2.0, 0.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", [lw.Spherical, lw.Free])
def test_the_spring_of_a_ball_has_a_tangent_as_drawn(kind):
    """There tau = -k turn, and the turn is twice the vector part of the quaternion."""
    m = lw.Mechanism("ball", gravity=(0, 0, 0))
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.diag([1.0, 2.0, 2.5]))))
    m.add(kind("ball", m.ground, body, stiffness=6.0))
    model = m.compile()
    columns = np.eye(1 + model.nq + model.nv)[:, model.nq - 2 : model.nq + 1]  # of the vector part
    _, found = tangent(model, model.q_drawn, np.zeros(model.nv), T, columns)
    expected = -12.0 * np.diag([1.0, 1 / 2.0, 1 / 2.5])
    np.testing.assert_allclose(found[model.nq : model.nq + 3], expected, rtol=0, atol=1e-13)


def test_a_law_that_is_called_counts_as_constant():
    """Its value is in the motion; how it changes is not known."""
    m = lw.Mechanism("slide", gravity=(0, 0, 0))
    body = m.add(lw.Body("body", lw.Inertia(2.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Prismatic("rail", m.ground, body, damping=0.8))
    m.add(lw.Motor("motor", "rail", lambda t, q, v: -4.0 * q if q > 0 else 0.0))
    value, found = tangent(m.compile(), np.array([0.5]), np.array([1.0]), T, np.eye(3))
    np.testing.assert_allclose(value[1], (-2.0 - 0.8) / 2, rtol=1e-15)
    np.testing.assert_allclose(found[1], [0.0, 0.0, -0.4], rtol=0, atol=1e-15)
