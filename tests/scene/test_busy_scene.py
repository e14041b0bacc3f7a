"""A busy scene for long: thrown bodies, breaking joints, what comes and goes; memory, energy and numbers."""

import gc
import weakref

import numpy as np
import pytest
from peak_memory import resident
from people import crate, doll, hanging, world

import linkwork as lw
from linkwork.contact_dynamics.time_stepping.stepper import Stepper


class Hall:
    """A scene in which every second something is thrown in, breaks off, is glued on or leaves."""

    def __init__(self, seed: int) -> None:
        self.scene = world(record=60)
        self.scene.add(lw.Box(4, 0.2, 1, position=(0, 2, 0.5)), name="wall")
        self.scene.add(hanging(), position=(0, 0, 2.5))
        self.rng, self.source = np.random.default_rng(seed), doll()
        self.made = self.spent = 0.0  # energy that steps have added, and taken away [J]
        self.counts: dict[str, int] = {}

    def second(self) -> None:
        """Let a second pass."""
        self._edit()
        for _ in range(60):
            before = self.scene.energy()
            self.scene.step(1 / 60)
            after = self.scene.energy()
            assert np.isfinite(after)
            self.made += max(after - before, 0.0)
            self.spent += max(before - after, 0.0)

    def _edit(self) -> None:
        scene, rng = self.scene, self.rng
        actors = [actor for actor in scene.actors if actor.name != "hanging"]
        what = "throw" if len(actors) < 3 else rng.choice(["throw", "crate", "break", "glue", "leave"])
        one = actors[rng.integers(len(actors))] if actors else None
        if len(actors) > 6:
            what = "leave"
        if what == "throw":
            scene.add(self.source, position=(*rng.uniform(-1.5, 1, 2), 0.5), velocity=rng.normal(size=3))
        elif what == "crate":
            scene.add(crate(), position=(*rng.uniform(-1.5, 1, 2), 1.5), velocity=rng.normal(size=3))
        elif what == "break":
            inner = [name for name, joint in one.joints.items() if "ground" not in joint.joint.ends]
            if inner:
                scene.unweld(one[inner[rng.integers(len(inner))]])
        elif what == "glue":
            other = actors[rng.integers(len(actors))]
            if other is not one:
                scene.attach(one[one.names[-1]], other[other.names[-1]], lw.Spherical)
        elif what == "leave":
            scene.remove(one)
        self.counts[str(what)] = self.counts.get(str(what), 0) + 1


def test_a_busy_scene_goes_on_and_makes_no_energy():
    hall = Hall(3)
    for _ in range(5):
        hall.second()
    assert hall.made < 1e-3 * hall.spent


@pytest.mark.soak
def test_an_hour_of_a_busy_scene_keeps_memory_and_makes_no_energy():
    hall = Hall(1)
    for _ in range(600):
        hall.second()
    gc.collect()
    before = resident()
    for _ in range(3000):
        hall.second()
    gc.collect()
    assert hall.made < 1e-3 * hall.spent
    assert resident() - before < 30e6


def test_what_moves_a_mechanism_is_freed_without_a_collection_of_garbage():
    known = {id(one) for one in gc.get_objects() if isinstance(one, Stepper)}  # of other tests
    scene = world()
    actor = scene.add(doll(), position=(0, 0, 0.3))
    scene.step(1 / 60, n=3)
    gc.collect()
    stepper = next(one for one in gc.get_objects() if isinstance(one, Stepper) and id(one) not in known)
    freed = weakref.ref(stepper)
    del stepper
    gc.disable()
    try:
        actor.detach(actor.names[-1])
        scene.step(1 / 60)
        assert freed() is None
    finally:
        gc.enable()
