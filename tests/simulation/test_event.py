"""Events: located as exactly as the motion is known, seen once, acting as told, and never a hang."""

import math
from typing import Any

import numpy as np
import pytest
from simulation.scenes import METHODS, ball, bent, bouncing, driven, how, pendulum

import linkwork as lw
from linkwork.simulation import event_log

G = 9.81
FALL = math.sqrt(2 / G)  # from 1 m
PRINTED = (0.451523640986, 1.173961466563, 1.751911727025)  # impacts from 1 m with restitution 0.8
REST = 4.063712768872


def impacts(count: int, restitution: float = 0.8) -> np.ndarray:
    """Return the times of the impacts of a ball that falls from 1 m."""
    return FALL * np.cumsum([1.0, *(2 * restitution**n for n in range(1, count))])


def times(run: lw.Recording, name: str | None = None) -> np.ndarray:
    return np.array([t for t, event in run.report.events if name in (None, event)])


def fallen(*events: lw.Event, duration: float = 2.0, **options: Any) -> lw.Recording:
    model = ball()
    return lw.simulate(model, duration, model.state(height=1.0), events=events, **options)


EXACT = [method for method in METHODS if method not in ("euler", "semi-implicit")]


@pytest.mark.parametrize("method", EXACT)
def test_an_impact_is_located_to_the_last_digits(method):
    run = fallen(bouncing(action="stop"), **how(method))
    assert run.status == "EVENT"
    assert run.final.t == pytest.approx(FALL, abs=1e-13)
    assert run.time[-1] == run.final.t
    assert run.final.q[0] == pytest.approx(0.0, abs=1e-14)
    assert run.report.events == ((run.final.t, "impact"),)


@pytest.mark.parametrize("sampling", [{}, {"every": 0.01}, {"times": [0.1, 1.9]}], ids=["", "every", "times"])
@pytest.mark.parametrize("method", EXACT)
def test_a_ball_bounces_on_time(method, sampling):
    run = fallen(bouncing(), **how(method), **sampling)
    assert run.status == "DONE"
    np.testing.assert_allclose(times(run), PRINTED, rtol=0, atol=1e-12)
    assert run.energy_error < 1e-12
    weight = 1000 * 4 / 3 * math.pi * 0.1**3 * G
    assert run.work[-1] == pytest.approx(-(1.0 - 0.8**6) * weight, rel=1e-12)
    assert run.q.min() > -1e-14


@pytest.mark.parametrize("method", ["euler", "semi-implicit"])
def test_a_method_of_first_order_bounces_about_on_time(method):
    run = fallen(bouncing(), method=method, step=1e-4)
    np.testing.assert_allclose(times(run), PRINTED, rtol=0, atol=1e-3)
    assert run.energy_error < 1e-2


def test_after_an_action_both_states_are_recorded_once():
    run = fallen(bouncing())
    for t in times(run):
        before, after = np.flatnonzero(run.time == t)
        assert after == before + 1
        assert run.v[after, 0] == pytest.approx(-0.8 * run.v[before, 0], rel=1e-15)
    assert (np.diff(run.time) >= 0.0).all()
    assert (np.diff(fallen(bouncing(), every=0.01).time) > 0.0).all()


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("restitution", [0.9, 0.8, 0.5, 0.3, 0.1, 0.01, 1e-5, 0.0])
def test_a_ball_that_comes_to_rest_ends_in_a_named_storm(method, restitution):
    with pytest.raises(lw.SimulationError, match="event 'impact' is the last of") as caught:
        fallen(bouncing(restitution), duration=20.0, **how(method))
    error = caught.value
    found = times(error.run)
    assert error.status == "EVENT_STORM"
    assert error.where == "impact"
    assert error.hint
    rest = FALL * (1 + restitution) / (1 - restitution)
    assert error.time == error.run.final.t == pytest.approx(rest, abs=2e-7 if method == "rk4" else 1e-10)
    assert rest == pytest.approx(REST, abs=1e-11) or restitution != 0.8
    slow = restitution < 0.01  # then rounding of the height is a long time
    np.testing.assert_allclose(found, impacts(len(found), restitution), rtol=0, atol=1e-9 if slow else 4e-12)
    assert error.run.energy_error < 1e-12
    assert error.run.q.min() > -1e-13


