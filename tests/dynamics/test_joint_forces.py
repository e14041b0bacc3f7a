"""What joints do by themselves: damping, friction, springs and stops, of every joint, either way round."""

from typing import Any, get_args

import numpy as np
import pytest
from mechanisms import (
    JointClass,
    Knee,
    kinds,
    random_axis,
    random_inertia,
    random_state,
    random_tree,
    rate,
    rates,
)
from naive import relative_error
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.dynamics import equations_of_motion
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.native_program import Form

Array = np.ndarray
KINDS = [(kind, space) for space in ("space", "plane") for kind in kinds(space) if kind is not lw.Fixed]
every_joint = pytest.mark.parametrize(("kind", "space"), KINDS, ids=lambda x: getattr(x, "__name__", x))
both_ways = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])


def loaded(
    kind: JointClass, space: str = "space", reverse: bool = False, **options: Any
) -> tuple[lw.Mechanism, lw.Model]:
    """Return a mechanism of three bodies, the joint in question between the first and the second."""
    rng = np.random.default_rng(3)
    m = lw.Mechanism("three", space=space)
    bodies = [m.add(lw.Body(name, random_inertia(rng, space))) for name in "abc"]
    m.add(lw.Revolute("base", m.ground, bodies[0]))
    ends = (bodies[1], bodies[0]) if reverse else (bodies[0], bodies[1])
    if kind is lw.Helical:
        options["pitch"] = 0.7
    if kind.directed and kind is not lw.Universal and (space == "space" or kind is lw.Prismatic):
        options["axis"] = random_axis(rng, space)
    m.add(kind("joint", *ends, **options))
    m.add(lw.Prismatic("tip", bodies[2], bodies[1]))
    return m, m.compile()


def applied(model: lw.Model, q: Array, v: Array) -> Array:
    """Return the generalised forces that the motion needs beyond gravity and inertia."""
    return model.inverse_dynamics(q, v, model.motion(q, v))


def own(model: lw.Model, values: Any) -> Array:
    """Return generalised forces that act in the joint in question alone."""
    tau = np.zeros(model.nv)
    tau[model.slices["joint"][1]] = values
    return tau


def displacement(joint: lw.Joint, q: Array) -> Array:
    """Return how far a joint of the catalogue has moved, by hand."""
    if isinstance(joint, lw.Spherical):
        return Rotation.from_quat(np.roll(q, -1)).as_rotvec()
    if isinstance(joint, lw.Free) and joint.space == "space":
        return np.concatenate([Rotation.from_quat(np.roll(q[3:], -1)).as_rotvec(), q[:3]])
    return q[[2, 0, 1]] if isinstance(joint, lw.Free) else q


def jacobian(m: lw.Mechanism, model: lw.Model, q: Array) -> Array:
    """Return the rates of the displacement of the joint in question per unit of its velocities."""
    joint, (own_q, own_v) = m.joints["joint"], model.slices["joint"]
    columns = []
    for unit in np.eye(model.nv)[own_v]:
        dq = rates(m, model, q, unit)
        columns.append(rate(lambda s, dq=dq: displacement(joint, (q + s * dq)[own_q]), 1e-3))
    return np.column_stack(columns)


# damping and friction


@every_joint
@both_ways
def test_damping_and_friction_are_of_the_velocities(kind, space, reverse):
    nv = loaded(kind, space)[0].joints["joint"].nv
    c, mu, slow = np.random.default_rng(1).uniform(0.1, 2, (3, nv))
    _, model = loaded(kind, space, reverse, damping=c, friction=mu, friction_speed=slow)
    q, v, _ = random_state(model, np.random.default_rng(2))
    speed = v[model.slices["joint"][1]]
    expected = own(model, -c * speed - mu * np.tanh(speed / slow))
    np.testing.assert_allclose(applied(model, q, v), expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.loads(q, v)[0], expected, rtol=1e-13, atol=1e-15)


