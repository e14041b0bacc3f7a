"""Runs, checkpoints and scenes on disk: a flipped bit or a missing end is noticed before anything is used."""

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError


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
