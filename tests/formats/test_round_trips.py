"""Other formats: what is written is read back with the same accelerations, and as other programs see it."""

import dataclasses
import warnings
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.errors import FormatError
from linkwork.examples import cart_pole


def loop() -> lw.Mechanism:
    """A four-bar linkage in space that a ball closes."""
    m = lw.Mechanism("linkage")
    crank = m.add(lw.Body("crank", lw.Box(0.3, 0.05, 0.05), density=800, position=(0.15, 0, 0)))
    rod = m.add(lw.Body("rod", lw.Capsule(0.02, 0.8), density=800, position=(0.3, 0, 0.4)))
    rocker = m.add(lw.Body("rocker", lw.Box(0.04, 0.04, 0.6), density=800, position=(1.0, 0.1, 0.4)))
    m.add(lw.Revolute("a", m.ground, crank, at=(0, 0, 0), axis=(0, 1, 0.2), damping=0.1))
    m.add(lw.Universal("b", crank, rod, at=(0.3, 0, 0)))
    m.add(lw.Revolute("d", m.ground, rocker, at=(1.0, 0.1, 0.1), axis=(0, 1, 0), limits=(-2, 2)))
    m.add(lw.Spherical("c", rod, rocker, at=(1.0, 0.1, 0.7)))
    return m


def tree() -> lw.Mechanism:
    """Joints in odd places, one of them towards ground, a shape of each kind, a coupling."""
    m = lw.Mechanism("tree")
    shapes = [lw.Box(0.2, 0.1, 0.3), lw.Sphere(0.1), lw.Cylinder(0.1, 0.2), lw.Cone(0.1, 0.2)]
    base = m.add(lw.Body("base_plate", lw.Box(0.3, 0.3, 0.1), density=500, position=(0.1, 0.2, 0.3)))
    arm = m.add(
        lw.Body(
            "arm", *shapes, density=700, position=(0.5, 0, 0), visuals=shapes, rotation=(0.5, 0.5, 0.5, 0.5)
        )
    )
    hand = m.add(
        lw.Body(
            "hand", lw.Ellipsoid(0.1, 0.2, 0.1), mass=2, position=(0.9, 0.1, 0), collisions=[lw.Sphere(0.1)]
        )
    )
    tip = m.add(lw.Body("tip", lw.Sphere(0.05), mass=0.3, position=(1.2, 0.1, 0)))
    m.add(lw.Fixed("held", m.ground, base))
    m.add(lw.Revolute("shoulder", base, arm, at=(0.2, 0, 0), axis=(1, 2, 3), damping=0.2, friction=0.0))
    m.add(lw.Prismatic("slide", hand, arm, at=(0.7, 0, 0), axis=(0, 1, 1), limits=(-0.3, 0.4)))
    m.add(lw.Revolute("wrist", hand, tip, at=(1.0, 0.1, 0), axis=(0, 0, 1), limits=(-1, 1)))
    m.add(lw.Coupling("geared", "wrist", "shoulder", 0.5, 0.1))
    return m


def accelerations(m: lw.Mechanism, seed: int = 0) -> dict[str, np.ndarray]:
    """Return the accelerations of joints, in a state that is the same for mechanisms with the same joints."""
    model = m.compile()
    state = model.state()
    q, v = state.q.copy(), state.v.copy()
    if not model.loop_names:
        for name, (in_q, in_v) in state.slices.items():
            rng = np.random.default_rng([seed, len(name), *name.encode()])
            if m.joints[name].nq == m.joints[name].nv:
                q[in_q] += 0.3 * rng.normal(size=m.joints[name].nq)
            v[in_v] = rng.normal(size=m.joints[name].nv)
    found = model.motion(dataclasses.replace(state, q=q, v=v))
    return {name: found[in_v] for name, (_, in_v) in state.slices.items()}


def again(m: lw.Mechanism, path: Path, **options) -> lw.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        m.save(path)
        return lw.load(path, **options)


def assert_same(m: lw.Mechanism, other: lw.Mechanism) -> None:
    one, two = accelerations(m), accelerations(other)
    common = [name for name in one if name in two]
    assert any(one[name].size for name in common)
    scale = 1.0 + max(np.abs(x).max(initial=0.0) for x in one.values())
    for name in common:
        assert np.abs(one[name] - two[name]).max(initial=0.0) < 1e-12 * scale, name


