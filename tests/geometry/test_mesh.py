"""Meshes: mass properties against fifty digits, far from the origin, against CAD; what is wrong and where."""

import json

import mpmath
import numpy as np
import pytest
from geometry_catalogue import ELL, star_shaped
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.geometry import Box, ConvexHull, Extrusion, Mesh, Revolution, Sphere
from linkwork.geometry.self_intersection import Sheets

CUBE = Box(1, 1, 1).mesh()


def exact_properties(vertices, faces):
    """Return volume, centre and tensor about it for density 1 as floats, from integrals in fifty digits.

    A rule of four points integrates polynomials of degree 2 over a tetrahedron exactly (Hammer, Stroud 1956);
    it knows nothing of the formula that is tested.
    """
    with mpmath.workdps(50):
        root = mpmath.sqrt(5)
        near, far = (5 - root) / 20, (5 + 3 * root) / 20
        points = [[mpmath.mpf(x) for x in p] for p in np.asarray(vertices).tolist()]
        M = mpmath.zeros(4, 4)  # of (1, x, y, z) with itself
        for face in np.asarray(faces).tolist():
            corners = [points[k] for k in face]
            (a, b, c), (d, e, f), (g, h, i) = corners
            det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
            for k in range(4):  # the fourth corner is the origin
                weights = [far if j == k else near for j in range(3)]
                u = [mpmath.mpf(1), *(sum(w * c[i] for w, c in zip(weights, corners)) for i in range(3))]
                for i in range(4):
                    for j in range(4):
                        M[i, j] += det / 24 * u[i] * u[j]
        V = M[0, 0]
        c = [M[0, i + 1] / V for i in range(3)]
        second = [[M[i + 1, j + 1] - V * c[i] * c[j] for j in range(3)] for i in range(3)]
        trace = sum(second[i][i] for i in range(3))
        tensor = [[float((trace if i == j else 0) - second[i][j]) for j in range(3)] for i in range(3)]
        return float(V), np.array([float(x) for x in c]), np.array(tensor)


def random_meshes():
    rng = np.random.default_rng(11)
    for seed in range(8):
        mesh = star_shaped(seed, 20 + 8 * seed)
        stretch = rng.uniform(0.01, 100.0)
        turn = Rotation.random(rng=rng).as_matrix()
        yield Mesh(stretch * mesh.vertices @ turn.T + rng.normal(size=3) * stretch, mesh.faces)
    yield Extrusion(ELL, 0.3).mesh()
    yield Revolution(ELL, 5.0).mesh(12)
    yield ConvexHull(rng.normal(size=(30, 3))).mesh()


@pytest.mark.parametrize("mesh", list(random_meshes()))
def test_mass_properties_are_exact(mesh):
    volume, centre, tensor = exact_properties(mesh.vertices, mesh.faces)
    inertia = mesh.inertia(1.0)
    size = np.ptp(mesh.vertices, axis=0).max()
    assert mesh.volume == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(inertia.com, centre, atol=1e-12 * size)
    np.testing.assert_allclose(inertia.tensor, tensor, atol=1e-12 * np.trace(tensor))


@pytest.mark.parametrize("seed", range(5))
def test_ten_kilometres_away_nothing_changes(seed):
    near = star_shaped(seed)
    # Whole multiples of 2^-30 m, so that the way there and back rounds nothing.
    near = Mesh(np.round(near.vertices * 2**30) / 2**30, near.faces)
    away = np.array([8192.0, -8192.0, 4096.0])
    far = Mesh(near.vertices + away, near.faces)
    a, b = near.inertia(1000.0), far.inertia(1000.0)
    assert b.mass == pytest.approx(a.mass, rel=1e-12)
    np.testing.assert_allclose(b.com - away, a.com, atol=1e-10)
    np.testing.assert_allclose(b.tensor, a.tensor, atol=1e-12 * np.trace(a.tensor))
    unrounded = Mesh(star_shaped(seed).vertices + 1e4, near.faces).inertia(1000.0)
    exact = star_shaped(seed).inertia(1000.0)
    np.testing.assert_allclose(unrounded.tensor, exact.tensor, atol=1e-10 * np.trace(exact.tensor))


