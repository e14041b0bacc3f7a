"""Functions of users as formulas: run once on symbols, kept as they were said, run again on any numbers.

Unlike the tracer's graph nothing folds here and operands stay in their order, so that a formula read from a
file does exactly what the function did: the same operations on the same operands, one after the other.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import add, and_, invert, mul, neg, or_, pow, sub, truediv
from typing import Any, TypeAlias

import numpy as np

from linkwork.algebra import number
from linkwork.errors import TraceError
from linkwork.mechanism.input import Input
from linkwork.trace.expression import Expr, Graph, Operand
from linkwork.trace.graph_walks import reachable

# Where a symbol is found among the arguments: ("body", ".velocity", 0) is body.velocity[0], and ("q", "pin")
# is q['pin'].
Path: TypeAlias = tuple[Hashable, ...]

FUNCTIONS = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
    *("sqrt", "exp", "log", "floor"),
)
MOST = 20_000  # operations that a formula may have


@dataclass(frozen=True)
class Action:
    """What a load does between its computations: push or twist a body, push a joint."""

    after: int  # number of nodes before it
    side: str  # argument
    verb: str
    joint: str | None  # of the whole mechanism, that is pushed
    force: tuple[Operand, ...]
    at: tuple[Operand, ...] | None = None
    frame: str = "world"

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (*self.force, *(self.at or ()))


class Sheet(Graph):
    """What a function said so far. Equal operations are one node, as in any graph, a + b and b + a too."""

    def __init__(self) -> None:
        super().__init__()
        self._commuting: dict[Hashable, Expr] = {}
        self.actions: list[Action] = []
        self.labels: dict[int, str] = {}  # names that a text gave to nodes

    def node(self, op: str, *args: Any) -> Expr:
        if op not in ("add", "mul"):
            return super().node(op, *args)
        key = op, frozenset(a.key if isinstance(a, Expr) else float(a).hex() for a in args)
        if key not in self._commuting:
            self._commuting[key] = super().node(op, *args)
        return self._commuting[key]

    def made(self, op: str, args: tuple[Any, ...]) -> "Said":
        if len(self.nodes) >= MOST:
            raise TraceError(f"more than {MOST} operations; a formula in a file has less")
        return Said(self, op, args, len(self.nodes))

    def act(self, side: str, verb: str, force: Iterable[Any], **options: Any) -> None:
        at = options.pop("at", None)
        self.actions.append(
            Action(
                len(self.nodes),
                side,
                verb,
                options.pop("joint", None),
                tuple(map(operand, force)),
                None if at is None else tuple(map(operand, at)),
                **options,
            )
        )


def operand(x: Any) -> Operand:
    """Return a traced number or a float; refuse what is neither."""
    x = x.as_number() if isinstance(x, Input) else x
    if isinstance(x, Expr):
        return x
    if isinstance(x, complex | str) or not hasattr(x, "__float__"):
        raise TraceError(f"{x!r} ({type(x).__name__}) in a formula; numbers and traced values are allowed")
    value = float(x)
    if value != value:
        raise TraceError("a constant of the formula is not a number (NaN)")
    return value


def _said(op: str, *, swap: bool = False) -> Any:
    def method(self: "Said", other: Any) -> Any:
        if hasattr(other, "scalars") or (isinstance(other, np.ndarray) and other.ndim):
            return NotImplemented
        a, b = (operand(other), self) if swap else (self, operand(other))
        return self.graph.node(op, a, b)

    return method


class Said(Expr):
    """A traced number that forgets nothing: neither 1 * x nor x + 0 is x."""

    __slots__ = ()
    __add__, __radd__ = _said("add"), _said("add", swap=True)
    __sub__, __rsub__ = _said("sub"), _said("sub", swap=True)
    __mul__, __rmul__ = _said("mul"), _said("mul", swap=True)
    __truediv__, __rtruediv__ = _said("div"), _said("div", swap=True)
    __pow__, __rpow__ = _said("pow"), _said("pow", swap=True)

    def __neg__(self) -> Operand:
        return self.graph.node("neg", self)

    def select(self, a: Operand, b: Operand) -> Operand:
        return self.graph.node("where", self, operand(a), operand(b))

    @staticmethod
    def apply_function(name: str, *args: Operand) -> Operand:
        if name == "interp":
            x, table = args
            return x.graph.node(name, x, table)
        if name not in FUNCTIONS:
            raise TraceError(f"{name} is not available here; available are {', '.join(FUNCTIONS)}")
        graph = next(a.graph for a in args if isinstance(a, Expr))
        return graph.node(name, *map(operand, args))


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": truediv,
    "pow": pow,
    "neg": neg,
    "abs": abs,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": and_,
    "or": or_,
    "not": lambda a: not a if isinstance(a, bool | np.bool_) else invert(a),
    "where": number.where,
    "item": lambda vector, k: vector[k],
    "interp": lambda x, table: table.at(x),
    "input": lambda name, value: Input(name, value).as_number(),
    **{name: (lambda *args, name=name: number.apply(name, *args)) for name in FUNCTIONS},
}


@dataclass(frozen=True, eq=False)
class Formula:
    """What a function computes: nodes in their order, actions among them, and the result."""

    result: Any  # an operand, None, or a list of operands or of lists of them
    actions: tuple[Action, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)  # by index of the node

    @property
    def nodes(self) -> list[Any]:
        return reachable([*flat(self.result), *(x for action in self.actions for x in action.operands)])

    @property
    def varies(self) -> bool:
        """Whether anything is in it that can change."""
        return any(x.op in ("symbol", "quantity", "input") for x in self.nodes)

    def run(self, arguments: Mapping[str, Any]) -> Any:
        """Do on these arguments what the function did."""
        done: dict[int, Any] = {}
        waiting = list(reversed(self.actions))

        def value(x: Operand) -> Any:
            return done[x.index] if isinstance(x, Expr) else x

        for x in self.nodes:
            while waiting and waiting[-1].after <= x.index:
                _do(waiting.pop(), arguments, value)
            if x.op in ("symbol", "quantity"):
                done[x.index] = found(arguments, x.args[0])
            elif x.op == "call":
                side, method, *point = x.args
                done[x.index] = getattr(arguments[side], method)([value(p) for p in point])
            else:
                done[x.index] = _OPERATIONS[x.op](*map(value, x.args))
        while waiting:
            _do(waiting.pop(), arguments, value)
        return _mapped(value, self.result)


def found(arguments: Mapping[str, Any], path: Path) -> Any:
    """Return what is at a path of the arguments."""
    name, *steps = path
    value = arguments[str(name)]
    for step in steps:
        if isinstance(step, str) and step.startswith("."):
            value = getattr(value, step[1:])
            value = value.scalars() if step == ".motion" else value
        else:
            value = value[step]
    return value


def _do(action: Action, arguments: Mapping[str, Any], value: Callable[[Operand], Any]) -> None:
    side, force = arguments[action.side], [value(x) for x in action.force]
    if action.joint is not None:
        side.push(action.joint, force)
    elif action.verb == "twist":
        side.twist(force, action.frame)
    elif hasattr(side, "wrench"):
        side.push(force, None if action.at is None else [value(x) for x in action.at], action.frame)
    else:
        side.push(force)


def recorded(sheet: Sheet, result: Any) -> Formula:
    """Return what a function has said, given what it returned."""
    return Formula(_mapped(_checked, result), tuple(sheet.actions), dict(sheet.labels))


def _checked(x: Any) -> Operand:
    return operand(x.item() if isinstance(x, np.ndarray) else x)


def flat(result: Any) -> list[Operand]:
    """Return the operands of a result, one after the other."""
    if isinstance(result, list):
        return [x for item in result for x in flat(item)]
    return [] if result is None else [result]


def _mapped(change: Callable[[Any], Any], result: Any) -> Any:
    if isinstance(result, list | tuple) or (isinstance(result, np.ndarray) and result.ndim):
        return [_mapped(change, item) for item in result]
    return None if result is None else change(result)
