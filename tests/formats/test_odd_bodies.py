"""Bodies as robots have them, written to other formats: without mass, flat, touched, called like others."""

import warnings

import numpy as np
import pytest
from formats.test_round_trips import again, assert_same

import linkwork as lw
from linkwork.errors import FormatError

SUFFIXES = ["json", "urdf", pytest.param("xml", marks=pytest.mark.peers)]


def robot(tensor=None, tool: lw.Inertia | None = None, name: str = "tool") -> lw.Mechanism:
    """A pendulum of two with something fixed to its end that others can touch."""
    m = lw.Mechanism("robot")
    inertia = lw.Inertia(2.0, (0.1, 0.2, -0.3), np.diag((0.1, 0.2, 0.25)) if tensor is None else tensor)
    upper = m.add(lw.Body("upper", inertia))
    lower = m.add(lw.Body("lower", inertia, position=(0, 0, -1)))
    ball = lw.geometry.Collision(shape=lw.Sphere(0.1))
    end = m.add(lw.Body(name, tool or lw.Inertia.zero("space"), position=(0.3, 0, -2), collisions=[ball]))
    m.add(lw.Revolute("i", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Revolute("j", upper, lower, at=(0, 0, -1), axis=(1, 1, 0)))
    m.add(lw.Fixed("end", lower, end))
    return m


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_has_a_shape_and_no_mass_stays_without(suffix, tmp_path):
    m = robot()
    assert_same(m, other := again(m, tmp_path / f"robot.{suffix}"))
    assert other["tool"].inertia.mass == 0.0


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_inertia_without_mass_is_kept(suffix, tmp_path):
    m = robot(tool=lw.Inertia(0.0, (0, 0, 0), np.diag((0.03, 0.04, 0.05))))
    assert_same(m, other := again(m, tmp_path / f"robot.{suffix}"))
    np.testing.assert_allclose(other["tool"].inertia.tensor, np.diag((0.03, 0.04, 0.05)), atol=1e-16)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("seed", range(8))
def test_a_plate_is_kept_however_it_is_turned(suffix, seed, tmp_path):
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    m = robot(turn @ np.diag((0.1, 0.2, 0.3)) @ turn.T)
    assert_same(m, again(m, tmp_path / f"robot.{suffix}"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_body_may_be_called_world(suffix, tmp_path):
    m = robot(name="world")
    assert_same(m, again(m, tmp_path / f"robot.{suffix}"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: setattr(m["i"], "limits", (0.0, 0.0)), "limits of joint 'i', between which nothing is"),
        (lambda m: setattr(m["j"], "effort", 3.0), "effort of joint 'j'"),
        (lambda m: setattr(m["j"], "speed", 3.0), "speed of joint 'j'"),
    ],
)
def test_mjcf_lists_what_it_cannot_hold(change, words, tmp_path):
    change(m := robot())
    with pytest.warns(UserWarning, match=words):
        m.save(tmp_path / "robot.xml")


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ((0.1, 0.1, 0.3), r"body 'upper' has moments \(0.1, 0.1, 0.3\)"),
        ((0, 0, 0), "body 'upper' moves and has no"),
    ],
)
def test_mjcf_refuses_what_mujoco_has_not(moments, words, tmp_path):
    m = robot()
    m["upper"].inertia = lw.Inertia(2.0, (0, 0, 0), np.diag(moments), unphysical=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(FormatError, match=words):
            m.save(tmp_path / "robot.xml")


@pytest.mark.peers
def test_limits_far_away_are_none(tmp_path):
    m = robot()
    m["i"].limits = (-1e16, 1e16)
    assert_same(m, again(m, tmp_path / "robot.xml"))
