"""What is given to a free body: its forces, numbers or functions of the time and the body; and its state."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linkwork.mechanism.placement import Array
from linkwork.real_numbers import real_array

Law: TypeAlias = "Callable[[float, Any], ArrayLike] | ArrayLike | None"


def value(law: Law, t: float, body: Any, shape: tuple[int, ...], where: str) -> Array:
    """Return a force or torque at a time, finite and of the shape of its space."""
    if law is None:
        return np.zeros(shape)
    said = law(t, body) if callable(law) else law
    try:
        found = real_array(where, said)
    except ValueError:
        found = np.empty(0)
    if found.shape != shape or not np.isfinite(found).all():
        count = f"{shape[0]} finite numbers" if shape else "a finite number"
        raise ValueError(f"{where} at t = {t:.9g} s is {said!r}; give {count}")
    return found


def same_size(before: Array, numbers: Any, what: str) -> Array:
    """Return numbers, copied, in place of as many before; not finite ones are found by who integrates."""
    if not isinstance(numbers, np.ndarray) or numbers.shape != before.shape or numbers.dtype != np.float64:
        raise ValueError(f"{what} {numbers!r:.80}; give an array of {before.size} numbers")
    return numbers.copy()


def state_property(word: str, turns: bool, doc: str) -> Any:
    """Return a property that takes finite numbers: (n,) of the space, or, if it turns, of what turns."""
    kept = f"_{word}"

    def read(body: Any) -> Array:
        return getattr(body, kept)

    def write(body: Any, numbers: ArrayLike) -> None:
        shape = body.shapes_of_state[turns]
        try:
            found = real_array(word, numbers)
        except ValueError:
            found = np.empty(0)
        if found.shape != shape or not np.isfinite(found).all():
            count = f"{shape[0]} finite numbers" if shape else "a finite number"
            raise ValueError(f"{body._where}: {word} {numbers!r:.80}; give {count}")
        setattr(body, kept, found)

    return property(read, write, doc=doc)
