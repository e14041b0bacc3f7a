"""Rigid bodies and particles through time, by the integrators that mechanisms have."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SimulationError, unknown
from linkwork.free_bodies.orientation import MatrixOrientation, QuaternionOrientation
from linkwork.free_bodies.particle import Particle
from linkwork.free_bodies.rigid_body import RigidBody
from linkwork.mechanism.placement import Array
from linkwork.recording.status import MESSAGES, Status
from linkwork.simulation.integration import Work, march
from linkwork.simulation.loop.programs import PROGRAMS, Program
from linkwork.simulation.options import MOST_STEPS, Options, RunOptions, sample_times, seconds
from linkwork.simulation.problem import Problem

Thing: TypeAlias = RigidBody | Particle

_ROOM = 1024  # samples that the loop can write before it must be emptied
_BUDGET = 1000  # steps at a time; one, where R is made orthonormal after every step
_PORTS = len(PROGRAMS["motion"])  # t, q, v, q', v', power


@dataclass(frozen=True, eq=False)
class Track:
    """What one body did; arrays over time. R, L, omega are those of rigid bodies."""

    x: Array  # (S, 3) or (S, 2) [m]
    P: Array
    v: Array
    kinetic_energy: Array  # (S,) [J]
    R: Array | None = None  # (S, 3, 3) or (S, 2, 2)
    L: Array | None = None
    omega: Array | None = None
    angle: Array | None = None  # (S,) in the plane [rad]


@dataclass(frozen=True, eq=False)
class Flight:
    """What all bodies did: `flight["brick"].x`, at `flight.time`."""

    time: Array  # (S,) [s]
    states: Array  # (S, n) positions of all bodies, then their momenta
    work: Array  # (S,) of all forces since the start [J]
    tracks: dict[str, Track]
    steps: int

    def __getitem__(self, name: str) -> Track:
        if name not in self.tracks:
            raise KeyError(unknown("body", name, self.tracks))
        return self.tracks[name]

    @property
    def kinetic_energy(self) -> Array:
        """The kinetic energy of all bodies [J]."""
        return np.sum([track.kinetic_energy for track in self.tracks.values()], axis=0)

    @property
    def energy_error(self) -> float:
        """How far the kinetic energy is from what the work of the forces has made of it, at worst [J]."""
        gained = self.kinetic_energy - self.kinetic_energy[0]
        return float(np.abs(gained - self.work).max())


def integrate(
    bodies: Sequence[Thing] | Thing,
    duration: float,
    *,
    gravity: ArrayLike | None = None,
    accuracy: float = 1e-8,
    step: float | None = None,
    method: str = "auto",
    times: Any = None,
    every: float | None = None,
    max_step: float | None = None,
    max_steps: float = MOST_STEPS,
) -> Flight:
    """Let rigid bodies and particles move for a duration [s]; they are then where they have come to.

    Options are those of `simulate`. While it runs, every body has the state for which forces are asked, so a
    law of one may look at another. After every step R is made orthonormal, and quaternions get unit length.
    """
    things = [bodies] if isinstance(bodies, RigidBody | Particle) else list(bodies)
    _check(things)
    pull = None if gravity is None else np.asarray(gravity, dtype=np.float64)
    if pull is not None and pull.shape != things[0].x.shape:
        raise ValueError(f"integrate: gravity {gravity!r}; give {things[0].x.size} numbers")
    try:
        chosen = RunOptions(accuracy, step, method, max_step, max_steps).checked().settled(smooth=False)
        span = seconds(duration)
        wanted = sample_times(0.0, span, times, every)
    except ValueError as error:
        raise ValueError(f"integrate: {error}") from None
    return _Run(things, pull, chosen).flight(span, wanted)


def _check(things: list[Thing]) -> None:
    for thing in things:
        if not isinstance(thing, RigidBody | Particle):
            raise ValueError(f"integrate: {thing!r} is neither a RigidBody nor a Particle; give these")
    names = [thing.name for thing in things]
    if not names:
        raise ValueError("integrate: no bodies; give one or more")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"integrate: two bodies are named {name!r}; rename one of them")
    if len({thing.x.size for thing in things}) > 1:
        raise ValueError("integrate: bodies in space and in the plane; give those of one kind")


class _Run:
    """All bodies as one problem: positions of all are q, momenta of all are v."""

    def __init__(self, things: list[Thing], gravity: Array | None, chosen: Options) -> None:
        self.things, self.gravity, self.error = things, gravity, None
        self.cuts_q = np.cumsum([0, *(thing.positions.size for thing in things)])
        self.cuts_v = np.cumsum([0, *(thing.momenta.size for thing in things)])
        self.nq, self.nv = int(self.cuts_q[-1]), int(self.cuts_v[-1])
        self._keep: list[Any] = []
        self.each_step = any(isinstance(turn, MatrixOrientation) for turn in self._orientations())
        scales = [thing.scales for thing in things]
        self.problem = Problem(
            nq=self.nq,
            nv=self.nv,
            programs={"motion": self._program(self._motion), "rates": self._program(self._rates)},
            quaternions=[
                int(first) + thing.x.size
                for thing, first in zip(things, self.cuts_q)
                if isinstance(thing, RigidBody) and isinstance(thing._orientation, QuaternionOrientation)
            ],
            scale=np.concatenate([scale for part in zip(*scales) for scale in part]),
            **chosen.controls(),
        )

    def _orientations(self) -> Iterator[Any]:
        return (thing._orientation for thing in self.things if isinstance(thing, RigidBody))

    # what the loop calls

    def _program(self, function: Callable[[Any], None]) -> Program:
        """Return a Python function as what the native loop calls; an error in it is kept for later."""

        def run(plan: int, ports: int) -> None:
            try:
                if self.error is not None:
                    raise self.error
                function((ctypes.c_int64 * _PORTS).from_address(ports))
            except BaseException as error:
                self.error = error
                rates = (ctypes.c_int64 * _PORTS).from_address(ports)[3]
                _numbers(rates, self.nq)[:] = np.nan

        native = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(run)
        self._keep.append(native)
        address = ctypes.cast(native, ctypes.c_void_p).value
        assert address is not None
        return Program.of_ports(address, PROGRAMS["motion"])

    def _motion(self, ports: Any) -> None:
        self._rates(ports)
        t = float(_numbers(ports[0], 1)[0])
        rates, power = zip(*(thing.momentum_rates(t, self.gravity) for thing in self.things))
        _numbers(ports[4], self.nv)[:] = np.concatenate(rates)
        _numbers(ports[5], 1)[0] = sum(power)

    def _rates(self, ports: Any) -> None:
        self._put(_numbers(ports[1], self.nq), _numbers(ports[2], self.nv))
        _numbers(ports[3], self.nq)[:] = np.concatenate([thing.position_rates() for thing in self.things])

    def _put(self, q: Array, v: Array) -> None:
        """Move all bodies to a state."""
        for thing, (a, b), (c, d) in zip(self.things, pairwise(self.cuts_q), pairwise(self.cuts_v)):
            thing.positions, thing.momenta = q[a:b], v[c:d]

    def _state(self) -> Array:
        positions = [thing.positions for thing in self.things]
        return np.concatenate([*positions, *(thing.momenta for thing in self.things)])

    # through time

    def flight(self, span: float, wanted: Array) -> Flight:
        start = np.append(self._state(), 0.0)
        work = Work(self.problem, start[None], 0.0, wanted, _ROOM)
        memo = work.memo
        memo["begun"] = 1.0  # the start is kept here
        memo["sample"] = np.searchsorted(wanted, 0.0, side="right")
        rows = [np.append(0.0, start)[None]] if not wanted.size or wanted[0] == 0.0 else []
        while True:
            march(self.problem, work, span, 1 if self.each_step else _BUDGET)
            rows.append(work.samples(0).copy())
            work.memory.filled[0] = 0
            status = Status(int(memo["status"][0]))
            if status == Status.BUFFER_FULL:
                memo["status"] = Status.RUNNING
            elif status != Status.RUNNING:
                break
            if self.each_step:
                self._tidy(work.memory.y[0])
        end = work.memory.y_final[0]
        self._tidy(end)
        self._put(end[: self.nq], end[self.nq : -1])
        if status != Status.DONE:
            self._fail(status, float(memo["t_final"][0]))
        return self._told(np.concatenate(rows), int(memo["accepted"][0]))

    def _tidy(self, y: Array) -> None:
        self._put(y[: self.nq], y[self.nq : -1])
        for thing in self.things:
            thing.tidy()
        y[:-1] = self._state()

    def _fail(self, status: Status, t: float) -> None:
        if isinstance(self.error, KeyboardInterrupt):
            raise self.error
        if self.error is not None:
            words = f"{type(self.error).__name__}: {self.error}"
            raise SimulationError(
                f"integrate: a force could not be evaluated, {words} (after t = {t:.9g} s)"
            ) from self.error
        raise SimulationError(f"integrate: {MESSAGES[status]} (after t = {t:.9g} s)")

    def _told(self, rows: Array, steps: int) -> Flight:
        final = self._state()
        tracks: dict[str, dict[str, list[Any]]] = {thing.name: {} for thing in self.things}
        for row in rows:
            self._tidy(row[1:])
            for thing in self.things:
                for word in _told_of(thing):
                    tracks[thing.name].setdefault(word, []).append(np.array(getattr(thing, word)))
        self._put(final[: self.nq], final[self.nq :])
        return Flight(
            time=rows[:, 0].copy(),
            states=rows[:, 1:-1].copy(),
            work=rows[:, -1].copy(),
            tracks={
                name: Track(**{w: np.array(a) for w, a in track.items()}) for name, track in tracks.items()
            },
            steps=steps,
        )


def _told_of(thing: Thing) -> tuple[str, ...]:
    words = ("x", "P", "v", "kinetic_energy")
    if isinstance(thing, Particle):
        return words
    return (*words, "R", "L", "omega", *(("angle",) if thing.space == "plane" else ()))


def _numbers(address: int, count: int) -> Array:
    """Return the doubles at an address."""
    memory: Any = (ctypes.c_double * count).from_address(address)
    return np.frombuffer(memory)
