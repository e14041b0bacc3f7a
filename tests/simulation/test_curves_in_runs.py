"""What a run does, for constraints with unknowns of their own: lanes, variants, files, edits, failures."""

import pickle

import numpy as np
import pytest
from simulation.curve_makers import on_wire, wheel_and_follower

import linkwork as lw


def test_lanes_give_the_bits_of_single_runs():
    model = wheel_and_follower("roller").compile()
    starts = [
        model.state(A=a, velocities={"A": w}) for a, w in zip(np.linspace(0, 6, 9), np.linspace(-9, 9, 9))
    ]
    q, v = np.array([s.q for s in starts]), np.array([s.v for s in starts])
    batch = lw.simulate(model, 0.5, q=q, v=v, every=0.05)
    for k in (0, 4, 8):
        alone = lw.simulate(model, 0.5, starts[k], every=0.05)
        assert (batch[k].q == alone.q).all()
        assert (batch[k].v == alone.v).all()
    assert (model.motion(q, v) == [model.motion(*row) for row in zip(q, v)]).all()
    assert (model.position_rates(q, v) == [model.position_rates(*row) for row in zip(q, v)]).all()


def test_variants_have_unknowns_of_their_own():
    m = wheel_and_follower("edge")
    masses, places = np.linspace(0.2, 1.0, 9), np.linspace(-0.01, 0.01, 9)
    varied = lw.simulate(m, 0.3, vary={"rod.mass": masses}, every=0.1)
    shifted = lw.simulate(m, 0.3, vary={"cam.on_child": np.stack([places, 0 * places], axis=1)}, every=0.1)
    for k in (0, 8):
        one = wheel_and_follower("edge")
        one["rod"].inertia = lw.Inertia(masses[k], one["rod"].inertia.com, one["rod"].inertia.tensor)
        np.testing.assert_array_equal(varied[k].v, lw.simulate(one, 0.3, every=0.1).v)
        one = wheel_and_follower("edge")
        one["cam"].on_child = (places[k], 0.0)
        np.testing.assert_array_equal(shifted[k].q, lw.simulate(one, 0.3, every=0.1).q)


def test_a_run_goes_on_and_steps_as_it_runs(tmp_path):
    model = wheel_and_follower("flat").compile()
    start = model.state(velocities={"A": 10.0})
    whole = lw.simulate(model, 0.4, start)
    half = lw.simulate(model, 0.2, start)
    rest = lw.simulate(model, 0.2, pickle.loads(pickle.dumps(half.final)))
    assert (rest.final.q == whole.final.q).all()
    sim = lw.Simulation(model, start)
    for _ in range(4):
        sim.step(0.1)
    assert (sim.q == whole.final.q).all()
    whole.save(tmp_path / "run.lwr")
    again = lw.load(tmp_path / "run.lwr")
    np.testing.assert_array_equal(again["cam"].position, whole["cam"].position)
    np.testing.assert_array_equal(again["cam"].force, whole["cam"].force)


@pytest.mark.parametrize("method", ["rk4", "semi-implicit", "rodas"])
def test_methods_agree_on_a_cam(method):
    m = wheel_and_follower("roller")
    model = m.compile()
    start = model.state(velocities={"A": 3.0})
    fine = lw.simulate(model, 0.3, start, accuracy=1e-11).final
    words = {"accuracy": 1e-8} if method == "rodas" else {"step": 1e-4}
    near = 1e-3 if method == "semi-implicit" else 1e-6
    np.testing.assert_allclose(
        lw.simulate(model, 0.3, start, method=method, **words).final.q, fine.q, atol=near
    )


def test_restored_loops_follow_the_same_curve():
    m = wheel_and_follower("roller")
    start = m.compile().state(velocities={"A": 3.0})
    runs = [lw.simulate(m, 0.5, start, loops=loops, accuracy=1e-9) for loops in ("projected", "restored")]
    np.testing.assert_allclose(runs[0].final.q, runs[1].final.q, atol=1e-6)


