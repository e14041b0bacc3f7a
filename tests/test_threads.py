"""Everything public from four threads at once: the answers are those of one thread, to the last bit.

Every name of `lw.__all__`, every public method of a model, of colliders, of a solid and of a recording is in
a table here, or in `NOT_ASKED` with the reason. A mechanism, a particle and a rigid body are changed by their
owner, and belong to one thread while they are; what is made of them here is made by each thread.
"""

import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

import linkwork as lw

THREADS = 4
ROUNDS = 3


def bits(thing: Any, depth: int = 0) -> Any:
    """Return an answer as plain data that compare bit by bit."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes() if thing.dtype != object else repr(thing)
    if isinstance(thing, float | np.floating):
        return np.float64(thing).tobytes()
    if thing is None or isinstance(thing, str | int | bool | bytes | np.integer):
        return thing
    if depth > 6:
        return type(thing).__name__
    if isinstance(thing, Mapping):
        return [(bits(k), bits(v, depth + 1)) for k, v in thing.items()]
    if isinstance(thing, list | tuple | set | frozenset):
        return [bits(each, depth + 1) for each in thing]
    if is_dataclass(thing):
        return [bits(getattr(thing, part.name, None), depth + 1) for part in fields(thing)]
    for word in ("q", "array", "position", "depth"):
        if hasattr(thing, word):
            return type(thing).__name__, bits(getattr(thing, word), depth + 1)
    return type(thing).__name__


def from_threads(
    calls: list[Callable[[], Any]], rounds: int = ROUNDS, alone: list[Callable[[], Any]] | None = None
) -> list[str]:
    """Call each of several functions from four threads, all at once; say which answers differ from those of
    one thread. What keeps its answers is asked as a twin of itself there: `alone`."""
    expected = [bits(call()) for call in alone or calls]
    wrong: list[str] = []
    start = threading.Barrier(THREADS)

    def work(number: int) -> None:
        start.wait()
        for turn in range(rounds):
            for k in range(len(calls)):
                which = (k * (number + 1) + number + turn) % len(calls)
                try:
                    if bits(calls[which]()) != expected[which]:
                        wrong.append(f"call {which} in thread {number}")
                except Exception as error:
                    wrong.append(f"call {which} in thread {number}: {error!r}")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return wrong


def test_a_function_with_a_shared_room_is_caught() -> None:
    room = np.zeros(1000)

    def unsafe(k: int) -> np.ndarray:
        for i in range(len(room)):
            room[i] = k
        return room.copy()

    assert from_threads([lambda k=k: unsafe(k) for k in range(7)], rounds=20)


# what is asked: name -> the calls, with different arguments


def ring() -> lw.Solid:
    """Return a square ring, which is not convex."""
    return lw.Polygon([(0.5, 0), (0.7, 0), (0.7, 0.3), (0.5, 0.3)]).revolved()


PLACES = [(0.1 * k, 0.07 * k, 0.9 - 0.11 * k) for k in range(9)]
SHAPES = {
    "ball": lw.Sphere(0.5),
    "box": lw.Box(1, 0.8, 0.6),
    "cylinder": lw.Cylinder(0.4, 0.8),
    "capsule": lw.Capsule(0.3, 0.6),
    "cone": lw.Cone(0.5, 0.9),
    "ellipsoid": lw.Ellipsoid(0.3, 0.5, 0.6),
    "hull": lw.ConvexHull(np.random.default_rng(1).normal(size=(20, 3))),
    "mesh": lw.Sphere(0.6).mesh(16),
    "torus": ring().mesh(16),
    "polygon": lw.Extrusion(lw.Polygon([(0, 0), (1, 0), (1, 0.4), (0.4, 0.4), (0.4, 1), (0, 1)]), 0.2),
    "extrusion": lw.Extrusion(lw.Polygon([(0, 0), (1, 0), (0, 1)]), 0.5),
    "revolution": ring(),
    "compound": lw.Sphere(0.4) + lw.Box(0.2, 0.2, 1.5),
    "plane": lw.Plane(),
    "terrain": lw.HeightField(np.random.default_rng(2).uniform(-0.2, 0.2, (9, 9)), (3, 3)),
}


def pairs_of(function: Callable[..., Any]) -> list[Callable[[], Any]]:
    """Return calls with pairs of shapes in many places."""
    ends = [name for name in SHAPES if name not in ("plane", "terrain", "compound")]
    pairs = [(a, b) for n, a in enumerate(ends) for b in list(SHAPES)[n : n + 5]]
    return [
        lambda a=a, b=b, p=p: function(SHAPES[a], SHAPES[b], pose_a=p)
        for a, b in [*pairs, ("mesh", "terrain"), ("mesh", "mesh"), ("hull", "plane")]
        for p in PLACES[::3]
    ]


@cache
def world() -> lw.Colliders:
    made = lw.Colliders()
    for k, (name, shape) in enumerate(SHAPES.items()):
        made.add(name, shape, position=PLACES[k % len(PLACES)])
    made.add("far", lw.Sphere(0.3), position=(4, 0, 0))
    made.exclude("ball", "box")
    return made


COLLIDERS = {
    "contacts": lambda w: [
        lambda m=m, t=t: w.contacts(margin=m, threads=t) for m in (0.0, 0.01) for t in (1, 2)
    ],
    "pairs": lambda w: [lambda m=m: w.pairs(m) for m in (0.0, 0.3, 1.0)],
    "distance": lambda w: [lambda n=n: w.distance("far", n) for n in SHAPES],
    "closest_points": lambda w: [lambda n=n: w.closest_points("far", n) for n in SHAPES],
    "ray_cast": lambda w: [lambda p=p: w.ray_cast(p, (0.1, 0.2, -1)) for p in PLACES],
    "height": lambda w: [lambda k=k: w.height(0.1 * k, [0.0, 0.2]) for k in range(9)],
    "contains": lambda w: [lambda n=n: w.contains(n, PLACES) for n in SHAPES],
    "touching_triangles": lambda w: [lambda: w.touching_triangles("mesh", "mesh")],
    "copy": lambda w: [lambda k=k: moved(w.copy(), k) for k in range(5)],
    "names": lambda w: [lambda: w.names],
    "table": lambda w: [lambda: w.table.reach],
    "arrays": lambda w: [lambda: w.arrays.owner],
    "poses": lambda w: [lambda: w.poses],
    "shape_bodies": lambda w: [lambda: w.shape_bodies],
    "shape_numbers": lambda w: [lambda: w.shape_numbers],
    "of": lambda w: [lambda: lw.Colliders.of(arm().mechanism).contacts()],
    "standing": lambda w: [lambda: lw.Colliders.standing(arm().mechanism).contacts()],
}


def moved(colliders: lw.Colliders, k: int) -> Any:
    """Return the contacts after bodies have moved, been added and taken out, by their owner."""
    colliders.move("far", (0.1 * k, 0, 0.5))
    colliders.place({"cone": lw.Frame(position=(0, 0.1 * k, 0.2))})
    colliders.add("new", lw.Sphere(0.2), position=(0, 0, 0.1 * k))
    colliders.remove("terrain")
    colliders.exclude("new", "far")
    return colliders.contacts()


def solid_calls(word: str) -> list[Callable[[], Any]]:
    """Return calls of a method, or readings of a property, of all solids that have it."""
    arguments = {
        "support": ((0.1, 0.2, 0.9),),
        "reach": (np.array((0.1, 0.2, 0.9)),),
        "of_mass": (2.0,),
        "inertia": (2.0,),
    }.get(word, ())
    calls = []
    for shape in SHAPES.values():

        def call(shape: Any = shape) -> Any:
            try:
                found = getattr(shape, word)
                return found(*arguments) if callable(found) else found
            except (ValueError, TypeError) as error:
                return str(error)  # what has no end has no mass

        calls.append(call)
    return calls


@cache
def arm() -> lw.Model:
    return lw.examples.robot_arm().compile()


@cache
def engine() -> lw.Model:
    return lw.examples.slider_crank().compile()


def at(model: lw.Model, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a position, a velocity and forces, others for every k."""
    rng = np.random.default_rng(k)
    q = model.assemble(model.q_drawn + 0.02 * rng.normal(size=model.nq))
    return q, 0.1 * rng.normal(size=model.nv), rng.normal(size=model.nv)


