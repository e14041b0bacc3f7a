"""what a body emits <- its blows, what rubs it, its puffs: pressure times distance, sample by sample.

*Blows* last as long as Hertz says (1882; Johnson, Contact Mechanics, 1985, eq. 11.24),

    T = 2.87 (m^2 / (R E*^2 u))^(1/5),

and are half sines (the true curve is one within some per cent): what is soft, heavy or slow is dull. R is a
quarter of the mean side of the smaller body, m the mass that the blow feels, J / u.

*Rubbing* (van den Doel, Kry and Pai, FoleyAutomatic, SIGGRAPH 2001): surfaces have asperities some d apart,
so at a slip v the force of friction fluctuates up to frequencies v / d; by how much of itself is a matter of
surfaces: a twentieth here, with d = 0.3 mm. What rolls goes over longer waves, 3 mm, with a thousandth of
what presses.

*Puffs* are noise that dies away, below 900 Hz mostly; 2 mPa m per newton of the steam, as a model engine has
it.

A body is silent but while something acts, and it rings: only these stretches are computed.
"""

from collections.abc import Iterator, Sequence
from math import exp, log
from typing import NamedTuple

import numpy as np

from linkwork.acoustics.body_voice import Voice
from linkwork.acoustics.machine_parts import Puff
from linkwork.acoustics.moving_bodies import MovingBodies
from linkwork.acoustics.ringing import ring, roughen, strike
from linkwork.acoustics.touches import Blow, Rubbing

Array = np.ndarray

_BLOCK = 0.02  # stretches begin and end at multiples of this [s]
_LONGEST = 6.0  # that anything rings [s]
_SHORTEST = 4.0  # of a blow, in samples: shorter ones would be heard where they are not
_ASPERITIES, _WAVES = 3e-4, 3e-3  # distances [m]
_GRATES, _RUMBLES = 0.05, 1e-3  # of friction, and of what presses
_SLIDES = 1e-3  # a slower slip is not heard [m/s]
_HISS, _LOUD = 900.0, 2e-3  # of puffs: corner [Hz], and Pa m per N
_PUFFED = 8.0  # times as long as it takes to lose two thirds, and it is over
_LEAST = exp(-9.0)


class _Hits(NamedTuple):
    """The blows on one body, sorted by time."""

    time: Array  # (n,) [s]
    length: Array  # (n,) [s]
    impulse: Array  # (n,) [N s]
    shapes: Array  # (n, K) how much each mode is struck


def emitted(
    bodies: MovingBodies,
    body: int,
    blows: Sequence[Blow],
    rubbed: Sequence[Rubbing],
    puffs: Sequence[Puff],
    rate: float,
    count: int,
) -> Iterator[tuple[int, Array]]:
    """Yield stretches of what a body emits: the first sample, and the pressure times distance [Pa m]."""
    voice, start = bodies.voices[body], float(bodies.time[0])
    hits = _hits(bodies, body, blows)
    grips = [one for one in rubbed if body in one.bodies]
    own = [one for one in puffs if one.body == body]
    for low, high in _stretches(bodies, voice, hits, grips, own, rate, count):
        force, signal = np.zeros(high - low), np.zeros(high - low)
        t = start + np.arange(low, high) / rate
        _add_friction(force, grips, bodies.time, t, rate, body)
        inside = (hits.time + hits.length >= t[0]) & (hits.time <= t[-1])
        begin = hits.time[inside] - float(t[0])
        blow = np.zeros_like(force)
        given = begin, hits.length[inside], hits.impulse[inside]
        strike(*given, np.ones(len(begin)), rate, blow)
        signal[1:] += voice.click * np.diff(blow + force) * rate**2
        for k in range(len(voice.frequency)):
            blow = force.copy()
            strike(*given, np.ascontiguousarray(hits.shapes[inside, k]), rate, blow)
            ring(blow, float(voice.frequency[k]), float(voice.decay[k]), float(voice.gain[k]), rate, signal)
        for one in own:
            _add_puff(signal, one, t, rate)
        yield low, signal


def _hits(bodies: MovingBodies, body: int, blows: Sequence[Blow]) -> _Hits:
    own = [one for one in blows if body in one.bodies]
    shapes = np.zeros((len(own), len(bodies.voices[body].frequency)))
    length = np.zeros(len(own))
    for n, one in enumerate(own):
        k = max(int(np.searchsorted(bodies.time, one.time)) - 1, 0)
        shapes[n] = bodies.voices[body].shapes(bodies.local(k, body, one.point))
        length[n] = _hertz(bodies, one)
    return _Hits(np.array([one.time for one in own]), length, np.array([one.impulse for one in own]), shapes)


