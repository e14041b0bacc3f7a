"""What every shape keeps: a closed surface that converges to it, bounds, a place, a weight, being a value."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from geometry_catalogue import ALL, ELL, GROUND, PLATES, SOLIDS, name
from scipy.spatial.transform import Rotation

from linkwork.geometry import Box, Compound, Cylinder, Mesh, Plane, Polygon, Solid, Sphere
from linkwork.geometry.polyhedron import integrals
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia

TURN = Rotation.from_euler("xyz", [0.4, 1.2, -2.0])
SHIFT = np.array([0.5, -1.0, 2.0])

shapes = pytest.mark.parametrize("shape", ALL, ids=map(name, ALL))
solids = pytest.mark.parametrize("solid", SOLIDS, ids=map(name, SOLIDS))


def kinds_of(kind: type) -> set[type]:
    below = [each for each in kind.__subclasses__() if each.__module__.startswith("linkwork.")]
    return {kind}.union(*map(kinds_of, below)) - ({kind} if below else set())


def test_every_shape_of_the_package_is_tested_here():
    assert kinds_of(Solid) == {type(shape) for shape in ALL}


def as_tensor(gyration):
    return np.diag(gyration) if np.ndim(gyration) == 1 else gyration


def errors(solid: Solid, resolution: int) -> np.ndarray:
    """Return by how much the mesh of a solid is off in volume, centre and second moments, each relative."""
    volume, centre, second, _ = integrals(*solid.surface(resolution))
    tensor = (np.trace(second) * np.eye(3) - second) / volume
    size = np.ptp(solid.bounds, axis=0).max()
    return np.array(
        [
            abs(volume / solid.volume - 1.0),
            np.abs(centre - solid.centre).max() / size,
            np.abs(tensor - as_tensor(solid.gyration)).max() / size**2,
        ]
    )


@solids
def test_the_mesh_of_a_solid_converges_to_it_with_order_two(solid):
    coarse, fine = errors(solid, 48), errors(solid, 192)
    assert fine.max() < 1e-3
    inexact = coarse > 1e-12  # a polyhedron is exact at once
    order = np.log(coarse[inexact] / fine[inexact]) / np.log(4)
    # One quantity may converge faster, where its leading error is 0 by symmetry.
    assert (order > 1.9).all()
    assert not order.size or order[0] < 2.1
    assert inexact[0] == any(type(part).__name__ in ROUND for part in getattr(solid, "removed", (solid,)))


ROUND = ("Sphere", "Cylinder", "Capsule", "Cone", "Ellipsoid", "Revolution")


@solids
def test_the_mesh_of_a_solid_is_closed_and_faces_outwards(solid):
    mesh = solid.mesh(12)
    assert mesh.is_closed
    assert mesh.problems() == ()
    assert mesh.volume == pytest.approx(solid.volume, rel=0.2)


@pytest.mark.parametrize("plate", PLATES, ids=map(name, PLATES))
def test_a_plate_is_cut_without_gaps_or_overlap(plate):
    vertices, faces = plate.surface()
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    areas = 0.5 * np.cross(b - a, c - a)[:, 2]
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(plate.area, rel=1e-14)
    assert len(faces) == len(plate.points) - 2


@shapes
def test_bounds_are_tight(shape):
    placed = replace(shape, position=SHIFT, rotation=TURN)
    low, high = placed.bounds
    vertices, _ = placed.triangles(256)
    if shape in GROUND:
        assert (low <= vertices.min(axis=0) + 1e-12).all()
        return
    assert (low <= vertices.min(axis=0) + 1e-12).all()
    assert (vertices.max(axis=0) <= high + 1e-12).all()
    np.testing.assert_allclose(vertices.min(axis=0), low, atol=2e-4)
    np.testing.assert_allclose(vertices.max(axis=0), high, atol=2e-4)


@pytest.mark.parametrize("solid", SOLIDS + PLATES, ids=map(name, SOLIDS + PLATES))
def test_a_placed_shape_is_the_shape_moved(solid):
    own = solid.inertia(1000.0)
    placed = replace(solid, position=SHIFT, rotation=TURN).inertia(1000.0)
    R = TURN.as_matrix()
    np.testing.assert_allclose(placed.com, SHIFT + R @ own.com, rtol=1e-13)
    np.testing.assert_allclose(placed.tensor, R @ own.tensor @ R.T, atol=1e-12 * np.trace(own.tensor))
    np.testing.assert_allclose(own.com, solid.centre, atol=1e-15)


@pytest.mark.parametrize("solid", SOLIDS + PLATES, ids=map(name, SOLIDS + PLATES))
def test_a_shape_may_weigh_itself(solid):
    heavy = replace(solid, density=800.0)
    assert heavy.inertia() == solid.inertia(800.0)
    assert heavy.inertia(1.0) == solid.inertia(800.0)  # its own counts
    given = replace(solid, mass=3.0).inertia()
    assert given.mass == pytest.approx(3.0, rel=1e-14)
    expected = solid.inertia(3.0 / solid.volume).tensor
    np.testing.assert_allclose(given.tensor, expected, atol=1e-13 * np.trace(expected))
    with pytest.raises(ValueError, match="density"):
        solid.inertia()
    with pytest.raises(ValueError, match="density 1 and mass 2; give one"):
        replace(solid, density=1.0, mass=2.0)


@shapes
def test_shapes_are_values(shape):
    twin = replace(shape)
    assert twin == shape
    assert hash(twin) == hash(shape)
    assert replace(shape, position=(1, 2, 3)) != shape
    for again in (pickle.loads(pickle.dumps(shape)), copy.deepcopy(shape)):
        assert again == shape
        for value in vars(again).values():
            assert not (isinstance(value, np.ndarray) and value.flags.writeable)


@pytest.mark.parametrize("shape", GROUND, ids=map(name, GROUND))
def test_what_has_no_end_has_no_mass(shape):
    assert shape.volume == np.inf
    for options in ({"density": 1000.0}, {"mass": 1.0}):
        with pytest.raises(ValueError, match=rf"{name(shape)}: has no end"):
            Body("floor", shape, **options)


def test_a_body_takes_shapes_with_their_own_weight():
    steel, rest = Sphere(0.1, density=7800.0), Box(1, 1, 1, position=(2, 0, 0))
    body = Body("mixed", steel, rest, density=500.0)
    assert body.inertia.mass == pytest.approx(7800 * Sphere(0.1).volume + 500)
    whole = Body("mixed", steel, rest, mass=100.0)
    assert whole.inertia.mass == pytest.approx(100.0)
    assert Body("ball", steel).inertia == steel.inertia()
    with pytest.raises(ValueError, match="body 'ball': every shape has its own density or mass"):
        Body("ball", steel, density=1.0)
    with pytest.raises(ValueError, match="body 'mixed': mass 1 kg is less than that of its weighed shapes"):
        Body("mixed", steel, rest, mass=1.0)
    with pytest.raises(ValueError, match=r"plates .* and solids .* give each shape its own"):
        Body("mixed", Polygon(ELL), rest, density=1.0)


def test_a_planar_body_takes_polygons():
    body = Body("plate", Polygon([(0, 0), (2, 0), (2, 1), (0, 1)]), density=3.0)
    body.settle("plane")
    assert body.inertia.mass == pytest.approx(6.0, rel=1e-15)
    np.testing.assert_allclose(body.inertia.com, (1.0, 0.5), rtol=1e-15)
    assert float(body.inertia.tensor) == pytest.approx(6.0 * (4 + 1) / 12, rel=1e-14)


def test_hollow_is_less_mass():
    tube = Cylinder(0.5, 2.0) - Cylinder(0.4, 2.0)
    outer, inner = Cylinder(0.5, 2.0).inertia(1000.0), Cylinder(0.4, 2.0).inertia(1000.0)
    assert tube.volume == pytest.approx(np.pi * (0.25 - 0.16) * 2)
    inertia = tube.inertia(1000.0)
    np.testing.assert_allclose(inertia.tensor, outer.tensor - inner.tensor, rtol=1e-12, atol=1e-10)
    r2 = 0.25 + 0.16
    np.testing.assert_allclose(inertia.tensor[2, 2], inertia.mass * r2 / 2, rtol=1e-13)


def test_a_cavity_is_exactly_what_its_mesh_says():
    solid = Box(1, 1, 1) - Box(0.2, 0.3, 0.4, position=(0.1, 0.2, -0.1))
    volume, centre, second, _ = integrals(*solid.surface())
    assert solid.volume == pytest.approx(volume, rel=1e-14)
    np.testing.assert_allclose(solid.centre, centre, atol=1e-15)
    np.testing.assert_allclose(solid.gyration, (np.trace(second) * np.eye(3) - second) / volume, atol=1e-15)


def test_what_is_removed_has_the_density_of_what_it_is_taken_from():
    lead = Box(1, 1, 1, density=11000.0)
    assert (lead - Sphere(0.3)).inertia().mass == pytest.approx(11000 * (1 - Sphere(0.3).volume))
    filled = lead - Sphere(0.3) + Sphere(0.3, density=1000.0)
    assert filled.inertia().mass == pytest.approx(11000 - 10000 * Sphere(0.3).volume)
    body = Body("case", lead - Sphere(0.3), Box(1, 1, 1, position=(2, 0, 0)), density=1.0)
    assert body.inertia.mass == pytest.approx(11000 * (1 - Sphere(0.3).volume) + 1)
    mixed = lead + Box(1, 1, 1, density=1.0, position=(1, 0, 0)) - Sphere(0.3)
    with pytest.raises(ValueError, match="Sphere has no density="):
        mixed.inertia()


def test_compounds_are_put_together_from_all_parts():
    both = Box(1, 1, 1) + Box(1, 1, 1, position=(1, 0, 0))
    whole = Box(2, 1, 1, position=(0.5, 0, 0))
    np.testing.assert_allclose(both.bounds, whole.bounds)
    np.testing.assert_allclose(both.inertia(3.0).tensor, whole.inertia(3.0).tensor, atol=1e-15)
    placed = replace(both, position=SHIFT, rotation=TURN)
    total = sum((piece.inertia(3.0) for piece in placed.pieces), start=Inertia.zero("space"))
    np.testing.assert_allclose(total.tensor, placed.inertia(3.0).tensor, atol=1e-14)
    np.testing.assert_allclose(total.com, placed.inertia(3.0).com, rtol=1e-14)
    assert len((both + Sphere(0.1)).parts) == 3
    assert len((placed + Sphere(0.1)).pieces) == 3
    assert len((both - Sphere(0.1) - Sphere(0.1, position=(1, 0, 0))).removed) == 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Box(1, 1, 1) - Sphere(0.6), "sticks out of the parts"),
        (lambda: Box(1, 1, 1) - Sphere(0.5) - Sphere(0.5), "a volume of -"),
        (lambda: Box(1, 1, 1) - Plane(), "Plane has no end"),
        (lambda: Compound(()), "no parts"),
        (lambda: Compound((Box(1, 1, 1, mass=1.0),), mass=2.0), "give either"),
    ],
)
def test_a_compound_that_cannot_be_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@shapes
def test_a_mesh_is_placed_as_its_shape_is(shape):
    placed = replace(shape, position=SHIFT, rotation=TURN)
    mesh = placed.mesh()
    assert isinstance(mesh, Mesh)
    for one, other in zip(mesh.triangles(), placed.triangles()):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("resolution", [2, 0, -8])
def test_a_bad_resolution_is_refused(resolution):
    with pytest.raises(ValueError, match=f"resolution {resolution}; give the number of pieces of a circle"):
        Cylinder(1, 1).mesh(resolution)
