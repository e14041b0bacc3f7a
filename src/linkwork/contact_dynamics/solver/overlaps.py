"""shift <- gaps: free bodies that have just struck each other are moved out of each other as places.

What strikes something in a step is looked at when it is already in it, by its speed times half of the step.
Pushed out by a velocity it would fly on with that, and have more energy than before. So such contacts count
as touching in the laws, and bodies are shifted by h s in the middle of the step, by the least shift, in
energy, with which

    J_n s + gap / h >= 0   of what has struck,      J_n s + (J v)_n + gap / h >= 0   of all else,

found by some sweeps over normals. What that lifts, the impact has taken: a body that comes at u and is
stopped in the middle loses m u^2 / 2 + m g u h / 2, the latter for the depth u h / 2 (`contact_work`).
"""

from math import sqrt

from linkwork.contact_dynamics.problem.contact_problem import (
    CONTACTS,
    FLAT,
    NODES,
    TABLE,
    WHERE,
    node_product,
    velocity_at,
)
from linkwork.contact_dynamics.problem.contact_rows import FASTEST, POINTS, SLACK
from linkwork.contact_dynamics.problem.friction_cone import COULOMB
from linkwork.contact_dynamics.problem.islands import ISLANDS
from linkwork.contact_dynamics.solver.augmented_lagrangian import ROOM
from linkwork.contact_dynamics.solver.gauss_seidel import prepare
from linkwork.native.numba_functions import entry, native, native_apart

_SWEEPS = 20


@entry(None, NODES, CONTACTS, POINTS, ISLANDS, WHERE, WHERE, *[FLAT] * 3, WHERE, "int64")
def find_overlaps(nodes, c, points, islands, marks, loose, placed, before, pull, overlaps, few):
    """Write which contacts are to be shifted out of each other; these touch, as far as laws are concerned.

    Those are not marked, as they did not press before. What did is pushed out by a velocity, if there is the
    energy for it. Bodies that were put into something are pushed out in any case, and so are those of islands
    of more than a `few` contacts.
    """
    for k in range(len(points.gap)):
        overlaps[k] = 0
        node = max(c.a[k], c.b[k])
        i = islands.of[node] if node >= 0 else -1
        if i < 0 or islands.first_contact[i + 1] - islands.first_contact[i] > few:
            continue
        if not (points.gap[k] < -SLACK and c.bias[k, 0] < 0.0 and _movable(c, loose, k)):
            continue
        put, energy, lift = False, 0.0, 0.0
        for node in (c.a[k], c.b[k]):
            if node >= 0:
                put = put or placed[node] != 0.0
                energy += 0.5 * node_product(nodes, node, before, before)
                lift += sqrt(
                    node_product(nodes, node, pull, pull)
                    * nodes.mass[nodes.at[node] + nodes.size[node] ** 2 - 1]
                )
        if put:
            continue
        if marks[k] == 0 and velocity_at(nodes, c, k, before) < 0.0:
            overlaps[k], c.bias[k, 0] = 1, 0.0
        elif energy < -points.gap[k] * lift:
            c.bias[k, 0] = 0.0


@entry(None, NODES, CONTACTS, POINTS, TABLE, FLAT, ISLANDS, "int64", ROOM, WHERE, WHERE, "float64")
def take_out(nodes, c, points, p, v, islands, count, room, loose, overlaps, span):
    """Add to `room.shift` what moves bodies out of each other in a time `span` [m/s].

    That is where impulses p hold what has struck; what is about to part from the other is left alone.
    """
    for i in range(count):
        contacts = islands.contact[islands.first_contact[i] : islands.first_contact[i + 1]]
        for k in contacts:
            if k < len(points.gap) and overlaps[k] != 0 and p[k, 0] > 0.0:
                _take_out(nodes, c, points, p, v, contacts, room, loose, overlaps, span)
                break


@native_apart
def _take_out(nodes, c, points, p, v, contacts, room, loose, overlaps, span):
    s, wanted, pushed = room.shift, room.wanted, room.x
    prepare(nodes, c, room, room.moved, room.response, contacts)
    for k in contacts:
        pushed[k, 0], wanted[k] = 0.0, 1e300
        if k < len(points.gap):
            if overlaps[k] != 0:
                wanted[k] = max(points.gap[k] / span, -FASTEST)
            elif _movable(c, loose, k):
                wanted[k] = points.gap[k] / span + velocity_at(nodes, c, k, v)
                wanted[k] = max(wanted[k], -FASTEST if p[k, 0] > 0.0 else 0.0)
    for _ in range(_SWEEPS):
        for k in contacts:
            if wanted[k] == 1e300 or room.response[k, 0] <= 0.0:
                continue
            u = wanted[k] + _along(nodes, c.a[k], c.rows, c.of_a[k], s)
            u += _along(nodes, c.b[k], c.rows, c.of_b[k], s)
            d = max(pushed[k, 0] - u / room.response[k, 0], 0.0) - pushed[k, 0]
            if d != 0.0:
                pushed[k, 0] += d
                _add(nodes, c.a[k], room.moved, c.of_a[k], s, d)
                _add(nodes, c.b[k], room.moved, c.of_b[k], s, d)


@native
def _movable(c, loose, k):
    """Return whether both sides of a contact are free bodies, or ground."""
    for node in (c.a[k], c.b[k]):
        if node >= 0 and loose[node] == 0:
            return False
    return c.kind[k] == COULOMB


@native
def _along(nodes, node, rows, at, s):
    """Return what a side has of a shift, along the normal."""
    u = 0.0
    if node >= 0:
        for q in range(nodes.size[node]):
            u += rows[at + q] * s[nodes.first[node] + q]
    return u


@native
def _add(nodes, node, moved, at, s, d):
    """Add to a shift what an impulse along the normal does to a side."""
    if node >= 0:
        for q in range(nodes.size[node]):
            s[nodes.first[node] + q] += moved[at + q] * d
