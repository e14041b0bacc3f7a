"""Cases of a sweep that are built at once: as if one by one, whatever their build does."""

import copy
import math
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.deferred_mechanism import Deferred
from linkwork.simulation import sweep as sweeping
from linkwork.simulation.cases_together import _Wholes

CASES = {"length": np.linspace(0.5, 2.0, 13), "mass": np.linspace(1.0, 3.0, 4)}
KNOWN = dict.fromkeys(CASES["length"][4:6].tolist(), 0.7)
LISTED = {1.0: "light", 3.0: "heavy"}


def pendulum(length: float, mass: float, damping: float = 0.1) -> lw.Mechanism:
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Box(0.1, 0.1 * length, 0.2), mass=mass, position=(0, 0, -length)))
    m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), damping=damping))
    m.add(lw.Spring("spring", m.ground, bob, on_parent=(0, 0, -3.0 * length), stiffness=5.0 * mass))
    m.add(lw.Motor("motor", "pin", lambda t, q, v: 0.3 * mass * length - 0.2 * v))
    return m


def turned(length: float, mass: float) -> lw.Mechanism:
    m = lw.Mechanism("turned", gravity=(0.1 * mass, 0, -9.81))
    arm = lw.Cylinder(radius=0.1, length=length, position=(length, 0, 0), rotation=(0.8, 0.6, 0, 0))
    ball = lw.Sphere(0.1 * mass, mass=mass, position=(0, 0, 0.3 * length))
    body = m.add(lw.Body("arm", arm, ball, density=500.0, position=(length, 0, 0), rotation=0.3 * length))
    m.add(lw.Universal("joint", m.ground, body, at=(0, 0, length), friction=0.01 * mass))
    return m


def planar(length: float, mass: float) -> lw.Mechanism:
    m = lw.Mechanism("planar", space="plane")
    rod = m.add(lw.Body("rod", lw.Box(length, 0.1, 0.1), mass=mass, position=(length, 0.1), rotation=length))
    m.add(lw.Prismatic("slide", m.ground, rod, axis=(1.0, length), stiffness=mass, rest=0.1))
    return m


BUILT_AT_ONCE = [pendulum, turned, planar]


def branched(length: float, mass: float) -> lw.Mechanism:
    if length > 1.2:
        return pendulum(length, mass, 0.5 if mass < 2.0 else 0.0)
    return planar(length, mass)


def kinds(length: float, mass: float) -> lw.Mechanism:
    return pendulum(length, mass, 0.5 if isinstance(length, float) and length > 1.0 else 0.1)


def scalars(length: float, mass: float) -> lw.Mechanism:
    return pendulum(length, mass, 0.1 if np.isscalar(length) else 0.4)


def caught(length: float, mass: float) -> lw.Mechanism:
    try:
        return pendulum(length, mass, math.floor(length) + 0.1)
    except TypeError:
        return pendulum(length, mass, 7.0)


def looked_up(length: float, mass: float) -> lw.Mechanism:
    return pendulum(length, mass, KNOWN.get(length, 0.2))


def listed(length: float, mass: float) -> lw.Mechanism:
    return pendulum(length, mass, 0.3 if mass in LISTED else 0.2)


def by_math(length: float, mass: float) -> lw.Mechanism:
    return pendulum(math.sqrt(length), mass, float(np.cos(length)) ** 2)


def texts(length: float, mass: float) -> lw.Mechanism:
    m = pendulum(length, mass)
    m.add(lw.Body(f"{length:.2f}", lw.Sphere(0.1), mass=mass))
    m.add(lw.Fixed("weld", m["bob"], m[f"{length:.2f}"]))
    return m


def unbuildable(length: float, mass: float) -> lw.Mechanism:
    return pendulum(length, mass - 1.2)


SHARED = threading.local()


def the_same(length: float, mass: float) -> lw.Mechanism:
    """Return one mechanism with other numbers each time, of its own in each thread."""
    if not hasattr(SHARED, "mechanism"):
        SHARED.mechanism = pendulum(1.0, 1.0)
    SHARED.mechanism["bob"].mass = mass
    SHARED.mechanism["pin"].damping = length
    return SHARED.mechanism


def with_the_same_part(length: float, mass: float) -> lw.Mechanism:
    if not hasattr(SHARED, "rod"):
        SHARED.rod = lw.Body("rod", lw.Box(0.1, 0.1, 0.1), mass=1.0)
    SHARED.rod.mass = mass
    m = lw.Mechanism("part")
    m.add(SHARED.rod)
    m.add(lw.Revolute("pin", m.ground, SHARED.rod, at=(0.3, 0, 0), axis=(0, 1, 0), damping=length))
    return m


