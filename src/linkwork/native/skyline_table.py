"""The table by which kernels find a system kept as a skyline.

Rows, windows; places of b (and then x), of A, of inverse pivots, of inverse diagonals, of the order of
pivots, of scratch for a row, before which is some for a border; then per window: its first row, the row
behind its last, its first column, the column behind its profile, the row behind its profile, the row behind
the window that ends in; then per row: its column, the place in A of its column 0 (which may lie before A),
where among the constants the number is below which its pivot is nothing, its window.
"""

from linkwork.native.llvm_writer import Writer

TOLERANCE = 1e-11  # of a pivot beside its diagonal: the square of the sine between a row and those before it
HEAD, WINDOW, ROW = 8, 6, 4
COLUMN, ORIGIN, WEAK, HOME = range(ROW)


class Table:
    """The table, and what it says of rows and windows."""

    def __init__(self, w: Writer, element: str):
        self._w = w
        self.data, work = (w.load("ptr", w.at("ptr", "%ports", k)) for k in (0, 1))
        self.n, self.windows = (w.load("i64", w.at("i64", "%table", k)) for k in (0, 1))
        self.b, self.a, self.inverse, self.scale, self.order, self.scratch = (
            w.at(element, work, w.load("i64", w.at("i64", "%table", k))) for k in range(2, HEAD)
        )
        self.rows = w.at("i64", "%table", w.op("mul", "i64", self.windows, WINDOW), HEAD)

    def row(self, i: str, k: int) -> str:
        return self._w.load("i64", self._w.at("i64", self.rows, self._w.op("mul", "i64", i, ROW), k))

    def window(self, i: str, k: int) -> str:
        return self._w.load("i64", self._w.at("i64", "%table", self._w.op("mul", "i64", i, WINDOW), HEAD + k))


def signature(name: str) -> str:
    """Return the head of a kernel."""
    return f"void @{name}(ptr %ports, ptr %table, i64 %count, i64 %step)"
