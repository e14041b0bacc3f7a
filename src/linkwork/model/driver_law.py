"""Laws of drivers: values, first and second derivatives at given times."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import TraceError
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph, evaluate

if TYPE_CHECKING:
    from linkwork.model.model import Model


def driver_laws(model: "Model") -> "tuple[DriverLaw, ...]":
    """The laws of the drivers, in their order."""
    return tuple(DriverLaw(name, driver.law) for name, driver in model.mechanism.drivers.items())


class DriverLaw:
    """A number, a function of time that can be traced, or one with a method `derivative`, as splines have."""

    def __init__(self, name: str, law: Any) -> None:
        self._name = name
        self._law: Any = law
        self._roots: list[Any] = []
        if callable(law) and not hasattr(law, "derivative"):
            self._roots = self._traced(law)

    def _traced(self, law: Any) -> list[Any]:
        """Return value and derivatives as expressions of the time."""
        t = Graph().symbol("t")
        try:
            value = law(t)
            value = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
        except TraceError as error:
            raise TraceError(
                f"driver {self._name!r}: its law cannot be traced ({error}); write it with lw.sin, lw.where, "
                "... or give a spline of SciPy"
            ) from error
        except Exception as error:  # of the user's own law
            raise ValueError(
                f"driver {self._name!r}: its law raised {type(error).__name__}: {error}"
            ) from error
        if not isinstance(value, Expr | int | float | np.number):
            raise ValueError(f"driver {self._name!r}: its law gave {value!r:.80}; return one number")
        first = derivative([value], {t: 1.0})
        return [value, *first, *derivative(first, {t: 1.0})]

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
            found = np.array([self._evaluated(x) for x in t.tolist()], float)
        if not np.isfinite(found).all():
            bad = t[~np.isfinite(found).all(axis=1)][0]
            raise ValueError(f"driver {self._name!r}: its law is not finite at t = {bad:.6g} s")
        return found.reshape(-1, 3)

    def _evaluated(self, t: float) -> Any:
        try:
            return evaluate(self._roots, lambda _: t)
        except (ArithmeticError, ValueError):  # a root or a logarithm of what is negative
            return [np.nan] * 3
