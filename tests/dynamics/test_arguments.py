"""What users hand in: anything that is numbers of the right shape works, anything else is refused by name."""

import copy
import pickle

import numpy as np
import pytest
from mechanisms import chain, random_forces, random_state, random_tree

import linkwork as lw

MECHANISM = random_tree(21, joints=[lw.Revolute, lw.Spherical, lw.Free, lw.Helical], n=4)
MODEL = MECHANISM.compile()
Q, V, X = random_state(MODEL, np.random.default_rng(0), 9)
NAME = MODEL.body_names[-1]

# method -> (its arguments by name, a call of them and out)
METHODS = {
    "forward_dynamics": "q v tau",
    "inverse_dynamics": "q v a",
    "bias_forces": "q v",
    "gravity_forces": "q",
    "mass_matrix": "q",
    "poses": "q",
    "velocities": "q v",
    "accelerations": "q v tau",
    "jacobian": "q",
    "reactions": "q v tau",
    "energy": "q v",
    "kinetic_energy": "q v",
    "potential_energy": "q",
    "momentum": "q v",
    "center_of_mass": "q",
}
every_method = pytest.mark.parametrize("method", METHODS)
every_argument = pytest.mark.parametrize(
    ("method", "argument"),
    [(method, k) for method, names in METHODS.items() for k in range(len(names.split()))],
)
single_or_batch = pytest.mark.parametrize("k", [3, slice(None)], ids=["single", "batch"])


def arguments(method: str, k: int | slice) -> list[np.ndarray]:
    values = {"q": Q[k], "v": V[k], "tau": X[k], "a": X[k]}
    return [values[name].copy() for name in METHODS[method].split()]


def call(method: str, *given, **options):
    """Return the result as an array; the very array for `out`."""
    if method == "jacobian":
        return MODEL.jacobian(*given, NAME, **options)
    result = getattr(MODEL, method)(*given, **options)
    return getattr(result, "array", result)


def result_array(method: str, k: int | slice) -> np.ndarray:
    return np.asarray(call(method, *arguments(method, k)))


# what works


@every_method
@single_or_batch
def test_out_is_filled_and_returned_and_inputs_are_not_written(method, k):
    given = arguments(method, k)
    kept = [x.copy() for x in given]
    for x in given:
        x.setflags(write=False)
    expected = result_array(method, k)
    out = np.full(expected.shape, np.nan)
    assert call(method, *given, out=out) is out
    assert out.tobytes() == expected.tobytes()
    assert all(x.tobytes() == y.tobytes() for x, y in zip(given, kept, strict=True))