def test_friction_is_full_beyond_its_speed_and_smooth_below():
    _, model = loaded(lw.Revolute, friction=3.0)
    q = np.zeros(3)
    speeds = np.array([-5.0, -1e-2, -1e-3, 0.0, 1e-5, 1e-3, 5.0])
    v = np.zeros((len(speeds), 3))
    v[:, 1] = speeds
    found = model.loads(np.tile(q, (len(speeds), 1)), v)[0][:, 1]
    np.testing.assert_allclose(found, -3.0 * np.tanh(speeds / 1e-3), rtol=1e-13)
    assert abs(found[-1] + 3.0) < 1e-15
    assert abs(found[5]) == pytest.approx(0.76 * 3.0, rel=0.01)  # three quarters


def test_one_number_serves_all_coordinates():
    _, model = loaded(lw.Planar, damping=2.0, stiffness=3.0, rest=0.1)
    q, v, _ = random_state(model, np.random.default_rng(2))
    x, w = (array[part] for array, part in zip((q, v), model.slices["joint"], strict=True))
    np.testing.assert_allclose(model.loads(q, v)[0], own(model, -2.0 * w - 3.0 * (x - 0.1)), rtol=1e-13)


# springs


@every_joint
@both_ways
def test_springs_pull_to_where_they_rest(kind, space, reverse):
    nv = loaded(kind, space)[0].joints["joint"].nv
    k, rest = np.random.default_rng(1).uniform(0.5, 3, (2, nv))
    m, model = loaded(kind, space, reverse, stiffness=k, rest=rest)
    for seed in range(3):
        q, v, _ = random_state(model, np.random.default_rng(seed))
        d = displacement(m.joints["joint"], q[model.slices["joint"][0]])
        expected = own(model, jacobian(m, model, q).T @ (-k * (d - rest)))
        np.testing.assert_allclose(applied(model, q, v), expected, rtol=0, atol=1e-9)


