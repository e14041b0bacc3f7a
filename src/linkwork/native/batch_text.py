"""LLVM text of the loop over a batch: bring a block of mechanisms into lanes, run, bring the results back.

    int64 batch(run, plan, ports, arrays, widths, places, inputs, count, total)

`arrays` are rows of `widths` doubles, one row per mechanism, inputs first. `ports[2:]` are room for one block
of each in lanes, and `places` say where in that room each number of a row is; the ports behind them are set
to the rows that the results of the block will go to, for kernels that fetch their lines meanwhile (see
`emit.straight`). Returns 0 if all numbers that went in and came out were finite. A block of the last few
mechanisms is filled up with copies of the last: the same in, the same out.

Rows become lanes by square blocks: as many vectors as lanes are loaded along the rows, transposed in
registers and stored. Results are written along as many rows at once as there are lanes, too many streams for
the processor to see them coming: fetching the lines two squares ahead makes a mass matrix's way out 1.6 times
faster. Memory then sets the pace, and whether numbers are finite is seen in passing, at no cost.
"""

from collections.abc import Sequence

_AHEAD = 16  # doubles


def text(name: str, lanes: int) -> str:
    """Return the function for this number of lanes."""
    kind = f"<{lanes} x double>"
    arguments = "ptr %run, ptr %plan, ptr %ports, ptr %arrays, ptr %widths, ptr %places"
    return f"""
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define i64 @{name}({arguments}, i64 %inputs, i64 %count, i64 %total) {{
entry:
  %top = sub i64 %total, 1
  %own_ports = add i64 %count, 2
  %goals = sub i64 %own_ports, %inputs
  br label %block
block:
  %b = phi i64 [ 0, %entry ], [ %b_next, %block_end ]
  %odd0 = phi {kind} [ zeroinitializer, %entry ], [ %odd_out, %block_end ]
{_rows(lanes)}
  br label %in_test
in_test:
  %p = phi i64 [ 0, %block ], [ %p_next, %in_end ]
  %odd_in = phi {kind} [ %odd0, %block ], [ %in_odd, %in_end ]
  %more_in = icmp slt i64 %p, %inputs
  br i1 %more_in, label %in, label %goal_test
{_port("in", "%p", kind, lanes, _load_square(kind, lanes), _load_column(kind, lanes))}
in_end:
  %p_next = add i64 %p, 1
  br label %in_test
goal_test:
  %g = phi i64 [ %inputs, %in_test ], [ %g_next, %goal ]
  %more_goals = icmp slt i64 %g, %count
  br i1 %more_goals, label %goal, label %go
goal:
{_entries("goal", "%g", ("array", "arrays", "ptr"), ("width", "widths", "i64"))}
  %goal_offset = mul i64 %b, %goal_width
  %goal_rows = getelementptr double, ptr %goal_array, i64 %goal_offset
  %goal_port = add i64 %g, %goals
  %at_goal = getelementptr ptr, ptr %ports, i64 %goal_port
  store ptr %goal_rows, ptr %at_goal
  %g_next = add i64 %g, 1
  br label %goal_test
go:
  call void %run(ptr %plan, ptr %ports)
  br label %out_test
out_test:
  %o = phi i64 [ %inputs, %go ], [ %o_next, %out_end ]
  %odd_out = phi {kind} [ %odd_in, %go ], [ %out_odd, %out_end ]
  %more_out = icmp slt i64 %o, %count
  br i1 %more_out, label %out, label %block_end
{_port("out", "%o", kind, lanes, _store_square(kind, lanes), _store_column(kind, lanes))}
out_end:
  %o_next = add i64 %o, 1
  br label %out_test
block_end:
  %b_next = add i64 %b, {lanes}
  %more_blocks = icmp slt i64 %b_next, %total
  br i1 %more_blocks, label %block, label %done
done:
  %bad = fcmp uno {kind} %odd_out, %odd_out
  %bits = bitcast <{lanes} x i1> %bad to i{lanes}
  %status = zext i{lanes} %bits to i64
  ret i64 %status
}}
"""


