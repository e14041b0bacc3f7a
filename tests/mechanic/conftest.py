"""A page to work on, and parts of a slider-crank as files."""

import pytest

import linkwork as lw
from linkwork.mechanic import Editor, mechanic


def stl(path, shape):
    """Write a shape as an STL file of text."""
    vertices, faces = shape.surface()
    lines = ["solid part"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x!r} {y!r} {z!r}" for x, y, z in vertices[face].tolist()]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid part"]))
    return path


@pytest.fixture
def page():
    made = mechanic(Editor())
    yield made
    made.close()


@pytest.fixture
def parts(tmp_path):
    """Crank, rod and slider, each about its own place in the world [m]."""
    shapes = {
        "crank": (lw.Box(0.10, 0.02, 0.02), (0.05, 0.0, 0.0)),
        "rod": (lw.Box(0.30, 0.02, 0.02), (0.25, 0.03, 0.0)),
        "slider": (lw.Box(0.08, 0.05, 0.05), (0.44, 0.07, 0.0)),
    }
    return [
        stl(tmp_path / f"{name}.stl", lw.Mesh(shape.surface()[0] + place, shape.surface()[1]))
        for name, (shape, place) in shapes.items()
    ]
