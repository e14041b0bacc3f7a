"""The length of steps: the controller's logarithm and power, and how it follows the error."""

import math

import numpy as np
import pytest
from simulation.scenes import bent, pendulum

import linkwork as lw
from linkwork.native.numba_functions import entry
from linkwork.simulation.loop.programs import PROGRAMS, Program
from linkwork.simulation.loop.step_size import _exp2, _log2
from linkwork.simulation.problem import Problem


@entry(None, "float64", "float64", "float64[::1]")
def _powers(x, y, out):
    out[0], out[1] = _log2(x), _exp2(y)


def test_logarithms_and_powers_have_five_digits():
    rng, out = np.random.default_rng(1), np.zeros(2)
    for x, y in zip(10.0 ** rng.uniform(-12, 12, 1000), rng.uniform(-30, 30, 1000), strict=True):
        _powers(x, y, out)
        logarithm, power = out
        assert logarithm == pytest.approx(math.log2(x), abs=1e-5)
        assert power == pytest.approx(2.0**y, rel=1e-5)
    _powers(1.0, 0.0, out)
    assert out.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("method", ["rkf45", "dop853"])
@pytest.mark.parametrize("accuracy", [1e-6, 1e-9])
def test_few_steps_are_refused(method, accuracy):
    model = pendulum()
    report = lw.simulate(model, 20.0, bent(model), method=method, accuracy=accuracy).report
    assert report.accepted > 50
    assert report.rejected < 0.1 * report.accepted


@pytest.mark.parametrize("lanes", [0, 3, 16])
def test_lanes_share_a_cache_line(lanes):
    program = Program.of_ports(1, PROGRAMS["motion"])
    with pytest.raises(ValueError, match=f"1, 2, 4 or 8 lanes, not {lanes}"):
        Problem(nq=1, nv=1, programs={"motion": program}, lanes=lanes)
