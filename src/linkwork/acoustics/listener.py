"""pressure at two ears <- what bodies emit: distance, time of travel, Doppler shift, and the shade of a head.

What a body emits at a time s, at a distance r(s), arrives at t = s + r / c, with 1 / r of its pressure. That
map of times, solved for s, is all there is to Doppler's shift: a body that approaches is heard faster.

Ears are 17.5 cm apart, each a listener by itself: so sound from a side comes sooner to one of them. A head
of radius a shades the other. With the angle T between an ear and the source (Brown and Duda, A structural
model for binaural sound synthesis, IEEE Trans. Speech Audio Process. 6, 1998, eq. 3 and 4)

    H = (1 + j alpha w / (2 w_0)) / (1 + j w / (2 w_0)) = low + alpha high,   w_0 = c / a,
    alpha = 1.05 + 0.95 cos(1.2 T),

so the parts of a sound below and above w_0 / pi are added with factors 1 and alpha.
"""

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.acoustics.body_voice import SPEED
from linkwork.acoustics.moving_bodies import MovingBodies
from linkwork.acoustics.ringing import hear, split
from linkwork.errors import LinkworkError, unknown
from linkwork.real_numbers import finite_array
from linkwork.spelling import Spelled, fixed

Array = np.ndarray

_HEAD = 0.0875  # radius [m]
_NEAREST = 0.2  # distance at which sound gets no louder [m]
_EVERY = 64  # samples of sound from one look at where a body is to the next


@fixed("make another Listener")
@dataclass(frozen=True)
class Listener(metaclass=Spelled):
    """Who hears: at a place, or carried by a body of which `position` is a point.

    `looks` is where the face points, `up` the top of the head; both turn with the body.
    """

    position: Any = (0.0, 0.0, 0.0)  # (3,) [m]
    looks: Any = (0.0, 1.0, 0.0)  # (3,)
    up: Any = (0.0, 0.0, 1.0)  # (3,)
    body: str | None = None

    def __post_init__(self) -> None:
        for word in ("position", "looks", "up"):
            value = finite_array(f"listener: {word}", getattr(self, word))
            if value.shape != (3,):
                raise ValueError(f"listener: {word} {getattr(self, word)!r}; give 3 numbers")
            object.__setattr__(self, word, tuple(value.tolist()))
        if not float(np.linalg.norm(np.cross(self.looks, self.up))) > 0.0:
            raise ValueError(f"listener: looks {self.looks} along up {self.up}; give two directions")
        if self.body is not None and not isinstance(self.body, str):
            raise ValueError(f"listener: body {self.body!r}; give the name of a body")

    @property
    def right(self) -> Array:
        """The direction of the right ear (3,)."""
        way = np.cross(self.looks, self.up)
        return way / np.linalg.norm(way)


def listener_of(said: Any, bodies: MovingBodies) -> Listener:
    """Return the listener that is meant: one, a body's name, a place, or nothing: where a viewer stands."""
    if isinstance(said, Listener):
        found = said
    elif isinstance(said, str):
        found = Listener(body=said)
    elif said is None:
        return _viewer(bodies, None)
    else:
        return _viewer(bodies, said)
    if found.body is not None and found.body not in bodies.names:
        raise LinkworkError(f"sound: listener: {unknown('body', found.body, bodies.names)}")
    return found


def _viewer(bodies: MovingBodies, place: ArrayLike | None) -> Listener:
    """Return who looks at the middle of all that moves, from a place, or from where a camera would be."""
    centres = bodies.centres.reshape(-1, 3) if bodies.names else np.zeros((1, 3))
    low, high = np.percentile(centres, (5, 95), axis=0)
    middle = 0.5 * (low + high)
    flat = bodies.model.space == "plane"
    up, back = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)) if flat else ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
    if place is None:
        away = max(1.5 * float(np.linalg.norm(high - low)), 1.5)
        way = np.array((0.5, 0.0, 0.0)) + 0.75 * np.array(back) + 0.45 * np.array(up)
        place = middle + away * way / np.linalg.norm(way)
    position = finite_array("sound: listener", place)
    if position.shape != (3,):
        raise ValueError(f"sound: listener {place!r}; give 3 numbers, a body's name or an lw.Listener")
    looks = middle - position
    if not float(np.linalg.norm(np.cross(looks, up))) > 1e-9:
        looks = -np.array(back)
    return Listener(tuple(position), tuple(looks), up)


