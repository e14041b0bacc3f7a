"""Curves in the panel, of chosen channels, with a cursor at the current time."""

import csv
import json
from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.curve import COLORS, MANY, Trace, by_axis, shown_range

Array = np.ndarray

_POINTS = 4000  # of a curve on a page: of more samples those that are highest and lowest
_NOISE = 1e-12  # of the largest number of a curve
_ROOM = 0.09  # above and below the numbers of a chart, of its height: theirs are not cut off


class Charts:
    """One chart per quantity and unit; `curves` are asked for names, and give times and traces."""

    def __init__(
        self,
        gui: Any,
        place: Any,
        channels: Sequence[str],
        curves: Callable[[Sequence[str]], tuple[Array, list[Trace]]],
        show_message: Callable[[str], None],
    ) -> None:
        """Add the choice of channels to where the panel is built now; charts go to `place`."""
        self._gui, self._place, self._curves, self._show_message = gui, place, curves, show_message
        self._names: list[str] = []
        self._charts: list[tuple[Any, tuple[float, float]]] = []  # with the numbers that each shows
        self._t = 0.0  # of the cursor
        self._now = gui.add_html("")
        gui.add_html('<span class="lw-break"></span>')  # charts begin a new line
        self._times, self._shown_traces = np.zeros(1), [[]]  # of the charts, all samples
        gui.add_html('<span class="lw-wide"></span>')
        first = next((name for name in channels if name.endswith(".position")), None)  # not a force in a weld
        self._choice = gui.add_dropdown("Curve", tuple(channels) or ("(none)",), initial_value=first)
        buttons = gui.add_button_group("", ("plot", "clear", "save"))
        buttons.on_click(lambda event: self._pressed(buttons.value, event.client))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _pressed(self, word: str, client: Any) -> None:
        if word == "plot":
            self.add(self._choice.value)
        elif word == "clear":
            self.clear()
        elif client is not None and self._names:
            client.send_file_download("curves.csv", self.table().encode("utf-8"), save_immediately=True)

    def table(self) -> str:
        """Return the curves as a table with a column each, separated by commas."""
        times, traces = self._curves(self._names)
        labels = [f"{trace.label} [{trace.unit}]" if trace.unit else trace.label for trace in traces]
        text = StringIO()
        write = csv.writer(text).writerow
        write(["t [s]", *labels])
        for row in zip(times.tolist(), *(np.asarray(trace.values, float).tolist() for trace in traces)):
            write([repr(x) for x in row])
        return text.getvalue()

    def add(self, name: str) -> None:
        """Draw a channel: "pin.position", "energy"."""
        if name in self._names:
            return
        try:
            _, traces = self._curves([*self._names, name])
        except (LinkworkError, KeyError, ValueError, AttributeError) as error:
            self._show_message(f"{name}: {error}")
            return
        if len(traces) > MANY:
            self._show_message(f"{MANY} curves can be distinguished; clear some first")
            return
        self._names.append(name)
        self.draw()
        self.move(self._t)

    def clear(self) -> None:
        self._names.clear()
        self.draw()

    def draw(self) -> None:
        """Draw all curves anew."""
        times, traces = self._curves(self._names) if self._names else (np.zeros(2), [])
        groups = by_axis(traces)
        self._times, self._shown_traces = times, list(groups.values())
        if [axis for axis, *_ in self._shape(groups)] != [axis for axis, *_ in getattr(self, "_drawn", [])]:
            for chart, _ in self._charts:
                chart.remove()
            self._charts = []
        self._drawn = self._shape(groups)
        fresh = []
        for number, (axis, curves) in enumerate(groups.items()):
            values = [np.asarray(curve.values, float) for curve in curves]
            kept = peaks(values, _POINTS)
            data = columns(times[kept], [curve[kept] for curve in values])
            shown = rounded(*shown_range(curves))
            if number < len(self._charts):
                chart, before = self._charts[number]
                _show(chart, data)
                if shown != before:
                    chart.scales = _scales(shown)
            else:
                chart = self._new(axis, [curve.short for curve in curves], data, shown)
            fresh.append((chart, shown))
        self._charts = fresh

    def _shape(self, groups: dict[str, list[Trace]]) -> list[tuple[str, int]]:
        return [
            (f"{axis} {[curve.label for curve in curves]}", len(curves)) for axis, curves in groups.items()
        ]

    def _new(
        self, axis: str, labels: Sequence[str], data: tuple[Array, ...], shown: tuple[float, float]
    ) -> Any:
        series: list[dict[str, Any]] = [{"label": "t [s]"}]
        for k, label in enumerate(labels):
            line = {"stroke": COLORS[k % len(COLORS)], "width": 1.5, "points": {"show": False}}
            series.append({"label": label, "spanGaps": True, **line})
        with self._place:
            return self._gui.add_uplot(
                data=data,
                series=tuple(series),
                title=axis,
                scales=_scales(shown),
                axes=({"size": 36}, {"size": 52}),
                height=125,
            )

    def move(self, t: float, now: Sequence[Trace] = ()) -> None:
        """Put the cursor of all charts to a time: pages draw it, and the values there.

        These are those of `now`, if it is given; else they are on lines between samples.
        """
        self._t = t
        if not self._names:
            return
        shown = list(by_axis(now).values()) or self._shown_traces
        said = {
            chart._impl.uuid: [
                f"{_without_noise(at(t, self._times, np.ravel(curve.values)), whole.values):.5g}"
                for curve, whole in zip(curves, drawn, strict=False)
            ]
            for (chart, _), curves, drawn in zip(self._charts, shown, self._shown_traces, strict=False)
        }
        values = escape(json.dumps(said), quote=True)
        self._now.content = f'<span class="lw-now" data-t="{t!r}" data-values="{values}"></span>'


