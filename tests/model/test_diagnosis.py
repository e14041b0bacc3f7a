"""What a model tells of its freedoms: against equations of all bodies and joints, and known mechanisms."""

import re
from dataclasses import dataclass
from math import pi
from pathlib import Path

import numpy as np
import pytest
from mechanisms import SPACES
from naive import cross, in_space, turn_in_space
from naive_joints import joint_motion
from naive_loops import Drawn, random_closed, random_plane
from seeds import seeds
from test_gallery import GALLERY

import linkwork as lw
from linkwork.model.dimensionless import split_equations
from linkwork.model.idle_forces import component_names


@dataclass
class Absolute:
    """The equations of all joints on the velocities of all bodies, and the forces that they stand for.

    Nothing is cut: what they say does not depend on a spanning tree.
    """

    model: lw.Model
    q: np.ndarray

    def __post_init__(self):
        mechanism, model = self.model.mechanism, self.model
        planar = mechanism.space == "plane"
        rows = [2, 3, 4] if planar else list(range(6))
        poses = model.poses(self.q)
        coordinates = {name: self.q[part] for name, (part, _) in model.slices.items()}
        coordinates |= {name: at for name, (at, _) in model.loop_coordinates(self.q).items()}
        column = {name: 6 * k for k, name in enumerate(model.body_names)}
        size = len(rows) * len(column)
        self.blocks, self.forces = {}, {}
        for name, joint in mechanism.joints.items():
            sides = []
            for body, X in zip((joint.parent, joint.child), joint.frames(), strict=True):
                R = turn_in_space(poses[body.name].rotation)
                sides.append(
                    (body.name, R, in_space(poses[body.name].position), turn_in_space(X.rotation), X)
                )
            X = joint_motion(joint, coordinates[name], np.zeros(joint.nv))
            parent_turn = sides[0][1] @ sides[0][3]
            S = np.vstack([parent_turn @ X.W, parent_turn @ X.V])[rows]
            T = np.linalg.svd(S)[0][:, joint.nv :] if joint.nv else np.eye(len(rows))
            at = sides[1][2] + sides[1][1] @ in_space(sides[1][4].position)
            block = np.zeros((len(rows), 6 * len(column)))
            for sign, (body, _, place, _, _) in zip((-1, 1), sides, strict=True):
                if body != "ground":
                    move = np.eye(6)
                    move[3:, :3] = -cross(at - place)
                    block[:, column[body] : column[body] + 6] = sign * move[rows]
            keep = [c for k in range(len(column)) for c in (6 * k + np.array(rows))]
            self.blocks[name], self.forces[name] = T.T @ block[:, keep], T
        self.size = size

    def matrix(self, without: str | None = None) -> np.ndarray:
        return np.vstack([np.zeros((0, self.size)), *(b for n, b in self.blocks.items() if n != without)])

    def freedoms(self) -> int:
        return self.size - rank(self.matrix())

    def redundant(self, name: str) -> int:
        """Return how many equations of a joint follow from those of all others."""
        return len(self.blocks[name]) - (rank(self.matrix()) - rank(self.matrix(without=name)))

    def not_unique(self, name: str) -> np.ndarray:
        """Return which components of its reaction can be anything."""
        A = self.matrix()
        left, sizes, _ = np.linalg.svd(A)
        idle = left[:, int((sizes > 1e-7).sum()) :]
        first = sum(len(self.blocks[n]) for n in list(self.blocks)[: list(self.blocks).index(name)])
        wrench = self.forces[name] @ idle[first : first + len(self.blocks[name])]
        return np.abs(wrench).max(axis=1, initial=0.0) > 1e-7


def rank(A: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(A, tol=1e-7)) if A.size else 0


def gap_in_sizes(model: lw.Model, q: np.ndarray) -> bool:
    """Return whether it is clear which singular values are zero."""
    sizes = split_equations(model, q).sizes
    return not ((sizes > 1e-10) & (sizes < 1e-4)).any()


