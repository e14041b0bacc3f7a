"""Constraints in motion: rows of loops that are known by phi alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kinematics.maximal_reference import simulate_maximal
from simulation.test_adams import SAME_POINTS, SPRINGS, File, mechanism, solid

import linkwork as lw


class Pin(lw.Constraint):
    """Two points that stay together."""

    on_a: Any
    on_b: Any

    def phi(self, a, b):
        return list(np.subtract(a.to_world(self.on_a), b.to_world(self.on_b)))


class PinInSlot(lw.Constraint):
    pin: Any

    def phi(self, a, b):
        return [b.to_local(a.to_world(self.pin))[1]]


def four_bar(space: Any, own: bool) -> lw.Mechanism:
    """Return a four-bar whose pin C is a joint, or a constraint of one's own."""
    source = lw.examples.four_bar(space=space)
    m = lw.Mechanism("bars", space=space, gravity=source.gravity)
    for body in source.bodies.values():
        m.add(lw.Body(body.name, body.inertia, position=body.position, rotation=body.rotation))
    for name, joint in source.joints.items():
        ends = [m.ground if b is source.ground else m[b.name] for b in (joint.parent, joint.child)]
        frames = joint.frames()
        if name == "C" and own:
            m.add(Pin(name, *ends, on_a=tuple(frames[0].position), on_b=tuple(frames[1].position)))
        else:
            m.add(lw.Revolute(name, *ends, on_parent=frames[0], on_child=frames[1]))
    return m


@pytest.mark.parametrize("space", ["plane", "space"])
def test_a_pin_by_phi_is_a_hinge(space):
    runs = []
    for own in (False, True):
        model = four_bar(space, own).compile(cut=[] if own else ["C"])
        assert model.loop_names == ("C",)
        start = model.state(velocities={"A": 3.0})
        runs.append(lw.simulate(model, 2.0, start, accuracy=1e-11, every=0.2))
    for name in ("A", "D"):
        ours, theirs = runs[1][name], runs[0][name]
        np.testing.assert_allclose(ours.position, theirs.position, atol=1e-9)
        np.testing.assert_allclose(ours.reaction.force[..., :2], theirs.reaction.force[..., :2], atol=1e-6)
    forces = [np.asarray(run["C"].reaction.force)[..., :2] for run in runs]
    np.testing.assert_allclose(forces[1], forces[0], atol=1e-6)
    assert runs[1].report.loop_gap < 1e-12


def test_lanes_and_singular_values_agree_on_constraints():
    model = four_bar("space", True).compile()
    start = model.state(velocities={"A": 3.0})
    tau = np.array([0.3, -0.2, 0.1])
    a = model.forward_dynamics(start.q, start.v, tau)
    many = model.forward_dynamics(*(np.tile(x, (9, 1)) for x in (start.q, start.v, tau)))
    assert (many == a).all()
    slow = model.forward_dynamics(start.q, start.v, tau, solver="svd")
    np.testing.assert_allclose(a, slow, rtol=1e-11)


def test_a_pin_slides_in_its_slot():
    """A quick-return: crank and slotted lever, one freedom; the lever follows the pin."""
    m = lw.Mechanism("quick return", space="plane")
    crank = m.add(lw.Body("crank", lw.Inertia(1.0, (0, 0), 0.1)))
    lever = m.add(
        lw.Body("lever", lw.Inertia(1.0, (0.2, 0), 0.05), position=(0, -0.3), rotation=np.arctan2(0.3, 0.1))
    )
    m.add(lw.Revolute("A", m.ground, crank, at=(0, 0)))
    m.add(lw.Revolute("B", m.ground, lever, at=(0, -0.3)))
    m.add(PinInSlot("slot", crank, lever, pin=(0.1, 0.0)))
    model = m.compile()
    assert model.diagnose().freedoms == 1
    run = lw.simulate(model, 3.0, model.state(velocities={"A": 10.0}))
    pin = 0.1 * np.stack([np.cos(run["crank"].angle), np.sin(run["crank"].angle)], axis=-1)
    wanted = np.arctan2(pin[:, 1] + 0.3, pin[:, 0])
    np.testing.assert_allclose(run["lever"].angle, wanted, atol=1e-10)
    assert np.ptp(run.energy) < 1e-7 * run.kinetic_energy[0]


@pytest.mark.reference
@pytest.mark.parametrize("case", SAME_POINTS)
def test_a_body_at_a_distance_moves_as_in_adams(validation: Path, case: str):
    file = File(validation / "adams" / f"{case}.csv")
    ground, point, center, _ = SPRINGS[SAME_POINTS[case]]
    m = mechanism()
    body = solid(m, position=center)
    m.add(lw.Free("air", m.ground, body))
    m.add(lw.Distance("rod", m.ground, body, on_parent=ground, on_child=np.subtract(point, center)))
    run = lw.simulate(m, 5.0, times=file.time)
    file.check("Pos", run["body"].position, 5e-6, 2e-5)
    file.check("Rforce", -np.asarray(run["rod"].reaction.force), 0, 2e-2)


