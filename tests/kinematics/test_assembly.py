"""Assembly from perturbed starts, its modes, and constraints of the catalogue in motion."""

from typing import Any

import numpy as np
import pytest
from kinematics.mechanism_makers import CONSTRAINTS, random_constrained, random_loop
from scipy.interpolate import CubicSpline
from seeds import seeds

import linkwork as lw
from linkwork.kinematics.dead_points import regularity
from linkwork.kinematics.equation_system import System
from linkwork.mechanism.joints import CATALOGUE

KINDS = [
    (space, kind)
    for space in ("plane", "space")
    for kind in CATALOGUE
    if space in kind.spaces and kind is not lw.Free and (space, kind) != ("plane", lw.Planar)
]


MADE = [*KINDS, *((space, name) for space in ("plane", "space") for name in CONSTRAINTS)]


def linkages(space, kind, seeds):
    """Return linkages at random that have a joint or a constraint of a kind: the first, none left out."""
    for seed in seeds:
        if isinstance(kind, str):
            yield seed, random_constrained(space, kind, seed)
        else:
            m = random_loop(space, kind, seed)
            m.add(lw.Driver("motor", "j0"))
            yield seed, m


def test_every_kind_of_the_catalogue_is_among_them():
    classes = {getattr(lw, name) for name in lw.__all__ if isinstance(getattr(lw, name), type)}
    constraints = {c.__name__ for c in classes if issubclass(c, lw.Constraint)} - {"Constraint", "Driver"}
    assert constraints == {name.split()[0] for name in CONSTRAINTS} - {"own"}
    free = {("plane", lw.Free), ("space", lw.Free), ("plane", lw.Planar)}  # which have no equations
    assert {*KINDS, *free} == {(space, kind) for kind in CATALOGUE for space in kind.spaces}


@seeds(5, 20)
@pytest.mark.parametrize(("space", "kind"), MADE, ids=lambda x: getattr(x, "__name__", x))
def test_linkages_keep_to_their_branch(space, kind, seeds):
    """From perturbed starts they come back to it, and driven there and back they end where they began.

    The nearer another branch is, the less they are perturbed: by a fifth of the least singular value. The end
    of what a driver can reach is as far as its square.
    """
    for seed, m in linkages(space, kind, seeds):
        system = System(m)
        system.place(system.drawn())
        drawn = system.assemble(system.drawn(), with_drivers=True)
        regular = abs(regularity(system, drawn))
        assert regular > 1e-5
        moved = system.shaken(drawn, np.random.default_rng(seed), min(0.2 * regular, 0.05))
        assert np.abs(system.assemble(moved, with_drivers=True) - drawn).max() < 1e-9, seed
        if m.drivers:
            system.place(drawn)
            start, amount = np.zeros(len(m.drivers)), min(0.1 * regular**2, 0.01)
            for goal in (amount, -amount, 0.0):
                there = np.full(len(m.drivers), goal)
                assert system.advance(start, there) > 0
                assert goal == 0.0 or np.abs(system.w.q - drawn).max() > 0.5 * amount
                start = there
            assert np.abs(system.w.q - drawn).max() < 1e-9, seed


def test_a_mechanism_is_drawn_as_it_fits():
    m = lw.Mechanism("triangle", space="plane")
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b"))
    m.add(lw.Revolute("A", m.ground, a, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", m.ground, b, on_parent=(1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", a, b, on_parent=(0.8, 0), on_child=(0.7, 0)))
    modes = lw.assembly_modes(m)
    assert len(modes) == 2
    up = np.arccos((1 + 0.64 - 0.49) / 1.6)
    assert sorted(float(mode["a"].angle) for mode in modes) == pytest.approx([-up, up], abs=1e-12)
    for sign in (1, -1):
        posture = m.assemble(branch={"a": 0.1 * sign})
        assert float(posture["a"].angle) == pytest.approx(sign * up, abs=1e-12)
        assert np.abs(m["C"].phi()).max() < 1e-14
    with pytest.raises(ValueError, match="has 2 modes of assembly; branch 2 is none"):
        m.assemble(branch=2)


def test_what_cannot_meet_is_told_with_its_gap():
    m = lw.Mechanism("apart", space="plane")
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b"))
    m.add(lw.Revolute("A", m.ground, a, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", m.ground, b, on_parent=(1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", a, b, on_parent=(0.4968, 0), on_child=(0.5, 0)))
    with pytest.raises(
        lw.AssemblyError, match=r"'apart' cannot assemble: closest gap 3\.2 mm at joint 'C'; look for"
    ):
        m.assemble()


def test_three_pairs_of_bars_have_eight_modes():
    """In Jansen's leg, its crank held, three points are each where two circles meet."""
    m = lw.examples.jansen_leg()
    m.add(lw.Driver("motor", "crank shaft", 0.3))
    modes = lw.assembly_modes(m)
    assert len(modes) == 8
    feet = np.array([np.asarray(mode["foot"].position, float) for mode in modes])
    assert np.linalg.norm(feet[:, None] - feet, axis=-1)[np.triu_indices(8, 1)].min() > 1e-3


