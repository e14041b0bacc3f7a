"""What is made when it is first asked for: a batch of many thousands is over before all is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import index
from typing import Any, Generic, TypeVar, overload

from linkwork.lazy import kept

Made = TypeVar("Made")


class Later(Mapping[str, Any]):
    """A mapping that is made when it is first looked at."""

    def __init__(self, make: Callable[[], Mapping[str, Any]]):
        self._make = make

    @kept
    def _made(self) -> Mapping[str, Any]:
        return self._make()

    def __getitem__(self, key: str) -> Any:
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return repr(self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self._made),)


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
