"""The closed mechanisms of `linkwork.examples`: drawn closed, as mobile as they should be, of known sizes."""

from collections.abc import Callable
from itertools import combinations
from math import acos, atan2, pi, sin, sqrt, tan

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from linkwork import examples
from linkwork.algebra import spatial
from linkwork.geometry import Solid
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joints import Prismatic
from linkwork.mechanism.load_view import BodySide
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.mechanism_check import check
from linkwork.simulation.simulate import simulate

# what is described, and its bodies, joints, loops, freedoms
GALLERY: dict[str, tuple[Callable[[], Mechanism], tuple[int, int, int, int]]] = {
    "four-bar": (examples.four_bar, (3, 4, 1, 1)),
    "four-bar in space": (lambda: examples.four_bar(space="space"), (3, 4, 1, 1)),
    "slider-crank": (examples.slider_crank, (3, 4, 1, 1)),
    "slider-crank in space": (lambda: examples.slider_crank(offset=0.05, space="space"), (3, 4, 1, 1)),
    "three-cylinder engine": (examples.three_cylinder_engine, (7, 10, 3, 1)),
    "steam engine": (examples.steam_engine, (8, 11, 3, 1)),
    "Jansen leg": (examples.jansen_leg, (7, 10, 3, 1)),
    "Jansen leg in space": (lambda: examples.jansen_leg(1.0, space="space"), (7, 10, 3, 1)),
    "Bricard": (examples.bricard, (5, 6, 1, 1)),
    "Bennett": (examples.bennett, (3, 4, 1, 1)),
    "1 four-bar": (lambda: examples.four_bars(1), (3, 4, 1, 1)),
    "40 four-bars": (lambda: examples.four_bars(40), (81, 121, 40, 1)),
    "40 four-bars in the plane": (lambda: examples.four_bars(40, space="plane"), (81, 121, 40, 1)),
    "delta robot": (examples.delta_robot, (10, 15, 5, 3)),
    "Stewart platform": (examples.stewart_platform, (13, 18, 5, 6)),
}
# drawn with the crank at an angle: another drawing is the same machine, which therefore moves so far
TURNED: dict[str, Callable[[float], Mechanism]] = {
    "four-bar": lambda angle: examples.four_bar(angle=angle),
    "four-bar, the other way": lambda angle: examples.four_bar(angle=angle, left=False),
    "slider-crank": lambda angle: examples.slider_crank(offset=0.05, angle=angle),
    "three-cylinder engine": lambda angle: examples.three_cylinder_engine(angle=angle),
    "steam engine": lambda angle: examples.steam_engine(angle=angle),
    "Jansen leg": examples.jansen_leg,
    "Bennett": lambda angle: examples.bennett(angle=angle),
}
closed = pytest.mark.parametrize("name", GALLERY)


@closed
def test_every_joint_is_closed_as_drawn(name):
    mechanism = GALLERY[name][0]()
    for joint in mechanism.joints.values():
        on_parent, on_child = joint.frames()
        X = (pose(joint.parent, mechanism) @ on_parent).local(pose(joint.child, mechanism) @ on_child)
        expected = joint.motion(joint.drawn())
        np.testing.assert_allclose(X.scalars(), expected.scalars(), rtol=0, atol=1e-9, err_msg=joint.name)
        np.testing.assert_allclose(joint.locate(X), joint.drawn(), rtol=0, atol=1e-9, err_msg=joint.name)


@closed
def test_the_description_has_no_mistakes(name, recwarn):
    mechanism = GALLERY[name][0]()
    check(mechanism)
    assert not recwarn.list
    assert all(body.inertia.mass > 0.0 for body in mechanism.bodies.values())
    for body in mechanism.bodies.values():  # has something to be drawn with
        assert body.visuals or all(isinstance(part, Solid) for part in body.parts), body.name
    assert repr(mechanism.copy()) == repr(mechanism)


@closed
def test_it_has_so_many_bodies_joints_loops_and_freedoms(name):
    build, expected = GALLERY[name]
    m = build()
    assert (len(m.bodies), len(m.joints), len(m.joints) - len(m.bodies), freedoms(m)) == expected


