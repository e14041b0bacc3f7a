"""Where mechanisms start: as their bodies are drawn, wherever the frames of joints were given."""

from math import cos, pi, sin

import numpy as np
import pytest

import linkwork as lw


def two_bars(*placed: str, frames: bool = True) -> lw.Mechanism:
    """Return two bars of 1 m in the plane; those that are named are drawn, at 0.5 and -0.3 rad."""
    m = lw.Mechanism("two bars", space="plane")
    drawing = {"a": {"rotation": 0.5}, "b": {"position": (cos(0.5), sin(0.5)), "rotation": -0.3}}
    bar = lw.Inertia(1.0, (0.5, 0), 0.1)
    a, b = (m.add(lw.Body(k, bar, **(drawing[k] if k in placed else {}))) for k in "ab")
    m.add(lw.Revolute("A", m.ground, a, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", a, b, on_parent=(1, 0), on_child=(0, 0)) if frames else lw.Revolute("B", a, b))
    return m


def start(m: lw.Mechanism) -> np.ndarray:
    return m.compile().state().q


def test_frames_on_both_bodies_leave_bodies_where_they_are_drawn():
    m = two_bars("a", "b")
    model = m.compile()
    assert start(m) == pytest.approx([0.5, -0.8], abs=1e-15)
    poses = model.poses(model.state())
    for body in m.bodies.values():
        assert poses[body.name].position == pytest.approx(body.position, abs=1e-15)


def test_frames_coincide_where_bodies_are_not_drawn():
    assert start(two_bars()) == pytest.approx([0.0, 0.0], abs=0.0)
    m = lw.Mechanism("slide", space="plane")
    m.add(
        lw.Prismatic(
            "s", m.ground, m.add(lw.Body("p", lw.Box(1, 1, 1), mass=1.0)), on_parent=(1, 0), on_child=(0, 0)
        )
    )
    assert start(m) == [0.0]


def test_a_body_that_is_not_drawn_takes_its_place_beside_one_that_is():
    assert start(two_bars("a")) == pytest.approx([0.5, 0.0], abs=1e-15)


def test_a_place_in_the_world_is_where_coordinates_are_zero():
    assert start(two_bars("a", "b", frames=False)) == pytest.approx([0.5, 0.0], abs=1e-15)


def test_a_simulation_begins_where_it_was_assembled():
    m = lw.examples.four_bar(0.1, 0.3, 0.2, 0.25)
    for mode, posture in enumerate(lw.assembly_modes(driven := _with_driver(m))):
        n = driven.copy()
        n.assemble(branch=mode)
        n.remove("motor")
        model = n.compile()
        poses = model.poses(model.state())
        for name in n.bodies:
            assert poses[name].position == pytest.approx(posture[name].position, abs=1e-9)
            assert poses[name].rotation == pytest.approx(posture[name].rotation, abs=1e-9)


def _with_driver(m: lw.Mechanism) -> lw.Mechanism:
    n = m.copy()
    n.add(lw.Driver("motor", next(iter(n.joints)), 1.0))
    return n


@pytest.mark.parametrize(
    ("kind", "options", "q"),
    [
        (lw.Revolute, {"axis": (0, 0, 1)}, [0.7]),
        (lw.Prismatic, {"axis": (0, 1, 0)}, [-0.4]),
        (lw.Helical, {"axis": (0, 0, 1), "pitch": 0.1}, [7.0]),
        (lw.Cylindrical, {"axis": (1, 0, 0)}, [0.3, 0.2]),
        (lw.Universal, {}, [0.4, -0.6]),
        (lw.Spherical, {}, [cos(0.3), sin(0.3), 0.0, 0.0]),
    ],
)
def test_every_joint_finds_its_coordinates_in_the_drawing(kind, options, q):
    m = lw.Mechanism("one")
    where = {"on_parent": (0.1, 0.2, 0.3), "on_child": (0.0, 0.5, 0.0)}
    m.add(kind("j", m.ground, m.add(lw.Body("b", lw.Box(0.1, 0.2, 0.3), density=1000)), **where, **options))
    model = m.compile()
    there = model.poses(np.array(q))["b"]
    m["b"].position, m["b"].rotation = there.position, there.rotation
    assert start(m) == pytest.approx(q, abs=1e-12)
    assert m["j"].phi() == pytest.approx(np.zeros(6 - model.nv), abs=1e-12)


def test_an_angle_is_drawn_within_half_a_turn():
    m = two_bars("a")
    m["a"].rotation = 2 * pi - 0.1
    assert start(m)[0] == pytest.approx(-0.1, abs=1e-12)
