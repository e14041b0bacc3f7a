"""Expressions: what a formula becomes when it is run on symbols instead of numbers.

Nodes are shared: building the same operation on the same operands twice gives the same node (common
subexpressions), and operations with known results fold at once: constants are plain floats, so structural
zeros and ones vanish as they appear.

>>> g = Graph()
>>> x = g.symbol("x")
>>> (x * 1.0 + 0.0) is x, x * x is x * x, x - x
(True, True, 0.0)
"""

import linecache
import math
import sys
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from linkwork.algebra import number
from linkwork.algebra.lookup import Column, entry, segment
from linkwork.errors import TraceError
from linkwork.trace.called_functions import Called
from linkwork.trace.functions import COMPOSED, METHODS, UFUNCS
from linkwork.varied import Varied, each

Operand = Any  # an Expr or a float

_PACKAGE = str(Path(__file__).parents[1])
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
    "atan2": math.atan2,
    "floor": math.floor,
}
DATA = (Column, Called)  # operands that are neither numbers nor expressions
_LOOKUPS: dict[str, Callable[..., Any]] = {"segment": segment, "entry": entry}


class Graph:
    """A set of shared expression nodes; expressions of different graphs cannot be mixed."""

    def __init__(self) -> None:
        self.nodes: list[Expr] = []
        self._table: dict[tuple[Hashable, ...], Expr] = {}
        self.saturations: dict[int, Operand] = {}  # nodes that are a tanh, by number, and of what
        self.regular: dict[int, tuple[Operand, ...]] = {}  # nodes that are taken for smooth, and of what

    def symbol(self, name: Hashable) -> "Expr":
        """Return the symbol of this name: a number that is not known yet."""
        return self.node("symbol", name)

    def symbols(self, names: Iterable[Hashable]) -> list["Expr"]:
        return [self.symbol(name) for name in names]

    def node(self, op: str, *args: Any) -> "Expr":
        """Return the node op(args), the one already there if there is one."""
        words: list[Hashable] = [op]  # plain loops: most of the time of tracing is here
        mixed, foreign = op in _LOGIC or op in _CHOICES, False
        for a in args:
            if isinstance(a, Expr):
                words.append(a.key)
                mixed = mixed or a.op in CONDITIONS
                foreign = foreign or a.graph is not self
            else:
                words.append(_constant_key(a))
        if mixed and (typed := _well_typed(op, args)) is not args:
            return self.node(op, *typed)
        key = tuple(words)
        found = self._table.get(key)
        if found is None:
            if foreign:
                _refuse("a traced value was kept and met those of another trace", "compute it anew each time")
            found = self.made(op, args)
            self.nodes.append(found)
            self._table[key] = found
        return found

    def made(self, op: str, args: tuple[Any, ...]) -> "Expr":
        """Return a new node."""
        return Expr(self, op, args, len(self.nodes))


CONDITIONS = frozenset({"lt", "le", "eq", "ne", "and", "or", "not", "signbit", "odd"})
_LOGIC = frozenset({"and", "or", "not"})
_CHOICES = frozenset({"where", "rarely"})


