"""Several mechanisms with one clock: each moves as it would alone, whatever else is there."""

import os
import signal
import threading

import numpy as np
import pytest

import linkwork as lw


def swung(k: int) -> dict[str, float]:
    return {"pin": 0.1 * k}


@pytest.fixture(scope="module")
def forest() -> lw.Forest:
    cart = lw.examples.cart_pole()
    carts = {f"cart {k}": cart for k in range(11)}
    return lw.Forest({**carts, "engine": lw.examples.steam_engine(), "rope": lw.examples.chain(4)})


@pytest.fixture(scope="module")
def start(forest):
    return forest.state({f"cart {k}": swung(k) for k in range(11)})


def test_identical_members_are_one_group(forest):
    assert [len(group.names) for group in forest.groups] == [11, 1, 1]
    assert len({id(forest[name]) for name in forest}) == 3


def test_every_member_moves_bit_for_bit_as_it_does_alone(forest, start):
    run = forest.simulate(1.0, start, every=0.1)
    for name in forest:
        part = forest.parts(start)[name]
        alone = lw.simulate(forest[name], 1.0, part, every=0.1)
        np.testing.assert_array_equal(run[name].q, alone.q)
        np.testing.assert_array_equal(run[name].v, alone.v)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_no_bit(forest, start, threads):
    run, other = (forest.simulate(0.5, start, every=0.1, threads=n) for n in (3, threads))
    for name in forest:
        np.testing.assert_array_equal(run[name].q, other[name].q)


def test_a_run_goes_on_from_the_end_of_another(forest, start):
    whole = forest.simulate(1.0, start, every=0.5)
    half = forest.simulate(0.5, start, every=0.5)
    rest = forest.simulate(0.5, half.final, every=0.5)
    assert rest.time.tolist() == [0.5, 1.0]
    for name in forest:
        np.testing.assert_allclose(rest[name].q[-1], whole[name].q[-1], atol=1e-7)


def test_names_lead_through_the_members(forest, start):
    run = forest.simulate(0.2, start, every=0.1)
    np.testing.assert_array_equal(run["cart 3/pin"].position, run["cart 3"]["pin"].position)
    assert run["cart 3/pin"].position[0] == pytest.approx(0.3)
    with pytest.raises(KeyError, match="did you mean 'cart 3'"):
        run["cart3/pin"]
    assert "13 done" in run.summary()


def test_accelerations_and_energy_are_those_of_the_members(forest, start):
    a = forest.motion(start.q, start.v)
    parts = forest.parts(start)
    for name, (_, part) in forest.slices.items():
        np.testing.assert_array_equal(a[part], forest[name].motion(parts[name].q, parts[name].v))
    each = sum(forest[name].energy(part.q, part.v) for name, part in parts.items())
    assert forest.energy(start.q, start.v) == pytest.approx(each, rel=1e-14)


def test_a_member_that_fails_does_not_stop_the_others():
    def blown_up() -> lw.Mechanism:
        m = lw.examples.cart_pole()
        m.add(lw.Motor("motor", "pin", lambda t, q, v: 1.0 / lw.sqrt(0.5 - t)))
        return m

    forest = lw.Forest({"good": lw.examples.cart_pole(), "bad": blown_up()})
    run = forest.simulate(1.0, every=0.1, check=False)
    assert run.failed == ["bad"]
    assert run["good"].status == "DONE"
    assert np.isnan(run.energy[-1])
    with pytest.raises(lw.SimulationError, match="1 of 2 members failed, the first is 'bad'") as caught:
        forest.simulate(1.0, every=0.1)
    assert caught.value.run["good"].status == "DONE"
    with pytest.raises(lw.SimulationError, match="is where each of them ended"):
        _ = run.final