def test_a_plate_on_three_rods_has_six_modes():
    """The most that such a platform can have."""
    m = lw.Mechanism("platform", space="plane")
    plate = m.add(lw.Body("plate"))
    rods = (((0, 0), (0, 0), 14.98), ((15.91, 0), (17.04, 0), 15.38), ((0, 10), (12.67, 13.6), 12.0))
    for k, (base, point, length) in enumerate(rods):
        m.add(lw.Distance(f"rod {k}", m.ground, plate, length, on_parent=base, on_child=point))
    modes = lw.assembly_modes(m)
    assert len(modes) == 6
    for mode in modes:
        gaps = [np.linalg.norm(np.array(mode["plate"] @ p, float) - b) - length for b, p, length in rods]
        assert np.abs(gaps).max() < 1e-11


def test_legs_that_are_bodies_are_assembled_from_random_joints():
    m = lw.examples.stewart_platform()
    for name in [name for name in m.joints if name.startswith("leg")]:
        m.add(lw.Driver(f"drive {name}", name))
    assert len(lw.assembly_modes(m, starts=60)) > 3


def test_a_mechanism_that_can_move_has_no_modes():
    with pytest.raises(lw.AssemblyError, match="can still move"):
        lw.assembly_modes(lw.examples.four_bar())


# P. Dietmaier, The Stewart-Gough platform of general geometry can have 40 real postures, 1998
BASE = (
    (0, 0, 0),
    (1.107915, 0, 0),
    (0.549094, 0.756063, 0),
    (0.735077, -0.223935, 0.525991),
    (0.514188, -0.526063, -0.368418),
    (0.590473, 0.094733, -0.205018),
)
PLATFORM = (
    (0, 0, 0),
    (0.542805, 0, 0),
    (0.956919, -0.528915, 0),
    (0.665885, -0.353482, 1.402538),
    (0.478359, 1.158742, 0.107672),
    (-0.137087, -0.235121, 0.353913),
)
LEGS = (1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071)


def test_all_forty_postures_of_a_stewart_platform_are_found():
    m = lw.Mechanism("Dietmaier")
    platform = m.add(lw.Body("platform", position=(0.3, 0.4, 0.8)))
    for k, (base, point, length) in enumerate(zip(BASE, PLATFORM, LEGS, strict=True)):
        m.add(lw.Distance(f"leg {k}", m.ground, platform, length, on_parent=base, on_child=point))
    modes = lw.assembly_modes(m)
    assert len(modes) == 40
    for mode in modes:
        X = mode["platform"]
        lengths = [np.linalg.norm(np.array(X @ p, float) - b) for p, b in zip(PLATFORM, BASE, strict=True)]
        assert np.abs(np.subtract(lengths, LEGS)).max() < 1e-12


# the catalogue in motion


def driven_hinge(space="plane", law=None):
    m = lw.Mechanism("m", space=space)
    a = m.add(lw.Body("a"))
    m.add(lw.Revolute("A", m.ground, a))
    m.add(lw.Driver("motor", "A", law or (lambda t: t)))
    return m, a


@pytest.mark.parametrize("space", ["plane", "space"])
@pytest.mark.parametrize(("kind", "factor"), [("external", -1.5), ("internal", 1.5)])
def test_gears_count_turns(space, kind, factor):
    m, _ = driven_hinge(space)
    b = m.add(lw.Body("b"))
    m.add(lw.Revolute("B", m.ground, b, at=(1, 0, 0)))
    m.add(lw.Gear("gear", "A", "B", teeth=(30, 20), kind=kind))
    motion = lw.kinematics(m, np.linspace(0, 20, 101))
    assert motion["B"].position == pytest.approx(factor * motion.time, abs=1e-10)
    assert motion["B"].velocity == pytest.approx(np.full(101, factor), abs=1e-12)


def test_rack_and_pinion_and_a_coupling():
    m, _ = driven_hinge()
    b, c = m.add(lw.Body("b")), m.add(lw.Body("c"))
    m.add(lw.Prismatic("S", m.ground, b, axis=(1, 0)))
    m.add(lw.Prismatic("T", m.ground, c, axis=(0, 1)))
    m.add(lw.RackPinion("rack", "A", "S", 0.2))
    m.add(lw.Coupling("mimic", "T", "S", -2.0, 0.1))
    motion = lw.kinematics(m, np.linspace(0, 10, 41))
    assert motion["S"].position == pytest.approx(0.2 * motion.time, abs=1e-12)
    assert motion["T"].position == pytest.approx(0.1 - 0.4 * motion.time, abs=1e-12)


