"""velocities, impulses <- velocities before: impacts at all contacts that touch, by a stated law.

With relative velocities u before and u+ after, and impulses p in the cone of friction, contacts that approach
with u_n < 0 obey one of these:

    newton      0 <= p_n  complementary to  u+_n + e u_n >= 0: all at once, in one problem
    poisson     compression: the same with e = 0, which gives p_c; expansion: e times its normal impulses act
                too, with friction up to mu times that; who approaches still is stopped
    sequential  Newton's law at one contact after the other, always the one that approaches fastest, until
                none does: momentum travels through a row of balls as in Newton's cradle

The tangential part is Coulomb's law in impulses, |p_t| <= mu p_n, opposite to the slip after the impact.
Contacts that do not approach take part with e = 0: they may be pushed.

*Energy.* Rows that hold forces do work p . (u + u+) / 2 exactly. With e = 0 that is never positive, with
friction and e > 0 Newton's law may gain (Kane's paradox, 1984). Where it would, e of all contacts is lowered,
by one factor, until it does not: `Impact.lowered` is that factor.
"""

from typing import NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.compliant_rows import APART
from linkwork.contact_dynamics.problem.contact_problem import (
    CONTACTS,
    FLAT,
    NODES,
    TABLE,
    Contacts,
    Nodes,
    push,
    times_blocks,
    velocity,
)
from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.solver.contact_solver import Solver
from linkwork.mechanism.contact import IMPACTS
from linkwork.native.numba_functions import entry

Array = np.ndarray

LAWS = IMPACTS
_HALVINGS = 30
_MOST = 100  # impacts in a sequence, times the number of contacts
_SWEEPS = 200
_STILL = 1e-9  # of the fastest approach: slower ones are over


class Impact(NamedTuple):
    """What an impact does."""

    velocities: Array  # (nv,) of the nodes after it
    impulses: Array  # (n, 3) [N s]
    residual: float  # of the solver [m/s]
    lowered: float  # factor of e that energy allows: 1, unless Newton's law would have gained some


