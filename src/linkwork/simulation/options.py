"""What the user wants of a run, checked and completed."""

import functools
import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan
from typing import Any, TypedDict, TypeGuard

import numpy as np

from linkwork.errors import unknown
from linkwork.real_numbers import is_real, real_array, shown
from linkwork.simulation.event import Event
from linkwork.simulation.integrators.methods import METHODS, method_name
from linkwork.simulation.integrators.tableau import StepMethod
from linkwork.simulation.restoring import PROJECTED, Restoring, chosen_restoring

Array = np.ndarray

AUTO = "auto"
MOREAU_JEAN = "moreau-jean"  # of steps with contact, see `contact_dynamics.time_stepping.stepper`
MOST_STEPS = 1e8  # of a run, by default; far fewer if it makes no progress
ACCURACY = 1e-8  # unless said
_FINEST = 1e-14  # accuracy that can be asked for
_FINE = 1e-4  # accuracy from which on order 8 takes fewer evaluations than order 5
_MOST_SAMPLES = 10**9  # more are a slip of the pen
_PART = 5  # a fifth of the machine's memory may be samples: they are copied when they are put together


class StepOptions(TypedDict, total=False):
    """How time passes: what `simulate`, `Simulation` and forests take to make their steps, as `**steps`."""

    accuracy: float | None  # of the motion; 1e-8 unless given. Steps are as small as it needs
    step: float | None  # [s] in place of an accuracy: all steps have this length
    method: str | StepMethod  # "auto", one of METHODS, or a Tableau of the user's own
    loops: str | Restoring  # how closed loops are held: "projected", "restored" or Restoring(...)
    max_step: float | None  # [s] the longest step, where steps follow an accuracy
    max_steps: float  # a run that takes more ends with an error


@dataclass(frozen=True)
class Options:
    """How to integrate; equal options on equal models give equal bits."""

    accuracy: float
    method: str  # of METHODS, or MOREAU_JEAN; or AUTO, until they are settled
    switch: bool  # to the implicit method, where the motion is stiff
    step: float  # fixed step [s]; 0: as the accuracy needs
    max_step: float | None  # [s]; None: as long as the accuracy allows
    max_steps: float
    events: tuple[Event, ...]
    restoring: Restoring | None  # of closed loops; None: they are closed after every step

    def key(self) -> tuple[Any, ...]:
        """Return what shapes the steps."""
        watched = tuple((event.name, event.direction) for event in self.events)
        restored = self.restoring.key() if self.restoring else None
        return self.accuracy, self.method, self.switch, self.step, self.max_step, watched, restored

    def settled(self, smooth: bool) -> "Options":
        """Return them with a method of METHODS: AUTO is order 8 where all laws are smooth, else order 5.

        Order 8 takes a third of the evaluations, in few and long steps, which at a kink, as of a stop, would
        lose what many short ones keep.
        """
        if self.method != AUTO:
            return self
        high = smooth and not self.step and self.accuracy <= _FINE
        return replace(self, method="dop853" if high else "rkf45")

    def controls(self) -> dict[str, Any]:
        """Return how the steps of a `Problem` are to be made."""
        return {
            "accuracy": self.accuracy,
            "method": self.method,
            "step": self.step,
            "h_max": self.h_max,
            "max_steps": self.max_steps,
            "switch": self.switch,
        }

    @property
    def h_max(self) -> float:
        """The longest step [s]."""
        return inf if self.max_step is None else self.max_step


@dataclass(frozen=True)
class GivenOptions:
    """How `simulate` is to integrate, in the words of its caller: StepOptions and events, not checked yet."""

    accuracy: Any = None
    step: Any = None
    method: Any = AUTO
    max_step: Any = None
    max_steps: Any = MOST_STEPS
    events: Any = ()
    loops: Any = PROJECTED

    def key(self) -> Hashable | None:
        """Return what distinguishes these options from others, types included: 1 is a number, True is none.

        None if they cannot be compared; nor can events, which can be changed.
        """
        if not isinstance(self.events, tuple | list) or self.events:
            return None
        words = self.accuracy, self.step, self.method, self.max_step, self.max_steps, self.loops
        gains = self.loops.key() if isinstance(self.loops, Restoring) else self.loops
        key = (*words[:-1], gains, *map(type, words))
        try:
            hash(key)
        except TypeError:  # no numbers, which `checked` will refuse
            return None
        return key

    def checked(self) -> Options:
        """Return what the words mean, or say what is wrong with them."""
        for word, needed, finite in (
            ("step", False, True),
            ("max_step", False, False),
            ("max_steps", True, False),
        ):
            if (value := getattr(self, word)) is not None or needed:
                positive(word, value, finite)
        accuracy = ACCURACY if self.accuracy is None else checked_accuracy(self.accuracy)
        step, max_step = self.step, self.max_step
        for word in ("accuracy", "max_step"):  # of steps whose length is chosen in the run
            if step is not None and (value := getattr(self, word)) is not None:
                raise ValueError(f"step {step:g} and {word} {value:g} exclude each other; give one of them")
        return Options(
            accuracy,
            _method(self.method, step),
            self.method == AUTO and step is None,
            0.0 if step is None else float(step),
            None if max_step is None else float(max_step),
            float(self.max_steps),
            _events(self.events),
            chosen_restoring(self.loops),
        )


