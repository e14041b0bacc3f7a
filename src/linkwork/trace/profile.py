"""LLVM text of a kernel that solves A x = b for a symmetric A >= 0 in profile form, redundant rows allowed.

Of each row of A only the part from the diagonal to the end of its profile is there, and ends never decrease
from one row to the next, so that the factors L D L^T fit into the same place. A row whose pivot has become
tiny beside its diagonal follows from those before it: it is dropped, and its x is zero.

    void solve(ports, table, count, step)

The table: rows; places, in the array of port 1, of b (and then x), of inverse pivots, of smallest pivots; the
bits of a number below which a pivot is nothing but rounding; then per row: its column, the place of its
column 0 (which may lie before the array), the column its part begins at, the column behind its end, the
number of the last row its profile reaches. For lanes of systems, an element is a vector of lanes. For one
system, columns are padded to blocks of `width`, and a row is worked on by whole blocks: it begins at a
block's first column, and what lies before its diagonal does not matter. The arithmetic of an element is the
same.
"""

import struct

TOLERANCE = 1e-11  # of a pivot beside its diagonal: the square of the sine between a row and those before it
HEAD, ROW = 5, 5


def text(name: str, lanes: int, width: int) -> str:
    """Return the function for one system in blocks of `width`, or for lanes of systems."""
    one = lanes == 1
    element = "double" if one else f"<{lanes} x double>"
    block = f"<{width} x double>" if one else element
    flag = "i1" if one else f"<{lanes} x i1>"
    suffix = "f64" if one else f"v{lanes}f64"
    block_suffix = f"v{width}f64" if one else suffix
    step = width if one else 1

    nil = "0.0" if one else "zeroinitializer"

    def constant(x: float) -> str:
        number = "0x" + struct.pack(">d", x).hex().upper()
        return number if one else f"splat (double {number})"

    def field(label: str, row: str, k: int) -> str:
        return (
            f"  %{label}_at = getelementptr i64, ptr {row}, i64 {k}\n  %{label} = load i64, ptr %{label}_at\n"
        )

    def row(label: str, index: str) -> str:
        return (
            f"  %{label}_offset = mul i64 {index}, {ROW}\n"
            f"  %{label} = getelementptr i64, ptr %rows, i64 %{label}_offset\n"
        )

    def place(label: str, base: str, index: str) -> str:
        return f"  %{label} = getelementptr {element}, ptr {base}, i64 {index}\n"

    def entry(label: str, origin: str, column: str) -> str:
        return f"  %{label}_index = add i64 {origin}, {column}\n" + place(label, "%work", f"%{label}_index")

    def load(label: str, pointer: str, kind: str = element) -> str:
        return f"  %{label} = load {kind}, ptr {pointer}, align 8\n"

    if one:
        skip = "  %skip = or i1 %dropped, false\n"
        zero = "  %nothing = fcmp oeq double %u, 0.0\n  br i1 %nothing, label %next_i, label %eliminate\n"
        spread = (
            f"  %one_f = insertelement {block} poison, double %minus_f, i64 0\n"
            f"  %spread = shufflevector {block} %one_f, {block} poison, <{width} x i32> zeroinitializer\n"
        )
    else:
        skip = f"  %skip = call i1 @llvm.vector.reduce.and.v{lanes}i1({flag} %dropped)\n"
        zero = "  br label %eliminate\n"
        spread = f"  %spread = fadd {block} %minus_f, {constant(-0.0)}\n"
    if one:
        everywhere = "  %rounding = bitcast i64 %bits to double\n"
    else:
        everywhere = (
            "  %one_rounding = bitcast i64 %bits to double\n"
            f"  %first_rounding = insertelement {element} poison, double %one_rounding, i64 0\n"
            f"  %rounding = shufflevector {element} %first_rounding, {element} poison, "
            f"<{lanes} x i32> zeroinitializer\n"
        )
    declarations = [f"declare {element} @llvm.fma.{suffix}({element}, {element}, {element})"]
    if one:
        declarations.append(f"declare {block} @llvm.fma.{block_suffix}({block}, {block}, {block})")
    else:
        declarations.append(f"declare i1 @llvm.vector.reduce.and.v{lanes}i1({flag})")
    fma = f"call {element} @llvm.fma.{suffix}"
    head = "\n".join(declarations)
    return f"""{head}

define void @{name}(ptr %ports, ptr %table, i64 %count, i64 %step) {{
entry:
  %work_at = getelementptr ptr, ptr %ports, i64 1
  %work = load ptr, ptr %work_at
{field("n", "%table", 0)}{field("x_place", "%table", 1)}{field("d_place", "%table", 2)}
{field("s_place", "%table", 3)}{place("x", "%work", "%x_place")}{place("d", "%work", "%d_place")}
{place("s", "%work", "%s_place")}  %rows = getelementptr i64, ptr %table, i64 {HEAD}
  br label %look_test
look_test:
  %l = phi i64 [ 0, %entry ], [ %l_next, %look ]
  %more_l = icmp slt i64 %l, %n
  br i1 %more_l, label %look, label %floor_test
look:
{row("row_l", "%l")}{field("column_l", "%row_l", 0)}{field("origin_l", "%row_l", 1)}
{entry("a_ll", "%origin_l", "%column_l")}{load("diagonal", "%a_ll")}
  %own = fmul {element} %diagonal, {constant(TOLERANCE)}
{place("s_l", "%s", "%l")}  store {element} %own, ptr %s_l, align 8
  %l_next = add i64 %l, 1
  br label %look_test
floor_test:
{field("bits", "%table", 4)}{everywhere}
  br label %k_test
k_test:
  %k = phi i64 [ 0, %floor_test ], [ %k_next, %next_k ]
  %more_k = icmp slt i64 %k, %n
  br i1 %more_k, label %pivot_k, label %back_test
pivot_k:
{row("row_k", "%k")}{field("column_k", "%row_k", 0)}{field("origin_k", "%row_k", 1)}
{field("end_k", "%row_k", 3)}{field("last_k", "%row_k", 4)}{entry("a_kk", "%origin_k", "%column_k")}
{load("pivot", "%a_kk")}{place("s_k", "%s", "%k")}{load("own_k", "%s_k")}
  %higher = fcmp ogt {element} %own_k, %rounding
  %least = select {flag} %higher, {element} %own_k, {element} %rounding
  %dropped = fcmp ole {element} %pivot, %least
  %inverse = fdiv {element} {constant(1.0)}, %pivot
  %d_k = select {flag} %dropped, {element} {nil}, {element} %inverse
{place("d_k_at", "%d", "%k")}  store {element} %d_k, ptr %d_k_at, align 8
{place("x_k_at", "%x", "%column_k")}{load("x_k", "%x_k_at")}{skip}
  %i_first = add i64 %k, 1
  br i1 %skip, label %next_k, label %i_test
i_test:
  %i = phi i64 [ %i_first, %pivot_k ], [ %i_next, %next_i ]
  %more_i = icmp sle i64 %i, %last_k
  br i1 %more_i, label %row_of_i, label %next_k
row_of_i:
{row("row_i", "%i")}{field("column_i", "%row_i", 0)}{entry("a_ki", "%origin_k", "%column_i")}
{load("u", "%a_ki")}{zero}
eliminate:
{field("origin_i", "%row_i", 1)}{field("begin_i", "%row_i", 2)}
  %f = fmul {element} %u, %d_k
  %minus_f = fneg {element} %f
{place("x_i_at", "%x", "%column_i")}{load("x_i", "%x_i_at")}
  %x_i_new = {fma}({element} %minus_f, {element} %x_k, {element} %x_i)
  store {element} %x_i_new, ptr %x_i_at, align 8
{spread}  br label %j_test
j_test:
  %j = phi i64 [ %begin_i, %eliminate ], [ %j_next, %subtract ]
  %more_j = icmp slt i64 %j, %end_k
  br i1 %more_j, label %subtract, label %next_i
subtract:
{entry("a_kj", "%origin_k", "%j")}{entry("a_ij", "%origin_i", "%j")}
{load("from_k", "%a_kj", block)}{load("from_i", "%a_ij", block)}
  %less = call {block} @llvm.fma.{block_suffix}({block} %spread, {block} %from_k, {block} %from_i)
  store {block} %less, ptr %a_ij, align 8
  %j_next = add i64 %j, {step}
  br label %j_test
next_i:
  %i_next = add i64 %i, 1
  br label %i_test
next_k:
  %k_next = add i64 %k, 1
  br label %k_test
back_test:
  %m_next = phi i64 [ %n, %k_test ], [ %m, %done_m ]
  %m = sub i64 %m_next, 1
  %more_m = icmp sge i64 %m, 0
  br i1 %more_m, label %back, label %done
back:
{row("row_m", "%m")}{field("column_m", "%row_m", 0)}{field("origin_m", "%row_m", 1)}
{field("last_m", "%row_m", 4)}{place("x_m_at", "%x", "%column_m")}{load("x_m", "%x_m_at")}
{place("d_m_at", "%d", "%m")}{load("d_m", "%d_m_at")}
  %p_first = add i64 %m, 1
  br label %p_test
p_test:
  %p = phi i64 [ %p_first, %back ], [ %p_next, %term ]
  %sum = phi {element} [ %x_m, %back ], [ %sum_next, %term ]
  %more_p = icmp sle i64 %p, %last_m
  br i1 %more_p, label %term, label %done_m
term:
{row("row_p", "%p")}{field("column_p", "%row_p", 0)}{entry("a_mp", "%origin_m", "%column_p")}
{load("u_mp", "%a_mp")}{place("x_p_at", "%x", "%column_p")}{load("x_p", "%x_p_at")}
  %minus_u = fneg {element} %u_mp
  %sum_next = {fma}({element} %minus_u, {element} %x_p, {element} %sum)
  %p_next = add i64 %p, 1
  br label %p_test
done_m:
  %kept = fcmp une {element} %d_m, {nil}
  %solved = fmul {element} %sum, %d_m
  %x_new = select {flag} %kept, {element} %solved, {element} {nil}
  store {element} %x_new, ptr %x_m_at, align 8
  br label %back_test
done:
  ret void
}}
"""
