"""Damaged files: every reader answers with what it read or our error, opens nothing, and is soon done."""

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from formats.corpus import NUMBERS, samples

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.native.loop_entry import LOOPS

WORDS = (
    *(number.encode() for number in NUMBERS[:-1]),
    *(
        b"<",
        b"/>",
        b'"',
        b"<![CDATA[",
        b"<!DOCTYPE",
        b"&#0;",
        b"&lt;",
        b"\xff",
        b"\0",
        b"\n",
        b"-1",
        b"4294967295",
        b"#",
    ),
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b":",
        b"null",
        b"true",
        b"[[[[",
        b'"":',
        b"\\u0000",
        b"1e308",
        b"-0.0",
        b" " * 50,
    ),
    *(
        b"../../etc/passwd",
        b"file:///etc/passwd",
        b"package://etc/x",
        b"http://127.0.0.1/",
        b"end_header",
        b"f 1 2",
    ),
)
OPENING = ("open", "socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system")
OPENING += (
    "os.exec",
    "os.posix_spawn",
    "pickle.find_class",
    "exec",
    "compile",
    "urllib.Request",
    "shutil.rmtree",
)
heard: list[tuple[str, str]] | None = None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if heard is not None and event in OPENING:
        heard.append((event, str(arguments[:1])[:200]))


sys.addaudithook(_hear)  # it stays for the life of the process, and costs nothing while nobody listens


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with some damage: bytes, words, parts left out or doubled, an end that is missing."""
    copy = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at, size = int(rng.integers(0, len(copy) + 1)), int(rng.integers(1, 9))
        match int(rng.integers(0, 7)):
            case 0:
                copy[at : at + 1] = rng.bytes(1)
            case 1 | 2:
                copy[at : at + size * int(rng.integers(0, 2))] = WORDS[int(rng.integers(0, len(WORDS)))]
            case 3:
                del copy[at : at + size]
            case 4:
                copy[at:at] = copy[at : at + 4 * size]
            case 5:
                there = int(rng.integers(0, len(copy) + 1))
                copy[at : at + size] = copy[there : there + size]
            case 6:
                if rng.random() < 0.3:
                    del copy[at:]
        if not copy:
            copy = bytearray(b" ")
    return bytes(copy)


def fuzz(folder: Path, most: int, seconds: float, seed: int) -> int:
    """Read damaged files until there were so many, or so much processor time is used; return how many."""
    global heard
    rng, kinds = np.random.default_rng(seed), list(samples().values())
    paths = [folder / f"part{k}.{suffix}" for k, (suffix, _) in enumerate(kinds)]
    for path, (_, data) in zip(paths, kinds, strict=True):
        path.write_bytes(data)
        lw.load(path)  # modules are imported, loops compiled
    for loop in LOOPS.values():
        if loop.function.__module__.startswith(("linkwork.formats", "linkwork.geometry")):
            loop.prepare()
    handles = [os.open(path, os.O_RDWR) for path in paths]
    began, count = time.process_time(), 0
    here = {str(path) for path in paths}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while count < most and time.process_time() - began < seconds:
            k = count % len(kinds)
            data = mutated(kinds[k][1], rng)
            os.ftruncate(handles[k], 0)
            os.pwrite(handles[k], data, 0)
            heard = []
            start = time.process_time()
            try:
                thing = lw.load(paths[k])
                if isinstance(thing, lw.geometry.Mesh):
                    assert np.isfinite(thing.vertices).all()
            except LinkworkError as error:
                assert paths[k].name in str(error), f"{error} of {data!r}"  # noqa: PT017
            except BaseException as error:
                heard = None
                raise AssertionError(
                    f"{type(error).__name__}: {error} of {paths[k].suffix}: {data!r}"
                ) from error
            taken, opened, heard = time.process_time() - start, heard, None
            others = [(event, what) for event, what in opened if not any(path in what for path in here)]
            assert not others, (others, data)
            assert taken < 2.0, (taken, data)
            count += 1
    for handle in handles:
        os.close(handle)
    return count


def test_damaged_files_are_read_or_refused_and_nothing_else_is_touched(tmp_path):
    count = fuzz(tmp_path, 200_000, float(os.environ.get("FUZZ_SECONDS", "60")), seed=19)
    print(f"{count} damaged files")
    assert count > 10_000


@pytest.mark.soak
def test_damaged_files_for_an_hour(tmp_path):
    seed = int(time.time())
    print(f"seed {seed}")
    assert fuzz(tmp_path, 10**9, 3600.0, seed) > 10**6