def _method(method: Any, step: float | None) -> str:
    if isinstance(method, str) and method == "maximal":
        raise ValueError(
            'method "maximal" is gone; leave method= out: the others find the same motion. What drivers '
            "determine is for lw.kinematics"
        )
    if isinstance(method, StepMethod):
        method = method_name(method)
    if not isinstance(method, str) or method not in (AUTO, MOREAU_JEAN, *METHODS):
        raise ValueError(unknown("method", method, [AUTO, MOREAU_JEAN, *METHODS]))
    if step is None and method != AUTO and (method == MOREAU_JEAN or not METHODS[method].estimates):
        raise ValueError(f"method {method!r} has no error estimate; give it a step=")
    return method


def _events(events: Any) -> tuple[Event, ...]:
    if isinstance(events, Event) or not isinstance(events, list | tuple):
        raise ValueError(f"events {events!r}; give a list of lw.Event(...)")
    found = tuple(events)
    for event in found:
        if not isinstance(event, Event):
            raise ValueError(f"events has {event!r}; give lw.Event(...)")
    return found


def no_model(given: Any) -> ValueError:
    """Return the error for what is simulated in place of a model."""
    instead = {
        "Forest": "take forest.world, of the members that meet, or lw.merge(...) of all",
        "Scene": "call scene.run(seconds), or scene.step(1 / 60)",
        "State": "give the Model or Mechanism before the state",
        "str": f"give a Model or a Mechanism, as lw.load({shown(given)})",
    }
    return ValueError(
        f"model is {shown(given)}; {instead.get(type(given).__name__, 'give a Model or a Mechanism')}"
    )


def positive(word: str, value: Any, finite: bool = True) -> float:
    """Return a number above 0, or say which word has none."""
    if not (_is_number(value) and value > 0.0 and (isfinite(value) or not finite)):
        raise ValueError(f"{word} {value!r}; give a {'finite ' if finite else ''}number above 0")
    return float(value)


def checked_accuracy(accuracy: Any) -> float:
    """Return an accuracy, or say why it is none."""
    value = positive("accuracy", accuracy)
    if value < _FINEST:
        raise ValueError(f"accuracy {value:g}; doubles have 16 digits: give {_FINEST:g} or more")
    if value >= 1.0:
        raise ValueError(
            f"accuracy {value:g} is an error as large as the motion; give less than 1, such as 1e-6"
        )
    return value


def seconds(duration: Any) -> float:
    """Return a duration, or say that it is none."""
    if not (_is_number(duration) and isfinite(duration) and duration >= 0.0):
        raise ValueError(f"duration {duration!r}; give seconds, 0 or more")
    return float(duration)


def worker_count(threads: Any) -> int:
    """Return how many threads to use: all cores by default."""
    if threads is None:
        return _cores()
    if not isinstance(threads, int | np.integer) or isinstance(threads, bool) or threads < 1:
        raise ValueError(f"threads {threads!r}; give a whole number, 1 or more")
    return int(threads)


@functools.cache
def _cores() -> int:
    return os.cpu_count() or 1  # takes as long as a short run


def sample_times(t0: float, duration: float, times: Any, every: Any) -> Array:
    """Return the times of the samples; none for every accepted step."""
    if times is not None and every is not None:
        raise ValueError("times= and every= exclude each other; give one")
    if every is not None:
        return _grid(t0, duration, positive("every", every))
    if times is None:
        return np.empty(0)
    array = real_array("times", times)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"times {times!r}; give a list of finite times")
    if (np.diff(array) <= 0.0).any():
        raise ValueError("times do not rise; sort them, each once")
    if array[0] < t0 or array[-1] > t0 + duration:
        raise ValueError(
            f"times from {array[0]:g} to {array[-1]:g} s reach out of the run, {t0:g} to {t0 + duration:g} s"
        )
    return array


def _grid(t0: float, duration: float, every: float) -> Array:
    """Return times from t0 on; multiples of `every` if t0 is one, so that runs in turn have one grid."""
    count = np.floor(duration / every * (1.0 + 1e-12))
    if count >= _MOST_SAMPLES:
        raise ValueError(f"every {every:g} gives {count:.3g} samples; give more seconds between them")
    origin, first = counted_from(t0, every)
    grid = origin + (first + np.arange(count + 1.0)) * every
    grid[0], grid[-1] = t0, min(max(grid[-1], t0), t0 + duration)
    if (np.diff(grid) <= 0.0).any():
        raise ValueError(f"every {every:g} is less than time can resolve at {t0 + duration:g} s")
    return grid


def counted_from(t0: float, every: float) -> tuple[float, float]:
    """Return (origin, n) with t0 = origin + n every; the origin is 0 if t0 is a multiple."""
    before = np.round(t0 / every)
    whole = abs(before) < 2.0**52 and abs(before * every - t0) <= 1e-9 * every
    return (0.0, float(before)) if whole else (t0, 0.0)


@functools.cache
def most_numbers() -> int:
    """Return how many numbers a run may keep as samples; a guess where the size of the memory is unknown."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        memory = 2**33
    return memory // (8 * _PART)


def check_room(numbers: int) -> None:
    """Refuse samples that the machine cannot keep."""
    if numbers > most_numbers():
        raise ValueError(f"the samples at `times` take {8e-9 * numbers:.3g} GB; give fewer times, or runs")


def _is_number(x: Any) -> TypeGuard[float]:
    try:
        return is_real(x) and not isnan(x)
    except OverflowError:  # a whole number of more than 308 digits
        return False
