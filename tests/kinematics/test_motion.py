"""Motions of driven mechanisms against closed forms, and against the recursive dynamics."""

import mpmath
import numpy as np
import pytest

import linkwork as lw
from linkwork.examples.building_blocks import meeting
from linkwork.examples.linkages import JANSEN
from linkwork.kinematics.sparse_rank import Elimination


def usage_four_bar():
    m = lw.Mechanism("four-bar", space="plane")
    crank, rod, rocker = (m.add(lw.Body(name)) for name in ("crank", "rod", "rocker"))
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, rod, on_parent=(0.1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", rod, rocker, on_parent=(0.3, 0), on_child=(0.22, 0)))
    m.add(lw.Revolute("D", m.ground, rocker, on_parent=(0.2, 0), on_child=(0, 0)))
    return m


def rocker_angle(theta, sign):
    """Return the angle of the rocker of that four-bar, in closed form."""
    x, y = mpmath.cos(theta) / 10 - mpmath.mpf(2) / 10, mpmath.sin(theta) / 10
    rod, rocker, span = mpmath.mpf(3) / 10, mpmath.mpf(22) / 100, mpmath.sqrt(x * x + y * y)
    corner = mpmath.acos((span**2 + rocker**2 - rod**2) / (2 * span * rocker))
    return mpmath.atan2(y, x) + sign * corner


def test_a_four_bar_turns_all_round_as_in_closed_form():
    m = usage_four_bar()
    m.add(lw.Driver("motor", "A", lambda t: 2 * np.pi * t + 0.3 * lw.sin(t)))
    times = np.linspace(0, 2, 181)
    motion = lw.kinematics(m, times)
    theta = 2 * np.pi * times + 0.3 * np.sin(times)
    assert np.abs(motion["A"].position - theta).max() < 1e-13
    candidates = [np.array([float(rocker_angle(x, sign)) for x in theta]) for sign in (1, -1)]
    errors = [np.abs(np.exp(1j * motion["rocker"].angle) - np.exp(1j * c)).max() for c in candidates]
    assert min(errors) < 1e-13
    sign = (1, -1)[int(np.argmin(errors))]

    def exact(t):
        return rocker_angle(2 * mpmath.pi * t + mpmath.mpf(0.3) * mpmath.sin(t), sign)

    with mpmath.workdps(40):
        for k in (1, 40, 100, 177):
            first, second = (float(mpmath.diff(exact, mpmath.mpf(float(times[k])), n)) for n in (1, 2))
            assert motion["rocker"].angular_velocity[k] == pytest.approx(first, rel=1e-11, abs=1e-11)
            assert motion["rocker"].angular_acceleration[k] == pytest.approx(second, rel=1e-10, abs=1e-10)
            assert motion["D"].velocity[k] == pytest.approx(first, rel=1e-11, abs=1e-11)
            assert motion["D"].acceleration[k] == pytest.approx(second, rel=1e-10, abs=1e-10)
    assert not motion["motor"].force.any()  # nothing has mass
    assert motion.events == ()


def toe(angle):
    a, b, c, d, e, f, g, h, i, j, k, l, crank = JANSEN
    hip, pin = (-a, -l), (crank * np.cos(angle), crank * np.sin(angle))
    top = meeting(hip, b, pin, j)
    back, ankle = meeting(hip, d, top, e), meeting(pin, k, hip, c)
    return meeting(ankle, i, meeting(ankle, g, back, f), h)


def test_jansens_leg_all_the_way_round():
    m = lw.examples.jansen_leg(0.4)
    m.add(lw.Driver("motor", "crank shaft", lambda t: 2 * np.pi * t))
    motion = lw.kinematics(m, np.linspace(0, 1, 361))
    wanted = np.array([toe(0.4 + 2 * np.pi * t) for t in motion.time])
    assert np.abs(motion["foot"].position - 0.01 * wanted).max() < 1e-12
    assert motion["foot"].position[:, 0].min() == pytest.approx(-0.715215, abs=2e-5)
    assert motion["foot"].position[:, 1].max() == pytest.approx(-0.693767, abs=2e-5)


def test_peaucelliers_cell_draws_a_straight_line():
    """OP OP' = L^2 - s^2; P on a circle of radius r through O: P' on x = (L^2 - s^2) / (2 r)."""
    L, s, r = 1.0, 0.4, 0.35
    m = lw.Mechanism("Peaucellier", space="plane")
    angle = 0.4
    P = np.array([r + r * np.cos(angle), r * np.sin(angle)])
    away = P / np.linalg.norm(P)
    far = away * (L**2 - s**2) / np.linalg.norm(P)
    middle, half = (P + far) / 2, np.linalg.norm(far - P) / 2
    aside = np.array([-away[1], away[0]]) * np.sqrt(s**2 - half**2)
    Q, R = middle + aside, middle - aside

    def bar(name, a, b):
        return m.add(lw.Body(name, position=a, rotation=float(np.arctan2(*(b - a)[::-1]))))

    O, C = np.zeros(2), np.array([r, 0.0])
    crank = bar("crank", C, P)
    long = [bar("OQ", O, Q), bar("OR", O, R)]
    short = [bar("QP", Q, P), bar("RP", R, P), bar("QF", Q, far), bar("RF", R, far)]
    m.add(lw.Revolute("C", m.ground, crank, at=C))
    for name, body in zip(("O1", "O2"), long, strict=True):
        m.add(lw.Revolute(name, m.ground, body, at=O))
    m.add(lw.Revolute("Q1", long[0], short[0], at=Q))
    m.add(lw.Revolute("Q2", long[0], short[2], at=Q))
    m.add(lw.Revolute("R1", long[1], short[1], at=R))
    m.add(lw.Revolute("R2", long[1], short[3], at=R))
    m.add(lw.Revolute("P1", crank, short[0], at=P))
    m.add(lw.Revolute("P2", crank, short[1], at=P))
    m.add(lw.Revolute("F", short[2], short[3], at=far))
    m.add(lw.Driver("motor", (crank, "angle"), lambda t: 0.4 + 0.5 * lw.sin(t)))
    motion = lw.kinematics(m, np.linspace(0, 2 * np.pi, 200))
    traced = motion["QF"].trace((s, 0.0))
    assert np.abs(traced[:, 0] - (L**2 - s**2) / (2 * r)).max() < 1e-12
    assert np.ptp(traced[:, 1]) > 0.5


def test_bennetts_linkage_moves_although_a_count_forbids_it():
    alpha, beta = np.pi / 4, 5 * np.pi / 12
    m = lw.examples.bennett(alpha=alpha, beta=beta)
    m.add(lw.Driver("motor", "A", lambda t: t))
    motion = lw.kinematics(m, np.linspace(0, 6.0, 200))
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    first = np.pi / 2 + motion["A"].position
    second = 2 * np.arctan(ratio / np.tan(np.pi / 4)) + motion["B"].position
    assert (
        np.abs(np.sin(first / 2) * np.sin(second / 2) - ratio * np.cos(first / 2) * np.cos(second / 2)).max()
        < 1e-10
    )


def test_bricards_linkage_moves_although_a_count_forbids_it():
    m = lw.examples.bricard()
    m.add(lw.Driver("motor", "P0", lambda t: -0.3 * t))
    motion = lw.kinematics(m, np.linspace(0, 1, 30))
    gaps = [m.joints[name].phi() for name in m.joints]
    assert len(gaps) == 6
    numbers = {name: k for k, name in enumerate(motion.mechanism.bodies)}
    for joint in motion.mechanism.joints.values():
        parent, child = (
            (motion.q[-1, 7 * numbers[b.name] :][:7] if b.name != "ground" else (0, 0, 0, 1, 0, 0, 0))
            for b in joint.bodies
        )
        assert np.abs(joint.phi(parent, child)).max() < 1e-13
    assert abs(motion["P3"].position[-1]) > 0.1


def test_the_power_of_the_driver_is_the_rate_of_energy():
    m = lw.examples.four_bar()
    spring = lw.Spring(
        "spring", m["coupler"], m.ground, on_parent=(0.1, 0), on_child=(0, 0.5), stiffness=40.0
    )
    m.add(spring)
    m.joints["D"].stiffness = 3.0
    m.add(lw.Driver("motor", "A", lambda t: 3 * t))
    step = 1e-5
    motion = lw.kinematics(m, [0.5 - step, 0.5, 0.5 + step])
    energy = []
    for k in range(3):
        total = 0.0
        for body in motion.mechanism.bodies.values():
            seen, mass = motion[body.name], body.inertia.mass
            centre = seen.trace(body.inertia.com)[k]
            R = np.array([[0, -1], [1, 0]]) * seen.angular_velocity[k]
            speed = seen.velocity[k] + R @ (centre - seen.position[k])
            total += 0.5 * mass * speed @ speed + 0.5 * body.inertia.tensor * seen.angular_velocity[k] ** 2
            total += 9.81 * mass * centre[1]
        start = m["coupler"].rotation @ (0.1, 0) + m["coupler"].position  # type: ignore
        length = np.linalg.norm(motion["coupler"].trace((0.1, 0))[k] - (0, 0.5))
        total += 20.0 * (length - np.linalg.norm(start - (0, 0.5))) ** 2 + 1.5 * motion["D"].position[k] ** 2
        energy.append(total)
    assert motion["motor"].power[1] == pytest.approx((energy[2] - energy[0]) / (2 * step), rel=1e-6)


def test_too_few_drivers_are_told_by_the_joints_that_are_free():
    with pytest.raises(
        lw.AssemblyError, match="too few drivers: 1 motion is free: joints 'A', 'B', 'C', 'D'"
    ):
        lw.kinematics(usage_four_bar(), [0.0])


def test_too_many_drivers_are_told_by_name():
    m = usage_four_bar()
    m.add(lw.Driver("one", "A", 0.3))
    m.add(lw.Driver("two", "D", 0.3))
    with pytest.raises(lw.AssemblyError, match="too many drivers: 'one', 'two' fight"):
        lw.kinematics(m, [0.0])


def test_where_a_driver_cannot_go_the_gap_is_told_and_the_last_pose_is_kept():
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "D", lambda t: t))
    with pytest.raises(
        lw.AssemblyError, match=r"cannot assemble at t = .* with motor = .*: closest gap .* mm"
    ) as caught:
        lw.kinematics(m, np.linspace(0, 3, 61))
    motion = caught.value.motion
    assert 2 < len(motion) < 61
    assert np.abs(motion["D"].position - motion.time).max() < 1e-12
    assert caught.value.final.q.shape == motion.final.q.shape


