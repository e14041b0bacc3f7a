"""What contacts remember goes over edits by the names of bodies: a stack does not notice others' changes."""

import numpy as np
import pytest

import linkwork as lw

STEP = 1 / 60


def scene() -> lw.Mechanism:
    """Return a stack, a box and a four-bar linkage on a floor, in an order that edits can change."""
    m = lw.Mechanism("yard")
    m.ground.add(lw.Plane())
    m.add(lw.Body("aside", lw.Box(0.4, 0.3, 0.2), density=700, position=(3, 0, 0.1)))
    for k in range(5):
        m.add(lw.Body(f"box{k}", lw.Box(1, 1, 0.4), density=500 + 90 * k, position=(0, 0, 0.2 + 0.4 * k)))
    bars = {"crank": (0, 0, 1), "rod": (0.5, 0, 2), "rocker": (1, 0, 1)}
    bodies = {
        name: m.add(lw.Body(name, lw.Inertia(1.0, (0, 0, 0), 0.1 * np.eye(3)), position=(x + 6, y, z)))
        for name, (x, y, z) in bars.items()
    }
    crank, rod, rocker = bodies.values()
    turn = {"axis": (0, 1, 0)}
    m.add(lw.Revolute("A", m.ground, crank, at=(6, 0, 0.5), **turn))
    m.add(lw.Revolute("B", crank, rod, at=(6, 0, 2), **turn))
    m.add(lw.Revolute("C", rod, rocker, at=(7, 0, 2), **turn))
    m.add(lw.Revolute("D", m.ground, rocker, at=(7, 0, 0.5), **turn))
    m.add(lw.Contact("contact", material=lw.Material(friction=0.6)))
    return m


def of_stack(model: lw.Model, memory) -> dict:
    """Return what contacts between boxes, and of boxes with ground, remember: {names: [place, impulse]}."""
    names = [*model.body_names, "ground"]
    found: dict = {}
    for row, place, impulse in zip(
        memory["contact/bodies"], memory["contact/place"], memory["contact/impulse"], strict=True
    ):
        pair = (names[row[0]], row[1]), (names[row[2]], row[3])
        sign = 1.0
        if pair[0] > pair[1]:
            pair, sign = pair[::-1], -1.0
        if all(name == "ground" or name.startswith("box") for name, _ in pair):
            found.setdefault(pair, []).append((*place.tolist(), *(sign * impulse).tolist()))
    return found


def remove_aside(m: lw.Mechanism) -> None:
    m.remove("aside")


def add_before(m: lw.Mechanism) -> None:
    m.add(lw.Body("ball", lw.Sphere(0.2), density=400, position=(-4, 0, 2)))


def cut_loop(m: lw.Mechanism) -> None:
    m.remove("C")


def new_floor(m: lw.Mechanism) -> None:
    m.remove("aside")
    shelf = m.add(lw.Body("shelf", lw.Box(1, 1, 0.1), density=100, position=(9, 0, 3)))
    m.add(lw.Fixed("bolt", m.ground, shelf))  # fixed bodies come first in the world of shapes


@pytest.mark.parametrize("edit", [remove_aside, add_before, cut_loop, new_floor])
def test_a_stack_at_rest_does_not_notice_an_edit_elsewhere(edit):
    m = scene()
    model = m.compile(floating=True)
    before = lw.simulate(model, 0.5, step=STEP).final
    kept = of_stack(model, before.memory)
    assert len(kept) == 5
    assert all(len(points) == 4 for points in kept.values())
    edit(m)
    new, state = lw.carry(model, before, m)
    assert of_stack(new, state.memory) == kept  # to the bit
    sim = lw.Simulation(new, state, step=STEP)
    at = {name: new.poses(state.q)[name] for name in new.body_names if name.startswith("box")}
    again = of_stack(new, sim.state.memory)
    assert again == kept
    sim.step(STEP, n=6)
    for name, pose in at.items():
        there = new.poses(sim.q)[name]
        np.testing.assert_allclose(there.position, pose.position, rtol=0, atol=1e-9)
        np.testing.assert_allclose(there.rotation, pose.rotation, rtol=0, atol=1e-9)
    for pair, points in of_stack(new, sim.state.memory).items():
        np.testing.assert_allclose(points, kept[pair], rtol=1e-6, atol=1e-6)


def test_impulses_of_loops_are_carried_by_name():
    m = scene()
    m["rod"].collisions = [lw.Box(1.4, 0.2, 0.1)]
    m.add(lw.Body("load", lw.Box(0.2, 0.2, 0.2), density=2000, position=(6.8, 0, 2.15)))
    model = m.compile(floating=True)
    before = lw.simulate(model, 0.2, step=STEP).final
    m.remove("aside")
    held = lw.carry(model, before, m)[1].memory["contact/held"]
    assert np.abs(held).max() > 0.01
    np.testing.assert_array_equal(held, before.memory["contact/held"])
    m.remove("D")
    assert lw.carry(model, before, m)[1].memory["contact/held"].size == 0


def test_a_memory_of_other_bodies_is_not_used():
    model = scene().compile(floating=True)
    before = lw.simulate(model, 0.1, step=STEP).final
    other = lw.Mechanism("other")
    other.ground.add(lw.Plane())
    other.add(lw.Body("one", lw.Box(1, 1, 1), density=100, position=(0, 0, 0.5)))
    other.add(lw.Contact("contact"))
    compiled = other.compile()
    start = lw.State(compiled.q_drawn, np.zeros(6), 0.1, before.memory)
    run = lw.simulate(compiled, 0.1, start, step=STEP)
    plain = lw.simulate(compiled, 0.1, lw.State(compiled.q_drawn, np.zeros(6), 0.1), step=STEP)
    np.testing.assert_array_equal(run.q, plain.q)


def test_stops_and_friction_of_joints_remember_by_name():
    m = lw.Mechanism("gate")
    m.add(lw.Body("aside", lw.Sphere(0.1), density=700, position=(3, 0, 5)))
    for k in range(2):
        bar = m.add(lw.Body(f"bar{k}", lw.Box(1, 0.1, 0.1), density=500, position=(0.5, 2 * k, 1)))
        stop: dict = {"limits": (-1.0, 0.0), "stop": "rigid"} if k == 0 else {"friction": 1e4}
        m.add(lw.Revolute(f"hinge{k}", m.ground, bar, at=(0, 2 * k, 1), axis=(0, -1, 0), **stop))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    model = m.compile(floating=True)
    before = lw.simulate(model, 1.0, step=STEP).final
    was = before.memory
    m.remove("aside")
    extra = m.add(lw.Body("extra", lw.Box(0.1, 0.1, 0.1), density=500, position=(0, 5, 3)))
    m.add(lw.Revolute("pin", m.ground, extra, at=(0, 5, 3.5), axis=(0, 1, 0), friction=0.1))
    new, state = lw.carry(model, before, m)
    for name in ("hinge0", "hinge1"):
        at, then = new.slices[name][1], model.slices[name][1]
        np.testing.assert_array_equal(state.memory["contact/locked"][at], was["contact/locked"][then])
    np.testing.assert_array_equal(state.memory["contact/joint_impulse"], was["contact/joint_impulse"])
    assert np.abs(was["contact/joint_impulse"]).max() > 0.4
    sim = lw.Simulation(new, state, step=STEP)
    sim.step(n=5)
    for name in ("hinge0", "hinge1"):
        place = sim.q[new.slices[name][0]]
        np.testing.assert_allclose(place, before.q[model.slices[name][0]], rtol=0, atol=1e-9)
