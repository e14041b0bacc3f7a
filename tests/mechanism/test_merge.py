"""Several mechanisms as one, under qualified names."""

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.examples import cart_pole, four_bar, steam_engine, stewart_platform
from linkwork.mechanism.merge import add_member, remove_member


def feedback() -> lw.Mechanism:
    m = cart_pole()
    m.add(lw.Feedback("balance", "rail", lambda t, q, v: 40 * q["pin"] + 8 * v[1]))
    m.add(lw.Motor("motor", "pin", lambda t, q, v: 0.1 * lw.sin(t) - 0.01 * v))
    return m


def geared() -> lw.Mechanism:
    m = lw.Mechanism("geared", space="plane")
    wheels = [
        m.add(
            lw.Body(
                f"wheel {k}", lw.Polygon([(0, 0), (0.1, 0), (0, 0.1)]), density=10.0, position=(0.3 * k, 0)
            )
        )
        for k in range(2)
    ]
    for k, wheel in enumerate(wheels):
        m.add(lw.Revolute(f"axle {k}", m.ground, wheel))
    m.add(lw.Coupling("mesh", "axle 1", "axle 0", -2.0))
    m.add(lw.Driver("drive", "axle 0", lambda t: t))
    return m


@pytest.mark.parametrize("make", [cart_pole, steam_engine, stewart_platform, four_bar, feedback, geared])
@pytest.mark.parametrize("turned", [False, True])
def test_each_member_moves_as_it_does_alone(make, turned):
    one = make()
    space = one.space == "space"
    place = lw.translation(2, 1, 0.5) @ lw.rotation_z(0.7) if space else lw.translation(2, 1)
    both = lw.merge({"a": make(), "b": one}, at={"b": place if turned else (2, 0, 0) if space else (2, 0)})
    alone = lw.simulate(one, 0.3, every=0.1)
    run = lw.simulate(both, 0.3, every=0.1)
    model = one.compile()
    for member in "ab":
        for joint in (*model.joint_names, *model.loop_names):
            if joint in one.joints and one.joints[joint].nq:
                got = run[f"{member}/{joint}"].position
                np.testing.assert_allclose(got, alone[joint].position, atol=2e-7, rtol=0)


def test_bodies_are_where_their_member_is_placed():
    both = lw.merge({"a": cart_pole(), "b": cart_pole()}, at={"b": (0, 3, 1)})
    model = both.compile()
    poses = model.poses(model.state({"a/pin": 0.3, "b/pin": 0.3}).q)
    np.testing.assert_allclose(poses["b/pole"].position - poses["a/pole"].position, (0, 3, 1), atol=1e-14)
    np.testing.assert_allclose(poses["b"].position, (0, 3, 1))


def test_members_can_be_joined():
    both = lw.merge({"a": cart_pole(), "b": cart_pole()}, at={"b": (1, 0, 0)})
    both.add(lw.Spring("spring", both["a/cart"], both["b/cart"], stiffness=100.0))
    model = both.compile()
    run = lw.simulate(model, 1.0, model.state({"a/rail": -0.1}))
    assert run.energy_error < 1e-6
    assert np.ptp(run["b/rail"].position) > 0.01


def test_the_members_are_left_as_they_were():
    one = feedback()
    before = one.summary()
    lw.merge({"a": one, "b": one}, at={"b": (1, 0, 0)}).compile()
    assert one.summary() == before
    assert one["pole"].position.tolist() == feedback()["pole"].position.tolist()


def test_what_cannot_be_merged_is_refused_by_name():
    low = lw.Mechanism("low", gravity=(0, 0, -1.62))
    with pytest.raises(lw.ModelError, match="'b' has gravity"):
        lw.merge({"a": cart_pole(), "b": low})
    with pytest.raises(lw.ModelError, match="unknown member 'c'"):
        lw.merge({"a": cart_pole()}, at={"c": (0, 0, 0)})
    with pytest.raises(lw.ModelError, match="'b' is in the plane"):
        lw.merge({"a": cart_pole(), "b": lw.Mechanism(space="plane")})
    with pytest.raises(lw.ModelError, match="no mechanisms"):
        lw.merge({})
    with pytest.raises(TypeError, match="'a' is a Model"):
        lw.merge({"a": cart_pole().compile()})


def crate() -> lw.Mechanism:
    m = lw.Mechanism("crate")
    for name, z in (("low", 0.5), ("high", 1.5)):
        m.add(lw.Body(name, lw.Box(1, 1, 1), mass=1, position=(0, 0, z)))
    m.ground.add(lw.Box(3, 3, 1, position=(0, 0, -0.5)), material=lw.Material.ice)
    m.add(lw.Contact("all", without=[("low", "high")]))
    m.add(lw.Contact("floor", ("low", "ground"), material=lw.Material.rubber))
    return m


def test_contacts_of_members_are_those_of_the_whole():
    both = lw.merge({"a": crate(), "b": crate()}, at={"b": (0.9, 0, 0)})
    model = both.compile()
    assert model.contact_names == ("all", "a/floor", "b/floor")
    assert both.contacts["b/floor"].between == ("b/low", "b")
    assert both.contacts["all"].without == (("a/low", "a/high"), ("b/low", "b/high"))
    assert both["b"].touched_by[0].material == lw.Material.ice
    met = {tuple(sorted(pair)) for pair in lw.Colliders.of(both).contacts().bodies}
    assert ("a/low", "b/low") in met
    assert ("b", "b/low") in met
    assert ("a/high", "a/low") not in met
    other = crate()
    other.contacts["all"].material = lw.Material.steel
    with pytest.raises(lw.ModelError, match="contact 'b/all' has another material or law"):
        lw.merge({"a": crate(), "b": other})


def test_inputs_of_members_have_their_names_in_front():
    push: Any = lw.Input("push")

    def cart() -> lw.Mechanism:
        m = lw.examples.cart_pole()
        m.add(lw.Motor("motor", "rail"))
        m.add(lw.Force("push", m.bodies["cart"], lambda body, t: (push * 2.0, 0, 0)))
        m.joints["pin"].damping = lw.Input("drag", 0.1)
        m.add(lw.Sampled("hold", "push", every=0.05, law=lambda t, q, v: 1 - q["rail"]))
        return m

    both = lw.merge({"a": cart(), "b": cart()}, at={"b": (0, 2, 0)}).compile()
    assert set(both.inputs) == {f"{name}/{word}" for name in "ab" for word in ("motor", "push", "drag")}
    run = lw.simulate(both, 0.3, every=0.1, inputs={"a/motor": 0.5, "b/drag": 0.3})
    for name, inputs in (("a", {"motor": 0.5}), ("b", {"drag": 0.3})):
        alone = lw.simulate(cart(), 0.3, every=0.1, inputs=inputs)
        np.testing.assert_allclose(run[f"{name}/rail"].position, alone["rail"].position, atol=1e-10)


def test_members_are_added_and_removed():
    whole = lw.merge({"a": crate(), "b": crate()}, at={"b": (0.9, 0, 0)})
    names = list(whole)
    add_member(whole, "c", crate(), (3, 0, 0))
    assert whole["c/low"].position[0] == 3
    assert ("c/low", "c/high") in whole.contacts["all"].without
    remove_member(whole, "c")
    assert list(whole) == names
    assert len(whole.contacts["all"].without) == 2
    whole.undo()
    assert "c/low" in whole
