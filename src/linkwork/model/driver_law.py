"""Laws of drivers: values, first and second derivatives at given times."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.mechanism.called_equations import law_at
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.input import Input, enter
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate

if TYPE_CHECKING:
    from linkwork.model.model import Model


def driver_laws(model: "Model") -> "tuple[DriverLaw, ...]":
    """The laws of the drivers, in their order."""
    return tuple(DriverLaw(driver) for driver in model.mechanism.drivers.values())


class DriverLaw:
    """A number, or a function of time; one that cannot be traced is called, its derivatives by differences.

    One with a method `derivative`, as splines have it, knows them.
    """

    def __init__(self, driver: Driver, inputs: Mapping[str, Any] | None = None) -> None:
        """Trace the law; `inputs` are values in place of the default ones."""
        self._name, self._law, self._given = driver.name, driver.law, inputs or {}
        self.inputs: dict[str, Input] = {}  # that it reads
        if isinstance(self._law, Input):
            enter(self.inputs, self._law)
        self._roots: list[Any] = []
        if callable(self._law) and not hasattr(self._law, "derivative"):
            graph = Graph()
            t = graph.symbol("t")
            value = law_at(driver, t, lambda given: graph.symbol(self._enter(given)))
            first = derivative([value], {t: 1.0})
            self._roots = [value, *first, *derivative(first, {t: 1.0})]

    def _enter(self, given: Input) -> str:
        enter(self.inputs, given)
        return f"input {given.name}"

    def at(self, times: Any, inputs: Mapping[str, Any] | None = None) -> np.ndarray:
        """Return (times, 3); inputs are numbers, or one per time, and have default values if not given."""
        t = np.atleast_1d(np.asarray(times, float))
        said = {**self._given, **(inputs or {})}
        values = {
            name: np.broadcast_to(said.get(name, given.value), t.shape).tolist()
            for name, given in self.inputs.items()
        }
        if not callable(self._law):
            still = next(iter(values.values())) if values else np.full(t.shape, float(self._law))
            return np.stack([np.asarray(still, float), np.zeros(t.shape), np.zeros(t.shape)], -1)
        if not self._roots:
            spline: Any = self._law
            rates = [spline, spline.derivative(), spline.derivative(2)]
            found = np.stack([np.asarray(rate(t), float) for rate in rates], axis=-1)
        else:
            found = np.array(
                [
                    self._evaluated({"t": x} | {f"input {name}": u[k] for name, u in values.items()})
                    for k, x in enumerate(t.tolist())
                ],
                float,
            )
        if not np.isfinite(found).all():
            bad = t[~np.isfinite(found).all(axis=1)][0]
            raise ValueError(f"driver {self._name!r}: its law is not finite at t = {bad:.6g} s")
        return found.reshape(-1, 3)

    def _evaluated(self, numbers: Mapping[str, float]) -> Any:
        t = numbers["t"]
        try:
            return evaluate(self._roots, lambda symbol: numbers[symbol.args[0]])
        except (ArithmeticError, ValueError):  # a root or a logarithm of what is negative
            return [np.nan] * 3
        except Exception as error:  # of a law that is called
            said = f"its law raised {type(error).__name__}: {error} (at t = {t:.9g} s)"
            raise ValueError(f"driver {self._name!r}: {said}") from error
