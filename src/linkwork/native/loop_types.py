"""The types of arguments of entries and linked parts, in words that need no compiler."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

INTEGER, NUMBER, ARRAY, TUPLE, POINTER = range(5)  # how an argument is taken


@dataclass(frozen=True)
class Kind:
    """An integer, a double, a contiguous array of numbers, or a pointer to numbers."""

    how: int
    dtype: Any = None  # of an array, or of what a pointer points to
    ndim: int = 0

    @staticmethod
    def of(text: str) -> "Kind":
        """Read "int64", "float64", an array as in "float64[:, ::1]", or a pointer, "float64*"."""
        if text in ("int64", "float64"):
            return Kind(INTEGER if text == "int64" else NUMBER)
        if text in ("int64*", "float64*"):
            return Kind(POINTER, np.dtype(text[:-1]))
        found = re.fullmatch(r"(\w+)\[((?:: ?, ?)*)::1\]", text)
        if not found:
            raise ValueError(f"{text!r} is no int64, float64 or contiguous array such as float64[:, ::1]")
        return Kind(ARRAY, np.dtype(found[1]), found[2].count(":") + 1)

    @property
    def words(self) -> int:
        """Return how many words it takes: itself, or its address and lengths."""
        return 1 + self.ndim


class Named:
    """A named tuple: its class, and the types of its fields by name."""

    def __init__(self, name: type, fields: Mapping[str, str]):
        names = getattr(name, "_fields", ())
        if tuple(fields) != names:
            raise ValueError(f"{name.__name__} has the fields {names}, not {tuple(fields)}")
        self.name, self.kinds = name, tuple(fields.values())

    def __repr__(self) -> str:
        return f"{self.name.__name__}{self.kinds}"
