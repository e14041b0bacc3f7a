"""The motion between two events, with contacts in fixed modes, and what ends it.

Active contacts hold the rows of their modes (`fixed_modes`), beside the closed loops. Three functions are
positive as long as the modes are right, each with a slack, so that what just touches does not count as
crossing:

    approach  the smallest gap of all other contacts, on the whole way from the base of the step (`swept_gap`)
    hold      the smallest margin of forces: of N >= 0, and of mu N >= |T| where a contact sticks
    stop      the slip speed of those that slide, signed by the direction at the base of the step

Beyond its zero each goes on smoothly: a normal force pulls, friction exceeds its bound, and a contact that
slides backwards is pushed on as before. So the zero can be located, and nothing is said that depends on the
step.
"""

from collections.abc import Callable

import numpy as np

from linkwork.contact_dynamics.event_driven.active_contacts import ActiveContacts
from linkwork.contact_dynamics.event_driven.active_record import OPEN
from linkwork.contact_dynamics.event_driven.contact_modes import Modes, parts
from linkwork.contact_dynamics.event_driven.contact_tasks import EVENTS, POSITIONS, VELOCITIES
from linkwork.contact_dynamics.event_driven.touching import NONE, Surfaces, Touching
from linkwork.contact_dynamics.problem.least_norm import least_norm

Array = np.ndarray
Free = Callable[[float, Array, Array], Array]  # accelerations without contact

SLACK_GAP = 1e-11  # of the size of the mechanism, or of 1 m
SLACK_FORCE = 1e-8  # of the largest force


class SmoothMotion:
    """Contacts in fixed modes; `settle` of `mode_transitions.py` puts them there."""

    def __init__(self, surfaces: Surfaces, wide: int = 3) -> None:
        """Have no contacts so far; they have 3 rows, or 6 where something resists turning."""
        self.surfaces, self.model = surfaces, surfaces.model
        self.active, self.wide = ActiveContacts(surfaces, wide), wide
        self.size = self.active.size
        nothing = np.zeros((0, wide))
        self.hold(NONE, Modes(np.zeros((0, 3), int), nothing), nothing, np.zeros((0, 3)))

    def hold(
        self,
        touching: Touching,
        modes: Modes,
        forces: Array,
        bound: Array,
        joints: tuple[Array, Array, Array] | None = None,
    ) -> None:
        """Let contacts be in some modes from now on; open ones are let go.

        `forces` (n, wide) are those to stay near; `bound` (n, 3) is friction, that of sliding where contacts
        slide, else the static one, torsional and rolling resistance. `joints` are the rows of joints that are
        held, where they slide to, and their forces.
        """
        which, active = modes.mode != OPEN, self.active
        touching, modes, forces = touching.some(which), modes.some(which), forces[which]
        active.take(touching)
        n = active.count
        active.mode[:n], active.bound[:n] = modes.part, bound[which]
        active.near[:n, : self.wide] = forces
        for k, rows in parts(self.wide):
            axes = touching.axes[:, [row % 3 for row in range(rows.start, rows.stop)]]
            world = np.einsum("ni,nij->nj", modes.direction[:, rows], axes)
            active.reference[:n, 3 * k : 3 * k + 3] = world
        largest = float(np.abs(forces[:, :3]).max(initial=0.0))
        if joints is not None:
            active.joints.hold(*joints)
            largest = max(largest, float(np.abs(joints[2]).max(initial=0.0)))
            if largest == 0.0 and joints[0].any():  # what would accelerate all by 1 rad/s^2 or m/s^2
                largest = float(np.abs(self.model.mass_matrix(self.active.q)).max())
        active.set(slack_gap=SLACK_GAP * self.size, slack_force=SLACK_FORCE, largest=largest)

    @property
    def count(self) -> int:
        """How many contacts are active."""
        return self.active.count

    @property
    def modes(self) -> Array:
        """What active contacts do (n,)."""
        return self.active.mode[: self.count, 0]

    def _at(self, t: float, q: Array, v: Array) -> None:
        self.active.t[:], self.active.q[:], self.active.v[:] = t, q, v

    def close_positions(self, q: Array, t: float) -> Array:
        """Return changes (nv,) that close active contacts and loops."""
        self._at(t, q, self.active.v)
        self.active.do(POSITIONS)
        return self.active.change.copy()

    def close_velocities(self, q: Array, v: Array, t: float) -> Array:
        """Return changes (nv,) of velocities, so that active contacts and loops stay closed."""
        self._at(t, q, v)
        self.active.do(VELOCITIES)
        return self.active.change.copy()

    def correction(self, q: Array, rows: Array, errors: Array) -> Array:
        """Return the smallest change, by kinetic energy, that takes errors from rows and loops."""
        if not len(errors):
            return np.zeros(self.model.nv)
        if self.model.loop_names:
            rows = np.vstack([rows, self.model.constraint_jacobian(q)])
        answer = np.linalg.solve(self.model.mass_matrix(q), rows.T)
        return answer @ least_norm(rows @ answer, -errors)

    @property
    def slides_on(self) -> bool:
        """Whether all that slides where a step has begun goes forwards."""
        return bool(self.active.values[-1] > 0.0)

    def begin(self, t: float, q: Array, v: Array) -> None:
        """Let a step begin here; slacks become larger where one is used up already."""
        active = self.active
        self._at(t, q, v)
        active.base_state[:] = np.concatenate([q, v])
        active.joints.begin(q, v)
        active.do(EVENTS)
        approach, hold, _ = active.values[-3:].tolist()
        gap, force = active.get("slack_gap"), active.get("slack_force")
        if approach <= 0.5 * gap:
            active.set(slack_gap=gap + 2.0 * (gap - approach))
        if -1.0 < hold <= 0.5 * force:
            active.set(slack_force=force + 2.0 * (force - hold))
