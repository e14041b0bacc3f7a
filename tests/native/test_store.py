"""Native code: what is kept on disk, when it is trusted, and the built-in function Python calls it by."""

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.native import emit, object_files, store
from linkwork.native.target import AHEAD
from linkwork.trace.expression import Graph

# the cache on disk, seen from other processes

# loads the functions k x + 1 for given k, and prints of each whether it had to be built and its value at 2
CHILD = """
import ctypes, json, sys
import numpy as np
from linkwork.native import emit, store
from linkwork.trace.expression import Graph

lines = []
for k in json.loads(sys.argv[1]):
    name = store.digest("test of the cache", k)
    built = []

    def build():
        built.append(k)
        x = Graph().symbol(("x", 0))
        text = emit.straight(f"f_{name}", 1, ["x", "y"], (), [("y", 0, float(k) * x + 1.0)])
        return emit.module(1, [text]), {"k": k, "words": "grüß dich"}

    meta = store.load(name, build)
    x, y = np.array([2.0]), np.zeros(1)
    ports = np.array([x.ctypes.data, y.ctypes.data], np.int64)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(store.address(f"f_{name}"))
    run(None, ports.ctypes.data)
    assert meta == {"k": k, "words": "grüß dich"}, meta
    file = store.name_of(name, store.llvm_versions())
    lines.append((f"{file}.o", bool(built), float(y[0])))
print(json.dumps(lines))
"""


def start(cache: Path | str, script: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "LINKWORK_CACHE": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: subprocess.Popen[str]) -> Any:
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return json.loads(out)


def load(cache: Path | str, numbers: Sequence[float]) -> tuple[list[str], list[bool]]:
    """Load functions in a new process; return their files, and whether they had to be built.

    However that was: the results are right.
    """
    lines = finish(start(cache, CHILD, json.dumps(list(numbers))))
    assert [value for _, _, value in lines] == [2.0 * k + 1.0 for k in numbers]
    return [file for file, _, _ in lines], [built for _, built, _ in lines]


def test_a_second_process_builds_nothing(tmp_path):
    cache = tmp_path / "deep" / "down"
    files, built = load(cache, [1, 2, 3])
    assert built == [True] * 3
    assert sorted(os.listdir(cache)) == sorted(files)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert {stat.S_IMODE((cache / file).stat().st_mode) for file in files} == {0o600}
    before = {file: (cache / file).stat().st_mtime_ns for file in files}
    assert load(cache, [3, 1, 2, 4])[1] == [False, False, False, True]
    assert {file: (cache / file).stat().st_mtime_ns for file in files} == before


MODEL = """
import json, sys
import numpy as np
import linkwork as lw
from linkwork.native import store

if sys.argv[1] == "forbidden":
    def refuse(text):
        raise AssertionError("compiled something")
    store.compile_text = refuse
m = lw.Mechanism()
arm = m.add(lw.Body("arm", lw.Box(1, 0.1, 0.1), density=1000.0))
hand = m.add(lw.Body("hand", lw.Sphere(0.1), density=1000.0, position=(1, 0, 0)))
m.add(lw.Spherical("shoulder", m.ground, arm))
m.add(lw.Revolute("wrist", arm, hand, axis=(0, 1, 0)))
model = m.compile()
q, v, tau = np.array([0.8, 0.6, 0.0, 0.0, 0.3]), np.array([0.1, -0.2, 0.3, 0.4]), np.array([1.0, 0, 0, 2])
a = model.forward_dynamics(q, v, tau)
many = model.forward_dynamics(np.tile(q, (11, 1)), np.tile(v, (11, 1)), tau)
print(json.dumps([[x.hex() for x in a.tolist()], [x.hex() for x in many[10].tolist()]]))
"""


def test_a_second_process_compiles_nothing_for_a_whole_mechanism(tmp_path):
    one, many = finish(start(tmp_path / "cache", MODEL, "allowed"))
    assert one == many
    assert finish(start(tmp_path / "cache", MODEL, "forbidden")) == [one, many]


