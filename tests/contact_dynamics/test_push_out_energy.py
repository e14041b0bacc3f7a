"""What is put into something else is pushed out, and makes little energy on its way."""

import numpy as np
import pytest

import linkwork as lw

STEP = 1 / 60


def tree():
    """Return a box with two arms of two parts each, floating."""
    m = lw.Mechanism("tree")
    trunk = m.add(lw.Body("trunk", lw.Box(0.2, 0.2, 0.4), density=1000, position=(0, 0, 1)))
    for side, word in ((1, "left"), (-1, "right")):
        arm = m.add(lw.Body(f"{word} arm", lw.Capsule(0.04, 0.2), density=1000, position=(0, 0.2 * side, 1)))
        hand = m.add(lw.Body(f"{word} hand", lw.Sphere(0.05), density=1000, position=(0, 0.2 * side, 0.8)))
        m.add(lw.Spherical(f"{word} shoulder", trunk, arm, at=(0, 0.15 * side, 1.1), damping=0.2))
        m.add(lw.Revolute(f"{word} wrist", arm, hand, at=(0, 0.2 * side, 0.86), axis=(0, 1, 0), damping=0.1))
    m.add(lw.Free("base", m.ground, trunk))
    return m


def crate():
    return lw.Body("crate", lw.Box(0.3, 0.3, 0.3), density=500)


@pytest.mark.parametrize("seed", [4, 7, 16, 21])
def test_a_crate_that_is_put_into_a_tree_throws_nothing_about(seed):
    scene, rng = lw.Scene(threads=1, record=False), np.random.default_rng(seed)
    scene.add(lw.ground_plane(), material=lw.Material(friction=0.6))
    one = scene.add(tree(), position=(0, 0, 0.4), velocity=2 * rng.normal(size=3))
    scene.add(crate(), position=(0.1, 0.1, 0.15))
    scene.step(STEP, n=50)
    place, speed = np.array(one.position) + 0.05 * rng.normal(size=3), 3 * rng.normal(size=3)
    scene.add(crate(), position=place, velocity=speed)
    energies = []
    for _ in range(20):
        energies.append(scene.energy())
        scene.step(STEP)
    assert np.diff(energies).max() < 30.0  # at 1 m/s a crate has 6.75 J, what is put into others pushes both


def test_a_stack_that_overlaps_is_pushed_apart_without_weight():
    m = lw.Mechanism("row", gravity=(0, 0, 0))
    balls = [m.add(lw.Body(f"{k}", lw.Sphere(0.1), mass=1.0, position=(0.2 * k, 0, 0))) for k in range(1, 9)]
    balls.insert(0, m.add(lw.Body("0", lw.Sphere(0.1), mass=1.0, position=(0.05, 0, 0))))
    for ball in balls:
        m.add(lw.Free(f"free {ball.name}", m.ground, ball))
    m.add(lw.Contact("contact"))
    with pytest.warns(UserWarning, match="overlap"):
        run = lw.simulate(m, 2.0, step=STEP)
    x = np.array([run[ball.name].position[-1][0] for ball in balls])
    assert np.diff(x).min() > 0.2 - 1e-3
    assert run.energy[-1] < 0.5
