"""A simulation that goes on in short pieces while it is looked at, and can be pulled and pushed."""

import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.algebra.number import where
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide
from linkwork.mechanism.loads import Motor
from linkwork.model.following import fixed
from linkwork.model.state import State
from linkwork.simulation.stepping import Simulation
from linkwork.view.trajectory import Moment, moment

Array = np.ndarray

PIECE = 1.0 / 60.0  # of real time [s]
_LONGEST = 0.1  # of simulated time in one piece [s]: what is too much work goes slower, and does not stall
_ACCURACY = 1e-6
_KEPT = 1800  # moments
_PULL = 2.0  # frequency at which a hand's spring swings the whole mass [1/s]


_NAME = "(hand)"
_POINT = [Input(f"{_NAME} point {axis}") for axis in "xyz"]  # of the body
_PLACE = [Input(f"{_NAME} place {axis}") for axis in "xyz"]  # in the world
_BODY = Input(f"{_NAME} body", -1.0)  # its number; -1: none


class Hand:
    """What the user does: pulls a point of a body towards a place by a spring, and drives joints.

    For the simulation these are inputs: nothing is compiled when another body is gripped.
    """

    def __init__(self) -> None:
        self.body: str | None = None
        self.point = np.zeros(3)  # of the body
        self.place = np.zeros(3)  # in the world
        self.drives: dict[str, float] = {}  # generalised forces by joint [N m, N]

    @property
    def idle(self) -> bool:
        return self.body is None and not any(self.drives.values())

    def inputs(self, bodies: Sequence[str], known: Iterable[str]) -> dict[str, float]:
        """Return the values of the inputs that are known, by name."""
        values = {_BODY.name: -1.0 if self.body is None else float(bodies.index(self.body))}
        for inputs, vector in ((_POINT, self.point), (_PLACE, self.place)):
            values |= {one.name: float(x) for one, x in zip(inputs, vector, strict=True)}
        values |= {_drive(joint): force for joint, force in self.drives.items()}
        return {name: values[name] for name in known if name in values}


def held(model: Any, joints: Iterable[str]) -> Any:
    """Return a model of the same mechanism with a hand that can grip every body, and drive these joints."""
    mass = float(model.masses.sum()) or 1.0
    mechanism = model.mechanism.copy()
    for number, name in enumerate(model.body_names):
        mechanism.add(_Pull(f"{_NAME} {name}", mechanism.bodies[name], number, mass))
    for joint in joints:
        mechanism.add(Motor(_drive(joint), joint))
    return mechanism.compile()


def _drive(joint: str) -> str:
    return f"{_NAME} drives {joint}"


class _Pull(Load):
    """The hand on a body, if it is this one that is gripped; bodies have numbers."""

    constants = frozenset({"number", "stiffness", "damping"})

    def __init__(self, name: str, body: Body, number: int, mass: float) -> None:
        super().__init__(name, body)
        self.number = float(number)
        self.stiffness = mass * (2.0 * np.pi * _PULL) ** 2
        self.damping = 2.0 * float(np.sqrt(self.stiffness * mass))

    def act(self, t: Any, body: BodySide) -> None:
        size = body.algebra.dimension
        point, place = ([one.as_number() for one in inputs[:size]] for inputs in (_POINT, _PLACE))
        gripped = where(abs(_BODY.as_number() - self.number) < 0.5, 1.0, 0.0)
        here, velocity = body.to_world(point), body.velocity_at(point)
        pull = [self.stiffness * (x - h) - self.damping * v for x, h, v in zip(place, here, velocity)]
        body.push([gripped * x for x in pull], point)


class Engine:
    """Runs a model in a thread of its own, at a chosen speed."""

    def __init__(self, model: Any, start: State, drivable: Mapping[str, Any]) -> None:
        self.model, self._start, self._joints = model, start, tuple(drivable)
        self.hand = Hand()
        self.speed = 1.0
        self.rate = 0.0  # simulated time per real time, as achieved
        self.running = False
        self.stopped: Callable[[str], None] = lambda why: None  # called when the run cannot go on
        self._lock = threading.Lock()
        self._sim = self._simulation(model, start)
        self._held: Simulation | None = None  # the same with a hand, made when it is used first
        self.state = start
        self.history: deque[tuple[float, Array, Array]] = deque(maxlen=_KEPT)
        self.now: Moment
        self._keep(start)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="linkwork simulation", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join(timeout=5.0)

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False
        self.rate = 0.0

    def reset(self) -> None:
        """Go back to the first state."""
        with self._lock:
            self.history.clear()
            self._begin(self._start)
            self._keep(self._start)

    def step(self, seconds: float = PIECE) -> None:
        """Stop, and go on by `seconds` of simulated time."""
        self.stop()
        self._go_on(seconds)

    def grab(self, body: str, point: Array) -> None:
        """Take hold of a point of a body, given in the world."""
        pose = self.now.poses[self.model.body_names.index(body)]
        hand = self.hand
        hand.point = pose[:, :3].T @ (np.asarray(point, float) - pose[:, 3])
        hand.place = np.asarray(point, float)
        hand.body = body

    def drag(self, place: Array) -> None:
        self.hand.place = np.asarray(place, float)

    def release(self) -> None:
        self.hand.body = None

    def _loop(self) -> None:
        before = time.perf_counter()
        while not self._ended.wait(max(0.0, before + PIECE - time.perf_counter())):
            now = time.perf_counter()
            passed, before = now - before, now
            if self.running:
                seconds = min(passed * self.speed, _LONGEST)
                self._go_on(seconds)
                self.rate += 0.1 * (seconds / passed - self.rate)

    def _go_on(self, seconds: float) -> None:
        try:
            with self._lock, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._step(seconds)
        except Exception as error:  # whatever a law of the user raises: the page says it
            self.stop()
            self.stopped(f"{type(error).__name__}: {error}")

    def _step(self, seconds: float) -> None:
        if not self.hand.idle and self._held is None:
            self._held = self._simulation(held(self.model, self._joints), self.state)
        if self._sim.model is not fixed(self.model):  # laws read something that has changed
            self._begin(self.state)
        sim = self._held or self._sim
        if self._held:
            self._held.inputs.update(self.hand.inputs(self.model.body_names, self._held.inputs))
        sim.step(seconds)
        self._keep(State(sim.q, sim.v, sim.t))

    def _simulation(self, model: Any, state: State) -> Simulation:
        return Simulation(model, State(state.q, state.v, state.t), accuracy=_ACCURACY, record=False)

    def _begin(self, state: State) -> None:
        """Begin anew, without the hand until it is used again."""
        self._sim, self._held = self._simulation(self.model, state), None

    def _keep(self, state: State) -> None:
        self.state = state
        self.history.append((state.t, state.q, state.v))
        self.now = moment(self.model, state.q, state.v, state.t)
