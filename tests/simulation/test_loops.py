"""Closed loops in motion: they stay closed, keep the energy, and go where the references say."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw


def test_the_three_cylinder_engine_stays_closed_and_keeps_its_energy():
    model = lw.examples.three_cylinder_engine().compile()
    run = lw.simulate(model, 10.0, model.state(velocities={"bearing": 30.0}))
    assert run["bearing"].velocity[0] == pytest.approx(30.0, abs=1e-12)
    assert np.abs(model.constraint_residual(run.q)).max() < 1e-9
    assert run.report.loop_gap < 1e-9
    assert "worst loop gap" in run.summary()
    assert np.ptp(run.energy - run.work) < 1e-6 * run.kinetic_energy[0]


def test_bricard_goes_where_the_reference_says():
    """IFToMM A04: at t = 1 the point first at (1, -1, 0) is at (0.27448132, -0.88670794, -0.46233000)."""
    model = lw.examples.bricard().compile()
    run = lw.simulate(model, 1.0, accuracy=1e-10, times=[0.0, 1.0])
    corner = np.array([1.0, -1.0, 0.0])
    for body in model.body_names:
        pose = run[body].pose
        local = pose.rotation[0].T @ (corner - pose.position[0])
        there = pose.position[1] + pose.rotation[1] @ local
        if np.allclose(there, (0.27448132, -0.88670794, -0.46233000), atol=1e-6):
            return
    pytest.fail("no body has the corner where it should be")


@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("space", ["plane", "space"])
def test_rows_of_four_bars_pass_where_all_bars_are_in_line(n, space):
    """IFToMM A02: there it has n + 1 freedoms for a moment; they all turn as one, as a pendulum does."""
    model = lw.examples.four_bars(n, space=space).compile()
    run = lw.simulate(model, 10.0, model.state(velocities={"ground pin 0": -1.0}), times=[5.0, 10.0])
    inertia, moment = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    pendulum = solve_ivp(
        lambda t, y: [y[1], moment / inertia * np.sin(y[0])],
        (0, 10),
        [0.0, -1.0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    for k in (0, n):
        assert run[f"ground pin {k}"].position[-1] == pytest.approx(pendulum.y[0, -1], abs=1e-6)
    (warning,) = run.report.warnings
    assert "near a singular position at" in warning
    assert "'right pin 1'" in warning or "and others" in warning


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-10])
def test_a_singular_position_is_passed_at_any_accuracy(accuracy):
    model = lw.examples.four_bars(3).compile()
    run = lw.simulate(model, 3.0, model.state(velocities={"ground pin 0": -1.0}), accuracy=accuracy)
    cranks = np.array([run[f"ground pin {k}"].position for k in range(4)])
    assert run.status == "DONE"
    assert np.abs(cranks - cranks[0]).max() < 1e-6
    assert run.report.loop_gap < 1e-9


def test_no_singular_position_is_seen_where_there_is_none():
    for mechanism in (lw.examples.bennett(), lw.examples.bricard(), lw.examples.jansen_leg()):
        model = mechanism.compile()
        q = model.assemble()
        v = model.closed_velocity(q, np.random.default_rng(0).normal(size=model.nv))
        assert lw.simulate(model, 3.0, lw.State(q, v)).report.warnings == ()


def test_a_restoring_wrench_holds_loops_too():
    """Without gains they drift apart."""
    model = lw.examples.three_cylinder_engine().compile()
    start = model.state(velocities={"bearing": 30.0})
    rows = {name: part.stop - part.start for name, part in model.row_slices.items()}
    matrices = lw.Restoring(*({name: [gain] * n for name, n in rows.items()} for gain in (1e5, 600.0)))
    gaps = []
    for loops in (lw.Restoring(0.0, 0.0), "restored", matrices):
        run = lw.simulate(model, 1.0, start, accuracy=1e-6, loops=loops)
        gaps.append(run.report.loop_gap)
        assert "held by restoring wrenches" in run.summary()
        assert np.ptp(run.energy - run.work) < 1e-4 * run.kinetic_energy[0]
    drift, default, firm = gaps
    assert drift > 10 * default > 0
    assert drift > 10 * firm > 0
    with pytest.raises(ValueError, match=r"loops 'glued'; give 'projected', 'restored'"):
        lw.simulate(model, 1.0, start, loops="glued")
    with pytest.raises(ValueError, match=r"restoring damping of '.*' is 'much'; give 5 finite numbers"):
        lw.simulate(model, 1.0, start, loops=lw.Restoring(1.0, "much"))
    with pytest.raises(ValueError, match=r"restoring stiffness: .*'bearing'"):
        lw.simulate(model, 1.0, start, loops=lw.Restoring({"bearing": 1.0}))


def test_plane_and_space_agree():
    ends = []
    for space in ("plane", "space"):
        model = lw.examples.slider_crank(space=space).compile()
        run = lw.simulate(model, 2.0, model.state(velocities={"bearing": 5.0}), accuracy=1e-11)
        ends.append(run["piston"].position[-1][:2])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_a_batch_and_a_continued_run_give_the_same_bits():
    model = lw.examples.three_cylinder_engine().compile()
    start = model.state(velocities={"bearing": 30.0})
    whole = lw.simulate(model, 0.4, start, times=[0.2, 0.4])
    half = lw.simulate(model, 0.2, start, times=[0.2])
    rest = lw.simulate(model, 0.2, half.final, times=[0.4])
    assert (rest.q[-1] == whole.q[-1]).all()
    assert (rest.v[-1] == whole.v[-1]).all()
    runs = lw.simulate(model, 0.4, q=np.tile(start.q, (3, 1)), v=np.tile(start.v, (3, 1)), times=[0.2, 0.4])
    assert (runs.q == whole.q).all()
    assert (runs.v == whole.v).all()


def test_a_state_keeps_what_is_named_and_closes_the_rest():
    model = lw.examples.four_bar().compile()
    for angle in (0.3, 1.0, -0.4):
        state = model.state(A=angle, velocities={"A": 2.0})
        assert state.q[model.slices["A"][0]] == pytest.approx(angle, abs=1e-15)
        assert state.v[model.slices["A"][1]] == 2.0
        assert np.abs(model.constraint_residual(state.q)).max() < 1e-12
        assert np.abs(model.constraint_velocity(state.q, state.v)).max() < 1e-12


def test_a_start_that_is_open_is_closed_first():
    model = lw.examples.four_bar().compile()
    run = lw.simulate(model, 0.5, lw.State(model.q_drawn + 0.05, np.ones(model.nv)))
    assert run.report.loop_gap < 1e-12


def test_a_loop_that_cannot_close_is_named():
    model = lw.examples.four_bar().compile()
    with pytest.raises(lw.AssemblyError, match=r"'[A-D]' by"):
        model.state(dict.fromkeys(model.joint_names, 0.7))


def test_the_steam_engine_turns_faster_than_real_time():
    model = lw.examples.steam_engine().compile()
    run = lw.simulate(model, 5.0)
    assert run.report.loop_gap < 1e-9
    assert run["bearing"].position[-1] ** 2 > 4 * np.pi**2  # it has turned
    assert run.energy_error < 1e-6


def row(n: int, space: str, speed: float) -> tuple[lw.Model, lw.State]:
    model = lw.examples.four_bars(n, space=space).compile()
    return model, model.state(velocities={"ground pin 0": speed})


@pytest.mark.parametrize("method", ["rkf45", "dop853"])
@pytest.mark.parametrize("accuracy", [1e-6, 1e-10])
@pytest.mark.parametrize(("n", "space"), [(3, "plane"), (5, "space")])
def test_a_singular_position_costs_no_more_than_others(n, space, accuracy, method):
    """However near to it steps and their stages come: nobody can know more than rounding lets through."""
    usual = {"rkf45": {1e-6: 3500, 1e-10: 20000}, "dop853": {1e-6: 1800, 1e-10: 5500}}[method][accuracy]
    for speed in np.linspace(-0.3, -4.0, 7):
        model, start = row(n, space, speed)
        run = lw.simulate(model, 10.0, start, accuracy=accuracy, method=method, every=0.05)
        cranks = np.array([run[f"ground pin {k}"].position for k in range(n + 1)])
        assert np.abs(cranks - cranks[0]).max() < 1e-7  # the branch is kept
        assert run.energy_error < max(2 * accuracy, 5e-8)  # also inside of steps
        assert run.report.evaluations < usual + 3 * 10 * 40  # and the polynomials of steps with samples
        assert "near a singular position" in run.report.warnings[0]


def test_lanes_pass_singular_positions_as_single_runs_do():
    model, start = row(3, "plane", -1.0)
    v = start.v * np.linspace(0.3, 4.0, 11)[:, None]
    runs = lw.simulate(model, 3.0, q=np.tile(start.q, (11, 1)), v=v, every=0.1)
    for k in (0, 4, 10):
        alone = lw.simulate(model, 3.0, lw.State(start.q, v[k]), every=0.1)
        assert (runs.q[k] == alone.q).all()
        assert (runs.v[k] == alone.v).all()
        assert runs.reports[k].evaluations == alone.report.evaluations
        assert runs.reports[k].warnings == alone.report.warnings


def test_a_slider_without_mass_passes_the_position_in_which_both_bars_cover_each_other():
    """The rigid slider-crank of IFToMM's library: bars of 1 kg and 1 m, the slider at 4 m/s.

    With the crank at th the energy (1/3 + sin(th)^2) w^2 + g sin(th) is constant.
    """
    c = s = np.sqrt(0.5)
    m = lw.Mechanism("slider-crank", space="plane", gravity=(0, -9.81))
    bar = lw.Inertia(1.0, (0.5, 0.0), 1 / 12)
    crank = m.add(lw.Body("crank", bar, rotation=np.pi / 4))
    rod = m.add(lw.Body("rod", bar, position=(c, s), rotation=-np.pi / 4))
    slider = m.add(lw.Body("slider", position=(2 * c, 0)))
    m.add(lw.Revolute("shaft", m.ground, crank, at=(0, 0)))
    m.add(lw.Revolute("pin", crank, rod, at=(c, s)))
    m.add(lw.Revolute("wrist", rod, slider, at=(2 * c, 0)))
    m.add(lw.Prismatic("rail", m.ground, slider, axis=(1, 0)))
    model = m.compile()
    begin, speed = np.pi / 4, 2.0 / s

    def rate(_t, y):
        th = y[0]
        energy = (1 / 3 + s**2) * speed**2 + 9.81 * s
        return [np.sqrt((energy - 9.81 * np.sin(th)) / (1 / 3 + np.sin(th) ** 2))]

    times = np.array([0.5, 1.0, 5.0])
    exact = solve_ivp(rate, (0, 5), [begin], rtol=1e-12, atol=1e-12, t_eval=times).y[0]
    start = model.state(velocities={"shaft": speed})
    assert model.velocities(start)["slider"].v[0] == pytest.approx(-4.0)
    run = lw.simulate(model, 5.0, start, times=times)
    assert run["slider"].position[:, 0] == pytest.approx(2 * np.cos(exact), abs=1e-7)
