"""Pitch and loudness of bodies, against closed forms."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.acoustics.acoustic_materials import ACOUSTICS
from linkwork.acoustics.body_voice import box_of, voice


def voiced(solid, word):
    inertia = solid.inertia(ACOUSTICS[word].density)
    return voice(inertia.mass, inertia.com, inertia.tensor, ACOUSTICS[word], joined=False)


def test_a_body_is_the_box_of_its_mass_and_moments():
    inertia = lw.Box(0.3, 0.2, 0.1).inertia(1000.0)
    assert np.sort(box_of(inertia.mass, inertia.tensor)[0]) == pytest.approx([0.1, 0.2, 0.3], rel=1e-12)


def test_a_thin_bar_has_the_pitch_of_euler_and_bernoulli():
    """f = (4.730)^2 / (2 pi l^2) sqrt(E I / (rho A)), but for 1 - nu^2 of a plate."""
    l, h, steel = 0.5, 0.004, ACOUSTICS["steel"]
    bar = voiced(lw.Box(l, 0.01, h), "steel")
    slow = np.sqrt(1.0 - steel.poisson**2)
    expected = 4.730**2 / (2 * np.pi * l**2) * h / np.sqrt(12.0) * np.sqrt(steel.young / steel.density) / slow
    assert bar.frequency.min() == pytest.approx(expected, rel=5e-3)


def test_a_ball_is_near_the_pitch_of_lamb():
    """2.64 c_s / (2 pi r), of the lowest spheroidal mode."""
    r = 0.3
    lamb = 2.64 * ACOUSTICS["wood"].shear_speed / (2 * np.pi * r)
    assert voiced(lw.Sphere(r), "wood").frequency.min() == pytest.approx(lamb, rel=0.25)


def test_twice_as_large_is_an_octave_lower_and_glass_rings_longer_than_wood():
    one, two = (voiced(lw.Box(0.3 * s, 0.2 * s, 0.02 * s), "glass") for s in (1.0, 2.0))
    assert one.frequency[0] / two.frequency[0] == pytest.approx(2.0)
    assert one.lasts() > 3.0 * voiced(lw.Box(0.3, 0.2, 0.02), "wood").lasts()


def test_a_mode_is_silent_where_it_has_a_node():
    bar = voiced(lw.Box(0.5, 0.01, 0.004), "steel")
    first = int(np.argmin(bar.frequency))
    end, node = (np.abs(bar.shapes(np.array((x, 0.0, 0.0))))[first] for x in (0.25, 0.125))
    assert end == pytest.approx(1.0)
    assert node < 1e-6
