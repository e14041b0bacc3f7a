"""Curves of one run or of several, over time or over each other, as a matplotlib Figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.recording.curve import COLORS, Trace, shown_range

Array = np.ndarray

_DASHES = ("-", "--", ":")  # for more curves than colours
# As a journal prints it: the width of its text, its size of letters, thin lines, letters that stay letters.
STYLE: dict[Any, Any] = {
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


@dataclass(frozen=True, eq=False)
class Curves:
    """What is drawn of one run, or of all runs of a batch."""

    run: str  # its name in the legend; "" if it is the only one
    time: Array  # (S,) [s]
    traces: Sequence[Trace]


@dataclass(frozen=True, eq=False)
class _Line:
    """A curve in a panel."""

    run: str
    number: int  # of the run
    index: int  # of the curve among those of its run in this panel
    time: Array
    trace: Trace


def figure(runs: Sequence[Curves], title: str, marks: Sequence[tuple[float, str]] = ()) -> Any:
    """Return a Figure with one panel per quantity and unit; `marks` are times with names, of events."""
    panels: dict[str, list[_Line]] = {}
    for number, run in enumerate(runs):
        for trace in run.traces:
            lines = panels.setdefault(trace.axis, [])
            index = sum(line.number == number for line in lines)
            lines.append(_Line(run.run, number, index, run.time, trace))
    if not panels:
        raise ValueError(f"{title!r} has no coordinate to plot; name a body, as in plot('body.position')")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        size = (_WIDE, 0.6 + 1.75 * len(panels))
        picture, axes = pyplot.subplots(
            len(panels), 1, sharex=True, squeeze=False, figsize=size, layout="constrained"
        )
        for axis, (words, lines) in zip(axes[:, 0], panels.items(), strict=True):
            _draw(axis, words, lines)
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


def _draw(axis: Any, words: str, lines: Sequence[_Line]) -> None:
    several = len({line.number for line in lines}) > 1
    single = len({line.trace.short for line in lines}) == 1
    drawn, names = [], []
    for k, line in enumerate(lines):
        look = _look(line.number, line.index) if several else _look(k)
        if line.trace.values.ndim > 1:  # all runs of a batch, too many to distinguish
            look |= {"linewidth": 0.6, "alpha": max(0.15, min(1.0, 10.0 / len(line.trace.values)))}
        drawn.append(axis.plot(line.time, line.trace.values.T, **look)[0])
        short = line.trace.short.replace("_", " ") if line.trace.quantity == "energy" else line.trace.short
        parts = [line.run] * several + [short] * (not (several and single))
        names.append(_verbatim(": ".join(parts)))
    traces = [line.trace for line in lines]
    axis.set_ylabel(words)
    if all(trace.logarithmic for trace in traces):
        axis.set_yscale("log")
    else:
        _set_range(axis, traces)
    if len(names) > 1:
        axis.legend(drawn, names, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    if single and traces[0].short not in (traces[0].quantity, "error"):
        axis.set_ylabel(f"{_verbatim(traces[0].short)}: {words}")


def _set_range(axis: Any, traces: Sequence[Trace], upright: bool = True) -> None:
    """Show all numbers; round-off is not magnified to fill a panel."""
    low, high = shown_range(traces)
    margin = 0.05 * high - 0.05 * low
    (axis.set_ylim if upright else axis.set_xlim)(low - margin, high + margin)


def against(runs: Sequence[tuple[str, Sequence[tuple[Trace, Trace]]]], title: str) -> Any:
    """Return a Figure of curves over curves, (x, y) each: phase portraits, paths. Each begins at a dot.

    `runs` are the name of each run in the legend, and its curves.
    """
    from matplotlib import pyplot

    panels: dict[tuple[str, str], list[tuple[str, Trace, Trace]]] = {}
    for run, pairs in runs:
        for x, y in pairs:
            panels.setdefault((x.axis, y.axis), []).append((run, x, y))
    with pyplot.rc_context(STYLE):
        size = (_SQUARE * len(panels) if len(panels) > 1 else _SQUARE + 0.6, _SQUARE)
        picture, axes = pyplot.subplots(1, len(panels), squeeze=False, figsize=size, layout="constrained")
        for axis, ((across, up), curves) in zip(axes[0], panels.items(), strict=True):
            single = len({y.short for _, _, y in curves}) == 1
            for k, (run, x, y) in enumerate(curves):
                parts = [run] * bool(run) + [y.short] * (not (run and single))
                line = axis.plot(x.values.T, y.values.T, label=_verbatim(": ".join(parts)), **_look(k))[0]
                axis.plot(x.values.T[:1], y.values.T[:1], "o", markersize=4, color=line.get_color())
            axis.set_xlabel(_named(across, [x for _, x, _ in curves]))
            axis.set_ylabel(_named(up, [y for _, _, y in curves]))
            if across.rpartition("[")[2] == up.rpartition("[")[2]:  # a path keeps its shape
                axis.set_aspect("equal", adjustable="datalim")
            else:
                _set_range(axis, [x for _, x, _ in curves], upright=False)
                _set_range(axis, [y for _, _, y in curves])
            if len(curves) > 1:
                axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes[0, 0].set_title(_verbatim(title))
    return picture


def _named(words: str, curves: Sequence[Trace]) -> str:
    """Return the words of an axis, with the name if all curves have one."""
    names = {curve.short for curve in curves}
    return f"{_verbatim(*names)}: {words}" if len(names) == 1 else words


def _look(k: int, dashes: int | None = None) -> dict[str, Any]:
    """Return colour and dashes of curve k."""
    dashes = k // len(COLORS) if dashes is None else dashes
    return {"color": COLORS[k % len(COLORS)], "linestyle": _DASHES[dashes % len(_DASHES)]}


def _verbatim(name: str) -> str:
    """Let matplotlib neither read a name as mathematics nor leave it out for its first letter."""
    text = name.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
