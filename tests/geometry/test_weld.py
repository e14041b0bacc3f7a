"""Vertices that are one, and surfaces that are closed, as their definitions say, pair by pair."""

import numpy as np
import pytest

from linkwork.geometry.mesh_topology import edges_of, is_closed
from linkwork.geometry.tessellation import box
from linkwork.geometry.weld import distinct, joined


def first_near(points: np.ndarray, near: float) -> tuple[list[int], list[int]]:
    """Return the points that are kept, and for each point which of them it becomes."""
    kept, label = [], []
    for i, point in enumerate(points):
        found = [k for k, j in enumerate(kept) if ((points[j] - point) ** 2).sum() <= near * near]
        if not found:
            found = [len(kept)]
            kept.append(i)
        label.append(found[0])
    return kept, label


@pytest.mark.parametrize("width", [3.0, 30.0, 3000.0], ids=["crowded", "dense", "sparse"])
def test_near_vertices_become_the_first_of_them(width):
    near = 1e-3
    points = np.random.default_rng(5).uniform(-width * near, width * near, (700, 3)) + 7.0
    fewer, label = joined(points, near)
    kept, expected = first_near(points, near)
    assert label.tolist() == expected
    assert np.array_equal(fewer, points[kept])


def test_equal_vertices_become_one_whatever_their_number():
    rng = np.random.default_rng(3)
    points = rng.integers(-9, 9, (20_000, 3)).astype(np.float32) * np.float32(0.1)
    fewer, label = distinct(points)
    assert np.array_equal(fewer[label], points + 0.0)
    assert len(fewer) == len(np.unique(points + 0.0, axis=0))
    assert np.all(np.diff([np.flatnonzero(label == k)[0] for k in range(len(fewer))]) > 0)


@pytest.mark.parametrize("seed", range(40))
def test_closed_is_what_has_as_many_sides_forward_as_back(seed):
    rng = np.random.default_rng(seed)
    _, faces = box(np.zeros(3), np.ones(3))
    faces = np.vstack([faces, faces[rng.integers(0, len(faces), seed % 3)][:, [0, 2, 1]]])
    if seed % 2:
        faces = np.vstack([faces, rng.integers(0, 8, (1, 3))])
    if seed % 5 == 0:
        faces = np.delete(faces, 0, axis=0)
    assert is_closed(faces) == (not edges_of(faces).balance.any())
    assert is_closed(np.vstack([faces, faces[:, ::-1]])) == bool(np.all(faces != np.roll(faces, 1, axis=1)))
