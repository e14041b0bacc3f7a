"""Laws of drivers: values, first and second derivatives at given times."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.mechanism.called_equations import law_at
from linkwork.mechanism.driver import Driver
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Graph, evaluate

if TYPE_CHECKING:
    from linkwork.model.model import Model


def driver_laws(model: "Model") -> "tuple[DriverLaw, ...]":
    """The laws of the drivers, in their order."""
    return tuple(DriverLaw(driver) for driver in model.mechanism.drivers.values())


class DriverLaw:
    """A number, or a function of time; one that cannot be traced is called, its derivatives by differences.

    One with a method `derivative`, as splines have it, knows them.
    """

    def __init__(self, driver: Driver) -> None:
        self._name, self._law = driver.name, driver.law
        self._roots: list[Any] = []
        if callable(self._law) and not hasattr(self._law, "derivative"):
            t = Graph().symbol("t")
            value = law_at(driver, t)
            first = derivative([value], {t: 1.0})
            self._roots = [value, *first, *derivative(first, {t: 1.0})]

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
        except Exception as error:  # of a law that is called
            said = f"its law raised {type(error).__name__}: {error} (at t = {t:.9g} s)"
            raise ValueError(f"driver {self._name!r}: {said}") from error
