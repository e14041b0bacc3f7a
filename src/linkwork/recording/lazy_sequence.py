"""What is made when it is first asked for: a batch of many thousands is over before all is."""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Generic, TypeVar, overload

Made = TypeVar("Made")


class Each(Sequence[Made], Generic[Made]):
    """A sequence whose items `make(k)` makes, once each."""

    def __init__(self, count: int, make: Callable[[int], Made]):
        self._count, self._make = count, make
        self._made: dict[int, Made] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, key: int) -> Made: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Made, ...]: ...

    def __getitem__(self, key: int | slice) -> Made | tuple[Made, ...]:
        if isinstance(key, slice):
            return tuple(self[k] for k in range(self._count)[key])
        k = range(self._count)[index(key)]
        if k not in self._made:
            self._made[k] = self._make(k)
        return self._made[k]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)
