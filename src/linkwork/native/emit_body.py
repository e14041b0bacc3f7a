"""LLVM code from expressions, as text: the same straight-line body for one double or for SIMD lanes.

Multiply-adds are fused here, explicitly, wherever a product is used once and only in a sum; nothing is left
to the code generator's choice, so one lane and eight give the same bits.

While a long body computes, memory would be idle, and then the results wait for it. So cache lines that will
be written are fetched meanwhile, one every few operations. Left to itself the code generator would fetch all
of them in one go, as nothing depends on that; so a fetch is written as an operation that passes on a value.

A symbol is named by where its number lies: (base, k) is the k-th element behind the pointer `%base`. Bases in
`scalars` hold plain doubles that all lanes share; the others hold one vector of lanes per element.
"""

import math
import struct
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from linkwork.algebra.lookup import Column
from linkwork.errors import TraceError
from linkwork.native import store
from linkwork.trace.elementary import lower
from linkwork.trace.expression import Expr, Operand
from linkwork.trace.graph_walks import reachable

Store = tuple[str, int, Operand]  # base, element, value

_PACE = 20  # operations from one fetch to the next; at 16 and less they get in each other's way
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_UNARY = {"sqrt": "llvm.sqrt", "abs": "llvm.fabs", "floor": "llvm.floor", "round": "llvm.roundeven"}
_LIBRARY = {
    "pow": 2,
    "sin": 1,
    "cos": 1,
}  # functions of the C library that may be called, and their arguments


def declarations(lanes: int) -> str:
    """Return the declarations the bodies may refer to."""
    kind, suffix = _types(lanes)
    lines = [f"declare {kind} @{name}.{suffix}({kind})" for name in _UNARY.values()]
    lines.append(f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})")
    lines += [f"declare double @{name}({', '.join(['double'] * n)})" for name, n in _LIBRARY.items()]
    if lanes > 1:
        lines.append(f"declare i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>)")
        lines += [_each_lane(name, n, lanes) for name, n in _LIBRARY.items()]
    return "\n".join(lines) + "\n"


def _each_lane(function: str, arguments: int, lanes: int) -> str:
    """Return a function that calls a scalar function for every lane."""
    kind = f"<{lanes} x double>"
    lines, result = [], "poison"
    for lane in range(lanes):
        for k in range(arguments):
            lines.append(f"  %x{lane}_{k} = extractelement {kind} %x{k}, i64 {lane}")
        args = ", ".join(f"double %x{lane}_{k}" for k in range(arguments))
        lines.append(f"  %y{lane} = call double @{function}({args})")
        lines.append(f"  %r{lane} = insertelement {kind} {result}, double %y{lane}, i64 {lane}")
        result = f"%r{lane}"
    parameters = ", ".join(f"{kind} %x{k}" for k in range(arguments))
    body = "\n".join(lines)
    head = f"define internal {kind} @each_{function}({parameters}) noinline cold"
    return f"{head} {{\n{body}\n  ret {kind} {result}\n}}"


def _types(lanes: int) -> tuple[str, str]:
    return ("double", "f64") if lanes == 1 else (f"<{lanes} x double>", f"v{lanes}f64")


