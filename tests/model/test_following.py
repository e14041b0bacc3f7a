"""What a law reads from outside is followed: kinds of references x places where a law may stand."""

import functools
import pickle
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.native import store

# kinds of references: each gives a function of a number x that multiplies it by a value, and how to set that

Setting = tuple[Callable[[Any], Any], Callable[[float], None]]

GLOBAL = 1.0
settings = ModuleType("settings of a user")  # a module of his own


def _global() -> Setting:
    def put(x: float) -> None:
        global GLOBAL
        GLOBAL = x

    return (lambda x: GLOBAL * x), put


def _closure() -> Setting:
    gain = 1.0

    def put(x: float) -> None:
        nonlocal gain
        gain = x

    return (lambda x: gain * x), put


def _list() -> Setting:
    u = [1.0]
    return (lambda x: u[0] * x), lambda value: u.__setitem__(0, value)


def _nested_dict() -> Setting:
    table: dict[str, Any] = {"gains": {"pin": [0.0, 1.0]}}
    return (lambda x: table["gains"]["pin"][1] * x), lambda value: table["gains"]["pin"].__setitem__(1, value)


def _array() -> Setting:
    a = np.ones(3)
    return (lambda x: a[1] * x), lambda value: a.__setitem__(1, value)


def _view_of_an_array() -> Setting:
    a = np.ones(3)
    view = a[1:]
    view.flags.writeable = False
    return (lambda x: view[0] * x), lambda value: a.__setitem__(1, value)


def _attribute() -> Setting:
    thing = types.SimpleNamespace(inner=types.SimpleNamespace(gain=1.0))
    return (lambda x: thing.inner.gain * x), lambda value: setattr(thing.inner, "gain", value)


class Slotted:
    __slots__ = ("gain",)


def _slot() -> Setting:
    thing = Slotted()
    thing.gain = 1.0
    return (lambda x: thing.gain * x), lambda value: setattr(thing, "gain", value)


class Controller:
    shared = 1.0

    def __init__(self) -> None:
        self.gain = 1.0

    def scaled(self, x: Any) -> Any:
        return self.gain * x

    def shared_scaled(self, x: Any) -> Any:
        return type(self).shared * x

    def __call__(self, x: Any) -> Any:
        return self.gain * x


def _bound_method() -> Setting:
    controller = Controller()
    return controller.scaled, lambda value: setattr(controller, "gain", value)


def _callable_object() -> Setting:
    controller = Controller()
    return controller, lambda value: setattr(controller, "gain", value)


def _class_attribute() -> Setting:
    kind = type("Own", (Controller,), {"shared": 1.0})
    return kind().shared_scaled, lambda value: setattr(kind, "shared", value)


def _default_argument() -> Setting:
    gains = [1.0]

    def law(x: Any, gains: Any = gains) -> Any:
        return gains[0] * x

    return law, lambda value: gains.__setitem__(0, value)


def _defaults_replaced() -> Setting:
    def law(x: Any, gain: float = 1.0, *, other: float = 0.0) -> Any:
        return (gain + other) * x

    return law, lambda value: setattr(law, "__defaults__", (value,))


def _partial() -> Setting:
    gains = [1.0]
    return functools.partial(lambda gains, x: gains[0] * x, gains), lambda value: gains.__setitem__(0, value)


def _called_function() -> Setting:
    inner, put = _closure()

    def middle(x: Any) -> Any:
        return inner(x)

    return (lambda x: middle(x)), put


def _function_redefined() -> Setting:
    space: dict[str, Any] = {"gain": lambda: 1.0}
    law = eval("lambda x: gain() * x", space)
    return law, lambda value: space.update(gain=lambda: value)


def _module() -> Setting:
    settings.gain = 1.0  # type: ignore[attr-defined]
    return (lambda x: settings.gain * x), lambda value: setattr(settings, "gain", value)


def _body() -> Setting:
    body = lw.Body("another", lw.Inertia(1.0, (0, 0, 0), np.eye(3)))

    def put(x: float) -> None:
        body.inertia = lw.Inertia(x, (0, 0, 0), np.eye(3))

    return (lambda x: body.inertia.mass * x), put