def test_files_keep_how_a_cam_moves(tmp_path):
    m = wheel_and_follower("roller")
    m.save(tmp_path / "cam.json")
    runs = [lw.simulate(one, 0.3, every=0.1) for one in (m, lw.load(tmp_path / "cam.json"))]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)


def test_an_edit_keeps_where_a_follower_is():
    m = wheel_and_follower("roller")
    model = m.compile()
    state = lw.simulate(model, 0.3, model.state(velocities={"A": 25.0})).final
    assert abs(state.q[-1] - model.q_drawn[-1]) > 2.0
    m["spring"].stiffness = 600.0
    extra = m.add(lw.Body("extra", lw.Inertia(1.0, (0, 0), 0.1), position=(1, 0)))
    m.add(lw.Revolute("B", m.ground, extra, at=(1, 0)))
    new, carried = lw.carry(model, state, m)
    assert new.nq == 4
    assert carried.q[-1] == state.q[-1]
    assert carried["A"] == state["A"]
    on, was = (lw.simulate(one, 0.1, begin) for one, begin in ((new, carried), (model, state)))
    assert on.report.status == was.report.status == "DONE"


def test_positions_by_name_find_the_place_on_the_curve():
    model = wheel_and_follower("roller").compile()
    for angle in (0.5, 2.0, 4.0):
        state = model.state(A=angle)
        assert np.abs(model.constraint_residual(state.q)).max() < 1e-14
        s = state.q[-1]
        outline, centre = np.array([0.1 * np.cos(s), 0.13 * np.sin(s)]), np.array([0, 0.16 + state["guide"]])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        assert np.linalg.norm(turn @ outline - centre) == pytest.approx(0.03, abs=1e-12)
    with pytest.raises(ValueError, match="constraint 'cam' closes a loop, and follows"):
        model.state(cam=0.3)
    assert model.loop_coordinates(state.q, state.v)["cam"][0] == state.q[-1]


def test_laws_see_the_coordinates_of_joints():
    seen = []
    m = wheel_and_follower("roller")
    m.add(
        lw.Feedback(
            "hold", ["A", "guide"], lambda t, q, v: [seen.append((len(q), len(v))) or 0.0 * v[0], 0.0]
        )
    )
    model = m.compile()
    model.motion(model.q_drawn, np.zeros(2))
    assert set(seen) == {(2, 2)}


def test_a_cusp_is_told_by_name():
    """A bead that is driven over the cusp of a cycloid, where the curve stands still."""
    m = on_wire(lambda s: (s - lw.sin(s), 1 - lw.cos(s)), np.pi, interval=(0.1, 6.2))
    m.gravity = (0, 0)
    model = m.compile()
    v = model.closed_velocity(model.q_drawn, np.array([1.0, 1.0, 1.0]))
    with pytest.raises(lw.SimulationError, match="unknowns of constraint 'wire' are hardly determined"):
        lw.simulate(model, 60.0, lw.State(model.q_drawn, v))


def test_more_unknowns_than_equations_are_refused():
    class Loose(lw.Constraint):
        unknowns = 2

        def phi(self, body, a, b):
            return [body.position[0] - a, body.position[1] - b]

    m = lw.Mechanism("loose", space="plane")
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0), 0.1)))
    m.add(lw.Free("air", m.ground, body))
    m.add(Loose("loose", body))
    with pytest.raises(lw.ModelError, match="constraint 'loose' has 2 equations for 2 unknowns"):
        m.compile()


def test_an_action_sees_and_gives_the_coordinates_of_joints():
    """A bead that is thrown back where it is highest on one side swings as if it had met a wall."""
    m = on_wire(lambda s: (lw.sin(s), -lw.cos(s)), 1.0, interval=(-3, 3))
    model, sizes = m.compile(), []

    def back(t, q, v):
        sizes.append((len(q), len(v)))
        return q, [-x for x in v]

    wall = lw.Event("wall", lambda bead, t: bead.position[0], of=m["bead"], direction=-1, action=back)
    run = lw.simulate(model, 5.0, events=[wall], every=0.05)
    assert len(run.report.events) > 3
    assert set(sizes) == {(3, 3)}
    assert np.asarray(run["wire"].position).min() > -1e-6
    assert np.ptp(run.energy) < 1e-6