def damaged(content: bytes) -> dict[str, bytes]:
    """Return a file of the cache damaged in every way and place."""
    magic, header = len(object_files.MAGIC), len(object_files.MAGIC) + 32
    meta = header + 8
    places = {
        "magic": 0,
        "end of magic": magic - 1,
        "checksum": magic,
        "end of checksum": header - 1,
        "length of header": header,
        "top of length": header + 7,
        "header": meta,
        "middle of header": meta + 9,
        "code": content.index(b"\x7fELF") if b"\x7fELF" in content else meta + 40,
        "middle of code": (meta + len(content)) // 2,
        "end of code": len(content) - 1,
    }
    cuts = {"empty": 0, "cut in magic": 5, "cut in checksum": magic + 7, "cut after checksum": header}
    cuts |= {"cut in length": header + 3, "cut in header": meta + 5, "cut in code": len(content) // 2}
    cuts |= {"cut at the end": len(content) - 1}

    def flipped(place: int) -> bytes:
        return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]

    return {
        **{f"flipped in {name}": flipped(place) for name, place in places.items()},
        **{name: content[:length] for name, length in cuts.items()},
        "longer": content + b"\0",
        "twice": content + content,
        "zeros": bytes(len(content)),
        "noise": np.random.default_rng(0).bytes(len(content)),
    }


def test_a_damaged_file_is_built_again_and_mended(tmp_path):
    load(tmp_path, [0])
    (original,) = tmp_path.iterdir()
    count = len(damaged(original.read_bytes()))
    numbers = list(range(1, count + 1))
    files, _ = load(tmp_path, numbers)
    for file, kind in zip(files, damaged(original.read_bytes()), strict=True):
        content = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(damaged(content)[kind])
    assert load(tmp_path, numbers)[1] == [True] * count
    assert load(tmp_path, numbers)[1] == [False] * count


def test_what_others_could_have_written_is_not_trusted(tmp_path):
    numbers = list(range(8))
    files, _ = load(tmp_path, numbers)
    paths = [tmp_path / file for file in files]
    paths[0].chmod(0o620)
    paths[1].chmod(0o602)
    paths[2].chmod(0o666)
    paths[3].write_bytes(paths[4].read_bytes())  # another key's code under this name
    paths[5].unlink()
    paths[5].symlink_to(paths[4])  # the same, by a link
    paths[6].unlink()
    paths[6].symlink_to(tmp_path / "nowhere")
    assert load(tmp_path, numbers)[1] == [True] * 4 + [False, True, True, False]
    assert load(tmp_path, numbers)[1] == [False] * 8
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_trusted(tmp_path):
    files, _ = load(tmp_path, [1, 2])
    os.chown(tmp_path / files[0], 12345, 12345)
    assert load(tmp_path, [1, 2])[1] == [True, False]
    os.chown(tmp_path, 12345, 12345)
    assert load(tmp_path, [1, 2])[1] == [True, True]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_folder_others_can_write_is_not_used(tmp_path, mode):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    assert native_folder(folder) is None
    if mode == 0o777:
        assert load(folder, [1])[1] == [True]
        assert not list(folder.iterdir())


def test_a_folder_in_the_place_of_a_file_is_left_alone(tmp_path):
    files, _ = load(tmp_path, [1])
    (tmp_path / files[0]).unlink()
    (tmp_path / files[0]).mkdir()
    assert load(tmp_path, [1])[1] == [True]
    assert os.listdir(tmp_path) == files


