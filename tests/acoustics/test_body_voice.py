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


def test_a_square_plate_has_the_frequencies_of_leissa():
    """omega a^2 sqrt(rho h / D) of a free square plate with nu = 0.3 (Leissa 1973): Warburton's are near."""
    a, h, metal = 0.4, 0.002, ACOUSTICS["steel"]._replace(poisson=0.3)
    inertia = lw.Box(a, 0.999 * a, h).inertia(metal.density)
    plate = voice(inertia.mass, inertia.com, inertia.tensor, metal, joined=False)
    found = 2 * np.pi * plate.frequency * a**2 * np.sqrt(12.0) / (h * metal.plate_speed)
    modes = [tuple(sorted(map(int, each[each > 0]))) for each in plate.order]
    of = {mode: [x for x, one in zip(found, modes, strict=True) if one == mode] for mode in set(modes)}
    assert of[1, 1] == pytest.approx([13.49], rel=0.06)
    assert of[1, 2] == pytest.approx([35.02, 35.02], rel=0.05)
    assert of[2, 2] == pytest.approx([63.7], rel=0.06)


@pytest.mark.parametrize("joined", [False, True])
def test_energy_is_lost_by_the_loss_factor_at_each_radian(joined):
    """Amplitudes fall as exp(-eta omega t / 2), energies as exp(-eta omega t); joints add to eta."""
    wood = ACOUSTICS["wood"]
    inertia = lw.Box(0.3, 0.2, 0.02).inertia(wood.density)
    bar = voice(inertia.mass, inertia.com, inertia.tensor, wood, joined)
    slopes = np.diff(2.0 * bar.decay) / np.diff(2 * np.pi * bar.frequency)
    np.testing.assert_allclose(slopes, wood.loss + (0.01 if joined else 0.0), rtol=1e-9)


def test_a_mode_radiates_as_a_piston_moved_by_its_modal_mass():
    """r p = rho S e w phi / (4 pi m_i) per unit of impulse, m_i = m / 4, e = (ka)^2 / (1 + (ka)^2)."""
    l, w = 0.3, 0.2
    glass = voiced(lw.Box(l, w, 0.01), "glass")
    omega = 2 * np.pi * glass.frequency
    ka = omega / 343.0 * l / 2
    expected = 1.2 * l * w * ka**2 / (1 + ka**2) * omega / (4 * np.pi * glass.mass / 4)
    np.testing.assert_allclose(glass.gain, expected, rtol=1e-9)
    # the click is a dipole: 3/2 of the mass of displaced air, divided by 4 pi c m, and the mean over angles
    displaced = 1.2 * l * w * 0.01
    assert glass.click == pytest.approx(1.5 * displaced / (4 * np.pi * 343 * glass.mass * np.sqrt(3)))
