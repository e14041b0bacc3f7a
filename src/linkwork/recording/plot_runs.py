"""plot: curves of one run, or of several in one picture."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.recording import plot as pictures
from linkwork.recording.curve import MANY, Trace, in_degrees
from linkwork.recording.plot import Curves
from linkwork.recording.samples import Samples, most, optional
from linkwork.spelling import checked_keywords, require

Array = np.ndarray


@checked_keywords
def plot(
    runs: Any,
    *names: str,
    phase: str | Sequence[str] = (),
    against: str | None = None,
    degrees: bool = False,
) -> Any:
    """Return a matplotlib Figure that compares runs: `lw.plot([a, b], "pin")`.

    `runs` are a list of runs, named in the picture by their mechanisms, or runs by name; or one run, or a
    batch. The rest is as in `Recording.plot`.
    """
    require("plot: degrees", degrees, bool, "True or False")
    require("plot: against", against, str | None, "a name: against='rail'")
    require("plot: phase", phase, str | Sequence, "the name of a joint, or several: phase=('pin', 'rail')")
    for name in (*names, *((phase,) if isinstance(phase, str) else phase)):
        require("plot: a name", name, str, "names one by one, as texts: 'pin', 'pole.position[2]'")
    optional("matplotlib", "plot")
    given = _named(runs)
    exact = "error" in names
    parts = [
        (": ".join(filter(None, (name, inner))), part)
        for name, run in given
        for inner, part in run.pictured(exact)
    ]
    turned = in_degrees if degrees else lambda trace: trace
    title = ", ".join(dict.fromkeys(run.title for _, run in given))
    if phase or against is not None:
        if phase and (names or against):
            raise ValueError("plot: give phase= alone; phase=('pin', 'rail') draws several")
        several = (phase,) if isinstance(phase, str) else phase
        pairs = [
            (name, _paired(run, names, against) if against else [p for n in several for p in _phase(run, n)])
            for name, run in parts
        ]
        return pictures.against([(n, [(turned(x), turned(y)) for x, y in each]) for n, each in pairs], title)
    curves = []
    for name, run in parts:
        if names:
            traces = [trace for word in names for trace in _curves(run, word)]
        else:
            traces, title = overview(run, title)
        curves.append(Curves(name, run.time, [turned(trace) for trace in traces]))
    return pictures.figure(curves, title, given[0][1].marks() if len(given) == 1 else ())


def _named(runs: Any) -> list[tuple[str, Any]]:
    """Return runs with the names that they have in a picture; one alone has none."""
    if isinstance(runs, Samples):
        return [("", runs)]
    if isinstance(runs, Mapping):
        found = [(str(name), run) for name, run in runs.items()]
    elif isinstance(runs, Iterable) and not isinstance(runs, str):
        found = [(getattr(run, "title", ""), run) for run in runs]
        counts = Counter(name for name, _ in found)
        seen: Counter[str] = Counter()
        for k, (name, run) in enumerate(found):
            if counts[name] > 1:
                seen[name] += 1
                found[k] = f"{name} {seen[name]}", run
    else:
        found = []
    for _, run in found:
        if not isinstance(run, Samples):
            raise ValueError(
                f"plot: {run!r:.80} is no run; give what simulate, kinematics or integrate return"
            )
    if not found:
        raise ValueError(f"plot: runs {runs!r:.80}; give a run, a list of runs, or runs by name")
    return found


def overview(run: Any, title: str | None = None) -> tuple[list[Trace], str]:
    """Return the positions of the joints, as many as can be distinguished, and what to write above."""
    layout = run.layout
    joints = [name for name in layout.joints if name not in layout.constraints]
    traces = [trace for name in joints for trace in run.traces(f"{name}.position")]
    above = run.title if title is None else title
    if len(traces) > MANY:
        above = f"{above} ({MANY} of {len(traces)} coordinates; name those you want)"
    return traces[:MANY], above


def _curves(run: Samples, name: str) -> list[Trace]:
    """Return the curves of a name, in pictures: energies together."""
    if name != "energy" or run.knows(name):
        return run.traces(name)
    parts = ["energy", "kinetic_energy", "potential_energy"]
    worked = most(run.work) + most(-run.work) > 1e-12 * most(np.abs(run.energy))
    return run.traces(*parts, *(["work"] if worked.any() else []))


def _phase(run: Samples, name: str) -> list[tuple[Trace, Trace]]:
    positions, velocities = run.traces(f"{name}.position"), run.traces(f"{name}.velocity")
    if len(positions) != len(velocities):
        raise ValueError(
            f"phase {name!r}: it has {len(positions)} positions and {len(velocities)} velocities, which "
            f"do not go together; draw what you want, as in plot('{name}.velocity[0]', against='...')"
        )
    return list(zip(positions, velocities, strict=True))


def _paired(run: Samples, names: Sequence[str], against: str) -> list[tuple[Trace, Trace]]:
    across = run.traces(against)
    if len(across) != 1 or not names:
        raise ValueError(
            f"against {against!r}: it has {len(across)} curves; name one, as in 'pole.position[0]', and "
            "what to draw over it"
        )
    return [(across[0], trace) for trace in run.traces(*names)]
