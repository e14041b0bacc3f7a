"""A page follows the edits of its mechanism: it listens to the journal."""

import threading
import time

import numpy as np
import pytest

import linkwork as lw

_SOON = 30.0  # a busy machine takes long


def until(true, page=None) -> None:
    """Wait until something is so, and a page has shown all of it."""
    end = time.monotonic() + _SOON
    while not true():
        assert time.monotonic() < end, "it did not become so in time"
        time.sleep(0.02)
    if page is not None:
        with page._lock:
            assert true()


def shown(thing, **options):
    return thing.show(open_browser=False, block=False, **options)


def with_ball(m: lw.Mechanism) -> None:
    with m.edit("a ball"):
        ball = m.add(lw.Body("ball", lw.Sphere(0.1), density=500, position=(0.5, 0, 0.5)))
        m.add(lw.Spherical("socket", m["pole"], ball))


def test_what_is_added_and_undone_appears_and_goes():
    m = lw.examples.cart_pole()
    with shown(m) as page:
        page.pose("pin", 0.4)
        with_ball(m)
        until(lambda: page.drawing.bodies == ("cart", "pole", "ball"), page)
        assert page.now().q[page._model.slices["pin"][0]] == pytest.approx(0.4)
        assert len(page.now().poses) == 3
        m.undo()
        until(lambda: page.drawing.bodies == ("cart", "pole"), page)
        m.redo()
        until(lambda: "ball" in page.drawing.bodies, page)


def test_options_and_what_is_removed_are_followed():
    m = lw.examples.cart_pole()
    with shown(m) as page:
        m.joints["pin"].limits = (-0.5, 0.5)
        until(lambda: page.sliders["pin"].max == 0.5, page)
        m.remove("pin")
        until(lambda: "pin" not in page.sliders, page)
        assert page.drawing.bodies == ("cart", "pole")


def test_switches_and_the_selection_stay():
    m = lw.examples.cart_pole()
    with shown(m) as page:
        page.switches["frames"].value = True
        page.switch("frames", True)
        page.select("pole")
        with_ball(m)
        until(lambda: "ball" in page.drawing.bodies, page)
        assert page.switches["frames"].value
        assert page.overlays.switches["frames"].visible
        assert page.selected == "pole"


def test_a_mistake_is_said_and_the_page_stays_as_it_was():
    m = lw.examples.cart_pole()
    with shown(m) as page:
        m.joints["pin"].damping = -3.0
        until(lambda: "negative" in page._note.content, page)
        assert page.drawing.bodies == ("cart", "pole")
        m.undo()
        until(lambda: page._note.content == "", page)


def test_a_live_page_goes_on_from_where_it_is():
    m = lw.examples.cart_pole()
    with shown(m, live=True) as page:
        page.start()
        until(lambda: page.now().t > 0.05, page)
        m.remove("pin")
        until(lambda: "pole free" in page.engine.model.joint_names, page)
        t = page.now().t
        assert t > 0.05
        until(lambda: page.now().t > t, page)
        assert page.engine.running


def test_a_driven_page_follows_too():
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", lambda t: 1.0 + t))
    with shown(m) as page:
        m.add(lw.Body("flag", lw.Polygon([(0, 0), (0.1, 0), (0, 0.1)]), density=10))
        m.add(lw.Revolute("hinge", m["rocker"], m["flag"]))
        m.add(lw.Driver("second", "hinge", 0.0))
        until(lambda: "flag" in page.drawing.bodies, page)
        assert list(page.sliders) == ["motor", "second"]


def test_a_driven_page_goes_on_from_its_time():
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", lambda t: 1.0 + t))
    with shown(m) as page:
        for _ in range(30):
            page.step()
        page.drive("motor", 2.0)
        t, before = page.now().t, dict(zip(page.drawing.bodies, page.now().poses, strict=True))
        assert t == pytest.approx(0.5)
        flag = lw.Body("flag", lw.Polygon([(0, 0), (0.1, 0), (0, 0.1)]), density=10)
        with m.edit():
            m.add(lw.Revolute("hinge", m["rocker"], m.add(flag)))
            m.add(lw.Driver("second", "hinge", 0.0))
        until(lambda: "flag" in page.drawing.bodies, page)
        assert page.now().t == t
        assert page.sliders["motor"].value == pytest.approx(2.0, abs=0.01)
        after = dict(zip(page.drawing.bodies, page.now().poses, strict=True))
        for name, pose in before.items():
            np.testing.assert_allclose(after[name], pose, atol=1e-9)
        page.reset()
        assert page.now().t == 0.0


def test_a_closed_page_hears_nothing():
    m = lw.examples.cart_pole()
    page = shown(m)
    assert len(m.journal._observers) == 1
    page.close()
    assert not m.journal._observers
    with_ball(m)


def test_edits_of_several_threads_end_with_the_mechanism_as_it_is():
    m = lw.examples.cart_pole()
    with shown(m) as page:

        def edit(word: str) -> None:
            for k in range(20):
                with lock:
                    body = m.add(lw.Body(f"{word}{k}", lw.Box(0.1, 0.1, 0.1), density=100))
                    m.add(lw.Free(f"{word} joint {k}", m.ground, body))
                    if k % 3 == 0:
                        m.undo()
                        m.undo()
                time.sleep(0.005)

        lock = threading.Lock()
        threads = [threading.Thread(target=edit, args=(word,)) for word in ("a", "b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: set(page.drawing.bodies) == set(m.bodies), page)


@pytest.mark.browser
def test_an_open_page_shows_what_is_added(tab, tmp_path):
    m = lw.examples.cart_pole()
    with shown(m) as page:
        tab.open(page.url)
        before = {batch.handle.name for batch in page.stage.bodies}
        with_ball(m)
        until(lambda: "ball" in page.drawing.bodies, page)
        (new,) = {batch.handle.name for batch in page.stage.bodies} - before
        tab.until(lambda: tab.matrices(new) is not None and len(tab.matrices(new)) == 1)
        place = tab.matrices(new)[0][:3, 3]
        np.testing.assert_allclose(place, page.now().poses[2][:, 3], atol=1e-5)
        tab.page.screenshot(path=str(tmp_path / "page.png"))
        m.undo()
        tab.until(lambda: tab.matrices(new) is None)
        assert not tab.errors
