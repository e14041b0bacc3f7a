"""Results by the names of bodies and joints."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from linkwork.errors import unknown
from linkwork.varied import real


class NamedRows(Mapping[str, Any]):
    """An array with one entry per body or joint, by name; `.array` is the whole, any batch axis first."""

    def __init__(
        self,
        what: str,
        rows: Mapping[str, int],
        array: np.ndarray,
        ndim: int,
        make: Any,
        absent: Mapping[str, Any],
    ):
        self.array = array  # (..., entries, numbers of one entry)
        self._what, self._rows, self._ndim, self._make, self._absent = what, rows, ndim, make, absent

    def __getitem__(self, name: str) -> Any:
        batch = self.array.shape[: self.array.ndim - self._ndim]
        if name in self._absent:  # stands still
            return self._make([np.full(batch, x) if batch else x for x in self._absent[name].scalars()])
        if name not in self._rows:
            raise KeyError(unknown(self._what, name, self))
        entry = self.array[(*(slice(None) for _ in batch), self._rows[name])]
        entry = entry.reshape(*batch, prod(entry.shape[len(batch) :]))
        return self._make([entry[..., k] if batch else real(entry[k]) for k in range(entry.shape[-1])])

    def __iter__(self) -> Iterator[str]:
        yield from self._absent
        yield from self._rows

    def __len__(self) -> int:
        return len(self._rows) + len(self._absent)

    def __repr__(self) -> str:
        return f"<{self._what}: {', '.join(self)}>"