@pytest.mark.parametrize("name", TURNED)
def test_drawn_at_another_angle_it_is_the_same_machine(name):
    first = shape(TURNED[name](0.4))
    for angle in (-3.0, -1.0, 1.1, 2.0, 3.1):
        other = shape(TURNED[name](angle))
        assert other.keys() == first.keys()
        for place, measures in first.items():
            np.testing.assert_allclose(other[place], measures, rtol=0, atol=1e-12, err_msg=str(place))


def test_the_links_of_a_four_bar_are_as_long_as_said():
    m = examples.four_bar(0.1, 0.3, 0.22, 0.2)
    A, B, C, D = (np.array(m.joints[name].at) for name in "ABCD")
    lengths = [np.linalg.norm(step) for step in (B - A, C - B, D - C, A - D)]
    np.testing.assert_allclose(lengths, [0.1, 0.3, 0.22, 0.2], rtol=1e-14)
    tip = m.bodies["crank"].rotation @ (0.1, 0.0) + m.bodies["crank"].position
    np.testing.assert_allclose(tip, B[:2], rtol=1e-14)


def test_the_four_bar_of_four_metres_hangs_at_75_52_degrees():
    """validation/README.md: links of 4 m and 20 kg, ground 2 m, rest at atan(sqrt 15) from the horizontal."""

    def height(angle: float) -> float:
        return potential_height(examples.four_bar(4, 4, 4, 2, angle=angle, left=False, mass=20.0))

    # the crank hangs down and leans outwards, away from the rocker
    low = minimize_scalar(height, bounds=(-2.4, -1.4), method="bounded", options={"xatol": 1e-10}).x
    assert pi + low == pytest.approx(atan2(sqrt(15), 1), abs=1e-6)


def test_links_that_cannot_meet_are_refused():
    with pytest.raises(ValueError, match=r"links of 0.1 m and 0.05 m cannot meet across 0.173"):
        examples.four_bar(coupler=0.1, rocker=0.05)
    with pytest.raises(ValueError, match=r"a rod of 0.05 m does not reach"):
        examples.slider_crank(rod=0.05)
    with pytest.raises(ValueError, match="two different twists"):
        examples.bennett(alpha=1.0, beta=1.0)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_n_four_bars_have_the_inertia_of_the_benchmark(n):
    """IFToMM A02: I th'' = c sin th with I = (n + 1) / 3 + n and c = ((n + 1) / 2 + n) g."""
    m = examples.four_bars(n)
    about_pins, couplers, moment = 0.0, 0.0, 0.0
    for name, body in m.bodies.items():
        mass, com = body.inertia.mass, body.inertia.com
        assert (mass, list(com)) == (1.0, [0.5, 0.0, 0.0])
        if name.startswith("crank"):
            about_pins += body.inertia.tensor[2, 2] + mass * com[0] ** 2
            moment += mass * com[0]
        else:
            couplers += mass  # which only moves along with the cranks' ends
            moment += mass
    assert about_pins + couplers == pytest.approx((n + 1) / 3 + n, rel=1e-14)
    assert moment == pytest.approx((n + 1) / 2 + n, rel=1e-14)
    np.testing.assert_allclose(m.gravity, (0, -9.81, 0))
    np.testing.assert_allclose([m.joints[f"ground pin {k}"].at for k in (0, n)], [(0, 0, 0), (n, 0, 0)])
    crank = m.bodies["crank 0"]
    np.testing.assert_allclose(crank.rotation @ (1, 0, 0) + crank.position, (0, 1, 0), atol=1e-15)


# MBDyn, tests/mechanisms/theojansen/main_assy_{up,down}.ref, as in validation/kinematics/jansen_mbdyn.json:
# crank centre at (0, 0), the fixed pivot on x at -sqrt(a^2 + l^2), the crank's pin at (0, 15) and (0, -15).
MBDYN = {
    pi / 2: {
        "back": (-78.880318341652327, -0.97885715569134935),
        "top": (-42.503343798562575, 41.333738168767304),
        "heel": (-67.773879688160434, -38.781066356162967),
        "toe": (-23.003592298551194, -86.865485527572289),
        "ankle": (-31.074706088454597, -38.534779737252705),
    },
    -pi / 2: {
        "back": (-69.110362548148387, 26.245439579981319),
        "top": (-13.730239356693771, 33.077859012313525),
        "heel": (-86.324982186682846, -9.1948887297364656),
        "toe": (-85.550520149076192, -74.890323948268247),
        "ankle": (-59.007027445073035, -33.702425299848080),
    },
}


