"""Files that are not what their names say: the answer says what to do, and nothing else is touched."""

import os

import pytest
from formats.corpus import samples

import linkwork as lw
from linkwork.errors import FormatError

SAMPLES = samples()
SUFFIXES = (
    "json",
    "urdf",
    "mjcf",
    "sdf",
    "xml",
    "stl",
    "obj",
    "ply",
    "off",
    "glb",
    "dae",
    "lwr",
    "lws",
    "txt",
    "",
)
KNOWN_BY = [name for name in SAMPLES if name != "stl"]  # binary STL begins with anything


@pytest.mark.parametrize("name", KNOWN_BY)
def test_a_file_of_another_suffix_is_recognised(name, tmp_path):
    own, data = SAMPLES[name]
    for suffix in SUFFIXES:
        path = tmp_path / f"part.{suffix}".rstrip(".")
        path.write_bytes(data)
        if suffix == own or (suffix == "xml" and own in ("urdf", "sdf")):
            lw.load(path)
            continue
        with pytest.raises(FormatError, match=f"begins like a .{own} file: name it so") as answer:
            lw.load(path)
        assert str(path) in str(answer.value)


@pytest.mark.parametrize("suffix", SUFFIXES[:-2])
def test_empty_files_and_folders_are_called_so(suffix, tmp_path):
    empty, folder, pipe = (tmp_path / f"{word}.{suffix}" for word in ("empty", "folder", "pipe"))
    empty.touch()
    folder.mkdir()
    os.mkfifo(pipe)  # which would block whoever opens it
    for path, answer in ((empty, "is empty|has 0 bytes"), (folder, "regular file"), (pipe, "regular file")):
        with pytest.raises(FormatError, match=answer) as told:
            lw.load(path)
        assert path.name in str(told.value)


@pytest.mark.parametrize(
    "name", ["Gr\u00f6\u00dfe-\u6a21\u578b", "a b", "100%n", "..x", "x" * 200, "new\nline", "-rf", "q?*"]
)
def test_any_name_that_a_file_can_have_is_fine(name, tmp_path):
    for suffix, data in SAMPLES.values():
        for spelt in (suffix, suffix.upper()):
            path = tmp_path / f"{name}.{spelt}"
            path.write_bytes(data)
            assert lw.load(path) is not None


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("arm.xacro", "program xacro"),
        ("part.step", "save it as .stl"),
        ("part.STL.gz", "unpack it"),
        ("a.gltf", ".glb"),
    ],
)
def test_what_is_not_read_has_a_remedy(name, remedy, tmp_path):
    with pytest.raises(FormatError, match=remedy):
        lw.load(tmp_path / name)


def test_what_is_packed_under_the_name_of_what_is_in_it_is_called_so(tmp_path):
    path = tmp_path / "part.stl"
    path.write_bytes(b"\x1f\x8b" + bytes(100))
    with pytest.raises(FormatError, match="unpack it first"):
        lw.load(path)


def test_a_zero_in_a_name_is_answered():
    with pytest.raises(ValueError, match="has a zero in it"):
        lw.load("a\0b.stl")


@pytest.mark.parametrize(
    "address", ["file:///tmp/robot.urdf", "http://127.0.0.1:1/robot.urdf", "package://a/b.urdf"]
)
def test_addresses_are_no_files(address):
    with pytest.raises(FormatError, match="an address, not a file; give the path of a file on this machine"):
        lw.load(address)
