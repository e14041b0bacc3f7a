"""The inertia that is felt at a point: against forward dynamics, closed forms, and published words."""

import numpy as np
import pytest

import linkwork as lw


def gear():
    """Return two wheels on ground, one of which turns the other at twice its speed."""
    m = lw.Mechanism("gear", gravity=(0, 0, 0))
    for name, x in (("slow", 0.0), ("fast", 1.0)):
        wheel = m.add(lw.Body(name, lw.Cylinder(radius=0.2, length=0.1), density=1000, position=(x, 0, 0)))
        m.add(lw.Revolute(f"{name} pin", m.ground, wheel, at=(x, 0, 0), axis=(0, 0, 1)))
    m.add(lw.Coupling("teeth", "fast pin", "slow pin", ratio=2.0))
    return m


MECHANISMS = {
    "tree": lw.examples.cart_pole,
    "free": lw.examples.flipping_box,
    "loops": lw.examples.steam_engine,
    "loops in the plane": lw.examples.four_bar,
    "redundant loops": lw.examples.bennett,
}


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
def test_a_force_accelerates_the_point_as_forward_dynamics_says(make):
    model = make().compile()
    q = model.assemble(model.q_drawn)
    v, still = np.zeros(model.nv), np.zeros(model.nv)
    point = [0.1, 0.02, -0.03][: model.link_tree.algebra.dimension]
    before = model.forward_dynamics(q, v, still)
    for body in model.body_names:
        W, J = model.inverse_felt_inertia(q, body, point), model.jacobian(q, body, point)
        for k, row in enumerate(J):  # a unit torque or force there is this force in the joints
            gained = J @ (model.forward_dynamics(q, v, row) - before)
            np.testing.assert_allclose(W[:, k], gained, atol=1e-8 * max(np.abs(W).max(), 1e-6))
        np.testing.assert_allclose(W, W.T, rtol=1e-12)


def test_a_free_body_is_felt_as_it_is():
    model = lw.examples.flipping_box().compile()
    own = model.mechanism.bodies["box"].inertia
    np.testing.assert_allclose(model.felt_inertia(model.q_drawn, "box"), own.matrix, rtol=1e-12, atol=1e-15)
    assert model.felt_inertia(model.q_drawn, "box", direction=(1, 2, 3)) == pytest.approx(own.mass)


def test_the_end_of_a_rod_is_a_third_of_it_and_its_centre_all():
    m = lw.Mechanism("rod", gravity=(0, 0, 0))
    rod = m.add(lw.Body("rod", lw.Inertia(3.0, (0, 0, 0), np.diag([1.0, 1.0, 1e-9]))))  # 2 m long
    m.add(lw.Revolute("pin", m.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    model = m.compile()
    assert model.felt_inertia(model.q_drawn, "rod", (0, 0, 1), direction=(1, 0, 0)) == pytest.approx(1.0)
    assert model.felt_inertia(model.q_drawn, "rod", (0, 0, 0.5), direction=(-1, 0, 0)) == pytest.approx(4.0)
    assert model.felt_inertia(model.q_drawn, "rod", (0, 0, 1), direction=(0, 0, 1)) == np.inf
    assert model.felt_inertia(model.q_drawn, "rod", (0, 0, 0), direction=(1, 0, 0)) == np.inf
    with pytest.raises(lw.LinkworkError, match=r"can move in 1 of 6 directions.*give direction="):
        model.felt_inertia(model.q_drawn, "rod")


def test_what_turns_along_is_felt_with_the_square_of_the_ratio():
    model = gear().compile()
    moment = 0.5 * model.masses[0] * 0.2**2
    W = model.inverse_felt_inertia(model.q_drawn, "slow")
    assert 1.0 / W[2, 2] == pytest.approx(5.0 * moment)


def test_a_driver_does_not_give_way():
    m = gear()
    m.add(lw.Driver("motor", "slow pin", lambda t: t))
    model = m.compile()
    assert np.abs(model.inverse_felt_inertia(model.q_drawn, "fast")).max() < 1e-12


def test_batches_and_states():
    model = lw.examples.cart_pole().compile()
    q = np.random.default_rng(1).normal(size=(5, 2))
    many = model.felt_inertia(q, "pole", (0, 0, 0.5), direction=(1, 0, 0))
    assert many.shape == (5,)
    for k in range(5):
        assert many[k] == model.felt_inertia(q[k], "pole", (0, 0, 0.5), direction=(1, 0, 0))
    state = model.state(pin=0.4)
    assert np.array_equal(
        model.inverse_felt_inertia(state, "pole"), model.inverse_felt_inertia(state.q, "pole")
    )
    out = np.empty((6, 6))
    assert model.inverse_felt_inertia(state, "pole", out=out) is out


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("pol",), {}, "did you mean 'pole'"),
        (("pole", (1, 2)), {}, "give 3 finite numbers"),
        (("pole",), {"direction": (0, 0, 0)}, "direction .* not all 0"),
        (("pole",), {"direction": (1, 0)}, "give 3 numbers"),
    ],
)
def test_what_is_wrong_is_said(arguments, options, words):
    model = lw.examples.cart_pole().compile()
    with pytest.raises(ValueError, match=words):
        model.felt_inertia(model.q_drawn, *arguments, **options)