def _hertz(bodies: MovingBodies, one: Blow) -> float:
    """Return how long a blow lasts [s]."""
    soft = 0.0
    for body in one.bodies:
        a = bodies.acoustics(body)
        soft += (1.0 - a.poisson**2) / a.young
    radius = min(0.25 * float(bodies.voices[x].sides.mean()) for x in one.bodies if x >= 0)
    mass = one.impulse / one.speed
    return 2.87 * (mass**2 * soft**2 / (radius * one.speed)) ** 0.2


def _stretches(
    bodies: MovingBodies,
    voice: Voice,
    hits: _Hits,
    grips: Sequence[Rubbing],
    puffs: Sequence[Puff],
    rate: float,
    count: int,
) -> list[tuple[int, int]]:
    """Return where a body is not silent, as samples from and to."""
    start, blocks = float(bodies.time[0]), int(np.ceil(count / rate / _BLOCK))
    active, lasts = np.zeros(blocks + 1, np.int64), min(voice.lasts(_LEAST), _LONGEST) + _BLOCK

    def mark(low: Array, high: Array) -> None:
        first = np.clip(((low - start) / _BLOCK).astype(int), 0, blocks)
        last = np.clip(((high - start) / _BLOCK).astype(int) + 1, 0, blocks)
        np.add.at(active, first, 1)
        np.add.at(active, last, -1)

    mark(hits.time, hits.time + hits.length + lasts)
    for one in puffs:
        mark(np.array([one.time]), np.array([one.time + _PUFFED * one.lasts]))
    for one in grips:
        k = np.flatnonzero((one.press > 0.0) & ((one.slip > _SLIDES) | (one.roll > _SLIDES)))
        if len(bodies.time) > 1:
            before, after = np.maximum(k - 1, 0), np.minimum(k + 1, len(bodies.time) - 1)
            mark(bodies.time[before], bodies.time[after] + lasts)
    on = np.concatenate([[0], (np.cumsum(active)[:-1] > 0).astype(int), [0]])
    edges = np.flatnonzero(np.diff(on)).reshape(-1, 2)
    block = _BLOCK * rate
    return [(int(a * block), min(int(b * block), count)) for a, b in edges if int(a * block) < count]


def _add_friction(
    force: Array, grips: Sequence[Rubbing], time: Array, t: Array, rate: float, body: int
) -> None:
    """Add the fluctuating forces of what rubs a body, as impulses of samples [N s]."""
    rough = np.zeros_like(force)
    for one in grips:
        slip, roll, friction, press = (
            np.interp(t, time, x) for x in (one.slip, one.roll, one.friction, one.press)
        )
        for word, speed, size, spacing in (
            (0, slip, _GRATES * friction, _ASPERITIES),
            (1, roll, _RUMBLES * press, _WAVES),
        ):
            loud = np.where(speed > _SLIDES, size * np.minimum(speed / 0.1, 1.0), 0.0)
            if loud.any():
                roughen(_noise(len(t), *one.bodies, word, int(t[0] * rate)), speed / spacing, rough, rate)
                force += loud * rough / rate


def _add_puff(signal: Array, one: Puff, t: Array, rate: float) -> None:
    """Add noise that dies away."""
    since = t - one.time
    some = np.flatnonzero((since >= 0.0) & (since < _PUFFED * one.lasts))
    if not len(some):
        return
    part = slice(int(some[0]), int(some[-1]) + 1)
    x = since[part]
    hiss, corner = np.zeros(len(x)), _HISS * np.exp(-0.5 * x / one.lasts) + 100.0
    roughen(_noise(len(x), one.body, int(one.time * 1e6)), corner, hiss, rate)
    signal[part] += _LOUD * one.force * np.exp(-x / one.lasts) * (1.0 - np.exp(-x / 5e-4)) * hiss


def _noise(count: int, *key: int) -> Array:
    """Return white noise of unit power, the same for the same key."""
    seed = np.random.SeedSequence([k + 2 for k in key])
    return np.sqrt(12.0) * (np.random.Generator(np.random.PCG64(seed)).random(count) - 0.5)


def decibels(pressure: float) -> float:
    """Return a level above the threshold of hearing, 20 uPa [dB].

    >>> decibels(0.02)
    60.0
    """
    return round(20.0 * log(max(pressure, 1e-12) / 2e-5, 10.0), 12)
