"""What must not change: the same mechanism said in another way moves in the same way."""

import numpy as np
import pytest
from mechanisms import (
    SPACES,
    carried,
    floating,
    pour,
    random_frame,
    random_inertia,
    random_state,
    random_tree,
    renumbered,
)
from naive import relative_error

import linkwork as lw

SEEDS = range(4000, 4020)
trees = pytest.mark.parametrize(("seed", "space"), [(seed, space) for seed in SEEDS for space in SPACES])


def assert_moves_alike(a: lw.Model, b: lw.Model, seed: int = 0, tolerance: float = 1e-11) -> None:
    """Assert that two models whose joints have the same names accelerate alike and need the same forces."""
    q, v, x = random_state(a, np.random.default_rng(seed))
    q_b, v_b, x_b = renumbered(q, a, b, 0), renumbered(v, a, b, 1), renumbered(x, a, b, 1)
    for method in ("forward_dynamics", "inverse_dynamics"):
        expected, found = getattr(a, method)(q, v, x), getattr(b, method)(q_b, v_b, x_b)
        assert relative_error(renumbered(found, b, a, 1), expected) < tolerance, method
    H = renumbered(renumbered(b.mass_matrix(q_b), b, a, 1).T, b, a, 1)
    assert relative_error(H, a.mass_matrix(q)) < tolerance


@trees
def test_the_order_of_the_description(seed, space):
    m = random_tree(seed, space)
    order = np.random.default_rng(seed).permutation(len(m.elements))
    twin = pour(m, lw.Mechanism(space=space, gravity=m.gravity), order=order)
    assert_moves_alike(m.compile(), twin.compile())


@trees
def test_the_direction_of_the_world(seed, space):
    m = random_tree(seed, space)
    turn = random_frame(np.random.default_rng(seed), space)
    twin = carried(m, lw.Fixed, turn.rotation @ m.gravity, on_parent=turn, on_child=type(turn)())
    assert_moves_alike(m.compile(), twin.compile())


@trees
def test_bodies_split_and_welded_together_again(seed, space):
    m = random_tree(seed, space)
    twin = pour(m, lw.Mechanism(space=space, gravity=m.gravity))
    rng = np.random.default_rng(seed)
    for body in list(twin.bodies.values()):
        whole = body.inertia
        share = rng.uniform(0.2, 0.8)
        body.inertia = lw.Inertia(share * whole.mass, whole.com, share * whole.tensor)
        rest = lw.Inertia((1 - share) * whole.mass, whole.com, (1 - share) * whole.tensor)
        frame = random_frame(rng, space)
        inside = frame.inverse
        half = twin.add(
            lw.Body(
                f"half of {body.name}", rest.moved(inside.position, inside.rotation), position=frame.position
            )
        )
        ends = {"on_parent": frame, "on_child": type(frame)()}
        if rng.random() < 0.5:
            twin.add(lw.Fixed(f"weld {body.name}", body, half, **ends))
        else:
            ends = {"on_parent": ends["on_child"], "on_child": ends["on_parent"]}
            twin.add(lw.Fixed(f"weld {body.name}", half, body, **ends))
    assert_moves_alike(twin.compile(), m.compile(), tolerance=1e-10)


@trees
def test_a_massless_body_welded_between(seed, space):
    m = random_tree(seed, space)
    twin = lw.Mechanism(space=space, gravity=m.gravity)
    pour(m, twin)
    rng = np.random.default_rng(seed)
    for joint in list(twin.joints.values()):
        on_parent, _ = joint.frames()
        frame = random_frame(rng, space)
        spacer = twin.add(lw.Body(f"spacer of {joint.name}"))
        twin.add(
            lw.Fixed(f"weld of {joint.name}", joint.parent, spacer, on_parent=frame, on_child=type(frame)())
        )
        _, joint.on_child = joint.frames()
        joint.parent, joint.on_parent, joint.at, joint.axis = spacer, frame.local(on_parent), None, None
        if isinstance(joint, lw.Universal):
            joint.axis2 = None
    assert_moves_alike(twin.compile(), m.compile(), tolerance=1e-10)


@pytest.mark.parametrize("space", SPACES)
def test_far_from_the_origin_no_digits_are_lost(space):
    """A floating robot a thousand kilometres away has the same mass matrix and accelerates alike."""
    for seed in SEEDS:
        m = random_tree(seed, space)
        model = floating(m, gravity=m.gravity).compile()
        q, v, x = random_state(model, np.random.default_rng(seed))
        far = q.copy()
        far[model.slices["hold"][0]][: m.gravity.size] += 1e6
        for method in ("forward_dynamics", "inverse_dynamics"):
            f = getattr(model, method)
            assert relative_error(f(far, v, x), f(q, v, x)) < 1e-12
        assert relative_error(model.mass_matrix(far), model.mass_matrix(q)) < 1e-13
        assert relative_error(model.bias_forces(far, v), model.bias_forces(q, v)) < 1e-12
        assert model.kinetic_energy(far, v) == pytest.approx(model.kinetic_energy(q, v), rel=1e-13)


def test_scaling_of_mass_and_time():
    """Twice the mass takes twice the force; twice the speed, under four times the gravity, four times."""
    m = random_tree(11)
    for joint in m.joints.values():
        joint.armature = 0.0
    model = m.compile()
    q, v, a = random_state(model, np.random.default_rng(1))
    tau = model.inverse_dynamics(q, v, a)
    for body in m.bodies.values():
        I = body.inertia
        body.inertia = lw.Inertia(2 * I.mass, I.com, 2 * I.tensor)
    np.testing.assert_array_equal(m.compile().inverse_dynamics(q, v, a), 2 * tau)
    m.gravity = 4 * m.gravity
    np.testing.assert_array_equal(m.compile().inverse_dynamics(q, 2 * v, 4 * a), 8 * tau)


def test_a_carrier_that_cannot_move_is_ground():
    m = random_tree(12)
    twin = carried(m, lw.Fixed, inertia=random_inertia(np.random.default_rng(0), "space"))
    assert_moves_alike(m.compile(), twin.compile())
