"""Whatever an action leaves behind, an event that is crossed is found, or the run stops and names it."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from simulation.scenes import ball

import linkwork as lw
from linkwork.simulation.integrators.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore:.*the energy does not balance")  # fixed steps of first order

HEIGHT, FLOOR = 0.02, 1e-6  # where it falls from [m]; what is deeper is through the floor [m]
STEP, SPAN = 2e-3, 0.2  # [s]; without a floor it would be 0.18 m below

# How every method of the registry is asked for: by accuracy if it can, and with a fixed step.
WAYS: dict[str, dict[str, Any]] = {
    f"{name}{' fixed' if step else ''}": {"method": name, **({"step": STEP} if step else {})}
    for name, method in METHODS.items()
    for step in (False, True)
    if step or method.estimates
}
# Actions that hold the ball up, as they give height and velocity after an impact.
HOLDING: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "reflect": lambda z, v: (z, -v),
    "bounce": lambda z, v: (z, -0.5 * v),
    "bounce upwards": lambda z, v: (z, 0.5 * abs(v)),
    "stop dead": lambda z, v: (0.0 * z, 0.0 * v),
    "stop where it is": lambda z, v: (z, 0.0),
    "slow down to nothing": lambda z, v: (z, 1e-9 * v),
    "leave just outside": lambda z, v: (abs(z) + 1e-6, -1e-9 * abs(v)),
    "leave just outside, at rest": lambda z, v: (2e-6, 0.0),
    "leave just inside": lambda z, v: (-1e-9, abs(v)),
    "leave just inside, at rest": lambda z, v: (-1e-9, 0.0),
}
PASSING: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "none": lambda z, v: (z, v),
    "kick through": lambda z, v: (z, 2.0 * v),
    "kick through slowly": lambda z, v: (z, 0.01 * v),
    "leave below": lambda z, v: (-1e-3, v),
}
# The sign of the quantity against the height, and the direction of crossings that count.
DIRECTIONS = {"falling": (1.0, -1), "rising": (-1.0, 1), "both": (1.0, 0), "both, upside down": (-1.0, 0)}


def sinking(z: float, v: float) -> tuple[float, float]:
    """Bounce, and leave the ball a little deeper than where it was found."""
    return z - 1e-9, -0.5 * v


def floor(action: Callable[[float, float], tuple[float, float]], sign: float, direction: int) -> lw.Event:
    """Return the floor as an event."""

    def act(t: float, q: Any, v: Any) -> Any:
        height, speed = action(float(q[0]), float(v[0]))
        return [height], [speed]

    return lw.Event("floor", lambda t, q, v: sign * q["height"], direction=direction, action=act)


def fall(event: lw.Event, **way: Any) -> lw.Recording:
    model = ball()
    return lw.simulate(model, SPAN, model.state(height=HEIGHT), events=[event], check=False, **way)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("action", HOLDING)
@pytest.mark.parametrize("way", WAYS)
def test_a_ball_does_not_fall_through_a_floor_unseen(way, action, direction):
    run = fall(floor(HOLDING[action], *DIRECTIONS[direction]), **WAYS[way])
    assert run.q.min() > -FLOOR
    assert len(run.report.events) >= 2 or action == "leave just outside, at rest"
    if run.status != "DONE":
        assert run.status == "EVENT_STORM"
        assert "event 'floor' is the last of" in run.report.message
        assert run.report.hint


@pytest.mark.parametrize("direction", ["falling", "rising"])
@pytest.mark.parametrize("way", WAYS)
def test_a_ball_that_sinks_a_little_at_each_bounce_does_not_fall_through(way, direction):
    """Steps of first order find short bounces at zero when the ball still rises: the bounce sends it down."""
    run = fall(floor(sinking, *DIRECTIONS[direction]), **WAYS[way])
    assert run.q.min() > -FLOOR
    assert len(run.report.events) > 3


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("action", PASSING)
@pytest.mark.parametrize("way", WAYS)
def test_a_ball_that_is_let_through_is_seen_once(way, action, direction):
    run = fall(floor(PASSING[action], *DIRECTIONS[direction]), **WAYS[way])
    assert run.status == "DONE"
    assert len(run.report.events) == 1
    assert run.q[-1, 0] < -0.03


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("way", WAYS)
def test_crossings_in_the_other_direction_do_not_count(way, sign):
    run = fall(floor(HOLDING["reflect"], sign, int(sign)), **WAYS[way])
    assert (run.status, run.report.events) == ("DONE", ())


@pytest.mark.parametrize("direction", ["falling", "both, upside down"])
@pytest.mark.parametrize("way", WAYS)
def test_lanes_find_the_same_events(way, direction):
    model, starts = ball(), np.linspace(0.01, 0.04, 3)[:, None]
    for action in (*HOLDING.values(), *PASSING.values()):
        event = floor(action, *DIRECTIONS[direction])
        options = {"events": [event], "every": 0.01, **WAYS[way]}
        runs = lw.simulate(model, 0.1, q=starts, v=0.0 * starts, check=False, **options)
        for k, start in enumerate(starts):
            alone = lw.simulate(model, 0.1, model.state(height=start[0]), check=False, **options)
            assert runs.reports[k].events == alone.report.events
            assert runs.status[k] == alone.status
            assert runs[k].final.q.tobytes() == alone.final.q.tobytes()


@pytest.mark.parametrize("direction", ["falling", "both, upside down"])
@pytest.mark.parametrize("way", WAYS)
def test_a_simulation_that_is_stepped_finds_them_too(way, direction):
    model = ball()
    for action in HOLDING.values():
        event = floor(action, *DIRECTIONS[direction])
        sim = lw.Simulation(model, model.state(height=0.01), events=[event], **WAYS[way])
        with suppress(lw.SimulationError):
            for _ in range(40):
                sim.step(2e-3)
        assert sim.q[0] > -FLOOR
        assert sim.events


@pytest.mark.parametrize("direction", [-1, 0])
@pytest.mark.parametrize("way", WAYS)
def test_bounces_that_become_ever_shorter_end_in_time(way, direction):
    """Restitution 0.5: infinitely many bounces until 3 times the time of the fall, far from zero as well."""
    model = ball()
    for height in (0.0, 0.5, 1000.0):
        event = lw.Event(
            "floor",
            lambda t, q, v, z=height: q["height"] - z,
            direction=direction,
            action=lambda t, q, v: (q, -0.5 * v),
        )
        start = model.state(height=height + HEIGHT)
        run = lw.simulate(model, 1.0, start, events=[event], check=False, **WAYS[way])
        rest = 3.0 * math.sqrt(2.0 * HEIGHT / 9.81)
        assert run.q.min() - height > -FLOOR
        assert len(run.report.events) > 3
        if run.status != "DONE":
            assert run.status == "EVENT_STORM"
            assert run.final.t == pytest.approx(rest, abs=0.05 if "semi" in way else 3e-5)


def free(damping: float = 0.0, gravity: float = 0.0) -> lw.Model:
    """Return a slide."""
    m = lw.Mechanism("slide", gravity=(0, 0, gravity))
    body = m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0))
    m.add(lw.Prismatic("height", m.ground, body, axis=(0, 0, 1), damping=damping))
    return m.compile()


@pytest.mark.parametrize("direction", [-1, 0])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_stopped_and_stays_is_seen_once(way, direction):
    model = free()
    start = model.state(height=0.1, velocities={"height": -1.0})
    run = lw.simulate(
        model, 0.3, start, events=[floor(HOLDING["stop where it is"], 1.0, direction)], **WAYS[way]
    )
    assert (run.status, len(run.report.events)) == ("DONE", 1)
    assert abs(run.final.q[0]) < 1e-12


@pytest.mark.parametrize("way", WAYS)
def test_a_crossing_that_is_slow_against_the_motion_before_is_one(way):
    """Damping has left 1e-8 of the speed; an action that changes nothing stops nothing."""
    model = free(damping=10.0)
    start = model.state(velocities={"height": 10.0})
    end = lw.simulate(model, 1.85, start, **WAYS[way]).final.q[0]
    event = lw.Event("mark", lambda t, q, v: q["height"] - end, action=lambda t, q, v: None)
    run = lw.simulate(model, 2.5, start, events=[event], **WAYS[way])
    assert [name for _, name in run.report.events] == ["mark"]


@pytest.mark.parametrize("acting", [False, True])
@pytest.mark.parametrize("depth", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("method", ["rkf45", "dop853", "rodas", "rk4"])
def test_a_graze_is_two_crossings(method, depth, acting):
    model = free(gravity=5.0)
    start = model.state(height=1.0, velocities={"height": -3.0})  # it turns at 0.1 m, after 0.6 s
    action = (lambda t, q, v: None) if acting else "note"
    step: dict[str, Any] = {"step": 1e-2} if method == "rk4" else {}
    for direction, count in ((-1, 1), (0, 2), (1, 1)):
        event = lw.Event(
            "mark", lambda t, q, v: q["height"] - 0.1 - depth, direction=direction, action=action
        )
        run = lw.simulate(model, 1.0, start, events=[event], method=method, **step)
        assert len(run.report.events) == count
        assert run.report.events[0][0] == pytest.approx(0.6, abs=2 * math.sqrt(depth))


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("stopping", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_floor_that_moves_is_not_fallen_through(way, stopping, called):
    model, restitution = ball(), 0.0 if stopping else 0.5

    def quantity(t: Any, q: Any, v: Any) -> Any:
        return float(q[0]) - 0.01 * math.sin(20.0 * float(t)) if called else q[0] - 0.01 * lw.sin(20.0 * t)

    def act(t: float, q: Any, v: Any) -> Any:
        speed = 0.2 * math.cos(20.0 * t)
        return q, [speed - restitution * (v[0] - speed)]

    event = lw.Event("floor", quantity, direction=-1, action=act)
    run = lw.simulate(model, 0.5, model.state(height=0.03), events=[event], check=False, **WAYS[way])
    assert (run.q[:, 0] - 0.01 * np.sin(20.0 * run.time)).min() > -FLOOR
    assert run.report.events
    assert run.status in ("DONE", "EVENT_STORM")


@pytest.mark.parametrize("way", WAYS)
def test_two_quantities_that_jump_at_the_same_time_are_both_seen(way):
    def above(t: Any, q: Any, v: Any) -> float:
        return 1.0 if float(q[0]) > 0.01 else -1.0

    pair = [lw.Event(name, above, action="note") for name in "ab"]
    model = ball()
    run = lw.simulate(model, 0.1, model.state(height=HEIGHT), events=pair, **WAYS[way])
    assert [name for _, name in run.report.events] == ["a", "b"]


def test_a_run_in_pieces_after_an_action_gives_the_same_bits():
    """The base that an action made is looked at anew in every piece."""
    model = ball()
    words: dict[str, Any] = {"events": [floor(HOLDING["bounce"], 1.0, 0)], "max_step": 0.01}
    whole = lw.simulate(model, 0.1875, model.state(height=HEIGHT), **words)
    part = lw.simulate(model, 0.125, model.state(height=HEIGHT), **words)
    rest = lw.simulate(model, 0.0625, part, **words)
    assert rest.final.q.tobytes() == whole.final.q.tobytes()
    assert part.report.events + rest.report.events == whole.report.events
