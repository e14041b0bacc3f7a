"""One of everything from outside the package: each is one small class, or object, and works everywhere."""

from dataclasses import dataclass
from math import pi

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import main
from linkwork.view.drawing import drawing

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


# a joint


class Knee(lw.Joint):
    """Turn about y and sink a little, both by one angle."""

    def motion(self, q):
        return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])


# a load


class Drag(lw.Load):
    """Resist the motion of a body, by the square of its speed."""

    def __init__(self, name, body, area):
        super().__init__(name, body)
        self.area = area

    def act(self, t, body):
        push = -0.6 * self.area * lw.norm(body.velocity) * body.velocity
        body.push(push)
        return lw.norm(push)

    def units(self, shown, coordinates):
        return ("N",)

    def sketch(self, size):
        return [lw.Line((self.on[0], [(0, 0, -0.1 * size), (0, 0, 0.1 * size)]))]


# a constraint


class Slot(lw.Constraint):
    """Keep a point of the second body in the plane x = 0 of the first."""

    def phi(self, a, b):
        return [a.to_local(b.to_world(self.pin))[0]]

    def sketch(self, size):
        return [lw.Line((self.on[0], [(0, 0, 0), (0, 0, -0.5)]))]


# a solid


@dataclass(frozen=True)
class Lozenge(lw.Solid):
    """A double cone: two cones of one height, base to base, about the origin."""

    radius: float
    height: float  # of each cone

    @property
    def volume(self):
        return 2 / 3 * pi * self.radius**2 * self.height

    @property
    def gyration(self):
        across = 0.15 * self.radius**2 + 0.1 * self.height**2
        return across, across, 0.3 * self.radius**2

    def support(self, d):
        across = lw.sqrt(d[0] * d[0] + d[1] * d[1])
        tip = lw.abs(d[2]) * self.height > self.radius * across
        s = lw.where(tip, 0.0, self.radius / lw.max(across, 1e-300))
        return s * d[0], s * d[1], lw.where(tip, lw.where(d[2] < 0.0, -self.height, self.height), 0.0)

    def surface(self, resolution=32):
        angles = 2 * pi * np.arange(resolution) / resolution
        rim = [(self.radius * np.cos(a), self.radius * np.sin(a), 0.0) for a in angles]
        n, top, bottom = resolution, resolution, resolution + 1
        faces = [(k, (k + 1) % n, top) for k in range(n)] + [((k + 1) % n, k, bottom) for k in range(n)]
        return np.array([*rim, (0, 0, self.height), (0, 0, -self.height)]), np.array(faces)


@dataclass(frozen=True)
class Egg(lw.Solid):
    """An ellipsoid of revolution, which Linkwork has as well."""

    radius: float
    half: float

    @property
    def volume(self):
        return self.twin.volume

    @property
    def gyration(self):
        return self.twin.gyration

    @property
    def twin(self):
        return lw.Ellipsoid(self.radius, self.radius, self.half)

    def support(self, d):
        x, y, z = self.radius * d[0], self.radius * d[1], self.half * d[2]
        s = lw.sqrt(x * x + y * y + z * z)
        return self.radius * x / s, self.radius * y / s, self.half * z / s

    def surface(self, resolution=32):
        return self.twin.surface(resolution)


@dataclass(frozen=True)
class Star(lw.Solid):
    """A solid that is not convex and says no support: it is touched by its triangles."""

    radius: float

    @property
    def volume(self):
        return self._mesh.volume

    @property
    def gyration(self):
        return self._mesh.gyration

    @property
    def _mesh(self):
        return lw.Extrusion(
            [(r * np.cos(a), r * np.sin(a)) for a, r in zip(np.arange(10) * pi / 5, [self.radius, 0.4] * 5)],
            0.2,
        ).mesh()

    def surface(self, resolution=32):
        return self._mesh.surface()


# an integrator: Heun's method of order 2 with an estimate of the error by Euler's

HEUN = lw.Tableau(
    name="heun",
    title="Heun 2(1)",
    order=2,
    A=((), (1.0,)),
    b=(0.5, 0.5),
    c=(0.0, 1.0),
    errors=((0.5, -0.5),),
    error_order=2,
)


# a file format: one body and its height, as a line of text


def write_line(mechanism, path):
    (body,) = mechanism.bodies.values()
    path.write_text(f"{body.name} {body.inertia.mass!r} {float(body.position[2])!r}\n")


