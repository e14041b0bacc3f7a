"""What can be shown can be drawn, and played if it moves."""

import pytest

import linkwork as lw


@pytest.mark.parametrize("of", ["mechanism", "model", "recording", "kinematics"])
def test_all_that_can_be_shown_can_be_drawn(of):
    fourbar = lw.examples.four_bar()
    model = fourbar.compile()
    if of == "kinematics":
        fourbar.add(lw.Driver("motor", next(iter(fourbar.joints)), lambda t: t))
    made = {
        "mechanism": lambda: fourbar,
        "model": lambda: model,
        "recording": lambda: lw.simulate(model, 0.1),
        "kinematics": lambda: lw.kinematics(fourbar, [0.0, 0.1]),
    }[of]()
    assert made.snapshot().svg.count("<polygon") >= len(fourbar.bodies)


def test_what_does_not_move_has_nothing_to_play():
    fourbar = lw.examples.four_bar()
    for thing in (fourbar, fourbar.compile()):
        assert not hasattr(thing, "save_html")
        assert not hasattr(thing, "save_video")
