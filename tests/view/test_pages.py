"""Real pages of other things than a recording: in the plane, live, from disk, with names that are code."""

import re

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.view import save_html, show

pytestmark = pytest.mark.browser


def shown(thing, **options):
    viewer = show(thing, open_browser=False, block=False, **options)
    viewer.switches["shadows"].value = False  # software draws them slowly
    return viewer


def test_names_from_a_file_run_no_code(tab, without_network, tmp_path):
    evil = '<img src=x onerror="window.hacked=1">'
    m = lw.Mechanism(f"{evil}</script><script>window.hacked=1</script>")
    body = m.add(lw.Body(evil, lw.Box(1, 1, 1), mass=1.0))
    m.add(lw.Revolute(f"{evil} pin", m.ground, body, axis=(0, 1, 0), at=(0, 0, 1)))
    run = lw.simulate(m, 0.2)
    with shown(run) as viewer:
        tab.open(viewer.url)
        viewer.switch("names", True)
        viewer.select(evil)
        viewer.show_message(evil)
        tab.until(lambda: tab.visible("/overlays/names"))
        tab.until(lambda: tab.page.get_by_text(evil).count() > 1)
        viewer.charts.add(f"{evil} pin.velocity")
        tab.until(lambda: tab.page.locator(".u-title").count() == 1)
        assert tab.page.evaluate("window.hacked") is None
    save_html(run, tmp_path / "run.html", show=["names"])
    offline = without_network(tmp_path / "run.html")
    assert offline.page.evaluate("window.hacked") is None
    assert offline.page.title() == f"{m.name} · Linkwork"


def test_a_body_can_be_dragged_while_it_moves(tab):
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Cylinder(0.1, 1.0, position=(0, 0, -0.5)), mass=1.0))
    m.add(lw.Revolute("pin", m.ground, bob, axis=(0, 1, 0), damping=0.2))
    with shown(m, live=True) as viewer:
        tab.open(viewer.url)
        tab.press("button", "Start")
        tab.until(lambda: viewer.engine.state.t > 0.2)
        x, y = tab.seen([(0.0, -0.1, -0.8)])[0]
        tab.pull((x, y), (x + 90, y - 35), 12, release=False)
        tab.until(lambda: viewer.engine.hand.body == "bob")
        tab.until(lambda: abs(viewer.engine.state.q[0]) > 0.2)
        assert viewer.engine.running
        (batch,) = viewer.stage.bodies
        tab.until(lambda: abs(tab.matrices(batch.handle.name)[0][0, 3]) > 0.05)
        tab.page.mouse.up()
        tab.until(lambda: viewer.engine.hand.body is None)
        tab.press("button", "reset")
        tab.until(lambda: viewer.engine.state.t == 0.0)
        tab.until(lambda: tab.draws(viewer, viewer.engine.now.poses))


def test_the_saved_page_plays_without_a_network_and_has_overlays_and_curves(without_network, tmp_path):
    run = lw.simulate(examples.steam_engine(), 1.0)
    path = tmp_path / "run.html"
    point = (0.02, 0.0, 0.05)
    save_html(run, path, show=["frames"], plot=["crank pin.velocity"], trace=("rocker arm", point))
    offline = without_network(path)
    name = "/bodies/cylinder1"
    first = offline.matrices(name)
    offline.until(lambda: np.abs(offline.matrices(name) - first).max() > 1e-3)
    assert all(address.startswith(("file:", "blob:", "data:")) for address in offline.asked)
    assert offline.page.title() == "steam engine · Linkwork"
    for word, shown in (("frames", True), ("traces", True), ("names", False), ("reactions", False)):
        offline.until(lambda word=word, shown=shown: offline.visible(f"/overlays/{word}") == shown)

    curve = offline.page.locator(".lw-curve").bounding_box()  # a press there goes to that time, and stops
    offline.page.mouse.click(curve["x"] + 0.5 * curve["width"], curve["y"] + 0.5 * curve["height"])
    clock = offline.page.locator(".lw-clock")
    offline.until(lambda: abs(float(clock.inner_text().split()[0]) - 0.413) < 0.01)
    t = float(clock.inner_text().split()[0])
    value, unit = offline.page.locator(".lw-said span").inner_text().split()
    assert unit == "rad/s"
    assert abs(float(value) - np.ravel(run.at(t)["crank pin"].velocity)[0]) < 0.05
    for word, shown in (("reactions", True), ("frames", False)):
        offline.page.locator("#lw-side label").filter(has_text=re.compile(rf"^{word}( \d|$)")).click()
        offline.until(lambda word=word, shown=shown: offline.visible(f"/overlays/{word}") == shown)
    scheme = "document.documentElement.getAttribute('data-mantine-color-scheme')"
    for wanted in ("dark", "light"):
        offline.page.locator("#lw-dark").click()
        offline.until(lambda wanted=wanted: offline.page.evaluate(scheme) == wanted)
    assert offline.errors == []


def test_what_a_saved_page_cannot_show_is_refused(tmp_path):
    run = lw.simulate(examples.steam_engine(), 0.1)
    for options, word in (
        ({"show": ["nmaes"]}, "nmaes"),
        ({"plot": ["nothing.position"]}, "nothing.position"),
        ({"trace": "nobody"}, "nobody"),
        ({"trace": ("base", (1.0, 2.0))}, "3 numbers"),
    ):
        with pytest.raises(ValueError, match=word):
            save_html(run, tmp_path / "run.html", **options)
