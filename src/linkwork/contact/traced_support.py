"""The support function of a solid of the user's own as native code, and its derivative.

`support(self, d)` is run on symbols, for the direction and for the sizes, so that all solids of a class share
their code; where it looks at its sizes, as with `if`, they become constants. A kernel is

    void kernel(double* scratch, double* sizes)

scratch[0:3] is the direction; the support kernel leaves the point in scratch[3:6], the other one the upper
half of H = d support / d d in scratch[6:12], which is symmetric, as the second derivative of the reach. In
the table of shapes such a solid has one row of `faces`: the addresses of both kernels and of its sizes.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from linkwork.algebra.vector import Vector
from linkwork.errors import TraceError
from linkwork.geometry.solid import COMMON, Solid
from linkwork.native import emit, store
from linkwork.native.emit import Store
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Graph

_POINT, _BEND = 3, 6  # where results begin


@dataclass(frozen=True)
class TracedSupport:
    """Addresses of the kernels of a solid, 0 where there is none, and the numbers that they are given."""

    kernels: tuple[int, int]
    numbers: tuple[float, ...]


@lru_cache(maxsize=1024)
def traced_support(solid: Solid) -> TracedSupport:
    """Compile the support function of a convex solid; ValueError says why it cannot be."""
    try:
        direction, point, numbers = _traced(solid)
    except TraceError as error:
        raise ValueError(
            f"{type(solid).__name__}: its support cannot be traced: {error}; write it with lw.sqrt, lw.where "
            "and so on, or leave it out: the solid is then touched by its triangles"
        ) from None
    if len(point) != 3:
        raise ValueError(
            f"{type(solid).__name__}: support gives {len(point)} numbers; return a point of three"
        )
    support = _kernel([("scratch", _POINT + k, x) for k, x in enumerate(point)])
    try:
        H = [derivative(point, {d: 1.0}) for d in direction]
    except TraceError:  # of a function that has none: depths then come from the polytope alone
        return TracedSupport((support, 0), numbers)
    upper = [H[i][j] for i in range(3) for j in range(i, 3)]
    bend = _kernel([("scratch", _BEND + k, x) for k, x in enumerate(upper)])
    return TracedSupport((support, bend), numbers)


def _traced(solid: Solid) -> tuple[list[Any], list[Any], tuple[float, ...]]:
    """Return the symbols of the direction, the point, and the numbers of the solid."""
    words = [field.name for field in fields(solid) if field.name not in COMMON]
    words = [word for word in words if isinstance(getattr(solid, word), float)]
    try:
        return _on_symbols(solid, words)
    except TraceError:
        return _on_symbols(solid, [])


def _on_symbols(solid: Solid, words: Sequence[str]) -> tuple[list[Any], list[Any], tuple[float, ...]]:
    graph = Graph()
    direction = graph.symbols(("scratch", k) for k in range(3))
    model = copy(solid)
    for k, word in enumerate(words):
        object.__setattr__(model, word, graph.symbol(("sizes", k)))
    point = list(model.support(Vector(direction)))
    return direction, point, tuple(float(getattr(solid, word)) for word in words)


def _kernel(stores: Sequence[Store]) -> int:
    """Return the address of a kernel that computes these numbers."""
    body = emit.Body(1, (), "entry")
    body.write(stores)
    lines = "\n".join(body.lines)
    text = f"(ptr %scratch, ptr %sizes) {{\nentry:\n{lines}\n  ret void\n}}\n"
    name = store.digest("support", text)
    store.load(name, lambda: (emit.module(1, [f"define void @support_{name}{text}"]), {}))
    return store.address(f"support_{name}")
