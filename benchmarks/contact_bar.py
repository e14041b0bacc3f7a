"""How right contact is where it must be: each figure by steps of 1/60 s and to an accuracy, beside its bound.

`python benchmarks/contact.py bar` prints all of it, some minutes; words of titles as further arguments choose
some. Lengths are in m, times in s; what has no unit is an error over the value. Scenes that tests have, too,
come from there.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from math import cos, pi, radians, sin, sqrt, tan
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork import examples
from linkwork.contact_dynamics.detection.colliding_bodies import meeting
from linkwork.contact_dynamics.event_driven.touching import Surfaces

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "contact_dynamics"), str(TESTS / "contact"), str(TESTS)]

G = 9.81
STEPS: Mapping[str, Any] = {"step": 1 / 60}
ACCURACY: Mapping[str, Any] = {}
Way = Mapping[str, Any]
SLOPE = radians(30)


def _scene(
    bodies: Mapping[str, tuple[Any, Any, float]], material: lw.Material, gravity: Any = (0, 0, -G)
) -> lw.Mechanism:
    m = lw.Mechanism("scene", gravity=gravity)
    for name, (shape, place, mass) in bodies.items():
        m.add(lw.Body(name, shape, mass=mass, position=place, material=material))
    m.ground.add(lw.Plane(), material=material)
    m.add(lw.Contact("contact"))
    return m


def _run(m: lw.Mechanism, span: float, way: Way, velocities: Any = None, **options: Any) -> Any:
    model = m.compile()
    return lw.simulate(model, span, model.state(velocities=velocities or {}), **way, **options)


def _moved(run: Any) -> float:
    first, last = run.at(run.time[0]), run.at(run.time[-1])
    return max(float(np.abs(last[x].position - first[x].position).max()) for x in run.model.body_names)


def _ends(span: float) -> Mapping[str, Any]:
    return {"times": [0.0, span]}


def _on_slope(way: Way, more: float) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for k in range(8):
        down = np.array([cos(k * pi / 4), sin(k * pi / 4), 0])
        box = {"box": (lw.Box(0.4, 0.4, 0.2), (0, 0, 0.1), 8.0)}
        gravity = G * sin(SLOPE) * down - (0, 0, G * cos(SLOPE))
        m = _scene(box, lw.Material(friction=more * tan(SLOPE)), tuple(gravity))
        at = _run(m, 10.0, way, **_ends(10.0))["box"].position
        found.append((at[-1] - at[0], down))
    return found


def creep(way: Way) -> float:
    return max(float(np.abs(x).max()) for x, _ in _on_slope(way, 1.001))


def acceleration(way: Way) -> float:
    exact = 50 * 0.001 * G * sin(SLOPE)
    return max(float(np.linalg.norm(x / exact - down)) for x, down in _on_slope(way, 0.999))


def _rolls(way: Way) -> tuple[float, float]:
    m = _scene({"ball": (lw.Sphere(0.1), (0, 0, 0.1), 4.0)}, lw.Material(friction=0.3))
    run = _run(m, 2.0, way, {"ball free": (0, 0, 0, 3.0, 0, 0)}, every=1 / 60)
    speed, when = run["ball"].velocity[:, 0], 6.0 / (7.0 * 0.3 * G)
    slip = speed - 0.1 * run["ball"].angular_velocity[:, 1]
    last = int(np.flatnonzero(slip > 1e-4)[-1])
    found = run.time[last] + slip[last] / (3.5 * 0.3 * G)  # while it slides slip falls by 3.5 mu g
    if not way:
        found = next(t for t, what in run.report.events if "stick" in what)
    return abs(float(speed[-1]) / (15 / 7) - 1.0), abs(found - when)


def rolling_speed(way: Way) -> float:
    return _rolls(way)[0]


def rolling_time(way: Way) -> float:
    return _rolls(way)[1]


def rolling_plate(way: Way) -> float:
    """SimBenchmark's rolling scene, pushed along an axis and at 45 degrees to it."""
    worst = 0.0
    for a in (0.0, pi / 4):
        bodies: dict[str, Any] = {
            f"ball {i}{j}": (lw.Sphere(0.5), (2.0 * i - 4, 2.0 * j - 4, 1.5), 1.0)
            for i in range(5)
            for j in range(5)
        }
        bodies["plate"] = lw.Box(20, 20, 1), (0, 0, 0.5), 10.0
        m = _scene(bodies, lw.Material(friction=0.8))
        m.add(lw.Contact("below", (m.ground, "plate"), material=lw.Material(friction=0.4)))
        m.add(lw.Force("push", m["plate"], (150 * cos(a), 150 * sin(a), 0)))
        run, along = _run(m, 4.0, way, times=[4.0]), np.array([cos(a), sin(a), 0])
        for name, speed in (("plate", 2.954), ("ball 00", 0.844)):
            worst = max(worst, float(np.linalg.norm(run[name].velocity[-1] - speed * along)) / speed)
    return worst


