"""The order of Cuthill and McKee (1969), reversed: what shares something comes near each other.

Breadth first from the vertex with the fewest neighbours, neighbours by their own number of neighbours; George
(1971) found that the reversed order leaves less to fill in when a matrix of this pattern is factored.
"""

from collections.abc import Sequence

import numpy as np


def neighbours(shared: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return with whom each has something in common, itself too, the last one found first."""
    owners: dict[int, list[int]] = {}
    for who, things in enumerate(shared):
        for thing in sorted(set(things)):
            owners.setdefault(thing, []).append(who)
    found = []
    for things in shared:
        others = dict.fromkeys(other for thing in sorted(set(things)) for other in owners[thing])
        found.append(list(others)[::-1])
    return found


def reverse_cuthill_mckee(graph: Sequence[Sequence[int]]) -> list[int]:
    """Return the vertices of a graph, each given by its neighbours, in the reversed order."""
    degrees = [len(near) for near in graph]
    order: list[int] = []
    known = [False] * len(graph)
    for seed in np.argsort(np.array(degrees, np.int32)).tolist():
        if known[seed]:
            continue
        known[seed] = True
        order.append(seed)
        at = len(order) - 1
        while at < len(order):
            fresh = [near for near in graph[order[at]] if not known[near]]
            for near in fresh:
                known[near] = True
            order += sorted(fresh, key=degrees.__getitem__)
            at += 1
    return order[::-1]
