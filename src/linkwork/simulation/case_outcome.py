"""What becomes of a case of a sweep: numbers, or why there are none."""

import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.simulation.sweep_cases import RESERVED, Case


@dataclass(frozen=True)
class CaseOutcome:
    """What became of a case."""

    status: str  # "done" or "failed"
    message: str = ""
    values: dict[str, float] = field(default_factory=dict)


def computed(
    build: Callable[..., Any], measure: Callable[[Any], Any], cases: list[Case]
) -> list[CaseOutcome]:
    """Compute cases; this runs where the executor runs, and what it returns can be sent from anywhere."""
    return [_outcome(build, measure, case) for case in cases]


def _outcome(build: Callable[..., Any], measure: Callable[[Any], Any], case: Case) -> CaseOutcome:
    return measured(measure, built_for(build, case), case)


def built_for(build: Callable[..., Any], case: Case) -> Any:
    """Return what is built for a case, or a CaseOutcome that says why it could not be."""
    try:
        return build(**case)
    except (Exception, SystemExit) as error:
        return failed_outcome("build", error)


def measured(
    measure: Callable[[Any], Any], built: Any, case: Case, around: AbstractContextManager[None] | None = None
) -> CaseOutcome:
    """Return the outcome of a case; while it is measured, something may be `around`."""
    if isinstance(built, CaseOutcome):
        return built
    try:
        with around or nullcontext():
            values = _numbers(measure(built), _word(measure))
        if taken := values.keys() & {*case, *RESERVED}:
            raise ValueError(f"the name {min(taken)!r} is taken by another column; rename the measure")
    except (Exception, SystemExit) as error:
        return failed_outcome("measure", error)
    return CaseOutcome("done", "", values)


def failed_outcome(stage: str, error: BaseException) -> CaseOutcome:
    try:
        said = str(error)
    except Exception:
        said = "which cannot say why"
    return CaseOutcome("failed", f"{stage}: {type(error).__name__}: {said}{_place(error)}")


def _place(error: BaseException) -> str:
    """Say in which line of the user's own code something was raised: the last one outside of packages."""
    trail = traceback.extract_tb(error.__traceback__)
    ours = str(Path(__file__).parents[1])
    lines = [line for line in trail if not line.filename.startswith((ours, "<frozen")) and line.lineno]
    lines = [line for line in lines if "site-packages" not in line.filename] or lines
    return f" ({Path(lines[-1].filename).name}, line {lines[-1].lineno})" if lines else ""


def _word(measure: Callable[[Any], Any]) -> str:
    """Return the column of a measure that gives one number: the name of the function, if it has one."""
    name = getattr(getattr(measure, "func", measure), "__name__", "value")
    return name if name.isidentifier() else "value"


def _numbers(result: Any, word: str) -> dict[str, float]:
    """Return the numbers of a measure by column; those of arrays have their index in the name."""
    numbers: dict[str, float] = {}
    for name, value in (result if isinstance(result, Mapping) else {word: result}).items():
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"it returned {value!r} for {name!r}; give a number, or several by name")
        if array.ndim == 0:
            numbers[f"{name}"] = float(array)
            continue
        for index in np.ndindex(array.shape):
            numbers[f"{name}[{', '.join(map(str, index))}]"] = float(array[index])
    return numbers
