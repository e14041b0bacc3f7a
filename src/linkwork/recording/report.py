"""How a run went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from linkwork.spelling import fixed, spelled_methods

SUCCESS = ("DONE", "EVENT")  # the statuses of runs that ended as requested


class Impact(NamedTuple):
    """The impulse at a point in which two bodies a and b have hit each other."""

    time: float  # [s]
    bodies: tuple[str, str]
    point: tuple[float, ...]  # (d,) in the world [m]
    impulse: tuple[float, ...]  # (d,) on b, in world axes [N s]


class Hit(tuple[float, str]):
    """An event (time, name): two bodies have hit each other, at one point or several."""

    impacts: tuple[Impact, ...]

    def __new__(cls, impacts: Sequence[Impact]) -> "Hit":
        """Make it of impacts of two bodies at one time."""
        made = super().__new__(cls, (impacts[0].time, " hits ".join(impacts[0].bodies)))
        made.impacts = tuple(impacts)
        return made

    def __getnewargs__(self) -> tuple[tuple[Impact, ...]]:  # type: ignore[override]
        return (self.impacts,)


def hits_of(impacts: Sequence[Impact]) -> list[Hit]:
    """Return the events of impacts, one for each pair of bodies and time."""
    found: dict[tuple[float, tuple[str, str]], list[Impact]] = {}
    for one in impacts:
        found.setdefault((one.time, one.bodies), []).append(one)
    return [Hit(each) for each in found.values()]


def impacts_of(events: Sequence[tuple[float, str]]) -> tuple[Impact, ...]:
    """Return the impacts among events."""
    return tuple(one for event in events if isinstance(event, Hit) for one in event.impacts)


def plain_event(event: tuple[float, str]) -> list[Any]:
    """Return an event as plain JSON values."""
    return [*event, *(list(each) for each in impacts_of([event]))]


def event_of(values: Sequence[Any]) -> tuple[float, str]:
    """Return the event that `plain_event` made these values of; ValueError if there is none."""
    if isinstance(values, Hit):
        return values
    time, name, *impacts = values
    return Hit([_impact(each) for each in impacts]) if impacts else (float(time), text(name))


def _is_long(value: Any) -> bool:
    """Return whether values are too many to be printed."""
    return isinstance(value, tuple) and len(value) > 3


def _impact(values: Sequence[Any]) -> Impact:
    time, (a, b), point, impulse = values
    return Impact(float(time), (text(a), text(b)), tuple(map(float, point)), tuple(map(float, impulse)))


@spelled_methods
@fixed("it says how a run went")
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
    impacts: tuple[Impact, ...] = ()  # of rigid bodies; each is of an event "... hits ..."
    provenance: Mapping[str, Any] = field(default_factory=dict)  # versions, digest of the model, options, ...

    def __repr__(self) -> str:
        """Return what it says in short: events and impacts, which may be thousands, are counted."""
        said = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "provenance"}
        words = [f"{name}={value!r}" for name, value in said.items() if value and not _is_long(value)]
        return f"Report({', '.join([*words, *(f'<{len(x)} {n}>' for n, x in said.items() if _is_long(x))])})"

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
        data = {"impacts": (), **data}  # files of earlier versions have none
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
        values["impacts"] = tuple(map(_impact, values["impacts"]))
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
