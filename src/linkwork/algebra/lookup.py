"""Looking up: in which piece of a table a number lies, and what a column of the table says of that piece.

Both are constant inside of a piece, so that their derivatives are zero: what a table interpolates is made of
them by ordinary formulas, and differentiated as these.
"""

import hashlib
from bisect import bisect_right
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.algebra.number import Number


class Column(tuple):
    """Numbers of a table that native code has as constants; in texts it is known by a digest of them."""

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(np.array(self, dtype="<f8").tobytes()).hexdigest()[:32]

    def __repr__(self) -> str:
        return f"Column({self.digest})"


def segment(x: Number, knots: Column) -> Number:
    """Return the number of the last of rising knots that is not above x; 0 if all are, or x is NaN."""
    traced = getattr(type(x), "apply_function", None)
    if traced is not None:
        return traced("segment", x, knots)
    if isinstance(x, np.ndarray):
        found = np.searchsorted(np.array(knots), x, side="right") - 1
        return np.where(np.isnan(x), 0, np.maximum(found, 0))
    return max(bisect_right(knots, x) - 1, 0) if x == x else 0


def entry(k: Number, column: Column) -> Any:
    """Return entry k of a column."""
    traced = getattr(type(k), "apply_function", None)
    if traced is not None:
        return traced("entry", k, column)
    return np.array(column)[k] if isinstance(k, np.ndarray) else column[int(k)]