@pytest.mark.parametrize("angle", MBDYN)
def test_the_jansen_leg_is_assembled_as_by_mbdyn(angle):
    turn = atan2(7.8, 38.0)  # from MBDyn's axes, with the pivot on x, to ours
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    m = examples.jansen_leg(angle + turn, scale=1.0)
    np.testing.assert_allclose(m.joints["hip"].at, (-38.0, -7.8, 0.0))
    for name, point in MBDYN[angle].items():
        place = m.bodies["foot"].position if name == "toe" else np.array(m.joints[name].at)[:2]
        np.testing.assert_allclose(place, R @ point, rtol=0, atol=1e-12, err_msg=name)


def test_the_jansen_foot_reaches_as_far_as_it_should():
    """validation/README.md: the box of the toe, at 3600 angles of the crank, a tenth of a degree apart."""
    toes: dict[int, np.ndarray] = {}

    def toe(step: int) -> np.ndarray:
        if step not in toes:
            toes[step] = examples.jansen_leg(2 * pi * step / 3600, scale=1.0).bodies["foot"].position
        return toes[step]

    def extreme(axis: int, sign: float) -> float:
        best = min(range(0, 3600, 20), key=lambda step: sign * toe(step)[axis])
        return toe(min(range(best - 20, best + 21), key=lambda step: sign * toe(step)[axis]))[axis]

    reached = [extreme(axis, sign) for axis in (0, 1) for sign in (1.0, -1.0)]
    box = [-71.52154413, -3.61314233, -91.83388644, -69.37672521]
    np.testing.assert_allclose(reached, box, rtol=0, atol=1e-8)


def test_bricard_has_the_points_and_axes_of_the_benchmark():
    """IFToMM A04, as validation/README.md gives it."""
    m = examples.bricard()
    points = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    np.testing.assert_array_equal([joint.at for joint in m.joints.values()], points)
    axes = ["xyz"[np.argmax(joint.axis)] for joint in m.joints.values()]
    assert "".join(axes) == "yzxyzx"
    for body in m.bodies.values():  # a rod of 1 kg and 1 m, 0.1 m square
        along, across = 0.01 / 6, (1 + 0.01) / 12
        assert body.inertia.mass == pytest.approx(1.0)
        np.testing.assert_allclose(body.inertia.principal()[0], [along, across, across], rtol=1e-12)


def test_bennett_has_the_ratio_and_the_angles_of_its_inventor():
    a, alpha, beta = 0.3, 0.7, 1.2
    for angle in (0.3, 1.5, -2.0):
        m = examples.bennett(a, alpha, beta, angle=angle)
        ends = {name: (np.array(joint.at), np.array(joint.axis)) for name, joint in m.joints.items()}
        b = a * sin(beta) / sin(alpha)
        for pair, length, twist in (("AB", a, alpha), ("BC", b, beta), ("CD", a, alpha), ("DA", b, beta)):
            (p, z), (r, w) = ends[pair[0]], ends[pair[1]]
            assert np.linalg.norm(r - p) == pytest.approx(length, abs=1e-12)
            assert acos(z @ w) == pytest.approx(twist, abs=1e-12)
            np.testing.assert_allclose([(r - p) @ z, (r - p) @ w], 0.0, atol=1e-12)
        A, B, C, D = (ends[name] for name in "ABCD")
        first, second = (turn(D[0], A, B[0]), turn(A[0], B, C[0]))
        expected = sin((beta + alpha) / 2) / sin((beta - alpha) / 2)
        assert tan(first / 2) * tan(second / 2) == pytest.approx(expected, rel=1e-12)


def test_the_three_cylinder_engine_is_that_of_the_benchmark():
    m = examples.three_cylinder_engine()
    pins = np.array([m.joints[f"crank pin {k}"].at for k in (1, 2, 3)])
    wrists = np.array([m.joints[f"wrist pin {k}"].at for k in (1, 2, 3)])
    np.testing.assert_allclose(np.hypot(pins[:, 0], pins[:, 2]), 0.1)
    np.testing.assert_allclose(np.linalg.norm(wrists - pins, axis=1), 0.3)
    np.testing.assert_allclose(np.diff(np.unwrap(np.arctan2(pins[:, 0], pins[:, 2]))), 2 * pi / 3)
    np.testing.assert_allclose(wrists[:, 0], 0.0)
    np.testing.assert_allclose(m.bodies["crankshaft"].inertia.com[[0, 2]], 0.0, atol=1e-15)  # balanced
    # 15 equations of rank 6: a tree of hinges has as many freedoms as bodies, all but one are taken
    assert equations(m) == 15
    assert len(m.bodies) - freedoms(m) == 6


