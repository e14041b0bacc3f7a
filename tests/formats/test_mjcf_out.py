"""Loads and states as MJCF: what is written is read back with the same accelerations, and by MuJoCo."""

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest
from formats.test_round_trips import MJCF, again, thing  # noqa: F401

import linkwork as lw
from linkwork.errors import FormatError

pytestmark = pytest.mark.peers


def arm() -> lw.Mechanism:
    """Two links with the motors, control laws and springs that people write."""
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    m = lw.Mechanism("arm")
    upper = m.add(lw.Body("upper", lw.Box(0.1, 0.1, 0.6), density=500, position=(0, 0, -0.3)))
    lower = m.add(lw.Body("lower", lw.Box(0.1, 0.1, 0.4), density=500, position=(0, 0, -0.8)))
    m.add(lw.Revolute("shoulder", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Revolute("elbow", upper, lower, at=(0, 0, -0.6), axis=(0, 1, 0.2)))
    return m


def moved(m: lw.Mechanism, inputs: dict[str, float]) -> np.ndarray:
    model = m.compile()
    state = model.state(shoulder=0.3, elbow=-0.7, velocities={"shoulder": 1.1, "elbow": -0.4})
    return model.motion(dataclasses.replace(state, inputs=inputs))


def held(u: lw.Input) -> lw.Motor:
    return lw.Motor("held", "elbow", lambda t, q, v: lw.min(lw.max(30 * (u - q) / 2 - 2 * v, -5), 4))


LAWS = {
    "input": lambda u: lw.Motor("push", "shoulder", u),
    "constant": lambda u: lw.Motor("push", "shoulder", 3.5),
    "gain": lambda u: lw.Motor("push", "elbow", lambda t, q, v: -3 * u),
    "gain within a range": lambda u: lw.Motor("push", "elbow", lambda t, q, v: 2 * lw.max(u, -0.25)),
    "position control": lambda u: lw.Motor("push", "elbow", lambda t, q, v: 20 * (0.5 + u - q) - v / 4),
    "force within a range": held,
    "geared": lambda u: lw.Feedback(
        "pair",
        ["shoulder", "elbow"],
        lambda t, q, v: [
            3 * (u - (q["shoulder"] + 2 * q["elbow"])),
            6 * (u - (q["shoulder"] + 2 * q["elbow"])),
        ],
    ),
    "tendon": lambda u: lw.Feedback(
        "pair",
        ["elbow", "shoulder"],
        lambda t, q, v: [-(q["elbow"] - q["shoulder"] - 0.2), q["elbow"] - q["shoulder"] - 0.2],
    ),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("detour", [False, True], ids=["", "by way of a file"])
def test_a_law_that_an_actuator_can_do_is_written(name, detour, tmp_path):
    m = arm()
    m.add(LAWS[name](lw.Input("u")))
    written = again(m, tmp_path / "arm.json") if detour else m
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written.save(tmp_path / "arm.xml")
    other = lw.load(tmp_path / "arm.xml")
    for u in (-0.6, 0.1, 2.0):
        inputs = {"u": u} if "u" in m.compile().inputs else {}
        np.testing.assert_allclose(moved(other, inputs), moved(m, inputs), rtol=1e-12)


def test_mujoco_does_what_a_law_does(tmp_path):
    import mujoco as untyped

    mujoco: Any = untyped

    m = arm()
    m.add(held(lw.Input("u")))
    m.add(lw.Spring("band", m["upper"], m.ground, stiffness=40, damping=3, on_child=(0.5, 0, 0)))
    m.states["up"] = {"shoulder": 0.3, "elbow": -0.7, "velocities": {"shoulder": 1.1, "elbow": -0.4}}
    m.save(tmp_path / "arm.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.ctrl[0] = 0.2
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(moved(m, {"u": 0.2}), data.qacc, rtol=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        lambda t, q, v: lw.sin(q),
        lambda t, q, v: 2 * t,
        lambda t, q, v: q * v,
        lambda t, q, v: lw.sin(lw.Input("a")) + q,
        lambda t, q, v: lw.max(q, 0.0) - v,
        lambda t, q, v: lw.where(q > 1, 0.0, 1.0),
    ],
)
def test_other_laws_are_left_out_by_name(law, tmp_path):
    m = arm()
    m.add(lw.Motor("odd", "elbow", law))
    with pytest.warns(UserWarning, match="left out: load 'odd'"):
        m.save(tmp_path / "arm.xml")


def test_one_input_of_two_motors_is_written_once(tmp_path):
    m = arm()
    for joint in ("shoulder", "elbow"):
        m.add(lw.Motor(f"at {joint}", joint, lw.Input("u")))
    with pytest.warns(UserWarning, match="left out: load 'at elbow'"):
        m.save(tmp_path / "arm.xml")


def test_a_model_of_mujoco_goes_out_as_it_came_in(thing, tmp_path):  # noqa: F811
    m = lw.load(thing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.save(tmp_path / "out.xml")
    other = lw.load(tmp_path / "out.xml")
    assert other.states["home"].keys() == m.states["home"].keys()
    rng, one, two = np.random.default_rng(0), m.compile(), other.compile()
    assert one.inputs == two.inputs
    state = one.state(**m.states["home"])
    for _ in range(3):
        inputs = dict(zip(one.inputs, rng.normal(size=len(one.inputs)).tolist(), strict=True))
        changed = dataclasses.replace(state, v=rng.normal(size=one.nv), inputs=inputs)
        expected = one.motion(changed)
        found = two.motion(dataclasses.replace(two.state(**other.states["home"]), v=changed.v, inputs=inputs))
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_armature_of_a_free_joint_is_kept(tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    m = lw.Mechanism("ball")
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), density=500))
    m.add(lw.Free("f", m.ground, ball, armature=0.2, damping=0.1))
    joint = again(m, tmp_path / "ball.xml").joints["f"]
    assert (list(joint.armature), list(joint.damping)) == ([0.2] * 6, [0.1] * 6)


def chain(count: int) -> lw.Mechanism:
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    m = lw.Mechanism("chain")
    body = m.ground
    for k in range(count):
        following = m.add(lw.Body(f"b{k}", lw.Sphere(0.1), density=500, position=(0, 0, -k)))
        m.add(lw.Revolute(f"j{k}", body, following, at=(0, 0, -k), axis=(0, 1, 0)))
        body = following
    return m


def test_long_chains_are_read_and_written_as_far_as_mujoco_does(tmp_path):
    m = chain(496)
    m.save(tmp_path / "chain.xml")
    assert list(lw.load(tmp_path / "chain.xml").joints) == list(m.joints)
    with pytest.raises(FormatError, match="body 'b496' hangs on a longer chain of bodies than MuJoCo"):
        chain(497).save(tmp_path / "longer.xml")
    text = (tmp_path / "chain.xml").read_text()
    (tmp_path / "wrong.xml").write_text(text.replace('name="b495"', 'name="b495" nme="x"'))
    with pytest.raises(FormatError) as error:
        lw.load(tmp_path / "wrong.xml")
    assert len(str(error.value)) < 1000