@every_joint
@both_ways
def test_springs_give_back_what_they_have_stored(kind, space, reverse):
    nv = loaded(kind, space)[0].joints["joint"].nv
    k, rest = np.random.default_rng(1).uniform(0.5, 3, (2, nv))
    m, model = loaded(kind, space, reverse, stiffness=k, rest=rest)
    q, v, _ = random_state(model, np.random.default_rng(5))
    dq, part = model.position_rates(q, v), model.slices["joint"][0]

    def energy(s: float) -> float:
        return 0.5 * k @ (displacement(m.joints["joint"], (q + s * dq)[part]) - rest) ** 2

    assert model.loads(q, v)[0] @ v == pytest.approx(-float(rate(energy, 1e-3)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", [lw.Spherical, lw.Free])
def test_the_spring_of_a_ball_as_drawn_is_that_of_small_angles(kind):
    """There axis times angle grows like the angular velocity: also at zero, and next to it."""
    k = np.array([1.0, 2.0, 3.0])
    stiffness = [*k, 0, 0, 0] if kind is lw.Free else k
    _, model = loaded(kind, stiffness=stiffness, rest=0.0)
    part, turn = model.slices["joint"][1], model.slices["joint"][0].stop
    for angle in (0.0, 1e-12, 1e-9, 1e-7):
        q = model.q_drawn.copy()
        q[turn - 3 : turn] = 0.5 * angle * np.array([1.0, -1.0, 2.0])
        tau = model.loads(q, np.zeros(model.nv))[0][part][:3]
        np.testing.assert_allclose(tau, -k * angle * np.array([1.0, -1.0, 2.0]), rtol=3 * angle + 1e-13)
    _, model = loaded(kind, stiffness=stiffness, rest=0.2)
    tau = model.loads(model.q_drawn, np.zeros(model.nv))[0][part][:3]
    np.testing.assert_allclose(tau, 0.2 * k, rtol=1e-14)


@pytest.mark.parametrize("kind", [lw.Spherical, lw.Free])
def test_the_spring_of_a_ball_sees_the_turn_and_not_the_quaternion(kind):
    _, model = loaded(kind, stiffness=2.0, rest=0.3, limits=(-0.4, 0.4))
    q, v, _ = random_state(model, np.random.default_rng(1))
    turn = model.slices["joint"][0].stop
    expected = model.loads(q, v)[0]
    for factor in (-1.0, 2.5):
        other = q.copy()
        other[turn - 4 : turn] *= factor
        assert relative_error(model.loads(other, v)[0], expected) < 1e-12


def test_the_spring_of_a_ball_about_one_axis_is_that_of_a_hinge():
    _, ball = loaded(lw.Spherical, stiffness=2.0, rest=(0.0, 0.0, 0.3))
    for angle in np.linspace(-3.0, 3.0, 7):
        q = np.array([0.0, np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2), 0.0])
        tau = ball.loads(q, np.zeros(5))[0]
        np.testing.assert_allclose(tau, [0, 0, 0, -2.0 * (angle - 0.3), 0], rtol=0, atol=1e-14)


# stops


def stop_force(x: float, speed: float, lower: float, upper: float, k: float, c: float) -> float:
    """Return the force of a linear stop, by hand; its damping sets in over 0.1 millirad or mm."""
    if lower <= x <= upper:
        return 0.0
    depth, outward = (lower - x, -1.0) if x < lower else (x - upper, 1.0)
    return -outward * max(k * depth + c * outward * speed * min(depth / 1e-4, 1.0), 0.0)


def tendons(x: float, speed: float, lower: float, upper: float, f: float, s: float, c: float) -> float:
    """Return the force of an exponential stop, by hand."""
    return f * (np.exp(s * (lower - x)) - np.exp(s * (x - upper))) - c * speed


STOPS = {
    "linear": (lw.Stop(50.0, 4.0), lambda *state: stop_force(*state, 50.0, 4.0)),
    "spring only": (lw.Stop(stiffness=50.0, damping=0.0), lambda *state: stop_force(*state, 50.0, 0.0)),
    "exponential": (lw.ExponentialStop(2.0, 3.0, 0.5), lambda *state: tendons(*state, 2.0, 3.0, 0.5)),
}


@every_joint
@both_ways
@pytest.mark.parametrize("stop", STOPS)
def test_stops_push_back_from_the_limits(kind, space, reverse, stop):
    """Some coordinates below, some above, some between; with speeds along the displacement."""
    made, law = STOPS[stop]
    rng = np.random.default_rng(4)
    nv = loaded(kind, space)[0].joints["joint"].nv
    limits = np.sort(rng.uniform(-0.6, 0.6, (nv, 2)), axis=1)
    m, model = loaded(kind, space, reverse, limits=limits, stop=made)
    part_q, part_v = model.slices["joint"]
    touched = 0
    for seed in range(8):
        q, v, _ = random_state(model, np.random.default_rng(seed))
        J, d = jacobian(m, model, q), displacement(m.joints["joint"], q[part_q])
        along = [law(*state) for state in zip(d, J @ v[part_v], *limits.T, strict=True)]
        touched += np.any(along)
        np.testing.assert_allclose(applied(model, q, v), own(model, J.T @ along), rtol=0, atol=1e-8)
    assert touched >= 3


def test_a_stop_never_pulls_back():
    """A coordinate that leaves its limit fast is not held by the damper."""
    _, model = loaded(lw.Prismatic, limits=(-1.0, 1.0), stop=lw.Stop(100.0, 10.0))

    def force(x: float, speed: float) -> float:
        return float(model.loads([0.0, x, 0.0], [0.0, speed, 0.0])[0][1])

    assert force(1.1, 0.0) == pytest.approx(-10.0)
    assert force(1.1, -0.5) == pytest.approx(-5.0)
    assert force(1.1, -1.5) == 0.0
    assert force(-1.1, 1.5) == 0.0
    assert force(-1.1, -1.5) == pytest.approx(25.0)
    assert force(1.0, 5.0) == 0.0
    assert force(0.999, 50.0) == 0.0


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("limits", [(None, 0.2), (-0.3, None), (-np.inf, 0.2), (0.1, 0.1)], ids=str)
def test_limits_may_be_one_sided(stop, limits):
    made, law = STOPS[stop]
    _, model = loaded(lw.Revolute, limits=limits, stop=made)
    lower, upper = (-np.inf if limits[0] is None else limits[0], np.inf if limits[1] is None else limits[1])
    for x in (-1.0, -0.31, 0.0, 0.1, 0.21, 1.0):
        for speed in (-2.0, 0.0, 2.0):
            found = model.loads([0.0, x, 0.0], [0.0, speed, 0.0])[0][1]
            assert found == pytest.approx(law(x, speed, lower, upper), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("stop", STOPS)
def test_only_coordinates_with_limits_have_stops(stop):
    made, law = STOPS[stop]
    _, model = loaded(lw.Cylindrical, limits=[(None, None), (-0.1, 0.1)], stop=made)
    found = model.loads([0.0, 9.0, 1.1, 0.0], [0.0, 3.0, 0.5, 0.0])[0]
    np.testing.assert_allclose(found, [0.0, 0.0, law(1.1, 0.5, -0.1, 0.1), 0.0], rtol=1e-13)


@every_joint
@both_ways
def test_a_stop_that_is_not_told_otherwise_yields_by_the_inertia_that_moves(kind, space, reverse):
    """200 rad/s and half of the critical damping, on what the joint carries as drawn, its armature too."""
    m, model = loaded(kind, space, reverse, limits=(-0.2, 0.2), armature=0.3)
    part_q, part_v = model.slices["joint"]
    I = np.diag(model.mass_matrix(model.q_drawn))[part_v]
    touched = 0
    for seed in range(6):
        q, v, _ = random_state(model, np.random.default_rng(seed))
        J, d = jacobian(m, model, q), displacement(m.joints["joint"], q[part_q])
        numbers = zip(d, J @ v[part_v], 200.0**2 * I, 200.0 * I, strict=True)
        along = [stop_force(x, speed, -0.2, 0.2, k, c) for x, speed, k, c in numbers]
        touched += np.any(along)
        assert relative_error(model.loads(q, v)[0], own(model, J.T @ along)) < 1e-8
    assert touched


def test_a_stop_that_is_half_told_follows_from_that_half():
    I = loaded(lw.Revolute)[1].mass_matrix(np.zeros(3))[1, 1]
    state = [0.0, 0.3, 0.0], [0.0, 0.1, 0.0]
    stops = {
        lw.Stop(stiffness=80.0): (80.0, np.sqrt(80.0 * I)),
        lw.Stop(damping=7.0): (200.0**2 * I, 7.0),
    }
    for stop, (k, c) in stops.items():
        _, model = loaded(lw.Revolute, limits=(-0.2, 0.2), stop=stop)
        assert model.loads(*state)[0][1] == pytest.approx(-(k * 0.1 + c * 0.1), rel=1e-12)
    exponential = {
        lw.ExponentialStop(): (200.0**2 * I * 0.02, 50.0, 0.0),
        lw.ExponentialStop(sharpness=10.0): (200.0**2 * I / 10.0, 10.0, 0.0),
        lw.ExponentialStop(force_at_limit=3.0, damping=2.0): (3.0, 50.0, 2.0),
    }
    for stop, numbers in exponential.items():
        _, model = loaded(lw.Revolute, limits=(-0.2, 0.2), stop=stop)
        expected = tendons(0.3, 0.1, -0.2, 0.2, *numbers)
        assert model.loads(*state)[0][1] == pytest.approx(expected, rel=1e-12)


def test_a_stop_meets_a_body_as_it_says():
    """Met with 1 m/s it yields 5 mm, less what the damper takes: the oscillator of 200 rad/s, zeta 1/2."""
    m = lw.Mechanism("buffer", gravity=(0, 0, 0))
    body = m.add(lw.Body("body", lw.Inertia(7.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Prismatic("rail", m.ground, body, limits=(None, 0.0)))
    model = m.compile()
    x, v, h, deepest = 1e-12, 1.0, 2e-6, 0.0
    for _ in range(4_000):
        v += h * model.motion([x], [v])[0]
        x += h * v
        deepest = max(deepest, x)
    depth = 1 / 200.0 * np.exp(-0.5 / np.sqrt(0.75) * np.arctan2(np.sqrt(0.75), 0.5))
    assert deepest == pytest.approx(depth, rel=0.02)  # the damping sets in over the first 0.1 mm


def test_a_stop_of_ones_own():
    class Wall(lw.Stop):
        @staticmethod
        def force(x, rate, lower, upper, numbers):
            return lw.where(x > upper, -numbers[0] * (x - upper) ** 2, 0.0)

    _, model = loaded(lw.Prismatic, limits=(-1.0, 0.5), stop=Wall(8.0))
    np.testing.assert_allclose(model.loads([0, 0.7, 0], np.zeros(3))[0], [0, -8.0 * 0.2**2, 0], rtol=1e-12)
    assert not model.loads([0, 0.4, 0], np.zeros(3))[0].any()


# users' joints


class Rocker(lw.Joint):
    """A wheel that rolls; springs and limits act on the way it has gone."""

    def motion(self, q):
        return lw.translation(0.5 * lw.sin(q[0]), 0, 0) @ lw.rotation_y(q[0])

    def displacement(self, q):
        return [0.5 * lw.sin(q[0]) + q[0] ** 3]


class Compass(lw.Joint):
    """A hinge that keeps its angle as a direction (cosine, sine)."""

    positions = 2

    def motion(self, q):
        return lw.rotation_z(lw.atan2(q[1], q[0]))

    def rates(self, q, v):
        return [-q[1] * v[0], q[0] * v[0]]

    def neutral(self):
        return [1.0, 0.0]

    def displacement(self, q):
        return [lw.atan2(q[1], q[0])]


@both_ways
def test_springs_and_stops_of_a_users_joint_act_along_its_displacement(reverse):
    stop = lw.Stop(30.0, 2.0)
    _, model = loaded(Rocker, reverse=reverse, stiffness=3.0, rest=0.2, limits=(-0.5, 0.5), stop=stop)
    for x, w in ((0.1, 1.0), (0.9, 0.5), (-1.2, 0.3), (0.9, -4.0)):
        d, J = 0.5 * np.sin(x) + x**3, 0.5 * np.cos(x) + 3 * x**2
        expected = J * (-3.0 * (d - 0.2) + stop_force(d, J * w, -0.5, 0.5, 30.0, 2.0))
        q, v = np.array([0.3, x, 0.1]), np.array([0.2, w, 0.4])
        np.testing.assert_allclose(applied(model, q, v), own(model, expected), rtol=0, atol=1e-10)


@both_ways
def test_a_users_joint_may_count_positions_its_own_way(reverse):
    _, mine = loaded(Compass, reverse=reverse, stiffness=3.0, rest=0.2, limits=(-0.5, 0.5), damping=0.1)
    _, hinge = loaded(lw.Revolute, reverse=reverse, stiffness=3.0, rest=0.2, limits=(-0.5, 0.5), damping=0.1)
    for x in (-0.7, 0.3, 2.0):
        v = np.array([0.2, 0.5, -0.3])
        q = np.array([0.3, np.cos(x), np.sin(x), 0.1])
        found = mine.loads(q, v)[0]
        np.testing.assert_allclose(found, hinge.loads([0.3, x, 0.1], v)[0], rtol=1e-12)


def test_a_knee_has_springs_and_stops_by_its_angle():
    _, model = loaded(Knee, stiffness=3.0, rest=0.2, limits=(0.0, 1.0), stop=lw.Stop(10.0, 0.0))
    found = model.loads([0.0, 1.5, 0.0], np.zeros(3))[0]
    np.testing.assert_allclose(found, [0, -3.0 * 1.3 - 10.0 * 0.5, 0], rtol=1e-13)


@pytest.mark.parametrize("fault", ["count", "branch"])
def test_a_displacement_that_cannot_be_used_is_told_by_name(fault):
    class Wrong(Rocker):
        def displacement(self, q):
            return [q[0], q[0]] if fault == "count" else [q[0] if q[0] > 0 else 0.0]

    with pytest.raises(lw.LinkworkError, match="'joint'"):
        loaded(Wrong, stiffness=1.0)[1].motion(np.zeros(3), np.zeros(3))


# all together


def rigged(seed: int, space: str) -> lw.Mechanism:
    """Return a random tree with all that joints can do."""
    m = random_tree(seed, space, n=4)
    rng = np.random.default_rng(seed)
    for joint in (joint for joint in m.joints.values() if joint.nv):
        for word in ("damping", "friction", "stiffness", "rest"):
            if rng.random() < 0.7:
                setattr(joint, word, rng.uniform(0.1, 2.0, joint.nv))
        if rng.random() < 0.7:
            joint.limits = np.sort(rng.uniform(-0.7, 0.7, (joint.nv, 2)), axis=1).tolist()
            joint.stop = (lw.Stop(), lw.Stop(20.0, 1.0), lw.ExponentialStop(1.0, 4.0))[rng.integers(3)]
        joint.friction_speed = 0.1
    return m


@pytest.mark.parametrize("space", ["space", "plane"])
def test_forms_and_lanes_agree(space):
    for seed in range(3):
        model = rigged(seed, space).compile()
        special = model.specialize()
        q, v, _ = random_state(model, np.random.default_rng(seed), 11)
        found = model.motion(q, v)
        np.testing.assert_array_equal(found, [model.motion(*one) for one in zip(q, v, strict=True)])
        assert relative_error(special.motion(q, v), found) < 1e-11
        np.testing.assert_array_equal(special.motion(q, v)[3], special.motion(q[3], v[3]))
        tau = model.loads(q, v)[0]
        assert relative_error(special.loads(q, v)[0], tau) < 1e-12
        assert relative_error(model.forward_dynamics(q, v, tau), found) < 1e-10


@pytest.mark.parametrize("space", ["space", "plane"])
@pytest.mark.parametrize("form", get_args(Form))
def test_the_power_is_that_of_the_joints_forces(space, form):
    for seed in range(3):
        model = rigged(seed, space).compile()
        q, v, _ = random_state(model, np.random.default_rng(seed))
        kernel = Kernel(equations_of_motion.ALGORITHM, model.loaded_tree, form)
        nothing = [np.zeros(shape) for shape in kernel.shapes[3 : kernel.inputs]]
        qdot, a, power = kernel(0.0, q, v, *nothing)
        assert float(power) == pytest.approx(model.loads(q, v)[0] @ v, rel=1e-12)
        np.testing.assert_allclose(qdot, model.position_rates(q, v), rtol=0, atol=1e-15)
        growth = rate(lambda s, q=q, v=v, a=a, dq=qdot, m=model: m.energy(q + s * dq, v + s * a), 1e-6)
        assert float(power) == pytest.approx(float(growth), rel=1e-5)


def test_joints_that_do_nothing_leave_the_rigid_answer():
    for space in ("space", "plane"):
        model = random_tree(5, space).compile()
        q, v, _ = random_state(model, np.random.default_rng(5))
        still = np.zeros(model.nv)
        assert relative_error(model.motion(q, v), model.forward_dynamics(q, v, still)) < 1e-12
        np.testing.assert_array_equal(model.loads(q, v)[0], still)