KINDS: dict[str, Callable[[], Setting]] = {
    make.__name__.strip("_"): make
    for make in (
        _global, _closure, _list, _nested_dict, _array, _view_of_an_array, _attribute, _slot, _bound_method,
        _callable_object, _class_attribute, _default_argument, _defaults_replaced, _partial, _called_function,
        _function_redefined, _module, _body,
    )
}  # fmt: skip

# places: each builds a mechanism around a function of a number, and says what its answers are now


@dataclass
class Built:
    """Something built, and what is asked of it."""

    model: lw.Model
    answers: Callable[[lw.Model], Any]


def pendulum(**options: Any) -> tuple[lw.Mechanism, lw.Body]:
    m = lw.Mechanism("pendulum", gravity=(0, 0, -9.81))
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), **options))
    return m, bob


def run_of(model: lw.Model, **options: Any) -> Any:
    return lw.simulate(model, 0.2, model.state(pin=0.3), **options).q[-1].tolist()


def moved(model: lw.Model) -> Any:
    return [run_of(model), model.motion(np.array([0.3]), np.array([0.1])).tolist()]


def motor(f: Any) -> Built:
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: f(1.0) - 0.1 * v))
    return Built(m.compile(), moved)


def called_motor(f: Any) -> Built:
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: f(1.0) if q > -9.0 else 0.0))
    return Built(m.compile(), moved)


def force(f: Any) -> Built:
    m, bob = pendulum()
    m.add(lw.Force("force", bob, lambda body, t: (f(2.0), 0, 0)))
    return Built(m.compile(), moved)


def feedback(f: Any) -> Built:
    m, _ = pendulum()
    m.add(lw.Feedback("law", "pin", lambda t, q, v: f(q["pin"])))
    return Built(m.compile(), moved)


def spring(f: Any) -> Built:
    m, bob = pendulum()
    m.add(lw.Spring("spring", m.ground, bob, on_parent=(1, 0, 0), stiffness=lambda x: f(3.0 * x)))
    return Built(m.compile(), moved)


def own_load(f: Any) -> Built:
    class Own(lw.Load):
        def act(self, t: Any, body: Any) -> None:
            body.push((f(1.0), 0, 0))

    m, bob = pendulum()
    m.add(Own("own", bob))
    return Built(m.compile(), moved)


def own_joint(f: Any) -> Built:
    class Own(lw.Joint):
        coordinates = 1

        def motion(self, q: Any) -> Any:
            return lw.translation(0, 0, 0.1 * f(q[0]) ** 2) @ lw.rotation_y(q[0])

    m = lw.Mechanism("own", gravity=(0, 0, -9.81))
    m.add(Own("pin", m.ground, m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))))

    def answers(model: lw.Model) -> Any:
        q = np.array([0.3])
        return [*moved(model), model.mass_matrix(q).tolist(), list(model.poses(q)["bob"].position)]

    return Built(m.compile(), answers)


def own_stop(f: Any) -> Built:
    class Own:
        absent = (0.0,)

        def numbers(self, inertia: float) -> tuple[float]:
            return (inertia,)

        def mistakes(self) -> list[str]:
            return []

        @staticmethod
        def force(x: Any, rate: Any, lower: Any, upper: Any, numbers: Any) -> Any:
            return -f(10.0 * x)

    m, _ = pendulum(limits=(-0.1, 0.1), stop=Own())
    return Built(m.compile(), moved)


def own_constraint(f: Any) -> Built:
    class Own(lw.Constraint):
        def phi(self, a: Any, b: Any) -> Any:
            return [a.position[0] - 0.1 * f(b.position[0])]

    m, bob = pendulum()
    cart = m.add(lw.Body("cart", lw.Sphere(0.1), mass=1.0, position=(0, 0, 1)))
    m.add(lw.Prismatic("rail", m.ground, cart, axis=(1, 0, 0)))
    m.add(Own("own", cart, bob))

    def answers(model: lw.Model) -> Any:
        q = model.state(pin=0.3).q
        return [q.tolist(), model.constraint_residual(q).tolist(), run_of(model)]

    return Built(m.compile(), answers)