def drawn_mechanisms(seeds):
    for seed in seeds:
        for drawn in (*(random_closed(seed, space) for space in SPACES), *random_plane(seed)):
            yield seed, drawn


@seeds(6, 20)
def test_freedoms_and_redundant_joints_do_not_depend_on_what_was_cut(seeds):
    redundant = 0
    for seed, drawn in drawn_mechanisms(seeds):
        model = drawn.mechanism.compile()
        q = drawn.positions(model)
        if not gap_in_sizes(model, q):
            continue
        d, every = model.diagnose(q), Absolute(model, q)
        assert d.freedoms_now == every.freedoms(), seed
        assert d.redundant_now == len(every.matrix()) - rank(every.matrix())
        assert d.counted == d.velocities - d.equations
        for name in drawn.mechanism.joints:
            assert d.redundant.get(name, 0) == every.redundant(name), (seed, name)
            words = [
                word
                for word, free in zip(component_names(model), every.not_unique(name), strict=True)
                if free
            ]
            assert list(d.not_unique.get(name, ())) == words, (seed, name)
            redundant += bool(words)
    assert redundant > 2 * len(seeds)


@seeds(6, 20)
def test_random_mechanisms_keep_the_freedoms_they_have(seeds):
    for seed, drawn in drawn_mechanisms(seeds):
        model = drawn.mechanism.compile()
        q = drawn.positions(model)
        if not gap_in_sizes(model, q):
            continue
        d = model.diagnose(q)
        assert d.freedoms == d.freedoms_now, seed
        assert len(d.branches) == (d.freedoms > 0)
        assert d.infinitesimal.freedoms == 0
        assert not d.singular


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_has_the_freedoms_it_should(name):
    make, (bodies, joints, loops, freedoms) = GALLERY[name]
    d = make().compile().diagnose()
    assert (d.bodies, len(d.joints), len(d.loops)) == (bodies, joints, loops)
    assert d.freedoms == d.freedoms_now == freedoms
    assert not d.singular
    assert d.locked == ()


def test_bricard_is_diagnosed():
    d = lw.examples.bricard().compile().diagnose()
    assert (d.freedoms, d.freedoms_now, d.counted, d.rank, d.redundant_now) == (1, 1, 0, 4, 1)
    assert set(d.redundant) == {f"P{k}" for k in range(6)}
    assert set(d.redundant.values()) == {1}
    assert [abs(d.motion[f"P{k}"][0]) for k in range(6)] == pytest.approx([1.0] * 6)  # by symmetry, as drawn
    with pytest.raises(KeyError, match="unknown coordinate 'P7'"):
        d.motion["P7"]
    said = str(d)
    assert "Bricard: 1 degree of freedom" in said
    assert "the count without the rank gives 0" in said
    assert "1 equation is redundant" in said


def test_bennett_moves_though_a_count_says_less_than_nothing():
    d = lw.examples.bennett().compile().diagnose()
    assert (d.freedoms, d.counted, d.redundant_now) == (1, -2, 3)
    assert np.abs(d.motion["A"]) == pytest.approx(np.abs(d.motion["C"]))
    assert np.abs(d.motion["B"]) == pytest.approx(np.abs(d.motion["D"]))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("space", SPACES)
def test_the_size_of_a_mechanism_does_not_matter(scale, space):
    sizes = (0.1 * scale, 0.3 * scale, 0.22 * scale, 0.2 * scale)
    d = lw.examples.four_bar(*sizes, space=space).compile().diagnose()
    usual = lw.examples.four_bar(0.1, 0.3, 0.22, 0.2, space=space).compile().diagnose()
    assert d.freedoms == 1
    assert d.singular_values == pytest.approx(usual.singular_values, abs=1e-9)
    assert d.motion.rates == pytest.approx(usual.motion.rates, rel=1e-9)
    crank = lw.examples.slider_crank(0.1 * scale, 0.3 * scale).compile().diagnose()
    usual = lw.examples.slider_crank(0.1, 0.3).compile().diagnose()
    assert crank.singular_values == pytest.approx(usual.singular_values, rel=1e-9)


