"""Energy of random closed scenes: what bodies have in a closed box may only fall.

`python benchmarks/closed_scenes.py 10000` draws as many scenes of balls, boxes, capsules, cylinders and hulls
of random sizes, masses, places, speeds and spins in a box that nothing leaves, with random friction,
restitution (exactly 1 in a third of them) and gravity (none in a half of them), and moves each by steps of
1/60 s. It prints the worst growth of the energy in a step, kinetic and potential, as a part of what there was
at first, and the scenes it was in: `python benchmarks/closed_scenes.py --scene 123` shows one, step by step.
`--seconds` says how long each is moved, `--most` how many bodies it has at most.
"""

import argparse
import time

import numpy as np

import linkwork as lw

STEP = 1 / 60
HALF = 0.7  # of the box [m]
SHOWN = 10


def solid(generator: np.random.Generator) -> object:
    """Return a shape within 0.13 m of its origin."""
    a, b, c = generator.uniform(0.04, 0.075, 3)
    kind = generator.integers(5)
    if kind == 0:
        return lw.Sphere(a)
    if kind == 1:
        return lw.Box(2 * a, 2 * b, 2 * c)
    if kind == 2:
        return lw.Capsule(0.6 * a, 1.5 * b)
    if kind == 3:
        return lw.Cylinder(a, 2 * b)
    corners = generator.normal(size=(8, 3))
    return lw.ConvexHull(b * corners / np.linalg.norm(corners, axis=1, keepdims=True))


def scene(number: int, most: int) -> tuple[lw.Mechanism, np.ndarray]:
    """Return a closed scene, and how fast its bodies are at first."""
    generator = np.random.default_rng(number)
    elastic = generator.random() < 1 / 3
    restitution = 1.0 if elastic else generator.choice([0.0, generator.uniform(0.0, 1.0)])
    made = lw.Material(friction=generator.uniform(0.0, 1.0), restitution=restitution)
    gravity = (0.0, 0.0, -9.81 if generator.random() < 0.5 else 0.0)
    m = lw.Mechanism("room", gravity=gravity)
    cells = generator.permutation(64)[: generator.integers(1, most + 1)]
    for k, cell in enumerate(cells):
        place = 0.3 * (np.array(np.unravel_index(cell, (4, 4, 4))) - 1.5)
        density = 10.0 ** generator.uniform(2.0, 4.0)
        m.add(lw.Body(f"solid {k}", solid(generator), density=density, position=tuple(place), material=made))
    for axis in np.eye(3):
        for normal in (axis, -axis):
            m.ground.add(lw.Plane(normal=tuple(normal), offset=-HALF), material=made)
    m.add(lw.Contact("contact"))
    v = generator.normal(size=(len(cells), 6)) * 10.0 ** generator.uniform(-1.0, 1.0)
    v[:, :3] *= 5.0
    return m, v.ravel()


def move(number: int, most: int, seconds: float) -> lw.Recording:
    """Return the motion of a scene."""
    m, v = scene(number, most)
    model = m.compile()
    times = np.arange(round(seconds / STEP) + 1) * STEP
    return lw.simulate(model, times[-1], lw.State(model.q_drawn, v), step=STEP, times=times)


def growth(run: lw.Recording) -> np.ndarray:
    """Return by how much the energy grows in each step, as a part of what moves and may fall at first."""
    energy = run.kinetic_energy + run.potential_energy
    mass = sum(body.mass for body in run.model.mechanism.bodies.values())
    whole = run.kinetic_energy[0] + mass * 9.81 * 2.0 * HALF * bool(np.any(run.model.mechanism.gravity))
    return np.diff(energy) / whole


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("count", nargs="?", type=int, default=100)
    read.add_argument("--first", type=int, default=0)
    read.add_argument("--most", type=int, default=8)
    read.add_argument("--seconds", type=float, default=0.5)
    read.add_argument("--scene", type=int)
    given = read.parse_args()
    if given.scene is not None:
        run = move(given.scene, given.most, given.seconds)
        for t, grown, E in zip(run.time[1:], growth(run), run.energy[1:], strict=True):
            print(f"{t:9.5f} s {grown:11.2e} {E:14.6f} J")
        print(*run.report.warnings, sep="\n")
        return
    begun, found = time.process_time(), []
    for number in range(given.first, given.first + given.count):
        run = move(number, given.most, given.seconds)
        found.append((float(growth(run).max()), number, len(run.model.body_names), len(run.report.warnings)))
    grown = [each for each in found if each[0] > 1e-9]
    seconds = time.process_time() - begun
    print(f"{given.count} scenes, {seconds:.0f} s of CPU time: energy grows in {len(grown)}")
    for part, number, bodies, warnings in sorted(found, reverse=True)[:SHOWN]:
        print(f"  scene {number:6}: {part:9.2e} in a step; {bodies} bodies, {warnings} warnings")


if __name__ == "__main__":
    main()
