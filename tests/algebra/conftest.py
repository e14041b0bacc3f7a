"""Formulas on every kind of number: one function runs on all of them, and one reference judges them all."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy
from native_function import native_function, traced

from linkwork.trace.graph_walks import evaluate

DIGITS = 50
Formula = Callable[..., Any]  # of numbers, to any nest of them


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield


def flat(results: Any) -> list[Any]:
    """Return the numbers of any nest of tuples, lists and arrays."""
    if isinstance(results, np.ndarray):
        results = results.tolist()
    if isinstance(results, list | tuple):
        return [x for part in results for x in flat(part)]
    return [results]


def _float(formula: Formula, values: Sequence[Any]) -> list[Any]:
    return flat(formula(*map(float, values)))


def _traced(formula: Formula, values: Sequence[Any]) -> list[Any]:
    roots = traced(lambda *x: flat(formula(*x)), len(values))
    return evaluate(roots, lambda symbol: float(values[symbol.args[0][1]]))


def _native(formula: Formula, values: Sequence[Any]) -> list[Any]:
    return native_function(lambda *x: flat(formula(*x)), len(values))(*map(float, values)).tolist()


def _mpmath(formula: Formula, values: Sequence[Any]) -> list[Any]:
    return flat(formula(*map(mp.mpf, values)))


def _sympy(formula: Formula, values: Sequence[Any]) -> list[Any]:
    return list(_lambdified(formula, len(values))(*values))


@cache
def _lambdified(formula: Formula, inputs: int) -> Callable[..., list[Any]]:
    symbols = sympy.symbols(f"x:{inputs}", real=True)
    return sympy.lambdify(symbols, flat(formula(*symbols)), "mpmath")


KINDS = {
    "float": (_float, 2e-14),
    "traced": (_traced, 2e-14),
    "native": (_native, 2e-14),
    "mpmath": (_mpmath, 1e-40),
    "sympy": (_sympy, 1e-40),
}


class Numbers:
    """One kind of number: runs a formula on it and compares the results with what they should be."""

    def __init__(self, kind: str):
        self.kind = kind
        self.run, self.tolerance = KINDS[kind]

    def check(self, formula: Formula, values: Sequence[Any], expected: Any) -> None:
        """Assert that formula(*values) gives the expected numbers (of 50 digits) as well as this kind can."""
        got, wanted = self.run(formula, values), [mp.mpf(x) for x in flat(expected)]
        assert len(got) == len(wanted)
        size = max(1, *(abs(x) for x in wanted))
        for k, (a, b) in enumerate(zip(got, wanted, strict=True)):
            assert abs(mp.mpf(a) - b) <= self.tolerance * size, (
                f"number {k}: {mp.nstr(mp.mpf(a), 40)} is not {mp.nstr(b, 40)}"
            )


@pytest.fixture(params=list(KINDS))
def numbers(request: pytest.FixtureRequest) -> Numbers:
    return Numbers(request.param)
