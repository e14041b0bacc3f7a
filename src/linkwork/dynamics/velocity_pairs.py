"""Pairs of velocities that move something together: each with itself and with those that carry it."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.tree.tree import Tree


def velocity_links(tree: "Tree") -> tuple[np.ndarray, np.ndarray]:
    """Return for each velocity the number of its link, and which of the link's velocities it is."""
    counts = np.diff(tree.starts[:, 2])
    links = np.repeat(np.arange(1, len(counts) + 1), counts)
    return links, np.arange(tree.nv) - tree.starts[links - 1, 2]


def velocities_above(tree: "Tree") -> list[int]:
    """Return for each velocity the next towards ground, in its joint or in one that carries it; or -1."""
    above: list[int] = []
    last = [-1]  # per link, its last velocity, or that of the nearest link with one towards ground
    for parent, count in zip(tree.parents.tolist(), np.diff(tree.starts[:, 2]).tolist(), strict=True):
        nearest = last[parent]
        for _ in range(count):
            above.append(nearest)
            nearest = len(above) - 1
        last.append(nearest)
    return above


def count_pairs(tree: "Tree") -> int:
    depths: list[int] = []
    for above in velocities_above(tree):
        depths.append(1 if above < 0 else depths[above] + 1)
    return sum(depths)


def pairs(tree: "Tree") -> list[tuple[int, int]]:
    """Return all pairs, velocity by velocity, from itself towards ground."""
    above = velocities_above(tree)
    found = []
    for i in range(tree.nv):
        j = i
        while j >= 0:
            found.append((i, j))
            j = above[j]
    return found


def packed_places(tree: "Tree") -> np.ndarray:
    """Return where each entry of a matrix (nv, nv) is in the list of pairs; zeros are behind the list."""
    found = pairs(tree)
    places = np.full((tree.nv, tree.nv), len(found))
    for k, (i, j) in enumerate(found):
        places[i, j] = places[j, i] = k
    return places.ravel()
