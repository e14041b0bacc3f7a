"""The demonstration: an acrobat lets go and swings from a bar for ten seconds."""

from typing import TextIO

import numpy as np

from linkwork import examples
from linkwork.compile import Model
from linkwork.model.state import State
from linkwork.simulation.simulate import simulate

_DURATION = 10.0  # s


def start(model: Model) -> State:
    """Return the acrobat swung out by 1.2 rad, with a kick of the legs."""
    tilt = (np.cos(0.6), np.sin(0.6), 0.0, 0.0)
    return model.state(bar=tilt, velocities={"left knee": 2.0, "right hip": (1.0, 0.5, 0.0)})


def run(out: TextIO) -> None:
    """Simulate, and print what happened."""
    mechanism = examples.acrobat()
    model = mechanism.compile()
    print(
        f"{mechanism.name}: {len(model.body_names)} bodies, {model.nv} freedoms, {model.nq} coordinates\n",
        file=out,
    )
    motion = simulate(model, _DURATION, start(model), every=1.0)
    heads, kinetic = motion["head"].position, motion.kinetic_energy
    print("  time   head x      y      z   kinetic energy", file=out)
    for t, (x, y, z), energy in zip(motion.time, heads, kinetic, strict=True):
        bar = "#" * round(30 * energy / kinetic.max())
        print(f"  {t:4.1f} s  {x:6.2f} {y:6.2f} {z:6.2f} m  {energy:6.1f} J  {bar}", file=out)
    print(f"\n{motion.summary()}", file=out)
