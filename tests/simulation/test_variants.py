"""Mechanisms of one structure with different numbers, run at once: each as if described so, and alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation import variants

N = 19  # more than two blocks of lanes, and not a whole number of them


@dataclass(frozen=True)
class Case:
    """How a mechanism is built from numbers, and by which names these are varied."""

    build: Callable[..., lw.Mechanism]
    names: dict[str, str]  # of parameters of `build` -> of numbers
    values: dict[str, Any]  # (N, ...) by parameter
    duration: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)
    start: dict[str, Any] = field(default_factory=dict)  # by joint


def spread(low: float, high: float) -> np.ndarray:
    return np.linspace(low, high, N)


def pendulum(length=1.0, mass=1.0, damping=0.1, friction=0.0, gravity=-9.81, limits=None) -> lw.Mechanism:
    m = lw.Mechanism("pendulum", gravity=(0, 0, gravity))
    bob = m.add(lw.Body("bob", lw.Sphere(0.05), mass=mass, position=(0, 0, -length)))
    options = {"damping": damping, "friction": friction, "limits": limits}
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), **options))
    return m


def armed(inertia=0.2, com=0.1, armature=0.0, stiffness=0.0, rest=0.0, pitch=0.3) -> lw.Mechanism:
    m = lw.Mechanism("armed")
    first = m.add(lw.Body("first", lw.Inertia(1.5, (com, 0, 0.05), inertia * np.eye(3))))
    second = m.add(lw.Body("second", lw.Box(0.1, 0.2, 0.3), density=700, position=(0.4, 0, 0)))
    m.add(lw.Revolute("pin", m.ground, first, at=(0, 0, 0), axis=(0, 1, 0), armature=armature))
    m.add(lw.Helical("screw", first, second, at=(0.4, 0, 0), pitch=pitch, stiffness=stiffness, rest=rest))
    return m


def sprung(stiffness=50.0, rest=0.3, place=0.5, torque=0.1, gain=2.0) -> lw.Mechanism:
    m = lw.examples.cart_pole()
    m.add(
        lw.Spring(
            "spring",
            m.ground,
            m["pole"],
            on_parent=(0, 0, 2),
            on_child=(0, 0, place),
            stiffness=stiffness,
            rest=rest,
        )
    )
    m.add(lw.Spring("free", m.ground, m["cart"], on_parent=(1, 0, 0), stiffness=gain))  # rests as drawn
    m.add(lw.Motor("motor", "pin", torque))
    return m


def flying(mass=1.0, spin=1.0) -> lw.Mechanism:
    m = lw.Mechanism("flying", gravity=(0, 0, 0))
    m.add(lw.Body("stone", lw.Box(0.1, 0.2, 0.3), mass=mass))
    m.add(lw.Free("free", m.ground, m["stone"]))
    m.add(lw.Torque("torque", m["stone"], (0.0, spin, 0.01), frame="body"))
    return m


def fourbar(rod=0.3, mass=1.0, reach=0.2, length=0.35) -> lw.Mechanism:
    m = lw.Mechanism("four-bar", space="plane", gravity=(0, -9.81))
    crank, coupler, rocker, bob = (
        m.add(lw.Body(name, lw.Inertia(mass if name == "coupler" else 0.4, (0.05, 0.0), 0.01)))
        for name in ("crank", "coupler", "rocker", "bob")
    )
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, coupler, on_parent=(0.1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", coupler, rocker, on_parent=(rod, 0), on_child=(0.22, 0), damping=0.01))
    m.add(lw.Revolute("D", m.ground, rocker, on_parent=(reach, 0), on_child=(0, 0)))
    m.add(lw.Planar("loose", m.ground, bob, at=(0.3, -0.2)))
    m.add(lw.Distance("rope", coupler, bob, on_parent=(0.1, 0.0), on_child=(0.0, 0.0), length=length))
    return m


def geared(ratio=2.0, offset=0.0, pushed=0.3) -> lw.Mechanism:
    m = lw.Mechanism("geared")
    for name, x in (("one", 0.0), ("two", 1.0), ("three", 2.0)):
        body = m.add(lw.Body(name, lw.Cylinder(radius=0.1, length=0.1), density=1000, position=(x, 0, 0)))
        m.add(lw.Revolute(f"pin {name}", m.ground, body, at=(x, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Coupling("gear", "pin two", of="pin one", ratio=ratio, offset=offset))
    m.add(lw.Motor("motor", "pin one", pushed))
    m.add(lw.Motor("other", "pin three", lambda t, q, v: 0.1 * lw.sin(t) - 0.01 * v))
    return m


def bouncing(height=1.0, mass=1.0) -> lw.Mechanism:
    m = lw.Mechanism("ball")
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), mass=mass))
    m.add(lw.Prismatic("fall", m.ground, ball, at=(0, 0, height), axis=(0, 0, 1), damping=0.1))
    return m


EVENTS = [
    lw.Event("floor", lambda t, q, v: q["fall"] + 0.2, direction=-1, action=lambda t, q, v: (q, -0.7 * v)),
    lw.Event("top", lambda t, q, v: v["fall"], direction=-1, action="note"),
]

CASES = {
    "pendulum": Case(
        pendulum,
        {"length": "bob.position[2]", "mass": "bob.mass", "damping": "pin.damping", "gravity": "gravity[2]"},
        {
            "length": spread(0.5, 2),
            "mass": spread(1, 5),
            "damping": spread(0, 0.5),
            "gravity": -spread(1, 10),
        },
        2.0,
        start={"pin": 0.5},
    ),
    "friction": Case(
        pendulum, {"friction": "pin.friction"}, {"friction": spread(0, 0.5)}, start={"pin": 0.5}
    ),
    "stops": Case(
        pendulum,
        {"limits": "pin.limits", "mass": "bob.mass"},
        {"limits": np.stack([-spread(0.1, 0.4), spread(0.2, 0.3)], axis=1), "mass": spread(1, 2)},
        start={"pin": 0.1},
    ),
    "armed": Case(
        armed,
        {
            "com": "first.com[0]",
            "armature": "pin.armature",
            "stiffness": "screw.stiffness",
            "rest": "screw.rest",
        }
        | {"pitch": "screw.pitch"},
        {
            "com": spread(-0.1, 0.2),
            "armature": spread(0.0, 0.3),
            "stiffness": spread(0, 3),
            "rest": spread(-1, 1),
        }
        | {"pitch": spread(0.1, 1.9)},
    ),
    "tensor": Case(
        armed, {"inertia": "first.tensor"}, {"inertia": spread(0.1, 0.4)[:, None, None] * np.eye(3)}
    ),
    "sprung": Case(
        sprung,
        {"stiffness": "spring.stiffness", "rest": "spring.rest", "place": "spring.on_child[2]"}
        | {"torque": "motor.law", "gain": "free.stiffness"},
        {"stiffness": spread(5, 90), "rest": spread(0, 0.5), "place": spread(-0.2, 0.5)}
        | {"torque": spread(-1, 1), "gain": spread(1, 3)},
    ),
    "flying": Case(
        flying,
        {"mass": "stone.mass", "spin": "torque.law[1]"},
        {"mass": spread(0.5, 2), "spin": spread(-1, 1)},
    ),
    "fourbar": Case(
        fourbar,
        {"rod": "C.on_parent[0]", "reach": "D.on_parent[0]", "length": "rope.length", "mass": "coupler.mass"},
        {
            "rod": spread(0.28, 0.32),
            "reach": spread(0.19, 0.21),
            "length": spread(0.3, 0.4),
            "mass": spread(1, 2),
        },
    ),
    "restored": Case(
        fourbar,
        {"rod": "C.on_parent[0]", "length": "rope.length"},
        {"rod": spread(0.28, 0.32), "length": spread(0.3, 0.4)},
        0.2,
        {"loops": "restored", "accuracy": 1e-6},
    ),
    "geared": Case(
        geared,
        {"ratio": "gear.ratio", "offset": "gear.offset", "pushed": "motor.law"},
        {"ratio": spread(-2, 3), "offset": spread(-1, 1), "pushed": spread(0, 1)},
    ),
    "events": Case(
        bouncing,
        {"mass": "ball.mass", "height": "fall.at[2]"},
        {"mass": spread(0.5, 2), "height": spread(0.5, 2)},
        options={"events": EVENTS},
    ),
    "implicit": Case(
        pendulum,
        {"damping": "pin.damping"},
        {"damping": spread(0, 100)},
        options={"method": "rodas"},
        start={"pin": 1.0},
    ),
    "stiff": Case(
        pendulum,
        {"damping": "pin.damping", "mass": "bob.mass"},
        {"damping": spread(0.1, 1e5), "mass": spread(1, 2)},
        start={"pin": 1.0},
    ),
    "fixed steps": Case(
        pendulum,
        {"length": "bob.position[2]"},
        {"length": spread(0.5, 2)},
        options={"method": "rk4", "step": 0.01},
        start={"pin": 0.5},
    ),
}


def written(case: Case, k: int) -> dict[str, Any]:
    """Return the numbers of variant k as a user writes them down."""
    found = {}
    for word, values in case.values.items():
        value = np.asarray(values[k])
        found[word] = value.item() if value.ndim == 0 else tuple(value.tolist()) if value.ndim == 1 else value
    if case.build is armed and "inertia" in found:
        found["inertia"] = float(np.asarray(found["inertia"])[0, 0])
    return found


def vary(case: Case) -> dict[str, Any]:
    sign = {"bob.position[2]": -1.0}
    return {name: sign.get(name, 1.0) * case.values[word] for word, name in case.names.items()}


def alone(case: Case, k: int) -> lw.Recording:
    model = case.build(**written(case, k)).compile()
    q = model.q_drawn.copy()
    for name, value in case.start.items():
        q[model.slices[name][0]] = value
    return lw.simulate(model, case.duration, lw.State(q, np.zeros(model.nv)), every=0.1, **case.options)


def together(case: Case, **others: Any) -> Any:
    model = case.build().compile()
    start = {}
    if case.start:
        q = model.q_drawn.copy()
        for name, value in case.start.items():
            q[model.slices[name][0]] = value
        start["q"] = np.tile(q, (N, 1))
    return lw.simulate(model, case.duration, every=0.1, vary=vary(case), **start, **case.options, **others)


def assert_same(own: lw.Recording, one: lw.Recording) -> None:
    for word in ("time", "q", "v", "work"):
        assert getattr(own, word).tobytes() == getattr(one, word)[: len(own)].tobytes(), word
    assert own.final.q.tobytes() == one.final.q.tobytes()
    for word in ("status", "events", "accepted", "rejected", "evaluations", "warnings", "method"):
        assert getattr(own.report, word) == getattr(one.report, word), word
    assert own.report.provenance["model"] == one.report.provenance["model"]


@pytest.mark.parametrize("name", CASES)
def test_a_variant_gives_the_bits_that_it_gives_alone(name):
    case = CASES[name]
    runs = together(case, threads=2)
    assert len(runs) == N
    for k in (0, 1, 7, 8, 9, N - 1):
        assert_same(runs[k], alone(case, k))


@pytest.mark.parametrize("name", ["pendulum", "sprung", "fourbar", "geared"])
def test_what_is_derived_knows_the_numbers_of_its_run(name):
    case = CASES[name]
    runs = together(case)
    for k in (0, 9, N - 1):
        own, one = runs[k], alone(case, k)
        joint = one.model.joint_names[0]
        body = one.model.body_names[-1]
        for run, batch in ((own, False), (runs, True)):
            for quantity in ("energy", "momentum", "a"):
                found = getattr(run, quantity)
                assert (found[k] if batch else found).tobytes() == getattr(one, quantity).tobytes(), quantity
            pose = run[body].pose.scalars()
            assert all(
                np.array_equal(x[k] if batch and np.ndim(x) else x, y)
                for x, y in zip(pose, one[body].pose.scalars(), strict=True)
            )
        assert np.array_equal(own[joint].reaction.scalars(), one[joint].reaction.scalars())
        assert np.array_equal(own.model.masses, one.model.masses)
        assert own.energy_error == one.energy_error


def test_energy_of_a_batch_compiles_no_model_of_its_own(monkeypatch):
    compiled: list[Any] = []
    compile_now = variants.compile_now
    monkeypatch.setattr(
        variants, "compile_now", lambda *args, **options: compiled.append(1) or compile_now(*args, **options)
    )
    falling = lw.Event("down", lambda t, q, v: q["pin"] + 1.0, direction=-1)  # ends runs, some of them later
    masses, damping = spread(1.0, 3.0), spread(0.1, 4.0)
    numbers = {"bob.mass": masses, "pin.damping": damping}
    runs = lw.simulate(pendulum(), 2.0, q=np.full((N, 1), 1.5), vary=numbers, events=[falling])
    energy, momentum, poses = runs.energy, runs.momentum, runs["bob"].position
    assert len(compiled) < N / 3
    assert len(np.unique(np.isfinite(energy).sum(axis=1))) > 1
    for k in (0, 7, N - 1):
        m = pendulum(mass=masses[k], damping=damping[k])
        start = lw.State(np.array([1.5]), np.zeros(1))
        one = lw.simulate(m, 2.0, start, times=runs.time, events=[falling])
        count = len(runs[k])
        assert energy[k, :count].tobytes() == one.energy[:count].tobytes()
        assert np.isnan(energy[k, count:]).all()
        assert momentum[k, :count].tobytes() == one.momentum[:count].tobytes()
        assert np.array_equal(poses[k, :count], one["bob"].position[:count])


def test_variants_start_from_states_of_their_own_or_from_one_for_all():
    model = pendulum().compile()
    lengths, q = spread(0.5, 2.0), spread(-1.0, 1.0)[:, None]
    own = lw.simulate(model, 0.5, q=q, v=q, vary={"bob.position[2]": -lengths})
    state = lw.State(np.array([0.3]), np.array([-0.2]), 1.5)
    same = lw.simulate(model, 0.5, state, vary={"bob.position[2]": -lengths})
    assert same.time[0] == 1.5
    for k in (0, 9, N - 1):
        alone = pendulum(length=lengths[k]).compile()
        one = lw.simulate(alone, 0.5, lw.State(q[k], q[k]), times=own.time)
        assert one.q.tobytes() == own[k].q.tobytes()
        one = lw.simulate(alone, 0.5, state, times=same.time)
        assert one.q.tobytes() == same[k].q.tobytes()


def test_inputs_vary_beside_the_numbers_of_the_mechanism():
    push, pushes, masses = lw.Input("push", 0.5), spread(-1.0, 1.0), spread(1.0, 2.0)

    def pushed(mass: float = 1.0) -> lw.Mechanism:
        m = pendulum(mass=mass)
        m.add(lw.Motor("motor", "pin", lambda t, q, v: push - 0.1 * v))
        return m

    runs = lw.simulate(pushed(), 0.5, vary={"bob.mass": masses}, inputs={"push": pushes})
    for k in (0, 9, N - 1):
        one = lw.simulate(pushed(masses[k]), 0.5, times=runs.time, inputs={"push": pushes[k]})
        assert one.q.tobytes() == runs[k].q.tobytes()
        assert np.array_equal(one["motor"].force, runs[k]["motor"].force)
        assert runs.finals[k].inputs == {"push": pushes[k]}


def test_a_law_that_is_called_has_the_numbers_of_its_run():
    def called(mass: float = 1.0, gain: float = 1.0) -> lw.Mechanism:
        m = pendulum(mass=mass)
        m.add(lw.Motor("motor", "pin", lambda t, q, v: -gain * q if v < 1e9 else 0.0))
        return m

    masses = spread(1.0, 2.0)
    runs = lw.simulate(called(), 0.1, q=np.full((N, 1), 0.5), vary={"bob.mass": masses})
    for k in (0, N - 1):
        one = lw.simulate(called(masses[k]), 0.1, lw.State(np.array([0.5]), np.zeros(1)), times=runs.time)
        assert one.q.tobytes() == runs[k].q.tobytes()
        assert runs[k].report.python_laws == ("motor",)


def test_one_variant_that_fails_harms_no_other():
    m = pendulum()
    m.add(lw.Motor("motor", "pin", lambda t, q, v: 5.0 * lw.sqrt(1.0 - q)))
    with pytest.warns(UserWarning, match="of 19 runs failed"):
        runs = lw.simulate(m, 5.0, vary={"bob.mass": spread(0.1, 5.0)})
    assert 0 < len(runs.failed) < N
    for k in (int(runs.failed[0]), next(k for k in range(N) if k not in runs.failed)):
        other = pendulum(mass=spread(0.1, 5.0)[k])
        other.add(lw.Motor("motor", "pin", lambda t, q, v: 5.0 * lw.sqrt(1.0 - q)))
        one = lw.simulate(other, 5.0, times=runs.time, check=False)
        assert (one.report.status, one.report.message) == (runs[k].report.status, runs[k].report.message)
        assert one.q[: len(runs[k])].tobytes() == runs[k].q.tobytes()


REFUSED = {
    "bob.mas": ("unknown number of 'bob' 'mas'.*'mass'", [1.0]),
    "gravity.value": ("has no such part; give 'gravity'", [1.0]),
    "bobb.mass": ("unknown element 'bobb'.*'bob'", [1.0]),
    "bob": ("does not say which number.*'bob.mass'", [1.0]),
    "gravity[7]": ("there is no \\[7\\]", [1.0]),
    "pin.damping": ("run 1.*damping.*negative", [0.1, -1.0]),
    "bob.mass": ("run 2.*mass", [1.0, 2.0, -1.0]),
    "pin.name": ("unknown number of 'pin' 'name'", [1.0]),
    "pin.stop": ("pin.stop.stiffness", [1.0]),
    "pin.stop.stiffnes": ("pin.stop.stiffness", [1.0]),
    "pin.limits": ("run 0.*lower is above upper", [[1.0, -1.0]]),
    "bob.density": ("run 0", [np.nan]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_varied_is_refused_by_name(name):
    message, values = REFUSED[name]
    with pytest.raises((ValueError, lw.LinkworkError), match=f"(?s){message}"):
        lw.simulate(pendulum(), 0.1, vary={name: values})


@pytest.mark.parametrize(
    "vary", [{}, [1.0], {"bob.mass": 1.0}, {"bob.mass": [1.0], "pin.damping": [1.0, 2.0]}]
)
def test_values_are_one_for_each_run(vary):
    with pytest.raises(ValueError, match="vary"):
        lw.simulate(pendulum(), 0.1, vary=vary)


def test_numbers_that_are_part_of_code_are_not_varied():
    with pytest.raises(ValueError, match="specialised"):
        lw.simulate(pendulum().compile().specialize(), 0.1, vary={"bob.mass": [1.0]})


def test_a_number_that_a_named_value_has_can_be_varied():
    runs = lw.simulate(
        pendulum(limits=(-0.1, 0.1)), 0.3, q=[0.05], v=[1.0], vary={"pin.stop.stiffness": [1e3] * 5}
    )
    m = pendulum(limits=(-0.1, 0.1))
    m["pin"].stop = lw.Stop(stiffness=1e3)
    one = lw.simulate(m, 0.3, lw.State(np.array([0.05]), np.array([1.0])), times=runs.time)
    assert one.q.tobytes() == runs[4].q.tobytes()


class Rope(lw.Constraint):
    """A length, by an equation that cannot be traced."""

    length: float

    def phi(self, a: Any, b: Any) -> list[Any]:
        d = b.to_world((0.0, 0.0)) - a.to_world((0.0, 0.0))
        return [float(d[0] ** 2 + d[1] ** 2) ** 0.5 - self.length]


def test_equations_that_are_called_have_the_numbers_of_their_run():
    def roped(length: float = 0.3) -> lw.Mechanism:
        m = lw.Mechanism("roped", space="plane", gravity=(0, -9.81))
        bob = m.add(lw.Body("bob", lw.Inertia(1.0, (0.0, 0.0), 0.01), position=(0.3, 0.0)))
        m.add(lw.Planar("loose", m.ground, bob, at=(0.3, 0.0)))
        m.add(Rope("rope", m.ground, bob, length=length))
        return m

    lengths, times = np.linspace(0.25, 0.35, 5), np.linspace(0.0, 0.05, 6)
    runs = lw.simulate(roped(), 0.05, accuracy=1e-4, times=times, vary={"rope.length": lengths})
    for k in (0, 4):
        one = lw.simulate(roped(float(lengths[k])), 0.05, accuracy=1e-4, times=times)
        assert one.q.tobytes() == runs[k].q.tobytes()
