"""What a method of integration is: step control, and Butcher's tableau or Rosenbrock's."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkwork.real_numbers import finite_array
from linkwork.simulation.integrators.order_conditions import HIGHEST, order_of, order_of_estimate
from linkwork.spelling import SpelledABC

Row = tuple[float, ...]


@dataclass(frozen=True)
class Dense:
    """A polynomial of theta through a step, from 0 to 1, as in Hairer's DOP853 (`contd8`).

    y(theta) = y0 + theta (r1 + (1 - theta)(r2 + theta (r3 + (1 - theta)(r4 + theta (r5 + ...)))))
    r1 = y1 - y0,  r2 = h f0 - r1,  r3 = r1 - h f1 - r2: the ends and their slopes; the others are
    h sum d_j k_j over all stages: those of the step, f1 at its end, and some more, which are in `A` and `c`.
    """

    A: tuple[Row, ...]
    c: Row
    d: tuple[Row, ...]  # of r4 ... r7


@dataclass(frozen=True, kw_only=True)
class StepMethod(metaclass=SpelledABC):
    """What the loop and the user know of a method, explicit or implicit."""

    name: str
    title: str
    order: int
    error_order: int = 0  # the estimate shrinks with this power of h
    caution: float = 1.0  # the tolerance of one step is the accuracy asked for over this: errors add up
    gain: float = 0.85  # how far a step follows the error of the last, and
    trend: float = 0.2  # the one before; 1: as far as the order says
    safety: float = 0.9  # factor of a step

    implicit: ClassVar[bool]  # whether it needs the Jacobian; then it is for one lane

    @property
    @abstractmethod
    def stages(self) -> int:
        """How often the right-hand side is evaluated in a step."""

    @property
    @abstractmethod
    def estimates(self) -> int:
        """How many estimates of the error there are; without any it is for fixed steps only."""

    @property
    def dense_stages(self) -> int:
        """How often it is evaluated for the polynomial, beside the end of a step; 0: there is none."""
        return 0

    @property
    def needs_rates(self) -> bool:
        """Whether a stage evaluates the rates of positions alone."""
        return False

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The method's numbers, for the native loop."""
        return self.numbers()

    @abstractmethod
    def numbers(self) -> dict[str, Any]:
        """Return the numbers and arrays of `loop/records.py` that say what the method is."""