def test_wrong_members_and_states_are_refused_by_name(forest, start):
    with pytest.raises(TypeError, match="'left' is 1; give a Mechanism or a Model"):
        lw.Forest({"left": 1})
    with pytest.raises(lw.ModelError, match="member name 'a/b'"):
        lw.Forest({"a/b": lw.examples.cart_pole()})
    with pytest.raises(ValueError, match="unknown member 'cart'"):
        forest.state({"cart": {}})
    with pytest.raises(ValueError, match="unknown joint 'pim'"):
        forest.state({"cart 1": {"pim": 1.0}})
    with pytest.raises(ValueError, match="give 33 and 33 numbers"):
        forest.simulate(1.0, lw.State(start.q[1:], start.v))
    with pytest.raises(ValueError, match="simulate: duration -1"):
        forest.simulate(-1)


def test_an_empty_forest_stands_still():
    run = lw.Forest({}).simulate(1.0)
    assert len(run) == 0
    assert run.final.t == 0.0


def pushed() -> lw.Mechanism:
    m = lw.examples.cart_pole()
    push = lw.Input("push", 1.0)
    m.add(lw.Motor("motor", "rail", lambda t, q, v: push - 0.1 * v))
    return m


def test_every_member_has_its_own_inputs():
    m = pushed()
    forest = lw.Forest({"a": m, "b": m, "c": m})
    run = forest.simulate(0.5, every=0.1, inputs={"a/push": 2.0, "c/push": -3.0})
    for name, value in (("a", 2.0), ("b", 1.0), ("c", -3.0)):
        alone = lw.simulate(m, 0.5, every=0.1, inputs={"push": value})
        np.testing.assert_array_equal(run[name].q, alone.q)
        np.testing.assert_allclose(run[f"{name}/motor"].force, alone["motor"].force, rtol=1e-12)
    assert run.final.inputs == {"a/push": 2.0, "b/push": 1.0, "c/push": -3.0}
    on, whole = forest.simulate(0.5, run, every=0.5), lw.simulate(m, 1.0, inputs={"push": 2.0})
    np.testing.assert_allclose(on["a"].q[-1], whole.final.q, atol=1e-7)
    a = forest.motion(run.final.q, run.final.v, inputs={"a/push": 5.0})
    part = forest.parts(run)["a"]
    np.testing.assert_array_equal(a[:2], forest["a"].motion(part.q, part.v, inputs={"push": 5.0}))


def test_wrong_inputs_and_times_of_members_are_refused_by_name():
    forest = lw.Forest({"a": pushed(), "b": lw.examples.cart_pole()})
    for wrong, message in (
        ({"c/push": 1.0}, "unknown member 'c'"),
        ({"a/pull": 1.0}, "unknown input 'a/pull'; did you mean 'a/push'"),
        ({"b/push": 1.0}, "unknown input 'b/push'; did you mean 'a/push'"),
        ({"a/push": np.nan}, "'a/push' is nan; give a finite number"),
        ({"a/push": [1.0, 2.0]}, "'a/push' is .*; give a finite number"),
    ):
        with pytest.raises(ValueError, match=message):
            forest.simulate(0.1, inputs=wrong)
    later = lw.simulate(forest["a"], 0.5).final
    with pytest.raises(ValueError, match=r"'a' is at t = 0\.5 s, and the clock at 0 s"):
        forest.state({"a": later})
    assert forest.state({"a": later}, t=0.5).t == 0.5
    with pytest.raises(ValueError, match=r"state is .*; give forest\.state"):
        forest.simulate(0.1, {"a": {}})
    with pytest.raises(ValueError, match="simulate: accuracy"):
        forest.simulate(0.1, accuracy=-1)


def test_ctrl_c_returns_what_was_computed(forest, start):
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    run = forest.simulate(1e6, start, every=1e3)
    timer.join()
    assert {run[name].status for name in run.failed} == {"INTERRUPTED"}
    assert len(run) == len(forest)


# members that meet


def floor() -> lw.Mechanism:
    m = lw.Mechanism("floor")
    m.ground.add(lw.Plane())
    return m


def crate(position=(0, 0, 0.1)) -> lw.Mechanism:
    m = lw.Mechanism("crate")
    m.add(lw.Body("box", lw.Box(0.2, 0.2, 0.2), density=500, position=position))
    return m