def moving(model: lw.Model) -> list[str]:
    """Return a joint with one freedom."""
    return [next(name for name, (_, part) in model.slices.items() if part.stop - part.start == 1)]


MODEL: dict[str, Callable[..., Any]] = {
    "forward_dynamics": lambda m, q, v, f: m.forward_dynamics(q, v, f),
    "inverse_dynamics": lambda m, q, v, f: m.inverse_dynamics(q, v, f),
    "bias_forces": lambda m, q, v, f: m.bias_forces(q, v),
    "gravity_forces": lambda m, q, v, f: m.gravity_forces(q),
    "mass_matrix": lambda m, q, v, f: m.mass_matrix(q),
    "position_rates": lambda m, q, v, f: m.position_rates(q, v),
    "kernel": lambda m, q, v, f: m.kernel("mass_matrix")(q),
    "kernel_of": lambda m, q, v, f: m.kernel("inverse_dynamics")(q, v, f),
    "poses": lambda m, q, v, f: {n: m.poses(q)[n].position for n in m.body_names},
    "velocities": lambda m, q, v, f: m.velocities(q, v).array,
    "accelerations": lambda m, q, v, f: m.accelerations(q, v, f).array,
    "body_accelerations": lambda m, q, v, f: m.body_accelerations(q, v, f).array,
    "jacobian": lambda m, q, v, f: m.jacobian(q, m.body_names[-1]),
    "inverse_felt_inertia": lambda m, q, v, f: m.inverse_felt_inertia(q, m.body_names[-1]),
    "felt_inertia": lambda m, q, v, f: m.felt_inertia(
        q, m.body_names[-1], direction=np.eye(m.link_tree.algebra.dimension)[0]
    ),
    "dual_bases": lambda m, q, v, f: m.dual_bases(m.joint_names[0], q),
    "motion_subspace": lambda m, q, v, f: m.motion_subspace(m.joint_names[-1], q),
    "constraint_subspace": lambda m, q, v, f: m.constraint_subspace(m.joint_names[-1], q),
    "reactions": lambda m, q, v, f: m.reactions(q, v, f).array,
    "reactions_at": lambda m, q, v, f: (
        m.reactions_at(q, v, f, np.zeros((len(m.body_names), 6 if m.space == "space" else 3))).array
    ),
    "reactions_in_motion": lambda m, q, v, f: (
        m.reactions_in_motion(
            q, v, 0.0, f, np.zeros((len(m.body_names), 6 if m.space == "space" else 3))
        ).array
    ),
    "loop_forces": lambda m, q, v, f: m.loop_forces(q, v, f).array if m.loop_names else None,
    "equation_forces": lambda m, q, v, f: m.equation_forces(q, v) if m.loop_names else None,
    "row_forces_in_motion": lambda m, q, v, f: m.row_forces_in_motion(q, v) if m.loop_names else None,
    "energy": lambda m, q, v, f: m.energy(q, v),
    "kinetic_energy": lambda m, q, v, f: m.kinetic_energy(q, v),
    "potential_energy": lambda m, q, v, f: m.potential_energy(q),
    "momentum": lambda m, q, v, f: m.momentum(q, v),
    "center_of_mass": lambda m, q, v, f: m.center_of_mass(q),
    "motion": lambda m, q, v, f: m.motion(q, v, 0.1),
    "loads": lambda m, q, v, f: m.loads(q, v),
    "load_values": lambda m, q, v, f: [m.load_values(name, q, v) for name in m.load_names],
    "contact_forces": lambda m, q, v, f: m.contact_forces(q, v),
    "loop_drives": lambda m, q, v, f: m.loop_drives(q, v) if m.loop_names else None,
    "loop_coordinates": lambda m, q, v, f: m.loop_coordinates(q, v) if m.loop_names else None,
    "loop_motion": lambda m, q, v, f: m.loop_motion(q, v) if m.loop_names else None,
    "loop_accelerations": lambda m, q, v, f: m.loop_accelerations(q, v, f) if m.loop_names else None,
    "loop_gap": lambda m, q, v, f: m.loop_gap(q),
    "constraint_residual": lambda m, q, v, f: m.constraint_residual(q) if m.loop_names else None,
    "constraint_velocity": lambda m, q, v, f: m.constraint_velocity(q, v) if m.loop_names else None,
    "constraint_jacobian": lambda m, q, v, f: m.constraint_jacobian(q) if m.loop_names else None,
    "closed_velocity": lambda m, q, v, f: m.closed_velocity(q, v),
    "assemble": lambda m, q, v, f: m.assemble(q),
    "state": lambda m, q, v, f: m.state().q,
    "diagnose": lambda m, q, v, f: str(m.diagnose()),
    "independent_joints": lambda m, q, v, f: m.independent_joints(),
    "velocity_map": lambda m, q, v, f: m.velocity_map(q) if m.loop_names else None,
    "velocity_map_rate": lambda m, q, v, f: m.velocity_map_rate(q, v) if m.loop_names else None,
    "generalized_forces": lambda m, q, v, f: m.generalized_forces(q, f[:1], moving(m)),
    "specialize": lambda m, q, v, f: m.specialize().mass_matrix(q),
    "joints": lambda m, q, v, f: list(m.joints),
    "cut": lambda m, q, v, f: m.cut,
    "current": lambda m, q, v, f: m.current.mass_matrix(q),
}


