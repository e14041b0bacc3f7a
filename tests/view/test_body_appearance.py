"""How bodies are shown: hidden, alone, coloured, clear."""

import numpy as np

from linkwork.view.body_appearance import Looks


def test_one_is_shown_alone_and_then_all_again():
    looks = Looks()
    looks.isolate("b", ("a", "b", "c"))
    assert looks.hidden == {"a", "c", "ground"}
    looks.isolate("b", ("a", "b", "c"))
    assert looks.hidden == set()


def test_what_is_hidden_has_no_size_and_what_is_selected_another_colour():
    looks = Looks(selected="a", hidden={"b"}, opacities={"a": 0.5}, colours={"b": (1, 2, 3)})
    scales = looks.scales(["a", "b"], np.ones((2, 3)))
    assert scales[0].min() == 1.0
    assert scales[1].max() < 1e-6
    colours = looks.colouring(["a", "b"], np.zeros((2, 3), np.uint8))
    assert colours[1].tolist() == [1, 2, 3]
    assert colours[0].any()
    assert looks.clearness(["a", "b"], np.ones(2)).tolist() == [0.5, 1.0]
    assert Looks().clearness(["a"], np.ones(1)) is None
