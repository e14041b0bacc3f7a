"""Files of arrays: what is written is read back, what is damaged is refused, a kill leaves the old one."""

import hashlib
import json
import multiprocessing
import os
import signal
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from peak_memory import peak_memory

from linkwork.errors import FormatError
from linkwork.recording.array_file import read, write, write_atomically

FORK = multiprocessing.get_context("fork") if hasattr(os, "fork") else None
needs_fork = pytest.mark.skipif(FORK is None, reason="this system cannot fork")

HEADER = {"kind": "test", "numbers": [1, 2.5, None, True], "name": "Kurbel ä \udc80 <b>"}
ARRAYS = {
    "numbers": np.array([[1.0, -0.0, np.nan], [np.inf, 5e-324, -1e308]]),
    "whole": np.array([-(2**63), 2**63 - 1]),
    "truth": np.array([True, False, True]),
    "single": np.array(0.1),
    "empty": np.zeros((0, 7)),
}


def forged(described: object, data: bytes = b"", version: int = 1) -> bytes:
    """Return a file with a right checksum, whatever it says."""
    text = described if isinstance(described, bytes) else json.dumps(described).encode()
    start = struct.pack("<8sIQ", b"\x89LWR\r\n\x1a\n", version, len(text)) + text
    body = start + bytes(-len(start) % 64) + data
    return body + hashlib.sha256(body).digest()


def listed(**entry: object) -> dict[str, object]:
    return {"header": {}, "arrays": [{"name": "a", "dtype": "float64", "shape": [8], "offset": 0} | entry]}


def test_what_was_written_is_read_bit_for_bit(tmp_path: Path) -> None:
    write(tmp_path / "a.lwr", HEADER, ARRAYS)
    header, arrays = read(tmp_path / "a.lwr")
    assert header == HEADER
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    write(tmp_path / "a", HEADER, ARRAYS)
    strided = {name: np.asarray(array, order="F") for name, array in reversed(ARRAYS.items())}
    write(tmp_path / "b", dict(reversed(HEADER.items())), strided)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_big_endian_arrays_are_stored_by_value(tmp_path: Path) -> None:
    write(tmp_path / "a", {}, {"x": np.array([1.0, 2.0], ">f8")})
    assert read(tmp_path / "a")[1]["x"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("array", [np.array(["text"]), np.array([None]), np.zeros(2, np.float32)])
def test_other_arrays_are_not_written(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(ValueError, match="array 'x' has dtype"):
        write(tmp_path / "a", {}, {"x": array})
    assert not list(tmp_path.iterdir())


def test_a_header_that_is_no_json_leaves_the_old_file(tmp_path: Path) -> None:
    write(tmp_path / "a", HEADER, {})
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "a", {"x": float("nan")}, {})
    assert read(tmp_path / "a")[0] == HEADER
    assert len(list(tmp_path.iterdir())) == 1


def test_every_flipped_bit_and_every_cut_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.lwr"
    write(path, HEADER, ARRAYS)
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    for trial in range(2000):
        damaged = bytearray(content)
        if trial % 4:
            damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        else:
            del damaged[int(rng.integers(len(content))) :]
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"a\.lwr: "):
            read(path)


def test_bytes_added_at_the_end_are_found(tmp_path: Path) -> None:
    write(tmp_path / "a", HEADER, ARRAYS)
    with open(tmp_path / "a", "ab") as file:
        file.write(bytes(64))
    with pytest.raises(FormatError, match="damaged"):
        read(tmp_path / "a")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "0 bytes"),
        (b"PK\x03\x04" + bytes(100), "not a file of Linkwork"),
        (forged({}, version=2), "newer"),
        (forged({}, version=0), "version 0"),
        (forged({}), "without the list"),
        (forged(b'{"header": {}, "header": {}, "arrays": []}'), "twice"),
        (forged(b'{"header": {"x": NaN}, "arrays": []}'), "NaN"),
        (forged(b'{"header": {"x": 1e999}, "arrays": []}'), "1e999"),
        (forged(b'{"header": {}, "arrays": []} trailing'), "strict JSON"),
        (forged(b"[" * 100_000), "strict JSON"),
        (forged(b'{"header": {"x": ' + b"9" * 10_000 + b'}, "arrays": []}'), "strict JSON"),
        (forged(b"\xff\xfe"), "strict JSON"),
        (forged(listed(), bytes(128)), "128 bytes of arrays"),
        (forged(listed(dtype="object"), bytes(64)), "dtype 'object'"),
        (forged(listed(dtype="<U8"), bytes(64)), "dtype '<U8'"),
        (forged(listed(shape=[10**12]), bytes(64)), "beyond the end"),
        (forged(listed(shape=[2**62, 2**62, 4]), bytes(64)), "beyond the end"),
        (forged(listed(shape=[0, 10**30])), "shape"),
        (forged(listed(shape=[-8]), bytes(64)), "shape"),
        (forged(listed(shape=[True]), bytes(64)), "shape"),
        (forged(listed(shape=[1] * 50), bytes(64)), "shape"),
        (forged(listed(shape="8"), bytes(64)), "without name"),
        (forged(listed(offset=64), bytes(64)), "at 64"),
        (forged(listed(dtype="bool", shape=[1]), b"\x02" + bytes(63)), "truth values"),
        (forged({"header": {}, "arrays": listed(shape=[0])["arrays"] * 2}), "two arrays"),  # type: ignore[operator]
    ],
)
def test_a_file_that_lies_is_refused(tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / "bad.lwr").write_bytes(content)
    with pytest.raises(FormatError, match=r"bad\.lwr: ") as caught:
        read(tmp_path / "bad.lwr")
    assert fault in str(caught.value)


