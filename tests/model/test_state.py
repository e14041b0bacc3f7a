"""A State: read by the names of joints, and taken by every algorithm in place of arrays."""

import copy
import functools
import inspect
import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.named_rows import NamedRows

LEAD = {"load_values": ("push",), "motion_subspace": ("pin",), "constraint_subspace": ("pin",)}
LEAD["dual_bases"] = ("pin",)
AFTER = {
    "jacobian": ("pole",),
    "inverse_felt_inertia": ("pole",),
    "felt_inertia": ("pole",),
    "generalized_forces": ([0.5], ["pin"]),
}


@pytest.fixture(scope="module")
def model():
    m = lw.examples.cart_pole()
    strength = lw.Input("strength", 2.0)
    m.add(lw.Motor("push", "rail", lambda t, q, v: t + strength))
    return m.compile()


@pytest.fixture(scope="module")
def state(model):
    made = model.state(pin=0.3, velocities={"rail": 0.1, "pin": -2.0}, t=1.5)
    return lw.State(made.q, made.v, made.t, None, {"strength": 7.0}, made.slices)


def algorithms():
    """Return the methods of a Model that are functions of q."""
    methods = inspect.getmembers(lw.Model, inspect.isfunction)
    return [name for name, f in methods if "q" in inspect.signature(f).parameters and name[0] != "_"]


def same(a, b):
    a, b = (x.array if isinstance(x, NamedRows) else x for x in (a, b))
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        return all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else str(a) == str(b)


@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_takes_a_state_in_place_of_arrays(model, state, name):
    method = getattr(model, name)
    known = inspect.signature(method).parameters
    if name == "felt_inertia":
        method = functools.partial(method, direction=(1, 0, 0))
    given = {"q": state.q, "v": state.v, "t": state.t, "inputs": state.inputs}
    arrays = {word: value for word, value in given.items() if word in known}
    rest = {word: np.array([0.4, -0.2]) for word in ("tau", "a") if word in known and word not in arrays} | (
        {"external": np.zeros((2, 6))} if "external" in known else {}
    )
    lead, after = LEAD.get(name, ()), AFTER.get(name, ())
    words = dict(zip(list(known)[: len(lead)], lead, strict=True))
    words |= dict(zip(list(known)[len(lead) + 1 :], after)) if after else {}
    expected = method(**words, **arrays, **rest)
    assert same(method(*lead, state, *after, **rest), expected)
    assert same(method(**words, q=state, **rest), expected)
    if rest:
        assert same(method(*lead, state, *rest.values()), expected)


def test_there_are_many_of_them():
    assert len(algorithms()) > 35


def test_what_is_given_beside_a_state_goes_before_what_it_has(model, state):
    there = model.motion(state.q, state.v, 3.0, inputs={"strength": 1.0})
    assert same(model.motion(state, t=3.0, inputs={"strength": 1.0}), there)


def test_results_go_where_out_says(model, state):
    out = np.empty(2)
    assert model.forward_dynamics(state, np.zeros(2), out=out) is out
    assert same(out, model.forward_dynamics(state.q, state.v, np.zeros(2)))
    free = model.forward_dynamics(state, np.zeros(2), forces={"pole": np.ones(6)}, solver="sparse")
    assert not same(free, out)
    assert same(model.forward_dynamics(state, tau=np.zeros(2), solver="svd").round(9), out.round(9))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda model, s: model.velocities(s, s.v),
            "velocities: a State has q, v already; give after it: no more",
        ),
        (lambda model, s: model.forward_dynamics(s), "a State has q and v; give it, and tau"),
        (lambda model, s: model.inverse_dynamics(s, s.v, s.v), "a State has q and v; give it, and a"),
        (lambda model, s: model.velocities(s.q), "velocities: missing a required argument: 'v'; it takes"),
    ],
)
def test_too_much_or_too_little_is_said(model, state, call, words):
    with pytest.raises(TypeError, match=words):
        call(model, state)


def test_positions_and_velocities_are_read_by_joint(model, state):
    assert (state["pin"], state.velocities["pin"]) == (0.3, -2.0)
    assert dict(state.positions) == {"rail": 0.0, "pin": 0.3}
    free = lw.examples.flipping_box().compile().state()
    assert free["flight"].tolist() == [0, 0, 0, 1, 0, 0, 0]


def test_what_a_state_does_not_have_is_said(state):
    with pytest.raises(KeyError, match="did you mean 'pin'"):
        state["pim"]
    loop = lw.examples.four_bar().compile()
    with pytest.raises(KeyError, match=r"loop_coordinates\(state\)"):
        loop.state()[loop.loop_names[0]]
    with pytest.raises(KeyError, match="this state has no names"):
        lw.State(state.q, state.v)["pin"]


def test_a_state_prints_in_one_short_line(state):
    assert str(state) == "State(t=1.5 s; rail 0, pin 0.3; velocities rail 0.1, pin -2)"
    long = lw.examples.chain(300).compile().state()
    assert len(str(long)) < 300
    assert "of 300 joints" in str(long)
    assert str(lw.State(np.zeros(7), np.zeros(6))) == "State(t=0 s; 7 positions q, velocities v)"


def test_ends_of_runs_know_their_joints(model, state, tmp_path):
    run = lw.simulate(model, 0.1, state)
    assert run.final["pin"] == run["pin"].position[-1]
    assert lw.simulate(model, 0.1, q=state.q, v=state.v).finals[0].velocities["rail"] > 0.1
    run.save(tmp_path / "run.lwr")
    assert lw.load(tmp_path / "run.lwr").final["pin"] == run.final["pin"]
    for again in (pickle.loads(pickle.dumps(run.final)), copy.deepcopy(run.final)):
        assert str(again) == str(run.final)
