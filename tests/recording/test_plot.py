"""Pictures of runs: phase portraits, paths, energies, errors; units on every axis."""

from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib import pyplot

import linkwork as lw
from linkwork.recording.curve import Trace, shown_range
from linkwork.recording.plot import Curves, figure
from linkwork.recording.plot_runs import _curves


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def run() -> lw.Recording:
    model = lw.examples.cart_pole().compile()
    event = lw.Event("upright", lambda t, q, v: q["pin"] - 3.0, action="note")
    return lw.simulate(model, 2.0, model.state(pin=0.6), every=0.02, events=[event])


def test_a_phase_portrait_has_velocities_over_positions(run):
    (axis,) = run.plot(phase="pin").axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("pin: position [rad]", "pin: velocity [rad/s]")
    curve, dot = axis.lines
    assert np.array_equal(curve.get_xdata(), run["pin"].position)
    assert np.array_equal(curve.get_ydata(), run["pin"].velocity)
    assert list(dot.get_xdata()) == [run["pin"].position[0]]


def test_phase_portraits_of_several_units_stand_side_by_side(run):
    labels = [axis.get_xlabel() for axis in run.plot(phase=("pin", "rail")).axes]
    assert labels == ["pin: position [rad]", "rail: position [m]"]


def test_a_path_keeps_its_shape(run):
    (axis,) = run.plot("pole.position[2]", against="pole.position[0]").axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("pole x: position [m]", "pole z: position [m]")
    assert axis.get_aspect() == 1.0
    assert np.array_equal(axis.lines[0].get_ydata(), run["pole"].position[:, 2])


def test_the_energies_are_drawn_together(run):
    (axis,) = run.plot("energy").axes
    assert axis.get_ylabel() == "energy [J]"
    names = [text.get_text() for text in axis.get_legend().get_texts()]
    assert names == ["energy", "kinetic energy", "potential energy", "work"]  # the pin has damping
    total, kinetic, potential, _ = (line.get_ydata() for line in axis.lines)
    np.testing.assert_allclose(kinetic + potential, total, rtol=1e-12)


def test_without_work_there_is_none_in_the_picture():
    model = lw.examples.flipping_box().compile()
    run = lw.simulate(model, 1.0, model.state(velocities={"flight": (0.1, 2, 0, 0, 0, 0)}), every=0.1)
    names = [text.get_text() for text in run.plot("energy").axes[0].get_legend().get_texts()]
    assert "work" not in names


def test_the_error_is_that_of_the_summary(run):
    (axis,) = run.plot("error").axes
    assert axis.get_yscale() == "log"
    assert axis.get_ylabel() == "energy error, relative [1]"
    assert np.nanmax(axis.lines[0].get_ydata()) == pytest.approx(run.energy_error)


def test_events_are_marked(run):
    figure = run.plot("pin", "rail")
    ((moment, name), *_) = run.report.events
    assert all(axis.collections[0].get_segments()[0][0][0] == moment for axis in figure.axes)
    assert name in [text.get_text() for text in figure.axes[0].texts]


def test_single_curves_go_by_their_index(run):
    (trace,) = run.traces("pole.position[2]")
    assert np.array_equal(trace.values, run["pole"].position[:, 2])
    (trace,) = run.traces("pole.rotation[0,2]")
    assert np.array_equal(trace.values, run["pole"].rotation[:, 0, 2])
    (trace,) = run.traces("pole[1]")
    assert trace.label == "pole.position[1]"


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (("pole.position[7]",), {}, "unknown curve"),
        ((), {"phase": "pim"}, "unknown name"),
        (("pin",), {"phase": "rail"}, "give phase= alone"),
        ((), {"against": "pin"}, "what to draw over it"),
        (("pin",), {"against": "pole.position"}, "it has 3 curves; name one"),
    ],
)
def test_what_cannot_be_drawn_is_named(run, names, options, words):
    with pytest.raises((KeyError, ValueError), match=words):
        run.plot(*names, **options)


def test_a_ball_has_no_phase_portrait_by_itself():
    m = lw.Mechanism("ball")
    body = m.add(lw.Body("bob", lw.Sphere(0.1, position=(0, 0, -1)), mass=1))
    m.add(lw.Spherical("ball", m.ground, body))
    with pytest.raises(ValueError, match="4 positions and 3 velocities"):
        lw.simulate(m, 0.1).plot(phase="ball")


# few samples, at the ends of long steps


def box_on_springs() -> lw.Recording:
    m = lw.Mechanism("box")
    body = m.add(lw.Body("box", lw.Box(0.1, 0.2, 0.3), mass=1.0))
    m.add(lw.Free("air", m.ground, body))
    m.add(lw.Spring("cord", m.ground, body, on_child=(0.1, 0, 0), stiffness=60.0, damping=0.1, rest=0.2))
    model = m.compile()
    start = model.state(velocities={"air": (1.0, 2.0, 0.5, 0.3, 0.2, 0.0)})
    return lw.simulate(model, 2.0, start, accuracy=1e-5, method="dop853")


@pytest.mark.parametrize("name", ["air.position", "air.velocity", "box.position", "cord.force", "energy"])
def test_curves_between_the_ends_of_long_steps_are_no_polygons(name):
    run = box_on_springs()
    figure = run.plot(name)
    lines = [line for axis in figure.axes for line in axis.get_lines()]
    times = np.asarray(lines[0].get_xdata(), float)
    assert len(run) < 100 < 400 < len(times)
    assert np.isin(run.time, times).all()
    exact = lw.simulate(run.model, 2.0, lw.State(run.q[0], run.v[0]), times=times, accuracy=1e-10)
    for line, curve, known in zip(lines, _curves(exact, name), _curves(run, name), strict=True):
        drawn = np.asarray(line.get_ydata(), float)
        assert np.abs(drawn - curve.values).max() < 1e-2 * np.abs(curve.values).max()
        np.testing.assert_allclose(drawn[np.isin(times, run.time)], known.values, rtol=0, atol=1e-12)


