"""The demonstration: an acrobat lets go and swings from a bar for ten seconds."""

import time
from typing import TextIO

import numpy as np

from linkwork import examples
from linkwork.compile import Model
from linkwork.model.state import State

_DURATION, _STEP = 10.0, 0.00025  # s


def swing(model: Model, q: np.ndarray, v: np.ndarray, duration: float, step: float) -> tuple[np.ndarray, ...]:
    """Return times, positions and velocities of a free motion, by the classical Runge-Kutta method."""
    tau = np.zeros(model.nv)

    def rates(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return model.position_rates(q, v), model.forward_dynamics(q, v, tau)

    steps = round(duration / step)
    qs, vs = np.empty((steps + 1, model.nq)), np.empty((steps + 1, model.nv))
    qs[0], vs[0] = q, v
    for n in range(steps):
        q, v = qs[n], vs[n]
        q1, v1 = rates(q, v)
        q2, v2 = rates(q + step / 2 * q1, v + step / 2 * v1)
        q3, v3 = rates(q + step / 2 * q2, v + step / 2 * v2)
        q4, v4 = rates(q + step * q3, v + step * v3)
        qs[n + 1] = q + step / 6 * (q1 + 2 * q2 + 2 * q3 + q4)
        vs[n + 1] = v + step / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    return np.linspace(0.0, duration, steps + 1), qs, vs


def start(model: Model) -> State:
    """Return the acrobat swung out by 1.2 rad, with a kick of the legs."""
    tilt = (np.cos(0.6), np.sin(0.6), 0.0, 0.0)
    return model.state(bar=tilt, velocities={"left knee": 2.0, "right hip": (1.0, 0.5, 0.0)})


def run(out: TextIO) -> None:
    """Simulate, and print what happened."""
    began = time.perf_counter()
    mechanism = examples.acrobat()
    model = mechanism.compile()
    print(
        f"{mechanism.name}: {len(model.body_names)} bodies, {model.nv} freedoms, {model.nq} coordinates",
        file=out,
    )
    state = start(model)
    model.forward_dynamics(state.q, state.v, np.zeros(model.nv))
    ready = time.perf_counter()
    times, qs, vs = swing(model, state.q, state.v, _DURATION, _STEP)
    done = time.perf_counter()
    energy = model.energy(qs, vs)
    kinetic = model.kinetic_energy(qs, vs)
    heads = model.poses(qs)["head"].position
    print(f"ready after {ready - began:.2f} s; {_DURATION:g} s of motion in {done - ready:.2f} s", file=out)
    print("\n  time   head x      y      z   kinetic energy", file=out)
    for n in np.linspace(0, len(times) - 1, 11).astype(int):
        x, y, z = heads[n]
        bar = "#" * round(30 * kinetic[n] / kinetic.max())
        print(f"  {times[n]:4.1f} s  {x:6.2f} {y:6.2f} {z:6.2f} m  {kinetic[n]:6.1f} J  {bar}", file=out)
    change = np.abs(energy - energy[0]).max()
    print(
        f"\nenergy changed by {change:.2e} J, {change / kinetic.max():.1e} of the largest kinetic energy",
        file=out,
    )
