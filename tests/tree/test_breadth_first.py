"""The spanning tree of the native loop is that of a plain search over sets and lists."""

import numpy as np
import pytest

from linkwork.tree.breadth_first import NO_JOINT, spanned


def plain(ends, bodies, floating):
    """Breadth first from ground, then depth first."""
    children = {0: []}
    front, reached = [0], {0}
    while front:
        for parent in front:  # grows while it is walked
            for joint, pair in enumerate(ends.T.tolist()):
                for body in (b for a, b in (pair, pair[::-1]) if a == parent and b not in reached):
                    reached.add(body)
                    children.setdefault(parent, []).append((body, joint))
                    front.append(body)
        loose = [body for body in range(bodies + 1) if body not in reached] if floating else []
        front = loose[:1]
        for body in front:
            reached.add(body)
            children[0].append((body, NO_JOINT))
    rows = []

    def walk(parent, number):
        for body, joint in children.get(parent, ()):
            rows.append((body, number, joint))
            walk(body, len(rows) - 1)

    walk(0, -1)
    return rows


@pytest.mark.parametrize("floating", [False, True])
def test_trees_of_random_graphs_are_those_of_a_plain_search(floating):
    generator = np.random.default_rng(3)
    for _ in range(300):
        bodies = int(generator.integers(0, 12))
        joints = int(generator.integers(0, 16))
        ends = generator.integers(0, bodies + 1, (2, joints))
        found = spanned(ends, bodies, floating)
        assert found.T.tolist() == [list(row) for row in plain(ends, bodies, floating)]


def test_all_bodies_are_in_the_tree_if_they_may_float():
    ends = np.array([[0, 3], [1, 4]])
    assert spanned(ends, 4, True).T.tolist() == [[1, -1, 0], [2, -1, NO_JOINT], [3, -1, NO_JOINT], [4, 2, 1]]
    assert spanned(ends, 4, False).T.tolist() == [[1, -1, 0]]
