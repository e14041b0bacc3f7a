"""Curves in the panel, of chosen channels, with a cursor at the current time."""

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.trace import COLORS, MANY, Trace, by_axis, shown_range

Array = np.ndarray

_POINTS = 400  # of a curve
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
        self._now = gui.add_html("")
        gui.add_html('<span class="lw-wide"></span>')
        self._choice = gui.add_dropdown("Curve", tuple(channels) or ("(none)",))
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

    def clear(self) -> None:
        self._names.clear()
        self.draw()

    def draw(self) -> None:
        """Draw all curves anew."""
        times, traces = self._curves(self._names) if self._names else (np.zeros(2), [])
        groups = by_axis(traces)
        if [axis for axis, *_ in self._shape(groups)] != [axis for axis, *_ in getattr(self, "_drawn", [])]:
            for chart, _ in self._charts:
                chart.remove()
            self._charts = []
        self._drawn = self._shape(groups)
        thin = slice(None, None, max(1, len(times) // _POINTS))
        fresh = []
        for number, (axis, curves) in enumerate(groups.items()):
            data = columns(times[thin], [np.asarray(curve.values, float)[thin] for curve in curves])
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
            series.append({"label": label, "stroke": COLORS[k % len(COLORS)], "width": 1.5, "spanGaps": True})
        with self._place:
            return self._gui.add_uplot(
                data=data,
                series=tuple(series),
                title=axis,
                scales=_scales(shown),
                axes=({"size": 36}, {"size": 52}),
                height=125,
            )

    def move(self, t: float) -> None:
        """Put the cursor of all charts to a time: pages draw it, and the values there."""
        if self._names:
            self._now.content = f'<span class="lw-now" data-t="{t!r}"></span>'


def _show(chart: Any, data: tuple[Array, ...]) -> None:
    """Let a chart draw other numbers: as viser's own setter, which looks at the type of every column."""
    chart._impl.props.data = data
    chart._queue_update("data", data)


def _scales(shown: tuple[float, float]) -> dict[str, Any]:
    low, high = shown
    room = _ROOM * (high - low)
    return {"x": {"time": False}, "y": {"range": (low - room, high + room)}}


def columns(times: Array, curves: Sequence[Array]) -> tuple[Array, ...]:
    """Return what a chart draws. It has no gaps: what is not finite is drawn as 0."""
    return times, *(np.where(np.isfinite(curve), curve, 0.0) for curve in curves)


def rounded(low: float, high: float) -> tuple[float, float]:
    """Return a range of round numbers that holds another: it stays while that grows a little."""
    step = 10.0 ** np.floor(np.log10(high - low)) / 2.0
    return float(step * np.floor(low / step)), float(step * np.ceil(high / step))