def run() -> Any:
    return lw.simulate(lw.examples.acrobat().compile(), 0.3)


def motion() -> Any:
    """Return a motion that is determined by its drivers."""
    return lw.kinematics(driven(), np.linspace(0, 0.3, 7))


@cache
def one_motion() -> Any:
    return motion()


def driven() -> lw.Mechanism:
    made = lw.examples.four_bar()
    made.add(lw.Driver("turn", next(iter(made.joints)), lambda t: 0.5 * t))
    return made


RECORDING: dict[str, Callable[[Any], Any]] = {
    "at": lambda r: [r.at(t).q for t in (0.0, 0.05, 0.11, 0.2)],
    "sample": lambda r: r.sample(1).q,
    "summary": lambda r: len(r.summary()) > 0,
    "to_dataframe": lambda r: r.to_dataframe().to_numpy(),
    "to_xarray": lambda r: [np.asarray(each) for each in r.to_xarray().data_vars.values()],
    "report": lambda r: r.report.status,
    "energy_balance": lambda r: r.energy_balance,
    "energy_error": lambda r: r.energy_error,
    "status": lambda r: str(r.status),
    "derived": lambda r: r.derived("accelerations"),
    "a": lambda r: r.a,
    "energy": lambda r: r.energy,
    "energy_at_play": lambda r: r.energy_at_play,
    "knows": lambda r: r.knows("energy"),
    "kinetic_energy": lambda r: r.kinetic_energy,
    "potential_energy": lambda r: r.potential_energy,
    "momentum": lambda r: r.momentum,
    "center_of_mass": lambda r: r.center_of_mass,
    "loop_gaps": lambda r: r.loop_gaps,
    "contacts": lambda r: r.contacts.force if r.layout.touching else None,
    "inputs": lambda r: r.inputs,
    "arrays": lambda r: r.arrays(),
    "layout": lambda r: list(r.layout.bodies),
    "events": lambda r: [str(event) for event in getattr(r, "events", ())],
}


