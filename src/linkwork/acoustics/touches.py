"""blows, rubbing <- a recording: when bodies begin to touch, how hard, and how they slide and roll.

Blows that a run has located, `run.report.impacts`, have their time and impulse. Others, as of a foot that
comes down and stays, are seen by the samples: a point that touches in one and did not in the one before. Its
two bodies approached with u at a gap g there, under gravity, so they met a time s later, and were stopped:

    g = u s + a s^2 / 2,     J = m (u + a s),     1 / m = 1 / m_a + 1 / m_b,

m_a and m_b the masses that the blow feels. Steps that foresee a contact slow bodies down half a step before,
so that they do not overlap; where that is so, the one before shows how they came. Points of a pair that
touch first in the same sample are one blow.

A pair that goes on touching rubs: its points slip on each other, with what presses them, and roll.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwork.acoustics.moving_bodies import MovingBodies
from linkwork.contact_dynamics.detection.colliding_bodies import meeting
from linkwork.contact_dynamics.detection.pair_numbers import FRICTION
from linkwork.contact_dynamics.detection.pair_table import pair_table
from linkwork.contact_dynamics.event_driven.touching import Surfaces

Array = np.ndarray

_TOUCHING = 2e-5  # gap of bodies that touch [m]
_SOFTEST = 0.01  # speed of a blow that is heard [m/s]
_SLOWED = 1.1  # times as fast before: a step has foreseen the contact
_NEW = 0.25  # of the smaller body: a point that is this far from all that touched before is a new one


class Blow(NamedTuple):
    """Two bodies hit each other."""

    time: float  # [s]
    bodies: tuple[int, int]  # numbers of a and b; -1 is ground
    point: Array  # (3,) in the world [m]
    impulse: float  # [N s]
    speed: float  # of approach [m/s]


class Rubbing(NamedTuple):
    """How a pair of bodies goes on touching, over the samples (S,)."""

    bodies: tuple[int, int]
    friction: Array  # largest force of friction [N]
    press: Array  # normal force [N]
    slip: Array  # speed at which points slip on each other [m/s]
    roll: Array  # speed at which the contact travels without slipping [m/s]


class _Points(NamedTuple):
    """Points at which pairs of bodies touch at a sample."""

    pair: Array  # (n, 2)
    place: Array  # (n, 3) [m]
    normal: Array  # (n, 3) from b to a
    friction: Array  # (n,) coefficient


def blows_and_rubbing(bodies: MovingBodies) -> tuple[list[Blow], list[Rubbing]]:
    """Return what is struck and what is rubbed in a run."""
    if not bodies.model.contact_names:
        return [], []
    found, located = list[Blow](), _located(bodies)
    rubbing: dict[tuple[int, int], Rubbing] = {}
    press, tree = bodies.pressing()
    before: _Points | None = None
    for k, points in enumerate(_touching(bodies)):
        _rub(bodies, k, points, press[k], tree, rubbing)
        if before is not None:
            found += _landed(bodies, k, before, points)
        before = points
    found = [one for one in found if not _is_known(one, located, bodies)]
    return sorted(located + found, key=lambda one: (one.time, one.bodies)), list(rubbing.values())


def _is_known(one: Blow, located: list[Blow], bodies: MovingBodies) -> bool:
    """Whether a blow that samples show is one that the run has located."""
    k = int(np.searchsorted(bodies.time, one.time, side="right"))
    low = bodies.time[max(k - 2, 0)]
    high = bodies.time[min(k + 1, len(bodies.time) - 1)]
    return any({*one.bodies} == {*other.bodies} and low <= other.time <= high for other in located)


def _located(bodies: MovingBodies) -> list[Blow]:
    """Return the impacts that a run reports, points of a pair at one time as one."""
    together: dict[tuple[float, tuple[str, str]], list[Any]] = {}
    for one in bodies.run.report.impacts:
        if len(one.point):
            together.setdefault((one.time, one.bodies), []).append(one)
    found = []
    for (time, names), each in together.items():
        k = max(int(np.searchsorted(bodies.time, time)) - 1, 0)
        vectors, places = (np.zeros((len(each), 3)) for _ in range(2))
        for row, place, one in zip(vectors, places, each, strict=True):
            row[: len(one.impulse)], place[: len(one.point)] = one.impulse, one.point
        sizes = np.linalg.norm(vectors, axis=1)
        impulse = float(np.linalg.norm(vectors.sum(axis=0)))
        if not impulse > 0.0:
            continue
        pair = bodies.number(names[0]), bodies.number(names[1])
        point = sizes @ places / sizes.sum()
        normal = vectors.sum(axis=0) / impulse
        speed = impulse / _mass(bodies, k, pair, point, normal)
        if speed > _SOFTEST:
            found.append(Blow(float(time), pair, point, impulse, speed))
    return found


def _touching(bodies: MovingBodies) -> Iterator[_Points]:
    """Yield the points that touch at each sample."""
    model = bodies.model
    world = meeting(model.mechanism)
    surfaces, table = Surfaces(model, world), pair_table(model.mechanism, world)
    surfaces.soft = None  # what is compliant sounds, too
    number = np.array([bodies.number(name) for name in world.shape_bodies], np.int64)
    for q in np.asarray(bodies.run.q, float):
        found = surfaces.find(q, _TOUCHING)
        kind = table.kind[found.label[:, :2]]
        friction = table.numbers[kind[:, 0], kind[:, 1], FRICTION]
        yield _Points(number[found.label[:, :2]], found.place.copy(), found.axes[:, 0].copy(), friction)


def _mass(bodies: MovingBodies, k: int, pair: tuple[int, int], point: Array, normal: Array) -> float:
    return 1.0 / sum(1.0 / bodies.felt_mass(k, body, point, normal) for body in pair)


def _landed(bodies: MovingBodies, k: int, before: _Points, points: _Points) -> Iterator[Blow]:
    """Yield the blows between sample k - 1 and k, of points that touch now, and did not."""
    h = float(bodies.time[k] - bodies.time[k - 1])
    for pair in np.unique(points.pair, axis=0) if len(points.pair) else ():
        a, b = int(pair[0]), int(pair[1])
        own = (points.pair == pair).all(axis=1)
        place, normal = points.place[own], points.normal[own]
        old = before.place[(before.pair == pair).all(axis=1)]
        if len(old):
            size = min(float(bodies.voices[x].sides.max()) for x in (a, b) if x >= 0)
            way = h * max(float(np.linalg.norm(bodies.motions[k - 1, x, 3:])) for x in (a, b))
            apart = np.linalg.norm(place[:, None] - old, axis=2).min(axis=1)
            place, normal = (rows[apart > _NEW * size + way] for rows in (place, normal))
        if not len(place):
            continue
        point, n = place.mean(axis=0), normal.mean(axis=0)
        n = n / max(float(np.linalg.norm(n)), 1e-12)
        met, speed = _met(bodies, k - 1, k, (a, b), point, n)
        if k > 1:  # a step that foresees a contact has slowed bodies down in the one before
            sooner, faster = _met(bodies, k - 2, k, (a, b), point, n)
            if faster > _SLOWED * speed:
                met, speed = sooner, faster
        if speed > _SOFTEST:
            impulse = speed * _mass(bodies, k, (a, b), point, n)
            yield Blow(met, (a, b), point, impulse, speed)


def _met(
    bodies: MovingBodies, j: int, k: int, pair: tuple[int, int], point: Array, n: Array
) -> tuple[float, float]:
    """Return when two bodies that touch at sample k have met, as sample j has it, and how fast."""
    here = [_carried(bodies, j, k, x, point) for x in pair]
    gap = max(float((here[0] - here[1]) @ n), 0.0)
    a, b = (bodies.speed_at(j, x, place) for x, place in zip(pair, here, strict=True))
    u = float((b - a) @ n)
    pull = sum(sign * float(bodies.gravity @ n) for x, sign in zip(pair, (-1.0, 1.0), strict=True) if x >= 0)
    t, h = float(bodies.time[j]), float(bodies.time[k] - bodies.time[j])
    s = min(_first_zero(gap, u, pull), h)
    return t + s, u + pull * s


def _carried(bodies: MovingBodies, j: int, k: int, body: int, point: Array) -> Array:
    """Return where a body's point, which is somewhere at sample k, is at sample j."""
    pose = bodies.poses[j, body]
    return pose[:, :3] @ bodies.local(k, body, point) + pose[:, 3]


