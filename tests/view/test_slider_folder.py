"""Sliders in the panel: those of what is selected or searched for."""

import pytest

import linkwork as lw
from linkwork.view import show
from linkwork.view.slider_folder import within


@pytest.fixture
def viewer():
    with show(lw.examples.humanoid(), open_browser=False, block=False) as made:
        yield made


def seen(viewer):
    return [name for name, slider in viewer.sliders.items() if slider.visible]


def test_every_joint_has_a_slider_and_a_selected_one_its_own(viewer):
    single = [name for name in viewer._model.joint_names if viewer._model.joints[name].nv == 1]
    assert list(viewer.sliders) == single
    assert seen(viewer) == single[:10]  # the folder leaves room for what is below it
    viewer.moved_by._all.value = True
    viewer.moved_by._arrange()
    assert seen(viewer) == single
    viewer.select("left_knee")
    assert seen(viewer) == ["left_knee"]
    viewer.select("left_shin")  # a body: the joints that it is on
    assert seen(viewer) == ["left_knee", "left_ankle_pitch"]
    viewer.select(None)
    assert seen(viewer) == single


def test_sliders_are_found_by_name(viewer):
    viewer.moved_by._find.value = "Shoulder"
    viewer.moved_by._arrange()
    assert seen(viewer) == [name for name in viewer.sliders if "shoulder" in name]
    viewer.select("left_knee")  # what is searched for stays
    assert len(seen(viewer)) == 4


def test_of_a_long_chain_the_first_are_shown_and_others_when_they_are_selected():
    with show(lw.examples.chain(80), open_browser=False, block=False) as viewer:
        assert len(seen(viewer)) == 10
        assert len(viewer.sliders) == 80
        last = list(viewer.sliders)[-1]
        viewer.select(last)
        assert seen(viewer) == [last]


def test_what_rounding_leaves_of_zero_is_zero():
    assert str(within(-1e-17, -3.14, 3.14)) == "0.0"
    assert within(4.0, -3.14, 3.14) == 3.14
    assert within(1.23456e-7, -1e-6, 1e-6) == 1.23456e-7
