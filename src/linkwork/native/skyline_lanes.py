"""The kernels of `skyline` for lanes of systems: each lane has an order of pivots of its own.

So what belongs to a pivot is gathered, lane by lane, and a lane that is done goes along with zeros.
"""

from linkwork.native.llvm_writer import Writer, number
from linkwork.native.skyline_table import COLUMN, HOME, ORIGIN, ROW, TOLERANCE, WEAK, Table, signature


class _Lanes:
    """What is said of lanes of systems: an element is a vector, and each lane may have a row of its own."""

    def __init__(self, lanes: int, shared: bool = True):
        self.w = w = Writer()
        self.lanes, self.shared = lanes, shared
        self.element, self.index, self.flag, self.pointers = (
            f"<{lanes} x {kind}>" for kind in ("double", "i64", "i1", "ptr")
        )
        self.table = Table(w, self.element)

    def at(self, base: str, *indices: str) -> str:
        return self.w.load(self.element, self.w.at(self.element, base, *indices))

    def spread(self, kind: str, x: str) -> str:
        kinds = f"<{self.lanes} x {kind}>"
        one = self.w.value(f"insertelement {kinds} poison, {kind} {x}, i64 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self.w.value(f"shufflevector {kinds} {one}, {kinds} poison, {mask}")

    def least(self, k: str) -> str:
        place = self.table.row(k, WEAK)
        if not self.shared:
            return self.at(self.table.data, place)
        return self.spread("double", self.w.load("double", self.w.at("double", self.table.data, place)))

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
        return "\n".join([*declarations, self.w.function(signature(name))])


def factor_many(name: str, lanes: int, border: int, shared: bool) -> str:
    """Return the elimination of lanes of systems; there is a border of this many columns.

    Constants are `shared` by all lanes, or each has its own.
    """
    v, zero, ones = _Lanes(lanes, shared), "zeroinitializer", f"splat (double {number(1.0)})"
    w, t, element, index, flag = v.w, v.table, v.element, v.index, v.flag

    def eliminate(first: str, end: str, begin: str | None) -> None:
        with w.loop(first, end) as (i, _):
            waits = w.op("fcmp ogt", element, v.at(t.scale, i), zero)
            column, origin = t.row(i, COLUMN), t.row(i, ORIGIN)
            minus_f = w.op("fneg", element, w.op("fmul", element, v.at(t.scratch, column), d))
            minus_f = w.select(flag, waits, element, minus_f, zero)
            x_i = w.at(element, t.b, column)
            w.store(element, v.fma(minus_f, x_p, w.load(element, x_i)), x_i)
            with w.loop(begin or t.window(t.row(i, HOME), 2), end_p) as (j, _):
                a_ij = w.at(element, t.a, origin, j)
                w.store(element, v.fma(minus_f, v.at(t.scratch, j), w.load(element, a_ij)), a_ij)
            for k in range(border):
                behind_i = w.at(element, t.a, origin, t.window(t.row(i, HOME), 3), str(k))
                border_p = v.at(t.scratch, str(-1 - k))
                w.store(element, v.fma(minus_f, border_p, w.load(element, behind_i)), behind_i)

    with w.loop(0, t.n) as (k, _):
        diagonal = v.at(t.a, t.row(k, ORIGIN), t.row(k, COLUMN))
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
                left = v.at(t.a, t.row(k, ORIGIN), t.row(k, COLUMN))
                part, so_far = w.op("fmul", element, left, v.at(t.scale, k)), w.load(element, best)
                better = w.op("fcmp ogt", element, part, so_far)
                better = w.op("and", flag, better, w.op("fcmp ogt", element, left, v.least(k)))
                w.store(element, w.select(flag, better, element, part, so_far), best)
                row = w.select(flag, better, index, v.spread("i64", k), w.load(index, where))
                w.store(index, row, where)
            p = w.load(index, where)
            active = v.is_row(p)
            w.leave_unless(v.any_of(active), done)
            origin_p, column_p = v.row_of(p, ORIGIN, active), v.row_of(p, COLUMN, active)
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


def back_many(name: str, lanes: int) -> str:
    """Return the substitution of lanes of systems."""
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
                origin_p = v.row_of(p, ORIGIN, active)
                total = w.variable(
                    element, v.gather(element, v.places(t.b, v.row_of(p, COLUMN, active)), active)
                )
                with w.loop(w.op("add", "i64", turn, 1), reach) as (later, _):
                    other = w.load(index, w.at(index, t.order, later))
                    both = w.op("and", flag, active, w.op("icmp ult", index, other, inside))
                    with w.when(v.any_of(both)):
                        u = v.gather(element, v.places(t.a, origin_p, v.row_of(other, COLUMN, both)), both)
                        minus_u = w.op("fneg", element, u)
                        more = v.fma(minus_u, v.at(t.scratch, later), w.load(element, total))
                        w.store(element, more, total)
                d = v.gather(element, v.places(t.inverse, p), active)
                w.store(element, w.op("fmul", element, w.load(element, total), d), x_turn)
    with w.loop(0, t.n) as (k, _):
        w.store(element, zero, w.at(element, t.b, t.row(k, COLUMN)))
    with w.loop(0, t.n) as (turn, _):
        p = w.load(index, w.at(index, t.order, turn))
        active = v.is_row(p)
        v.scatter(v.at(t.scratch, turn), v.places(t.b, v.row_of(p, COLUMN, active)), active)
    return v.function(name)
