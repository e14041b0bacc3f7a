"""The demonstration: a steam engine with three closed loops starts, and comes up to speed."""

from importlib.util import find_spec
from math import pi
from pathlib import Path
from typing import TextIO

from linkwork import examples
from linkwork.simulation.recording import Recording
from linkwork.simulation.simulate import simulate

_DURATION = 10.0  # s
_RATE = 60  # samples a second


def run(out: TextIO, page: Path = Path("demo.html")) -> None:
    """Simulate, print what happened, and write a page that plays it."""
    mechanism = examples.steam_engine()
    model = mechanism.compile()
    print(
        f"{mechanism.name}: {len(model.body_names)} bodies, {len(model.joints)} joints, "
        f"loops closed by {', '.join(map(repr, model.loop_names))}\n",
        file=out,
    )
    motion = simulate(model, _DURATION, every=1.0 / _RATE)
    told = slice(None, None, _RATE)
    speed, piston = motion["bearing"].velocity[told] * 30 / pi, motion["piston rod"].position[told]
    print("  time   flywheel                                   piston", file=out)
    for t, rpm, place in zip(motion.time[told], speed, piston, strict=True):
        bar = "#" * round(30 * abs(rpm) / max(abs(speed).max(), 1.0))
        print(f"  {t:4.1f} s  {rpm:6.1f} rpm  {bar:30}  {1e3 * place[0]:7.1f} mm", file=out)
    print(f"\n{motion.summary()}", file=out)
    _show(motion, page, out)


def _show(motion: Recording, page: Path, out: TextIO) -> None:
    """Write the page that plays the run, where the viewer is installed."""
    if find_spec("viser") is None:
        print("\nto see it move: pip install linkwork[view], and again", file=out)
        return
    motion.save_html(page)
    size = page.stat().st_size / 1e6
    print(
        f"\nwrote {page} ({size:.1f} MB): open it in a browser, it plays offline\n"
        "in the viewer, with plots and overlays: "
        'python -c "import linkwork as lw; lw.examples.steam_engine().show(live=True)"',
        file=out,
    )
