"""The built-in functions: what they take, what they refuse, what they keep alive."""

import ctypes
import gc
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.native import emit, entry, store
from linkwork.trace.expression import Graph


def make(shapes: Sequence[tuple[int, ...]], inputs: int, stores: Callable[[Graph], list[Any]]) -> Any:
    """Return the built-in of a straight piece of code over ports p0, p1, ... of these shapes."""
    ports = ["data", "work", *(f"p{k}" for k in range(len(shapes)))]
    text = emit.module(1, [emit.straight("NAME", 1, ports, (), stores(Graph()))])
    name = store.digest("test", text)
    store.load(name, lambda: (text.replace("NAME", f"f_{name}"), {}))
    plan, data = np.zeros(1, np.int64), np.array([10.0, 20.0])
    return entry.single_call(store.address(f"f_{name}"), plan, data, shapes, inputs, work_size=4, keep=None)


def _stores(graph: Graph) -> list[Any]:
    """p2 = p0 / p1's diagonal + data, p3 = p0 . p0"""
    x = graph.symbols(("p0", k) for k in range(3))
    diagonal = [graph.symbol(("p1", 4 * k)) for k in range(3)]
    constant = graph.symbol(("data", 1))
    stores: list[Any] = [
        ("p2", k, a / d + constant) for k, (a, d) in enumerate(zip(x, diagonal, strict=True))
    ]
    return [*stores, ("p3", 0, sum(a * a for a in x))]


@pytest.fixture(scope="module")
def kernel() -> Any:
    return make([(3,), (3, 3), (3,), (1,)], 2, _stores)


def arguments() -> list[np.ndarray]:
    return [np.array([1.0, 2.0, 3.0]), np.diag([1.0, 2.0, 4.0]), np.full(3, -1.0), np.full(1, -1.0)]


def test_exact_arrays_are_computed_on_and_the_last_is_returned(kernel):
    x, m, first, last = arguments()
    assert kernel(x, m, first, last) is last
    np.testing.assert_array_equal(first, [21.0, 21.0, 20.75])
    assert last[0] == 14.0
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(m, np.diag([1.0, 2.0, 4.0]))


class Special(np.ndarray):
    """An array that may mean something else."""


def _read_only(a: np.ndarray) -> np.ndarray:
    a.setflags(write=False)
    return a


def _unaligned(a: np.ndarray) -> np.ndarray:
    room = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(a.shape)
    room[...] = a
    return room


DOUBTFUL: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda a: a.astype(np.float32),
    "integer": lambda a: a.astype(np.int64),
    "complex": lambda a: a.astype(complex),
    "object": lambda a: a.astype(object),
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "longer": lambda a: np.concatenate([a, a]),
    "shorter": lambda a: a[:-1].copy(),
    "empty": lambda a: a[:0].copy(),
    "one axis more": lambda a: a[None],
    "flat or a number": lambda a: a.ravel() if a.ndim > 1 else np.array(a[0]),
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "subclass": lambda a: a.view(Special),
    "matrix": lambda a: np.asmatrix(a),
    "masked": lambda a: np.ma.masked_array(a),
    "unaligned": _unaligned,
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "number": lambda a: 1.0,
    "None": lambda a: None,
    "text": lambda a: "abc",
    "type": lambda a: np.ndarray,
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("name", DOUBTFUL)
def test_on_any_doubt_the_answer_is_none_and_nothing_is_touched(kernel, name, place):
    given: list[Any] = arguments()
    given[place] = DOUBTFUL[name](given[place])
    assert kernel(*given) is None
    assert given[3][0] == -1.0
    if place != 2:
        np.testing.assert_array_equal(given[2], [-1.0] * 3)


def test_a_fortran_matrix_is_doubtful_and_a_read_only_input_is_not(kernel):
    x, m, first, last = arguments()
    assert kernel(x, np.asfortranarray(m + np.triu(np.ones((3, 3)), 1)), first, last) is None
    assert kernel(_read_only(x), _read_only(m), first, last) is last
    assert kernel(x, m, _read_only(first), last) is None
    assert kernel(x, m, np.zeros(3), _read_only(last)) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("port", [0, 1])
def test_an_input_that_is_not_finite_is_doubtful_wherever_it_is(kernel, port, bad):
    for place in range(arguments()[port].size):
        given = arguments()
        given[port].flat[place] = bad
        assert kernel(*given) is None
        assert given[3][0] == -1.0


