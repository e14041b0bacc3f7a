"""Shapes of every kind in a mechanism's file."""

import numpy as np
import pytest

import linkwork as lw

SECTION = [(0.5, 0.0), (1.0, 0.0), (1.0, 1.0), (0.75, 0.4), (0.5, 1.0)]
SHAPES = {
    "polygon swept": lw.Extrusion(lw.Polygon(SECTION), 0.2, position=(0, 0, 1)),
    "polygon turned": lw.Revolution(SECTION, angle=2.0),
    "hull": lw.ConvexHull(np.random.default_rng(0).normal(size=(20, 3))),
    "mesh": lw.Box(1, 2, 3).mesh(),
    "hollow": lw.Box(1, 1, 1) - lw.Sphere(0.3, position=(0.1, 0, 0)),
    "joined": lw.Box(1, 1, 1) + lw.Cylinder(0.1, 2.0, position=(3, 0, 0)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_comes_back_as_it_was(tmp_path, name):
    m = lw.Mechanism("one")
    body = m.add(lw.Body("body", SHAPES[name], density=1000.0))
    m.add(lw.Free("air", m.ground, body))
    m.save(tmp_path / "one.json")
    again = lw.load(tmp_path / "one.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert again["body"].parts == body.parts
    for word in ("mass", "com", "tensor"):
        assert np.array_equal(getattr(again["body"].inertia, word), getattr(body.inertia, word))


def test_a_wrong_part_of_a_shape_is_named_with_its_path(tmp_path):
    m = lw.Mechanism("one")
    m.add(lw.Free("air", m.ground, m.add(lw.Body("body", SHAPES["polygon swept"], density=1.0))))
    path = tmp_path / "one.json"
    m.save(path)
    path.write_text(path.read_text().replace('"Polygon"', '"Polygone"'))
    with pytest.raises(lw.FormatError, match=r"shapes\[0\]\.polygon: unknown shape 'Polygone'"):
        lw.load(path)
