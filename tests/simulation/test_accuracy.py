"""The error is what was asked for, every method has its order, and looking at a run does not change it."""

import functools
from collections.abc import Callable
from math import cos, sin

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.integrators.methods import METHODS

Array = np.ndarray
Case = tuple[lw.Model, lw.State, float, float]  # model, start, duration [s], size (1 at most) [m]


# mechanisms of different kinds, in ordinary motion


def rods(count: int, length: float, damping: float = 0.0, planar: bool = False) -> lw.Mechanism:
    """Return hanging rods of 1 kg, one hinged to the other."""
    m = lw.Mechanism("rods", space="plane" if planar else "space")
    above = m.ground
    for k in range(count):
        place, middle = -length * k, -length * (k + 0.5)
        moment = length**2 / 12
        if planar:
            rod = m.add(lw.Body(f"rod{k}", lw.Inertia(1.0, (0, 0), moment), position=(0, middle)))
            m.add(lw.Revolute(f"pin{k}", above, rod, at=(0, place), damping=damping))
        else:
            tensor = np.diag([moment, moment, 0.01 * moment])
            rod = m.add(lw.Body(f"rod{k}", lw.Inertia(1.0, (0, 0, 0), tensor), position=(0, 0, middle)))
            m.add(lw.Revolute(f"pin{k}", above, rod, at=(0, 0, place), axis=(0, 1, 0), damping=damping))
        above = rod
    return m


def box(mass: float = 2.0) -> tuple[lw.Mechanism, lw.Body]:
    m = lw.Mechanism("box")
    return m, m.add(lw.Body("box", lw.Box(0.1, 0.2, 0.3), mass=mass))


def pendulum() -> Case:
    model = rods(1, 1.0, planar=True).compile()
    return model, model.state(pin0=1.5), 10.0, 1.0


def double_pendulum() -> Case:
    model = rods(2, 1.0).compile()
    return model, model.state(pin0=1.2, pin1=0.3), 4.0, 1.0


def planar_chain() -> Case:
    model = rods(5, 0.5, damping=0.02, planar=True).compile()
    return model, model.state(pin0=0.3, pin2=-0.2), 8.0, 0.5


def driven_arm() -> Case:
    m = rods(2, 0.6, damping=0.1)
    m.add(lw.Motor("shoulder", "pin0", lambda t, q, v: 5 * lw.sin(2 * t)))
    m.add(lw.Motor("elbow", "pin1", lambda t, q, v: 2 * lw.cos(3 * t) - 0.1 * v))
    model = m.compile()
    return model, model.state(), 6.0, 0.6


def cart_pole() -> Case:
    model = lw.examples.cart_pole().compile()
    return model, model.state(pin=0.3, velocities={"rail": 0.1}), 10.0, 0.5


def small_cart_pole() -> Case:
    """A cart-pole of a millimetre, 160 swings in 10 s."""
    m = lw.Mechanism("small")
    cart = m.add(lw.Body("cart", lw.Box(4e-4, 2e-4, 1e-4), density=800))
    needle = lw.Cylinder(radius=1e-5, length=1e-3)
    pole = m.add(lw.Body("pole", needle, density=2700, position=(0, 0, 5.5e-4)))
    m.add(lw.Prismatic("rail", m.ground, cart, axis=(1, 0, 0)))
    m.add(lw.Revolute("pin", cart, pole, at=(0, 0, 5e-5), axis=(0, 1, 0)))
    model = m.compile()
    return model, model.state(pin=2.0), 0.3, 5e-4


def crane() -> Case:
    """A trolley on a boom at 100 m, with a load on a rope of 80 m."""
    m = lw.Mechanism("crane")
    trolley = m.add(lw.Body("trolley", lw.Box(4, 3, 1), density=500, position=(0, 0, 100)))
    load = m.add(lw.Body("load", lw.Inertia(2000, (0, 0, 0), np.diag([800] * 3)), position=(0, 0, 20)))
    m.add(lw.Prismatic("boom", m.ground, trolley, at=(0, 0, 100), axis=(1, 0, 0), damping=200))
    m.add(lw.Universal("rope", trolley, load, at=(0, 0, 100), axis=(0, 1, 0), axis2=(1, 0, 0)))
    m.add(lw.Motor("drive", "boom", lambda t, q, v: 4000 * lw.sin(0.4 * t)))
    model = m.compile()
    return model, model.state(boom=60, rope=(0.2, 0.1)), 20.0, 1.0


def acrobat() -> Case:
    model = lw.examples.acrobat().compile()
    velocities = {"left knee": 2.0, "right hip": (1.0, 0.5, 0.0)}
    return model, model.state(bar=(cos(0.6), sin(0.6), 0, 0), velocities=velocities), 0.5, 0.5


def thrown_box() -> Case:
    m, body = box()
    m.add(lw.Free("air", m.ground, body))
    model = m.compile()
    return model, model.state(velocities={"air": [2, 3, 1, 1, 0, 5]}), 5.0, 0.2


