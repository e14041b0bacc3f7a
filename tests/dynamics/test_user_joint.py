"""Joints of users: five lines that say where the child is move like the built-in ones."""

import naive
import numpy as np
import pytest
from mechanisms import Knee, random_forces, random_inertia, random_state, random_tree
from naive import relative_error

import linkwork as lw


class Offset(lw.Joint):
    """A hinge beside its place."""

    def motion(self, q):
        return lw.translation(0.1, -0.2, 0.3) @ lw.rotation_y(q[0])


class Screw(lw.Joint):
    def motion(self, q):
        return lw.translation(0, 0, 0.05 * q[0]) @ lw.rotation_z(q[0])


class Cardan(lw.Joint):
    coordinates = 2

    def motion(self, q):
        return lw.rotation_x(q[0]) @ lw.rotation_y(q[1])


class Plate(lw.Joint):
    coordinates = 3

    def motion(self, q):
        return lw.translation(q[0], q[1], 0) @ lw.rotation_z(q[2])


class Cam(lw.Joint):
    """A follower whose lift has a flat part: a formula in two pieces."""

    def motion(self, q):
        lift = lw.where(q[0] > 0, 0.3 * (1 - lw.cos(q[0])) ** 2, 0.0)
        return lw.translation(0, 0, lift) @ lw.rotation_z(q[0])


class Spiral(lw.Joint):
    """Two coordinates that both turn and slide: radius exp(r), angle phi."""

    coordinates = 2

    def motion(self, q):
        r = lw.exp(0.3 * q[0])
        return lw.rotation_z(q[1]) @ lw.translation(r, 0.1 * q[0] * q[1], lw.sqrt(r)) @ lw.rotation_x(q[0])


def leg(m: lw.Mechanism, joint: lw.Joint) -> lw.Model:
    """Return the model of a mechanism with this joint, its child, a shin, and a foot hinged to that."""
    rng = np.random.default_rng(4)
    shin, foot = joint.child, lw.Body("foot", random_inertia(rng, "space"), position=(0.3, 0.1, -0.5))
    shin.inertia = random_inertia(rng, "space")
    m.add(shin)
    m.add(foot)
    m.add(joint)
    m.add(lw.Revolute("ankle", shin, foot, at=(0.3, 0, -0.4), axis=(0, 1, 0.2)))
    return m.compile()


BUILT_IN = {
    Offset: lambda *ends, on_parent, **options: lw.Revolute(
        *ends, on_parent=on_parent @ lw.translation(0.1, -0.2, 0.3), axis=(0, 1, 0), **options
    ),
    Screw: lambda *ends, **options: lw.Helical(*ends, pitch=0.05 * 2 * np.pi, **options),
    Cardan: lw.Universal,
    Plate: lw.Planar,
}


