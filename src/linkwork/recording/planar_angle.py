"""Angles of bodies in the plane, with whole turns.

A pose determines an angle up to whole turns; these follow from the coordinates of the joints between ground
and the body, which go on counting. Turns in the plane add up: with theta_d as drawn, at q_d, the angle is

    theta(q) = theta_d + sum over the path of  integral from q_d to q of S_w(q) N(q)^-1 dq,

S_w what each velocity of a joint turns, dq/dt = N v. It needs to be right to half a turn only, since the pose
has the rest: where S_w is constant, as for all joints of the catalogue, one point of the integral is exact.
"""

from typing import Any

import numpy as np

from linkwork.tree.tree import Link

Array = np.ndarray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)  # of joints that turn by other laws


def planar_angles(poses: Array) -> Array:
    """Return the angles of bodies in the plane, from -pi to pi, from their poses (..., 2, 3)."""
    return np.arctan2(poses[..., 1, 0], poses[..., 0, 0])


def counted_angles(model: Any, q: Array, poses: Array) -> Array:
    """Return the angles (N, bodies) at positions q (N, nq), which go on counting after a turn."""
    links = model.body_tree.links
    drawn = planar_angles(model.poses(model.q_drawn).array)
    turned = np.zeros((len(links) + 1, len(q)))  # since the drawing, ground first
    for k, link in enumerate(links):
        turned[k + 1] = turned[link.parent]
        if link.kind.nv:
            part = slice(link.q, link.q + link.kind.nq)
            turned[k + 1] += _turn(link, model.q_drawn[part], q[:, part])
    within = planar_angles(poses)
    whole = np.round((drawn + turned[1:].T - within) / (2.0 * np.pi))
    return within + 2.0 * np.pi * whole


def _turn(link: Link, start: Array, q: Array) -> Array:
    """Return by how much a link has turned against its parent on the way from `start` to q (N, nq)."""
    way = q - start
    middle, varies = _rate(link, start + 0.5 * way, way)
    if not varies:
        return middle
    parts = [w * _rate(link, start + (0.5 + 0.5 * s) * way, way)[0] for s, w in zip(_NODES, _WEIGHTS)]
    return 0.5 * np.sum(parts, axis=0)


def _rate(link: Link, q: Array, rates: Array) -> tuple[Array, bool]:
    """Return the angular velocity at rates dq/dt, and whether it depends on where the joint is."""
    kind, columns = link.kind, list(q.T)
    turns = [s.scalars()[0] for s in kind.subspace(columns, link.parameters)]
    units = np.eye(kind.nv).tolist()
    N = [
        [np.broadcast_to(x, len(q)) for x in kind.position_rates(columns, u, link.parameters)] for u in units
    ]
    v = (np.linalg.pinv(np.array(N, float).T) @ rates[..., None])[..., 0]
    found = np.zeros(len(q))
    for w, x in zip(turns, v.T, strict=True):
        found += w * x
    return found, any(np.ndim(w) for w in turns)
