"""A diagnosis in words, for the terminal and for notebooks."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linkwork.model.findings import Diagnosis, FreeMotion

_SHOWN = 8  # joints of one motion, at most
_FAR = 0.2  # a way without units: what is farther is not reported

Sections = list[tuple[str, list[str]]]


def text(d: "Diagnosis") -> str:
    """Return the whole in lines of text."""
    lines = [f"{d.name}: {_freedoms(d)}"]
    for title, items in sections(d):
        lines.append(f"  {title}")
        lines += [f"    {item}" for item in items]
    return "\n".join(lines)


def html(d: "Diagnosis") -> str:
    """Return the whole as a piece of a page."""
    parts = [f"<h4>{escape(d.name)}: {escape(_freedoms(d))}</h4>"]
    for title, items in sections(d):
        parts.append(f"<p>{escape(title)}</p>")
        if items:
            parts.append("<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>")
    return "<div>" + "".join(parts) + "</div>"


def sections(d: "Diagnosis") -> Sections:
    """Return the report: titles, and what stands below them."""
    found: Sections = [(_counts(d), [])]
    if d.open_by > 1e-9:
        found.append((f"the position given was open by {d.open_by:.3g} of a loop's length; closed first", []))
    found += _redundancy(d) + _motions(d) + _singularity(d) + _dead_points(d)
    if d.notes:
        found.append(("notes", list(d.notes)))
    if d.opening > 1e-9:
        found.append((f"the velocity given opens the loops by {d.opening:.3g} of their length a second", []))
    return found


def _freedoms(d: "Diagnosis") -> str:
    said = many(d.freedoms, "degree of freedom", "degrees of freedom")
    return said if d.freedoms == d.freedoms_now else f"{said}, {d.freedoms_now} at this position"


def _counts(d: "Diagnosis") -> str:
    constrained = len(d.constraints)
    joints, loops = len(d.joints) - constrained, len(d.loops) - constrained
    size = f"{many(d.bodies, 'body', 'bodies')}, {many(joints, 'joint', 'joints')}"
    if not loops and not constrained:
        return f"{size}, no loops: all velocities are free"
    velocities = many(d.velocities, "velocity", "velocities")
    equations = many(d.equations, "equation", "equations")
    closed = [many(loops, "loop", "loops")] if loops else []
    closed += [many(constrained, "constraint", "constraints")] if constrained else []
    said = f"{size}, {', '.join(closed)}: {velocities} of the tree less {equations} of rank {d.rank}"
    if d.rank != d.rank_near:
        said += f" ({d.rank_near} near it)"
    return said if d.counted == d.freedoms_now else f"{said}; the count without the rank gives {d.counted}"


def _redundancy(d: "Diagnosis") -> Sections:
    if not d.redundant_now:
        return []
    alike: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for name, count in d.redundant.items():
        alike.setdefault((count, d.not_unique.get(name, ())), []).append(name)
    items = [
        f"{_listed(names)}: {count}{' each' if len(names) > 1 else ''}: {', '.join(components)}"
        for (count, components), names in alike.items()
    ]
    here = d.redundant_now - d.redundant_near
    only = "" if not here else " here" if not d.redundant_near else f", {here} of them only here"
    title = f"{many(d.redundant_now, 'equation is', 'equations are')} redundant{only}"
    return [(f"{title}; in which joints, and which reactions are not unique:", items)]


def _motions(d: "Diagnosis") -> Sections:
    found: Sections = []
    if not d.freedoms_now:
        return [("nothing can move", [])]
    if d.loops and not d.singular:
        found.append(("it moves like this:", _described(d, d.motion)))
    for k, branch in enumerate(d.branches if d.singular else ()):
        name = f"branch {k + 1} of at least {len(d.branches)}" if d.bifurcation else "one branch"
        said = many(branch.freedoms, "degree of freedom", "degrees of freedom")
        found.append((f"{name}, {said}:", _described(d, branch)))
    if d.infinitesimal.freedoms:
        said = many(d.infinitesimal.freedoms, "motion is", "motions are")
        found.append(
            (f"{said} infinitesimal only: the loops stop it at once:", _described(d, d.infinitesimal))
        )
    if d.locked:
        found.append((f"joints that cannot move: {_listed(d.locked)}", []))
    return found


def _described(d: "Diagnosis", motion: "FreeMotion") -> list[str]:
    """Say each motion by the largest velocities in it, and in one line those of single joints."""
    lines, alone = [], []
    for name, rates in zip(motion.independent, motion.rates, strict=True):
        first = d.coordinates.index(name)
        if np.count_nonzero(rates) == 1:
            alone.append(name)
            continue
        order = [int(k) for k in np.argsort(-np.abs(rates), kind="stable") if rates[k] and k != first]
        shown = [first, *sorted(order[:_SHOWN])]
        said = ", ".join(f"{d.coordinates[k]} {rates[k]:.4g} {d.units[k]}/s" for k in shown)
        lines.append(said + (f", and {len(order) - _SHOWN} more" if len(order) > _SHOWN else ""))
    return [*lines, f"by itself: {_listed(alone)}"] if alone else lines


def _singularity(d: "Diagnosis") -> Sections:
    if not d.loops or d.margin == np.inf:
        return []
    if d.bifurcation:
        return [(f"this position is a bifurcation: at least {len(d.branches)} branches of motion meet", [])]
    if d.singular and not d.branches:
        return [("this position is singular: a shaky structure, which gives way a little and no more", [])]
    if d.singular:
        return [("this position is singular: the loops lose an equation here", [])]
    title = f"smallest singular value {d.margin:.3g}, in the loop of {d.weakest!r}"
    if d.singular_ahead < _FAR:
        title += f": a singular position is about {d.singular_ahead:.2g} rad or lengths of the loop away"
    if d.time_ahead < np.inf and d.singular_ahead < 5 * _FAR:
        title += f", {d.time_ahead:.2g} s at this velocity"
    return [(title, [])]


def _dead_points(d: "Diagnosis") -> Sections:
    found: Sections = []
    here = [point.coordinate for point in d.dead_points if point.here]
    if here:
        found.append((f"at a dead point, it stands still and cannot drive the rest: {_listed(here)}", []))
    near = [
        f"{point.coordinate}: {point.ahead:.2g} {_unit(d, point.independent)} of {point.independent} ahead"
        for point in d.dead_points
        if not point.here
    ]
    if near:
        found.append(("near a dead point (extrapolated):", near))
    if d.drives:
        said = _listed(d.drives.driven) or "no joint"
        if d.drives.undriven:
            title = f"driving {said} leaves {many(d.drives.undriven, 'motion', 'motions')} free:"
            found.append((title, _described(d, d.drives.left)))
        else:
            quality = f"quality {d.drives.quality:.3g}, 0 is a dead point"
            found.append((f"driving {said} moves everything; {quality}", []))
    return found


def _unit(d: "Diagnosis", coordinate: str) -> str:
    return d.units[d.coordinates.index(coordinate)]


def _listed(names: Any) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")


def many(n: int, one: str, several: str) -> str:
    return f"{n} {one if n == 1 else several}"
