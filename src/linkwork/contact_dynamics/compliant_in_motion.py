"""contacts <- q, v, and what contacts do to bodies together: the force of each compliant contact.

The laws say how strongly bodies are pressed, and what slides is rubbed by mu N against its slip. Friction
that holds is known only of each body as a whole (`sticking_friction`); of all forces of single contacts that
make it up, these are the least. So are forces along the normal where a law asks for the mass that is felt.
"""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.contact.result import Contacts
from linkwork.contact.shape_table import work
from linkwork.contact_dynamics.compliant.compliant_contacts import law_of
from linkwork.contact_dynamics.compliant.compliant_forces import SLOW
from linkwork.contact_dynamics.contacts_in_motion import TouchingBodies
from linkwork.contact_dynamics.detection.colliding_bodies import meeting
from linkwork.contact_dynamics.detection.contact_plan import CURVATURE, SHARE, SIZE
from linkwork.contact_dynamics.detection.pair_table import pair_table
from linkwork.mechanism.material import ContactNumbers
from linkwork.model.model import Model

Array = np.ndarray


class CompliantInMotion:
    """The compliant contacts of a model at moments of its motion; for one thread at a time."""

    def __init__(self, model: Model) -> None:
        self._world, self._room = meeting(model.mechanism).copy(), work(corners=4)
        self._table = pair_table(model.mechanism, self._world)
        self._laws = [contact.law for contact in model.mechanism.contacts.values()]
        self._found = model.compliant_contacts
        numbers: Mapping[str, int] = {name: k for k, name in enumerate(model.body_names)}
        self._number = np.array([numbers.get(name, -1) for name in self._world.shape_bodies], np.int64)
        self._size = 2 if model.space == "plane" else 3

    def at(self, frames: Any, places: Array, motions: Array, wrenches: Array) -> TouchingBodies:
        """Return the contacts of bodies with these poses, by name; ground is behind them in arrays.

        `places` (B + 1, 3) are origins, `motions` (B + 1, 6) angular and linear velocities. `wrenches` (B, 6)
        are torques about the origins of bodies, and forces, of all contacts together.
        """
        self._world.place(frames)
        built, margin = self._world.arrays, float(self._found.margin[0])
        poses = built.shape_poses()
        numbers = built.contacts(poses, built.pairs_within(poses, margin), margin, self._room)
        found = Contacts.of(*numbers, built.owners)
        pair, n, point = self._number[found.shapes], found.normal, found.point
        w = [motions[k, :3] for k in pair.T]
        u = [motions[k, 3:] + np.cross(w[i], point - places[k]) for i, k in enumerate(pair.T)]
        slip = u[1] - u[0]
        rate = -np.einsum("ni,ni->n", slip, n)
        slip = slip + rate[:, None] * n
        force, unknown, kept = np.zeros_like(n), [], np.ones(len(n), bool)
        for k, shapes in enumerate(found.shapes):
            N, mu = self._pressed(shapes, float(found.depth[k]), float(rate[k]))
            speed = float(np.linalg.norm(slip[k]))
            kept[k] = N is None or N != 0.0
            if N is None:
                unknown.append((k, n[k]))
            else:
                force[k] = N * n[k]
            if N is not None and speed >= SLOW:
                force[k] -= mu * N / speed * slip[k]
            elif kept[k] and mu > 0.0:
                unknown += [(k, t) for t in _tangents(n[k], self._size)]
        _hold(force, unknown, (pair, point, places), wrenches)
        return TouchingBodies(*(x[kept] for x in (pair, point, n, found.depth, force)))

    def _pressed(self, shapes: Array, depth: float, rate: float) -> tuple[float | None, float]:
        """Return the normal force of a contact, None if only the mechanism knows it, and mu."""
        i, j = self._table.kind[shapes]
        numbers = ContactNumbers(*self._table.numbers[i, j].tolist())
        of_contact = self._table.law[i, j]
        law = self._laws[of_contact] if of_contact >= 0 else law_of(numbers)
        if law is None:
            return 0.0, 0.0
        a, b = self._found.of_shape[shapes]
        curvature = a[CURVATURE] + b[CURVATURE]
        known = numbers._asdict() | {"depth": depth, "rate": rate, "size": float(min(a[SIZE], b[SIZE]))}
        known["radius"] = 1.0 / curvature if curvature > 0.0 else 1e300
        words = inspect.signature(law).parameters
        if "mass" in words:
            return (None if depth > 0.0 else 0.0), numbers.friction
        if depth <= -float(getattr(words.get("reach"), "default", 0.0)):
            return 0.0, 0.0
        given = {word: known[word] for word, p in words.items() if known.get(word) or p.default is p.empty}
        return float(law(**given)) * float(max(a[SHARE], b[SHARE])), numbers.friction


def _hold(
    force: Array, unknown: list[tuple[int, Array]], where: tuple[Array, Array, Array], wrenches: Array
) -> None:
    """Add the least forces along the unknown directions that make up those on bodies."""
    if not unknown:
        return
    pair, point, places = where
    left, rows = wrenches.copy(), np.zeros((len(unknown), *wrenches.shape))
    for k in range(len(force)):
        _push(left, pair[k], point[k], places, -force[k])
    for i, (k, direction) in enumerate(unknown):
        _push(rows[i], pair[k], point[k], places, direction)
    sizes = np.linalg.lstsq(rows.reshape(len(unknown), -1).T, left.ravel(), rcond=1e-10)[0]
    for size, (k, direction) in zip(sizes, unknown, strict=True):
        force[k] += size * direction


def _push(wrenches: Array, pair: Array, point: Array, places: Array, force: Array) -> None:
    """Add a force on the second body of a pair, and the opposite on the first."""
    for body, sign in ((pair[0], -1.0), (pair[1], 1.0)):
        if body >= 0:
            wrenches[body, :3] += np.cross(point - places[body], sign * force)
            wrenches[body, 3:] += sign * force


def _tangents(n: Array, size: int) -> list[Array]:
    """Return unit vectors along the surfaces: two, in the plane one."""
    if size == 2:
        return [np.array([-n[1], n[0], 0.0])]
    first = np.cross(np.eye(3)[int(np.argmin(np.abs(n)))], n)
    first /= np.linalg.norm(first)
    return [first, np.cross(n, first)]