def _well_typed(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Make numbers of conditions where numbers are wanted, and refuse numbers where conditions are."""
    if op in _LOGIC or op in _CHOICES:
        wanted = args if op in _LOGIC else args[:1]
        if any(not (isinstance(a, Expr) and a.op in CONDITIONS) for a in wanted):
            _refuse(
                "a traced number stands where a condition is expected",
                "compare it with something: x > 0, x != 0",
            )
        return args
    if any(isinstance(a, Expr) and a.op in CONDITIONS for a in args):
        return tuple(a.select(1.0, 0.0) if isinstance(a, Expr) and a.op in CONDITIONS else a for a in args)
    return args


def _constant_key(x: Hashable) -> Hashable:
    """Distinguish 0.0 from -0.0, and numbers from names and booleans."""
    if isinstance(x, float):
        return x.hex()
    return (Varied, x.values.tobytes()) if isinstance(x, Varied) else (type(x), x)


class Expr:
    """A traced number, or a traced condition: the operation that will give it, and its operands."""

    __slots__ = ("args", "graph", "index", "key", "op")
    __hash__ = object.__hash__

    def __init__(self, graph: Graph, op: str, args: tuple[Any, ...], index: int):
        # the key stands for the node in the keys of others: hashed by identity, never equal to a number
        self.graph, self.op, self.args, self.index, self.key = graph, op, args, index, object()

    def __repr__(self) -> str:
        return self.text(depth=3)

    def text(self, depth: int) -> str:
        """Return the expression in words, operands of operands up to a depth."""
        parts = (a.text(depth - 1) if isinstance(a, Expr) else repr(a) for a in self.args)
        return f"{self.op}({', '.join(parts) if depth else '...'})"

    # arithmetic

    def __add__(self, other: Operand) -> Operand:
        if not isinstance(other, Expr):
            if _knows_better(other):
                return NotImplemented
            other = _number(other)
            if other == 0.0:
                return self
        elif other.op == "neg":
            return self - other.args[0]
        elif self.op == "neg":
            return other - self.args[0]
        elif _pythagoras(self, other):
            return 1.0
        elif other.index < self.index:
            return self.graph.node("add", other, self)
        return self.graph.node("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Operand:
        if _knows_better(other):
            return NotImplemented
        if not isinstance(other, Expr):
            return self + -_number(other)
        if other is self:
            return 0.0
        if other.op == "neg":
            return self + other.args[0]
        if self.op == "neg":
            return -(self.args[0] + other)
        return self.graph.node("sub", self, other)

    def __rsub__(self, other: Operand) -> Operand:
        value = _number(other)
        if value == 0.0:
            return -self
        return self.graph.node("sub", value, self) if self.op != "neg" else self.args[0] + value

    def __neg__(self) -> Operand:
        if self.op == "neg":
            return self.args[0]
        if self.op == "sub":
            return self.graph.node("sub", self.args[1], self.args[0])
        return self.graph.node("neg", self)

    def __pos__(self) -> "Expr":
        return self

    def __mul__(self, other: Operand) -> Operand:
        if not isinstance(other, Expr):
            if _knows_better(other):
                return NotImplemented
            value = _number(other)
            if value == 0.0:
                return 0.0
            if value == 1.0:
                return self
            if value == -1.0:
                return -self
            return (
                -self.graph.node("mul", self.args[0], value)
                if self.op == "neg"
                else self.graph.node("mul", self, value)
            )
        a, b = self, other
        if a.op == "neg" or b.op == "neg":
            negative = (a.op == "neg") != (b.op == "neg")
            result = (a.args[0] if a.op == "neg" else a) * (b.args[0] if b.op == "neg" else b)
            return -result if negative else result
        return self.graph.node("mul", a, b) if a.index <= b.index else self.graph.node("mul", b, a)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        if _knows_better(other):
            return NotImplemented
        if not isinstance(other, Expr):
            value = _number(other)
            if _is_power_of_two(value):
                return self * (1.0 / value)  # division by a power of two is exact as a product
        elif other is self:
            return 1.0
        return self.graph.node("div", self, other)

    def __rtruediv__(self, other: Operand) -> Operand:
        value = _number(other)
        return 0.0 if value == 0.0 else self.graph.node("div", value, self)

    def __pow__(self, exponent: Operand) -> Operand:
        if _knows_better(exponent):
            return NotImplemented
        if isinstance(exponent, Expr):
            return self.graph.node("pow", self, exponent)
        value = _number(exponent)
        if not (abs(value) <= 4 and 2 * value == int(2 * value)):  # beyond, repeated products lose digits
            return self.graph.node("pow", self, value)
        whole = int(abs(value))
        result: Operand = self.apply_function("sqrt", self) if abs(value) != whole else 1.0
        square: Operand = self
        while whole:
            if whole & 1:
                result = result * square
            whole >>= 1
            if whole:
                square = square * square
        return 1.0 / result if value < 0 else result

    def __rpow__(self, base: Operand) -> Operand:
        return self.graph.node("pow", _number(base), self)

    def __mod__(self, other: Operand) -> Operand:
        return self - self // other * other

    def __floordiv__(self, other: Operand) -> Operand:
        return self.apply_function("floor", self / other)

    def __abs__(self) -> Operand:
        return self.graph.node("abs", self)

    # conditions

    def _compare(self, op: str, other: Operand, swap: bool = False) -> Operand:
        operand = _operand(other)
        return self.graph.node(op, operand, self) if swap else self.graph.node(op, self, operand)

    def __lt__(self, other: Operand) -> Operand:
        return self._compare("lt", other)

    def __le__(self, other: Operand) -> Operand:
        return self._compare("le", other)

    def __gt__(self, other: Operand) -> Operand:
        return self._compare("lt", other, swap=True)

    def __ge__(self, other: Operand) -> Operand:
        return self._compare("le", other, swap=True)

    def __eq__(self, other: object) -> Any:
        return self._compare("eq", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("ne", other)

    def __and__(self, other: Operand) -> Operand:
        if isinstance(other, Expr):
            return self.graph.node("and", self, other)
        return self if other else False

    __rand__ = __and__

    def __or__(self, other: Operand) -> Operand:
        if isinstance(other, Expr):
            return self.graph.node("or", self, other)
        return True if other else self

    __ror__ = __or__

    def __invert__(self) -> Operand:
        return self.graph.node("not", self)

    def select(self, a: Operand, b: Operand) -> Operand:
        """Return a where this condition holds, else b."""
        if a is b or (isinstance(a, float | int) and isinstance(b, float | int) and a == b):
            return a
        return self.graph.node("where", self, _operand(a), _operand(b))

    def regular_in(self, of: tuple[Operand, ...]) -> "Expr":
        """Return this node, taken for a smooth function of some operands (`number.regular`)."""
        self.graph.regular[self.index] = of
        return self

    # functions

    @staticmethod
    def apply_function(name: str, *args: Operand) -> Operand:
        """Build an elementary function; the less usual ones are written in terms of the usual."""
        if name in COMPOSED:
            made = COMPOSED[name](*args)
            if name == "tanh" and isinstance(made, Expr):
                made.graph.saturations[made.index] = args[0]
            return made
        if name not in _FUNCTIONS and name not in _LOOKUPS:
            raise TraceError(
                f"{name} is not supported by the tracer; available are "
                f"{', '.join(sorted({*_FUNCTIONS, *COMPOSED}))}"
            )
        graph = next(a.graph for a in args if isinstance(a, Expr))
        return graph.node(name, *(a if isinstance(a, Column) else _operand(a) for a in args))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Take NumPy's functions of numbers as our own: np.sin(x), np.pi * x, np.maximum(x, y)."""
        function = UFUNCS.get(ufunc.__name__)
        if function is None or method != "__call__" or options:
            _refuse(
                f"np.{ufunc.__name__} met a traced value",
                "use lw.sin, lw.where, lw.max, ... or plain arithmetic",
            )
        if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
            return np.vectorize(function, otypes=[object])(*inputs)
        return function(*(x.item() if isinstance(x, np.ndarray | np.generic) else x for x in inputs))

    # what cannot be traced

    def __bool__(self) -> NoReturn:
        _refuse(
            "Python control flow (if, and, or, not, while, min, max) met a traced value",
            "both branches must be computed: use lw.where(condition, a, b), lw.min, lw.max, & | ~",
        )

    def __float__(self) -> NoReturn:
        _refuse(
            "a traced value was converted to a float",
            "use lw.sin, lw.sqrt, ... instead of the functions of math",
        )

    def __int__(self) -> NoReturn:
        _refuse(
            "a traced value was converted to an integer",
            "use lw.floor, or take the value out of the traced function",
        )

    __index__ = __round__ = __trunc__ = __int__

    def __iter__(self) -> NoReturn:
        _refuse("a traced value was iterated over", "it is one number; q[0] is the first coordinate, not q")


for _method in METHODS:
    setattr(Expr, _method, lambda *args, function=UFUNCS[_method]: function(*args))


def _is_power_of_two(x: float) -> bool:
    """Return whether a number has an inverse that is exact."""
    if isinstance(x, Varied):
        return each(_is_power_of_two, x)
    mantissa, _ = math.frexp(x)
    return abs(mantissa) == 0.5 and math.isfinite(1.0 / x)


def _knows_better(x: Any) -> bool:
    """Return whether an operand knows itself what to do with a number: a motion, vector, array or input."""
    return hasattr(x, "scalars") or hasattr(x, "as_number") or (isinstance(x, np.ndarray) and x.ndim > 0)


def _number(x: Any) -> float:
    """Take a plain number, or N in place of one; refuse what belongs to no formula."""
    if isinstance(x, Varied):
        return x  # type: ignore[return-value]
    if isinstance(x, complex) or not hasattr(x, "__float__"):
        raise TraceError(
            f"{x!r} ({type(x).__name__}) in a traced formula; numbers and traced values are allowed"
        )
    return float(x)


def _operand(x: Operand) -> Operand:
    x = x.as_number() if hasattr(x, "as_number") else x  # an input
    return x if isinstance(x, Expr) else _number(x)


def _pythagoras(a: Expr, b: Expr) -> bool:
    """Return whether a + b is cos^2 + sin^2 of the same angle."""
    if a.op != "mul" or b.op != "mul" or a.args[0] is not a.args[1] or b.args[0] is not b.args[1]:
        return False
    x, y = a.args[0], b.args[0]
    return (
        isinstance(x, Expr)
        and isinstance(y, Expr)
        and {x.op, y.op} == {"sin", "cos"}
        and x.args[0] is y.args[0]
    )


def _refuse(what: str, remedy: str) -> NoReturn:
    """Raise a TraceError that points at the line of the user's function."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line).strip()
    raise TraceError(f"{file}:{line}: {what}{f': `{text}`' if text else ''}; {remedy}")


def called(function: Called, *args: Any) -> Any:
    """Return a row of a function that is called: a number, or a node of the graph of its arguments."""
    graph = next((a.graph for a in args if isinstance(a, Expr)), None)
    return function(*args) if graph is None else graph.node("called", function, *map(_operand, args))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": lambda a, b: a**b,
    "abs": abs,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: ~a if not isinstance(a, bool) else not a,
    "where": number.where,
    "called": called,
    **_LOOKUPS,
    **COMPARISONS,
    **{name: (lambda *args, name=name: number.apply(name, *args)) for name in _FUNCTIONS},
}
