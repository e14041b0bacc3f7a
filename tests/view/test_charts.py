"""What the charts draw."""

import numpy as np

from linkwork.recording.trace import Trace, shown_range
from linkwork.view.charts import _with_cursor


def test_the_cursor_stands_at_its_time_and_the_curves_stay_what_they_are():
    times, curve = np.linspace(0.0, 1.0, 11), np.linspace(-1.0, 1.0, 11)
    x, y, cursor = _with_cursor(times, [curve], (-1.0, 1.0), 0.25)
    np.testing.assert_allclose(y, 2.0 * x - 1.0)
    assert (np.diff(x) >= 0.0).all()
    (at,) = np.nonzero(cursor > cursor.min())
    assert x[at] == [0.25]
    assert (cursor.min(), cursor.max()) == (-1.0, 1.0)


def test_all_is_finite_and_has_a_height():
    for curve in (np.full(3, 2.0), np.array([1.0, np.nan, 3.0])):
        shown = shown_range([Trace("pin", "position", "rad", curve)])
        drawn = _with_cursor(np.arange(3.0), [curve], shown, float("nan"))
        assert all(np.isfinite(column).all() for column in drawn)
        assert np.ptp(drawn[-1]) > 0.0