def test_the_forger_can_make_a_good_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(forged(listed(), np.arange(8.0).tobytes()))
    assert read(tmp_path / "a")[1]["a"].tolist() == list(range(8))


@pytest.mark.skipif(os.name != "posix", reason="pipes in folders")
def test_what_is_no_regular_file_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(FormatError, match="not a regular file"):
            read(path)
    with pytest.raises(FormatError, match="no such file"):
        read(tmp_path / "absent")


@pytest.mark.skipif(os.name != "posix", reason="permissions and links")
def test_a_new_file_has_usual_permissions_and_replaces_a_link_itself(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "link").symlink_to("precious")
    (tmp_path / "plain").touch()
    write(tmp_path / "link", HEADER, ARRAYS)
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing was changed.*absent/a\.lwr"):
        write(tmp_path / "absent" / "a.lwr", {}, {})


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    def interrupted() -> object:
        yield b"new"
        raise KeyboardInterrupt

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", interrupted())  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def _write_on_a_small_disk(path: Path) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    try:
        write(path, {"version": 2}, {"x": np.ones(1 << 19)})
    except OSError as error:
        os._exit(0 if str(path) in str(error) else 1)
    os._exit(2)


@needs_fork
def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    write(tmp_path / "a", {"version": 1}, {"x": np.zeros(3)})
    assert FORK is not None
    child = FORK.Process(target=_write_on_a_small_disk, args=(tmp_path / "a",))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert read(tmp_path / "a")[0] == {"version": 1}
    assert len(list(tmp_path.iterdir())) == 1


def _write_for_ever(path: Path) -> None:
    number = 0
    while True:
        number += 1
        write(path, {"number": number}, {"x": np.full(1 << 17, number)})


def kill_writers(path: Path, kills: int) -> int:
    """Kill processes that write a file, at random moments; return how often it had changed in between."""
    assert FORK is not None
    rng = np.random.default_rng(2)
    write(path, {"number": 0}, {"x": np.zeros(1 << 17, int)})
    changed = 0
    for _ in range(kills):
        before = read(path)[0]["number"]
        child = FORK.Process(target=_write_for_ever, args=(path,))
        child.start()
        while read(path)[0]["number"] == before and child.is_alive():  # until it writes
            time.sleep(1e-3)
        time.sleep(rng.uniform(0.0, 0.02))
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        header, arrays = read(path)  # raises if it is damaged
        assert (arrays["x"] == header["number"]).all()
        changed += header["number"] != before
    return changed


@needs_fork
@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_a_killed_writer_never_leaves_a_damaged_file(tmp_path: Path, kills: int) -> None:
    assert kill_writers(tmp_path / "a.lwr", kills) > kills // 2


@pytest.mark.parametrize(
    ("start", "words"), [(b"LINKWORK", "its first bytes are others"), (b"", "is damaged")]
)
def test_a_large_file_that_is_refused_takes_no_memory(tmp_path, start, words):
    path = tmp_path / "run.lwr"
    write(path, {}, {"a": np.zeros(3)})
    with path.open("r+b") as file:
        file.write(start)
        file.truncate(10**10 if start else 10**8)  # nothing is on the disk

    def refused() -> None:
        with pytest.raises(FormatError, match=words):
            read(path)

    refused()
    assert peak_memory(refused) < 10e6