def _first_zero(gap: float, u: float, a: float) -> float:
    """Return when a gap is closed that shrinks by u s + a s^2 / 2; inf if it never is."""
    root = u * u + 2.0 * a * gap
    bottom = u + np.sqrt(root) if root > 0.0 else 0.0
    return 2.0 * gap / bottom if bottom > 0.0 else np.inf


def _rub(
    bodies: MovingBodies,
    k: int,
    points: _Points,
    press: Array,
    tree: Array,
    found: dict[tuple[int, int], Rubbing],
) -> None:
    """Write how pairs rub at sample k; what presses a tree is shared by the pairs that it touches."""
    pairs = np.unique(points.pair, axis=0) if len(points.pair) else np.zeros((0, 2), np.int64)
    shared = np.bincount(tree[pairs[pairs >= 0]], minlength=len(press))
    for pair in pairs:
        a, b = int(pair[0]), int(pair[1])
        own = (points.pair == pair).all(axis=1)
        point, n = points.place[own].mean(axis=0), points.normal[own].mean(axis=0)
        u = bodies.speed_at(k, b, point) - bodies.speed_at(k, a, point)
        along = u - (u @ n) * n
        slip = float(np.linalg.norm(along))
        v = [bodies.velocity_of(k, x) for x in (a, b)]
        way = v[1] - v[0]
        roll = max(float(np.linalg.norm(way - (way @ n) * n)) - slip, 0.0)
        force = min(abs(float(press[tree[x]] @ n)) / max(int(shared[tree[x]]), 1) for x in (a, b) if x >= 0)
        key = min(a, b), max(a, b)
        if key not in found:
            found[key] = Rubbing(key, *(np.zeros(len(bodies.time)) for _ in range(4)))
        made = found[key]
        made.friction[k], made.press[k] = float(points.friction[own].max()) * force, force
        made.slip[k], made.roll[k] = slip, roll