@every_method
@single_or_batch
def test_out_may_be_strided_unaligned_or_a_subclass(method, k):
    class Marked(np.ndarray):
        pass

    expected = result_array(method, k)
    room = np.full((*expected.shape, 2), np.nan)
    strided = room[..., 0]
    raw = np.zeros(expected.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(np.float64).reshape(expected.shape)
    assert not unaligned.flags.aligned
    for out in (strided, unaligned, np.full(expected.shape, np.nan).view(Marked)):
        assert call(method, *arguments(method, k), out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert np.isnan(room[..., 1]).all()


@every_argument
@single_or_batch
def test_inputs_may_come_in_any_form_of_numbers(method, argument, k):
    expected = result_array(method, k)
    given = arguments(method, k)
    x = given[argument]
    raw = np.zeros(x.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(np.float64).reshape(x.shape)
    unaligned[...] = x
    forms = {
        "list": x.tolist(),
        "strided": np.repeat(x, 2, axis=-1)[..., ::2],
        "turned": np.asfortranarray(x),
        "backwards": np.ascontiguousarray(x[..., ::-1])[..., ::-1],
        "unaligned": unaligned,
        "bytes swapped": x.astype(">f8"),
        "long doubles": x.astype(np.longdouble),
        "objects": x.astype(object),
        "subclass": x.view(np.recarray),
    }
    for form, y in forms.items():
        np.testing.assert_array_equal(
            call(method, *given[:argument], y, *given[argument + 1 :]), expected, form
        )


@every_argument
def test_whole_numbers_are_numbers(method, argument):
    given = arguments(method, 3)
    whole = np.arange(1, 1 + given[argument].size)
    as_floats = call(method, *given[:argument], whole.astype(float), *given[argument + 1 :])
    for y in (whole, whole.astype(np.int8), whole.astype(np.float32), whole.tolist()):
        np.testing.assert_array_equal(call(method, *given[:argument], y, *given[argument + 1 :]), as_floats)


# what is refused


@every_argument
def test_a_wrong_shape_is_refused_by_name(method, argument):
    given = arguments(method, 3)
    name = METHODS[method].split()[argument]
    good = given[argument]
    for wrong in (good[:-1], np.append(good, 0.0), good[0], np.tile(good, (2, 2, 1)), np.tile(good, 2)):
        with pytest.raises(ValueError, match=rf"\b{name}\b.*shape"):
            call(method, *given[:argument], wrong, *given[argument + 1 :])


@every_argument
@single_or_batch
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_refused_with_argument_and_joint(method, argument, k, value):
    given = arguments(method, k)
    name = METHODS[method].split()[argument]
    side = 0 if name == "q" else 1
    for joint, own in MODEL.slices.items():
        if own[side].stop == own[side].start:
            continue
        bad = given[argument].copy()
        bad[..., own[side].start] = value
        for out in (None, np.zeros(result_array(method, k).shape)):
            with pytest.raises(ValueError, match=rf"\b{name}\b.*'{joint}'.*(nan|inf)"):
                call(method, *given[:argument], bad, *given[argument + 1 :], out=out)


@every_argument
def test_what_are_no_numbers_is_refused_by_name(method, argument):
    given = arguments(method, 3)
    name = METHODS[method].split()[argument]
    for wrong in ("text", None, given[argument] + 1j, [[1.0], [1.0, 2.0]], {"q": 1}, [None, "x"]):
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            call(method, *given[:argument], wrong, *given[argument + 1 :])


@every_method
@single_or_batch
def test_an_out_that_cannot_hold_the_result_is_refused(method, k):
    expected = result_array(method, k)
    read_only = np.zeros(expected.shape)
    read_only.setflags(write=False)
    wrong = {
        "shape": np.zeros((*expected.shape, 1)),
        "batch": np.zeros((2, *expected.shape)),
        "float32": np.zeros(expected.shape, np.float32),
        "int": np.zeros(expected.shape, int),
        "complex": np.zeros(expected.shape, complex),
        "read-only": read_only,
        "list": expected.tolist(),
    }
    for what, out in wrong.items():
        kept = np.array(out)
        with pytest.raises(ValueError, match="out"):
            call(method, *arguments(method, k), out=out)
        np.testing.assert_array_equal(out, kept, what)


def test_batches_of_different_sizes_are_refused_by_name():
    with pytest.raises(ValueError, match="q has 3, v has 4"):
        MODEL.forward_dynamics(Q[:3], V[:4], X[0])


def test_a_quaternion_of_zeros_is_an_error_and_no_result():
    q = Q[0].copy()
    ball = next(name for name, joint in MECHANISM.joints.items() if isinstance(joint, lw.Spherical))
    q[MODEL.slices[ball][0]] = 0.0
    for f in (MODEL.forward_dynamics, MODEL.inverse_dynamics):
        with pytest.raises(lw.NumericalError, match="quaternion"):
            f(q, V[0], X[0])


def test_numbers_too_large_are_an_error_and_no_result():
    for v in (V[0] * 1e200, V * 1e200):
        with pytest.raises(lw.NumericalError, match="not finite"):
            MODEL.forward_dynamics(Q[0], v, X[0])


# forces on bodies


def test_forces_may_be_given_as_forces_or_numbers():
    rng = np.random.default_rng(1)
    n = rng.normal(size=6)
    expected = MODEL.forward_dynamics(Q[0], V[0], X[0], forces={NAME: n})
    for force in (lw.spatial.Force(n[:3], n[3:]), n.tolist(), tuple(n)):
        found = MODEL.forward_dynamics(Q[0], V[0], X[0], forces={NAME: force})
        np.testing.assert_array_equal(found, expected)
    none = MODEL.forward_dynamics(Q[0], V[0], X[0], forces={})
    np.testing.assert_allclose(none, MODEL.forward_dynamics(Q[0], V[0], X[0]), rtol=1e-13)
    pushed_ground = MODEL.forward_dynamics(Q[0], V[0], X[0], forces={"ground": n})
    np.testing.assert_array_equal(pushed_ground, none)


def test_wrong_forces_are_refused_by_name():
    forces = random_forces(MECHANISM, np.random.default_rng(1))
    for words, wrong in {
        "unknown body 'nobody'": {"nobody": np.zeros(6)},
        f"{NAME}.*6 finite numbers": {NAME: np.zeros(5)},
        f"(?s){NAME}.*nan": {NAME: np.full(6, np.nan)},
        f"{NAME}": {NAME: "push"},
        "forces": [1.0],
        "forces|body": {MODEL.body_names[0]: np.zeros((3, 6)), NAME: np.zeros((4, 6))},
    }.items():
        for f in (MODEL.forward_dynamics, MODEL.inverse_dynamics, MODEL.reactions, MODEL.accelerations):
            with pytest.raises(ValueError, match=words):
                f(Q[0], V[0], X[0], forces=wrong)
    with pytest.raises(ValueError, match="q has 9, forces has 3"):
        MODEL.forward_dynamics(Q, V[0], X[0], forces={name: np.tile(f, (3, 1)) for name, f in forces.items()})


# the rest


def test_unknown_bodies_and_points_are_refused():
    with pytest.raises(ValueError, match="unknown body 'bodi 1'; did you mean 'body 1'"):
        MODEL.jacobian(Q[0], "bodi 1")
    for point in ((0, 0), (0, 0, np.nan), "here"):
        with pytest.raises(ValueError, match="point"):
            MODEL.jacobian(Q[0], NAME, point)
    with pytest.raises(KeyError, match="unknown body 'bodi 1'"):
        MODEL.poses(Q[0])["bodi 1"]
    with pytest.raises(ValueError, match=r"\bq\b.*shape"):
        MODEL.jacobian(np.zeros(3), "ground")


def test_a_model_is_immutable_and_survives_pickling():
    with pytest.raises(AttributeError, match="cannot be set"):
        MODEL.nq = 3
    with pytest.raises(ValueError, match="read-only"):
        MODEL.armature[0] = 1.0
    for model in (MODEL, MODEL.specialize()):
        twin = pickle.loads(pickle.dumps(model))
        assert repr(twin) == repr(model)
    np.testing.assert_array_equal(
        twin.inverse_dynamics(Q, V, X), MODEL.specialize().inverse_dynamics(Q, V, X)
    )


def test_states_are_made_by_name():
    joint = MODEL.joint_names[0]
    own_q, own_v = MODEL.slices[joint]
    state = MODEL.state(velocities={joint: V[0][own_v]}, t=2.0, **{joint: Q[0][own_q]})
    np.testing.assert_array_equal(state.q[own_q], Q[0][own_q])
    np.testing.assert_array_equal(state.v[own_v], V[0][own_v])
    assert state.t == 2.0
    np.testing.assert_array_equal(np.delete(state.q, own_q), np.delete(MODEL.q_drawn, own_q))
    for wrong in ({"nobody": 1.0}, {joint: [1.0] * 9}, {joint: np.full(own_q.stop - own_q.start, np.nan)}):
        with pytest.raises(ValueError, match=f"state: .*{next(iter(wrong))}"):
            MODEL.state(**wrong)


def test_arrays_that_were_pickled_are_arrays():
    q, v, x, out = (pickle.loads(pickle.dumps(a)) for a in (Q[0], V[0], X[0], np.empty(MODEL.nv)))
    expected = MODEL.forward_dynamics(Q[0], V[0], X[0])
    np.testing.assert_array_equal(MODEL.forward_dynamics(q, v, x), expected)
    assert MODEL.forward_dynamics(Q[0], V[0], X[0], out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("batch", [None, 9])
def test_an_out_that_overlaps_an_input_gets_the_right_numbers(batch):
    n = MODEL.nv
    count = 1 if batch is None else batch
    room = np.zeros((count + 1) * n)
    tau, out = room[: count * n].reshape(count, n), room[1 : count * n + 1].reshape(count, n)
    tau[:] = X[:count]
    expected = MODEL.forward_dynamics(Q[:count], V[:count], X[:count])
    if batch is None:
        MODEL.forward_dynamics(Q[0], V[0], tau[0], out=out[0])
    else:
        MODEL.forward_dynamics(Q[:count], V[:count], tau, out=out)
    np.testing.assert_array_equal(out, expected)


def test_a_model_does_not_see_later_changes_of_the_mechanism():
    m = chain(3)
    model = m.compile()
    q, v, tau = model.q_drawn + 0.1, np.ones(model.nv), np.ones(model.nv)
    before = model.forward_dynamics(q, v, tau)
    m.gravity = (0, 0, 1)
    next(iter(m.bodies.values())).position = (1, 2, 3)
    for same in (model, copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(same.forward_dynamics(q, v, tau), before)


def test_joints_whose_names_are_no_words_can_be_set():
    m = lw.Mechanism()
    for name in ("t", "my joint"):
        body = m.add(lw.Body(f"body of {name}", lw.Box(1, 1, 1), mass=1))
        m.add(lw.Revolute(name, m.ground, body))
    model = m.compile()
    state = model.state({"t": 0.5, "my joint": 0.25}, t=3.0)
    assert state.q.tolist() == [0.5, 0.25]
    assert state.t == 3.0
