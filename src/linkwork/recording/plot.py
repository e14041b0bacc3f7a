"""Curves over time or each other: as a matplotlib Figure; and, made without it, as a small SVG picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle, pairwise
from typing import Any

import numpy as np

Array = np.ndarray

MANY = 12  # curves that can be distinguished
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666")  # Okabe and Ito
_DASHES = ("-", "--", ":")  # for more curves than colours
# As a journal prints it: the width of its text, its size of letters, thin lines, letters that stay letters.
_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#606060",
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.grid": True,
    "axes.labelcolor": "#202020",
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "figure.dpi": 150.0,
    "font.size": 9.0,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "lines.linewidth": 1.2,
    "lines.solid_joinstyle": "round",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "xtick.color": "#404040",
    "xtick.labelsize": 8.0,
    "xtick.major.width": 0.6,
    "ytick.color": "#404040",
    "ytick.labelsize": 8.0,
    "ytick.major.width": 0.6,
}
_WIDE, _SQUARE = 6.3, 4.2  # inches: the width of a page's text, and of a picture of curves over each other


@dataclass(frozen=True)
class Trace:
    """One curve."""

    label: str  # "ball.position[0]"
    quantity: str  # "position"
    unit: str  # "rad"; "" for a plain number
    values: Array  # (S,), or (N, S) of a batch
    logarithmic: bool = False

    @property
    def short(self) -> str:
        """The label without the quantity: "ball[0]"."""
        name, _, index = self.label.rpartition(f".{self.quantity}")
        return name + index if name else self.label

    @property
    def axis(self) -> str:
        """The words on the axis: "position [rad]"."""
        words = self.quantity.replace("_", " ").replace(".", " ")
        return f"{words} [{self.unit}]" if self.unit else words


def by_axis(traces: Sequence[Trace]) -> dict[str, list[Trace]]:
    """Put curves of one quantity and unit together."""
    panels: dict[str, list[Trace]] = {}
    for trace in traces:
        panels.setdefault(trace.axis, []).append(trace)
    return panels


# matplotlib


def figure(time: Array, traces: Sequence[Trace], title: str, marks: Sequence[tuple[float, str]] = ()) -> Any:
    """Return a Figure with one panel per quantity and unit; `marks` are times with names, of events."""
    if not traces:
        raise ValueError(f"{title!r} has no coordinate to plot; name a body, as in plot('body.position')")
    from matplotlib import pyplot

    panels = by_axis(traces)
    with pyplot.rc_context(_STYLE):
        size = (_WIDE, 0.6 + 1.75 * len(panels))
        picture, axes = pyplot.subplots(
            len(panels), 1, sharex=True, squeeze=False, figsize=size, layout="constrained"
        )
        for axis, (words, curves) in zip(axes[:, 0], panels.items(), strict=True):
            _draw(axis, time, words, curves)
            axis.margins(x=0.0)
            if marks:
                moments, whole = [moment for moment, _ in marks], axis.get_xaxis_transform()
                axis.vlines(moments, 0.0, 1.0, "#909090", ":", transform=whole, linewidth=0.6, zorder=1)
        axes[0, 0].set_title(_verbatim(title))
        axes[-1, 0].set_xlabel("time [s]")
        for moment, name in marks[:_NAMED]:
            _mark(axes[0, 0], moment, name)
    return picture


_NAMED = 8  # events that get a name in a picture


def _mark(axis: Any, moment: float, name: str) -> None:
    axis.annotate(
        _verbatim(name),
        (moment, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(2, -2),
        textcoords="offset points",
        va="top",
        rotation=90,
        fontsize=7.0,
        color="#707070",
    )


def against(pairs: Sequence[tuple[Trace, Trace]], title: str) -> Any:
    """Return a Figure of curves over curves, (x, y) each: phase portraits, paths. Each begins at a dot."""
    from matplotlib import pyplot

    panels: dict[tuple[str, str], list[tuple[Trace, Trace]]] = {}
    for x, y in pairs:
        panels.setdefault((x.axis, y.axis), []).append((x, y))
    with pyplot.rc_context(_STYLE):
        size = (_SQUARE * len(panels) if len(panels) > 1 else _SQUARE + 0.6, _SQUARE)
        picture, axes = pyplot.subplots(1, len(panels), squeeze=False, figsize=size, layout="constrained")
        for axis, ((across, up), curves) in zip(axes[0], panels.items(), strict=True):
            for k, (x, y) in enumerate(curves):
                line = axis.plot(x.values, y.values, label=_verbatim(y.short), **_look(k))[0]
                axis.plot(x.values[:1], y.values[:1], "o", markersize=4, color=line.get_color())
            axis.set_xlabel(_named(across, [x for x, _ in curves]))
            axis.set_ylabel(_named(up, [y for _, y in curves]))
            if across.rpartition("[")[2] == up.rpartition("[")[2]:  # a path keeps its shape
                axis.set_aspect("equal", adjustable="datalim")
            if len(curves) > 1:
                axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes[0, 0].set_title(_verbatim(title))
    return picture


def _named(words: str, curves: Sequence[Trace]) -> str:
    """Return the words of an axis, with the name if all curves have one."""
    names = {curve.short for curve in curves}
    return f"{_verbatim(*names)}: {words}" if len(names) == 1 else words


def _look(k: int) -> dict[str, Any]:
    """Return colour and dashes of curve k."""
    return {"color": COLORS[k % len(COLORS)], "linestyle": _DASHES[k // len(COLORS) % len(_DASHES)]}


def _draw(axis: Any, time: Array, words: str, curves: Sequence[Trace]) -> None:
    lines = [axis.plot(time, curve.values, **_look(k))[0] for k, curve in enumerate(curves)]
    names = [
        _verbatim(curve.short.replace("_", " ") if curve.quantity == "energy" else curve.short)
        for curve in curves
    ]
    axis.set_ylabel(words)
    if all(curve.logarithmic for curve in curves):
        axis.set_yscale("log")
    if len(names) > 1:
        axis.legend(lines, names, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    elif curves[0].short not in (curves[0].quantity, "error"):
        axis.set_ylabel(f"{names[0]}: {words}")


def _verbatim(name: str) -> str:
    """Let matplotlib neither read a name as mathematics nor leave it out for its first letter."""
    text = name.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


# HTML


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
    low, high = _range(curves)
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


def _range(curves: Sequence[Trace]) -> tuple[float, float]:
    values = np.concatenate([curve.values for curve in curves])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.0 if high > low else 0.5 * abs(low) or 0.5
    return low - margin, high + margin


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
