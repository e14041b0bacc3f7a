"""Formulas read from text. A small grammar and a list of known words: what is not known is refused.

Nothing is ever run as Python: an expression becomes nodes of a sheet, of bounded number and depth.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from linkwork.algebra import number
from linkwork.algebra.table import table
from linkwork.errors import TraceError, unknown
from linkwork.formats.formula import FUNCTIONS, Formula, Path, Sheet
from linkwork.formats.formula_text import path_text
from linkwork.formats.formula_tokens import BadFormula, Token, tokens
from linkwork.mechanism.input import Input
from linkwork.trace.expression import CONDITIONS, Expr, Operand

LARGEST = 400_000  # characters of a formula
DEEPEST = 40  # brackets, signs and powers within each other

CONSTANTS = {"pi": math.pi, "inf": math.inf}
CALLS: dict[str, tuple[int, Callable[..., Any]]] = {
    **{
        name: (2 if name == "atan2" else 1, lambda *a, name=name: number.apply(name, *a))
        for name in FUNCTIONS
    },
    "abs": (1, abs),
    "sign": (1, number.sign),
    "min": (2, number.min),
    "max": (2, number.max),
    "hypot": (2, number.hypot),
    "where": (3, number.where),
}
RESERVED = frozenset({*CALLS, *CONSTANTS, "input", "interp", "return"})


@dataclass(frozen=True)
class FormulaWords:
    """What a formula may use: its symbols, and the quantities and pushes of its sides."""

    symbols: Mapping[Path, str] = field(default_factory=dict)  # "symbol", or "quantity" if it is computed
    methods: Mapping[tuple[str, str], int] = field(default_factory=dict)  # (side, method) -> numbers
    verbs: Mapping[tuple[str, str], int] = field(default_factory=dict)  # (side, verb) -> numbers
    joints: Mapping[str, int] = field(default_factory=dict)  # that the whole mechanism's push can drive

    @property
    def arguments(self) -> list[str]:
        sides = [side for side, _ in (*self.methods, *self.verbs)]
        return list(dict.fromkeys([*(str(path[0]) for path in self.symbols), *sides]))


def read_formula(said: str | Sequence[str], words: FormulaWords) -> Formula:
    """Return the formula of one expression, or of lines; BadFormula (a ValueError) if it is none."""
    lines = [said] if isinstance(said, str) else list(said)
    if sum(map(len, lines)) > LARGEST:
        raise BadFormula(f"the formula is longer than {LARGEST} characters")
    sheet = Sheet()
    names: dict[str, Any] = {}
    result = None
    for k, line in enumerate(lines):
        parser = _Line(tokens(line), sheet, words, names)
        try:
            last = k == len(lines) - 1
            result = parser.expression_line() if isinstance(said, str) else parser.line(last)
        except (TraceError, ArithmeticError, TypeError, ValueError) as error:
            none = isinstance(error, ArithmeticError) or "math domain" in str(error)
            what = f"constants give no number ({error}); write what is meant" if none else str(error)
            raise BadFormula(f"line {k + 1}: {what}" if len(lines) > 1 else what) from None
    return Formula(result, tuple(sheet.actions), dict(sheet.labels))


class _Line:
    """One line: `name = ...`, `body.push(...)`, or `return ...`."""

    def __init__(self, line: list[Token], sheet: Sheet, words: FormulaWords, names: dict[str, Any]) -> None:
        self._tokens, self._sheet, self._words, self._names = line, sheet, words, names
        self._next, self._depth = 0, 0

    # lines

    def line(self, last: bool) -> Any:
        first, second = self._tokens[0], self._tokens[min(1, len(self._tokens) - 1)]
        if first.text == "return" and first.kind == "name":
            if not last:
                raise BadFormula("return comes last")
            self._take()
            return self.expression_line()
        if first.kind == "name" and second.text == "=":
            self._definition()
        else:
            self._action()
        return None

    def expression_line(self) -> Any:
        result = self._result(2)
        self._end()
        return result

    def _definition(self) -> None:
        name = self._take().text
        if name in RESERVED or name in self._names or name in self._words.arguments:
            raise BadFormula(f"{name!r} is taken; choose another name")
        self._expect("=")
        value = self._result(0, vector=True)
        self._end()
        self._names[name] = value
        if isinstance(value, Expr) and value.op not in ("symbol", "quantity", "item"):
            self._sheet.labels.setdefault(value.index, name)

    def _action(self) -> None:
        side = self._take("name").text
        self._expect(".")
        verb = self._take("name").text
        if (side, verb) not in self._words.verbs:
            raise BadFormula(unknown("action", f"{side}.{verb}", (".".join(x) for x in self._words.verbs)))
        self._expect("(")
        size, options = self._words.verbs[side, verb], {}
        if self._words.joints and side == "system":
            joint = self._text()
            if joint not in self._words.joints:
                raise BadFormula(unknown("joint", joint, self._words.joints))
            options["joint"], size = joint, self._words.joints[joint]
            self._expect(",")
        force = self._vector(size)
        while self._peek().text == ",":
            self._take()
            word = self._take("name").text
            self._expect("=")
            if word == "at" and verb == "push" and (side, "to_world") in self._words.methods:
                options["at"] = self._vector(self._words.methods[side, "to_world"])
            elif word == "frame" and (side, "to_world") in self._words.methods:
                options["frame"] = self._text()
                if options["frame"] not in ("world", "body"):
                    raise BadFormula(f"frame {options['frame']!r}; give 'world' or 'body'")
            else:
                raise BadFormula(f"{side}.{verb} has no option {word}=")
        self._expect(")")
        self._end()
        self._sheet.act(side, verb, force, **options)

    def _text(self) -> str:
        token = self._take("text")
        return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)

    # results

    def _result(self, lists: int, vector: bool = False) -> Any:
        """Read an expression, or a list of them, to a given depth."""
        if lists and self._peek().text == "[":
            return list(self._listed(lambda: self._result(lists - 1)))
        value = self._expression(0)
        return value if vector else self._scalar(value)

    def _vector(self, size: int) -> list[Operand]:
        """Read `size` numbers: a list, or a quantity that has as many."""
        if self._peek().text != "[":
            return self._whole_vector(size)
        values = list(self._listed(lambda: self._scalar(self._expression(0))))
        if len(values) != size:
            raise BadFormula(f"{len(values)} numbers where {size} are expected")
        return values

    def _whole_vector(self, size: int) -> list[Operand]:
        name = self._take("name").text
        if name in self._names:
            value = self._names[name]
        else:
            path: list[Any] = [name]
            value = None
            while self._peek().text in (".", "[") and value is None:
                path.append(self._step())
                if (name, str(path[1])[1:]) in self._words.methods:
                    value = self._question(name, str(path[1])[1:])
            paths = [(*path, k) for k in range(size)]
            kinds = [self._words.symbols.get(path) for path in paths]
            if value is None and all(kinds) and (*path, size) not in self._words.symbols:
                return [self._sheet.node(str(kind), path) for kind, path in zip(kinds, paths, strict=True)]
        if not (isinstance(value, Expr) and value.op == "call" and len(value.args) - 2 == size):
            raise BadFormula(f"{name!r} where {size} numbers are expected; give [...]")
        return [self._sheet.node("item", value, k) for k in range(size)]

    def _listed(self, item: Callable[[], Any]) -> Iterator[Any]:
        self._expect("[")
        while self._peek().text != "]":
            yield item()
            if self._peek().text != "]":
                self._expect(",")
        self._take()

    # expressions, by precedence

    _LEVELS: tuple[dict[str, Callable[[Any, Any], Any]], ...] = (
        {
            "<": operator.lt,
            "<=": operator.le,
            ">": operator.gt,
            ">=": operator.ge,
            "==": operator.eq,
            "!=": operator.ne,
        },
        {"|": operator.or_},
        {"&": operator.and_},
        {"+": operator.add, "-": operator.sub},
        {"*": operator.mul, "/": operator.truediv},
    )

    def _expression(self, level: int) -> Any:
        if level == len(self._LEVELS):
            return self._unary()
        value = self._expression(level + 1)
        while self._peek().kind == "sign" and (do := self._LEVELS[level].get(self._peek().text)):
            sign = self._take().text
            a, b = self._scalar(value), self._scalar(self._expression(level + 1))
            if sign in "|&":
                a, b = self._condition(a, sign), self._condition(b, sign)
            value = self._known(do(a, b))
            if level == 0 and self._peek().text in self._LEVELS[0]:
                raise BadFormula(f"comparisons with {sign!r} do not chain; join them with &")
        return value

    def _unary(self) -> Any:
        token = self._peek()
        if token.kind != "sign" or token.text not in "-~":
            return self._power()
        self._take()
        with self:
            value = self._scalar(self._unary())
        return self._known(-value if token.text == "-" else ~self._condition(value, "~"))

    def _power(self) -> Any:
        base = self._postfix()
        if self._peek().text != "**":
            return base
        self._take()
        with self:
            return self._known(self._scalar(base) ** self._scalar(self._unary()))

    def _postfix(self) -> Any:
        """Read a number, a name, a call or brackets, and [k] after what has several numbers."""
        value = self._atom()
        while self._peek().text == "[" and isinstance(value, Expr) and value.op == "call":
            value = self._sheet.node("item", value, self._index(len(value.args) - 2))
        return value

    def _index(self, size: int) -> int:
        self._expect("[")
        token = self._take("number")
        self._expect("]")
        if not token.text.isdigit() or int(token.text[:9]) >= size:
            raise BadFormula(f"[{token.text}]; give 0 to {size - 1}")
        return int(token.text)

    def _atom(self) -> Any:
        token = self._take()
        if token.kind == "number":
            if math.isinf(float(token.text)):
                raise BadFormula(f"{token.text!r} is beyond the range of numbers; write a smaller one")
            return float(token.text)
        if token.text == "(":
            with self:
                value = self._expression(0)
            self._expect(")")
            return value
        if token.kind != "name":
            raise BadFormula(f"{token.text!r} at {token.place}; a number, a name or ( is expected")
        if token.text in self._names:
            return self._names[token.text]
        if token.text in CALLS and self._peek().text == "(":
            return self._call(token.text)
        if token.text == "interp" and self._peek().text == "(":
            return self._interpolation()
        if token.text == "input" and self._peek().text == "(":
            return self._input()
        return self._symbol(token.text)

    def _call(self, name: str) -> Any:
        count, function = CALLS[name]
        self._expect("(")
        with self:
            values = [self._scalar(self._expression(0))]
            while self._peek().text == ",":
                self._take()
                values.append(self._scalar(self._expression(0)))
        self._expect(")")
        if len(values) != count:
            raise BadFormula(f"{name} takes {count} numbers; {len(values)} were given")
        if name == "where":
            self._condition(values[0], name)
        return self._known(function(*values))

    def _interpolation(self) -> Any:
        """Read interp(x, [places], [values], 'cubic', 'extend'), of which the last two may be missing."""
        self._expect("(")
        with self:
            x = self._scalar(self._expression(0))
            given: list[Any] = []
            while self._peek().text == "," and len(given) < 4:
                self._take()
                given.append(self._text() if len(given) > 1 else list(self._listed(self._signed)))
        self._expect(")")
        if len(given) < 2:
            raise BadFormula("interp takes a number, a list of places and a list of values")
        try:
            return self._known(table(*given).at(x))
        except ValueError as error:
            raise BadFormula(str(error)) from None

    def _input(self) -> Any:
        """Read input('name', value), of which the value may be missing."""
        self._expect("(")
        name, value = self._text(), 0.0
        if self._peek().text == ",":
            self._take()
            value = self._signed()
        self._expect(")")
        given = Input(name, value)
        return self._sheet.node("input", given.name, given.value)

    def _signed(self) -> float:
        """Read a number with or without a sign."""
        sign = -1.0 if self._peek().text == "-" and self._take() else 1.0
        return sign * float(self._take("number").text)

    def _symbol(self, name: str) -> Any:
        """Read a symbol, with its attributes and indices, or a question to a side."""
        if name in CONSTANTS and name not in self._words.arguments:
            return CONSTANTS[name]
        path: list[Any] = [name]
        while tuple(path) not in self._words.symbols and self._peek().text in (".", "["):
            path.append(self._step())
            if len(path) == 2 and (name, str(path[1])[1:]) in self._words.methods:
                return self._question(name, str(path[1])[1:])
        kind = self._words.symbols.get(tuple(path))
        if kind is None:
            known = [*map(path_text, self._words.symbols), *self._names, *CALLS]
            known += [f"{side}.{method}" for side, method in self._words.methods]
            raise BadFormula(unknown("name", path_text(tuple(path)), known))
        return self._sheet.node(kind, tuple(path))

    def _step(self) -> Any:
        """Read .word, [2] or ['name']."""
        if self._take().text == ".":
            return f".{self._take('name').text}"
        if self._peek().kind == "text":
            step: Any = self._text()
        else:
            text = self._take("number").text
            step = int(text) if text.isdigit() and len(text) < 9 else text
        self._expect("]")
        return step

    def _question(self, side: str, method: str) -> Any:
        self._expect("(")
        point = self._vector(self._words.methods[side, method])
        self._expect(")")
        return self._sheet.node("call", side, method, *point)

    # what may be wrong

    def _scalar(self, value: Any) -> Any:
        if isinstance(value, Expr) and value.op == "call":
            raise BadFormula(f"{value.args[0]}.{value.args[1]}(...) has several numbers; take one with [0]")
        return value

    def _condition(self, value: Any, word: str) -> Any:
        if not (isinstance(value, Expr) and value.op in CONDITIONS):
            raise BadFormula(
                f"{word!r}: a number where a condition is expected; compare it with something: x > 0, x != 0"
            )
        return value

    def _known(self, value: Any) -> Any:
        """Return what an operation gave; comparisons of constants and what is not a number are refused."""
        if isinstance(value, Expr) or (isinstance(value, float) and value == value):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        raise BadFormula(f"constants give {value!r}; write what is meant as a number")

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadFormula(f"more than {DEEPEST} brackets within each other; give parts a name")

    def __exit__(self, *_: object) -> None:
        self._depth -= 1

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self, kind: str | None = None) -> Token:
        token = self._peek()
        if token.kind == "end" or (kind is not None and token.kind != kind):
            raise BadFormula(f"{token.text!r} at {token.place}; a {kind or 'formula'} is expected")
        self._next += 1
        return token

    def _expect(self, sign: str) -> None:
        token = self._peek()
        if token.text != sign or token.kind == "text":
            self._fail(token, sign)
        self._next += 1

    def _fail(self, token: Token, sign: str) -> NoReturn:
        raise BadFormula(f"{token.text!r} at {token.place}; expected is {sign!r}")

    def _end(self) -> None:
        if self._peek().kind != "end":
            self._fail(self._peek(), "the end")
