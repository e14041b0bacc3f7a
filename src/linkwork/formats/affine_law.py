"""Laws that are weighted sums, within bounds: what an actuator of other programs can do.

    low <= gain u + b0 + b1 q + b2 v <= high,  with u itself between bounds, if it has any

A law is run once on symbols, as for files of ours, and what comes out is added up. A bound is what `min`,
`max`, or `where(x > low, x, low)` say.
"""

from dataclasses import dataclass, field
from typing import Any

from linkwork.formats.formula import Formula
from linkwork.trace.expression import Expr

INF = float("inf")
Range = tuple[float, float]
FREE: Range = (-INF, INF)


class NotAffine(Exception):
    """A law is something else."""


@dataclass(frozen=True)
class Affine:
    """A sum, then its bounds; the keys of terms are paths of symbols, or inputs with their bounds."""

    constant: float = 0.0
    terms: dict[Any, float] = field(default_factory=dict)
    bounds: Range = FREE

    def scaled(self, factor: float) -> "Affine":
        if factor == 0.0:
            return Affine()
        low, high = sorted(factor * x for x in self.bounds)
        return Affine(self.constant * factor, {k: factor * x for k, x in self.terms.items()}, (low, high))

    def plus(self, other: "Affine") -> "Affine":
        one, two = self._summand(), other._summand()
        terms = dict(one.terms)
        for key, weight in two.terms.items():
            terms[key] = terms.get(key, 0.0) + weight
        return Affine(one.constant + two.constant, {k: x for k, x in terms.items() if x})

    def within(self, low: float, high: float) -> "Affine":
        below, above = max(self.bounds[0], low), min(self.bounds[1], high)
        if below > above:
            raise NotAffine
        return Affine(below) if below == above else Affine(self.constant, self.terms, (below, above))

    def _summand(self) -> "Affine":
        """Return this without bounds of its own: they can only be those of an input."""
        if self.bounds == FREE:
            return self
        if self.constant or len(self.terms) != 1:
            raise NotAffine
        ((key, weight),) = self.terms.items()
        if not isinstance(key, Control) or key.bounds != FREE:
            raise NotAffine
        low, high = sorted(x / weight for x in self.bounds)
        return Affine(0.0, {Control(key.name, (low, high)): weight})


@dataclass(frozen=True)
class Control:
    """An input as a term of a sum."""

    name: str
    bounds: Range = FREE


def affine(formula: Formula, result: Any) -> Affine:
    """Return a number that a formula results in as a sum; NotAffine if it is none."""
    known: dict[int, Affine] = {}

    def value(x: Any) -> Affine:
        return known[x.index] if isinstance(x, Expr) else Affine(float(x))

    for node in formula.nodes:  # operands come first
        try:
            known[node.index] = _affine(node, value)
        except NotAffine:
            continue
    try:
        return value(result)
    except KeyError:
        raise NotAffine from None


def _affine(node: Expr, value: Any) -> Affine:
    args = node.args
    try:
        match node.op:
            case "symbol":
                return Affine(0.0, {args[0]: 1.0})
            case "input":
                return Affine(0.0, {Control(args[0]): 1.0})
            case "neg":
                return value(args[0]).scaled(-1.0)
            case "add":
                return value(args[0]).plus(value(args[1]))
            case "sub":
                return value(args[0]).plus(value(args[1]).scaled(-1.0))
            case "mul":
                one, two = value(args[0]), value(args[1])
                if one.terms and two.terms:
                    raise NotAffine
                return two.scaled(one.constant) if not one.terms else one.scaled(two.constant)
            case "div" if not value(args[1]).terms and value(args[1]).constant:
                return value(args[0]).scaled(1.0 / value(args[1]).constant)
            case "where":
                return _bounded(args, value)
    except KeyError:  # an operand is not affine
        pass
    raise NotAffine


def _bounded(args: Any, value: Any) -> Affine:
    """Return where(x > low, x, low), or where(x < high, x, high), as max and min write them."""
    condition, kept, otherwise = args
    if condition.op == "or" and condition.args[1].op == "ne":  # or x is not a number
        condition = condition.args[0]
    bound = value(otherwise)
    if condition.op in ("lt", "le") and not bound.terms:
        less, more = condition.args
        if more is kept and _is(less, bound.constant):
            return value(kept).within(bound.constant, INF)
        if less is kept and _is(more, bound.constant):
            return value(kept).within(-INF, bound.constant)
    raise NotAffine


def _is(x: Any, constant: float) -> bool:
    return not isinstance(x, Expr) and float(x) == constant