def small_and_large() -> lw.Mechanism:
    """Return a four-bar of millimetres and one of a hundred metres, joined by nothing but ground."""
    m = lw.Mechanism("two", space="plane")
    for name, size, place in (("small", 1e-3, 0.0), ("large", 100.0, 5.0)):
        rod = lw.Inertia(1.0, (0, 0), size**2)
        bodies = [m.add(lw.Body(f"{name} {k}", rod)) for k in range(3)]
        points = [(place, 0), (place, size), (place + 2 * size, 1.5 * size), (place + 2 * size, 0)]
        ends = [m.ground, *bodies, m.ground]
        for k, at in enumerate(points):
            m.add(lw.Revolute(f"{name} pin {k}", ends[k], ends[k + 1], at=at))
    return m


def test_parts_that_are_not_joined_are_counted_together():
    d = small_and_large().compile().diagnose()
    assert (d.freedoms, d.rank, d.redundant_now) == (2, 4, 0)
    for rates in d.motion.rates:
        moving = {name.split()[0] for name, rate in zip(d.coordinates, rates, strict=True) if rate}
        assert len(moving) == 1
    assert d.margin > 0.05  # small loops count as much as large ones


# singular positions


def flat_row(n: int, space: str) -> tuple[lw.Model, np.ndarray]:
    model = lw.examples.four_bars(n, space=space).compile()
    pins = {f"ground pin {k}": -pi / 2 for k in range(n + 1)}
    return model, model.state(pins | {f"left pin {k}": pi / 2 for k in range(1, n + 1)}).q


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_four_bars_in_a_flat_row_have_a_freedom_each_for_a_moment(n, space):
    """Crank k lies on the ground line, or goes with the next: x_k (x_k - x_(k+1)) = 0, n + 1 branches."""
    model, q = flat_row(n, space)
    d = model.diagnose(q)
    assert (d.freedoms, d.freedoms_now) == (1, n + 1)
    assert d.redundant_now - d.redundant_near == n
    assert d.bifurcation
    assert len(d.branches) == n + 1
    pins = [d.coordinates.index(f"ground pin {k}") for k in range(n + 1)]
    found = {tuple(np.round(branch.rates[0, pins] / branch.rates[0, pins[-1]], 6)) for branch in d.branches}
    assert found == {tuple(0.0 if k < still else 1.0 for k in range(n + 1)) for still in range(n + 1)}
    assert d.infinitesimal.freedoms == 0
    assert d.margin == 0.0


@pytest.mark.parametrize("space", SPACES)
def test_a_flat_parallelogram_may_go_on_as_an_antiparallelogram(space):
    a, b = 0.1, 0.3
    model = lw.examples.four_bar(a, b, a, b, space=space).compile()
    q = model.assemble(np.where([name == "B" for name in model.coordinate_names], pi / 3, -pi / 3))
    d = model.diagnose(q)
    assert (d.freedoms, d.freedoms_now) == (1, 2)
    assert d.bifurcation
    assert len(d.branches) == 2
    A, D = (d.coordinates.index(name) for name in "AD")
    ratios = sorted(branch.rates[0, D] / branch.rates[0, A] for branch in d.branches)
    assert ratios == pytest.approx([-(b + a) / (b - a), 1.0], rel=1e-4)
    assert "bifurcation" in str(d)


@pytest.mark.parametrize("space", SPACES)
def test_a_crank_as_long_as_its_rod_may_turn_without_the_piston(space):
    model = lw.examples.slider_crank(0.1, 0.1, angle=pi / 2, space=space).compile()
    d = model.diagnose()
    assert (d.freedoms, d.freedoms_now, len(d.branches)) == (1, 2, 2)
    strokes = sorted(float(branch["cylinder"][0] / branch["bearing"][0]) for branch in d.branches)
    assert strokes == pytest.approx([-0.2, 0.0], abs=1e-6)  # x = 2 r cos, or x = 0


