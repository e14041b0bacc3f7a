"""Loops: parts and entries, memory by address, what an entry is called with, and what shapes its object."""

import inspect
import os
import pickle
import re
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError
from linkwork.native import passes, sources, store
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import (
    add_scaled,
    add_two,
    doubles,
    entry,
    integers,
    memory,
    native,
    native_linked,
    record,
)
from linkwork.native.target import host

PAIR = np.dtype([("count", np.int64), ("value", np.float64)])
LINKWORK = Path(linkwork.__file__).parent
_pair = record(PAIR)


@native
def _increment(pair):
    pair.count += 1


@native
def _double(pair):
    _increment(pair)
    pair.value *= 2.0


@native
def _halve(pair):
    _increment(pair)
    pair.value *= 0.5


@entry(None, "int64")
def _all_ways(address):
    pair = _pair(address)
    _double(pair)
    _double(pair)
    _halve(pair)
    _increment(pair)


def test_parts_may_share_parts_and_change_records():
    pair = np.array([(0, 3.0)], PAIR)
    _all_ways(pair.ctypes.data)
    assert pair[0].tolist() == (4, 6.0)


@entry(None, "float64[::1]", "int64", "int64", "float64[::1]", "int64", "int64", "int64")
def _add_rows(x, i, n, y, j, k, rows):
    if rows == 1:
        add_scaled(memory(x), i, n, 0.7, memory(y), j)
    else:
        add_two(memory(x), i, n, 0.7, memory(y), j, -1.3, memory(y), k)


@pytest.mark.parametrize("rows", [1, 2])
def test_rows_of_any_length_are_added_and_nothing_beside_them(rows):
    generator = np.random.default_rng(rows)
    for n in range(35):
        x, y = generator.normal(size=48), generator.normal(size=64)
        expected = x.copy()
        expected[3 : 3 + n] += 0.7 * y[5 : 5 + n]
        if rows == 2:
            expected[3 : 3 + n] -= 1.3 * y[11 : 11 + n]
        _add_rows(x, 3, n, y, 5, 11, rows)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-15)
        assert x[:3].tobytes() == expected[:3].tobytes()
        assert x[3 + n :].tobytes() == expected[3 + n :].tobytes()


def test_what_is_added_to_a_row_is_rounded_once():
    x, y = np.full(9, -1.0), np.full(16, (1.0 + 2.0**-30) / 0.7)
    _add_rows(x, 0, 9, y, 0, 0, 1)
    exact = float(Fraction(0.7) * Fraction(float(y[0])) - 1)
    assert exact != 0.7 * y[0] - 1.0
    assert (x == exact).all()


@numba.njit
def _first_and_last(reals, counts, size):
    x, n = doubles(reals), integers(counts, size)
    x[0], n[size - 1] = x[size - 1], n[0]


def test_functions_of_numba_itself_know_the_verbs():
    x, n = np.array([1.5, 2.5, 3.5]), np.array([7, 8, 9])
    _first_and_last(x.ctypes.data, n.ctypes.data, 3)
    assert x.tolist() == [3.5, 2.5, 3.5]
    assert n.tolist() == [7, 8, 7]


class Sheet(NamedTuple):
    rows: np.ndarray
    scale: float
    flags: np.ndarray


@entry(
    "float64", Named(Sheet, {"rows": "float64[:, ::1]", "scale": "float64", "flags": "bool[::1]"}), "int64"
)
def _weighed(sheet, shift):
    """Sum the flagged rows, by memory that the loop makes for itself."""
    sums = np.zeros(len(sheet.rows) + shift)
    for i in range(len(sheet.rows)):
        for j in range(sheet.rows.shape[1]):
            sums[i] += sheet.rows[i, j]
    total, kept = 0.0, sums.copy()
    for i in range(len(sheet.flags)):
        if sheet.flags[i]:
            total += sheet.scale * kept[i]
    return total


def test_an_entry_takes_tuples_of_arrays_and_makes_arrays_of_its_own():
    rows = np.arange(12.0).reshape(3, 4)
    assert _weighed(Sheet(rows, 0.5, np.array([True, False, True])), 2) == 0.5 * (
        rows[0].sum() + rows[2].sum()
    )
    assert _weighed.__doc__.startswith("Sum the flagged rows")


