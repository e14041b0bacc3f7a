"""The gallery set in motion: what happens as a table, and a page that plays it, with its sound."""

from collections.abc import Sized
from importlib.util import find_spec
from math import ceil, pi
from pathlib import Path
from typing import Any, TextIO

from linkwork.acoustics.sound import Sound
from linkwork.errors import LinkworkError, unknown
from linkwork.gallery import GALLERY as GALLERY
from linkwork.recording.recording import Recording

_ROWS = 11  # of the table
_RATE = 60  # samples a second, for the page
_UNITS = {"rad/s": ("rpm", 30.0 / pi), "rad": ("deg", 180.0 / pi), "m": ("mm", 1e3)}  # as people read them


def print_list(out: TextIO) -> None:
    """Print what there is to see."""
    width = max(map(len, GALLERY))
    for name, demo in GALLERY.items():
        print(f"  {name:{width}}  {demo.about}", file=out)


def run(
    out: TextIO,
    name: str = "steam-engine",
    duration: float | None = None,
    save: str | None = None,
    page: Path | None = None,
    wav: Path | None = None,
) -> Recording:
    """Set a piece of the gallery in motion, print what happens, write a page that plays it, and its sound."""
    if name not in GALLERY:
        raise LinkworkError(f"{unknown('demo', name, GALLERY)} (linkwork demo --list)")
    demo = GALLERY[name]
    mechanism = demo.build()
    if save:
        mechanism.save(save)
    model = mechanism.compile()
    loops = f", loops closed by {_listed(model.loop_names)}" if model.loop_names else ""
    print(
        f"{mechanism.name}: {_count(model.body_names, 'bodies')}, {_count(model.joints, 'joints')}{loops}\n",
        file=out,
        flush=True,
    )
    span = demo.duration if duration is None else duration
    rows = max(1, ceil(_RATE * span / (_ROWS - 1)))  # samples from one row of the table to the next
    every = span / rows / (_ROWS - 1) if span > 0 else None
    motion = demo.play(model, span, every)
    _table(motion, demo.watch or (f"{model.joint_names[0]}.position",), rows, out)
    print(f"\n{motion.summary()}", file=out)
    if save:
        print(f"\n{save}: the mechanism; linkwork run {save} --for 10, or lw.load in Python", file=out)
    heard = demo.heard(motion) if (demo.sound and page) or wav else None
    if wav and heard:
        heard.save(wav)
        print(f"\nwrote {wav}: {len(heard.onsets)} onsets, loudest {heard.decibels:.0f} dB", file=out)
    if page:
        _write_page(motion, page, heard if demo.sound else None, out)
    return motion


def _write_page(motion: Recording, page: Path, heard: Sound | None, out: TextIO) -> None:
    """Write the page that plays the run, where the viewer is installed."""
    if find_spec("viser") is None:
        print("\nto see it move: pip install linkwork[view], and again", file=out)
        return
    motion.save_html(page, sound=heard or False)
    print(
        f"\nwrote {page} ({page.stat().st_size / 1e6:.1f} MB): open it in a browser, it plays offline;\n"
        "--view shows the run in the viewer, with plots and overlays",
        file=out,
    )


def _count(things: Sized, many: str) -> str:
    one = {"bodies": "body", "joints": "joint"}[many]
    return f"{len(things)} {one if len(things) == 1 else many}"


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(map(repr, names[:4])) + more


def _table(motion: Recording, watch: tuple[str, ...], step: int, out: TextIO) -> None:
    """Print some samples of the watched curves, evenly spaced, the first of them also as a bar."""
    traces = [_trace(motion, name) for name in watch]
    units = [_UNITS.get(trace.unit, (trace.unit, 1.0)) for trace in traces]
    heads = [f"{trace.label} [{unit}]" for trace, (unit, _) in zip(traces, units, strict=True)]
    widths = [max(len(head), 9) for head in heads]
    print("  time [s]  " + "  ".join(f"{h:>{w}}" for h, w in zip(heads, widths, strict=True)), file=out)
    first = traces[0].values
    low, high = float(first.min()), float(first.max())
    for k, t in list(enumerate(motion.time))[::step]:
        values = [trace.values[k] * scale for trace, (_, scale) in zip(traces, units, strict=True)]
        cells = "  ".join(f"{x:{w}.1f}" for x, w in zip(values, widths, strict=True))
        bar = "#" * round(30 * (first[k] - low) / (high - low)) if high > low else ""
        print(f"  {t:8.2f}  {cells}  {bar}".rstrip(), file=out)


def _trace(motion: Recording, name: str) -> Any:
    """Return one curve; "rod.position[0]" is one of three."""
    word = name.partition("[")[0]
    found = motion.traces(word)
    return next((trace for trace in found if trace.label == name), found[0])