def thrown(k: int) -> lw.Particle:
    return lw.Particle("stone", 1.0, position=(0, 0, 0.1 * k), velocity=(1, 0, 2))


def spun(k: int) -> lw.RigidBody:
    return lw.RigidBody("brick", lw.Box(4, 1, 2), mass=8.0, angular_velocity=(0.1 * k, 0.5, 0.1))


def heavy(gravity: float) -> lw.Mechanism:
    made = lw.examples.chain(2)
    made.gravity = (0, 0, -gravity)
    return made


@cache
def forest() -> lw.Forest:
    return lw.Forest({"a": lw.examples.acrobat(), "b": lw.examples.chain(2), "c": lw.examples.chain(2)})


@cache
def written() -> str:
    path = Path(mkdtemp()) / "arm.json"
    lw.examples.slider_crank().save(path)
    return str(path)


def positions(k: int) -> Any:
    own = lw.Positions(driven())
    return own([0.1 * k]), own.many([0.1 * k]), own.values


def stepped(k: int) -> Any:
    """Step a simulation of one's own: each is for one thread at a time."""
    own = lw.Simulation(lw.examples.acrobat().compile(), step=1e-4 * (k + 1), method="rk4")
    for _ in range(5):
        own.step()
    return own.q, own.v


class Pull(lw.Behaviour):
    """Turn the motor of a mechanism, harder in every step."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor

    def before(self, scene: lw.Scene, dt: float) -> None:
        self.actor.inputs["pull"] = 10.0 * scene.time


def two_links(name: str) -> lw.Mechanism:
    """Return two boxes that hang from ground on hinges, the upper one with limits and a motor."""
    made = lw.Mechanism(name)
    a = made.add(lw.Body("upper", lw.Box(0.1, 0.1, 0.4), mass=1.0, position=(0, 0, -0.2)))
    b = made.add(lw.Body("lower", lw.Sphere(0.1), mass=2.0, position=(0, 0, -0.6)))
    made.add(lw.Revolute("top", made.ground, a, at=(0, 0, 0), axis=(0, 1, 0), limits=(-0.02, 0.02)))
    made.add(lw.Revolute("middle", a, b, at=(0, 0, -0.4), axis=(0, 1, 0)))
    made.add(lw.Motor("pull", "top"))
    return made


@cache
def swung() -> Any:
    return lw.simulate(two_links("links"), 0.2, every=0.02)


def played(k: int, steps: int = 12) -> tuple[lw.Scene, list[Any]]:
    """Step a scene of one's own, with all kinds of behaviours in it; return it and what they have noticed."""
    scene, heard = lw.Scene(threads=1 + k % 2), list[Any]()
    floor = scene.add(lw.ground_plane(-0.1 * k), material=lw.Material(friction=0.6))
    ball = scene.add(lw.Body("ball", lw.Sphere(0.2), density=500), position=(1, 0, 0.21 - 0.1 * k))["ball"]
    near, weak, far = (scene.add(two_links(f"links {x}"), position=(x, 2, 2)) for x in (0, 3, 90))

    def hear(*words: Any) -> None:
        heard.append([scene.time, *(getattr(word, "path", None) for word in words[1:])])

    sensors = [
        *(kind(ball) for kind in (lw.ContactSensor, lw.HeightSensor, lw.InertialSensor)),
        lw.RaySensor(ball, (0, 0, -1)),
    ]
    rules = [
        lw.OnContact(ball, hear, other=floor),
        lw.OnLimit(near["top"], hear),
        lw.OnDistance(ball, (1, 0, 0.2 - 0.1 * k), 0.005, hear),
        lw.OnTime(0.05, hear, every=0.1),
        lw.BreakWhen(weak["middle"], force=15.0, then=hear),
        lw.CapturedMotion(far, swung()),
        lw.Culling((0, 0, 0), [(50, "full"), (np.inf, "captured")], actors=[near, far]),
        Pull(near),
    ]
    for one in (*sensors, *rules):
        scene.add(one)
    scene.step(1 / 60, n=steps)
    touch, high, feel, ray = sensors
    measured = [touch.force, high.height, feel.acceleration, ray.distance, rules[4].broken]
    return scene, [heard, measured, [body.pose for one in scene.actors for body in one.children]]


