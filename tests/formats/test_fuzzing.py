"""Damaged files: every reader answers with what it read or our error, opens nothing, and is soon done."""

import os
import sys
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from formats.corpus import NUMBERS, samples
from peak_memory import peak_memory

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.formats.mjcf_files import checked_model
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
MJCF = """<mujoco model="arm"><compiler angle="radian"/><option gravity="0 0 -9.81"/>
<asset><texture name="t" builtin="checker" width="9" height="9"/></asset>
<worldbody><body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" range="-1 1"/>
<geom type="capsule" size="0.1 0.2"/><replicate count="3" offset="0 1 0"><site/></replicate></body>
</worldbody>
<actuator><motor joint="j" gear="2"/></actuator></mujoco>"""
heard: list[tuple[str, str]] | None = None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if heard is not None and event in OPENING:
        heard.append((event, str(arguments[:1])[:200]))


sys.addaudithook(_hear)  # it stays for the life of the process, and costs nothing while nobody listens


def mutated(data: bytes, rng: Random) -> bytes:
    """Return a file with some damage: bytes, words, parts left out or doubled, an end that is missing."""
    copy = bytearray(data)
    for _ in range(1 + int(3 * rng.random())):
        at, size, kind = int((len(copy) + 1) * rng.random()), 1 + int(8 * rng.random()), int(7 * rng.random())
        if kind == 0:
            copy[at : at + 1] = bytes([int(256 * rng.random())])
        elif kind <= 2:
            copy[at : at + size * (kind - 1)] = WORDS[int(len(WORDS) * rng.random())]
        elif kind == 3:
            del copy[at : at + size]
        elif kind == 4:
            copy[at:at] = copy[at : at + 4 * size]
        elif kind == 5:
            there = int((len(copy) + 1) * rng.random())
            copy[at : at + size] = copy[there : there + size]
        elif rng.random() < 0.3:
            del copy[at:]
    return bytes(copy) or b" "


def saved(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Return a run and a scene as they are saved."""
    m = lw.Mechanism("swing")
    seat = m.add(lw.Body("seat", lw.Box(0.4, 0.2, 0.05), density=600, position=(0, 0, -2)))
    m.add(lw.Revolute("pin", m.ground, seat, at=(0, 0, 0), axis=(0, 1, 0)))
    lw.simulate(m, 0.1).save(folder / "run.lwr")
    scene = lw.Scene()
    scene.add(m)
    scene.save(folder / "yard.lws")
    return {suffix: (suffix, next(folder.glob(f"*.{suffix}")).read_bytes()) for suffix in ("lwr", "lws")}


def read(path: Path) -> Any:
    """Read a file with our own code; what MuJoCo then does with its files is its own."""
    return checked_model(path) if path.suffix == ".xml" else lw.load(path)


def fuzz(folder: Path, most: int, seconds: float, seed: int) -> int:
    """Read damaged files until there were so many, or so much processor time is used; return how many."""
    global heard
    rng = Random(seed)
    kinds = list((samples() | {"mjcf": ("xml", MJCF.encode())} | saved(folder)).values())
    paths = [folder / f"part{k}.{suffix}" for k, (suffix, _) in enumerate(kinds)]
    for path, (_, data) in zip(paths, kinds, strict=True):
        path.write_bytes(data)
        read(path)  # modules are imported, loops compiled
    for loop in LOOPS.values():
        if loop.function.__module__.startswith(("linkwork.formats", "linkwork.geometry")):
            loop.prepare()
    handles = [os.open(path, os.O_RDWR) for path in paths]
    began, count = time.process_time(), 0
    here = tuple(str(path) for path in paths)
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
                thing = read(paths[k])
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


def test_damaged_files_are_read_or_refused_and_nothing_else_is_touched(quick_folder):
    counts: list[int] = []
    seconds = float(os.environ.get("FUZZ_SECONDS", "300"))
    used = peak_memory(lambda: counts.append(fuzz(quick_folder, 200_000, seconds, seed=19)))
    print(f"{counts[0]} damaged files, {used / 1e6:.0f} MB")
    assert used < 256_000_000
    assert counts == [200_000] or "FUZZ_SECONDS" in os.environ


@pytest.mark.soak
def test_damaged_files_for_an_hour(quick_folder):
    seed = int(time.time())
    print(f"seed {seed}")
    assert fuzz(quick_folder, 10**9, 3600.0, seed) > 10**6
