"""LLVM text of kernels that solve A x = b for a symmetric A >= 0 kept as a skyline, redundant rows allowed.

*Elimination.* With pivot p, each row i that is left becomes a_ij - f a_pj, b_i - f b_p, f = a_ip / a_pp.
What is left is the Schur complement of p, symmetric and >= 0 again; the pivots' rows, as they were when
chosen, are D L^T of A = L D L^T, and b has become L^-1 b. Substitution from the last pivot to the first, x_p
= (b_p - sum_j a_pj x_j) / a_pp over the later ones, gives x.

*Skyline.* Rows come in *windows*; a row is kept from the first column of its window to the end of its
profile, and is zero elsewhere. Elimination changes a_ij only where a_ip and a_pj are both there. A row of
p's window has its columns; a row behind it is reached only as far as p's profile reaches, and ends never
decrease from one window to the next: so whatever is filled in lies inside the skyline, and the factors fit
into A's own place. (The classic reference is George and Liu, Computer Solution of Large Sparse Positive
Definite Systems, 1981, ch. 4.)

*Redundant rows.* Here A = J W J^T, W > 0, so a_ii is the square of the length of row J_i in the metric W.
After some pivots, what is left of a_ii is the square of its distance from the span of their rows: divided by
a_ii, the square of the sine of the angle between them. Within a window the next pivot is the row with the
largest sine, the one that depends least on those before it. Once the square of every sine is below
TOLERANCE, or the pivot below what the table calls nothing, the rows left follow from the others: a matrix >=
0 with a zero diagonal is zero, so no equation is left to satisfy. They are dropped, and their x is zero,
which is one of many solutions.

*Border.* Rows may have numbers behind their profile: columns F that belong to unknowns a which are found
elsewhere, A x + F a = b. Elimination makes L^-1 F of them. So with D^-1 the inverse pivots, what the
border's own equations gain from the rows is F^T A^-1 F = (L^-1 F)^T D^-1 (L^-1 F) and F^T A^-1 b = (L^-1
F)^T D^-1 L^-1 b; and when a is known, `back` finds x from L^-1 b - L^-1 F a.

    void factor(ports, table, count, step)      eliminates
    void back(ports, table, count, step)        substitutes

One system is worked on in blocks of columns; windows begin and end with a block. For lanes of systems an
element is a vector of lanes, see `skyline_lanes`. The arithmetic of an element is the same.
"""

from linkwork.native.llvm_writer import Writer, number
from linkwork.native.skyline_lanes import back_many, factor_many
from linkwork.native.skyline_table import COLUMN, HOME, ORIGIN, TOLERANCE, WEAK, Table, signature


def factor(name: str, lanes: int, width: int, border: int = 0, shared: bool = True) -> str:
    """Return the elimination of one system in blocks of `width` columns, or of lanes of systems.

    The border has this many columns; one system's is a block. Constants are `shared` by all lanes, or not.
    """
    return _factor_one(name, width, border) if lanes == 1 else factor_many(name, lanes, border, shared)


def back(name: str, lanes: int) -> str:
    """Return the substitution of one system, or of lanes of systems."""
    return _back_one(name) if lanes == 1 else back_many(name, lanes)


def _factor_one(name: str, width: int, border: int) -> str:
    w, double, block = Writer(), "double", f"<{width} x double>"
    t = Table(w, double)

    def number_at(base: str, *indices: str) -> str:
        return w.load(double, w.at(double, base, *indices))

    def least(k: str) -> str:
        return w.load(double, w.at(double, t.data, t.row(k, WEAK)))

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
            column, origin = t.row(i, COLUMN), t.row(i, ORIGIN)
            minus_f = w.op("fneg", double, w.op("fmul", double, number_at(t.a, origin_p, column), d))
            x_i = w.at(double, t.b, column)
            w.store(double, fma(double, "f64", minus_f, x_p, w.load(double, x_i)), x_i)
            f = w.value(f"insertelement {block} poison, double {minus_f}, i64 0")
            f = w.value(f"shufflevector {block} {f}, {block} poison, <{width} x i32> zeroinitializer")
            with w.loop(begin or t.window(t.row(i, HOME), 2), end_p, width) as (j, _):
                a_ij, pivots = w.at(double, t.a, origin, j), w.load(block, w.at(double, t.a, origin_p, j))
                w.store(block, fma(block, f"v{width}f64", f, pivots, w.load(block, a_ij)), a_ij)
            if border:
                behind_i = w.at(double, t.a, origin, t.window(t.row(i, HOME), 3))
                w.store(block, fma(block, f"v{width}f64", f, border_p, w.load(block, behind_i)), behind_i)
            if begin:
                compare(i, number_at(t.a, origin, column))

    with w.loop(0, t.n) as (k, _):
        diagonal = number_at(t.a, t.row(k, ORIGIN), t.row(k, COLUMN))
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
            compare(k, number_at(t.a, t.row(k, ORIGIN), t.row(k, COLUMN)))
        with w.loop(first, end) as (turn, done):
            p = w.load("i64", where)
            w.leave_unless(w.op("icmp sge", "i64", p, 0), done)
            forget()
            origin_p, column_p = t.row(p, ORIGIN), t.row(p, COLUMN)
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
    return "\n".join([*declarations, w.function(signature(name))])


def _back_one(name: str) -> str:
    w, double = Writer(), "double"
    t = Table(w, double)

    def number_at(base: str, *indices: str) -> str:
        return w.load(double, w.at(double, base, *indices))

    with w.loop(0, t.n) as (k, _), w.when(w.op("fcmp oeq", double, number_at(t.inverse, k), "0.0")):
        w.store(double, "0.0", w.at(double, t.b, t.row(k, COLUMN)))
    with w.loop(0, t.n) as (back, _):
        turn = w.op("sub", "i64", w.op("sub", "i64", t.n, 1), back)
        p = w.load("i64", w.at("i64", t.order, turn))
        with w.when(w.op("icmp sge", "i64", p, 0)):
            origin_p, x_at = t.row(p, ORIGIN), w.at(double, t.b, t.row(p, COLUMN))
            total = w.variable(double, w.load(double, x_at))
            behind, reach = (t.window(t.row(p, HOME), k) for k in (4, 5))
            with w.loop(w.op("add", "i64", turn, 1), reach) as (later, _):
                other = w.load("i64", w.at("i64", t.order, later))
                with w.when(w.op("icmp ult", "i64", other, behind)):  # -1 is the largest of all
                    column = t.row(other, COLUMN)
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
    return "\n".join([declaration, w.function(signature(name))])
