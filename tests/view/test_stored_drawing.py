"""A recording from a file looks as it did when it was made; a damaged file is told."""

import copy

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.view.drawing import drawing
from linkwork.view.stored_drawing import described, restored
from linkwork.view.subject_of import drawing_of


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.lwr"
    m = examples.steam_engine()
    m.add(lw.Spring("spring", m.ground, m.bodies["piston rod"], on_parent=(0.5, 0, 0), stiffness=1.0))
    run = lw.simulate(m, 0.2)
    run.save(path)
    return run, path


def same(a, b):
    assert (a.name, a.space, a.bodies, a.size) == (b.name, b.space, b.bodies, b.size)
    for word in ("up", "masses", "centers", "inertias", "drawn"):
        np.testing.assert_array_equal(getattr(a, word), getattr(b, word))
    for word in ("pieces", "glyphs"):
        for x, y in zip(getattr(a, word), getattr(b, word), strict=True):
            assert (x.name, x.body, x.colour, x.opacity) == (y.name, y.body, y.colour, y.opacity)
            np.testing.assert_array_equal(x.shell.corners, y.shell.corners)
            np.testing.assert_array_equal(x.shell.faces, y.shell.faces)
            np.testing.assert_array_equal(x.pose, y.pose)
    for x, y in zip(a.joints, b.joints, strict=True):
        assert (x.name, x.kind, x.parent, x.child, x.loop) == (y.name, y.kind, y.parent, y.child, y.loop)
        np.testing.assert_array_equal(x.on_child, y.on_child)
    assert [spring.name for spring in a.springs] == [spring.name for spring in b.springs]


def test_a_file_keeps_how_the_bodies_look(saved, tmp_path):
    run, path = saved
    loaded = lw.load(path)
    same(drawing_of(loaded), drawing(run.model))
    loaded.save(tmp_path / "again.lwr")
    same(drawing_of(lw.load(tmp_path / "again.lwr")), drawing(run.model))


def test_a_loaded_recording_is_the_same_picture(saved):
    run, path = saved
    np.testing.assert_array_equal(
        lw.load(path).snapshot(0.1, size=(160, 100)).pixels, run.snapshot(0.1, size=(160, 100)).pixels
    )


def test_overlays_of_a_loaded_recording_show_what_the_file_has(saved):
    _, path = saved
    with lw.load(path).show(open_browser=False, block=False) as viewer:
        for word in ("names", "frames", "velocities", "traces", "joint axes"):
            viewer.switch(word, True)
        viewer.switch("applied forces", True)
        viewer._refresh()
        assert "not in the file" in viewer._note.content


def test_a_file_without_a_drawing_shows_balls(saved):
    run, path = saved
    loaded = lw.load(path)
    loaded._channels.appearance = None, {}
    drawn = drawing_of(loaded)
    assert [piece.body for piece in drawn.pieces] == list(run.layout.bodies)


def broken(header, arrays, change):
    header, arrays = copy.deepcopy(header), {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    return header, arrays


@pytest.mark.parametrize(
    "change",
    [
        lambda h, a: h.pop("pieces"),
        lambda h, a: h.update(bodies=["x"]),
        lambda h, a: h.update(size=float("nan")),
        lambda h, a: h.update(size="large"),
        lambda h, a: h.update(space="time"),
        lambda h, a: h.update(up=[0, 0]),
        lambda h, a: h["pieces"][0].__setitem__(1, "nobody"),
        lambda h, a: h["pieces"][0].__setitem__(2, 999),
        lambda h, a: h["pieces"][0].__setitem__(2, -1),
        lambda h, a: h["pieces"][0].__setitem__(3, [1, 2]),
        lambda h, a: h["pieces"][0].__setitem__(4, [[1e999] * 4] * 3),
        lambda h, a: h["pieces"][0].__setitem__(0, ["a", "list"]),
        lambda h, a: h["shells"][0].__setitem__(0, 10**9),
        lambda h, a: h["shells"][0].__setitem__(1, 10**9),
        lambda h, a: h["shells"][0].__setitem__(0, -5),
        lambda h, a: h["joints"][0].__setitem__(2, "nobody"),
        lambda h, a: h["joints"].append(["too", "short"]),
        lambda h, a: a["drawing/faces"].__setitem__((0, 0), 10**6),
        lambda h, a: a["drawing/faces"].__setitem__((0, 0), -1),
        lambda h, a: a["drawing/vertices"].__setitem__((0, 0), np.nan),
        lambda h, a: a.pop("drawing/masses"),
        lambda h, a: a.update({"drawing/centers": np.zeros((1, 3))}),
    ],
)
def test_a_damaged_drawing_is_refused(saved, change):
    run, path = saved
    header, arrays = described(drawing(run.model))
    restored(header, arrays, run.layout.bodies)  # whole it is accepted
    loaded = lw.load(path)
    loaded._channels.appearance = broken(header, arrays, change)
    with pytest.raises(lw.FormatError, match="damaged"):
        drawing_of(loaded)
