"""LLVM text of a kernel that solves A x = b for a symmetric A >= 0 in profile form, redundant rows allowed.

Rows come in *windows*, and a row has columns from the first of its window to the end of its profile; ends
never decrease from one window to the next, so that the factors L D L^T fit into the same place. Within a
window the next pivot is that of the row which keeps most of its diagonal, the one that depends least on those
before it. Once only a tiny part is left of each, these rows follow from the others: they are dropped, and
their x is zero.

    void solve(ports, table, count, step)

The table: rows, windows; places of b (and then x), of A, of inverse pivots, of inverse diagonals, of the
order of pivots, of scratch for a row; then per window: its first row, the row behind its last, its first
column, the column behind its profile, the row behind its profile, the row behind the window that ends in;
then per row: its column, the place in A of its column 0 (which may lie before A), the bits of a number below
which its pivot is nothing, its window.

One system is worked on in blocks of columns; windows begin and end with a block. For lanes of systems, an
element is a vector of lanes; each lane has an order of its own, so what belongs to a pivot is gathered. The
arithmetic of an element is the same.
"""

from linkwork.trace.writer import Writer, number

TOLERANCE = 1e-11  # of a pivot beside its diagonal: the square of the sine between a row and those before it
HEAD, WINDOW, ROW = 8, 6, 4
_COLUMN, _ORIGIN, _WEAK, _HOME = range(ROW)


def text(name: str, lanes: int, width: int) -> str:
    """Return the function for one system in blocks of `width` columns, or for lanes of systems."""
    return _one(name, width) if lanes == 1 else _many(name, lanes)


class _Table:
    """The table, and what it says of rows and windows."""

    def __init__(self, w: Writer, element: str):
        self._w = w
        work = w.load("ptr", w.at("ptr", "%ports", 1))
        self.n, self.windows = (w.load("i64", w.at("i64", "%table", k)) for k in (0, 1))
        self.b, self.a, self.inverse, self.scale, self.order, self.scratch = (
            w.at(element, work, w.load("i64", w.at("i64", "%table", k))) for k in range(2, HEAD)
        )
        self.rows = w.at("i64", "%table", w.op("mul", "i64", self.windows, WINDOW), HEAD)

    def row(self, i: str, k: int) -> str:
        return self._w.load("i64", self._w.at("i64", self.rows, self._w.op("mul", "i64", i, ROW), k))

    def window(self, i: str, k: int) -> str:
        return self._w.load("i64", self._w.at("i64", "%table", self._w.op("mul", "i64", i, WINDOW), HEAD + k))