def test_the_steam_engine_has_15_equations():
    m = examples.steam_engine()
    assert equations(m) == 15
    names = ["base", "flywheel", "connecting rod", "piston rod", "rocker arm", "valve cylinder"]
    assert set(names) < set(m.bodies)


def test_steam_pushes_the_piston_forward_all_the_way_round():
    """The force has the sign of the piston's motion, and a turn's work is the drag's at nearly 300 rpm."""
    angles = np.linspace(0.0, 2 * pi, 181)
    drawings = [examples.steam_engine(angle=angle) for angle in angles]
    x = np.array([m.bodies["piston rod"].position[0] for m in drawings])
    force = np.array([steam_force(m) for m in drawings])
    middle = (force[1:] + force[:-1]) / 2
    assert x.max() - x.min() == pytest.approx(0.08)
    assert np.all(middle * np.diff(x) > 0.0)
    work = middle @ np.diff(x)
    drag = examples.steam_engine().joints["bearing"].damping
    speed = work / (2 * pi * drag)
    assert 280 < speed * 60 / (2 * pi) < 300
    assert np.abs(force).max() == pytest.approx(60.0, rel=1e-3)


def test_the_valve_follows_the_steam():
    """What the load reads from the flywheel is what the linkage does to the valve."""
    angles = np.linspace(0.0, 2 * pi, 73)
    drawings = [examples.steam_engine(angle=angle) for angle in angles]
    valve = [
        np.linalg.norm(m.bodies["valve rod"].position - m.bodies["valve cylinder"].position) for m in drawings
    ]
    opening = np.arctanh([steam_force(m) / 60.0 for m in drawings])
    assert np.corrcoef(valve, opening)[0, 1] > 0.99


def test_steam_is_native_and_leaves_the_rest_alone():
    """Cut to a tree, the engine compiles, and the steam accelerates the piston as it should."""
    m = examples.steam_engine(angle=1.0)
    for joint in ("wrist pin", "rocker pin", "valve slide"):
        m.remove(joint)
    with_steam = m.compile()
    m.remove("steam")
    without = m.compile()
    q, v = with_steam.state().q, np.zeros(with_steam.nv)
    expected = np.zeros(with_steam.nv)
    mass = m.bodies["piston rod"].inertia.mass
    expected[with_steam.slices["cylinder"][1]] = 60.0 * np.tanh(-sin(1.0) / 0.2) / mass
    difference = with_steam.motion(q, v) - without.motion(q, v)
    np.testing.assert_allclose(difference, expected, rtol=1e-9, atol=1e-9)


