"""q, v <- q, v, h: how bodies move by their inertia alone, without any force.

Free bodies go by themselves (`free_motion`).

Trees and loops go by steps of Runge and Kutta of their own equations of motion, without gravity and loads;
the faster links turn, the shorter these are.
Coordinates of these can be locked (`joint_rows`): each has a drive of its own, whose inertia is next to
nothing, or, when it is locked, next to infinite.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import Nodes
from linkwork.contact_dynamics.time_stepping.free_motion import (
    free_bodies,
    free_rates,
    hold_centres,
    hold_planar_centres,
    move_free,
    move_planar,
    planar_rates,
)
from linkwork.model.loop_closing import fitted
from linkwork.model.own_forces import motion_algorithm, motion_kernel
from linkwork.native.numba_functions import call, entry, native
from linkwork.native.stages import Program, Value
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.tree import Block, DataLayout, Tree

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_NONE = np.zeros(0, bool)
_SLIGHT = 1e-100  # inertia of a drive that is not locked [kg m^2, kg]
_FIRM = 1e12  # that of a locked one, times what it moves
_TURN = 0.02  # a step that turns more, see `_runge_kutta`, is made in two
_MOST = 64  # parts of a step

# The trees of models without forces, by the joints that may be locked: a model keeps a kernel for each tree.
_trees: "WeakKeyDictionary[Model, dict[frozenset[str], Tree]]" = WeakKeyDictionary()


class InertialMotion:
    """Moves the state of a model by inertia alone; for one thread."""

    def __init__(self, model: "Model", nodes: Nodes, locked: Collection[str] = ()) -> None:
        """Take the inertias of nodes at any place: those of bodies alone are the same everywhere.

        Some joints of the tree may be locked.
        """
        self._free, self._planar = free_bodies(model, nodes)
        free_q = _all(self._free.q, 7) | _all(self._planar.q, 3)
        free_v = _all(self._free.v, 6) | _all(self._planar.v, 3)
        own_q, own_v = (
            np.array(sorted(set(range(n)) - free)) for n, free in ((model.nq, free_q), (model.nv, free_v))
        )
        self._tree: Any = None if len(free_v) == model.nv else _Tree(model, own_q, own_v, locked)
        self.lockable = np.zeros(model.nv, bool)  # (nv,) which velocities can be locked
        for name in locked:
            self.lockable[model.slices[name][1]] = True
        self.lockable[sorted(free_v)] = False

    def hold(self, driven: Array) -> None:
        """Take the values of inputs that drivers read."""
        if self._tree is not None and len(driven):
            self._tree.driven[:] = driven

    def move(
        self, q: Array, v: Array, t: float, h: float, locked: Array = _NONE, borne: Array = _NONE
    ) -> None:
        """Move a state, in place, from time t by h [s].

        Velocities that are `locked` (nv,) stay zero; the impulses that this takes are added to `borne` (nv,).
        """
        if self._tree is not None and locked.any():
            self._tree.move_locked(q, v, t, h, locked, borne)
        elif self._tree is not None:
            self._tree.move(q, v, t, h)
        move_free(self._free, q, v, h)
        move_planar(self._planar, q, v, h)

    def add_stages(self, program: Program, q: Array, v: Array, t: Value, h: Value) -> None:
        """Add to a program what moves a state, in place, of which nothing is locked."""
        if self._tree is not None:
            self._tree.add_stages(program, q, v, t, h)
        if len(self._free.q):
            program.loop(move_free, self._free, q, v, h)
        if len(self._planar.q):
            program.loop(move_planar, self._planar, q, v, h)

    def add_shift(self, program: Program, q: Array, v: Array, shift: Array, h: Value) -> None:
        """Add to a program what moves free bodies as these velocities would in a time h; they are used up."""
        for loop, *arguments in self._shifts(q, v, shift, h):
            program.loop(loop, *arguments)

    def shift(self, q: Array, v: Array, shift: Array) -> None:
        """Move free bodies, in place, as these velocities would in a second; they are used up."""
        for loop, *arguments in self._shifts(q, v, shift, 1.0):
            loop(*arguments)

    def _shifts(self, q: Array, v: Array, shift: Array, h: Any) -> Iterator[tuple[Any, ...]]:
        """Return the loops of a shift, and what they take."""
        for bodies, move, hold in (
            (self._free, move_free, hold_centres),
            (self._planar, move_planar, hold_planar_centres),
        ):
            if len(bodies.q):
                yield hold, bodies, q, v, shift, 0
                yield move, bodies, q, shift, h
                yield hold, bodies, q, v, shift, 1

    def add_rates(self, program: Program, t: Array, q: Array, v: Array, rates: Array) -> None:
        """Add to a program what writes the accelerations of the inertial motion."""
        if self._tree is not None:
            self._tree.add_rates(program, t, q, v, rates)
        if len(self._free.q):
            program.loop(free_rates, self._free, v, rates)
        if len(self._planar.q):
            program.loop(planar_rates, self._planar, v, rates)

    @property
    def free_velocities(self) -> Array:
        """Where velocities of free bodies begin (bodies,)."""
        return np.concatenate([self._free.v, self._planar.v])

    @property
    def all_free(self) -> bool:
        """Whether all bodies are free ones, which nothing carries along."""
        return self._tree is None

    def rates(self, q: Array, v: Array, t: float) -> Array:
        """Return the accelerations (nv,) of the inertial motion."""
        found = np.zeros(len(v)) if self._tree is None else self._tree.rates(q, v, t)
        free_rates(self._free, v, found)
        planar_rates(self._planar, v, found)
        return found


def _all(starts: Array, width: int) -> set[int]:
    return {int(k) + i for k in starts for i in range(width)}


class _Tree:
    """The equations of motion of a model without gravity, loads and forces of joints."""

    def __init__(self, model: "Model", own_q: Array, own_v: Array, locked: Collection[str]) -> None:
        """Take which positions and velocities are moved, and which joints may be locked."""
        self.model, tree = model, _without_forces(model, frozenset(locked))
        self._own = own_q.astype(np.int64), own_v.astype(np.int64)
        kernel = motion_kernel(model, motion_algorithm(model, tree), tree)
        arrays = [np.zeros(shape) for shape in kernel.shapes]
        outs = len(kernel.shapes) - kernel.inputs
        self._kernel = kernel
        self.t, self.q, self.v, *self._given = arrays[: kernel.inputs]
        self.driven = self._given[0] if model.link_tree.inputs else np.zeros(0)  # inputs of drivers
        self.qdot, self.qdd = arrays[-outs], arrays[-outs + 1]
        self._run, self._plan, self._ports = kernel.bind(*arrays)
        self._constants = kernel.single.data.copy()
        self._ports[0] = self._constants.ctypes.data
        self._drives, self._firm = _drives(model, tree) if locked else (_NONE, _NONE)
        self._address = kernel.single.run
        self._room = np.zeros((3, len(self.q) + len(self.v)))
        self._quaternions = model.quaternions.astype(np.int64)
        self._coordinates = [slices for name, slices in model.slices.items() if name in model.joint_names]

    def _arguments(self, q: Array, v: Array, t: Any, h: Any) -> tuple[Any, ...]:
        """Return what `_move_tree` takes."""
        return (
            *(self._address, self._plan, self._ports.ctypes.data, self.t.reshape(1)),
            *(self.q, self.v, self.qdot, self.qdd, self._room, self._quaternions, *self._own, q, v, t, h),
        )

    def move(self, q: Array, v: Array, t: float, h: float) -> None:
        _move_tree(*self._arguments(q, v, t, h))
        self._fit(q)

    def _fit(self, q: Array) -> None:
        if self.model.link_tree.unknowns:
            q[:] = fitted(self.model, q)

    def add_stages(self, program: Program, q: Array, v: Array, t: Value, h: Value) -> None:
        program.loop(_move_tree, *self._arguments(q, v, t, h))
        if self.model.link_tree.unknowns:
            program.python(lambda: self._fit(q))

    def add_rates(self, program: Program, t: Array, q: Array, v: Array, rates: Array) -> None:
        arrays = [t, q, v, *self._given, *(np.zeros(shape) for shape in self._kernel.outputs)]
        arrays[self._kernel.inputs + 1] = rates
        _, plan, ports = self._kernel.bind(*arrays)
        ports[0] = self._constants.ctypes.data
        program.kernel(self._address, plan, ports)

    def move_locked(self, q: Array, v: Array, t: float, h: float, locked: Array, borne: Array) -> None:
        before, drives = q.copy(), self._drives[locked]
        kept = self._constants[drives]
        self._constants[drives] = self._firm[locked]
        self.move(q, v, t, h)
        self._constants[drives] = kept
        borne[locked] += self._firm[locked] * v[locked]
        v[locked] = 0.0
        for at, part in self._coordinates:
            if locked[part].all():
                q[at] = before[at]

    def rates(self, q: Array, v: Array, t: float) -> Array:
        self.t[...], self.q[:], self.v[:] = t, q, v
        self._run(self._plan, self._ports.ctypes.data)
        return self.qdd.copy()


def _without_forces(model: "Model", locked: frozenset[str]) -> Tree:
    """Return the tree of links, and what closes its loops, without gravity; some joints may be locked."""
    known = _trees.setdefault(model, {})
    if locked not in known:
        tree = model.link_tree
        if locked:
            blocks = tuple(_with_drives(block) if block.name in locked else block for block in tree.blocks)
            tree = tree.with_blocks(blocks).having(loops=tree.loops)
        data, nothing = tree.data.copy(), np.zeros(len(tree.gravity))
        data[: len(nothing)] = nothing
        known.setdefault(locked, tree.having(gravity=nothing, data=data))
    return known[locked]


def _with_drives(block: Block) -> Block:
    """Return a link with drives on all velocities of its joint."""
    branch, data = block.seats[0].branch, block.data.copy()
    kind, _ = JointFormulas(armature=True).of(branch.joint, branch.reverse)
    first = DataLayout.of(kind.algebra, kind.nv).armature
    data[first : first + kind.nv] = np.maximum(data[first : first + kind.nv], _SLIGHT)
    return replace(block, kind=kind, data=data)


def _drives(model: "Model", tree: Tree) -> tuple[Array, Array]:
    """Return where the inertia of each velocity's drive is among the constants, and that of a locked one."""
    places = np.zeros(model.nv, np.int64)
    for link in tree.links:
        at = link.data + DataLayout.of(tree.algebra, link.kind.nv).armature
        places[link.v : link.v + link.kind.nv] = at + np.arange(link.kind.nv)
    return places, _FIRM * np.maximum(np.diag(model.mass_matrix(model.q_drawn)), 1e-300)