def test_a_body_coordinate_is_driven():
    m = lw.examples.slider_crank(space="plane")
    piston = next(joint.child for joint in m.joints.values() if isinstance(joint, lw.Prismatic))
    x = piston.position[0]
    y = piston.position[1]
    word, start = ("x", x) if abs(x) > abs(y) else ("y", y)
    m.add(lw.Driver("push", (piston, word), lambda t: start + 0.01 * lw.sin(t)))
    motion = lw.kinematics(m, [0.0, 0.5, 1.0])
    index = "xy".index(word)
    assert motion[piston.name].position[:, index] == pytest.approx(
        start + 0.01 * np.sin(motion.time), abs=1e-13
    )


def chained(loops, drivers=1):
    """Return four-bars in a row, each driven by the one before."""
    m, before, x = lw.Mechanism("row", space="plane"), None, 0.0
    for k in range(loops + 1):
        crank = m.add(lw.Body(f"crank {k}", position=(x, 0)))
        m.add(lw.Revolute(f"A{k}", m.ground, crank, at=(x, 0)))
        if before is not None:
            rod = m.add(lw.Body(f"rod {k}", position=(x - 1.1, 1.0)))
            m.add(lw.Revolute(f"B{k}", before, rod, at=(x - 1.1, 1.0)))
            m.add(lw.Revolute(f"C{k}", rod, crank, at=(x, 1.05 if k % 2 else 1.0)))
            m.add(lw.Revolute(f"D{k}", m.ground, m.add(lw.Body(f"flag {k}")), at=(x, 0)))
            m.add(lw.Gear(f"E{k}", f"A{k}", f"D{k}", 2.0))
        before, x = crank, x + 1.1
    for k in range(drivers):
        m.add(lw.Driver(f"motor {k}", f"A{k}", lambda t: 0.1 * lw.sin(t)))
    return m


