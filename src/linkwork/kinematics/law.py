"""Laws of drivers: values, first and second derivatives at given times."""

from typing import Any

import numpy as np

from linkwork.errors import TraceError
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Graph, evaluate


class Law:
    """A number, a function of time that can be traced, or one with a method `derivative`, as splines have."""

    def __init__(self, name: str, law: Any) -> None:
        self._name = name
        self._law: Any = law
        self._roots: list[Any] = []
        if callable(law) and not hasattr(law, "derivative"):
            t = Graph().symbol("t")
            try:
                value = law(t)
                value = value.item() if isinstance(value, np.ndarray) else value
                first = derivative([value], {t: 1.0})
                self._roots = [value, *first, *derivative(first, {t: 1.0})]
            except TraceError as error:
                raise TraceError(
                    f"driver {name!r}: its law cannot be traced ({error}); write it with lw.sin, "
                    "lw.where, ... or give a spline of SciPy"
                ) from error

    def at(self, times: Any) -> np.ndarray:
        """Return (times, 3)."""
        t = np.atleast_1d(np.asarray(times, float))
        if not callable(self._law):
            return np.stack([np.full(t.shape, float(self._law)), np.zeros(t.shape), np.zeros(t.shape)], -1)
        if not self._roots:
            spline: Any = self._law
            rates = [spline, spline.derivative(), spline.derivative(2)]
            found = np.stack([np.asarray(rate(t), float) for rate in rates], axis=-1)
        else:
            found = np.array([evaluate(self._roots, lambda _, x=x: x) for x in t.tolist()], float)
        if not np.isfinite(found).all():
            bad = t[~np.isfinite(found).all(axis=1)][0]
            raise ValueError(f"driver {self._name!r}: its law is not finite at t = {bad:.6g} s")
        return found.reshape(-1, 3)
