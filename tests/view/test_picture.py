"""Pictures and films without a browser."""

import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.view import snapshot
from linkwork.view.palette import BACKGROUND, body_colour, hexadecimal
from linkwork.view.vector_graphics import outline


@pytest.fixture(scope="module")
def four_bar():
    return lw.simulate(examples.four_bar(), 1.0)


@pytest.fixture(scope="module")
def steam():
    return lw.simulate(examples.steam_engine(), 0.5)


def polygons(svg, colour):
    root = ElementTree.fromstring(svg)
    found = [e for e in root.iter() if e.tag.endswith("polygon") and e.get("fill") == hexadecimal(colour)]
    return [
        np.array([[float(x) for x in pair.split(",")] for pair in e.get("points").split()]) for e in found
    ]


def test_vector_graphics_have_the_bars_of_a_planar_mechanism(four_bar):
    picture = four_bar.snapshot(0.5, size=(800, 600))
    lengths = {}
    for number, name in enumerate(four_bar.model.body_names):
        (corners,) = polygons(picture.svg, body_colour(number))
        assert len(corners) == 4
        sides = np.linalg.norm(np.roll(corners, 1, axis=0) - corners, axis=1)
        lengths[name] = sides.max()
    assert lengths["coupler"] / lengths["crank"] == pytest.approx(3.0, rel=0.01)
    assert lengths["rocker"] / lengths["crank"] == pytest.approx(2.2, rel=0.01)


def test_the_angle_in_the_picture_is_that_of_the_recording(four_bar):
    k = int(np.searchsorted(four_bar.time, 0.5))
    t = four_bar.time[k]
    (corners,) = polygons(four_bar.snapshot(t).svg, body_colour(four_bar.model.body_names.index("crank")))
    sides = np.roll(corners, -1, axis=0) - corners
    x, y = sides[np.linalg.norm(sides, axis=1).argmax()] * (1, -1)
    angle = np.arctan2(y, x) - four_bar["crank"].angle[k]
    assert np.sin(angle) == pytest.approx(0.0, abs=1e-3)


def test_the_hull_is_that_of_the_definition():
    points = np.random.default_rng(7).normal(size=(200, 2))
    hull = outline(points)
    edges = np.roll(hull, -1, axis=0) - hull
    for corner, edge in zip(hull, edges, strict=True):
        assert (edge[0] * (points - corner)[:, 1] - edge[1] * (points - corner)[:, 0] >= -1e-12).all()


def test_pixels_show_the_bodies_on_the_background(steam):
    pixels = steam.snapshot(0.2, size=(320, 200)).pixels
    assert pixels.shape == (200, 320, 3)
    assert tuple(pixels[:20].max(axis=(0, 1))) == BACKGROUND
    drawn = (np.abs(pixels.astype(int) - BACKGROUND).sum(axis=2) > 60).mean()
    assert 0.1 < drawn < 0.6


def test_the_nearer_body_hides_the_farther():
    m = lw.Mechanism("two", gravity=(0, 0, 0))
    for name, y in (("near", -1.0), ("far", 1.0)):
        body = m.add(lw.Body(name, lw.Box(4, 0.2, 1), mass=1.0, position=(0, y, 0)))
        m.add(lw.Fixed(f"{name} weld", m.ground, body))
    welded = m.compile()
    pixels = snapshot(welded, view="front", size=(200, 200)).pixels
    assert len(np.unique(pixels[90:110, 90:110].reshape(-1, 3), axis=0)) <= 4


def test_png_files_are_png(steam, tmp_path):
    path = tmp_path / "x.png"
    picture = steam.snapshot(0.2, size=(64, 48))
    picture.save(path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    body = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(48, 1 + 3 * 64)
    np.testing.assert_array_equal(rows[:, 1:].reshape(48, 64, 3), picture.pixels)


def test_names_cannot_leave_the_picture():
    m = examples.four_bar()
    m.name = "</title><script>alert(1)</script>"
    svg = snapshot(m).svg
    assert "<script" not in svg
    ElementTree.fromstring(svg)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda run: run.snapshot(9.0), "t 9 s is outside the recording, 0 to 1 s"),
        (lambda run: run.snapshot(0.5, view="left"), "view 'left'; give one of front, isometric, side, top"),
        (lambda run: run.snapshot(0.5, size=(0, 10)), r"size \(0, 10\); give width and height"),
        (lambda run: run.snapshot(0.5).save("x.bmp"), "cannot write .bmp; give .svg or .png"),
        (lambda run: run.save_video("x.avi"), "cannot write .avi; give .mp4 or .gif"),
        (lambda run: run.save_video("x.mp4", speed=0.0), "speed 0.0; give a number above 0"),
        (lambda run: run.save_html("x.html", rate=-1), "rate -1; give frames a second"),
        (lambda run: run.save_html("x.html", plot=5), "plot 5; give a name, or a list of names"),
        (lambda run: run.save_html("x.html", plot="ghost"), "nothing is recorded as 'ghost'"),
        (
            lambda run: run.save_html("x.html", show=["ghosts"]),
            "unknown overlay 'ghosts'; available are names",
        ),
    ],
)
def test_mistakes_are_told(four_bar, tmp_path, monkeypatch, call, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((lw.LinkworkError, ValueError, TypeError), match=words):
        call(four_bar)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_film_has_the_frames_of_its_time(four_bar, tmp_path, suffix):
    av = pytest.importorskip("av")
    path = tmp_path / f"run{suffix}"
    four_bar.save_video(path, rate=10, speed=0.5, size=(160, 100))
    with av.open(str(path)) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
        assert film.streams.video[0].average_rate == 10
    assert len(frames) == 21
    assert frames[0].shape == (100, 160, 3)
    assert np.abs(frames[0].astype(int) - frames[10]).max() > 60
    still = four_bar.snapshot(0.0, size=(160, 100)).pixels
    assert np.abs(frames[0].astype(int) - still).mean() < 6
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_the_page_that_plays_offline_is_small_and_asks_for_nothing(tmp_path):
    run = lw.simulate(examples.steam_engine(), 10.0)
    path = tmp_path / "run.html"
    run.save_html(path)
    text = path.read_text()
    assert path.stat().st_size < 3e6
    assert "<title>steam engine · Linkwork</title>" in text
    assert re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text) is None