def hung_box() -> Case:
    """A box in three springs."""
    m, body = box()
    m.add(lw.Free("air", m.ground, body))
    for k, (x, y) in enumerate([(1, 0), (-0.5, 0.9), (-0.5, -0.9)]):
        ends = {"on_parent": (x, y, 1.0), "on_child": (0.05 * x, 0.1 * y, 0.15)}
        m.add(lw.Spring(f"cord{k}", m.ground, body, **ends, stiffness=60, damping=0.3, rest=0.8))
    model = m.compile()
    return model, model.state(velocities={"air": [1, 0.5, 0.2, 0.3, 0.2, 0]}), 8.0, 0.2


def spring_mass() -> Case:
    m, body = box()
    m.add(lw.Prismatic("slide", m.ground, body, axis=(0, 0, 1), stiffness=200, rest=0.1))
    model = m.compile()
    return model, model.state(slide=0.2), 10.0, 0.1


def rubbing_slider() -> Case:
    m, body = box()
    m.add(lw.Prismatic("slide", m.ground, body, axis=(1, 0, 0), friction=2.0, stiffness=50))
    m.add(lw.Motor("pull", "slide", lambda t, q, v: 6 * lw.sin(2 * t)))
    model = m.compile()
    return model, model.state(slide=0.2), 10.0, 0.1


def screw() -> Case:
    m, body = box()
    m.add(lw.Helical("screw", m.ground, body, at=(0.1, 0, 0), axis=(0, 0.6, 0.8), pitch=0.05, damping=0.05))
    model = m.compile()
    return model, model.state(screw=0.5), 10.0, 0.2


def top() -> Case:
    m = lw.Mechanism("top")
    body = m.add(lw.Body("top", lw.Inertia(1.0, (0, 0, 0.1), np.diag([0.004, 0.004, 0.002]))))
    m.add(lw.Spherical("tip", m.ground, body))
    model = m.compile()
    return model, model.state(tip=(cos(0.2), sin(0.2), 0, 0), velocities={"tip": (0, 0, 25)}), 2.0, 0.1


CASES: list[Callable[[], Case]] = [
    pendulum,
    double_pendulum,
    planar_chain,
    driven_arm,
    cart_pole,
    small_cart_pole,
    crane,
    acrobat,
    thrown_box,
    hung_box,
    spring_mass,
    rubbing_slider,
    screw,
    top,
]


def by_name(case: Callable[[], Case]) -> str:
    return case.__name__


def states(run: lw.Recording) -> Array:
    return np.hstack([run.q, run.v])


def sizes(model: lw.Model, size: float) -> Array:
    """Return what errors are relative to, beside the values themselves."""
    units = (*model.position_units, *model.coordinate_units)
    return np.array([size if unit == "m" else 1.0 for unit in units])


# accuracy


@functools.cache
def known(case: Callable[[], Case]) -> tuple[Callable[..., Array], Array, Array]:
    """Return how to run it, the states it should have, and what errors are relative to."""
    model, start, duration, size = case()
    wanted = {"times": np.linspace(0, duration, 21), "max_step": 10.0}

    def run(accuracy: float, method: str) -> Array:
        return states(lw.simulate(model, duration, start, accuracy=accuracy, method=method, **wanted))

    exact = run(1e-13, "rkf45")
    return run, exact, sizes(model, size) + np.abs(exact)


def errors(case: Callable[[], Case], accuracies: list[float], method: str) -> Array:
    """Return the largest error of whole runs, each against the accuracy asked."""
    run, exact, allowed = known(case)
    return np.array([(np.abs(run(x, method) - exact) / allowed).max() / x for x in accuracies])


@pytest.mark.parametrize(("method", "spread", "most"), [("rkf45", 5, 20), ("auto", 100, 3)])
@pytest.mark.parametrize("case", CASES, ids=by_name)
def test_error_is_proportional_to_the_accuracy_asked(case, method, spread, most):
    """Few long steps of order 8 are less regular than many of order 5, and more accurate."""
    found = errors(case, [10.0**-k for k in range(4, 12)], method)
    assert found.max() / found.min() < spread
    assert found.max() < most


@pytest.mark.parametrize("case", CASES, ids=by_name)
def test_error_of_the_implicit_method_is_at_most_of_the_size_asked(case):
    assert errors(case, [1e-5, 1e-8], "rodas").max() < 20


@pytest.mark.parametrize("case", [pendulum, hung_box], ids=by_name)
def test_more_accuracy_costs_more_steps_by_the_order_of_the_method(case):
    model, start, duration, _ = case()
    for method, power in (("rkf45", 5), ("dop853", 8), ("rodas", 4)):
        steps = [
            lw.simulate(model, duration, start, accuracy=accuracy, method=method).report.accepted
            for accuracy in (1e-6, 1e-10)
        ]
        assert np.log(steps[1] / steps[0]) / np.log(1e4) == pytest.approx(1 / power, rel=0.15)


# orders

STEPS = {  # per second; the errors are neither large nor at round-off
    "euler": (800, 1600, 3200),
    "semi-implicit": (800, 1600, 3200),
    "rk4": (160, 320, 640),
    "rkf45": (160, 320, 640),
    "dop853": (24, 32, 48),
    "rodas": (160, 320, 640),
}


