"""Chains of 10 to 5,000 links: time per link of forward dynamics, and the memory of the process."""

import resource

import numpy as np

from linkwork import examples
from linkwork.peer_speed import best_of


def main() -> None:
    print("links   us per call   ns per link   peak memory")
    costs = []
    for links in (10, 30, 100, 300, 1000, 5000):
        model = examples.chain(links).compile()
        q, v, tau, out = (np.full(model.nv, x) for x in (0.1, 0.2, 0.3, 0.0))
        (seconds,) = best_of(
            {"": lambda m=model, a=(q, v, tau), o=out: m.forward_dynamics(*a, out=o)}, 15
        ).values()
        costs.append(seconds / links)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{links:5} {seconds * 1e6:13.2f} {seconds / links * 1e9:13.1f} {peak:10.0f} MB")
    print(f"largest over smallest cost per link: {max(costs) / min(costs):.2f}   (goal 1.5)")


if __name__ == "__main__":
    main()