def test_a_delta_robot_keeps_its_platform_level():
    """Its three freedoms are translations: no motion of the closed robot turns the platform."""
    m = examples.delta_robot()
    motions = free_motions(m)
    row = 6 * list(m.bodies).index("platform")
    np.testing.assert_allclose(motions[row : row + 3], 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(motions[row + 3 : row + 6], tol=1e-9) == 3


# The textbook way to all that is asked above.


def pose(body: Body, mechanism: Mechanism):
    Frame = ALGEBRA[mechanism.space].Frame
    return Frame(position=body.position.tolist(), rotation=body.rotation.tolist())


def subspace(joint: Joint) -> list:
    """Return the motions that the joint allows as drawn, in its frame."""
    said = joint.subspace(joint.drawn())
    if said is not None:
        return said
    algebra, step = joint.algebra, 1e-6
    if joint.nv == 0:
        return []
    (X, back) = joint.motion([step]), joint.motion([-step])
    rates = np.subtract(X.scalars(), back.scalars()) / (2 * step)
    n = algebra.dimension
    rows = rates.reshape(n, n + 1)
    angular = [rows[2, 1], rows[0, 2], rows[1, 0]] if n == 3 else [rows[1, 0]]
    return [algebra.Motion.from_scalars([*angular, *rows[:, n]])]


def free_motions(mechanism: Mechanism) -> np.ndarray:
    """Return the motions of all bodies, in world axes, that no joint resists: one per column."""
    algebra = ALGEBRA[mechanism.space]
    bodies = list(mechanism.bodies.values())
    size = algebra.freedoms
    unknowns = size * len(bodies) + sum(joint.nv for joint in mechanism.joints.values())
    rows, column = [], size * len(bodies)
    for joint in mechanism.joints.values():
        block = np.zeros((size, unknowns))
        for body, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            if body is not mechanism.ground:
                at = size * bodies.index(body)
                block[:, at : at + size] += sign * np.eye(size)
        X = pose(joint.child, mechanism) @ joint.frames()[1]
        for motion in subspace(joint):
            block[:, column] = -np.array((X @ motion).scalars(), float)
            column += 1
        rows.append(block)
    _, singular, Vt = np.linalg.svd(np.vstack(rows))
    rank = int(np.sum(singular > 1e-8 * singular[0]))
    return Vt[rank:].T


def freedoms(mechanism: Mechanism) -> int:
    return free_motions(mechanism).shape[1]


def equations(mechanism: Mechanism) -> int:
    """Return those of the joints that close loops, all hinges and slides."""
    assert all(joint.nv == 1 for joint in mechanism.joints.values() if joint.name != "bolts")
    return 5 * (len(mechanism.joints) - len(mechanism.bodies))


def shape(mechanism: Mechanism) -> dict[tuple[str, str, str], list[float]]:
    """Return what does not change as the bodies move: distances and angles between the joints of each."""
    lines: dict[str, list[tuple[Joint, np.ndarray, np.ndarray]]] = {}
    for joint in mechanism.joints.values():
        for body, X in zip((joint.parent, joint.child), joint.frames(), strict=True):
            axis = X.rotation[:, -1 if mechanism.space == "space" else 0]  # of a slide; of a hinge in space
            lines.setdefault(body.name, []).append((joint, X.position, axis))
    found = {}
    for body, joints in lines.items():
        for (first, p, z), (second, r, w) in combinations(joints, 2):
            step, measures = r - p, []
            slides = [axis for joint, axis in ((first, z), (second, w)) if isinstance(joint, Prismatic)]
            if len(slides) < 2:
                measures.append(np.linalg.norm(step - sum((step @ axis) * axis for axis in slides)))
            if mechanism.space == "space":
                measures.append(z @ w)
            found[body, first.name, second.name] = measures
    return found


def potential_height(mechanism: Mechanism) -> float:
    return sum(
        body.inertia.mass * (body.position + body.rotation @ body.inertia.com)[1]
        for body in mechanism.bodies.values()
    )


def turn(before: np.ndarray, hinge: tuple[np.ndarray, np.ndarray], after: np.ndarray) -> float:
    """Return the angle about a hinge from the way to it to the way from it."""
    point, axis = hinge
    x, y = point - before, after - point
    return atan2(np.cross(x, y) @ axis, x @ y)


def steam_force(mechanism: Mechanism) -> float:
    load = mechanism.loads["steam"]
    sides = [BodySide(spatial, pose(body, mechanism), spatial.Motion((0,) * 3, (0,) * 3)) for body in load.on]
    force = load.act(0.0, *sides)
    np.testing.assert_allclose(sides[2].wrench.force, (force, 0, 0))
    np.testing.assert_allclose(sides[0].wrench.force, (-force, 0, 0))
    return force


def test_the_platforms_do_their_tasks():
    """They are where their tasks want them to a few millimetres, by which their springs give."""
    flown = simulate(examples.flight_simulator(), 6.0, times=[0.8, 1.8, 2.8, 6.0])["platform"]
    wanted = [[0.0, 0.0, 1.22], [0.1, -0.15, 1.17], [0.1, 0.15, 1.17], [0.0, 0.0, 1.02]]
    np.testing.assert_allclose(flown.position, wanted, rtol=0, atol=0.03)
    assert abs(spatial.Frame((0, 0, 0), flown.rotation[1].tolist()).euler("xyz")[0] - 0.3) < 0.05
    run = simulate(examples.picker(), 6.0, times=[0.0, 1.2, 2.4, 3.0, 6.0])
    moved = run["platform"].position[1:] - run["platform"].position[0]
    wanted = [[-0.2, 0.1, -0.12], [0.2, -0.1, 0.02], [0.2, -0.1, -0.12], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(moved, wanted, rtol=0, atol=0.02)
    np.testing.assert_allclose(run["platform"].rotation, np.broadcast_to(np.eye(3), (5, 3, 3)), atol=1e-6)