def test_the_curve_of_the_error_and_asked_samples_are_drawn_as_they_are():
    run = box_on_springs()
    asked = lw.simulate(run.model, 2.0, lw.State(run.q[0], run.v[0]), every=0.1)
    for one, name in ((run, "error"), (asked, "box.position")):
        line = one.plot(name).axes[0].get_lines()[0]
        assert len(line.get_xdata()) == len(one)


def test_a_run_that_failed_is_drawn_as_far_as_it_came():
    m = lw.Mechanism("drop")
    body = m.add(lw.Body("drop", lw.Box(0.1, 0.1, 0.1), mass=1.0))
    m.add(lw.Prismatic("fall", m.ground, body, axis=(0, 0, 1)))
    m.add(lw.Motor("pole", "fall", lambda t, q, v: -1.0 / (q + 1.0) ** 3))
    run = lw.simulate(m.compile(), 5.0, check=False)
    assert run.report.failed
    line = run.plot("fall").axes[0].get_lines()[0]
    np.testing.assert_array_equal(line.get_ydata(), run["fall"].position)


# several runs


def labels(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_runs_are_compared_in_one_picture(run):
    model = lw.examples.cart_pole().compile()
    other = lw.simulate(model, 1.0, model.state(pin=0.2))
    (axis,) = lw.plot([run, other], "pin").axes
    assert labels(axis) == ["cart-pole 1", "cart-pole 2"]
    assert axis.get_ylabel() == "pin: position [rad]"
    assert np.array_equal(axis.lines[0].get_ydata(), run["pin"].position)
    assert axis.lines[1].get_xdata()[-1] == 1.0
    assert axis.lines[0].get_color() != axis.lines[1].get_color()
    (axis,) = lw.plot({"a": run, "b": other}, "pin", "pole.angular_velocity[1]").axes[:1]
    assert labels(axis) == ["a", "b"]
    (axis,) = lw.plot({"a": run, "b": other}, "pole.position").axes
    assert labels(axis) == [f"{name}: pole {k}" for name in "ab" for k in "xyz"]
    (axis,) = lw.plot([run, other], phase="pin").axes
    assert labels(axis) == ["cart-pole 1", "cart-pole 2"]


def test_runs_of_several_mechanisms_have_their_names(run):
    box = lw.examples.flipping_box().compile()
    other = lw.simulate(box, 1.0, box.state(velocities={"flight": (0.1, 2, 0, 0, 0, 0)}))
    (axis,) = lw.plot([run, other], "energy").axes
    assert labels(axis)[0] == "cart-pole: energy"
    assert labels(axis)[-1].startswith(other.title)


def test_a_batch_is_drawn_whole():
    model = lw.examples.cart_pole().compile()
    few = lw.simulate(model, 1.0, q=np.random.default_rng(1).normal(size=(3, 2)))
    (axis,) = few.plot("pin").axes
    assert labels(axis) == ["run 0", "run 1", "run 2"]
    many = lw.simulate(model, 1.0, q=np.random.default_rng(1).normal(size=(40, 2)))
    (axis,) = many.plot("pin").axes
    assert len(axis.lines) == 40
    assert axis.get_legend() is None
    assert len(many.plot("energy").axes) == 1
    assert many.plot("error").axes[0].get_yscale() == "log"


@pytest.mark.parametrize(
    ("runs", "words"),
    [([], "give a run, a list of runs"), (7, "give a run"), ("pin", "give a run"), ([1], "1 is no run")],
)
def test_what_is_no_run_is_refused(runs, words):
    with pytest.raises(ValueError, match=words):
        lw.plot(runs, "pin")


def test_angles_are_drawn_in_degrees_on_request(run):
    position, velocity, slide = run.plot("pin", "pin.velocity", "rail", degrees=True).axes
    assert position.get_ylabel() == "pin: position [°]"
    assert velocity.get_ylabel() == "pin: velocity [°/s]"
    assert slide.get_ylabel() == "rail: position [m]"
    np.testing.assert_allclose(position.lines[0].get_ydata(), np.rad2deg(run["pin"].position))


def test_round_off_does_not_fill_a_panel():
    t = np.linspace(0.0, 1.0, 50)
    noise = np.random.default_rng(3).normal(size=50)
    for values, scale in ((9.81 + 1e-15 * noise, 0.0), (1e-17 * noise, 0.0), (1e-11 * noise, 20.0)):
        trace = Trace("pin.velocity", "velocity", "rad/s", values, scale=scale)
        low, high = figure([Curves("", t, [trace])], "x").axes[0].get_ylim()
        assert high - low > 1e6 * np.ptp(values)
        assert low < values.min() <= values.max() < high
    for values in (1e-6 * np.sin(t), 5.0 + 1e-6 * t, 1e-10 * t):  # small, but no round-off
        low, high = shown_range([Trace("pin", "position", "rad", values)])
        assert (low, high) == (values.min(), values.max())


def test_what_hangs_still_is_drawn_still():
    run = lw.simulate(lw.examples.cart_pole(), 1.0, every=0.05)  # upright: all but still
    for name in ("rail.velocity", "pole.velocity", "pin.reaction.torque"):
        for axis in run.plot(name).axes:
            values = np.concatenate([line.get_ydata() for line in axis.lines])
            assert np.ptp(axis.get_ylim()) > 1e-9, (name, values)
