"""State: time, positions and velocities; everything else can be computed again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.errors import unknown
from linkwork.real_numbers import is_finite, real_array
from linkwork.spelling import Spelled, fixed, require

Array = np.ndarray
Slices = Mapping[str, tuple[slice, slice]]  # joint -> (where in q, where in v)

_WORDS = {"memory": Mapping | None, "inputs": Mapping, "slices": Mapping, "controllers": Mapping}
_SHOWN = 6  # joints in the text of a state


@fixed("make another with model.state(...), or dataclasses.replace(state, q=..., v=...)")
@dataclass(frozen=True, eq=False, repr=False)
class State(metaclass=Spelled):
    """What a simulation goes on from: `state["pin"]` is the position of a joint.

    >>> from linkwork.examples import cart_pole
    >>> state = cart_pole().compile().state(pin=0.3, velocities={"rail": 0.1})
    >>> state
    State(t=0 s; rail 0, pin 0.3; velocities rail 0.1, pin 0)
    >>> state["pin"], state.velocities["rail"]
    (0.3, 0.1)
    """

    q: Array  # (nq,) positions [m, rad, quaternions]
    v: Array  # (nv,) velocities [m/s, rad/s]
    t: float = 0.0  # time [s]
    memory: Mapping[str, Array] | None = None  # of the run it comes from, to go on bit for bit
    inputs: Mapping[str, Any] = field(default_factory=dict)  # values by name; others have their defaults
    slices: Slices = field(default_factory=dict)  # where the joints are, if it comes from a model or a run
    controllers: Mapping[str, Any] = field(default_factory=dict)  # what sampled controllers remember, by name

    def __post_init__(self) -> None:
        for word in ("q", "v"):
            given = getattr(self, word)
            if not isinstance(given, np.ndarray):
                numbers = real_array(f"State: {word}", given)
                if numbers.ndim != 1:
                    raise ValueError(
                        f"State: {word} {given!r:.80}; give an array, or use model.state(pin=0.3)"
                    )
                object.__setattr__(self, word, numbers)
        if not is_finite(self.t):
            raise ValueError(f"State: t {self.t!r:.80}; give seconds; it takes State(q, v, t)")

        for word, kinds in _WORDS.items():
            require(f"State: {word}", getattr(self, word), kinds, "values by name, or leave it out")

    def __reduce__(self) -> tuple[Any, ...]:
        words = dict(self.inputs), dict(self.slices), dict(self.controllers)
        return State, (self.q, self.v, self.t, self.memory, *words)

    @property
    def positions(self) -> "ByJoint":
        """The positions by joint: a number, or an array if there are several."""
        return ByJoint(self.q, self.slices, 0)

    @property
    def velocities(self) -> "ByJoint":
        """The velocities by joint."""
        return ByJoint(self.v, self.slices, 1)

    def __getitem__(self, joint: str) -> Any:
        return self.positions[joint]

    def __setitem__(self, joint: str, value: Any) -> None:
        raise TypeError(
            f"a State stays what it is: {joint!r} cannot be set to {value!r:.80}; make another with "
            "model.state(...), where joints of loops follow from what is given"
        )

    def __contains__(self, joint: object) -> bool:
        return joint in self.slices

    def __iter__(self) -> Iterator[str]:
        return iter(self.slices)

    def __repr__(self) -> str:
        if not self.slices:
            return f"State(t={self.t:g} s; {_plural(self.q.size, 'position')} q, velocities v)"
        return f"State(t={self.t:g} s; {self.positions}; velocities {self.velocities})"


class ByJoint(Mapping[str, Any]):
    """Numbers of a state by joint."""

    def __init__(self, numbers: Array, slices: Slices, side: int) -> None:
        self._numbers, self._slices, self._side = numbers, slices, side

    def __getitem__(self, joint: str) -> Any:
        if joint not in self._slices:
            if not self._slices:
                raise KeyError(
                    f"{joint!r}: this state has no names; take one of model.state(...) or run.final"
                )
            raise KeyError(
                f"{unknown('joint', joint, self._slices)} (joints that close loops follow from the others: "
                "model.loop_coordinates(state); bodies: model.poses(state))"
            )
        part = self._numbers[self._slices[joint][self._side]]
        return float(part[0]) if part.size == 1 else part

    def __iter__(self) -> Iterator[str]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)

    def __repr__(self) -> str:
        shown = [f"{name} {_short(self[name])}" for name in list(self)[:_SHOWN]]
        return ", ".join([*shown, *([f"... of {len(self)} joints"] if len(self) > _SHOWN else [])])


def _short(value: Any) -> str:
    return f"({', '.join(f'{x:.6g}' for x in value)})" if np.ndim(value) else f"{value:.6g}"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
