"""What a page that plays from disk knows beside its frames: overlays, views, curves with their units."""

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.curve import COLORS, MANY, shown_range
from linkwork.view.camera import Camera
from linkwork.view.overlays import Overlays
from linkwork.view.palette import hexadecimal
from linkwork.view.stage import FLOOR, FLOOR_COLOURS
from linkwork.view.subject import Subject

Array = np.ndarray

_POINTS = 400  # of a curve
_CURVES = 240  # in a page: some 2 kB each
_ASPECTS = np.geomspace(0.5, 3.0, 12)  # widths of pictures per height that views are fitted to


def script(
    subject: Subject, camera: Camera, overlays: Overlays, show: Sequence[str], plot: Sequence[str]
) -> str:
    """Return the data as an element of the page; what is a name stays one."""
    times = subject.trajectory.times
    axis, channels = _channels(subject, plot)
    data = {
        "name": subject.drawing.name,
        "start": float(times[0]),
        "span": float(times[-1] - times[0]),
        "colours": COLORS,
        "overlays": [
            {
                "word": word,
                "nodes": overlay.roots,
                "on": word in show,
                "colour": None if overlay.colour is None else hexadecimal(overlay.colour),
                "scale": overlay.scale,
            }
            for word, overlay in overlays.switches.items()
            if overlay.visible
        ],
        "floor": {"name": FLOOR, "true": FLOOR_COLOURS[True], "false": FLOOR_COLOURS[False]},
        "views": [_view(camera, name) for name in camera.names],
        "times": _packed(axis),
        "channels": channels,
        "plot": list(plot),
    }
    text = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="lw-data">{text}</script>'


def _view(camera: Camera, name: str) -> dict[str, Any]:
    views = [(float(aspect), camera.view(name, float(aspect))) for aspect in _ASPECTS]
    places = [
        {"aspect": aspect, "position": view.position.tolist(), "look_at": view.look_at.tolist()}
        for aspect, view in views
    ]
    return {"name": name, "up": views[0][1].up.tolist(), "places": places}


def _channels(subject: Subject, first: Sequence[str]) -> tuple[Array, list[dict[str, Any]]]:
    """Return times, and the curves of channels, those of `first` first, as many as a page can have."""
    names = subject.channels
    for name in first:
        if name not in names:
            raise ValueError(
                f"save_html: nothing is recorded as {name!r}; plot= takes names such as {names[:3]}"
            )
    found: list[dict[str, Any]] = []
    count, axis = 0, np.zeros(0)
    for name in [*first, *(name for name in names if name not in first)]:
        try:
            times, traces = subject.curves([name])
        except (LinkworkError, KeyError, ValueError, AttributeError, TypeError) as error:
            if name in first:
                raise LinkworkError(f"save_html: {name}: {error}") from None
            continue  # it is not known of this motion
        if not traces or len(traces) > MANY:
            continue
        count += len(traces)
        if count > _CURVES and name not in first:
            break
        thin = slice(None, None, max(1, len(times) // _POINTS))
        axis = times[thin]
        found.append(
            {
                "name": name,
                "axis": traces[0].axis,
                "unit": traces[0].unit,
                "range": shown_range(traces),
                "curves": [
                    {"label": trace.short, "values": _packed(np.asarray(trace.values, float)[thin])}
                    for trace in traces
                ],
            }
        )
    return axis, found


def _packed(values: Array) -> str:
    """Return numbers as single precision, in letters."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()
