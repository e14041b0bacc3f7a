"""Contact beside the peers: what a simulated second costs, and how right it is.

CPU seconds per simulated second on one core, best of several turns that take one another's place; how far
what should stand has moved. Nobody sleeps but "LinkworkAsleep", which may. Peers take part if they are
installed: mujoco, pybullet, rapier3d; in the plane pymunk. Names of scenes as arguments choose some:
`python benchmarks/contact.py wall balls pyramid growth`; `scenes` prints how right those with known answers
come out (`contact_scenes.py`), `bar` the figures of Linkwork with their bounds (`contact_bar.py`).
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import contact_bar
import contact_scenes
import numpy as np

import linkwork as lw
from linkwork.contact_dynamics.time_stepping.stepper import Stepper

STEP = 1 / 60
TURNS = 3


@dataclass(frozen=True)
class Solid:
    """A box of half widths, or a ball, where it is at first."""

    half: tuple[float, ...]  # one number: the radius of a ball
    position: tuple[float, float, float]
    density: float = 1000.0
    rolls: float = 0.0  # speed along y, of a ball that rolls [m/s]


@dataclass(frozen=True)
class Scene:
    """Solids in the air or on the floor z = 0, between walls or not."""

    solids: list[Solid]
    friction: float = 0.5
    walls: float = 0.0  # half of the width between them [m]; 0: none
    settle: float = 1.0  # before the measurement [s]
    span: float = 5.0  # of a turn [s]
    space: str = "space"  # or "plane", x and z of it


def wall(rows: int = 10) -> Scene:
    """Return a wall of bricks, every other row moved by a quarter of a brick."""
    half = (0.1, 0.05, 0.05)
    places = [((i + 0.25 * (j % 2)) * 0.205, 0.0, 0.05 + 0.1 * j) for j in range(rows) for i in range(10)]
    rolling = Solid((0.05,), (5.0, 0.0, 0.05), rolls=0.1)  # so that nobody may rest
    return Scene([*(Solid(half, place) for place in places), rolling])


def balls(side: int = 6) -> Scene:
    """Return balls that fall into a box, none straight above another."""
    generator = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)
    places = 0.11 * (grid - (0.5 * side - 0.5, 0.5 * side - 0.5, 0.0)) + (0.0, 0.0, 0.2)
    places += generator.uniform(-0.004, 0.004, places.shape)
    return Scene([Solid((0.05,), tuple(place)) for place in places], walls=0.4, settle=0.0, span=4.0)


def pyramid(base: int = 20) -> Scene:
    """Return a pyramid of squares in the plane."""
    half = (0.25, 0.25, 0.25)
    places = [(0.55 * (i + 0.5 * j), 0.0, 0.25 + 0.5 * j) for j in range(base) for i in range(base - j)]
    rolling = Solid((0.25,), (20.0, 0.0, 0.25), rolls=0.1)
    return Scene([*(Solid(half, place) for place in places), rolling], space="plane")


SCENES: dict[str, Callable[[], Scene]] = {"wall": wall, "balls": balls, "pyramid": pyramid}
GROWTH = (100, 1000, 10_000)  # balls


def many(count: int) -> Scene:
    """Return balls that fall into a box as wide as they need."""
    side = round(count ** (1 / 3) + 0.5)
    scene = balls(side)
    return Scene(scene.solids[:count], walls=0.055 * side + 0.07, settle=0.0, span=1.0)


class Linkwork:
    """Exact laws of contact, steps of 1/60 s; nothing sleeps."""

    step, sleeps = STEP, False

    def __init__(self, scene: Scene) -> None:
        made, flat = lw.Material(friction=scene.friction), scene.space == "plane"
        m = lw.Mechanism("scene", space="plane" if flat else "space")
        for k, solid in enumerate(scene.solids):
            shape = lw.Sphere(*solid.half) if len(solid.half) == 1 else lw.Box(*(2 * x for x in solid.half))
            place = solid.position[::2] if flat else solid.position
            m.add(lw.Body(f"b{k}", shape, density=solid.density, position=place, material=made))
        m.ground.add(lw.Plane((0, 1, 0) if flat else (0, 0, 1)), material=made)
        if w := scene.walls:
            for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
                m.ground.add(lw.Plane(normal=normal, offset=-w), material=made)
        m.add(lw.Contact("contact"))
        self.model = m.compile()
        state = self.model.state()
        v = state.v.copy().reshape(-1, 3 if flat else 6)
        v[:, 1 if flat else 4] = [solid.rolls for solid in scene.solids]
        v[:, 0] = [-solid.rolls / solid.half[0] for solid in scene.solids]
        Stepper.sleeps = self.sleeps  # of steppers that are made from now on
        begin = lw.State(state.q, v.ravel())
        self.sim = lw.Simulation(self.model, begin, step=STEP, record=False, threads=1)
        Stepper.sleeps = True

    def advance(self, seconds: float) -> None:
        self.sim.step(n=round(seconds / STEP))

    def positions(self) -> np.ndarray:
        poses = self.model.poses(self.sim.q)
        found = np.array([poses[name].position for name in self.model.body_names])
        return found if found.shape[1] == 3 else np.insert(found, 1, 0.0, axis=1)

    def note(self) -> str:
        return "; ".join(self.sim.recording.report.warnings)


class LinkworkAsleep(Linkwork):
    """The same; what rests may sleep."""

    sleeps = True


class MuJoCo:
    """Its defaults, steps of 2 ms."""

    step = 0.002

    def __init__(self, scene: Scene) -> None:
        from importlib import import_module

        self.mujoco = mujoco = import_module("mujoco")
        w, mu = scene.walls, f'friction="{scene.friction} 0 0" condim="3"'
        bodies = [f'<geom type="plane" size="50 50 1" {mu}/>']
        for normal in ("1 0 0", "-1 0 0", "0 1 0", "0 -1 0") if w else ():
            x, y, z = (-w * float(n) for n in normal.split())
            bodies.append(f'<geom type="plane" size="50 50 1" pos="{x} {y} {z}" zaxis="{normal}" {mu}/>')
        for solid in scene.solids:
            kind = "sphere" if len(solid.half) == 1 else "box"
            size, pos = (" ".join(map(str, x)) for x in (solid.half, solid.position))
            geom = f'<geom type="{kind}" size="{size}" density="{solid.density}" {mu}/>'
            bodies.append(f'<body pos="{pos}"><freejoint/>{geom}</body>')
        head = '<option timestep="0.002"/><size memory="500M"/>'
        model = mujoco.MjModel.from_xml_string(
            f"<mujoco>{head}<worldbody>{''.join(bodies)}</worldbody></mujoco>"
        )
        self.model, self.data = model, mujoco.MjData(model)
        v = self.data.qvel.reshape(-1, 6)
        v[:, 1] = [solid.rolls for solid in scene.solids]
        v[:, 3] = [-solid.rolls / solid.half[0] for solid in scene.solids]

    def advance(self, seconds: float) -> None:
        self.mujoco.mj_step(self.model, self.data, nstep=round(seconds / self.step))

    def positions(self) -> np.ndarray:
        return self.data.xpos[1:].copy()

    def note(self) -> str:
        return ""


class PyBullet:
    """Its defaults, steps of 1/240 s."""

    step = 1 / 240

    def __init__(self, scene: Scene) -> None:
        import pybullet as p
        from pybullet_utils.bullet_client import BulletClient

        self.p = BulletClient(p.DIRECT)
        self.p.setGravity(0, 0, -9.81)
        normals = [(0, 0, 1, 0.0)]
        if w := scene.walls:
            normals += [(1, 0, 0, w), (-1, 0, 0, w), (0, 1, 0, w), (0, -1, 0, w)]
        for *normal, far in normals:
            plane = self.p.createCollisionShape(p.GEOM_PLANE, planeNormal=normal)
            body = self.p.createMultiBody(0, plane, -1, [-far * n for n in normal])
            self.p.changeDynamics(body, -1, lateralFriction=scene.friction)
        self.bodies = []
        for solid in scene.solids:
            if len(solid.half) == 1:
                shape = self.p.createCollisionShape(p.GEOM_SPHERE, radius=solid.half[0])
                mass = solid.density * 4 / 3 * np.pi * solid.half[0] ** 3
            else:
                shape = self.p.createCollisionShape(p.GEOM_BOX, halfExtents=solid.half)
                mass = solid.density * 8 * float(np.prod(solid.half))
            body = self.p.createMultiBody(mass, shape, -1, solid.position)
            self.p.changeDynamics(body, -1, lateralFriction=scene.friction)
            turn = [-solid.rolls / solid.half[0], 0, 0]
            self.p.resetBaseVelocity(body, [0, solid.rolls, 0], turn)
            self.bodies.append(body)

    def advance(self, seconds: float) -> None:
        for _ in range(round(seconds / self.step)):
            self.p.stepSimulation()

    def positions(self) -> np.ndarray:
        return np.array([self.p.getBasePositionAndOrientation(body)[0] for body in self.bodies])

    def note(self) -> str:
        return ""


class Rapier:
    """Its defaults, steps of 1/60 s; bodies do not sleep."""

    step = STEP

    def __init__(self, scene: Scene) -> None:
        import rapier3d as r

        self.world = r.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
        self.world.set_num_threads(1)
        self.world.integration_parameters.dt = STEP
        normals = [(0.0, 0.0, 1.0, 0.0)]
        if w := scene.walls:
            normals += [(1.0, 0.0, 0.0, w), (-1.0, 0.0, 0.0, w), (0.0, 1.0, 0.0, w), (0.0, -1.0, 0.0, w)]
        for x, y, z, far in normals:
            plane = r.Collider.halfspace((x, y, z)).friction(scene.friction)
            self.world.add_collider(plane.translation((-far * x, -far * y, -far * z)))
        self.handles = []
        for solid in scene.solids:
            body = r.RigidBody.dynamic().translation(solid.position).can_sleep(False)
            body = body.linvel((0.0, solid.rolls, 0.0)).angvel((-solid.rolls / solid.half[0], 0.0, 0.0))
            make = r.Collider.ball if len(solid.half) == 1 else r.Collider.cuboid
            collider = make(*solid.half).density(solid.density).friction(scene.friction)
            handle = self.world.add_body(body)
            handle = handle[0] if isinstance(handle, tuple) else handle
            self.world.add_collider(collider, handle)
            self.handles.append(handle)

    def advance(self, seconds: float) -> None:
        for _ in range(round(seconds / self.step)):
            self.world.step()

    def positions(self) -> np.ndarray:
        places = (self.world.rigid_bodies[handle].translation for handle in self.handles)
        return np.array([(p.x, p.y, p.z) for p in places])

    def note(self) -> str:
        return ""


class Pymunk:
    """In the plane; its defaults, steps of 1/60 s."""

    step = STEP

    def __init__(self, scene: Scene) -> None:
        from importlib import import_module

        pymunk = import_module("pymunk")
        self.space, self.bodies = pymunk.Space(), []
        self.space.gravity = 0.0, -9.81
        floor = pymunk.Segment(self.space.static_body, (-100, -1), (100, -1), 1)
        floor.friction = scene.friction**0.5  # those of a pair are multiplied
        self.space.add(floor)
        for solid in scene.solids:
            body = pymunk.Body()
            body.position = solid.position[::2]
            body.velocity, body.angular_velocity = (solid.rolls, 0.0), -solid.rolls / solid.half[0]
            if len(solid.half) == 1:
                shape = pymunk.Circle(body, solid.half[0])
            else:
                shape = pymunk.Poly.create_box(body, (2 * solid.half[0], 2 * solid.half[2]))
            shape.density, shape.friction = solid.density, scene.friction**0.5
            self.space.add(body, shape)
            self.bodies.append(body)

    def advance(self, seconds: float) -> None:
        for _ in range(round(seconds / self.step)):
            self.space.step(self.step)

    def positions(self) -> np.ndarray:
        return np.array([(body.position.x, 0.0, body.position.y) for body in self.bodies])

    def note(self) -> str:
        return ""


def measure(scene: Scene) -> dict[str, tuple[float, float, str]]:
    """Return by engine the cost [s/s], how far solids have moved [m], and what it says of itself."""
    engines: dict[str, Any] = {}
    planar, spatial = (Pymunk,), (Rapier, MuJoCo, PyBullet)
    for kind in (Linkwork, LinkworkAsleep, *(planar if scene.space == "plane" else spatial)):
        try:
            engines[kind.__name__] = kind(scene)
        except ImportError as error:
            print(f"{kind.__name__} is left out: {error}")
    start = np.array([solid.position for solid in scene.solids])
    still = [not solid.rolls for solid in scene.solids]
    cost = dict.fromkeys(engines, np.inf)
    if scene.settle:
        for engine in engines.values():
            engine.advance(scene.settle)
    for _ in range(TURNS if scene.settle else 1):
        for name, engine in engines.items():
            begun = time.process_time()
            engine.advance(scene.span)
            cost[name] = min(cost[name], (time.process_time() - begun) / scene.span)
    return {
        name: (cost[name], float(np.abs(engine.positions() - start)[still].max()), engine.note())
        for name, engine in engines.items()
    }


def grow() -> None:
    """Print what a second of a ball among many costs."""
    for count in GROWTH:
        for kind in (Linkwork, Rapier):
            try:
                engine = kind(many(count))
            except ImportError:
                continue
            begun = time.process_time()
            engine.advance(1.0)
            cost = (time.process_time() - begun) / count
            print(f"  {kind.__name__:14} {count:6} balls {1e6 * cost:9.1f} us a ball and second")


def main() -> None:
    Linkwork(balls(3)).advance(1.0)  # native code is loaded, or compiled
    for name in sys.argv[1:] or (*SCENES, "growth", "scenes"):
        if name == "growth":
            print("growth: CPU time of the first second of falling balls")
            grow()
            continue
        if name == "scenes":
            contact_scenes.main()
            continue
        if name == "bar":
            contact_bar.main(sys.argv[sys.argv.index(name) + 1 :])
            return
        print(f"{name}: CPU s per simulated s, and the largest way of a body [m]")
        for engine, (cost, moved, note) in measure(SCENES[name]()).items():
            print(f"  {engine:14} {cost:9.4f} {moved:12.3e}  {note}")


if __name__ == "__main__":
    main()
