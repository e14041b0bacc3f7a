"""Body: what it is made of and where it is drawn."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.geometry import Box, Cylinder, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia


def test_density_gives_each_shape_its_mass():
    body = Body("dumbbell", Sphere(0.1, position=(0, 0, 1)), Sphere(0.1, position=(0, 0, -1)), density=1000)
    assert body.inertia.mass == pytest.approx(2 * 1000 * 4 / 3 * np.pi * 0.001)
    np.testing.assert_allclose(body.inertia.com, 0, atol=1e-15)


def test_mass_is_shared_out_by_volume():
    body = Body("pair", Box(1, 1, 1, position=(1, 0, 0)), Box(1, 1, 3, position=(-1, 0, 0)), mass=8.0)
    assert body.inertia.mass == pytest.approx(8.0)
    np.testing.assert_allclose(body.inertia.com, (-0.5, 0, 0))


def test_an_inertia_is_taken_as_it_is():
    inertia = Inertia(2.0, (0, 0, 1), np.eye(3))
    assert Body("part", inertia).inertia is inertia


def test_a_body_of_nothing_is_massless():
    assert Body("frame").inertia == Inertia.zero("space")
    assert Body("frame").parts == ()


def test_point_masses_make_a_body():
    body = Body.from_points("bob", [1.0, 3.0], [(0, 0, 0), (4, 0, 0)], position=(1, 1, 1))
    np.testing.assert_allclose(body.inertia.com, (3, 0, 0))
    np.testing.assert_allclose(body.inertia.tensor, np.diag([0, 12, 12]))
    np.testing.assert_array_equal(body.position, (1, 1, 1))


@pytest.mark.parametrize(
    ("parts", "options", "words"),
    [
        ([Box(1, 1, 1)], {}, "shapes without density="),
        ([Box(1, 1, 1)], {"density": 1, "mass": 1}, "give one of them"),
        ([Box(1, 1, 1)], {"mass": -1}, "mass -1"),
        ([Box(1, 1, 1)], {"mass": "1"}, "mass '1'; give a finite number"),
        ([Box(1, 1, 1)], {"density": np.nan}, "density nan"),
        ([], {"mass": 1}, "without a shape"),
        ([Inertia.zero("space"), Box(1, 1, 1)], {}, "an Inertia stands alone"),
        ([Inertia.zero("space")], {"mass": 1}, "an Inertia stands alone"),
        ([], {"rotation": (0, 0, 0, 0)}, "quaternion"),
        ([], {"position": (1, 2, 3, 4)}, "position"),
    ],
)
def test_a_contradiction_is_refused_by_name(parts, options, words):
    with pytest.raises(ValueError, match=f"body 'arm'.*{words}"):
        Body("arm", *parts, **options)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Sphere, r"Sphere is a class; give one of them: Sphere\(...\)"),
        (3, "3 has no mass"),
        (Body("b"), "no mass"),
    ],
)
def test_what_has_no_mass_is_refused_by_name(part, words):
    with pytest.raises(TypeError, match=f"body 'arm': .*{words}"):
        Body("arm", part, mass=1)


def test_a_body_is_drawn_at_the_origin_unless_said():
    np.testing.assert_array_equal(Body("a").position, (0, 0, 0))
    np.testing.assert_array_equal(Body("a").rotation, np.eye(3))
    turn = Rotation.from_euler("y", 0.3)
    np.testing.assert_allclose(Body("a", rotation=turn).rotation, turn.as_matrix())


def test_a_body_takes_its_part_in_the_plane():
    body = Body("crank", Cylinder(radius=0.1, length=0.02), density=7800, position=(1, 2), rotation=0.5)
    moment = body.inertia.tensor[2, 2]
    body.settle("plane")
    np.testing.assert_array_equal(body.position, (1, 2))
    np.testing.assert_allclose(body.rotation, [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    assert float(body.inertia.tensor) == moment
    body.rotation = 0.0
    np.testing.assert_array_equal(body.rotation, np.eye(2))


def test_what_does_not_fit_in_the_plane_leaves_the_body_as_it_was():
    body = Body("crank", position=(1, 2, 3))
    with pytest.raises(ValueError, match=r"body 'crank'.*off the plane"):
        body.settle("plane")
    assert body.space == "space"


def test_a_planar_inertia_does_not_fit_in_space():
    with pytest.raises(ValueError, match=r"body 'crank'.*planar inertia"):
        Body("crank", Inertia(1.0, (0, 0), 1.0)).settle("space")


def test_a_color_is_a_name_digits_or_numbers_and_is_saved(tmp_path):
    body = lw.Body("ball", lw.Sphere(1.0), density=1.0, color="#ff0000")
    assert body.color == (1.0, 0.0, 0.0, 1.0)
    body.color = (0.0, 0.5, 1.0, 0.25)
    m = lw.Mechanism()
    m.add(body)
    m.save(tmp_path / "m.json")
    assert lw.load(tmp_path / "m.json")["ball"].color == (0.0, 0.5, 1.0, 0.25)
    assert lw.Body("one", color="steel").color is not None
    for wrong in ("reddish", "#12", (1, 2, 3), (0.1, 0.2), 7):
        with pytest.raises(ValueError, match="color"):
            lw.Body("two", color=wrong)