class Ears:
    """Two ears that hear bodies; the samples are those of `out` (2, n), from the start of a run on."""

    def __init__(self, who: Listener, bodies: MovingBodies, rate: float, count: int, travel: bool) -> None:
        self._bodies, self._rate, self._travel = bodies, rate, travel
        self.out = np.zeros((2, count))
        self._start = float(bodies.time[0])
        number = -1 if who.body is None else bodies.number(who.body)
        self._pose, place = bodies.poses[:, number], np.array(who.position)
        self._ears = [place + side * _HEAD * who.right for side in (-1.0, 1.0)]
        self._sides = [side * who.right for side in (-1.0, 1.0)]

    def listen(self, body: int, first: int, signal: Array) -> None:
        """Add what a body emits, as pressure times distance [Pa m], from a sample on."""
        k0, k1 = first // _EVERY, (first + len(signal)) // _EVERY + 1
        times = np.arange(k0, k1 + 1) * (_EVERY / self._rate)
        source = self._at(self._start + times, body)
        low, high = np.zeros_like(signal), np.zeros_like(signal)
        split(signal, SPEED / (pi * _HEAD) / 2.0, self._rate, low, high)
        for ear, side, out in zip(self._ears, self._sides, self.out, strict=True):
            place, turn = self._head(self._start + times, ear, side)
            way = source - place
            distance = np.linalg.norm(way, axis=1)
            cosine = np.einsum("ni,ni->n", way, turn) / np.maximum(distance, 1e-9)
            shade = 1.05 + 0.95 * np.cos(1.2 * np.arccos(np.clip(cosine, -1.0, 1.0)))
            delay = distance / SPEED if self._travel else 0.0
            arrival = (times + delay) * self._rate
            near = 1.0 / np.maximum(distance, _NEAREST)
            hear(
                low,
                high,
                np.maximum.accumulate(arrival),
                near,
                shade,
                float(_EVERY),
                first - k0 * _EVERY,
                out,
            )

    def _at(self, t: Array, body: int) -> Array:
        """Return where a body's centre of mass is (n, 3): cubics through samples and their velocities."""
        bodies = self._bodies
        return _hermite(bodies.time, bodies.centres[:, body], bodies.velocities[:, body], t)

    def _head(self, t: Array, ear: Array, side: Array) -> tuple[Array, Array]:
        """Return where an ear is, and where it points (n, 3)."""
        R, p = self._pose[:, :, :3], self._pose[:, :, 3]
        columns = [
            np.stack([np.interp(t, self._bodies.time, x) for x in rows.T], axis=1)
            for rows in (R @ ear + p, R @ side)
        ]
        return columns[0], columns[1]


def _hermite(time: Array, x: Array, v: Array, t: Array) -> Array:
    """Return values (n, 3) between samples (S, 3) with rates (S, 3), and at the ends beyond them."""
    if len(time) < 2:
        return np.repeat(x[:1], len(t), axis=0)
    t = np.clip(t, time[0], time[-1])
    k = np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2)
    h = (time[k + 1] - time[k])[:, None]
    s = (t - time[k])[:, None] / np.where(h > 0.0, h, 1.0)
    change = x[k + 1] - x[k]
    bend, twist = h * v[k] - change, change - h * v[k + 1]
    return x[k] + s * change + s * (1.0 - s) * ((1.0 - s) * bend + s * twist)
