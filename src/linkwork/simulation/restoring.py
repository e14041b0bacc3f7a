"""Restoring wrenches against drift of closed loops: a spring and a damper on the gap of each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from linkwork.errors import unknown
from linkwork.real_numbers import real_array
from linkwork.spelling import Spelled, fixed
from linkwork.tree.tree import Tree


@fixed("make another lw.Restoring")
@dataclass(frozen=True)
class Restoring(metaclass=Spelled):
    """A restoring wrench in loop joints, in place of closing loops after every step.

    A gap closes as a damped oscillator comes to rest: its acceleration is less by `stiffness` [1/s^2] times
    the gap and `damping` [1/s] times its rate. Each is a number for all equations, or the diagonals of gain
    matrices: by the name of a loop joint, as many numbers as it has equations.
    """

    stiffness: float | Mapping[str, Any] = 1e4
    damping: float | Mapping[str, Any] = 200.0

    def applied(self, tree: Tree) -> Tree:
        """Return the tree with these gains in its loops; ValueError if they do not fit."""
        names = [loop.name for loop in tree.loops]
        gains = [
            self._diagonals(word, names, {loop.name: loop.rows for loop in tree.loops}) for word in _WORDS
        ]
        loops = []
        for loop in tree.loops:
            k, d = (by_name[loop.name] for by_name in gains)
            first = loop.formula.n_data - 2 * loop.rows
            data = (*loop.data[:first], *k, *d, *loop.data[loop.formula.n_data :])
            loops.append(replace(loop, data=data))
        return tree.having(loops=tuple(loops))

    def _diagonals(self, word: str, names: list[str], rows: Mapping[str, int]) -> dict[str, list[float]]:
        given = getattr(self, word)
        by_name = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
        for name in by_name:
            if name not in rows:
                raise ValueError(f"restoring {word}: {unknown('loop joint', name, names)}")
        found = {}
        for name in names:
            try:
                values = np.atleast_1d(real_array(word, by_name.get(name, 0.0)))
            except ValueError:
                values = np.array([np.nan])
            if values.shape not in ((1,), (rows[name],)) or not all(isfinite(x) and x >= 0.0 for x in values):
                said = f"restoring {word} of {name!r} is {by_name[name]!r}"
                raise ValueError(f"{said}; give {rows[name]} finite numbers >= 0")
            found[name] = np.broadcast_to(values, rows[name]).tolist()
        return found

    def key(self) -> str:
        """Return what shapes the steps."""
        return repr(
            [sorted(g.items()) if isinstance(g, Mapping) else g for g in (self.stiffness, self.damping)]
        )


_WORDS = "stiffness", "damping"
PROJECTED, RESTORED = "projected", "restored"


def chosen_restoring(loops: Any) -> Restoring | None:
    """Return how loops are kept closed: None by projection; ValueError if it is neither."""
    if isinstance(loops, Restoring):
        return loops
    if not isinstance(loops, str) or loops not in (PROJECTED, RESTORED):
        raise ValueError(
            f"loops {loops!r}; give {PROJECTED!r}, {RESTORED!r} or lw.Restoring(stiffness, damping)"
        )
    return Restoring() if loops == RESTORED else None
