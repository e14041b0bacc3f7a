"""Tangents: from code that stores numbers, code that stores how they change along a direction as well.

Next to each array `name` lies one `dname` with the rates of its numbers; constants have none. Running the
code over all directions gives a Jacobian, lanes of SIMD registers taking one direction each.
"""

from collections.abc import Collection, Sequence

from linkwork.native.emit import Pointer, Store
from linkwork.trace.differentiate import derivative
from linkwork.trace.graph_walks import reachable


def tangent_name(base: str) -> str:
    return f"d{base}"


def with_tangents(stores: Sequence[Store], constant: Collection[str]) -> list[Store]:
    """Return the stores, and those of their rates; numbers of the `constant` bases do not change."""
    values = [value for _, _, value in stores]
    rates = {}
    for x in reachable(values):
        if x.op == "symbol" and x.args[0][0] not in constant:
            base, k = x.args[0]
            rates[x] = x.graph.symbol((tangent_name(base), k))
    changes = derivative(values, rates)
    return [
        *stores,
        *((tangent_name(base), k, change) for (base, k, _), change in zip(stores, changes, strict=True)),
    ]


def tangent_pointers(pointers: Sequence[Pointer], constant: Collection[str]) -> list[Pointer]:
    """Return the pointers, and those to the rates."""
    moving = [p for p in pointers if p.base not in constant]
    return [
        *pointers,
        *(Pointer(tangent_name(p.base), tangent_name(p.port), p.column, p.scale) for p in moving),
    ]


def tangent_ports(ports: Sequence[str], constant: Collection[str]) -> list[str]:
    """Return the names of arrays, and of those with the rates behind them."""
    return [*ports, *(tangent_name(port) for port in ports if port not in constant)]
