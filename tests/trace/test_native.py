"""Native code: what is kept on disk, when it is trusted, and the built-in function Python calls it by."""

import ctypes
import errno
import gc
import json
import os
import stat
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.trace import emit, entry, native
from linkwork.trace.expression import Graph

# the cache on disk, seen from other processes

# loads the functions k x + 1 for given k, and prints of each whether it had to be built and its value at 2
CHILD = """
import ctypes, json, sys
import numpy as np
from linkwork.trace import emit, native
from linkwork.trace.expression import Graph

lines = []
for k in json.loads(sys.argv[1]):
    name = native.digest("test of the cache", k)
    built = []

    def build():
        built.append(k)
        x = Graph().symbol(("x", 0))
        text = emit.straight(f"f_{name}", 1, ["x", "y"], (), [("y", 0, float(k) * x + 1.0)])
        return emit.module(1, [text]), {"k": k, "words": "grüß dich"}

    meta = native.load(name, build)
    x, y = np.array([2.0]), np.zeros(1)
    ports = np.array([x.ctypes.data, y.ctypes.data], np.int64)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(native.address(f"f_{name}"))
    run(None, ports.ctypes.data)
    assert meta == {"k": k, "words": "grüß dich"}, meta
    lines.append((f"{name}.o", bool(built), float(y[0])))
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
from linkwork.trace import native

if sys.argv[1] == "forbidden":
    def refuse(text):
        raise AssertionError("compiled something")
    native.compile_text = refuse
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
    magic, header = len(native._MAGIC), len(native._MAGIC) + 32
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
        return native.cache_folder()


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
    native._write(tmp_path / "entry.o", {}, b"code")
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
            seen.append(native._read(path))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        for meta, code in contents:
            native._write(path, meta, code)
    done.set()
    reader.join()
    assert all(found is None or found in contents for found in seen)
    assert native._read(path) == contents[-1]


def test_threads_that_ask_for_the_same_code_build_it_once(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    name = native.digest("asked for by threads", str(tmp_path))
    x = Graph().symbol(("x", 0))
    text = emit.module(1, [emit.straight(f"f_{name}", 1, ["x"], (), [("x", 0, x + 1.0)])])
    built: list[int] = []

    def build() -> tuple[str, dict[str, int]]:
        built.append(1)
        return text, {"answer": 42}

    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(native.load(name, build))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"answer": 42}] * 8
    assert len(built) == 1


def test_the_name_of_code_says_all_that_shaped_it(monkeypatch):
    names = {
        native.digest(*key)
        for key in [("a",), ("b",), ("a", 1), ("a", 2), (("a", 1),), ("a1",), (1,), ("1",)]
    }
    assert len(names) == 8
    assert native.digest("a", 1) == native.digest("a", 1)
    before = native.digest("a")
    monkeypatch.setattr(native, "_surroundings", lambda: b"another processor or source")
    assert native.digest("a") != before


def test_a_build_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    name = native.digest("fails", str(tmp_path))

    def fail() -> tuple[str, dict[str, int]]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        native.load(name, fail)
    assert not list(tmp_path.iterdir())
    with pytest.raises(RuntimeError, match="LLVM IR parsing error"):
        native.load(name, lambda: ("nonsense", {}))
    assert not list(tmp_path.iterdir())


# the built-in function


def make(shapes: Sequence[tuple[int, ...]], inputs: int, stores: Callable[[Graph], list[Any]]) -> Any:
    """Return the built-in of a straight piece of code over ports p0, p1, ... of these shapes."""
    ports = ["data", "work", *(f"p{k}" for k in range(len(shapes)))]
    text = emit.module(1, [emit.straight("NAME", 1, ports, (), stores(Graph()))])
    name = native.digest("test", text)
    native.load(name, lambda: (text.replace("NAME", f"f_{name}"), {}))
    plan, data = np.zeros(1, np.int64), np.array([10.0, 20.0])
    return entry.single_call(native.address(f"f_{name}"), plan, data, shapes, inputs, work_size=4, keep=None)


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
