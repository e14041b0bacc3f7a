"""Creatures stand, fall and walk, in steps of 1/60 s with rigid contact, on a plane and on hills."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.contact_dynamics.detection.colliding_bodies import deep_overlaps, meeting
from linkwork.contact_dynamics.event_driven.touching import Surfaces

pytestmark = pytest.mark.filterwarnings("ignore:.*contacts were not solved")


def moved(mechanism, duration, **velocities):
    model = mechanism.compile()
    return lw.simulate(model, duration, model.state(velocities=velocities), step=1 / 60)


def depths(run):
    """Return how deep bodies overlap at each sample [m]."""
    surfaces = Surfaces(run.model, meeting(run.model.mechanism))
    return np.array([(-surfaces.find(q, 1e-6).gap).max(initial=0.0) for q in run.q])


@pytest.mark.parametrize("make", [examples.ragdoll, examples.quadruped, examples.pack, examples.crowd])
def test_nothing_overlaps_as_drawn(make):
    assert not deep_overlaps(meeting(make().compile().mechanism))


def test_a_ragdoll_is_as_heavy_and_as_tall_as_it_should():
    m = examples.ragdoll(1.8, 80.0)
    assert len(m.bodies) == 15
    assert sum(body.mass for body in m.bodies.values()) == pytest.approx(80.0)
    head = m.bodies["head"]
    (capsule,) = head.touched_by
    top = head.position[2] + 0.5 * capsule.length + capsule.radius
    assert top == pytest.approx(1.8, abs=0.01)
    assert m.compile().nv == 26


def test_a_ragdoll_falls_down_and_stays():
    run = moved(examples.ragdoll(position=(0, 0, 0.3)), 6.0, base=(1.0, 0.7, 0.3, 1.0, 0, 0))
    assert run["head"].position[-1][2] < 0.5
    assert np.abs(run["pelvis"].velocity[-30:]).max() < 0.05
    assert depths(run)[-30:].max() < 2e-3
    knee = run["left knee"].position
    assert knee.min() > -0.2
    assert knee.max() < np.radians(140) + 0.2


def test_a_quadruped_walks_along_its_lane():
    run = moved(examples.quadruped(), 10.0)
    way = run["trunk"].position
    assert way[-1][0] > 2.5
    assert np.abs(way[:, 1]).max() < 0.1
    assert run["trunk"].rotation[:, 2, 2].min() > 0.98
    assert depths(run).max() < 1e-3
    again = moved(examples.quadruped(), 10.0)
    assert again.q.tobytes() == run.q.tobytes()


def test_a_pack_walks_over_hills():
    ground = examples.hills(height=0.2)
    run = moved(examples.pack(3, ground=ground), 8.0)
    for k in (1, 2, 3):
        way, up = run[f"{k} trunk"].position, run[f"{k} trunk"].rotation[:, 2, 2]
        assert way[-1][0] - way[0][0] > 1.5
        assert up.min() > 0.9
        height = way[-1][2] - ground.height(way[-1][0], way[-1][1])
        assert 0.25 < height < 0.45


def test_hills_are_as_high_as_asked_and_can_be_asked():
    ground = examples.hills(10.0, 0.5, seed=3)
    assert np.ptp(ground.heights) == pytest.approx(0.5)
    assert ground.height(0.0, 0.0) == pytest.approx(0.0, abs=1e-12)
    hit = lw.ray_cast(ground, (1.0, 2.0, 5.0), (0.0, 0.0, -1.0))
    assert 5.0 - hit.distance == pytest.approx(ground.height(1.0, 2.0), abs=1e-9)
    assert (examples.hills(seed=3).heights != examples.hills(seed=4).heights).any()
