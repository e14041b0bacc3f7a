"""Numbers of laws that are other ones in every run: nothing is compiled, and they are as if written down."""

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.native import store


def pushed(law, events=()) -> lw.Mechanism:
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail", law))
    return m


def called(u):
    def law(t, q, v):
        return 3.0 * u - 0.1 * v if float(u) < 1e9 else 0.0

    return law


U: Any = lw.Input("u", 1.5)
LAWS = {
    "traced": lambda t, q, v: 3.0 * U - 0.1 * v,
    "called": called(U),
}


@pytest.fixture(params=LAWS)
def model(request) -> lw.Model:
    return pushed(LAWS[request.param]).compile()


def written_down(value: float) -> lw.Recording:
    return lw.simulate(pushed(lambda t, q, v: 3.0 * value - 0.1 * v), 1.0, every=0.1)


def test_a_run_with_an_input_is_that_with_the_number_written_down(model):
    assert dict(model.inputs) == {"u": 1.5}
    for value in (1.5, 2.0, -0.75, 0.0):
        run = lw.simulate(model, 1.0, every=0.1, inputs={"u": value})
        np.testing.assert_allclose(run.q, written_down(value).q, rtol=0, atol=1e-8)
        assert run.final.inputs == {"u": value}
    np.testing.assert_array_equal(
        lw.simulate(model, 1.0, every=0.1).q, lw.simulate(model, 1.0, every=0.1, inputs={"u": 1.5}).q
    )


def test_what_is_derived_knows_the_inputs_of_its_run(model):
    run = lw.simulate(model, 1.0, every=0.1, inputs={"u": 2.0})
    expected = written_down(2.0)
    np.testing.assert_allclose(run["motor"].force, expected["motor"].force, atol=1e-8)
    np.testing.assert_allclose(run.a, expected.a, atol=1e-7)
    np.testing.assert_allclose(run["pin"].reaction.scalars(), expected["pin"].reaction.scalars(), atol=1e-7)
    assert run.energy_error < 1e-7


def test_in_a_batch_every_run_has_its_own(model):
    values = np.linspace(-1.0, 3.0, 21)
    runs = lw.simulate(model, 1.0, every=0.1, q=np.zeros((21, 2)), inputs={"u": values})
    for k in (0, 7, 20):
        alone = lw.simulate(model, 1.0, every=0.1, inputs={"u": values[k]})
        np.testing.assert_array_equal(runs[k].q, alone.q)
        np.testing.assert_allclose(runs[k]["motor"].force, alone["motor"].force, rtol=1e-14)
        assert runs.finals[k].inputs == {"u": values[k]}
    same = lw.simulate(model, 1.0, every=0.1, q=np.zeros((3, 2)), inputs={"u": 2.0})
    np.testing.assert_array_equal(same.q[0], same.q[2])


def test_a_run_goes_on_with_the_inputs_it_had_and_with_others(model):
    half = lw.simulate(model, 0.5, inputs={"u": 2.0})
    whole = lw.simulate(model, 1.0, times=[0.0, 1.0], inputs={"u": 2.0})
    np.testing.assert_array_equal(lw.simulate(model, 0.5, half).final.q, whole.final.q)
    other = lw.simulate(model, 0.5, half, inputs={"u": -2.0})
    assert other.final.inputs == {"u": -2.0}
    assert abs(other.final.q[0] - whole.final.q[0]) > 0.1


def test_another_value_compiles_nothing(monkeypatch):
    model = pushed(LAWS["traced"]).compile()
    lw.simulate(model, 0.1, inputs={"u": 0.0})
    monkeypatch.setattr(store, "compile_text", lambda *text: pytest.fail("something was compiled"))
    for value in (1.0, -1.0, 0.0, 0.3):
        lw.simulate(model, 0.1, inputs={"u": value})


def test_springs_and_feedback_and_events_read_inputs():
    m = lw.examples.chain(3)
    tip = list(m.bodies.values())[-1]
    m.add(lw.Spring("spring", m.ground, tip, stiffness=lw.Input("k", 20.0), rest=lw.Input("rest", 0.5)))
    m.add(lw.Feedback("hold", next(iter(m.joints)), lambda t, q, v: -lw.Input("gain", 1.0) * q[0]))
    model = m.compile()
    assert dict(model.inputs) == {"k": 20.0, "rest": 0.5, "gain": 1.0}
    level = lw.Input("level", 0.01)
    event = lw.Event("far", lambda t, q, v: abs(q[0]) - level, action="stop")
    start = model.state({next(iter(m.joints)): 0.005})
    near = lw.simulate(model, 5.0, start, events=[event], inputs={"k": 0.0})
    far = lw.simulate(model, 5.0, start, events=[event], inputs={"k": 0.0, "level": 0.02, "gain": 0.0})
    assert abs(near.final.q[0]) == pytest.approx(0.01, abs=1e-9) or near.final.t == 5.0
    assert abs(far.final.q[0]) == pytest.approx(0.02, abs=1e-9) or far.final.t == 5.0


