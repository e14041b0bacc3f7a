"""Batches of 1,024 on one thread and on two at once: how much more is done in the same time."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linkwork.peer_speed import BATCH, ROBOTS, load, robot_file

REPEAT = 1000  # a job of a tenth of a second, beside which starting a thread does not count


def main() -> None:
    for name, (file, base) in ROBOTS.items():
        model = load(robot_file(file), base=base).compile().specialize()
        rates: dict[int, float] = {}
        work(model)
        for threads in (1, 2, 1, 2, 1, 2, 1, 2):
            with ThreadPoolExecutor(threads) as pool:
                began = time.perf_counter()
                list(pool.map(work, [model] * threads))
            rate = threads * REPEAT * BATCH / (time.perf_counter() - began)
            rates[threads] = max(rates.get(threads, 0.0), rate)
        millions = {threads: rate / 1e6 for threads, rate in rates.items()}
        print(
            f"{name:14} {millions[1]:6.2f} and {millions[2]:6.2f} million a second: "
            f"{rates[2] / rates[1]:.2f}x   (goal 1.8)"
        )


def work(model) -> None:
    q = np.tile(model.q_drawn, (BATCH, 1))
    v = np.ones((BATCH, model.nv))
    out = np.empty((BATCH, model.nv))
    for _ in range(REPEAT):
        model.forward_dynamics(q, v, v, out=out)


if __name__ == "__main__":
    main()
