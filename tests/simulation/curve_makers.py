"""Mechanisms with curves: beads on wires, cams with followers that springs press on them."""

from typing import Any

import numpy as np

import linkwork as lw

G = 9.81
KINDS = ("roller", "edge", "flat")  # of followers
SPACES = ("plane", "space")


def at(space: str, x: float, y: float) -> tuple[float, ...]:
    return (x, y) if space == "plane" else (x, y, 0.0)


def on_wire(curve: Any, s: float, space: str = "plane", **options: Any) -> lw.Mechanism:
    """Return a bead on a wire in a vertical plane, drawn at the parameter s."""
    m = lw.Mechanism("wire", space=space, gravity=at(space, 0, -G))
    inertia = lw.Inertia(1.3, at(space, 0, 0), 1e-3 if space == "plane" else 1e-3 * np.eye(3))
    x, y, *_ = (float(c) for c in curve(s))
    bead = m.add(lw.Body("bead", inertia, position=at(space, x, y)))
    m.add(lw.PointOnCurve("wire", m.ground, bead, curve, **options))
    return m


def point(mass: float, space: str) -> lw.Inertia:
    return lw.Inertia(mass, at(space, 0, 0), 0.0 if space == "plane" else np.zeros((3, 3)))


def about_z(space: str) -> dict[str, Any]:
    return {} if space == "plane" else {"axis": (0, 0, 1)}


def circle(space: str, radius: float = 0.7) -> Any:
    return lambda s: at(space, radius * lw.cos(s), radius * lw.sin(s))


def cycloid(s: Any) -> tuple[Any, Any]:
    """Hanging: the arc length from its lowest point is 4 sin(s / 2), r = 1."""
    return s + lw.sin(s), 1 - lw.cos(s)


def wheel_and_follower(kind: str, space: str = "plane", **follower: Any) -> lw.Mechanism:
    """Return an elliptic cam under a follower that a spring presses on it."""
    flat = space == "plane"
    m = lw.Mechanism("cam", space=space, gravity=at(space, 0, -G))
    wheel = m.add(lw.Body("wheel", lw.Inertia(2.0, at(space, 0.01, 0), 0.02 if flat else 0.02 * np.eye(3))))
    m.add(lw.Revolute("A", m.ground, wheel, at=at(space, 0, 0), **about_z(space)))
    options: dict[str, Any] = {"roller": {"radius": 0.03}, "edge": {}, "flat": {"face": at(space, 0, -1)}}[
        kind
    ]
    y = 0.13 + options.get("radius", 0.0)
    inertia = lw.Inertia(0.5, at(space, 0, 0.05), 1e-3 if flat else 1e-3 * np.eye(3))
    rod = m.add(lw.Body("rod", inertia, position=at(space, 0, y)))
    m.add(lw.Prismatic("guide", m.ground, rod, at=at(space, 0, y), axis=at(space, 0, 1), **follower))
    m.add(lw.Cam("cam", wheel, rod, lambda s: (0.1 * lw.cos(s), 0.13 * lw.sin(s)), **options))
    ends = {"on_parent": at(space, 0, 0.4), "on_child": at(space, 0, 0.05)}
    m.add(lw.Spring("spring", m.ground, rod, stiffness=500.0, rest=0.3, **ends))
    return m
