"""How right contact is beside the peers, at their defaults: scenes whose answers are known.

`python benchmarks/contact.py scenes` prints a table; peers take part if they are installed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians, sin, sqrt, tan

import numpy as np

G = 9.81
SLOPE = radians(30.0)


@dataclass(frozen=True)
class Known:
    """Boxes and balls on the floor z = 0, and what is asked of them."""

    title: str
    solids: tuple[
        tuple[tuple[float, ...], tuple[float, float, float], float], ...
    ]  # half widths, place, mass
    asked: Callable[[Callable[[float], np.ndarray]], float]  # of positions (n, 3) after more seconds
    friction: float = 0.5
    restitution: float = 0.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -G)
    speed: float = 0.0  # of all solids along x [m/s]


def _slope(direction: float) -> tuple[float, float, float]:
    return G * sin(SLOPE) * cos(direction), G * sin(SLOPE) * sin(direction), -G * cos(SLOPE)


def _way(after: Callable[[float], np.ndarray]) -> float:
    start = after(0.0)
    return float(np.abs(after(10.0) - start).max())


def _slides(after: Callable[[float], np.ndarray]) -> float:
    start = after(0.0)
    way = 50.0 * G * (sin(SLOPE) - 0.999 * tan(SLOPE) * cos(SLOPE))
    return abs(float(np.linalg.norm((after(10.0) - start)[0, :2])) / way - 1.0)


def _apex(after: Callable[[float], np.ndarray]) -> float:
    """Return the error of the height of the fourth bounce of e = 0.5."""
    fall = sqrt(2.0 / G)
    after(fall * (1.0 + 2.0 * (0.5 + 0.25 + 0.125)))
    heights = [float(after(fall / 800.0)[0, 2]) - 0.1 for _ in range(100)]
    return abs(max(heights) * 256.0 - 1.0)


def _rolls(after: Callable[[float], np.ndarray]) -> float:
    after(2.0)
    start = after(0.0)[0, 0]
    return abs(float(after(1.0)[0, 0] - start) / (3.0 * 5.0 / 7.0) - 1.0)


def _grips(after: Callable[[float], np.ndarray]) -> float:
    """Return the error of the speed after an impact with friction: 5/7 of that before."""
    after(0.3)
    start = after(0.0)[0, 0]
    return abs(float(after(0.1)[0, 0] - start) / (0.1 * 5.0 / 7.0) - 1.0)


BOX = (0.2, 0.2, 0.1)
CUBE = (0.1, 0.1, 0.1)
STACK = tuple((CUBE, (0.0, 0.0, 0.1 + 0.2 * k), 8.0) for k in range(10))
ON_SLOPE = ((BOX, (0.0, 0.0, 0.1), 8.0),)
SCENES = (
    Known("slope, mu 0.1 % above: creep [m]", ON_SLOPE, _way, 1.001 * tan(SLOPE), gravity=_slope(0.0)),
    Known("the same at 45 degrees [m]", ON_SLOPE, _way, 1.001 * tan(SLOPE), gravity=_slope(radians(45))),
    Known("slope, mu 0.1 % below: error", ON_SLOPE, _slides, 0.999 * tan(SLOPE), gravity=_slope(0.0)),
    Known("ball, sliding to rolling: error", (((0.1,), (0.0, 0.0, 0.1), 4.0),), _rolls, 0.3, speed=3.0),
    Known("fourth bounce of e = 0.5: error", (((0.1,), (0.0, 0.0, 1.1), 4.0),), _apex, 0.0, 0.5),
    Known("box at rest, 1,000 kg: sinks [m]", ((CUBE, (0.0, 0.0, 0.1), 1000.0),), _way),
    Known("stack of 10: moves [m]", STACK, _way),
    Known("1,000 kg on 1 kg: moves [m]", ((CUBE, (0, 0, 0.1), 1.0), (CUBE, (0, 0, 0.3), 1000.0)), _way),
    Known("1e6 kg on 1 kg: moves [m]", ((CUBE, (0, 0, 0.1), 1.0), (CUBE, (0, 0, 0.3), 1e6)), _way),
    Known("ball that grips the floor: speed", (((0.1,), (0.0, 0.0, 0.3), 4.0),), _grips, 5.0, 0.9, speed=1.0),
)


def linkwork(known: Known) -> Callable[[float], np.ndarray]:
    """Return positions after more seconds, by Linkwork with steps of 1/60 s."""
    import linkwork as lw

    made = lw.Material(friction=known.friction, restitution=known.restitution)
    m = lw.Mechanism("scene", gravity=known.gravity)
    for k, (half, place, mass) in enumerate(known.solids):
        shape = lw.Sphere(*half) if len(half) == 1 else lw.Box(*(2 * x for x in half))
        m.add(lw.Body(f"b{k}", shape, mass=mass, position=place, material=made))
    m.ground.add(lw.Plane(), material=made)
    m.add(lw.Contact("contact"))
    model = m.compile()
    v = np.zeros((len(known.solids), 6))
    v[:, 3] = known.speed
    sim = lw.Simulation(model, lw.State(model.q_drawn, v.ravel()), step=1 / 60, record=False)

    def after(seconds: float) -> np.ndarray:
        if seconds:
            sim.step(seconds)
        poses = model.poses(sim.q)
        return np.array([poses[name].position for name in model.body_names])

    return after


def mujoco(known: Known) -> Callable[[float], np.ndarray]:
    """Return the same of MuJoCo, steps of 2 ms; it knows no restitution."""
    from importlib import import_module

    mj = import_module("mujoco")
    mu = f'friction="{known.friction} 0 0" condim="3"'
    bodies = [f'<geom type="plane" size="50 50 1" {mu}/>']
    for half, place, mass in known.solids:
        kind = "sphere" if len(half) == 1 else "box"
        size, pos = (" ".join(map(str, x)) for x in (half, place))
        geom = f'<geom type="{kind}" size="{size}" mass="{mass}" {mu}/>'
        bodies.append(f'<body pos="{pos}"><freejoint/>{geom}</body>')
    gravity = " ".join(map(str, known.gravity))
    head = f'<option timestep="0.002" gravity="{gravity}"/>'
    model = mj.MjModel.from_xml_string(f"<mujoco>{head}<worldbody>{''.join(bodies)}</worldbody></mujoco>")
    data = mj.MjData(model)
    data.qvel.reshape(-1, 6)[:, 0] = known.speed

    def after(seconds: float) -> np.ndarray:
        mj.mj_step(model, data, nstep=round(seconds / 0.002))
        return data.qpos.reshape(-1, 7)[:, :3].copy()

    return after


def pybullet(known: Known) -> Callable[[float], np.ndarray]:
    """Return the same of PyBullet, steps of 1/240 s."""
    import pybullet as p
    from pybullet_utils.bullet_client import BulletClient

    world = BulletClient(p.DIRECT)
    world.setGravity(*known.gravity)
    bodies = [world.createMultiBody(0, world.createCollisionShape(p.GEOM_PLANE, planeNormal=[0, 0, 1]))]
    for half, place, mass in known.solids:
        options = {"radius": half[0]} if len(half) == 1 else {"halfExtents": half}
        kind = p.GEOM_SPHERE if len(half) == 1 else p.GEOM_BOX
        bodies.append(world.createMultiBody(mass, world.createCollisionShape(kind, **options), -1, place))
        world.resetBaseVelocity(bodies[-1], [known.speed, 0, 0])
    for body in bodies:
        root = known.friction**0.5, known.restitution**0.5  # of a pair they are multiplied
        world.changeDynamics(body, -1, lateralFriction=root[0], restitution=root[1])

    def after(seconds: float) -> np.ndarray:
        for _ in range(round(seconds * 240.0)):
            world.stepSimulation()
        return np.array([world.getBasePositionAndOrientation(body)[0] for body in bodies[1:]])

    return after


def rapier(known: Known) -> Callable[[float], np.ndarray]:
    """Return the same of Rapier, steps of 1/60 s."""
    import rapier3d as r

    world = r.PhysicsWorld(gravity=known.gravity)
    world.integration_parameters.dt = 1 / 60
    floor = r.Collider.halfspace((0.0, 0.0, 1.0)).friction(known.friction).restitution(known.restitution)
    world.add_collider(floor)
    handles = []
    for half, place, mass in known.solids:
        place = tuple(float(x) for x in place)
        body = r.RigidBody.dynamic().translation(place).linvel((known.speed, 0.0, 0.0)).can_sleep(False)
        make = r.Collider.ball if len(half) == 1 else r.Collider.cuboid
        volume = 4 / 3 * np.pi * half[0] ** 3 if len(half) == 1 else 8 * float(np.prod(half))
        collider = make(*half).density(mass / volume).friction(known.friction)
        handle = world.add_body(body)
        handle = handle[0] if isinstance(handle, tuple) else handle
        world.add_collider(collider.restitution(known.restitution), handle)
        handles.append(handle)

    def after(seconds: float) -> np.ndarray:
        for _ in range(round(seconds * 60.0)):
            world.step()
        places = (world.rigid_bodies[handle].translation for handle in handles)
        return np.array([(p.x, p.y, p.z) for p in places])

    return after


ENGINES = {"Linkwork": linkwork, "Rapier": rapier, "MuJoCo": mujoco, "PyBullet": pybullet}


def main() -> None:
    engines = dict(ENGINES)
    print(f"{'':38}" + "".join(f"{name:>12}" for name in engines))
    for known in SCENES:
        line = f"{known.title:38}"
        for engine in engines.values():
            try:
                line += f"{known.asked(engine(known)):12.1e}"
            except ImportError:
                line += f"{'missing':>12}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
