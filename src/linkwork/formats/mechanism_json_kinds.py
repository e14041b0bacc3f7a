"""Classes of elements by their names, and their options: what a file needs to know of a class.

The classes of Linkwork's own package `mechanism` are kept by their options: whatever is there is known to
files, by the parameters of its constructor. All other classes are kept by their formulas.
"""

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, get_args, get_origin

from linkwork import mechanism
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint


@cache
def own_kinds(base: type[Any], method: str) -> dict[str, type[Any]]:
    """Return Linkwork's own classes that say what a method of a base class does, by their names."""
    for module in iter_modules(mechanism.__path__, f"{mechanism.__name__}."):
        import_module(module.name)
    return {
        kind.__name__: kind
        for kind in _below(base)
        if kind.__module__.startswith(f"{mechanism.__name__}.") and method in vars(kind)
    }


def _below(base: type[Any]) -> Iterator[type[Any]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _below(kind)


@dataclass(frozen=True)
class Constructor:
    """The parameters of a class: what it is on, which comes after the name, and its options."""

    ends: tuple[inspect.Parameter, ...]
    options: dict[str, inspect.Parameter]

    @property
    def several(self) -> bool:
        """Whether what it is on is one list, of any length."""
        return any(get_origin(kind) is Iterable for p in self.ends for kind in get_args(p.annotation))

    @property
    def fewest(self) -> int:
        """How many ends it takes at least."""
        return sum(p.default is p.empty for p in self.ends)

    @property
    def needed(self) -> tuple[str, ...]:
        """The options that have no default."""
        return tuple(word for word, p in self.options.items() if p.default is p.empty)


@cache
def constructor(kind: type[Any]) -> Constructor:
    """Return the parameters of a class; what it is on is annotated as a Body or a Joint."""
    _self, _name, *parameters = inspect.signature(kind.__init__).parameters.values()
    ends = tuple(
        p
        for p in parameters
        if any(kind in (Body, Joint) for kind in (p.annotation, *get_args(p.annotation)))
    )
    return Constructor(ends, {p.name: p for p in parameters if p not in ends})