@entry(
    None,
    *["int64"] * 3,
    *["float64[::1]"] * 5,
    "float64[:, ::1]",
    *["int64[::1]"] * 3,
    *["float64[::1]"] * 2,
    *["float64"] * 2,
)
def _move_tree(run, plan, ports, time, qs, vs, qdot, qdd, room, quaternions, own_q, own_v, q, v, t, h):
    """Move a part of a state by the classical method of Runge and Kutta, in as many parts as it takes."""
    nq, nv = len(q), len(v)
    state, count = room[0], 1
    while True:
        for i in range(nq):
            state[i] = q[i]
        for i in range(nv):
            state[nq + i] = v[i]
        s, turn = h / count, 0.0
        for k in range(count):
            turn = max(turn, _runge_kutta(run, plan, ports, time, qs, vs, qdot, qdd, room, t + k * s, s))
            _normalise(quaternions, state)
            if turn > _TURN:
                break
        if turn <= _TURN or count >= _MOST:
            break
        count *= 2
    for k in range(len(own_q)):
        q[own_q[k]] = state[own_q[k]]
    for k in range(len(own_v)):
        v[own_v[k]] = state[nq + own_v[k]]


# Inertial forces are quadratic in the velocities: in a time h they change these by a share of w h or so,
# where w is how fast links turn. Two estimates of them at the middle of a step differ by a share of (w h)^2,
# which is how much the step turns; errors are shares of (w h)^5.
@native
def _runge_kutta(run, plan, ports, time, qs, vs, qdot, qdd, room, t, h):
    """Move the state room[0] by one step; return by which share of velocities the two estimates differ."""
    nq, nv = len(qs), len(vs)
    start, total, second = room[0], room[1], room[2]
    fastest, change = 0.0, 0.0
    for i in range(nq + nv):
        total[i] = 0.0
    for stage in range(4):
        at = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        weight = h / 6.0 if stage in (0, 3) else h / 3.0
        for i in range(nq):
            qs[i] = start[i] + (at * qdot[i] if stage else 0.0)
        for i in range(nv):
            vs[i] = start[nq + i] + (at * qdd[i] if stage else 0.0)
        time[0] = t + at
        call(run, plan, ports)
        for i in range(nq):
            total[i] += weight * qdot[i]
        for i in range(nv):
            total[nq + i] += weight * qdd[i]
            if stage == 0:
                fastest = max(fastest, abs(start[nq + i]))
            elif stage == 1:
                second[i] = qdd[i]
            elif stage == 2:
                change = max(change, abs(qdd[i] - second[i]))
    for i in range(nq + nv):
        start[i] += total[i]
    return h * change / fastest if fastest > 0.0 else 0.0


@native
def _normalise(quaternions, q):
    for k in range(len(quaternions)):
        at = quaternions[k]
        s = 1.0 / sqrt(q[at] ** 2 + q[at + 1] ** 2 + q[at + 2] ** 2 + q[at + 3] ** 2)
        for i in range(4):
            q[at + i] *= s
