"""Culling and level of detail: how much is computed for a mechanism, by its distance or by regions.

The levels, from all to nothing: "full" dynamics; "reduced", in which its joints are locked and it moves as
one body (`locked_joints`); "captured", in which a recorded motion is played on a base that falls
(`captured_motion`); "pause", in which its clock stands still, to go on from there; "restart", the same, but
it begins anew when it is needed; "sleep", in which it stands still until something comes near. What came off
another has no start and no captured motion: "restart" and "captured" pause it.
"""

import itertools
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError, unknown
from linkwork.mechanism.placement import numbers
from linkwork.real_numbers import is_real
from linkwork.scene.actor import Actor
from linkwork.scene.behaviour import CheckedBehaviour
from linkwork.scene.behaviour_targets import place
from linkwork.scene.captured_motion import CapturedMotion
from linkwork.spelling import require

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray

LEVELS = ("full", "reduced", "captured", "pause", "restart", "sleep")
_EDGE = 0.05  # of a distance: one that has crossed it must come back as far to cross it again


class Culling(CheckedBehaviour):
    """Give mechanisms the level of detail that their distance to a viewer asks for.

    `levels` are pairs (distance [m], level), rising: up to the first distance the first level, and so on;
    what is farther than all has the last one. `viewer` is a point (3,), a body, or a mechanism; `region`,
    instead, a box (lowest, highest corner): inside of it the first level holds, outside the last. `actors`
    are all of the scene if not given.

        world.add(lw.Culling(viewer=(0, 0, 2), levels=[(20, "full"), (60, "reduced"), (inf, "pause")]))
    """

    def __init__(
        self,
        viewer: Any = None,
        levels: Sequence[tuple[float, str]] = ((inf, "full"),),
        *,
        region: Any = None,
        actors: Sequence[Actor] | None = None,
    ) -> None:
        if (viewer is None) == (region is None):
            raise ValueError("Culling: give a viewer=, or a region=, one of them")
        pairs = [*levels] if isinstance(levels, list | tuple) else []
        if not pairs or not all(_is_pair(pair) for pair in pairs):
            raise ValueError(f"Culling: levels {levels!r}; give pairs (distance, level)")
        for _, level in pairs:
            if level not in LEVELS:
                raise ValueError(f"Culling: {unknown('level', level, LEVELS)}")
        distances = [float(pair[0]) for pair in pairs]
        if not (distances[0] >= 0.0 and all(a < b for a, b in itertools.pairwise(distances))):
            raise ValueError(f"Culling: distances {distances}; give rising ones, 0 or more")
        self.viewer, self.region, self.actors = viewer, region, actors
        self.distances = distances
        self.levels = [str(level) for _, level in pairs]
        self.now: dict[str, str] = {}  # level of each actor, by path; "full" if it is not there
        self._whose: dict[str, Actor | None] = {}  # these levels are: another may come under a path

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an option, if it can be."""
        if word in ("levels", "distances") and self._complete:
            raise AttributeError(
                f"Culling: {word} cannot be set to {value!r:.80}; add another, lw.Culling(...)"
            )
        if value is None:
            return None
        if word == "actors":
            _check_actors(value)
            return list(value)
        if word == "viewer":
            return place("Culling: viewer", value)
        return _box(value) if word == "region" else value

    def before(self, scene: "Scene", dt: float) -> None:
        """Find the level of each mechanism, and change those that have another."""
        chosen = scene.actors if self.actors is None else self.actors
        chosen = [actor for actor in chosen if actor.parent is not None and actor.names]
        for path in [path for path, actor in self._whose.items() if actor is None or not actor.exists]:
            del self.now[path], self._whose[path]
        if not chosen:
            return
        rows = np.array([actor.row_of(actor.names[0]) for actor in chosen], np.int64)
        places = scene.arrays.poses[rows, :, 3]
        far = self._distances(places)
        edges = np.array(self.distances)
        for actor, distance in zip(chosen, far.tolist()):
            was = self.now.get(actor.path, "full")
            k = min(int(np.searchsorted(edges, distance)), len(edges) - 1)
            level = self.levels[k]
            if level != was and self._crossed(distance, was):
                self._change(scene, actor, was, level)

    def _distances(self, places: Array) -> Array:
        if self.region is not None:
            inside = ((places >= self.region[0]) & (places <= self.region[1])).all(axis=1)
            return np.where(inside, 0.0, inf)
        viewer = np.asarray(getattr(self.viewer, "position", self.viewer), float)
        return np.sqrt(((places - viewer) ** 2).sum(axis=1))

    def _crossed(self, distance: float, was: str) -> bool:
        """Whether a distance is clearly outside of what the level before is for."""
        if was not in self.levels:
            return True
        k = self.levels.index(was)
        low = self.distances[k - 1] if k else 0.0
        return not low * (1.0 - _EDGE) <= distance <= self.distances[k] * (1.0 + _EDGE)

    def _change(self, scene: "Scene", actor: Actor, was: str, level: str) -> None:
        if was == "reduced":
            actor.restore()
        elif was == "captured" and (playing := _captured(scene, actor)):
            playing.stop(scene)
        elif was == "restart" and actor.start:
            actor.restart()
        elif was in ("captured", "pause", "restart"):
            actor.resume()
        elif was == "sleep":
            actor.wake()
        if level == "reduced":
            actor.reduce()
        elif level == "captured" and (playing := _captured(scene, actor)):
            playing.start(scene)
        elif level == "captured" and actor.start:
            raise ModelError(
                f"Culling: {actor.path!r} has no captured motion; add one, lw.CapturedMotion(robot, "
                "recording), or name those that have one: lw.Culling(..., actors=[robot])"
            )
        elif level in ("captured", "pause", "restart"):
            actor.pause()
        elif level == "sleep":
            scene.sleep(actor)
        self.now[actor.path], self._whose[actor.path] = level, actor


def _captured(scene: "Scene", actor: Actor) -> CapturedMotion | None:
    """Return the captured motion of a mechanism, if it has one."""
    for behaviour in scene.behaviours:
        if isinstance(behaviour, CapturedMotion) and behaviour.actor is actor:
            return behaviour
    return None


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and is_real(value[0])


def _box(region: Any) -> Array:
    corners = numbers(region, "Culling: region")
    if corners.shape != (2, 3) or not (corners[0] <= corners[1]).all():
        raise ValueError(f"Culling: region {region!r}; give the lowest and the highest corner of a box")
    return corners


def _check_actors(actors: Any) -> None:
    if actors is None:
        return
    require("Culling: actors", actors, list | tuple, "a list of mechanisms of the scene")
    for actor in actors:
        require("Culling: actors", actor, Actor, "mechanisms of the scene, what world.add(...) returned")
