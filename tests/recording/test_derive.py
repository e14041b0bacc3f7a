"""Derived quantities, by name, of any number of samples."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.recording import array_file
from linkwork.recording.channels import LiveChannels
from linkwork.recording.derive import CONTACT_QUANTITIES, QUANTITIES, derive, formulas


@pytest.fixture(scope="module")
def run():
    m = lw.examples.four_bar()
    m.joints["D"].damping = 0.2
    m.add(lw.Spring("spring", m["coupler"], m.ground, on_child=(0, 0.5), stiffness=40.0))
    model = m.compile()
    return lw.simulate(model, 0.3, every=0.05)


def test_what_is_derived_of_one_sample_is_what_is_derived_of_all(run):
    names = [*QUANTITIES, "load/spring"]
    for name in names:
        whole = run.derived(name)
        assert len(whole) == len(run), name
        one = derive(name, run.model, run.time[3], run.q[3], run.v[3])
        np.testing.assert_allclose(one, whole[3], rtol=1e-13, atol=1e-13, err_msg=name)


def test_leading_axes_are_those_of_the_positions(run):
    q, v = run.q[:4].reshape(2, 2, -1), run.v[:4].reshape(2, 2, -1)
    found = derive("poses", run.model, run.time[:4].reshape(2, 2), q, v)
    assert found.shape == (2, 2, 3, 2, 3)
    assert found.reshape(4, 3, 2, 3).tobytes() == run.derived("poses")[:4].tobytes()


def test_every_formula_has_a_shape_and_units(run):
    assert set(formulas(run.model)) == {*QUANTITIES, "load"}
    touching = lw.examples.bouncing_balls().compile()
    assert set(formulas(touching)) == {*QUANTITIES, *CONTACT_QUANTITIES, "load"}


def test_an_unknown_quantity_is_named(run):
    with pytest.raises(KeyError, match=r"unknown quantity 'postures'.*poses"):
        run.derived("postures")


def test_shapes_are_those_that_files_are_checked_for(run):
    layout = LiveChannels(run.model).layout
    for name, shape in layout.shapes().items():
        assert run.derived(name).shape == (len(run), *shape), name


def test_momentum_is_the_sum_over_bodies(run):
    masses = dict(zip(run.model.body_names, run.model.masses, strict=True))
    centers = dict(zip(run.model.body_names, run.model.centers, strict=True))
    total = np.zeros((len(run), 2))
    for name, mass in masses.items():
        x, y = (run[name].trace(centers[name]) - run[name].position).T
        turning = run[name].angular_velocity[:, None] * np.stack([-y, x], axis=1)
        total += mass * (run[name].velocity + turning)
    np.testing.assert_allclose(run.momentum[:, 1:], total, atol=1e-14)
    middle = sum(masses[name] * run[name].trace(centers[name]) for name in masses) / sum(masses.values())
    np.testing.assert_allclose(run.center_of_mass, middle, atol=1e-14)


def test_files_of_before_are_read(run, tmp_path):
    """Files of version 1 had neither angles nor drivers."""
    run.save(tmp_path / "run.lwr")
    header, arrays = array_file.read(tmp_path / "run.lwr")
    header["layout"] = {k: x for k, x in header["layout"].items() if k not in ("drivers", "closing")}
    later = ("angles", "momentum", "center_of_mass", "gaps", "body_momenta")
    array_file.write(tmp_path / "old.lwr", header, {k: x for k, x in arrays.items() if k not in later})
    loaded = lw.load(tmp_path / "old.lwr")
    assert loaded["rocker"].angle.tobytes() == run["rocker"].angle.tobytes()
    with pytest.raises(lw.SimulationError, match="momentum is not in the file"):
        loaded.derived("momentum")