def swinging_plate() -> Case:
    """A plate in the plane, in two springs, pushed by a force of time."""
    m = lw.Mechanism("plate", space="plane")
    plate = m.add(lw.Body("plate", lw.Inertia(2.0, (0, 0), 0.1)))
    m.add(lw.Planar("table", m.ground, plate))
    for k, x in enumerate((1.0, -0.8)):
        m.add(lw.Spring(f"cord{k}", m.ground, plate, on_parent=(x, 1), on_child=(0.3 * x, 0.1), stiffness=80))
    m.add(lw.Force("push", plate, lambda body, t: (3 * lw.sin(3 * t), 0), at=(0, 0.1)))
    model = m.compile()
    return model, model.state(velocities={"table": (0.5, 0.2, 1.0)}), 1.0, 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", [hung_box, swinging_plate], ids=by_name)
def test_every_method_has_its_order(case, method):
    model, start, _, _ = case()
    exact = states(lw.simulate(model, 1.0, start, accuracy=1e-14, method="dop853", every=1 / 8))
    found = []
    for count in STEPS[method]:
        run = lw.simulate(model, 1.0, start, step=1 / count, method=method, every=1 / 8)
        found.append(np.abs(states(run) - exact).max())
    slope = -np.polyfit(np.log(STEPS[method]), np.log(found), 1)[0]
    assert slope == pytest.approx(METHODS[method].order, abs=0.2)


# samples

ADAPTIVE = ("auto", "dop853", "rodas")


def same(a: lw.Recording, b: lw.Recording, common: Array) -> bool:
    """Return whether two runs are equal bit for bit at common times."""
    rows = [np.searchsorted(run.time, common) for run in (a, b)]
    assert (a.time[rows[0]] == common).all()
    assert (b.time[rows[1]] == common).all()
    pairs = ((a.q, b.q), (a.v, b.v), (a.work, b.work))
    return all(np.array_equal(x[rows[0]], y[rows[1]]) for x, y in pairs)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_samples_do_not_change_the_motion(method):
    model, start, _, _ = hung_box()
    few = np.linspace(0, 2, 9)
    many = np.union1d(few, np.random.default_rng(1).uniform(0, 2, 900))
    steps = lw.simulate(model, 2.0, start, method=method)
    a, b = (lw.simulate(model, 2.0, start, method=method, times=times) for times in (few, many))
    assert same(a, b, few)
    assert same(steps, lw.simulate(model, 2.0, start, method=method, times=steps.time), steps.time)
    assert a.report.accepted == b.report.accepted == steps.report.accepted
    for run in (a, b):
        assert np.array_equal(run.final.q, steps.final.q)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_the_end_does_not_change_the_motion(method):
    model, start, _, _ = hung_box()
    every = {"every": 2.0**-8, "method": method}  # binary fractions: the times are the same numbers
    short, long = (lw.simulate(model, duration, start, **every) for duration in (1.0, 2.0))
    assert same(short, long, short.time)
    second = lw.simulate(model, 1.0, short, **every)
    assert same(second, long, second.time)
    assert second.time[0] == 1.0


def test_a_batch_has_the_bits_of_single_runs():
    model, start, _, _ = hung_box()
    times = np.linspace(0, 1, 11)
    v = start.v * np.linspace(0.5, 1.5, 11)[:, None]
    batch = lw.simulate(model, 1.0, q=start.q, v=v, times=times)
    for k in (0, 4, 10):
        assert same(batch[k], lw.simulate(model, 1.0, lw.State(start.q, v[k]), times=times), times)


def test_samples_are_exactly_where_they_were_wanted():
    model, start, _, _ = pendulum()
    assert np.array_equal(lw.simulate(model, 1.0, start, every=0.1).time, 0.1 * np.arange(11))
    assert np.array_equal(lw.simulate(model, 1.0, start, every=0.3).time, 0.3 * np.arange(4))
    later = lw.State(start.q, start.v, 5.0)
    assert np.array_equal(lw.simulate(model, 1.0, later, times=[5.25, 6.0]).time, [5.25, 6.0])


def test_without_times_every_step_is_a_sample():
    model, start, _, _ = pendulum()
    run = lw.simulate(model, 1.0, start)
    assert len(run) == run.report.accepted + 2  # the start, and the end, which is no step of the mesh
    assert (np.diff(run.time) > 0).all()
    assert (run.time[0], run.time[-1]) == (0.0, 1.0)
    assert np.array_equal(run.final.q, run.q[-1])
    fixed = lw.simulate(model, 1.0, start, step=0.01, method="rk4")
    assert np.array_equal(fixed.time, 0.01 * np.arange(101))


def test_samples_between_fixed_steps_are_as_good_as_the_steps():
    model, start, _, _ = pendulum()
    times = np.linspace(0, 1, 23)
    exact = lw.simulate(model, 1.0, start, accuracy=1e-13, method="dop853", times=times)
    fixed = lw.simulate(model, 1.0, start, step=0.01, method="rk4", times=times)
    assert np.abs(fixed.q - exact.q).max() < 1e-7
