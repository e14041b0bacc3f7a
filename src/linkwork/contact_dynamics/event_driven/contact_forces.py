"""forces, accelerations, modes <- q, v, t: the laws of Signorini and Coulomb at contacts that stay.

Contacts that touch and do not approach have relative accelerations u' = J a + J' v. With the accelerations
a_f that the model would have without them, forces p along the rows, and the tangential velocity w of each,

    M (a - a_f) = J^T p,   loops held
    0 <= p_n  complementary to  u'_n >= 0
    w = 0:   |p_t| <= mu p_n; where u'_t is not zero p_t = -mu p_n u'_t / |u'_t|
    w != 0:  p_t = -mu p_n w / |w|

For contacts that do not slip this is the problem of `contact_problem` with accelerations in place of
velocities. One that slips has its direction given: it is the same problem with a large velocity along w,
_FAST times all accelerations. That errs by 1 / _FAST in the direction, and shows exactly which contacts open,
slide and stick; with these modes the forces follow from linear equations, without any error
(`contact_modes`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.event_driven.active_contacts import ActiveContacts
from linkwork.contact_dynamics.event_driven.active_record import OPEN, SLIDING, STICKING
from linkwork.contact_dynamics.event_driven.contact_modes import Held, Modes, held, parts
from linkwork.contact_dynamics.event_driven.contact_response import Response, response
from linkwork.contact_dynamics.event_driven.touching import Touching
from linkwork.contact_dynamics.problem.rigid_joints import (
    NO_JOINTS,
    JointModes,
    JointProblem,
    joint_modes,
    look_at_joints,
)
from linkwork.contact_dynamics.solver.contact_solver import Solver
from linkwork.model.own_forces import free_motion

Array = np.ndarray

_FAST = 1e5
_EXACT = 1e-12  # of the accelerations without contact: what is asked of the solver
_NOTHING = 1e-9  # of them: relative accelerations below are none
_ROUNDED = 1e-14  # of what the largest force does by itself: so much may be left of it
_ROUNDING = 1e-8  # of what cancels in them, where contacts are about to part: so little pulls nothing
TOUCHING = 5e-6  # of the size: gaps up to this are closed,
_FASTER = 1e-3  # faster slip has a direction that stays [m/s]
_WELL_INSIDE = 0.1  # of the largest normal force, and of the bound of friction: forces there stay
AT_REST = 1e-5  # and relative velocities below are none [m/s]; steps of a stepper leave less


@dataclass(frozen=True)
class ContactForces:
    """What happens at the contacts of a moment; those that touch and do not part."""

    touching: Touching
    modes: Modes
    forces: (
        Array  # (n, 3 or 6) on the first body along the axes of each contact [N], moments about them [N m]
    )
    slip: Array  # (n, 3) relative velocity along these axes [m/s]
    accelerations: Array  # (nv,)
    joint_forces: Array  # (rows,) along the rows of stops and friction of joints (`RigidCoordinates`)
    residual: float  # of the solver [m/s^2]
    jammed: bool  # no forces do it, as with Painleve's rod

    @property
    def world_forces(self) -> Array:
        """The forces in the axes of the world (n, 3) [N]."""
        return np.einsum("ni,nij->nj", self.forces[:, :3], self.touching.axes)


def contact_forces(
    looks: ActiveContacts,
    bounds: Callable[[Touching, Array], Array],
    q: Array,
    v: Array,
    t: float = 0.0,
    inputs: Any = None,
) -> ContactForces:
    """Return forces, modes and accelerations at some positions and velocities.

    `bounds` gives friction, torsional and rolling resistance (n, 3) of contacts, of which it is known whether
    they slip (n,).
    """
    model = looks.model
    near = looks.surfaces.find(q, TOUCHING * float(model.size))
    rows, u, drift = looks.look(q, v, near)
    keep = np.abs(u[:, 0]) <= AT_REST
    touching, u, rows = near.some(keep), u[keep], rows[keep]
    x = looks.joints.coordinates
    joints = look_at_joints(x, q, v, TOUCHING, AT_REST)
    joints = joints.some(np.abs(joints.u) <= AT_REST)
    given = response(model, q, rows)
    free = free_motion(model, q, v, t, inputs=inputs) + given.answer(joints.push)
    pushed, drift = rows @ free, drift[keep]
    bound, cancels = (
        bounds(touching, np.linalg.norm(u[:, 1:3], axis=1) > AT_REST),
        what_cancels(pushed, drift),
    )
    problem = joints.problem(given.reduced, free)
    given_modes = given, pushed + drift, u, bound, cancels
    found = solve_modes(*given_modes, size=looks.size, joints=problem, evenly=True)
    slip = np.where(np.arange(3) > 0, u[:, :3], 0.0)
    of_joints = -joints.slide * np.concatenate([np.zeros(len(x.stops)), x.bound])
    of_joints[joints.number] = found.joints.force
    return ContactForces(
        *(touching, found.modes, found.held.forces, slip, free + given.spread(found.held.change)),
        *(of_joints, found.residual, found.jammed),
    )


class SolvedModes(NamedTuple):
    """Modes, and what holds contacts in them."""

    modes: Modes
    held: Held
    joints: JointModes
    residual: float  # of the solver [m/s^2]
    jammed: bool  # no finite forces hold them


def what_cancels(pushed: Array, drift: Array) -> float:
    """Return how large the two parts of relative accelerations (n, wide) along normals are at most."""
    return float(np.max(np.abs(pushed[:, 0]) + np.abs(drift[:, 0]), initial=0.0))


def solve_modes(
    given: Response,
    bias: Array,
    u: Array,
    bound: Array,
    cancels: float = 0.0,
    at_rest: float = AT_REST,
    size: float = 1.0,
    joints: JointProblem = NO_JOINTS,
    evenly: bool = False,
) -> SolvedModes:
    """Return the modes that the laws of contact, and of stops and friction of joints, allow.

    `bias` (n, 3 or 6) are relative accelerations without contact, u relative velocities; `bound` (n, 3) is
    friction, torsional and rolling resistance. What cancels in `bias` says how exact it is. Angular
    velocities are compared by those of points at `size`. Contacts share what they may share in any way
    `evenly`, if that is wanted, and where all slide.
    """
    scale = max(np.abs(bias[:, :3]).max(initial=0.0), np.abs(joints.bias).max(initial=0.0)) + 1e-30
    heading, moves = np.zeros(u.shape), np.zeros((len(u), 3), bool)
    for k, rows in parts(u.shape[1]):
        speed = np.linalg.norm(u[:, rows], axis=1)
        moves[:, k] = speed * (size if k else 1.0) > at_rest
        heading[moves[:, k], rows] = u[moves[:, k], rows] / speed[moves[:, k], None]
    unit = np.where(np.arange(u.shape[1]) < 3, 1.0, 1.0 / size)  # of accelerations along the rows
    contacts, nodes = given.contacts(bias + _FAST * scale * unit * heading, bound, joints), given.nodes()
    p, y = np.zeros((len(contacts.a), 3)), np.zeros(len(given.mass))
    answer, _ = Solver(nodes.size).solve(nodes, contacts, p, y, _EXACT * scale)
    after = (bias + given.rows @ y) / unit
    first = len(contacts.a) - len(joints.kind)
    own_rows = joints.rows.reshape(len(joints.kind), len(given.mass))
    own = joint_modes(joints, p[first:, 0], joints.bias + own_rows @ y, _NOTHING * scale)
    p = given.by_contact(p, contacts)
    own_answer = np.einsum("nr,rs,ns->n", given.rows[:, 0], given.inverse, given.rows[:, 0])
    rounded = _ROUNDED * float(np.abs(p).max(initial=0.0) * own_answer.max(initial=0.0))
    modes = _classified(p, after, (heading, moves), bound, max(_NOTHING * scale, rounded))
    begins = given.inverse @ (own_rows.T @ own.given)  # friction of joints that begins to slide
    rest = own_rows[own.held], (joints.bias + own_rows @ begins)[own.held], own.force[own.held]
    pushed = bias + given.rows @ begins
    found = held(given, modes, bound, pushed, p, rest)
    slips = np.linalg.norm(u[modes.mode == SLIDING, 1:3], axis=1)
    if (evenly or len(slips)) and not own.held.any() and (slips > _FASTER).all():
        even = held(given, modes, bound, pushed, None, rest)
        found = even if _allowed(even, modes, bound, pushed + given.rows @ even.change) else found
    found, own = found._replace(change=found.change + begins), own.holding(found.joint_forces)
    weak = modes.mode == SLIDING
    alone = np.einsum("nr,rs,ns->n", *(given.rows[weak, 0], given.inverse, given.rows[weak, 0]))
    least = np.maximum(1e-6 * alone * np.abs(found.forces).max(initial=0.0), _ROUNDING * cancels)
    jammed = found.gain <= 0.0 or bool((found.forces[weak, 0] * alone < -least).any())
    return SolvedModes(modes, found, own, answer.residual, jammed)


def _allowed(found: Held, modes: Modes, bound: Array, after: Array) -> bool:
    """Return whether forces are well inside of what the laws allow; `after` are relative accelerations.

    Where laws leave it open how contacts share a load, as the ends of the line on which a beam slides over a
    roller, they share it evenly if they may: an uneven share turns what slides.
    """
    N, closed = found.forces[:, 0], modes.mode != OPEN
    if (N[closed] < _WELL_INSIDE * N.max(initial=0.0)).any() or (after[~closed, 0] < 0.0).any():
        return False
    return all(
        np.linalg.norm(found.forces[c, rows]) <= (1.0 - _WELL_INSIDE) * bound[c, k] * N[c]
        for k, rows in parts(modes.direction.shape[1])
        for c in np.flatnonzero(modes.part[:, k] == STICKING)
    )


def _classified(p: Array, after: Array, known: tuple[Array, Array], bound: Array, none: float) -> Modes:
    """Return the modes that a solution has; `known` are directions of what moves, and which do."""
    heading, moves = known
    closed = after[:, 0] <= none
    part, direction = np.full((len(p), 3), OPEN), heading.copy()
    for k, rows in parts(p.shape[1]):
        resisted = closed & ((k == 0) | (bound[:, k] > 0.0))
        speeds_up = np.linalg.norm(after[:, rows], axis=1)
        sticks = ~moves[:, k] & (speeds_up <= none)
        part[:, k] = np.where(resisted, np.where(sticks, STICKING, SLIDING), OPEN)
        starts = (part[:, k] == SLIDING) & ~moves[:, k]
        rubs = np.linalg.norm(p[:, rows], axis=1)
        # a force is more exact than what is left of motion
        pressed = starts & (rubs > 1e-9 * np.abs(p).max(initial=0.0))
        direction[starts, rows] = after[starts, rows] / speeds_up[starts, None]
        direction[pressed, rows] = -p[pressed, rows] / rubs[pressed, None]
    return Modes(part, direction)
