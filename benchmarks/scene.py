"""Scenes: 100 ragdolls on uneven ground, threads, culling, sleeping, edits; beside MuJoCo.

`python benchmarks/scene.py [count]` prints a table, `python benchmarks/scene.py [count] --beside` the
comparison alone. Times are processor time of this process; what threads use of the cores is processor time
over wall-clock time. The same ragdolls fall on the same hills in both, by turns: moving is compared with
moving, lying with lying. A step of ours is 1/60 s, one of MuJoCo's 2 ms, its default: both are given by
1/60 s of the scene. With steps of 5 ms MuJoCo takes 2.4 times less.
"""

import os
import sys
import tempfile
import time
from typing import Any

import numpy as np

import linkwork as lw

STEP = 1 / 60
PEER_STEP = 0.002  # of MuJoCo [s]


def ragdoll() -> lw.Mechanism:
    """Return 15 bodies and their joints: a person, standing."""
    m = lw.Mechanism("ragdoll")

    def limb(name, radius, length, at, parent="", pin=(0, 0, 0), kind=lw.Spherical):
        body = m.add(lw.Body(name, lw.Capsule(radius, length), density=1000.0, position=at))
        if parent:
            axis = {} if kind is lw.Spherical else {"axis": (0, 1, 0)}
            m.add(kind(f"{name} joint", m[parent], body, at=pin, damping=0.5, **axis))

    limb("pelvis", 0.12, 0.1, (0, 0, 1.0))
    m.add(lw.Free("base", m.ground, m["pelvis"]))
    limb("belly", 0.11, 0.1, (0, 0, 1.2), "pelvis", (0, 0, 1.1))
    limb("chest", 0.13, 0.12, (0, 0, 1.42), "belly", (0, 0, 1.3))
    limb("neck", 0.05, 0.02, (0, 0, 1.6), "chest", (0, 0, 1.56))
    limb("head", 0.1, 0.05, (0, 0, 1.76), "neck", (0, 0, 1.64))
    for s, w in ((1, "left"), (-1, "right")):
        limb(f"{w} thigh", 0.07, 0.3, (0, s * 0.12, 0.75), "pelvis", (0, s * 0.12, 0.95))
        limb(f"{w} shin", 0.05, 0.3, (0, s * 0.12, 0.32), f"{w} thigh", (0, s * 0.12, 0.53), lw.Revolute)
        limb(f"{w} foot", 0.04, 0.1, (0.05, s * 0.12, 0.06), f"{w} shin", (0, s * 0.12, 0.1), lw.Revolute)
        limb(f"{w} arm", 0.045, 0.2, (0, s * 0.22, 1.38), "chest", (0, s * 0.2, 1.5))
        limb(f"{w} forearm", 0.04, 0.2, (0, s * 0.22, 1.08), f"{w} arm", (0, s * 0.22, 1.22), lw.Revolute)
    return m


def hills(size: float) -> lw.HeightField:
    """Return uneven ground, up to 0.3 m high."""
    x = np.linspace(-1, 1, 60)
    heights = 0.15 * (np.sin(9 * x)[:, None] * np.cos(7 * x)[None, :] + 1.0)
    return lw.HeightField(heights, (size, size))


