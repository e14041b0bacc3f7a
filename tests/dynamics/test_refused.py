"""Mechanisms whose dynamics cannot be computed are refused when they are compiled, by name."""

import re

import numpy as np
import pytest

import linkwork as lw

UNIT = lw.Inertia(1.0, (0, 0, 0), np.eye(3))


def test_joints_that_move_no_inertia_are_all_named():
    m = lw.Mechanism("idle")
    base, hand, tip = (m.add(lw.Body(name)) for name in ("base", "hand", "tip"))
    base.inertia = UNIT
    m.add(lw.Revolute("waist", m.ground, base))
    m.add(lw.Revolute("wrist", base, hand))
    m.add(lw.Prismatic("feeler", hand, tip))
    model = m.compile()  # what has no inertia can still be posed
    assert model.poses(model.q_drawn)["tip"].position.shape == (3,)
    with pytest.raises(lw.ModelError) as error:
        model.forward_dynamics(*np.zeros((3, 3)))
    text = str(error.value)
    assert re.search("(?s)joint 'wrist' moves no inertia.*armature=", text)
    assert re.search("joint 'feeler' moves no inertia", text)
    assert "waist" not in text


def test_a_point_on_the_axis_has_no_inertia_about_it():
    m = lw.Mechanism("needle")
    needle = m.add(lw.Body.from_points("needle", [1.0], [(0, 0, 1)]))
    m.add(lw.Revolute("spin", m.ground, needle, axis=(0, 0, 1)))
    with pytest.raises(lw.ModelError, match="'spin' moves no inertia"):
        m.compile().forward_dynamics(*np.zeros((3, 1)))
    m.joints["spin"].armature = 0.5  # the rotor of its drive is enough
    model = m.compile()
    np.testing.assert_allclose(model.forward_dynamics(np.zeros(1), np.zeros(1), np.ones(1)), [2.0])


def test_freedoms_that_move_inertia_only_together_are_an_error_and_no_result():
    """Two hinges on one axis with nothing between: each moves something, but nothing says which turns."""
    m = lw.Mechanism("coaxial")
    ring, disc = m.add(lw.Body("ring")), m.add(lw.Body("disc", UNIT))
    m.add(lw.Revolute("outer", m.ground, ring))
    m.add(lw.Revolute("inner", ring, disc))
    zero = np.zeros(2)
    for model in (m.compile(), m.compile().specialize()):
        with pytest.raises(lw.ModelError, match="'outer', 'inner' can move without moving mass"):
            model.forward_dynamics(zero, zero, zero)
        with pytest.raises(lw.ModelError, match="'outer', 'inner' can move without moving mass"):
            model.forward_dynamics(zero, zero, zero, out=np.empty(2))


def test_a_rod_of_two_points_on_a_ball_joint_has_no_inertia_about_itself():
    m = lw.Mechanism("rod")
    rod = m.add(lw.Body.from_points("rod", [1.0, 2.0], [(0.1, 0.2, 0.3), (-0.1, -0.2, -0.3)]))
    m.add(lw.Spherical("ball", m.ground, rod))
    model = m.compile()
    with pytest.raises(lw.ModelError, match="'ball' can move without moving mass"):
        model.forward_dynamics(model.q_drawn, np.zeros(3), np.zeros(3))


def test_a_small_wheel_on_a_large_truck_is_no_mistake():
    m = lw.Mechanism("truck")
    truck = m.add(lw.Body("truck", lw.Box(10, 3, 3), mass=40e3))
    ball = m.add(lw.Body("ball", lw.Sphere(1e-3), density=7800))
    m.add(lw.Free("road", m.ground, truck))
    m.add(lw.Revolute("axle", truck, ball))
    model = m.compile()
    a = model.forward_dynamics(model.q_drawn, np.zeros(7), np.zeros(7))
    np.testing.assert_allclose(a, [0, 0, 0, 0, 0, -9.81, 0], atol=1e-9)


def test_mistakes_in_the_description_are_found_before_anything_is_computed():
    m = lw.Mechanism("loose")
    m.add(lw.Body("balloon", UNIT))
    with pytest.raises(lw.ModelError, match="'balloon': not connected to ground"):
        m.compile()


def test_a_mechanism_that_cannot_move_is_a_mechanism():
    m = lw.Mechanism("statue")
    block = m.add(lw.Body("block", UNIT, position=(1, 2, 3)))
    m.add(lw.Fixed("glue", m.ground, block))
    model = m.compile()
    none = np.zeros(0)
    assert model.forward_dynamics(none, none, none).shape == (0,)
    assert model.mass_matrix(np.zeros((5, 0))).shape == (5, 0, 0)
    assert model.kinetic_energy(none, none) == 0.0
    np.testing.assert_allclose(model.poses(none)["block"].position, (1, 2, 3))
    np.testing.assert_allclose(model.reactions(none, none, none)["glue"].force, (0, 0, 9.81))
    np.testing.assert_array_equal(model.jacobian(none, "block"), np.zeros((6, 0)))
