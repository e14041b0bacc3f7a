"""Inertia of the links of a robot: small flaws are let through, large ones refused, repaired, or kept."""

from collections.abc import Callable

from linkwork.errors import FormatError, warn
from linkwork.mechanism.inertia import GROSS, ROUNDING, Inertia, rotational
from linkwork.mechanism.placement import plain


def judge_inertias(
    inertias: dict[str, Inertia],
    repair: bool,
    unphysical: bool,
    refused: Callable[[str, str], FormatError],
) -> None:
    """Repair what no real body has, or keep it as `unphysical`; else raise what `refused` makes of it."""
    total = rotational(inertias.values())
    for name, inertia in inertias.items():
        problems = inertia.problems(allowed=(ROUNDING if repair or unphysical else GROSS) * total)
        if problems and repair:
            inertias[name] = inertia.repaired()
            moments, _ = inertias[name].principal()
            warn(f"link {name!r}: {problems[0]}; repaired to {plain(moments)}")
        elif problems:
            kept = Inertia(inertia.mass, inertia.com, inertia.tensor, unphysical=True)
            worse = kept.problems(allowed=GROSS * total)
            if not unphysical or worse:
                raise refused(name, _message((worse or problems)[0], not worse))
            inertias[name] = kept


def _message(problem: str, keepable: bool) -> str:
    what = problem.partition(";")[0]  # its remedy is for who writes Python
    remedy = "give the tensor about the centre of mass; repair=True replaces it by the nearest real one"
    return f"{what}; {remedy}{', unphysical=True keeps it' if keepable else ''}"