def test_a_singular_part_beside_one_that_is_not():
    m = two_bars(0.0)
    pole = m.add(lw.Body("pole", lw.Inertia(1.0, (0, 0), 0.1)))
    m.add(lw.Revolute("swing", m.ground, pole, at=(5, 0)))
    d = m.compile().diagnose()
    assert (d.freedoms, d.freedoms_now) == (1, 2)
    assert not d.bifurcation
    assert d.branches[0].independent == ("swing",)
    assert d.infinitesimal.freedoms == 1
    assert d.infinitesimal["swing"] == pytest.approx([0.0])
    assert {*d.redundant} == {"A", "B", "C"}
    assert (d.rank, d.rank_near, d.margin) == (1, 2, 0.0)
    said = str(d)
    assert "by itself: 'swing'" in said
    assert "infinitesimal only" in said


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("angle", [1e-5, 1e-3, 0.02, 0.1])
def test_nearness_to_a_singular_position_is_told(angle, space):
    a, b = 0.1, 0.3
    model = lw.examples.four_bar(a, b, a, b, angle=angle, space=space).compile()
    v = model.velocity_map(model.q_drawn, ["A"]) @ [-2.0]
    d = model.diagnose(model.q_drawn, v)
    motion = d.motion.rates[0, : model.nv]
    way = angle * np.linalg.norm(motion / motion[0])
    assert d.singular_ahead == pytest.approx(way, rel=0.05)
    assert d.time_ahead == pytest.approx(angle / 2.0, rel=0.05)
    assert d.freedoms == d.freedoms_now == 1
    assert d.weakest == "C"
    assert "singular position" in str(d)
    assert "s at this velocity" in str(d)


def two_bars(height: float, space: str = "plane") -> lw.Mechanism:
    """Return two bars between two fixed points, in line if the height is zero."""
    m = lw.Mechanism("two bars", space=space)
    rod = lw.Inertia(1.0, (0, 0), 0.1) if space == "plane" else lw.Inertia(1.0, (0, 0, 0), np.eye(3) * 0.1)
    a, b = (m.add(lw.Body(name, rod)) for name in "ab")
    for name, one, two, at in (
        ("A", m.ground, a, (0, 0)),
        ("B", a, b, (1, height)),
        ("C", b, m.ground, (2, 0)),
    ):
        m.add(lw.Revolute(name, one, two, at=at if space == "plane" else (*at, 0)))
    return m


@pytest.mark.parametrize("space", SPACES)
def test_a_shaky_structure_gives_way_a_little_and_no_more(space):
    d = two_bars(0.0, space).compile().diagnose()
    assert (d.freedoms, d.freedoms_now) == (0, 1)
    assert d.singular
    assert not d.bifurcation
    rates = dict(zip(d.coordinates, d.infinitesimal.rates[0], strict=True))
    assert rates["B"] / rates["A"] == pytest.approx(-2.0)
    assert "infinitesimal only" in str(d)
    assert "force x" in d.not_unique["B"]


@pytest.mark.parametrize("space", SPACES)
def test_a_truss_cannot_move(space):
    d = two_bars(0.4, space).compile().diagnose()
    assert d.freedoms == d.freedoms_now == 0
    assert d.locked == d.coordinates
    assert d.redundant_now == (0 if space == "plane" else 3)
    assert d.dead_points == ()
    assert "nothing can move" in str(d)
    nearly = two_bars(0.01, space).compile().diagnose()
    assert nearly.freedoms_now == 0
    assert 0.0 < nearly.margin < 0.02


