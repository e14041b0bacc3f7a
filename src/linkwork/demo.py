"""The demonstration: a steam engine with three closed loops starts, and comes up to speed."""

from math import pi
from typing import TextIO

from linkwork import examples
from linkwork.simulation.simulate import simulate

_DURATION = 10.0  # s


def run(out: TextIO) -> None:
    """Simulate, and print what happened."""
    mechanism = examples.steam_engine()
    model = mechanism.compile()
    print(
        f"{mechanism.name}: {len(model.body_names)} bodies, {len(model.joints)} joints, "
        f"loops closed by {', '.join(map(repr, model.loop_names))}\n",
        file=out,
    )
    motion = simulate(model, _DURATION, every=1.0)
    speed, piston = motion["bearing"].velocity * 30 / pi, motion["piston rod"].position
    print("  time   flywheel                                   piston", file=out)
    for t, rpm, place in zip(motion.time, speed, piston, strict=True):
        bar = "#" * round(30 * abs(rpm) / max(abs(speed).max(), 1.0))
        print(f"  {t:4.1f} s  {rpm:6.1f} rpm  {bar:30}  {1e3 * place[0]:7.1f} mm", file=out)
    print(f"\n{motion.summary()}", file=out)
