"""A mapping that is made when it is first looked at."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from linkwork.lazy import kept


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
