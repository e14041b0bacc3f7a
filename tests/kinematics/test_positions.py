"""Positions one by one, and in lanes."""

import numpy as np
import pytest

import linkwork as lw


def driven(build, joint):
    m = build()
    m.add(lw.Driver("motor", joint))
    return lw.Positions(m)


CASES = {
    "four-bar": (lw.examples.four_bar, "A"),
    "Jansen": (lw.examples.jansen_leg, "crank shaft"),
    "four-bar in space, redundant": (lambda: lw.examples.four_bar(space="space"), "A"),
    "Bennett": (lw.examples.bennett, "A"),
}


@pytest.mark.parametrize("name", CASES)
def test_many_give_what_one_after_the_other_gives(name):
    positions, alone = driven(*CASES[name]), driven(*CASES[name])
    values = np.linspace(0, 1.2, 21)[:, None]
    starts = np.array([alone(v) for v in values])
    found = positions.many(values + 0.02, starts)
    wanted = np.array([alone(v + 0.02) for v in values])
    assert np.abs(found - wanted).max() < 1e-11


def test_a_wild_start_is_reached_in_small_steps():
    positions, alone = driven(*CASES["four-bar"]), driven(*CASES["four-bar"])
    found = positions.many(np.array([[2.5], [-2.5]]))
    for value, q in zip((2.5, -2.5), found, strict=True):
        assert np.abs(q - alone([value])).max() < 1e-11
        alone([0.0])


def test_a_position_out_of_reach_leaves_the_last_one():
    positions = driven(lw.examples.four_bar, "D")
    here = positions([0.1])
    with pytest.raises(lw.AssemblyError, match="cannot assemble with motor = 3"):
        positions([3.0])
    assert (positions.q == here).all()
    assert np.abs(positions([0.1]) - here).max() < 1e-12
