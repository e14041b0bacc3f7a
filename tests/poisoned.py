"""New arrays whose numbers are none: whoever reads them before writing computes with NaN, or out of range."""

from typing import Any

import numpy as np
import numpy.ma  # it reads the docstring of numpy.empty

_empty = np.empty


class PoisonedEmpty:
    """What numpy.empty is, but for what is in the arrays; to native code it is numpy.empty."""

    def __call__(self, *arguments: Any, **options: Any) -> np.ndarray:
        """Return an array of NaN, or of the most extreme integers."""
        array: Any = _empty(*arguments, **options)
        if array.dtype.kind in "fc":
            array.fill(np.nan)
        elif array.dtype.kind in "iu":
            extremes = np.iinfo(array.dtype)
            array.fill(extremes.min if array.dtype.kind == "i" else extremes.max)
        return array

    @property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target

        target: Any = cpu_target
        return target.typing_context.resolve_value_type(_empty)
