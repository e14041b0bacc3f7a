"""Joints and springs one by one, simulated, against the motion and reactions that MSC.ADAMS printed.

One body, 5 s from rest; files of projectchrono/chrono, every 0.1 s, in six digits. A constant reaction
wanders in them by 1.2e-4 of itself, and the pendulums on a ball and on a universal joint lose 8e-3 J, which
makes 1 mm in the end.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from dynamics.test_adams import CASES, SLIM, G, rows
from scipy.spatial.transform import Rotation

import linkwork as lw

Array = np.ndarray
DRIFTING = {"Spherical_Case01", "Universal_Case01"}


class Spring(NamedTuple):
    """A spring from ground to a free body, at rest as drawn."""

    ground: tuple[float, ...]
    point: tuple[float, ...]  # on the body, in the world
    center: tuple[float, ...]
    law: dict[str, object]


SPRINGS = {
    "TranSpringCB_Case01": Spring((0, 0, 0), (0, 0, 0), (0, 0, 0), {"stiffness": 10, "damping": 0.5}),
    "TranSpringCB_Case02": Spring((0, 0, 0), (0, 2, 0), (0, 2, 0), {"stiffness": 100, "damping": 5}),
    "TranSpringCB_Case03": Spring(
        (1, 2, 3), (1, 4, 3), (-1, 4, 3), {"stiffness": lambda d: 50 * d + 10 * lw.abs(d) * d, "damping": 5}
    ),
}
SAME_POINTS = {"Distance_Case01": "TranSpringCB_Case02", "Distance_Case02": "TranSpringCB_Case03"}


class File:
    """What ADAMS printed: arrays over time, by name."""

    def __init__(self, path: Path):
        table = rows(path)
        self.columns = {name: np.array([row[name] for row in table]) for name in table[0]}
        self.time = self.columns["Time"][:, 0]

    def check(self, name: str, found: Array, rtol: float, atol: float) -> None:
        np.testing.assert_allclose(found, self.columns[name], rtol=rtol, atol=atol, err_msg=name)

    def check_motion(self, run: lw.Recording, drift: float = 0.0) -> None:
        """Compare positions and velocities to the last digit printed, or as far as the file drifts."""
        body = run["body"]
        self.check("Pos", body.position, 5e-6, 5e-6 + drift)
        self.check("Vel", body.velocity, 5e-6, 1e-5 + 4 * drift)
        self.check("Avel", body.angular_velocity, 5e-6, 2e-5 + 2 * drift)
        self.check("Acc", body.acceleration, 2e-4, 1e-3 + 20 * drift)
        self.check("Aacc", body.angular_acceleration, 2e-4, 1e-3 + 20 * drift)
        turns = np.array([lw.Frame(rotation=q).rotation for q in self.columns["Quat"]])
        np.testing.assert_allclose(body.rotation, turns, rtol=0, atol=5e-6 + drift)


def mechanism() -> lw.Mechanism:
    return lw.Mechanism("one body", gravity=(0, 0, -G))


def solid(m: lw.Mechanism, moments=SLIM, position=(0, 0, 0)) -> lw.Body:
    return m.add(lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.diag(moments)), position=position))


def on_a_joint(case: str) -> tuple[lw.Mechanism, Array, Array]:
    """Return a body on a joint, the joint's place, and the centre of mass in its frame."""
    kind, place, turn, moments, center = CASES[case]
    m = mechanism()
    X = lw.translation(*place) @ lw.rotation_x(np.radians(turn))
    m.add(kind("joint", m.ground, solid(m, moments), on_parent=X, on_child=[-c for c in center]))
    return m, X.position, np.array(center)


def on_ground(run: lw.Recording, place: Array, center: Array) -> tuple[Array, Array]:
    """Return the reaction on ground, force and torque about the joint's place."""
    reaction, body = run["joint"].reaction, run["body"]
    lever = body.position - body.rotation @ center - place
    return -reaction.force, -(reaction.torque + np.cross(lever, reaction.force))


def simulated(m: lw.Mechanism, times: Array, loop: bool) -> lw.Recording:
    """Simulate a body on a joint of the tree; or free, from the same place, with the joint closing a loop."""
    if not loop:
        return lw.simulate(m, 5.0, times=times)
    tree = m.compile()
    body = tree.poses(tree.q_drawn)["body"]
    m.add(lw.Free("air", m.ground, m["body"]))
    model = m.compile(cut=["joint"])
    turn = Rotation.from_matrix(body.rotation).as_quat(scalar_first=True)
    return lw.simulate(model, 5.0, model.state(air=[*body.position, *turn]), times=times)


@pytest.mark.reference
@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
@pytest.mark.parametrize("case", CASES)
def test_a_body_on_a_joint_moves_as_in_adams(validation: Path, case: str, loop: bool):
    file = File(validation / "adams" / f"{case}.csv")
    m, place, center = on_a_joint(case)
    run = simulated(m, file.time, loop)
    drift = 1e-3 if case in DRIFTING else 0.0
    file.check_motion(run, drift)
    force, torque = on_ground(run, place, center)
    file.check("Rforce", force, 2e-4, 1e-3 + 20 * drift)
    file.check("Rtorque", torque, 2e-4, 1e-3)


def test_three_joints_are_one_pendulum():
    """A hinge, a ball and a universal joint let a slim body swing alike; two of the files do not."""
    found = []
    for case, across in (("Revolute_Case01", 0), ("Spherical_Case01", 0), ("Universal_Case01", 1)):
        m, _, _ = on_a_joint(case)
        found.append(lw.simulate(m, 5.0, every=0.1)["body"].position[:, [across, 2]])
    np.testing.assert_allclose(found, np.broadcast_to(found[0], (3, *found[0].shape)), atol=1e-7)


