"""Words in pictures that are drawn without a browser."""

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.recording.samples import optional

Array = np.ndarray

SIZE = 13  # of letters [pixels]
_PAD = 3  # of the light box behind words [pixels]
_CLEAR = 0.72  # how much of what is behind the box it hides


@cache
def _font() -> Any:
    matplotlib = optional("matplotlib", "plot")
    ft2font = optional("matplotlib.ft2font", "plot")
    return ft2font.FT2Font(str(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")))


@lru_cache(maxsize=1024)
def _written(text: str, size: float) -> tuple[Array, int]:
    """Return how dark words are, (height, width) from 0 to 1, and how many rows are above their line."""
    font = _font()
    font.set_size(size, 72)
    font.set_text(text, 0.0)
    below = round(font.get_descent() / 64)
    font.draw_glyphs_to_bitmap(antialiased=True)
    dark = np.array(font.get_image(), np.float32) / 255.0
    return dark, dark.shape[0] - below


def width(text: str, size: float = SIZE) -> int:
    """Return how wide words are [pixels]."""
    return _written(text, size)[0].shape[1]


def write(
    picture: Array,
    text: str,
    x: float,
    y: float,
    colour: Any = (40, 44, 50),
    *,
    size: float = SIZE,
    centred: bool = False,
    boxed: bool = False,
) -> None:
    """Write words into a picture (height, width, 3) of bytes: their line begins, or has its middle, at x, y.

    What does not fit into the picture is cut off; `boxed` words stand on a light ground.
    """
    dark, above = _written(text, size)
    left = round(x - (0.5 * dark.shape[1] if centred else 0.0))
    top = round(y) - above
    if boxed:
        box = _part(picture, left - _PAD, top - _PAD, dark.shape[1] + 2 * _PAD, dark.shape[0] + 2 * _PAD)
        picture[box[0]] = (255.0 * _CLEAR + (1.0 - _CLEAR) * picture[box[0]]).astype(np.uint8)
    there, of_text = _part(picture, left, top, dark.shape[1], dark.shape[0])
    strength = dark[of_text][..., None]
    picture[there] = (strength * np.asarray(colour, float) + (1.0 - strength) * picture[there]).astype(
        np.uint8
    )


def _part(picture: Array, left: int, top: int, wide: int, high: int) -> Any:
    """Return where a box is in a picture, as slices, and which part of the box that is."""
    tall, broad = picture.shape[:2]
    x, y = np.clip([left, left + wide], 0, broad), np.clip([top, top + high], 0, tall)
    there = slice(*y.tolist()), slice(*x.tolist())
    return there, (slice(*(y - top).tolist()), slice(*(x - left).tolist()))
