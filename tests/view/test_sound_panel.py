"""Sound in films, in offline pages and in the viewer, in step with what is seen."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.view import save_html, show


@pytest.fixture(scope="module")
def run():
    return lw.simulate(examples.bouncing_balls((0.8,), 0.5), 1.0, step=1 / 60)


def test_a_film_is_heard_as_it_is_seen(run, tmp_path):
    av = pytest.importorskip("av")
    run.save_video(tmp_path / "run.mp4", rate=10, size=(64, 48), sound=True)
    with av.open(str(tmp_path / "run.mp4")) as film:
        assert len(film.streams.video) == 1
        (stream,) = film.streams.audio
        parts = [frame.to_ndarray() for frame in film.decode(stream)]
    samples = np.concatenate(parts, axis=1)
    assert samples.shape[0] == 2
    first = np.flatnonzero(np.abs(samples).max(axis=0) > 0.1)[0] / 44100
    heard = lw.sound(run)
    expected = np.flatnonzero(np.abs(heard.samples).max(axis=1) > 0.1)[0] / 44100
    assert first == pytest.approx(expected, abs=0.03)  # AAC begins with a frame of its own


def test_what_cannot_sound_is_refused(run, tmp_path):
    pytest.importorskip("av")
    with pytest.raises(lw.LinkworkError, match="a GIF has no sound"):
        run.save_video(tmp_path / "run.gif", sound=True)
    with pytest.raises(ValueError, match="sound 'loud'; give True"):
        run.save_video(tmp_path / "run.mp4", sound="loud")
    with pytest.raises(ValueError, match="sound 1; give True"):
        run.save_html(tmp_path / "run.html", sound=1)


@pytest.mark.browser
def test_an_offline_page_plays_sound_in_step_with_its_timeline(run, tab, tmp_path):
    save_html(run, tmp_path / "run.html", sound=True)
    tab.open((tmp_path / "run.html").as_uri())
    heard = "document.getElementById('lw-audio')"
    tab.until(lambda: tab.page.evaluate(f"{heard}.duration > 1.9"))
    assert tab.page.evaluate(f"{heard}.paused")
    tab.press("button", "Sound off")
    tab.until(lambda: not tab.page.evaluate(f"{heard}.paused"))
    slider = "parseFloat(document.querySelector('[role=slider]').getAttribute('aria-valuenow'))"
    tab.until(lambda: abs(tab.page.evaluate(f"{heard}.currentTime - {slider}")) < 0.2)
    tab.press("button", "Sound on")
    assert tab.page.evaluate(f"{heard}.paused")
    assert tab.errors == []


@pytest.mark.browser
def test_the_viewer_plays_sound_from_where_it_is(run, tab):
    with show(run, open_browser=False, block=False) as viewer:
        tab.open(viewer.url)
        tab.tick("Sound")
        tab.until(lambda: viewer._sound.box.value)
        tab.press("button", "Play")
        tab.until(lambda: tab.page.evaluate("!!document.querySelector('audio[autoplay]')"))
        assert tab.page.evaluate("document.querySelector('audio').src.startsWith('data:audio/wav')")
        tab.press("button", "Pause")
        tab.until(lambda: tab.page.evaluate("!document.querySelector('audio')"))
        assert tab.errors == []
