"""Demos that are heard: what begins to sound does so when bodies touch, to 5 ms; and what they are shows."""

import numpy as np
import pytest

from linkwork.acoustics.sound import sound
from linkwork.demonstration import GALLERY

pytestmark = pytest.mark.filterwarnings("ignore:.*contacts were not solved")
HEARD = ["steam-engine", "pack", "tower", "bridge"]
SPAN = {"steam-engine": 2.0, "pack": 2.0, "tower": 1.2, "bridge": 1.5}


@pytest.fixture(scope="module", params=HEARD)
def played(request):
    demo = GALLERY[request.param]
    assert demo.sound
    run = demo.play(demo.build().compile(), SPAN[request.param], None if demo.step else 1 / 240)
    return request.param, run, sound(run, travel=False)


def loud(heard):
    """Return the loudest sample of each millisecond."""
    block = heard.rate // 1000
    level = np.abs(heard.samples).max(axis=1)
    return level[: len(level) // block * block].reshape(-1, block).max(axis=1) * 1.0


def test_sound_begins_when_something_happens(played):
    """Where the level rises fivefold after 15 quiet ms, something has begun to sound within 5 ms."""
    name, run, heard = played
    level, times = loud(heard), np.array([one.time for one in heard.onsets])
    assert len(times) > 3
    rises = [
        k / 1000.0
        for k in range(15, len(level))
        if level[k] > 0.02 and level[k] > 5.0 * level[k - 15 : k].max()
    ]
    assert rises, name
    for rise in rises:
        assert np.abs(times - run.time[0] - rise).min() < 0.005, (name, rise)


def test_every_loud_blow_is_heard_at_once(played):
    """The loudest that nothing 60 ms before may drown, and the first, are in the samples within 5 ms.

    What is a hundred times weaker than the loudest blow need not be loud.
    """
    name, run, heard = played
    level, times = loud(heard), np.array([one.time for one in heard.onsets])
    clear = [one for one in heard.onsets if not ((times < one.time) & (times > one.time - 0.06)).any()]
    assert len(clear) > 2, name
    largest = max(one.size for one in heard.onsets)
    for one in [heard.onsets[0], *sorted(clear, key=lambda one: -one.size)[:3]]:
        k = round((one.time - run.time[0]) * 1000)
        before, after = level[max(k - 3, 0) : max(k - 1, 1)].max(), level[k : k + 6].max()
        assert after > before, (name, one)
        assert after > 1e-3 or one.size < 0.01 * largest, (name, one)


def test_impacts_of_the_run_are_onsets(played):
    name, run, heard = played
    times = np.array([one.time for one in heard.onsets])
    for one in run.report.impacts:
        if np.linalg.norm(one.impulse) > 0.5:
            assert np.abs(times - one.time).min() < 1e-9, (name, one)


def test_a_bridge_breaks_and_a_tower_falls():
    bridge = GALLERY["bridge"]
    run = bridge.play(bridge.build().compile(), 1.5, None)
    assert run["bridge/plank 5"].position[-1][2] < -1.0
    assert any(name == "structure changes" for _, name in run.report.events)
    tower = GALLERY["tower"]
    run = tower.play(tower.build().compile(), 1.5, None)
    assert run["block 8.1"].position[0][2] == pytest.approx(1.5)
    assert run["block 8.1"].position[-1][2] < 1.0
