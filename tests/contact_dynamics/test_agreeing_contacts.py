"""What contacts of a tree ask for is made one motion of it; what is left out of a step asks for nothing."""

import numpy as np

from linkwork.contact_dynamics.problem.compliant_rows import APART
from linkwork.contact_dynamics.problem.contact_problem import Nodes
from linkwork.contact_dynamics.problem.contact_rows import room_for_rows
from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.problem.islands import find_islands, room_for_islands
from linkwork.contact_dynamics.solver.agreeing_contacts import let_agree
from linkwork.contact_dynamics.solver.augmented_lagrangian import room_for

SIZE = 7  # velocities of a small tree


def agreed(bias, rows):
    """Return the bias of contacts on a tree of unit inertia, all of which pressed in the step before."""
    n, unit = len(bias), np.eye(SIZE).ravel()
    zero = np.zeros(1, np.int64)
    nodes = Nodes(np.array([SIZE]), zero, zero.copy(), unit, unit.copy(), np.zeros(SIZE))
    contacts = room_for_rows(n, SIZE)
    contacts.a[:], contacts.b[:] = 0, -1
    contacts.kind[:], contacts.weight[:], contacts.friction[:] = COULOMB, 1.0, 0.5
    contacts.spin[:], contacts.of[:], contacts.bias[:] = 0.0, -1, bias
    for at, row in zip(contacts.of_a, rows, strict=True):
        contacts.rows[at : at + 3 * SIZE] = np.ravel(row)
    impulses, islands = np.tile([1.0, 0.0, 0.0], (n, 1)), room_for_islands(1, n)
    room = room_for(len(nodes.size), SIZE, n, len(contacts.rows))
    let_agree(nodes, contacts, impulses, islands, find_islands(nodes, contacts, islands), room)
    return contacts.bias.copy()


def rows_of(rng, n):
    return rng.normal(size=(n, 3, SIZE))


def test_what_contradicts_itself_becomes_one_motion():
    rng = np.random.default_rng(1)
    rows, bias = rows_of(rng, 6), 0.01 * rng.normal(size=(6, 3))
    found = agreed(bias, rows)
    flat = rows.reshape(-1, SIZE)
    w = np.linalg.lstsq(flat, found.ravel(), rcond=None)[0]
    assert np.abs(flat @ w - bias.ravel()).max() > 1e-3
    np.testing.assert_allclose(flat @ w, found.ravel(), atol=1e-12)


def test_a_contact_that_is_left_out_of_the_step_asks_for_nothing():
    rng = np.random.default_rng(2)
    rows, bias = rows_of(rng, 7), 0.01 * rng.normal(size=(7, 3))
    alone = agreed(bias[:6], rows[:6])
    bias[6] = APART, 0.0, 0.0
    found = agreed(bias, rows)
    np.testing.assert_allclose(found[:6], alone, atol=1e-15)
    assert found[6].tolist() == [APART, 0.0, 0.0]
