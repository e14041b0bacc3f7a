"""What is in contact depends on where shapes are, not on what was looked at before."""

import numpy as np

import linkwork as lw
from linkwork.contact_dynamics.time_stepping.contact_system import ContactSystem

STEP = 1 / 60


def test_contacts_of_capsules_with_terrain_do_not_depend_on_what_was_looked_at_before():
    m, x = lw.Mechanism("log on hills"), np.linspace(-1, 1, 30)
    heights = 0.3 * (1.0 + np.sin(9 * x)[:, None] * np.cos(7 * x)[None, :])
    m.ground.add(lw.HeightField(heights, (3, 3)))
    m.add(lw.Body("log", lw.Capsule(0.07, 0.3), density=800, position=(0, 0, 1)))
    m.add(lw.Contact("contact"))
    model, rng = m.compile(), np.random.default_rng(1)
    used, fresh = ContactSystem(model), ContactSystem(model)
    for _ in range(200):
        q, turn, v = model.q_drawn.copy(), rng.normal(size=4), 3.0 * rng.normal(size=6)
        q[:3] = *rng.uniform(-1, 1, 2), rng.uniform(0.0, 0.7)
        q[3:7] = turn / np.linalg.norm(turn)
        used.detection.work.triangle[:3] = rng.uniform(-0.5, 0.5, (3, 3))  # that of another pair
        for system in (used, fresh):
            system.place(q)
        one, other = (system.look(v, STEP) for system in (used, fresh))
        assert one.place.tobytes() == other.place.tobytes()
        assert one.gap.tobytes() == other.gap.tobytes()