@dataclass
class Body:
    """The text of a straight-line piece of code, growing; `label` is the block it ends in."""

    lanes: int
    scalars: Collection[str]
    label: str
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)  # of the values of expressions
    count: int = 0
    fetches: list[tuple[str, int]] = field(default_factory=list)  # lines to fetch: base, byte
    since: int = 0  # how many operations ago the last was fetched
    tables: dict[str, str] = field(default_factory=dict)  # columns of tables: names and definitions

    def __post_init__(self) -> None:
        self.kind, self.suffix = _types(self.lanes)
        self.flag = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
        self.integer = "i64" if self.lanes == 1 else f"<{self.lanes} x i64>"

    def value(self, code: str) -> str:
        name = f"%x{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {code}")
        return name

    def constant(self, x: float) -> str:
        text = "0x" + struct.pack(">d", x).hex().upper()
        return text if self.lanes == 1 else f"splat (double {text})"

    def integers(self, x: int) -> str:
        return str(x) if self.lanes == 1 else f"splat (i64 {x})"

    def element(self, base: str, k: int) -> str:
        kind = "double" if base in self.scalars else self.kind
        return self.value(f"getelementptr {kind}, ptr %{base}, i64 {k}")

    def load(self, base: str, k: int) -> str:
        pointer = self.element(base, k)
        if base not in self.scalars or self.lanes == 1:
            return self.value(f"load {self.kind}, ptr {pointer}, align 8")
        scalar = self.value(f"load double, ptr {pointer}")
        one = self.value(f"insertelement {self.kind} poison, double {scalar}, i64 0")
        return self.value(
            f"shufflevector {self.kind} {one}, {self.kind} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def operand(self, x: Operand) -> str:
        if not isinstance(x, Expr):
            return self.constant(float(x))
        if x.op == "symbol" and x.index not in self.names:
            self.names[x.index] = self.load(*x.args[0])
        return self.names[x.index]

    def each_lane(self, function: str, args: Sequence[str]) -> str:
        """Call a function of the C library for every lane."""
        name = function if self.lanes == 1 else f"each_{function}"
        return self.value(f"call {self.kind} @{name}({', '.join(f'{self.kind} {a}' for a in args)})")

    def rarely(self, condition: str, usual: str, function: str, arg: str) -> str:
        """Choose function(arg) where the condition holds, and do not call it when it holds nowhere."""
        if self.lanes > 1:
            reduce = f"@llvm.vector.reduce.or.v{self.lanes}i1"
            anywhere = self.value(f"call i1 {reduce}({self.flag} {condition})")
        else:
            anywhere = condition
        before, slow, after = self.label, f"slow{self.count}", f"after{self.count}"
        self.lines += [f"  br i1 {anywhere}, label %{slow}, label %{after}, !prof !0", f"{slow}:"]
        called = self.each_lane(function, [arg])
        chosen = self.value(f"select {self.flag} {condition}, {self.kind} {called}, {self.kind} {usual}")
        self.lines += [f"  br label %{after}", f"{after}:"]
        self.label = after
        return self.value(f"phi {self.kind} [ {usual}, %{before} ], [ {chosen}, %{slow} ]")

    def paced(self, value: str) -> str:
        """Pass on a double; if it is time, a line is fetched after it was computed and before it is used."""
        self.since += 1
        if self.since < _PACE or not self.fetches:
            return value
        self.since = 0
        base, byte = self.fetches.pop(0)
        code = f'asm "{store.fetch()} {byte}($2)", "=v,0,r"({self.kind} {value}, ptr %{base})'
        return self.value(f"call {self.kind} {code}")

    def bits(self, x: str) -> str:
        return self.value(f"bitcast {self.kind} {x} to {self.integer}")

    def from_bits(self, x: str) -> str:
        return self.value(f"bitcast {self.integer} {x} to {self.kind}")

    def operation(self, op: str, args: Sequence[Operand]) -> str:
        """Write one primitive operation and return the name of its value."""
        if op == "rarely":
            condition, usual, function, arg = args
            return self.rarely(self.operand(condition), self.operand(usual), function, self.operand(arg))
        if op in ("segment", "entry"):
            return self.looked_up(op, self.operand(args[0]), args[1])
        a, *rest = map(self.operand, args)
        if op in _BINARY:
            return self.value(f"{_BINARY[op]} {self.kind} {a}, {rest[0]}")
        if op in _COMPARE:
            return self.value(f"fcmp {_COMPARE[op]} {self.kind} {a}, {rest[0]}")
        if op in _UNARY:
            return self.value(f"call {self.kind} @{_UNARY[op]}.{self.suffix}({self.kind} {a})")
        if op in _LIBRARY:
            return self.each_lane(op, [a, *rest])
        return getattr(self, f"op_{op}")(a, *rest)

    def looked_up(self, op: str, x: str, column: Column) -> str:
        """Search a column, or take an entry of it; lane by lane, since each is somewhere else.

        The number of a segment is kept as the bits of an integer: it is not computed with.
        """
        found, table = "poison", self.table(column)
        for lane in range(self.lanes):
            one = x if self.lanes == 1 else self.value(f"extractelement {self.kind} {x}, i64 {lane}")
            if op == "segment":
                k = self.value(f"call i64 @search(double {one}, ptr {table}, i64 {_padded(column) // 2})")
                value = self.value(f"bitcast i64 {k} to double")
            else:
                k = self.value(f"bitcast double {one} to i64")
                place = self.value(f"getelementptr double, ptr {table}, i64 {k}")
                value = self.value(f"load double, ptr {place}")
            if self.lanes == 1:
                return value
            found = self.value(f"insertelement {self.kind} {found}, double {value}, i64 {lane}")
        return found

    def table(self, column: Column) -> str:
        """Return the name of a column's constants; NaN, which nothing reaches, fills them up."""
        name = f"@table_{column.digest}"
        padded = [*column, *[math.nan] * (_padded(column) - len(column))]
        numbers = ", ".join(f"double 0x{struct.pack('>d', x).hex().upper()}" for x in padded)
        self.tables[name] = f"{name} = private unnamed_addr constant [{len(padded)} x double] [{numbers}]"
        return name

    def op_fma(self, a: str, b: str, c: str) -> str:
        k = self.kind
        return self.value(f"call {k} @llvm.fma.{self.suffix}({k} {a}, {k} {b}, {k} {c})")

    def op_neg(self, a: str) -> str:
        return self.value(f"fneg {self.kind} {a}")

    def op_where(self, condition: str, a: str, b: str) -> str:
        return self.value(f"select {self.flag} {condition}, {self.kind} {a}, {self.kind} {b}")

    def op_and(self, a: str, b: str) -> str:
        return self.value(f"and {self.flag} {a}, {b}")

    def op_or(self, a: str, b: str) -> str:
        return self.value(f"or {self.flag} {a}, {b}")

    def op_not(self, a: str) -> str:
        return self.value(f"xor {self.flag} {a}, {'true' if self.lanes == 1 else 'splat (i1 true)'}")

    def op_signbit(self, a: str) -> str:
        return self.value(f"icmp slt {self.integer} {self.bits(a)}, {self.integers(0)}")

    def op_odd(self, a: str) -> str:
        """Is the last bit of a number set?"""
        last = self.value(f"and {self.integer} {self.bits(a)}, {self.integers(1)}")
        return self.value(f"icmp ne {self.integer} {last}, {self.integers(0)}")

    def op_flip(self, a: str, b: str) -> str:
        """Change the sign of a if the last bit but one of b is set."""
        raised = self.value(f"shl {self.integer} {self.bits(b)}, {self.integers(62)}")
        sign = self.value(f"and {self.integer} {raised}, {self.integers(-(2**63))}")
        return self.from_bits(self.value(f"xor {self.integer} {self.bits(a)}, {sign}"))

    def op_exp2i(self, a: str) -> str:
        whole = self.value(f"fptosi {self.kind} {a} to {self.integer}")
        biased = self.value(f"add {self.integer} {whole}, {self.integers(1023)}")
        return self.from_bits(self.value(f"shl {self.integer} {biased}, {self.integers(52)}"))

    def op_exponent(self, a: str) -> str:
        shifted = self.value(f"lshr {self.integer} {self.bits(a)}, {self.integers(52)}")
        biased = self.value(f"and {self.integer} {shifted}, {self.integers(0x7FF)}")
        whole = self.value(f"sub {self.integer} {biased}, {self.integers(1023)}")
        return self.value(f"sitofp {self.integer} {whole} to {self.kind}")

    def op_mantissa(self, a: str) -> str:
        low = self.value(f"and {self.integer} {self.bits(a)}, {self.integers(0xFFFFFFFFFFFFF)}")
        return self.from_bits(self.value(f"or {self.integer} {low}, {self.integers(1023 << 52)}"))

    def write(self, stores: Sequence[Store]) -> None:
        """Compute all values, then store them: so what is read is what was there before."""
        values = lower([value for _, _, value in stores])
        nodes = _rare_first(values)
        uses = Counter(a.index for x in nodes for a in x.args if isinstance(a, Expr))
        uses.update(v.index for v in values if isinstance(v, Expr))

        def lone_product(x: Operand) -> bool:
            return isinstance(x, Expr) and x.op == "mul" and uses[x.index] == 1

        plans: dict[int, tuple[str, tuple[Operand, ...]]] = {}
        fused: set[int] = set()
        for x in nodes:
            if x.op in ("add", "sub") and any(map(lone_product, x.args)):
                first, second = x.args
                product = second if lone_product(second) else first
                fused.add(product.index)
                kind = "fma" if x.op == "add" else ("fma_from" if product is second else "fma_less")
                plans[x.index] = (kind, (*product.args, first if product is second else second))
        for x in nodes:
            if x.op == "symbol" or x.index in fused:
                continue
            if x.op == "called":
                name = x.args[0].function.name
                raise TraceError(f"{name} cannot be traced, and what is asked for is native code alone")
            kind, args = plans.get(x.index, (x.op, x.args))
            value = self.operation(kind, args)
            self.names[x.index] = self.paced(value) if x.op in _BINARY else value
        for (base, k, _), value in zip(stores, values, strict=True):
            text = self.operand(value)
            self.lines.append(f"  store {self.kind} {text}, ptr {self.element(base, k)}, align 8")

    def op_fma_from(self, a: str, b: str, c: str) -> str:
        """c - a b"""
        return self.op_fma(self.op_neg(a), b, c)

    def op_fma_less(self, a: str, b: str, c: str) -> str:
        """a b - c"""
        return self.op_fma(a, b, self.op_neg(c))


# Where x lies among 2 half rising numbers, found by halving what is left: the last that is not above x, or
# the first. Comparisons with NaN do not hold.
SEARCH = """define internal i64 @search(double %x, ptr %table, i64 %half) {
entry:
  br label %loop
loop:
  %place = phi i64 [ 0, %entry ], [ %nearer, %loop ]
  %step = phi i64 [ %half, %entry ], [ %less, %loop ]
  %there = add i64 %place, %step
  %at = getelementptr double, ptr %table, i64 %there
  %knot = load double, ptr %at
  %beyond = fcmp oge double %x, %knot
  %nearer = select i1 %beyond, i64 %there, i64 %place
  %less = lshr i64 %step, 1
  %more = icmp ne i64 %less, 0
  br i1 %more, label %loop, label %done
done:
  ret i64 %nearer
}
"""


def _padded(column: Column) -> int:
    """Return the power of two, 2 or more, that a column is filled up to."""
    return 1 << max(len(column) - 1, 1).bit_length()


def _rare_first(values: Sequence[Operand]) -> list[Expr]:
    """Return the nodes in order: first what rare calls need, while little else is in registers.

    A call, even one that is never made, forces all that lives across it out of the registers.
    """
    nodes = reachable(values)
    first = reachable([x for x in nodes if x.op == "rarely"])
    early = {x.index for x in first}
    return first + [x for x in nodes if x.index not in early]