def test_a_truss_with_a_bar_too_many_is_locked():
    m = two_bars(0.4)
    strut = m.add(lw.Body("strut", lw.Inertia(1.0, (0, 0), 0.1)))
    m.add(lw.Revolute("foot", m.ground, strut, at=(1.3, 0)))
    m.add(lw.Revolute("head", m.bodies["a"], strut, at=(1, 0.4)))
    d = m.compile().diagnose()
    assert (d.freedoms_now, d.counted, d.redundant_now) == (0, -1, 1)
    assert {*d.redundant} == {"A", "B", "C", "foot", "head"}


def test_welded_bodies_have_no_freedom():
    m = lw.Mechanism("welded")
    bodies = [m.ground, *(m.add(lw.Body(name, lw.Inertia(1.0, (0, 0, 0), np.eye(3)))) for name in "ab")]
    for k, name in enumerate(("first", "second", "third")):
        m.add(lw.Fixed(name, bodies[k], bodies[(k + 1) % 3]))
    d = m.compile().diagnose()
    assert (d.freedoms, d.freedoms_now, d.counted, d.redundant_now) == (0, 0, -6, 6)
    assert d.redundant == {"first": 6, "second": 6, "third": 6}


def test_a_spherical_linkage_moves_about_its_centre():
    m = lw.Mechanism("spherical four-bar")
    rod = lw.Inertia(1.0, (0.1, 0, 0), np.eye(3) * 0.1)
    bodies = [m.ground, *(m.add(lw.Body(f"arc {k}", rod)) for k in range(3)), m.ground]
    rng = np.random.default_rng(4)
    for k, axis in enumerate(rng.normal(size=(4, 3))):
        m.add(lw.Revolute(f"hinge {k}", bodies[k], bodies[k + 1], at=(3.0, 1.0, -2.0), axis=axis.tolist()))
    d = m.compile().diagnose()
    assert (d.freedoms, d.counted, d.redundant_now) == (1, -2, 3)
    for components in d.not_unique.values():
        assert {"force x", "force y", "force z"} <= {*components}


def test_a_rod_between_two_balls_spins_idly():
    m = lw.Mechanism("rod on balls")
    rod = lw.Inertia(1.0, (0, 0, 0), np.eye(3) * 0.1)
    arm, bar = m.add(lw.Body("arm", rod)), m.add(lw.Body("bar", rod))
    m.add(lw.Revolute("hinge", m.ground, arm, axis=(0, 0, 1)))
    m.add(lw.Spherical("near", arm, bar, at=(0.3, 0, 0)))
    m.add(lw.Spherical("far", bar, m.ground, at=(1.0, 0.4, 0.2)))
    d = m.compile().diagnose()
    assert d.freedoms == d.freedoms_now == 1
    assert d.locked == ("hinge",)  # the distance of the balls allows the arm two positions
    rates = dict(zip(d.coordinates, d.motion.rates[0], strict=True))
    along = np.array([rates[f"near[{k}]"] for k in range(3)])
    assert np.linalg.norm(np.cross(along, (0.7, 0.4, 0.2))) < 1e-9


def test_trees_are_free():
    d = lw.examples.acrobat().compile().diagnose()
    assert d.freedoms == d.freedoms_now == 26
    assert not d.singular
    assert d.redundant == {}
    assert d.margin == np.inf
    assert "no loops: all velocities are free" in str(d)


# dead points and drives


def test_a_piston_at_the_end_of_its_stroke_is_at_a_dead_point():
    model = lw.examples.slider_crank().compile()
    for angle in (0.0, pi):
        d = model.diagnose(model.state(bearing=angle - pi / 3).q, driven=["cylinder"])
        assert [(p.coordinate, p.here) for p in d.dead_points] == [("cylinder", True)]
        assert d.drives.undriven == 1
        assert d.drives.quality == pytest.approx(0.0, abs=1e-9)
        assert d.drives.left.independent == ("bearing",)
        assert not d.singular
    d = model.diagnose(model.state(bearing=0.05 - pi / 3).q, driven="bearing")
    (point,) = d.dead_points
    assert not point.here
    assert (point.coordinate, point.independent) == ("cylinder", "bearing")
    assert point.ahead == pytest.approx(-0.05, rel=0.02)
    assert d.drives.undriven == 0
    assert d.drives.quality > 0.5
    assert model.diagnose().dead_points == ()