def _rows(lanes: int) -> str:
    """Number the row of each lane, none beyond the last."""
    lines = []
    for n in range(lanes):
        lines += [
            f"  %want{n} = add i64 %b, {n}",
            f"  %low{n} = icmp slt i64 %want{n}, %top",
            f"  %row{n} = select i1 %low{n}, i64 %want{n}, i64 %top",
        ]
    return "\n".join(lines)


def _entries(side: str, index: str, *tables: tuple[str, str, str]) -> str:
    """Look up what tables say about an array: names of the values, tables, kinds."""
    return "\n".join(
        f"  %at_{side}_{name} = getelementptr i64, ptr %{table}, i64 {index}\n"
        f"  %{side}_{name} = load {kind}, ptr %at_{side}_{name}"
        for name, table, kind in tables
    )


def _port(side: str, index: str, kind: str, lanes: int, square: str, column: str) -> str:
    """Move one array: squares of columns, then the columns left over."""
    rows = "\n".join(
        f"  %{side}_offset{n} = mul i64 %row{n}, %{side}_width\n"
        f"  %{side}{n} = getelementptr double, ptr %{side}_array, i64 %{side}_offset{n}"
        for n in range(lanes)
    )
    tables = ("array", "arrays", "ptr"), ("width", "widths", "i64"), ("places", "places", "ptr")
    return f"""{side}:
  %{side}_slot = add i64 {index}, 2
  %at_{side}_port = getelementptr ptr, ptr %ports, i64 %{side}_slot
  %{side}_port = load ptr, ptr %at_{side}_port
{_entries(side, index, *tables)}
  %{side}_whole = and i64 %{side}_width, -{lanes}
{rows}
  br label %{side}_square_test
{side}_square_test:
  %{side}_j = phi i64 [ 0, %{side} ], [ %{side}_j_next, %{side}_square ]
  %{side}_odd_j = phi {kind} [ %odd_{side}, %{side} ], [ %{side}_odd_square, %{side}_square ]
  %{side}_more_j = icmp slt i64 %{side}_j, %{side}_whole
  br i1 %{side}_more_j, label %{side}_square, label %{side}_column_test
{side}_square:
{square}
  %{side}_j_next = add i64 %{side}_j, {lanes}
  br label %{side}_square_test
{side}_column_test:
  %{side}_k = phi i64 [ %{side}_whole, %{side}_square_test ], [ %{side}_k_next, %{side}_column ]
  %{side}_odd = phi {kind} [ %{side}_odd_j, %{side}_square_test ], [ %{side}_odd_column, %{side}_column ]
  %{side}_more_k = icmp slt i64 %{side}_k, %{side}_width
  br i1 %{side}_more_k, label %{side}_column, label %{side}_end
{side}_column:
{column}
  %{side}_k_next = add i64 %{side}_k, 1
  br label %{side}_column_test"""


def _looked(kind: str, vectors: Sequence[str], before: str, after: str) -> list[str]:
    """Add x - x of every number to a sum: zero if every x is finite, else not a number."""
    lines, total = [], "zeroinitializer"
    for n, x in enumerate(vectors):
        lines.append(f"  {after}_zero{n} = fsub {kind} {x}, {x}")
        lines.append(f"  {after}_sum{n} = fadd {kind} {total}, {after}_zero{n}")
        total = f"{after}_sum{n}"
    return [*lines, f"  {after} = fadd {kind} {before}, {total}"]


def _transposed(lines: list[str], vectors: list[str], kind: str, side: str) -> list[str]:
    """Transpose a square of vectors by exchanging ever larger blocks off the diagonal."""
    lanes = len(vectors)
    distance = 1
    while distance < lanes:
        mask_type = f"<{lanes} x i32>"
        low = [i if not i & distance else lanes + (i ^ distance) for i in range(lanes)]
        high = [(i ^ distance) if not i & distance else lanes + i for i in range(lanes)]
        for i in range(lanes):
            if i & distance:
                continue
            a, b = vectors[i], vectors[i + distance]
            for k, mask in ((i, low), (i + distance, high)):
                name = f"%{side}_t{distance}_{k}"
                indices = ", ".join(f"i32 {m}" for m in mask)
                lines.append(f"  {name} = shufflevector {kind} {a}, {kind} {b}, {mask_type} <{indices}>")
                vectors[k] = name
        distance *= 2
    return vectors