def test_wrong_inputs_are_refused_by_name(model):
    for wrong, message in (
        ({"w": 1.0}, "unknown input 'w'"),
        ({"u": np.nan}, "input 'u' is not finite"),
        ({"u": [1.0, 2.0]}, "2 values each, for 1 run"),
        ({"u": "much"}, "input 'u' 'much' is not made of numbers"),
        (3.0, "give values by name"),
    ):
        with pytest.raises(ValueError, match=message):
            lw.simulate(model, 1.0, inputs=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no law reads inputs"):
        lw.simulate(lw.examples.cart_pole(), 1.0, inputs={"u": 1.0})


def test_one_name_with_two_values_is_refused():
    m = pushed(lw.Input("u", 1.0))
    m.add(lw.Motor("other", "pin", lw.Input("u", 2.0)))
    with pytest.raises(lw.ModelError, match="input 'u' has the values 1 and 2"):
        _ = m.compile().inputs


def test_a_file_keeps_the_inputs_of_the_final_state(model, tmp_path):
    run = lw.simulate(model, 0.3, every=0.1, inputs={"u": 2.0})
    run.save(tmp_path / "run.lwr")
    again = lw.load(tmp_path / "run.lwr")
    assert again.final.inputs == {"u": 2.0}
    np.testing.assert_array_equal(again["motor"].force, run["motor"].force)
    assert run.inputs == {"u": 2.0}


def test_between_samples_the_inputs_hold_too():
    model = pushed(LAWS["traced"]).compile()
    run, fine = (lw.simulate(model, 1.0, every=h, inputs={"u": 4.0}) for h in (0.05, 0.0125))
    middle = run.at(0.5125)
    np.testing.assert_allclose(middle.q, fine.q[41], atol=1e-6)
    assert float(middle["motor"].force) == pytest.approx(float(fine["motor"].force[41]), abs=1e-4)


def test_inputs_are_carried_over_by_name():
    m = pushed(LAWS["traced"])
    model = m.compile()
    state = lw.simulate(model, 0.2, inputs={"u": 2.0}).final
    m["pin"].damping = 0.2
    new, carried = lw.carry(model, state, m)
    assert carried.inputs == {"u": 2.0}
    m.remove("motor")
    assert lw.carry(new, carried, m)[1].inputs == {}


# options of joints, springs


def hinged(**options) -> lw.Mechanism:
    m = lw.Mechanism("hinged")
    arm = m.add(lw.Body("arm", lw.Box(0.1, 0.1, 1.0), density=500, position=(0, 0, -0.5)))
    hand = m.add(lw.Body("hand", lw.Box(0.1, 0.1, 0.5), density=500, position=(0, 0, -1.25)))
    m.add(lw.Universal("shoulder", m.ground, arm, at=(0, 0, 0), axis=(1, 0, 0), axis2=(0, 1, 0), **options))
    m.add(lw.Revolute("elbow", arm, hand, at=(0, 0, -1), axis=(0, 1, 0), damping=0.1))
    return m


OPTIONS = {
    "damping": 2.0,
    "friction": 1.5,
    "stiffness": 30.0,
    "rest": -0.4,
}


@pytest.mark.parametrize("word", OPTIONS)
def test_options_of_joints_are_inputs(word):
    others = {"stiffness": 20.0} if word == "rest" else {}
    value = OPTIONS[word]
    model = hinged(**others | {word: (lw.Input("u", 0.1), 0.2)}).compile()
    assert dict(model.inputs) == {"u": 0.1}
    state = model.state(shoulder=(0.5, 0.3), elbow=0.7)
    for given in ({}, {"u": value}):
        run = lw.simulate(model, 0.5, state, every=0.1, inputs=given)
        written = hinged(**others | {word: (given.get("u", 0.1), 0.2)})
        expected = lw.simulate(written, 0.5, state, every=0.1)
        np.testing.assert_allclose(run.q, expected.q, rtol=0, atol=1e-7)
        np.testing.assert_allclose(run["shoulder"].force, expected["shoulder"].force, atol=1e-5)
        assert run.energy_error < 1e-6
        assert not run.report.python_laws


def test_a_joint_that_closes_a_loop_has_inputs():
    def fourbar(damping) -> lw.Mechanism:
        m = lw.examples.four_bars(1, space="plane")
        for joint in m.joints.values():
            joint.damping = damping
        return m

    model = fourbar(lw.Input("c", 0.0)).compile()
    assert model.loop_names
    run = lw.simulate(model, 0.3, every=0.1, inputs={"c": 3.0})
    expected = lw.simulate(fourbar(3.0), 0.3, every=0.1)
    np.testing.assert_allclose(run.q, expected.q, rtol=0, atol=1e-8)


def test_options_of_springs_are_inputs_and_stay_native():
    rest, place = lw.Input("rest", 0.3), lw.Input("place", 0.2)

    def sprung(rest, place) -> lw.Mechanism:
        m = lw.examples.cart_pole()
        at = {"on_parent": (place, 0, 1.0), "on_child": (0, 0, 0.5)}
        m.add(lw.Spring("spring", m.ground, m.bodies["pole"], **at, stiffness=40.0, rest=rest))
        return m

    run = lw.simulate(sprung(rest, place), 0.5, every=0.1, inputs={"rest": 0.7, "place": -0.3})
    np.testing.assert_allclose(run.q, lw.simulate(sprung(0.7, -0.3), 0.5, every=0.1).q, atol=1e-8)
    assert not run.report.python_laws


REFUSED = {
    "armature": lambda m: setattr(m.joints["elbow"], "armature", U),
    "limits": lambda m: setattr(m.joints["elbow"], "limits", (-1.0, U)),
    "friction_speed": lambda m: setattr(m.joints["elbow"], "friction_speed", U),
    "length": lambda m: m.add(lw.Distance("rod", m.ground, m.bodies["hand"], U)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_an_input_that_cannot_be_followed_is_refused(words):
    def changed() -> lw.Mechanism:
        m = hinged()
        REFUSED[words](m)
        return m

    with pytest.raises((lw.ModelError, ValueError), match=words):
        lw.simulate(changed(), 0.1)


def test_a_file_keeps_the_inputs_of_a_joint(tmp_path):
    hinged(damping=U).save(tmp_path / "hinged.json")
    again = lw.load(tmp_path / "hinged.json")
    assert again.compile().inputs == hinged(damping=U).compile().inputs
    assert again["shoulder"].damping.name == "u"
