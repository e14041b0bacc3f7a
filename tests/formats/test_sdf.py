"""SDF: frames as its versions mean them, joints that follow others, and what is listed as left out."""

import warnings

import numpy as np
import pytest

import linkwork as lw

ARM = """<sdf version="{version}"><world name="w"><gravity>0 0 -9.81</gravity>
<model name="arm"{placed}><pose>0.1 0.2 2 0 0 0.5</pose>
<link name="a"><pose>0 0 0 0.3 0.4 0.5</pose>{link}<inertial><mass>2</mass></inertial></link>
<link name="b"><pose>0 0 -1 0 0 0</pose><inertial><mass>2</mass></inertial></link>
<joint name="i" type="revolute"><parent>world</parent><child>a</child><axis>{axis}</axis></joint>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz>{mimic}</axis></joint>
</model></world></sdf>"""
AXIS = "<xyz>0 1 0</xyz>"
PLAIN = {"version": "1.9", "placed": "", "link": "", "axis": AXIS, "mimic": ""}


@pytest.fixture
def arm(tmp_path):
    def read(**changes: str) -> lw.Mechanism:
        path = tmp_path / "arm.sdf"
        path.write_text(ARM.format(**(PLAIN | changes)))
        return lw.load(path)

    return read


def _axis(m: lw.Mechanism) -> np.ndarray:
    on_parent, _ = m["i"].frames()
    return np.array(on_parent.R, float)[:, 2]


@pytest.mark.parametrize(
    ("axis", "version"),
    [
        (f"{AXIS}<use_parent_model_frame>1</use_parent_model_frame>", "1.6"),
        (AXIS, "1.4"),
        ('<xyz expressed_in="__model__">0 1 0</xyz>', "1.9"),
    ],
)
def test_axes_are_in_the_frame_that_the_version_says(axis, version, arm):
    np.testing.assert_allclose(
        _axis(arm(axis=axis, version=version)), (-np.sin(0.5), np.cos(0.5), 0), atol=1e-15
    )
    m = arm(axis=f"{AXIS}<use_parent_model_frame>false</use_parent_model_frame>", version="1.6")
    np.testing.assert_allclose(_axis(m), m["a"].rotation[:, 1], atol=1e-15)


def test_a_model_is_placed_by_its_frame(arm):
    m = arm(placed=' placement_frame="b"')
    np.testing.assert_allclose(m["b"].position, (0.1, 0.2, 2), atol=1e-15)
    np.testing.assert_allclose(m["a"].position, (0.1, 0.2, 3), atol=1e-15)


def test_joints_follow_others(arm):
    words = "<multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference>"
    m = arm(mimic=f'<mimic joint="i">{words}</mimic>')
    assert m.compile().state({"i": 0.3})["j"] == pytest.approx(2 * (0.3 - 0.1) + 0.5)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("<gravity>false</gravity>", ["<gravity> of <link>"]),
        ("<kinematic>1</kinematic>", ["<kinematic> of <link>"]),
        ("<velocity_decay><linear>1</linear></velocity_decay>", ["<velocity_decay> of <link>"]),
        ("<gravity>true</gravity><kinematic>0</kinematic>", []),
    ],
)
def test_what_sdf_has_and_we_have_not_is_listed(link, words, arm):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        arm(link=link)
    assert [word in str(one.message) for one in said for word in words] == [True] * len(words)
    assert len(said) == len(words)
