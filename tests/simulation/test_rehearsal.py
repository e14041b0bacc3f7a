"""Cases of a sweep that are simulated side by side: as if one by one, whatever the measure does."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation import sweep as sweeping
from linkwork.simulation.rehearsal import Built, Rehearsal, Unbuilt

CASES = {"length": np.linspace(0.5, 2.0, 9), "mass": np.linspace(1.0, 3.0, 5)}


def pendulum(length: float, mass: float) -> lw.Mechanism:
    if length == CASES["length"][3] and mass == 1.0:
        raise ValueError("this one cannot be built")
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.05 * mass), mass=mass, position=(0, 0, -length)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), damping=0.1 * (length - 0.5)))
    m.add(lw.Motor("motor", "pin", lambda t, q, v: 3.0 * mass * length - 0.2 * v))
    return m


def named(length: float, mass: float) -> lw.Mechanism:
    """Build the same, in a way that cannot be gone with many numbers in place of one."""
    m = pendulum(length, mass)
    m.name = f"pendulum of {mass:g} kg"
    return m


def final(m: lw.Mechanism) -> dict[str, float]:
    run = lw.simulate(m, 1.0)
    return {"q": run.q[-1, 0], "steps": len(run), "t": run.time[-1]}


def derived(m: lw.Mechanism) -> dict[str, float]:
    run = lw.simulate(m, 0.5, every=0.1)
    m.bodies["bob"].inertia = (
        m.bodies["bob"].inertia + m.bodies["bob"].inertia
    )  # after the run, which must not know
    energy, force = run.energy[-1], run["motor"].force[-1]
    radius = run.model.mechanism["bob"].parts[0].radius
    return {"energy": energy, "force": force, "radius": radius, "kg": run.model.masses[0]}


def changed(m: lw.Mechanism) -> float:
    lw.simulate(m, 0.2)
    m["pin"].damping = 5.0  # before the second run
    return float(lw.simulate(m, 0.2).q[-1, 0])


def compiled(m: lw.Mechanism) -> dict[str, float]:
    model = m.compile()
    passing = lw.Event("passing", lambda t, q, v: q["pin"] - 0.2, action="note")
    run = lw.simulate(model, 2.0, model.state(pin=0.1), events=[passing])
    return {"passing": run.report.events[0][0], "end": run.final.v[0]}


def own_duration(m: lw.Mechanism) -> float:
    return float(lw.simulate(m, 0.1 + m.bodies["bob"].inertia.mass / 10).q[-1, 0])


def goes_on(m: lw.Mechanism) -> float:
    first = lw.simulate(m, 0.3)
    return float(lw.simulate(m, 0.3, first.final).q[-1, 0])


def fails(m: lw.Mechanism) -> float:
    return float(lw.simulate(m, 1.0, max_steps=12 if m.bodies["bob"].inertia.mass < 2 else 1000).q[-1, 0])


def stops(m: lw.Mechanism) -> dict[str, float]:
    run = lw.simulate(m, 5.0, events=[lw.Event("there", lambda t, q, v: q["pin"] - 0.3)], step=0.01)
    return {"t": run.final.t, "samples": len(run)}


MEASURES = [final, derived, changed, compiled, own_duration, goes_on, fails, stops]


def rows(
    build: Callable[..., Any], measure: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, few: int
) -> list[dict[str, Any]]:
    monkeypatch.setattr(sweeping, "_FEW", few)
    monkeypatch.setattr(sweeping, "_AT_A_TIME", 1e9)  # however long a case takes on a busy machine
    monkeypatch.setattr(sweeping, "_SHORT", 0.0)  # shared out, cases of one mass are too few to build at once
    with pytest.warns(UserWarning, match="sweep: .* cases failed"):
        return lw.sweep(build, CASES, measure).rows


@pytest.mark.parametrize("build", [pendulum, named], ids=lambda build: build.__name__)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_a_table_is_the_same_as_if_cases_were_computed_one_by_one(build, measure, monkeypatch):
    made: dict[type, int] = {Built: 0, Unbuilt: 0}
    make = Rehearsal.__init__

    def counted(self: Rehearsal, built: Any, whole: Any, calls: Any) -> None:
        make(self, built, whole, calls)
        made[type(built[0])] += len(built)

    monkeypatch.setattr(Rehearsal, "__init__", counted)
    together = rows(build, measure, monkeypatch, 4)
    assert made[Unbuilt if build is pendulum else Built] > 30 or measure in (own_duration, fails)
    made = dict.fromkeys(made, 0)
    alone = rows(build, measure, monkeypatch, 10**9)
    assert not any(made.values())
    assert repr(together) == repr(alone)
    assert 1 <= sum(row["status"] == "failed" for row in together) < 10


def test_a_run_made_beside_others_goes_on_bit_for_bit():
    m = [pendulum(length, 2.0) for length in np.linspace(0.6, 1.9, 20)]
    found: dict[int, Any] = {}

    def measure(mechanism: lw.Mechanism) -> float:
        found[id(mechanism)] = lw.simulate(mechanism, 0.35)
        return 0.0

    lw.sweep(lambda k: m[k], {"k": range(20)}, measure)
    for mechanism in m:
        run = found[id(mechanism)]
        alone = lw.simulate(mechanism.compile(), 0.35)
        assert run.final.memory.keys() == alone.final.memory.keys()
        for a, b in (
            (run, alone),
            (lw.simulate(run.model, 0.2, run.final), lw.simulate(mechanism, 0.2, alone.final)),
        ):
            assert a.q.tobytes() == b.q.tobytes()
            assert a.report.provenance == b.report.provenance
            assert a.report.mechanism == b.report.mechanism


def test_a_run_made_beside_others_has_all_that_one_made_alone_has():
    runs: dict[float, lw.Recording] = {}

    def keep(mechanism: lw.Mechanism) -> float:
        run = runs[mechanism.bodies["bob"].mass] = lw.simulate(mechanism, 0.2)
        return float(run.q[-1, 0])

    def swinging(mass: float) -> lw.Mechanism:
        m = lw.Mechanism("pendulum")
        bob = m.add(lw.Body("bob", lw.Sphere(0.05), mass=mass, position=(0.3, 0, -1)))
        m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
        return m

    masses = np.linspace(1.0, 2.0, 24).tolist()
    lw.sweep(swinging, {"mass": masses}, keep)
    for mass in masses[4:7]:
        made, alone = runs[mass], lw.simulate(swinging(mass), 0.2)
        again = pickle.loads(pickle.dumps(made))
        for run in (made, again, copy.copy(made)):
            assert np.array_equal(run.energy, alone.energy)
            assert np.array_equal(run["bob"].position, alone["bob"].position)
            assert np.array_equal(run.final.q, alone.final.q)
            assert run.report.accepted == alone.report.accepted
            assert run.summary().splitlines()[:2] == alone.summary().splitlines()[:2]
            assert repr(run) == repr(alone)
        with pytest.raises(AttributeError, match="was computed"):
            made.q = alone.q


def test_laws_that_read_what_may_change_are_simulated_when_they_are_asked_for():
    held: dict[int, list[float]] = {}

    def build(k: int) -> lw.Mechanism:
        gain = held[k] = [1.0]
        m = lw.examples.cart_pole()
        m.add(lw.Motor("motor", "rail", lambda t, q, v: gain[0]))
        m.name = str(k)
        return m

    def measure(m: lw.Mechanism) -> float:
        held[int(m.name)][0] = 1.0 + int(m.name)
        return float(lw.simulate(m, 0.1).q[-1, 0])

    table = lw.sweep(build, {"k": range(24)}, measure)
    assert len(set(table["measure"])) == 24
