"""Shapes are where joints place their bodies, wherever these are drawn."""

import numpy as np
import pytest

import linkwork as lw


def drawn_elsewhere():
    """Return a ball that hangs from a beam by a joint between frames, drawn metres away from there."""
    m = lw.Mechanism("drawn elsewhere")
    m.ground.collisions = [lw.Box(10, 10, 1, position=(0, 0, -0.5))]
    beam = m.add(lw.Body("beam", lw.Box(0.2, 0.2, 0.2), density=500, position=(0, 0, 2)))
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), density=500, position=(3, 0, 0.05)))
    m.add(lw.Free("base", m.ground, beam))
    m.add(lw.Spherical("hook", beam, ball, on_parent=(0, 0, -0.5), on_child=(0, 0, 0)))
    m.add(lw.Contact("all"))
    return m


@pytest.mark.parametrize("how", [{"step": 1 / 100}, {"accuracy": 1e-6}])
def test_bodies_drawn_elsewhere_touch_where_their_joints_place_them(how):
    run = lw.simulate(drawn_elsewhere(), duration=0.4, **how)
    falling = -0.5 * 9.81 * run.time**2
    np.testing.assert_allclose(run["beam"].position[:, 2] - 2.0, falling, atol=1e-6)
    np.testing.assert_allclose(run["ball"].position[:, 2] - 1.5, falling, atol=1e-6)
    run = lw.simulate(drawn_elsewhere(), duration=0.8, **how)
    assert run["ball"].position[-1, 2] == pytest.approx(0.1, abs=2e-3)