def no_mechanism(length: float, mass: float) -> Any:
    return pendulum(length, mass).compile()


OTHERS = [branched, kinds, scalars, caught, looked_up, listed, by_math, texts, unbuildable, no_mechanism]
OTHERS += [the_same, with_the_same_part]


def end(m: Any) -> dict[str, float]:
    run = lw.simulate(m, 0.4)
    return {"q": run.q[-1, 0], "energy": run.energy[-1], "samples": len(run)}


def rows(build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, few: int) -> Any:
    monkeypatch.setattr(sweeping, "_FEW", few)
    monkeypatch.setattr(sweeping, "_AT_A_TIME", 1e9)  # however long a case takes on a busy machine
    return lw.sweep(build, CASES, end).rows


@pytest.mark.filterwarnings("ignore:sweep. 13 of 52 cases failed:UserWarning")  # of `unbuildable`
@pytest.mark.parametrize("build", [*BUILT_AT_ONCE, *OTHERS], ids=lambda build: build.__name__)
def test_a_table_is_the_same_however_its_mechanisms_were_built(build, monkeypatch):
    calls: list[Any] = []

    def counted(length: float, mass: float) -> Any:
        calls.append((length, mass))
        return build(length, mass)

    together = rows(counted, monkeypatch, 4)
    if build in BUILT_AT_ONCE:
        assert len(calls) < 52 + 30  # for the energy each is built, and compiled
    assert repr(together) == repr(rows(build, monkeypatch, 10**9))


@pytest.mark.parametrize("build", BUILT_AT_ONCE, ids=lambda build: build.__name__)
def test_mechanisms_of_one_structure_are_built_by_few_calls(build):
    calls: list[Any] = []

    def counted(**case: float) -> Any:
        calls.append(case)
        return build(**case)

    cases = [{"length": x, "mass": 0.5 + 0.3 * x} for x in np.linspace(0.5, 2.0, 200).tolist()]
    wholes = _Wholes(counted, cases)
    assert [len(members) for members, _ in wholes.found] == [200]
    assert not wholes.others
    assert len(calls) < 10


def test_a_case_that_goes_its_own_way_within_a_range_is_built_for_itself():
    def build(length: float) -> lw.Mechanism:
        return pendulum(length, 1.0, 0.5 if 0.9 < length < 1.1 else 0.1)

    wholes = _Wholes(build, [{"length": x} for x in np.linspace(0.5, 2.0, 200).tolist()])
    assert sorted(k for members, _ in wholes.found for k in members) == list(range(200))
    for members, whole in wholes.found:
        inside = {0.9 < 0.5 + 1.5 * k / 199 < 1.1 for k in members}
        assert inside == {whole["pin"].damping == 0.5}


def test_a_mechanism_that_is_built_late_is_like_any_other():
    made: list[lw.Mechanism] = []
    m = Deferred.of(lambda: pendulum(1.0, 2.0), made.append)
    assert isinstance(m, lw.Mechanism)
    assert not made
    assert list(m) == ["bob", "pin", "spring", "motor"]
    assert type(m) is lw.Mechanism
    assert made == [m]
    m["pin"].damping = 3.0
    assert m.undo().changes[0].attribute == "damping"
    assert m.undo().changes[0].name == "motor"
    assert "motor" not in m
    m.redo()
    assert "motor" in m
    m.gravity = (0, 0, -1)
    assert m.compile().gravity.tolist() == [0, 0, -1]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda m: m.copy(), repr, len, vars])
def test_whatever_is_asked_first_builds_it(way):
    m = Deferred.of(lambda: planar(1.0, 2.0), lambda _: None)
    if way is vars:
        m.name = "other"
        assert vars(m)["_name"] == "other"
    else:
        found = way(m)
        assert repr(found) == repr(way(planar(1.0, 2.0)))


def test_it_can_be_sent_to_another_process():
    m = Deferred.of(lambda: planar(1.0, 2.0), lambda _: None)
    assert list(pickle.loads(pickle.dumps(m))) == ["rod", "slide"]


@pytest.mark.parametrize(("short", "tasks"), [(math.inf, 1), (0.0, 2)])
def test_short_cases_are_not_shared_out_among_threads(short, tasks, monkeypatch):
    """They are mostly Python: two threads would take as long, and build twice what all cases share."""
    sizes: list[int] = []

    def counted(*rest: Any) -> Any:
        sizes.append(len(rest[-1]))
        return together(*rest)

    together = sweeping.computed_together
    monkeypatch.setattr(sweeping, "computed_together", counted)
    monkeypatch.setattr(sweeping.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(sweeping, "_SHORT", short)
    rows(planar, monkeypatch, 4)
    assert sizes == [50 // tasks] * tasks