def test_no_folder_is_no_trouble(tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    assert native_folder(file) is None
    assert native_folder(file / "below") is None
    assert load(file / "below", [1, 2])[1] == [True, True]
    assert file.read_text() == "in the way"


def native_folder(setting: Path | str | None, **environment: str) -> Path | None:
    """Return the folder that is used under these settings."""
    with pytest.MonkeyPatch.context() as patch:
        if setting is None:
            patch.delenv("LINKWORK_CACHE", raising=False)
        else:
            patch.setenv("LINKWORK_CACHE", str(setting))
        for name, value in environment.items():
            patch.setenv(name, value)
        return object_files.cache_folder()


def test_an_empty_setting_means_no_cache(tmp_path):
    assert native_folder("", XDG_CACHE_HOME=str(tmp_path)) is None
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="XDG")
def test_without_a_setting_the_cache_is_where_the_system_keeps_them(tmp_path, monkeypatch):
    assert native_folder(None, XDG_CACHE_HOME=str(tmp_path)) == tmp_path / "linkwork"
    monkeypatch.chdir(tmp_path)
    assert (
        native_folder(None, XDG_CACHE_HOME="", HOME=str(tmp_path / "home"))
        == tmp_path / "home/.cache/linkwork"
    )


def test_without_a_home_there_is_no_cache(monkeypatch):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert native_folder(None) is None


@pytest.mark.parametrize("fails", ["mkstemp", "replace"])
def test_a_disk_that_takes_nothing_is_no_error(tmp_path, monkeypatch, fails):
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.mkstemp" if fails == "mkstemp" else "os.replace", refuse)
    object_files.write(tmp_path / "entry.o", {}, b"code")
    assert not list(tmp_path.iterdir())


def test_many_processes_may_write_one_entry_at_once(tmp_path):
    numbers = list(range(12))
    processes = [start(tmp_path, CHILD, json.dumps(numbers)) for _ in range(4)]
    results = [finish(process) for process in processes]
    for lines in results:
        assert [value for _, _, value in lines] == [2.0 * k + 1.0 for k in numbers]
    assert sorted(os.listdir(tmp_path)) == sorted(file for file, _, _ in results[0])
    assert load(tmp_path, numbers)[1] == [False] * 12


def test_a_reader_sees_all_of_an_entry_or_nothing(tmp_path):
    path = tmp_path / "entry.o"
    contents = [({"size": n}, os.urandom(n)) for n in (10, 100_000, 300_000)]
    seen: list[Any] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append(object_files.read(path))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        for meta, code in contents:
            object_files.write(path, meta, code)
    done.set()
    reader.join()
    assert all(found is None or found in contents for found in seen)
    assert object_files.read(path) == contents[-1]


def test_threads_that_ask_for_the_same_code_build_it_once(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    name = store.digest("asked for by threads", str(tmp_path))
    x = Graph().symbol(("x", 0))
    text = emit.module(1, [emit.straight(f"f_{name}", 1, ["x"], (), [("x", 0, x + 1.0)])])
    built: list[int] = []

    def build() -> tuple[str, dict[str, int]]:
        built.append(1)
        return text, {"answer": 42}

    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(store.load(name, build))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"answer": 42}] * 8
    assert len(built) == 1


def test_the_name_of_code_says_all_that_shaped_it(monkeypatch):
    names = {
        store.digest(*key) for key in [("a",), ("b",), ("a", 1), ("a", 2), (("a", 1),), ("a1",), (1,), ("1",)]
    }
    assert len(names) == 8
    assert store.digest("a", 1) == store.digest("a", 1)
    before = store.digest("a")
    monkeypatch.setattr(store, "_of_kernels", lambda: b"other sources")
    assert store.digest("a") != before
    monkeypatch.undo()
    others = [target for target in AHEAD if target != store.target()]
    monkeypatch.setattr(store, "target", lambda: others[0])
    assert store.digest("a") != before


def test_a_build_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    name = store.digest("fails", str(tmp_path))

    def fail() -> tuple[str, dict[str, int]]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.load(name, fail)
    assert not list(tmp_path.iterdir())
    with pytest.raises(RuntimeError, match="LLVM IR parsing error"):
        store.load(name, lambda: ("nonsense", {}))
    assert not list(tmp_path.iterdir())