def read_line(path, reading):
    name, mass, height = path.read_text().split()
    m = lw.Mechanism("line")
    m.add(lw.Body(name, lw.Inertia(float(mass), (0, 0, 0), np.eye(3)), position=(0, 0, float(height))))
    return m


LINES = lw.FileFormat(suffix=".line", holds="mechanism", read=read_line, write=write_line)


def leg():
    """A shin of our own solid on a joint of our own, which drags and is held by a constraint of our own."""
    m = lw.Mechanism("leg")
    shin = m.add(lw.Body("shin", Lozenge(0.05, 0.2), density=1000, position=(0, 0, -0.2)))
    foot = m.add(lw.Body("foot", lw.Box(0.1, 0.05, 0.02), density=500, position=(0, 0, -0.4)))
    m.add(Knee("knee", m.ground, shin))
    m.add(lw.Spherical("ankle", shin, foot, at=(0, 0, -0.4)))
    m.add(Slot("slot", shin, foot, pin=(0, 0, -0.1)))
    m.add(Drag("drag", foot, 0.3))
    return m


def test_a_joint_a_load_a_constraint_and_a_solid_are_simulated_together():
    model = leg().compile()
    run = lw.simulate(model, 1.0, model.state(knee=0.8), every=0.1)
    assert run.status == "DONE"
    for k in range(11):
        shin, foot = (model.poses(run.q[k])[name] for name in ("shin", "foot"))
        R, p = np.array(shin.rotation), np.array(shin.position)
        pin = R.T @ (np.array(foot.rotation) @ (0, 0, -0.1) + np.array(foot.position) - p)
        assert abs(pin[0]) < 1e-9
    lost = run.energy[0] - run.energy[-1]
    assert lost > 1e-4  # to the drag
    assert run["drag"].force.max() > 0.0


def test_they_are_saved_and_loaded(tmp_path):
    m = leg()
    m.save(tmp_path / "leg.json")
    again = lw.load(tmp_path / "leg.json")
    assert again.bodies["shin"].parts == (Lozenge(0.05, 0.2),)
    q, v = m.compile().state(knee=0.8).q, m.compile().state(knee=0.8).v
    wanted = m.compile().forward_dynamics(q, v, np.zeros(len(v)))
    np.testing.assert_allclose(again.compile().forward_dynamics(q, v, np.zeros(len(v))), wanted, rtol=1e-12)


def test_a_solid_that_nobody_defined_is_refused(tmp_path):
    leg().save(tmp_path / "leg.json")
    text = (tmp_path / "leg.json").read_text().replace("Lozenge", "Bobbin")
    (tmp_path / "leg.json").write_text(text)
    with pytest.raises(lw.FormatError, match=r"unknown shape 'Bobbin'.*import the class of your own solid"):
        lw.load(tmp_path / "leg.json")


def test_they_are_drawn_on_pages_and_in_plots():
    m = leg()
    drawn = drawing(m.compile())
    shin = [piece for piece in drawn.pieces if piece.body == "shin"]
    assert np.ptp(shin[0].shell.corners, axis=0) == pytest.approx([0.1, 0.1, 0.4], rel=1e-2)
    assert {"knee", "slot", "drag"} <= {piece.name for piece in drawn.glyphs}
    axes = m.plot(view="xz")
    lines = [line.get_xydata() for line in axes.lines]
    assert any(np.allclose(line, [(0, -0.2), (0, -0.7)]) for line in lines if len(line) == 2)  # the slot
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("solid", [Lozenge(0.3, 0.5), Egg(0.3, 0.6)], ids=lambda s: type(s).__name__)
def test_mass_reach_and_bounds_of_a_solid_are_those_of_its_mesh(solid):
    mesh = solid.mesh(400)
    assert mesh.volume == pytest.approx(solid.volume, rel=1e-3)
    np.testing.assert_allclose(np.diag(np.asarray(mesh.gyration)), solid.gyration, rtol=2e-3)
    np.testing.assert_allclose(mesh.bounds, solid.bounds, atol=2e-3)
    assert lw.Body("b", solid, density=2.0).inertia.mass == pytest.approx(2.0 * solid.volume)