def test_a_rocker_at_its_turning_point_cannot_drive():
    """Crank and coupler in line: the rocker stands still, whichever joint was cut."""
    a, b, c, g = 0.1, 0.3, 0.22, 0.2
    reach = b - a
    angle = pi + np.arccos((reach**2 + g**2 - c**2) / (2 * reach * g))
    model = lw.examples.four_bar(a, b, c, g, angle=angle).compile()
    d = model.diagnose(driven=["D"])
    assert "D" in [point.coordinate for point in d.dead_points if point.here]
    assert d.drives.undriven == 1
    assert "at a dead point" in str(d)


def test_drives_of_a_delta_robot():
    model = lw.examples.delta_robot().compile()
    d = model.diagnose(driven=["motor 1", "motor 2"])
    assert d.drives.undriven == 1
    assert d.drives.left.independent == ("motor 3",)
    assert "leaves 1 motion free" in str(d)
    assert model.diagnose(driven=["motor 1", "motor 2", "motor 3"]).drives.undriven == 0


# how it is told


def test_an_open_position_is_closed_first_and_this_is_said():
    model = lw.examples.four_bar().compile()
    d = model.diagnose(model.q_drawn + [0.05, 0.0, 0.0])
    assert d.open_by > 1e-3
    assert np.abs(model.constraint_residual(d.q)).max() < 1e-11
    assert "closed first" in str(d)
    assert "opens the loops" in str(model.diagnose(model.q_drawn, np.ones(3)))


def test_notebooks_get_a_page_and_names_cannot_spoil_it():
    m = lw.Mechanism("<b>", space="plane")
    body = m.add(lw.Body("x", lw.Inertia(1.0, (0, 0), 1.0)))
    m.add(lw.Revolute("<script>", m.ground, body))
    m.add(lw.Revolute("again", m.ground, body, at=(1, 0)))
    page = m.compile().diagnose()._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert page.startswith("<div>")


def test_what_is_asked_wrongly_is_said():
    model = lw.examples.four_bar().compile()
    with pytest.raises(ValueError, match=r"diagnose: q has shape \(2, 3\)"):
        model.diagnose(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"diagnose: v has shape \(2,\); give 3"):
        model.diagnose(model.q_drawn, [1.0, 2.0])
    with pytest.raises(ValueError, match="driven: unknown joint 'Q'"):
        model.diagnose(driven=["Q"])
    apart = lw.Mechanism("apart", space="plane")
    body = apart.add(lw.Body("bar", lw.Inertia(1.0, (0, 0), 1.0)))
    apart.add(lw.Revolute("A", apart.ground, body, on_parent=(0, 0), on_child=(0, 0)))
    apart.add(lw.Revolute("B", body, apart.ground, on_parent=(1, 0), on_child=(3, 0)))
    with pytest.raises(lw.AssemblyError, match="cannot be assembled"):
        apart.compile().diagnose()


def test_a_drawn_mechanism_is_looked_at_where_it_was_drawn():
    drawn = random_closed(3, "space")
    assert isinstance(drawn, Drawn)
    model = drawn.mechanism.compile()
    q = drawn.positions(model)
    assert np.array_equal(model.diagnose(q).q, q)


def test_the_page_on_loops_tells_what_happens(capsys):
    page = (Path(__file__).parents[2] / "docs" / "loops.md").read_text()
    names = {"lw": lw}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, names)
    printed = capsys.readouterr().out
    shown = re.search(r"(?:^    .*\n)+", page, re.MULTILINE).group()
    assert printed.splitlines() == [line[4:] for line in shown.splitlines()]
    again = names["model"].forward_dynamics(names["q"], names["v"], names["tau"])
    assert again == pytest.approx(names["a"], rel=1e-9)