def _one(name: str, width: int) -> str:
    """Return the function for one system."""
    w, double, block = Writer(), "double", f"<{width} x double>"
    t = _Table(w, double)

    def number_at(base: str, *indices: str) -> str:
        return w.load(double, w.at(double, base, *indices))

    def least(k: str) -> str:
        return w.value(f"bitcast i64 {t.row(k, _WEAK)} to double")

    def fma(kind: str, suffix: str, a: str, b: str, c: str) -> str:
        return w.call(kind, f"llvm.fma.{suffix}", f"{kind} {a}", f"{kind} {b}", f"{kind} {c}")

    def forget() -> None:
        """Look for another pivot."""
        w.store(double, number(TOLERANCE), best)
        w.store("i64", "-1", where)

    def compare(k: str, left: str) -> None:
        """Let row k be the next pivot if it is the best so far."""
        part = w.op("fmul", double, left, number_at(t.scale, k))
        better, there = (
            w.op("fcmp ogt", double, part, w.load(double, best)),
            w.op("fcmp ogt", double, left, least(k)),
        )
        with w.when(w.op("and", "i1", better, there)):
            w.store(double, part, best)
            w.store("i64", k, where)

    def eliminate(first: str, end: str, begin: str | None) -> None:
        """Take the pivot's row from others: of its window if `begin` is its first column."""
        with w.loop(first, end) as (i, _), w.when(w.op("fcmp ogt", double, number_at(t.scale, i), "0.0")):
            column, origin = t.row(i, _COLUMN), t.row(i, _ORIGIN)
            minus_f = w.op("fneg", double, w.op("fmul", double, number_at(t.a, origin_p, column), d))
            x_i = w.at(double, t.b, column)
            w.store(double, fma(double, "f64", minus_f, x_p, w.load(double, x_i)), x_i)
            f = w.value(f"insertelement {block} poison, double {minus_f}, i64 0")
            f = w.value(f"shufflevector {block} {f}, {block} poison, <{width} x i32> zeroinitializer")
            with w.loop(begin or t.window(t.row(i, _HOME), 2), end_p, width) as (j, _):
                a_ij, pivots = w.at(double, t.a, origin, j), w.load(block, w.at(double, t.a, origin_p, j))
                w.store(block, fma(block, f"v{width}f64", f, pivots, w.load(block, a_ij)), a_ij)
            if begin:
                compare(i, number_at(t.a, origin, column))

    with w.loop(0, t.n) as (k, _):
        diagonal = number_at(t.a, t.row(k, _ORIGIN), t.row(k, _COLUMN))
        there = w.op("fcmp ogt", double, diagonal, least(k))
        inverse = w.op("fdiv", double, number(1.0), diagonal)
        w.store(double, w.select("i1", there, double, inverse, "0.0"), w.at(double, t.scale, k))
        w.store(double, "0.0", w.at(double, t.inverse, k))
        w.store("i64", "-1", w.at("i64", t.order, k))
    best, where = w.variable(double, "0.0"), w.variable("i64", "-1")
    with w.loop(0, t.windows) as (window, _):
        first, end, begin, end_p, behind = (t.window(window, k) for k in range(5))
        forget()
        with w.loop(first, end) as (k, _):
            compare(k, number_at(t.a, t.row(k, _ORIGIN), t.row(k, _COLUMN)))
        with w.loop(first, end) as (turn, done):
            p = w.load("i64", where)
            w.leave_unless(w.op("icmp sge", "i64", p, 0), done)
            forget()
            origin_p, column_p = t.row(p, _ORIGIN), t.row(p, _COLUMN)
            d = w.op("fdiv", double, number(1.0), number_at(t.a, origin_p, column_p))
            w.store(double, d, w.at(double, t.inverse, p))
            w.store(double, "0.0", w.at(double, t.scale, p))
            w.store("i64", p, w.at("i64", t.order, turn))
            x_p = number_at(t.b, column_p)
            eliminate(first, end, begin)
            eliminate(end, behind, None)
    with w.loop(0, t.n) as (k, _), w.when(w.op("fcmp oeq", double, number_at(t.inverse, k), "0.0")):
        w.store(double, "0.0", w.at(double, t.b, t.row(k, _COLUMN)))
    with w.loop(0, t.n) as (back, _):
        turn = w.op("sub", "i64", w.op("sub", "i64", t.n, 1), back)
        p = w.load("i64", w.at("i64", t.order, turn))
        with w.when(w.op("icmp sge", "i64", p, 0)):
            origin_p, x_at = t.row(p, _ORIGIN), w.at(double, t.b, t.row(p, _COLUMN))
            total = w.variable(double, w.load(double, x_at))
            behind, reach = (t.window(t.row(p, _HOME), k) for k in (4, 5))
            with w.loop(w.op("add", "i64", turn, 1), reach) as (later, _):
                other = w.load("i64", w.at("i64", t.order, later))
                with w.when(w.op("icmp ult", "i64", other, behind)):  # -1 is the largest of all
                    column = t.row(other, _COLUMN)
                    minus_u = w.op("fneg", double, number_at(t.a, origin_p, column))
                    w.store(
                        double,
                        fma(double, "f64", minus_u, number_at(t.b, column), w.load(double, total)),
                        total,
                    )
            w.store(double, w.op("fmul", double, w.load(double, total), number_at(t.inverse, p)), x_at)
    declarations = [
        "declare double @llvm.fma.f64(double, double, double)",
        f"declare {block} @llvm.fma.v{width}f64({block}, {block}, {block})",
    ]
    return "\n".join(
        [*declarations, w.function(f"void @{name}(ptr %ports, ptr %table, i64 %count, i64 %step)")]
    )