@pytest.mark.reference
@pytest.mark.parametrize("part", [0, 1])
def test_parts_weigh_what_solidworks_says(validation, part):
    expected = json.loads((validation / "meshes" / "trimesh_solidworks_mass_properties.json").read_text())[
        part
    ]
    mesh = lw.load(validation / "meshes" / expected["filename"])
    assert mesh.problems() == ()
    inertia = mesh.inertia(expected["density"])
    size = np.ptp(mesh.bounds, axis=0).max()
    assert inertia.mass == pytest.approx(expected["mass"], rel=1e-3)
    assert mesh.area == pytest.approx(expected["area"], rel=1e-3)
    np.testing.assert_allclose(inertia.com, expected["center_mass"], atol=1e-3 * size)
    np.testing.assert_allclose(inertia.tensor, expected["inertia"], atol=1e-3 * np.trace(expected["inertia"]))
    volume, _, tensor = exact_properties(mesh.vertices, mesh.faces)
    assert mesh.volume == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(mesh.inertia(1.0).tensor, tensor, atol=1e-12 * np.trace(tensor))


@pytest.mark.reference
def test_the_unit_cube_is_one(validation):
    cube = lw.load(validation / "meshes" / "unit_cube.STL")
    assert (len(cube.vertices), len(cube.faces)) == (8, 12)
    assert cube.volume == pytest.approx(1.0, rel=1e-15)


def test_parallel_axes_and_frames_go_both_ways():
    inertia = star_shaped(1).inertia(700.0)
    point, turn = np.array([3.0, -1.0, 2.0]), Rotation.from_euler("xyz", [0.3, 2.0, -1.0]).as_matrix()
    d = point - inertia.com
    steiner = inertia.tensor + inertia.mass * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(inertia.about(point), steiner, rtol=1e-14)
    back = lw.Inertia.from_about(inertia.mass, inertia.com, inertia.about(point), point)
    np.testing.assert_allclose(back.tensor, inertia.tensor, atol=1e-11 * np.trace(steiner))
    there = inertia.seen_from(point, turn)
    np.testing.assert_allclose(turn @ there.com + point, inertia.com, atol=1e-14)
    again = there.moved(point, turn)
    np.testing.assert_allclose(again.com, inertia.com, atol=1e-14)
    np.testing.assert_allclose(again.tensor, inertia.tensor, rtol=1e-13)
    planar = lw.Inertia(2.0, (1.0, 0.0), 0.5)
    assert float(planar.about((1, 3))) == 0.5 + 2 * 9
    assert lw.Inertia.from_about(2.0, (1, 0), 18.5, (1, 3)) == planar


def joined(*meshes: Mesh) -> Mesh:
    """Return several meshes as one, piece beside piece."""
    count = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + first for mesh, first in zip(meshes, count)]
    return Mesh(np.vstack([mesh.vertices for mesh in meshes]), np.vstack(faces), name="part")


def moved(mesh: Mesh, shift, scale=1.0) -> Mesh:
    return Mesh(mesh.vertices * scale + np.asarray(shift), mesh.faces)


def inverted(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces[:, ::-1])


def one_turned() -> Mesh:
    faces = CUBE.faces.copy()
    faces[3] = faces[3, ::-1]
    return Mesh(CUBE.vertices, faces)


