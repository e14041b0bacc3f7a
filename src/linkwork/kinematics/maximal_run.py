"""simulate_maximal: a run in the coordinates of all bodies, with its events.

Dormand and Prince's method of order 8; after every step the state is projected onto the constraints. Between
the ends of a step the motion is known by the method's own interpolation: samples are taken there, and events
located, by Brent's method.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from linkwork.errors import AssemblyError, ModelError, SimulationError
from linkwork.kinematics.assembly import reached
from linkwork.kinematics.dead_points import MotionEvent, root
from linkwork.kinematics.equation_system import System, system_of, undriven_model
from linkwork.kinematics.instant import Moment
from linkwork.kinematics.joint_coordinates import of_bodies
from linkwork.kinematics.kinematic_recording import KinematicRecording
from linkwork.kinematics.maximal_dynamics import MaximalDynamics
from linkwork.mechanism.load_view import coordinates
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.channels import LiveChannels
from linkwork.recording.recording import Recording
from linkwork.simulation.event import Event, settle
from linkwork.simulation.options import MOST_STEPS, RunOptions, sample_times, seconds

Array = np.ndarray

_LOOKS = 4  # at events, within a step
_STORM = 1000  # events that act, one right after the other
_STORM_TIME = 1e-9  # [s]


def simulate_maximal(
    model: Model | Mechanism,
    duration: float,
    state: State | Recording | None = None,
    *,
    accuracy: float = 1e-8,
    times: Any = None,
    every: float | None = None,
    events: Sequence[Event] = (),
    max_step: float | None = None,
    max_steps: float = MOST_STEPS,
) -> KinematicRecording:
    """Let a mechanism move for a duration [s] in the coordinates of all its bodies; return a recording.

    A second opinion beside `simulate`, and for constraints that it does not take: every joint, constraint and
    driver gives its equations, each with a Lagrange multiplier. It costs more, and runs one mechanism. The
    state is one of the joints, a Recording, or that of such a run, from whose end it goes on; as drawn
    and at rest, if not given. Samples are at `times`, or at intervals `every` [s]; else after every step.

    >>> import linkwork as lw
    >>> motion = lw.simulate_maximal(lw.examples.four_bar(), 0.1, every=0.05)
    >>> motion.time
    array([0.  , 0.05, 0.1 ])
    """
    mechanism = model.mechanism if isinstance(model, Model) else model
    if not isinstance(mechanism, Mechanism):
        raise ValueError(f"simulate_maximal: model is a {type(model).__name__}; give a Model or a Mechanism")
    words = RunOptions(accuracy, method="dop853", max_step=max_step, max_steps=max_steps, events=events)
    try:
        chosen = words.checked()
        span = seconds(duration)
        system = system_of(mechanism.copy())
        t0, q, v = _start(system, mechanism, state)
        wanted = sample_times(t0, span, times, every)
    except ValueError as error:
        raise ValueError(f"simulate_maximal: {error}") from None
    _check_events(system, chosen.events)
    run = _Run(system, chosen.events, wanted)
    run.go(t0, q, v, t0 + span, chosen.accuracy, chosen.h_max, chosen.max_steps)
    return run.recording()


class _Run:
    """One run: what was sampled, and what happened."""

    def __init__(self, system: System, events: Sequence[Event], wanted: Array) -> None:
        self.system, self.events, self.wanted = system, events, wanted
        self.dynamics = MaximalDynamics(system)
        self.samples: list[tuple[float, Array]] = []
        self.happened: list[MotionEvent] = []
        self._shown = 0  # how many of the wanted times are past

    def go(
        self, t: float, q: Array, v: Array, end: float, accuracy: float, max_step: float, max_steps: float
    ) -> None:
        """March from a state to the end, or to an event that stops."""
        y, steps = np.concatenate(self.dynamics.projected(t, q, v)), 0
        self._sample(t, y, lambda _: y)
        quantities = self._quantities(t, y)
        while t < end:
            solver: Any = DOP853(
                self.dynamics.rates, t, y, end, rtol=accuracy, atol=accuracy, max_step=max_step
            )
            acting: Event | None = None
            while solver.status == "running" and acting is None:
                message = solver.step()
                steps += 1
                if solver.status == "failed" or steps > max_steps:
                    words = message or f"more than {max_steps:g} steps"
                    name = self.system.mechanism.name
                    raise SimulationError(f"mechanism {name!r} stuck at t = {solver.t:.6g} s: {words}")
                between = solver.dense_output()
                t, y = solver.t, self._projected(solver.t, solver.y)
                acting, at, quantities = self._watched(between, solver.t_old, t, y, quantities)
                if acting is None:
                    solver.y, solver.f = y, self.dynamics.rates(t, y)
                else:
                    t, y = at, self._projected(at, between(at))
                self._sample(t, y, between)
            if acting is None:
                return
            self._keep(t, y)
            if acting.action == "stop":
                return
            y = self._after(acting, t, y)
            quantities = self._quantities(t, y, at_zero=acting)
            if not self.wanted.size:
                self.samples.append((t, y))

    def _projected(self, t: float, y: Array) -> Array:
        return np.concatenate(self.dynamics.projected(t, *np.split(y, [self.system.nq])))

    # samples

    def _sample(self, t: float, y: Array, between: Any) -> None:
        """Keep the samples that are wanted up to time t, where the state is y; by default that state."""
        if not self.wanted.size:
            self._keep(t, y)
        while self._shown < len(self.wanted) and self.wanted[self._shown] <= t:
            at = float(self.wanted[self._shown])
            self._keep(at, y if at == t else self._projected(at, between(at)))
            self._shown += 1

    def _keep(self, t: float, y: Array) -> None:
        if not self.samples or self.samples[-1][0] < t:
            self.samples.append((t, y))

    # events

    def _quantities(self, t: float, y: Array, at_zero: Event | None = None) -> list[float]:
        """Return the quantities of all events; that of one that has just happened is zero."""
        if not self.events:
            return []
        now = Moment(self.system, t, *np.split(y, [self.system.nq]))
        return [0.0 if event is at_zero else _number(event, now.see(event)) for event in self.events]

    def _watched(
        self, between: Any, begin: float, end: float, y_end: Array, before: list[float]
    ) -> tuple[Event | None, float, list[float]]:
        """Return the first event of a step that does more than be noted, when it is, and all quantities."""
        for t in np.linspace(begin, end, _LOOKS + 1)[1:].tolist() if self.events else ():
            after = self._quantities(t, y_end if t == end else between(t))
            crossings = []
            for n, event in enumerate(self.events):
                crosses = before[n] * after[n] < 0.0 or (after[n] == 0.0 and before[n] != 0.0)
                if crosses and event.direction in (0, -np.sign(before[n])):
                    crossings.append((self._crossing(event, between, begin, t) if after[n] else t, n))
            for at, n in sorted(crossings):
                event = self.events[n]
                self.happened.append(MotionEvent(event.name, at))
                self._refuse_storm(event)
                if event.action != "note":
                    return event, at, after
            seen = {n for _, n in crossings}
            before = [x if x or n in seen else before[n] for n, x in enumerate(after)]
            begin = t
        return None, end, before

    def _crossing(self, event: Event, between: Any, begin: float, end: float) -> float:
        def quantity(t: float) -> float:
            return _number(event, Moment(self.system, t, *np.split(between(t), [self.system.nq])).see(event))

        low, high = quantity(begin), quantity(end)
        if low * high >= 0.0:  # projection moved the end across
            return begin if abs(low) < abs(high) else end
        return float(root(quantity, begin, end, 1e-15 * max(1.0, abs(end))))

    def _refuse_storm(self, event: Event) -> None:
        if len(self.happened) > _STORM and self.happened[-1].time - self.happened[-_STORM].time < _STORM_TIME:
            raise SimulationError(
                f"event {event.name!r} occurs again and again at t = {self.happened[-1].time:.6g} s; "
                "let its action move the state away from where the event is"
            )

    def _after(self, event: Event, t: float, y: Array) -> Array:
        """Return the state that an action gives, which sees coordinates of joints."""
        system = self.system
        now = Moment(system, t, *np.split(y, [system.nq])).everything()
        model = undriven_model(system.mechanism)
        q, v = (coordinates(np.asarray(x).tolist(), x.slices) for x in (now.q, now.v))
        assert callable(event.action)
        answer = event.action(t, q, v)
        q, v = (np.asarray(x, float) for x in ((q, v) if answer is None else answer))
        if q.shape != (model.nq,) or v.shape != (model.nv,) or not np.isfinite([*q, *v]).all():
            raise SimulationError(
                f"the action of event {event.name!r} gave {answer!r:.100}; give (q, v), {model.nq} and "
                f"{model.nv} finite numbers"
            )
        return self._projected(t, np.concatenate(of_bodies(system, model, q, v)))

    # what comes out

    def recording(self) -> KinematicRecording:
        system = self.system
        t = np.array([time for time, _ in self.samples])
        y = np.array([y for _, y in self.samples]).reshape(len(t), system.nq + system.n)
        q, v = y[:, : system.nq], y[:, system.nq :]
        a = [self.dynamics(*each)[0] for each in zip(t.tolist(), q, v, strict=True)]
        accelerations, happened = np.array(a).reshape(v.shape), tuple(self.happened)
        return KinematicRecording(LiveChannels(system), t, q, v, accelerations, happened)


def _number(event: Event, said: Any) -> float:
    try:
        value = float(said)
    except (TypeError, ValueError):
        raise SimulationError(
            f"event {event.name!r}: its quantity is {said!r:.80}; give one number"
        ) from None
    if not np.isfinite(value):
        raise SimulationError(f"event {event.name!r}: its quantity is {value}; give a finite number")
    return value


def _check_events(system: System, events: Sequence[Event]) -> None:
    mistakes = settle(events, system.mechanism.space, system.mechanism.joints)
    acting = [event.name for event in events if callable(event.action)]
    if acting and undriven_model(system.mechanism) is None:
        mistakes += [
            f"event {name!r}: its action gives a state by joints, and this mechanism cannot be compiled, so "
            'that they do not determine where all bodies are; use "stop" or "note"'
            for name in acting
        ]
    if mistakes:
        raise ModelError("; ".join(mistakes))


def _start(system: System, mechanism: Mechanism, state: Any) -> tuple[float, Array, Array]:
    """Return time, coordinates and velocities of bodies: as drawn, of a state by joints, or of bodies."""
    if state is None:
        values = np.array([law.at(0.0)[0, 0] for law in system.laws])
        try:
            q = reached(system, system.assemble(), values)
        except AssemblyError as error:
            raise SimulationError(str(error)) from error
        t, v = 0.0, np.zeros(system.n)
    elif isinstance(state, KinematicRecording):
        t, q, v = _end_of(system, state)
    elif isinstance(state, State | Recording):
        state = state.final if isinstance(state, Recording) else state
        model = undriven_model(mechanism)
        if model is None:
            raise ModelError(
                f"simulate_maximal: mechanism {mechanism.name!r} cannot be compiled, so that a state by "
                "joints does not determine where all bodies are; give a run of this kind, or no state"
            )
        if np.shape(state.q) != (model.nq,) or np.shape(state.v) != (model.nv,):
            raise ValueError(
                f"state has {np.size(state.q)} positions and {np.size(state.v)} velocities; "
                f"give {model.nq} and {model.nv}"
            )
        t, (q, v) = state.t, of_bodies(system, model, state.q, state.v)
    else:
        raise ValueError(f"state is a {type(state).__name__}; give a State or a Recording")
    system.place(q)
    return t, q, v


def _end_of(system: System, motion: KinematicRecording) -> tuple[float, Array, Array]:
    """Return where a motion ended, its bodies found by name."""
    q, v = system.drawn(), np.zeros(system.n)
    for k, body in enumerate(system.bodies):
        if body.name not in motion.mechanism.bodies:
            raise ValueError(f"state: the run of {motion.mechanism.name!r} has no body {body.name!r}")
        other = motion.model
        n = other.numbers[id(motion.mechanism.bodies[body.name])]
        size, free = system.coordinates, system.free
        q[size * k : size * (k + 1)] = motion.q[-1, size * n : size * (n + 1)]
        v[free * k : free * (k + 1)] = motion.v[-1, free * n : free * (n + 1)]
    system.guess(q)
    return float(motion.time[-1]), q, v