def on_a_pivot() -> lw.Mechanism:
    m = lw.Mechanism("one", space="plane")
    arm = m.add(lw.Body("arm", lw.Inertia(1.0, (0.5, 0), 0.1)))
    m.add(lw.Revolute("pivot", m.ground, arm))
    return m


def test_a_distance_that_cannot_be_is_told_with_its_gap():
    m = on_a_pivot()
    m.add(lw.Distance("rod", m.ground, m["arm"], 5.0, on_child=(1, 0)))
    with pytest.raises(lw.AssemblyError, match=r"stay open are 'rod' by 2.4 m"):
        lw.simulate(m, 1.0)


def test_a_phi_that_cannot_work_is_told_by_name():
    class Broken(lw.Constraint):
        def phi(self, a, b):
            return [1 / 0]

    m = on_a_pivot()
    m.add(Broken("own", m.ground, m["arm"]))
    with pytest.raises(lw.ModelError, match="constraint 'own': phi raised ZeroDivisionError"):
        m.compile()
    m = on_a_pivot()
    m.add(lw.Distance("rod", m["arm"], m["arm"], 1.0))
    with pytest.raises(lw.ModelError, match=r"constraint 'rod': it is between 'arm' and itself"):
        m.compile()
    m = on_a_pivot()
    pivot = next(iter(m.joints))
    for gear in (lw.Gear("wheels", pivot, pivot, 2.0), lw.RackPinion("wheels", pivot, pivot, 0.1)):
        m.add(gear)
        with pytest.raises(lw.ModelError, match=f"it is between '{pivot}' and itself; give two"):
            m.compile()
        m.remove("wheels")


def test_the_method_of_all_coordinates_is_refused_with_what_to_use():
    with pytest.raises(ValueError, match=r'method "maximal" is gone; leave method= out.*lw\.kinematics'):
        lw.simulate(on_a_pivot(), 1.0, method="maximal")
    assert not hasattr(lw, "simulate_maximal")


def same_motion(m: lw.Mechanism, duration: float, joints: str, forces: str) -> lw.Recording:
    """Simulate; multipliers over the poses of all bodies are the second opinion."""
    run = lw.simulate(m, duration, every=0.1, accuracy=1e-10)
    other = simulate_maximal(m, run.time)
    for name in joints.split():
        np.testing.assert_allclose(run[name].position, other[name].position, atol=1e-8, err_msg=name)
        for part in ("force", "torque"):
            ours, theirs = (getattr(found[name].reaction, part) for found in (run, other))
            np.testing.assert_allclose(ours, theirs, atol=1e-6, err_msg=f"{name} {part}")
    for name in forces.split():
        np.testing.assert_allclose(run[name].force, other[name].force, atol=1e-6, err_msg=name)
    return run


def chain(space: str, count: int) -> lw.Mechanism:
    """Return links in a row, hinged to each other, the first to ground."""
    flat = space == "plane"
    m = lw.Mechanism("chain", space=space, gravity=(0, -9.81) if flat else (0, -9.81, 0))
    axis = {} if flat else {"axis": (0, 0, 1)}
    last = m.ground
    for k, name in enumerate("abcdef"[:count]):
        place = (k, 0) if flat else (k, 0, 0)
        middle = (0.5, 0) if flat else (0.5, 0, 0)
        inertia = lw.Inertia(1.0, middle, 0.2 if flat else np.diag([0.2, 0.3, 0.4]))
        body = m.add(lw.Body(name, inertia, position=place))
        m.add(lw.Revolute(name.upper(), last, body, at=place, **axis))
        last = body
    return m


@pytest.mark.parametrize("space", ["plane", "space"])
def test_a_constraint_may_be_among_three_bodies(space):
    class Balance(lw.Constraint):
        def phi(self, a, b, c):
            return [a.position[1] + b.position[1] - 0.5 * c.position[1]]

    m = chain(space, 4)
    m.add(Balance("balance", m["b"], m["c"], m["d"]))
    same_motion(m, 1.0, "A B C D", "balance")


@pytest.mark.parametrize("space", ["plane", "space"])
def test_coordinates_of_joints_are_coupled(space):
    m = chain(space, 4)
    m.add(lw.Coupling("half", "C", "A", 0.5))
    m.add(lw.Gear("gear", "B", "D", ratio=2.0))
    run = same_motion(m, 2.0, "A B C D", "half gear")
    np.testing.assert_allclose(run["C"].position, 0.5 * run["A"].position, atol=1e-12)
    np.testing.assert_allclose(run["D"].position, -2.0 * run["B"].position, atol=1e-12)
    assert np.ptp(run.energy) < 1e-8 * run.kinetic_energy.max()