FLAT = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 1)])


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (
            Mesh(CUBE.vertices, CUBE.faces[1:]),
            r"it is open: 3 edges .* round 1 hole; the first is from vertex \d at \(-0.5",
        ),
        (one_turned(), r"opposite orientation over 3 edges, the first is from vertex \d at"),
        (inverted(CUBE), "it is inside out, its volume is -1 m"),
        (FLAT, "it has no volume"),
        (joined(CUBE, moved(CUBE, (0.5, 0.3, 0.2))), r"passes through itself: faces \d+ and \d+ cross at \("),
        (joined(CUBE, moved(CUBE, (0.5, 0, 0))), "passes through itself|overlap"),
        (
            joined(CUBE, moved(CUBE, (0, 0, 0), 0.5)),
            r"pieces of it overlap: face \d+ at \(.* encloses 2 times",
        ),
        (joined(CUBE, CUBE), "pieces of it overlap"),
        (joined(CUBE, inverted(moved(CUBE, (3, 0, 0), 0.5))), "a piece of it is inside out"),
    ],
    ids=["open", "turned", "inverted", "flat", "crossing", "flush", "nested", "double", "one inverted"],
)
def test_what_encloses_no_solid_is_refused_and_told_where(mesh, words):
    with pytest.raises(lw.MeshError, match=words) as error:
        mesh.inertia(1.0)
    assert f"mesh {mesh.name!r}" in str(error.value)
    assert "repaired()" in str(error.value)
    with pytest.raises(lw.MeshError):
        lw.Body("part", mesh, density=1000.0)
    assert "problem" in mesh.summary()


@pytest.mark.parametrize(
    "mesh",
    [
        joined(CUBE, moved(CUBE, (1, 0, 0))),  # face upon face
        joined(CUBE, moved(CUBE, (1, 1, 0))),  # edge upon edge
        joined(CUBE, moved(CUBE, (1, 0.3, 0.3), 0.5)),
        joined(CUBE, inverted(moved(CUBE, (0, 0, 0), 0.5))),  # a cavity
        joined(CUBE, inverted(moved(CUBE, (0, 0, 0), 0.5)), moved(CUBE, (0, 0, 0), 0.25)),
    ],
    ids=["face", "edge", "near", "cavity", "in the cavity"],
)
def test_what_only_touches_is_a_solid(mesh):
    volume, _, tensor = exact_properties(mesh.vertices, mesh.faces)
    assert mesh.volume == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(mesh.inertia(1.0).tensor, tensor, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_overlaps_are_found_if_and_only_if_they_are_there(seed):
    """Two potatoes overlap where some point is inside both, which a cloud of points tells."""
    rng = np.random.default_rng(seed)
    one = star_shaped(seed, 30)
    for distance in (0.3, 1.0, 2.0, 8.0):
        other = moved(star_shaped(seed + 50, 30), distance * rng.normal(size=3))
        points = rng.uniform(*_overlap(one, other), (4000, 3))
        both = Sheets(one.vertices, one.faces).encloses(points) & Sheets(
            other.vertices, other.faces
        ).encloses(points)
        assert (joined(one, other).problems() != ()) == bool(both.any())


def _overlap(one, other):
    low = np.maximum(one.bounds[0], other.bounds[0])
    return low, np.maximum(np.minimum(one.bounds[1], other.bounds[1]), low)


def test_points_inside_are_known():
    rng = np.random.default_rng(0)
    mesh = star_shaped(4)
    points = rng.uniform(*mesh.bounds, (500, 3))
    inside = Sheets(mesh.vertices, mesh.faces).encloses(points)
    # In a star-shaped solid the way from the origin meets one face; inside is before it.
    naive = [_before_surface(mesh, p) for p in points]
    np.testing.assert_array_equal(inside, naive)
    assert 20 < inside.sum() < 480


def _before_surface(mesh, p) -> bool:
    for a, b, c in mesh.vertices[mesh.faces]:
        weights = np.linalg.solve(np.stack([a, b, c], axis=1), p)
        if (weights >= 0).all():
            return bool(weights.sum() <= 1.0)
    raise AssertionError("no face is in this direction")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Mesh(CUBE.vertices, CUBE.faces[1:]), ["filled 1 hole"]),
        (Mesh(CUBE.vertices, CUBE.faces[2:]), ["filled"]),
        (one_turned(), ["turned 1 of 12 faces"]),
        (inverted(CUBE), ["turned 1 of 1 piece"]),
        (Mesh(CUBE.vertices, np.vstack([CUBE.faces, CUBE.faces[:1]])), ["dropped 1 double face"]),
        (
            Mesh(CUBE.vertices[CUBE.faces].reshape(-1, 3), np.arange(36).reshape(-1, 3)),
            ["joined 28 of 36 vertices"],
        ),
        (
            Mesh(np.vstack([CUBE.vertices, CUBE.vertices[:1]]), np.vstack([CUBE.faces, [(0, 8, 1)]])),
            ["joined 1 of 9 vertices", "dropped 1 face without area"],
        ),
    ],
    ids=["hole", "two faces", "turned", "inverted", "doubles", "soup", "degenerate"],
)
def test_a_repair_mends_and_is_recorded(broken, words):
    with pytest.raises(lw.MeshError):
        broken.inertia(1.0)
    mended = broken.repaired()
    assert mended.volume == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(mended.inertia(6.0).tensor, np.eye(3), atol=1e-12)
    assert broken.repairs == ()
    for word in words:
        assert any(repair.startswith(word) for repair in mended.repairs), mended.repairs
        assert word in mended.summary()
    assert mended.repaired() == mended


