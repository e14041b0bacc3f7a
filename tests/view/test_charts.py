"""What the charts draw."""

import numpy as np
import pytest

from linkwork.recording.trace import Trace, shown_range
from linkwork.view.charts import columns, rounded


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