def test_gears_turn_as_one_inertia_for_many_turns():
    m = lw.Mechanism("gears", space="plane", gravity=(0, 0))
    for name, x, inertia in (("A", 0.0, 0.2), ("B", 1.0, 0.5)):
        body = m.add(lw.Body(name.lower(), lw.Inertia(1.0, (0, 0), inertia), position=(x, 0)))
        m.add(lw.Revolute(name, m.ground, body, at=(x, 0)))
    m.add(lw.Gear("gear", "A", "B", ratio=2.0))
    m.add(lw.Motor("motor", "A", 1.0))
    model = m.compile()
    run = lw.simulate(model, 10.0, every=1.0)
    felt = 0.2 + 2.0**2 * 0.5
    np.testing.assert_allclose(run["A"].position, 0.5 / felt * run.time**2, rtol=1e-9)
    np.testing.assert_allclose(run["gear"].force, -0.5 * 2.0 / felt, rtol=1e-12)  # it holds B back
    assert model.diagnose().freedoms == 1
    np.testing.assert_allclose(model.state(A=0.5).q, [0.5, -1.0], atol=1e-12)
    batch = lw.simulate(model, 10.0, q=np.zeros((9, 2)), v=np.zeros((9, 2)), times=run.time)
    assert (batch.q == run.q).all()


def test_couplings_are_in_motion_but_not_in_the_answer_to_joint_forces():
    """As mimic joints in other libraries: forward dynamics takes all joints as they are."""
    m = chain("plane", 2)
    free = m.compile()
    m.add(lw.Coupling("same", "B", "A", 1.0))
    model = m.compile()
    q, v, tau = np.array([0.3, 0.3]), np.array([0.2, 0.2]), np.array([1.0, 2.0])
    assert (model.forward_dynamics(q, v, tau) == free.forward_dynamics(q, v, tau)).all()
    a = model.motion(q, v)
    assert a[0] == pytest.approx(a[1], rel=1e-12)
    M, h = free.mass_matrix(q), free.bias_forces(q, v)
    assert a[0] == pytest.approx(-h.sum() / M.sum(), rel=1e-12)


@pytest.mark.parametrize("space", ["plane", "space"])
def test_drivers_drive_and_all_else_follows(space):
    m = chain(space, 3)
    m.add(lw.Driver("servo", "B", lambda t: 0.3 * (1 - lw.cos(5 * t))))
    run = same_motion(m, 2.0, "A B C", "servo")
    t = run.time
    np.testing.assert_allclose(run["B"].position, 0.3 * (1 - np.cos(5 * t)), atol=1e-12)
    np.testing.assert_allclose(run["B"].velocity, 1.5 * np.sin(5 * t), atol=1e-12)
    np.testing.assert_allclose(run["B"].acceleration, 7.5 * np.cos(5 * t), atol=1e-10)
    assert np.ptp(run.energy - run.work) < 1e-7 * run.kinetic_energy.max()  # the driver works
    assert run.report.loop_gap is not None
    assert run.report.loop_gap < 1e-12


def test_a_driver_holds_what_it_carries():
    m = chain("plane", 1)
    m.add(lw.Driver("hold", "A", 0.0))
    run = lw.simulate(m, 1.0)
    np.testing.assert_allclose(run["hold"].force, 9.81 * 0.5, rtol=1e-12)
    assert "N m" in run.layout.units("hold", "force")
    assert np.abs(run["A"].position).max() < 1e-13


def test_a_driver_may_turn_a_loop_round_and_start_late():
    m = lw.examples.four_bar(space="plane")
    m.add(lw.Driver("motor", "A", lambda t: 3.0 * t))
    model = m.compile()
    run = lw.simulate(model, 2.0, model.state(t=1.0), every=0.1)
    np.testing.assert_allclose(run["A"].position, 3.0 * run.time, atol=1e-9)
    assert run.report.loop_gap < 1e-12
    saved = lw.kinematics(m, run.time)
    np.testing.assert_allclose(run["motor"].force, saved["motor"].force, atol=1e-6)


def test_what_cannot_be_rows_is_refused_by_name():
    m = four_bar("plane", False)
    m.add(lw.Coupling("pair", "C", "A"))
    with pytest.raises(lw.ModelError, match=r"coupling 'pair' is on joint 'C', which closes a loop"):
        m.compile(cut=["C"])
    assert "C" not in m.compile().loop_names  # another is cut

    class Many(lw.Constraint):
        def phi(self, a):
            return [a.position[0] * k for k in range(5)]

    m = on_a_pivot()
    m.add(Many("many", m["arm"]))
    with pytest.raises(lw.ModelError, match=r"'many' has 5 equations, and cannot have more than 4"):
        m.compile()
