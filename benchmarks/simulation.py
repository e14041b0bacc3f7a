"""Simulation against the peers, ratios of one run: RK4 steps, an accurate run, thousands of cart-poles.

    python benchmarks/simulation.py [--profile]

`--profile` shows that a run calls no Python function and allocates nothing per step.
"""

import os
import sys
import tracemalloc
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.peer_speed import best_of, subjects

STEPS = 6000  # of a fixed-step run
STEP = 0.001
DURATION = 10.0  # [s] of cart-poles
STARTS = ((0.1, 0.1), (0.2, 0.0), (0.3, 0.1), (0.5, 0.3), (0.8, 0.0), (1.2, 0.2), (2.0, 0.5), (2.8, 0.0))
MANY = 10_000
BLOCK = 1024


def rk4_steps() -> None:
    """RK4 steps of the humanoid: one at a time, and in batches on one core, against MuJoCo's RK4."""
    import mujoco

    subject = next(s for s in subjects() if s.name == "humanoid G1")
    theirs = subject.mujoco
    theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    theirs.opt.timestep = STEP
    theirs.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(theirs)
    v = np.full(subject.model.nv, 0.1)
    state = lw.State(subject.model.q_drawn.copy(), v)
    q, vs = np.tile(state.q, (BLOCK, 1)), np.tile(v, (BLOCK, 1))

    def mujoco_steps() -> None:
        mujoco.mj_resetData(theirs, data)
        data.qvel[:] = 0.1
        mujoco.mj_step(theirs, data, STEPS)

    def steps(model: lw.Model) -> Callable[[], object]:
        return lambda: lw.simulate(model, STEPS * STEP, state, times=[STEPS * STEP], method="rk4", step=STEP)

    def batch(model: lw.Model) -> Callable[[], object]:
        end = STEPS // 60 * STEP
        return lambda: lw.simulate(model, end, q=q, v=vs, times=[end], threads=1, method="rk4", step=STEP)

    bare = _without_stops(subject.model)
    runs = {
        "one": (steps(subject.model), STEPS, "3x"),
        "one, specialised": (steps(subject.model.specialize()), STEPS, "3x"),
        "one, specialised, no stops": (steps(bare.specialize()), STEPS, "3x"),
        "batch": (batch(subject.model.specialize()), STEPS // 60 * BLOCK, "15x"),
    }
    times = best_of({"mujoco": mujoco_steps} | {name: run for name, (run, _, _) in runs.items()}, 7, 0.0)
    peer = times["mujoco"] / STEPS
    print(f"RK4 step of the humanoid, contacts off: mujoco {peer * 1e6:.1f} us")
    for name, (_, each, goal) in runs.items():
        ours = times[name] / each
        print(f"  linkwork, {name:27} {ours * 1e6:6.2f} us  {peer / ours:5.1f}x  (goal {goal})")


def accurate_run() -> None:
    """Default runs of the cart-pole from several starts, against scipy around Pinocchio to the same error.

    That is the largest of the whole run, at the steps of each.
    """
    import pinocchio as pin
    from scipy.integrate import solve_ivp

    mechanism = lw.examples.cart_pole()
    mechanism.joints["pin"].damping = 0.0
    model = mechanism.compile()
    theirs = _pinocchio_cart_pole(pin, model)
    data, tau = theirs.createData(), np.zeros(2)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], pin.aba(theirs, data, y[:2], y[2:], tau)])

    def solved(start: np.ndarray, method: str, tolerance: float, **options: Any) -> Any:
        return solve_ivp(rates, (0, DURATION), start, method, rtol=tolerance, atol=tolerance, **options)

    ratios: dict[str, list[float]] = {"RK45": [], "DOP853": [], "LSODA": []}
    print(f"cart-pole, default runs of {DURATION:g} s, scipy around pin.aba to the same error")
    for angle, speed in STARTS:
        state = model.state(pin=angle, velocities={"rail": speed})
        start = np.concatenate([state.q, state.v])
        exact = solved(start, "DOP853", 1e-13, dense_output=True).sol
        run = lw.simulate(model, DURATION, state)
        error = np.abs(np.hstack([run.q, run.v]).T - exact(run.time)).max()
        ours = best_of({"": lambda state=state: lw.simulate(model, DURATION, state)}, rounds=9)[""]
        told = []
        for method, found in ratios.items():
            for tolerance in 10.0 ** np.arange(-5.0, -13.6, -0.25):
                solution = solved(start, method, tolerance)
                if np.abs(solution.y - exact(solution.t)).max() <= error:
                    break
            again = {"": lambda start=start, m=method, x=tolerance: solved(start, m, x)}
            peer = best_of(again, rounds=3, seconds=0.0)[""]
            found.append(peer / ours)
            told.append(f"{method} {peer * 1e3:5.1f} ms {peer / ours:4.0f}x")
        print(f"  {angle:3} rad: {ours * 1e3:.3f} ms, error {error:.0e}; {', '.join(told)}")
    means = {method: np.exp(np.mean(np.log(found))) for method, found in ratios.items()}
    print(
        "  geometric means:", ", ".join(f"{name} {x:.0f}x" for name, x in means.items()), " (goal: RK45 300x)"
    )


