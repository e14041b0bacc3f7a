"""Scenes with contact: what stands stands, and the same bits come out of all ways to get there."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.mechanism.mechanism import Mechanism

STEP = 1 / 60


def boxes(places, size, material, **options):
    m = lw.Mechanism("boxes", **options)
    for k, place in enumerate(places):
        m.add(lw.Body(f"box {k}", lw.Box(*size), density=1000, position=place, material=material))
    m.ground.add(lw.Plane(), material=material)
    m.add(lw.Contact("contact"))
    return m


def heap() -> Mechanism:
    """Return balls and boxes that fall on each other."""
    m = lw.Mechanism("heap")
    generator = np.random.default_rng(3)
    for k in range(12):
        shape = lw.Sphere(0.05) if k % 2 else lw.Box(0.1, 0.08, 0.06)
        place = (*generator.uniform(-0.05, 0.05, 2), 0.1 + 0.12 * k)
        m.add(lw.Body(f"solid {k}", shape, density=1000, position=place))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    return m


def rolling_resistance() -> Mechanism:
    """Return a ball on a slope of 5 degrees that resists rolling."""
    made = lw.Material(friction=0.6, rolling=0.002, torsional=0.002)
    m = lw.Mechanism("roll", gravity=(0.855, 0.0, -9.773))
    m.add(lw.Body("ball", lw.Sphere(0.1), density=1000, position=(0, 0, 0.1), material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    return m


def stack() -> Mechanism:
    return boxes([(0.01 * (k % 2), 0, 0.05 + 0.1 * k) for k in range(5)], (0.2, 0.2, 0.1), lw.Material())


SCENES: dict[str, Callable[[], Mechanism]] = {
    "bouncing balls": examples.bouncing_balls,
    "rolling race": examples.rolling_race,
    "dominoes": lambda: examples.dominoes(6),
    "cradle": lambda: examples.newtons_cradle(gap=1e-3),
    "wall": lambda: examples.brick_wall(3, 3),
    "Geneva drive": examples.geneva_drive,
    "ratchet": examples.ratchet,
    "heap": heap,
    "resistance": rolling_resistance,
    "stack": stack,
}


def digest(run: lw.Recording) -> str:
    return hashlib.sha256(run.q.tobytes() + run.v.tobytes()).hexdigest()


def digests() -> list[str]:
    return [digest(lw.simulate(make(), 0.5, step=STEP)) for make in SCENES.values()]


def test_scenes_give_the_same_bits_again_and_in_another_process():
    here = digests()
    folder = str(Path(__file__).parent)
    paths = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    code = "import test_scenes; print(*test_scenes.digests(), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == here


@pytest.mark.parametrize("name", SCENES)
def test_scenes_are_saved_and_restored_in_mid_contact(name, tmp_path):
    model = SCENES[name]().compile()
    sim = lw.Simulation(model, step=STEP)
    sim.step(n=20)
    sim.save(tmp_path / "scene.lws")
    sim.step(n=10)
    other = lw.Simulation(model, step=STEP)
    other.restore(tmp_path / "scene.lws")
    other.step(n=10)
    np.testing.assert_array_equal(sim.q, other.q)
    np.testing.assert_array_equal(sim.v, other.v)


SPANS = {"dominoes": (0.163, 0.01), "heap": (0.12, 0.02)}  # [s] to the file, and after it
SPANS |= dict.fromkeys(("wall", "Geneva drive", "ratchet"), (0.06, 0.02))


@pytest.mark.parametrize("name", SCENES)
def test_scenes_to_an_accuracy_are_saved_and_restored_in_mid_contact(name, tmp_path):
    model, (first, rest) = SCENES[name]().compile(), SPANS.get(name, (0.3, 0.1))
    sim, other = lw.Simulation(model), lw.Simulation(model)
    sim.step(first)
    sim.save(tmp_path / "scene.lws")
    sim.step(rest)
    other.restore(tmp_path / "scene.lws")
    other.step(rest)
    np.testing.assert_array_equal(sim.q, other.q)
    np.testing.assert_array_equal(sim.v, other.v)


@pytest.mark.parametrize("cuts", [(1.0,), (0.3, 0.7, 1.1), (0.333, 0.51)])
def test_a_box_that_tumbles_gives_the_same_bits_in_pieces(cuts):
    m = lw.Mechanism("tumble")
    made = lw.Material(restitution=0.4)
    m.add(lw.Body("box", lw.Box(0.3, 0.2, 0.1), density=500, position=(0, 0, 0.6), material=made))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    model = m.compile()
    state = start = model.state(velocities={"box free": (3.0, 5.0, 2.0, 1.0, 0.5, 0.0)})
    for end in (*cuts, 1.5):
        state = lw.simulate(model, end - state.t, state, step=STEP).final
    whole = lw.simulate(model, 1.5, start, step=STEP).final
    np.testing.assert_array_equal(state.q, whole.q)
    np.testing.assert_array_equal(state.v, whole.v)


def test_batches_do_not_depend_on_the_number_of_threads():
    model = heap().compile()
    q = np.tile(model.q_drawn, (8, 1))
    q[:, 0] += np.linspace(0.0, 0.07, 8)
    options = {"q": q, "v": np.zeros((8, model.nv)), "step": STEP, "times": [0.25, 0.5]}
    one, two = (lw.simulate(model, 0.5, **options, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.q, two.q)


def moved(run):
    first, last = run.at(run.time[0]), run.at(run.time[-1])
    return max(
        float(np.abs(last[name].position - first[name].position).max()) for name in run.model.body_names
    )


def test_a_stack_of_twenty_stands_for_a_minute():
    m = boxes([(0, 0, 0.05 + 0.1 * k) for k in range(20)], (0.1, 0.1, 0.1), lw.Material())
    assert moved(lw.simulate(m, 60.0, step=STEP, times=[0.0, 60.0])) < 1e-5


def masonry_arch():
    """Return wedges of a half ring: friction and pressure alone hold it."""
    count, inner, outer, depth = 9, 1.0, 1.35, 0.3
    made = lw.Material(friction=0.7)
    m = lw.Mechanism("arch")
    for k in range(count):
        low, high = (np.pi * (k + end) / count for end in (0.0, 1.0))
        middle = 0.5 * (low + high)
        centre = 0.5 * (inner + outer) * np.array([np.cos(middle), 0.0, np.sin(middle)])
        corners = [
            (r * np.cos(a) - centre[0], y, r * np.sin(a) - centre[2])
            for a in (low, high)
            for r in (inner, outer)
            for y in (-0.5 * depth, 0.5 * depth)
        ]
        shape = lw.ConvexHull(corners)
        m.add(lw.Body(f"stone {k}", shape, density=2000, position=tuple(centre), material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    return m


def test_a_masonry_arch_stands():
    assert moved(lw.simulate(masonry_arch(), 10.0, step=STEP, times=[0.0, 10.0])) < 1e-4


def house_of_cards(levels):
    """Return tents of cards that lean on each other at 20 degrees, on each other."""
    made, length, wide, thick = lw.Material(friction=0.6), 0.09, 0.06, 3e-4
    c, s = np.cos(np.radians(20.0)), np.sin(np.radians(20.0))
    apart, high, floor = 2.0 * (length * s + thick * c), length * c + thick * s, 0.0
    m = lw.Mechanism("cards")
    for level in range(levels):
        tents = levels - level
        for k in range(tents):
            for side in (1.0, -1.0):
                turned = np.array([[c, 0, -side * s], [0, 1, 0], [side * s, 0, c]])
                x = (k - 0.5 * (tents - 1)) * apart - (turned @ (-0.5 * side * thick, 0, 0.5 * length))[0]
                place = (x, 0, floor + 0.5 * high)
                card = lw.Box(thick, wide, length)
                name = f"card {level} {k} {'left' if side > 0 else 'right'}"
                m.add(lw.Body(name, card, density=900, position=place, rotation=turned, material=made))
        floor += high + thick
        for k in range(tents - 1):
            place = ((k - 0.5 * (tents - 2)) * apart, 0, floor - 0.5 * thick)
            shape = lw.Box(0.999 * apart, wide, thick)
            m.add(lw.Body(f"roof {level} {k}", shape, density=900, position=place, material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    return m


def test_a_house_of_cards_stands():
    m = house_of_cards(3)
    assert len(m.bodies) == 15
    assert moved(lw.simulate(m, 10.0, step=STEP, times=[0.0, 10.0])) < 1e-5


def two_jaws():
    """Return jaws on slides that press a box by a force each; it hangs by friction."""
    made = lw.Material(friction=0.6)
    m = lw.Mechanism("gripper")
    m.add(lw.Body("box", lw.Box(0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 1.0), material=made))
    for name, side in (("left", -1.0), ("right", 1.0)):
        jaw = lw.Body(name, lw.Box(0.02, 0.1, 0.1), mass=0.2, position=(side * 0.06, 0, 1.0), material=made)
        m.add(jaw)
        m.add(lw.Prismatic(f"{name} slide", m.ground, jaw, axis=(1, 0, 0)))
        m.add(lw.Motor(f"{name} drive", f"{name} slide", lambda t, q, v, side=side: -side * 10.0))
    m.add(lw.Contact("contact"))
    return m


def test_a_gripper_holds_a_box():
    run = lw.simulate(two_jaws(), 60.0, step=STEP, times=[0.0, 60.0])
    assert abs(run["box"].position[-1, 2] - 1.0) < 1e-6


def growth(count):
    """Return by how much energy grows at most, over all of it, in random scenes.

    Balls and boxes in a closed box, e = 1 and with friction, thrown at random.
    """
    generator = np.random.default_rng(8)
    made = lw.Material(friction=0.3, restitution=1.0)
    m = lw.Mechanism("room", gravity=(0, 0, 0))
    for k, shape in enumerate([lw.Sphere(0.1), lw.Box(0.2, 0.15, 0.1), lw.Sphere(0.07)]):
        m.add(lw.Body(f"solid {k}", shape, density=1000, position=(0.4 * k - 0.4, 0, 0), material=made))
    for axis in np.eye(3):
        for normal in (axis, -axis):
            m.ground.add(lw.Plane(normal=tuple(normal), offset=-0.7), material=made)
    m.add(lw.Contact("contact"))
    model, worst = m.compile(), 0.0
    for _ in range(count):
        v = generator.normal(scale=3.0, size=model.nv)
        energy = lw.simulate(model, 0.3, lw.State(model.q_drawn, v), step=STEP).kinetic_energy
        worst = max(worst, float(np.diff(energy).max() / energy[0]))
    return worst


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.soak)])
def test_energy_never_grows_in_closed_scenes(count):
    assert growth(count) <= 1e-9