def test_behaviours_that_are_asked_from_threads_notice_something() -> None:
    scene, (heard, (force, _, _, distance, broken), _) = played(1)
    assert {len(words) for words in heard} == {1, 2, 3}
    assert any("/top" in str(words) for words in heard)
    assert force[2] > 0
    assert distance < 0.3
    assert broken is not None
    assert scene["links 90"].paused


@cache
def still() -> lw.Scene:
    return played(0)[0]


QUESTIONS: list[Callable[[lw.Scene], Any]] = [  # to one scene, while nobody steps it
    *(lambda s, p=p: s.ray(p, (0.1, 0.2, -1)) for p in PLACES[:3]),
    *(lambda s, k=k: s.height(0.1 * k, 0.2) for k in range(3)),
    lambda s: s.energy(),
    lambda s: s.momentum(),
    lambda s: s.bounds,
    lambda s: s.hash(),
    lambda s: [contact.force for contact in s.contacts],
    lambda s: s["links 0/top"].reaction,
    lambda s: s.recording.q,
]


@cache
def dropped() -> Any:
    return lw.simulate(lw.examples.bouncing_balls((0.5,)), 0.4, step=1 / 60)


FUNCTIONS: dict[str, Callable[[], list[Callable[[], Any]]]] = {
    "collide": lambda: pairs_of(lw.collide),
    "distance": lambda: pairs_of(lw.distance),
    "closest_points": lambda: pairs_of(lw.closest_points),
    "overlap": lambda: pairs_of(lw.overlap),
    "contains": lambda: [
        lambda n=n, k=k: lw.contains(SHAPES[n], np.array(PLACES) * 0.3 * k) for n in SHAPES for k in (1, 2)
    ],
    "ray_cast": lambda: [lambda p=p: lw.ray_cast(list(SHAPES.values()), p, (0.1, 0.2, -1)) for p in PLACES],
    "simulate": lambda: [
        *(
            lambda k=k: lw.simulate(arm(), 0.05, lw.State(arm().q_drawn, 0.1 * k * np.ones(arm().nv))).q
            for k in range(4)
        ),
        lambda: lw.simulate(engine(), 0.05).q,
        lambda: lw.simulate(arm(), 0.02, q=np.tile(arm().q_drawn, (8, 1)), threads=2).q,
    ],
    "sweep": lambda: [
        lambda g=g: (
            lw.sweep(heavy, {"gravity": [1.0, g]}, lambda built: lw.simulate(built, 0.01).energy_error).rows
        )
        for g in (2.0, 9.81)
    ],
    "kinematics": lambda: [lambda n=n: lw.kinematics(driven(), np.linspace(0, 0.2, n)).q for n in (3, 5, 7)],
    "assembly_modes": lambda: [
        lambda s=s: [mode.q for mode in lw.assembly_modes(driven(), starts=200, seed=s)] for s in (0, 1)
    ],
    "sensitivity": lambda: [
        lambda k=k: bits(lw.sensitivity(one_motion(), (next(iter(driven().joints)), "on_parent", k)))
        for k in (0, 1)
    ],
    "carry": lambda: [lambda: lw.carry(engine(), engine().state(), lw.examples.slider_crank())[1].q],
    "merge": lambda: [
        lambda k=k: lw.merge({"a": lw.examples.chain(2), "b": lw.examples.chain(k)}).compile().q_drawn
        for k in (1, 2, 3)
    ],
    "integrate": lambda: [
        lambda k=k: lw.integrate([spun(k), thrown(k)], 0.1, gravity=(0, 0, -9.81)).q for k in range(3)
    ],
    "load": lambda: [lambda: lw.load(written()).compile().q_drawn],
    "image_outline": lambda: [
        lambda k=k: lw.image_outline(np.eye(9) * 0.1 * k, 0.1, level=0.2) for k in (3, 5)
    ],
    "rotation_about": lambda: [lambda k=k: lw.rotation_about((0, 0, 1), 0.1 * k) for k in range(5)],
    "rotation_euler": lambda: [lambda k=k: lw.rotation_euler("xyz", (0.1 * k, 0.2, 0.3)) for k in range(5)],
    "rotation_quaternion": lambda: [lambda k=k: lw.rotation_quaternion((0.6, 0.8, 0, 0)) for k in range(5)],
    "rotation_x": lambda: [lambda k=k: lw.rotation_x(0.1 * k) for k in range(5)],
    "rotation_y": lambda: [lambda k=k: lw.rotation_y(0.1 * k) for k in range(5)],
    "rotation_z": lambda: [lambda k=k: lw.rotation_z(0.1 * k) for k in range(5)],
    "rotation": lambda: [lambda k=k: lw.rotation(0.1 * k) for k in range(5)],
    "translation": lambda: [lambda k=k: lw.translation(0.1 * k, 0, 0) for k in range(5)],
    "Mechanism": lambda: [
        lambda k=k: lw.examples.chain(k).compile().gravity_forces(np.full(k, 0.1)) for k in (1, 2, 3)
    ],
    "examples": lambda: [
        lambda n=n: getattr(lw.examples, n)().compile().q_drawn for n in ("four_bar", "acrobat", "cart_pole")
    ],
    "Forest": lambda: [lambda d=d: forest().simulate(d).final.q for d in (0.02, 0.05)],
    "Frame": lambda: [
        lambda k=k: lw.Frame(position=(k, 0, 0)) @ lw.Frame(position=(0, k, 0)) for k in range(5)
    ],
    "Inertia": lambda: [lambda k=k: lw.Inertia(1.0 + k, (0, 0, 0), np.eye(3)).principal() for k in range(5)],
    "RigidBody": lambda: [lambda k=k: spun(k).derivative() for k in range(5)],
    "Particle": lambda: [lambda k=k: thrown(k).derivative() for k in range(5)],
    "Positions": lambda: [lambda k=k: positions(k) for k in range(3)],
    "Simulation": lambda: [lambda k=k: stepped(k) for k in range(3)],
    "interp": lambda: [lambda k=k: lw.interp(0.1 * k, (0, 0.3, 1), (1, 2, 0), "cubic") for k in range(5)],
    "Scene": lambda: [
        *(lambda k=k: played(k)[1] for k in range(2)),
        *(lambda question=question: question(still()) for question in QUESTIONS),
    ],
    "ground_plane": lambda: [lambda k=k: lw.ground_plane(0.1 * k) for k in range(5)],
    "Listener": lambda: [lambda k=k: lw.Listener(looks=(1, 0.1 * k, 0)).right for k in range(5)],
    "sound": lambda: [
        *(lambda k=k: lw.sound(dropped(), (0.5, 0.1 * k, 1), rate=8000) for k in range(2)),
        lambda: lw.sound(dropped(), rate=8000).wav(),
    ],
    "degrees": lambda: [lambda k=k: lw.degrees(10.0 * k) for k in range(5)],
}