@pytest.mark.parametrize("make", [tree, cart_pole])
def test_urdf_keeps_accelerations(make, tmp_path):
    m = make()
    for load in list(m.loads):
        m.remove(load)
    for joint in m.joints.values():
        joint.stiffness = joint.armature = 0.0
    assert_same(m, again(m, tmp_path / "robot.urdf"))


@pytest.mark.parametrize("name", ["bennett", "cart_pole"])
@pytest.mark.parametrize("suffix", ["json", "urdf", pytest.param("xml", marks=pytest.mark.peers)])
def test_examples_keep_accelerations(name, suffix, tmp_path):
    m = getattr(examples, name)()
    assert_same(m, again(m, tmp_path / f"example.{suffix}"))


@pytest.mark.parametrize("suffix", ["json", pytest.param("xml", marks=pytest.mark.peers)])
def test_a_delta_robot_keeps_accelerations_where_there_are_words_for_it(suffix, tmp_path):
    m = examples.delta_robot()
    assert_same(m, again(m, tmp_path / f"example.{suffix}"))
    with pytest.raises(FormatError, match=r"joint 'elbow 1 left': URDF has no Universal"):
        m.save(tmp_path / "example.urdf")


def test_urdf_keeps_ball_joints_as_bullet_and_mujoco_write_them(tmp_path):
    m = loop()
    m.remove("b")
    m.remove("c")
    m.add(lw.Spherical("b", m["crank"], m["rod"], at=(0.3, 0, 0), damping=0.3))
    m["a"].effort, m["a"].speed = 5.0, 2.0
    other = again(m, tmp_path / "robot.urdf")
    assert type(other.joints["b"]) is lw.Spherical
    assert (other["a"].effort, other["a"].speed) == (5.0, 2.0)
    assert_same(m, other)


def test_limits_of_a_ball_joint_are_left_out_by_name(tmp_path):
    path = tmp_path / "robot.urdf"
    m = loop()
    for name in ("b", "c"):
        m.remove(name)
    m.add(lw.Spherical("b", m["crank"], m["rod"], at=(0.3, 0, 0)))
    again(m, path)
    limit = '<limit lower="0.2" upper="0.8" twist="0.3"/>'
    path.write_text(path.read_text().replace('type="spherical">', f'type="spherical">{limit}'))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        lw.load(path)
    first, second = (str(each.message) for each in heard)
    assert "left out, as it is not URDF: twist= of <limit>" in first
    assert "joint 'b'/limit: left out: limits of a spherical joint" in second


def test_urdf_keeps_loops(tmp_path):
    m = loop()
    rod = m.joints["b"]
    m.remove("b")
    m.add(lw.Revolute("b", rod.parent, rod.child, at=(0.3, 0, 0), axis=(0, 1, 0)))
    m["d"].axis = (0, 1, 0.1)
    path = tmp_path / "robot.urdf"
    other = again(m, path)
    assert '<loop_joint name="c" type="spherical">' in path.read_text()
    assert type(other.joints["c"]) is lw.Spherical
    assert_same(m, other)


def test_a_loop_in_the_words_of_urdfdom_is_read(tmp_path):
    m = tree()
    again(m, tmp_path / "robot.urdf")
    text = (tmp_path / "robot.urdf").read_text()
    constraint = (
        '<constraint name="shut" type="revolute"><parent link="arm"/><parent_origin xyz="1 0 0" rpy="0 0 0"/>'
        '<parent_axis xyz="0 1 0"/><child link="tip"/><child_origin xyz="0 0 0.5"/><child_axis '
        'xyz="0 1 0"/></constraint>'
    )
    (tmp_path / "closed.urdf").write_text(text.replace("</robot>", constraint + "</robot>"))
    joint = lw.load(tmp_path / "closed.urdf").joints["shut"]
    assert type(joint) is lw.Revolute
    on_parent, on_child = joint.frames()
    np.testing.assert_allclose(np.array(on_parent.R, float)[:, 2], (0, 1, 0), atol=1e-15)
    np.testing.assert_allclose(np.array(on_child.p, float), (0, 0, 0.5), atol=1e-15)


