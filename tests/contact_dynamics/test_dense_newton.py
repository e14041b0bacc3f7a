"""Impulses of one contact obey its laws; the limbs of a tree that lie on the ground do, too."""

import numpy as np

import linkwork as lw
from linkwork.contact_dynamics.problem.local_law import coulomb
from linkwork.contact_dynamics.time_stepping.contact_state import ContactState
from linkwork.contact_dynamics.time_stepping.stepper import Stepper
from linkwork.native.numba_functions import entry

_TABLE, _FLAT = "float64[:, ::1]", "float64[::1]"


@entry(None, "float64[:, :, ::1]", _TABLE, _FLAT, _TABLE)
def all_impulses(W, q, mu, p):
    for k in range(len(mu)):
        w = W[k]
        p[k, 0], p[k, 1], p[k, 2] = coulomb(
            *(w[0, 0], w[0, 1], w[0, 2], w[1, 1], w[1, 2], w[2, 2], q[k, 0], q[k, 1], q[k, 2], mu[k])
        )


def test_one_contact_obeys_signorini_and_coulomb():
    generator, count = np.random.default_rng(7), 3000
    A = generator.normal(size=(count, 3, 3))
    W, q, mu = A @ A.swapaxes(1, 2), generator.normal(size=(count, 3)), generator.uniform(0.0, 1.5, count)
    W[:300, 2], W[:300, :, 2], q[:300, 2] = 0.0, 0.0, 0.0  # as in the plane
    p = np.zeros((count, 3))
    all_impulses(W, q, mu, p)
    u = np.einsum("kij,kj->ki", W, p) + q
    normal, friction, slip = p[:, 0], np.hypot(p[:, 1], p[:, 2]), np.hypot(u[:, 1], u[:, 2])
    scale = 1.0 + np.linalg.norm(W, axis=(1, 2)) * np.linalg.norm(p, axis=1)
    opened, touching = normal == 0.0, normal > 0.0
    assert (u[opened, 0] >= 0.0).all()
    assert (np.abs(u[touching, 0]) <= 1e-10 * scale[touching]).all()
    assert (friction <= mu * normal * (1.0 + 1e-10)).all()
    sliding = touching & (slip > 1e-9 * scale)
    assert (friction[sliding] >= (1.0 - 1e-9) * (mu * normal)[sliding]).all()
    along = (p[:, 1:] * u[:, 1:]).sum(axis=1)[sliding]
    np.testing.assert_allclose(along, -(friction * slip)[sliding], rtol=1e-7, atol=1e-9)
    assert min(opened.sum(), sliding.sum(), (touching & ~sliding).sum()) > 100


def caterpillar(links: int) -> lw.Model:
    """Return capsules side by side, joined by hinges, above the ground."""
    m = lw.Mechanism("caterpillar")
    for k in range(links):
        shape = lw.Capsule(0.05, 0.2)
        body = m.add(lw.Body(f"link {k}", shape, density=1000.0, position=(0.15 * k, 0.0, 0.3)))
        if k:
            place = (0.15 * k - 0.075, 0.0, 0.3)
            m.add(lw.Revolute(f"pin {k}", m[f"link {k - 1}"], body, at=place, axis=(0, 0, 1)))
    m.add(lw.Free("base", m.ground, m["link 0"]))
    m.ground.add(lw.Plane(), material=lw.Material(friction=0.6))
    m.add(lw.Contact("contact"))
    return m.compile()


def test_a_tree_falls_over_and_obeys_the_laws():
    model = caterpillar(5)
    state = ContactState(model.q_drawn.copy(), np.zeros(model.nv), 0.0)
    state.v[:6] = 0.3, 0.5, 0.2, 0.4, -0.2, 0.0
    stepper, left = Stepper(model), []
    for _ in range(90):
        stepper.step(state, 1 / 60, np.zeros(0))
        left.append(stepper.residual)
        p = stepper.found.impulses
        assert (np.hypot(p[:, 1], p[:, 2]) <= 0.6**0.5 * 0.5**0.5 * p[:, 0] * (1.0 + 1e-7) + 1e-9).all()
    assert max(left[-30:]) <= 1e-8  # it lies on more points than it has velocities
    assert np.abs(state.v).max() < 1e-6