def test_events_that_bring_the_run_no_further_are_a_storm(monkeypatch):
    monkeypatch.setattr(event_log, "_MANY", 300)
    model = pendulum()
    event = lw.Event("hum", lambda t, q, v: lw.sin(1e5 * t), action="note")
    with pytest.raises(lw.SimulationError, match="'hum' is the last of 300"):
        lw.simulate(model, 10.0, bent(model), events=[event], max_step=2e-5)


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_the_direction_tells_which_crossings_count(direction):
    model = pendulum()
    event = lw.Event("straight", lambda t, q, v: q["elbow"], direction=direction, action="note")
    run = lw.simulate(model, 5.0, bent(model), events=[event])
    rising = [np.sign(run.v[np.flatnonzero(run.time == t)[0], 1]) for t in times(run)]
    assert len(rising) > 3
    assert set(rising) == ({-1.0, 1.0} if direction == 0 else {direction})
    dense = lw.simulate(model, 5.0, bent(model), every=1e-3)["elbow"].position
    crossings = np.diff(np.sign(dense))
    assert len(rising) == np.count_nonzero(crossings if direction == 0 else crossings == 2 * direction)


def test_noting_does_not_change_the_motion():
    model = pendulum()
    event = lw.Event("straight", lambda t, q, v: q["elbow"], action="note")
    noted = lw.simulate(model, 5.0, bent(model), events=[event])
    np.testing.assert_allclose(noted.final.q, lw.simulate(model, 5.0, bent(model)).final.q, rtol=0, atol=1e-6)
    assert np.abs([noted.q[np.flatnonzero(noted.time == t)[0], 1] for t in times(noted)]).max() < 1e-13


def test_quantities_of_all_and_of_a_joint_and_of_a_body_and_called_ones_agree():
    m = lw.Mechanism("pendulum", gravity=(0, 0, -G))
    bob = m.add(lw.Body("bob", lw.Inertia(1.0, (0, 0, -1), np.zeros((3, 3)))))
    pin = m.add(lw.Revolute("pin", m.ground, bob, axis=(0, 1, 0)))
    model = m.compile()

    def jumping(t: Any, q: Any, v: Any) -> float:
        return 1.0 if float(q[0]) > 0.2 else -1.0

    quantities = [
        lw.Event("all", lambda t, q, v: q["pin"] - 0.2),
        lw.Event("joint", lambda t, q, v: q - 0.2, of=pin),
        lw.Event("joint's name", lambda t, q, v: q - 0.2, of="pin"),
        lw.Event("body", lambda body, t: body.to_world((0, 0, -1))[0] + math.sin(0.2), of=bob),
        lw.Event("called", jumping),
    ]
    found = [lw.simulate(model, 2.0, model.state(pin=0.5), events=[event]) for event in quantities]
    assert {run.status for run in found} == {"EVENT"}
    ends = [run.final.t for run in found]
    np.testing.assert_allclose(ends, ends[0], rtol=0, atol=1e-12)
    assert found[-1].report.python_laws == ("called",)


def test_two_events_at_one_time_are_both_seen():
    model = pendulum()
    log = []
    pair = [
        lw.Event("a", lambda t, q, v: q["elbow"] - 0.2, action=lambda t, q, v: log.append(("a", t))),
        lw.Event("b", lambda t, q, v: 3.0 * (0.2 - q["elbow"]), action=lambda t, q, v: log.append(("b", t))),
        lw.Event("end", lambda t, q, v: t - 1.0),
    ]
    run = lw.simulate(model, 2.0, bent(model), events=pair)
    assert [name for name, _ in log] == ["a", "b"]
    assert log[0][1] == log[1][1]
    assert run.report.events == (*((t, name) for name, t in log), (run.final.t, "end"))
    assert run.final.t == pytest.approx(1.0, abs=1e-15)


def test_an_event_at_the_end_or_the_start():
    model = pendulum()
    at = lambda when: lw.Event("bell", lambda t, q, v: t - when)  # noqa: E731
    assert lw.simulate(model, 1.0, bent(model), events=[at(1.0)]).report.events == ((1.0, "bell"),)
    run = lw.simulate(model, 1.0, bent(model), events=[at(0.0)])
    assert (run.status, run.report.events) == ("DONE", ())  # it starts there; nothing is crossed
    first = lw.simulate(model, 1.0, bent(model), events=[at(0.5)])
    again = lw.simulate(model, 1.0, first, events=[at(0.5)])
    assert (first.final.t, again.final.t, again.status) == (0.5, 1.5, "DONE")


def test_an_action_changes_what_it_is_given_or_returns_anew_by_number_or_name():
    model = pendulum()

    def halve(t: float, q: Any, v: Any) -> None:
        v["elbow"] *= 0.5
        v[0] = 0.5 * v["shoulder"]

    actions = (halve, lambda t, q, v: (q, 0.5 * v), lambda t, q, v: ([*q], (v / 2).tolist()))
    runs = [
        lw.simulate(
            model, 2.0, bent(model), events=[lw.Event("brake", lambda t, q, v: q["elbow"], action=action)]
        )
        for action in actions
    ]
    assert len({run.final.q.tobytes() for run in runs}) == 1
    assert runs[0].energy_error < 1e-8
    assert runs[0].work[-1] < -0.1