def pendulum() -> lw.Mechanism:
    """Return a mechanism without shapes."""
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Inertia(1.0, (0, 0, 0), 0.01 * np.eye(3)), position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    return m


def ram() -> lw.Mechanism:
    """Return a slide that is pushed along by a motor, with a closed loop on it."""
    m = lw.Mechanism("ram")
    slide = m.add(lw.Body("slide", lw.Box(0.1, 0.1, 0.1), density=500, position=(0, 0, 0.1)))
    m.add(lw.Prismatic("rail", m.ground, slide, axis=(1, 0, 0), damping=lw.Input("drag", 5.0)))
    m.add(lw.Motor("motor", "rail"))
    inertia = lw.Inertia(0.1, (0, 0, 0), 1e-3 * np.eye(3))
    links = [m.add(lw.Body(name, inertia, position=at)) for name, at in LINKAGE.items()]
    axis = {"axis": (0, 1, 0)}
    m.add(lw.Revolute("A", slide, links[0], at=(0, 0, 0.2), **axis))
    m.add(lw.Revolute("B", links[0], links[1], at=(0, 0, 0.4), **axis))
    m.add(lw.Revolute("C", links[1], links[2], at=(0.2, 0, 0.4), **axis))
    m.add(lw.Revolute("D", slide, links[2], at=(0.2, 0, 0.2), **axis))
    return m


LINKAGE = {"up": (0, 0, 0.3), "over": (0.1, 0, 0.4), "down": (0.2, 0, 0.3)}
STEP = 1 / 60
CONTACT = lw.Contact("contact", material=lw.Material(friction=0.5))


def yard(**more) -> lw.Forest:
    box = crate()
    members = {"floor": floor(), "ram": ram(), "a": box, "b": box, "cart": pendulum(), **more}
    return lw.Forest(members, contact=CONTACT, at={"a": (0.3, 0, 0), "b": (0.55, 0, 0)})


def test_members_that_meet_push_each_other_and_others_move_alone():
    forest = yard()
    assert forest.meeting == ("floor", "ram", "a", "b")
    assert [group.names for group in forest.groups] == [("cart",)]
    start = forest.state({"cart": {"pin": 0.3}})
    run = forest.simulate(0.8, start, step=STEP, every=0.1, inputs={"ram/motor": 90.0, "ram/drag": 20.0})
    assert run["a/box"].position[-1, 0] > 0.7
    assert run["b/box"].position[-1, 0] == pytest.approx(run["a/box"].position[-1, 0] + 0.2, abs=1e-5)
    assert run["ram/rail"].position[-1] == pytest.approx(run["a/box"].position[-1, 0] - 0.15, abs=1e-3)
    np.testing.assert_array_equal(run["ram"]["rail"].position, run["ram/rail"].position)
    np.testing.assert_array_equal(run["ram"].q[:, 0], run["ram/rail"].position)
    alone = lw.simulate(forest["cart"], 0.8, forest["cart"].state(pin=0.3), step=STEP, every=0.1)
    np.testing.assert_array_equal(run["cart"].q, alone.q)
    assert run.energy.shape == run.time.shape
    assert run.at(0.35)["a/box"].pose.position[2] == pytest.approx(0.1, abs=1e-5)
    assert {trace.label for trace in run.traces("a/box.position")} == {
        f"a/box.position[{k}]" for k in range(3)
    }
    with pytest.raises(lw.LinkworkError, match=r"run\.world\.save_html"):
        run.save_html("all.html")
    with pytest.raises(AttributeError, match=r"run\.world\.contacts"):
        print(run["a"].contacts)
    assert len(run.world.contacts)