@pytest.mark.parametrize("mine", BUILT_IN)
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
def test_a_user_joint_moves_like_the_built_in_one(mine, reverse):
    place = lw.translation(0.5, 0.6, 0.7) @ lw.rotation_x(0.8)
    models = []
    for kind in (mine, BUILT_IN[mine]):
        m = lw.Mechanism("leg")
        shin = lw.Body("shin")
        thigh = m.ground
        if reverse:  # the shin stands on ground, and the thigh moves
            thigh = m.add(lw.Body("thigh", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
            m.add(lw.Fixed("stand", m.ground, shin, at=(0, 0, 0)))
        models.append(leg(m, kind("joint", thigh, shin, on_parent=place, on_child=lw.Frame())))
    a, b = models
    q, v, x = random_state(a, np.random.default_rng(5), 20)
    for method in ("forward_dynamics", "inverse_dynamics"):
        assert relative_error(getattr(a, method)(q, v, x), getattr(b, method)(q, v, x)) < 1e-12
    assert relative_error(a.mass_matrix(q), b.mass_matrix(q)) < 1e-13
    for name in ("shin", "foot"):
        np.testing.assert_allclose(a.poses(q)[name].position, b.poses(q)[name].position, rtol=0, atol=1e-14)


def test_the_knee_is_a_slider_and_a_hinge_led_by_one_coordinate():
    """With z = -0.02 (1 - cos q), G = d(z, q)/dq: G^T H G a = tau - G^T (bias + H dG/dt v)."""
    m = lw.Mechanism("knee")
    knee = leg(m, Knee("knee", m.ground, lw.Body("shin"), on_parent=(0, 0, 0), on_child=(0, 0, 0)))
    m = lw.Mechanism("chain")
    slide = m.add(lw.Body("slide"))
    m.add(lw.Prismatic("lift", m.ground, slide, axis=(0, 0, 1)))
    ends = {"on_parent": (0, 0, 0), "on_child": (0, 0, 0)}
    chain = leg(m, lw.Revolute("turn", slide, lw.Body("shin"), axis=(0, 1, 0), **ends))
    assert chain.joint_names == ("lift", "turn", "ankle")
    for q, v, tau in zip(*random_state(knee, np.random.default_rng(6), 20), strict=True):
        bend, speed = q[0], v[0]
        G = np.array([[-0.02 * np.sin(bend), 0.0], [1.0, 0.0], [0.0, 1.0]])
        dG_v = np.array([-0.02 * np.cos(bend) * speed**2, 0.0, 0.0])
        q_chain = np.array([-0.02 * (1 - np.cos(bend)), *q])
        H, bias = chain.mass_matrix(q_chain), chain.bias_forces(q_chain, G @ v)
        expected = np.linalg.solve(G.T @ H @ G, tau - G.T @ (bias + H @ dG_v))
        assert relative_error(knee.forward_dynamics(q, v, tau), expected) < 1e-12


@pytest.mark.parametrize("kind", [Knee, Offset, Screw, Cardan, Plate, Cam, Spiral])
def test_user_joints_in_trees_are_those_of_the_textbook(kind):
    for seed in range(6):
        m = random_tree(seed, joints=[kind, kind, lw.Revolute, lw.Free], n=4)
        model = m.compile()
        oracle = naive.Tree(m, model.slices)
        rng = np.random.default_rng(seed)
        q, v, x = random_state(model, rng)
        forces = random_forces(m, rng)
        assert relative_error(model.mass_matrix(q), oracle.mass_matrix(q)) < 1e-12
        tau = oracle.inverse_dynamics(q, v, x, forces)
        assert relative_error(model.inverse_dynamics(q, v, x, forces=forces), tau) < 1e-12
        a = oracle.forward_dynamics(q, v, x, forces)
        assert relative_error(model.forward_dynamics(q, v, x, forces=forces), a) < 1e-11
    special = model.specialize()
    assert relative_error(special.forward_dynamics(q, v, x), model.forward_dynamics(q, v, x)) < 1e-12


def test_a_user_joint_in_the_plane():
    class Sled(lw.Joint):
        """A body on a circle of radius 2, its nose along the way."""

        def motion(self, q):
            return self.algebra.turn(q[0] / 2) @ self.algebra.translation(0, -2)

    m = lw.Mechanism("hill", space="plane", gravity=(0, -10))
    sled = m.add(lw.Body("sled", lw.Inertia(3.0, (0, 0), 0.5)))
    m.add(Sled("way", m.ground, sled))
    model = m.compile()
    q, v = np.array([0.6]), np.array([1.5])
    H = (3.0 * 2**2 + 0.5) / 4
    np.testing.assert_allclose(model.mass_matrix(q), [[H]], rtol=1e-15)
    expected = -3.0 * 10 * 2 * np.sin(0.3) / 2 / H  # torque of the weight, per unit of q
    np.testing.assert_allclose(model.forward_dynamics(q, v, np.zeros(1)), [expected], rtol=1e-14)


def test_joints_that_differ_only_in_a_number_share_their_code_and_not_the_number():
    class Screw(lw.Joint):
        def __init__(self, *ends, lead, **options):
            super().__init__(*ends, **options)
            self.lead = lead

        def motion(self, q):
            return lw.translation(0, 0, self.lead * q[0]) @ lw.rotation_z(q[0])

    m = lw.Mechanism("screws", gravity=(0, 0, 0))
    last = m.ground
    for k, lead in enumerate((0.1, 0.2, 0.0, 1.0)):  # 0 and 1 are numbers that formulas drop
        body = m.add(lw.Body(f"nut {k}", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
        m.add(Screw(f"screw {k}", last, body, lead=lead))
        last = body
    model = m.compile()
    z = model.poses(np.ones(4))
    np.testing.assert_allclose(
        [z[f"nut {k}"].position[2] for k in range(4)], [0.1, 0.3, 0.3, 1.3], rtol=1e-14
    )
