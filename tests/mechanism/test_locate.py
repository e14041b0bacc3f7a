"""Coordinates from poses: every joint of the catalogue can tell them."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.joints import CATALOGUE

CASES = [(kind, space) for kind in CATALOGUE for space in ("space", "plane") if space in kind.spaces]


@pytest.mark.parametrize(("kind", "space"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_locate_is_the_inverse_of_motion(kind, space):
    rng = np.random.default_rng(3)
    m = lw.Mechanism("one", space=space)
    body = m.add(lw.Body("body"))
    options = {"pitch": 0.3} if kind is lw.Helical else {}
    joint = m.add(kind("joint", m.ground, body, **options))
    for _ in range(20):
        q = rng.uniform(-1.4, 1.4, joint.nq)
        if joint.quaternion is not None:
            part = slice(joint.quaternion, joint.quaternion + 4)
            q[part] /= np.linalg.norm(q[part]) * np.sign(q[part.start])
        assert np.allclose(joint.locate(joint.motion(q.tolist())), q, atol=1e-13)


def test_a_screw_knows_its_whole_turns():
    m = lw.Mechanism("screw")
    body = m.add(lw.Body("nut"))
    screw = m.add(lw.Helical("screw", m.ground, body, pitch=0.01))
    for q in (-31.0, -3.2, 0.4, 25.0):
        assert screw.locate(screw.motion([q])) == pytest.approx([q], abs=1e-12)