def _load_square(kind: str, lanes: int) -> str:
    lines = []
    for n in range(lanes):
        lines += [
            f"  %in_at{n} = getelementptr double, ptr %in{n}, i64 %in_j",
            f"  %in_x{n} = load {kind}, ptr %in_at{n}, align 8",
        ]
    lines += _looked(kind, [f"%in_x{n}" for n in range(lanes)], "%in_odd_j", "%in_odd_square")
    lines.append(f"  %in_to = getelementptr {kind}, ptr %in_port, i64 %in_j")
    for n, vector in enumerate(_transposed(lines, [f"%in_x{n}" for n in range(lanes)], kind, "in")):
        lines += [
            f"  %in_to{n} = getelementptr {kind}, ptr %in_to, i64 {n}",
            f"  store {kind} {vector}, ptr %in_to{n}, align 8",
        ]
    return "\n".join(lines)


def _store_square(kind: str, lanes: int) -> str:
    lines = ["  %out_first = getelementptr i64, ptr %out_places, i64 %out_j"]
    for n in range(lanes):
        lines += [
            f"  %out_at_place{n} = getelementptr i64, ptr %out_first, i64 {n}",
            f"  %out_place{n} = load i64, ptr %out_at_place{n}",
            f"  %out_at{n} = getelementptr {kind}, ptr %out_port, i64 %out_place{n}",
            f"  %out_x{n} = load {kind}, ptr %out_at{n}, align 8",
        ]
    lines += _looked(kind, [f"%out_x{n}" for n in range(lanes)], "%out_odd_j", "%out_odd_square")
    for n, vector in enumerate(_transposed(lines, [f"%out_x{n}" for n in range(lanes)], kind, "out")):
        lines += [
            f"  %out_to{n} = getelementptr double, ptr %out{n}, i64 %out_j",
            f"  %out_soon{n} = getelementptr double, ptr %out_to{n}, i64 {_AHEAD}",
            f"  call void @llvm.prefetch.p0(ptr %out_soon{n}, i32 1, i32 3, i32 1)",
            f"  store {kind} {vector}, ptr %out_to{n}, align 8",
        ]
    return "\n".join(lines)


def _load_column(kind: str, lanes: int) -> str:
    lines, gathered = [], "poison"
    for n in range(lanes):
        lines += [
            f"  %in_c{n} = getelementptr double, ptr %in{n}, i64 %in_k",
            f"  %in_y{n} = load double, ptr %in_c{n}",
            f"  %in_g{n} = insertelement {kind} {gathered}, double %in_y{n}, i64 {n}",
        ]
        gathered = f"%in_g{n}"
    lines += [
        *_looked(kind, [gathered], "%in_odd", "%in_odd_column"),
        f"  %in_lane = getelementptr {kind}, ptr %in_port, i64 %in_k",
        f"  store {kind} {gathered}, ptr %in_lane, align 8",
    ]
    return "\n".join(lines)


def _store_column(kind: str, lanes: int) -> str:
    lines = [
        "  %out_at_place = getelementptr i64, ptr %out_places, i64 %out_k",
        "  %out_place = load i64, ptr %out_at_place",
        f"  %out_lane = getelementptr {kind}, ptr %out_port, i64 %out_place",
        f"  %out_value = load {kind}, ptr %out_lane, align 8",
        *_looked(kind, ["%out_value"], "%out_odd", "%out_odd_column"),
    ]
    for n in range(lanes):
        lines += [
            f"  %out_y{n} = extractelement {kind} %out_value, i64 {n}",
            f"  %out_c{n} = getelementptr double, ptr %out{n}, i64 %out_k",
            f"  store double %out_y{n}, ptr %out_c{n}",
        ]
    return "\n".join(lines)
