"""Sound of a recording, in step with its motion: `lw.sound(run)`, `run.save_sound("run.wav")`."""

import io
import wave
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwork.acoustics.emission import decibels, emitted
from linkwork.acoustics.listener import Ears, Listener, listener_of
from linkwork.acoustics.machine_parts import gears, puffs, stops
from linkwork.acoustics.moving_bodies import MovingBodies
from linkwork.acoustics.scene_bodies import is_of_scene, meeting_model
from linkwork.acoustics.touches import blows_and_rubbing
from linkwork.atomic_files import write_atomically
from linkwork.errors import LinkworkError
from linkwork.model.model import Model
from linkwork.real_numbers import is_finite, shown
from linkwork.recording.batch import Recordings
from linkwork.recording.recording import Recording
from linkwork.spelling import checked_keywords, fixed, require, returned_by

Array = np.ndarray

RATE = 44_100  # samples a second
_RATES = (8_000, 192_000)
_PEAK = 0.9  # of full scale, of the loudest sample
_AFTER = 1.0  # that sound goes on after a run [s]


class Onset(NamedTuple):
    """Something that begins to sound."""

    time: float  # at which it happens [s]
    bodies: tuple[str, ...]  # that sound
    kind: str  # "blow" or "puff"
    size: float  # impulse [N s] of a blow, force [N] of a puff


@returned_by("lw.sound(run) returns one")
@fixed("it is what was heard")
@dataclass(frozen=True, eq=False)
class Sound:
    """What a listener hears of a run: `samples` (n, 2), left and right."""

    samples: Array  # (n, 2) from -1 to 1
    rate: int  # samples a second
    start: float  # time of the first sample [s]
    listener: Listener
    onsets: tuple[Onset, ...]  # what begins to sound, when it happens
    loudest: float  # pressure of the loudest sample [Pa]

    @property
    def decibels(self) -> float:
        """The level of the loudest sample above 20 uPa [dB]."""
        return decibels(self.loudest)

    @property
    def time(self) -> Array:
        """When each sample is heard (n,) [s]."""
        return self.start + np.arange(len(self.samples)) / self.rate

    def since(self, t: float) -> "Sound":
        """Return what is heard from a time on [s]."""
        first = min(max(round((t - self.start) * self.rate), 0), len(self.samples))
        return replace(self, samples=self.samples[first:], start=self.start + first / self.rate)

    def wav(self) -> bytes:
        """Return it as a file of 16 bit PCM."""
        numbers = np.round(np.clip(self.samples, -1.0, 1.0) * 32767.0).astype("<i2")
        made = io.BytesIO()
        with wave.open(made, "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(self.rate)
            file.writeframes(numbers.tobytes())
        return made.getvalue()

    def save(self, path: str | Path) -> None:
        """Write it to a `.wav` file, all or nothing."""
        if Path(path).suffix.lower() != ".wav":
            raise LinkworkError(f"{path}: cannot write {Path(path).suffix!r} as sound; give a name in .wav")
        write_atomically(path, [self.wav()])

    def _repr_html_(self) -> str:
        return audio(self, "controls")

    def __repr__(self) -> str:
        seconds = len(self.samples) / self.rate
        return f"<Sound {seconds:.3g} s, {len(self.onsets)} onsets, loudest {self.decibels:.0f} dB>"


def audio(heard: Sound, options: str) -> str:
    """Return an element of a page that plays a sound, which is in it."""
    from base64 import b64encode

    return f'<audio {options} src="data:audio/wav;base64,{b64encode(heard.wav()).decode()}"></audio>'


@checked_keywords
def sound(
    run: Any,
    listener: Any = None,
    *,
    rate: int = RATE,
    travel: bool = True,
    materials: Mapping[str, str] | None = None,
    level: float | None = None,
    model: Any = None,
) -> Sound:
    """Return what a listener hears of a run, or of a scene: blows, rubbing, stops, gears and puffs.

    `listener` is a place, the name of a body that carries the ears, or an `lw.Listener`; without one it is
    about where the viewer stands. With `travel=False` sound takes no time, so that it begins when things
    happen. `materials` says what bodies sound like, by name ("steel", "wood", ...). The loudest sample is 0.9
    of full scale; `level` says how many decibels full scale is instead, to compare runs. A run from a file
    needs its `model`.
    """
    _check(rate, level)
    require("sound: travel", travel, bool, "True or False")
    require("sound: materials", materials, Mapping | None, 'materials by body: {"ball": "steel"}')
    run = getattr(run, "recording", run)  # of a scene
    if isinstance(run, Recordings):
        raise LinkworkError(f"sound: {run!r:.60} is many runs; give one of them, runs[0]")
    if not isinstance(run, Recording):
        raise LinkworkError(f"sound: {run!r:.60} is no run; give what lw.simulate returned, or a scene")
    require("sound: model", model, Model | None, "the Model that was run")
    if model is None:
        model = meeting_model(run) if is_of_scene(run) and run.model is not None else run.model
    if model is None:
        raise LinkworkError("sound: this run comes from a file, without its bodies; give model=")
    bodies = MovingBodies(run, model, materials or {})
    if not len(bodies.time):
        raise LinkworkError("sound: this run has no samples")
    blows, rubbed = blows_and_rubbing(bodies)
    steam, knocks = puffs(bodies)
    blows = sorted([*blows, *stops(bodies), *gears(bodies), *knocks], key=lambda one: one.time)
    count = round((bodies.time[-1] - bodies.time[0] + _AFTER) * rate) + 1
    who = listener_of(listener, bodies)
    ears = Ears(who, bodies, float(rate), count, travel)
    for body in range(len(bodies.names)):
        for first, signal in emitted(bodies, body, blows, rubbed, steam, float(rate), count):
            ears.listen(body, first, signal)
    loudest = float(np.abs(ears.out).max(initial=0.0))
    full = loudest / _PEAK if level is None else 2e-5 * 10.0 ** (level / 20.0)
    samples = np.ascontiguousarray(ears.out.T) / (full or 1.0)
    names = (*bodies.names, "ground")
    onsets = [Onset(one.time, tuple(names[k] for k in one.bodies), "blow", one.impulse) for one in blows]
    onsets += [Onset(one.time, (names[one.body],), "puff", one.force) for one in steam]
    return Sound(samples, rate, float(bodies.time[0]), who, tuple(sorted(onsets)), loudest)


def _check(rate: Any, level: Any) -> None:
    if isinstance(rate, bool) or not isinstance(rate, int | np.integer) or not _RATES[0] <= rate <= _RATES[1]:
        raise ValueError(f"sound: rate {shown(rate)}; give a whole number of samples a second, 44100 say")
    if level is not None and not is_finite(level):
        raise ValueError(f"sound: level {shown(level)}; give decibels at full scale, 94 are 1 Pa")
