"""How a run went."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

import numpy as np

SUCCESS = ("DONE", "EVENT")  # the statuses of runs that ended as requested


@dataclass(frozen=True)
class Report:
    """How a run went; plain values, which go into its file as JSON."""

    status: str  # name of a Status
    message: str = ""  # why, if it failed
    hint: str = ""  # what may help then
    mechanism: str = ""
    method: str = ""
    accuracy: float | None = None  # asked for; None if the step is fixed
    step: float | None = None  # fixed step [s]
    accepted: int = 0  # steps
    rejected: int = 0
    evaluations: int = 0  # of the accelerations
    wall_time: float = 0.0  # [s]
    compile_time: float = 0.0  # before it: making or loading native code [s]
    error_estimate: float | None = None  # of the states, in the measure of `accuracy`
    loop_gap: float | None = None  # worst of the closed loops in the samples [m, rad]; None: there are none
    python_laws: tuple[str, ...] = ()  # names of laws that run as plain Python
    warnings: tuple[str, ...] = ()
    events: tuple[tuple[float, str], ...] = ()  # (time [s], name)
    provenance: Mapping[str, Any] = field(default_factory=dict)  # versions, digest of the model, options, ...

    @property
    def failed(self) -> bool:
        """Whether the run ended otherwise than requested."""
        return self.status not in SUCCESS

    @property
    def outcome(self) -> str:
        """The status in words."""
        return in_words(self.status)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; numbers that are not finite become texts."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Report":
        """Return the report that `to_json` made these values of; ValueError if there is none."""
        values = {item.name: data[item.name] for item in fields(cls)}
        for name in ("status", "message", "hint", "mechanism", "method"):
            values[name] = text(values[name])
        for name in ("accepted", "rejected", "evaluations"):
            values[name] = int(values[name])
        for name in ("accuracy", "step", "error_estimate", "loop_gap"):
            values[name] = None if values[name] is None else float(values[name])
        for name in ("wall_time", "compile_time"):
            values[name] = float(values[name])
        for name in ("python_laws", "warnings"):
            values[name] = tuple(map(text, values[name]))
        values["events"] = tuple((float(time), text(event)) for time, event in values["events"])
        values["provenance"] = dict(values["provenance"])
        return cls(**values)


def in_words(status: str) -> str:
    """Return the name of a status as it is said."""
    return status.lower().replace("_", " ")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(value)


def text(value: Any) -> str:
    """Return a text of a file, or refuse what is none."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    return value
