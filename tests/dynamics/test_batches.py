"""Many at once: lane k is the single call, bit for bit, in one thread or two, rolled or specialized."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import llvmlite.binding as llvm
import numpy as np
import pytest
from mechanisms import Knee, chain, kinds, random_inertia, random_joint, random_state

import linkwork as lw
from linkwork.native import store
from linkwork.native.target import host

N = 1003  # no multiple of any number of lanes
SIZES = (1, 7, 8, 9)
Method = Callable[..., np.ndarray]

METHODS: dict[str, Method] = {
    "forward_dynamics": lambda m, q, v, x, f: m.forward_dynamics(q, v, x),
    "forward_dynamics, forces": lambda m, q, v, x, f: m.forward_dynamics(q, v, x, forces=f),
    "inverse_dynamics": lambda m, q, v, x, f: m.inverse_dynamics(q, v, x),
    "inverse_dynamics, forces": lambda m, q, v, x, f: m.inverse_dynamics(q, v, x, forces=f),
    "bias_forces": lambda m, q, v, x, f: m.bias_forces(q, v),
    "gravity_forces": lambda m, q, v, x, f: m.gravity_forces(q),
    "mass_matrix": lambda m, q, v, x, f: m.mass_matrix(q),
    "poses": lambda m, q, v, x, f: m.poses(q).array,
    "velocities": lambda m, q, v, x, f: m.velocities(q, v).array,
    "accelerations": lambda m, q, v, x, f: m.accelerations(q, v, x, forces=f).array,
    "jacobian": lambda m, q, v, x, f: m.jacobian(q, m.body_names[-1], np.ones(m.gravity.size)),
    "reactions": lambda m, q, v, x, f: m.reactions(q, v, x, forces=f).array,
    "energy": lambda m, q, v, x, f: np.asarray(m.energy(q, v)),
    "kinetic_energy": lambda m, q, v, x, f: np.asarray(m.kinetic_energy(q, v)),
    "potential_energy": lambda m, q, v, x, f: np.asarray(m.potential_energy(q)),
    "momentum": lambda m, q, v, x, f: m.momentum(q, v),
    "center_of_mass": lambda m, q, v, x, f: m.center_of_mass(q),
}


def one_of_each(space: str) -> lw.Mechanism:
    """Return a chain with every joint of a space, and the user's, every other one the wrong way round."""
    rng = np.random.default_rng(1)
    m = lw.Mechanism(f"one of each in {space}", space=space)
    last = m.ground
    for k, kind in enumerate([*kinds(space), *([Knee] if space == "space" else [])]):
        body = m.add(lw.Body(f"body {k}", random_inertia(rng, space)))
        m.add(random_joint(kind, f"joint {k}", *((last, body) if k % 2 else (body, last)), rng, space))
        last = body
    return m


MODELS: dict[str, Callable[[], lw.Model]] = {
    "space": lambda: one_of_each("space").compile(),
    "plane": lambda: one_of_each("plane").compile(),
    "space, specialized": lambda: small().compile().specialize(),
    "plane, specialized": lambda: one_of_each("plane").compile().specialize(),
}


def small() -> lw.Mechanism:
    """Return a tree of a few joints: unrolled code of a long one takes long to compile."""
    rng = np.random.default_rng(2)
    m = lw.Mechanism("small")
    bodies = [m.ground]
    for k, (kind, inner) in enumerate([(lw.Free, 0), (lw.Universal, 1), (lw.Helical, 1), (Knee, 2)]):
        body = m.add(lw.Body(f"body {k}", random_inertia(rng, "space")))
        pair = (bodies[inner], body) if k % 2 else (body, bodies[inner])
        m.add(random_joint(kind, f"joint {k}", *pair, rng, "space"))
        bodies.append(body)
    return m


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> lw.Model:
    return MODELS[request.param]()


def inputs(model: lw.Model, n: int) -> tuple:
    rng = np.random.default_rng(n)
    q, v, x = random_state(model, rng, n)
    size = 6 if model.space == "space" else 3
    forces = {model.body_names[k]: rng.normal(size=(n, size)) for k in (0, len(model.body_names) - 1)}
    return q, v, x, forces


def row(arguments: tuple, k: int | slice) -> tuple:
    q, v, x, forces = arguments
    return q[k], v[k], x[k], {name: force[k] for name, force in forces.items()}


