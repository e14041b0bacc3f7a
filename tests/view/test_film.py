"""Films with what pages show: overlays with a legend, curves in step, the path of a point."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.recording.curve import COLORS
from linkwork.view import palette
from linkwork.view.camera import Camera, projected
from linkwork.view.film import Film
from linkwork.view.film_charts import _CURSOR
from linkwork.view.picture import chosen
from linkwork.view.subject_of import moving_subject_of

SIZE = (320, 240)


@pytest.fixture(scope="module")
def run():
    model = examples.chain(2).compile()
    return lw.simulate(model, 0.5, model.state(pin0=1.2), every=0.05)


@pytest.fixture(scope="module")
def subject(run):
    return moving_subject_of(run)


def coloured(picture, colour, within=90):
    """Return where a picture has a colour, by rows and columns; shading may make it darker."""
    return np.abs(picture.astype(int) - colour).sum(axis=2) < within


def test_overlays_are_drawn_and_a_legend_says_what_they_mean(subject):
    size = (640, 480)
    plain, over = Film(subject, size, ""), Film(subject, size, "", ["reactions", "velocities", "names"])
    bare, shown = plain(0.2), over(0.2)
    assert bare.shape == shown.shape == (480, 640, 3)
    changed = np.abs(bare.astype(int) - shown).sum(axis=2) > 30
    assert changed[:60, :160].any()  # the legend
    red, green, blue = np.moveaxis(shown[60:].astype(int), 2, 0)
    assert ((red > green + 60) & (red > blue + 60)).sum() > 10  # arrows of reactions, in any light
    fastest = max(
        np.linalg.norm(subject.run[name].velocity, axis=-1).max() for name in subject.drawing.bodies
    )
    _, (text, colour) = over._overlays.legend()
    word, value, unit = text.rsplit(" ", 2)
    assert (word, unit, colour) == ("velocities: longest", "m/s", palette.VELOCITY)
    assert 0.0 < float(value) <= 1.5 * fastest


def test_the_traced_point_leaves_its_path(subject):
    name = subject.drawing.bodies[-1]
    film = Film(subject, SIZE, "", trace=(name, (0.0, 0.0, 0.0)))
    picture = film(0.0)
    camera = Camera(subject.drawing, subject.trajectory.passed(200))
    k = subject.drawing.bodies.index(name)
    poses = subject.trajectory.at(0.5).poses
    (there,), _ = projected(poses[k][None, :, 3], chosen(camera, "", SIZE), SIZE)
    x, y = there.astype(int)
    assert coloured(picture, palette.TRACE, 200)[y - 3 : y + 4, x - 3 : x + 4].any()


def test_curves_go_along_with_the_picture(subject):
    film = Film(subject, SIZE, "", plot=["energy", "pin1.velocity"])

    def cursor(t):
        columns = np.flatnonzero(coloured(film(t)[-60:], _CURSOR, 10).any(axis=0))
        return columns.min()

    assert coloured(film(0.0)[-72:], tuple(bytes.fromhex(COLORS[0][1:])), 150).any()
    first, middle, last = (cursor(t) for t in (0.0, 0.25, 0.5))
    assert first < middle < last
    assert middle - first == pytest.approx(last - middle, abs=2)


def test_a_film_of_overlays_and_curves_has_its_size(run, tmp_path):
    av = pytest.importorskip("av")
    path = tmp_path / "run.mp4"
    over = {"show": "reactions", "plot": "energy", "trace": run.layout.bodies[0]}
    run.save_video(path, rate=10, size=(240, 240), **over)
    with av.open(str(path)) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert len(frames) == 6
    assert frames[0].shape == (240, 240, 3)


def test_springs_are_coils():
    m = lw.Mechanism("bouncing", space="plane")
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0, position=(0, -1)))
    m.add(lw.Free("free", m.ground, ball))
    m.add(lw.Spring("coil", m.ground, ball, stiffness=50.0, rest=1.0))
    pixels = lw.view.snapshot(m, size=SIZE).pixels
    rows = coloured(pixels, palette.SPRING, 120).any(axis=1)
    assert np.flatnonzero(rows)[0] < 60  # up to where it hangs
    edges = np.abs(np.diff(coloured(pixels, palette.SPRING, 120)[:, 162].astype(int))).sum()
    assert edges > 6  # turns and gaps, beside its middle


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"show": ["ghosts"]}, "save_video: unknown overlay 'ghosts'; available are names"),
        ({"plot": "ghost"}, "save_video: nothing is recorded as 'ghost'"),
        ({"trace": "nobody"}, "trace 'nobody': no body has this name"),
        ({"show": 7}, "save_video: show 7; give a name, or a list of names"),
    ],
)
def test_what_a_film_cannot_show_is_refused(run, tmp_path, options, words):
    with pytest.raises((ValueError, TypeError, lw.LinkworkError), match=words):
        run.save_video(tmp_path / "x.mp4", **options)
    assert list(tmp_path.iterdir()) == []
