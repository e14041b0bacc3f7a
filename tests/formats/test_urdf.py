"""URDF: what is read from a robot, and that every published one loads."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from robots import ARM, robot_files
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.formats import load
from linkwork.geometry import Box, Cylinder, MeshFile, Plane, Sphere
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.joints import Fixed, Free, Planar, Prismatic, Revolute
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism_check import check


def test_bodies_carry_the_inertia_of_their_link(read):
    m = read(ARM)
    assert list(m.bodies) == ["trunk", "upper", "finger"]
    upper = m.bodies["upper"].inertia
    turn = Rotation.from_euler("xyz", [0.4, 0.5, 0.6]).as_matrix()
    tensor = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    assert upper.mass == 2
    np.testing.assert_allclose(upper.com, (0.1, 0.2, 0.3))
    np.testing.assert_allclose(upper.tensor, turn @ tensor @ turn.T, rtol=1e-14)
    assert m.bodies["finger"].inertia.mass == 0


def test_joints_carry_place_axis_limits_and_losses(read):
    shoulder = read(ARM).joints["shoulder"]
    assert isinstance(shoulder, Revolute)
    assert (shoulder.parent.name, shoulder.child.name) == ("trunk", "upper")
    np.testing.assert_array_equal(shoulder.on_parent.position, (0, 0, 1))
    turn = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix()
    np.testing.assert_allclose(shoulder.on_parent.rotation, turn, atol=1e-15)
    np.testing.assert_array_equal(shoulder.on_child.rotation, np.eye(3))
    assert shoulder.axis == (0, 0, 1)
    assert shoulder.limits == (-1.5, 2)
    assert (shoulder.damping, shoulder.friction) == (0.5, 0.25)
    assert (shoulder.effort, shoulder.speed) == (10, 3)


def test_what_a_joint_does_not_say_has_its_urdf_default(read):
    grip = read(ARM).joints["grip"]
    assert isinstance(grip, Prismatic)
    assert grip.axis == (1, 0, 0)
    assert grip.limits is None
    assert (grip.effort, grip.speed) == (None, None)
    np.testing.assert_array_equal(grip.on_parent.position, (0, 0, 0))


def test_mimic_becomes_a_coupling(read):
    assert list(read(ARM).couplings.values()) == [Coupling("grip_mimic", "grip", "shoulder", -2.0, 0.5)]


def test_bodies_are_drawn_at_zero_coordinates(read):
    m = read(ARM)
    turn = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix()
    np.testing.assert_array_equal(m.bodies["upper"].position, (0, 0, 1))
    np.testing.assert_allclose(m.bodies["finger"].rotation, turn, atol=1e-15)


def test_visuals_and_collisions_are_kept_as_data(read):
    trunk, upper = (read(ARM).bodies[name] for name in ("trunk", "upper"))
    (block,) = trunk.visuals
    quarter = Rotation.from_euler("z", np.pi / 2).as_matrix()
    assert block.shape == Box(1, 2, 3, position=(0, 0, 0.1), rotation=block.shape.rotation)
    np.testing.assert_allclose(block.shape.rotation, quarter, atol=1e-15)
    assert (block.name, block.colour) == ("block", (0.5, 0.5, 0.6, 1))
    assert [collision.shape for collision in trunk.collisions] == [Sphere(2)]
    tube, mesh = upper.visuals
    assert tube.shape == Cylinder(0.1, 0.5)
    assert tube.colour == (1, 0, 0, 1)
    assert mesh.shape == MeshFile(filename="package://arm/a.stl", scale=(1, -1, 1))


def test_a_plane_is_a_half_space_as_in_pybullet(read):
    floor = '<collision><origin xyz="0 0 2"/><geometry><plane normal="0 0 3"/></geometry></collision>'
    (plane,) = read(f'<robot><link name="floor">{floor}</link></robot>')["floor"].collisions
    assert plane.shape == Plane((0, 0, 1), position=(0, 0, 2))


@pytest.mark.parametrize(("base", "kind"), [("fixed", Fixed), ("free", Free)])
def test_the_root_is_held_by_the_joint_base(read, base, kind):
    joint = read(ARM, base=base).joints["base"]
    assert isinstance(joint, kind)
    assert (joint.parent.name, joint.child.name) == ("ground", "trunk")


def test_the_base_is_fixed_or_free(read):
    with pytest.raises(ValueError, match="base 'floating'"):
        read(ARM, base="floating")


@pytest.mark.parametrize(
    ("kind", "joint"), [("continuous", Revolute), ("planar", Planar), ("floating", Free), ("fixed", Fixed)]
)
def test_every_type_of_joint_is_known(read, kind, joint):
    m = read(
        ARM.replace("revolute", kind).replace('<mimic joint="shoulder" multiplier="-2" offset="0.5"/>', "")
    )
    assert type(m.joints["shoulder"]) is joint
    assert m.joints["shoulder"].limits is None
    check(m)


def test_a_limit_without_a_range_is_no_limit(read):
    assert read(ARM.replace('lower="-1.5" upper="2"', "")).joints["shoulder"].limits is None


def test_a_mimicking_joint_that_was_fixed_stays_fixed(read):
    assert not read(ARM.replace("prismatic", "fixed")).couplings


def test_one_name_is_one_thing(read):
    text = ARM.replace('"trunk"', '"base"').replace('"upper"', '"shoulder"').replace('"finger"', '"ground"')
    m = read(text.replace('"grip"', '"base"'))
    assert list(m.bodies) == ["base_link", "shoulder_link", "ground_link"]
    assert list(m.joints) == ["base", "shoulder", "base_joint"]
    check(m)
    joint = '<joint name="x" type="fixed"><parent link="x"/><child link="x_link"/></joint>'
    clash = read(f'<robot><link name="x"/><link name="x_link"/>{joint}</robot>')
    assert list(clash.bodies) == ["x_link_link", "x_link"]


def test_the_robot_may_have_no_name(read):
    assert read('<robot><link name="a"/></robot>').name == "robot"


def test_a_byte_order_mark_is_fine(read):
    assert len(read(b"\xef\xbb\xbf" + ARM.encode()).bodies) == 3


def test_only_known_suffixes_are_read(tmp_path):
    with pytest.raises(FormatError, match=r"cannot read '\.txt'; available are"):
        load(tmp_path / "robot.txt")
    with pytest.raises(FormatError, match="robot: cannot read a file without suffix; available"):
        load(tmp_path / "robot")


def test_a_missing_file_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "robot.urdf")


@pytest.mark.parametrize(
    "name", ["%n%s", "..", "con", "&lt;img src=x onerror=alert(1)&gt;", "Finger", "ﬁnger", "a b"]
)
def test_strange_names_are_names(read, name):
    m = read(ARM.replace('"finger"', f'"{name}"'))
    assert name.replace("&lt;", "<").replace("&gt;", ">") in m.bodies


@pytest.mark.parametrize("number", ["2.", ".5", "+1", "1E-3", "-0.0", "5e-324", " 2 "])
def test_every_decimal_number_is_one(read, number):
    assert read(ARM.replace('damping="0.5"', f'damping="{number}"')).joints["shoulder"].damping == float(
        number
    )


def many(shape: str, n: int = 5000) -> str:
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    links = "".join(f'<link name="l{k}">{inertial}</link>\n' for k in range(n))
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><origin xyz="0 0 1"/><axis xyz="0 1 0"/>'
        f'<parent link="l{k if shape == "chain" else 0}"/><child link="l{k + 1}"/></joint>\n'
        for k in range(n - 1)
    )
    return f"<robot>{links}{joints}</robot>"


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_five_thousand_links_load(read, shape):
    m = read(many(shape))
    assert len(m.joints) == 5000
    assert m.bodies["l4999"].position[2] == (4999 if shape == "chain" else 1)
    check(m)


@pytest.mark.parametrize("name", sorted(robot_files()))
def test_every_published_robot_loads(name):
    path = robot_files()[name]
    if name == "ur3":  # published without a single link
        with pytest.raises(FormatError, match="there is no <link>"):
            load(path)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = load(path, base="free", repair=name == "romeo_laas_small")
        check(m)
    assert len(m.joints) == len(m.bodies)


def test_an_unreal_torso_is_refused_and_can_be_repaired():
    path = robot_files()["romeo_laas_small"]
    with pytest.raises(FormatError, match=r"romeo_laas_small\.urdf:331: .*/link 'body'/.* is negative"):
        load(path)
    with pytest.warns(UserWarning, match="principal moments .* repaired to") as told:
        m = load(path, repair=True)
    assert "link 'body'" in " ".join(str(warning.message) for warning in told)
    assert all(body.inertia.problems() == [] for body in m.bodies.values())


TRIANGLE = "principal moments .* \\(triangle inequality\\)"
ODD_ROBOT = """<robot name="odd"><link name="base_link"/><link name="arm"><inertial>
<origin xyz="0.3 0 0"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.9" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="j" type="continuous"><parent link="base_link"/><child link="arm"/>
<axis xyz="0 0 1"/></joint></robot>"""
ODD_MODEL = """<sdf version="1.9"><model name="odd"><link name="arm"><inertial><pose>0.3 0 0 0 0 0</pose>
<mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.9</izz></inertia></inertial></link>
<joint name="j" type="revolute"><parent>world</parent><child>arm</child><axis><xyz>0 0 1</xyz></axis>
</joint></model></sdf>"""


@pytest.mark.parametrize(("suffix", "text"), [("urdf", ODD_ROBOT), ("xml", ODD_ROBOT), ("sdf", ODD_MODEL)])
def test_inertia_that_no_body_has_is_refused_repaired_or_kept(tmp_path, suffix, text):
    path = tmp_path / f"robot.{suffix}"
    path.write_text(text)
    with pytest.raises(FormatError, match=f"{TRIANGLE}.* repair=True .*, unphysical=True keeps it"):
        lw.load(path)
    m = lw.load(path, unphysical=True)
    assert m["arm"].inertia.unphysical
    a = m.compile().forward_dynamics([0.0], [0.0], [1.0])
    np.testing.assert_allclose(a, [1 / (0.9 + 2 * 0.3**2)])  # with the moment of the file
    with pytest.warns(UserWarning, match="repaired to"):
        assert lw.load(path, repair=True)["arm"].inertia.sound
    path.write_text(text.replace('ixx="0.1"', 'ixx="-0.1"').replace("<ixx>0.1<", "<ixx>-0.1<"))
    with pytest.raises(FormatError, match=r"one is negative.* nearest real one$"):
        lw.load(path, unphysical=True)  # it would be moved the wrong way
    with pytest.raises(ValueError, match="repair=True changes what unphysical=True keeps"):
        lw.load(path, repair=True, unphysical=True)
    with pytest.raises(ValueError, match="unphysical 1; give True or False"):
        lw.load(path, unphysical=1)  # type: ignore[arg-type]


def test_nothing_else_takes_unphysical(tmp_path):
    with pytest.raises(ValueError, match=r"unphysical True has no meaning for 'm.json'"):
        lw.load(tmp_path / "m.json", unphysical=True)


@pytest.mark.filterwarnings("ignore:.*left out, as it is not URDF")
def test_a_small_flaw_in_a_published_robot_is_kept_and_told_when_it_is_checked():
    m = load(robot_files()["pr2"])
    np.testing.assert_allclose(np.diag(m.bodies["double_stereo_link"].inertia.tensor), (0.001, 0.001, 0.01))
    with pytest.warns(UserWarning, match="'sensor_mount_link' \\(the same with 'double_stereo_link'\\)"):
        check(m)


def test_a_mimic_of_an_unknown_joint_is_told_and_left_uncoupled(read):
    with pytest.warns(
        UserWarning, match=r"robot\.urdf:.*'grip'/mimic: left uncoupled: unknown joint 'shouldr'"
    ):
        m = read(ARM.replace('mimic joint="shoulder"', 'mimic joint="shouldr"'))
    assert not m.couplings


def test_what_published_robots_have_besides_urdf_is_left_out_with_one_warning(read):
    text = ARM.replace("<dynamics ", '<dynamics K="7" ').replace(
        '<link name="finger"/>', '<link name="finger"><gravity/></link>'
    )
    words = r"left out, as it is not URDF: <gravity> of <link> \(line 25\), K= of <dynamics> \(line 31\)"
    with pytest.warns(UserWarning, match=words) as told:
        assert read(text).joints["shoulder"].damping == 0.5
    assert len(told) == 1


def test_what_urdf_allows_is_read_in_silence(read):
    extras = '<calibration rising="0"/><safety_controller k_velocity="1"/><x:y a="1"/><dynamics'
    contact = '<link name="finger" xml:id="1"><contact><stiffness value="1"/></contact></link>'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(ARM.replace("<dynamics", extras).replace('<link name="finger"/>', contact))


def test_what_a_link_says_of_contact_is_its_material(read):
    numbers = {
        "lateral_friction": 0.9,
        "rolling_friction": 0.01,
        "spinning_friction": 0.02,
        "restitution": 0.5,
    }
    said = "".join(f'<{tag} value="{value}"/>' for tag, value in numbers.items())
    robot = read(
        ARM.replace('<link name="finger"/>', f'<link name="finger"><contact>{said}</contact></link>')
    )
    wanted = Material(friction=0.9, rolling=0.01, torsional=0.02, restitution=0.5)
    assert robot["finger"].material == wanted
    assert robot["upper"].material == Material()


@pytest.mark.filterwarnings("ignore:.*left out, as it is not URDF")
@pytest.mark.peers
@pytest.mark.parametrize(
    "name", ["panda", "talos_full_v2", "anymal_b_simple_description/anymal", "pr2", "icub", "solo12"]
)
def test_mass_centre_and_inertia_at_zero_are_those_of_pinocchio(name):
    import pinocchio

    path: Path = robot_files()[name]
    robot = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
    data = robot.createData()
    pinocchio.ccrba(robot, data, pinocchio.neutral(robot), np.zeros(robot.nv))
    bodies = load(path, base="free").bodies.values()
    first, *rest = (body.inertia.moved(body.position, body.rotation) for body in bodies)
    total = sum(rest, start=first)
    assert total.mass == pytest.approx(pinocchio.computeTotalMass(robot), rel=1e-13)
    np.testing.assert_allclose(total.com, data.com[0], atol=1e-13)
    np.testing.assert_allclose(total.tensor, data.Ig.inertia, rtol=1e-12, atol=1e-12)
