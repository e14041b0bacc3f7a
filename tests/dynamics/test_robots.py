"""Robots that others have published: our numbers are those of Pinocchio."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from naive import relative_error
from robots import robot_files

import linkwork as lw

REFERENCE = ("double_pendulum_simple", "ur10", "panda", "solo12", "simple_humanoid")
AGREES = 1e-11  # relative
WELL_CONDITIONED = 1e6  # beyond it a forward dynamics may lose what the condition of the mass matrix costs
REFUSED = {"romeo_laas_small": "one is negative", "romeo": "moves no inertia"}  # by us, with these words
UNREADABLE = {"ur3"}  # for Pinocchio
COMPARED = [name for name in robot_files() if name not in REFUSED.keys() | UNREADABLE]


@dataclass
class Coordinates:
    """How a robot's coordinates are numbered there and here."""

    model: lw.Model
    joints: list[
        tuple[str, int, int, int]
    ]  # our name; there: first position, first velocity, number of positions

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Return our positions: quaternions (w, x, y, z), not (x, y, z, w); angles, not cosine and sine."""
        ours = np.zeros(self.model.nq)
        for name, at, _, size in self.joints:
            own, there = self.model.slices[name][0], q[at : at + size]
            match size:
                case 7:
                    ours[own] = [*there[:3], there[6], *there[3:6]]
                case 2:
                    ours[own] = np.arctan2(there[1], there[0])
                case _:
                    ours[own] = there
        return ours

    @property
    def order(self) -> list[int]:
        """Where each of our velocities is there."""
        order = np.zeros(self.model.nv, int)
        for name, _, at, size in self.joints:
            linear_first = [3, 4, 5, 0, 1, 2]
            order[self.model.slices[name][1]] = at + np.array(linear_first if size == 7 else [0])
        return order.tolist()


def forward_tolerance(H: np.ndarray) -> float:
    return AGREES * max(1.0, float(np.linalg.cond(H)) / WELL_CONDITIONED) if H.size else AGREES


# numbers on file


@pytest.mark.reference
@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("specialize", [False, True], ids=["rolled", "specialized"])
def test_reference_results(validation: Path, name: str, specialize: bool):
    case = json.loads((validation / "robots" / "reference.json").read_text())["cases"][name]
    free = case["floating_base"]
    mechanism = lw.load(validation / "robots" / case["urdf"], base="free" if free else "fixed")
    mechanism.gravity = case["gravity"]
    model = mechanism.compile()
    model = model.specialize() if specialize else model
    numbering = file_coordinates(model, case)
    order = numbering.order
    q = numbering.positions(np.array(case["q"]))
    v, a, tau = (np.array(case[key])[order] for key in ("v", "a", "tau"))
    H = model.mass_matrix(q)

    if case["crba_M"] is not None:
        assert relative_error(H, np.array(case["crba_M"])[np.ix_(order, order)]) < AGREES
    assert relative_error(np.diag(H), np.array(case["crba_M_diag"])[order]) < AGREES
    assert relative_error(model.inverse_dynamics(q, v, a), np.array(case["rnea"])[order]) < AGREES
    found = model.forward_dynamics(q, v, tau)
    assert relative_error(found, np.array(case["aba_qdd"])[order]) < forward_tolerance(H)
    assert relative_error(model.gravity_forces(q), np.array(case["gravity_torque"])[order]) < AGREES
    assert model.kinetic_energy(q, v) == pytest.approx(case["kinetic_energy"], rel=AGREES)
    assert model.potential_energy(q) == pytest.approx(case["potential_energy"], rel=AGREES)
    assert relative_error(model.center_of_mass(q), case["com"]) < AGREES
    moving = [body.inertia.mass for body in mechanism.bodies.values() if model.jacobian(q, body.name).any()]
    assert sum(moving) == pytest.approx(case["total_mass"], rel=AGREES)


def file_coordinates(model: lw.Model, case: dict[str, Any]) -> Coordinates:
    """Return the numbering of a file, which lists its joints; all but a free base have one coordinate."""
    joints, at_q, at_v = [], 0, 0
    free = 1 if case["floating_base"] else 0
    for k, name in enumerate(case["joint_order"]):
        size = 7 if k < free else 1
        joints.append(("base" if k < free else name, at_q, at_v, size))
        at_q, at_v = at_q + size, at_v + min(size, 6)
    assert (at_q, at_v) == (case["nq"], case["nv"])
    return Coordinates(model, joints)


# live


@pytest.mark.peers
@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.filterwarnings(
    "ignore::UserWarning"
)  # inertias that no real body has, mimics of joints that are not there
def test_robots_move_as_in_pinocchio(name: str, base: str):
    import pinocchio as pin

    path = str(robot_files()[name])
    flyer = [pin.JointModelFreeFlyer()] if base == "free" else []
    there = pin.buildModelFromUrdf(path, *flyer)
    model = lw.load(path, base=base).compile()
    assert model.nv == there.nv
    numbering = peer_coordinates(model, there)
    order = numbering.order
    data = there.createData()
    rng = np.random.default_rng(0)
    for _ in range(3):
        q = pin.integrate(there, pin.neutral(there), rng.normal(size=there.nv))
        v, x = rng.normal(size=(2, there.nv))
        ours = (numbering.positions(q), v[order], x[order])
        H = np.triu(pin.crba(there, data, q))
        H = (H + np.triu(H, 1).T)[np.ix_(order, order)]
        assert relative_error(model.mass_matrix(ours[0]), H) < AGREES
        assert relative_error(model.inverse_dynamics(*ours), pin.rnea(there, data, q, v, x)[order]) < AGREES
        expected = pin.aba(there, data, q, v, x)[order]
        assert relative_error(model.forward_dynamics(*ours), expected) < forward_tolerance(H)


def peer_coordinates(model: lw.Model, there: Any) -> Coordinates:
    joints = []
    for number in range(1, there.njoints):
        joint, name = there.joints[number], there.names[number]
        joints.append(("base" if joint.nq == 7 else name, joint.idx_q, joint.idx_v, joint.nq))
    return Coordinates(model, joints)


def test_at_least_thirty_robots_are_compared():
    assert len(COMPARED) >= 30


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_robots_that_cannot_be_are_refused(name: str):
    def accelerate() -> None:
        model = lw.load(robot_files()[name]).compile()
        model.forward_dynamics(model.q_drawn, *np.zeros((2, model.nv)))

    with pytest.raises(lw.LinkworkError, match=REFUSED[name]):
        accelerate()
