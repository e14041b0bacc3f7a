"""Random edits in running scenes: what each costs, and what it does to momentum and to memory.

`python benchmarks/scene_edits.py [--edits 1000] [--mechanisms 1 20 100] [--apart 3.0]` prints, for scenes of
so many ragdolls, the median, the 99th percentile and the worst of the pause that an edit is: its own time and
how much longer the step after it takes than the one before, in processor time of this thread. Pauses in which
Python collects garbage are counted by themselves.
"""

import argparse
import gc
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scene import STEP, ragdoll

import linkwork as lw

_MOST = 40  # bodies of one mechanism: what is glued together does not become one lump


class Edits:
    """A scene of ragdolls, random edits of it, and what was measured of them."""

    def __init__(self, count: int, apart: float, seed: int) -> None:
        self.scene, self.source = lw.Scene(threads=1, record=False), ragdoll()
        self.scene.add(lw.ground_plane(), material=lw.Material(friction=0.7))
        self.rng, self.count = np.random.default_rng(seed), count
        side = int(np.ceil(np.sqrt(count)))
        for k in range(count):
            self.scene.add(self.source, position=(apart * (k % side), apart * (k // side), 0.3))
        self.scene.step(STEP, n=10)
        self.pauses: dict[str, list[float]] = {}  # [ms], of each kind of edit
        self.collections: list[float] = []  # of garbage, the oldest generation [ms]
        self.jump = 0.0  # of momentum, the largest, relative to that of all bodies

    def measure(self, count: int) -> None:
        """Do so many edits, a step after each."""
        gc.callbacks.append(self._collected)
        usual = _spent(lambda: self.scene.step(STEP))
        done = 0
        while done < count:
            kind, change = self._chosen()
            if change is None:
                continue
            before, size = self._momentum()
            self._begun, garbage = 0.0, sum(self.collections)
            pause = _spent(change)
            if kind not in ("add", "remove"):
                self.jump = max(self.jump, np.abs(self._momentum()[0] - before).max() / size)
            step = _spent(lambda: self.scene.step(STEP))
            garbage = sum(self.collections) - garbage
            self.pauses.setdefault(kind, []).append(pause + max(step - usual, 0.0) - garbage)
            usual = _spent(lambda: self.scene.step(STEP))
            done += 1
        gc.callbacks.remove(self._collected)

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._begun = time.thread_time()
        elif info["generation"] == 2:
            self.collections.append(1e3 * (time.thread_time() - self._begun))

    def _momentum(self) -> tuple[np.ndarray, float]:
        """Return the momentum of all, and the sum of what each mechanism has."""
        each = np.array([actor.momentum for actor in self.scene.actors])
        return self.scene.momentum(), max(float(np.abs(each).sum()), 1.0)

    def _chosen(self) -> tuple[str, Callable[[], Any] | None]:
        """Return a random edit; None if there is nothing that it could be done to."""
        scene, rng, actors = self.scene, self.rng, self.scene.actors
        one = actors[rng.integers(len(actors))]
        kind = str(rng.choice(["detach", "attach", "weld", "break", "fracture", "add", "remove"]))
        body = one[one.names[rng.integers(len(one.names))]]
        if len(actors) > 2 * self.count + 3:
            kind = "remove"
        if kind == "detach" and self._hangs(body):
            return kind, lambda: scene.detach(body)
        if kind in ("attach", "weld") and (other := self._neighbour(one)) is not None:
            return kind, lambda: scene.attach(body, other, lw.Spherical if kind == "attach" else None)
        inner = [name for name, joint in one.joints.items() if "ground" not in joint.joint.ends]
        if kind == "break" and inner:
            joint = one[inner[rng.integers(len(inner))]]
            return kind, lambda: scene.unweld(joint)
        if kind == "fracture" and len(one.names) == 1 and "half" not in one.names[0]:
            halves = [
                lw.Body(f"half {k}", lw.Sphere(0.05), density=1000.0, position=(0, 0, 0.1 * k - 0.05))
                for k in range(2)
            ]
            return kind, lambda: scene.fracture(body, halves)
        if kind == "add" and len(actors) <= 2 * self.count:
            where = (*rng.uniform(-3.0, 0.0, 2), 0.3)
            return kind, lambda: scene.add(self.source, position=where, velocity=rng.normal(size=3))
        if kind == "remove" and len(actors) > max(self.count, 2):
            return kind, lambda: scene.remove(one)
        return kind, None

    def _hangs(self, body: Any) -> bool:
        model = body.actor.model
        return model.graph.branches[model.body_rows[body.name]].parent_name != "ground"

    def _neighbour(self, one: Any) -> Any:
        """Return a body of the mechanism that is nearest to one; None if both together are too large."""
        others = [actor for actor in self.scene.actors if actor is not one]
        if not others:
            return None
        nearest = min(others, key=lambda actor: float(np.linalg.norm(actor.position - one.position)))
        if len(one.unit.numbers) + len(nearest.unit.numbers) > _MOST:
            return None
        return nearest[nearest.names[self.rng.integers(len(nearest.names))]]


def _spent(call: Callable[[], Any]) -> float:
    begun = time.thread_time()
    call()
    return 1e3 * (time.thread_time() - begun)


def _resident() -> float:
    """Return the memory that this process has now [MB]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("--edits", type=int, default=1000)
    asked.add_argument("--mechanisms", type=int, nargs="+", default=[1, 20, 100])
    asked.add_argument("--apart", type=float, default=3.0, help="distance of ragdolls [m]; 0.4: a heap")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    for count in given.mechanisms:
        edits = Edits(count, given.apart, given.seed)
        edits.measure(max(given.edits // 10, 1))  # kernels are loaded
        gc.collect()
        edits.pauses.clear()
        edits.collections.clear()
        before = _resident()
        edits.measure(given.edits)
        gc.collect()
        print(f"{count} ragdolls, {given.edits} edits; pauses in ms: median, 99 of 100, worst")
        for kind, pauses in [
            *sorted(edits.pauses.items()),
            ("all", [x for some in edits.pauses.values() for x in some]),
        ]:
            middle, most = np.percentile(pauses, [50, 99])
            print(f"  {kind:9} {len(pauses):5} {middle:7.1f} {most:7.1f} {max(pauses):7.1f}")
        print(f"  jump of momentum {edits.jump:.1e}, memory {_resident() - before:+.0f} MB")
        garbage = edits.collections
        print(f"  garbage collected {len(garbage)} times, at most {max(garbage, default=0.0):.1f} ms")


if __name__ == "__main__":
    main()