POSES = [
    lw.Frame((0.3, 0.2, 0.5), lw.rotation_euler("ZYX", (0.3, 1.1, 2.0)).rotation),
    lw.Frame((0.0, -0.4, 0.3), lw.rotation_euler("ZYX", (2.3, 0.4, 1.0)).rotation),
    lw.Frame((-0.9, 0.1, 0.8), lw.rotation_euler("ZYX", (0.9, -0.7, 0.2)).rotation),
]
OTHERS = [
    lw.Sphere(0.4),
    lw.Box(0.3, 0.4, 0.5),
    lw.Cylinder(0.2, 0.7),
    lw.Cone(0.3, 0.6),
    lw.Plane(),
    lw.Box(0.5, 0.5, 0.5).mesh(),
    lw.HeightField(np.zeros((4, 4)), (4, 4)),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda s: type(s).__name__)
def test_a_solid_by_its_support_touches_as_the_same_of_linkwork_does(other):
    for pose in POSES:
        ours, theirs = Egg(0.3, 0.6), Egg(0.3, 0.6).twin
        wanted = lw.distance(theirs, other, pose_a=pose)
        assert lw.distance(ours, other, pose_a=pose) == pytest.approx(wanted, abs=1e-12)
        found, like = lw.collide(ours, other, pose_a=pose), lw.collide(theirs, other, pose_a=pose)
        assert (len(found) > 0) == (len(like) > 0)
        if len(found):
            assert found.depth.max() == pytest.approx(like.depth.max(), abs=1e-12)


def test_two_solids_of_ones_own_touch():
    near = lw.Frame((0.5, 0.0, 0.1), lw.rotation_y(0.4).rotation)
    a, b = Egg(0.3, 0.6), Egg(0.25, 0.5)
    wanted = lw.distance(a.twin, b.twin, pose_b=near)
    assert lw.distance(a, b, pose_b=near) == pytest.approx(wanted, abs=1e-12)
    assert lw.distance(Lozenge(0.3, 0.5), Lozenge(0.3, 0.5, position=(0, 0, 1.25))) == pytest.approx(0.25)
    (depth,) = lw.collide(Lozenge(0.3, 0.5), lw.Plane(), pose_a=(0, 0, 0.4)).depth
    assert depth == pytest.approx(0.1)


def test_rays_and_points_see_a_solid_of_ones_own():
    rng = np.random.default_rng(4)
    origins = rng.normal(size=(400, 3))
    directions = 0.6 * rng.normal(size=(400, 3)) - origins
    ours, theirs = (lw.ray_cast(s, origins, directions) for s in (Egg(0.3, 0.6), Egg(0.3, 0.6).twin))
    np.testing.assert_array_equal(ours.hit, theirs.hit)
    assert 20 < ours.hit.sum() < 380
    np.testing.assert_allclose(ours.distance[ours.hit], theirs.distance[ours.hit], atol=1e-9)
    np.testing.assert_allclose(ours.normal[ours.hit], theirs.normal[ours.hit], atol=1e-6)
    points = 0.4 * rng.normal(size=(400, 3))
    np.testing.assert_array_equal(lw.contains(Egg(0.3, 0.6), points), lw.contains(Egg(0.3, 0.6).twin, points))
    assert lw.ray_cast(Lozenge(0.3, 0.5), (0, 0, 2), (0, 0, -1)).distance == pytest.approx(1.5)


def test_colliders_know_a_solid_of_ones_own():
    world = lw.Colliders()
    world.add("floor", lw.Plane())
    world.add("egg", Egg(0.3, 0.6), position=(0, 0, 0.59))
    world.add("star", Star(1.0), position=(3, 0, 0.095))
    contacts = world.contacts()
    assert {name for contact in contacts for name in contact.bodies} == {"floor", "egg", "star"}
    assert contacts.depth.max() == pytest.approx(0.01, abs=1e-9)
    assert world.height(0, 0) == pytest.approx(1.19)


def test_a_support_that_cannot_be_traced_says_so():
    @dataclass(frozen=True)
    class Fickle(Egg):
        def support(self, d):
            return (self.radius, 0, 0) if d[0] > 0 else (-self.radius, 0, 0)

    with pytest.raises(ValueError, match=r"Fickle: its support cannot be traced.*lw\.where"):
        lw.distance(Fickle(0.3, 0.6), lw.Sphere(0.1))


