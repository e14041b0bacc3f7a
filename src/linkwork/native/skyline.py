"""LLVM text of kernels that solve A x = b for a symmetric A >= 0 in profile form, redundant rows allowed.

Rows come in *windows*, and a row has columns from the first of its window to the end of its profile; ends
never decrease from one window to the next, so that the factors L D L^T fit into the same place. Within a
window the next pivot is that of the row which keeps most of its diagonal, the one that depends least on those
before it. Once only a tiny part is left of each, these rows follow from the others: they are dropped, and
their x is zero.

    void factor(ports, table, count, step)
    void back(ports, table, count, step)

`factor` eliminates, and `back` substitutes. Rows may have a *border*: numbers behind their profile, columns
F of A that belong to unknowns a which are found elsewhere. Elimination works on them too. Once it is done,
with D the inverse pivots, F D F^T and F D b are what the border gains from the rows; and when its unknowns
are known, `back` finds x from b less F^T a.

The table: rows, windows; places of b (and then x), of A, of inverse pivots, of inverse diagonals, of the
order of pivots, of scratch for a row, before which is some for a border; then per window: its first row, the
row behind its last, its first column, the column behind its profile, the row behind its profile, the row
behind the window that ends in; then per row: its column, the place in A of its column 0 (which may lie before
A), the bits of a number below which its pivot is nothing, its window.

One system is worked on in blocks of columns; windows begin and end with a block. For lanes of systems, an
element is a vector of lanes; each lane has an order of its own, so what belongs to a pivot is gathered. The
arithmetic of an element is the same.
"""

from linkwork.native.llvm_writer import Writer, number

TOLERANCE = 1e-11  # of a pivot beside its diagonal: the square of the sine between a row and those before it
HEAD, WINDOW, ROW = 8, 6, 4
_COLUMN, _ORIGIN, _WEAK, _HOME = range(ROW)


def factor(name: str, lanes: int, width: int, border: int = 0) -> str:
    """Return the elimination of one system in blocks of `width` columns, or of lanes of systems.

    There is a border of a given number of columns; one system's is a block.
    """
    return _factor_one(name, width, border) if lanes == 1 else _factor_many(name, lanes, border)


def back(name: str, lanes: int) -> str:
    """Return the substitution of one system, or of lanes of systems."""
    return _back_one(name) if lanes == 1 else _back_many(name, lanes)


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


def _factor_one(name: str, width: int, border: int) -> str:
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
            if border:
                behind_i = w.at(double, t.a, origin, t.window(t.row(i, _HOME), 3))
                w.store(block, fma(block, f"v{width}f64", f, border_p, w.load(block, behind_i)), behind_i)
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
            border_p = w.load(block, w.at(double, t.a, origin_p, end_p)) if border else ""
            eliminate(first, end, begin)
            eliminate(end, behind, None)
    declarations = [
        "declare double @llvm.fma.f64(double, double, double)",
        f"declare {block} @llvm.fma.v{width}f64({block}, {block}, {block})",
    ]
    return "\n".join([*declarations, w.function(_signature(name))])


def _back_one(name: str) -> str:
    w, double = Writer(), "double"
    t = _Table(w, double)

    def number_at(base: str, *indices: str) -> str:
        return w.load(double, w.at(double, base, *indices))

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
                        w.call(
                            double,
                            "llvm.fma.f64",
                            *(
                                f"double {x}"
                                for x in (minus_u, number_at(t.b, column), w.load(double, total))
                            ),
                        ),
                        total,
                    )
            w.store(double, w.op("fmul", double, w.load(double, total), number_at(t.inverse, p)), x_at)
    declaration = "declare double @llvm.fma.f64(double, double, double)"
    return "\n".join([declaration, w.function(_signature(name))])