def test_a_large_mechanism_moves_as_a_small_one():
    times = [0.0, 0.5, 1.0]
    large, small = lw.kinematics(chained(60), times), lw.kinematics(chained(3), times)
    assert large.model.large
    assert not small.model.large
    for name in ("crank 3", "rod 2", "flag 3"):
        assert large[name].angle == pytest.approx(small[name].angle, abs=1e-12)
        assert large[name].acceleration == pytest.approx(small[name].acceleration, abs=1e-10)
    assert np.abs(large["C2"].reaction.force).max() < 1e-12  # nothing has mass


def test_a_large_mechanism_says_which_motions_are_free():
    with pytest.raises(
        lw.AssemblyError, match=r"too few drivers: 1 motion is free: joints 'A0', 'A1', 'B1', .* and \d+ more"
    ):
        lw.kinematics(chained(60, drivers=0), [0.0])
    m = chained(60)
    m.remove("C30")
    with pytest.raises(
        lw.AssemblyError, match=r"2 motions are free: joints? 'B30'; joints 'A30', .* and \d+ more; add"
    ):
        lw.kinematics(m, [0.0])


def test_a_large_mechanism_says_which_drivers_fight():
    m = chained(60, drivers=2)
    m.remove("motor 1")
    m.add(lw.Driver("other", "D40", 0.0))
    with pytest.raises(lw.AssemblyError, match=r"too many drivers: 'motor 0', 'other' fight each other"):
        lw.kinematics(m, [0.0])
    m.remove("C20")
    m.add(lw.Driver("third", "B20", 0.0))
    m.add(lw.Driver("fourth", (m["rod 20"], "angle"), 0.0))
    with pytest.raises(lw.AssemblyError, match=r"too many drivers: 'motor 0', 'third', 'fourth' fight"):
        lw.kinematics(m, [0.0])