def _many(name: str, lanes: int) -> str:
    """Return the function for lanes of systems."""
    w, zero = Writer(), "zeroinitializer"
    element, index, flag, pointers = (f"<{lanes} x {kind}>" for kind in ("double", "i64", "i1", "ptr"))
    t = _Table(w, element)
    numbers = f"<{', '.join(f'i64 {lane}' for lane in range(lanes))}>"
    ones = f"splat (double {number(1.0)})"

    def vector_at(base: str, *indices: str) -> str:
        return w.load(element, w.at(element, base, *indices))

    def spread(kind: str, x: str) -> str:
        kinds = f"<{lanes} x {kind}>"
        one = w.value(f"insertelement {kinds} poison, {kind} {x}, i64 0")
        return w.value(f"shufflevector {kinds} {one}, {kinds} poison, <{lanes} x i32> {zero}")

    def least(k: str) -> str:
        return spread("double", w.value(f"bitcast i64 {t.row(k, _WEAK)} to double"))

    def fma(a: str, b: str, c: str) -> str:
        return w.call(element, f"llvm.fma.v{lanes}f64", f"{element} {a}", f"{element} {b}", f"{element} {c}")

    def places(base: str, *indices: str) -> str:
        """Return where each lane has an element of its own, its index a sum."""
        inside = w.op("mul", index, w.sum(index, *indices), f"splat (i64 {lanes})")
        return w.value(f"getelementptr double, ptr {base}, {index} {w.sum(index, inside, numbers)}")

    def gather(kind: str, where: str, active: str) -> str:
        what = f"llvm.masked.gather.v{lanes}{'f' if kind == element else 'i'}64.v{lanes}p0"
        return w.call(kind, what, f"{pointers} {where}", "i32 8", f"{flag} {active}", f"{kind} {zero}")

    def scatter(x: str, where: str, active: str) -> None:
        arguments = f"{element} {x}, {pointers} {where}, i32 8, {flag} {active}"
        w.do(f"call void @llvm.masked.scatter.v{lanes}f64.v{lanes}p0({arguments})")

    def row_of(rows: str, k: int, active: str) -> str:
        """Return what the table says of rows, one per lane."""
        at = w.sum(index, w.op("mul", index, rows, f"splat (i64 {ROW})"), f"splat (i64 {k})")
        return gather(index, w.value(f"getelementptr i64, ptr {t.rows}, {index} {at}"), active)

    def is_row(rows: str) -> str:
        return w.op("icmp sge", index, rows, zero)

    def any_of(flags: str) -> str:
        return w.call("i1", f"llvm.vector.reduce.or.v{lanes}i1", f"{flag} {flags}")

    def eliminate(first: str, end: str, begin: str | None) -> None:
        with w.loop(first, end) as (i, _):
            waits = w.op("fcmp ogt", element, vector_at(t.scale, i), zero)
            column, origin = t.row(i, _COLUMN), t.row(i, _ORIGIN)
            minus_f = w.op("fneg", element, w.op("fmul", element, vector_at(t.scratch, column), d))
            minus_f = w.select(flag, waits, element, minus_f, zero)
            x_i = w.at(element, t.b, column)
            w.store(element, fma(minus_f, x_p, w.load(element, x_i)), x_i)
            with w.loop(begin or t.window(t.row(i, _HOME), 2), end_p) as (j, _):
                a_ij = w.at(element, t.a, origin, j)
                w.store(element, fma(minus_f, vector_at(t.scratch, j), w.load(element, a_ij)), a_ij)

    with w.loop(0, t.n) as (k, _):
        diagonal = vector_at(t.a, t.row(k, _ORIGIN), t.row(k, _COLUMN))
        there = w.op("fcmp ogt", element, diagonal, least(k))
        inverse = w.op("fdiv", element, ones, diagonal)
        w.store(element, w.select(flag, there, element, inverse, zero), w.at(element, t.scale, k))
        w.store(element, zero, w.at(element, t.inverse, k))
        w.store(index, "splat (i64 -1)", w.at(index, t.order, k))
    with w.loop(0, t.windows) as (window, _):
        first, end, begin, end_p, behind = (t.window(window, k) for k in range(5))
        with w.loop(first, end) as (turn, done):
            best = w.variable(element, f"splat (double {number(TOLERANCE)})")
            where = w.variable(index, "splat (i64 -1)")
            with w.loop(first, end) as (k, _):
                left = vector_at(t.a, t.row(k, _ORIGIN), t.row(k, _COLUMN))
                part, so_far = w.op("fmul", element, left, vector_at(t.scale, k)), w.load(element, best)
                better = w.op("fcmp ogt", element, part, so_far)
                better = w.op("and", flag, better, w.op("fcmp ogt", element, left, least(k)))
                w.store(element, w.select(flag, better, element, part, so_far), best)
                row = w.select(flag, better, index, spread("i64", k), w.load(index, where))
                w.store(index, row, where)
            p = w.load(index, where)
            active = is_row(p)
            w.leave_unless(any_of(active), done)
            origin_p, column_p = row_of(p, _ORIGIN, active), row_of(p, _COLUMN, active)
            with w.loop(begin, end_p) as (j, _):
                pivots = gather(element, places(t.a, origin_p, spread("i64", j)), active)
                w.store(element, pivots, w.at(element, t.scratch, j))
            d = w.op("fdiv", element, ones, gather(element, places(t.a, origin_p, column_p), active))
            d = w.select(flag, active, element, d, zero)
            scatter(d, places(t.inverse, p), active)
            scatter(zero, places(t.scale, p), active)
            w.store(index, p, w.at(index, t.order, turn))
            x_p = gather(element, places(t.b, column_p), active)
            eliminate(first, end, begin)
            eliminate(end, behind, None)
    with w.loop(0, t.windows) as (forth, _):
        window = w.op("sub", "i64", w.op("sub", "i64", t.windows, 1), forth)
        first, end, behind, reach = (t.window(window, k) for k in (0, 1, 4, 5))
        inside = spread("i64", behind)
        with w.loop(first, end) as (forth, _):
            turn = w.op("sub", "i64", w.op("sub", "i64", w.op("add", "i64", first, end), 1), forth)
            p, x_turn = w.load(index, w.at(index, t.order, turn)), w.at(element, t.scratch, turn)
            active = is_row(p)
            w.store(element, zero, x_turn)
            with w.when(any_of(active)):
                origin_p = row_of(p, _ORIGIN, active)
                total = w.variable(element, gather(element, places(t.b, row_of(p, _COLUMN, active)), active))
                with w.loop(w.op("add", "i64", turn, 1), reach) as (later, _):
                    other = w.load(index, w.at(index, t.order, later))
                    both = w.op("and", flag, active, w.op("icmp ult", index, other, inside))
                    with w.when(any_of(both)):
                        u = gather(element, places(t.a, origin_p, row_of(other, _COLUMN, both)), both)
                        minus_u = w.op("fneg", element, u)
                        more = fma(minus_u, vector_at(t.scratch, later), w.load(element, total))
                        w.store(element, more, total)
                d = gather(element, places(t.inverse, p), active)
                w.store(element, w.op("fmul", element, w.load(element, total), d), x_turn)
    with w.loop(0, t.n) as (k, _):
        w.store(element, zero, w.at(element, t.b, t.row(k, _COLUMN)))
    with w.loop(0, t.n) as (turn, _):
        p = w.load(index, w.at(index, t.order, turn))
        active = is_row(p)
        scatter(vector_at(t.scratch, turn), places(t.b, row_of(p, _COLUMN, active)), active)
    masked = f"{pointers}, i32, {flag}"
    declarations = [
        f"declare {element} @llvm.fma.v{lanes}f64({element}, {element}, {element})",
        f"declare i1 @llvm.vector.reduce.or.v{lanes}i1({flag})",
        f"declare {element} @llvm.masked.gather.v{lanes}f64.v{lanes}p0({masked}, {element})",
        f"declare {index} @llvm.masked.gather.v{lanes}i64.v{lanes}p0({masked}, {index})",
        f"declare void @llvm.masked.scatter.v{lanes}f64.v{lanes}p0({element}, {masked})",
    ]
    return "\n".join(
        [*declarations, w.function(f"void @{name}(ptr %ports, ptr %table, i64 %count, i64 %step)")]
    )
