"""Variants of a mechanism that are stepped, and controlled: each as if described so, and alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

N = 11  # more than a block of lanes, and not a whole number of them
MASSES = np.linspace(0.5, 2.0, N)
LENGTHS = np.linspace(0.3, 0.4, N)


def cart_pole(mass: float = 1.0, *, vectorized: bool = False) -> lw.Mechanism:
    m = lw.examples.cart_pole()
    m["pole"].mass = mass
    m.add(lw.Motor("motor", "rail"))

    def law(t: float, q: Any, v: Any, total: Any) -> Any:
        return 9.0 * q["pin"] + 2.0 * v["pin"] + 0.1 * total[0], total + q["pin"]

    m.add(lw.Sampled("balance", "motor", every=0.02, law=law, memory=[0.0], vectorized=vectorized))
    return m


def tied(length: float = 0.35) -> lw.Mechanism:
    """A four-bar linkage, with a weight on a rope: closed at another place in every variant."""
    m = lw.Mechanism("tied", space="plane", gravity=(0, -9.81))
    crank, coupler, rocker, bob = (
        m.add(lw.Body(name, lw.Inertia(0.4, (0.05, 0.0), 0.01)))
        for name in ("crank", "coupler", "rocker", "bob")
    )
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, coupler, on_parent=(0.1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", coupler, rocker, on_parent=(0.3, 0), on_child=(0.22, 0), damping=0.01))
    m.add(lw.Revolute("D", m.ground, rocker, on_parent=(0.2, 0), on_child=(0, 0)))
    m.add(lw.Planar("loose", m.ground, bob, at=(0.3, -0.2)))
    m.add(lw.Distance("rope", coupler, bob, on_parent=(0.1, 0.0), on_child=(0.0, 0.0), length=length))
    return m


def driven(length: float = 0.35) -> lw.Mechanism:
    m = tied(length)
    m.add(lw.Motor("motor", "A"))
    law = lambda t, q, v: 0.1 * q["D"] - 0.01 * v["C"]  # noqa: E731, one of these closes a loop
    m.add(lw.Sampled("control", "motor", every=0.05, law=law))
    return m


def bouncing(damping: float = 0.1) -> lw.Mechanism:
    m = lw.Mechanism("ball")
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0))
    m.add(lw.Prismatic("fall", m.ground, ball, at=(0, 0, 1), axis=(0, 0, 1), damping=damping))
    return m


EVENTS = [
    lw.Event("floor", lambda t, q, v: q["fall"] + 0.2, direction=-1, action=lambda t, q, v: (q, -0.7 * v))
]
CASES: dict[str, tuple[Any, str, np.ndarray, dict[str, Any]]] = {
    "controlled": (cart_pole, "pole.mass", MASSES, {}),
    "fixed steps": (cart_pole, "pole.mass", MASSES, {"method": "rk4", "step": 0.01}),
    "loops": (tied, "rope.length", LENGTHS, {}),
    "controlled loops": (driven, "rope.length", LENGTHS, {}),
    "events": (bouncing, "fall.damping", 0.1 * MASSES, {"events": EVENTS}),
}


def alone(name: str, k: int) -> lw.Mechanism:
    build, _, values, _ = CASES[name]
    return build(float(values[k]))


def at_start(name: str, k: int | None = None) -> dict[str, Any]:
    """Return a start of all variants, or of one, that is not as drawn."""
    if CASES[name][0] is not cart_pole:
        return {}
    q, v = np.array([0.0, 0.1]), np.zeros(2)
    return {"state": lw.State(q, v)} if k is not None else {"q": np.tile(q, (N, 1)), "v": v}


@pytest.mark.parametrize("name", CASES)
def test_steps_give_the_bits_that_each_gives_alone(name):
    build, number, values, options = CASES[name]
    sim = lw.Simulation(build(), vary={number: values}, record=True, **at_start(name), **options)
    singles = {
        k: lw.Simulation(alone(name, k), **at_start(name, k=k), **options) for k in (0, 1, 7, 8, N - 1)
    }
    for _ in range(8):
        sim.step(0.05)
        for single in singles.values():
            single.step(0.05)
    runs = sim.recording
    for k, single in singles.items():
        assert sim.q[k].tobytes() == single.q.tobytes()
        assert sim.v[k].tobytes() == single.v.tobytes()
        assert runs[k].q.tobytes() == single.recording.q.tobytes()
        assert runs[k].energy.tobytes() == single.recording.energy.tobytes()
        assert runs[k].report.provenance == single.recording.report.provenance
        assert sim.events[k] == single.events
        joint, body = single.model.joint_names[0], single.model.body_names[-1]
        assert sim[joint].acceleration[k] == single[joint].acceleration
        assert np.array_equal(sim[body].position[k], single[body].position)
        assert runs.at(0.37)[joint].position[k] == single.recording.at(0.37)[joint].position


@pytest.mark.parametrize("name", CASES)
def test_runs_with_controllers_give_the_bits_that_each_gives_alone(name):
    build, number, values, options = CASES[name]
    runs = lw.simulate(build(), 0.5, vary={number: values}, every=0.1, **at_start(name), **options)
    for k in (0, 1, 7, 8, N - 1):
        one = lw.simulate(alone(name, k), 0.5, every=0.1, **at_start(name, k=k), **options)
        assert runs[k].q.tobytes() == one.q.tobytes()
        assert runs[k].v.tobytes() == one.v.tobytes()
        for word, values_of in one.inputs.items():
            assert np.array_equal(runs[k].inputs[word], values_of)
        for word, memory in one.final.controllers.items():
            assert np.array_equal(runs.finals[k].controllers[word], memory)


def test_a_vectorized_controller_sees_all_variants():
    one = lw.Simulation(cart_pole(), vary={"pole.mass": MASSES}, **at_start("controlled"))
    all_ = lw.Simulation(cart_pole(vectorized=True), vary={"pole.mass": MASSES}, **at_start("controlled"))
    for sim in (one, all_):
        sim.step(0.1, n=5)
    assert one.q.tobytes() == all_.q.tobytes()


def test_variants_begin_as_drawn_or_in_one_state_for_all():
    drawn = lw.Simulation(tied(), vary={"B.on_parent[0]": np.linspace(0.09, 0.11, N)})
    assert drawn.q.shape == (N, drawn.model.nq)
    assert len(np.unique(drawn.q, axis=0)) == N  # each closes its loops elsewhere
    state = lw.State(np.array([0.1, 0.2]), np.zeros(2), 1.5)
    same = lw.Simulation(cart_pole(), state, vary={"pole.mass": MASSES})
    assert same.t == 1.5
    assert (same.q == [0.1, 0.2]).all()


def test_they_begin_anew_all_or_some():
    sim = lw.Simulation(tied(), vary={"rope.length": LENGTHS})
    first = sim.q
    sim.step(0.1)
    there = sim.q
    sim.reset(where=[2, 5])
    assert np.array_equal(sim.q[[2, 5]], first[[2, 5]])
    assert np.array_equal(sim.q[[0, 1, 3]], there[[0, 1, 3]])
    sim.reset()
    assert sim.q.tobytes() == first.tobytes()
    sim.step(0.1)
    assert sim.q.tobytes() == there.tobytes()
    with pytest.raises(ValueError, match=r"reset: q has shape \(3, .*11 variants"):
        sim.reset(q=np.zeros((3, sim.model.nq)))


def test_copies_and_files_go_on_bit_for_bit(tmp_path: Path):
    def make(masses: np.ndarray) -> lw.Simulation:
        return lw.Simulation(cart_pole(), vary={"pole.mass": masses}, record=True, **at_start("controlled"))

    sim = make(MASSES)
    sim.step(0.07, n=3)
    other, restored = sim.copy(), make(MASSES)
    sim.save(tmp_path / "sim")
    restored.restore(tmp_path / "sim")
    for each in (sim, other, restored):
        each.step(0.07, n=3)
    assert sim.q.tobytes() == other.q.tobytes() == restored.q.tobytes()
    assert sim.recording.q.tobytes() == restored.recording.q.tobytes()
    with pytest.raises(lw.FormatError, match="of another model"):
        make(1.1 * MASSES).restore(tmp_path / "sim")


@pytest.mark.parametrize("run", [lambda m, **o: lw.simulate(m, 0.1, **o), lw.Simulation])
def test_numbers_of_a_controller_do_not_vary(run):
    with pytest.raises(ValueError, match=r"'balance\.every': a sampled controller is the same for all"):
        run(cart_pole(), vary={"balance.every": [0.1, 0.2]})


def test_inputs_and_threads_are_as_in_a_batch():
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    sims = [lw.Simulation(m, vary={"pole.mass": MASSES}, threads=k) for k in (1, 2)]
    for sim in sims:
        sim.inputs["motor"] = np.linspace(-1.0, 1.0, N)
        sim.step(0.1, n=4)
    assert sims[0].q.tobytes() == sims[1].q.tobytes()
    m["pole"].mass = MASSES[3]
    one = lw.Simulation(m, inputs={"motor": np.linspace(-1.0, 1.0, N)[3]})
    one.step(0.1, n=4)
    assert sims[0].q[3].tobytes() == one.q.tobytes()