GARBAGE = {
    "a number": (5, "gave 5"),
    "a text": ("up", "gave 'up'"),
    "three": ((1, 2, 3), "q has shape"),
    "too few": (([1.0, 2.0], [3.0]), r"v has shape \(1,\)"),
    "NaN": (([math.nan, 1.0], [1.0, 1.0]), "position of joint 'shoulder' is nan"),
    "infinite": (([1.0, 1.0], [1.0, -math.inf]), "velocity of joint 'elbow' is -inf"),
    "a function": (len, "gave <built-in function len>"),
}


@pytest.mark.parametrize("garbage", GARBAGE)
def test_an_action_that_gives_garbage_ends_the_run_by_name(garbage):
    model = pendulum()
    answer, words = GARBAGE[garbage]
    event = lw.Event("kick", lambda t, q, v: q["elbow"] - 0.2, action=lambda t, q, v: answer)
    with pytest.raises(lw.SimulationError, match=f"action of event 'kick' .*{words}") as caught:
        lw.simulate(model, 2.0, bent(model), events=[event])
    error = caught.value
    assert (error.status, error.where) == ("LAW_RAISED", "kick")
    assert error.run.report.events == ((error.time, "kick"),)
    assert error.run.final.q[1] == pytest.approx(0.2, abs=1e-14)
    rest = lw.simulate(model, 1.0, error.run)
    assert rest.final.t == error.time + 1.0


def test_an_action_or_a_quantity_that_raises_is_the_cause():
    model = pendulum()

    def late(t: Any, q: Any, v: Any) -> float:
        return 1.0 / float(t < 0.5)

    action = lw.Event("kick", lambda t, q, v: q["elbow"] - 0.2, action=lambda t, q, v: 1 / 0)
    quantity = lw.Event("kick", late)
    for event in (action, quantity):
        with pytest.raises(lw.SimulationError, match=r"event 'kick' raised ZeroDivisionError") as caught:
            lw.simulate(model, 2.0, bent(model), events=[event])
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert caught.value.where == "kick"
        assert caught.value.hint


@pytest.mark.parametrize("method", METHODS)
def test_a_quantity_that_is_not_finite_is_not_passed_over(method):
    model = pendulum()
    event = lw.Event("depth", lambda t, q, v: lw.sqrt(q["elbow"] - 0.2) + 1.0)
    with pytest.raises(lw.SimulationError, match="event 'depth' gives") as caught:
        lw.simulate(model, 2.0, bent(model), events=[event], **how(method))
    assert caught.value.where == "depth"
    assert caught.value.run.final.q[1] >= 0.2


def test_an_action_of_a_ball_joint_may_give_any_quaternion_but_zero():
    m = lw.Mechanism("top")
    body = m.add(lw.Body("top", lw.Box(0.1, 0.2, 0.3), density=1000))
    m.add(lw.Spherical("ball", m.ground, body))
    model = m.compile()
    start = model.state(velocities={"ball": (1.0, 2.0, 3.0)})

    def run(factor: float) -> lw.Recording:
        event = lw.Event("turn", lambda t, q, v: t - 0.5, action=lambda t, q, v: (factor * q, v))
        return lw.simulate(model, 1.0, start, events=[event])

    np.testing.assert_allclose(run(7.0).final.q, run(1.0).final.q, rtol=0, atol=1e-9)
    with pytest.raises(lw.SimulationError, match=r"'turn'.*quaternion of zeros"):
        run(0.0)


def test_a_motor_under_an_action_has_its_work_booked():
    model = driven(lambda t, q, v: 2.0 * lw.sin(5.0 * t))
    event = lw.Event("brake", lambda t, q, v: q["shoulder"], action=lambda t, q, v: (q, 0.7 * v))
    run = lw.simulate(model, 5.0, bent(model), events=[event])
    assert len(times(run)) > 3
    assert np.ptp(run.work) > 1.0
    assert run.energy_error < 1e-7


def test_many_events_of_a_smooth_motion_are_all_found():
    """Two crossings inside of one long step would be lost."""
    m = lw.Mechanism("wheel")
    body = m.add(lw.Body("wheel", lw.Box(1, 0.2, 0.1), mass=1.0))
    m.add(lw.Revolute("axle", m.ground, body, axis=(0, 0, 1), damping=0.01))
    model = m.compile()
    half = lw.Event("half turn", lambda t, q, v: lw.sin(q["axle"] + 0.3), action="note")
    run = lw.simulate(model, 10.0, model.state(velocities={"axle": 20.0}), events=[half])
    assert len(run.report.events) == int((run.final.q[0] + 0.3) / np.pi) > 30