def test_a_cavity_is_turned_inwards():
    mended = joined(CUBE, moved(CUBE, (0, 0, 0), 0.5)).repaired()
    assert mended.volume == pytest.approx(0.875)
    assert mended.repairs == ("turned 1 of 2 pieces that were inside out",)


def test_what_passes_through_itself_cannot_be_mended():
    mesh = joined(CUBE, moved(CUBE, (0.5, 0.3, 0.2)))
    assert "passes through itself" in mesh.repaired().problems()[0]


def test_what_encloses_nothing_at_all_cannot_be_mended():
    with pytest.raises(lw.MeshError, match="mesh 'mesh': nothing is left of it: dropped 2 double faces"):
        FLAT.repaired()


def test_a_solid_mesh_is_repaired_by_doing_nothing():
    assert CUBE.repaired() == CUBE
    assert CUBE.repaired().repairs == ()


def test_faces_of_many_corners_are_cut():
    points, top = np.array(ELL), len(ELL)
    vertices = np.vstack([np.c_[points, np.zeros(top)], np.c_[points, np.ones(top)]])
    sides = [(k, (k + 1) % top, (k + 1) % top + top, k + top) for k in range(top)]
    faces = [tuple(range(top))[::-1], tuple(range(top, 2 * top)), *sides]
    mesh = Mesh.from_polygons(vertices, faces, density=2.0)
    assert mesh.inertia().mass == pytest.approx(2 * Extrusion(ELL, 1.0).volume, rel=1e-14)
    np.testing.assert_allclose(mesh.gyration, Extrusion(ELL, 1.0).gyration, atol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_the_parts_of_a_face_make_up_the_face(seed):
    """A star with some straight and some doubled-back looking corners, in any plane."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 60))
    angle = np.sort(rng.uniform(0, 2 * np.pi, count))
    if np.diff(angle, append=angle[0] + 2 * np.pi).max() > 3.0:
        angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    corners = rng.uniform(0.2, 1.0, (count, 1)) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    straight = 0.5 * (corners + np.roll(corners, -1, axis=0))
    flat = np.stack([corners, straight], axis=1).reshape(-1, 2)
    plane = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
    points = flat @ plane + rng.normal(size=3)
    triangles = Mesh.from_polygons(points, [range(2 * count)]).faces
    a, b, c = (flat[triangles[:, k]] for k in range(3))
    areas = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    x, y = flat.T
    assert areas.sum() == pytest.approx(0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)), rel=1e-12)
    assert areas.min() > -1e-12
    assert len(triangles) == 2 * count - 2


@pytest.mark.parametrize(
    ("face", "words"),
    [
        ((0, 1, 3, 2), "face 0: it crosses or touches itself"),
        ((0, 1, 2, 7), "face 0: corners .* lie in no plane, by"),
        ((0, 1, 2, 8), r"face 0 is \(0, 1, 2, 8\); allowed are 0 to 7"),
        ((0, 1), "face 0 has 2 corners"),
    ],
)
def test_faces_that_are_none_are_refused_with_the_reason(face, words):
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    with pytest.raises(lw.MeshError, match=f"mesh 'part': {words}"):
        Mesh.from_polygons(corners, [face], name="part")


def test_work_is_bounded(monkeypatch):
    monkeypatch.setattr("linkwork.geometry.triangulation.MOST_WORK", 30)
    with pytest.raises(lw.MeshError, match="too many corners of concave faces"):
        Mesh.from_polygons([(*p, 0.0) for p in ELL], [range(6)])
    monkeypatch.setattr("linkwork.geometry.self_intersection._MOST_PAIRS", 100)
    assert "too many faces at one place" in star_shaped(1).problems()[0]


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        (CUBE.vertices, [(0, 1, 8)], r"face 0 is \(0, 1, 8\); allowed are 0 to 7"),
        (CUBE.vertices, [(0, 1, -1)], "allowed are 0 to 7"),
        (CUBE.vertices, [(0.0, 1.0, 2.0)], "faces of type float64"),
        (CUBE.vertices, [(0, 1)], r"faces of shape \(1, 2\).*from_polygons"),
        (CUBE.vertices, np.zeros((0, 3), int), "faces of shape"),
        ([(0, 0, np.inf)], [(0, 0, 0)], r"vertices: number 0, \(0, 0, inf\), is not finite"),
        ([(0, 0)], [(0, 0, 0)], r"vertices of shape \(1, 2\)"),
    ],
)
def test_arrays_that_are_no_mesh_are_refused(vertices, faces, words):
    with pytest.raises(ValueError, match=f"mesh 'part': .*{words}"):
        Mesh(vertices, faces, name="part")


def test_summary_tells_what_it_is():
    text = Mesh(CUBE.vertices, CUBE.faces, name="cube.stl", mass=6.0).summary()
    for words in (
        "mesh 'cube.stl': 8 vertices, 12 faces, 1 piece\n",
        "volume    1 m^3",
        "moments   (1, 1, 1) kg m^2",
    ):
        assert words in text


def test_scaling_and_mirroring_keep_the_outside_outside():
    mesh = star_shaped(2)
    assert mesh.scaled(1e-3).volume == pytest.approx(1e-9 * mesh.volume, rel=1e-12)
    mirrored = mesh.scaled((1, -2, 1))
    assert mirrored.volume == pytest.approx(2 * mesh.volume, rel=1e-12)
    with pytest.raises(ValueError, match="scale 0"):
        mesh.scaled(0)


def test_hulls_hold_all_points():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(200, 3)) + 1e4
    hull = ConvexHull(points)
    vertices, faces = hull.surface()
    normal = np.cross(
        vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]]
    )
    offset = np.einsum("ij,ij->i", normal, vertices[faces[:, 0]] - 1e4)
    assert ((points - 1e4) @ normal.T <= offset + 1e-9).all()
    assert hull.mesh().problems() == ()
    assert hull.volume == pytest.approx(exact_properties(vertices - 1e4, faces)[0], rel=1e-10)
    assert star_shaped(1).hull().volume >= star_shaped(1).volume
    with pytest.raises(ValueError, match="ConvexHull: all points lie in one plane"):
        ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    with pytest.raises(ValueError, match=r"ConvexHull: points of shape \(3, 3\)"):
        ConvexHull(np.eye(3))


def test_convex_parts_cover_the_mesh():
    pytest.importorskip("coacd", reason="not installed: coacd (linkwork[convex])")
    mesh = Extrusion(ELL, 0.5).mesh()
    parts = mesh.convex_parts()
    assert len(parts) >= 2
    assert parts == mesh.convex_parts()
    assert sum(part.volume for part in parts) == pytest.approx(mesh.volume, rel=0.02)
    rng = np.random.default_rng(0)
    points = rng.uniform(*mesh.bounds, (300, 3))
    inside = Sheets(mesh.vertices, mesh.faces).encloses(points)
    covered = np.any([Sheets(*part.surface()).encloses(points) for part in parts], axis=0)
    assert (covered[inside]).mean() > 0.98
    with pytest.raises(ValueError, match="threshold 5"):
        mesh.convex_parts(threshold=5)


def test_a_large_mesh_is_looked_at_too():
    mesh = Sphere(1.0).mesh(200)
    assert len(mesh.faces) > 39_000
    assert mesh.problems() == ()