def apexes(way: Way) -> float:
    worst = 0.0
    for e in (0.5, 0.9):
        m = _scene({"ball": (lw.Sphere(0.1), (0, 0, 1.1), 4.0)}, lw.Material(restitution=e))
        tops = sqrt(2 / G) * np.array([1 + 2 * sum(e**i for i in range(1, k)) + e**k for k in range(1, 5)])
        run = _run(m, 4.0 * e + 1.5, way, every=1e-3)
        for k, top in enumerate(tops):
            near = np.abs(run.time - top) < 5e-3
            z, v = run["ball"].position[near, 2] - 0.1, run["ball"].velocity[near, 2]
            worst = max(worst, abs(float((z + v * v / (2 * G)).max()) / e ** (2 * k + 2) - 1))
    return worst


def hundred(way: Way) -> float:
    m = _scene({"ball": (lw.Sphere(0.1), (0, 0, 1.1), 4.0)}, lw.Material(restitution=1.0))
    run = _run(m, 91.0, way)
    assert sum("hits" in what for _, what in run.report.events) > 100
    height = run["ball"].position[:, 2] - 0.1 + run["ball"].velocity[:, 2] ** 2 / (2 * G)
    return float(np.abs(height - 1).max())


def closed_scenes(way: Way) -> float:
    """By how much energy grows at most, over all of it, in 10,000 (1,000) scenes of two balls and a box."""
    import test_scenes

    return test_scenes.growth(10_000) if way else float("nan")


def moreau_jean(way: Way) -> float:
    import test_moreau_jean as known

    run = lw.simulate(known.ball(), 10.0, step=known.STEP, method="moreau-jean")
    found = np.column_stack([run["ball"].position[:, 2] - 0.1, run["ball"].velocity[:, 2]])
    return float(np.abs(found - known.textbook(2000)).max()) if way else float("nan")


def rest(way: Way) -> float:
    boxes = ({"box": (lw.Box(0.2, 0.2, 0.2), (0, 0, 0.1), mass)} for mass in (1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9))
    return max(_moved(_run(_scene(box, lw.Material()), 10.0, way, **_ends(10.0))) for box in boxes)


def compliant(way: Way) -> float:
    worst = 0.0
    for k in (1e4, 1e6, 1e8):
        made = lw.Material(stiffness=2 * k, damping=4 * sqrt(k))  # as the floor: k of both
        box = {"box": (lw.Box(0.2, 0.2, 0.2), (0, 0, 0.1 - 0.9 * G / k), 1.0)}
        depth = 0.1 - _run(_scene(box, made), 10.0, way, **_ends(10.0))["box"].position[-1, 2]
        worst = max(worst, abs(float(depth) * k / G - 1.0))
    return worst


def _stack(count: int, ratio: float, span: float, way: Way) -> float:
    bodies = {f"box {k}": (lw.Box(0.2, 0.2, 0.2), (0, 0, 0.1 + 0.2 * k), 8.0) for k in range(count)}
    bodies[f"box {count - 1}"] = lw.Box(0.2, 0.2, 0.2), (0, 0, 0.2 * count - 0.1), 8.0 * ratio
    return _moved(_run(_scene(bodies, lw.Material()), span, way, **_ends(span)))


def stacks(way: Way) -> float:
    return max(_stack(count, 1.0, 60.0, way) for count in (10, 20))


def heavy(way: Way) -> float:
    return max(_stack(count, ratio, 10.0, way) for count in (2, 10) for ratio in (1e3, 1e6))


def wall(way: Way) -> float:
    half = (0.2, 0.1, 0.1)
    places = [((i + 0.25 * (j % 2)) * 0.205, 0, 0.05 + 0.1 * j) for j in range(10) for i in range(10)]
    bodies = {f"brick {k}": (lw.Box(*half), place, 2.0) for k, place in enumerate(places)}
    return _moved(_run(_scene(bodies, lw.Material()), 60.0, way, **_ends(60.0))) if way else float("nan")


def cards(way: Way) -> float:
    import test_scenes

    m = test_scenes.house_of_cards(3)
    return _moved(lw.simulate(m, 10.0, **way, **_ends(10.0))) if way else float("nan")


def arch(way: Way) -> float:
    import test_scenes

    return _moved(lw.simulate(test_scenes.masonry_arch(), 60.0, **way, **_ends(60.0)))


def gripper(way: Way) -> float:
    import test_scenes

    run = lw.simulate(test_scenes.two_jaws(), 60.0, **way, **_ends(60.0))
    return float(np.abs(run["box"].position[-1] - (0, 0, 1)).max())