def many_cart_poles() -> None:
    """10,000 cart-poles for 10 s, on all cores, against MuJoCo's rollout on the same."""
    import mujoco
    from mujoco import rollout

    cores = len(os.sched_getaffinity(0))
    theirs = mujoco.MjModel.from_xml_string(_CART_POLE)
    rng = np.random.default_rng(0)
    q = rng.normal(scale=0.3, size=(MANY, 2))
    model = lw.examples.cart_pole().compile().specialize()
    steps = round(DURATION / theirs.opt.timestep)
    states = np.zeros((MANY, mujoco.mj_stateSize(theirs, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1:3] = q
    datas = [mujoco.MjData(theirs) for _ in range(cores)]
    part = MANY // 20

    def mujoco_rollout() -> None:
        rollout.rollout(theirs, datas, initial_state=states[:part], nstep=steps)

    times = best_of(
        {
            "mujoco": mujoco_rollout,
            "linkwork": lambda: lw.simulate(model, DURATION, q=q, v=np.zeros((MANY, 2)), times=[DURATION]),
        },
        rounds=3,
        seconds=0.0,
        clock=perf_counter,
    )
    peer = times["mujoco"] * MANY / part
    print(f"{MANY} cart-poles for {DURATION:g} s, {cores} cores: mujoco rollout, {steps} steps, {peer:.2f} s")
    print(
        f"  linkwork (accuracy 1e-8) {times['linkwork']:.3f} s  {peer / times['linkwork']:.1f}x  (goal 10x)"
    )


def profile() -> None:
    """Count Python calls and allocations of runs of different length: none comes with a step."""
    model = lw.examples.acrobat().compile()
    state = model.state(velocities={"left knee": 2.0})
    lw.simulate(model, 0.1, state, times=[0.1], method="rk4", step=1e-4)
    for steps in (10, 1000):
        calls = [0]
        sys.setprofile(lambda frame, event, argument, calls=calls: calls.__setitem__(0, calls[0] + 1))
        tracemalloc.start()
        run = lw.simulate(model, steps * 1e-4, state, method="rk4", step=1e-4, times=[steps * 1e-4])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        sys.setprofile(None)
        print(f"  {run.report.accepted:6} steps: {calls[0]:6} Python calls, {peak / 1024:.0f} kB at most")


def _without_stops(model: lw.Model) -> lw.Model:
    mechanism = model.mechanism.copy()
    for joint in mechanism.joints.values():
        joint.limits = None
    return mechanism.compile()


def _pinocchio_cart_pole(pin, model: lw.Model):
    theirs = pin.Model()
    rail = theirs.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "rail")
    hinge = theirs.addJoint(rail, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0, 0, 0.05])), "pin")
    for joint, k, place in ((rail, 0, (0, 0, 0)), (hinge, 1, (0, 0, 0.5))):
        inertia = pin.Inertia(model.masses[k], np.zeros(3), model.inertias[k])
        theirs.appendBodyToJoint(joint, inertia, pin.SE3(np.eye(3), np.array(place, float)))
    return theirs


_CART_POLE = """
<mujoco><option timestep="0.002"><flag contact="disable"/></option><worldbody>
<body><joint type="slide" axis="1 0 0"/><geom type="box" size=".2 .1 .05" density="800"/>
<body pos="0 0 .05"><joint type="hinge" axis="0 1 0" damping="0.01"/>
<geom type="cylinder" fromto="0 0 0 0 0 1" size=".01" density="2700"/></body></body>
</worldbody></mujoco>
"""


if __name__ == "__main__":
    if "--profile" in sys.argv:
        profile()
    else:
        rk4_steps()
        accurate_run()
        many_cart_poles()
