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


BODY = "<inertial><mass>1</mass></inertial>"
HAND = (
    f'<model name="h"><pose>1 0 0 0 0 0</pose><link name="palm"><pose>0 0 2 0 0 0</pose>{BODY}</link></model>'
)
FRAMES = f"""<link name="b"{{b}}</link><link name="c"><pose>0 0 1 0 0 0</pose>{BODY}</link>{HAND}
<frame name="f" attached_to="c"><pose>0 0 1 0 0 0</pose></frame>
<frame name="g" attached_to="f"><pose>1 0 0 0 0 0</pose></frame>
<joint name="j" type="revolute"><pose>0 0 0.5 0 0 0</pose><parent>b</parent><child>c</child>
<axis><xyz>0 1 0</xyz></axis></joint>"""


def load(path, text: str) -> lw.Mechanism:
    path.write_text(f'<sdf version="1.11">{text}</sdf>')
    return lw.load(path)


@pytest.mark.parametrize(
    ("to", "place"),
    [("h", (1, 0, 0)), ("h::palm", (1, 0, 2)), ("f", (0, 0, 2)), ("g", (1, 0, 2)), ("j", (0, 0, 1.5))],
)
def test_poses_are_relative_to_what_they_name(to, place, tmp_path):
    model = f"<model name='a'>{FRAMES}</model>"
    moved = f"><pose relative_to='{to}'>0 3 0 0 0 0</pose>{BODY}"
    b = load(tmp_path / "a.sdf", model.format(b=moved)).bodies["b"]
    np.testing.assert_allclose(b.position, np.add(place, (0, 3, 0)), atol=1e-15)
    drawn = "<geometry><sphere><radius>1</radius></sphere></geometry>"
    pose = f"<pose relative_to='{to}'>0 0 1 0 0 0</pose>"
    shown = f"><pose>0 0 5 0 0 0</pose>{BODY}<visual name='v'>{pose}{drawn}</visual>"
    touched = f"<collision name='v'>{pose}{drawn}</collision>"
    b = load(tmp_path / "a.sdf", model.format(b=shown + touched)).bodies["b"]
    for part in (*b.visuals, *b.collisions):
        np.testing.assert_allclose(part.shape.position, np.subtract(place, (0, 0, 4)), atol=1e-15)


@pytest.mark.parametrize(
    ("end", "link", "place"),
    [
        ("h", "h::palm", (0, 0, -2)),
        ("h::palm", "h::palm", (0, 0, 0)),
        ("f", "c", (0, 0, 1)),
        ("g", "c", (1, 0, 1)),
        ("j", "c", (0, 0, 0.5)),
    ],
)
def test_joints_are_on_the_link_that_a_frame_is_attached_to(end, link, place, tmp_path):
    body = f'<link name="e">{BODY}</link>'
    ends = f'<pose relative_to="{end}"/><parent>{end}</parent><child>e</child>'
    joint = f'<joint name="k" type="fixed">{ends}</joint>'
    text = f"<model name='a'>{FRAMES.format(b='>' + BODY)}{body}{joint}</model>"
    k = load(tmp_path / "a.sdf", text).joints["k"]
    assert k.ends == (link, "e")
    np.testing.assert_allclose(k.frames()[0].p, place, atol=1e-15)


def test_models_and_joints_of_a_world_are_placed_in_its_frames(tmp_path):
    text = f"""<world name="w"><frame name="f"><pose>0 0 7 0 0 0</pose></frame>
<model name="a"><pose relative_to="f">1 0 0 0 0 0</pose><link name="b">{BODY}</link></model>
<model name="c" placement_frame="d"><pose relative_to="a"/>
<link name="d"><pose>0 2 0 0 0 0</pose>{BODY}</link></model>
<joint name="j" type="revolute"><parent>a::b</parent><child>c::d</child><axis><xyz>1 0 0</xyz></axis></joint>
</world>"""
    m = load(tmp_path / "a.sdf", text)
    np.testing.assert_allclose(
        [m.bodies[name].position for name in ("a::b", "c::d")], [(1, 0, 7)] * 2, atol=1e-15
    )
    assert m.joints["j"].ends == ("a::b", "c::d")


def test_each_angle_of_a_universal_joint_has_its_own_limits_and_damping(tmp_path):
    one = "<limit><lower>-1</lower><upper>1</upper></limit><dynamics><damping>2</damping></dynamics>"
    two = "<dynamics><damping>3</damping><friction>0.1</friction></dynamics>"
    text = f"""<model name="a"><link name="b">{BODY}</link><joint name="j" type="universal">
<parent>world</parent><child>b</child><axis><xyz>1 0 0</xyz>{one}</axis>
<axis2><xyz>0 1 0</xyz>{two}</axis2></joint></model>"""
    j = load(tmp_path / "a.sdf", text).joints["j"]
    np.testing.assert_array_equal(j.limit_pairs(), [(-1, 1), (-np.inf, np.inf)])
    np.testing.assert_array_equal(j.per_coordinate("damping"), (2, 3))
    np.testing.assert_array_equal(j.per_coordinate("friction"), (0, 0.1))


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("<mass>1</mass>", "<pose relative_to='f'>0 0 0 0 0 0</pose><mass>1</mass>", "relative to 'f'"),
        ("<parent>b", "<parent>h::hand", "unknown link 'hand'"),
        ('attached_to="c"', 'attached_to="g"', "in a ring"),
        ("<frame", '<frame name="g"/><frame', "a second frame"),
        ("<pose>0 0 1", "<pose relative_to='world'>0 0 1", "unknown frame 'world'"),
        ("</model>", "<visual/></model>", "unknown element"),
    ],
)
def test_frames_that_are_nowhere_are_refused(old, new, word, tmp_path):
    text = f"<model name='a'>{FRAMES.format(b='>' + BODY)}</model>".replace(old, new, 1)
    with pytest.raises(lw.FormatError, match=word):
        load(tmp_path / "a.sdf", text)


def test_a_misspelt_radius_is_refused(tmp_path):
    drawn = "<visual name='v'><geometry><sphere><radios>3</radios></sphere></geometry></visual>"
    with pytest.raises(lw.FormatError, match="unknown element 'radios'"):
        load(tmp_path / "a.sdf", f"<model name='a'><link name='b'>{BODY}{drawn}</link></model>")