def test_what_urdf_cannot_hold_is_named(tmp_path):
    m = loop()
    with pytest.raises(FormatError, match=r"joint 'b': URDF has no Universal; save it as \.mjcf or \.json"):
        m.save(tmp_path / "robot.urdf")
    m = tree()
    m.add(lw.Motor("drive", "shoulder"))
    m["shoulder"].stiffness = 3.0
    m.gravity = (0, 0, -1.62)
    with pytest.warns(
        UserWarning, match="left out are: stiffness of joint 'shoulder', load 'drive', gravity"
    ):
        m.save(tmp_path / "robot.urdf")
    plane = lw.Mechanism("flat", space="plane")
    with pytest.raises(FormatError, match=r"is planar; save it as \.json"):
        plane.save(tmp_path / "robot.urdf")


SDF = """<sdf version="1.9"><model name="arm">
  <frame name="tool" attached_to="lower"><pose>0 0 -0.5 0 0 0</pose></frame>
  <link name="upper"><pose>0 0 1 0 0.3 0</pose>
    <inertial><mass>2</mass><pose>0 0 -0.2 0.1 0 0</pose>
      <inertia><ixx>0.1</ixx><iyy>0.12</iyy><izz>0.05</izz><ixy>0.01</ixy></inertia></inertial>
    <visual name="v"><geometry><box><size>0.1 0.1 0.4</size></box></geometry>
      <material><diffuse>1 0 0 1</diffuse></material></visual>
    <sensor name="imu" type="imu"/></link>
  <link name="lower"><pose relative_to="upper">0 0 -0.4 0 0 0.2</pose>
    <inertial><mass>1</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial>
    <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent>world</parent><child>upper</child>
    <axis><xyz expressed_in="__model__">0 1 0</xyz><dynamics><damping>0.3</damping></dynamics></axis></joint>
  <joint name="elbow" type="revolute"><parent>upper</parent><child>lower</child><pose>0 0 0.1 0 0 0</pose>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort></limit></axis></joint>
  <model name="hand"><pose relative_to="tool">0 0 0 0 0 0</pose>
    <link name="palm"><inertial><mass>0.5</mass></inertial></link></model>
  <joint name="grip" type="fixed"><parent>lower</parent><child>hand::palm</child></joint>
</model></sdf>"""


def test_sdf_is_read_as_it_says(tmp_path):
    (tmp_path / "arm.sdf").write_text(SDF)
    with pytest.warns(UserWarning, match="<sensor> of <link>"):
        m = lw.load(tmp_path / "arm.sdf")
    assert list(m.bodies) == ["upper", "lower", "hand::palm"]
    assert list(m.joints) == ["shoulder", "elbow", "grip"]
    c, s = np.cos(0.3), np.sin(0.3)
    np.testing.assert_allclose(m["lower"].position, (-0.4 * s, 0, 1 - 0.4 * c), atol=1e-15)
    np.testing.assert_allclose(m["hand::palm"].position, (-0.9 * s, 0, 1 - 0.9 * c), atol=1e-15)
    on_parent, _ = m["shoulder"].frames()
    np.testing.assert_allclose(np.array(on_parent.R, float)[:, 2], (0, 1, 0), atol=1e-15)
    assert (m["elbow"].limits, m["elbow"].effort, m["shoulder"].damping) == ((-1, 2), 5, 0.3)
    assert m["upper"].visuals[0].colour == (1, 0, 0, 1)
    np.testing.assert_allclose(m["upper"].inertia.com, (0, 0, -0.2))
    by_hand = lw.Mechanism("arm")
    bodies = {
        name: by_hand.add(lw.Body(name, body.inertia, position=body.position, rotation=body.rotation))
        for name, body in m.bodies.items()
    }
    by_hand.add(lw.Revolute("shoulder", by_hand.ground, bodies["upper"], axis=(0, 1, 0), damping=0.3))
    turn = bodies["lower"].rotation
    at = bodies["lower"].position + turn @ (0, 0, 0.1)
    by_hand.add(lw.Revolute("elbow", bodies["upper"], bodies["lower"], at=at, axis=turn @ (0, 1, 0)))
    by_hand.add(lw.Fixed("grip", bodies["lower"], bodies["hand::palm"]))
    assert_same(m, by_hand)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<parent>upper</parent>", "<parent>uper</parent>", "unknown link 'uper'; did you mean 'upper'"),
        ('relative_to="upper"', 'relative_to="lower"', "relative to itself"),
        ('type="fixed"', 'type="glue"', "type='glue'; available are fixed"),
        ("<mass>2</mass>", "<mass>-2</mass>", "mass -2 is negative"),
        ("<mass>2</mass>", "<mass>nan</mass>", "'nan' is not a number"),
        ("<lower>-1</lower>", "<lower>3</lower>", "lower=3 is above upper=2"),
        ("<izz>0.05</izz>", "<izz>5</izz>", "repair=True"),
        ('<link name="lower">', '<link name="upper">', "a second link of this name"),
        ("0 0 1 0 0.3 0", "0 0 1 0 0.3", "has 5 numbers; give 6"),
        ("<model name=", "<include><uri>x</uri></include><model name=", "no other file is read"),
        ("<sdf", "<!DOCTYPE a><sdf", "<!DOCTYPE is not allowed"),
    ],
)
def test_wrong_sdf_is_refused_with_file_and_line(old, new, words, tmp_path):
    (tmp_path / "arm.sdf").write_text(SDF.replace(old, new, 1))
    with pytest.raises(FormatError, match=words) as error:
        lw.load(tmp_path / "arm.sdf")
    assert "arm.sdf:" in str(error.value)


