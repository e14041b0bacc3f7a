"""Curves below the pictures of a film, drawn once; at every picture a cursor and the values go along."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.recording.curve import COLORS, MANY, Trace, by_axis, shown_range
from linkwork.recording.plot import STYLE
from linkwork.recording.samples import optional
from linkwork.view.picture_text import width, write

Array = np.ndarray

_DPI = 100.0
_ROOMY = 120  # height of a strip that has words below its charts [pixels]
_HEAD = 24  # above a chart, for values [pixels]
_CURSOR = (192, 57, 43)
_SIZE = 11.0  # of letters


@dataclass(frozen=True, eq=False)
class _Chart:
    """Where a chart is in the strip [pixels], and its curves."""

    box: tuple[int, int, int, int]  # left, right, top, bottom
    curves: list[Trace]


class FilmCharts:
    """One chart per quantity and unit, side by side in a strip."""

    def __init__(self, times: Array, traces: Sequence[Trace], size: tuple[int, int]) -> None:
        if len(traces) > MANY:
            raise ValueError(
                f"save_video: {len(traces)} curves, {MANY} can be distinguished; name fewer in plot="
            )
        self._times, self._span = times, (float(times[0]), float(times[-1]))
        self._strip, self._charts = self._drawn(by_axis(traces), size)

    def _drawn(self, groups: dict[str, list[Trace]], size: tuple[int, int]) -> tuple[Array, list[_Chart]]:
        matplotlib = optional("matplotlib", "plot")
        figures = optional("matplotlib.figure", "plot")
        canvases = optional("matplotlib.backends.backend_agg", "plot")
        with matplotlib.rc_context(STYLE):
            figure = figures.Figure((size[0] / _DPI, size[1] / _DPI), dpi=_DPI, layout="constrained")
            canvas = canvases.FigureCanvasAgg(figure)
            figure.get_layout_engine().set(rect=(0.0, 0.0, 1.0, 1.0 - _HEAD / size[1]))
            axes = figure.subplots(1, len(groups), squeeze=False)[0]
            for axis, (words, curves) in zip(axes, groups.items(), strict=True):
                for k, curve in enumerate(curves):
                    axis.plot(self._times, curve.values, color=COLORS[k % len(COLORS)])
                low, high = shown_range(curves)
                axis.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
                axis.set_xlim(*self._span)
                axis.set_ylabel(words)
                if size[1] >= _ROOMY:
                    axis.set_xlabel("time [s]")
            canvas.draw()
            strip = np.array(canvas.buffer_rgba())[: size[1], : size[0], :3]
            boxes = [axis.get_window_extent().extents for axis in axes]
        charts = [
            _Chart((round(x0), round(x1), round(size[1] - y1), round(size[1] - y0)), curves)
            for (x0, y0, x1, y1), curves in zip(boxes, groups.values(), strict=True)
        ]
        return strip, charts

    def __call__(self, t: float) -> Array:
        """Return the strip at a time, (height, width, 3) of bytes."""
        strip = self._strip.copy()
        start, end = self._span
        part = (t - start) / ((end - start) or 1.0)
        for chart in self._charts:
            left, right, top, bottom = chart.box
            column = round(left + part * (right - left))
            strip[top:bottom, column : column + 2] = _CURSOR
            x = left
            for k, curve in enumerate(chart.curves):
                value = np.interp(t, self._times, curve.values)
                text = f"{curve.short} {value:.4g} {curve.unit}".strip()
                write(strip, text, x, _HEAD - 9, _rgb(COLORS[k % len(COLORS)]), size=_SIZE)
                x += width(f"{curve.short} -0.0000 {curve.unit}", _SIZE) + 14  # the next one stays in place
                if x > right:
                    break
        return strip


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))
