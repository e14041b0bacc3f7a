"""What the charts draw."""

import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.recording.curve import Trace, shown_range
from linkwork.view.charts import at, columns, peaks, rounded
from linkwork.view.subject_of import subject_of


def test_all_is_finite_and_has_a_height():
    for curve in (np.full(3, 2.0), np.array([1.0, np.nan, 3.0])):
        low, high = rounded(*shown_range([Trace("pin", "position", "rad", curve)]))
        assert all(np.isfinite(column).all() for column in columns(np.arange(3.0), [curve]))
        assert low <= np.nanmin(curve) <= np.nanmax(curve) <= high
        assert low < high


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [((0.0, 0.88), (0.0, 0.9)), ((-33.1, 0.1), (-35.0, 5.0)), ((1e-9, 3.2e-9), (1e-9, 3.5e-9))],
)
def test_a_chart_shows_round_numbers(numbers, shown):
    assert rounded(*numbers) == pytest.approx(shown)
    low, high = numbers
    assert rounded(low, high + 1e-3 * (high - low)) == pytest.approx(shown)  # it stays while a curve goes on


def test_the_value_at_a_time_is_that_of_the_sample():
    times, values = np.array([0.0, 0.1, 0.4, 0.5]), np.array([1.0, -2.0, 7.25, np.nan])
    assert [at(t, times, values) for t in times[:3]] == [1.0, -2.0, 7.25]
    assert np.isnan(at(0.45, times, values))
    assert at(0.25, times, values) == pytest.approx(2.625)  # between them
    assert (at(-1.0, times, values), at(0.0, times[:1], values[:1])) == (1.0, 1.0)


def test_of_many_samples_the_peaks_are_drawn():
    curves = [np.sin(np.linspace(0.0, 60.0, 90_001)), np.zeros(90_001)]
    curves[1][[777, 50_003]] = 16.21, -3.0
    kept = peaks(curves, 4000)
    assert len(kept) <= 4100
    assert {0, 777, 50_003, 90_000} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()
    assert list(peaks([np.zeros(7)], 4000)) == list(range(7))


def test_numbers_between_samples_are_those_of_the_motion_and_not_of_lines_or_of_the_nearest_sample():
    model = lw.examples.cart_pole().compile()
    run = lw.simulate(model, 0.5, model.state(pin=1.0), every=0.1)
    truth = lw.simulate(model, 0.5, model.state(pin=1.0), times=[0.25])["pin"].velocity[0]
    with run.show(block=False, open_browser=False) as viewer:
        viewer.select("pin")
        viewer.plot("pin.velocity")
        viewer.seek(0.25)
        end = time.monotonic() + 20.0
        while f"{truth:.5g}" not in viewer.charts._now.content and time.monotonic() < end:
            time.sleep(0.01)
        assert f"{truth:.5g}" in viewer.charts._now.content
        assert f"{truth:.4g}" in viewer.inspector._sheet.content
        assert f"{at(0.25, run.time, run['pin'].velocity):.5g}" not in viewer.charts._now.content


def test_a_curve_that_is_added_has_its_cursor_at_the_time_that_is_shown():
    run = lw.simulate(lw.examples.cart_pole(), 0.5, every=0.1)
    with run.show(block=False, open_browser=False) as viewer:
        now = float(run.time[3])
        viewer.seek(now)
        end = time.monotonic() + 20.0
        while viewer._shown != now and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.1)  # the page has nothing more to do
        viewer.plot("pin.position")
        assert f'data-t="{now!r}"' in viewer.charts._now.content


def test_curves_between_samples_are_as_exact_as_at_samples():
    model = lw.examples.chain(2).compile()
    run = lw.simulate(model, 2.0)
    times, (energy,) = subject_of(run).curves(["energy"])
    assert len(times) > 1.5 * len(run)  # long steps of a high order
    assert np.ptp(energy.values) < 3.0 * np.ptp(run.energy) + 1e-9
