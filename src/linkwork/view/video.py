"""Films of recordings, drawn without a browser and packed by PyAV."""

import math
import os
import secrets
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.acoustics.sound import Sound
from linkwork.errors import LinkworkError
from linkwork.recording.samples import optional
from linkwork.view.picture import checked_size
from linkwork.view.sound_panel import heard_of
from linkwork.view.subject_of import moving_subject_of

Array = np.ndarray

_MOST = 20_000  # frames
_KINDS = (".mp4", ".gif")
_CHUNK = 1024  # samples of sound


def frames(
    run: Any, rate: float, speed: float, size: tuple[int, int], view: str, **over: Any
) -> Iterator[Array]:
    """Return the pictures of a film, (height, width, 3) of bytes each; `over` is what `Film` shows beside."""
    from linkwork.view.film import Film

    subject = moving_subject_of(run)
    for word, value in (("rate", rate), ("speed", speed)):
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"save_video: {word} {value!r}; give a number above 0")
    times = subject.trajectory.times
    start, span = float(times[0]), float(times[-1] - times[0])
    count = int(span / speed * rate + 1e-9) + 1
    if count > _MOST:
        raise ValueError(f"save_video: {count} frames, {_MOST} at most; give a higher speed or a lower rate")
    picture = Film(subject, size, view, **over)
    return (picture(start + k * speed / rate) for k in range(count))


def save(
    run: Any,
    path: str | Path,
    *,
    rate: float,
    speed: float,
    size: tuple[int, int],
    view: str,
    sound: Any = False,
    **over: Any,
) -> None:
    """Write a film, all or nothing."""
    path = Path(path)
    if sound is not False and path.suffix.lower() == ".gif":
        raise LinkworkError(f"{path}: a GIF has no sound; give .mp4, or leave sound= out")
    if path.suffix.lower() not in _KINDS:
        raise LinkworkError(
            f"{path}: cannot write {path.suffix or 'a film without suffix'}; give .mp4 or .gif"
        )
    av = optional("av", "video")
    width, height = (side // 2 * 2 for side in checked_size(size))  # films have even sides
    pictures = frames(run, rate, speed, (width, height), view, **over)
    heard = heard_of(run, sound, "save_video")
    if heard is not None and speed != 1.0:
        heard = _as_of_a_tape(heard, speed)
    scratch = path.parent / f".lw-{secrets.token_hex(8)}{path.suffix.lower()}"
    try:
        with av.open(str(scratch), "w") as container:
            packed = av, container, pictures, Fraction(rate).limit_denominator(1000), width, height
            _gif(*packed) if path.suffix.lower() == ".gif" else _mp4(*packed, heard)
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def _as_of_a_tape(heard: Sound, speed: float) -> Sound:
    """Return a sound that is played faster or slower, and so higher or lower."""
    n = len(heard.samples)
    at = np.arange(0.0, n - 1, speed)
    samples = np.column_stack([np.interp(at, np.arange(n), ear) for ear in heard.samples.T])
    return replace(heard, samples=samples)


def _mp4(
    av: Any,
    container: Any,
    pictures: Iterator[Array],
    rate: Fraction,
    width: int,
    height: int,
    heard: Sound | None,
) -> None:
    stream = container.add_stream("h264", rate=rate)
    stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
    stream.options = {"crf": "20", "preset": "veryfast"}  # flat colours: slower ones save nothing
    track = None if heard is None else _Track(av, container, heard)
    for number, picture in enumerate(pictures, start=1):
        container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        if track:
            track.go_to(float(number / rate))
    container.mux(stream.encode())
    if track:
        track.end()


class _Track:
    """The sound of a film, packed beside its pictures."""

    def __init__(self, av: Any, container: Any, heard: Sound) -> None:
        self._av, self._container, self._rate = av, container, heard.rate
        self._samples = np.ascontiguousarray(heard.samples.T, np.float32)
        self._stream = container.add_stream("aac", rate=heard.rate, layout="stereo")
        self._done = 0

    def go_to(self, t: float) -> None:
        """Pack what is heard up to a time of the film [s]."""
        end = min(int(t * self._rate), self._samples.shape[1])
        for first in range(self._done, end, _CHUNK):
            part = np.ascontiguousarray(self._samples[:, first : min(first + _CHUNK, end)])
            frame = self._av.AudioFrame.from_ndarray(part, format="fltp", layout="stereo")
            frame.sample_rate, frame.pts = self._rate, first
            frame.time_base = Fraction(1, self._rate)
            self._container.mux(self._stream.encode(frame))
        self._done = max(end, self._done)

    def end(self) -> None:
        self._container.mux(self._stream.encode())


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
