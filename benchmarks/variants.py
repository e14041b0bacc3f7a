"""Mechanisms of one structure with different numbers: at once, in a sweep, and one by one.

python benchmarks/variants.py [cases]
"""

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.simulation import sweep as sweeping

DURATION = 5.0


def pendulum(length: float, mass: float) -> lw.Mechanism:
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.05), mass=mass, position=(0, 0, -length)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Motor("motor", "pin", 1.0))
    return m


def angle(mechanism: lw.Mechanism) -> float:
    return float(lw.simulate(mechanism, DURATION).q[-1, 0])


def timed(
    what: str, function: Callable[[], Any], than: float | None = None, times: int = 10
) -> tuple[Any, float]:
    """Print how long it takes, the best of some times after the first."""
    result, taken = function(), math.inf
    for _ in range(times):
        begun = time.perf_counter()
        result = function()
        taken = min(taken, time.perf_counter() - begun)
    ratio = f", {than / taken:.1f} times faster than one by one" if than else ""
    print(f"{what:34} {taken:7.3f} s{ratio}")
    return result, taken


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = np.random.default_rng(1)
    lengths, masses = rng.uniform(0.5, 2.0, count), rng.uniform(1.0, 5.0, count)
    cases = [{"length": x, "mass": m} for x, m in zip(lengths, masses, strict=True)]
    model = pendulum(1.5, 1.5).compile()
    print(f"{count} pendulums of different length and mass, {DURATION:g} s each")
    few, sweeping._FEW = sweeping._FEW, count
    alone, taken = timed("a sweep, one by one", lambda: lw.sweep(pendulum, cases, angle), times=1)
    sweeping._FEW = few
    table, _ = timed("a sweep", lambda: lw.sweep(pendulum, cases, angle), taken)
    vary = {"bob.mass": masses, "bob.position[2]": -lengths}
    runs, _ = timed("simulate(vary=...)", lambda: lw.simulate(model, DURATION, vary=vary), taken)
    timed("the same, and their energies", lambda: lw.simulate(model, DURATION, vary=vary).energy)
    timed("simulate(q=...), all the same", lambda: lw.simulate(model, DURATION, q=np.zeros((count, 1))))
    timed("building them", lambda: [pendulum(**case) for case in cases])
    ends = np.array([final.q[0] for final in runs.finals])
    same = np.array_equal(table["angle"], alone["angle"]) and np.array_equal(ends, alone["angle"])
    print("the same bits" if same else "DIFFERENT BITS")


if __name__ == "__main__":
    main()
