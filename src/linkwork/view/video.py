"""Films of recordings, drawn without a browser and packed by PyAV."""

import math
import os
import secrets
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.samples import optional
from linkwork.view.camera import Camera
from linkwork.view.picture import checked_size, chosen, floor_of
from linkwork.view.subject_of import moving_subject_of

Array = np.ndarray

_MOST = 20_000  # frames
_KINDS = (".mp4", ".gif")


def frames(run: Any, rate: float, speed: float, size: tuple[int, int], view: str) -> Iterator[Array]:
    """Return the pictures of a film, (height, width, 3) of bytes each."""
    from linkwork.view.raster import Renderer

    subject = moving_subject_of(run)
    for word, value in (("rate", rate), ("speed", speed)):
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"save_video: {word} {value!r}; give a number above 0")
    figure, trajectory = subject.drawing, subject.trajectory
    start, span = float(trajectory.times[0]), float(trajectory.times[-1] - trajectory.times[0])
    count = int(span / speed * rate + 1e-9) + 1
    if count > _MOST:
        raise ValueError(f"save_video: {count} frames, {_MOST} at most; give a higher speed or a lower rate")
    camera = Camera(figure, trajectory.passed(200))
    render = Renderer(figure, chosen(camera, view, size), checked_size(size), floor_of(figure, camera))
    return (render(trajectory.at(start + k * speed / rate).poses) for k in range(count))


def save(run: Any, path: str | Path, *, rate: float, speed: float, size: tuple[int, int], view: str) -> None:
    """Write a film, all or nothing."""
    path = Path(path)
    if path.suffix.lower() not in _KINDS:
        raise LinkworkError(
            f"{path}: cannot write {path.suffix or 'a film without suffix'}; give .mp4 or .gif"
        )
    av = optional("av", "video")
    width, height = (side // 2 * 2 for side in checked_size(size))  # films have even sides
    pictures = frames(run, rate, speed, (width, height), view)
    scratch = path.parent / f".lw-{secrets.token_hex(8)}{path.suffix.lower()}"
    try:
        with av.open(str(scratch), "w") as container:
            pack = _gif if path.suffix.lower() == ".gif" else _mp4
            pack(av, container, pictures, Fraction(rate).limit_denominator(1000), width, height)
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def _mp4(av: Any, container: Any, pictures: Iterator[Array], rate: Fraction, width: int, height: int) -> None:
    stream = container.add_stream("h264", rate=rate)
    stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
    stream.options = {"crf": "20"}
    for picture in pictures:
        container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
    container.mux(stream.encode())


def _gif(av: Any, container: Any, pictures: Iterator[Array], rate: Fraction, width: int, height: int) -> None:
    """A GIF has 256 colours: those that the whole film needs most."""
    stream = container.add_stream("gif", rate=rate)
    stream.width, stream.height, stream.pix_fmt = width, height, "pal8"
    graph = av.filter.Graph()
    source = graph.add_buffer(width=width, height=height, format="rgb24", time_base=1 / rate)
    split, palette = graph.add("split"), graph.add("palettegen")
    use, sink = graph.add("paletteuse", "dither=none"), graph.add("buffersink")
    source.link_to(split)
    split.link_to(use, 0, 0)
    split.link_to(palette, 1, 0)
    palette.link_to(use, 0, 1)
    use.link_to(sink)
    graph.configure()

    def drain() -> None:
        while True:
            try:
                frame = graph.pull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            container.mux(stream.encode(frame))

    for number, picture in enumerate(pictures):
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        frame.pts, frame.time_base = number, 1 / rate
        graph.push(frame)
    graph.push(None)
    drain()
    container.mux(stream.encode())
