"""Materials: what they refuse, and how two of them combine."""

import re

import pytest

import linkwork as lw
from linkwork.mechanism.material import NAMED, alone, combined


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"friction": -0.1}, "friction -0.1; give a finite number, 0 or more"),
        ({"friction": "much"}, "friction 'much'"),
        ({"friction": float("nan")}, "friction nan"),
        ({"friction": True}, "friction True"),
        ({"friction": 0.5, "static_friction": 0.4}, "static_friction 0.4 is less than friction 0.5"),
        ({"restitution": 1.1}, "restitution 1.1; give a finite number from 0 to 1"),
        ({"rolling": -1e-3}, "rolling -0.001"),
        ({"torsional": None}, "torsional None"),
        ({"stiffness": 0.0}, "stiffness 0.0; give a finite number above 0"),
        ({"stiffness": 1e5, "young": 1e9}, "stiffness 100000.0 and young 1000000000.0 together"),
        ({"young": 1e9, "poisson": 0.6}, "poisson 0.6"),
        ({"poisson": 0.2}, "poisson 0.2 without young="),
        ({"damping": 10.0}, "damping 10.0 of what is rigid; give stiffness= or young= too"),
        ({"dissipation": 0.1}, "dissipation 0.1 of what is rigid"),
        ({"stiffness": 1e5, "damping": 1, "dissipation": 1}, "damping 1 and dissipation 1 together"),
        ({"stiffness": 1e5, "restitution": 0.5}, "restitution 0.5 of what is compliant"),
    ],
)
def test_what_cannot_be_is_refused_with_its_value(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        lw.Material(**options)


def test_a_misspelt_number_is_answered_with_the_word_that_is_meant() -> None:
    with pytest.raises(TypeError, match="restitution"):
        lw.Material(restitutoin=0.5)


def test_named_materials_are_rigid_and_hold_at_least_as_well_as_they_slide() -> None:
    assert {"rubber", "steel", "wood", "ice", "concrete", "aluminium", "glass", "ptfe"} <= NAMED.keys()
    assert all(
        material.is_rigid and material == getattr(lw.Material, name) for name, material in NAMED.items()
    )


def test_a_material_with_itself_has_its_own_friction() -> None:
    for material in NAMED.values():
        numbers = combined(material, material)
        assert numbers.friction == material.friction
        assert numbers.static_friction == (material.static_friction or material.friction)
        assert numbers.restitution == material.restitution


def test_friction_is_the_geometric_mean_and_restitution_the_larger() -> None:
    a = lw.Material(friction=0.2, static_friction=0.8, restitution=0.3, rolling=1e-3)
    b = lw.Material(friction=0.8, restitution=0.6, torsional=2e-3)
    numbers = combined(a, b)
    assert numbers[:5] == pytest.approx((0.4, 0.8, 0.6, 1e-3, 2e-3))
    assert numbers[5:] == (0, 0, 0, 0)
    assert combined(b, a) == numbers


def test_what_is_compliant_is_in_series() -> None:
    a, b = (lw.Material(stiffness=k, damping=c) for k, c in ((1e4, 30), (4e4, 20)))
    numbers = combined(a, b)
    assert numbers.stiffness == pytest.approx(8e3)
    # the force of two spring-dampers in series, at one slow frequency, with complex stiffnesses
    w = 1e-3
    whole = 1 / (1 / (1e4 + 1j * w * 30) + 1 / (4e4 + 1j * w * 20))
    assert numbers.damping == pytest.approx(whole.imag / w, rel=1e-9)
    assert combined(a, lw.Material())[5:] == (1e4, 0, 30, 0)


def test_moduli_combine_as_in_hertz_contact() -> None:
    a = lw.Material(young=2e11, poisson=0.3, dissipation=0.1)
    b = lw.Material(young=1e7, poisson=0.5, dissipation=0.4)
    numbers = combined(a, b)
    assert 1 / numbers.modulus == pytest.approx(0.91 / 2e11 + 0.75 / 1e7)
    assert numbers.stiffness == 0
    assert 0.39 < numbers.dissipation < 0.4  # nearly all of the strain is in the rubber
    assert combined(a, lw.Material()).modulus == pytest.approx(2e11 / 0.91)
    assert combined(a, lw.Material()).dissipation == pytest.approx(0.1)


def test_a_stiffness_does_not_combine_with_a_modulus() -> None:
    with pytest.raises(ValueError, match="give both the same kind"):
        combined(lw.Material(stiffness=1e5), lw.Material(young=1e9))


def test_a_contact_of_one_material_has_its_numbers() -> None:
    said = lw.Material(friction=0.3, static_friction=0.7, rolling=1e-3, stiffness=1e5, damping=10)
    assert alone(said) == (0.3, 0.7, 0.0, 1e-3, 0.0, 1e5, 0.0, 10.0, 0.0)


@pytest.mark.parametrize(
    ("a", "b", "sliding", "sticking"),  # Serway and Jewett, table 5.1
    [
        ("steel", "steel", 0.57, 0.74),
        ("aluminium", "steel", 0.47, 0.61),
        ("rubber", "concrete", 0.8, 1.0),
        ("glass", "glass", 0.4, 0.94),
        ("ice", "ice", 0.03, 0.1),
        ("ptfe", "ptfe", 0.04, 0.04),
    ],
)
def test_named_materials_give_published_coefficients(a, b, sliding, sticking) -> None:
    numbers = combined(NAMED[a], NAMED[b])
    assert numbers.friction == pytest.approx(sliding, abs=0.01)
    assert numbers.static_friction == pytest.approx(sticking, abs=0.01)