def humanoid(way: Way) -> float:
    """How far its feet sink while it stands for 10 s and walks for 5 s, at most."""
    if not way:
        return float("nan")
    worst = 0.0
    for walks in (False, True):
        m = examples.walking_robot() if walks else examples.humanoid()
        run = lw.simulate(m, 5.0 if walks else 10.0, **way)
        surfaces = Surfaces(run.model, meeting(run.model.mechanism))
        worst = max(worst, *(float((-surfaces.find(q, 1e-6).gap).max(initial=0.0)) for q in run.q))
    return worst


def eulers_disc(way: Way) -> float:
    import test_accuracy

    worst = 0.0
    for angle in (0.3, 0.05):
        run = lw.simulate(*_model_and(test_accuracy.a_disc(angle), 1.0), **way, every=0.1)
        energy = run.kinetic_energy + run.potential_energy
        worst = max(worst, float(np.abs(energy / energy[0] - 1.0).max()))
    return worst


def _model_and(given: Any, span: float) -> tuple[Any, float, Any]:
    model, start = given
    return model, span, start


def shots(way: Way) -> float:
    """How many of 10,000 shots of three shapes, from 10 to 1,000 m/s, get to the other side of 1 mm."""
    import test_stepping

    if not way:
        return float("nan")
    return float(sum(test_stepping.passed(shape, 3_334) for shape in test_stepping.SHOTS))


def golden(way: Way) -> float:
    """How many of ten scenes have other bits in another process."""
    import test_scenes

    def digests() -> list[str]:
        runs = (
            lw.simulate(make(), test_scenes.SPANS.get(name, (0.3, 0))[0] if not way else 0.5, **way)
            for name, make in test_scenes.SCENES.items()
        )
        return [hashlib.sha256(run.q.tobytes() + run.v.tobytes()).hexdigest() for run in runs]

    if os.environ.get("ONLY_DIGESTS"):
        print(*digests(), sep="\n")
        return float("nan")
    which = "steps" if way else "accuracy"
    code = f"import contact_bar as b; b.golden(b.STEPS if {which!r} == 'steps' else b.ACCURACY)"
    folder = str(Path(__file__).parent)
    paths = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    there = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONPATH": paths, "ONLY_DIGESTS": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return float(sum(a != b for a, b in zip(digests(), there, strict=True)))


BAR: tuple[tuple[str, Callable[[Way], float], str], ...] = (
    ("slope of 30 degrees, 8 directions, mu 0.1 % above: creep in 10 s", creep, "1e-6"),
    ("the same, mu 0.1 % below: error of the way", acceleration, "1e-4"),
    ("ball, sliding to rolling: error of the speed", rolling_speed, "1e-6"),
    ("the same: error of the time", rolling_time, "1e-3, 1e-6"),
    ("SimBenchmark's rolling scene, 2 directions: error", rolling_plate, "1e-3"),
    ("bounces of e = 0.5 and 0.9: error of 4 apexes", apexes, "5e-3, 1e-6"),
    ("e = 1, 100 bounces: error of the height", hundred, "1e-6"),
    ("10,000 closed scenes: growth of energy", closed_scenes, "0"),
    ("Moreau and Jean's scheme", moreau_jean, "1e-12"),
    ("box at rest, 1e-6 to 1e9 kg, 10 s: moves", rest, "1e-6"),
    ("compliant box, 1e4 to 1e8 N/m: error of m g / k", compliant, "1e-6"),
    ("stacks of 10 and 20, 60 s: move", stacks, "1e-5"),
    ("1 : 1e3 and 1 : 1e6, 2 and 10 boxes, 10 s: move", heavy, "1e-5"),
    ("wall of 10 x 10, 60 s: moves", wall, "5e-5"),
    ("house of 15 cards, 10 s: moves", cards, "stands"),
    ("masonry arch, 60 s: moves", arch, "stands"),
    ("gripper, 60 s: box moves", gripper, "1e-6"),
    ("humanoid stands and walks: feet sink", humanoid, "1e-3"),
    ("Euler's disc, 1 s: error of the energy", eulers_disc, "1e-6"),
    ("10,000 shots, 10 to 1,000 m/s: pass 1 mm", shots, "0"),
    ("ten scenes in another process: have other bits", golden, "0"),
)


def main(words: list[str]) -> None:
    print(f"{'':66}{'1/60 s':>10}{'accuracy':>10}  bound")
    for title, figure, bound in BAR:
        if words and not any(word in title for word in words):
            continue
        print(f"{title:66}", end="", flush=True)
        for way in (STEPS, ACCURACY):
            found = figure(way)
            print(f"{'-' if found != found else f'{found:.0e}':>10}", end="", flush=True)
        print(f"  {bound}", flush=True)
