"""Chains of thousands of links: they compile, run, and stay within memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mechanisms import chain, random_state

import linkwork as lw

HERE = Path(__file__).resolve()
PROGRAM = """
import re
from pathlib import Path

import numpy as np
from mechanisms import chain, random_state

model = chain(5000).compile()
q, v, a = random_state(model, np.random.default_rng(0))
v, a = 0.01 * v, 0.01 * a
tau = model.inverse_dynamics(q, v, a)
again = model.inverse_dynamics(q, v, model.forward_dynamics(q, v, tau))
error = np.max(np.abs(again - tau)) / np.max(np.abs(tau))
model.poses(q), model.reactions(q, v, tau), model.energy(q, v), model.jacobian(q, "rod 4999")
most = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())  # not that of who started it
print(model.nv, error, int(most[1]) / 2**20)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells how much it was")
def test_five_thousand_links_run_within_a_gigabyte():
    path = [
        str(HERE.parents[1]),
        str(Path(lw.__file__).parents[1]),
        *filter(None, [os.environ.get("PYTHONPATH")]),
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    links, error, gigabytes = run.stdout.split()
    assert int(links) == 5000
    assert float(error) < 1e-9
    assert float(gigabytes) < 1.0


def test_a_long_chain_hangs_straight_at_rest():
    """Hanging along gravity from rest nothing moves, whatever the length; a push at the end is felt there."""
    m = chain(1000, "plane")
    m.gravity = (9.81, 0)
    model = m.compile()
    q, v, tau = np.zeros(1000), np.zeros(1000), np.zeros(1000)
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau), 0, rtol=0, atol=1e-9)
    forces = {"rod 999": (0.0, 0.0, 1.0)}
    pushed = model.forward_dynamics(q, v, tau, forces=forces)
    assert abs(pushed[-1]) > 1e-3
    np.testing.assert_allclose(model.inverse_dynamics(q, v, pushed, forces=forces), 0, rtol=0, atol=1e-7)


def test_both_halves_of_a_long_tree_are_walked():
    """Two chains on ground do not feel each other."""
    m = chain(300)
    twin = chain(300)
    for thing in twin.elements:
        thing._name = f"other {thing.name}"
    for joint in twin.joints.values():
        if joint.parent is twin.ground:
            joint.parent = m.ground
    for thing in twin.elements:
        m.add(thing)
    model, alone = m.compile(), chain(300).compile()
    q, v, x = random_state(alone, np.random.default_rng(0))
    a = model.forward_dynamics(np.tile(q, 2), np.tile(v, 2), np.tile(x, 2))
    expected = alone.forward_dynamics(q, v, x)
    np.testing.assert_array_equal(a, np.tile(expected, 2))
    H = model.mass_matrix(np.tile(q, 2))
    assert not H[:300, 300:].any()
    np.testing.assert_array_equal(H[300:, 300:], alone.mass_matrix(q))
