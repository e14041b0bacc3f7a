"""Does it pay to keep articulated inertias from one step to the next? What it costs, and what it saves.

`python benchmarks/reused_inertia.py`: a ragdoll of 15 bodies falls and tumbles with steps of 1/60 s; the
accelerations are compared with those that the inertia matrix of the step before gives.
"""

import time

import numpy as np
from scene import STEP, ragdoll

import linkwork as lw


def least(work, count: int = 200) -> float:
    """Return the least processor time of a call [us]."""
    found = []
    for _ in range(count):
        begun = time.thread_time()
        work()
        found.append(time.thread_time() - begun)
    return 1e6 * min(found)


def main() -> None:
    m = ragdoll()
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", material=lw.Material(friction=0.6)))
    model = m.compile(floating=True)
    sim = lw.Simulation(model, step=STEP, record=False)
    errors, before = [], None
    zero = np.zeros(model.nv)
    for _ in range(90):
        sim.step()
        q, v = sim.q, sim.v
        M, bias = model.mass_matrix(q), model.inverse_dynamics(q, v, zero)
        if before is not None:
            exact, reused = (np.linalg.solve(each, -bias) for each in (M, before))
            errors.append(np.linalg.norm(reused - exact) / np.linalg.norm(exact))
        before = M
    step = least(sim.step, 60)
    articulated = least(lambda: model.forward_dynamics(q, v, zero))
    rest = least(lambda: model.inverse_dynamics(q, v, zero))
    print(
        f"a step with contact: {step:.0f} us; forward dynamics in it: {articulated:.1f} us, without inertias {rest:.1f} us"
    )
    print(f"reusing inertias saves at most {100 * (articulated - rest) / step:.1f} % of a step")
    print(f"error of the accelerations: median {np.median(errors):.1%}, largest {max(errors):.1%}")


if __name__ == "__main__":
    main()
