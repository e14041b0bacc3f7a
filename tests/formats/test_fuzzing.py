"""Damaged files: every reader answers with what it read or our error, opens nothing, and is soon done."""

import io
import os
import signal
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PosixPath
from random import Random
from typing import Any

import numpy as np
import pytest
from formats.corpus import NUMBERS, samples
from formats.odd_meshes import odd_meshes
from peak_memory import peak_memory

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.formats import file_format
from linkwork.formats.file_format import Reading
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
WORLD = """<sdf version="1.11"><world name="w"><frame name="f"><pose>0 0 1 0 0 0</pose></frame>
<model name="a" placement_frame="b"><pose relative_to="f"/><link name="b"/>
<model name="h"><link name="p"/></model><frame name="g" attached_to="h::p"/>
<joint name="j" type="ball"><parent>g</parent><child>b</child></joint></model>
<joint name="k" type="fixed"><parent>world</parent><child>a::h</child></joint></world></sdf>"""
heard: list[tuple[str, str]] | None = None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if heard is not None and event in OPENING:
        heard.append((event, str(arguments[:1])[:200]))


sys.addaudithook(_hear)  # it stays for the life of the process, and costs nothing while nobody listens


def mutated(data: bytes, rng: Random) -> bytes:
    """Return a file with some damage: bytes, words, parts left out or doubled, an end that is missing."""
    copy, random = bytearray(data), rng.random
    for _ in range(1 + int(3 * random())):
        at, size, kind = int((len(copy) + 1) * random()), 1 + int(8 * random()), int(6.3 * random())
        if kind == 0:
            copy[at : at + 1] = bytes([int(256 * random())])
        elif kind <= 2:
            copy[at : at + size * (kind - 1)] = WORDS[int(len(WORDS) * random())]
        elif kind == 3:
            del copy[at : at + size]
        elif kind == 4:
            copy[at:at] = copy[at : at + 4 * size]
        elif kind == 5:
            there = int((len(copy) + 1) * random())
            copy[at : at + size] = copy[there : there + size]
        else:
            del copy[at:]
    return bytes(copy) if copy and copy != data else mutated(data, rng)


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


class InMemory(PosixPath):
    """A file that is nowhere: readers ask for its size and bytes, and whatever else they open is heard."""

    data = b""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat_result((stat.S_IFREG | 0o600, 0, 0, 1, 0, 0, len(self.data), 0, 0, 0))

    def read_bytes(self) -> bytes:
        return self.data

    def open(self, mode: str = "r", *args: Any, **options: Any) -> Any:
        assert mode == "rb"
        return io.BytesIO(self.data)


def read(path: Path) -> Any:
    """Read a file with our own code; what MuJoCo then does with its files is its own."""
    if path.suffix == ".xml":
        return checked_model(path)
    if not isinstance(path, InMemory):
        return lw.load(path)
    reader = file_format.reader(path).read
    assert reader is not None
    return reader(path, Reading())


@contextmanager
def ends_within(seconds: float) -> Iterator[Callable[[], object]]:
    """Yield a function that begins to count processor time anew; when it is up an error is raised."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, late)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def fuzz(folder: Path, most: int, seconds: float, seed: int) -> int:
    """Read damaged files until there were so many, or so much processor time is used; return how many.

    One in twenty is written and loaded as users do; the others are read from memory, which is quicker.
    """
    rng = Random(seed)
    odd = {odd.name: (odd.suffix, odd.data) for odd in odd_meshes() if odd.suffix == "glb"}
    more = {"mjcf": ("xml", MJCF.encode()), "world": ("sdf", WORLD.encode())}
    kinds = list((samples() | odd | more | saved(folder)).values())
    paths = [folder / f"part{k}.{suffix}" for k, (suffix, _) in enumerate(kinds)]
    held = [InMemory(folder / f"held{k}.{suffix}") for k, (suffix, _) in enumerate(kinds)]
    for path, copy, (_, data) in zip(paths, held, kinds, strict=True):
        path.write_bytes(data)
        copy.data = data
        for each in (path, copy):
            read(each)  # modules are imported, loops compiled
    for loop in LOOPS.values():
        if loop.function.__module__.startswith(("linkwork.formats", "linkwork.geometry")):
            loop.prepare()
    began, count = time.process_time(), 0
    with warnings.catch_warnings(), ends_within(2.0) as restart:
        warnings.simplefilter("ignore")
        while count < most and time.process_time() - began < seconds:
            for k, (_, data) in enumerate(kinds):
                damaged = mutated(data, rng)
                if count // len(kinds) % 20:
                    path = held[k]
                    path.data = damaged
                else:
                    path = paths[k]
                    path.write_bytes(damaged)
                restart()
                _read_or_refused(path, damaged)
                count += 1
    return count


def _read_or_refused(path: Path, data: bytes) -> None:
    global heard
    heard = []
    try:
        thing = read(path)
        if isinstance(thing, lw.geometry.Mesh):
            assert np.isfinite(thing.vertices).all()
    except LinkworkError as error:
        assert path.name in str(error), f"{error} of {data!r}"  # noqa: PT017
    except BaseException as error:
        heard = None
        raise AssertionError(f"{type(error).__name__}: {error} of {path.suffix}: {data!r}") from error
    opened, heard = heard, None
    others = opened and [(event, what) for event, what in opened if str(path) not in what]
    assert not others, (others, data)


@pytest.mark.parametrize("seed", [19, 20])  # half of them each: two processes share the work
def test_damaged_files_are_read_or_refused_and_nothing_else_is_touched(seed, quick_folder):
    counts: list[int] = []
    seconds = float(os.environ.get("FUZZ_SECONDS", "300"))
    fuzz(quick_folder, 0, 0.0, seed)  # what is compiled takes memory, too
    used = peak_memory(lambda: counts.append(fuzz(quick_folder, 100_000, seconds, seed)))
    print(f"{counts[0]} damaged files, {used / 1e6:.0f} MB")
    assert used < 256_000_000
    assert counts[0] >= 100_000 or "FUZZ_SECONDS" in os.environ


@pytest.mark.soak
def test_damaged_files_for_an_hour(quick_folder):
    seed = int(time.time())
    print(f"seed {seed}")
    assert fuzz(quick_folder, 10**9, 3600.0, seed) > 10**6