DAE = """<COLLADA version="1.4.1"><asset><unit meter="0.01"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="f" count="24">
-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1</float_array>
<technique_common><accessor source="#f" count="8" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<polylist count="5"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#s" offset="1"/>
<vcount>4 4 4 4 4</vcount>
<p>0 0 3 0 2 0 1 0 4 0 5 0 6 0 7 0 0 0 1 0 5 0 4 0 1 0 2 0 6 0 5 0 2 0 3 0 7 0 6 0</p></polylist>
<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>3 0 4 3 4 7</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="w"><node><scale>1 1 -2</scale><translate>0 0 5</translate>
<node><rotate>0 0 1 90</rotate><instance_geometry url="#g"/></node></node></visual_scene>
</library_visual_scenes>
<scene><instance_visual_scene url="#w"/></scene></COLLADA>"""


@pytest.mark.parametrize("up", ["Z_UP", "Y_UP", "X_UP"])
def test_collada_is_put_together_in_metres_and_in_its_own_axes(up, tmp_path):
    (tmp_path / "part.dae").write_text(DAE.format(up=up))
    mesh = lw.load(tmp_path / "part.dae")
    assert mesh.problems() == ()
    assert mesh.volume == pytest.approx(16e-6, rel=1e-12)
    np.testing.assert_allclose(mesh.centre, (0, 0, -0.1), atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('url="#g"', 'url="#nothing"', "url='#nothing' is not in this file"),
        ('url="#g"', 'url="file:///etc/passwd"', "is not in this file"),
        ("<p>3 0 4 3 4 7</p>", "<p>3 0 4 3 4 8</p>", "vertex 8 of 8; allowed are 0 to 7"),
        ("<vcount>4 4", "<vcount>4 5", "counts that say 21"),
        ('count="8"', 'count="9"', "9 points of 3 numbers"),
        ("-1 -1 -1 1", "-1 nan -1 1", "'nan' is not a number"),
        ('meter="0.01"', 'meter="0"', "meter=0; allowed is"),
        ("<COLLADA", "<!DOCTYPE x [<!ENTITY a 'b'>]><COLLADA", "<!DOCTYPE is not allowed"),
        (
            "<node><rotate>0 0 1 90",
            '<node id="n"><instance_node url="#n"/><rotate>0 0 1 90',
            "round in a ring",
        ),
    ],
)
def test_wrong_collada_is_refused(old, new, words, tmp_path):
    (tmp_path / "part.dae").write_text(DAE.format(up="Z_UP").replace(old, new, 1))
    with pytest.raises(FormatError, match=words) as error:
        lw.load(tmp_path / "part.dae")
    assert "part.dae:" in str(error.value)


