"""A humanoid on the ground beside MuJoCo: what a step costs, and a simulated second; alone, and in batches.

The robot is `linkwork/examples/humanoid.urdf`, limp, without limits, on its back. Lying it is left alone, and
comes to rest; "an arm waves" by a torque of 3 N m at a shoulder, so that nobody may rest. Linkwork takes
steps of 1/60 s with the laws of contact solved to 1e-8 m/s, MuJoCo its own of 2 ms. CPU time, best of several
turns that take one another's place.
"""

import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw

URDF = Path(lw.examples.__file__).with_name("humanoid.urdf")
STEP = 1 / 60
ON_ITS_BACK = (0.0, 0.0, 0.25, 0.5**0.5, 0.0, -(0.5**0.5), 0.0)
TURNS, SPAN, BATCH = 3, 2.0, 16


def model() -> lw.Model:
    """Return the limp humanoid; its left shoulder takes a torque."""
    m = lw.load(URDF, base="free")
    for joint in m.joints.values():
        joint.limits = None
    m.add(lw.Motor("wave", "left_shoulder_pitch"))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", material=lw.Material(friction=0.5)))
    return m.compile()


class Linkwork:
    """One humanoid, or a batch of them."""

    step = STEP

    def __init__(self, count: int = 1) -> None:
        robot = model()
        q = np.concatenate([ON_ITS_BACK, np.zeros(robot.nq - 7)])
        one = {"state": lw.State(q, np.zeros(robot.nv))}
        many = {"q": np.tile(q, (count, 1))}
        self.sim: Any = lw.Simulation(
            robot, **(one if count == 1 else many), step=STEP, record=False, threads=1
        )

    def advance(self, seconds: float, waves: bool) -> None:
        for _ in range(round(seconds / STEP)):
            if waves:
                self.sim.inputs["wave"] = 3.0 * np.sin(6.0 * self.sim.t)
            self.sim.step()


class MuJoCo:
    """The same robot, its base let free, on a plane."""

    step = 0.002

    def __init__(self) -> None:
        self.mujoco: Any = import_module("mujoco")
        spec = self.mujoco.MjSpec.from_file(str(URDF))
        spec.option.timestep = self.step
        spec.compiler.fusestatic = False
        floor = spec.worldbody.add_geom()
        floor.type, floor.size = self.mujoco.mjtGeom.mjGEOM_PLANE, [50, 50, 1]
        spec.bodies[1].add_freejoint()
        for joint in spec.joints:
            joint.limited = self.mujoco.mjtLimited.mjLIMITED_FALSE
        for geom in spec.geoms:
            geom.friction = [0.5, 0.0, 0.0]
        self.model = spec.compile()
        self.data = self.mujoco.MjData(self.model)
        self.data.qpos[:7] = ON_ITS_BACK
        self.arm = int(self.model.joint("left_shoulder_pitch").dofadr[0])

    def advance(self, seconds: float, waves: bool) -> None:
        for _ in range(round(seconds / self.step)):
            if waves:
                self.data.qfrc_applied[self.arm] = 3.0 * np.sin(6.0 * self.data.time)
            self.mujoco.mj_step(self.model, self.data)


def main() -> None:
    engines: dict[str, Any] = {"Linkwork": Linkwork(), f"Linkwork, {BATCH} of them": Linkwork(BATCH)}
    try:
        engines["MuJoCo"] = MuJoCo()
    except ImportError as error:
        print(f"MuJoCo is left out: {error}")
    for waves in (False, True):
        print("an arm waves" if waves else "lying: us a step, ms per simulated second")
        best = dict.fromkeys(engines, np.inf)
        for engine in engines.values():
            engine.advance(3.0, waves)
        for _ in range(TURNS):
            for name, engine in engines.items():
                begun = time.process_time()
                engine.advance(SPAN, waves)
                best[name] = min(best[name], (time.process_time() - begun) / SPAN)
        for name, engine in engines.items():
            count = BATCH if "of them" in name else 1
            each = best[name] / count
            print(f"  {name:22} {1e6 * each * engine.step:9.1f} {1e3 * each:9.2f}")


if __name__ == "__main__":
    main()
