"""Time stepping with contact: an exact solution of Signorini's and Coulomb's laws in every step.

A step of h moves bodies by their inertia for h / 2, gives them the impulses of all forces and contacts at
once, and moves them by inertia for another h / 2 (Strang's splitting: of second order, and exact for what
flies or slides under a constant force). The impulses of the middle decide how bodies move until the middle
of the next step, a time h: a contact that is still open is allowed to close in that time (`contact_rows`),
so nothing that was seen coming is passed through.

Forces that depend on velocity and position by damping and stiffness of joints are taken implicitly, as by the
trapezoidal rule and Newmark's method with beta = 1/4: M + h/2 D + h^2/4 K in place of M.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.contact_dynamics.contact_problem import Answer, Nodes, Solver
from linkwork.contact_dynamics.contact_rows import (
    Points,
    fill_contacts,
    first_of,
    room_for_points,
    room_for_rows,
    take_points,
)
from linkwork.contact_dynamics.detection import Detection
from linkwork.contact_dynamics.friction_cone import HELD
from linkwork.contact_dynamics.inertial_motion import InertialMotion
from linkwork.contact_dynamics.meeting import meeting
from linkwork.contact_dynamics.memory import NOTHING, Memory, in_the_world, recall
from linkwork.contact_dynamics.nodes import fill_inertia, layout
from linkwork.contact_dynamics.pair_table import pair_table
from linkwork.contact_dynamics.reach import fill_reach
from linkwork.dynamics import node_columns
from linkwork.model.model import Model
from linkwork.model.own_forces import motion_algorithm, motion_kernel

Array = np.ndarray

TOLERANCE = 1e-8  # of relative velocities at contacts [m/s]
_SAME = 0.01  # a contact this near to one of the step before is the same [m]


@dataclass(eq=False)
class ContactState:
    """Where a mechanism with contact is, and what its contacts remember."""

    q: Array
    v: Array
    t: float
    work: float = 0.0  # of all forces but gravity [J]
    memory: Memory = NOTHING

    def copy(self) -> "ContactState":
        """Return the same state, which can be moved on its own; memories are never written to."""
        return ContactState(self.q.copy(), self.v.copy(), self.t, self.work, self.memory)


@dataclass(frozen=True, eq=False)
class Found:
    """The contacts of a step."""

    points: Points
    impulses: Array  # (n, 3) along normal and tangents [N s]
    held: Array  # (groups of rows, 3) impulses of loops
    answer: Answer


_NONE = Found(room_for_points(0), np.zeros((0, 3)), np.zeros((0, 3)), Answer(0.0, 0, 0))


class Stepper:
    """Steps of a model with contact; for one thread at a time."""

    def __init__(self, model: Model) -> None:
        world = meeting(model.mechanism)
        self.model, self.table = model, pair_table(model.mechanism, world)
        self._layout = layout(model.link_tree)
        self._columns = model.kernel_of(node_columns.ALGORITHM, form="rolled")
        self._X, self._J, self._F = (np.zeros(shape) for shape in self._columns.outputs)
        self.poses = self._X if model.space == "space" else np.tile(np.eye(3, 4), (len(self._X), 1, 1))
        self._place(model.q_drawn)
        links = {name: model.link_tree.body_links[name] - 1 for name in model.body_names}
        self._detect = Detection(world, self.poses, links)
        self._links = self._detect.shapes.link
        size = self._layout.size
        squares = int((size**2).sum())
        self._nodes = Nodes(
            *(size, self._layout.first, self._layout.at),
            *(np.zeros(squares), np.zeros(squares), np.zeros(model.nv)),
        )
        self._inertial = InertialMotion(model)
        self._solver = Solver(size)
        self._most = int(size.max(initial=1))
        self._make_room(64)
        self._motion = motion_kernel(model, motion_algorithm(model))
        shapes = self._motion.shapes
        self._arrays = [np.zeros(shape) for shape in shapes]
        self._given = self._motion.inputs
        self.found = _NONE

    @property
    def residual(self) -> float:
        """By how much the laws of contact do not hold in the last step [m/s]."""
        return self.found.answer.residual

    @property
    def failed(self) -> bool:
        """Whether the last step was not solved to the tolerance."""
        return self.residual > TOLERANCE

    def _make_room(self, count: int) -> None:
        self._points = room_for_points(count)
        self._rows = room_for_rows(2 * count + self._held, self._most)

    @property
    def _held(self) -> int:
        """How many groups of three rows loops take."""
        return -(-sum(loop.rows for loop in self.model.link_tree.loops) // 3)

    def _place(self, q: Array) -> None:
        """Find poses of links (n, 3, 4), their motions and momenta per velocity."""
        self._columns.call(q, self._X, self._J, self._F)
        if self.poses is not self._X:
            self.poses[:, :2, :2], self.poses[:, :2, 3] = self._X[:, :, :2], self._X[:, :, 2]

    def step(self, state: ContactState, h: float, inputs: Array) -> None:
        """Move a state, in place, by a time h [s]."""
        q, v, middle = state.q, state.v, state.t + 0.5 * h
        self._inertial.move(q, v, state.t, 0.5 * h)
        self._kick(state, middle, h, inputs)
        self._inertial.move(q, v, middle, 0.5 * h)
        state.t += h

    def _kick(self, state: ContactState, t: float, h: float, inputs: Array) -> None:
        """Give a state the impulses of forces and contacts of a time h."""
        q, v, model, nodes = state.q, state.v, self.model, self._nodes
        self._place(q)
        added = 0.5 * h * model.damping + 0.25 * h * h * model.stiffness
        fill_inertia(self._layout, self._J, self._F, added, nodes.mass, nodes.inverse)
        change, power = self._change_by_forces(q, v, t, h, inputs)
        nodes.free[:] = v + change
        fill_reach(self._layout, self._detect.shapes, self.poses, self._J, nodes.free, h, self._detect.reach)
        number, label = self._detect(self.poses)
        self.found = self._solve(number, label, q, v, t, h, state.memory)
        state.work += h * power
        if len(self.found.impulses) or self._held:
            state.memory = self._memory()
            state.v[:] = self._new
        else:
            state.memory = NOTHING
            state.v[:] = nodes.free

    def _change_by_forces(self, q: Array, v: Array, t: float, h: float, inputs: Array) -> tuple[Array, float]:
        """Return how forces alone change the velocities in a time h, and their power."""
        arrays = self._arrays
        arrays[0][...], arrays[1][:], arrays[2][:] = t, q, v
        if len(inputs):
            arrays[3][:] = inputs
        self._motion.call(*arrays)
        change = h * (arrays[self._given + 1] - self._inertial.rates(q, v, t))
        return change, float(arrays[self._given + 2])

    def _solve(
        self, number: Array, label: Any, q: Array, v: Array, t: float, h: float, memory: Memory
    ) -> Found:
        count = len(number)
        if not count and not self._held:
            return _NONE
        if 2 * count + self._held > len(self._rows.a) or count > len(self._points.gap):
            self._make_room(2 * count)
        points, nodes = self._points, self._nodes
        take_points(number, label, points)
        rows = fill_contacts(
            *(self._layout, nodes, self.poses, self._J, self._links, self.table),
            *(points, count, v, h, self._rows),
        )
        rows = self._hold_loops(rows, q, t, h)
        points = Points(*(x[:count] for x in points))
        impulses = np.zeros((rows, 3))
        recall(memory, points.pair, points.place, _SAME, impulses)
        if len(memory.held):
            impulses[rows - len(memory.held) :] = memory.held
        self._new = nodes.free.copy()
        answer = self._solver.solve(nodes, first_of(self._rows, rows), impulses, self._new, TOLERANCE)
        return Found(points, impulses[:count], impulses[rows - self._held :].copy(), answer)

    def _hold_loops(self, rows: int, q: Array, t: float, h: float) -> int:
        """Add the rows of loops, which keep closed; return how many groups of rows there are."""
        if not self._held:
            return rows
        G = self.model.constraint_jacobian(q)
        pace = self.model.constraint_velocity(q, np.zeros(self.model.nv), t)
        pace = pace + self.model.constraint_residual(q, t) / h
        c, nodes = self._rows, self._nodes
        for k in range(0, len(G), 3):
            wide = min(3, len(G) - k)
            (used,) = np.nonzero(np.any(G[k : k + wide] != 0.0, axis=0))
            node = int(np.searchsorted(nodes.first, used[0] if len(used) else 0, "right")) - 1
            first, n = int(nodes.first[node]), int(nodes.size[node])
            c.a[rows], c.b[rows], at = node, -1, int(c.of_a[rows])
            J = np.zeros((3, n))
            J[:wide] = G[k : k + wide, first : first + n]
            c.rows[at : at + 3 * n] = J.ravel()
            begin = int(nodes.at[node])
            W = J @ nodes.inverse[begin : begin + n * n].reshape(n, n) @ J.T
            c.bias[rows, :] = 0.0
            c.bias[rows, :wide] = pace[k : k + wide]
            c.weight[rows] = 3.0 / max(float(np.trace(W)), 1e-300)
            c.kind[rows], c.friction[rows], c.spin[rows], c.of[rows] = HELD, 0.0, 0.0, -1
            rows += 1
        return rows

    def _memory(self) -> Memory:
        points, impulses = self.found.points, self.found.impulses
        world = np.zeros((len(impulses), 3))
        in_the_world(points.place, impulses, world)
        return Memory(points.pair.copy(), np.ascontiguousarray(points.place[:, :3]), world, self.found.held)
