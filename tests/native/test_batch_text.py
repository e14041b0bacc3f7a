"""The loop over a batch: every number gets to its row, and every number is looked at."""

from typing import Any

import numpy as np
import pytest

from linkwork.native import emit, entry, store
from linkwork.trace.expression import Graph

LANES = store.lanes()
WIDTHS = (1, LANES - 1, LANES, 2 * LANES + 3)
N = 2 * LANES + 1


def formula(x: Any, depth: int) -> list[Any]:
    """Return 2 x plus the outcomes of recursions; rounded at sums only, so fused or not is the same."""
    z: list[Any] = [0.0] * len(x)
    for k in range(depth):
        z = [z[j] * 0.5 + x[(j + k) % len(x)] for j in range(len(x))]
    return [2.0 * x[j] + z[j] for j in range(len(x))]


def code(width: int, results: int, depth: int = 0) -> str:
    """Return the text of the formula, its results in reverse order."""
    graph = Graph()
    values = formula(graph.symbols(("x", k) for k in range(width)), depth)
    stores = [("y", k, value) for k, value in enumerate(reversed(values))]
    names = ["data", "work", "x", "y"]
    return emit.module(LANES, [emit.straight("NAME", LANES, names, (), stores, [results])])


class Batch:
    """The formula for many rows; `places` bring its results into order."""

    def __init__(self, width: int, results: int, depth: int = 0):
        text = code(width, results, depth)
        name = store.digest("test", text)
        store.load(name, lambda: (text.replace("NAME", f"f_{name}"), {}))
        places = [np.arange(width), np.arange(width)[::-1].copy()]
        self.blocks = [np.zeros(width * LANES) for _ in range(2)]
        self.room = entry.table([0, 0, *(b.ctypes.data for b in self.blocks), 0], keep=())
        plan = np.zeros(1, np.int64)
        self.run = entry.batch_call(store.address(f"f_{name}"), plan, places, [(width,)] * 2, 1, keep=None)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> Any:
        return self.run(self.room, x, y)


def numbers(n: int, width: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, width))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("skip", range(8))
def test_rows_get_where_they_belong_and_nothing_beside_them_is_touched(width, skip):
    batch = Batch(width, 8 * LANES * width)
    for n in range(1, N + 1):
        x = numbers(n, width)
        room = np.full(skip + n * width + 8, 7.0)
        y = room[skip : skip + n * width].reshape(n, width)
        assert batch(x, y) is y
        np.testing.assert_array_equal(y, 2.0 * x)
        assert (room[:skip] == 7.0).all()
        assert (room[skip + n * width :] == 7.0).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])  # the last only when doubled
def test_a_number_that_is_not_finite_is_seen_wherever_it_is(width, bad):
    batch = Batch(width, 8 * LANES * width)
    y = np.zeros((N, width))
    for place in range(N * width):
        x = numbers(N, width)
        x.flat[place] = bad
        assert batch(x, y) is False, place
    assert batch(numbers(N, width), y) is y


def test_large_numbers_are_finite():
    x = np.full((N, WIDTHS[-1]), 8e307)
    y = np.zeros_like(x)
    assert Batch(x.shape[1], 8 * LANES * x.shape[1])(x, y) is y
    np.testing.assert_array_equal(y, 1.6e308)


def test_results_may_be_said_to_be_larger_than_they_are():
    x = numbers(N, 5)
    y = np.zeros_like(x)
    assert Batch(5, 10**6, depth=400)(x, y) is y  # lines far outside are fetched: no harm is done
    np.testing.assert_array_equal(y, np.transpose(formula(x.T, 400)))