def test_drivers_may_fight_while_others_lack():
    m = usage_four_bar()
    extra = m.add(lw.Body("flag"))
    m.add(lw.Revolute("E", m["rocker"], extra))
    m.add(lw.Driver("one", "A", 0.3))
    m.add(lw.Driver("two", "D", 0.3))
    words = "'one', 'two' fight each other; remove one, and too few drivers: 1 motion is free: joint 'E'"
    with pytest.raises(lw.AssemblyError, match=words):
        lw.kinematics(m, [0.0])


def test_a_redundant_large_mechanism_moves():
    m = chained(60)
    m.add(lw.Revolute("double", m["rod 30"], m["crank 30"], at=(33.0, 1.0)))
    motion = lw.kinematics(m, [0.0, 0.5])
    assert motion["crank 60"].angle == pytest.approx(lw.kinematics(chained(60), [0.0, 0.5])["crank 60"].angle)


def test_elimination_tells_the_rank_as_singular_values_do():
    generator = np.random.default_rng(0)
    for _ in range(20):
        A = generator.normal(size=(12, 9)) * (generator.random((12, 9)) < 0.3)
        A[7] = A[2] - 2 * A[5]
        A[11] = A[10] + 0.5 * A[3]
        A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
        rows, columns = np.nonzero(A)
        found = Elimination(rows, columns, A[rows, columns], A.shape, [10, 11])
        assert len(found.pivots) == np.linalg.matrix_rank(A)
        x = found.motion(generator.normal(size=len(found.free)))
        assert np.abs(A @ x).max() < 1e-10 * max(1.0, np.abs(x).max())
        others = np.linalg.matrix_rank(A[:10])
        assert len(found.fighting) == 2 - (np.linalg.matrix_rank(A) - others)
        for each in found.fighting:
            together = sum(x * A[row] for row, x in each.items())
            assert np.linalg.matrix_rank(np.vstack([A[:10], together]), tol=1e-9) == others


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ("fast", "driver 'motor': law 'fast'; give a number, a function of time, or a spline"),
        (np.inf, "driver 'motor': law inf is not finite"),
        (lambda t: None, "driver 'motor': its law gave None; return one number"),
        (lambda t: [t, t], "driver 'motor': its law gave .*; return one number"),
        (lambda t: 1 / 0, "driver 'motor': its law raised ZeroDivisionError"),
        (lambda t: 1 / t, "driver 'motor': its law is not finite at t = 0 s"),
        (lambda t: 1e12 * t, "can be assembled at t = 1 s .* but not be driven there: the way is too long"),
    ],
)
def test_laws_that_cannot_be_followed_are_told(law, words):
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", law))
    with pytest.raises((ValueError, lw.LinkworkError), match=words):
        lw.kinematics(m, [0.0, 1.0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"times": "abc"}, "times 'abc' is not made of numbers"),
        ({"times": []}, "in one row"),
        ({"times": [np.nan]}, "give finite numbers"),
        ({"times": [0.0], "start": [1, 2]}, "start of shape .* give a posture, or the 9 finite numbers"),
        ({"times": [0.0], "start": np.full(9, np.nan)}, "give a posture"),
    ],
)
def test_what_kinematics_cannot_take_is_told(options, words):
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", 0.0))
    with pytest.raises(ValueError, match=words):
        lw.kinematics(m, **options)


