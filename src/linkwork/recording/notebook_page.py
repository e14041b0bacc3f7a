"""A run in a notebook: a table of words and values, and a small SVG picture of curves."""

from collections.abc import Sequence
from html import escape
from itertools import cycle, pairwise

import numpy as np

from linkwork.recording.curve import COLORS, Trace, by_axis, shown_range

Array = np.ndarray

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _GAP = 640, 130, 70, 110, 22  # of a panel and what is around it [px]
_COLUMNS = 400  # into which a curve is sorted; it keeps its highest and lowest sample in each
_PANELS = 3


def html(title: str, rows: Sequence[tuple[str, str]], time: Array, traces: Sequence[Trace]) -> str:
    """Return a table of words and values, and a picture of the curves; all names are escaped."""
    cells = "".join(f"<tr><td>{escape(word)}</td><td>{escape(text)}</td></tr>" for word, text in rows)
    table = f'<table style="text-align: left">{cells}</table>'
    return f"<div><strong>{escape(title)}</strong>{table}{svg(time, traces)}</div>"


def svg(time: Array, traces: Sequence[Trace]) -> str:
    """Return the curves as an SVG picture, in up to three panels; nothing if there is nothing to draw."""
    panels = list(by_axis(traces).items())[:_PANELS]
    if not panels or len(time) < 2 or time[0] == time[-1]:
        return ""
    height = len(panels) * (_HEIGHT + _GAP) + _GAP
    parts = [part for row, (words, curves) in enumerate(panels) for part in _panel(row, words, curves, time)]
    foot = height - 6
    parts.append(_words(_LEFT, foot, f"{time[0]:.4g}"))
    parts.append(_words(_WIDTH - _RIGHT, foot, f"{time[-1]:.4g} s", "end"))
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    font = 'font-family="sans-serif" font-size="11" fill="currentColor"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{"".join(parts)}</svg>'


def _panel(row: int, words: str, curves: Sequence[Trace], time: Array) -> list[str]:
    top = _GAP + row * (_HEIGHT + _GAP)
    bottom, right = top + _HEIGHT, _WIDTH - _RIGHT
    low, high = shown_range(curves)
    parts = [
        f'<path d="M{_LEFT} {top}V{bottom}H{right}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>',
        _words(_LEFT, top - 6, words),
        _words(_LEFT - 6, top + 8, f"{high:.3g}", "end"),
        _words(_LEFT - 6, bottom, f"{low:.3g}", "end"),
    ]
    for k, (curve, color) in enumerate(zip(curves, cycle(COLORS))):
        line = _line(time, curve.values, low, high, top)
        parts.append(f'<path d="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        if k < _HEIGHT // 13:
            parts.append(_words(right + 8, top + 10 + 13 * k, curve.short[:18], color=color))
    return parts


def _words(x: int, y: int, text: str, anchor: str = "start", color: str = "currentColor") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{color}">{escape(text)}</text>'


def _line(time: Array, values: Array, low: float, high: float, top: int) -> str:
    """Return the path of a curve; it is interrupted where there is no finite number."""
    chosen = _decimated(values)
    across = (time[chosen] - time[0]) / (time[-1] - time[0])
    up = (values[chosen] / 2 - low / 2) / (high / 2 - low / 2)  # halves, so that no range is too large
    points, pen = [], "M"
    for x, y in zip(across, up):
        if np.isfinite(y):
            points.append(f"{pen}{_LEFT + x * (_WIDTH - _LEFT - _RIGHT):.1f} {top + (1.0 - y) * _HEIGHT:.1f}")
        pen = "L" if np.isfinite(y) else "M"
    return "".join(points)


def _decimated(values: Array) -> Array:
    """Return which samples to draw: first and last, and of each column the lowest and the highest."""
    count = len(values)
    if count <= 2 * _COLUMNS:
        return np.arange(count)
    edges = np.linspace(0, count, _COLUMNS + 1).astype(int)
    chosen = {0, count - 1}
    for start, stop in pairwise(edges.tolist()):
        column = values[start:stop]
        gap = ~np.isfinite(column)
        chosen.add(start + int(np.where(gap, np.inf, column).argmin()))
        chosen.add(start + int(np.where(gap, -np.inf, column).argmax()))
        chosen.update((start + np.flatnonzero(gap)[:1]).tolist())
    return np.array(sorted(chosen))