def test_several_curves_keep_their_unknowns_when_one_is_taken_away():
    m = wheel_and_follower("roller")
    bead = m.add(lw.Body("bead", lw.Inertia(1.0, (0, 0), 0.1), position=(2.0, 0.5)))
    m.add(lw.PointOnCurve("wire", m.ground, bead, lambda s: (2 + s, 0.5 + 0.1 * s * s), interval=(-1, 1)))
    weight = m.add(lw.Body("weight", lw.Inertia(0.3, (0, 0), 0.01), position=(2.0, 0.6)))
    m.add(lw.Fixed("bolt", bead, weight))
    model = m.compile()
    assert model.nq == 2 + 3 + 2
    v = model.closed_velocity(model.q_drawn, np.full(5, 1.5))
    run = lw.simulate(model, 0.4, lw.State(model.q_drawn, v), every=0.1)
    np.testing.assert_allclose(run["bead"].position[:, 0], 2 + run["wire"].position, atol=1e-12)
    m.remove("cam")
    new, state = lw.carry(model, run.final, m)
    assert new.nq == 2 + 3 + 1
    assert state.q[-1] == run["wire"].position[-1]
    joined = np.asarray(run["bolt"].reaction.force) / 0.3  # carries the weight along the wire
    np.testing.assert_allclose(joined, run["weight"].acceleration + [0, 9.81], atol=1e-9)


def test_a_curve_out_of_reach_is_told_by_name():
    m = lw.Mechanism("arm", space="plane")
    arm = m.add(lw.Body("arm", lw.Inertia(1.0, (0.5, 0), 0.1)))
    m.add(lw.Revolute("pivot", m.ground, arm))
    m.add(lw.PointOnCurve("wire", m.ground, arm, lambda s: (s, 3.0 + s * s), on_child=(1, 0)))
    with pytest.raises(lw.AssemblyError, match="stay open are 'wire' by"):
        lw.simulate(m, 1.0)


def test_a_hollow_as_round_as_the_roller_is_told_by_name():
    m = lw.Mechanism("hollow", space="plane")
    ball = m.add(lw.Body("ball", lw.Inertia(1.0, (0, 0), 0.1), position=(0, 0)))
    m.add(lw.Free("air", m.ground, ball))
    m.add(lw.Cam("hollow", m.ground, ball, lambda s: (0.2 * lw.cos(s), 0.2 * lw.sin(s)), radius=0.2))
    with pytest.raises(lw.ModelError, match="constraint 'hollow': its unknowns are not determined as drawn"):
        lw.simulate(m, 1.0)


def test_a_flat_face_on_a_polygon_is_told_by_name():
    """Along a straight side, where a flat face touches is not determined."""
    s = np.linspace(0, 2 * np.pi, 41)
    m = wheel_and_follower("flat")
    m["cam"].profile = lambda u: (lw.interp(u, s, 0.1 * np.cos(s)), lw.interp(u, s, 0.13 * np.sin(s)))
    with pytest.raises(lw.AssemblyError, match="unknowns of constraint 'cam' are not determined"):
        lw.simulate(m, 0.1)


def test_positions_without_unknowns_are_refused_with_where_these_are():
    model = wheel_and_follower("flat").compile()
    with pytest.raises(ValueError, match=r"q has shape \(4, 2\); give \(runs, 3\), 1 of them unknowns of"):
        lw.simulate(model, 0.1, q=np.zeros((4, 2)), v=np.zeros((4, 2)))


def test_a_curve_that_raises_is_told_by_name():
    m = on_wire(lambda s: (s, s), 0.0)
    m["wire"].curve = lambda s: (s, 1 / 0)
    with pytest.raises(lw.ModelError, match="constraint 'wire': the curve raised ZeroDivisionError"):
        m.compile()
