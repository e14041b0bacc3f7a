"""Which equations follow from others, and which unknowns are free: sparse elimination that reveals the rank.

Rows are taken in the order of how few entries they have left, and a row's pivot is an entry that is not small
beside its largest, in a column with few others (Markowitz). A row of which nothing is left follows from
others; a column that got no pivot is a free unknown.
"""

import heapq
from collections.abc import Sequence

import numpy as np

Array = np.ndarray

_NOTHING = 1e-9  # an entry of rows of length one that is none
_SMALL_PIVOT = 0.1  # beside the largest entry of its row


class Elimination:
    """The equations A x = 0, A sparse with rows of length one; rows `last` are eliminated last, in turn."""

    def __init__(
        self, rows: Array, columns: Array, values: Array, shape: tuple[int, int], last: Sequence[int]
    ):
        self._unknowns = shape[1]
        self._rows: list[dict[int, float]] = [{} for _ in range(shape[0])]
        for i, j, x in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
            self._rows[i][j] = self._rows[i].get(j, 0.0) + x
        self._last = {row: {row: 1.0} for row in last}  # how each of these is made of them
        self._in_column: list[set[int]] = [set() for _ in range(shape[1])]
        for i, row in enumerate(self._rows):
            for j in row:
                self._in_column[j].add(i)
        self.pivots: list[tuple[int, int]] = []  # row, column, in the order of elimination
        self.fighting: list[
            dict[int, float]
        ] = []  # combinations of the last rows that follow from all others
        later = set(last)
        self._eliminate([i for i in range(shape[0]) if i not in later])
        for row in last:
            self._eliminate([row])
        pivoted = {j for _, j in self.pivots}
        self.free = [j for j in range(shape[1]) if j not in pivoted]

    def _eliminate(self, several: list[int]) -> None:
        waiting = set(several)
        heap = [(len(self._rows[i]), i) for i in several]
        heapq.heapify(heap)
        while waiting:
            count, i = heapq.heappop(heap)
            if i not in waiting:
                continue
            row = self._rows[i]
            if count != len(row):
                heapq.heappush(heap, (len(row), i))
                continue
            waiting.discard(i)
            self._drop_small(i)
            if not row:
                if i in self._last:
                    self.fighting.append(self._last[i])
                continue
            for k in self._take_pivot(i):
                if k in waiting:
                    heapq.heappush(heap, (len(self._rows[k]), k))

    def _drop_small(self, i: int) -> None:
        row = self._rows[i]
        for j in [j for j, x in row.items() if abs(x) < _NOTHING]:
            del row[j]
            self._in_column[j].discard(i)

    def _take_pivot(self, i: int) -> list[int]:
        """Choose the pivot of a row, and take its column out of all others; return those."""
        row = self._rows[i]
        top = max(abs(x) for x in row.values())
        good = [j for j, x in row.items() if abs(x) >= _SMALL_PIVOT * top]
        pivot = min(good, key=lambda j: (len(self._in_column[j]), -abs(row[j]), j))
        self.pivots.append((i, pivot))
        for j in row:
            self._in_column[j].discard(i)
        changed = sorted(self._in_column[pivot])
        for k in changed:
            other = self._rows[k]
            factor = other.pop(pivot) / row[pivot]
            for j, x in row.items():
                if j == pivot:
                    continue
                if j not in other:
                    self._in_column[j].add(k)
                other[j] = other.get(j, 0.0) - factor * x
            if i in self._last:
                mine = self._last[k]
                for n, x in self._last[i].items():
                    mine[n] = mine.get(n, 0.0) - factor * x
        self._in_column[pivot] = set()
        return changed

    def motion(self, free: Array) -> Array:
        """Return the solution of A x = 0 with these values of the free unknowns."""
        x = np.zeros(self._unknowns)
        x[self.free] = free
        for i, pivot in reversed(self.pivots):
            row = self._rows[i]
            x[pivot] = -sum(value * x[j] for j, value in row.items() if j != pivot) / row[pivot]
        return x