def curve(f: Any) -> Built:
    m = lw.Mechanism("track", space="plane", gravity=(0, -9.81))
    bead = m.add(lw.Body("bead", lw.Inertia(1.0, (0, 0), 0.1)))
    m.add(lw.Free("free", m.ground, bead))
    m.add(lw.PointOnCurve("track", m.ground, bead, lambda s: [s, 0.3 * f(s)]))

    m.add(lw.Driver("along", (bead, "x"), lambda t: 0.2 + t))
    m.add(lw.Driver("level", (bead, "angle"), 0.0))

    def answers(_: Any) -> Any:
        return lw.kinematics(m, [0.0, 0.1]).q[-1].tolist()

    return Built(None, answers)  # type: ignore[arg-type]


def driver(f: Any) -> Built:
    m, _ = pendulum()
    m.add(lw.Driver("driver", "pin", lambda t: f(t) * 0.5))

    def answers(model: lw.Model) -> Any:
        run = lw.simulate(model, 0.2)
        return [run.q[-1].tolist(), run["driver"].force[-1].tolist(), model.state(t=0.1).q.tolist()]

    return Built(m.compile(), answers)


def kinematic_driver(f: Any) -> Built:
    m, _ = pendulum()
    m.add(lw.Driver("driver", "pin", lambda t: f(t) * 0.5))
    return Built(None, lambda _: lw.kinematics(m, [0.0, 0.1])["bob"].pose.position.tolist())  # type: ignore


def event(f: Any) -> Built:
    m, _ = pendulum()
    watched = lw.Event("there", lambda t, q, v: f(t) - 0.1)
    return Built(m.compile(), lambda model: lw.simulate(model, 0.2, events=[watched]).report.events)


def action(f: Any) -> Built:
    m, _ = pendulum()
    done = lw.Event("there", lambda t, q, v: t - 0.1, action=lambda t, q, v: (q, f(v)))
    return Built(m.compile(), lambda model: run_of(model, events=[done]))


def forest(f: Any) -> Built:
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: f(1.0)))
    two = lw.Forest({"a": m, "b": m})
    return Built(None, lambda _: two.simulate(0.1, every=0.1)["a/pin"].position.tolist())  # type: ignore


def batch(f: Any) -> Built:
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: f(1.0)))
    return Built(m.compile(), lambda model: lw.simulate(model, 0.1, q=np.zeros((3, 1))).q[:, -1].tolist())


PLACES: dict[str, Callable[[Any], Built]] = {
    place.__name__: place
    for place in (
        motor, called_motor, force, feedback, spring, own_load, own_joint, own_stop, own_constraint, curve,
        driver, kinematic_driver, event, action, forest, batch,
    )
}  # fmt: skip


@pytest.fixture(autouse=True)
def _as_it_was() -> None:
    global GLOBAL
    GLOBAL = 1.0


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_law_reads_from_outside_is_followed(kind, place):
    """A model that was compiled, and run, before a change answers like one that is compiled after it."""
    law, put = KINDS[kind]()
    old = PLACES[place](law)
    first = old.answers(old.model)
    put(2.0)
    fresh = PLACES[place](law)
    expected = fresh.answers(fresh.model)
    assert old.answers(old.model) == expected
    assert expected != first
    put(1.0)
    assert old.answers(old.model) == first


# models that follow


def gain_motor() -> tuple[lw.Model, list[float]]:
    u = [1.0]
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: u[0]))
    return m.compile(), u


def test_a_model_whose_laws_read_nothing_is_an_ordinary_model():
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: 2.0 * lw.sin(q) - abs(v)))
    model = m.compile()
    assert type(model) is lw.Model
    assert model.current is model


def test_a_change_that_does_not_matter_makes_nothing_anew():
    notes: list[str] = []
    m, _ = pendulum()

    def law(t: Any, q: Any, v: Any) -> Any:
        notes.append("asked")
        return -2.0 * q

    m.add(lw.Motor("motor", "pin", law))
    model = m.compile()
    lw.simulate(model, 0.1)
    before = model.current
    notes.append("by hand")
    lw.simulate(model, 0.1)
    assert model.current is before


