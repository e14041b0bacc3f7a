"""A step per call from Python: one cart-pole against MuJoCo's `mj_step`, a thousand against its `rollout`.

Both make Runge-Kutta steps of 2 ms, and write the motor before each; all is measured in turn, in one run.
"""

import os
import platform
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.peer_speed import best_of

mujoco: Any = import_module("mujoco")
rollout: Any = import_module("mujoco.rollout")

STEP, CALLS, MANY = 0.002, 500, 1000

_CART_POLE = """
<mujoco><option timestep="0.002" integrator="RK4"><flag contact="disable"/></option><worldbody>
<body><joint name="rail" type="slide" axis="1 0 0"/><geom type="box" size=".2 .1 .05" density="800"/>
<body pos="0 0 .05"><joint type="hinge" axis="0 1 0" damping="0.01"/>
<geom type="cylinder" fromto="0 0 0 0 0 1" size=".01" density="2700"/></body></body>
</worldbody><actuator><motor joint="rail"/></actuator></mujoco>
"""


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    print(f"{platform.machine()}, {cores} cores, MuJoCo {mujoco.__version__}")
    model = _cart_pole()
    theirs = mujoco.MjModel.from_xml_string(_CART_POLE)
    _check_same(model, theirs)
    _one(model, theirs)
    _many(model, theirs, cores)


def _cart_pole() -> lw.Model:
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    return m.compile()


def _check_same(model: lw.Model, theirs: Any) -> None:
    """Both give the same motion, to rounding."""
    data, sim = mujoco.MjData(theirs), lw.Simulation(model, model.state(pin=0.3), method="rk4", step=STEP)
    data.qpos[1], data.ctrl[0], sim.inputs["motor"] = 0.3, 1.0, 1.0
    for _ in range(500):
        mujoco.mj_step(theirs, data)
        sim.step()
    print(f"largest difference after 1 s: {np.abs(sim.q - data.qpos).max():.1e}")


def _one(model: lw.Model, theirs: Any) -> None:
    data = mujoco.MjData(theirs)
    sims = {
        "recorded": lw.Simulation(model, method="rk4", step=STEP, record=10_000),
        "not recorded": lw.Simulation(model, method="rk4", step=STEP, record=False),
        "accuracy 1e-8": lw.Simulation(model, record=False),
    }

    def mj_step() -> None:
        for k in range(CALLS):
            data.ctrl[0] = k & 1
            mujoco.mj_step(theirs, data)

    def ours(sim: lw.Simulation) -> None:
        for k in range(CALLS):
            sim.inputs["motor"] = k & 1
            sim.step(STEP)

    runs = {"mujoco": mj_step} | {name: lambda sim=sim: ours(sim) for name, sim in sims.items()}
    times = {name: seconds / CALLS * 1e6 for name, seconds in best_of(runs, rounds=15, seconds=0.0).items()}
    print(f"a step of a cart-pole, its motor written before: mj_step {times['mujoco']:.2f} us")
    for name in sims:
        goal = "  (goal: 5 us, and ahead)" if name == "recorded" else ""
        print(f"  {name:14} {times[name]:5.2f} us  {times['mujoco'] / times[name]:5.1f}x{goal}")


def _many(model: lw.Model, theirs: Any, cores: int) -> None:
    q = np.random.default_rng(0).normal(scale=0.3, size=(MANY, 2))
    states = np.zeros((MANY, mujoco.mj_stateSize(theirs, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1:3] = q
    datas = [mujoco.MjData(theirs) for _ in range(cores)]
    batch = lw.Simulation(model, q=q, method="rk4", step=STEP)
    forces, calls = np.random.default_rng(1).normal(size=(2, MANY, 1)), 20

    with rollout.Rollout(nthread=cores) as pool:

        def roll() -> None:
            nonlocal states
            for k in range(calls):
                found = pool.rollout(
                    theirs, datas, initial_state=states, control=forces[k & 1, :, None], nstep=1
                )
                states = np.ascontiguousarray(found[0][:, 0])

        def step() -> None:
            for k in range(calls):
                batch.inputs[:] = forces[k & 1]
                batch.step(STEP)

        times = best_of({"mujoco": roll, "linkwork": step}, rounds=15, seconds=0.0, clock=perf_counter)
    peer, ours = (times[name] / calls * 1e6 for name in ("mujoco", "linkwork"))
    print(f"a step of {MANY} cart-poles together, on {cores} cores: rollout {peer:.0f} us")
    print(f"  linkwork {ours:.0f} us  {peer / ours:.1f}x  (goal 20x)")


if __name__ == "__main__":
    main()
