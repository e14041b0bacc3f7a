"""How many threads solve islands makes no difference to any bit."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.solver import contact_solver


def stacks(count: int) -> lw.Mechanism:
    """Return stacks of two boxes each, which fall onto the floor and lean."""
    m, made = lw.Mechanism("stacks"), lw.Material(friction=0.4)
    for k in range(count):
        for level in range(2):
            place = (k + 0.06 * level, 0.0, 0.11 + 0.21 * level)
            shape, name = lw.Box(0.2, 0.3, 0.2), f"box {k} {level}"
            m.add(lw.Body(name, shape, density=800, position=place, material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    return m


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = stacks(5).compile()
    alone = lw.Simulation(model, step=1 / 60, record=False, threads=1)
    monkeypatch.setattr(contact_solver, "MANY", 1)
    spread = lw.Simulation(model, step=1 / 60, record=False, threads=2)
    for _ in range(4):
        alone.step(n=5)
        spread.step(n=5)
        np.testing.assert_array_equal(spread.q, alone.q)
        np.testing.assert_array_equal(spread.v, alone.v)
    assert np.abs(alone.v).max() < 1e-3
