"""forces, accelerations, modes <- q, v, t: the laws of Signorini and Coulomb at contacts that stay.

Contacts that touch and do not approach have relative accelerations u' = J a + J' v. With the accelerations
a_f that the model would have without them, forces p along the rows, and the tangential velocity w of each,

    M (a - a_f) = J^T p,   loops held
    0 <= p_n  complementary to  u'_n >= 0
    w = 0:   |p_t| <= mu p_n; where u'_t is not zero p_t = -mu p_n u'_t / |u'_t|
    w != 0:  p_t = -mu p_n w / |w|

For contacts that do not slip this is the problem of `contact_problem` with accelerations in place of
velocities. One that slips has its direction given: it is the same problem with a large velocity along w,
_FAST times all accelerations. That errs by 1 / _FAST in the direction, and tells exactly which contacts open,
slide and stick; with these modes the forces follow from linear equations, without any error
(`contact_modes`).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.contact_modes import OPEN, SLIDING, STICKING, Held, Modes, held
from linkwork.contact_dynamics.contact_solver import Solver
from linkwork.contact_dynamics.response import Response, response
from linkwork.contact_dynamics.touching import Surfaces, Touching

Array = np.ndarray

_FAST = 1e5
_EXACT = 1e-12  # of the accelerations without contact: what is asked of the solver
_NOTHING = 1e-9  # of them: relative accelerations below are none
TOUCHING = 5e-6  # of the size: gaps up to this are closed,
AT_REST = 1e-5  # and relative velocities below are none [m/s]; steps of a stepper leave less


@dataclass(frozen=True)
class ContactForces:
    """What happens at the contacts of a moment; those that touch and do not part."""

    touching: Touching
    modes: Modes
    forces: Array  # (n, 3) on the first body, along the axes of each contact [N]
    slip: Array  # (n, 3) relative velocity along these axes [m/s]
    accelerations: Array  # (nv,)
    residual: float  # of the solver [m/s^2]
    jammed: bool  # no forces do it, as with Painleve's rod

    @property
    def world_forces(self) -> Array:
        """The forces in the axes of the world (n, 3) [N]."""
        return np.einsum("ni,nij->nj", self.forces, self.touching.axes)


def contact_forces(
    surfaces: Surfaces, friction: Any, q: Array, v: Array, t: float = 0.0, inputs: Any = None
) -> ContactForces:
    """Return forces, modes and accelerations at some positions and velocities.

    `friction` gives mu (n,) of contacts.
    """
    model = surfaces.model
    size = float(model.size)
    near = surfaces.find(q, TOUCHING * size)
    rows = surfaces.rows(q, near)
    u = rows @ v
    keep = np.abs(u[:, 0]) <= AT_REST
    touching, u, rows = near.some(keep), u[keep], rows[keep]
    free = model.motion(q, v, t, inputs=inputs)
    bias = rows @ free + surfaces.drift(q, v, touching, size)
    mu = friction(touching)
    given = response(model, q, rows)
    found = solve_modes(given, bias, u, mu)
    slip = np.where(np.arange(3) > 0, u, 0.0)
    forces, accelerations = found.held.forces, free + given.spread(found.held.change)
    return ContactForces(touching, found.modes, forces, slip, accelerations, found.residual, found.jammed)


class SolvedModes(NamedTuple):
    """Modes, and what holds contacts in them."""

    modes: Modes
    held: Held
    residual: float  # of the solver [m/s^2]
    jammed: bool  # no finite forces hold them


def solve_modes(
    given: Response,
    bias: Array,
    u: Array,
    friction: Array,
    near: Array | None = None,
    at_rest: float = AT_REST,
) -> SolvedModes:
    """Return the modes that the laws of contact allow.

    `bias` (n, 3) are relative accelerations without contact, u (n, 3) relative velocities.
    """
    n = len(bias)
    speed = np.linalg.norm(u[:, 1:], axis=1)
    slips = speed > at_rest
    scale = float(np.abs(bias).max(initial=0.0)) + 1e-30
    heading = np.zeros((n, 3))
    heading[slips, 1:] = u[slips, 1:] / speed[slips, None]
    pushed = bias + _FAST * scale * heading
    p = np.zeros((n, 3)) if near is None else near.copy()
    y = np.zeros(len(given.mass))
    nodes = given.nodes()
    answer, _ = Solver(nodes.size).solve(nodes, given.contacts(pushed, friction), p, y, _EXACT * scale)
    after = bias + given.rows @ y
    modes = _classified(p, after, heading, slips, scale)
    found = held(given, modes, friction, bias, p)
    weak = modes.mode == SLIDING
    jammed = found.gain <= 0.0 or bool(
        (found.forces[weak, 0] < -1e-6 * np.abs(found.forces).max(initial=0.0)).any()
    )
    return SolvedModes(modes, found, answer.residual, jammed)


def _classified(p: Array, after: Array, heading: Array, slips: Array, scale: float) -> Modes:
    """Return the modes that a solution has."""
    none = _NOTHING * scale
    closed = after[:, 0] <= none
    moves = np.linalg.norm(after[:, 1:], axis=1)
    sticks = closed & ~slips & (moves <= none)
    mode = np.where(closed, np.where(sticks, STICKING, SLIDING), OPEN)
    direction = heading.copy()
    starts = (mode == SLIDING) & ~slips
    rubs = np.linalg.norm(p[:, 1:], axis=1)
    pressed = starts & (rubs > 1e-9 * np.abs(p).max(initial=0.0))  # more exact than what is left of motion
    direction[starts, 1:] = after[starts, 1:] / moves[starts, None]
    direction[pressed, 1:] = -p[pressed, 1:] / rubs[pressed, None]
    return Modes(mode, direction)
