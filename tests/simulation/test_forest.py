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
    with pytest.raises(TypeError, match="'left' is a int; give a Mechanism or a Model"):
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
        ({"a/pull": 1.0}, "unknown input 'pull'"),
        ({"b/push": 1.0}, "no law reads inputs"),
        ({"a/push": np.nan}, "input 'push' is not finite"),
    ):
        with pytest.raises(ValueError, match=message):
            forest.simulate(0.1, inputs=wrong)
    later = lw.simulate(forest["a"], 0.5).final
    with pytest.raises(ValueError, match=r"'a' is at t = 0\.5 s, and the clock at 0 s"):
        forest.state({"a": later})
    assert forest.state({"a": later}, t=0.5).t == 0.5
    with pytest.raises(ValueError, match="state is a dict"):
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