def crowd(count: int, threads: int = 1, spacing: float = 2.5) -> lw.Scene:
    """Return a scene with ragdolls side by side on uneven ground."""
    scene, doll, side = lw.Scene(threads=threads, record=False), ragdoll(), int(np.ceil(np.sqrt(count)))
    scene.add(hills(spacing * (side + 2)), material=lw.Material(friction=0.7))
    for k in range(count):
        place = spacing * (np.array([k % side, k // side]) - 0.5 * (side - 1))
        scene.add(doll, position=(*place, 0.4))
    return scene


def measured(scene: lw.Scene, steps: int) -> tuple[float, float]:
    """Return processor and wall-clock time of a step [ms]."""
    cpu, wall = time.process_time(), time.perf_counter()
    scene.step(STEP, n=steps)
    return tuple(1e3 * x / steps for x in (time.process_time() - cpu, time.perf_counter() - wall))


def edit_times(scene: lw.Scene, count: int) -> list[tuple[float, float]]:
    """Return how long edits take, and how much longer the step after each is [ms of processor time].

    The step makes what goes on after the edit; one without an edit is taken off.
    """
    found = []
    for actor in scene.actors[:count]:
        for change in (lambda a=actor: a.detach("left forearm"), lambda a=actor: a.detach("right foot")):
            usual = _spent(lambda: scene.step(STEP))
            found.append((_spent(change), _spent(lambda: scene.step(STEP)) - usual))
    return found


def _spent(call) -> float:
    begun = time.thread_time()
    call()
    return 1e3 * (time.thread_time() - begun)


def heap(count: int) -> lw.Scene:
    """Return ragdolls so near to each other that they are simulated as one."""
    scene, doll = lw.Scene(threads=1, record=False), ragdoll()
    scene.add(lw.ground_plane(), material=lw.Material(friction=0.7))
    for k in range(count):
        scene.add(doll, position=(0.3 * (k % 3), 0.55 * (k // 3), 0.02))
    scene.step(STEP, n=5)
    return scene


def mujoco_crowd(count: int, spacing: float = 2.5) -> tuple[Any, Any] | None:
    """Return MuJoCo's model and data of `crowd`: the same ragdolls on the same hills, its own defaults."""
    try:
        import mujoco
    except ImportError:
        return None
    doll, side = ragdoll(), int(np.ceil(np.sqrt(count)))
    ground, spec, rough = hills(spacing * (side + 2)), mujoco.MjSpec(), [0.7, 0.005, 0.0001]
    spec.option.timestep = PEER_STEP
    high, size = np.asarray(ground.heights).T, 0.5 * spacing * (side + 2)
    height = float(high.max())
    given = {"nrow": len(high), "ncol": len(high[0]), "size": [size, size, height, 0.5]}
    spec.add_hfield(name="hills", userdata=(high / height).ravel(), **given)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="hills", friction=rough)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/ragdoll.xml"
        doll.save(path)  # bodies and joints; shapes follow
        for k in range(count):
            place = spacing * (np.array([k % side, k // side]) - 0.5 * (side - 1))
            person = mujoco.MjSpec.from_file(path)
            for body in person.bodies[1:]:
                limb = doll[body.name].touched_by[0]
                lengths = [limb.radius, 0.5 * limb.length, 0.0]
                body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=lengths, friction=rough)
            spec.attach(person, prefix=f"{k} ", frame=spec.worldbody.add_frame(pos=[*place, 0.4]))
    model = spec.compile()
    return model, mujoco.MjData(model)


def beside_mujoco(count: int) -> None:
    """Print what both take while the ragdolls fall, crumple and lie, and whether they do the same."""
    scene, peer = crowd(count), mujoco_crowd(count)
    if peer is None:
        return
    from mujoco import mj_step

    model, data = peer
    measured(scene, 1)  # kernels are loaded
    per_step = round(STEP / PEER_STEP * 30)  # in half a second
    print(f"the same {count} ragdolls in MuJoCo, steps of {1e3 * PEER_STEP:.0f} ms; per 1/60 s [ms]:")
    for k in range(14):
        cpu, _ = measured(scene, 30)
        begun = time.process_time()
        mj_step(model, data, per_step)
        theirs = 1e3 * (time.process_time() - begun) / 30
        if k in (0, 1, 3, 5, 9, 13):
            ours = f"{cpu:.1f}, {len(scene.contacts) / count:.0f} contacts of each"
            fastest = np.abs(scene.arrays.velocities).max(), np.abs(data.qvel).max()
            print(f"  until {scene.time:.1f} s: ours {ours}, the fastest of all {fastest[0]:.1f}; MuJoCo")
            print(f"    {theirs:.1f}, {data.ncon / count:.0f}, {fastest[1]:.1f}: {theirs / cpu:.2f} of ours")


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--beside"]
    count = int(words[0]) if words else 100
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if len(words) < len(sys.argv) - 1:
        beside_mujoco(count)
        return
    one = crowd(count)
    measured(one, 30)  # they fall
    cpu, wall = measured(one, 30)
    print(f"{count} ragdolls, one thread: {cpu:.1f} ms of processor time a step")
    print(f"  {wall:.1f} ms, {1e3 / wall:.0f} steps a second")
    two = crowd(count, threads=2)
    measured(two, 30)
    cpu2, wall2 = measured(two, 30)
    print(f"the same, two threads: {wall2:.1f} ms, {wall / wall2:.2f} times as fast")
    print(f"  {cpu2 / wall2:.2f} cores used")
    print(f"the same bits: {one.hash() == two.hash()}")
    for what, scene in (("edits", one), ("edits in a heap of 6", heap(6))):
        edit, step = np.array(edit_times(scene, min(6, count // 2))).T
        print(f"{what}: median {np.median(edit):.1f} ms, longest {edit.max():.1f} ms")
        print(f"  the step after: {np.median(step):.1f} ms longer, at most {step.max():.1f} ms")
    culled = crowd(count)
    keep = culled.actors[: max(count // 10, 1)]
    for actor in culled.actors:
        if actor not in keep:
            actor.pause()
    measured(culled, 30)
    cut, _ = measured(culled, 30)
    print(f"nine of ten culled: {cut:.2f} ms, {cpu / cut:.1f} times cheaper")
    for actor in one.actors:
        one.sleep(actor)
    one.step(STEP)
    asleep, _ = measured(one, 50)
    print(f"{len(one.actors)} mechanisms asleep: {asleep:.3f} ms a step")
    beside_mujoco(count)


if __name__ == "__main__":
    main()
