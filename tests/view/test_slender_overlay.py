"""Bodies that a picture of the whole would lose."""

import numpy as np

import linkwork as lw
from linkwork.view import palette, snapshot
from linkwork.view.body_appearance import Looks
from linkwork.view.camera import Camera
from linkwork.view.drawing import drawing
from linkwork.view.picture_scene import PictureScene
from linkwork.view.slender_overlay import Slender
from linkwork.view.trajectory import Moment


def chain(count, thick):
    m = lw.Mechanism("chain")
    before = m.ground
    for k in range(count):
        link = m.add(
            lw.Body(f"link {k}", lw.Box(0.1, thick, thick), mass=1.0, position=(0.1 * k + 0.05, 0, 0))
        )
        m.add(lw.Revolute(f"pin {k}", before, link, at=(0.1 * k, 0.0, 0.0), axis=(0, 1, 0)))
        before = link
    return m


def lines(figure, looks=None):
    scene = PictureScene(Camera(figure, figure.drawn[None]).view(), (400, 300))
    overlay = Slender(scene, figure)
    if looks is not None:
        overlay.dress(looks)
    moment = Moment.standing(figure.drawn)
    overlay.place(moment, moment.world)
    return list(scene.drawn())


def test_a_thin_link_has_a_line_from_end_to_end_and_a_thick_one_none():
    found = np.concatenate([each.ends for each in lines(drawing(chain(100, 0.01).compile()))])
    found = found[np.argsort(found[:, 0, 0])]
    assert len(found) == 100
    assert np.allclose(np.sort(found[:, :, 0], axis=1)[:, 0], 0.1 * np.arange(100), atol=1e-3)
    assert np.allclose(found[:, :, 1:], 0.0)
    assert lines(drawing(chain(3, 0.01).compile())) == []


def test_what_is_hidden_has_none_and_what_is_selected_its_colour():
    looks = Looks()
    looks.selected = "link 7"
    looks.hidden.add("link 8")
    made = lines(drawing(chain(100, 0.01).compile()), looks)
    assert sum(len(each.ends) for each in made) == 99
    (chosen,) = [each for each in made if np.array_equal(each.colour, palette.SELECTED)]
    assert np.allclose(np.sort(chosen.ends[0, :, 0]), (0.7, 0.8), atol=1e-3)


def test_a_picture_of_a_long_chain_shows_it_from_end_to_end():
    pixels = snapshot(chain(200, 0.004), size=(600, 300)).pixels.astype(int)
    coloured = (np.ptp(pixels, axis=2) > 20).any(axis=0)
    columns = np.flatnonzero(coloured)
    assert np.ptp(columns) > 200
    assert coloured[columns[0] : columns[-1]].mean() > 0.95