def impact(
    nodes: Nodes,
    contacts: Contacts,
    restitution: Array,
    law: str = "newton",
    tolerance: float = 1e-10,
    solver: Solver | None = None,
    saved: Array | None = None,
) -> Impact:
    """Return velocities after an impact at contacts; `nodes.free` are those before.

    `tolerance` is relative to the fastest approach. Work is bounded by what nodes have `saved`, if that is
    given: see `Solver.solve`.
    """
    before = relative_velocities(nodes, contacts, nodes.free)
    fastest = float(-before[:, 0].min(initial=0.0))
    if not fastest > 0.0:
        return Impact(nodes.free.copy(), np.zeros((len(before), 3)), 0.0, 1.0)
    one = _OneLaw(nodes, contacts, before, tolerance * fastest, solver or Solver(nodes.size), saved)
    if law == "sequential":
        return one.sequence(restitution, fastest)
    make = one.newton if law == "newton" else one.poisson
    found = make(restitution)
    if not restitution.any() or one.gained(found) <= 0.0:
        return found
    low, high, kept = 0.0, 1.0, make(0.0 * restitution)._replace(lowered=0.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        found = make(middle * restitution)
        if one.gained(found) <= 0.0:
            low, kept = middle, found._replace(lowered=middle)
        else:
            high = middle
    return kept


class _OneLaw(NamedTuple):
    nodes: Nodes
    contacts: Contacts
    before: Array
    tolerance: float
    solver: Solver
    saved: Array | None

    def newton(self, restitution: Array) -> Impact:
        return self._solved(self.nodes, restitution * np.minimum(self.before[:, 0], 0.0))

    def _solved(self, nodes: Nodes, rebound: Array) -> Impact:
        bias = self.contacts.bias.copy()
        bias[:, 0] += rebound
        p, v = np.zeros_like(bias), nodes.free.copy()
        problem = nodes, self.contacts._replace(bias=bias), p, v
        answer, _ = self.solver.solve(*problem, self.tolerance, saved=self.saved)
        return Impact(v, p, answer.residual, 1.0)

    def poisson(self, restitution: Array) -> Impact:
        pressed = self.newton(0.0 * restitution)
        p = np.zeros_like(pressed.impulses)
        p[:, 0] = restitution * pressed.impulses[:, 0]
        self._rub(pressed.velocities, p)
        v = moved(self.nodes, self.contacts, p, pressed.velocities)
        last = self._solved(self.nodes._replace(free=v), np.zeros(len(p)))
        total = pressed.impulses + p + last.impulses
        return Impact(last.velocities, total, max(pressed.residual, last.residual), 1.0)

    def _rub(self, v: Array, p: Array) -> None:
        """Write the friction that goes with given normal impulses: sweeps over contacts, a disc each."""
        bound = self.contacts.friction * p[:, 0]
        for _ in range(_SWEEPS):
            worst = 0.0
            for k in np.flatnonzero(bound > 0.0):
                u = relative_velocities(self.nodes, self.contacts, moved(self.nodes, self.contacts, p, v))
                new = p[k, 1:] - self.contacts.weight[k] / 3.0 * u[k, 1:]
                size = float(np.hypot(*new))
                new *= min(1.0, bound[k] / size) if size > 0.0 else 1.0
                worst = max(worst, float(np.abs(new - p[k, 1:]).max() / self.contacts.weight[k]))
                p[k, 1:] = new
            if worst <= self.tolerance:
                return

    def sequence(self, restitution: Array, fastest: float) -> Impact:
        v, total, worst = self.nodes.free.copy(), np.zeros_like(self.before), 0.0
        lowered = 1.0
        for _ in range(_MOST * len(total)):
            u = relative_velocities(self.nodes, self.contacts, v)
            k = int(np.argmin(u[:, 0]))
            if u[k, 0] >= -_STILL * fastest:
                return Impact(v, total, worst, lowered)
            alone = _only(self.contacts, k)
            given = self.nodes._replace(free=v), alone, restitution[k : k + 1]
            one = impact(*given, solver=self.solver, saved=self.saved)
            v, worst, lowered = one.velocities, max(worst, one.residual), min(lowered, one.lowered)
            total[k] += one.impulses[0]
        last = self._solved(self.nodes._replace(free=v), np.zeros(len(total)))
        return Impact(last.velocities, total + last.impulses, max(worst, last.residual), lowered)

    def gained(self, found: Impact) -> float:
        """Return the energy that impulses add, but for rounding [J]."""
        after = relative_velocities(self.nodes, self.contacts, found.velocities)
        work = 0.5 * float(np.sum(found.impulses * (self.before + after)))
        lost = 0.5 * float(np.sum(np.abs(found.impulses) * (np.abs(self.before) + np.abs(after))))
        return work - 1e-9 * lost


def _only(contacts: Contacts, k: int) -> Contacts:
    """Return one of the contacts."""
    part = slice(k, k + 1)
    return Contacts(*(x if name == "rows" else x[part] for name, x in zip(Contacts._fields, contacts)))


def relative_velocities(nodes: Nodes, contacts: Contacts, v: Array) -> Array:
    """Return u = J v + b (n, 3)."""
    u = np.zeros((len(contacts.a), 3))
    _relative_velocities(nodes, contacts, v, u)
    return u


def moved(nodes: Nodes, contacts: Contacts, p: Array, v: Array) -> Array:
    """Return v + M^-1 J^T p."""
    pushed, change = np.zeros_like(v), np.zeros_like(v)
    _answer(nodes, contacts, p, pushed, change)
    return v + change


def bounce_within(nodes: Nodes, contacts: Contacts, gap: Array, restitution: Array, v: Array) -> None:
    """Let rigid contacts that touch obey u+ + e u- >= 0, u- at velocities v, and others do nothing."""
    n = len(gap)
    rigid = contacts.kind[:n] == COULOMB
    contacts.bias[:n][rigid] = 0.0
    u = relative_velocities(nodes, contacts, v)[:n, 0]
    contacts.bias[:n, 0][rigid] = np.where(gap <= 0.0, restitution * u, APART)[rigid]


@entry(None, NODES, CONTACTS, FLAT, TABLE)
def _relative_velocities(nodes, c, v, u):
    for k in range(len(c.a)):
        u[k, 0], u[k, 1], u[k, 2] = velocity(nodes, c, k, v)


@entry(None, NODES, CONTACTS, TABLE, FLAT, FLAT)
def _answer(nodes, c, p, pushed, change):
    for k in range(len(c.a)):
        push(nodes, c, k, p[k, 0], p[k, 1], p[k, 2], pushed)
    times_blocks(nodes, nodes.inverse, pushed, change)
