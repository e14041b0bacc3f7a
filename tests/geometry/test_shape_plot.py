"""Shapes draw themselves."""

import matplotlib
import numpy as np
import pytest
from geometry_catalogue import ALL, ELL, name

from linkwork.geometry import Box, Polygon, Sphere

matplotlib.use("Agg")


@pytest.mark.parametrize("shape", ALL, ids=map(name, ALL))
def test_every_shape_draws_itself(shape):
    from matplotlib import pyplot

    ax = shape.show()
    drawn = ax.patches if isinstance(shape, Polygon) else ax.collections
    assert len(drawn) == 1
    ax.figure.canvas.draw()
    pyplot.close(ax.figure)


def test_what_lies_in_the_plane_is_drawn_there():
    from matplotlib import pyplot

    flat = Polygon(ELL, position=(1, 2)).show()
    assert flat.name == "rectilinear"
    np.testing.assert_allclose(flat.patches[0].get_xy().min(axis=0), (1.1, 2.0))
    tilted = Polygon(ELL, rotation=(0.8, 0.6, 0, 0)).show()
    assert tilted.name == "3d"
    pyplot.close("all")


def test_several_shapes_go_into_one_picture():
    from matplotlib import pyplot

    ax = Box(1, 1, 1).show()
    assert Sphere(1.0, position=(3, 0, 0)).show(ax) is ax
    assert len(ax.collections) == 2
    low, high = ax.get_xlim()
    assert low <= -0.5
    assert high >= 4.0
    pyplot.close("all")
