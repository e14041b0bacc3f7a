"""The way in: what can be shown, and what is said when it cannot."""

import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from robots import ARM

import linkwork as lw
from linkwork import examples


@pytest.fixture(scope="module")
def run():
    return lw.simulate(examples.four_bar(), 0.2)


@pytest.mark.parametrize("thing", ["mechanism", "model", "state", "recording"])
def test_whatever_moves_can_be_shown(run, capsys, thing):
    options = {"open_browser": False, "block": False}
    mechanism = examples.four_bar()
    model = mechanism.compile()
    match thing:
        case "mechanism":
            viewer = mechanism.show(**options)
        case "model":
            viewer = model.show(model.state(A=0.3).q, **options)
        case "state":
            viewer = model.show(model.state(A=0.3), **options)
        case _:
            viewer = run.show(**options)
    with viewer:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", viewer.url)
        assert viewer.url in capsys.readouterr().out
    viewer.close()  # twice is once


def test_a_mechanism_can_be_put_into_other_positions():
    model = examples.four_bar().compile()
    with model.show(open_browser=False, block=False) as viewer:
        viewer.pose("A", 0.4)
        q = viewer.now().q
        assert q[model.slices["A"][0]] == pytest.approx(0.4)
        assert model.loop_gap(q[None]) < 1e-9
        others = {name: slider.value for name, slider in viewer.sliders.items() if name != "A"}
        assert others == pytest.approx({name: q[model.slices[name][0]][0] for name in others})
        assert viewer._note.visible is False


def test_a_position_that_cannot_be_is_told():
    model = examples.four_bar(crank=0.3, coupler=0.1).compile()  # the input cannot turn round
    with model.show(open_browser=False, block=False) as viewer:
        before = viewer.now().q
        viewer.pose("A", 3.0)
        assert "cannot be assembled" in viewer._note.content
        assert np.array_equal(viewer.now().q, before)


def test_a_shape_is_shown():
    with lw.view.show(lw.Box(1, 2, 3) + lw.Sphere(1.0), open_browser=False, block=False) as viewer:
        (piece,) = viewer.drawing.pieces
        assert np.ptp(piece.shell.corners, axis=0) == pytest.approx((2, 2, 3), rel=0.01)
    assert lw.view.snapshot(lw.Sphere(1.0), size=(64, 64)).pixels.shape == (64, 64, 3)


def test_many_bodies_are_shown(capsys):
    with examples.chain(1500).show(open_browser=False, block=False) as viewer:
        assert len(viewer.drawing.bodies) == 1500


def test_the_user_without_viser_is_told_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(lw.LinkworkError, match=re.escape("pip install linkwork[view]")):
        run.show(open_browser=False, block=False)


def test_the_user_without_av_is_told_what_to_install(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(lw.LinkworkError, match=re.escape("pip install linkwork[video]")):
        run.save_video(tmp_path / "x.mp4")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lw.view.show(3), "cannot show a int; give a Mechanism, a Model, a Recording"),
        (lambda: examples.four_bar().compile().show([1.0]), r"q has shape \(1,\); give 3 finite numbers"),
        (lambda: examples.four_bar().show(host="0.0.0.0"), "can be reached from other machines"),
        (lambda: examples.four_bar().show(port=99999), "port 99999; give one from 1 to 65535"),
    ],
)
def test_mistakes_are_told(call, words):
    with pytest.raises((lw.LinkworkError, ValueError), match=words):
        call()


def test_importing_linkwork_imports_no_viewer():
    code = (
        "import sys, linkwork; print([m for m in ('viser', 'trimesh', 'linkwork.view') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_of_a_file_are_shown_as_they_are():
    from linkwork.view.viewer import _plain

    assert _plain("<img src=x> *b*") == r"\<img src=x\> \*b\*"


def test_the_command_shows_a_file_until_it_is_interrupted(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    command = [sys.executable, "-m", "linkwork", "view", str(path), "--no-browser"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"BROWSER": "true"},
    )
    watchdog = threading.Timer(60.0, process.kill)
    watchdog.start()
    try:
        assert "/?token=" in process.stdout.readline()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        watchdog.cancel()
        process.kill()
    assert process.returncode == 0
    assert errors.strip().splitlines()[-1] == "viewer closed"
    assert "not drawn: mesh 'package://arm/a.stl'" in errors
