"""The pictures of a film: a mechanism, what is shown over it, a legend, and curves below."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.curve import Trace
from linkwork.view.camera import Camera
from linkwork.view.film_charts import FilmCharts
from linkwork.view.overlays import Overlays
from linkwork.view.picture import checked_size, chosen, floor_of
from linkwork.view.picture_scene import PictureScene
from linkwork.view.picture_text import SIZE, write
from linkwork.view.raster import Renderer
from linkwork.view.subject import Subject

Array = np.ndarray

_STRIP, _LOW = 0.3, 100  # of the height, for curves; at least so many pixels, if there are
_LOOKED_AT = 60  # moments at which arrows are measured beforehand
_MARGIN, _LINE = 12, 19  # of the legend [pixels]


class Film:
    """Called with a time [s] it draws the picture of it, (height, width, 3) of bytes."""

    def __init__(
        self,
        subject: Subject,
        size: tuple[int, int],
        view: str,
        show: Sequence[str] = (),
        plot: Sequence[str] = (),
        trace: Any = None,
    ) -> None:
        self._trajectory = subject.trajectory
        width, height = checked_size(size)
        self._charts = None
        if plot:
            strip = max(int(_STRIP * height), min(_LOW, height // 2))
            times, traces = _curves(subject, plot)
            self._charts = FilmCharts(times, traces, (width, strip))
            height -= strip
        drawing, size = subject.drawing, (width, height)
        camera = Camera(drawing, self._trajectory.passed(200))
        seen = chosen(camera, view, size)
        scene = PictureScene(seen, size)
        self._said = ""
        self._overlays = Overlays(scene, subject, self._say)
        self._overlays.show("save_video", show, trace)
        times = self._trajectory.times
        self._overlays.measure(
            self._trajectory.at(t) for t in np.linspace(times[0], times[-1], _LOOKED_AT).tolist()
        )
        if self._said and any(not self._overlays.switches[word].visible for word in show):
            raise LinkworkError(f"save_video: {self._said}")
        self._captioned = bool(show or plot or trace is not None)
        self._render = Renderer(drawing, seen, size, floor_of(drawing, camera), scene)

    def _say(self, text: str) -> None:
        self._said = text

    def __call__(self, t: float) -> Array:
        moment = self._trajectory.at(t)
        self._overlays.place(moment, moment.world)
        picture = self._render(moment.poses)
        if self._captioned:
            self._caption(picture, t)
        return picture if self._charts is None else np.concatenate([picture, self._charts(t)])

    def _caption(self, picture: Array, t: float) -> None:
        """Write the time, what the colours of arrows mean and how long they are, and what else is said."""
        lines = [(f"{t:.2f} s", (40, 44, 50)), *self._overlays.legend()]
        if self._said:
            lines.append((self._said, (40, 44, 50)))
        for k, (text, colour) in enumerate(lines):
            write(picture, text, _MARGIN, _MARGIN + SIZE + k * _LINE, colour, boxed=True)


def _curves(subject: Subject, names: Sequence[str]) -> tuple[Array, list[Trace]]:
    """Return times and traces of channels; what is not recorded is refused by name."""
    for name in names:
        if not subject.has(name):
            raise ValueError(
                f"save_video: nothing is recorded as {name!r}; plot= takes names such as "
                f"{tuple(subject.channels[:3])}"
            )
    try:
        return subject.curves(names)
    except (LinkworkError, KeyError, ValueError, AttributeError, TypeError) as error:
        raise LinkworkError(f"save_video: {', '.join(names)}: {error}") from None
