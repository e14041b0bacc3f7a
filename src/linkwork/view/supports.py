"""Ground as engineers draw it in the plane: a hatched stand under a hinge, a hatched guide along a slider."""

from collections.abc import Iterable, Sequence

import numpy as np

from linkwork.view.body_pieces import Part, bar

Array = np.ndarray

_HIGH, _WIDE = 0.05, 0.032  # of a stand, per size of the mechanism
_THIN = 0.0022  # radius of its lines
_HATCHES = 6


def supports(grounded: Iterable[tuple[str, Array, Array]], up: Array, size: float) -> Iterable[Part]:
    """Return the lines under joints that ground has: kind, place (3,), and direction (3,) of each."""
    right = np.array([up[1], -up[0], 0.0])
    for kind, place, along in grounded:
        if kind == "Revolute":
            yield from _stand(place, up * size, right * size, size)
        elif kind == "Prismatic" and np.linalg.norm(along[:2]) > 0.5:
            across = np.array([-along[1], along[0], 0.0])
            across *= -1.0 if across @ up > 0.0 else 1.0  # below, as far as there is a below
            yield from _guide(place, along * size, across * size, size)


def _stand(pin: Array, up: Array, right: Array, size: float) -> Iterable[Part]:
    left_foot, right_foot = (pin - _HIGH * up + side * _WIDE * right for side in (-1.0, 1.0))
    yield from _lines([(pin, left_foot), (pin, right_foot)], size)
    yield from _hatched(left_foot - 0.4 * _WIDE * right, right_foot + 0.4 * _WIDE * right, -up, size)


def _guide(place: Array, along: Array, across: Array, size: float) -> Iterable[Part]:
    middle = place + 0.035 * across
    yield from _hatched(middle - 0.11 * along, middle + 0.11 * along, across, size)


def _hatched(a: Array, b: Array, down: Array, size: float) -> Iterable[Part]:
    """Return a line with short ones across, on the side of the ground."""
    yield from _lines([(a, b)], size)
    count = max(_HATCHES, round(_HATCHES * float(np.linalg.norm(b - a)) / (2.8 * _WIDE * size)))
    step = (b - a) / count
    yield from _lines([(a + (k + 1) * step, a + k * step + 0.3 * _HIGH * down) for k in range(count)], size)


def _lines(ends: Sequence[tuple[Array, Array]], size: float) -> Iterable[Part]:
    for a, b in ends:
        yield bar(a, b, _THIN * size)
