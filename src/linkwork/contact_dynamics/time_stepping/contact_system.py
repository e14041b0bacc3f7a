"""A model with contact at a place q: inertias of its nodes, contacts found, rows of all constraints."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.detection.colliding_bodies import meeting
from linkwork.contact_dynamics.detection.detection import Detection
from linkwork.contact_dynamics.detection.pair_table import pair_table
from linkwork.contact_dynamics.problem.compliant_rows import springs
from linkwork.contact_dynamics.problem.contact_problem import Contacts, Nodes
from linkwork.contact_dynamics.problem.contact_rows import (
    Points,
    bend_springs,
    fill_contacts,
    first_of,
    room_for_points,
    room_for_rows,
    take_points,
)
from linkwork.contact_dynamics.problem.friction_cone import HELD
from linkwork.contact_dynamics.problem.joint_rows import JointRows
from linkwork.contact_dynamics.problem.motion_bounds import fill_reach
from linkwork.contact_dynamics.problem.nodes import fill_inertia, layout
from linkwork.contact_dynamics.problem.soft_stops import soft_stops
from linkwork.contact_dynamics.time_stepping.step_loops import planar_poses
from linkwork.dynamics import node_columns
from linkwork.native.stages import Program

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


class Placed(NamedTuple):
    """Where the links are, at some q."""

    X: Any  # their poses, in the plane (n, 2, 3)
    J: Any  # motions per velocity
    F: Any  # momenta per velocity
    poses: Any  # (n, 3, 4), the same array in space


class ContactSystem:
    """Nodes, contacts and loops of a model; for one thread at a time. Arrays are those of the last call."""

    def __init__(self, model: "Model") -> None:
        world = meeting(model.mechanism)
        self.model, self.table = model, pair_table(model.mechanism, world)
        self.springs = springs(model.compliant_contacts, len(self.table.law))
        self.layout = layout(model.link_tree)
        self._columns = model.kernel_of(node_columns.ALGORITHM, form="rolled")
        self._here = self.elsewhere()
        self._X, self.J, self.F, self.poses = self._here
        self.place(model.q_drawn)
        # Stiffness of compliant contacts is that of up to four points.
        self.detection = Detection(world, model.link_tree, 8 if model.compliant_contacts is None else 4)
        size = self.layout.size
        squares = int((size**2).sum())
        self.nodes = Nodes(
            *(size, self.layout.first, self.layout.at),
            *(np.zeros(squares), np.zeros(squares), np.zeros(model.nv)),
        )
        self._most = int(size.max(initial=1))
        loops = model.link_tree.loops if model.nv else ()
        self.held = -(-sum(loop.rows for loop in loops) // 3)  # groups of rows of loops
        self.driven = np.zeros(len(model.link_tree.inputs))  # values of inputs that drivers read
        self.joints = JointRows(model)
        self.soft_stops = soft_stops(model, self.layout.first)
        self.version = 0  # changes when arrays are replaced by larger ones
        self._make_room(64)

    def _make_room(self, count: int) -> None:
        self.version += 1
        self.points = room_for_points(count)
        self.all_rows = room_for_rows(
            2 * count + len(self.soft_stops.column) + self.joints.count + self.held, self._most
        )

    def place(self, q: Array) -> None:
        """Find poses of links (n, 3, 4), their motions and momenta per velocity."""
        self._columns.call(q, self._X, self.J, self.F)
        if self.poses is not self._X:
            self.poses[:, :2, :2], self.poses[:, :2, 3] = self._X[:, :, :2], self._X[:, :, 2]

    def move_to(self, q: Array, added: Array) -> None:
        """Be at q: poses and inertias, with what is `added` to the diagonal of these (nv,)."""
        self.place(q)
        fill_inertia(self.layout, self.J, self.F, added, self.nodes.mass, self.nodes.inverse)

    def elsewhere(self) -> Placed:
        """Return room for links that are somewhere else."""
        X, J, F = (np.zeros(shape) for shape in self._columns.outputs)
        return Placed(X, J, F, X if self.model.space == "space" else np.tile(np.eye(3, 4), (len(X), 1, 1)))

    def add_placing(self, program: Program, q: Array, placed: Placed | None = None) -> None:
        """Add to a program what finds poses, motions and momenta of links at q, or of those given."""
        X, J, F, poses = placed or self._here
        _, plan, ports = self._columns.bind(q, X, J, F)
        program.kernel(self._columns.single.run, plan, ports)
        if poses is not X:
            program.loop(planar_poses, X, poses)

    def expect(self, count: int) -> None:
        """Have room for this many contacts."""
        if count > len(self.points.gap):
            self.detection.expect(count)
            self._make_room(count)

    def grow(self) -> None:
        """Make more room if what was found last did not fit in."""
        self.detection.grow()
        count = int(self.detection.counts[1])
        if count > len(self.points.gap):
            self._make_room(2 * count)

    def look(self, v: Array, h: float) -> Points:
        """Return the contacts that bodies have, or may have within a time h at velocities v."""
        found = self.detection
        fill_reach(self.layout, found.shapes, self.poses, self.J, v, h, found.motion, found.reach)
        number, label = found(self.poses)
        count = len(number)
        if count > len(self.points.gap):
            self._make_room(2 * count)
        take_points(number, label, self.points)
        return Points(*(x[:count] for x in self.points))

    def motions(self, v: Array) -> Array:
        """Return how shapes move at velocities v (n, 6): their centres, and spins."""
        found, shapes = np.zeros_like(self.detection.motion), self.detection.shapes
        fill_reach(self.layout, shapes, self.poses, self.J, v, 0.0, found, np.zeros(len(found)))
        return found

    def rows(self, points: Points, q: Array, v: Array, t: float, h: float) -> Contacts:
        """Return rows of contacts, of resistance to turning, of joints and of loops; these are `held`.

        Gaps may close in a time h; contacts that slip at velocities v slide. Of joints there are those that
        may be met at these velocities.
        """
        count = fill_contacts(
            *(self.layout, self.nodes, self.poses, self.J, self.detection.shapes.link, self.table),
            *(self.springs, points, len(points.gap), v, h, h, self.all_rows),
        )
        return first_of(self.all_rows, self.with_others(count, q, t, h))

    def with_others(self, count: int, q: Array, t: float, h: float, push: float = 0.0) -> int:
        """Add rows of joints and of loops to the first `count`; return how many there are then.

        Friction of joints acts for a time `push`.
        """
        if self.joints.count:
            self.joints.coordinates.place(q)
            near = self.joints.near(self.nodes.free, h)
            count = self.joints.fill(self.nodes, near, 0.5 * h, push, self.all_rows, count)
        if self.held:
            count = self._hold_loops(count, q, t, h)
        return count

    @property
    def bends(self) -> bool:
        """Whether there are springs."""
        return len(self.springs.laws) > 0

    def bent(self, rows: Contacts, points: Points, v: Array, h: float) -> bool:
        """Linearise the laws of springs anew where v takes them; return whether that makes a difference."""
        return bend_springs(self.nodes, rows, self.table, self.springs, points, v, h) > 0

    def _hold_loops(self, count: int, q: Array, t: float, h: float) -> int:
        """Add the rows of loops, which keep closed; return how many rows of three there are."""
        G = self.model.constraint_jacobian(q)
        given = dict(zip(self.model.link_tree.inputs, self.driven.tolist(), strict=True))
        pace = self.model.constraint_velocity(q, np.zeros(self.model.nv), t, inputs=given)
        pace = pace + self.model.constraint_residual(q, t, inputs=given) / h
        c, nodes = self.all_rows, self.nodes
        for k in range(0, len(G), 3):
            wide = min(3, len(G) - k)
            (used,) = np.nonzero(np.any(G[k : k + wide] != 0.0, axis=0))
            node = int(np.searchsorted(nodes.first, used[0] if len(used) else 0, "right")) - 1
            first, n = int(nodes.first[node]), int(nodes.size[node])
            c.a[count], c.b[count], at = node, -1, int(c.of_a[count])
            J = np.zeros((3, n))
            J[:wide] = G[k : k + wide, first : first + n]
            c.rows[at : at + 3 * n] = J.ravel()
            begin = int(nodes.at[node])
            W = J @ nodes.inverse[begin : begin + n * n].reshape(n, n) @ J.T
            c.bias[count] = 0.0
            c.bias[count, :wide] = pace[k : k + wide]
            c.weight[count] = 3.0 / max(float(np.trace(W)), 1e-300)
            c.kind[count], c.friction[count], c.spin[count], c.of[count] = HELD, 0.0, 0.0, -1
            count += 1
        return count
