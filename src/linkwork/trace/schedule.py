"""Expressions that are evaluated many times: the graph is walked once, and then computed as a list."""

from collections.abc import Callable, Sequence
from typing import Any

from linkwork.trace.expression import OPERATIONS, Expr, Operand
from linkwork.trace.graph_walks import reachable


class Schedule:
    """What expressions compute, in order, every number in a place of its own.

    `run(values)` returns the same bits as `evaluate(roots, values)`.
    """

    def __init__(self, roots: Sequence[Operand]) -> None:
        self._places: list[Any] = []  # constants; None where something is computed
        self._symbols: list[tuple[int, Expr]] = []
        self._steps: list[tuple[int, Callable[..., Any], tuple[int, ...]]] = []
        known: dict[int, int] = {}  # places of nodes
        for x in reachable(roots):
            if x.op != "symbol":
                args = tuple(known[a.index] if isinstance(a, Expr) else self._place(a) for a in x.args)
                self._steps.append((len(self._places), OPERATIONS[x.op], args))
            else:
                self._symbols.append((len(self._places), x))
            known[x.index] = self._place(None)
        self._roots = [known[r.index] if isinstance(r, Expr) else self._place(r) for r in roots]

    def _place(self, value: Any) -> int:
        self._places.append(value)
        return len(self._places) - 1

    def run(self, values: Callable[[Expr], Any]) -> list[Any]:
        """Return the values of the roots; `values` gives the number of each symbol."""
        found = self._places.copy()
        for place, symbol in self._symbols:
            found[place] = values(symbol)
        for place, operation, args in self._steps:
            found[place] = operation(*[found[a] for a in args])
        return [found[place] for place in self._roots]