@pytest.mark.parametrize("sort", ["edge", "roller", "flat"])
def test_followers_of_an_eccentric_disc(sort):
    """A disc of radius 0.5, 0.2 off its shaft; the follower slides along y above the shaft."""
    m, cam = driven_hinge()
    follower = m.add(lw.Body("follower", position=(0, 0.9)))
    m.add(lw.Prismatic("S", m.ground, follower, axis=(0, 1)))

    def outline(s):
        return [0.2 + 0.5 * lw.cos(s), 0.5 * lw.sin(s)]

    options = {"edge": {}, "roller": {"radius": 0.1}, "flat": {"face": (0, -1)}}[sort]
    m.add(lw.Cam("cam", cam, follower, outline, **options))
    motion = lw.kinematics(m, np.linspace(0, 13, 200))
    t, reach = motion.time, {"edge": 0.5, "roller": 0.6, "flat": 0.5}[sort]
    sideways = 0.0 if sort == "flat" else 0.2 * np.cos(t)
    lift = 0.2 * np.sin(t) + np.sqrt(reach**2 - sideways**2)
    assert motion["follower"].position[:, 1] == pytest.approx(lift, abs=1e-12)


def test_a_bead_on_a_wire():
    m = lw.Mechanism("bead")
    bead = m.add(lw.Body("bead", position=(1, 0, 0)))
    m.add(lw.Planar("upright", m.ground, m.add(lw.Body("plate"))))
    m.add(lw.Absolute("plate fixed", m["plate"]))
    m.add(lw.PointOnCurve("wire", m.ground, bead, lambda s: [lw.cos(s), lw.sin(s), 0.1 * s], interval=(0, 6)))
    with pytest.raises(lw.AssemblyError, match="too few drivers: 3 motions are free"):
        m.add(lw.Driver("lift", (bead, "z"), lambda t: 0.1 * t)) and lw.kinematics(m, [0.0])


def test_a_rope_over_pulleys():
    plain = lw.Mechanism("rope", space="plane")
    a, b = (plain.add(lw.Body(name, position=(x, -1))) for name, x in (("a", 0), ("b", 2)))
    for name, body, x in (("A", a, 0), ("B", b, 2)):
        plain.add(lw.PointOnLine(f"guide {name}", plain.ground, body, on_parent=(x, 0), axis=(0, 1)))
        plain.add(lw.Absolute(f"upright {name}", body, angle=0.0))
    plain.add(lw.Pulley("rope", a, b, over=[(0, 0), (2, 0)], ratio=2.0))
    plain.add(lw.Driver("winch", (a, "y"), lambda t: -1 - 0.5 * t))
    motion = lw.kinematics(plain, [0.0, 0.5, 1.0])
    assert motion["b"].position[:, 1] == pytest.approx([-1.0, -0.875, -0.75], abs=1e-13)


def test_a_law_may_be_a_spline():
    spline = CubicSpline([0, 1, 2], [0, 1, 0.5])
    m, _ = driven_hinge(law=spline)
    motion = lw.kinematics(m, [0.3, 1.7])
    assert motion["a"].angle == pytest.approx(spline([0.3, 1.7]))
    assert motion["A"].acceleration == pytest.approx(spline([0.3, 1.7], 2))


def test_a_law_that_cannot_be_traced_is_called():
    m, _ = driven_hinge(law=lambda t: 0.3 * t if t > -9 else 0.0)
    assert lw.kinematics(m, [0.0, 1.0])["a"].angle == pytest.approx([0.0, 0.3])


def test_a_constraint_of_ones_own_moves():
    class PinInSlot(lw.Constraint):
        pin: Any

        def phi(self, a, b):
            return [b.to_local(a.to_world(self.pin))[1]]

    m, a = driven_hinge()
    lever = m.add(lw.Body("lever", position=(-0.3, 0)))
    m.add(lw.Revolute("B", m.ground, lever))
    m.add(PinInSlot("slot", a, lever, pin=(0.1, 0)))
    motion = lw.kinematics(m, np.linspace(0, 7, 71))
    wanted = np.arctan2(0.1 * np.sin(motion.time), 0.3 + 0.1 * np.cos(motion.time))
    assert motion["lever"].angle == pytest.approx(wanted, abs=1e-13)


def test_a_joint_of_ones_own_moves_by_its_motion_alone():
    class Knee(lw.Joint):
        coordinates = 1

        def motion(self, q):
            return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])

    m = lw.Mechanism("leg")
    shin = m.add(lw.Body("shin"))
    m.add(Knee("knee", m.ground, shin))
    m.add(lw.Driver("muscle", "knee", lambda t: 4 * t))
    motion = lw.kinematics(m, np.linspace(0, 2, 21))
    q = 4 * motion.time
    assert motion["knee"].position == pytest.approx(q, abs=1e-12)
    assert motion["knee"].velocity == pytest.approx(np.full(21, 4.0), abs=1e-12)
    assert motion["shin"].position[:, 2] == pytest.approx(-0.02 * (1 - np.cos(q)), abs=1e-13)
    assert motion["shin"].velocity[:, 2] == pytest.approx(-0.08 * np.sin(q), abs=1e-12)
    assert motion["shin"].acceleration[:, 2] == pytest.approx(-0.32 * np.cos(q), abs=1e-11)
    positions = lw.Positions(m)
    assert positions([1.0])[2] == pytest.approx(-0.02 * (1 - np.cos(1.0)), abs=1e-13)
