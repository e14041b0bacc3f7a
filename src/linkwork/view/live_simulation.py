"""A simulation that goes on in short pieces while it is looked at, and can be pulled and pushed."""

import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwork.mechanism.body import Body
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_view import BodySide, JointSide
from linkwork.model.state import State
from linkwork.simulation.simulate import simulate
from linkwork.view.trajectory import Moment, moment

Array = np.ndarray

PIECE = 1.0 / 60.0  # of real time [s]
_LONGEST = 0.1  # of simulated time in one piece [s]: what is too much work goes slower, and does not stall
_ACCURACY = 1e-6
_KEPT = 1800  # moments
_PULL = 2.0  # frequency at which a hand's spring swings the whole mass [1/s]


class Hand:
    """What the user does: pulls a point of a body towards a place by a spring, and drives joints."""

    def __init__(self, mass: float) -> None:
        self._stiffness = mass * (2.0 * np.pi * _PULL) ** 2
        self._damping = 2.0 * np.sqrt(self._stiffness * mass)
        self.body: str | None = None
        self.point = np.zeros(3)  # of the body
        self.place = np.zeros(3)  # in the world
        self.drives: dict[str, float] = {}  # generalised forces by joint [N m, N]

    @property
    def idle(self) -> bool:
        return self.body is None and not any(self.drives.values())

    def pull(self, body: BodySide) -> None:
        size = body.algebra.dimension
        point = self.point[:size].tolist()
        here, velocity = (
            np.array([float(x) for x in v]) for v in (body.to_world(point), body.velocity_at(point))
        )
        body.push((self._stiffness * (self.place[:size] - here) - self._damping * velocity).tolist(), point)


class _HandLoad(Load):
    """The hand as a load. Its numbers change while it runs, so it is called, and not made a formula."""

    def __init__(self, hand: Hand, body: Body | None, joints: tuple[str, ...]) -> None:
        super().__init__(_free_name, *(() if body is None else (body,)), *joints)
        self.act_now: Callable[..., None] = _acting(hand, joints)

    def act(self, t: Any, *sides: Any) -> None:
        float(t)  # a symbol has no number: what is pushed now is not what will be pushed
        self.act_now(sides)


_free_name = "(hand)"


def _acting(hand: Hand, joints: tuple[str, ...]) -> Callable[..., None]:
    def act(sides: tuple[Any, ...]) -> None:
        for side in sides:
            if isinstance(side, BodySide):
                hand.pull(side)
        driven = (side for side in sides if isinstance(side, JointSide))
        for joint, side in zip(joints, driven, strict=True):
            side.push(hand.drives.get(joint, 0.0))

    return act


class Engine:
    """Runs a model in a thread of its own, at a chosen speed."""

    def __init__(self, model: Any, start: State, drivable: Mapping[str, Any]) -> None:
        self.model, self._start, self._joints = model, start, tuple(drivable)
        self.hand = Hand(float(model.masses.sum()) or 1.0)
        self.speed = 1.0
        self.rate = 0.0  # simulated time per real time, as achieved
        self.running = False
        self.stopped: Callable[[str], None] = lambda why: None  # called when the run cannot go on
        self._lock = threading.Lock()
        self._held: dict[str | None, Any] = {}  # models with the hand on a body
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
                model, state = self._model(), self.state
                if model is not self.model:
                    state = State(
                        state.q, state.v, state.t
                    )  # what a hand does is not to be repeated bit by bit
                run = simulate(model, seconds, state, accuracy=_ACCURACY, times=[state.t + seconds])
                self._keep(run.final)
        except Exception as error:  # whatever a law of the user raises: the page says it
            self.stop()
            self.stopped(f"{type(error).__name__}: {error}")

    def _model(self) -> Any:
        """Return the model, with the hand where it is."""
        if self.hand.idle:
            return self.model
        body = self.hand.body
        if body not in self._held:
            mechanism = self.model.mechanism.copy()
            held = None if body is None else mechanism.bodies[body]
            mechanism.add(_HandLoad(self.hand, held, self._joints))
            self._held[body] = mechanism.compile()
        return self._held[body]

    def _keep(self, state: State) -> None:
        self.state = state
        self.history.append((state.t, state.q, state.v))
        self.now = moment(self.model, state.q, state.v, state.t)
