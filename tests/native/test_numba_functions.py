"""Native code in Numba: parts and entries, memory by address, and the folder of its cache."""

import os
import re
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from linkwork.native import numba_functions
from linkwork.native.numba_functions import doubles, integers, native, record

PAIR = np.dtype([("count", np.int64), ("value", np.float64)])
LINKWORK = Path(numba_functions.__file__).parents[1]
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


@numba.njit
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


@numba.njit
def _first_and_last(reals, counts, size):
    x, n = doubles(reals), integers(counts, size)
    x[0], n[size - 1] = x[size - 1], n[0]


def test_memory_is_read_and_written_by_address():
    x, n = np.array([1.5, 2.5, 3.5]), np.array([7, 8, 9])
    _first_and_last(x.ctypes.data, n.ctypes.data, 3)
    assert x.tolist() == [3.5, 2.5, 3.5]
    assert n.tolist() == [7, 8, 7]


def test_the_name_of_the_cache_covers_all_that_is_compiled():
    """What is compiled calls nothing compiled of another package: the digest would not know it."""
    compiles = {
        file: re.search(r"^@(native|native_apart|native_within|entry)$", file.read_text(), re.MULTILINE)
        for file in LINKWORK.rglob("*.py")
    }
    packages = {file.parent for file, found in compiles.items() if found}
    assert {package.name for package in packages} == {"contact", "kinematics", "loop", "view"}
    for package in packages:
        files = numba_functions.sources(package)
        assert set(package.glob("*.py")) <= set(files)
        assert not [file for file in files if file.parent != package and compiles[file]]


def test_what_a_package_takes_from_elsewhere_is_in_its_name():
    names = {file.name for file in numba_functions.sources(LINKWORK / "simulation" / "loop")}
    assert {"status.py", "numba_functions.py", "cache_lines.py", "numba_compilers.py", "records.py"} <= names


@pytest.mark.skipif(os.name == "nt", reason="links and modes")
def test_stale_folders_of_the_cache_go_and_nothing_else(tmp_path):
    long_ago = time.time() - 1e6

    def folder(name: str, mode: int = 0o700) -> Path:
        made = tmp_path / name
        made.mkdir()
        (made / "content").touch()
        made.chmod(mode)
        os.utime(made, (long_ago, long_ago))
        return made

    stale, used = folder("numba-march-" + 32 * "0"), folder("numba-march-" + 32 * "1")
    os.utime(used)
    target, linked = folder("target"), tmp_path / ("numba-march-" + 32 * "2")
    linked.symlink_to(target)
    os.utime(linked, (long_ago, long_ago), follow_symlinks=False)
    kept = [
        used,
        target,
        linked,
        folder("numba-march-" + 32 * "3", 0o777),
        folder("numba-march-mine"),
        folder("numba-" + 32 * "4"),
    ]
    numba_functions._remove_stale(tmp_path)
    assert not stale.exists()
    assert all((place / "content").exists() for place in kept)