# What is in no table, and why.
FORMULAS = (
    "abs acos asin atan atan2 cos cosh cross_matrix exp floor hypot log max min norm pow sign sin sinh sqrt "
    "tan tanh where"
)
DESCRIPTIONS = (  # of a mechanism: a thread that describes one has it for itself
    "Absolute Body Bushing Cam Checkpoint Constraint Contact Coupling Cylindrical Distance Driver Event "
    "ExponentialStop "
    "Feedback Fixed Force Free Gear Helical Input Joint Line Load Material Motor Planar PointOnCurve "
    "PointOnLine PointOnPlane Prismatic Pulley RackPinion Restoring Revolute RigidStop Sampled Spherical "
    "Spring Stop Tableau Torque TorsionSpring Universal Wrench"
)
SOLIDS = (  # asked by `test_solids`
    "Box Capsule Compound Cone ConvexHull Cylinder Ellipsoid Extrusion HeightField Mesh Plane Polygon "
    "Revolution Solid Sphere"
)
BEHAVIOURS = (  # of a scene, which calls them: asked by `played`, each thread has its own
    "Behaviour BreakWhen CapturedMotion ContactSensor Culling HeightSensor InertialSensor OnContact "
    "OnDistance OnLimit OnTime RaySensor"
)
RESULTS = "deg plot Recordings ContactPoint Contacts Hit Hits KinematicRecording Recording Sound State"
ERRORS = (
    "AssemblyError FormatError LinkworkError MeshError ModelError NumericalError SimulationError TraceError"
)
MODULES = "contact_laws planar spatial view"  # the view is a program with threads of its own: tests/view
TOLD = "FileFormat action add_format"  # formats and actions are told once, at import
NOT_ASKED = {
    *f"{FORMULAS} {DESCRIPTIONS} {SOLIDS} {BEHAVIOURS} {RESULTS} {ERRORS} {MODULES} {TOLD}".split(),
    "Model",
    "Colliders",
}


