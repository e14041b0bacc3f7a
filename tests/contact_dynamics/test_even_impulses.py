"""Impulses of an impact whose laws leave it open how contacts share them."""

import numpy as np
import pytest

import linkwork as lw

G = 9.81
BOTH = pytest.mark.parametrize("options", [{"step": 1 / 60}, {}], ids=["steps", "accuracy"])


def dropped(velocity=(0.0, 0.0, 0.0), friction=0.5):
    """Return a box of 0.6 kg that falls flat by 0.2 m, and its state."""
    made = lw.Material(friction=friction, restitution=0.5)
    m = lw.Mechanism("drop")
    m.add(lw.Body("box", lw.Box(0.2, 0.1, 0.05), density=600, position=(0, 0, 0.225), material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    model = m.compile()
    state = model.state()
    state.v[3:] = velocity
    return model, state


@BOTH
def test_the_corners_of_a_box_that_falls_flat_share_the_impulse(options):
    model, state = dropped()
    run = lw.simulate(model, 0.25, state, **options)
    hits = np.array([one.impulse for one in run.report.impacts])
    each = 0.25 * 0.6 * 1.5 * np.sqrt(2 * G * 0.2)
    assert hits == pytest.approx(np.tile([0.0, 0.0, each], (4, 1)), abs=1e-9)


@BOTH
@pytest.mark.parametrize(("speed", "friction"), [(0.3, 0.5), (3.0, 0.1)], ids=["sticks", "slides"])
def test_impulses_are_all_that_the_floor_does(options, speed, friction):
    model, state = dropped((speed, 0.0, 0.0), friction)
    run = lw.simulate(model, 0.25, state, **options)
    times = {one.time for one in run.report.impacts}
    total = sum(np.array(one.impulse) for one in run.report.impacts)
    fallen = np.array([speed, 0.0, -G * 0.25])
    assert len(times) >= 1
    assert total == pytest.approx(0.6 * (run["box"].velocity[-1] - fallen), abs=1e-8)
    for one in run.report.impacts:
        assert np.hypot(*one.impulse[:2]) <= friction * one.impulse[2] * (1.0 + 1e-9)