MJCF = """<mujoco model="thing"><compiler angle="degree"/>
<option gravity="0 0.5 -9" density="3" viscosity="0.1"/>
<default><joint damping="0.2" armature="0.01"/><geom density="500"/></default>
<worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="base" pos="0 0 1"><freejoint name="root"/><geom type="box" size="0.2 0.1 0.1"/>
    <body name="leg" pos="0.2 0 0" euler="10 20 30">
      <joint name="hip_x" axis="1 0 0" range="-30 40" stiffness="2" springref="10" ref="5"/>
      <joint name="hip_y" axis="0 1 0" pos="0 0 0.05"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05" friction="0.8 0.01 0.001" condim="6"/>
      <body name="foot" pos="0 0 -0.4"><joint name="ankle" type="ball"/><geom type="sphere" size="0.06"/>
        <site name="sole"/></body></body>
    <body name="arm" pos="-0.2 0 0"><joint name="reach" type="slide" axis="0 1 1" limited="true"
        range="-0.2 0.3"/>
      <geom type="ellipsoid" size="0.05 0.1 0.05"/><site name="palm"/></body></body>
</worldbody>
<tendon><fixed name="cable" stiffness="3" damping="0.4">
  <joint joint="hip_x" coef="1"/><joint joint="reach" coef="-2"/></fixed>
  <spatial name="rope" stiffness="20" springlength="0.1"><site site="sole"/>
  <site site="palm"/></spatial></tendon>
<actuator><motor name="push" joint="reach" gear="3" ctrlrange="-1 1" ctrllimited="true"/>
  <position name="aim" joint="hip_y" kp="7" kv="0.3"/><velocity name="turn" joint="hip_x" kv="2"/>
  <motor name="wind" tendon="cable" gear="2"/></actuator>
<contact><exclude body1="base" body2="arm"/></contact>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.1 0.2 1 0 0 0 0.05"
  qvel="1 0 0 0 0 0 0 0 0 0 0 0.3"/></keyframe>
</mujoco>"""


@pytest.fixture
def thing(tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    (tmp_path / "thing.xml").write_text(MJCF)
    return tmp_path / "thing.xml"


def mujoco_state(mujoco, model, data, m):
    """Return positions and velocities of a state of MuJoCo by joint, as ours are."""
    positions, velocities, turns = {}, {}, {}
    for j in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
        joint, q, v = m.joints[name], model.jnt_qposadr[j], model.jnt_dofadr[j]
        x, y = data.qpos[q : q + joint.nq], data.qvel[v : v + joint.nv]
        if joint.nv == 6:
            turn = np.empty(9)
            mujoco.mju_quat2Mat(turn, x[3:])
            turns[name] = turn = turn.reshape(3, 3)
            y = np.r_[y[3:], turn.T @ y[:3]]
        positions[name], velocities[name] = (float(a[0]) if a.size == 1 else a.copy() for a in (x, y))
    return positions, velocities, turns


@pytest.mark.peers
def test_mjcf_has_the_accelerations_of_mujoco(thing):
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(thing))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    m = lw.load(thing)
    m.remove("contact")
    for joint in m.joints.values():
        joint.limits = None
    ours = m.compile()
    rng = np.random.default_rng(0)
    for _ in range(4):
        data.qpos[:] = rng.normal(0.0, 0.4, model.nq)
        for k in (3, 9):
            data.qpos[k : k + 4] /= np.linalg.norm(data.qpos[k : k + 4])
        data.qvel[:], data.ctrl[:] = rng.normal(size=model.nv), rng.normal(size=model.nu)
        mujoco.mj_forward(model, data)
        positions, velocities, turns = mujoco_state(mujoco, model, data, m)
        state = ours.state(velocities=velocities, **positions)
        inputs = dict(zip(("push", "aim", "turn", "wind"), data.ctrl.tolist(), strict=True))
        found = ours.motion(dataclasses.replace(state, inputs=inputs))
        for j in range(model.njnt):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
            a = data.qacc[model.jnt_dofadr[j] :][: m.joints[name].nv]
            if name in turns:
                w, u = velocities[name][:3], velocities[name][3:]
                a = np.r_[a[3:], turns[name].T @ a[:3] - np.cross(w, u)]
            error = np.abs(found[state.slices[name][1]] - a).max()
            assert error < 1e-9 * (1.0 + np.abs(data.qacc).max()), name


