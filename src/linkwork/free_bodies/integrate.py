"""Rigid bodies and particles through time, by the integrators that mechanisms have."""

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SimulationError
from linkwork.free_bodies.flight import (
    FlightChannels,
    Thing,
    coordinates,
    given,
    model_of,
    put,
    under_laws,
)
from linkwork.free_bodies.orientation import MatrixOrientation, QuaternionOrientation
from linkwork.free_bodies.particle import Particle
from linkwork.free_bodies.rigid_body import RigidBody
from linkwork.lazy import LOCK
from linkwork.mechanism.placement import Array
from linkwork.model.state import State
from linkwork.real_numbers import finite_array
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.recording.status import MESSAGES, Status
from linkwork.simulation.failure import Failure, SimulationFailed
from linkwork.simulation.integration import Work, march, prepare
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.loop.programs import PROGRAMS, Program
from linkwork.simulation.options import MOST_STEPS, GivenOptions, Options, sample_times, seconds
from linkwork.simulation.problem import Problem
from linkwork.spelling import checked_keywords, require

_ROOM = 1024  # samples that the loop can write before it must be emptied
_BUDGET = 1000  # steps at a time; one, where R is made orthonormal after every step
_PORTS = len(PROGRAMS["motion"])  # t, q, v, q', v', power


@checked_keywords
def integrate(
    bodies: Sequence[Thing] | Thing,
    duration: float,
    *,
    gravity: ArrayLike | None = None,
    accuracy: float | None = None,
    step: float | None = None,
    method: str = "auto",
    times: Any = None,
    every: float | None = None,
    max_step: float | None = None,
    max_steps: float = MOST_STEPS,
) -> Recording:
    """Let rigid bodies and particles move for a duration [s]; they are then where they have come to.

    Options are those of `simulate`, and so is what it returns: `run["brick"].position` is that of the centre
    of mass, `.rotation` is R, `.momentum` and `.angular_momentum` are P and L. While it runs, every body has
    the state for which forces are asked, so a law of one may look at another. After every step R is made
    orthonormal, and quaternions get unit length.
    """
    require(
        "integrate: bodies", bodies, RigidBody | Particle | list | tuple, "RigidBody and Particle objects"
    )
    things = [bodies] if isinstance(bodies, RigidBody | Particle) else list(bodies)
    _check(things)
    pull = None if gravity is None else finite_array("integrate: gravity", gravity)
    if pull is not None and pull.shape != things[0].x.shape:
        raise ValueError(f"integrate: gravity {gravity!r}; give {things[0].x.size} numbers")
    try:
        chosen = GivenOptions(accuracy, step, method, max_step, max_steps).checked().settled(smooth=False)
        span = seconds(duration)
        wanted = sample_times(0.0, span, times, every)
    except ValueError as error:
        raise ValueError(f"integrate: {error}") from None
    return _Run(things, pull, chosen).recorded(span, wanted)


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
        self.things, self.gravity, self.chosen, self.error = things, gravity, chosen, None
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

    def recorded(self, span: float, wanted: Array) -> Recording:
        """Let the bodies move; return what they did, or raise with what there is of it."""
        begun = time.perf_counter()
        model = model_of(self.things, self.gravity)
        prepare()
        ready = time.perf_counter()
        start, height = coordinates(self.things)[0], self._height()
        rows, memo, status = self.march(0.0, span, wanted)
        end = self._state()
        t = float(memo["t_final"])
        final = State(*coordinates(self.things, start), t, slices=model.slices)
        q, v, work, driven = self.along(rows, start, height)
        self._put(end[: self.nq], end[self.nq :])
        if isinstance(self.error, KeyboardInterrupt):
            status = Status.INTERRUPTED
        report = self._report(model.name, memo, status, (ready - begun, time.perf_counter() - ready))
        channels = FlightChannels(model, self.things, self.gravity, _StepsBetween(self))
        run = Recording(channels, rows[:, 0].copy(), q, v, work, report, final, driven)
        if status not in (Status.DONE, Status.INTERRUPTED):
            raise SimulationFailed(Failure(status, report.message, t, "", ""), run) from self.error
        return run

    def march(self, t: float, span: float, wanted: Array) -> tuple[Array, Any, Status]:
        """Go on from where the bodies are; return samples: rows of t, positions, momenta and work."""
        self.error = None
        start = np.append(self._state(), 0.0)
        work = Work(self.problem, start[None], t, wanted, _ROOM)
        memo = work.memo
        memo["begun"] = 1.0  # the start is kept here
        memo["sample"] = np.searchsorted(wanted, t, side="right")
        rows = [np.append(t, start)[None]] if not wanted.size or wanted[0] == t else []
        while True:
            march(self.problem, work, t + span, 1 if self.each_step else _BUDGET)
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
        return np.concatenate(rows), memo[0], status

    def along(
        self, rows: Array, before: Array, height: float
    ) -> tuple[Array, Array, Array, dict[str, Array]]:
        """Return q, v and work of samples, and what the laws say there; the bodies are moved.

        The work is that of all forces but gravity, whose potential energy was -height at the start.
        """
        q, v, work, driven = [], [], [], []
        for row in rows:
            self._tidy(row[1:])
            before, speed = coordinates(self.things, before)
            q.append(before)
            v.append(speed)
            work.append(row[-1] - (self._height() - height))
            try:
                driven.append(under_laws(self.things, float(row[0]), self.gravity))
            except Exception:  # a law may end where the run does: it is asked again when it matters
                continue
        shape = len(rows), -1
        known = given(driven) if 0 < len(driven) == len(rows) else {}
        return np.array(q).reshape(shape), np.array(v).reshape(shape), np.array(work), known

    def _height(self) -> float:
        """Return the sum of mass times gravity times place [J]: the potential energy with the other sign."""
        if self.gravity is None:
            return 0.0
        return float(sum(thing.mass * (thing.x @ self.gravity) for thing in self.things))

    def _tidy(self, y: Array) -> None:
        self._put(y[: self.nq], y[self.nq : -1])
        for thing in self.things:
            thing.tidy()
        y[:-1] = self._state()

    def _report(self, name: str, memo: Any, status: Status, spent: tuple[float, float]) -> Report:
        chosen, t = self.chosen, float(memo["t_final"])
        message = "" if status == Status.DONE else f"integrate: {MESSAGES[status]} (after t = {t:.9g} s)"
        if self.error is not None and status != Status.INTERRUPTED:
            words = f"{type(self.error).__name__}: {self.error}"
            message = f"integrate: a force could not be evaluated, {words} (after t = {t:.9g} s)"
        return Report(
            status=status.name,
            message=message,
            mechanism=name,
            method=METHODS[chosen.method].title,
            accuracy=None if chosen.step else chosen.accuracy,
            step=chosen.step or None,
            accepted=int(memo["accepted"]),
            rejected=int(memo["rejected"]),
            evaluations=int(memo["evaluations"]),
            wall_time=spent[1],
            compile_time=spent[0],
            error_estimate=float(memo["sum"]),
            python_laws=tuple(thing.name for thing in self.things if _has_law(thing)),
        )


