"""A process that lives long meets ever new laws, mechanisms and scenes; its memory stays what it was."""

import gc
import os

import numpy as np
import pytest
from mechanisms import random_tree
from peak_memory import resident

import linkwork as lw
from linkwork.native import object_files, store


def new_law(number: int) -> None:
    """A motor whose law no other one has: the bits of a number say how it goes on."""

    def law(t, q, v):
        x = q
        for bit in range(14):
            x = lw.sin(x) + v if number >> bit & 1 else lw.cos(x) * v + q
        return x

    m = lw.Mechanism("driven")
    body = m.add(lw.Body("arm", lw.Box(0.1, 0.2, 0.3), density=500, position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Motor("push", "pin", law))
    model = m.compile()
    model.motion(model.state())


def new_mechanism(number: int) -> None:
    model = random_tree(number, "space").compile()
    q, v = model.state().q, np.ones(model.nv)
    model.forward_dynamics(q, v, v)


def new_scene(number: int) -> None:
    scene, m = lw.Scene(), lw.Mechanism("box")
    m.add(lw.Body("box", lw.Box(0.1 + 1e-6 * number, 0.2, 0.3), density=500, position=(0, 0, 1)))
    scene.add(m)
    scene.step(0.01)


def growth(meet, first: int, count: int) -> float:
    """Return by how much memory grows while so many new things are met [bytes]."""
    before = resident()
    for number in range(first, first + count):
        meet(number)
    gc.collect()
    return resident() - before


@pytest.mark.parametrize(
    ("meet", "count", "most"),
    [
        (new_law, 60, 2e6),
        (new_mechanism, 150, 2e6),
        (new_scene, 60, 2e6),
        pytest.param(new_law, 10_000, 20e6, marks=pytest.mark.soak),
        pytest.param(new_mechanism, 10_000, 20e6, marks=pytest.mark.soak),
        pytest.param(new_scene, 10_000, 20e6, marks=pytest.mark.soak),
    ],
)
def test_memory_does_not_grow_with_what_was_met(meet, count, most, monkeypatch):
    monkeypatch.setattr(store, "_recent", type(store._recent)(maxlen=4))  # full after the first few
    growth(meet, 10**4, 30)
    found = growth(meet, 0, count)
    print(f"{meet.__name__}: {found / 1e6:.2f} MB of {count}")
    assert found < most


def test_code_that_nobody_keeps_is_forgotten(monkeypatch):
    monkeypatch.setattr(store, "_recent", type(store._recent)(maxlen=4))
    new_law(12_345)
    gc.collect()
    before = len(store.loaded())
    for number in range(12_346, 12_366):
        new_law(number)
    gc.collect()
    assert len(store.loaded()) <= before + 4


def test_a_cache_is_swept_again_and_again(tmp_path, monkeypatch):
    """A process that builds much does not fill the disk: the folder stays below its bound."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    monkeypatch.setattr(store, "_written", {})
    monkeypatch.setattr(store, "_SWEEP", 10_000)
    monkeypatch.setattr(object_files, "sweep", lambda folder, sweep=object_files.sweep: sweep(folder, 40_000))
    for number in range(13_000, 13_040):
        new_law(number)
        held = sum(os.stat(file).st_size for file in tmp_path.iterdir())
        assert held < 40_000 + 4 * 10_000
    assert held > 0
