"""Sampled controllers: plain Python, called at a rate of its own; what it gives is held in between."""

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any, ClassVar

import numpy as np

from linkwork.algebra.number import Number
from linkwork.mechanism.input import Input
from linkwork.mechanism.load import Load
from linkwork.mechanism.load_options import is_number
from linkwork.real_numbers import real_array


class Sampled(Load):
    """Write inputs at the times offset + k every, as a digital controller does, and hold them in between.

    `law(t, q, v)` is any Python: it may branch, draw random numbers, keep what it likes. It is given all
    coordinates of the mechanism, by number or name, q["pin"], and returns one number per input. With
    `memory`, a number or an array to begin with, it is law(t, q, v, memory) and returns (u, memory): what it
    remembers is then part of the state, and runs go on from there bit for bit. `limits` (low, high) bound
    what is written.

    In a batch it is called for each mechanism. If it is `vectorized`, it is called once, with the mechanisms
    along the last axis: q (nq, N), q["pin"] (N,), memory (..., N), u (N,) or (inputs, N).

    >>> Sampled("balance", "motor", every=0.002, law=lambda t, q, v: 40 * q["pin"])
    Sampled('balance')
    """

    word = "controller"
    set_once: ClassVar[frozenset[str]] = frozenset({"inputs"})
    called: ClassVar[frozenset[str]] = frozenset({"law"})  # as it is, in a run: what it reads may change
    constants: ClassVar[frozenset[str]] = frozenset({"every", "offset", "limits", "memory"})

    def __init__(
        self,
        name: str,
        inputs: str | Input | Iterable[str | Input],
        *,
        every: float,
        law: Callable[..., Any],
        offset: float = 0.0,
        limits: Sequence[float] | None = None,
        memory: Any = None,
        vectorized: bool = False,
    ) -> None:
        super().__init__(name)
        many = isinstance(inputs, list | tuple | set) or hasattr(inputs, "__next__")
        several: Any = inputs if many else [inputs]
        self.inputs = tuple(Input(one) if isinstance(one, str) else one for one in several)
        self.every, self.offset, self.law = every, offset, law
        self.limits, self.memory, self.vectorized = limits, memory, vectorized

    def mistakes(self) -> list[str]:
        found = []
        names = [one.name if isinstance(one, Input) else repr(one) for one in self.inputs]
        if not names or any(not isinstance(one, Input) for one in self.inputs):
            found.append(f"inputs {names}; give the name of an input, or several")
        elif len({*names}) < len(names):
            found.append(f"inputs {names}; give each once")
        if not (is_number(self.every) and 0.0 < self.every < inf):
            found.append(f"every {self.every!r}; give the seconds between two calls")
        if not is_number(self.offset):
            found.append(f"offset {self.offset!r}; give seconds")
        if not callable(self.law):
            found.append(f"law {self.law!r}; give a function law(t, q, v)")
        if self.limits is not None and not _is_range(self.limits):
            found.append(f"limits {self.limits!r}; give (low, high)")
        if self.memory is not None and not _is_real(self.memory):
            found.append(f"memory {self.memory!r:.80}; give a number, or an array of them")
        if not isinstance(self.vectorized, bool):
            found.append(f"vectorized {self.vectorized!r:.80}; give True or False")
        return found

    def act(self, t: Number) -> list[Number]:
        """Show what is held."""
        return [one.as_number() for one in self.inputs]


def _is_range(limits: Any) -> bool:
    return (
        np.shape(limits) == (2,)
        and all(isinstance(x, int | float | np.number) for x in limits)
        and (limits[0] <= limits[1])
    )


def _is_real(memory: Any) -> bool:
    try:
        return bool(np.isfinite(real_array("memory", memory)).all())
    except ValueError:
        return False
