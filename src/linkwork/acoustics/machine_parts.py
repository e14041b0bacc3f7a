"""blows, puffs <- a recording: the sounds of stops, of gears, and of what steam drives.

*Stops.* A joint that comes to a limit with a speed hits it, as its body alone would: J = m u, u of its
centre of mass. The time is that of the event, if the run has it ("pin hits its upper stop"), or that at
which the coordinate, as the sample before has it, gets there.

*Gears.* Teeth of wheels of `lw.Gear(..., teeth=)` meet f times a second; a pitch error e of a tooth comes
with u = 2 pi f e, and wheels hit each other with their masses.

*Puffs.* A load whose class says `puffs = True` lets its steam go whenever its force changes its sign, in
proportion to the force that it had reached. What it drives crosses the play c of its bearings then, under
the force F with which the new stroke begins, and knocks: u = sqrt(2 F c / m).
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwork.acoustics.moving_bodies import MovingBodies
from linkwork.acoustics.touches import Blow
from linkwork.mechanism.gears import Gear
from linkwork.mechanism.joint import Joint

Array = np.ndarray

_PITCH_ERROR = 1e-5  # of a tooth [m], as ISO 1328 allows small wheels of quality 7
_PLAY = 2e-5  # of a bearing [m]
_SLOW = 0.02  # speed of a stop that is not heard [m/s]
_EVENT = re.compile(r"(.+) hits its (upper|lower) stop")


class Puff(NamedTuple):
    """A body lets steam go."""

    time: float  # [s]
    body: int
    force: float  # that the steam had [N]
    lasts: float  # until two thirds of it have gone [s]


def stops(bodies: MovingBodies) -> Iterator[Blow]:
    """Yield the blows at limits of hinges and slides."""
    run, located = bodies.run, _stop_events(bodies.run)
    constrained = {*run.layout.constraints, *run.layout.closing}
    for name, joint in bodies.model.mechanism.joints.items():
        if joint.nv != 1 or joint.limits is None or name in constrained:
            continue
        x, v = (np.asarray(getattr(run[name], word), float).ravel() for word in ("position", "velocity"))
        lower, upper = joint.limit_pairs()[0].tolist()
        for limit, said, sign in ((lower, "lower", -1.0), (upper, "upper", 1.0)):
            times = located.get((name, said))
            if times is None:
                times = _arrivals(bodies.time, sign * x, sign * v, sign * limit)
            for t in times:
                k = max(int(np.searchsorted(bodies.time, t)) - 1, 0)
                if one := _stopped(bodies, joint, k, t, abs(float(v[k]))):
                    yield one


def _stop_events(run: Any) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for time, name in run.report.events:
        if said := _EVENT.fullmatch(name):
            found.setdefault((said[1], said[2]), []).append(float(time))
    return found


def _arrivals(time: Array, x: Array, v: Array, limit: float) -> list[float]:
    """Return when a coordinate gets to an upper limit."""
    there = x >= limit - 1e-9 * max(1.0, abs(limit))
    found = []
    for k in np.flatnonzero(there[1:] & ~there[:-1]):
        h = time[k + 1] - time[k]
        found.append(float(time[k] + min((limit - x[k]) / v[k], h) if v[k] > 0.0 else time[k + 1]))
    return found


def _stopped(bodies: MovingBodies, joint: Any, k: int, t: float, rate: float) -> Blow | None:
    parent, child = bodies.number(joint.parent.name), bodies.number(joint.child.name)
    moved = child if child >= 0 else parent
    X = joint.frames()[1 if child >= 0 else 0]
    place = np.zeros(3)
    place[: len(X.position)] = [float(x) for x in X.position]
    pose, voice = bodies.poses[k, moved], bodies.voices[moved]
    arm = float(np.linalg.norm(voice.centre - place)) or 0.25 * float(voice.sides.max())
    u = rate * (arm if bodies.run.layout.units(joint.name, "position") == ("rad",) else 1.0)
    if u < _SLOW:
        return None
    point = pose[:, :3] @ place + pose[:, 3]
    return Blow(t, (parent, child), point, voice.mass * u, u)


def gears(bodies: MovingBodies) -> Iterator[Blow]:
    """Yield the blows of teeth of wheels."""
    for gear in bodies.model.mechanism.constraints.values():
        if not isinstance(gear, Gear) or gear.teeth is None or gear.kind in ("belt", "crossed"):
            continue
        joint, other = gear.sides()
        wheels = [bodies.number(x.child.name) for x in (joint, other) if isinstance(x, Joint)]
        angle = np.asarray(bodies.run[joint.name].position, float).ravel()
        passed = float(gear.teeth[0]) * angle / (2.0 * np.pi)
        for k in range(len(angle) - 1):
            h = bodies.time[k + 1] - bodies.time[k]
            low, high = sorted((passed[k], passed[k + 1]))
            rate = (high - low) / h
            u = 2.0 * np.pi * rate * _PITCH_ERROR
            for tooth in range(int(np.ceil(low)), int(np.ceil(high))):
                s = (tooth - passed[k]) / (passed[k + 1] - passed[k]) * h
                point = bodies.centres[k, wheels].mean(axis=0)
                mass = 1.0 / sum(1.0 / bodies.voices[w].mass for w in wheels)
                yield Blow(float(bodies.time[k] + s), (wheels[0], wheels[1]), point, mass * u, u)


def puffs(bodies: MovingBodies) -> tuple[list[Puff], list[Blow]]:
    """Return the puffs of loads, and the knocks of what they drive."""
    found, knocks = list[Puff](), list[Blow]()
    for name, load in bodies.model.mechanism.loads.items():
        if not getattr(type(load), "puffs", False):
            continue
        force = np.asarray(bodies.run[name].force, float).reshape(len(bodies.time), -1)[:, 0]
        bases, driven = bodies.number(load.on[0].name), bodies.number(load.on[-1].name)
        turns = np.flatnonzero(np.signbit(force[1:]) != np.signbit(force[:-1]))
        last = 0
        for k, after in zip(turns.tolist(), [*turns[1:].tolist(), len(force) - 1], strict=True):
            t, h = float(bodies.time[k]), float(bodies.time[k + 1] - bodies.time[k])
            t += h * float(force[k] / (force[k] - force[k + 1]))
            reached = float(np.abs(force[last : k + 1]).max())
            stroke = t - float(bodies.time[last])
            found.append(Puff(t, driven, reached, float(np.clip(0.25 * stroke, 0.01, 0.08))))
            new = float(np.abs(force[k + 1 : after + 1]).max(initial=0.0))
            mass = bodies.voices[driven].mass
            u = float(np.sqrt(2.0 * new * _PLAY / mass))
            knocks.append(Blow(t, (bases, driven), bodies.centres[k, driven], mass * u, u))
            last = k + 1
    return found, knocks