class _StepsBetween:
    """Bodies between two samples: moved on from the first of them, by the same steps, and put back."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def of_run(self, k: int) -> Any:
        return self

    def rows(self, run: Any, k: int, times: Array) -> Array:
        with LOCK:  # the bodies are there once
            return self._rows(run, k, times)

    def _rows(self, run: Any, k: int, times: Array) -> Array:
        here, t = self._run, float(run.time[k])
        states = [thing.state for thing in here.things]
        try:
            put(here.things, run.q[k], run.v[k])
            height = here._height()
            rows, _, status = here.march(t, float(times[-1]) - t, times)
            if status != Status.DONE:
                why = f"{times[-1]:.9g} s cannot be reached from the sample at {t:.9g} s: {MESSAGES[status]}"
                raise SimulationError(f"at: {why}") from here.error
            q, v, work, _ = here.along(rows, run.q[k], height)
        finally:
            for thing, state in zip(here.things, states, strict=True):
                thing.state = state
        return np.column_stack([q, v, run.work[k] + work])


def _has_law(thing: Thing) -> bool:
    return callable(thing.force) or callable(getattr(thing, "torque", None))


def _numbers(address: int, count: int) -> Array:
    """Return the doubles at an address."""
    memory: Any = (ctypes.c_double * count).from_address(address)
    return np.frombuffer(memory)