def test_threads_run_an_entry_at_once():
    found: list[float] = []
    sheets = [Sheet(np.full((50, 40), float(k)), 1.0, np.ones(50, bool)) for k in range(8)]
    threads = [
        threading.Thread(target=lambda s=sheet: found.extend(_weighed(s, 0) for _ in range(200)))
        for sheet in sheets
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(2000.0 * k for k in range(8) for _ in range(200))


def test_arrays_of_an_equal_type_are_taken_as_they_are():
    rows = pickle.loads(pickle.dumps(np.ones((2, 2))))  # its dtype is a copy
    assert _weighed(Sheet(rows, 1.0, np.ones(2, bool)), 0) == 4.0


@pytest.mark.parametrize(
    ("sheet", "shift", "said"),
    [
        (Sheet(np.ones((2, 2), np.float32), 1.0, np.ones(2, bool)), 0, "float64.*not a float32"),
        (Sheet(np.ones((2, 4))[:, ::2], 1.0, np.ones(2, bool)), 0, "contiguous"),
        (Sheet(np.ones(4), 1.0, np.ones(2, bool)), 0, r"float64\[:, ::1\]"),
        (Sheet([[1.0]], 1.0, np.ones(2, bool)), 0, "not a list"),
        (Sheet(np.ones((2, 2)), "1", np.ones(2, bool)), 0, "real number"),
        (Sheet(np.ones((2, 2)), 1.0, np.ones(2, bool)), 0.5, "integer"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_runs(sheet, shift, said):
    with pytest.raises(TypeError, match=said):
        _weighed(sheet, shift)


def test_the_number_of_arguments_counts():
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        _weighed(Sheet(np.ones((2, 2)), 1.0, np.ones(2, bool)))


@entry("int64", "int64")
def _raising(x):
    if x > 3:
        raise ValueError("too large")
    return 2 * x


def test_a_loop_that_raises_is_an_error_of_ours():
    assert _raising(3) == 6
    with pytest.raises(LinkworkError, match="_raising failed"):
        _raising(4)
    assert _raising(-5) == -10


class Numbers(NamedTuple):
    at: object
    count: object


@native_linked("float64", Named(Numbers, {"at": "float64*", "count": "int64"}), "float64", "int64*")
def _weighted_sum(numbers, factor, calls):
    calls[0] += 1
    total = 0.0
    for k in range(numbers.count):
        total += numbers.at[k]
    return factor * total


@entry("float64", "float64[::1]", "int64[::1]")
def _twice(x, calls):
    numbers = Numbers(memory(x), len(x))
    return _weighted_sum(numbers, 2.0, memory(calls)) + _weighted_sum(numbers, 0.5, memory(calls))


def test_a_linked_part_is_compiled_once_and_called_from_other_objects():
    calls = np.zeros(1, np.int64)
    assert _twice(np.array([1.0, 2.0, 4.0]), calls) == 17.5
    assert calls[0] == 2
    text, meta = _twice.build()
    assert meta["calls"] == [_weighted_sum.name]
    assert f"declare i32 @{_weighted_sum.symbol}(" in text
    with pytest.raises(ValueError, match="no pointers"):
        entry(None, "float64*")(lambda x: None)


@entry(None, "float64[::1]")
def _assigning(x):
    x[:] = x[1:]


def test_what_needs_the_runtime_of_numba_is_refused_when_it_is_compiled():
    with pytest.raises(LinkworkError, match="nothing but Numba's runtime has"):
        store.compile_text(_assigning.build()[0], passes.loops)


def test_the_types_of_an_entry_are_read_when_it_is_declared():
    for wrong in ("float64[:, :]", "complex", "float64[::1, :]"):
        with pytest.raises(ValueError, match="contiguous array"):
            entry(None, wrong)(lambda x: None)
    with pytest.raises(ValueError, match="result"):
        entry("float32", "int64")(lambda x: None)
    with pytest.raises(ValueError, match="fields"):
        Named(Sheet, {"rows": "float64[:, ::1]"})


def test_the_name_of_an_object_covers_all_that_is_compiled():
    """Whatever file has parts that an entry uses, directly or not, is among the sources of its name."""
    marks = re.compile(r"^@(native|native_apart|native_within)$", re.MULTILINE)
    parts = {file for file in LINKWORK.rglob("*.py") if marks.search(file.read_text())}
    for package in ("simulation/loop", "kinematics", "contact"):
        here = {file for file in parts if file.parent == LINKWORK / package}
        entries = [
            file for file in LINKWORK.glob(f"{package}/*.py") if re.search("^@entry", file.read_text(), re.M)
        ]
        covered = {other for file in entries for other in sources.closure(file)}
        assert here
        assert here <= covered


def test_a_change_of_any_source_changes_the_name(tmp_path):
    file = Path(inspect.getfile(_all_ways.function))
    files = sources.closure(file)
    assert {"numba_functions.py", "lazy.py", file.name} <= {each.name for each in files}
    copies = []
    for text in ("a = 1\n", "a = 2\n"):
        (tmp_path / "one.py").write_text(text)
        os.utime(tmp_path / "one.py", (0, 0))
        copies.append(sources.digest([tmp_path / "one.py"]))
    assert copies[0] != copies[1]


def test_sources_changed_under_a_running_process_name_nothing_that_others_find(tmp_path, monkeypatch):
    file = tmp_path / "one.py"
    file.write_text("a = 1")
    os.utime(file, (0, 0))
    settled = sources.digest([file])
    assert sources.digest([file]) == settled
    os.utime(file)  # newer than this process
    changed = sources.digest([file])
    assert changed != settled
    sources._digest_since.cache_clear()  # another process knows nothing of this one
    monkeypatch.setattr(sources, "_OWN", b"another process")
    assert sources.digest([file]) != changed


def test_every_kernel_writer_is_among_the_sources_of_kernels():
    covered = set(sources.of_folders(*store._SOURCES))
    writers = [f for f in LINKWORK.rglob("*.py") if re.search(r"native(\.| import .*)emit", f.read_text())]
    assert writers
    assert set(writers) <= covered


def test_an_entry_is_the_same_object_in_every_process():
    assert _all_ways.object_name(host()) == _all_ways.object_name(host())
    assert _all_ways.symbol != _raising.symbol
    assert "numba" in sys.modules  # these here are compiled in place