@pytest.mark.parametrize("method", METHODS)
def test_lane_k_is_the_single_call_bit_for_bit(model, method):
    f, every = METHODS[method], inputs(model, N)
    batch = f(model, *every)
    single = np.array([f(model, *row(every, k)) for k in range(N)])
    assert batch.tobytes() == single.tobytes()
    for n in SIZES:
        assert f(model, *row(every, slice(n))).tobytes() == single[:n].tobytes(), n


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_may_be_empty(model, method):
    f = METHODS[method]
    shape = f(model, *row(inputs(model, 2), slice(2))).shape
    assert f(model, *row(inputs(model, 2), slice(0))).shape == (0, *shape[1:])


def test_one_state_serves_a_whole_batch(model):
    q, v, x, _ = inputs(model, 9)
    once = model.forward_dynamics(q, v[0], x)
    each = model.forward_dynamics(q, np.tile(v[0], (9, 1)), x)
    assert once.tobytes() == each.tobytes()


def test_entries_by_name_carry_the_batch(model):
    q, v, x, _ = inputs(model, 7)
    name = model.body_names[-1]
    pose, velocity = model.poses(q)[name], model.velocities(q, v)[name]
    size = model.gravity.size
    assert (pose.position.shape, pose.rotation.shape) == ((7, size), (7, size, size))
    assert velocity.linear.shape == (7, size)
    np.testing.assert_array_equal(pose.position[3], model.poses(q[3])[name].position)
    reaction = model.reactions(q, v, x)[model.joint_names[0]]
    np.testing.assert_array_equal(
        reaction.force[3], model.reactions(q[3], v[3], x[3])[model.joint_names[0]].force
    )


@pytest.mark.parametrize("which", MODELS)
def test_two_threads_at_once_get_the_same_bits_as_one(which):
    model = MODELS[which]()  # fresh: the first call of each method is made by both at once, too
    n, rounds = 100, 20
    work = [inputs(model, n), row(inputs(model, n + 1), slice(1, None))]
    expected_of = MODELS[which]()
    expected = [{name: f(expected_of, *every) for name, f in METHODS.items()} for every in work]
    together = Barrier(2)

    def run(who: int) -> list[str]:
        wrong = []
        for name, f in METHODS.items():
            together.wait()
            for _ in range(rounds):
                if f(model, *work[who]).tobytes() != expected[who][name].tobytes():
                    wrong.append(f"{name}, batch")
                for k in range(0, n, 10):
                    if f(model, *row(work[who], k)).tobytes() != expected[who][name][k].tobytes():
                        wrong.append(f"{name}, single")
        return wrong

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, range(2))) == [[], []]


def test_specialized_and_rolled_agree():
    for mechanism in (small(), one_of_each("plane")):
        rolled = mechanism.compile()
        special = rolled.specialize()
        every = row(inputs(rolled, 9), 3)
        for name, f in METHODS.items():
            expected = f(rolled, *every)
            tolerance = 1e-12 * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            np.testing.assert_allclose(
                f(special, *every), expected, rtol=0, atol=tolerance, err_msg=f"{name}"
            )


def test_a_chain_longer_than_any_unrolling_batches_too():
    model = chain(200).compile()
    q, v, x = random_state(model, np.random.default_rng(0), 9)
    batch = model.forward_dynamics(q, v, x)
    assert batch.tobytes() == np.array([model.forward_dynamics(*s) for s in zip(q, v, x)]).tobytes()


def test_code_for_lanes_is_made_only_for_batches():
    model = chain(3).compile()
    q, v, x = random_state(model, np.random.default_rng(0))
    out = np.empty(model.nv)
    model.forward_dynamics(q.tolist(), v, x, out=out)
    kernel = model.kernel("forward_dynamics")
    assert "lanes" not in vars(kernel)
    model.forward_dynamics(q[None], v[None], x[None], out=out[None])
    assert "lanes" in vars(kernel)


@pytest.mark.skipif(not store.fetch(), reason="not known how this processor fetches a line to write to")
def test_lines_of_results_are_fetched_now_and_then_and_not_in_one_go(monkeypatch):
    load, texts = store.load_apart, []

    def read_along(name, build):
        texts.append(build()[0])
        return load(name, build)

    monkeypatch.setattr(store, "load_apart", read_along)
    program = chain(8).compile().specialize().kernel("mass_matrix").lanes
    assembly = host().machine().emit_assembly(llvm.parse_assembly(texts[-1])).splitlines()
    where = [k for k, line in enumerate(assembly) if store.fetch() in line]
    fetched = sorted(int(re.findall(r"\s(\d*)\(", assembly[k])[0] or 0) for k in where)
    every = fetched[1]
    assert every % 64 == 0
    assert fetched == list(range(0, every * len(fetched), every))
    assert fetched[-1] < 8 * 8 * 8 * program.lanes <= fetched[-1] + every  # 8 by 8 doubles, to the last line
    assert np.median(np.diff(where)) > 10
