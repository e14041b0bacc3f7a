"""LLVM text of traced functions: bodies (`emit_body`) run once, or over records, or over pairs of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from linkwork.native import store
from linkwork.native.emit_body import SEARCH, Body, Store, declarations
from linkwork.trace.expression import Expr
from linkwork.trace.graph_walks import reachable

# Registers of eight lanes put aside on the stack must not straddle cache lines: it costs a tenth. The
# code generator would align the stack by itself, had it known in time that it will put something aside.
_ALIGNED = 'alignstack(64) "stackrealign"'
_STRIDE = 192  # bytes from one fetch to the next: the processor itself fetches the lines between


def straight(
    name: str,
    lanes: int,
    ports: Sequence[str],
    scalars: Collection[str],
    stores: Sequence[Store],
    results: Sequence[int] = (),
) -> str:
    """Return a function `void name(ptr plan, ptr ports)` that computes the stores once.

    `results` are sizes in bytes, each of memory that one more port points to and that will be written next.
    """
    rows = [f"result{k}" for k in range(len(results))]
    body = Body(lanes, scalars, "entry")
    body.lines += _port_pointers([*ports, *rows])
    if store.fetch():
        body.fetches += [
            (base, byte) for base, size in zip(rows, results, strict=True) for byte in range(0, size, _STRIDE)
        ]
    body.write(stores)
    lines = "\n".join(body.lines)
    head = f"{_tables(body)}define void @{name}(ptr %plan, ptr noalias %ports) {_ALIGNED}"
    return f"{head} {{\nentry:\n{lines}\n  ret void\n}}\n"


@dataclass(frozen=True)
class Pointer:
    """Where a base points: behind a port, by `scale` elements times what a column of the record says."""

    base: str
    port: str
    column: int | None = None  # None: at the beginning
    scale: int = 1

    def place(self, record: Sequence[int]) -> int:
        """Return how many elements behind its port it points, as a record says."""
        return 0 if self.column is None else record[self.column] * self.scale

    def code(self, body: Body, record: str) -> None:
        kind = "double" if self.port in body.scalars else body.kind
        offset = "0"
        if self.column is not None:
            at = body.value(f"getelementptr i64, ptr {record}, i64 {self.column}")
            offset = body.value(f"load i64, ptr {at}")
            if self.scale != 1:
                offset = body.value(f"mul i64 {offset}, {self.scale}")
        body.lines.append(f"  %{self.base} = getelementptr {kind}, ptr %port_{self.port}, i64 {offset}")


def walk(
    name: str,
    lanes: int,
    ports: Sequence[str],
    scalars: Collection[str],
    pointers: Sequence[Pointer],
    stores: Sequence[Store],
) -> str:
    """Return `void name(ptr ports, ptr records, i64 count, i64 step)`, which runs a body over records.

    Each record is a row of integers; from one to the next it is `step` integers.
    """
    body = Body(lanes, scalars, "loop")
    for pointer in pointers:
        pointer.code(body, "%record")
    body.write(stores)
    entry = "\n".join(_port_pointers(ports, "port_"))
    lines = "\n".join(body.lines)
    head = f"{_tables(body)}define void @{name}(ptr %ports, ptr %records, i64 %count, i64 %step) {_ALIGNED}"
    return f"""{head} {{
entry:
{entry}
  br label %loop
loop:
  %record = phi ptr [ %records, %entry ], [ %next, %end ]
  %left = phi i64 [ %count, %entry ], [ %fewer, %end ]
{lines}
  br label %end
end:
  %next = getelementptr i64, ptr %record, i64 %step
  %fewer = sub i64 %left, 1
  %more = icmp ne i64 %fewer, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def climb(
    name: str, lanes: int, ports: Sequence[str], data: str, work: str, output: str, value: Expr, packed: bool
) -> str:
    """Return a function like `walk` for pairs: each record with itself and all records above it.

    A record is (place of its block, place of its diagonal term in the data, number of the record above or
    -1); the value, of symbols ("self", k) and ("other", k), plus the diagonal term where the pair is one
    record twice, goes to output[i, j] and output[j, i], or, packed, to the next place of the output. `count`
    is the order of the matrix; records lie in one piece.
    """
    diagonal = value.graph.symbol(("diagonal", 0))
    before = Body(lanes, (data, "term"), "outer")  # what is the same for all pairs of a record
    extra = before.load("term", 0)
    own = {
        x.index: before.load(*x.args[0])
        for x in reachable([value])
        if x.op == "symbol" and x.args[0][0] == "self"
    }
    body = Body(lanes, (data, "term"), "inner", count=before.count)
    body.names |= own | {diagonal.index: "%diagonal"}
    body.lines.append(f"  %other = getelementptr {body.kind}, ptr %port_{work}, i64 %place")
    if packed:
        places = ["%pair"]
    else:
        places = ["%ij", "%ji"]
        body.lines += [
            "  %ij = add i64 %row, %j",
            "  %column = mul i64 %j, %count",
            "  %ji = add i64 %column, %i",
        ]
    for k, place in enumerate(places):
        body.lines.append(f"  %to{k} = getelementptr {body.kind}, ptr %port_{output}, i64 {place}")
    body.write([(f"to{k}", 0, value + diagonal) for k in range(len(places))])
    entry = "\n".join(_port_pointers(ports, "port_"))
    loads = "\n".join(before.lines)
    lines = "\n".join(body.lines)
    head = f"{_tables(body)}define void @{name}(ptr %ports, ptr %records, i64 %count, i64 %step) {_ALIGNED}"
    return f"""{head} {{
entry:
{entry}
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i_next, %end ]
  %first_pair = phi i64 [ 0, %entry ], [ %pair_next, %end ]
  %row = mul i64 %i, %count
  %i3 = mul i64 %i, 3
  %record = getelementptr i64, ptr %records, i64 %i3
  %own = load i64, ptr %record
  %self = getelementptr {body.kind}, ptr %port_{work}, i64 %own
  %at_term = getelementptr i64, ptr %record, i64 1
  %term_place = load i64, ptr %at_term
  %term = getelementptr double, ptr %port_{data}, i64 %term_place
{loads}
  br label %inner
inner:
  %diagonal = phi {body.kind} [ {extra}, %outer ], [ {body.constant(0.0)}, %next ]
  %pair = phi i64 [ %first_pair, %outer ], [ %pair_next, %next ]
  %j = phi i64 [ %i, %outer ], [ %above, %next ]
  %j3 = mul i64 %j, 3
  %record_j = getelementptr i64, ptr %records, i64 %j3
  %place = load i64, ptr %record_j
  %at_above = getelementptr i64, ptr %record_j, i64 2
  %above = load i64, ptr %at_above
{lines}
  br label %next
next:
  %pair_next = add i64 %pair, 1
  %top = icmp slt i64 %above, 0
  br i1 %top, label %end, label %inner
end:
  %i_next = add i64 %i, 1
  %more = icmp ne i64 %i_next, %count
  br i1 %more, label %outer, label %done
done:
  ret void
}}
"""


def _port_pointers(ports: Sequence[str], prefix: str = "") -> list[str]:
    lines = []
    for i, port in enumerate(ports):
        lines.append(f"  %at_{port} = getelementptr ptr, ptr %ports, i64 {i}")
        lines.append(f"  %{prefix}{port} = load ptr, ptr %at_{port}")
    return lines


def module(lanes: int, functions: Sequence[str]) -> str:
    """Return a whole module: declarations, functions, and the weights of the rare branches.

    A column of a table that several functions use is there once.
    """
    rare = '!0 = !{!"branch_weights", i32 1, i32 1000000}\n'
    tables = [line for text in functions for line in text.splitlines() if line.startswith("@table_")]
    if tables:
        functions = [_without_tables(text) for text in functions]
        functions = [*dict.fromkeys(tables), SEARCH, *functions]
    return "\n".join([declarations(lanes), *functions, rare])


def _tables(body: Body) -> str:
    """Return the columns of tables that a body uses, a line each."""
    return "".join(f"{line}\n" for line in body.tables.values())


def _without_tables(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("@table_"))
