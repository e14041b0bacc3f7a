"""Forward dynamics called from a compiled loop (Numba), by address, against Pinocchio called from Python."""

import numba
import numpy as np

from linkwork.peer_speed import best_of, subjects

CALLS = 200


def main() -> None:
    print("                    pinocchio   linkwork rolled   specialised   (goal 3x)")
    for subject in subjects():
        calls = {}
        for form, model in (("rolled", subject.model), ("special", subject.model.specialize())):
            q, (v, tau, out) = model.q_drawn + 0.1, np.ones((3, model.nv))
            kernel, plan, ports = model.kernel("forward_dynamics").bind(q, v, tau, out)

            @numba.njit
            def loop(plan, ports, kernel=kernel):
                for _ in range(CALLS):
                    kernel(plan, ports)

            calls[form] = lambda loop=loop, plan=plan, ports=ports: loop(plan, ports.ctypes.data)
        calls["pinocchio"] = _pinocchio(subject.pinocchio)
        times = best_of(calls, 15)
        rolled, special, peer = times["rolled"] / CALLS, times["special"] / CALLS, times["pinocchio"]
        print(
            f"{subject.name:18} {peer * 1e6:8.2f} us {rolled * 1e6:8.2f} us ({peer / rolled:.1f}x)"
            f" {special * 1e6:8.2f} us ({peer / special:.1f}x)"
        )


def _pinocchio(model):
    import pinocchio

    data = model.createData()
    q = pinocchio.neutral(model)
    v = tau = np.ones(model.nv)
    return lambda: pinocchio.aba(model, data, q, v, tau)


if __name__ == "__main__":
    main()