def test_rotations_in_space_are_driven_by_their_quaternions():
    m = lw.Mechanism("ball")
    arm = m.add(lw.Body("arm"))
    m.add(lw.Spherical("ball", m.ground, arm))
    for k, word in enumerate(("x", "y", "z"), 1):
        m.add(lw.Driver(word, ("ball", k), lambda t, k=k: 0.1 * k * lw.sin(t)))
    motion = lw.kinematics(m, np.linspace(0, 3, 7))
    q = np.stack([0.1 * k * np.sin(motion.time) for k in (1, 2, 3)], axis=-1)
    assert motion["ball"].position[:, 1:] == pytest.approx(q, abs=1e-13)
    assert motion["ball"].position[:, 0] == pytest.approx(np.sqrt(1 - (q**2).sum(axis=1)), abs=1e-13)
    other = lw.Mechanism("free")
    body = other.add(lw.Body("body"))
    other.add(lw.Free("free", other.ground, body))
    for word in ("x", "y", "z", "qx", "qy", "qz"):
        scale = 0.1 * " xyz".index(word[-1]) if word[0] == "q" else 1.0
        other.add(lw.Driver(word, (body, word), lambda t, scale=scale: scale * lw.sin(t)))
    flight = lw.kinematics(other, motion.time)
    assert flight["body"].angular_velocity == pytest.approx(motion["arm"].angular_velocity, abs=1e-12)
    assert flight["body"].position[:, 2] == pytest.approx(np.sin(motion.time), abs=1e-13)


def test_times_that_fall_are_not_saved(tmp_path):
    m = usage_four_bar()
    m.add(lw.Driver("motor", "A", lambda t: t))
    motion = lw.kinematics(m, [0.0, 0.2, 0.1])
    assert motion.time.tolist() == [0.0, 0.2, 0.1]
    with pytest.raises(ValueError, match=r"times fall: 0.2 is followed by 0.1; compute at sorted times"):
        motion.save(tmp_path / "back.lwr")
    motion.save(tmp_path / "back.csv")