def test_an_integrator_of_ones_own_has_its_order():
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), density=1000, position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    model = m.compile()
    start = model.state(pin=0.5)
    exact = lw.simulate(model, 1.0, start, accuracy=1e-12).final.q[0]
    runs = [lw.simulate(model, 1.0, start, method=HEUN, step=h) for h in (0.002, 0.001)]
    errors = [abs(run.final.q[0] - exact) for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    run = lw.simulate(model, 1.0, start, method=HEUN, accuracy=1e-6)
    assert "Heun 2(1)" in run.summary()
    assert abs(run.final.q[0] - exact) < 1e-5
    assert lw.simulate(model, 1.0, start, method="heun", accuracy=1e-6).final.q[0] == run.final.q[0]


def test_a_tableau_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"method 'bad': b sums to 0\.9; it must to 1"):
        lw.Tableau(name="bad", title="", order=1, A=((),), b=(0.9,), c=(0.0,))
    with pytest.raises(ValueError, match=r"method 'bad': rows of A have \[0, 2\] numbers"):
        lw.Tableau(name="bad", title="", order=1, A=((), (1.0, 2.0)), b=(0.5, 0.5), c=(0.0, 1.0))
    heun = {"name": "bad", "title": "", "A": ((), (1.0,)), "b": (0.5, 0.5), "c": (0.0, 1.0)}
    for wrong, message in (
        ({"order": 3}, "order 3, and its numbers have order 2"),
        ({"order": 2, "c": (0.0, 0.9)}, "c .* are not the sums of the rows of A"),
        ({"order": 2, "b": (1.0,), "c": (0.0,)}, "A has 2 rows and b 1 numbers"),
        (
            {"order": 2, "errors": ((0.5, 0.5),), "error_order": 2},
            "error_order 2, and its errors= shrink with h.1",
        ),
        ({"order": 2, "name": ""}, "the name is a text"),
    ):
        with pytest.raises(ValueError, match=message):
            lw.Tableau(**{**heun, **wrong})
    other = lw.Tableau(name="euler", title="", order=2, A=((), (1.0,)), b=(0.5, 0.5), c=(0.0, 1.0))
    with pytest.raises(ValueError, match="method 'euler' is the name of another one"):
        lw.simulate(lw.examples.cart_pole(), 0.1, method=other, step=0.01)


def test_a_file_format_of_ones_own_is_read_written_and_converted(tmp_path, capsys):
    lw.add_format(LINES)
    m = lw.Mechanism("m")
    m.add(lw.Body("stone", lw.Sphere(0.1), mass=2.5, position=(0, 0, 4.0)))
    m.save(tmp_path / "stone.line")
    assert lw.load(tmp_path / "stone.line").bodies["stone"].inertia.mass == 2.5
    assert main(["convert", str(tmp_path / "stone.line"), str(tmp_path / "stone.json")]) == 0
    assert lw.load(tmp_path / "stone.json").bodies["stone"].position[2] == 4.0
    assert main(["convert", str(tmp_path / "stone.json"), str(tmp_path / "again.line")]) == 0
    assert (tmp_path / "again.line").read_text() == (tmp_path / "stone.line").read_text()
    assert main(["convert", str(tmp_path / "stone.line"), str(tmp_path / "stone.xyz")]) == 2
    said = capsys.readouterr().err
    assert "a mechanism is written as .json" in said
    assert "or .line;" in said
    with pytest.raises(ValueError, match=r"format .line: there is one of this suffix already"):
        lw.add_format(lw.FileFormat(suffix=".line", holds="mesh", read=read_line))


# a contact law


def foam(depth, rate, stiffness, hardening=40.0):
    """A pad that gets harder as it is pressed."""
    return stiffness * depth * (1 + hardening * depth) * lw.max(1 + 0.5 * rate, 0.0)


def test_a_contact_law():
    m = lw.Mechanism("seat")
    m.add(
        lw.Body("ball", lw.Sphere(0.1), mass=2.0, position=(0, 0, 0.1), material=lw.Material(stiffness=1e3))
    )
    m.ground.add(lw.Plane())
    m.add(lw.Contact("seat", law=foam))
    model = m.compile()
    q = model.q_drawn.copy()
    q[2] -= 0.01
    v = np.array((0, 0, 0, 0, 0, -1.0))
    assert 2.0 * (model.motion(q, v)[5] + 9.81) == pytest.approx(1e3 * 0.01 * 1.4 * 1.5)
    assert lw.simulate(model, 0.5).energy_error < 1e-8
