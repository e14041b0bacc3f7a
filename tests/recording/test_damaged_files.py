"""Runs, checkpoints and scenes on disk: a flipped bit or a missing end is noticed before anything is used."""

import hashlib
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from formats.test_fuzzing import ends_within, mutated

import linkwork as lw
from linkwork.errors import FormatError, SimulationError
from linkwork.recording import array_file
from linkwork.simulation.loop.records import MEMO


def swing() -> lw.Mechanism:
    m = lw.Mechanism("swing")
    seat = m.add(lw.Body("seat", lw.Box(0.4, 0.2, 0.05), density=600, position=(0, 0, -2)))
    m.add(lw.Revolute("pin", m.ground, seat, at=(0, 0, 0), axis=(0, 1, 0)))
    return m


def checkpointed(path: Path) -> lw.Recording:
    model = swing().compile()
    return lw.simulate(model, 0.3, model.state(pin=0.5), checkpoint=path)


def saved_scene(path: Path) -> None:
    scene = lw.Scene()
    scene.add(swing())
    scene.save(path)


KINDS = {
    "lwr": (lambda path: lw.simulate(swing(), 0.3).save(path), lw.load),
    "lwc": (checkpointed, checkpointed),
    "lws": (saved_scene, lw.load),
}


@pytest.mark.parametrize("count", [150, pytest.param(3_400, marks=pytest.mark.soak)])
@pytest.mark.parametrize("suffix", KINDS)
def test_a_flipped_bit_or_a_missing_end_is_noticed(suffix, count, quick_folder):
    make, read = KINDS[suffix]
    path = quick_folder / f"thing.{suffix}"
    make(path)
    content, rng = path.read_bytes(), np.random.default_rng(len(suffix) + count)
    read(path)
    for trial in range(count):
        damaged = bytearray(content)
        if trial % 4:
            damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        else:
            del damaged[int(rng.integers(len(content))) :]
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=rf"thing\.{suffix}"):
            read(path)


def use(thing: Any) -> None:
    """Look at what was read, or let it go on."""
    if isinstance(thing, lw.Scene):
        thing.step(0.01)
    else:
        thing.summary()


def signed_again(content: bytes, rng: Random) -> bytes:
    """Return a file with other content in its header or its arrays, and the checksum of that."""
    prefix = array_file._PREFIX
    magic, version, length = prefix.unpack_from(content)
    text = content[prefix.size : prefix.size + length]
    arrays = content[array_file._aligned(prefix.size + length) : -array_file._DIGEST]
    if rng.random() < 0.7 or not arrays:
        text = mutated(text, rng)
    else:
        arrays = mutated(arrays, rng)
    start = prefix.pack(magic, version, len(text)) + text
    body = start + bytes(array_file._aligned(len(start)) - len(start)) + arrays
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize("count", [150, pytest.param(20_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("suffix", KINDS)
def test_a_file_with_other_content_and_its_checksum_is_read_or_refused(suffix, count, quick_folder):
    make, read = KINDS[suffix]
    path = quick_folder / f"thing.{suffix}"
    make(path)
    content, rng, refused = path.read_bytes(), Random(count), 0
    use(read(path))  # compiled before time counts
    with warnings.catch_warnings(), ends_within(20.0) as restart:
        warnings.simplefilter("ignore")
        for _ in range(count):
            damaged = signed_again(content, rng)
            path.write_bytes(damaged)
            restart()
            try:
                use(read(path))
            except FormatError as error:
                assert path.name in str(error)  # noqa: PT017
                refused += 1
            except SimulationError:
                continue  # the state that it goes on from is another one
            except Exception as error:
                raise AssertionError(f"{type(error).__name__}: {error} of {damaged!r}") from error
    assert refused > count // 2


@pytest.mark.parametrize(
    ("name", "value"), [("acted", 1e-312), ("event", 7.0), ("worst", -2.0), ("sample", 0.5)]
)
def test_places_in_a_checkpoint_are_whole_numbers_within_its_arrays(name, value, quick_folder):
    path = quick_folder / "thing.lwc"
    checkpointed(path)
    header, arrays = array_file.read(path)
    memo = arrays["memory/memo"].copy()
    memo.ravel()[(MEMO.names or ()).index(name)] = value
    array_file.write(path, header, arrays | {"memory/memo": memo})
    with pytest.raises(
        FormatError, match=f"thing.lwc: is no complete checkpoint: {name} is {value:g}; allowed"
    ):
        checkpointed(path)