@pytest.mark.peers
def test_mjcf_keeps_names_states_and_who_may_touch(thing):
    m = lw.load(thing)
    assert list(m.joints) == ["root", "hip_x", "hip_y", "ankle", "reach"]
    assert m["hip_x"].limits == pytest.approx((np.radians(-30), np.radians(40)))
    assert m.contacts["contact"].without == ((m["base"], m["arm"]),)
    assert m["leg"].collisions[0].material.rolling == 0.001
    home = m.compile().state(**m.states["home"])
    assert (home["reach"], home.velocities["reach"]) == (0.05, 0.3)
    np.testing.assert_allclose(home.velocities["root"], (0, 0, 0, 1, 0, 0))


@pytest.mark.peers
@pytest.mark.parametrize("make", [loop, tree])
def test_mjcf_keeps_accelerations(make, tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    m = make()
    other = again(m, tmp_path / "model.xml")
    assert_same(m, other)
    assert_same(m, again(other, tmp_path / "model.mjcf"))


@pytest.mark.peers
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<mujoco><include file="../../../../../../etc/passwd"/></mujoco>', "leads out of"),
        ('<mujoco><include file="x.xml"/></mujoco>', "is included twice"),
        ('<mujoco><asset><mesh name="m" file="/etc/passwd"/></asset></mujoco>', "leads out of"),
        (
            '<mujoco><worldbody><replicate count="1000000"><geom size="1"/></replicate></worldbody></mujoco>',
            "MuJoCo takes over",
        ),
        (
            '<mujoco><asset><texture builtin="flat" width="100000" height="100000"/></asset></mujoco>',
            "MuJoCo (takes over|cannot read)",
        ),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "MuJoCo cannot read it"),
        ("<mujoco><worldbody><geom/></worldbody>", "not well-formed XML"),
        ("<mujoco><worldbodies/></mujoco>", "MuJoCo cannot read it"),
        ("<house/>", "the root is <house>; available are <mujoco>, <robot>, <sdf>"),
    ],
)
def test_wrong_mjcf_is_refused(text, words, tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(FormatError, match=words):
        lw.load(tmp_path / "x.xml")


def drawn_elsewhere() -> lw.Mechanism:
    """A four-bar linkage, a slide that follows its crank, and a ball in the air: none is drawn at zero."""
    m = lw.Mechanism("elsewhere")
    bar = {"density": 800, "rotation": (np.cos(0.1), 0, -np.sin(0.1), 0)}
    crank = m.add(lw.Body("crank", lw.Box(0.3, 0.05, 0.05), position=(0.15, 0, 0.03), **bar))
    rod = m.add(lw.Body("rod", lw.Box(0.8, 0.02, 0.02), density=800, position=(0.7, 0, 0.1)))
    rocker = m.add(lw.Body("rocker", lw.Box(0.04, 0.04, 0.6), density=800, position=(1.1, 0, 0.3)))
    slide = m.add(lw.Body("slide", lw.Box(0.1, 0.1, 0.1), density=800, position=(0, 0.5, 0.2)))
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), density=500, position=(0, 0, 2), rotation=(0.8, 0.6, 0, 0)))
    on_crank, on_rod, on_rocker, top = (0.15, 0, 0), (-0.4, 0, 0), (0, 0, -0.2), (0, 0, 0.2)
    m.add(lw.Revolute("a", m.ground, crank, on_parent=(0, 0, 0), on_child=(-0.15, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Revolute("b", crank, rod, on_parent=on_crank, on_child=on_rod, axis=(0, 1, 0)))
    m.add(lw.Revolute("d", m.ground, rocker, on_parent=(1.1, 0, 0.5), on_child=top, axis=(0, 1, 0)))
    m.add(lw.Spherical("c", rod, rocker, on_parent=(0.4, 0, 0), on_child=on_rocker))
    m.add(lw.Prismatic("s", m.ground, slide, on_parent=(0, 0.5, 0), on_child=(0, 0, 0), axis=(0, 0, 1)))
    m.add(lw.Coupling("geared", "s", "a", 0.5, 0.3))
    m.add(lw.Free("f", m.ground, ball))
    m.assemble()
    return m


@pytest.mark.peers
def test_mjcf_keeps_where_joints_are_drawn(tmp_path):
    m = drawn_elsewhere()
    other = again(m, tmp_path / "model.xml")
    state, kept = m.compile().state(), other.compile().state()
    for name, joint in m.joints.items():
        if name != "c":  # a loop in MuJoCo has no coordinates
            np.testing.assert_allclose(kept[name], state[name], atol=1e-12, err_msg=name)
        if joint.nv == 1:
            assert abs(state[name]) > 0.01
    for name, body in m.bodies.items():
        np.testing.assert_allclose(other.bodies[name].position, body.position, atol=1e-12)
        np.testing.assert_allclose(other.bodies[name].rotation, body.rotation, atol=1e-12)
    assert_same(m, other)


@pytest.mark.peers
def test_mjcf_keeps_joints_that_move_bodies_without_mass(tmp_path):
    m = lw.Mechanism("steps")
    mast = m.add(lw.Body("mast", lw.Inertia.zero("space"), position=(0, 0, 0.3)))
    arm = m.add(lw.Body("arm", lw.Box(0.5, 0.1, 0.1), density=500, position=(0.2, 0.3, 0.5)))
    m.add(lw.Revolute("yaw", m.ground, mast, on_parent=(0, 0, 0.3), on_child=(0, 0, 0), axis=(0, 0, 1)))
    m.add(lw.Prismatic("out", mast, arm, on_parent=(0, 0, 0.2), on_child=(0, 0, 0), axis=(0, 1, 0)))
    arm.position, mast.rotation = (-0.3 * np.sin(0.4), 0.3 * np.cos(0.4), 0.5), lw.rotation_z(0.4).R
    arm.rotation = mast.rotation
    other = again(m, tmp_path / "model.xml")
    state, kept = m.compile().state(), other.compile().state()
    assert (kept["yaw"], kept["out"]) == pytest.approx((0.4, 0.3), abs=1e-12)
    assert (state["yaw"], state["out"]) == pytest.approx((0.4, 0.3), abs=1e-12)
    np.testing.assert_allclose(other.bodies["arm"].position, arm.position, atol=1e-12)
    assert_same(m, other)


@pytest.mark.peers
def test_mjcf_says_which_joints_it_cannot_begin_as_they_are_drawn(tmp_path):
    m = lw.Mechanism("cardan")
    body = m.add(lw.Body("body", lw.Sphere(0.1), density=500, rotation=lw.rotation_x(0.3).R))
    m.add(lw.Universal("u", m.ground, body, on_parent=(0, 0, 0), on_child=(0, 0, 0.2)))
    with pytest.warns(UserWarning, match="where joint 'u' is drawn"):
        m.save(tmp_path / "model.xml")


def test_urdf_says_which_joints_are_not_drawn_at_zero(tmp_path):
    m = drawn_elsewhere()
    with pytest.warns(UserWarning, match="where joint 'a' is drawn") as said:
        m.save(tmp_path / "robot.urdf")
    assert all(f"joint {name!r} is drawn" in str(said[0].message) for name in "abdsf")


@pytest.mark.peers
def test_a_large_mesh_lies_beside_a_model_of_mujoco(tmp_path):
    m = lw.Mechanism("stone")
    angles = np.linspace(0, 2 * np.pi, 16_000, endpoint=False)
    corners = np.c_[np.cos(angles), np.sin(angles), 0 * angles]
    points = np.r_[corners, [(0, 0, 1), (0, 0, -1)]]
    k = np.arange(len(angles))
    faces = np.r_[
        np.c_[k, np.roll(k, -1), np.full(len(k), len(k))],
        np.c_[np.roll(k, -1), k, np.full(len(k), len(k) + 1)],
    ]
    drawn = lw.geometry.Visual(shape=lw.geometry.Mesh(points, faces))
    stone = m.add(lw.Body("stone", lw.Sphere(1.0), density=2000, visuals=[drawn]))
    m.add(lw.Free("f", m.ground, stone))
    other = again(m, tmp_path / "model.xml")
    assert (tmp_path / "model_1.obj").is_file()
    assert_same(m, other)
