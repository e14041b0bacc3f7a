"""Formulas as text that people can read, and type: one expression, or lines that name what is used again.

    s1 = tanh((flywheel.to_world([0.01, 0, 0.02])[0] - 0.3) / 0.2)
    piston.push([60 * s1, 0, 0])
    return 60 * s1

Signs and functions have the meaning and the precedence that they have in Python.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, product
from typing import Any

from linkwork.algebra.table import Table
from linkwork.formats.formula import FUNCTIONS, Action, Formula, Path, flat
from linkwork.formats.json_text import number_text
from linkwork.trace.expression import Expr, Operand

LONG = 24  # operations in one line; what is longer gets a name

# sign and precedence, as in Python
BINARY = {
    "lt": ("<", 1),
    "le": ("<=", 1),
    "eq": ("==", 1),
    "ne": ("!=", 1),
    "or": ("|", 2),
    "and": ("&", 3),
    "add": ("+", 4),
    "sub": ("-", 4),
    "mul": ("*", 5),
    "div": ("/", 5),
    "pow": ("**", 7),
}
UNARY = {"neg": "-", "not": "~"}
UNARY_LEVEL, POWER_LEVEL, ATOM = 6, 7, 9
_FLIPPED = {"lt": ">", "le": ">="}
_LEAVES = ("symbol", "quantity", "item", "input")


def formula_lines(formula: Formula, taken: Sequence[str] = ()) -> list[str]:
    """Return a formula in lines; `taken` are the names of its arguments."""
    return list(_Lines(formula, taken).written())


def path_text(path: Path) -> str:
    """Return a symbol as text: body.velocity[0], q['pin']."""
    name, *steps = path
    text = str(name)
    for step in steps:
        if isinstance(step, str) and step.startswith("."):
            text += step
        else:
            text += f"[{quoted(step) if isinstance(step, str) else step}]"
    return text


def quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _same(x: Expr) -> Iterator[Expr]:
    """Yield what the tracer may take for x: what x is the negative of, or one times, or zero more than."""
    while isinstance(x, Expr) and x.op not in ("symbol",):
        yield x
        operands = [a for a in x.args if isinstance(a, Expr)] if x.op not in ("item", "call") else []
        constants = [abs(a) for a in x.args if isinstance(a, float)]
        if x.op == "where":
            operands, constants = operands[-1:], [1.0] if x.args[1] is x.args[2] else []
        if len(operands) != 1 or not (x.op == "neg" or constants in ([0.0], [1.0])):
            return
        x = operands[0]


class _Lines:
    """A formula laid out: which of its nodes get a line and a name."""

    def __init__(self, formula: Formula, taken: Sequence[str]) -> None:
        self._formula = formula
        self._nodes = formula.nodes
        self._by_index = {x.index: x for x in self._nodes}
        self._bound = {x.index for x in self._nodes if x.index in formula.labels}
        self._bind_shared()
        self._bind_long()
        while self._bind_misplaced():
            pass
        self._names = self._named(set(taken))

    def _bind_shared(self) -> None:
        uses = Counter(a.index for x in self._nodes for a in x.args if isinstance(a, Expr))
        uses.update(root.index for root in self._roots())
        self._bound |= {x.index for x in self._nodes if x.op not in _LEAVES and uses[x.index] > 1}

    def _roots(self) -> list[Expr]:
        operands = [x for action in self._formula.actions for x in action.operands]
        return [x for x in (*operands, *flat(self._formula.result)) if isinstance(x, Expr)]

    def _bind_long(self) -> None:
        sizes: dict[int, int] = {}
        for x in self._nodes:
            size = 1 + sum(
                1 if a.index in self._bound else sizes[a.index] for a in x.args if isinstance(a, Expr)
            )
            if size > LONG and x.op not in _LEAVES:
                self._bound.add(x.index)
            sizes[x.index] = size if x.index not in self._bound else 1

    def _bind_misplaced(self) -> bool:
        """Name operands of a sum that the text would compute in another order than the function did.

        Of two products in a sum the tracer fuses one with it, and which one follows from their order.
        """
        order = {index: place for place, index in enumerate(self._order())}

        def rank(x: Expr, places: Mapping[int, int] | None) -> int:
            index = x.args[0].index if x.op == "item" else x.index
            return index if places is None else places[index]

        misplaced: set[int] = set()
        for x in self._nodes:
            operands = [a for a in x.args if isinstance(a, Expr) and a.op != "symbol"]
            if x.op in ("add", "sub") and len(operands) == 2:
                for a, b in product(_same(operands[0]), _same(operands[1])):
                    if (rank(a, None) - rank(b, None)) * (rank(a, order) - rank(b, order)) < 0:
                        misplaced |= {a.index, b.index}
        fresh = misplaced - self._bound
        self._bound |= fresh
        return bool(fresh)

    def _order(self) -> Iterator[int]:
        """Yield the nodes as a reader of the text computes them; those met again, again only once."""
        met: set[int] = set()

        def walk(x: Operand, line: bool = False) -> Iterator[int]:
            if isinstance(x, Expr) and x.index not in met and (line or x.index not in self._bound):
                for a in x.args:
                    yield from walk(a)
                met.add(x.index)
                yield x.index

        for line in self._sequence():
            for x in line.operands if isinstance(line, Action) else [line]:
                yield from walk(x, line=not isinstance(line, Action))
        for x in flat(self._formula.result):
            yield from walk(x)

    def _sequence(self) -> list[Any]:
        """Return the lines: named nodes and actions, in the order of the function."""
        nodes: list[tuple[int, int, Any]] = [(i, 1, self._by_index[i]) for i in self._bound]
        actions = [(action.after, 0, action) for action in self._formula.actions]
        return [line for *_, line in sorted([*nodes, *actions], key=lambda entry: entry[:2])]

    def _named(self, taken: set[str]) -> dict[int, str]:
        labels = self._formula.labels
        free = (name for k in count(1) if (name := f"s{k}") not in taken and name not in labels.values())
        return {index: labels.get(index) or next(free) for index in sorted(self._bound)}

    def written(self) -> Iterator[str]:
        for line in self._sequence():
            if isinstance(line, Action):
                yield self._action(line)
            else:
                yield f"{self._names[line.index]} = {self._body(line)[0]}"
        result = self._formula.result
        if result is not None:
            yield f"return {self._result(result)}"

    def _action(self, action: Action) -> str:
        parts = [self._vector(action.force)]
        if action.joint is not None:
            parts.insert(0, quoted(action.joint))
        if action.at is not None:
            parts.append(f"at={self._vector(action.at)}")
        if action.frame != "world":
            parts.append(f"frame={quoted(action.frame)}")
        return f"{action.side}.{action.verb}({', '.join(parts)})"

    def _result(self, result: Any) -> str:
        if isinstance(result, list):
            return f"[{', '.join(map(self._result, result))}]"
        return self._text(result, 0)

    def _vector(self, numbers: Sequence[Operand]) -> str:
        """Return numbers as a list, or by the name of the vector that they are."""
        first = numbers[0]
        if isinstance(first, Expr) and first.op == "item":
            call = first.args[0]
            if len(call.args) - 2 == len(numbers) and all(
                isinstance(x, Expr) and x.op == "item" and x.args[0] is call and x.args[1] == k
                for k, x in enumerate(numbers)
            ):
                return self._text(call, ATOM)
        if isinstance(first, Expr) and first.op in ("symbol", "quantity"):
            paths = [x.args[0] for x in numbers if isinstance(x, Expr) and x.op == first.op]
            stem = first.args[0][:-1]
            if len(stem) > 1 and paths == [(*stem, k) for k in range(len(numbers))]:
                return path_text(stem)
        return self._result(list(numbers))

    def _text(self, x: Operand, level: int) -> str:
        """Return an operand, in brackets if it binds less than its surroundings."""
        if not isinstance(x, Expr):
            text = number_text(x)
            return f"({text})" if text.startswith("-") and level > UNARY_LEVEL else text
        if x.index in self._names:
            return self._names[x.index]
        text, own = self._body(x)
        return f"({text})" if own < level else text

    def _body(self, x: Expr) -> tuple[str, int]:
        """Return a node as text, and how much its last operation binds."""
        if x.op in ("symbol", "quantity"):
            return path_text(x.args[0]), ATOM
        if x.op == "input":
            name, value = x.args
            return f"input({quoted(name)}{f', {number_text(value)}' if value else ''})", ATOM
        if x.op == "item":
            return f"{self._text(x.args[0], ATOM)}[{x.args[1]}]", ATOM
        if x.op == "call":
            side, method, *point = x.args
            return f"{side}.{method}({self._vector(point)})", ATOM
        if x.op in UNARY:
            return f"{UNARY[x.op]}{self._text(x.args[0], UNARY_LEVEL)}", UNARY_LEVEL
        if x.op in BINARY:
            return self._binary(x)
        if x.op == "interp":
            return f"interp({self._text(x.args[0], 0)}, {_table_text(x.args[1])})", ATOM
        assert x.op in (*FUNCTIONS, "where", "abs"), x.op
        return f"{x.op}({', '.join(self._text(a, 0) for a in x.args)})", ATOM

    def _binary(self, x: Expr) -> tuple[str, int]:
        (sign, level), (a, b) = BINARY[x.op], x.args
        if x.op in _FLIPPED and not isinstance(a, Expr):  # a constant is compared from the right
            sign, a, b = _FLIPPED[x.op], b, a
        # comparisons do not chain, powers group to the right, all else to the left
        left = level + 1 if level in (1, POWER_LEVEL) else level
        right = UNARY_LEVEL if level == POWER_LEVEL else level + 1
        return f"{self._text(a, left)} {sign} {self._text(b, right)}", level


def _table_text(table: Table) -> str:
    """Return a table as the arguments of interp that follow the first: places, values, kind, outside."""
    lists = [f"[{', '.join(map(number_text, numbers))}]" for numbers in (table.xs, table.ys)]
    return ", ".join([*lists, quoted(table.kind), *([quoted("extend")] * (table.outside == "extend"))])
