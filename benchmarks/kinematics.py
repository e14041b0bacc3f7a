"""Positions of a four-bar, one by one and in batches, beside pylinkage; and of a linkage of 1,001 bodies.

The peer is optional: `pip install pylinkage`. Best of several, in turns.
"""

from collections.abc import Callable
from importlib.util import find_spec
from time import process_time

import numpy as np

import linkwork as lw
from linkwork.examples.building_blocks import meeting

STEP, ROUNDS, BATCH = 0.01, 25, 2048  # rad between positions, repetitions, mechanisms at once


def four_bar() -> lw.Mechanism:
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", lambda t: t))
    return m


def row(loops: int) -> lw.Mechanism:
    """Return four-bars in a row, each driven by the rocker of the one before: 2 loops + 1 bodies."""
    m, generator = lw.Mechanism("row", space="plane"), np.random.default_rng(0)
    A, B = (0.0, 0.0), (0.0, 1.0)
    before = m.add(lw.Body("crank", position=A))
    m.add(lw.Revolute("A", m.ground, before, at=A))
    for k in range(loops):
        more = 1.0 + 0.1 * generator.random(3)
        D = (A[0] + more[0], 0.0)
        C = meeting(B, more[1], D, more[2])
        rod, rocker = m.add(lw.Body(f"rod {k}", position=B)), m.add(lw.Body(f"rocker {k}", position=D))
        m.add(lw.Revolute(f"B{k}", before, rod, at=B))
        m.add(lw.Revolute(f"C{k}", rod, rocker, at=C))
        m.add(lw.Revolute(f"D{k}", m.ground, rocker, at=D))
        before, A, B = rocker, D, C
    m.add(lw.Driver("motor", "A", lambda t: 0.1 * lw.sin(t)))
    return m


def one_by_one() -> Callable[[], int]:
    positions, value = lw.Positions(four_bar()), np.zeros(1)

    def run() -> int:
        for _ in range(500):
            value[0] += STEP
            positions(value)
        return 500

    return run


def in_batches() -> Callable[[], int]:
    positions = lw.Positions(four_bar())
    values = np.linspace(0, 2 * np.pi, BATCH, endpoint=False)[:, None]
    q = np.array([positions(value) for value in values])

    def run() -> int:
        nonlocal q, values
        for _ in range(20):
            values = values + STEP
            q = positions.many(values, q)
        return 20 * BATCH

    return run


def variants() -> Callable[[], int]:
    """The same, each of other lengths."""
    lengths = {"crank": ("B", "on_parent", 0), "rod": ("C", "on_parent", 0), "ground": ("D", "on_parent", 0)}
    positions, generator = lw.Positions(four_bar(), vary=lengths), np.random.default_rng(0)
    sizes = {
        name: size * generator.uniform(0.97, 1.0, BATCH) for name, size in (("crank", 0.1), ("rod", 0.3))
    }
    values = np.zeros((BATCH, 1))
    q = positions.many(values, sizes=sizes)

    def run() -> int:
        nonlocal q, values
        for _ in range(20):
            values = values + STEP
            q = positions.many(values, q, sizes=sizes)
        return 20 * BATCH

    return run


def motion() -> Callable[[], int]:
    m, times = four_bar(), np.arange(0.0, 20.0, STEP)

    def run() -> int:
        return len(lw.kinematics(m, times))

    return run


def pylinkage(fast: bool) -> Callable[[], int]:
    import pylinkage as pl

    A, D = pl.Ground(0.0, 0.0), pl.Ground(0.2, 0.0)
    crank = pl.Crank(A, 0.1, angular_velocity=STEP)
    pin = pl.RRRDyad(crank.output, D, 0.3, 0.22)
    linkage = pl.simulation.Linkage([A, D, crank, pin])
    list(linkage.step(iterations=2))
    if fast:
        linkage.compile()
        linkage.step_fast(iterations=2)

    def run() -> int:
        if fast:
            linkage.step_fast(iterations=2000)
        else:
            for _ in linkage.step(iterations=2000):
                pass
        return 2000

    return run


def large() -> Callable[[], int]:
    m = row(500)
    system = lw.kinematics(m, [0.0]).model
    times = np.linspace(0.03, 0.3, 10)
    drives = system.laws[0].at(times)[:, None]
    start = system.w.q.copy()
    room = [np.zeros((10, system.nq)), np.zeros((10, system.n)), np.zeros((10, system.n))]

    def run() -> int:
        system.place(start)
        return system.march(drives, *room, np.zeros(1))

    return run


def main() -> None:
    cases = {
        "Linkwork, batches of 2048, one core": in_batches(),
        "Linkwork, batches of 2048 of different lengths, one core": variants(),
        "Linkwork, one call": one_by_one(),
        "Linkwork, motion: position, velocity, acceleration": motion(),
        "Linkwork, 1,001 bodies: position, velocity, acceleration": large(),
    }
    if find_spec("pylinkage"):
        cases["pylinkage, step"] = pylinkage(fast=False)
        cases["pylinkage, step_fast"] = pylinkage(fast=True)
    best = dict.fromkeys(cases, np.inf)
    for _ in range(ROUNDS):
        for name, run in cases.items():
            start = process_time()
            count = run()
            best[name] = min(best[name], (process_time() - start) / count)
    print(f"{'':58} {'us each':>10} {'a second':>12}")
    for name, seconds in best.items():
        print(f"{name:58} {seconds * 1e6:10.3f} {1 / seconds:12,.0f}")


if __name__ == "__main__":
    main()
