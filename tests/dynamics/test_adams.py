"""Joints one by one, with their reactions: the states MSC.ADAMS printed, and what we make of them.

One body on one joint, 5 s from rest; files of projectchrono/chrono, every 0.1 s, in six digits. Here its
states are given to our algorithms, whose accelerations and reactions must be those of the file (in which a
constant reaction wanders by 1.2e-4 of itself).
"""

import csv
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

G = 9.80665
SLIM = (0.04, 0.1, 0.1)
# case -> (joint, its place, its turn about x [degrees], principal moments, centre of mass in the joint frame)
CASES = {
    "Revolute_Case01": (lw.Revolute, (0, 0, 0), -90, SLIM, (2, 0, 0)),
    "Spherical_Case01": (lw.Spherical, (0, 0, 0), 0, SLIM, (2, 0, 0)),
    "Prismatic_Case01": (lw.Prismatic, (0, 0, 0), 0, SLIM, (2, 0, 0)),
    "Prismatic_Case02": (lw.Prismatic, (1, 2, 3), -45, SLIM, (2, 0, 0)),
    "Cylindrical_Case01": (lw.Cylindrical, (0, 0, 0), 0, SLIM, (2, 0, 0)),
    "Cylindrical_Case02": (lw.Cylindrical, (0, 0, 0), -90, SLIM, (2, 0, 0)),
    "Universal_Case01": (lw.Universal, (0, 0, 0), 90, (0.1, 0.1, 0.04), (0, 0, -2)),
}


def one_body(kind: type[lw.Joint], place, turn: float, moments, center) -> tuple[lw.Model, lw.Frame]:
    """Return the model, and the frame of the joint; the body's frame is at its centre of mass."""
    m = lw.Mechanism("one body", gravity=(0, 0, -G))
    X = lw.translation(*place) @ lw.rotation_x(np.radians(turn))
    body = m.add(lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.diag(moments))))
    m.add(kind("joint", m.ground, body, on_parent=X, on_child=[-c for c in center]))
    return m.compile(), X


def coordinates(kind: type[lw.Joint], X, center, row) -> tuple[np.ndarray, np.ndarray]:
    """Return the position and velocity of the joint when the body is where the row says."""
    R0, R = X.rotation, lw.Frame(rotation=row["Quat"]).rotation
    w = R0.T @ row["Avel"]
    origin = row["Pos"] - R @ center
    slide = (R0.T @ (origin - X.position))[2]
    slide_rate = (R0.T @ (row["Vel"] - np.cross(row["Avel"], R @ center)))[2]
    A = R0.T @ R
    about_z = np.arctan2(A[1, 0], A[0, 0])
    if kind is lw.Revolute:
        return np.array([about_z]), w[2:]
    if kind is lw.Prismatic:
        return np.array([slide]), np.array([slide_rate])
    if kind is lw.Cylindrical:
        return np.array([about_z, slide]), np.array([w[2], slide_rate])
    if kind is lw.Spherical:
        return lw.Frame(rotation=A).quaternion, R.T @ row["Avel"]
    first, second = np.arctan2(A[2, 1], A[1, 1]), np.arctan2(A[0, 2], A[0, 0])
    return np.array([first, second]), np.array([w[0], w[1] * np.cos(first) + w[2] * np.sin(first)])


def rows(path: Path) -> list[dict[str, np.ndarray]]:
    """Return per time the vectors of the file by their names."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    found = []
    for record in csv.DictReader(lines):
        vectors: dict[str, list[float]] = {}
        for column, value in record.items():
            vectors.setdefault(column.split(":")[0], []).append(float(value))
        found.append({name: np.array(vector) for name, vector in vectors.items()})
    return found


@pytest.mark.reference
@pytest.mark.parametrize("case", CASES)
def test_accelerations_and_reactions_are_those_of_adams(validation: Path, case: str):
    kind, place, turn, moments, center = CASES[case]
    model, X = one_body(kind, place, turn, moments, center)
    for row in rows(validation / "adams" / f"{case}.csv"):
        q, v = coordinates(kind, X, np.array(center), row)
        tau = np.zeros(model.nv)
        acceleration = model.accelerations(q, v, tau)["body"]
        body = model.poses(q)["body"]
        on_child = body @ [-c for c in center]  # the reaction is about this point, and on the body
        on_ground = (-model.reactions(q, v, tau)["joint"]).about(X.p - on_child)
        time = f"at {row['Time'][0]} s"
        np.testing.assert_allclose(body.position, row["Pos"], rtol=0, atol=5e-5, err_msg=time)
        np.testing.assert_allclose(acceleration.angular, row["Aacc"], rtol=0, atol=1e-3, err_msg=time)
        np.testing.assert_allclose(acceleration.linear, row["Acc"], rtol=0, atol=1e-3, err_msg=time)
        np.testing.assert_allclose(on_ground.force, row["Rforce"], rtol=2e-4, atol=1e-3, err_msg=time)
        np.testing.assert_allclose(on_ground.torque, row["Rtorque"], rtol=2e-4, atol=1e-3, err_msg=time)
