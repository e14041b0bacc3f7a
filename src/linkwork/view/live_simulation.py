"""A simulation that goes on in short pieces while it is looked at, and can be pulled and pushed."""

import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from linkwork.algebra.number import where
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input, as_number
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide
from linkwork.mechanism.loads import Motor
from linkwork.model.following import fixed
from linkwork.model.state import State
from linkwork.simulation.stepping import Simulation
from linkwork.view.adjustable_values import DRIVER, FORCE, Adjustable, adjustables
from linkwork.view.trajectory import Moment, moment

Array = np.ndarray

PIECE = 1.0 / 60.0  # of real time [s]
_LONGEST = 0.1  # of simulated time in one piece [s]: what is too much work goes slower, and does not stall
_ACCURACY = 1e-6
_KEPT = 1800  # moments
_PULL = 2.0  # frequency at which a hand's spring swings what it has on it [1/s]
_STILL = 1e-9  # so near a number has arrived


_NAME = "(hand)"
_POINT = [Input(f"{_NAME} point {axis}") for axis in "xyz"]  # of the body
_PLACE = [Input(f"{_NAME} place {axis}") for axis in "xyz"]  # in the world
_BODY = Input(f"{_NAME} body", -1.0)  # its number; -1: none


class Glide:
    """A number that follows another without jumps: a mass on a spring, damped so that it does not swing."""

    def __init__(self, value: float) -> None:
        self.first = self.value = self.target = value
        self.rate = 0.0

    @property
    def still(self) -> bool:
        return self.value == self.target and not self.rate

    def go_on(self, seconds: float) -> tuple[float, float, float, float]:
        """Let time pass; return the cubic from here to there, its powers of time from the lowest on."""
        x, v, w = self.value - self.target, self.rate, 2.0 * np.pi * _PULL
        b, decay = v + w * x, float(np.exp(-w * seconds))
        end, rate = self.target + (x + b * seconds) * decay, (v - w * b * seconds) * decay
        if abs(end - self.target) + abs(rate) / w < _STILL * (abs(self.target) + 1.0):
            end, rate = self.target, 0.0
        way = (end - self.value) / seconds
        cubic = self.value, v, (3.0 * way - 2.0 * v - rate) / seconds, (v + rate - 2.0 * way) / seconds**2
        self.value, self.rate = end, rate
        return cubic


class Hand:
    """What the user does: pulls a point of a body towards a place by a spring, and moves sliders.

    For the simulation these are inputs: nothing is compiled when another body is gripped. Drivers and the
    inputs that they read do not jump to where they are put, but glide.
    """

    def __init__(self, model: Any) -> None:
        self.body: str | None = None
        self.point = np.zeros(3)  # of the body
        self.place = np.zeros(3)  # in the world
        self.adjusted: dict[tuple[str, str], float] = {}  # what sliders say, by kind and name
        self.drives: dict[str, float] = {}  # generalised forces by joint [N m, N]
        self.values: dict[str, float] = {}  # of inputs that no driver reads
        self.moved = {name: Glide(0.0) for name in model.mechanism.drivers}  # drivers, beside their laws
        self.glides = {name: Glide(model.inputs[name]) for name in model.link_tree.inputs}

    def adjust(self, one: Adjustable, value: float) -> None:
        """Put a number that can be changed to a value."""
        self.adjusted[one.key] = value
        if one.kind == FORCE:
            self.drives[one.name] = value - one.value
        elif one.kind == DRIVER:
            self.moved[one.name].target = value - one.value
        elif one.name in self.glides:
            self.glides[one.name].target = value
        else:
            self.values[one.name] = value

    @property
    def idle(self) -> bool:
        """Whether the mechanism moves by itself, but for its inputs."""
        moved = any(glide.value or not glide.still for glide in self.moved.values())
        return self.body is None and not any(self.drives.values()) and not moved

    def put_down(self) -> None:
        """Be where everything begins; from there drivers and inputs glide again to where they were put."""
        for glide in (*self.moved.values(), *self.glides.values()):
            glide.value, glide.rate = glide.first, 0.0

    def inputs(
        self, bodies: Sequence[str], known: Iterable[str], t: float, seconds: float
    ) -> dict[str, float]:
        """Return the values of the inputs that are known, by name, for the time from t on."""
        values = {_BODY.name: -1.0 if self.body is None else float(bodies.index(self.body)), **self.values}
        for inputs, vector in ((_POINT, self.point), (_PLACE, self.place)):
            values |= {one.name: float(x) for one, x in zip(inputs, vector, strict=True)}
        values |= {_drive(joint): force for joint, force in self.drives.items()}
        for name, glide in self.glides.items():
            values[name] = glide.value if glide.still else sum_of(glide.go_on(seconds), seconds)
        for name, glide in self.moved.items():
            cubic = (glide.value, 0.0, 0.0, 0.0) if glide.still else glide.go_on(seconds)
            values |= zip((one.name for one in _moving(name)), (t, *cubic), strict=True)
        return {name: values[name] for name in known if name in values}