def _show(chart: Any, data: tuple[Array, ...]) -> None:
    """Let a chart draw other numbers: as viser's own setter, which looks at the type of every column."""
    chart._impl.props.data = data
    chart._queue_update("data", data)


def _scales(shown: tuple[float, float]) -> dict[str, Any]:
    low, high = shown
    room = _ROOM * (high - low)
    return {"x": {"time": False}, "y": {"range": (low - room, high + room)}}


def _without_noise(value: float, curve: Array) -> float:
    """Return a value, or 0 for what rounding has left of it beside the largest of its curve."""
    return 0.0 if abs(value) < _NOISE * float(np.abs(curve).max(initial=0.0)) else value


def at(t: float, times: Array, values: Array) -> float:
    """Return a curve's value at a time: the sample's; between samples on the line from one to the next."""
    k = int(np.clip(np.searchsorted(times, t), 1, max(len(times) - 1, 1)))
    if len(values) < 2:
        return float(values[0])
    part = float(np.clip((t - times[k - 1]) / ((times[k] - times[k - 1]) or 1.0), 0.0, 1.0))
    if part in (0.0, 1.0):  # the other sample may be NaN
        return float(values[k - 1 + int(part)])
    return float(values[k - 1] + part * (values[k] - values[k - 1]))


def peaks(curves: Sequence[Array], most: int) -> Array:
    """Return which samples of curves are drawn: all, or of each stretch the highest and the lowest."""
    count = len(curves[0])
    if count <= most:
        return np.arange(count)
    stretches = max(1, most // (2 * len(curves)))
    bounds = np.linspace(0, count, stretches + 1).astype(int)
    kept = {0, count - 1}
    for curve in curves:
        for low, high in pairwise(bounds):
            part = np.where(np.isfinite(curve[low:high]), curve[low:high], 0.0)
            kept |= {int(low + part.argmin()), int(low + part.argmax())}
    return np.array(sorted(kept))


def columns(times: Array, curves: Sequence[Array]) -> tuple[Array, ...]:
    """Return what a chart draws. It has no gaps: what is not finite is drawn as 0."""
    return times, *(np.where(np.isfinite(curve), curve, 0.0) for curve in curves)


def rounded(low: float, high: float) -> tuple[float, float]:
    """Return a range of round numbers that holds another: it stays while that grows a little."""
    step = 10.0 ** np.floor(np.log10(high - low)) / 2.0
    return float(step * np.floor(low / step)), float(step * np.ceil(high / step))