class _Lanes:
    """What is said of lanes of systems: an element is a vector, and each lane may have a row of its own."""

    def __init__(self, lanes: int):
        self.w = w = Writer()
        self.lanes = lanes
        self.element, self.index, self.flag, self.pointers = (
            f"<{lanes} x {kind}>" for kind in ("double", "i64", "i1", "ptr")
        )
        self.table = _Table(w, self.element)

    def at(self, base: str, *indices: str) -> str:
        return self.w.load(self.element, self.w.at(self.element, base, *indices))

    def spread(self, kind: str, x: str) -> str:
        kinds = f"<{self.lanes} x {kind}>"
        one = self.w.value(f"insertelement {kinds} poison, {kind} {x}, i64 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self.w.value(f"shufflevector {kinds} {one}, {kinds} poison, {mask}")

    def least(self, k: str) -> str:
        return self.spread("double", self.w.value(f"bitcast i64 {self.table.row(k, _WEAK)} to double"))

    def fma(self, a: str, b: str, c: str) -> str:
        arguments = (f"{self.element} {x}" for x in (a, b, c))
        return self.w.call(self.element, f"llvm.fma.v{self.lanes}f64", *arguments)

    def places(self, base: str, *indices: str) -> str:
        """Return where each lane has an element of its own, its index a sum."""
        numbers = f"<{', '.join(f'i64 {lane}' for lane in range(self.lanes))}>"
        inside = self.w.op("mul", self.index, self.w.sum(self.index, *indices), f"splat (i64 {self.lanes})")
        at = self.w.sum(self.index, inside, numbers)
        return self.w.value(f"getelementptr double, ptr {base}, {self.index} {at}")

    def gather(self, kind: str, where: str, active: str) -> str:
        what = f"llvm.masked.gather.v{self.lanes}{'f' if kind == self.element else 'i'}64.v{self.lanes}p0"
        given = f"{self.pointers} {where}", "i32 8", f"{self.flag} {active}", f"{kind} zeroinitializer"
        return self.w.call(kind, what, *given)

    def scatter(self, x: str, where: str, active: str) -> None:
        arguments = f"{self.element} {x}, {self.pointers} {where}, i32 8, {self.flag} {active}"
        self.w.do(f"call void @llvm.masked.scatter.v{self.lanes}f64.v{self.lanes}p0({arguments})")

    def row_of(self, rows: str, k: int, active: str) -> str:
        """Return what the table says of rows, one per lane."""
        first = self.w.op("mul", self.index, rows, f"splat (i64 {ROW})")
        at = self.w.sum(self.index, first, f"splat (i64 {k})")
        pointers = self.w.value(f"getelementptr i64, ptr {self.table.rows}, {self.index} {at}")
        return self.gather(self.index, pointers, active)

    def is_row(self, rows: str) -> str:
        return self.w.op("icmp sge", self.index, rows, "zeroinitializer")

    def any_of(self, flags: str) -> str:
        return self.w.call("i1", f"llvm.vector.reduce.or.v{self.lanes}i1", f"{self.flag} {flags}")

    def function(self, name: str) -> str:
        lanes, element, index = self.lanes, self.element, self.index
        masked = f"{self.pointers}, i32, {self.flag}"
        declarations = [
            f"declare {element} @llvm.fma.v{lanes}f64({element}, {element}, {element})",
            f"declare i1 @llvm.vector.reduce.or.v{lanes}i1({self.flag})",
            f"declare {element} @llvm.masked.gather.v{lanes}f64.v{lanes}p0({masked}, {element})",
            f"declare {index} @llvm.masked.gather.v{lanes}i64.v{lanes}p0({masked}, {index})",
            f"declare void @llvm.masked.scatter.v{lanes}f64.v{lanes}p0({element}, {masked})",
        ]
        return "\n".join([*declarations, self.w.function(_signature(name))])


def _factor_many(name: str, lanes: int, border: int) -> str:
    v, zero, ones = _Lanes(lanes), "zeroinitializer", f"splat (double {number(1.0)})"
    w, t, element, index, flag = v.w, v.table, v.element, v.index, v.flag

    def eliminate(first: str, end: str, begin: str | None) -> None:
        with w.loop(first, end) as (i, _):
            waits = w.op("fcmp ogt", element, v.at(t.scale, i), zero)
            column, origin = t.row(i, _COLUMN), t.row(i, _ORIGIN)
            minus_f = w.op("fneg", element, w.op("fmul", element, v.at(t.scratch, column), d))
            minus_f = w.select(flag, waits, element, minus_f, zero)
            x_i = w.at(element, t.b, column)
            w.store(element, v.fma(minus_f, x_p, w.load(element, x_i)), x_i)
            with w.loop(begin or t.window(t.row(i, _HOME), 2), end_p) as (j, _):
                a_ij = w.at(element, t.a, origin, j)
                w.store(element, v.fma(minus_f, v.at(t.scratch, j), w.load(element, a_ij)), a_ij)
            for k in range(border):
                behind_i = w.at(element, t.a, origin, t.window(t.row(i, _HOME), 3), str(k))
                border_p = v.at(t.scratch, str(-1 - k))
                w.store(element, v.fma(minus_f, border_p, w.load(element, behind_i)), behind_i)

    with w.loop(0, t.n) as (k, _):
        diagonal = v.at(t.a, t.row(k, _ORIGIN), t.row(k, _COLUMN))
        there = w.op("fcmp ogt", element, diagonal, v.least(k))
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
                left = v.at(t.a, t.row(k, _ORIGIN), t.row(k, _COLUMN))
                part, so_far = w.op("fmul", element, left, v.at(t.scale, k)), w.load(element, best)
                better = w.op("fcmp ogt", element, part, so_far)
                better = w.op("and", flag, better, w.op("fcmp ogt", element, left, v.least(k)))
                w.store(element, w.select(flag, better, element, part, so_far), best)
                row = w.select(flag, better, index, v.spread("i64", k), w.load(index, where))
                w.store(index, row, where)
            p = w.load(index, where)
            active = v.is_row(p)
            w.leave_unless(v.any_of(active), done)
            origin_p, column_p = v.row_of(p, _ORIGIN, active), v.row_of(p, _COLUMN, active)
            with w.loop(begin, end_p) as (j, _):
                pivots = v.gather(element, v.places(t.a, origin_p, v.spread("i64", j)), active)
                w.store(element, pivots, w.at(element, t.scratch, j))
            for k in range(border):
                at = v.places(t.a, origin_p, v.spread("i64", end_p), f"splat (i64 {k})")
                w.store(element, v.gather(element, at, active), w.at(element, t.scratch, str(-1 - k)))
            d = w.op("fdiv", element, ones, v.gather(element, v.places(t.a, origin_p, column_p), active))
            d = w.select(flag, active, element, d, zero)
            v.scatter(d, v.places(t.inverse, p), active)
            v.scatter(zero, v.places(t.scale, p), active)
            w.store(index, p, w.at(index, t.order, turn))
            x_p = v.gather(element, v.places(t.b, column_p), active)
            eliminate(first, end, begin)
            eliminate(end, behind, None)
    return v.function(name)


def _back_many(name: str, lanes: int) -> str:
    v, zero = _Lanes(lanes), "zeroinitializer"
    w, t, element, index, flag = v.w, v.table, v.element, v.index, v.flag
    with w.loop(0, t.windows) as (forth, _):
        window = w.op("sub", "i64", w.op("sub", "i64", t.windows, 1), forth)
        first, end, behind, reach = (t.window(window, k) for k in (0, 1, 4, 5))
        inside = v.spread("i64", behind)
        with w.loop(first, end) as (forth, _):
            turn = w.op("sub", "i64", w.op("sub", "i64", w.op("add", "i64", first, end), 1), forth)
            p, x_turn = w.load(index, w.at(index, t.order, turn)), w.at(element, t.scratch, turn)
            active = v.is_row(p)
            w.store(element, zero, x_turn)
            with w.when(v.any_of(active)):
                origin_p = v.row_of(p, _ORIGIN, active)
                total = w.variable(
                    element, v.gather(element, v.places(t.b, v.row_of(p, _COLUMN, active)), active)
                )
                with w.loop(w.op("add", "i64", turn, 1), reach) as (later, _):
                    other = w.load(index, w.at(index, t.order, later))
                    both = w.op("and", flag, active, w.op("icmp ult", index, other, inside))
                    with w.when(v.any_of(both)):
                        u = v.gather(element, v.places(t.a, origin_p, v.row_of(other, _COLUMN, both)), both)
                        minus_u = w.op("fneg", element, u)
                        more = v.fma(minus_u, v.at(t.scratch, later), w.load(element, total))
                        w.store(element, more, total)
                d = v.gather(element, v.places(t.inverse, p), active)
                w.store(element, w.op("fmul", element, w.load(element, total), d), x_turn)
    with w.loop(0, t.n) as (k, _):
        w.store(element, zero, w.at(element, t.b, t.row(k, _COLUMN)))
    with w.loop(0, t.n) as (turn, _):
        p = w.load(index, w.at(index, t.order, turn))
        active = v.is_row(p)
        v.scatter(v.at(t.scratch, turn), v.places(t.b, v.row_of(p, _COLUMN, active)), active)
    return v.function(name)


def _signature(name: str) -> str:
    return f"void @{name}(ptr %ports, ptr %table, i64 %count, i64 %step)"