@dataclass(frozen=True, kw_only=True)
class Tableau(StepMethod):
    """An explicit Runge-Kutta method: y_new = y + h sum b_i k_i, k_i = f(t + c_i h, y + h sum a_ij k_j).

    A partitioned method has weights of its own for velocities (and for the work done by applied forces);
    those named A and b are then for positions. In stages listed in `rates` only the rates of positions are
    evaluated.

    An estimate of the error is h sum e_i k_i. With two rows of e, of a higher and of a lower order, the
    estimate is that of Hairer's DOP853: |e5|^2 / sqrt(|e5|^2 + 0.01 |e3|^2).
    """

    A: tuple[Row, ...]  # row i has i numbers
    b: Row
    c: Row
    errors: tuple[Row, ...] = ()  # none: the method is for fixed steps only
    A_velocity: tuple[Row, ...] | None = None  # None: as for positions
    b_velocity: Row | None = None
    rates: tuple[int, ...] = ()
    stiff_bound: float = 0.0  # h |lambda| beyond this is outside the region of stability; 0: not tested
    dense: Dense | None = None  # None: samples inside a step take steps of their own

    implicit = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(
                f"method {self.name!r}: the name is a text, by which its runs are known; give one"
            )
        if not isinstance(self.order, int) or isinstance(self.order, bool) or self.order < 1:
            raise ValueError(f"method {self.name!r}: order {self.order!r}; give a whole number, 1 or more")
        for word, row in (("b", self.b), ("c", self.c)):
            if finite_array(f"method {self.name!r}: {word}", row).ndim != 1:
                raise ValueError(f"method {self.name!r}: {word} {row!r}; give a row of numbers")
        if len(self.A) != self.stages:
            raise ValueError(
                f"method {self.name!r}: A has {len(self.A)} rows and b {self.stages} numbers; give one of "
                "each a stage"
            )
        _check_rows(self.name, self.stages, A=self.A, A_velocity=self.A_velocity)
        rows = {"c": self.c, "b_velocity": self.b_velocity}
        rows |= {f"errors[{k}]": row for k, row in enumerate(self.errors)}
        _check_lengths(self.name, self.stages, rows)
        if len(self.errors) > 2 or bool(self.errors) != bool(self.error_order):
            raise ValueError(f"method {self.name!r}: give one or two rows of errors=, and their error_order=")
        for word, weights in (("b", self.b), ("b_velocity", self.b_velocity or self.b)):
            if not abs(sum(weights) - 1.0) < 1e-12:
                raise ValueError(f"method {self.name!r}: {word} sums to {sum(weights):.15g}; it must to 1")
        if self.A_velocity is None and self.b_velocity is None and not self.rates:
            self._check_orders()

    def _check_orders(self) -> None:
        """Refuse orders that the numbers do not have: steps are chosen by them, and samples rely on them."""
        sums = [sum(row) for row in self.A]
        if np.abs(np.subtract(sums, self.c)).max() > 1e-10:
            raise ValueError(
                f"method {self.name!r}: c {self.c!r} are not the sums of the rows of A; give {sums}"
            )
        found = order_of(self.A, self.b, self.c)
        if found < min(self.order, HIGHEST):
            raise ValueError(f"method {self.name!r}: order {self.order}, and its numbers have order {found}")
        for row in self.errors:
            found = order_of_estimate(self.A, row, self.c)
            if len(self.errors) == 1 and found < min(self.error_order, HIGHEST + 1):
                raise ValueError(
                    f"method {self.name!r}: error_order {self.error_order}, and its errors= shrink with "
                    f"h^{found}"
                )

    @property
    def stages(self) -> int:
        return len(self.b)

    @property
    def estimates(self) -> int:
        return len(self.errors)

    @property
    def dense_stages(self) -> int:
        return len(self.dense.c) if self.dense else 0

    @property
    def needs_rates(self) -> bool:
        return bool(self.rates)

    def numbers(self) -> dict[str, Any]:
        """Sums over stages: rows 1 ... stages - 1 are the stages, then come the result, those for `dense`.

        A sum takes the first stage, the latest, and those between that follow after weights of 0.
        """
        stages, width = self.stages, self.stages + self.dense_stages
        dense = self.dense or Dense((), (), ((),) * 4)
        position = _matrix((*self.A, self.b, *dense.A), width)
        velocity = _matrix((*(self.A_velocity or self.A), self.b_velocity or self.b, *dense.A), width)
        between = ((position != 0) | (velocity != 0))[:, 1:]
        return {
            "stages": stages,
            "width": width,
            "since": np.array([1 + (int(row.argmax()) if row.any() else width) for row in between]),
            "weights": np.array([position, velocity]),
            "error_weights": _matrix((*self.errors, *((0.0,),) * (2 - len(self.errors))), stages).T.copy(),
            "split": self.A_velocity is not None,
            "dense_weights": _matrix(dense.d, width + 1).T.copy(),
            "c": np.array((*self.c, 1.0, *dense.c)),
            "rates_only": np.array([int(j in self.rates) for j in range(stages)]),
            "dense_stages": self.dense_stages,
            "mark": self.c.index(1.0) if self.stiff_bound else -1,
            "bound": self.stiff_bound,
        }


@dataclass(frozen=True, kw_only=True)
class Rosenbrock(StepMethod):
    """A stiffly accurate Rosenbrock method, written for u_i so that no product with the Jacobian J is needed.

    (I/(h gamma) - J) u_i = f(t + alpha_i h, y + sum a_ij u_j) + sum (c_ij/h) u_j + h gamma_i df/dt
    The last stage is at an embedded solution; the result is that plus the last u, the error estimate.
    """

    gamma: float
    a: tuple[Row, ...]  # row i has i numbers
    c: tuple[Row, ...]
    alpha: Row
    gammas: Row

    implicit = True

    def __post_init__(self) -> None:
        _check_rows(self.name, self.stages, a=self.a, c=self.c)
        _check_lengths(self.name, self.stages, {"gammas": self.gammas})

    @property
    def stages(self) -> int:
        return len(self.alpha)

    @property
    def estimates(self) -> int:
        return 1

    def numbers(self) -> dict[str, Any]:
        return {
            "ros_stages": self.stages,
            "gamma": self.gamma,
            "ros_a": _matrix(self.a, self.stages),
            "ros_c": _matrix(self.c, self.stages),
            "ros_alpha": np.array(self.alpha),
            "ros_gammas": np.array(self.gammas),
        }


def _check_rows(name: str, stages: int, **matrices: tuple[Row, ...] | None) -> None:
    """Refuse lower triangular matrices whose rows have other lengths than 0, 1, 2 ..."""
    for word, rows in matrices.items():
        lengths = list(range(stages)) if rows is None else [len(row) for row in rows]
        if lengths != list(range(stages)):
            raise ValueError(f"method {name!r}: rows of {word} have {lengths} numbers; give 0, 1, 2 ...")


def _check_lengths(name: str, stages: int, rows: Mapping[str, Row | None]) -> None:
    for word, row in rows.items():
        if row is not None and len(row) != stages:
            raise ValueError(f"method {name!r}: {word} has {len(row)} numbers; give {stages}, one a stage")


def _matrix(rows: Sequence[Row], columns: int) -> NDArray[np.float64]:
    """Return rows of different lengths as a matrix."""
    return np.array([(*row, *(0.0,) * (columns - len(row))) for row in rows])