@pytest.mark.reference
@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
def test_a_hinge_with_a_spring_moves_as_in_adams(validation: Path, loop: bool):
    file = File(validation / "adams" / "RotSpring_Case01.csv")
    m, place, center = on_a_joint("Revolute_Case01")
    m.add(lw.TorsionSpring("spring", "joint", stiffness=200, damping=10))
    run = simulated(m, file.time, loop)
    file.check_motion(run)
    force, torque = on_ground(run, place, center)
    axis = (0, 1, 0)
    file.check("Rforce", force, 2e-4, 1e-3)
    file.check("Rtorque", torque - np.outer(run["spring"].force, axis), 2e-4, 1e-3)


@pytest.mark.reference
@pytest.mark.parametrize("case", SPRINGS)
def test_a_body_on_a_spring_moves_as_in_adams(validation: Path, case: str):
    file = File(validation / "adams" / f"{case}.csv")
    ground, point, center, law = SPRINGS[case]
    m = mechanism()
    body = solid(m, position=center)
    m.add(lw.Free("air", m.ground, body))
    m.add(lw.Spring("spring", m.ground, body, on_parent=ground, on_child=np.subtract(point, center), **law))
    run = lw.simulate(m, 5.0, times=file.time)
    file.check_motion(run)
    end = run["body"].position + run["body"].rotation @ np.subtract(point, center) - np.array(ground)
    length = np.linalg.norm(end, axis=1, keepdims=True)
    along = np.divide(end, length, out=np.zeros_like(end), where=length > 0)
    file.check("Rforce", run["spring"].force[:, None] * along, 0, 1e-3)


@pytest.mark.reference
@pytest.mark.parametrize("case", SAME_POINTS)
def test_a_body_on_a_massless_rod_moves_as_in_adams(validation: Path, case: str):
    """A constant distance, as a rod without mass on a universal and a ball joint."""
    file = File(validation / "adams" / f"{case}.csv")
    ground, point, center, _ = SPRINGS[SAME_POINTS[case]]
    m = mechanism()
    rod, body = m.add(lw.Body("rod", position=ground)), solid(m, position=center)
    m.add(lw.Universal("joint", m.ground, rod, at=ground, axis=(1, 0, 0), axis2=(0, 0, 1)))
    m.add(lw.Spherical("ball", rod, body, at=point))
    run = lw.simulate(m, 5.0, times=file.time)
    file.check("Pos", run["body"].position, 5e-6, 2e-5)
    file.check("Rforce", -run["joint"].reaction.force, 0, 2e-2)


@pytest.mark.reference
def test_a_body_on_a_massless_crank_moves_as_in_adams(validation: Path):
    file = File(validation / "adams" / "RevSpherical_Case01.csv")
    m = mechanism()
    crank, body = m.add(lw.Body("crank")), solid(m, (0.1, 0.04, 0.1), (2, 2, 0))
    m.add(lw.Revolute("joint", m.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
    m.add(lw.Spherical("ball", crank, body, at=(2, 0, 0)))
    run = lw.simulate(m, 5.0, times=file.time)
    file.check_motion(run)
    reaction = run["joint"].reaction
    file.check("Rforce_Body1", -reaction.force, 2e-4, 1e-3)
    file.check("Rtorque_Body1", -reaction.torque, 2e-4, 1e-3)


class RevSpherical(lw.Constraint):
    """A link without mass from a hinge to a ball, by what it leaves: a circle for the ball to be on."""

    def phi(self, ground, body):
        arm = np.subtract(body.to_world(self.ball), ground.to_world((0, 0, 0)))
        return [arm[2], arm[0] * arm[0] + arm[1] * arm[1] - self.length**2]


@pytest.mark.reference
def test_a_massless_crank_may_be_two_equations(validation: Path):
    file = File(validation / "adams" / "RevSpherical_Case01.csv")
    m = mechanism()
    body = solid(m, (0.1, 0.04, 0.1), (2, 2, 0))
    m.add(lw.Free("air", m.ground, body))
    m.add(RevSpherical("crank", m.ground, body, ball=(0, -2, 0), length=2.0))
    run = lw.simulate(m, 5.0, times=file.time)
    file.check_motion(run)
    force = -np.asarray(run["crank"].reaction.force)
    file.check("Rforce_Body1", force, 2e-4, 1e-3)
    ball = run["body"].position + run["body"].rotation @ (0, -2, 0)
    file.check("Rtorque_Body1", np.cross(ball, force), 2e-4, 1e-3)


@pytest.mark.reference
@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
def test_a_driven_slide_moves_as_in_adams(validation: Path, loop: bool):
    """The slide of a plate closes a loop, or not; its driver holds it against gravity."""
    file = File(validation / "adams" / "LinActuator_Case01.csv")
    m = mechanism()
    plate = solid(m, (1, 1, 1))
    m.add(lw.Prismatic("slide", m.ground, plate, axis=(0, 0, 1)))
    if loop:
        m.add(lw.Free("air", m.ground, plate))
    m.add(lw.Driver("actuator", (plate, "z") if loop else "slide", lambda t: 1.0 * t))
    run = lw.simulate(m.compile(cut=["slide"] if loop else []), 5.0, times=file.time)
    file.check_motion(run)
    file.check("RforceA", np.outer(run["actuator"].force, (0, 0, 1)), 0, 1e-3)
    file.check("RforceP", -run["slide"].reaction.force, 0, 1e-3)
    file.check("RtorqueP", -run["slide"].reaction.torque, 0, 1e-3)
