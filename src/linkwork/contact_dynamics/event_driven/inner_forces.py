"""forces <- forces: of all forces at contacts that move a model alike, those well inside of their bounds.

Where contacts are redundant, as the corners of a box or the two ends of a roller's line, forces that solve
the laws of contact are mostly at bounds: all of the load on one corner, nothing on the other. A little less
load, and modes would have to be found anew, again and again. With the forces x, the null space Z of what
they do, and margins m of normal forces, N, and of friction, (mu N)^2 - |T|^2, the minimum over y of

    -sum log m(x + Z y) + |x + Z y|^2 / 2,    forces in units of the largest,

is as far from all bounds as it can be (the analytic centre; Boyd, Vandenberghe, *Convex Optimization*,
8.5.3). The square bounds what the margins do not, a body that is pinched ever harder. Newton's method begins
at the bounds, so normal forces are allowed to be below zero at first, by less and less.
"""

from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.event_driven.active_record import OPEN, STICKING
from linkwork.contact_dynamics.event_driven.contact_modes import Modes, force_directions, held_rows, parts
from linkwork.contact_dynamics.event_driven.contact_response import Response

Array = np.ndarray

_RANK = 1e-9  # of the largest singular value: less is none
_WELL_INSIDE = 0.1  # of the largest normal force, and of the bound of friction: forces there stay
_BELOW = (
    0.3,
    0.1,
    0.03,
    0.01,
    1e-3,
    1e-4,
    0.0,
)  # of the largest force: how far normal forces may be below zero
_STEPS, _HALVINGS, _ARRIVED = 20, 30, 1e-3


class _Margins(NamedTuple):
    """Which of the unknowns are normal forces, and which are rubbed by how many others, up to a bound."""

    normals: Array  # (n,)
    cones: list[tuple[int, Array, float]]  # normal force, friction, bound per unit of the normal force

    def inside(self, x: Array, below: float) -> bool:
        """Return whether all margins are positive, normal forces being raised by `below`."""
        return bool((x[self.normals] + below > 0.0).all()) and all(
            b * (x[n] + below) > np.linalg.norm(x[t]) for n, t, b in self.cones
        )

    def well_inside(self, x: Array, which: Array) -> bool:
        """Return whether what `which` says of unknowns is far enough from its bounds."""
        N = x[self.normals][which[self.normals]]
        enough = not len(N) or float(N.min()) >= _WELL_INSIDE * float(N.max())
        return enough and all(
            np.linalg.norm(x[t]) <= (1.0 - _WELL_INSIDE) * b * x[n]
            for n, t, b in self.cones
            if which[t].any()
        )

    def value(self, x: Array, below: float) -> float:
        """Return what is to be least."""
        found = -np.log(x[self.normals] + below).sum() + 0.5 * x @ x
        for n, t, b in self.cones:
            found -= np.log((b * (x[n] + below)) ** 2 - x[t] @ x[t])
        return float(found)

    def slopes(self, x: Array, below: float) -> tuple[Array, Array]:
        """Return the gradient and the second derivatives of that."""
        g, H, N = x.copy(), np.eye(len(x)), self.normals
        g[N] -= 1.0 / (x[N] + below)
        H[N, N] += 1.0 / (x[N] + below) ** 2
        for n, t, b in self.cones:
            at = np.append(t, n)
            d = np.append(-2.0 * x[t], 2.0 * b * b * (x[n] + below))
            m = (b * (x[n] + below)) ** 2 - x[t] @ x[t]
            g[at] -= d / m
            bend = np.diag(np.append(np.full(len(t), -2.0), 2.0 * b * b))
            H[np.ix_(at, at)] += np.outer(d, d) / m**2 - bend / m
        return g, H


def inner_forces(given: Response, modes: Modes, bound: Array, forces: Array) -> Array:
    """Return forces (n, wide) that do what these do, with contacts in the same modes."""
    scale = float(np.abs(forces).max(initial=0.0))
    if scale == 0.0:
        return forces
    rows, C = held_rows(modes), force_directions(modes, bound)
    margins, known = _margins(modes, bound, rows)
    J = given.rows.reshape(len(C), -1)
    Z = _null_space(given.inverse @ J.T @ C, known)
    x = forces.reshape(-1)[rows] / scale
    if not Z.shape[1] or margins.well_inside(x, np.abs(Z).max(axis=1) > _RANK):
        return forces
    for below in _BELOW:
        if not margins.inside(x, below):
            return forces  # some are at their bounds, whatever the others do
        x = _centre(margins, x, Z, below)
    return (C @ (scale * x)).reshape(forces.shape)


def _margins(modes: Modes, bound: Array, rows: Array) -> tuple[_Margins, Array]:
    """Return the margins of unknowns, and which of them nothing changes: friction without a bound."""
    n, wide = modes.direction.shape
    place = np.full(n * wide, -1)
    place[rows] = np.arange(len(rows))
    cones, known, closed = [], np.zeros(len(rows), bool), np.flatnonzero(modes.mode != OPEN)
    for c in closed:
        for k, of_part in parts(wide):
            if modes.part[c, k] == STICKING:
                t = place[wide * c + of_part.start : wide * c + of_part.stop]
                if bound[c, k] > 0.0:
                    cones.append((int(place[wide * c]), t, float(bound[c, k])))
                else:
                    known[t] = True
    return _Margins(place[wide * closed], cones), known


def _null_space(B: Array, known: Array) -> Array:
    """Return a basis (k, d) of the unknowns that do nothing; columns of B count alike, known ones stay."""
    sizes = np.linalg.norm(B, axis=0)
    weight = np.where(known, 0.0, 1.0 / np.where(sizes > 0.0, sizes, 1.0))
    free = np.flatnonzero(~known)
    _, found, right = np.linalg.svd((B * weight)[:, free])
    rank = np.count_nonzero(found > _RANK * found.max(initial=0.0))
    Z = np.zeros((len(known), len(free) - rank))
    Z[free] = weight[free, None] * right[rank:].T
    return np.linalg.qr(Z)[0] if Z.shape[1] else Z


def _centre(margins: _Margins, x: Array, Z: Array, below: float) -> Array:
    """Return x + Z y where the function is least, by Newton's method with steps that stay inside."""
    for _ in range(_STEPS):
        g, H = margins.slopes(x, below)
        slope = Z.T @ g
        y = -np.linalg.solve(Z.T @ H @ Z, slope)
        step, before, falls = Z @ y, margins.value(x, below), float(slope @ y)
        if -falls < _ARRIVED:
            break
        part = 1.0
        for _ in range(_HALVINGS):
            there = x + part * step
            if margins.inside(there, below) and margins.value(there, below) <= before + 0.25 * part * falls:
                break
            part *= 0.5
        else:
            break
        x = there
    return x
