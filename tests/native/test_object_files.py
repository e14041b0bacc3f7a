"""Files of native code: which are trusted, who may have written them, what the sweep removes."""

import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
from damage import soak

from linkwork.native import object_files, store
from linkwork.native.target import AHEAD, host

CONTENT = {"k": 1}, b"object code"


def test_damaged_entries_of_both_kinds_are_built_again(tmp_path):
    """The full number is for `make soak`."""
    soak(tmp_path, flips=40, cuts=20)


@pytest.fixture
def ahead(tmp_path, monkeypatch):
    """Return a folder for objects compiled ahead, as if it were in the package."""
    monkeypatch.setattr(store, "AHEAD_FOLDER", tmp_path / "objects")
    folder = tmp_path / "objects" / host().name
    folder.mkdir(parents=True)
    return folder


def test_objects_of_the_package_are_trusted_as_its_sources_are(ahead):
    path = store.object_file(host(), "name")
    assert path.parent == ahead
    object_files.write(path, *CONTENT)
    assert object_files.read(path, object_files.is_of_package) == CONTENT
    path.chmod(0o666)
    assert object_files.read(path, object_files.is_of_package) is None
    path.chmod(0o644)
    ahead.chmod(0o777)
    assert object_files.read(path, object_files.is_of_package) is None
    ahead.chmod(0o755)
    assert object_files.read(path, object_files.is_of_package) == CONTENT


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("level", ["file", "folder"])
def test_objects_of_the_package_that_others_own_are_not_used(ahead, level):
    path = store.object_file(host(), "name")
    object_files.write(path, *CONTENT)
    os.chown(path if level == "file" else ahead, 12345, 12345)
    assert object_files.read(path, object_files.is_of_package) is None


def test_damaged_objects_of_the_package_are_passed_over(ahead):
    path = store.object_file(host(), "name")
    object_files.write(path, *CONTENT)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert object_files.read(path, object_files.is_of_package) is None


@pytest.mark.parametrize("target", AHEAD)
def test_what_is_compiled_ahead_for_another_processor_runs_here_without_its_instructions(
    target, ahead, monkeypatch
):
    """A processor with registers of four lanes cannot fetch between computations of eight."""
    fetches = []

    def build():
        fetches.append(store.fetch())
        return "define void @nothing() { ret void }", {}

    folder = ahead.parent / target.name
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(store, "_ahead", [])
    name = store.digest("nothing")
    try:
        store.compile_ahead(target, folder)
        store.load_apart(name, build)
    finally:
        store._apart.pop(name, None)
    assert object_files.read(folder / f"{name}{object_files.SUFFIX}", object_files.is_of_package)
    assert fetches == ([target.fetch] if target == host() else [target.fetch, ""])
    assert store.fetch() == target.fetch


class Planted:
    def __reduce__(self):
        return os.mkdir, ("executed",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links")
def test_what_was_planted_is_neither_run_nor_waited_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "name.o"
    path.write_bytes(pickle.dumps(Planted()))
    assert object_files.read(path) is None
    path.write_bytes(object_files.MAGIC + pickle.dumps(Planted()))
    assert object_files.read(path) is None
    path.unlink()
    os.mkfifo(path)
    assert object_files.read(path) is None
    path.unlink()
    object_files.write(tmp_path / "other.o", *CONTENT)
    path.symlink_to(tmp_path / "other.o")
    assert object_files.read(path) is None
    path.unlink()
    path.mkdir()
    assert object_files.read(path) is None
    assert not (tmp_path / "executed").exists()


def test_the_sweep_removes_what_was_not_used_for_longest(tmp_path):
    now = time.time()
    for k in range(10):
        (tmp_path / f"{k}.o").write_bytes(bytes(1000))
        os.utime(tmp_path / f"{k}.o", (now - k, now - k))
    for name in ("note.txt", ".new-fresh", ".new-left"):
        (tmp_path / name).write_bytes(bytes(1000))
    os.utime(tmp_path / ".new-left", (now - 1e6, now - 1e6))
    (tmp_path / "link.o").symlink_to(tmp_path / "note.txt")
    object_files.sweep(tmp_path, 10_000)
    assert len(list(tmp_path.glob("?.o"))) == 10
    assert not (tmp_path / ".new-left").exists()
    object_files.sweep(tmp_path, 9_999)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".new-fresh",
        *(f"{k}.o" for k in range(4)),
        "link.o",
        "note.txt",
    ]


def test_use_counts_for_the_sweep_once_a_day(tmp_path):
    path = tmp_path / "name.o"
    object_files.write(path, *CONTENT)
    before = path.stat().st_mtime_ns
    object_files.keep(path)
    assert path.stat().st_mtime_ns == before
    os.utime(path, (0, 0))
    object_files.keep(path)
    assert time.time() - path.stat().st_mtime < 60


# simulates and collides, and prints whether Numba, or a pickle, was needed
USE = """
import json, sys
import linkwork as lw
lw.simulate(lw.examples.slider_crank(), 0.01)
assert len(lw.collide(lw.Box(1, 1, 1), lw.Sphere(0.6), pose_b=(0.0, 0.0, 1.0))) == 1
print(json.dumps(["numba" in sys.modules, sys.argv]))
"""


def test_a_process_with_all_code_there_never_imports_numba_nor_writes_its_cache():
    cache = object_files.cache_folder()
    assert cache is not None
    before = pickled(cache)  # of releases that had them; nobody reads them any more
    for _ in range(2):  # the first may have to compile
        out = subprocess.run([sys.executable, "-c", USE], check=True, capture_output=True, text=True).stdout
    assert json.loads(out)[0] is False
    assert pickled(cache) == before
    assert not pickled(Path(store.__file__).parents[1])


def pickled(folder: Path) -> set[Path]:
    """Return the files of Numba's own cache in a folder."""
    return set(folder.rglob("*.nb[ic]"))
