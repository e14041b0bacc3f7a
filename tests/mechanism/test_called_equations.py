"""Constraints and drivers that cannot be traced move like those that can."""

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import linkwork as lw


def circle(x: Any, z: Any) -> Any:
    return x * x + z * z - 1.0


class Traced(lw.Constraint):
    def phi(self, body: Any) -> Any:
        return [circle(body.position[0], body.position[-1])]


class Branching(lw.Constraint):
    def phi(self, body: Any) -> Any:
        x, z = body.position[0], body.position[-1]
        return [circle(x, z) if z < 9.0 else 0.0]


class Numpy(lw.Constraint):
    def phi(self, body: Any) -> Any:
        p = np.array([float(x) for x in body.position])
        return np.array([p[0] ** 2 + p[-1] ** 2 - 1.0])


class WithSlope(Numpy):
    asked = 0

    def phi_q(self, body: Any) -> Any:
        type(self).asked += 1
        p = [float(x) for x in body.position]
        rows = np.zeros((1, 3 if len(p) == 2 else 7))
        rows[0, 0], rows[0, len(p) - 1] = 2.0 * p[0], 2.0 * p[-1]
        return rows


class WrongSlope(Numpy):
    def phi_q(self, body: Any) -> Any:
        return np.ones((1, 7))


CALLED = [Branching, Numpy, WithSlope]


def bead(kind: type[lw.Constraint], space: str) -> lw.Mechanism:
    plane = space == "plane"
    m = lw.Mechanism("bead", space=space, gravity=(0, -9.81) if plane else (0, 0, -9.81))
    at = (0.6, -0.8) if plane else (0.6, 0, -0.8)
    m.add(kind("track", m.add(lw.Body("bead", lw.Sphere(0.05), mass=1.0, position=at))))
    return m


@pytest.mark.parametrize("space", ["space", "plane"])
@pytest.mark.parametrize("kind", CALLED)
def test_a_constraint_that_is_called_moves_like_one_that_is_traced(kind, space):
    runs = [lw.simulate(bead(one, space), 1.0, every=0.1) for one in (Traced, kind)]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-7)
    np.testing.assert_allclose(runs[1]["track"].force, runs[0]["track"].force, rtol=1e-6)
    assert runs[0].report.python_laws == ()
    assert runs[1].report.python_laws == ("track",)
    assert runs[1].report.loop_gap < 1e-9


def test_a_derivative_that_is_given_is_used_and_compared():
    before = WithSlope.asked
    lw.simulate(bead(WithSlope, "space"), 0.1)
    assert WithSlope.asked > before + 100
    with pytest.raises(lw.ModelError, match=r"constraint 'track': phi_q\[0, \d\] is 1 where phi changes by"):
        bead(WrongSlope, "space").compile()


def test_batches_and_threads_call_too():
    model = bead(Numpy, "plane").compile()
    q = np.tile(model.q_drawn, (5, 1))
    runs = lw.simulate(model, 0.3, q=q, threads=2)
    alone = lw.simulate(model, 0.3, times=[0.3])
    for run in runs:
        np.testing.assert_allclose(run.q[-1], alone.q[-1], atol=1e-9)


class Slot(lw.Constraint):
    """The end of a rod in a slot; it may be asked for traced, or for numbers alone."""

    plain = False

    def phi(self, rod: Any) -> Any:
        x, y = rod.to_world((0.3, 0))
        if self.plain:
            x, y = float(x), float(y)
        return [y - 0.02 * x]


class PlainSlot(Slot):
    plain = True


class Follow(lw.Constraint):
    """One joint follows another by a table."""

    def phi(self, a: Any, b: Any) -> Any:
        return [float(a.position) - float(np.sin(float(b.position)))]


class FollowTraced(lw.Constraint):
    def phi(self, a: Any, b: Any) -> Any:
        return [a.position - lw.sin(b.position)]


def slider(slot: type[Slot], law: Any) -> lw.Mechanism:
    m = lw.Mechanism("slider", space="plane")
    crank = m.add(lw.Body("crank", lw.Box(0.1, 0.02, 0.02), density=1000.0))
    rod = m.add(lw.Body("rod", lw.Box(0.3, 0.02, 0.02), density=1000.0, position=(0.1, 0)))
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, rod, on_parent=(0.1, 0), on_child=(0, 0)))
    m.add(slot("slot", rod))
    m.add(lw.Driver("motor", "A", law))
    return m


def steady(t: Any) -> Any:
    return 6.0 * t + 0.3 + 0.1 * lw.sin(5.0 * t)


TIMES = np.linspace(-1.0, 3.0, 4001)
LAWS = {
    "branching": lambda t: steady(t) if t > -9.0 else 0.0,
    "numpy": lambda t: 6.0 * float(t) + 0.3 + 0.1 * float(np.sin(5.0 * float(t))),
    "spline": CubicSpline(TIMES, 6.0 * TIMES + 0.3 + 0.1 * np.sin(5.0 * TIMES)),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_driver_that_is_called_drives_like_one_that_is_traced(name):
    models = [slider(Slot, steady), slider(PlainSlot, LAWS[name])]
    runs = [lw.simulate(m, 0.5, every=0.1) for m in models]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-7)
    np.testing.assert_allclose(runs[1]["motor"].force, runs[0]["motor"].force, atol=1e-6)
    np.testing.assert_allclose(runs[1]["motor"].acceleration, runs[0]["motor"].acceleration, atol=2e-5)
    motions = [lw.kinematics(m, np.linspace(0.0, 1.0, 11)) for m in models]
    np.testing.assert_allclose(motions[1]["rod"].position, motions[0]["rod"].position, atol=1e-9)
    np.testing.assert_allclose(motions[1]["rod"].velocity, motions[0]["rod"].velocity, atol=1e-8)
    np.testing.assert_allclose(motions[1]["slot"].force, motions[0]["slot"].force, atol=1e-6)


