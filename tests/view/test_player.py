"""The clock of a playback."""

import numpy as np
import pytest

from linkwork.view.player import Player


@pytest.fixture
def player():
    return Player(np.array([0.0, 0.5, 0.7, 2.0]))


def test_time_runs_at_its_speed(player):
    player.advance(0.4)
    assert player.t == 0.0
    player.play()
    player.advance(0.4)
    player.speed = 0.5
    player.advance(0.4)
    assert player.t == pytest.approx(0.6)
    player.pause()
    player.advance(1.0)
    assert player.t == pytest.approx(0.6)


def test_at_the_end_it_begins_anew_or_stops(player):
    player.play()
    player.advance(2.25)
    assert player.t == pytest.approx(0.25)
    player.loop = False
    told = []
    player.changed = lambda: told.append(player.playing)
    player.advance(3.0)
    assert player.t == 2.0
    assert told == [False]
    player.play()
    assert player.t == 0.0


def test_steps_go_from_sample_to_sample(player):
    player.seek(0.6)
    player.step(1)
    assert player.t == 0.7
    player.step(1)
    assert player.t == 2.0
    player.step(1)
    assert player.t == 2.0
    player.seek(0.6)
    player.step(-1)
    assert player.t == 0.5
    player.step(-1)
    assert player.t == 0.0
    assert not player.playing


def test_a_time_outside_is_brought_inside(player):
    player.seek(9.0)
    assert player.t == 2.0
    player.seek(-9.0)
    assert player.t == 0.0


def test_one_sample_cannot_be_played():
    player = Player(np.array([3.0]))
    player.play()
    assert not player.playing