def test_a_result_that_is_not_finite_is_false(kernel):
    x, m, first, last = arguments()
    m[1, 1] = 0.0
    assert kernel(x, m, first, last) is False
    assert kernel(x * 1e200, arguments()[1], first, last) is False


def test_a_result_that_would_spoil_an_input_is_doubtful():
    kernel = make([(3,), (3,)], 1, lambda g: [("p1", k, g.symbol(("p0", k)) + 1.0) for k in range(3)])
    room = np.arange(5.0)
    assert kernel(room[:3], room[1:4]) is None
    assert kernel(room[1:4], room[:3]) is None
    np.testing.assert_array_equal(room, np.arange(5.0))
    whole = room[:3]
    assert kernel(whole, whole) is whole  # the same memory from end to end is fine


def test_large_finite_numbers_are_fine(kernel):
    x, m, first, last = arguments()
    m[0, 1], x[0] = 1.7e308, 1e150
    assert kernel(x, m, first, last) is last


@pytest.mark.parametrize("count", [0, 1, 3, 5, 20])
def test_too_few_or_too_many_arguments_are_doubtful(kernel, count):
    assert kernel(*(arguments() * 5)[:count]) is None


def test_keywords_are_refused(kernel):
    with pytest.raises(TypeError, match="keyword"):
        kernel(*arguments()[:3], out=arguments()[3])


@pytest.mark.parametrize("size", [1, 7, 8, 9, 16, 23])
def test_every_place_is_looked_at_whatever_the_size(size):
    kernel = make([(size,), (1,)], 1, lambda g: [("p1", 0, g.symbol(("p0", 0)) * 0.5)])
    for place in range(size):
        x = np.arange(1.0, size + 1)
        assert kernel(x, np.zeros(1)) is not None
        x[place] = np.nan
        assert kernel(x, np.zeros(1)) is None


def test_shapes_without_numbers_are_shapes():
    kernel = make([(0,), (2, 0), (), (1,)], 3, lambda g: [("p3", 0, g.symbol(("p2", 0)) + 1.0)])
    out = np.zeros(1)
    assert kernel(np.zeros(0), np.zeros((2, 0)), np.array(2.0), out) is out
    assert out[0] == 3.0
    assert kernel(np.zeros(0), np.zeros((0, 2)), np.array(2.0), out) is None


def test_too_many_ports_or_dimensions_are_refused_when_it_is_made():
    arrays = (np.zeros(1, np.int64), np.zeros(1))
    with pytest.raises(ValueError, match="too many arrays or dimensions"):
        entry.single_call(0, *arrays, [(1,)] * 15, 1, 1, None)
    with pytest.raises(ValueError, match="too many arrays or dimensions"):
        entry.single_call(0, *arrays, [(1, 1, 1, 1)], 1, 1, None)


def test_the_function_keeps_alive_what_it_works_with():
    kernels = [make([(1,), (1,)], 1, lambda g: [("p1", 0, g.symbol(("data", 0)) * g.symbol(("p0", 0)))])]
    gc.collect()
    kept = [np.full(2, 7.0) for _ in range(1000)]  # would fill the room of data, were it free
    out = np.zeros(1)
    assert kernels[0](np.array([3.0]), out) is out
    assert out[0] == 30.0
    assert len(kept) == 1000


def test_calls_leak_no_references(kernel):
    good = arguments()
    bad = [*good[:2], good[2], [1.0]]
    calls = 10_000

    def counts() -> list[int]:
        return [sys.getrefcount(x) for x in (*good, bad[3], kernel, np.ndarray, np.dtype(np.float64))]

    before, none_before = counts(), sys.getrefcount(None)
    for _ in range(calls):
        kernel(*good)
        kernel(*bad)
    assert counts() == before
    assert abs(sys.getrefcount(None) - none_before) < calls // 10


def test_calls_and_functions_leak_no_memory(kernel):
    good = arguments()
    table = ctypes.sizeof(ctypes.c_int64) * 100

    def work(count: int) -> None:
        for _ in range(count):
            kernel(*good)
            kernel(*good[:2])
        for _ in range(count // 100):
            make([(1,), (1,)], 1, lambda g: [("p1", 0, g.symbol(("p0", 0)))])

    work(1000)
    gc.collect()
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        work(5000)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - start < 10 * table
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_the_process_does_not_grow(kernel):
    def pages() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1])

    good = arguments()
    for _ in range(20_000):
        kernel(*good)
    before = pages()
    for _ in range(100_000):
        kernel(*good)
    assert pages() - before < 64
