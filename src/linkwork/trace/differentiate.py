"""Derivatives of expressions, as expressions of the same graph.

>>> from linkwork.trace.expression import Graph
>>> x = Graph().symbol("x")
>>> derivative([x * x], {x: 1.0})
[add(symbol('x'), symbol('x'))]
"""

import math
from collections.abc import Callable, Mapping, Sequence

from linkwork.algebra.number import cos, log, sin, where
from linkwork.errors import TraceError
from linkwork.trace.called_functions import Called
from linkwork.trace.expression import CONDITIONS, Expr, Operand, called
from linkwork.trace.graph_walks import reachable


def _pow_partials(x: Expr, a: Operand, b: Operand) -> tuple[Operand, Operand]:
    if not isinstance(b, Expr):
        return b * a ** (b - 1.0), 0.0
    if isinstance(a, Expr):
        return b * a ** (b - 1.0), x * log(a)
    return 0.0, x * (log(a) if a > 0.0 else -math.inf if a == 0.0 else math.nan)


def _atan2_partials(_: Expr, y: Operand, x: Operand) -> tuple[Operand, Operand]:
    square = x * x + y * y
    return x / square, -y / square


# op -> partial derivatives by each argument, from the node and its arguments
_PARTIALS: dict[str, Callable[..., tuple[Operand, ...]]] = {
    "add": lambda x, a, b: (1.0, 1.0),
    "sub": lambda x, a, b: (1.0, -1.0),
    "mul": lambda x, a, b: (b, a),
    "div": lambda x, a, b: (1.0 / b, -x / b),
    "neg": lambda x, a: (-1.0,),
    "sqrt": lambda x, a: (0.5 / x,),
    "sin": lambda x, a: (cos(a),),
    "cos": lambda x, a: (-sin(a),),
    "exp": lambda x, a: (x,),
    "log": lambda x, a: (1.0 / a,),
    "abs": lambda x, a: (where(a < 0, -1.0, 1.0),),
    "floor": lambda x, a: (0.0,),
    "segment": lambda x, a, knots: (0.0, 0.0),
    "entry": lambda x, a, column: (0.0, 0.0),
    "pow": _pow_partials,
    "atan2": _atan2_partials,
}


def _called_rate(x: Expr, moving: Sequence[Operand]) -> Operand:
    """Return the rate of a function that is called: along the rates of its arguments, and of its directions.

    It is linear in its directions, so that one that changes gives the function with the change in its place.
    """
    function, *args = x.args
    n = function.function.arguments
    still = lambda part: all(_is_nothing(m) for m in part)  # noqa: E731
    rate: Operand = 0.0
    if not still(moving[:n]):
        if function.directions == 2:
            raise TraceError(f"{function.function.name}: a third derivative of what is called is not known")
        rate = called(function.further(), *args, *moving[:n])
    for k in range(n, len(args), n):
        if not still(moving[k : k + n]):
            rate = rate + called(function, *args[:k], *moving[k : k + n], *args[k + n :])
    return rate


def _called_partials(x: Expr, function: Called, *args: Operand) -> tuple[Operand, ...]:
    units = ([1.0 if i == k else 0.0 for i in range(len(args))] for k in range(len(args)))
    return 0.0, *(_called_rate(x, unit) for unit in units)


_PARTIALS["called"] = _called_partials


def _partials(x: Expr) -> tuple[Operand, ...]:
    if x.op not in _PARTIALS:
        raise TraceError(f"{x.op} has no derivative here")
    return _PARTIALS[x.op](x, *x.args)


def _is_condition(x: Expr) -> bool:
    return x.op in CONDITIONS


def derivative(roots: Sequence[Operand], rates: Mapping[Expr, Operand]) -> list[Operand]:
    """Return the rates of the roots when given symbols (or any nodes) change at given rates: forward mode."""
    given = {x.index: rate for x, rate in rates.items()}
    rate: dict[int, Operand] = {}
    for x in reachable(roots):
        if x.index in given:
            rate[x.index] = given[x.index]
        elif x.op == "symbol" or _is_condition(x):
            rate[x.index] = 0.0
        elif (
            x.op == "where"
        ):  # choose the rate, rather than multiply it by 0 or 1: the other side may be infinite
            a, b = (rate[side.index] if isinstance(side, Expr) else 0.0 for side in x.args[1:])
            rate[x.index] = where(x.args[0], a, b)
        else:
            moving = [rate[a.index] if isinstance(a, Expr) else 0.0 for a in x.args]
            still = all(isinstance(m, float) and m == 0.0 for m in moving)
            if x.op == "called" and not still:
                rate[x.index] = _called_rate(x, moving[1:])
            else:
                rate[x.index] = 0.0 if still else _sum_of_products(_partials(x), moving)
    return [rate[r.index] if isinstance(r, Expr) else 0.0 for r in roots]


def _sum_of_products(partials: Sequence[Operand], rates: Sequence[Operand]) -> Operand:
    total: Operand = 0.0
    for p, m in zip(partials, rates, strict=True):
        if not (isinstance(m, float) and m == 0.0):
            total = total + p * m
    return total


def gradient(root: Operand, symbols: Sequence[Expr]) -> list[Operand]:
    """Return the derivatives of one expression by many symbols (or nodes) at the cost of a few: reverse mode.

    What comes through a side of a `where` that is not chosen is zero, whatever the derivative is there: each
    node knows the condition under which it is needed at all, so that 0 times infinity does not arise.
    """
    if not isinstance(root, Expr):
        return [0.0] * len(symbols)
    bars: dict[int, Operand] = {root.index: 1.0}
    needed: dict[int, Operand] = {root.index: True}
    stop = {s.index for s in symbols}
    for x in reversed(reachable([root])):
        bar, need = bars.get(x.index, 0.0), needed.get(x.index, False)
        if x.op == "symbol" or x.index in stop or _is_condition(x) or _is_nothing(bar):
            continue
        if x.op == "where":
            c, a, b = x.args
            shares = [(a, where(c, bar, 0.0), _both(need, c)), (b, where(c, 0.0, bar), _both(need, ~c))]
        else:
            products = [p * bar for p in _partials(x)]
            guarded = products if need is True else [where(need, p, 0.0) for p in products]
            shares = [(a, p, need) for a, p in zip(x.args, guarded, strict=True)]
        for a, share, when in shares:
            if isinstance(a, Expr) and not _is_nothing(share):
                bars[a.index] = bars.get(a.index, 0.0) + share
                needed[a.index] = _either(needed.get(a.index, False), when)
    return [bars.get(s.index, 0.0) for s in symbols]


def _is_nothing(x: Operand) -> bool:
    return isinstance(x, float) and x == 0.0


def _both(a: Operand, b: Operand) -> Operand:
    return b if a is True else a & b


def _either(a: Operand, b: Operand) -> Operand:
    if a is True or b is True:
        return True
    return b if a is False or a is b else a | b


def jacobian(roots: Sequence[Operand], symbols: Sequence[Expr]) -> list[list[Operand]]:
    """Return the derivatives of the roots by the symbols, as rows, in the mode that is less work."""
    if len(roots) < len(symbols):
        return [gradient(root, symbols) for root in roots]
    columns = [derivative(roots, {s: 1.0}) for s in symbols]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in roots]