def sum_of(cubic: Sequence[Any], s: Any) -> Any:
    """Return a cubic at a time, given by its powers from the lowest on."""
    a, b, c, d = cubic
    return a + s * (b + s * (c + s * d))


def held(model: Any, joints: Iterable[str]) -> Any:
    """Return a model of the same mechanism with a hand that grips bodies, drives joints and moves drivers."""
    masses = pulled_masses(model)
    mechanism = model.mechanism.copy()
    for number, name in enumerate(model.body_names):
        mechanism.add(_Pull(f"{_NAME} {name}", mechanism.bodies[name], number, masses[number]))
    for joint in joints:
        mechanism.add(Motor(_drive(joint), joint))
    for name, driver in mechanism.drivers.items():
        driver.law = _Moved(driver.law, name)
    return mechanism.compile()


def pulled_masses(model: Any) -> list[float]:
    """Return, by body, the mass of all that joints hold together with it: what a hand has on it [kg]."""
    group = list(range(len(model.body_names)))  # a number that bodies held together share
    numbers = {name: k for k, name in enumerate(model.body_names)}
    for joint in model.mechanism.joints.values():
        ends = [group[numbers[body.name]] for body in joint.bodies if body.name in numbers]
        if len(set(ends)) == 2:
            group = [ends[0] if each == ends[1] else each for each in group]
    weights = np.bincount(group, weights=model.masses, minlength=len(group)) if group else np.zeros(0)
    return [float(weights[each]) or 1.0 for each in group]


def _drive(joint: str) -> str:
    return f"{_NAME} drives {joint}"


def _moving(driver: str) -> list[Input]:
    """Return the inputs by which a driver is moved: since when, and the powers of a cubic."""
    return [Input(f"{_NAME} moves {driver} {word}") for word in ("since", "a", "b", "c", "d")]


class _Moved:
    """The law of a driver, and how far it was moved by hand from there."""

    def __init__(self, law: Any, name: str) -> None:
        self._law, self._inputs = law, _moving(name)

    def __call__(self, t: Any) -> Any:
        since, *cubic = (one.as_number() for one in self._inputs)
        own = self._law(t) if callable(self._law) else as_number(self._law)
        return own + sum_of(cubic, t - since)


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

    def __init__(self, model: Any, start: State) -> None:
        self.model, self._start = model, start
        self.adjustables = adjustables(model)
        self.hand = Hand(model)
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
            self.hand.put_down()
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

    def take_over(self, before: "Engine") -> None:
        """Be run as another was: speed, and what sliders said of what is still there."""
        self.speed, self.stopped = before.speed, before.stopped
        for one in self.adjustables:
            if one.key in before.hand.adjusted:
                self.hand.adjust(one, before.hand.adjusted[one.key])

    def _go_on(self, seconds: float) -> None:
        try:
            with self._lock, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._step(seconds)
        except Exception as error:  # whatever a law of the user raises: the page says it
            self.stop()
            self.stopped(f"{type(error).__name__}: {error}")

    def _step(self, seconds: float) -> None:
        if self._sim.model is not fixed(self.model):  # laws read something that has changed
            self._begin(self.state)
        if not self.hand.idle and self._held is None:
            joints = [one.name for one in self.adjustables if one.kind == FORCE]
            self._held = self._simulation(held(self.model, joints), self.state)
        sim = self._held or self._sim
        sim.inputs.update(self.hand.inputs(self.model.body_names, sim.inputs, sim.t, seconds))
        sim.step(seconds)
        self._keep(State(sim.q, sim.v, sim.t))

    def _simulation(self, model: Any, state: State) -> Simulation:
        """Return what runs: to an accuracy; where bodies touch by steps, as scenes do.

        To an accuracy, every contact of a wall of bricks is followed as it comes and goes: a picture would
        wait for seconds.
        """
        how: dict[str, float] = {"step": PIECE} if model.contact_names else {"accuracy": _ACCURACY}
        return Simulation(model, State(state.q, state.v, state.t), record=False, **how)

    def _begin(self, state: State) -> None:
        """Begin anew, without the hand until it is used again."""
        self._sim, self._held = self._simulation(self.model, state), None

    def _keep(self, state: State) -> None:
        self.state = state
        self.history.append((state.t, state.q, state.v))
        self.now = moment(self.model, state.q, state.v, state.t)
