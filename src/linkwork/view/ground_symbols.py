"""Ground as engineers draw it: in the plane a hatched stand under a hinge, a hatched guide along a slider.

In space it is a cone under what turns. A mechanism that hangs has its stands above.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwork.geometry import Cone
from linkwork.view.body_pieces import Part, bar, turned_to
from linkwork.view.tessellate import solid_shell

Array = np.ndarray

_HIGH, _WIDE = 0.05, 0.032  # of a stand, per size of the mechanism
_CONE = 0.04
_HIGHEST = 0.3  # of a stand, per length of the body on it
_THIN = 0.0022  # radius of lines
_HATCHES = 6
_HANGS = 0.3  # how far below a hinge, per distance, the middle of what hangs from it is
_APART = 0.015  # between the middle of a slider without shape and its guide
TURNING = {"Revolute", "Spherical", "Universal", "Cylindrical"}


@dataclass(frozen=True, eq=False)
class Grounded:
    """A joint that ground has, and the body on it."""

    name: str
    kind: str
    place: Array  # (3,) of the joint [m]
    along: Array  # (3,) its first axis
    middle: Array  # (3,) of the mechanism's mass [m]
    corners: Array  # (N, 3) of the boxes round the body's shapes [m]

    @property
    def length(self) -> float:
        """How long the body is [m]."""
        return float(np.linalg.norm(np.ptp(np.vstack([self.corners, self.place]), axis=0)))


def supports(joint: Grounded, up: Array, size: float, flat: bool) -> Iterable[Part]:
    """Return what ground has under a joint, in a mechanism of this size; `flat`: in the plane."""
    way = joint.middle - joint.place
    if way @ up < -_HANGS * float(np.linalg.norm(way)):
        up = -up
    high = min((_HIGH if flat else _CONE) * size, _HIGHEST * joint.length)
    if flat and joint.kind == "Revolute":
        yield from _stand(joint.place, up, high)
    elif flat and joint.kind == "Prismatic":
        yield from _guide(joint, up, size)
    elif not flat and joint.kind in TURNING:
        yield _cone(joint.place, -up, high)


def anchor(place: Array, away: Array, size: float, flat: bool) -> Iterable[Part]:
    """Return what ground has at the end of a spring; `away` leads out of the spring, into the ground."""
    if flat:
        across = np.array([-away[1], away[0], 0.0])
        yield from _hatched(place - _WIDE * size * across, place + _WIDE * size * across, away, size)
    else:
        yield _cone(place, away, _CONE * size)


def _cone(tip: Array, away: Array, high: float) -> Part:
    """Return a cone with its point at a place, and its foot away from there."""
    cone = replace(solid_shell(Cone(0.45, 1.0)), scale=(high, high, high))
    top = float(cone.corners[:, 2].max())
    return cone, np.column_stack([turned_to(-away), tip + top * away]), None


def _stand(pin: Array, up: Array, high: float) -> Iterable[Part]:
    scale = high / _HIGH
    right = np.array([up[1], -up[0], 0.0])
    left_foot, right_foot = (pin - high * up + side * _WIDE * scale * right for side in (-1.0, 1.0))
    yield from _lines([(pin, left_foot), (pin, right_foot)], scale)
    edge = 0.4 * _WIDE * scale * right
    yield from _hatched(left_foot - edge, right_foot + edge, -up, scale)


def _guide(joint: Grounded, up: Array, size: float) -> Iterable[Part]:
    """Return the line that a slider slides on, at its lower side, longer than the slider is."""
    along = joint.along
    across = np.array([-along[1], along[0], 0.0])
    across *= -1.0 if across @ up > 0.0 else 1.0  # below, as far as there is a below
    reach = joint.corners - joint.place
    low = max(float((reach @ across).max(initial=0.0)), _APART * size)
    back, front = float((reach @ along).min(initial=0.0)), float((reach @ along).max(initial=0.0))
    edge = max(0.11 * size - 0.5 * (front - back), 0.06 * size)
    foot = joint.place + (low + _THIN * size) * across
    yield from _hatched(foot + (back - edge) * along, foot + (front + edge) * along, across, size)


def _hatched(a: Array, b: Array, down: Array, size: float) -> Iterable[Part]:
    """Return a line with short ones across, on the side of the ground."""
    yield from _lines([(a, b)], size)
    count = max(_HATCHES, round(_HATCHES * float(np.linalg.norm(b - a)) / (2.8 * _WIDE * size)))
    step, down = (b - a) / count, 0.3 * _HIGH * size * down
    yield from _lines([(a + (k + 1) * step, a + k * step + down) for k in range(count)], size)


def _lines(ends: Sequence[tuple[Array, Array]], size: float) -> Iterable[Part]:
    for a, b in ends:
        yield bar(a, b, _THIN * size)