def test_every_public_name_is_asked_or_said_not_to_be() -> None:
    public = set(lw.__all__)
    assert public - NOT_ASKED - set(FUNCTIONS) == set(), "add them to FUNCTIONS"
    assert not NOT_ASKED & set(FUNCTIONS)


def methods(kind: type) -> set[str]:
    """Return the public methods and properties of a class."""
    return {
        name
        for name, thing in inspect.getmembers(kind)
        if not name.startswith("_") and (callable(thing) or isinstance(thing, property))
    }


CHANGES = {"add", "remove", "exclude", "move", "place"}  # of a world: by `moved`, on copies
LAZY = {name for name, thing in vars(lw.Model).items() if type(thing).__name__ == "lazy"}
SHOWN = {
    "show",
    "pictured",
    "save_html",
    "snapshot",
    "plot",
    "save",
    "save_sound",
    "save_video",
    "animate",
    "figure",
}  # figures and files
FIELDS = {
    "mechanism",
    "model",
    "message",
    "drawn",
    "restored",
    "appearance",
    "record",
    "traces",
    "title",
    "marks",
}


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (lw.Colliders, {*COLLIDERS, *CHANGES}),
        (lw.Model, {*MODEL, *LAZY, *SHOWN}),
        (lw.KinematicRecording, {*RECORDING, *SHOWN, *FIELDS}),
    ],
)
def test_every_method_is_asked(kind: type, known: set[str]) -> None:
    assert methods(kind) - known == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    assert not from_threads(FUNCTIONS[name]())