def test_a_run_of_members_that_meet_goes_on_bit_for_bit():
    forest, push = yard(), {"ram/motor": 90.0}
    whole = forest.simulate(0.6, step=STEP, times=[0.3, 0.6], inputs=push)
    half = forest.simulate(0.3, step=STEP, inputs=push)
    rest = forest.simulate(0.3, half, step=STEP)
    np.testing.assert_array_equal(rest.final.q, whole.final.q)
    sim = lw.Simulation(forest.world, forest.world_state(half), step=STEP)
    sim.step(n=18)
    np.testing.assert_array_equal(sim.q, rest.world.final.q)


def test_members_of_a_forest_are_edited_while_they_rest_on_each_other():
    tower = {f"c{k}": crate((0, 0, 0.1 + 0.2 * k)) for k in range(4)}
    forest = lw.Forest({"floor": floor(), "arm": ram(), **tower}, contact=CONTACT, at={"arm": (3, 0, 0)})
    state = forest.simulate(0.3, step=STEP).final
    before = forest.world.poses(forest.world_state(state).q)
    arm = ram()
    arm.remove("C")
    members = {"floor": forest["floor"], "arm": arm, **{name: forest[name] for name in tower}}
    members["ball"] = crate((5, 0, 1))
    new, carried = forest.carry(state, members)
    assert new["arm"].loop_names == ()
    rest = new.simulate(0.1, carried, step=STEP)
    for name in tower:
        place = rest[f"{name}/box"].position[-1]
        np.testing.assert_allclose(place, before[f"{name}/box"].position, rtol=0, atol=1e-9)
    assert rest["ball/box"].position[-1, 2] < 1.0
    kept = dict(zip(("was", "is"), (x.memory["contact/impulse"] for x in (state, carried)), strict=True))
    np.testing.assert_array_equal(kept["was"], kept["is"])
    fewer, carried = new.carry(rest, {name: new[name] for name in ("floor", "c0", "c1")})
    assert sorted(fewer.world.mechanism.bodies) == ["c0", "c0/box", "c1", "c1/box", "floor"]
    again = fewer.simulate(0.1, carried, step=STEP)
    assert again["c1/box"].position[-1, 2] == pytest.approx(0.3, abs=1e-5)


def test_wrong_words_of_members_that_meet_are_refused():
    with pytest.raises(lw.ModelError, match="lets members meet, and none has shapes"):
        lw.Forest({"a": pendulum()}, contact=CONTACT)
    with pytest.raises(lw.ModelError, match="give contact="):
        lw.Forest({"a": crate()}, at={"a": (1, 0, 0)})
    with pytest.raises(lw.ModelError, match=r"unknown member 'bb'; did you mean 'b'"):
        lw.Forest({"b": crate()}, contact=CONTACT, at={"bb": (1, 0, 0)})
    pair = lw.Contact("pair", ("a/box", "b/box"))
    with pytest.raises(lw.ModelError, match="contact 'pair' is of one pair"):
        lw.Forest({"a": crate(), "b": crate()}, contact=pair)
    with pytest.raises(lw.ModelError, match="at= places 'cart', which cannot collide"):
        lw.Forest({"b": crate(), "cart": pendulum()}, contact=CONTACT, at={"cart": (1, 0, 0)})
    forest = lw.Forest({"a": pendulum()})
    for ask in (lambda: forest.world, lambda: forest.world_state(forest.state())):
        with pytest.raises(lw.ModelError, match="do not meet"):
            ask()


def test_a_forest_is_simulated_like_a_model(forest, start):
    run, own = (
        lw.simulate(forest, 0.5, start, every=0.1, accuracy=1e-6),
        forest.simulate(0.5, start, every=0.1, accuracy=1e-6),
    )
    for name in forest:
        np.testing.assert_array_equal(run[name].q, own[name].q)
    assert lw.simulate(forest, 0.5, run).time[-1] == 1.0
    for word, value in {"q": np.zeros((2, 9)), "vary": {"rope.mass": [1.0]}, "checkpoint": "a.lwc"}.items():
        with pytest.raises(
            ValueError, match=f"simulate: {word}= is of one mechanism, and a forest is several"
        ):
            lw.simulate(forest, 0.5, **{word: value})
