"""The corpus: what must be refused is, at once, within bounds, with a complete message; the rest is read."""

import re
import time
import warnings

import pytest
from formats.corpus import must_accept, must_refuse
from peak_memory import peak_memory

import linkwork as lw
from linkwork.errors import FormatError

MEGABYTE = 1_000_000


def test_every_file_that_must_be_refused_is_refused_within_bounds(tmp_path):
    files = list(must_refuse())
    assert len(files) >= 150
    assert len({name for name, _, _ in files}) == len(files)
    wrong, slow = [], []
    for name, suffix, data in files:
        path = tmp_path / f"part.{suffix}"
        path.write_bytes(data)
        messages: list[str] = []

        def read(path=path, messages=messages) -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    lw.load(path)
                except FormatError as error:
                    messages.append(str(error))

        began = time.process_time()
        used = peak_memory(read) if len(data) > MEGABYTE else read() or 0
        if time.process_time() - began > 1.5:
            slow.append(name)
        message = messages[0] if messages else "it was read"
        complete = f"part.{suffix}" in message and len(message) < 1500 and re.search(r"[;:] ?\w", message)
        if not messages or not complete or used > 256 * MEGABYTE:
            wrong.append((name, message[:200], used))
    assert wrong == []
    assert len(slow) <= 2, slow  # a busy machine may be slow now and then, not often


def test_every_file_that_must_be_read_is_read(tmp_path):
    for name, suffix, data in must_accept():
        path = tmp_path / f"part.{suffix}"
        path.write_bytes(data)
        try:
            thing = lw.load(path)
        except FormatError as error:
            pytest.fail(f"{name}: {error}")
        assert thing is not None, name


@pytest.mark.parametrize(
    "name", ["package://../../etc/passwd", "package://etc/part.stl", "/etc/passwd", "../../../x.stl"]
)
def test_a_mesh_outside_of_the_folders_of_its_robot_is_not_opened(name, tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    shape = lw.geometry.MeshFile(filename=name, folder=str(tmp_path / "a" / "b"))
    with pytest.raises(FormatError, match=r"package|absolute|leads out|not a name"):
        lw.load(shape)