def test_constraints_between_joints_may_be_called():
    runs = []
    for kind in (FollowTraced, Follow):
        m = lw.Mechanism("pair")
        for name in "ab":
            body = m.add(lw.Body(f"body {name}", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
            m.add(lw.Revolute(name, m.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
        m.add(kind("follow", "a", "b"))
        runs.append(lw.simulate(m, 0.5, m.compile().state(b=0.5), every=0.1))
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-8)


# what goes wrong


def test_a_phi_that_raises_on_numbers_too_is_a_mistake():
    class Wrong(lw.Constraint):
        def phi(self, body: Any) -> Any:
            raise LookupError("no such table")

    with pytest.raises(lw.ModelError, match="constraint 'track': phi raised LookupError: no such table"):
        bead(Wrong, "space").compile()


def test_a_phi_that_raises_on_the_way_ends_the_run_by_name():
    class Ends(lw.Constraint):
        def phi(self, body: Any) -> Any:
            if float(body.position[-1]) < -0.95:
                raise LookupError("the table ends here")
            return [circle(float(body.position[0]), float(body.position[-1]))]

    with pytest.raises(lw.SimulationError, match="'track' raised LookupError: the table ends here"):
        lw.simulate(bead(Ends, "space"), 1.0)


def test_a_law_that_raises_on_the_way_ends_the_run_by_name():
    def law(t: Any) -> Any:
        if t > 0.3:
            raise LookupError("the table ends here")
        return 0.1 * t

    with pytest.raises(lw.SimulationError, match="'motor' raised LookupError: the table ends here"):
        lw.simulate(slider(Slot, law), 1.0)
    with pytest.raises(ValueError, match=r"driver 'motor': its law raised LookupError.*t = 0.5 s"):
        lw.kinematics(slider(Slot, law), [0.0, 0.5])
    with pytest.raises(lw.ModelError, match="driver 'motor': its law raised NameError"):
        slider(Slot, lambda t: undefined).compile()  # type: ignore[name-defined] # noqa: F821


def test_a_phi_that_gives_two_answers_is_refused():
    rng = np.random.default_rng(0)

    class Noise(lw.Constraint):
        def phi(self, body: Any) -> Any:
            return [float(body.position[0]) + rng.normal()]

    with pytest.raises(lw.ModelError, match="constraint 'track': phi is not a function of its arguments"):
        bead(Noise, "space").compile()


def test_what_a_called_phi_reads_from_outside_is_followed():
    radius = [1.0]

    class Own(lw.Constraint):
        def phi(self, body: Any) -> Any:
            return [float(np.hypot(float(body.position[0]), float(body.position[-1]))) - radius[0]]

    m = bead(Own, "space")
    model = m.compile()
    lw.simulate(model, 0.1)
    radius[0] = 2.0
    run = lw.simulate(model, 0.1)
    p = run["bead"].position[-1]
    assert np.hypot(p[0], p[2]) == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("way", ["run", "batch", "stepped", "law"])
def test_what_a_called_phi_reads_must_not_change_while_it_moves(way):
    radius = [1.0]

    class Own(lw.Constraint):
        def phi(self, body: Any) -> Any:
            return [float(np.hypot(float(body.position[0]), float(body.position[-1]))) - radius[0]]

    def change(t: Any, q: Any, v: Any) -> Any:
        radius[0] = 1.1
        return q, v

    m = bead(Own, "space")
    model = m.compile()
    halfway = lw.Event("halfway", lambda t, q, v: t - 0.05, action=change)
    words = "constraint 'track' reads from outside has changed during the run: 'radius' had 1.0"
    if way == "run":
        with pytest.raises(lw.SimulationError, match=words) as raised:
            lw.simulate(model, 0.1, events=[halfway])
        assert raised.value.run.report.status == "LAW_CHANGED"
    elif way == "batch":
        with pytest.warns(UserWarning, match="2 of 2 runs failed"):
            runs = lw.simulate(model, 0.1, q=np.tile(model.q_drawn, (2, 1)), events=[halfway])
        assert list(runs.status) == ["LAW_CHANGED"] * 2
    elif way == "stepped":
        sim = lw.Simulation(model)
        sim.step(0.05)
        radius[0] = 1.1
        with pytest.raises(lw.SimulationError, match=words):
            sim.step(0.05)
    else:

        def law(t: float, q: float, v: float) -> float:
            radius[0] = 1.0 if t < 0.05 else 1.1
            return 0.0 if t < 9.0 else 1.0

        other = m.add(lw.Body("wheel", lw.Sphere(0.1), mass=1.0))
        m.add(lw.Revolute("pin", m.ground, other))
        m.add(lw.Motor("motor", "pin", law))
        with pytest.raises(lw.SimulationError, match=words):
            lw.simulate(m, 0.1)
