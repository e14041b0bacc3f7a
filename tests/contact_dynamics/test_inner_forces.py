"""Forces of redundant contacts: the same motion, and as far from all bounds as can be."""

import numpy as np
import pytest

from linkwork.contact_dynamics.event_driven.active_record import SLIDING, STICKING
from linkwork.contact_dynamics.event_driven.contact_modes import Modes
from linkwork.contact_dynamics.event_driven.contact_response import Response
from linkwork.contact_dynamics.event_driven.inner_forces import inner_forces


def plate(places, wide=3):
    """Return a flat body of mass 1 on corners at some places, which are pressed upwards (rows z, x, y)."""
    rows = np.zeros((len(places), wide, 6))
    for k, (x, y) in enumerate(places):
        for row, axis in enumerate(np.eye(3)[[2, 0, 1]]):
            rows[k, row, :3], rows[k, row, 3:] = np.cross((x, y, 0.0), axis), axis
    return Response(np.eye(6), np.eye(6), None, rows)


CORNERS = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]


@pytest.mark.parametrize(
    "loads", [(0.5, 0.0, 0.5, 0.0), (0.75, 0.25, 0.0, 0.0), (0.8, 0.1, 0.0, 0.1), (0.25, 0.25, 0.25, 0.25)]
)
def test_a_load_is_shared_without_a_change_of_motion(loads):
    given, forces = plate(CORNERS), np.zeros((4, 3))
    forces[:, 0] = loads
    modes = Modes(np.repeat([[SLIDING, 0, 0]], 4, axis=0), np.zeros((4, 3)))
    found = inner_forces(given, modes, np.zeros((4, 3)), forces)
    before, after = (np.einsum("nir,ni->r", given.rows, p) for p in (forces, found))
    assert after == pytest.approx(before, abs=1e-12)
    if min(loads) == 0.0 and loads[1] != 0.25:
        assert found[:, 0].min() > 0.03  # where the load is on an edge alone the others have none
    else:
        assert found[:, 0] == pytest.approx(loads, abs=1e-6)


def test_what_sticks_is_rubbed_without_forces_against_each_other():
    given, forces = plate(CORNERS), np.full((4, 3), 0.25)
    forces[:, 1:] = [(0.05, -0.1), (0.05, -0.1), (0.05, 0.1), (0.05, 0.1)]
    modes = Modes(np.repeat([[STICKING, 0, 0]], 4, axis=0), np.zeros((4, 3)))
    bound = np.array([[0.45, 0.0, 0.0]] * 4)
    found = inner_forces(given, modes, bound, forces)
    used = np.linalg.norm(found[:, 1:], axis=1) / found[:, 0]
    assert used.max() < 0.9 * np.linalg.norm(forces[0, 1:]) / 0.25
    before, after = (np.einsum("nir,ni->r", given.rows, p) for p in (forces, found))
    assert after == pytest.approx(before, abs=1e-12)
