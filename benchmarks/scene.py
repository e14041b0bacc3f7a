"""Scenes: 100 ragdolls on uneven ground, threads, culling, sleeping, edits; beside MuJoCo's humanoids.

`python benchmarks/scene.py [count]` prints a table. Times are processor time of this process, the least of
several; what threads use of the cores is processor time over wall-clock time. A step of ours is 1/60 s, one
of MuJoCo's 2 ms: they are compared by simulated time, and by call.
"""

import os
import sys
import time

import numpy as np

import linkwork as lw

STEP = 1 / 60


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


def mujoco_humanoids(count: int, steps: int) -> float | None:
    """Return the processor time of a step of 2 ms of as many of MuJoCo's humanoids [ms]; None: not there."""
    try:
        import mujoco
    except ImportError:
        return None
    limbs = "".join(_peer(k) for k in range(count))
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='99 99 1'/>"
        f"{limbs}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 500)
    begun = time.process_time()
    mujoco.mj_step(model, data, steps)
    return 1e3 * (time.process_time() - begun) / steps


def _peer(k: int) -> str:
    """Return a person of as many bodies and joints as `ragdoll`, for MuJoCo."""
    side = [(1, "l"), (-1, "r")]
    ball, hinge = "<joint type='ball' damping='.5'/>", "<joint axis='0 1 0' damping='.5'/>"

    def capsule(radius, length):
        return f"<geom type='capsule' size='{radius} {length / 2}'/>"

    legs = "".join(
        f"<body pos='0 {0.12 * s} -.05'>{ball}<geom type='capsule' size='.07 .15' pos='0 0 -.2'/>"
        f"<body pos='0 0 -.42'>{hinge}<geom type='capsule' size='.05 .15' pos='0 0 -.21'/>"
        f"<body pos='0 0 -.43'>{hinge}<geom type='capsule' size='.04 .05' pos='.05 0 -.04'/></body>"
        "</body></body>"
        for s, _ in side
    )
    arms = "".join(
        f"<body pos='0 {0.2 * s} .08'>{ball}<geom type='capsule' size='.045 .1' pos='0 {0.02 * s} -.12'/>"
        f"<body pos='0 {0.02 * s} -.28'>{hinge}<geom type='capsule' size='.04 .1' pos='0 0 -.14'/></body>"
        "</body>"
        for s, _ in side
    )
    head = f"<body pos='0 0 .16'>{ball}{capsule(0.1, 0.05)}</body>"
    neck = f"<body pos='0 0 .18'>{ball}{capsule(0.05, 0.02)}{head}</body>"
    chest = f"<body pos='0 0 .22'>{ball}{capsule(0.13, 0.12)}{arms}{neck}</body>"
    trunk = f"<body pos='0 0 .2'>{ball}{capsule(0.11, 0.1)}{chest}</body>"
    place = f"{2.5 * (k % 10)} {2.5 * (k // 10)} 1.2"
    return f"<body pos='{place}'><freejoint/>{capsule(0.12, 0.1)}{trunk}{legs}</body>"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
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
    peer = mujoco_humanoids(count, 100)
    if peer is not None:
        whole = peer * 1e3 / 120
        print(f"MuJoCo, as many people: {peer:.2f} ms for a step of 2 ms; for 1/60 s {whole:.0f} ms")
        print(f"  by simulated time {whole / cpu:.2f} times ours, by call {peer / cpu:.2f} times ours")
        print(f"  {whole / wall2:.2f} times ours by two threads on the clock")


if __name__ == "__main__":
    main()
