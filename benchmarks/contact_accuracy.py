"""How accurate contacts of meshes and terrain are: random poses of bodies whose exact contacts are known.

    python benchmarks/contact_accuracy.py [poses] [pair ...]     (10,000 of each pair, of all: ring/box, ...)

Bodies are meshes of a ball, a box, a cylinder and the hull of random points, and of two that are not convex,
a ring and a dumb-bell; and terrain, a hill on a grid of 10 cm. Each mesh lies within a *facet error* of its
body. Two bodies are turned at random, brought together along a random way until they touch, and moved on by
an overlap of up to half the smaller width. Contacts ask for a move: depth along the normal; if there are
several, the least that is as much along the normal of each. Shares of poses, in %:

    none    no contact was found
    depth   the move is not the least that parts the bodies: longer or shorter than the facet errors explain
    points  those of the deepest contact are off the surfaces by more than two facet errors
    parted  after the move the bodies do not just touch: they overlap, or are apart, by more than that
    other   a move that is shorter parts them, in any of 200 directions all round

`worst` is the largest error of a depth, over what is allowed: the facet errors of both and, where a body is
not convex, 0.5 mm for what lies between samples. The least move of convex bodies comes from their support
functions; for others shorter moves in directions 8 and 25 degrees round the one that is asked for are tried,
with distance functions of the smooth bodies (tests/contact/smooth_bodies.py). Every fiftieth pose is asked of
coal and fcl too, if they are installed: for all contacts of triangles, of which the deepest counts. That is
the depth they give for meshes, which are surfaces to them; of terrain coal knows only contacts with convex
solids. Pairs are spread over the processors.
"""

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
# coal and fcl have no stubs

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contact"))
from smooth_bodies import BODIES, PAIRS, Judged, judged, posed


@dataclass
class Tally:
    """How many poses were judged, and how many answers were wrong."""

    poses: int = 0
    none: int = 0
    depth: int = 0
    points: int = 0
    parted: int = 0
    other: int = 0
    worst: float = 0.0

    def add(self, found: Judged | None) -> None:
        self.poses += 1
        if found is None:
            self.none += 1
            return
        self.depth += found.depth > 1.0
        self.points += found.points > 1.0
        self.parted += found.parted > 1.0
        self.other += found.elsewhere > 1.0
        self.worst = max(self.worst, found.depth)

    def row(self) -> str:
        counts = self.none, self.depth, self.points, self.parted, self.other
        share = [100.0 * n / max(self.poses, 1) for n in counts]
        return " ".join(f"{each:7.2f}" for each in share) + f" {self.worst:8.1f}"


Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None  # depths, normals, points of a and b


class Ours:
    """A world of two bodies."""

    def __init__(self, a: Any, b: Any) -> None:
        self.world = lw.Colliders()
        self.world.add("a", a.shape, fixed=False)
        self.world.add("b", b.shape, fixed=False)

    def contacts(self, pose: Any) -> Found:
        for name, place in zip("ab", pose, strict=True):
            self.world.move(name, place.position, place.rotation)
        found = self.world.contacts()
        if not len(found):
            return None
        # Pairs of shapes are sorted by kind; ours are asked for as a and b.
        sign = 1.0 if found.bodies[0][0] == "a" else -1.0
        on = (found.point_a, found.point_b) if sign > 0 else (found.point_b, found.point_a)
        return found.depth, sign * found.normal, *on


class Coal:
    """The same in coal."""

    def __init__(self, a: Any, b: Any) -> None:
        import coal
        from coal_shapes import in_coal

        if not np.isfinite(b.size):  # terrain: only a convex solid may be on it
            if a.reach is None:
                raise TypeError("coal has no contacts of meshes with terrain")
            a = replace(a, shape=lw.ConvexHull(a.shape.vertices))
        self.coal, self.shapes = coal, [in_coal(body.shape)[0] for body in (a, b)]

    def contacts(self, pose: Any) -> Found:
        coal = self.coal
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.enable_contact, request.num_max_contacts = True, 100_000
        at = [coal.Transform3s(frame.rotation, frame.position) for frame in pose]
        coal.collide(self.shapes[0], at[0], self.shapes[1], at[1], request, result)
        found = [result.getContact(k) for k in range(result.numContacts())]
        if not found:
            return None
        best = max(found, key=lambda contact: -contact.penetration_depth)
        on_a, on_b = np.array(best.getNearestPoint1()), np.array(best.getNearestPoint2())
        return np.array([-best.penetration_depth]), np.array([best.normal]), on_a[None], on_b[None]


class Fcl:
    """The same in fcl; it has no terrain."""

    def __init__(self, a: Any, b: Any) -> None:
        import fcl

        self.fcl, self.models = fcl, []
        if not np.isfinite(b.size):
            raise TypeError("fcl has no terrain")
        for body in (a, b):
            vertices, faces = body.shape.surface()
            model = fcl.BVHModel()
            model.beginModel(len(vertices), len(faces))
            model.addSubModel(vertices, faces)
            model.endModel()
            self.models.append(model)

    def contacts(self, pose: Any) -> Found:
        fcl = self.fcl
        objects = [
            fcl.CollisionObject(model, fcl.Transform(np.array(frame.rotation), np.array(frame.position)))
            for model, frame in zip(self.models, pose, strict=True)
        ]
        request = fcl.CollisionRequest(num_max_contacts=100_000, enable_contact=True)
        result = fcl.CollisionResult()
        if not fcl.collide(*objects, request, result):
            return None
        best = max(result.contacts, key=lambda contact: contact.penetration_depth)
        n, x = np.array(best.normal), np.array(best.pos)
        deep = best.penetration_depth
        return np.array([deep]), n[None], (x + 0.5 * deep * n)[None], (x - 0.5 * deep * n)[None]


LIBRARIES = {"linkwork": Ours, "coal": Coal, "fcl": Fcl}


def tallies_of(one: str, other: str, count: int) -> dict[str, Tally]:
    """Judge all libraries on random poses of a pair."""
    a, b = BODIES[one], BODIES[other]
    made = {}
    for name, library in LIBRARIES.items():
        try:
            made[name] = library(a, b)
        except (ImportError, TypeError):  # not installed, or not known to it
            continue
    tallies = {name: Tally() for name in made}
    for k in range(count):
        pose = posed(a, b, k)
        for name, library in made.items():
            if name == "linkwork" or k % 50 == 0:
                tallies[name].add(judged(a, b, pose, library.contacts(pose)))
    return tallies


def main(count: int, wanted: list[str]) -> None:
    pairs = [(one, other) for one, other in PAIRS if not wanted or f"{one}/{other}" in wanted]
    print(f"{count} poses of each pair; shares in %, worst depth error over what is allowed")
    names = ("none", "depth", "points", "parted", "other")
    print(f"{'':34} {' '.join(f'{name:>7}' for name in names)} {'worst':>8}")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        results = [pool.submit(tallies_of, one, other, count) for one, other in pairs]
        for (one, other), result in zip(pairs, results, strict=True):
            for name, tally in result.result().items():
                print(f"{one:>10} {other:10} {name:12} {tally.row()}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, sys.argv[2:])
