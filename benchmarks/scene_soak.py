"""A busy scene for long: ragdolls and crates are thrown in, break, are glued together and leave.

`python benchmarks/scene_soak.py [--minutes 60] [--seed 1] [--every 60]` prints, every so many seconds of the
scene, what it costs, how much memory there is, and where energy has gone: what came in with mechanisms and
left with them, what edits took, what steps took (friction, impacts, damping), what pushed apart bodies that
were thrown into others, and what steps have made beside that, which they should not. It ends with an error if
a number is not finite, or if the account does not balance.
"""

import argparse
import gc
import resource
import time
from typing import Any

import numpy as np
from scene import STEP, ragdoll

import linkwork as lw

_MOST = 10  # mechanisms at a time
_ENTRIES = "came", "left", "edits took", "steps took", "pushed apart", "steps made"  # of the account


class BusyScene:
    """A hall with a wall in it, what goes on there, and an account of energy [J]."""

    def __init__(self, seed: int) -> None:
        self.scene = lw.Scene(record=60, threads=1)
        self.scene.add(lw.ground_plane(), name="floor", material=lw.Material(friction=0.6))
        self.scene.add(lw.Box(4, 0.2, 1, position=(0, 2, 0.5)), name="wall")
        self.rng, self.source = np.random.default_rng(seed), ragdoll()
        self.crate = lw.Body("crate", lw.Box(0.3, 0.3, 0.3), density=500.0)
        self.account = dict.fromkeys(_ENTRIES, 0.0)
        self.edits: dict[str, int] = {}
        self.worst = 0.0  # that one step has made
        self._overlaps = False  # whether what was thrown in last is in others

    def second(self) -> None:
        """Let a second pass, with one edit at its beginning."""
        self._edit()
        for _ in range(round(1 / STEP)):
            before = self.scene.energy()
            self.scene.step(STEP)
            gain = self.scene.energy() - before
            if not np.isfinite(gain):
                raise SystemExit(f"energy is not finite at {self.scene.time:.3f} s")
            made = "pushed apart" if self._overlaps else "steps made"
            self.account[made if gain > 0.0 else "steps took"] += abs(gain)
            self.worst = max(self.worst, 0.0 if self._overlaps else gain)

    def _edit(self) -> None:
        scene, rng, before, self._overlaps = self.scene, self.rng, self.scene.energy(), False
        actors = scene.actors
        one = actors[rng.integers(len(actors))] if actors else None
        what = "throw" if len(actors) < 3 else str(rng.choice(["throw", "crate", "break", "glue", "leave"]))
        what = "leave" if len(actors) > _MOST else what
        moving = {"velocity": rng.normal(size=3), "position": (*rng.uniform(-1.5, 1.0, 2), 0.5)}
        if what in ("throw", "crate"):
            thrown = scene.add(self.source if what == "throw" else self.crate, **moving)
            self._overlaps = bool(_overlapping(thrown, actors))
        elif what == "break":
            inner = [name for name, joint in one.joints.items() if "ground" not in joint.joint.ends]
            if inner:
                scene.unweld(one[inner[rng.integers(len(inner))]])
        elif what == "glue":
            other = actors[rng.integers(len(actors))]
            if other is not one and len(one.unit.numbers) + len(other.unit.numbers) <= 40:
                scene.attach(one[one.names[-1]], other[other.names[-1]], lw.Spherical)
        else:
            scene.remove(one)
        gain = scene.energy() - before
        came = "came" if what in ("throw", "crate") else "left" if what == "leave" else "edits took"
        self.account[came] += gain if came == "came" else -gain
        self.edits[what] = self.edits.get(what, 0) + 1

    @property
    def missing(self) -> float:
        """What the account says that there should be, less what there is [J]."""
        a = self.account
        there = (
            a["came"] + a["steps made"] + a["pushed apart"] - a["left"] - a["edits took"] - a["steps took"]
        )
        return there - self.scene.energy()


def _overlapping(one: Any, others: list[Any]) -> list[Any]:
    """Return the bodies of others whose boxes overlap with one of a mechanism."""
    own = np.array([body.bounds for body in one.children])
    bodies = [body for other in others for body in other.children]
    boxes = np.array([body.bounds for body in bodies]).reshape(-1, 2, 3)
    over = (own[:, None, 0] < boxes[None, :, 1]) & (own[:, None, 1] > boxes[None, :, 0])
    return [bodies[k] for k in np.flatnonzero(over.all(axis=2).any(axis=0))]


def resident() -> float:
    """Return the memory that this process has now [MB]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("--minutes", type=float, default=60.0, help="of the scene")
    asked.add_argument("--every", type=int, default=60, help="seconds of the scene between lines")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    hall, begun = BusyScene(given.seed), time.process_time()
    print("  time   MB  mechanisms  ms/step   came    left   edits   steps took  pushed apart", end="")
    print("  steps made (worst) [J]")
    for second in range(1, round(60 * given.minutes) + 1):
        hall.second()
        if second % given.every == 0:
            gc.collect()
            spent, a = time.process_time() - begun, hall.account
            print(
                f"{hall.scene.time:6.0f} {resident():4.0f} {len(hall.scene.actors):11} "
                f"{1e3 * spent / (given.every / STEP):8.1f} {a['came']:7.0f} {a['left']:7.0f} "
                f"{a['edits took']:7.0f} {a['steps took']:12.0f} {a['pushed apart']:13.3f} "
                f"{a['steps made']:11.3f} ({hall.worst:.3f})",
                flush=True,
            )
            begun = time.process_time()
    print(f"edits {hall.edits}; the account is short of {hall.missing:.2e} J")
    if abs(hall.missing) > 1e-6 * hall.account["came"]:
        raise SystemExit("energy is not accounted for")


if __name__ == "__main__":
    main()