@pytest.mark.parametrize("name", COLLIDERS)
def test_colliders(name: str) -> None:
    assert not from_threads(COLLIDERS[name](world()))


def test_a_world_that_one_thread_moves_is_seen_in_one_piece() -> None:
    """Two bodies move together: whoever asks meanwhile sees both before, or both after."""
    shared = lw.Colliders()
    shared.add("a", lw.Sphere(0.5))
    shared.add("b", lw.Box(1, 1, 1), position=(2, 0, 0))
    away = {name: lw.Frame(position=p) for name, p in (("a", (9, 0, 0)), ("b", (11.5, 0, 0)))}
    back = {name: lw.Frame(position=p) for name, p in (("a", (0, 0, 0)), ("b", (2, 0, 0)))}
    seen, done = set(), threading.Event()

    def ask() -> None:
        while not done.is_set():
            seen.add(round(shared.distance("a", "b"), 12))

    askers = [threading.Thread(target=ask) for _ in range(THREADS)]
    for asker in askers:
        asker.start()
    for _ in range(200):
        shared.place(away)
        shared.place(back)
    done.set()
    for asker in askers:
        asker.join()
    assert seen <= {1.0, 1.5}


@pytest.mark.parametrize("word", sorted(methods(lw.Solid) - {"show", "stretched_from"}))
def test_solids(word: str) -> None:
    assert not from_threads(solid_calls(word))


@pytest.mark.parametrize("name", MODEL)
def test_models(name: str) -> None:
    places = [(model, *at(model, k)) for model in (arm(), engine()) for k in range(4)]
    assert not from_threads([lambda p=p: MODEL[name](*p) for p in places])


@pytest.mark.parametrize("name", sorted(LAZY))
def test_what_a_model_keeps_is_made_once(name: str) -> None:
    fresh = lw.examples.slider_crank().compile()
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(getattr(fresh, name))) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == THREADS
    assert all(each is found[0] for each in found)


@pytest.mark.parametrize("name", RECORDING)
@pytest.mark.parametrize("make", [run, motion])
def test_recordings(name: str, make: Callable[[], Any]) -> None:
    shared, twin = make(), make()
    asked = [[lambda r=r: RECORDING[name](r)] * 3 for r in (shared, twin)]
    assert not from_threads(asked[0], alone=asked[1])
