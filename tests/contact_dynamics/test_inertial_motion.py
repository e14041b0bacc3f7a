"""How bodies move by their inertia alone: what a model keeps for it."""

import linkwork as lw


def test_simulations_of_a_model_share_what_moves_it():
    """A model keeps a kernel for each tree: one more per simulation would be a leak."""
    model = lw.examples.ragdoll().compile()

    def moved() -> bytes:
        sim = lw.Simulation(model, step=1 / 60)
        sim.step(0.1)
        return sim.q.tobytes()

    first, kept = moved(), len(model.kernels)
    assert moved() == first
    assert len(model.kernels) == kept
