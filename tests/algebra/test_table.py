"""Tables as functions: against SciPy, on floats, arrays, mpmath and traced numbers, native, in files."""

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.interpolate import CubicSpline, PchipInterpolator

import linkwork as lw
from linkwork.algebra.table import Table, table
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate

KINDS = pytest.mark.parametrize("kind", ["linear", "cubic", "pchip"])


def random_table(count, seed=0):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(0.1, 1.0, count)) - 2.0, rng.normal(size=count)


def reference(kind, xs, ys):
    if kind == "linear":
        return lambda x: np.interp(x, xs, ys)
    return CubicSpline(xs, ys) if kind == "cubic" else PchipInterpolator(xs, ys)


@KINDS
@pytest.mark.parametrize("count", [2, 3, 4, 5, 30, 700])
def test_it_is_what_scipy_says(kind, count):
    xs, ys = random_table(count)
    x = np.linspace(xs[0], xs[-1], 2001)
    np.testing.assert_allclose(lw.interp(x, xs, ys, kind), reference(kind, xs, ys)(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(lw.interp(xs, xs, ys, kind), ys, atol=1e-12)


@KINDS
def test_outside_the_ends_hold_or_go_on(kind):
    xs, ys = random_table(6)
    beyond = np.array([-np.inf, xs[0] - 3.0, xs[-1], xs[-1] + 2.0, np.inf])
    held = lw.interp(beyond, xs, ys, kind)
    assert held.tolist() == [ys[0], ys[0], ys[-1], ys[-1], ys[-1]]
    there = lw.interp(beyond[1:4], xs, ys, kind, "extend")
    if kind == "linear":
        slopes = np.diff(ys) / np.diff(xs)
        np.testing.assert_allclose(there[[0, 2]], [ys[0] - 3.0 * slopes[0], ys[-1] + 2.0 * slopes[-1]])
    else:
        np.testing.assert_allclose(there, reference(kind, xs, ys)(beyond[1:4]), rtol=1e-9)


@KINDS
def test_all_numbers_give_the_same(kind):
    xs, ys = random_table(9)
    x = np.linspace(xs[0] - 1.0, xs[-1] + 1.0, 97)
    whole = lw.interp(x, xs, ys, kind)
    assert [lw.interp(float(a), xs, ys, kind) for a in x] == whole.tolist()
    assert lw.interp(x.tolist(), xs.tolist(), ys.tolist(), kind).tolist() == whole.tolist()
    mp.dps = 40
    assert float(lw.interp(mpf(x[50]), xs, ys, kind)) == pytest.approx(whole[50], rel=1e-13)
    graph = Graph()
    symbol = graph.symbol("x")
    traced = lw.interp(symbol, xs, ys, kind)
    assert [evaluate([traced], lambda _, a=a: float(a))[0] for a in x] == whole.tolist()
    assert np.isnan(lw.interp(np.nan, xs, ys, kind))
    assert np.isnan(lw.interp(np.array([np.nan]), xs, ys, kind)).all()


@KINDS
def test_it_is_differentiated(kind):
    xs, ys = random_table(9)
    x = np.linspace(xs[0] - 1.0, xs[-1] + 1.0, 60)  # no knot
    symbol = Graph().symbol("x")
    (slope,) = derivative([lw.interp(symbol, xs, ys, kind)], {symbol: 1.0})
    found = [float(evaluate([slope], lambda _, a=a: float(a))[0]) for a in x]
    h = 1e-6
    near = (lw.interp(x + h, xs, ys, kind) - lw.interp(x - h, xs, ys, kind)) / (2 * h)
    np.testing.assert_allclose(found, near, atol=1e-6)
    assert found[0] == 0.0  # held


def test_pchip_does_not_overshoot():
    xs, ys = [0, 1, 2, 3, 4], [0, 0, 1, 1, 5]
    x = np.linspace(0, 4, 1001)
    assert lw.interp(x, xs, ys, "cubic").min() < -0.01
    assert (np.diff(lw.interp(x, xs, ys, "pchip")) >= 0.0).all()


# as a law


def driven(kind, count=500):
    xs = np.linspace(-1.5, 1.5, count)
    m = lw.examples.cart_pole()
    m.add(lw.Motor("table", "pin", lambda t, q, v: lw.interp(q, xs, -5 * np.sin(xs), kind) - 0.1 * v))
    return m


@KINDS
def test_a_law_with_a_large_table_is_native(kind):
    model = driven(kind).compile()
    q, v = np.random.default_rng(2).normal(size=(2, 64, 2))
    assert lw.simulate(model, 0.1).report.python_laws == ()
    shown = model.load_values("table", q, v)[:, 0]
    xs = np.linspace(-1.5, 1.5, 500)
    np.testing.assert_allclose(
        shown, lw.interp(q[:, 1], xs, -5 * np.sin(xs), kind) - 0.1 * v[:, 1], rtol=1e-13
    )
    lanes = model.motion(q, v)
    for k in range(64):
        assert model.motion(q[k], v[k]).tobytes() == lanes[k].tobytes()


def test_a_spline_moves_as_what_it_interpolates():
    exact = lw.examples.cart_pole()
    exact.add(lw.Motor("sine", "pin", lambda t, q, v: -5 * lw.sin(q) - 0.1 * v))
    model, other = driven("cubic").compile(), exact.compile()
    a = lw.simulate(model, 2.0, model.state(pin=0.8), accuracy=1e-10).final
    b = lw.simulate(other, 2.0, other.state(pin=0.8), accuracy=1e-10).final
    np.testing.assert_allclose(a.q, b.q, atol=1e-8)
    stiff = lw.simulate(model, 2.0, model.state(pin=0.8), accuracy=1e-9, method="rodas").final
    np.testing.assert_allclose(stiff.q, b.q, atol=1e-6)


def test_a_driver_may_follow_a_table():
    m = lw.examples.four_bar()
    joint = next(iter(m.joints))
    m.add(lw.Driver("motor", joint, lambda t: lw.interp(t, [0, 1, 2], [0.0, 0.4, 0.2], "cubic")))
    motion = lw.kinematics(m, np.linspace(0, 2, 21))
    spline = CubicSpline([0, 1, 2], [0.0, 0.4, 0.2])
    np.testing.assert_allclose(motion["motor"].position, spline(motion.time), atol=1e-12)
    np.testing.assert_allclose(motion["motor"].velocity[1:-1], spline(motion.time, 1)[1:-1], atol=1e-9)


@KINDS
def test_files_keep_tables(kind, tmp_path):
    m = driven(kind, 7)
    m.add(lw.Motor("on", "rail", lambda t, q, v: lw.interp(t, [0, 1e-3, 2], [-1, 0, 3], outside="extend")))
    m.save(tmp_path / "a.json")
    again = lw.load(tmp_path / "a.json")
    again.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()
    model, other = m.compile(), again.compile()
    state = model.state(pin=0.7, velocities={"pin": 1.0}, t=2.5)
    assert model.motion(state).tobytes() == other.motion(state).tobytes()


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("interp(q, [0, 1], [1])", "give as many of both"),
        ("interp(q, [1, 0], [1, 2])", "xs do not rise: 1 is followed by 0"),
        ("interp(q, [0, 1])", "a list of places and a list of values"),
        ("interp(q, [0, 1], [1, 2], 'square')", "kind 'square'; give 'linear', 'cubic', 'pchip'"),
        ("interp(q, [0, t], [1, 2])", "a number is expected"),
    ],
)
def test_what_is_no_table_in_a_file_is_refused(formula, words, tmp_path):
    m = lw.examples.cart_pole()
    m.add(lw.Motor("table", "pin", lambda t, q, v: lw.interp(q, [0, 1], [1, 2])))
    m.save(tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    assert "interp(q, [0, 1], [1, 2], 'linear')" in text
    (tmp_path / "a.json").write_text(text.replace("interp(q, [0, 1], [1, 2], 'linear')", formula))
    with pytest.raises(lw.FormatError, match=words):
        lw.load(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("xs", "ys", "options", "words"),
    [
        ([1, 2], [1], {}, "give as many of both, 2 or more"),
        ([1], [1], {}, "2 or more"),
        ([[1, 2]], [[1, 2]], {}, "2 or more"),
        ([2, 1], [1, 2], {}, "2 is followed by 1"),
        ([1, 1], [1, 2], {}, "1 is followed by 1"),
        ([1, np.nan], [1, 2], {}, "not finite"),
        ([1, 2], [1, np.inf], {}, "not finite"),
        ("ab", [1, 2], {}, "is not made of numbers"),
        ([1, 2], [1, 2], {"kind": "spline"}, "kind 'spline'"),
        ([1, 2], [1, 2], {"outside": "wrap"}, "outside 'wrap'; give 'hold', 'extend'"),
    ],
)
def test_what_is_no_table_is_refused(xs, ys, options, words):
    with pytest.raises(ValueError, match=f"interp: .*{words}"):
        lw.interp(0.5, xs, ys, **options)


@pytest.mark.parametrize("x", ["0.5", None, ["a"], b"1"])
def test_what_is_no_number_is_refused(x):
    with pytest.raises(ValueError, match=r"interp: x .* is not made of numbers"):
        lw.interp(x, [0, 1], [0, 1])


def test_a_table_is_made_once():
    xs, ys = random_table(50)
    assert table(xs, ys) is table(xs.tolist(), ys.tolist())
    assert isinstance(table(xs, ys), Table)


def test_degrees():
    assert lw.degrees(180) == np.pi
    assert 90 * lw.deg == lw.degrees(90.0) == np.pi / 2
    assert lw.degrees([90, 180]).tolist() == [np.pi / 2, np.pi]
    x = Graph().symbol("x")
    assert evaluate([lw.degrees(x)], lambda _: 180.0) == [np.pi]