def test_nothing_is_compiled_where_only_numbers_change():
    model, u = gain_motor()
    u[0] = 3.0
    assert set(lw.simulate(model, 0.1)["motor"].force) == {3.0}
    loaded = set(store.loaded())
    u[0] = 4.0
    assert set(lw.simulate(model, 0.1)["motor"].force) == {4.0}
    assert set(store.loaded()) == loaded


def test_a_recording_keeps_the_laws_of_its_run():
    model, u = gain_motor()
    run = lw.simulate(model, 0.1)
    u[0] = 5.0
    later = lw.simulate(model, 0.1)
    assert set(run["motor"].force) == {1.0}
    assert set(later["motor"].force) == {5.0}


def test_a_recording_refuses_forces_of_a_called_law_that_is_another_now():
    u = [1.0]
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: u[0] if q > -9.0 else 0.0))
    run = lw.simulate(m, 0.1)
    early = lw.simulate(m, 0.1)
    assert set(early["motor"].force) == {1.0}
    u[0] = 2.0
    assert np.isfinite(run["bob"].pose.position).all()
    with pytest.raises(lw.SimulationError, match=r"since the run, a law has become another.*'motor'"):
        run["motor"].force  # noqa: B018
    assert set(early["motor"].force) == {1.0}  # it is known already


def test_a_specialised_model_follows():
    model, u = gain_motor()
    special = model.specialize()
    u[0] = 2.0
    q, v = np.array([0.1]), np.array([0.0])
    assert special.motion(q, v) == pytest.approx(model.motion(q, v), rel=1e-14)
    assert special.form == "specialized"


def test_a_model_that_follows_asks_for_what_is_there_in_threads():
    model, u = gain_motor()
    q, v = np.array([0.1]), np.array([0.0])
    for value in (2.0, 3.0, 4.0):
        u[0] = value
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: model.motion(q, v).item(), range(40)))
        fresh, other = gain_motor()
        other[0] = value
        assert set(found) == {fresh.motion(q, v).item()}


FACTOR = [2.0]


def factored(t: Any, q: Any, v: Any) -> Any:
    return FACTOR[0] * q


def test_a_model_that_follows_can_be_pickled():
    m, _ = pendulum()
    m.add(lw.Motor("motor", "pin", factored))
    model = m.compile()
    other = pickle.loads(pickle.dumps(model))
    q, v = np.array([0.1]), np.array([0.0])
    FACTOR[0] = 3.0
    try:
        assert other.motion(q, v) == model.motion(q, v)
    finally:
        FACTOR[0] = 2.0
    assert other.motion(q, v) == model.motion(q, v)


# edits: what is unchanged is not traced again


def test_carry_traces_nothing_that_has_not_changed():
    asked = {"knee": 0, "law": 0}

    class Knee(lw.Joint):
        coordinates = 1

        def motion(self, q: Any) -> Any:
            count("knee")
            return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])

    def law(t: Any, q: Any, v: Any) -> Any:
        count("law")
        return -gains[0] * q

    gains = [2.0]
    count = logged(asked)
    m = lw.Mechanism("leg")
    thigh = m.add(lw.Body("thigh", lw.Sphere(0.1), mass=1.0))
    m.add(Knee("knee", m.ground, thigh))
    shank = m.add(lw.Body("shank", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
    m.add(lw.Revolute("ankle", thigh, shank, axis=(0, 1, 0)))
    m.add(lw.Motor("motor", "knee", law))
    model = m.compile()
    state = model.state(knee=0.2)
    lw.simulate(model, 0.1, state)
    m["ankle"].damping = 0.5
    before = dict(asked)
    model, state = lw.carry(model, state, m)
    assert asked == before
    gains[0] = 3.0
    model, state = lw.carry(model, state, m)
    assert asked["knee"] == before["knee"]
    assert asked["law"] > before["law"]
    fresh = m.compile()
    np.testing.assert_array_equal(model.motion(state.q, state.v), fresh.motion(state.q, state.v))


def logged(counts: dict[str, int]) -> Callable[[str], None]:
    """Return what counts in a way that is not seen: by a logger."""
    import logging

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            counts[record.msg] += 1

    logger = logging.Logger("counter")
    logger.addHandler(Handler())
    return logger.warning
