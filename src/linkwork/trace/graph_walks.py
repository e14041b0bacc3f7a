"""Walks over graphs of expressions: what they depend on, their values on any numbers, are they smooth."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from linkwork.trace.expression import COMPARISONS, DATA, OPERATIONS, Expr, Operand

_SMOOTH = frozenset({"symbol", "add", "sub", "mul", "div", "neg", "sin", "cos"})


def evaluate(roots: Sequence[Operand], values: Callable[[Expr], Any]) -> list[Any]:
    """Run expressions on any numbers: `values` gives the number of each symbol.

    This is how a graph is moved into another graph, and how a traced formula is checked against the plain
    one.
    """
    return with_constants(roots, values, lambda x: x)


def with_constants(
    roots: Sequence[Operand], values: Callable[[Expr], Any], constants: Callable[[float], Any]
) -> list[Any]:
    """Run expressions with both their symbols and their constants replaced."""
    done: dict[int, Any] = {}
    for x in reachable(roots):
        if x.op == "symbol":
            done[x.index] = values(x)
        else:
            done[x.index] = OPERATIONS[x.op](
                *(
                    done[a.index] if isinstance(a, Expr) else a if isinstance(a, DATA) else constants(a)
                    for a in x.args
                )
            )
    return [done[r.index] if isinstance(r, Expr) else constants(r) for r in roots]


def is_condition(x: Any) -> bool:
    """Return whether it is a traced truth value: a comparison, or several put together."""
    return isinstance(x, Expr) and (x.op in COMPARISONS or x.op in ("and", "or", "not"))


def has_nan(roots: Iterable[Operand]) -> bool:
    """Whether a number in expressions is not a number: what they give is none either."""
    given = list(roots)
    numbers = [a for x in (*reachable(given), None) for a in (x.args if x is not None else given)]
    return any(isinstance(a, float) and a != a for a in numbers)


def reachable(roots: Iterable[Operand]) -> list[Expr]:
    """Return the nodes the roots depend on, operands before users."""
    seen: set[int] = set()
    found: list[Expr] = []
    stack = [r for r in roots if isinstance(r, Expr)]
    while stack:
        x = stack.pop()
        if x.index not in seen:
            seen.add(x.index)
            found.append(x)
            for a in x.args:
                if isinstance(a, Expr):
                    stack.append(a)
    found.sort(key=lambda x: x.index)
    return found


def is_smooth(roots: Iterable[Operand], *, saturating: bool = False) -> bool:
    """Return whether there are but sums, products, quotients, sines and cosines: nothing bends or jumps.

    With `saturating` also a tanh, which goes from one value to another and stays there; it may be steep. What
    is said to be `regular` is taken for smooth.
    """
    seen: set[int] = set()
    stack = [root for root in roots if isinstance(root, Expr)]
    while stack:
        x = stack.pop()
        if x.index in seen:
            continue
        seen.add(x.index)
        args = x.args
        if x.index in x.graph.regular:
            args = x.graph.regular[x.index]
        elif saturating and x.index in x.graph.saturations:
            args = (x.graph.saturations[x.index],)
        elif x.op not in _SMOOTH:
            return False
        stack.extend(a for a in args if isinstance(a, Expr))
    return True
