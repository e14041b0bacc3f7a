"""Constraints in motion: rows of loops that are known by phi alone."""

from pathlib import Path

import numpy as np
import pytest
from simulation.test_adams import SAME_POINTS, SPRINGS, File, mechanism, solid

import linkwork as lw


class Pin(lw.Constraint):
    """Two points that stay together."""

    def phi(self, a, b):
        return list(np.subtract(a.to_world(self.on_a), b.to_world(self.on_b)))


class PinInSlot(lw.Constraint):
    def phi(self, a, b):
        return [b.to_local(a.to_world(self.pin))[1]]


def four_bar(space: str, own: bool) -> lw.Mechanism:
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
    slow, _ = model.forward_dynamics_by_svd(start.q, start.v, tau)
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

    class Branching(lw.Constraint):
        def phi(self, a, b):
            return [a.position[0] if b.position[0] > 0 else 0.0]

    for kind, reason in ((Broken, "ZeroDivisionError"), (Branching, "lw.where")):
        m = on_a_pivot()
        m.add(kind("own", m.ground, m["arm"]))
        with pytest.raises(lw.ModelError, match=rf"constraint 'own': phi raised(.|\n)*{reason}"):
            m.compile()
    m = on_a_pivot()
    m.add(lw.Distance("rod", m["arm"], m["arm"], 1.0))
    with pytest.raises(lw.ModelError, match=r"constraint 'rod': it is between 'arm' and itself"):
        m.compile()


def test_maximal_coordinates_do_not_pass_over_options_in_silence():
    with pytest.raises(ValueError, match=r'method "maximal" takes no loops'):
        lw.simulate(on_a_pivot(), 1.0, method="maximal", loops="restored")


def test_what_is_not_between_two_bodies_is_refused_by_name():
    m = four_bar("plane", False)

    class Level(lw.Constraint):
        def phi(self, a, b, c):
            return [a.position[1] + b.position[1] - c.position[1]]

    m.add(Level("level", *m.bodies.values()))
    with pytest.raises(lw.ModelError, match=r"constraint 'level' is not one between two bodies"):
        m.compile()
