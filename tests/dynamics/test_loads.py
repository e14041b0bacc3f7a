"""Loads against plain physics: each push by hand, in world axes, through the Jacobian of its point."""

from typing import Any, get_args

import numpy as np
import pytest
from mechanisms import ALGEBRA, SPACES, kinds, random_frame, random_inertia, random_state
from mechanisms import rate as slope
from naive import relative_error
from naive_loads import (
    LOADS,
    PAIRS,
    Physics,
    T,
    assert_driven,
    case,
    crowd,
    energies,
    generalised,
    machine,
    on_bodies,
    pair,
    seen,
)

import linkwork as lw
from linkwork.dynamics import equations_of_motion
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.native_program import Form
from linkwork.model.own_forces import motion_algorithm, motion_kernel

Array = np.ndarray


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
    for where in ("welded", "on a mast"):
        c = case(name, space, where)
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
    tree = model.loaded_tree
    kernel = Kernel(equations_of_motion.LOADED if tree.loads else equations_of_motion.ALGORITHM, tree, form)
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


@pytest.fixture(scope="module", params=SPACES)
def crowded(request):
    model = crowd(request.param).compile()
    return model, model.specialize()


def test_all_forms_agree(crowded):
    model, special = crowded
    rng = np.random.default_rng(0)
    for t in (0.0, T):
        q, v, _ = random_state(model, rng)
        assert relative_error(special.motion(q, v, t), model.motion(q, v, t)) < 1e-12
        rolled, *others = (power(model, q, v, t, form) for form in get_args(Form))
        assert others == pytest.approx([rolled, rolled], rel=1e-12)


@pytest.mark.parametrize("law", [lambda s: 1.0 / s, lambda s: lw.log(s), lambda s: lw.exp(1e3 / s)])
def test_a_law_that_guards_itself_may_meet_a_constant(law):
    """A body on a slider never turns: code for the whole mechanism knows that its speed is 0."""

    class Brake(lw.Load):
        def act(self, t: Any, body: Any) -> Any:
            speed = lw.norm(body.angular_velocity)
            torque = lw.where(speed > 1e-9, law(speed), 2.0)
            body.push((torque, 0, 0))
            return torque

    m = lw.Mechanism("slider", gravity=(0, 0, 0))
    block = m.add(lw.Body("block", lw.Box(0.1, 0.1, 0.1), mass=4.0))
    m.add(lw.Prismatic("slide", m.ground, block, axis=(1, 0, 0)))
    m.add(Brake("brake", block))
    model = m.compile()
    for one in (model, model.specialize()):
        assert one.motion(np.zeros(1), np.ones(1)) == pytest.approx([0.5])
        assert lw.simulate(one, 1.0).q[-1] == pytest.approx([0.25])


def test_much_is_rolled():
    def form(springs: int) -> str:
        m = lw.Mechanism("plate")
        plate = m.add(lw.Body("plate", lw.Box(1, 1, 0.1), mass=1.0))
        m.add(lw.Free("free", m.ground, plate))
        for k in range(springs):
            m.add(lw.Spring(f"spring {k}", m.ground, plate, on_parent=(0, k, 1), stiffness=10))
        model = m.compile()
        return motion_kernel(model, motion_algorithm(model)).form

    assert [form(springs) for springs in (1, 4, 100)] == ["unrolled", "unrolled", "rolled"]


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
